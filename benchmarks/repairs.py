"""How often `fedtheory repair` undoes a damage that a rule did to a textbook statement: ``python -m benchmarks.repairs``.

Takes as many controls of each kind of damage: a constant divided, a hypothesis removed, a term dropped, an exponent or an
index shifted by one. A damage counts as undone if a statement that is found is at least as strong as the original on every
instance of a pool. Every statement found is searched again with another seed, which must refute none.
"""

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.power import ROWS, results
from bounds.controls.fedavg import kind_of
from bounds.language.claim import Claim
from synthetic.numbers.arrays import NUMPY
from verify.evaluation.environment import UNMEASURED
from verify.evaluation.judge import flat_sides, holds, judge
from verify.evaluation.term_sizes import sizes_of_sides
from verify.instances.parameters import number_of
from verify.repair.edits import shifts
from verify.repair.pool import Batch, pool_of
from verify.repair.repair import repairs_of
from verify.search.batch_evaluation import MOST_TERMS
from verify.search.budget import BUDGETS
from verify.search.run_cache import RUNS
from verify.search.search import search

__all__ = ["Outcome", "at_least_as_strong", "damaged", "main"]

_KINDS = ("constant divided", "condition removed", "term dropped", "exponent or index shifted")
_SEED = 17
_EQUAL = 1e-6  # relative difference of equal sides
_ROUNDING = 1e-11  # of their terms


@dataclass(frozen=True)
class Outcome:
    """What came out for one damaged statement. ``undone``: the place of the first statement found that is at least as
    strong as the original; 0 if none is. ``refuted``: of the statements found, those that another search refutes."""

    claim: str
    kind: str
    found: tuple[str, ...]
    certified: int
    undone: int
    refuted: tuple[str, ...]
    seconds: float


