"""Budgets of a search: quick, standard and thorough."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BUDGETS", "Budget"]


@dataclass(frozen=True)
class Budget:
    """The effort of each stage of a search, in instances rather than in seconds, beyond all that the budget ``before`` looks
    at. Large batches take little longer than small ones.

    Attributes:
        batches: of random shapes.
        size: most instances of a batch.
        generations: batches of mutations of the archive.
        small, small_rows: shapes of the smallest instances, and instances of each; also of the other fixed shapes.
        most_rounds: lengths of the longest runs of one local step, a batch each.
        local_searches, cma_steps, gradient_steps: how many of the tightest instances are followed by local search, and how
            far. Local search also follows every counterexample of a related claim.
        confirmations: candidates that are taken to exact arithmetic; of large ones fewer, by what they take.
        work: most model updates of a batch: outcomes times clients, steps and coordinates, over all instances.
        most_outcomes, most_iterations: limits of an instance.
        on_data: federations of real data; starts, and lengths of runs, on each.
        settings: places at which a program is asked where a claim is worst, of those that challenge proofs; None for all.
        proofs: whether proofs for every function of a class are looked for where nothing violates a claim.
    """

    batches: int
    size: int
    generations: int
    small: int = 40
    small_rows: int = 32
    most_rounds: tuple[int, ...] = (40,)
    local_searches: int = 0
    cma_steps: int = 0
    gradient_steps: int = 0
    confirmations: int = 12
    work: int = 100_000
    most_outcomes: int = 64
    most_iterations: int = 40
    on_data: tuple[int, int, int] = (1, 4, 1)
    settings: int | None = 8
    proofs: bool = False
    before: Budget | None = None

    @property
    def levels(self) -> tuple[Budget, ...]:
        """The budgets that are spent one after the other, from the smallest to this one."""
        return (*(self.before.levels if self.before else ()), self)


_QUICK = Budget(batches=2, size=256, generations=0, small=22, small_rows=128)
_STANDARD = Budget(
    batches=36, size=1024, generations=32, small=20, small_rows=768, most_rounds=(100, 300), local_searches=4, cma_steps=40,
    gradient_steps=6, confirmations=30, most_outcomes=128, most_iterations=100, on_data=(2, 8, 3),
    settings=24, proofs=True, before=_QUICK)
_THOROUGH = Budget(
    batches=300, size=3072, generations=600, small=200, small_rows=1536, most_rounds=(100, 300, 1000, 3000),
    local_searches=12, cma_steps=200, gradient_steps=60, confirmations=60, work=300_000, most_outcomes=256,
    most_iterations=300, on_data=(2, 16, 3), settings=None, proofs=True, before=_STANDARD)

BUDGETS = {"quick": _QUICK, "standard": _STANDARD, "thorough": _THOROUGH}
