"""Growth as evidence: counterexamples to a claim with larger and larger values of its hidden constant, in one file.

Every member is an ordinary certificate, replayed by the stand-alone checker: of the claim with an explicit constant, or,
where the right side vanishes, of the claim with any. What is checked besides is that the members belong together: that
they state the same claim, that they share what its constants may depend on, and that their constants grow.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

from bounds.language.claim import Claim
from verify.exact import certificate as single
from verify.exact.certificate import CheckResult
from verify.growth.fit import OCTAVES, fit
from verify.growth.members import ExactMember
from verify.growth.order import vanishing, with_constant
from verify.growth.sizes import FREE_WEIGHT

__all__ = ["FORMAT", "check", "check_file", "growth_certificate", "largest_member"]

FORMAT = "fedtheory growth certificate 1"
_FIELDS = ("claim", "reading", "along", "constants_may_use", "members")

#: parts of an instance that stay when it is moved along a limit other than its number of clients
_SAME = ("curvature", "center", "client_weight", "F_star_client", "start_offset")


def growth_certificate(claim: Claim, along: str, members: tuple[ExactMember, ...]) -> dict[str, Any]:
    """The members as one certificate, ready for JSON. Raises ArithmeticError for numbers that cannot be written down."""
    rows = []
    for member in members:
        stated, v = _stated(claim, member.constant), member.violation
        data = single.certificate(stated, v.shape, v.leaves, v.environment, v.left, v.right)
        constant = None if member.constant is None else str(member.constant)
        rows.append({"size": member.size, "constant": constant, "certificate": data})
    uses = None if claim.constants_may_use is None else list(claim.constants_may_use)
    return json.loads(json.dumps(
        {"format": FORMAT, "claim": claim.id, "reading": claim.reading, "along": along, "constants_may_use": uses,
         "members": rows}))


def _stated(claim: Claim, constant: Fraction | None) -> Claim:
    return vanishing(claim) if constant is None else with_constant(claim, constant)


def check(data: dict[str, Any], claim: Claim | None = None) -> CheckResult:
    """Replay every member, and check that they belong together; ``claim`` is what they must be about, if it is at hand."""
    members = data["members"]
    for member in members:
        result = single.check(member["certificate"])
        where = f"size {member['size']:g}"
        if not result.accepted:
            return CheckResult(False, f"{where}: {result.reason}", result.left, result.right)
        if member["certificate"]["right"].startswith("-"):
            return CheckResult(False, f"{where}: the right side is negative", result.left, result.right)
        constant = None if member["constant"] is None else Fraction(member["constant"])
        if claim is not None and not single.same_statement(member["certificate"], _stated(claim, constant)):
            return CheckResult(False, f"{where}: it does not state what {claim.id} states", result.left, result.right)
    if claim is not None and data["constants_may_use"] != _uses(claim):
        return CheckResult(False, f"the constants of {claim.id} may depend on something else", "", "")
    for objection in _objections(data):
        return CheckResult(False, objection, "", "")
    return CheckResult(True, f"{len(members)} members, each a counterexample; {_said(data)}", result.left, result.right)


def _uses(claim: Claim):
    return None if claim.constants_may_use is None else list(claim.constants_may_use)


def _said(data) -> str:
    constants = [m["constant"] for m in data["members"]]
    if constants[0] is None:
        return "the right side is not positive, so that no constant is large enough"
    return f"constants from {float(Fraction(constants[0])):.4g} to {float(Fraction(constants[-1])):.4g} are refuted"


def _objections(data: dict[str, Any]) -> Iterator[str]:
    members, uses = data["members"], data["constants_may_use"]
    vanishing_sides = [m["constant"] is None for m in members]
    if any(vanishing_sides) and not all(vanishing_sides):
        yield "some members have a constant and others none"
    at_the_limit = members[0]["certificate"]["values"].get(data["along"]) == "0"
    if not (all(vanishing_sides) and (uses is not None or at_the_limit)):
        if len(members) <= OCTAVES:
            yield f"{len(members)} members show no growth; at least {OCTAVES + 1} do"
        sizes, ratios = _numbers(members)
        grown = fit(sizes, ratios).rising and all(first < second for first, second in pairwise(ratios))
        if not all(vanishing_sides) and not grown:
            yield "the constants do not grow throughout"
    first = members[0]["certificate"]
    for member in members[1:]:
        other = member["certificate"]
        if any(first[name] != other[name] for name in ("setting", "hypotheses", "definitions", "procedure")):
            yield f"size {member['size']:g}: another claim than that of the first member"
        for name in uses or ():
            if first["values"].get(name) != other["values"].get(name):
                yield f"size {member['size']:g}: constants may depend on {name}, which differs between members"
        if uses is None and data["along"] not in ("clients", "participants"):
            moved = [n for n in _SAME if _part(first, n, data["along"]) != _part(other, n, data["along"])]
            if moved:
                yield f"size {member['size']:g}: another instance than that of the first member: {', '.join(moved)}"


def _part(certificate: dict[str, Any], name: str, along: str):
    """A part of an instance, without weights of free clients where these are what moves."""
    instance = certificate["instance"]
    if name == "client_weight" and along == FREE_WEIGHT:
        return [weight for weight, priority in zip(instance[name], instance["priority"], strict=True) if priority]
    return instance.get(name)


def _numbers(members):
    return [m["size"] for m in members], [1.0 if m["constant"] is None else float(Fraction(m["constant"])) for m in members]


def largest_member(path: str | Path) -> tuple[dict[str, Any], Claim]:
    """A certificate file and the claim that it refutes; of a growth certificate the last member, and its claim with that
    member's constant. Raises ValueError for what is no certificate, LookupError for a claim that is not here."""
    from bounds.registry.claims import find_claim

    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        member = data["members"][-1] if data["format"] == FORMAT else None
    except (OSError, ValueError, TypeError, LookupError):
        member = None
    if member is None:
        data = single.read(path)
        return data, find_claim(data["claim"])
    constant = None if member["constant"] is None else Fraction(member["constant"])
    return member["certificate"], _stated(find_claim(data["claim"]), constant)


def check_file(path: str | Path) -> CheckResult:
    """Check a certificate file of either kind against the claim of that id, if there is one."""
    from bounds.registry.claims import all_claims

    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return single.check_file(path)  # which says what is wrong with it
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        return single.check_file(path)
    missing = [name for name in _FIELDS if name not in data]
    if missing or not data["members"]:
        raise ValueError(f"{path} is not a complete growth certificate: it lacks {', '.join(missing or ['members'])}")
    claim = all_claims().get(data["claim"])
    result = check(data, claim)
    if claim is None:
        return CheckResult(result.accepted, f"{result.reason}; no claim is called {data['claim']!r} here", result.left,
                           result.right)
    return result
