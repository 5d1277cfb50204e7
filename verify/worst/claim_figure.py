"""A claim over rounds in one figure: the printed bound, the exact worst case, the worst and the middle of many runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from matplotlib.figure import Figure

from bounds.language.claim import Claim
from synthetic.base.checks import whole
from synthetic.numbers.arrays import NUMPY
from verify.claims.sizes import integer_variables
from verify.evaluation.environment import NamedArray
from verify.evaluation.judge import judge
from verify.instances.chance import chance_of
from verify.instances.draw import draw_leaves
from verify.instances.shape import Shape
from verify.measure.realise import realise
from verify.results.drawing import (
    BOUND,
    FONT,
    GREY,
    MEASUREMENT,
    VIOLATION,
    canvas,
    curve,
    direct_labels,
    edge_remarks,
    set_scales,
    spans,
    write_below,
)
from verify.worst.setting import Setting
from verify.worst.worst_case import WorstCase, worst_case

__all__ = ["Course", "course", "course_figure", "on_quadratics"]

_RUNS = 512
_DIM = 2


@dataclass(frozen=True)
class Course:
    """A claim's left side over its right side, after 1, 2, ... rounds.

    Attributes:
        exact: the least number by which the larger side may be multiplied; NaN where there is none.
        found: the same of the worst of ``runs`` random quadratics that meet the hypotheses; ``middle``: the median.
        worst: what is known after all rounds.
    """

    claim: Claim
    exact: tuple[float, ...]
    found: tuple[float, ...]
    middle: tuple[float, ...]
    runs: tuple[int, ...]
    worst: WorstCase


def course(claim: Claim, given: Mapping[str, Fraction] | None = None, rounds: int = 5, seed: int = 0) -> Course:
    """The worst case of a claim and its sides on random quadratics over rounds, at the numbers ``given``.

    Raises:
        ImportError, LookupError, TypeError, ValueError: as :func:`verify.worst.worst_case.worst_case`.
    """
    given, rows = dict(given or {}), []
    rounds = whole("rounds", int(given.pop("rounds", rounds)))
    for count in range(1, rounds + 1):
        found = worst_case(claim, given | {"rounds": Fraction(count)}, proofs=False)
        factors = [np.nan if factor is None else factor for factor in found.factors]
        ratios = on_quadratics(claim, found.setting, seed)
        ends = (ratios.max(), float(np.median(ratios))) if ratios.size else (np.nan, np.nan)
        rows.append((max(factors, default=np.nan), *ends, len(ratios)))
    return Course(claim, *(tuple(map(float, column)) for column in zip(*(row[:3] for row in rows), strict=True)),
                  tuple(row[3] for row in rows), found)


def on_quadratics(claim: Claim, setting: Setting, seed: int) -> np.ndarray:
    """The ratios left/right on random quadratics at a setting that meet the claim's hypotheses."""
    sizes, rng = setting.sizes, np.random.default_rng(seed)
    own = tuple((name, sizes[name]) for name in integer_variables(claim) if name in sizes)
    procedure = claim.procedure
    shape = Shape(sizes["clients"], 0, _DIM, sizes["local_steps"], sizes["rounds"], sizes.get("participants", 1),
                  procedure.sampling if procedure else "full", sizes=own, chance=chance_of(procedure, claim.variables))
    leaves = draw_leaves(claim, shape, _RUNS, rng)
    numbers = {name: np.array(value, dtype=object) for name, value in setting.values.items() if not isinstance(value, dict)}
    numbers = {name: np.vectorize(lambda text: float(Fraction(text)), otypes=[float])(n) for name, n in numbers.items()}
    high = float(numbers.get("L", 1.0))
    low = min(float(numbers.get("mu", high / 1000)), high)  # quadratics are strictly convex
    corner = rng.random(leaves["curvature"].shape)
    corner = np.where(rng.random(corner.shape) < 0.5, corner.round(), corner)  # half of the curvatures are at an end
    leaves["curvature"] = low + (high - low) * corner
    leaves |= {name: np.broadcast_to(n, leaves[name].shape) for name, n in numbers.items() if name in leaves}
    values = {name: NamedArray(n.reshape(1, 1, 1, *n.shape), n.ndim) for name, n in numbers.items()}
    verdict = judge(claim, realise(claim, shape, leaves, NUMPY, values=values))
    ratios = verdict.ratio[verdict.met]
    return ratios[np.isfinite(ratios)]


def course_figure(found: Course) -> Figure:
    """Draw the bound (1), the exact worst case, and the worst and the middle of the runs over rounds."""
    figure, (axes,) = canvas(6.0, 3.7)
    x = np.arange(1.0, len(found.exact) + 1)
    exact, worst, middle = map(np.array, (found.exact, found.found, found.middle))
    bound = np.ones(x.size)
    columns = [bound, middle, worst, exact]  # the axis has room for the first two
    logarithmic = spans(columns, 10)
    set_scales(axes, x, columns, logarithmic)
    drawn = (bound, BOUND, "s"), (exact, VIOLATION, "D"), (worst, MEASUREMENT, "o"), (middle, GREY, "o")
    for values, colour, marker in drawn:
        curve(axes, x, values, colour, marker, "-")
    direct_labels(axes, ((bound, "printed bound", BOUND), (exact, "exact worst case", VIOLATION),
                         (worst, "worst run found", MEASUREMENT), (middle, "middle run", GREY)))
    axes.set_xlabel("rounds", **FONT)
    axes.set_ylabel("left side / right side", **FONT)
    axes.set_title(found.claim.id, loc="left", fontsize=11, **FONT)
    runs = f"{min(found.runs)} to {max(found.runs)}" if len({*found.runs}) > 1 else str(found.runs[0])
    write_below(axes, "; ".join([found.worst.scope, f"{runs} random quadratics that meet the hypotheses",
                                 *edge_remarks(axes, np.concatenate(columns), logarithmic)]))
    return figure
