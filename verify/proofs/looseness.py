"""Measures where a proof loses: the factor of every step of a theorem's proof, on one and the same instance.

A step ``a <= b`` loses the factor b / a. It is measured on the theorem's tightest instance that a search finds, and on one
of median tightness. What a step needs besides that instance is drawn at random.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bounds.language.claim import Claim
from bounds.registry.claims import find_claim
from synthetic.base.display import RichDisplay, brief, table
from synthetic.numbers.arrays import TORCH
from verify.claims.related import related
from verify.evaluation.environment import UnboundName
from verify.evaluation.judge import judge, pairs
from verify.evaluation.term_sizes import sizes_of_sides
from verify.instances.draw import draw_params, draw_shape
from verify.instances.parameters import Parameters, take_rows
from verify.instances.shape import Shape
from verify.measure.simulate import simulate
from verify.search.budget import BUDGETS
from verify.search.search import search
from verify.worst.worst_case import worst_case

__all__ = ["Link", "Waterfall", "waterfall"]

_SMALL = 24  # letters of a program
_BATCHES = 20  # of random instances, for the typical one
_ROUNDING = 1e-9  # share of the largest side below which a negative one is 0
_LAST_DIGITS = 1e-13  # share of the largest terms above which sides are accurate to 1 %


@dataclass(frozen=True)
class Link:
    """The factor right/left that a step, or the theorem itself, loses on each instance, at its tightest index.

    ``worst`` and ``typical`` are None if the step cannot be measured on that instance; ``reason`` says why. ``least`` is the
    factor that it loses on every function of its class, in every dimension, at the sizes and numbers that
    :func:`verify.worst.worst_case.worst_case` takes by itself; None where there is no worst case of this kind.
    """

    id: str
    number: str
    worst: float | None
    typical: float | None
    reason: str = ""
    least: float | None = None


@dataclass(frozen=True)
class Waterfall(RichDisplay):
    """The steps of a theorem's proof in the paper's order, and the theorem itself."""

    theorem: Link
    steps: tuple[Link, ...]

    def _summary(self) -> str:
        return f"what {len(self.steps)} steps of {self.theorem.id} lose"

    def _repr_html_(self) -> str:
        rows = [(link.id, brief(link.worst), brief(link.typical), link.reason) for link in (*self.steps, self.theorem)]
        return table(rows, ("step", "factor on the tightest instance", "on a typical one", "not measured because"))


def waterfall(claim: Claim, budget: str = "quick", seed: int = 0, steps: Sequence[Claim] = ()) -> Waterfall:
    """Measure the factors that a theorem and the steps of its proof lose.

    Args:
        steps: the steps' claims; default: the registered ones that the theorem lists.

    Raises:
        ValueError: unknown budget; a claim without steps, not about runs, or with hidden constants; no feasible instance.
    """
    steps = steps or [find_claim(step) for step in claim.steps]
    if budget not in BUDGETS:
        raise ValueError(f"unknown budget {budget!r}; allowed: {', '.join(BUDGETS)}")
    if not steps:
        raise ValueError(f"{claim.id} lists no steps of a proof")
    if claim.setting != "run" or claim.statement is None:
        raise ValueError(f"{claim.id} is not a statement about runs; its setting is {claim.setting!r}")
    if not claim.explicit:
        raise ValueError(f"{claim.id} hides its constants in O(.), so it has no factor")
    worst, typical = _worst(claim, budget, seed), _typical(claim, budget, seed)
    links = []
    for one in (claim, *steps):
        (tightest, why), (usual, reason) = (_factor(one, shape, params, seed) for shape, params in (worst, typical))
        links.append(Link(one.id, one.number, tightest, usual, why or reason, _least(one)))
    return Waterfall(links[0], tuple(links[1:]))


def _least(claim: Claim) -> float | None:
    try:
        factors = worst_case(claim, most=_SMALL, proofs=False).reliable if claim.setting == "run" else ()
    except (ArithmeticError, ImportError, LookupError, TypeError, ValueError):
        return None
    known = [factor for factor in factors if factor is not None]
    return 1 / max(known) if known and len(known) == len(factors) and max(known) > 0 else None


def _worst(claim: Claim, budget: str, seed: int) -> tuple[Shape, Parameters]:
    found = search(claim, BUDGETS[budget], seed, related=related(claim))
    if found.violation:
        return found.violation.shape, {name: array.astype(float) for name, array in found.violation.params.items()}
    if found.worst is None:
        raise ValueError(f"{claim.id}: none of {found.tried} instances met its hypotheses")
    return found.worst


def _typical(claim: Claim, budget: str, seed: int) -> tuple[Shape, Parameters]:
    """Return an instance of median tightness among random ones on which both sides are positive."""
    rng, found, limits = np.random.default_rng(seed), [], BUDGETS[budget]
    for _ in range(_BATCHES):
        shape = draw_shape(claim, rng, limits.most_outcomes, limits.most_iterations)
        params = draw_params(claim, shape, 16, rng)
        verdict = judge(claim, simulate(claim, shape, params, TORCH))
        found += [(float(verdict.ratio[row]), shape, take_rows(params, [row])) for row in np.flatnonzero(verdict.met)]
    inside = sorted((one for one in found if 0 < one[0] < np.inf), key=lambda one: one[0])
    if not inside:
        raise ValueError(f"{claim.id}: no random instance on which both sides are positive met its hypotheses")
    return inside[len(inside) // 2][1:]


def _factor(step: Claim, shape: Shape, params: Parameters, seed: int) -> tuple[float | None, str]:
    """Return the factor right/left of a step on an instance, or why there is none."""
    if step.setting != "run":
        return None, f"it is about {'numbers' if step.setting == 'algebra' else 'one point'}, not about a run"
    if step.statement is None or not step.explicit:
        return None, "it states no two sides" if step.statement is None else "its constants are hidden"
    rng = np.random.default_rng(seed)
    sizes = dict(draw_shape(step, rng, 64, 40).sizes) | dict(shape.sizes)
    own = tuple((v.name, sizes[v.name]) for v in step.variables if v.name in sizes)
    shape = replace(shape, sizes=own)
    drawn = draw_params(step, shape, 1, rng)
    params = drawn | {name: params[name] for name in drawn if name in params and params[name].shape == drawn[name].shape}
    try:
        environment = simulate(step, shape, params, TORCH)
        verdict = judge(step, environment)
    except (UnboundName, ValueError, LookupError, TypeError) as error:
        return None, f"not measured: {error}"
    if not verdict.met[0]:
        return None, "its hypotheses do not hold there"
    both = [(float(left), float(right)) for left, right in pairs(step.statement, environment)]
    largest = max((abs(side) for sides in both for side in sides), default=0.0)
    if any(min(sides) < -_ROUNDING * largest for sides in both):
        return None, "a side is negative there, as where terms were moved: right over left is no factor"
    ratio = float(verdict.ratio[0]) or _ratio_of_small_sides(step, environment)
    if ratio in (0, np.inf):
        return None, f"the {'smaller' if ratio == 0 else 'larger'} side is 0 there"
    return 1 / ratio, ""


def _ratio_of_small_sides(step: Claim, environment) -> float:
    """Return the largest left/right of sides that the judge takes for rounding errors of larger terms.

    0 if no sides exceed the last digits of these terms.
    """
    sizes = sizes_of_sides(step.statement, environment.remembering())[:2]
    least = _LAST_DIGITS * max(float(size.max()) for size in sizes)
    both = [(float(left), float(right)) for left, right in pairs(step.statement, environment)]
    upward = step.statement.relation == ">="
    return max((b / a if upward else a / b for a, b in both if min(a, b) > least), default=0.0)
