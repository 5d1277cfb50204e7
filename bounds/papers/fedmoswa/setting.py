"""What the claims of this paper are about: methods and variants, hyper-parameters, step sizes, ranges of indices."""

from dataclasses import replace
from functools import partial

import sympy as sp

from bounds.language.claim import Claim, Condition, Procedure, Variable
from bounds.language.definitions import DEFINITIONS
from bounds.language.words import L, clients, eta_l, iterations, j, k, local_steps, r, rounds, t

__all__ = [
    "ALL_CLIENTS_UPDATE", "ANY_STEP", "CONSTANT", "FRESH", "MOSWA", "MOSWA_FROM_GRADIENTS", "MOSWA_I", "OVER_DATA",
    "PLAIN", "SAM", "SWA", "absolute_order", "algebra_claim", "b", "c", "constant_rates", "each_client", "each_round",
    "eta", "eta_eff", "eta_g", "gamma", "large_server_step", "point_claim", "procedure_with", "rho_decay", "rho_sam",
    "run_claim", "steps_after", "steps_before", "two_steps",
]

OVER_DATA = {"equal_weights": True, "replaced": "random"}  # the paper's expectations are over the data sets too

run_claim = partial(Claim, setting="run", source="fedmoswa", definitions=DEFINITIONS)
point_claim = partial(
    Claim, setting="point", source="fedmoswa", procedure=Procedure(**OVER_DATA), definitions=DEFINITIONS
)
algebra_claim = partial(Claim, setting="algebra", source="fedmoswa")
each_round, each_client = (r, 0, rounds - 1), (k, 0, clients - 1)
steps_before, steps_after = (j, 0, local_steps - 1), (j, 1, local_steps)

# hyper-parameters ----------------------------------------------------------------------------------------------------
eta = sp.Symbol("eta", positive=True)  # the paper's eta_l, the initial local rate of every round
eta_eff = sp.Symbol("eta_eff", positive=True)  # the paper's effective step K eta_l alpha (Appendix G)
eta_g = sp.Symbol("eta_g", positive=True)  # the paper's alpha
gamma = sp.Symbol("gamma", positive=True)
rho_decay, rho_sam = sp.Symbol("rho_decay", nonnegative=True), sp.Symbol("rho_sam", nonnegative=True)

#: factors of the generalisation proofs
b, c = sp.Symbol("b", real=True), sp.Symbol("c", positive=True)
initial_rate = Condition(eta_l[t], "==", eta, ((t, 0, iterations - 1),))
small_rate = Condition(eta, "<=", 1 / (L * local_steps * rounds))
falling = Condition(rho_decay, "<=", 1)
server_momentum = Condition(gamma, "<=", 1)
effective_rate = Condition(eta_l[t], "==", eta_eff / (local_steps * eta_g), ((t, 0, iterations - 1),))
large_server_step = Condition(eta_g, ">=", 1)
two_steps = Condition(local_steps, ">=", 2)
any_eta, any_rho = Variable("eta", "positive"), Variable("rho_decay", "nonnegative")
any_gamma, any_alpha = Variable("gamma", "positive"), Variable("eta_g", "positive")

#: towards what goes what the paper's orders speak of
_LIMITS = {
    **dict.fromkeys(("rounds", "clients", "local_steps", "samples", "length", "L", "G_lip", "sigma_sq", "sigma", "sigma_g",
                     "sigma_g_2", "d"), sp.oo),
    **dict.fromkeys(("mu", "drop"), sp.Integer(0)),
}


def absolute_order(claim: Claim) -> Claim:
    """A claim with O(.), which hides an absolute constant: every symbol of its right side may go where it likes."""
    symbols = {s.name: s for s in claim.statement.right.free_symbols}
    limits = tuple((symbols[name], towards) for name, towards in _LIMITS.items() if name in symbols)
    return replace(claim, limits=limits, constants_may_use=())


def procedure_with(claim: Claim, *options, **changes) -> Procedure:
    """The claim's procedure with these options (name, value) in place of its own, and other changes; value None: without."""
    kept = dict(claim.procedure.options) | dict(options)
    return replace(
        claim.procedure, options=tuple((n, v) for n, v in kept.items() if v is not None), **changes
    )


# FedSWA of Appendix E, all clients, alpha = 1 ------------------------------------------------------------------------
SWA = {
    "procedure": Procedure("fedswa", options=(("eta_g", 1),), **OVER_DATA),
    "variables": (any_eta, any_rho), "conditions": (initial_rate, falling, small_rate),
}

#: a constant schedule, as Appendix F reads its b
CONSTANT = Condition(rho_decay, "==", 1)


def constant_rates(claim: Claim) -> Claim:
    """The claim for local rates that do not fall within a round."""
    variables = tuple(v for v in claim.variables if v.name != "rho_decay")
    return replace(claim, variables=variables, conditions=tuple(CONSTANT if x == falling else x for x in claim.conditions))


# FedMoSWA of Appendix F, all clients, alpha = 1 ----------------------------------------------------------------------
FRESH = {
    "procedure": Procedure(
        "fedmoswa", options=(("variant", "fresh"), ("batch", "same"), ("eta_g", 1)), **OVER_DATA
    ),
    "variables": (any_eta, any_rho, any_gamma), "conditions": (initial_rate, falling, server_momentum, small_rate),
}

MOSWA_I = FRESH | {"procedure": Procedure("fedmoswa", options=(("option", "I"), ("eta_g", 1)), **OVER_DATA)}

# FedMoSWA of Appendix G, s of m clients, constant rates --------------------------------------------------------------
ANY_STEP = (effective_rate, server_momentum)

MOSWA = {
    "procedure": Procedure(
        "fedmoswa", options=(("option", "II"), ("rho_decay", 1)), sampling="without-replacement", **OVER_DATA
    ),
    "variables": (Variable("eta_eff", "positive"), any_alpha, any_gamma),
}

ALL_CLIENTS_UPDATE = ("variant", "all-clients")

#: Appendix G.3: c_i^t is the mean of the g_i at the points alpha_i^t, and alpha_i^0 = theta^0, the points of m^0 too
MOSWA_FROM_GRADIENTS = MOSWA | {
    "procedure": replace(MOSWA["procedure"], options=(*MOSWA["procedure"].options, ("start", "gradient"))),
}

# FedSAM of Appendix I, all clients, constant rates -------------------------------------------------------------------
SAM = {
    "procedure": Procedure("fedsam", options=(("eta_g", 1),), **OVER_DATA),
    "variables": (any_eta, Variable("rho_sam", "nonnegative")), "conditions": (initial_rate, small_rate),
}

#: the update that the proofs of Appendix I write
PLAIN = {"procedure": Procedure(**OVER_DATA), "variables": (any_eta,), "conditions": (initial_rate, small_rate)}
