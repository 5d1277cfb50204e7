"""What the claims of this paper are about: methods, hyper-parameters, ranges of indices, ways to write claims.

The paper's round t is round r here; its theta_i^{t+1} is the local model at time (r + 1) * local_steps before the
aggregation, of every client: those that are not sampled run along without effect ("virtual").
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import sympy as sp

from bounds.language.claim import Claim, Condition, Procedure, Variable
from bounds.language.definitions import DEFINITIONS
from bounds.language.words import L, Max, Min, clients, eta_l, iterations, k, participants, r, rounds, t

__all__ = [
    "AFEDPD",
    "EXACT",
    "K1",
    "STABLE",
    "Readings",
    "all_rounds",
    "alpha_mult",
    "any_rho",
    "beta_mult",
    "client_counts",
    "each_client",
    "each_step",
    "eps_inexact",
    "eta",
    "eta_0",
    "few_clients",
    "gamma_mult",
    "later_rounds",
    "mu_lr",
    "numbers",
    "p_lr",
    "previous",
    "prose",
    "q_mult",
    "rho_prox",
    "run_claim",
    "stability",
    "stable",
    "step",
    "tau0",
    "two_rounds",
    "varied",
]

AFEDPD = Procedure("afedpd", sampling="without-replacement", equal_weights=True, replaced="any")
EXACT = replace(AFEDPD, options=(("solver", "exact"),))
run_claim = partial(Claim, setting="run", source="afedpd", procedure=AFEDPD, definitions=DEFINITIONS)
step = partial(Claim, setting="algebra", source="afedpd", kind="proof step")
prose = partial(run_claim, kind="prose")

# indices -------------------------------------------------------------------------------------------------------------
each_client, each_step = (k, 0, clients - 1), (t, 0, iterations - 1)
all_rounds = (r, 0, rounds - 1)

#: rounds with one before them; with ``two_rounds`` they are 1 .. T - 1, written so that no run leaves an index out of range
later_rounds, previous = (r, Min(1, rounds - 1), rounds - 1), Max(r - 1, 0)
two_rounds = Condition(rounds, ">=", 2)

# hyper-parameters and constants --------------------------------------------------------------------------------------
rho_prox = sp.Symbol("rho_prox", positive=True)
eps_inexact = sp.Symbol("eps_inexact", nonnegative=True)  # the paper's epsilon
eta, eta_0 = sp.Symbol("eta", positive=True), sp.Symbol("eta_0", positive=True)  # step of a round; eta^0
alpha_mult, beta_mult, gamma_mult = (sp.Symbol(f"{n}_mult", positive=True) for n in ("alpha", "beta", "gamma"))
q_mult = sp.Symbol("q_mult", positive=True)
mu_lr, p_lr = sp.Symbol("mu_lr", positive=True), sp.Symbol("p_lr", positive=True)
tau0 = sp.Symbol("tau0", integer=True, nonnegative=True)
any_rho = Variable("rho_prox", "positive")

#: a local problem that is solved at once has no local steps
K1 = Variable("local_steps", "integer", low=1, high=1)
client_counts = (Variable("clients", "integer"), Variable("participants", "integer"))
few_clients = Condition(participants, "<=", clients)


def numbers(domain: str, *names) -> tuple[Variable, ...]:
    """Variables of one domain, by symbols or names."""
    return tuple(Variable(str(name), domain) for name in names)


# readings ------------------------------------------------------------------------------------------------------------
def stable(claim: Claim) -> Claim:
    """The claim with local steps of eta rho <= 1, which decay by the text at (10), and with rho >= L where L occurs.

    ``rho_L = rho - L`` is then no negative number, and ``x = -eta rho_L`` at least -1, as the Bernoulli inequality needs.
    """
    decayed = (Condition(eta_l[t] * rho_prox, "<=", 1, (each_step,)) if claim.setting == "run"
               else Condition(eta * rho_prox, "<=", 1))
    larger = (Condition(L, "<=", rho_prox),) if _speaks_of_L(claim) else ()
    return replace(claim, conditions=(*claim.conditions, decayed, *larger))


DECAYED = "eta rho at most 1, as in the text at (10)"
STABLE = f"{DECAYED}, and rho at least L"


def stability(claim: Claim) -> str:
    """What :func:`stable` adds to the claim, in words."""
    return STABLE if _speaks_of_L(claim) else DECAYED


def _speaks_of_L(claim: Claim) -> bool:
    return claim.setting == "run" or any(v.name == "L" for v in claim.variables)


#: name -> (in words, what of the claim differs)
Readings = Mapping[str, tuple[str, Mapping | Callable[[Claim], Claim]]]


def varied(base: Claim, readings: Readings) -> tuple[Claim, ...]:
    """``base``, then each of its readings: fields in place of its own, or a function of the claim."""
    found = [base]
    for name, (words, change) in readings.items():
        claim = change(base) if callable(change) else replace(base, **change)
        found.append(replace(claim, id=f"{base.block}@{name}", reading=words))
    return tuple(found)
