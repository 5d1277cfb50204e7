"""Every paper's claims: complete, each the paper's formula under the paper's hypotheses, written in its letters and units.

``<paper>_rows.py`` beside this file says in plain Python, from the paper alone, what its claims state. It is found by its
name. What it has:

    world(seed, reading)       random values for every name; ``reading``: the names after ``@`` in a claim's id
    values(w, definitions)     a ``Values`` that evaluates a claim's formulas in such a world
    sides(claim, w, at)        both sides of the claim from the paper, at values ``at`` of its indices
    ROWS                       a table of ``Row`` (``tests.bounds.rows``) by ids without the paper; or row(claim)
    SUPPOSED, DOMAINS, METHOD  hypotheses by the names in ``given`` of a row; domains of variables by name; the algorithm of
                               rows that name none

and, where a paper has them:

    MEANINGS, TIMES            definitions that ``values`` does not put in: name -> formula(w, *indices); at which times
    BLOCKS, NOT_CLAIMS         block ids of the specification, and those that docs/coverage.md explains instead
    READINGS, EVERY_READING    ids of readings that a block must have; whether it may have no other
    WITHOUT_LETTER, WITHOUT_UNIT    names that need none

How to write a row. Read the statement in the paper's text, and write both sides as functions of the world; put ``E``,
``E_round``, ``Max`` and the like of ``tests.bounds.chance`` exactly where the text has them (each is some function of a
number: without it, around another formula, or of another kind, the row differs from the claim). Then the relation, ``<`` if
it is strict; ``over``, the values of every index of the statement; ``given``, the names of the assumptions and conditions
that the paper states for it; ``variables`` with their domains; ``method``. Each hypothesis is written once in ``SUPPOSED``,
with the paper's words in a comment: ``Relation(left, sign, right, over)`` for a condition, ``Assumed`` for a numbered
assumption under its id. Another reading is ``but(row, ...)`` with what differs. Never look at ``bounds/papers`` while
writing: where row and claim then differ, the paper's text decides which of them is mended.

``make row-mutants`` changes every claim in one place at a time, and counts how many changes the rows notice: at least 99 of
100 of every paper. Two formulas that agree at the world's numbers by chance are told apart by another seed.
"""

from functools import cache
from importlib import import_module
from importlib.util import find_spec

import pytest

from bounds.formulas.units import BASE
from bounds.printing.render import condition_latex, letters_of, notation, show
from bounds.registry.papers import PAPERS, claims_of_paper, quantities_of_paper, units_of_paper
from fedtheory import find_algorithm
from tests import ROOT
from tests.bounds.claim_values import name_of, reading_of
from tests.bounds.each_claim import look_at_each
from tests.bounds.rows import Worlds, compare, compare_definition
from tests.not_empty import if_any, not_empty

#: names of the language's indices, and of the chance in a mean
INDICES = {*"ijklrst", "sampling"}


def rows_of(paper):
    return import_module(f"tests.bounds.papers.{paper}_rows")


def listed(paper, name):
    """What a paper's rows list under a name; nothing where they do not."""
    return getattr(rows_of(paper), name, ())


@cache
def claims_of(paper):
    """The paper's claims but comparisons of bounds, which are made of other claims."""
    return [claim for claim in claims_of_paper(paper).values() if not claim.compares]


# what is there -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("paper", PAPERS)
def test_every_paper_has_rows(paper):
    assert {"world", "values", "sides", "ROWS", "SUPPOSED", "DOMAINS", "METHOD"} <= set(dir(rows_of(paper)))


@pytest.mark.parametrize("paper", [paper for paper in PAPERS if listed(paper, "BLOCKS")])
def test_blocks_are_those_of_the_specification(paper):
    blocks = set(rows_of(paper).BLOCKS.split()) - set(listed(paper, "NOT_CLAIMS"))
    assert {name_of(claim) for claim in claims_of(paper)} == blocks
    assert {f"{paper}/{block}" for block in blocks} <= set(claims_of_paper(paper))


@pytest.mark.parametrize("paper", [paper for paper in PAPERS if listed(paper, "READINGS")])
def test_every_listed_reading_is_there(paper):
    def check(block):
        found = {claim.id for claim in claims_of(paper) if name_of(claim) == block}
        wanted = {f"{paper}/{block}", *(f"{paper}/{block}@{name}" for name in rows_of(paper).READINGS[block].split())}
        assert wanted - found == set()
        assert not listed(paper, "EVERY_READING") or found == wanted

    look_at_each(rows_of(paper).READINGS, check)


