"""The instances on which candidates for a repair are looked at before anything is searched for them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice
from math import prod

import numpy as np

from bounds.language.claim import Claim, Condition
from synthetic.numbers.arrays import NUMPY
from verify.evaluation.environment import UNMEASURED
from verify.evaluation.evaluate import sides
from verify.evaluation.judge import Judgement, flat_sides, pairs
from verify.evaluation.term_sizes import sizes_of_sides
from verify.exact.confirm import Violation
from verify.instances.instance import outcomes
from verify.instances.parameters import Parameters, floats, number_of, spec_of, take_rows
from verify.instances.resize import resized
from verify.instances.shape import Shape
from verify.repair.atoms import Atom
from verify.search.archive import Archive
from verify.search.batch_evaluation import MOST_TERMS, evaluate_batch
from verify.search.budget import BUDGETS
from verify.search.run_cache import RUNS
from verify.search.stage import State
from verify.search.stages import switched_on

__all__ = ["Batch", "Pool", "both_sides", "judge_batch", "pool_of"]

_STAGES = ("worst-points", "small", "extreme", "layered", "random", "seldom")  # the first has exact worst cases
_MOST = 40  # batches that are looked at
_KEPT_BATCHES = 14  # of each kind
_SLACK, _MORE_SLACK, _NO_SLACK = Fraction(5, 4), Fraction(3, 2), Fraction(10001, 10000)
_ROUNDING = 1e-11  # of the terms of both sides
_SEEN = 1e-6  # score from which on a violation is more than rounding
_KEPT = 24  # instances of a batch on which the claim holds, the tightest ones and some others
_WORST = 12  # violations of a batch
_MOST_OUTCOMES = 4096
#: factors by which there are more of some sizes, and how many at most; then far more
_MORE, _LONGER = (2, 5), {"local_steps": 20, "rounds": 20, "participants": 500}
_FAR, _FARTHEST = (20, 200), {"local_steps": 400, "rounds": 400, "participants": 10**4}
_GROWING = ("rounds", "local_steps", "clients", "participants")
_CURVATURES = ("curvature", "sample_curvature")
_STRETCHED, _FACTORS = 6, (0.125, 10.0, 100.0)  # batches of violations, and by how much one of their numbers is larger
_FAR_FACTORS = (1e-3, 1e4, 1e6)
_MOVED = 4  # batches whose losses are moved
_BROKEN = (ArithmeticError, *UNMEASURED)


@dataclass(frozen=True)
class Batch:
    """Instances of one shape that meet the claim's hypotheses."""

    shape: Shape
    params: Parameters


