"""Finds the nearest statements that survive where a claim is refuted, by how little they change.

A candidate changes the claim in one place. It must hold on a pool of instances; then a search tries to refute it, and a
violation joins the pool, which moves the candidate's number. What survives is refereed like any claim.
"""

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from math import log

from bounds.formulas.units import check_units, unit_of_sides
from bounds.language.claim import Claim
from verify.evaluation.environment import UNMEASURED
from verify.exact.confirm import Violation
from verify.referee.decide import FEWEST, Settings, decide
from verify.repair.additions import conditions, terms
from verify.repair.conclusions import Conclusion, conclusions_from
from verify.repair.edits import Candidate, Edit, always, coefficients, shifts
from verify.repair.ingredients import ONLY_ONE, ingredients
from verify.repair.pool import Pool, pool_of
from verify.results.verdict import Verdict
from verify.search.budget import BUDGETS
from verify.search.search import search

__all__ = ["NotRefuted", "Repair", "repairs_of"]

_TRIES = 5  # searches of one candidate
_SEARCHES = 40
_ALIKE = 1.6  # factor by which a number may be smaller where the larger instances are left out
_SEEDS = 3  # with which a candidate is searched, because its number follows from the instances of one
_RISES, _STEADILY = 0.01, 0.8  # by what share a number rises, and how much of the rise before at least
_INGREDIENT = 1.6  # size of a change that excludes what a counterexample may need
_ONLY_ONE = 2.0  # the same, if one client, local step or round is left
_UNIT_MENDED = 0.5  # by which a change counts as smaller that makes the units of both sides agree


class NotRefuted(ValueError):
    """A claim that nothing refutes, so that nothing in it is to be repaired."""


@dataclass(frozen=True)
class Repair:
    """A statement that survives: the changed claim, the change in words, how large it is, the verdict, and what becomes of
    the claims that rest on the refuted one."""

    claim: Claim
    change: str
    cost: float
    verdict: Verdict
    conclusions: tuple[Conclusion, ...] = ()

    @property
    def words(self) -> str:
        """The change, and which claims that rest on the refuted one follow from it."""
        names = [one.name for one in self.conclusions if one.survives]
        follow = "follows" if len(names) == 1 else "follow"
        return self.change + (f"; {' and '.join(names)} {follow} from it" if names else "")


def repairs_of(claim: Claim, budget: str = "standard", seed: int = 0, most: int = 5,
               watch: Callable[[str], None] = lambda text: None, depth: int = 3,
               verdict_of: Callable[[Claim], str | None] = lambda claim: None) -> list[Repair]:
    """The nearest changes of a refuted claim that survive, those of the smallest change first.

    Args:
        budget: with which the survivors of quick searches are refereed.
        most: repairs to find.
        watch: called with each change that a search looks at.
        depth: how many changes a statement may have where none with fewer survives: hypotheses that exclude an ingredient of
            the counterexample, and one more change.
        verdict_of: gives the verdict on a claim that rests on the refuted one; None where nobody knows.

    Raises:
        ValueError: the claim is no explicit statement. NotRefuted: a search of the standard budget does not refute it.
    """
    if claim.statement is None or not claim.explicit or claim.exists is not None:
        raise ValueError(f"{claim.id} hides constants, or is about a number that exists; allowed: a statement with all its "
                         "constants")
    try:
        violation = search(claim, BUDGETS["standard"], seed).violation
    except UNMEASURED as reason:
        raise ValueError(f"{claim.id} cannot be measured: {reason}; allowed: a refuted claim") from reason
    if violation is None:
        raise NotRefuted(f"{claim.id} is not refuted by a search of the standard budget; allowed: a refuted claim")
    base, pool, found = Edit(claim, "", 0.0), pool_of(claim, seed), []
    pool.add(violation)
    for _ in range(depth):
        for edit in _survivors(base.claim, pool, seed, watch):
            whole = replace(edit, words=" and ".join(filter(None, (base.words, edit.words))), cost=base.cost + edit.cost)
            for one in _refereed(claim, whole, len(found) + 1, Settings(budget, seed=seed, federations=False)):
                found.append(replace(one, conclusions=(*conclusions_from(claim, one.claim, verdict_of),)))
            if len(found) == most:
                return found
        narrower = None if found else _narrowed(base, pool, seed)
        if narrower is None:
            return found
        base, pool = narrower
    return found


def _refereed(claim: Claim, edit: Edit, number: int, settings: Settings) -> list[Repair]:
    """The repair by a change, if the referee finds nothing against it."""
    changed = replace(edit.claim, id=f"{claim.id}{'+' if '@' in claim.id else '@'}repair-{number}",
                      reading=f"{claim.reading}; {edit.words}", source=None, derivation=f"{claim.id} with {edit.words}")
    verdict = decide(changed, settings)
    return [Repair(changed, edit.words, edit.cost, verdict)] * (verdict.verdict in ("certified", "consistent"))


