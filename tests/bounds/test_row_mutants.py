"""The comparison of claims with the rows of the papers can fail: it notices mutants of every kind."""

from collections import Counter
from dataclasses import replace
from importlib import import_module

import pytest

from bounds.language.claim import Condition
from bounds.language.operators import E, E_noise, L, Sum, i, local_steps, norm2, t, x, x_star
from bounds.registry.papers import PAPERS, claims_of_paper
from tests.bounds.claim_values import reading_of
from tests.bounds.each_claim import look_at_each
from tests.bounds.mutations import changes_of
from tests.bounds.row_mutants import _kept, _table, agrees, counts_of
from tests.bounds.rows import Worlds


@pytest.mark.parametrize("paper", PAPERS)
def test_mutants_are_noticed(paper):
    """About one mutant in 10 of a paper."""
    tried, found, missed = counts_of(paper, every=10)
    assert tried.total() > 100
    assert found.total() >= 0.99 * tried.total(), missed
    assert {"expectation", "constant", "sign", "index", "range", "relation", "hypothesis", "method"} <= set(tried)


def _without(expectations):
    """A formula without these."""
    return lambda formula: formula.replace(lambda e: isinstance(e, expectations), lambda e: e.args[0])


@pytest.mark.parametrize("paper", PAPERS)
def test_every_claim_with_an_expectation_needs_it(paper):
    rows, bare = import_module(f"tests.bounds.papers.{paper}_rows"), _without((E, E_noise))

    def check(claim):
        s = claim.statement
        mutant = replace(claim, statement=Condition(bare(s.left), s.sign, bare(s.right), s.over))
        worlds = Worlds(rows, reading_of(claim), claim.definitions)
        assert agrees(rows, claim, "statement", worlds) and not agrees(rows, mutant, "statement", worlds)

    look_at_each([c for c in claims_of_paper(paper).values() if c.statement is not None and not c.compares
                  and (c.statement.left.has(E, E_noise) or c.statement.right.has(E, E_noise))], check, lambda c: c.id)


def test_changes_are_those_of_one_place():
    square, after = norm2(x[t + 1] - x_star), norm2(x[t + 2] - x_star)
    changed = [new for _, _, new in changes_of(E(square) - 2 * L)]
    assert len(changed) == len(set(changed))
    assert {square - 2 * L, E_noise(square) - 2 * L, E(square) - L, E(square) - 3 * L, E(square) + 2 * L, -E(square) - 2 * L,
            E(after) - 2 * L, E(square) - 2 * x_star, E(norm2(x[t + 1] + x_star)) - 2 * L} <= set(changed)


def test_ends_of_sums_are_changed():
    changed = [str(new) for kind, _, new in changes_of(Sum(norm2(x[i]), (i, 0, local_steps - 1))) if kind == "range"]
    assert len(changed) == 4 and "Sum(norm2(x[i]), (i, 1, local_steps - 1))" in changed


def test_a_file_keeps_the_rows_of_papers_that_are_not_counted_anew(tmp_path):
    path = tmp_path / "table.md"
    rows = {paper: (Counter(constant=10, sign=number), Counter(constant=9)) for number, paper in enumerate(PAPERS)}
    path.write_text(_table(rows), encoding="utf-8")
    assert _table(_kept(path)) == _table(rows) and _kept(tmp_path / "none.md") == {}