@dataclass
class Pool:
    """Instances on which the claim is false, and others on which it holds; ``violations`` of candidates come in as searches
    find them."""

    claim: Claim
    false: list[Batch] = field(default_factory=list)
    true: list[Batch] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    counts: list[int] = field(default_factory=lambda: [0, 0])  # of the instances drawn: where it is false, where it holds
    tries: int = 0  # of a candidate, which searches have refuted so often
    exact: bool = False  # whether numbers are just as large as the instances ask for
    _far: list[Batch] | None = None
    _moved: list[tuple[Batch, Batch, np.ndarray]] | None = None
    _known: dict[Atom, tuple | None] = field(default_factory=dict)

    @property
    def slack(self) -> Fraction:
        """The factor by which a simple number may exceed what the instances ask for: more after every search that has
        refuted one."""
        return _NO_SLACK if self.exact else _SLACK * _MORE_SLACK**self.tries

    @property
    def batches(self) -> list[Batch]:
        return [*self.false, *self.true]

    @property
    def share_false(self) -> float | None:
        """The share of the instances drawn on which the claim is false; None where none meets its hypotheses."""
        return self.counts[0] / sum(self.counts) if any(self.counts) else None

    def add(self, violation: Violation) -> None:
        """Take in a violation of the claim or of a candidate."""
        self.violations.append(violation)
        self._known.clear()
        batch = Batch(violation.shape, floats(violation.params))
        if _breaks(self.claim, batch):
            others = Pool(self.claim)
            for one in _stretched(self.claim, [batch], _FACTORS):
                _take_in(others, one)
            self.false[:0] = [batch, *self._longer([batch]), *others.false]

    def _longer(self, batches: Sequence[Batch]) -> list[Batch]:
        """The instances with more local steps or rounds on which the claim is false."""
        longer = Pool(self.claim)
        for shape, params in _lengthened(self.claim, batches, _LONGER, _MORE):
            _take_in(longer, Batch(shape, params))
        return [one for one in longer.false if both_sides(self.claim, one, ()) is not None]  # not too many outcomes at once

    def breaks(self, candidate: Claim) -> bool:
        """Whether the candidate is false on an instance on which the claim, or another candidate, is."""
        return any(_breaks(candidate, batch) for batch in self.false) or any(
            _breaks(candidate, Batch(one.shape, floats(one.params))) for one in self.violations)

    @property
    def halves(self) -> dict[str, "Pool"]:
        """The pool without the larger half of the range of a size, for each size of which the violations have several."""
        found, shapes = {}, [batch.shape for batch in self.false] + [one.shape for one in self.violations]
        for name in {*_GROWING, *(name for shape in shapes for name, _ in shape.sizes)}:
            largest = self.largest(name)
            if 2 * min((_size(shape, name) for shape in shapes), default=0) <= largest:
                found[name] = replace(
                    self, false=[one for one in self.false if 2 * _size(one.shape, name) <= largest], _far=None, _known={},
                    violations=[one for one in self.violations if 2 * _size(one.shape, name) <= largest])
        return found

    def breaks_far_away(self, candidate: Claim) -> bool:
        """Whether the candidate is false on an instance with far more rounds or local steps than those of the pool, or with
        a positive number that is far larger or smaller, so that a number in it would have to grow with them."""
        return any(_breaks(candidate, batch) for batch in self.far)

    @property
    def far(self) -> list[Batch]:
        """The instances with far more rounds or local steps, or with a number that is far larger or smaller."""
        if self._far is None:
            self._far = [Batch(shape, params) for shape, params in _lengthened(self.claim, self.false, _FARTHEST, _FAR)]
            self._far += _stretched(self.claim, self.false, _FAR_FACTORS)
        return self._far

    def largest(self, name: str) -> int:
        """The largest size of this name where the claim, or a candidate, is false; 0 of an unknown one."""
        return max((_size(one.shape, name) for one in (*self.false, *self.violations)), default=0)

    def follows_far(self, name: str) -> bool:
        """Whether an instance that meets the hypotheses has far more of a size than those of the pool."""
        largest = max((_size(batch.shape, name) for batch in self.false), default=0)
        larger = (batch for batch in self.far if _size(batch.shape, name) >= min(_FAR) * largest > 0)
        return any((seen := judge_batch(self.claim, batch)) is not None and seen.met.any() for batch in larger)

    def depends_on_origin(self, candidate: Claim) -> bool:
        """Whether a side of the candidate changes where all losses and the start move by one vector, and none of the claim
        does."""
        if self._moved is None:
            moved = ((batch, _translated(batch)) for batch in self.batches)
            pairs = ((batch, other, _alike(self.claim, batch, other)) for batch, other in moved if other)
            self._moved = [*islice((pair for pair in pairs if pair[2].any()), _MOVED)]
        return any((same & ~_alike(candidate, batch, other)).any() for batch, other, same in self._moved)

    def excludes(self, candidate: Claim) -> bool:
        """Whether the candidate is false on an instance, or has no value on one."""
        if self.breaks(candidate) or any(_divides_by_zero(candidate, batch) for batch in self.false):
            return True
        if any(judge_batch(candidate, Batch(one.shape, floats(one.params))) is None for one in self.violations):
            return True
        seen = (judge_batch(candidate, batch) for batch in self.true)
        return any(one is None or (one.met & (one.score > _SEEN)).any() for one in seen)

    def follows(self, candidate: Claim, other: Claim) -> bool:
        """Whether a candidate says no more than another one on any instance, both with the claim's hypotheses; of equations
        nobody knows."""
        if candidate.statement.relation == "==":
            return False
        for batch in self.batches:
            one, two = judge_batch(candidate, batch), judge_batch(other, batch)
            if one is None or two is None:
                return False
            known = ~two.met | (two.ratio > 0)  # of a side below rounding, no ratio is
            if (one.met & known & ~(two.met & (one.ratio <= two.ratio + 1e-9))).any():
                return False
        return True

    def arrays(self, atoms: Sequence[Atom]) -> tuple[list[dict[Atom, np.ndarray]], list[dict[Atom, np.ndarray]]] | None:
        """The values of quantities, (instances, indices), where the claim, or a candidate, is false, and where it holds.

        None where one of them has no finite value.
        """
        found = [self._values(atom) for atom in atoms]
        if any(one is None for one in found):
            return None
        false, true = ([dict(zip(atoms, arrays, strict=True)) for arrays in zip(*(one[side] for one in found), strict=True)]
                       for side in (0, 1))
        return false, true

    def varies(self, atom: Atom) -> bool:
        """Whether a quantity has several values on these instances."""
        found = self._values(atom)
        return found is not None and len({float(value) for side in found for one in side for value in one.flat}) > 1

    def _values(self, atom: Atom) -> tuple[list[np.ndarray], list[np.ndarray]] | None:
        if atom not in self._known:
            condition = Condition(atom.formula, "<=", 0, atom.over)
            with suppress(*_BROKEN):
                false = [_values(self.claim, batch, condition) for batch in self.false]
                exact = [pairs(condition, one.environment) for one in self.violations]
                false += [np.array([[float(left) for left, _ in both]]) for both in exact]
                true = [_values(self.claim, batch, condition) for batch in self.true]
                if all(np.isfinite(one).all() for one in (*false, *true)):
                    self._known[atom] = false, true
            self._known.setdefault(atom, None)
        return self._known[atom]


