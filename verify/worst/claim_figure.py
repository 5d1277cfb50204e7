"""A claim over rounds or another number in one figure: the printed bound, the exact worst case, the worst and the middle of
many runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
import sympy as sp
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bounds.language import operators
from bounds.language.claim import Claim, Condition
from bounds.language.names import symbol
from synthetic.base.checks import whole
from synthetic.base.display import RichDisplay, lines
from synthetic.numbers.arrays import NUMPY
from verify.claims.named import claim as claim_of
from verify.claims.needs import OVER_SPACE, speaks_of_samples
from verify.claims.sizes import integer_variables
from verify.evaluation.environment import NamedArray
from verify.evaluation.judge import judge
from verify.exact.statement import statement_of
from verify.instances.chance import chance_of
from verify.instances.draw import draw_params
from verify.instances.parameters import Parameters
from verify.instances.shape import Shape
from verify.measure.simulate import simulate
from verify.results.drawing import save_as
from verify.results.figures import bound_and_measurement
from verify.results.verdict import Series
from verify.worst.configurations import Setting, Template, instantiate
from verify.worst.worst_case import WorstCase, worst_case

__all__ = ["BoundOverRounds", "bound_over_rounds", "bound_over_rounds_figure", "few_rounds", "on_quadratics"]

_RUNS = 512
_FEW_ROUNDS, _SMALL = 4, 24  # numbers of rounds, and letters, of a figure on a report's page
_DIM = 2


@dataclass(frozen=True)
class BoundOverRounds(RichDisplay):
    """A claim's left side over its right side, after 1, 2, ... rounds, or along another number.

    Attributes:
        over, values: the number and its values.
        exact: the least number by which the larger side may be multiplied; NaN where it is not solved reliably.
        found: the same of the worst of ``runs`` random quadratics that meet the hypotheses; ``middle``: the median.
        numbers: sizes and numbers, at the first and the last value where these differ.
        functions: the class.
    """

    claim: Claim
    over: str
    values: tuple[float, ...]
    exact: tuple[float, ...]
    found: tuple[float, ...]
    middle: tuple[float, ...]
    runs: tuple[int, ...]
    numbers: dict[str, str]
    functions: str

    def _summary(self) -> str:
        return f"{self.claim.id}: worst case over {len(self.values)} values of {self.over}"

    def _table(self):
        yield from ((self.over, list(self.values)), ("left side / right side, worst case", list(self.exact)))
        yield from (("of runs", list(self.found)), ("functions", self.functions), *self.numbers.items())

    def _svg(self):
        return lines(self.found, self.exact)

    @property
    def series(self) -> Series:
        """Both sides in units of the right one."""
        runs = f"{min(self.runs)} to {max(self.runs)}" if len({*self.runs}) > 1 else str(self.runs[0])
        scope = ", ".join(f"{name} = {value}" for name, value in self.numbers.items())
        note = f"{self.functions}, in every dimension; {scope}; {runs} random quadratics that meet the hypotheses"
        return Series(f"{self.claim.id}: worst case", self.over.replace("_", " "), "left side / right side", [*self.values],
                      _round_values(self.found), [1.0] * len(self.values), note=note, exact=_round_values(self.exact),
                      middle=_round_values(self.middle))

    def plot(self, path: str | Path | None = None, *, ax: Axes | None = None) -> dict[str, Path] | Axes:
        """Draws the figure as ``path``, in the format of its ending (.svg, .pdf, .png; all three without one), and returns
        the paths by format; or into the axes ``ax``, which it returns."""
        if (path is None) == (ax is None):
            raise ValueError(f"plot needs a path or ax; got {'neither' if path is None else 'both'}")
        return save_as(bound_over_rounds_figure(self), path) if ax is None else bound_over_rounds_figure(self, ax=ax)


def _round_values(values: Sequence[float]) -> list[float]:
    """Rounds values to the digits that a solver gives."""
    return [float(f"{value:.7g}") for value in values]


def bound_over_rounds(claim: Claim | str, given: Mapping[str, Fraction] | None = None, rounds: int = 5, seed: int = 0,
                      over: str = "rounds", values: Sequence[Fraction] = (), most: int | None = None) -> BoundOverRounds:
    """Computes the worst case of a claim and its sides on random quadratics over rounds, at the numbers ``given``; or
    ``over`` another size or number, at its ``values``. The claim is given itself, by its id or as ``FILE:ID``.

    Raises:
        ImportError, LookupError, TypeError, ValueError: as :func:`verify.worst.worst_case.worst_case`, with at most so many
            letters.
    """
    claim, given = claim_of(claim), dict(given or {})
    if over == "rounds" and not values:
        values = [Fraction(count + 1) for count in range(whole("rounds", int(given.pop("rounds", rounds))))]
    if not values or over in given:
        raise ValueError(f"{over} needs one value or several; got {'both' if values else 'none'}")
    return _join_points(claim, over, values, [_point_at(claim, given | {over: value}, seed, most) for value in values])


class _Point(NamedTuple):
    exact: float
    found: float
    middle: float
    runs: int
    worst: WorstCase


def _point_at(claim: Claim, given: Mapping[str, Fraction], seed: int, most: int | None) -> _Point:
    found = worst_case(claim, given, None, most, proofs=False)
    factors = [np.nan if factor is None else factor for factor in found.reliable]
    ratios = on_quadratics(claim, found.setting, seed)
    ends = (float(ratios.max()), float(np.median(ratios))) if ratios.size else (np.nan, np.nan)
    return _Point(float(np.max(factors)) if factors else np.nan, *ends, len(ratios), found)


def _join_points(claim: Claim, over: str, values: Sequence[Fraction], points: list[_Point]) -> BoundOverRounds:
    exact, found, middle, runs, known = zip(*points, strict=True)
    first, last = known[0].numbers, known[-1].numbers
    numbers = {name: value if first[name] == value else f"{first[name]} to {value}" for name, value in last.items()}
    return BoundOverRounds(claim, over, tuple(map(float, values)), exact, found, middle, runs, numbers, known[-1].functions)


def few_rounds(claim: Claim) -> tuple[Series, ...]:
    """The worst case of a claim over its first rounds, as far as its programs are small; none of a claim that has no
    worst case of this kind, or has one at less than two numbers of rounds.

    Raises:
        ImportError: the solver is not installed.
    """
    if speaks_of_samples(claim) or not claim.explicit or claim.exists is not None:
        return ()
    counts, points = [], []
    try:
        least = instantiate(claim, {}, Template(rounds=1)).sizes["rounds"]
        for count in range(least, least + _FEW_ROUNDS):
            points.append(_point_at(claim, {"rounds": Fraction(count)}, 0, _SMALL))
            counts.append(Fraction(count))
    except (ArithmeticError, LookupError, TypeError, ValueError):
        pass  # larger programs, or none at all
    known = len(points) > 1 and all(np.isfinite([point.exact, point.found]).all() for point in points)
    return (_join_points(claim, "rounds", counts, points).series,) if known else ()


def on_quadratics(claim: Claim, setting: Setting, seed: int) -> np.ndarray:
    """The ratios left/right on random quadratics at a setting that meet the claim's hypotheses."""
    sizes, rng = setting.sizes, np.random.default_rng(seed)
    own = tuple((name, sizes[name]) for name in integer_variables(claim) if name in sizes)
    procedure = claim.procedure
    shape = Shape(sizes["clients"], 0, _DIM, sizes["local_steps"], sizes["rounds"], sizes.get("participants", 1),
                  procedure.sampling if procedure else "full", sizes=own, chance=chance_of(procedure, claim.variables))
    params = draw_params(claim, shape, _RUNS, rng)
    numbers = {name: np.array(value, dtype=object) for name, value in setting.values.items() if not isinstance(value, dict)}
    numbers = {name: np.vectorize(lambda text: float(Fraction(text)), otypes=[float])(n) for name, n in numbers.items()}
    high = float(numbers.get("L", 1.0))
    low = min(float(numbers.get("mu", high / 1000)), high)  # quadratics are strictly convex
    corner = rng.random(params["curvature"].shape)
    corner = np.where(rng.random(corner.shape) < 0.5, corner.round(), corner)  # half of the curvatures are at an end
    params["curvature"] = low + (high - low) * corner
    params |= {name: np.broadcast_to(n, params[name].shape) for name, n in numbers.items() if name in params}
    values = {name: NamedArray(n.reshape(1, 1, 1, *n.shape), n.ndim) for name, n in numbers.items()}
    with np.errstate(all="ignore"):  # instances without a value do not meet the hypotheses
        verdict = judge(claim, simulate(claim, shape, params, NUMPY, values=values))
        met = verdict.met & _meets_bounds(claim, shape, params, values)
    ratios = verdict.ratio[met]
    return ratios[np.isfinite(ratios)]


def _meets_bounds(claim: Claim, shape: Shape, params: Parameters, values: Mapping[str, NamedArray]) -> np.ndarray | bool:
    """Whether what numbers bound at all points, as ``sigma_g_max`` does, is no larger than they say: the instance's own."""
    bounds = [name for name in statement_of(claim)["everywhere"] if name in values]
    if not bounds:
        return True
    told = []
    for name in bounds:
        number = values[name].data
        over = ((operators.k, 0, operators.clients - 1),) if OVER_SPACE.get(name) else ()
        own = symbol(name)[operators.k] if over else symbol(name)
        told.append(Condition(own, "<=", sp.Float(float(number.min())), over))
    own = replace(claim, conditions=(*claim.conditions, *told))
    rest = {name: value for name, value in values.items() if name not in bounds}
    return judge(own, simulate(own, shape, params, NUMPY, values=rest)).met


def bound_over_rounds_figure(found: BoundOverRounds, *, ax: Axes | None = None) -> Figure | Axes:
    """Draw the bound (1), the exact worst case, and the worst and the middle of the runs. Returns the figure, or ``ax``."""
    return bound_and_measurement(found.series, ax=ax)
