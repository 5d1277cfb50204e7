"""Compares a claim's bound with another bound, or with runs."""

from bounds.language.claim import Claim
from fedtheory.trajectory import Trajectory
from verify.claims.named import claim as claim_of
from verify.evidence.beside_runs import Comparison
from verify.evidence.beside_runs import compare as compare_with_runs
from verify.formulas.bound import bound_of
from verify.formulas.dominance import Dominance, where_below

__all__ = ["compare"]


def compare(claim: Claim | str, other: Trajectory | Claim | str, **options) -> Comparison | Dominance:
    """Compares a claim's bound with another claim's, for all parameters, or with runs.

    Args:
        claim: a claim, its id or ``FILE:ID``.
        other: a trajectory of :func:`fedtheory.run`; or another claim.
        options: with runs ``points``, ``values``, ``replacements``, ``worst``, ``device`` and ``dtype``, see
            :func:`verify.evidence.beside_runs.compare`; with a claim values of parameters by name, and the
            ``seed`` of the search.

    Returns:
        With runs a :class:`verify.evidence.beside_runs.Comparison`: a verdict, and a figure by its ``plot``. With a claim a
        :class:`verify.formulas.dominance.Dominance`: ``always``, ``never`` or ``depends``, with a witness on each side.

    Raises:
        LookupError: an unknown claim. TypeError: ``other`` is neither. ValueError: as the functions named above.

    Example:
        >>> compare("li2020/theorem-1", "fedalign/theorem-1").answer
        'depends'
    """
    first = claim_of(claim)
    if isinstance(other, Trajectory):
        return compare_with_runs(first, other, **options)
    if not isinstance(other, Claim | str):
        raise TypeError(f"a claim is compared with runs (what ft.run returns) or with another claim; got {other!r}")
    if of_runs := sorted({"device", "dtype"} & {*options}):
        raise ValueError(f"{of_runs[0]} is that of runs, which a comparison of two claims does not make")
    seed = options.pop("seed", 0)
    return where_below(bound_of(first), bound_of(claim_of(other)), options, seed)