def _size(shape: Shape, name: str) -> int:
    return shape.as_sizes().get(name, 0)


def _breaks(claim: Claim, batch: Batch) -> bool:
    seen = judge_batch(claim, batch)
    return seen is not None and bool((seen.met & (seen.score > _SEEN)).any())


def _divides_by_zero(claim: Claim, batch: Batch) -> bool:
    """Whether a side of the claim is infinite, or no number, on an instance that meets the hypotheses."""
    seen, both = judge_batch(claim, batch), both_sides(claim, batch, ())
    if seen is None or both is None:
        return False
    left, right, mask = (side[seen.met] for side in both[:3])
    return not (np.isfinite(left) & np.isfinite(right))[mask > 0].all()


def _translated(batch: Batch) -> Batch | None:
    """The instances with all losses and the start moved by one vector; None where a family has no such instances."""
    family, params = batch.shape.family, batch.params
    if family.coupled or not family.any_coordinates or "center" not in params:
        return None
    centers = params["center"]
    largest = 1.0 + abs(centers).max(axis=(1, 2), initial=0.0)
    by = np.broadcast_to(largest[:, None, None] * (3.0 + np.arange(centers.shape[2])), centers.shape)
    return Batch(batch.shape, {**params, **family.translated(params, by)})


def _alike(claim: Claim, one: Batch, other: Batch) -> np.ndarray:
    """Whether both sides have the same values on an instance of one batch as on that of the other, up to rounding."""
    found = both_sides(claim, one, ()), both_sides(claim, other, ())
    if found[0] is None or found[1] is None:
        return np.zeros(number_of(one.params), dtype=bool)
    least = _SEEN * np.max([abs(side).max(axis=1, initial=0.0) for side in found[0][:2]], axis=0)[:, None]
    with np.errstate(invalid="ignore"):
        same = [(a == b) | (abs(a - b) <= _SEEN * abs(b) + least) for a, b in zip(found[0][:2], found[1][:2], strict=True)]
    return np.all(same, axis=(0, 2))


def judge_batch(claim: Claim, batch: Batch) -> Judgement | None:
    """The judgement on a batch; None where something has no value."""
    with suppress(*_BROKEN), np.errstate(all="ignore"):
        return evaluate_batch(claim, batch.shape, batch.params, NUMPY)
    return None


def _values(claim: Claim, batch: Batch, condition: Condition) -> np.ndarray:
    """The left side of a condition on the instances of a batch, (instances, indices)."""
    with np.errstate(all="ignore"):
        left = flat_sides(condition, RUNS.simulate(claim, batch.shape, batch.params, NUMPY, MOST_TERMS))[0]
    return np.broadcast_to(left, (number_of(batch.params), left.shape[1]))


def both_sides(claim: Claim, batch: Batch, atoms: Sequence[Atom]) -> tuple | None:
    """Both sides of the statement on the instances of a batch, (instances, indices), where they count, and those of the
    quantities that have values there. Sides that differ by rounding are equal."""
    statement = claim.statement
    with suppress(*_BROKEN), np.errstate(all="ignore"):
        environment = RUNS.simulate(claim, batch.shape, batch.params, NUMPY, MOST_TERMS)
        left, right, mask = sides(statement, environment)
        rounding = _ROUNDING * sum(sizes_of_sides(statement, environment.remembering())[:2])
        found, known = [left, np.where(abs(left - right) <= rounding, left, right), mask], []
        for atom in atoms:
            with suppress(*_BROKEN):
                found.append(sides(Condition(atom.formula, "<=", 0, statement.over), environment)[0])
                known.append(atom)
        spread = np.broadcast_arrays(*found, np.zeros((number_of(batch.params),) + (1,) * (found[0].ndim - 1)))
        spread = [one.reshape(len(one), -1) for one in spread]
        return *spread[:3], dict(zip(known, spread[3:-1], strict=True))
    return None


