"""Whether a claim is about clients with samples, and which operators have no meaning there."""

from functools import lru_cache

import sympy as sp

from bounds.language import operators, samples
from bounds.language.claim import Claim
from bounds.language.names import DATA, names_from

__all__ = ["UNDEFINED_NAMES", "UNDEFINED_OPERATORS", "leaves_mean_open", "speaks_of_samples"]

#: names and operators that only claims about clients with samples have
_NAMES = frozenset({"samples", "H_loss", *names_from(DATA)})
_OPERATORS = tuple(operator for operator in map(vars(samples).get, samples.__all__) if isinstance(operator, type))

#: expectations that have no meaning in such claims: the data sets are drawn beside the noise, before the first round
UNDEFINED_OPERATORS = (operators.E_round, operators.E_noise, operators.E_step)

#: names that have no value in such claims: every data set has an optimum of its own
UNDEFINED_NAMES = frozenset({"x_star", "F_star", "F_star_client", "F_inf", "L_objective", "mu_objective"})


@lru_cache(maxsize=64)
def speaks_of_samples(claim: Claim) -> bool:
    """Whether a claim about runs mentions the clients' samples, or runs on neighbouring data sets."""
    if claim.setting != "run" or claim.statement is None:
        return False
    return (bool(claim.names & _NAMES) or any(name.startswith("twin_") for name in claim.names)
            or any(formula.has(*_OPERATORS) for formula in claim.formulas))


def leaves_mean_open(claim: Claim) -> bool:
    """Whether a claim about samples has ``E`` and does not say whether it is meant over the data sets too."""
    return (speaks_of_samples(claim) and claim.procedure.replaced is None
            and any(sp.sympify(formula).has(operators.E) for formula in claim.formulas))
