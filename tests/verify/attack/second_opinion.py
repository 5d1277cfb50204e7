"""Whether an instance refutes its claim, by the engine on exact numbers, which shares no code with the checker."""

from collections.abc import Mapping
from typing import Any

from bounds.language.claim import Claim
from synthetic.numbers.arrays import BALLS, EXACT
from synthetic.numbers.balls import Undecided
from synthetic.numbers.roots import Irrational
from verify.evaluation.environment import Environment
from verify.evaluation.judge import exact_violation
from verify.exact import balls
from verify.exact.replay import rerun

__all__ = ["refutes"]

_BITS = 1024


def refutes(data: Mapping[str, Any], claim: Claim) -> bool:
    """Whether the engine finds that the certificate's instance, with its values, meets all hypotheses and breaks the
    statement, for sure."""
    if not _broken(data, claim, also=False):
        return False
    return "also" not in data or _broken(data | {"values": data["also"]["values"]}, claim, also=True)


def _broken(data: Mapping[str, Any], claim: Claim, also: bool) -> bool:
    def chosen(environment: Environment) -> Environment:
        found = environment.also if also else environment
        assert found is not None
        found.also = None
        return found

    try:
        return not isinstance(exact_violation(claim, chosen(rerun(data, claim, EXACT))), str)
    except (Irrational, TypeError, ValueError):
        pass
    from flint import ctx

    before, ctx.prec = ctx.prec, _BITS
    try:
        return not isinstance(balls._certain(claim, chosen(rerun(data, claim, BALLS)), balls._NOTHING), str)
    except Undecided:
        return False
    finally:
        ctx.prec = before
