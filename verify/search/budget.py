"""How hard to search: the three budgets."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BUDGETS", "Budget"]


@dataclass(frozen=True)
class Budget:
    """How hard to look: at all that the smaller budget ``before`` looks at, then ``small`` batches of the smallest shapes,
    random ``batches`` of up to ``size`` instances, ``generations`` of evolution, and last ``ascents`` from the tightest
    instances, and as many as there are from counterexamples of the claim's kin, by CMA-ES of ``climbs`` steps and by
    gradients of ``slopes`` steps. Large batches take little longer than small ones."""

    batches: int
    size: int
    generations: int
    work: int = 100_000  # at most of a batch: models that a step of all its instances and outcomes moves, times the steps
    most_outcomes: int = 64
    most_iterations: int = 40
    confirmations: int = 12  # candidates that are taken to exact arithmetic
    ascents: int = 0
    climbs: int = 0
    slopes: int = 0
    small: int = 40  # batches of the smallest shapes
    small_rows: int = 32  # instances of each
    most_rounds: tuple[int, ...] = (40,)  # of one local step, of a batch each
    on_data: tuple[int, int, int] = (1, 4, 1)  # federations of real data; starts, and lengths of runs, on each
    before: Budget | None = None

    @property
    def stages(self) -> tuple[Budget, ...]:
        """The budgets whose searches follow each other, from the smallest to this one."""
        return (*(self.before.stages if self.before else ()), self)


_QUICK = Budget(batches=2, size=256, generations=0, small=22, small_rows=128)
_STANDARD = Budget(
    batches=36, size=1024, generations=32, most_outcomes=128, most_iterations=100, confirmations=30, ascents=4, climbs=40,
    slopes=6, small=20, small_rows=768, most_rounds=(100, 300), on_data=(2, 8, 3), before=_QUICK)

_THOROUGH = Budget(
    batches=300, size=3072, generations=600, work=300_000, most_outcomes=256, most_iterations=300, confirmations=60,
    ascents=12, climbs=200, slopes=60, small=200, small_rows=1536, most_rounds=(100, 300, 1000, 3000), on_data=(2, 16, 3),
    before=_STANDARD)

BUDGETS = {"quick": _QUICK, "standard": _STANDARD, "thorough": _THOROUGH}
