"""The stages that find a claim ill-posed, where the checker accepts a proof of a conflict that was found."""

import sympy as sp

from verify.exact.certify import Accepted, certify
from verify.exact.check import check
from verify.prove.contradictions import contradiction
from verify.prove.illposed import Conflict, conflict, without_value
from verify.results.verdict import Verdict

__all__ = ["by_conflict", "by_range", "by_value"]


def by_conflict(case) -> Verdict | None:
    """Ill-posed, if the hypotheses exclude each other; undecided, if there is no statement."""
    claim = case.claim
    if claim.statement is None:
        return case.undecided("statement", None, f"the statement is undefined: {claim.undefined}")
    return _ill_posed(case, conflict(claim))


def by_value(case) -> Verdict | None:
    """Ill-posed, if no instance was met and the statement has a value nowhere."""
    return None if case.found.met else _ill_posed(case, without_value(case.claim))


def by_range(case) -> Verdict | None:
    """Ill-posed, if the statement is about no index at all, whatever the sizes."""
    for index, low, high in case.claim.statement.over:
        if sp.expand(low - high).is_positive:
            text = f"the statement says nothing: no {index} lies between {low} and {high}, whatever the sizes"
            return _ill_posed(case, Conflict((f"{low} <= {index}", f"{index} <= {high}"), text))
    return None


def _ill_posed(case, found: Conflict | None) -> Verdict | None:
    """Ill-posed, if the checker accepts a proof of a conflict that was found. What z3 or sympy says without one is noted."""
    if found is None:
        return None
    claim = case.claim
    written = contradiction(claim)
    outcome = written and certify(claim, lambda: written, lambda data: check(data, claim), case.settings.out)
    if isinstance(outcome, Accepted):
        case.details |= {"conflict": list(found.parts), "proof": found.proof}
        return case.verdict("ill-posed", None, found.proof, outcome)
    case.conflicts.append(f"without a proof that the checker accepts, z3 or sympy finds that it is ill-posed: {found.proof}")
    return None
