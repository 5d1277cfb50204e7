"""The search for statements that fail after many rounds alone: the tightest instances, of which the state after many rounds is
a power of a matrix (:mod:`verify.checker.long_run`)."""

from fractions import Fraction
from typing import TYPE_CHECKING

from synthetic.numbers.arrays import each
from verify.claims.needs import speaks_of_samples
from verify.claims.sizes import allowed
from verify.exact.confirm import Violation, violation_of
from verify.instances.parameters import map_params
from verify.instances.quadratic import QUADRATIC
from verify.instances.shape import with_times
from verify.search.stage import State

if TYPE_CHECKING:
    from verify.search.search import Found

__all__ = ["after_many_rounds"]

_ROUNDS = (300, 3000, 9999)
_KEPT, _FOLLOWED = 60, 5  # instances of an archive, and those of them that are followed


def after_many_rounds(state: State, found: "Found", watch=None) -> Violation | None:
    """A violation after many rounds by one of the tightest instances with quadratic losses, if the checker sees one."""
    claim = state.claim
    if claim.setting != "run" or speaks_of_samples(claim) or claim.exists is not None or "rounds" not in claim.names:
        return None
    kept = [one for one in state.archive.tightest(_KEPT) if one[0].family == QUADRATIC][:_FOLLOWED]
    for shape, params in kept:
        params = map_params(params, lambda name, a: each(a, Fraction))
        for rounds in _ROUNDS:
            longer = with_times(claim, shape, params, shape.local_steps, rounds)
            if not allowed(claim, longer[0].as_sizes()):
                break
            violation = violation_of(claim, *longer)
            if isinstance(violation, Violation):
                return violation
            if violation != "holds":
                break
    return None
