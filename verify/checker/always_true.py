"""Facts about every federation and every run, for proofs that hypotheses exclude each other.

None depends on a method, on its equations or on chance, so hypotheses that cannot be read may be left out beside them. A
constant that an instance lacks, such as a curvature where gradients are not Lipschitz, gives a hypothesis that has it no
value, so that no such instance meets it.
"""

from verify.checker.number_facts import NONNEGATIVE
from verify.checker.number_federation import EVERY, GIVEN
from verify.checker.number_federation import SIGNS as OF_CLIENTS
from verify.checker.run import DISTINCT, INDEPENDENT
from verify.checker.scope import all_of

#: constants of every federation, by their sizes, and the signs of arrays
CONSTANTS = {"client_weight": ["clients"], "priority": ["clients"], "L_client": ["clients"], "mu_client": ["clients"],
             "sigma_sq_client": ["clients"], "F_star_client": ["clients"], "L_objective": [], "mu_objective": []}
SIGNS = {name: sign for name, sign in OF_CLIENTS.items() if name in CONSTANTS} | {"sigma_sq_client": NONNEGATIVE}
CLIENT, *_ = EVERY


def compare(left, relation, right, over=()):
    return {"left": left, "relation": relation, "right": right, "over": [*over]}


#: the least eigenvalue of a Hessian is at most the largest absolute value of one
CURVATURES = (compare(["mu_client", CLIENT], "<=", ["L_client", CLIENT], [EVERY]),
              compare("mu_objective", "<=", "L_objective"), compare("L_objective", ">=", 0))


def constant_entries(certificate):
    """The entries of arrays that a hypothesis sets to the same number for all clients, as a reader has definitions."""
    usual = {"priority": 1, "client_weight": ["^", "clients", -1]}
    return {name: {"right": value, "over": [EVERY]} for name, value in usual.items() if all_of(certificate, name) == value}


def rules_of_every_instance(certificate):
    """The comparisons that hold for every instance of a claim about points or runs."""
    return [*CURVATURES, *(rules_of_every_run(certificate) if certificate["setting"] == "run" else ())]


def rules_of_every_run(certificate):
    """The comparisons that hold in every run: of weights, and of sizes. At most all priority clients are distinct.
    Where all take part, or each by itself, ``participants`` is the number of priority clients."""
    sampling = certificate["procedure"]["sampling"]
    rules = [*GIVEN, compare("iterations", "==", ["*", "rounds", "local_steps"])]
    if sampling in ("full", *DISTINCT, *INDEPENDENT):
        rules.append(compare("participants", "<=", "clients"))
    if sampling in ("full", *INDEPENDENT) and all_of(certificate, "priority") == 1:
        rules.append(compare("participants", "==", "clients"))
    return rules
