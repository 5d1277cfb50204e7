"""Forgets what the stage of proofs keeps of claims, for tests that plant something."""

from verify.prove import satisfiable
from verify.worst import stress_test, worst_case

__all__ = ["clear_caches"]

_KEPT = (stress_test.suspected_failure, satisfiable._cached_answer, worst_case._programs_at, worst_case._statement_and_notes,
         worst_case._worst_case)


def clear_caches() -> None:
    """Keep nothing, so that what a test plants is seen."""
    for function in _KEPT:
        function.cache_clear()
