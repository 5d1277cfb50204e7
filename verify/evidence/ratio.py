"""The share of a claim's bound that runs use, as a measure of a sweep."""

import math
from collections.abc import Callable, Mapping
from functools import cached_property

from bounds.language.claim import Claim
from verify.claims.named import claim as claim_of
from verify.evidence.beside_runs import compare
from verify.results.fingerprint import claim_as_text, code_version, digest

__all__ = ["ratio"]


class _Ratio:
    """A function of a trajectory; an object, so that other processes can be sent it."""

    __name__ = "ratio"

    def __init__(self, claim: Claim, everywhere: bool, values: Mapping[str, float]):
        # what a digest of this measure depends on, in place of the claim
        self.said = digest({"claim": claim_as_text(claim), "code": code_version()})
        self.everywhere, self.values = everywhere, sorted(values.items())
        self.__dict__["claim"] = claim

    @cached_property
    def claim(self) -> Claim:
        raise AttributeError("set when the measure is made")

    def __call__(self, trajectory) -> float:
        found = compare(self.claim, trajectory, values=dict(self.values))
        if found.ratio is None or (found.verdict == "not applicable" and not self.everywhere):
            return math.nan
        return found.ratio


def ratio(claim: Claim | str, everywhere: bool = False, **values: float) -> Callable:
    """A measure for :func:`fedtheory.sweep`: the worst ratio of a claim's left side to its right side along the runs.

    Args:
        claim: a claim about runs, its id or ``FILE:ID``.
        everywhere: also at points where a hypothesis fails or the claim is about another method; NaN there otherwise.
        values: of numbers that the claim leaves free, as in :func:`fedtheory.compare`.

    Raises:
        LookupError: unknown claim id. ValueError: a claim that is not about runs.

    Example:
        One gradient step on 1/2 (x - 1)^2 from 0 contracts the distance as ``classical/gd-distance`` says it does at least.

        >>> import fedtheory as ft
        >>> from synthetic import Quadratic
        >>> found = ft.sweep("fedavg", Quadratic([[[1.0]]], [[[1.0]]]), rounds=1, grid={"eta_l": [0.5, 3.0]}, seeds=1,
        ...                  measure=ratio("classical/gd-distance"))
        >>> found["ratio"].values.tolist()
        [1.0, nan]
    """
    found = claim_of(claim)
    if found.setting != "run":
        raise ValueError(f"{found.id} is not about runs; its setting is {found.setting!r}")
    return _Ratio(found, everywhere, values)
