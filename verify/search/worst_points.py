"""The stage of worst points: functions through the points at which a semidefinite program finds the statement worst."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import prod

import numpy as np

from bounds.language.claim import Claim
from synthetic.numbers.arrays import NUMPY
from verify.checker.limits import WorkLimit
from verify.claims.method import subset_left_open
from verify.claims.needs import speaks_of_samples
from verify.claims.sizes import integer_variables, possible
from verify.evaluation.environment import UnboundName
from verify.instances.chance import chance_of
from verify.instances.draw import draw_params
from verify.instances.instance import federation_of, outcomes
from verify.instances.parameters import PARAMETERS, SLACK, Parameters, take_rows
from verify.instances.shape import Shape
from verify.instances.through_points import through_points
from verify.search.batch_evaluation import evaluate_batch
from verify.search.local_search import ends_from
from verify.search.stage import State
from verify.worst.configurations import Setting, Template
from verify.worst.coordinate_ascent import ERRORS, Evaluation, evaluations, result_of_error
from verify.worst.one_dimensional import WorstPoints, worst
from verify.worst.stress_test import STRESS_TEMPLATES

__all__ = ["at_points", "worst_points_of"]

_OWN_SEED = 314
_ROWS = 32  # instances with the losses of each template
_EXACTLY = 8  # of these, with the numbers of the template, too
_EFFORT = 1_000_000  # of all programs of a claim: about 25 seconds
_LETTERS = 20  # of a program
_FIRST = 8  # templates at which something must be known of a claim that is looked at further
_FALSE = 1 + 1e-4  # a larger factor says that a statement is false
_TRIES = 6  # such settings whose functions are looked at
_PIECES = 16  # of a client; instances with more take exact arithmetic minutes
_PROMISING = 0.5  # factor from which a setting is worth a local search
_DIGITS = 4  # of factors that differ
_LOOKED_AT = 3  # settings from which local searches start


def _by_size(template: Template) -> int:
    return template.clients * (1 + template.rounds * template.local_steps)


#: the challenges, the smallest first: exact arithmetic confirms small instances soonest
TEMPLATES = (*sorted(STRESS_TEMPLATES, key=_by_size),)


def worst_points_of(state: State) -> Iterator[tuple[Shape, Parameters]]:
    """Instances with the losses of worst points at the settings where a program says that the statement is false. Beyond the
    smallest budget also at those where it is nearly false, with local searches from these."""
    claim = state.claim
    if claim.setting != "run" or speaks_of_samples(claim) or (claim.procedure is not None and claim.procedure.free_clients):
        return
    rng = np.random.default_rng([*state.seeds, _OWN_SEED])
    tried, known = 0, []
    for found in _settings(claim, state.budget.settings):
        known.append(found)
        if found.factor > _FALSE and tried < _TRIES:
            tried += 1
            if (batch := _through(state, found, rng)) is not None:
                yield batch
    if state.budget.before is None:
        return
    for found in _worst(known):
        if (batch := _through(state, found, rng)) is None:
            continue
        shape, params = batch
        yield shape, params
        try:
            verdict = evaluate_batch(claim, shape, params, state.backend)
        except UnboundName:  # these clients lack a constant
            continue
        nearest = int(np.argmax(np.where(verdict.met, verdict.score, -2.0)))
        if verdict.met[nearest]:
            yield from ends_from(state, shape, take_rows(params, [nearest]), rng)


def _settings(claim: Claim, count: int | None) -> Iterator[Evaluation]:
    """Yields evaluations at the first ``count`` templates, None for all; at few of them if nothing is known there."""
    meter, known = WorkLimit(_EFFORT), 0
    try:
        for number, found in enumerate(evaluations(partial(_look, claim, meter), TEMPLATES[:count]), 1):
            if found is not None:
                known += 1
                yield found
            elif number >= _FIRST and not known:
                return
    except ImportError:  # no solver
        return


def _look(claim: Claim, meter: WorkLimit, given: Mapping[str, Fraction], template: Template):
    try:
        found = worst(claim, given, template, _LETTERS, meter)
    except ERRORS as error:
        return result_of_error(error)
    return found and (found.factor, found)


def _worst(known: Iterable[Evaluation]) -> list[Evaluation]:
    """The worst settings, one of each sizes; of equally bad ones the smallest."""
    found: dict[tuple[int, ...], Evaluation] = {}
    for one in known:
        sizes = tuple(one.setting.sizes.values())
        if one.factor >= _PROMISING and (sizes not in found or one.factor > found[sizes].factor):
            found[sizes] = one
    return sorted(found.values(), key=lambda one: (-round(one.factor, _DIGITS), sum(map(len, one.case.letters.points))))[
        :_LOOKED_AT]


def _through(state: State, known: Evaluation, rng: np.random.Generator) -> tuple[Shape, Parameters] | None:
    """Instances whose losses go through the worst points at a setting; None where it has no shape, or too many pieces."""
    shape = shape_at(state.claim, known.setting, state.budget.most_outcomes)
    if shape is None:
        return None
    shape, params = at_points(state.claim, shape, known.case.points_on_line(), rng)
    return (shape, params) if shape.family.pieces <= _PIECES else None


def shape_at(claim: Claim, setting: Setting, most_outcomes: int) -> Shape | None:
    """Returns the shape of an instance of a setting, in one dimension; None where it has none, or too many outcomes."""
    sizes, procedure = setting.sizes, claim.procedure
    own = tuple((name, sizes[name]) for name in integer_variables(claim) if name in sizes)
    own += tuple((name, 1) for name in subset_left_open(claim))
    sampling = procedure.sampling if procedure else "full"
    participants = sizes["participants"] if sampling != "full" else 1
    shape = Shape(sizes["clients"], 0, 1, sizes["local_steps"], sizes["rounds"], participants, sampling, sizes=own,
                  chance=chance_of(procedure, claim.variables))
    return shape if possible(claim, shape.as_sizes()) and prod(outcomes(shape)) <= most_outcomes else None


def at_points(claim: Claim, shape: Shape, found: WorstPoints, rng: np.random.Generator) -> tuple[Shape, Parameters]:
    """Instances whose losses go through the points and whose runs start where the program's start. Some have the numbers of
    the setting, too, others any numbers."""
    family, losses = through_points(found.points, found.steep, found.flat)
    shape = replace(shape, family=family)
    params = draw_params(claim, shape, _ROWS, rng)
    weights = np.array([[float(Fraction(w)) for w in found.setting.weights]])
    for name, array in {**losses, "offset": np.zeros((1, shape.clients)), "weight": weights / weights[:, :1]}.items():
        params[name] = np.repeat(array, _ROWS, axis=0)
    optimum = federation_of(shape, params, NUMPY).x_star  # one of several, where the objective is flat
    params["start_offset"] = found.start - np.broadcast_to(np.nan_to_num(optimum), (_ROWS, 1))
    for name, array in params.items():
        if name.startswith(SLACK) or name == "step_fraction":
            array[:_EXACTLY] = 1.0
        elif name not in PARAMETERS and isinstance(found.setting.values.get(name), str):
            array[:_EXACTLY] = float(Fraction(found.setting.values[name]))
    if "step_scale" in params and isinstance(step := found.setting.values.get("eta_l"), list):
        params["step_scale"][:_EXACTLY] = float(Fraction(step[0])) * max(found.steep)
    return shape, params
