"""The stage of worst points: functions through the points at which a semidefinite program finds the statement worst."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np

from bounds.language.claim import Claim
from synthetic.numbers.arrays import NUMPY
from verify.claims.method import subset_left_open
from verify.claims.needs import speaks_of_samples
from verify.claims.sizes import integer_variables, possible
from verify.evaluation.environment import UnboundName
from verify.instances.chance import chance_of
from verify.instances.draw import draw_leaves
from verify.instances.instance import federation_of, outcomes
from verify.instances.leaves import LEAVES, SLACK, Leaves, take_rows
from verify.instances.shape import Shape
from verify.instances.through_points import through_points
from verify.search.judged import judged
from verify.search.local_search import ends_from
from verify.search.stage import State
from verify.worst.points import WorstPoints, worst_points
from verify.worst.setting import Place

__all__ = ["at_points", "places", "worst_points_of"]

_OWN_SEED = 314
_ROWS = 32  # instances with the losses of each place
_EXACTLY = 8  # of these, with the numbers of the place, too
_MOST = 32  # letters
_PROMISING = 0.5  # factor from which a place is worth a look
_FIRST = 6  # places at which something must be known of a claim that is looked at further
_DIGITS = 4  # of factors that differ
_LOOKED_AT = 3  # places whose functions are looked at
_CLIENTS, _ROUNDS, _STEPS = (1, 2, 3, 6), (1, 2, 3, 5, 8), (1, 2, 3)
_RATIOS, _NUMBERS = ("1/10", "1/2", "1/100"), ("1", "1/2", "3", "1/10")
_TURNS = 2  # places of each sizes


def places(claim: Claim) -> list[Place]:
    """Of each number of clients, of rounds and of local steps the smallest sizes that the claim admits, each with constants
    and numbers of its own."""
    sizes = [each for each in product(_CLIENTS, _ROUNDS, _STEPS) if possible(claim, _named(claim, *each))]
    sizes.sort(key=lambda each: each[0] * (1 + each[1] * each[2]))
    chosen = dict.fromkeys(next(each for each in sizes if each[part] == value)
                           for part in range(3) for value in dict.fromkeys(each[part] for each in sizes))
    chosen |= dict.fromkeys(each for each in sizes if each == (2, 2, 2))
    return [Place(*each, mu=Fraction(_RATIOS[(i + turn) % len(_RATIOS)]),
                  numbers=(Fraction(_NUMBERS[(i + turn) % len(_NUMBERS)]),))
            for turn in range(_TURNS) for i, each in enumerate(chosen)]


def _named(claim: Claim, clients: int, rounds: int, local_steps: int) -> dict[str, int]:
    everyone = claim.procedure is None or claim.procedure.sampling == "full"
    own = {name: variable.low for name, variable in integer_variables(claim).items()}
    return own | {"clients": clients, "rounds": rounds, "local_steps": local_steps, "iterations": rounds * local_steps,
                  "participants": clients if everyone else 1, "priority_clients": clients, "dim": 1, "layers": 1}


def worst_points_of(state: State) -> Iterator[tuple[Shape, Leaves]]:
    """Instances with the losses of worst points, and local searches from these. Not within the smallest budget."""
    claim = state.claim
    if state.budget.before is None or claim.setting != "run" or speaks_of_samples(claim):
        return
    if claim.procedure is not None and claim.procedure.free_clients:
        return
    rng = np.random.default_rng([*state.seeds, _OWN_SEED])
    for found in _everywhere(claim):
        shape = _shape(claim, found, state.budget.most_outcomes)
        if shape is None:
            continue
        shape, leaves = at_points(claim, shape, found, rng)
        yield shape, leaves
        try:
            verdict = judged(claim, shape, leaves, state.backend)
        except UnboundName:  # these clients lack a constant
            continue
        nearest = int(np.argmax(np.where(verdict.met, verdict.score, -2.0)))
        if verdict.met[nearest]:
            yield from ends_from(state, shape, take_rows(leaves, [nearest]), rng)


def _everywhere(claim: Claim) -> list[WorstPoints]:
    """What is known at the places, the worst first, one of each sizes."""
    found: dict[tuple[int, ...], WorstPoints] = {}
    tried, known = 0, 0
    for place in places(claim):
        try:
            one = worst_points(claim, {}, place, _MOST)
        except ImportError:
            return []
        except (ArithmeticError, LookupError, TypeError, ValueError):
            one = None
        tried, known = tried + 1, known + (one is not None)
        if not known and tried == _FIRST:
            return []
        if one is None or one.factor < _PROMISING:
            continue
        sizes = tuple(one.setting.sizes.values())
        if sizes not in found or one.factor > found[sizes].factor:
            found[sizes] = one
    return sorted(found.values(), key=lambda one: (-round(one.factor, _DIGITS), sum(map(len, one.points))))[:_LOOKED_AT]


def _shape(claim: Claim, found: WorstPoints, most_outcomes: int) -> Shape | None:
    sizes, procedure = found.setting.sizes, claim.procedure
    own = tuple((name, sizes[name]) for name in integer_variables(claim) if name in sizes)
    own += tuple((name, 1) for name in subset_left_open(claim))
    sampling = procedure.sampling if procedure else "full"
    participants = sizes["participants"] if sampling != "full" else 1
    shape = Shape(sizes["clients"], 0, 1, sizes["local_steps"], sizes["rounds"], participants, sampling, sizes=own,
                  chance=chance_of(procedure, claim.variables))
    return shape if possible(claim, shape.as_sizes()) and prod(outcomes(shape)) <= most_outcomes else None


def at_points(claim: Claim, shape: Shape, found: WorstPoints, rng: np.random.Generator) -> tuple[Shape, Leaves]:
    """Instances whose losses go through the points and whose runs start where the program's start. Some have the numbers of
    the setting, too, others any numbers."""
    family, losses = through_points(found.points, found.steep, found.flat)
    shape = replace(shape, family=family)
    leaves = draw_leaves(claim, shape, _ROWS, rng)
    weights = np.array([[float(Fraction(w)) for w in found.setting.weights]])
    for name, array in {**losses, "offset": np.zeros((1, shape.clients)), "weight": weights / weights[:, :1]}.items():
        leaves[name] = np.repeat(array, _ROWS, axis=0)
    optimum = federation_of(shape, leaves, NUMPY).x_star  # one of several, where the objective is flat
    leaves["start_offset"] = found.start - np.broadcast_to(np.nan_to_num(optimum), (_ROWS, 1))
    for name, array in leaves.items():
        if name.startswith(SLACK) or name == "step_fraction":
            array[:_EXACTLY] = 1.0
        elif name not in LEAVES and isinstance(found.setting.values.get(name), str):
            array[:_EXACTLY] = float(Fraction(found.setting.values[name]))
    if "step_scale" in leaves and isinstance(step := found.setting.values.get("eta_l"), list):
        leaves["step_scale"][:_EXACTLY] = float(Fraction(step[0])) * max(found.steep)
    return shape, leaves
