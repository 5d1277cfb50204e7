"""Growth as evidence: counterexamples to a claim with larger and larger values of its hidden constant, in one file.

Every member is an ordinary certificate: of the claim with an explicit constant, or, where the right side vanishes, of the
claim with any. ``verify.growth.check`` says what is checked besides.
"""

import json
from fractions import Fraction
from typing import Any

from bounds.language.claim import Claim
from verify.exact.certificate import certificate
from verify.exact.subdivision import subdivided
from verify.growth.members import ExactMember
from verify.growth.order import with_constant

__all__ = ["FORMAT", "growth_certificate"]

FORMAT = "fedtheory growth certificate 2"


def growth_certificate(claim: Claim, along: str, members: tuple[ExactMember, ...]) -> dict[str, Any]:
    """The members as one certificate, ready for JSON. Raises ArithmeticError for numbers that cannot be written down."""
    rows = []
    for member in members:
        v = member.violation
        data = certificate(with_constant(claim, member.constant), v.environment, v.left, v.right)
        data = data if claim.exists is None else subdivided(data)
        constant = None if member.constant is None else str(member.constant)
        rows.append({"size": str(Fraction(member.size)), "constant": constant, "certificate": data})
    return json.loads(json.dumps(
        {"format": FORMAT, "claim": claim.id, "reading": claim.reading, "along": along,
         "constants_may_use": claim.constants_may_use, "members": rows}))
