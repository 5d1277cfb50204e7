"""The stages that find a claim ill-posed, where the checker accepts a proof of a conflict that was found."""

import re

import sympy as sp

from bounds.language.claim import Claim
from bounds.printing.render import condition_text
from verify.claims.implicit import all_hypotheses, client_conditions
from verify.exact.certify import Accepted, certify
from verify.exact.check import check
from verify.prove.contradictions import contradiction, needed_parts
from verify.prove.illposed import Conflict, conflict
from verify.results.verdict import Verdict

__all__ = ["by_conflict", "by_range", "by_value", "conflict_shown"]


def by_conflict(case) -> Verdict | None:
    """Ill-posed, if the hypotheses exclude each other; undecided, if there is no statement."""
    claim = case.claim
    if claim.statement is None:
        return case.undecided("statement", None, f"the statement is undefined: {claim.undefined}")
    return _ill_posed(case, conflict(claim))


def by_value(case) -> Verdict | None:
    """Ill-posed, if no instance meets the hypotheses in exact arithmetic and a proof shows that none can, or that the
    statement has a value nowhere. Not for claims that a number exists, of which a statement without a value may be false."""
    if case.meets_somewhere or case.claim.exists is not None or not isinstance(outcome := _certified(case), Accepted):
        return None
    return _verdict(case, conflict_of_certificate(case.claim, outcome.data), outcome)


def by_range(case) -> Verdict | None:
    """Ill-posed, if the statement is about no index at all, whatever the sizes."""
    return _ill_posed(case, empty_range(case.claim))


def empty_range(claim: Claim) -> Conflict | None:
    """The ends of a range of the statement's indices that is empty whatever the sizes; None if there is none."""
    for index, low, high in claim.statement.over:
        if sp.expand(low - high).is_positive:
            text = f"the statement says nothing: no {index} lies between {low} and {high}, whatever the sizes"
            return Conflict((f"{low} <= {index}", f"{index} <= {high}"), text)
    return None


#: what holds by the meaning of a name, without a hypothesis
_BY_LANGUAGE = {"client_weight": "the weights of clients are positive", "iterations": "iterations = rounds local_steps"}


def conflict_shown(claim: Claim, data) -> Conflict:
    """The conflict that the evidence names where ``data`` is the certificate."""
    return conflict(claim) or empty_range(claim) or conflict_of_certificate(claim, data)


def conflict_of_certificate(claim: Claim, data) -> Conflict:
    """The conflict that a certificate shows: hypotheses without which the checker does not accept it, but not what the
    claim's procedure says of clients and weights."""
    hypotheses, needed, of_procedure = all_hypotheses(claim), needed_parts(data), {*client_conditions(claim)}
    parts = [_text(hypotheses[n]) if n < len(hypotheses) else data["hypotheses"][n]["text"] for n in needed.hypotheses
             if n >= len(hypotheses) or hypotheses[n] not in of_procedure]
    if not needed.statement:
        beside = [text for name, text in _BY_LANGUAGE.items() if any(re.search(rf"\b{name}\b", part) for part in parts)]
        also = f" (in every claim {' and '.join(beside)})" if beside else ""
        return Conflict(tuple(parts), f"nothing meets these conditions together: {'; '.join(parts)}{also}")
    where = f" where these conditions hold: {'; '.join(parts)}" if parts else ""
    return Conflict(("the statement has a value", *parts), f"the statement has a value nowhere{where}")


def _text(condition) -> str:
    if isinstance(condition.left, sp.Mod) and condition.left.args[1] == 1 and condition.right == 0:
        return f"{condition.left.args[0]} is a whole number"
    return condition_text(condition, "code")


def _certified(case):
    """The outcome of a certificate that the claim is ill-posed; None where none is found."""
    claim = case.claim
    written = contradiction(claim)
    return written and certify(claim, lambda: written, lambda data: check(data, claim), case.settings.out)


def _verdict(case, found: Conflict, outcome: Accepted) -> Verdict:
    case.details |= {"conflict": list(found.parts), "proof": found.proof}
    return case.verdict("ill-posed", None, found.proof, outcome)


def _ill_posed(case, found: Conflict | None) -> Verdict | None:
    """Ill-posed, if the checker accepts a proof of a conflict that was found. What z3 or sympy says without one is noted."""
    if found is None:
        return None
    outcome = _certified(case)
    if isinstance(outcome, Accepted):
        return _verdict(case, found, outcome)
    case.conflicts.append(f"without a proof that the checker accepts, z3 or sympy finds that it is ill-posed: {found.proof}")
    return None
