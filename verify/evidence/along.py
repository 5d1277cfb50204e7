"""Comparisons of one claim with several runs, over what differs between these."""

from collections.abc import Mapping
from dataclasses import replace

from verify.evidence.beside_runs import Comparison
from verify.results.verdict import Series

__all__ = ["along"]

_FIRST = ("refuted", "undecided", "not applicable", "consistent")


def along(name: str, comparisons: Mapping[float, Comparison]) -> Comparison:
    """Bound and measurement at the end of several runs, over a number that differs between them: local steps, samples.

    Args:
        name: what the number is, for the axis.
        comparisons: from :func:`fedtheory.compare`, of one claim, by that number.

    Its verdict is the least favourable of theirs, and its reason says of which number. ``plot`` draws it.

    Raises:
        ValueError: no comparison, several claims, or one without a value.

    Example:
        How far runs on neighbouring data sets are apart is bounded by 2 eta G K/n; on these data it is that.

        >>> import fedtheory as ft
        >>> from synthetic.worst_cases import linear_samples
        >>> runs = {n: ft.run(ft.fedavg(0.25, 2), linear_samples(clients=1, samples=n), 1, seeds=1) for n in (2, 4)}
        >>> found = along("samples", {n: ft.compare("classical/local-sgd-stability-distance", r) for n, r in runs.items()})
        >>> found.series.x, found.series.left, found.series.right
        ([2, 4], [0.5, 0.25], [0.5, 0.25])
    """
    if not comparisons:
        raise ValueError("at least one comparison is needed; got none")
    if len(claims := sorted({one.claim for one in comparisons.values()})) > 1:
        raise ValueError(f"comparisons are of one claim; got {', '.join(claims)}")
    numbers = sorted(comparisons)
    for number in numbers:
        if comparisons[number].series is None:
            raise ValueError(f"nothing to draw at {name} = {number}: {comparisons[number].reason}")
    each = [comparisons[number] for number in numbers]
    every, first = [one.series for one in each], each[0].series
    worst = min(numbers, key=lambda number: _FIRST.index(comparisons[number].verdict))
    bands = [[getattr(one, side)[-1] for one in every] if all(getattr(one, side) for one in every) else []
             for side in ("left_low", "left_high")]
    series = Series(
        first.title, name, first.y_label, numbers, [one.left[-1] for one in every], [one.right[-1] for one in every], *bands,
        decides=all(one.decides for one in every), relation=first.relation,
        note=next((f"{name} = {number}: {one.note}" for number, one in zip(numbers, every, strict=True) if one.note), ""))
    return replace(
        comparisons[worst], reason=f"{name} = {worst}: {comparisons[worst].reason}", ratio=series.worst_ratio, series=series,
        e_value=max(one.e_value for one in each), tested=all(one.tested for one in each))