@pytest.mark.parametrize("paper", PAPERS)
def test_steps_are_claims(paper):
    registered = claims_of_paper(paper)
    assert [(c.id, step) for c in not_empty(claims_of(paper)) for step in c.steps if step not in registered] == []


@pytest.mark.parametrize("paper", PAPERS)
def test_assumptions_are_registered(paper):
    used = {assumption.id for claim in claims_of(paper) for assumption in claim.assumptions}
    assert used
    for owner in {name.partition("/")[0] for name in used}:
        if find_spec(f"bounds.papers.{owner}.assumptions"):
            registered = set(import_module(f"bounds.papers.{owner}.assumptions").ASSUMPTIONS)
            assert {name for name in used if name.startswith(f"{owner}/")} <= registered
            assert all(name.startswith(f"{owner}/") for name in registered)


@pytest.mark.parametrize("paper", PAPERS)
def test_methods_take_the_options_that_claims_name(paper):
    def check(claim):
        assert {name for name, _ in claim.procedure.options} <= set(find_algorithm(claim.procedure.base).arguments)

    look_at_each((c for c in claims_of(paper) if c.procedure is not None and c.setting == "run"), check, lambda c: c.id)


@pytest.mark.parametrize("paper", PAPERS)
def test_coverage_tells_what_is_hidden_undefined_or_no_claim(paper):
    text = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")
    told = {c.block for c in claims_of(paper) if not c.explicit} | {c.id for c in claims_of(paper) if c.undefined}
    told |= {f"{paper}/{block}" for block in listed(paper, "NOT_CLAIMS")}
    assert [i for i in if_any(sorted(told)) if f"`{i}`" not in text] == []


# formulas ------------------------------------------------------------------------------------------------------------
def _stated(claim):
    return claim.statement.left, claim.statement.right, claim.statement.over


@pytest.mark.parametrize("paper", PAPERS)
def test_statements_are_the_paper_s(paper):
    """At random values of every name hypotheses, ranges and both sides are what plain Python makes of the paper."""
    rows, transcribed, others = rows_of(paper), set(), []

    def check(claim):
        worlds = Worlds(rows, reading_of(claim), claim.definitions)
        if not compare(rows, claim, worlds):
            return others.append(claim)
        return claim.statement is None or transcribed.add(_stated(claim))

    look_at_each(claims_of(paper), check, lambda claim: claim.id)
    assert [claim.id for claim in others if _stated(claim) not in transcribed] == []


@pytest.mark.parametrize("paper", PAPERS)
def test_no_row_is_left_over(paper):
    names = {name for ids in rows_of(paper).ROWS for name in ids.split()}
    assert names - {name_of(c) for c in claims_of(paper)} - {c.id.partition("/")[2] for c in claims_of(paper)} == set()


@pytest.mark.parametrize("paper", [paper for paper in PAPERS if listed(paper, "MEANINGS")])
def test_definitions_are_the_paper_s(paper):
    rows = rows_of(paper)
    used = {name for claim in claims_of(paper) for name in claim.used_definitions()}
    assert used <= set(rows.MEANINGS)

    known = {name: d for other in (*PAPERS, paper) for name, d in quantities_of_paper(other).items()}
    look_at_each(rows.MEANINGS, lambda name: compare_definition(rows, known[name]))


# how they are written ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("paper", PAPERS)
def test_every_claim_can_be_written(paper):
    """In the names of the code, and its statement with its ranges; ``test_render`` looks at every formula in letters."""
    def check(claim):
        assert claim.id in show(claim, "code")
        assert claim.statement is None or condition_latex(claim.statement, letters_of(claim))

    look_at_each(claims_of(paper), check, lambda claim: claim.id)


@pytest.mark.parametrize("paper", PAPERS)
def test_letters_and_units_are_there_for_every_name(paper):
    defined = {name for claim in claims_of(paper) for name in claim.used_definitions()}
    names = {name for claim in claims_of(paper) for name in claim.names}
    names |= {variable.name for claim in claims_of(paper) for variable in claim.variables}
    names -= defined | INDICES
    assert names - set(notation(paper)) - set(listed(paper, "WITHOUT_LETTER")) == set()
    if units := units_of_paper(paper):
        assert names - set(units) - set(BASE) - set(listed(paper, "WITHOUT_UNIT")) == set()
