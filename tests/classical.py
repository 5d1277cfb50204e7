"""The assumptions of the classical controls, by the names that tests give them."""

from bounds.registry.papers import claims_of_paper

__all__ = ["CONVEX", "EXACT", "JUST_CONVEX", "NOISE", "SMOOTH"]

_BY_NAME = {one.id.split("/")[1]: one for claim in claims_of_paper("classical").values() for one in claim.assumptions}
SMOOTH, JUST_CONVEX, CONVEX, EXACT, NOISE = (
    _BY_NAME[name] for name in ("smooth", "convex", "strongly-convex", "full-gradients", "bounded-variance"))
