"""Free numbers that are short fractions: some are equal, exponents are whole, floors change there, and equations hold."""

import numpy as np
import sympy as sp

from bounds.language.claim import Claim
from verify.claims.sizes import once_by_claim
from verify.instances.parameters import Parameters
from verify.instances.shape import Shape
from verify.search.transformations.transformation import Transformation

__all__ = ["SHORT_FRACTIONS"]

_SHARE = 0.3  # of the instances of a batch
_LARGEST = 5  # numerator
_DENOMINATORS = (1, 1, 2, 3, 5)
_COMMON = 2520  # denominator of all fractions that solve equations; what is none of these may be irrational


@once_by_claim
def _free_numbers(claim: Claim) -> dict[str, float]:
    """The free numbers of a claim, and what they stay below."""
    return {v.name: np.inf if v.below is None else float(v.below) for v in claim.variables
            if v.domain in ("positive", "nonnegative", "real") and v.name not in claim.defining}


def _as_short_fractions(claim: Claim, shape: Shape, params: Parameters, rng: np.random.Generator) -> Parameters:
    """Replace the numbers of some instances by short fractions of one denominator with the same signs. Equations then give
    one of the numbers, where it keeps its sign."""
    free, found = _free_numbers(claim), dict(params)
    count = len(params[next(iter(free))])
    chosen, denominator = rng.random(count) < _SHARE, rng.choice(_DENOMINATORS, count)

    def replace_rows(name: str, short: np.ndarray) -> None:
        same_sign = np.sign(short) == np.sign(params[name])
        rows = chosen.reshape(-1, *(1,) * (short.ndim - 1))
        found[name] = np.where(rows & same_sign & (short < free[name]), short, found[name])

    for name in free:
        row = (count, *(1,) * (params[name].ndim - 1))
        size = rng.integers(1, _LARGEST + 1, params[name].shape) / denominator.reshape(row)
        replace_rows(name, np.sign(params[name]) * size)
    for solutions in _solved_equations(claim):
        name, others, function = solutions[rng.integers(len(solutions))]
        with np.errstate(all="ignore"):
            short = np.rint(_COMMON * (root := function(*(found[other] for other in others)))) / _COMMON
            replace_rows(name, np.where(abs(short - root) < 1e-9, short, params[name]))
    return found


@once_by_claim
def _solved_equations(claim: Claim) -> list[list[tuple]]:
    """Returns the roots of equations between free numbers, for each number in which one is linear or quadratic, as functions
    of the others."""
    single = {v.name for v in claim.variables if not v.indices and v.name in _free_numbers(claim)}
    found = []
    for condition in claim.hypotheses:
        gap = condition.left - condition.right
        names = {s.name: s for s in gap.free_symbols}
        if condition.relation != "==" or condition.over or not names.keys() <= single or not gap.is_rational_function():
            continue
        top, solutions = sp.together(gap).as_numer_denom()[0], []
        for name, symbol in sorted(names.items()):
            others = [other for other in sorted(names) if other != name]
            if (polynomial := sp.Poly(top, symbol)).degree() <= 2:
                solutions += [(name, others, sp.lambdify([names[other] for other in others], root, "numpy"))
                              for root in sp.roots(polynomial) if root.free_symbols or root.is_real]
        if solutions:
            found.append(solutions)
    return found


SHORT_FRACTIONS = Transformation(
    "short-fractions", lambda claim, shape: claim.setting == "algebra" and bool(_free_numbers(claim)), _as_short_fractions)
