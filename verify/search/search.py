"""Searches for violations of a claim: judges what the stages generate, until exact arithmetic confirms a violation.

The search sees what a claim mentions, never which claim it is. It counts its effort in instances, so that its outcome does
not depend on the machine.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from bounds.language.claim import HIDDEN, Claim
from synthetic.numbers.arrays import NUMPY, Backend
from verify.claims.existential import position_of, with_position
from verify.claims.sizes import says_something
from verify.evaluation.environment import NoEntry, UnboundName
from verify.exact.confirm import Violation, confirm
from verify.exact.shrink import shrink
from verify.instances.parameters import Parameters, take_rows
from verify.instances.shape import Shape
from verify.search.archive import CANDIDATE, Archive
from verify.search.batch_evaluation import evaluate_first
from verify.search.budget import Budget
from verify.search.candidates import confirmed, describe_unconfirmed, effort_of
from verify.search.failure import Failure, failure_of
from verify.search.many_rounds import after_many_rounds
from verify.search.real_numbers import by_real_arithmetic
from verify.search.stage import Stage, State
from verify.search.stages import switched_on

__all__ = ["Found", "search"]

_SOME = 12  # instances that are kept because float64 takes them for some that meet the hypotheses
_TRIED = 3  # instances of a batch that are taken to exact arithmetic until one is confirmed
_NARROW = 3  # instances of each level that exact arithmetic looks at though float64 hardly sees a violation
_LACKED = 5  # batches without a value before any that has one, after which no other one is looked at
_ROUNDING = 1e-9  # by which the ratio of another instance is larger, if it counts


@dataclass
class Found:
    """The result of a search.

    Attributes:
        tried, met: instances, and how many of them met the hypotheses.
        sizes: the least and the largest of every size, over these.
        ratio, worst: the largest ratio left/right among those on which the claim holds, and its instance.
        some: the first of each of the first batches on which the claim holds.
        violation: the first one that exact arithmetic confirms, made simple.
        level, stage: of the budget, and of the search, that found the violation.
        unconfirmed: violations that float64 saw and exact arithmetic did not confirm.
        unmet: how many of the unconfirmed ones do not meet the hypotheses in exact arithmetic.
        doubtful: how many of them exact arithmetic can neither confirm nor deny.
        uncertain: why exact arithmetic could not decide one of these; empty where it could.
        narrow: instances with the largest scores of which float64 can hardly tell whether they violate the claim.
        latest: ratios left/right of those of the last batch that met the hypotheses.
        effort: what exact arithmetic took for large instances on which float64 saw a violation, in confirmations of small
            ones. ``large``: whether the stage at hand has looked at one of these: each looks at one batch of them.
        failures: errors that ended a stage.
        lacking: why the first instances without a value had none; ``lacked``: how many batches had none.
        levels, archive: how many levels of a budget have been looked at, and what they leave to the next.
    """

    tried: int = 0
    met: int = 0
    sizes: dict[str, tuple[int, int]] = field(default_factory=dict)
    ratio: float = 0.0
    worst: tuple[Shape, Parameters] | None = None
    some: list[tuple[Shape, Parameters]] = field(default_factory=list)
    violation: Violation | None = None
    level: int = 0
    stage: str = ""
    unconfirmed: int = 0
    unmet: int = 0
    doubtful: int = 0
    uncertain: str = ""
    narrow: list[tuple[float, Shape, Parameters]] = field(default_factory=list)
    latest: np.ndarray = field(default_factory=lambda: np.zeros(0))
    effort: int = 0
    large: bool = False
    failures: list[Failure] = field(default_factory=list)
    lacking: UnboundName | None = None
    lacked: int = 0
    levels: int = 0
    archive: Archive = field(default_factory=Archive)


def search(claim: Claim, budget: Budget, seed: int = 0, backend: Backend = NUMPY, related: Sequence[Claim] = (),
           without: Collection[str] = (), watch: Callable[[str, Found], None] | None = None,
           found: Found | None = None) -> Found:
    """Search for a violation of a claim. A stage that an unexpected error ends, after instances have met the hypotheses, is
    one of ``found.failures``, and the next stage goes on.

    Args:
        backend: NumPy takes about half the time of torch for a batch's small arrays on a processor.
        related: claims whose counterexamples may violate this one too, beyond the smallest budget.
        without: names of stages and transformations to leave out.
        watch: called after every batch, with the stage and what has been seen by then.
        found: takes in what is seen, which then survives an error; a fresh one by default. A search goes on at the level of
            the budget at which ``found`` ends.

    Raises:
        UnboundName: nothing supplies a name of the claim, on any instance.
        ValueError: an unknown stage, or a constant hidden in O(.).
    """
    stages, corners = switched_on(without)
    if hidden := [v.name for v in claim.variables if v.domain in HIDDEN]:
        raise ValueError(f"{claim.id} hides the constant {hidden[0]} in O(.), and any number may be it; allowed: a claim "
                         "with a value for it (verify.growth.order.with_constant)")
    claim = with_position(claim)
    found = Found() if found is None else found
    for number, level in [*enumerate(budget.levels)][found.levels :]:
        found.levels = number + 1
        counterexamples = _counterexamples(related, budget.levels[0], seed, backend, without)
        state = State(claim, level, found.archive, corners, backend, [seed, number] if number else [seed], counterexamples)
        last = {"real-numbers": _real_numbers, "narrow": _narrow, "many-rounds": _many_rounds}
        last = {name: look for name, look in last.items() if name not in without}
        for name, look in {**{name: partial(_through, stage) for name, stage in stages.items()}, **last}.items():
            found.large = False
            try:
                violation = look(state, found, partial(watch, name) if watch else None)
            except UnboundName as error:
                found.lacking = found.lacking or error
                if not found.tried:
                    raise found.lacking from None
                continue
            except NoEntry:
                raise
            except Exception as error:
                if not found.met:
                    raise found.lacking or error from None
                found.failures.append(failure_of(f"{name} instances", error))
                continue
            if violation:
                found.violation, found.level, found.stage = violation, number, name
                try:
                    found.violation = shrink(claim, violation)
                except Exception as error:
                    found.failures.append(failure_of("making the counterexample smaller", error))
                return found
    if found.lacking and not found.met:
        raise found.lacking
    return found


def _through(stage: Stage, state: State, found: Found, watch: Callable[[Found], None] | None) -> Violation | None:
    """Look at the batches of a stage, until exact arithmetic confirms a violation, which is returned."""
    for shape, params in stage(state):
        violation = _look(state, found, shape, params)
        if watch:
            watch(found)
        if violation:
            return violation
    return None


def _real_numbers(state: State, found: Found, watch: Callable[[Found], None] | None) -> Violation | None:
    """Look at the numbers with which z3 says that the statement fails, in exact arithmetic too: the gap may be too small,
    beside the terms of the sides, for float64."""
    for shape, params in by_real_arithmetic(state):
        if violation := _look(state, found, shape, params) or confirm(state.claim, shape, params):
            return violation
    return None


def _narrow(state: State, found: Found, watch: Callable[[Found], None] | None) -> Violation | None:
    """Look in exact arithmetic at the instances of a level on which float64 hardly sees a violation."""
    narrow, found.narrow = found.narrow, []
    for _, shape, params in narrow:
        if isinstance(violation := confirmed(state.claim, shape, params, state.backend), Violation):
            return violation
    return None


def _many_rounds(state: State, found: Found, watch: Callable[[Found], None] | None) -> Violation | None:
    """Look at the states of some instances after many rounds."""
    return after_many_rounds(state)


def _counterexamples(related: Sequence[Claim], budget: Budget, seed: int, backend: Backend,
                     without: Collection[str]) -> Iterator[Violation]:
    for claim in related:
        try:
            violation = search(claim, budget, seed, backend, without=without).violation
        except (ArithmeticError, LookupError, NotImplementedError, TypeError, ValueError):  # it cannot be measured
            continue
        if violation:
            yield violation


def _look(state: State, found: Found, shape: Shape, params: Parameters) -> Violation | None:
    """Judge a batch: returns a violation that exact arithmetic confirms; else the archive takes in the best instances."""
    claim, backend = state.claim, state.backend
    try:
        params, verdict = evaluate_first(claim, shape, params, backend)
    except UnboundName as error:  # these clients may lack a constant that others have
        found.lacking, found.lacked = found.lacking or error, found.lacked + 1
        if found.lacked > _LACKED and not found.tried:
            raise
        return None
    if not says_something(claim, shape.as_sizes()):  # its statement is about no index
        verdict = verdict._replace(met=np.zeros_like(verdict.met))
    found.tried += len(verdict.met)
    found.met += int(verdict.met.sum())
    found.latest = verdict.ratio[verdict.met]
    if not verdict.met.any():
        return None
    for name, size in shape.as_sizes().items():
        low, high = found.sizes.get(name, (size, size))
        found.sizes[name] = min(low, size), max(high, size)
    holds = verdict.met & (verdict.score <= CANDIDATE)  # beyond that, only exact arithmetic can say
    if holds.any():
        if len(found.some) < _SOME:
            found.some.append((shape, take_rows(params, [int(np.argmax(holds))])))
        worst = int(np.argmax(np.where(holds, verdict.ratio, -1.0)))
        if found.worst is None or verdict.ratio[worst] > found.ratio * (1 + _ROUNDING):
            ratio = min(float(verdict.ratio[worst]), 1.0)  # more than one is rounding: these instances hold
            found.ratio, found.worst = ratio, (shape, take_rows(params, [worst]))
    score = np.where(verdict.met, verdict.score, -2.0)
    best = int(np.argmax(score))
    effort = effort_of(claim, shape)
    if score[best] > CANDIDATE and found.unconfirmed < state.budget.confirmations and (
            effort == 1 or found.effort < state.budget.confirmations or not found.large):
        found.effort, found.large = found.effort + effort - 1, found.large or effort > 1
        for number, row in enumerate(_candidates(score)):
            candidate = take_rows(params, [row])
            if claim.exists is not None:  # what is written of it are the sides at the upper end
                candidate[position_of(claim)] = np.ones(1)
            violation = confirmed(claim, shape, candidate, backend)
            if isinstance(violation, Violation):
                return violation
            if shape.many_draws:  # float64 may have taken other means than those over all outcomes
                continue
            found.unconfirmed += not number
            found.unmet += not number and violation == "unmet"
            found.doubtful += not number and violation not in ("holds", "unmet")
            if violation.startswith("uncertain"):
                found.uncertain = found.uncertain or describe_unconfirmed(claim, shape, candidate, backend, violation)
                if claim.exists is not None:  # intervals do not decide the others of these sizes either
                    break
        verdict = verdict._replace(met=holds)
    elif 0 < score[best] <= CANDIDATE and claim.exists is None:
        found.narrow.append((float(score[best]), shape, take_rows(params, [best])))
        found.narrow = sorted(found.narrow, key=lambda one: -one[0])[:_NARROW]
    state.archive.add(shape, params, verdict)
    return None


def _candidates(score: np.ndarray) -> list[int]:
    """Select the candidates of a batch, instances on which float64 sees a violation: the one of the highest score, and some
    lower ones, which exact arithmetic may confirm where it does not confirm the first."""
    rows = np.argsort(-score, kind="stable")[: int((score > CANDIDATE).sum())]
    return [int(rows[place]) for place in sorted({len(rows) * part // _TRIED for part in range(_TRIED)})]