def damaged(each: int) -> list[list[tuple[str, str, str]]]:
    """Rows in ``each`` groups of each kind, spread evenly: the control, the damage, the kind. The damage is the name of a
    false variant, or the number of a shift, which may not be there."""
    by_kind: dict[str, list[tuple[str, str, str]]] = {kind: [] for kind in _KINDS}
    for name, row in ROWS.items():
        for label in row.twins:
            kind = next((k for k in _KINDS if kind_of(label).startswith(k)), None)
            if label.startswith("exponent"):
                kind = _KINDS[3]
            if kind:
                by_kind[kind].append((name, label, kind))
        by_kind[_KINDS[3]] += [(name, str(number), _KINDS[3]) for number in range(3)]
    return [rows[len(rows) * place // each : len(rows) * (place + 1) // each]
            for rows in by_kind.values() for place in range(each)]


def _damaged_claim(name: str, damage: str) -> Claim | None:
    """The damaged control; None where there is no such shift that a quick search refutes."""
    row = ROWS[name]
    if damage in row.twins:
        return row.twins[damage]
    false, pool = 0, pool_of(row.claim)
    for candidate in shifts(row.claim):
        claim = candidate(pool).claim
        try:
            wrong = pool.excludes(claim) and search(claim, BUDGETS["quick"]).violation is not None
        except (ArithmeticError, *UNMEASURED):
            continue
        if wrong and false == int(damage):
            return replace(claim, id=f"{name}@shift-{damage}")
        false += wrong
    return None


def at_least_as_strong(found: Claim, original: Claim, damaged_claim: Claim) -> bool:
    """Whether the statement found says at least as much as the original, on every instance of a pool that meets the
    hypotheses of the original: the gap between its sides is as bad at every index, or their ratio is."""
    same_runs = original.procedure == damaged_claim.procedure
    batches = [batch for claim in (original, damaged_claim)[: 1 + same_runs] for batch in pool_of(claim).batches]
    batches = [batch for batch in batches if _admits(original, batch)]
    return bool(batches) and all(_as_strong_on(found, original, batch) for batch in batches)


def _admits(claim: Claim, batch: Batch) -> bool:
    """Whether the sizes of a batch are in the ranges that the claim gives them."""
    sizes = batch.shape.as_sizes()
    return all(v.low <= sizes[v.name] <= (sizes[v.name] if v.high is None else v.high)
               for v in claim.variables if v.domain == "integer" and v.name in sizes)


def _as_strong_on(found: Claim, original: Claim, batch: Batch) -> bool:
    count = number_of(batch.params)
    try:
        with np.errstate(all="ignore"):
            environment = RUNS.simulate(original, batch.shape, batch.params, NUMPY, MOST_TERMS)
            said = judge(original, environment)
            environment = replace(environment, definitions=found.definitions)
            more = [c for c in found.hypotheses if c not in original.hypotheses]
            met = np.all([np.ones(count, dtype=bool), *(holds(c, environment, count) for c in more)], axis=0)
            before = replace(environment, definitions=original.definitions)
            arrays = [*flat_sides(original.statement, before), *flat_sides(found.statement, environment)]
            arrays += [_flat(size) for size in sizes_of_sides(original.statement, before.remembering())[:2]]
            as_bad = _as_bad(original.statement.relation, *np.broadcast_arrays(*arrays))
    except (ArithmeticError, *UNMEASURED):
        return True  # an instance that the original's names do not evaluate
    weaker = said.met & ~(met & as_bad)
    return not weaker.any()


def _flat(array) -> np.ndarray:
    return np.reshape(array, (len(array), -1))


def _as_bad(relation: str, left, right, mask, new_left, new_right, new_mask, *terms) -> np.ndarray:
    """Whether new sides miss what they should be by as much as the old ones, at every index, for each instance. ``terms``:
    sums of the absolute values of the old sides' terms, which may cancel."""
    if relation == ">=":
        left, right, new_left, new_right = -left, -right, -new_left, -new_right
    gap, new_gap = left - right, new_left - new_right
    slack = _EQUAL * (abs(left) + abs(right) + abs(new_left) + abs(new_right)) + _ROUNDING * sum(terms)
    as_bad = (abs(new_gap) >= abs(gap) - slack if relation == "==" else new_gap >= gap - slack) & new_mask
    positive = (np.minimum(left, new_left) >= 0) & (np.minimum(right, new_right) > 0)
    if relation != "==":
        as_bad |= positive & new_mask & (new_left * right >= left * new_right * (1 - _EQUAL))
    return (as_bad | ~mask).all(axis=1)


def _outcome(job: tuple[Sequence[tuple[str, str, str]], str]) -> Outcome | None:
    """What comes out for the first damage of a group that is there."""
    rows, budget = job
    found = ((name, kind, claim) for name, damage, kind in rows if (claim := _damaged_claim(name, damage)) is not None)
    if (first := next(found, None)) is None:
        return None
    name, kind, claim = first
    began, original = time.perf_counter(), ROWS[name].claim
    try:
        found = repairs_of(claim, budget)
    except ValueError:  # the search does not refute it
        found = []
    undone = next((number for number, one in enumerate(found, start=1)
                   if at_least_as_strong(one.claim, original, claim)), 0)
    refuted = [one.change for one in found if one.verdict.verdict != "certified"
               and search(one.claim, BUDGETS[budget], _SEED).violation is not None]
    certified = sum(one.verdict.verdict == "certified" for one in found)
    return Outcome(claim.id, kind, tuple(one.change for one in found), certified, undone, tuple(refuted),
                   time.perf_counter() - began)


def _page(outcomes: Sequence[Outcome], budget: str) -> Iterator[str]:
    done = sum(o.undone > 0 for o in outcomes)
    found, wrong = sum(len(o.found) for o in outcomes), sum(len(o.refuted) for o in outcomes)
    yield "# Damaged statements repaired"
    yield ""
    yield "`python -m benchmarks.repairs` writes this page: textbook statements of bounds/controls, damaged by rule, and"
    yield "what `fedtheory repair` finds. Undone: a statement found is at least as strong as the original on every instance"
    yield "of a pool. Every statement found is searched again with another seed."
    yield ""
    seconds = sorted(o.seconds for o in outcomes)
    yield f"{time.strftime('%Y-%m-%d')}, budget {budget}: {done} of {len(outcomes)} damages are undone;"
    yield f"of {found} statements found {sum(o.certified for o in outcomes)} are certified and {wrong} refuted by the second"
    yield f"search; median {seconds[len(seconds) // 2]:.0f} s a statement, at most {seconds[-1]:.0f} s."
    yield ""
    yield "| damage | statements | undone | undone by the first |"
    yield "|---|---:|---:|---:|"
    counts = Counter(o.kind for o in outcomes)
    for kind in _KINDS:
        some = [o for o in outcomes if o.kind == kind]
        yield f"| {kind} | {counts[kind]} | {sum(o.undone > 0 for o in some)} | {sum(o.undone == 1 for o in some)} |"
    yield ""
    yield "| statement | damage | undone by | found |"
    yield "|---|---|---:|---|"
    for o in outcomes:
        texts = "; ".join(f"**{text}** (refuted)" if text in o.refuted else text for text in o.found)
        yield f"| {o.claim} | {o.kind} | {o.undone or '-'} | {texts.replace('|', chr(92) + '|') or 'none'} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; status 1 if less than 80 % of the damages are undone, or a statement found is refuted."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.repairs", description=__doc__.split("\n")[0])
    parser.add_argument("--budget", choices=list(BUDGETS), default="standard")
    parser.add_argument("--each", type=int, default=25, help="statements of each kind of damage (25)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, help="a Markdown file")
    options = parser.parse_args(arguments)
    jobs = [(rows, options.budget) for rows in damaged(options.each)]
    outcomes = []
    for outcome in results(_outcome, jobs, options.workers, chunksize=1):
        if outcome:
            outcomes.append(outcome)
            which = outcome.undone or "none"
            print(f"{outcome.claim}: undone by {which} of {len(outcome.found)}", file=sys.stderr, flush=True)
    page = "\n".join(_page(outcomes, options.budget)) + "\n"
    if options.out:
        options.out.write_text(page, encoding="utf-8")
    print(page)
    enough = 5 * sum(o.undone > 0 for o in outcomes) >= 4 * len(outcomes)
    return 0 if enough and not any(o.refuted for o in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