def pool_of(claim: Claim, seed: int = 0) -> Pool:
    """The instances that the cheap stages of a search look at, a few of each shape; and those on which the claim is false
    with one positive number far larger, or with more local steps or rounds, so that no number is fitted to what happens to
    be drawn."""
    pool = Pool(claim)
    for shape, params in _draw_batches(claim, seed):
        _take_in(pool, Batch(shape, params))
    pool.true, pool.false = _spread(pool.true, _KEPT_BATCHES), _spread(pool.false, _KEPT_BATCHES)
    stretched = Pool(claim)
    for batch in _stretched(claim, pool.false[:_STRETCHED], _FACTORS):
        _take_in(stretched, batch)
    pool.false += _spread(stretched.false, _STRETCHED) + _spread(pool._longer(pool.false), _KEPT_BATCHES)
    return pool


def _stretched(claim: Claim, batches: Sequence[Batch], factors: Sequence[float]) -> Iterator[Batch]:
    """Yield the instances with one of their positive numbers so many times as large, or with all curvatures and the steps
    that they had. Of equations, of which rounding leaves little there, none."""
    for batch in batches if claim.statement.relation != "==" else ():
        for name, values in batch.params.items():
            same_steps = ("step_scale",) if name in _CURVATURES and "step_scale" in batch.params else ()
            if name in _CURVATURES or (values[0].size == 1 and spec_of(claim, name).domain == "positive"):
                for factor in factors:
                    yield Batch(batch.shape, batch.params | {n: factor * batch.params[n] for n in (name, *same_steps)})


def _lengthened(claim: Claim, batches: Sequence[Batch], longest: Mapping[str, int], factors: Sequence[int],
                ) -> Iterator[tuple[Shape, Parameters]]:
    """Yield instances about a run with so many times the local steps or rounds, up to the longest, where chance has few
    outcomes."""
    for batch in batches if claim.setting == "run" else ():
        for name, most in longest.items():
            most = min([most, *(v.high or most for v in claim.variables if v.name == name)])
            for size in (factor * getattr(batch.shape, name) for factor in factors):
                if size <= most:
                    with suppress(*_BROKEN):
                        shape, params = resized(claim, batch.shape, batch.params, name, size)
                        if prod(outcomes(shape)) <= _MOST_OUTCOMES:
                            yield shape, params


def _spread(batches: list[Batch], most: int) -> list[Batch]:
    """Take at most so many of the batches, evenly."""
    places = {*np.linspace(0, len(batches) - 1, most).astype(int)} if batches else ()
    return [batches[place] for place in sorted(places)]


def _take_in(pool: Pool, batch: Batch) -> None:
    seen = judge_batch(pool.claim, batch)
    if seen is None or not seen.met.any():
        return
    violated = seen.met & (seen.score > _SEEN)
    pool.counts[0] += int(violated.sum())
    pool.counts[1] += int((seen.met & ~violated).sum())
    for rows, batches in ((_rows_of(violated, seen.score, _WORST), pool.false),
                          (_rows_of(seen.met & ~violated, seen.ratio, _KEPT), pool.true)):
        if rows:
            batches.append(Batch(batch.shape, take_rows(batch.params, rows)))


def _draw_batches(claim: Claim, seed: int) -> Iterator[tuple[Shape, Parameters]]:
    stages, corners = switched_on(())
    state = State(claim, BUDGETS["quick"], Archive(), corners, NUMPY, [seed])
    count = 0
    for name in _STAGES:
        with suppress(*_BROKEN):
            for shape, params in stages[name](state):
                if count == _MOST:
                    return
                count += 1
                yield shape, params


def _rows_of(which: np.ndarray, score: np.ndarray, most: int) -> list[int]:
    """Take at most ``most`` of the selected instances: half of them with the highest scores, the others spread over the
    rest."""
    rows = np.flatnonzero(which)
    rows = rows[np.argsort(-score[rows], kind="stable")]
    first, rest = rows[: most // 2], rows[most // 2 :]
    if len(rest):
        rest = rest[np.unique(np.linspace(0, len(rest) - 1, min(len(rest), most - len(first))).astype(int))]
    return [*map(int, first), *map(int, rest)]
