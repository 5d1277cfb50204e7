"""The stage of related claims: a counterexample of another reading or of a step of the proof may break this claim too."""

from collections.abc import Iterator
from dataclasses import replace
from math import prod

import numpy as np

from bounds.language.claim import Claim
from verify.claims.method import subset_left_open
from verify.claims.needs import needs_one_basis
from verify.claims.sizes import integer_variables, possible
from verify.evaluation.environment import UnboundName
from verify.exact.confirm import Violation
from verify.instances.chance import chance_of
from verify.instances.draw import draw_params
from verify.instances.instance import outcomes
from verify.instances.offspring import offspring
from verify.instances.parameters import Parameters, floats, joined, take_rows
from verify.instances.shape import Shape
from verify.search.batch_evaluation import evaluate_batch
from verify.search.local_search import ends_from
from verify.search.stage import State

__all__ = ["around", "related"]

_ROWS, _MUTATIONS = 16, 64  # instances made of each counterexample: with other numbers that it lacks, and near it
_OWN_SEED = 271


def related(state: State) -> Iterator[tuple[Shape, Parameters]]:
    """Instances near the counterexamples of related claims, and local searches from these. Not within the smallest budget,
    which is what finds the counterexamples."""
    if state.budget.before is None:
        return
    rng = np.random.default_rng([*state.seeds, _OWN_SEED])
    for violation in state.counterexamples:
        shape = _shape(state.claim, violation.shape, state.budget.most_outcomes)
        if shape is None:
            continue
        params = around(state.claim, shape, violation, rng)
        yield shape, params
        try:
            verdict = evaluate_batch(state.claim, shape, params, state.backend)
        except UnboundName:  # these clients lack a constant
            continue
        nearest = int(np.argmax(np.where(verdict.met, verdict.score, -2.0)))
        yield from ends_from(state, shape, take_rows(params, [nearest]), rng)


def around(claim: Claim, shape: Shape, violation: Violation, rng: np.random.Generator) -> Parameters:
    """Instances with the numbers of a counterexample as far as they fit this claim, and mutations of the first of them."""
    params = draw_params(claim, shape, _ROWS, rng)
    for name, array in floats(violation.params).items():
        turned = name == "half_tangent" and (array.shape[1] == 1 or not needs_one_basis(claim))
        if turned or (name in params and params[name].shape[1:] == array.shape[1:]):
            params[name] = np.repeat(array, _ROWS, axis=0)
    return joined([params, offspring(claim, shape, take_rows(params, [0]), _MUTATIONS, rng)])


def _shape(claim: Claim, theirs: Shape, most_outcomes: int) -> Shape | None:
    """The counterexample's shape with the sizes that this claim mentions; None where it cannot have them."""
    sizes = theirs.as_sizes()
    if any(name not in sizes for name in integer_variables(claim)) or theirs.sampling != claim.procedure.sampling:
        return None
    own = tuple((name, sizes[name]) for name in integer_variables(claim))
    own += tuple((name, sizes.get(name, theirs.taking_part)) for name in subset_left_open(claim))
    if theirs.free and not claim.procedure.free_clients:
        return None
    shape = replace(theirs, sizes=own, chance=chance_of(claim.procedure, claim.variables))
    return shape if possible(claim, shape.as_sizes()) and prod(outcomes(shape)) <= most_outcomes else None