def _narrowed(base: Edit, pool: Pool, seed: int) -> tuple[Edit, Pool] | None:
    """The change under the hypothesis, of those that exclude an ingredient, with which the claim fails on the fewest of the
    instances that the cheap stages draw, and its pool; None if none fails on fewer."""
    found = []
    for words, changed in ingredients(base.claim):
        own = pool_of(changed, seed)
        share = own.share_false
        if share is not None and share < (pool.share_false or 0):
            edit = replace(base, claim=changed, words=" and ".join(filter(None, (base.words, words))),
                           cost=base.cost + _INGREDIENT)
            found.append((share, len(found), edit, own))
    return min(found)[2:] if found else None


def _survivors(claim: Claim, pool: Pool, seed: int, watch: Callable[[str], None]) -> Iterator[Edit]:
    """Yield changes that a quick search does not refute, the smallest first."""
    clashes, numbers, waiting = len(check_units(claim)[0]), count(), []

    def offer(candidate: Candidate, tries: int) -> None:
        edit = candidate(replace(pool, tries=tries)) if tries < _TRIES else None
        if edit is None or _loses_a_side(claim, edit.claim) or pool.depends_on_origin(edit.claim):
            return
        worse = len(check_units(edit.claim)[0]) - clashes
        if worse <= 0 and ((edit.exact and not tries) or not pool.excludes(edit.claim)):
            heapq.heappush(waiting, (edit.cost + _UNIT_MENDED * worse, next(numbers), candidate, edit, tries))

    for candidate in _candidates(claim, pool):
        offer(candidate, 0)
    searches, found, seen = 0, [], set()
    while waiting and searches < _SEARCHES:
        _, _, candidate, edit, tries = heapq.heappop(waiting)
        same = edit.claim.statement, frozenset(edit.claim.hypotheses), edit.claim.procedure, *edit.claim.definitions.values()
        if same in seen:
            continue
        seen.add(same)
        if any(_follows(edit, one, pool) for one in found):
            continue
        if not edit.exact and pool.excludes(edit.claim):
            offer(candidate, tries + 1)
            continue
        searches += 1
        watch(edit.words)
        violation, met = _searched(edit.claim, seed)
        if violation:
            pool.add(violation)
            offer(candidate, tries + 1)
        elif met >= FEWEST and not edit.exact and pool.breaks_far_away(edit.claim):
            offer(candidate, tries + 1)  # with a larger number it may hold there, too
        elif met >= FEWEST and (edit.exact or not _grows(candidate, edit, pool)):
            found.append(edit)
            yield edit


def _grows(candidate: Candidate, edit: Edit, pool: Pool) -> bool:
    """Whether a number that follows from the instances is far smaller without the larger ones, so that still larger ones
    would ask for more, where no far larger ones are known. A coefficient that became smaller than it was moves the other
    way."""
    if not edit.numbers:
        return False
    halves = pool.halves
    if any(_grows_on(candidate, name, quarter, half, pool) for name, half in halves.items()
           if (quarter := half.halves.get(name)) is not None):
        return True
    before = (candidate(half) for name, half in halves.items() if not pool.follows_far(name))
    return any(abs(log(new / old)) > log(_ALIKE) for one in before if one is not None
               for new, old in zip(edit.numbers, one.numbers, strict=True))


def _grows_on(candidate: Candidate, name: str, *pools: Pool) -> bool:
    """Whether a number rises with the logarithm of a size from each of three pools to the next, hardly less in the end."""
    found = [candidate(replace(pool, exact=True)) for pool in pools]
    sizes = [log(max(pool.largest(name), 1)) for pool in pools]
    if any(one is None for one in found) or not sizes[0] < sizes[1] < sizes[2]:
        return False
    for numbers in zip(*(one.numbers for one in found), strict=True):
        first, second, third = (float(number) for number in numbers)
        before, after = (second - first) / (sizes[1] - sizes[0]), (third - second) / (sizes[2] - sizes[1])
        if third - second > _RISES * third and before > 0 and after >= _STEADILY * before:
            return True
    return False


def _loses_a_side(claim: Claim, changed: Claim) -> bool:
    """Whether a side has become a number, so that little is left of the statement."""
    return any(getattr(changed.statement, side).is_number and not getattr(claim.statement, side).is_number
               for side in ("left", "right"))


def _searched(claim: Claim, seed: int) -> tuple[Violation | None, int]:
    """The violation that quick searches with several seeds find, and how many instances met the hypotheses; none of a claim
    that cannot be measured."""
    met = 0
    for own in range(_SEEDS):
        try:
            seen = search(claim, BUDGETS["quick"], seed + own)
        except UNMEASURED:
            return None, 0
        met += seen.met
        if seen.violation or not seen.met:
            return seen.violation, met
    return None, met


def _follows(edit: Edit, other: Edit, pool: Pool) -> bool:
    """Whether a change gives no more than another one on the instances of the pool."""
    if edit.kept is not None and other.kept is not None:
        return bool((edit.kept <= other.kept).all())
    return edit.kept is None and other.kept is None and pool.follows(edit.claim, other.claim)


def _candidates(claim: Claim, pool: Pool) -> Iterator[Candidate]:
    yield from shifts(claim)
    yield from coefficients(claim)
    yield from conditions(claim, pool)
    for words, changed in ingredients(claim):
        yield always(Edit(changed, words, _ONLY_ONE if words in ONLY_ONE else _INGREDIENT, exact=True))
    unit = unit_of_sides(claim)
    yield from terms(claim, pool, unit)
