"""A verdict on a claim, and the series that a figure of it shows."""

import math
from dataclasses import dataclass, field
from typing import Any

__all__ = ["SHOWN", "VERDICTS", "Series", "Verdict", "ratio"]

#: strongest evidence first
VERDICTS = ("refuted", "ill-posed", "certified", "consistent", "undecided")
#: those that exist only with a certificate that the stand-alone checker accepts
SHOWN = ("refuted", "ill-posed", "certified")


@dataclass(frozen=True)
class Series:
    """Both sides of a claim along a run, or along another axis, for a figure.

    ``left_low`` and ``left_high`` are a confidence band of a sampled left side. ``exact`` is the largest left side of all
    functions of the claim's class, NaN where it is not known. With ``middle``, a run in the middle, ``left`` is the worst
    run found. ``decides`` is
    False where a constant in the bound is only an estimate; such a series is drawn, and decides nothing.
    """

    title: str
    x_label: str
    y_label: str
    x: list
    left: list
    right: list
    left_low: list = field(default_factory=list)
    left_high: list = field(default_factory=list)
    exact: list = field(default_factory=list)
    middle: list = field(default_factory=list)
    decides: bool = True
    note: str = ""
    relation: str = "<="

    def __repr__(self) -> str:
        return f"Series({self.title}; {len(self.x)} values of {self.x_label}, worst ratio {self.worst_ratio:.6g})"

    def _svg(self) -> str:
        from synthetic.base.display import lines  # which loads NumPy and torch: only for who looks

        return lines(self.left, self.right)

    def _repr_html_(self) -> str:
        from synthetic.base.display import card

        rows = (("left side", self.y_label), ("over", self.x_label), ("worst ratio", self.worst_ratio), ("note", self.note))
        return card(self.title, rows, self._svg())

    @property
    def worst_ratio(self) -> float:
        """Largest ratio along the series, see :func:`ratio`."""
        return max((ratio(a, b, self.relation) for a, b in zip(self.left, self.right, strict=True)), default=0.0)


@dataclass(frozen=True)
class Verdict:
    """The verdict on one claim; ``verdicts.json`` is a list of these.

    ``ratio``: the worst one found, see :func:`ratio`; None where the claim has no two sides. ``evidence``: one sentence.
    ``certificate``: a path relative to the report, or None. ``command``: the command that regenerates this verdict.
    ``details``: further data for the report, such as ``instances`` tried, the refuting ``instance`` as in a certificate, the
    ``conflict`` in an ill-posed claim, an ``e_value``, or what is ``missing`` of an undecided claim, as a word.
    """

    id: str
    reading: str
    kind: str
    verdict: str
    ratio: float | None
    evidence: str
    certificate: str | None = None
    command: str = ""
    seed: int = 0
    seconds: float = 0.0
    details: dict[str, Any] = field(default_factory=dict)
    series: tuple[Series, ...] = ()

    def _summary(self) -> str:
        return f"{self.id}: {self.verdict}" + ("" if self.ratio is None else f", worst ratio {self.ratio:.6g}")

    def __repr__(self) -> str:
        return f"Verdict({self._summary()})"

    def _repr_html_(self) -> str:
        from synthetic.base.display import card

        rows = [("reading", self.reading), ("kind", self.kind), ("evidence", self.evidence), ("seed", self.seed)]
        rows += [(name, value) for name, value in (("certificate", self.certificate), ("command", self.command)) if value]
        return card(self._summary(), rows, self.series[0]._svg() if self.series else "")

    def __post_init__(self):
        if self.verdict not in VERDICTS:
            raise ValueError(f"unknown verdict {self.verdict!r}; allowed: {', '.join(VERDICTS)}")


def ratio(left: float, right: float, relation: str = "<=") -> float:
    """The side that must be smaller over the other one: 1 where they are equal, more where the statement is violated.

    It is 0 where the side that must be smaller is not positive and the statement holds, and infinite where the other one is
    not positive and it is violated. For an equality it is the larger absolute value over the smaller one, and infinite where
    the signs differ.
    """
    if relation == "==":
        if left == right:
            return 1.0
        small, large = sorted((abs(left), abs(right)))
        return math.inf if small == 0 or left * right < 0 else large / small
    if relation == ">=":
        left, right = right, left
    if left > right and right <= 0:
        return math.inf
    return left / right if left > 0 else 0.0
