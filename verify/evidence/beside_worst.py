"""The exact worst case at the sizes and numbers of runs, drawn beside them."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from synthetic.numbers.arrays import to_numpy
from verify.evaluation.environment import Environment
from verify.evidence.runs import Runs
from verify.exact.statement import free_names
from verify.results.verdict import Series
from verify.worst.worst_case import worst_case

__all__ = ["with_worst_case"]

_LETTERS = 32  # of the largest program: larger ones take minutes
_FINEST = 10**9  # denominators of numbers that the runs have in float64
_SIZES = ("clients", "layers", "local_steps", "participants")


def with_worst_case(runs: Runs, series: Series) -> Series:
    """The series over rounds with the largest left side of all functions of the claim's class, with the sizes, constants and
    steps of the runs and the right side of each round, as far as the programs are small; or a note that says why there is
    none.

    Raises:
        ImportError: the solver is not installed.
    """
    found, why_not = [], _why_not(runs, series)
    try:
        given = {} if why_not else _numbers_of(runs, runs.environment(runs.trajectory.rounds))
        for rounds, right in zip(series.x, series.right, strict=True) if not why_not else ():
            worst = worst_case(runs.claim, given | {"rounds": Fraction(rounds)}, None, _LETTERS, proofs=False)
            known = bool(worst.reliable) and None not in worst.reliable
            found.append(right * max(worst.reliable) if known else np.nan)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        why_not = str(error)
    if not np.isfinite(found).any():
        return replace(series, note="; ".join(filter(None, [series.note, f"no exact worst case: {why_not}"])))
    return replace(series, exact=found + [np.nan] * (len(series.x) - len(found)))


def _why_not(runs: Runs, series: Series) -> str:
    """The reason why runs have no worst case beside them, whatever the claim is; empty where they may have one."""
    if runs.claim.statement.over or series.relation != "<=":
        return "it is drawn of statements with <= about the end of a run"
    weights = to_numpy(runs.federation.weights)
    if not np.allclose(weights, weights.flat[0]):
        return "it is drawn of clients of equal weight"
    return ""


def _numbers_of(runs: Runs, environment: Environment) -> Mapping[str, Fraction]:
    """The sizes of the runs and the numbers of the claim, as fractions. Raises ValueError for steps that differ."""
    sizes = environment.sizes
    found = {name: Fraction(sizes[name]) for name in _SIZES if name in sizes}
    for name in free_names(runs.claim):
        if name in sizes:
            found[name] = Fraction(sizes[name])
        elif name == "eta_l" or (name in environment.bound and environment.bound[name].indices == 0):
            values = np.unique(to_numpy(environment.bound[name].data))
            if len(values) > 1:
                raise ValueError(f"{name} has several values")
            if np.isfinite(values[0]):
                found[name] = Fraction(float(values[0])).limit_denominator(_FINEST)
    return found
