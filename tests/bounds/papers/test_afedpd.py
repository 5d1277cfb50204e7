"""A-FedPD's claims: complete, each the paper's formula, written in its letters and units."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from bounds.formulas.units import BASE
from bounds.language import words
from bounds.language.claim import names_in
from bounds.papers.afedpd import words as own_words
from bounds.papers.afedpd.assumptions import ASSUMPTIONS
from bounds.papers.afedpd.notation import LETTERS, UNITS
from bounds.printing.render import condition_latex, condition_text, letters_of, show
from bounds.registry.claims import all_claims
from tests import ROOT
from tests.bounds.claim_values import Values, entry
from tests.bounds.each_claim import each_claim
from tests.bounds.papers.afedpd_rows import ROWS, E, E_data, E_t, E_unused, norm, sq, world

CLAIMS = [c for c in all_claims().values() if c.paper == "afedpd" and not c.compares]
COVERAGE = ROOT / "docs" / "coverage.md"

#: block ids of the specification's sections 4 and 5
BLOCKS = [
    "theorem-1", "theorem-1-explicit", "lemma-1", "lemma-2", "lemma-3", "theorem-2", "theorem-2-explicit", "lemma-4",
    "lemma-5", "lemma-6", "remark-1.1", "remark-1.2", "remark-2.1-rate", "remark-2.1-local", "table-7-fedpd",
    "table-7-fedadmm", "table-7-feddyn", "table-7-afedpd", "text-c-over-p", "table-9-sgd", "table-9-mohri", "table-9-hu",
    "table-9-wu", "table-9-fedavg", "table-9-afedpd", "text-partial-fedpd", "text-mean-dual", "text-unbiased", "eq-9",
    "eq-10", "eq-13", "lemma-1-step-1", "lemma-1-step-2", "lemma-2-step-1", "lemma-2-step-2", "lemma-2-step-3",
    "lemma-3-step-1", "lemma-3-step-2", "descent-1", "descent-2", "descent-3", "descent-4", "descent-5", "descent-6",
    "descent-7", "descent-8", "descent-9", "descent", "j-by-r", "r-recursion", "q-combined", "q-range", "q-equation",
    "rho-quadratic", "rho-order", "q-choice", "one-step-theorem-1", "telescoped", "telescoped-relaxed", "lemma-4-split",
    "lemma-4-hitting", "lemma-5-triangle", "lemma-5-contraction", "lemma-5-unroll", "lemma-5-geometric", "bernoulli",
    "lemma-6-different", "lemma-6-mixture", "lemma-6-unroll", "rec-delta-global", "rec-sigma", "rec-delta-local", "rec-pi",
    "rec-weighted", "multipliers", "rec-factored", "alpha-condition", "x-plus", "x-plus-bound", "alpha-rho-bound",
    "rec-one-step", "unrolled-constant", "unrolled-product", "product-exp", "sum-power", "unrolled-decayed",
    "gap-before-tau0", "tau0-choice", "theorem-2-constants",
]
#: readings that the specification lists for a block
READINGS = {
    "theorem-1": "exact rho-appendix rho-appendix+exact", "theorem-1-explicit": "exact", "lemma-1": "inactive-theta",
    "lemma-2": "exact", "lemma-3": "inactive-theta", "theorem-2": "gamma-last gamma-all",
    "theorem-2-explicit": "gamma-last gamma-all", "lemma-4": "sup-only cond-zeta cond-zeta+rounds-upto generalisation",
    "lemma-5": "every-step theta-T stable quadratic+stable", "lemma-6": "every-step stable",
    **dict.fromkeys(("lemma-5-triangle", "lemma-5-contraction", "lemma-5-unroll", "lemma-6-different", "lemma-6-unroll",
                     "bernoulli"), "stable"), "lemma-5-geometric": "theta-T bound bound+stable",
    "eq-9": "abs-outside signed second",
    "eq-10": "fedavg appendix", "table-7-fedadmm": "text sent start", "table-7-afedpd": "start",
    **dict.fromkeys(("table-7-fedpd", "table-7-feddyn"), "sent start"), "remark-2.1-rate": "fedpd fedadmm feddyn",
    "text-mean-dual": "through", "q-choice": "range relation", "telescoped": "from-0", "telescoped-relaxed": "numbers",
    "lemma-4-split": "sup-only", "lemma-4-hitting": "rounds-upto last", "rec-delta-global": "virtual",
    "rec-sigma": "virtual text", "rec-delta-local": "virtual", "rec-pi": "virtual stable", "rec-factored": "printed",
    "alpha-condition": "necessary", "rec-one-step": "two", "unrolled-constant": "last whole", "product-exp": "summed",
    "tau0-choice": "minimiser", "unrolled-decayed": "system", "theorem-2-constants": "factor",
}


# what is there -----------------------------------------------------------------------------------------------------------
def test_blocks_are_those_of_the_specification():
    blocks = {f"afedpd/{b}" for b in BLOCKS}
    assert {c.block for c in CLAIMS} == blocks and blocks <= {c.id for c in CLAIMS}


@pytest.mark.parametrize("block", READINGS)
def test_every_listed_reading_is_there(block):
    ids = {c.id for c in CLAIMS}
    assert {f"afedpd/{block}@{r}" for r in READINGS[block].split()} - ids == set()


def test_steps_and_assumptions_are_registered():
    ids = {c.id for c in CLAIMS}
    assert [s for c in CLAIMS for s in c.steps if s not in ids] == []
    assert {a.id for c in CLAIMS for a in c.assumptions} <= set(ASSUMPTIONS)


def test_coverage_explains_what_is_left_open():
    text = COVERAGE.read_text(encoding="utf-8")
    assert [c.id for c in CLAIMS if (c.undefined or not c.explicit) and f"`{c.block}`" not in text] == []


# formulas ----------------------------------------------------------------------------------------------------------------
def values(w, definitions) -> Values:
    """Values in a world; definitions are put in."""
    return Values(lambda name, places: entry(getattr(w, name), places), {
        words.norm2: sq, words.norm: norm, words.dot: lambda u, v: float(u @ v), words.E: E, words.E_round: E_t,
        words.grad: lambda k, v: w.grad(int(k), v), words.objective: w.objective, words.objective_grad: w.objective_grad,
        own_words.E_data: E_data, own_words.E_unused: E_unused, own_words.F_pop: w.F_pop,
        own_words.worst_mean_gap: w.worst_mean_gap, own_words.worst_mean_signed_gap: w.worst_mean_signed_gap,
    }, definitions=definitions, number=float)


@each_claim(CLAIMS)
def test_statement_is_the_paper_s(claim):
    names, checked = set(claim.id.partition("@")[2].split("+")) - {""}, 0
    for seed in (1, 2):
        w = world(seed)
        in_world = values(w, claim.definitions)
        for index in in_world.cases(claim.statement.over):
            wanted = ROWS[claim.block.split("/")[1]](w, names, SimpleNamespace(**index))
            sides = [in_world.of(side, index) for side in (claim.statement.left, claim.statement.right)]
            assert np.allclose(sides, wanted, rtol=1e-9, atol=1e-12), (index, sides, wanted)
            checked += 1
    assert checked


#: conditions on the parameters as printed: whether they are met at a point of the world
CONDITIONS = {
    "theorem-1-explicit": lambda w: w.rho_prox**2 - 4 * w.L**3 * w.rho_prox - 36 * w.L**2 - 4 * w.L**4 >= 0,
    "unrolled-constant": lambda w: w.eta_0 <= 1 / (w.local_steps * w.L),
    "theorem-2": lambda w: w.eta_0 <= w.mu_lr / (w.gamma_mult * w.local_steps) and w.alpha_mult * w.rho_prox >= (
        w.rho_prox + math.sqrt(w.rho_prox**2 + 4 * w.L * (w.L + w.rho_prox + 1 / (w.eta_0 * w.local_steps)))) / (2 * w.L),
}


@pytest.mark.parametrize("block", CONDITIONS)
def test_conditions_are_the_printed_ones(block):
    claim = next(c for c in CLAIMS if c.id == f"afedpd/{block}")
    conditions = [c for c in claim.conditions if c.relation != "==" and not c.over
                  and not (names_in(c.left) | names_in(c.right)) & {"V", "slack"}]
    answers = set()
    for seed in range(400):
        w = world(seed)
        w.L, w.eta_0, w.alpha_mult, w.rho_prox = w.L / 4, w.eta_0 / 2, 4 * w.alpha_mult, 3 * w.rho_prox
        of = values(w, {}).of
        met = all(
            of(c.left) <= of(c.right) if c.relation == "<=" else of(c.left) >= of(c.right) for c in conditions)
        assert met == CONDITIONS[block](w)
        answers.add(met)
    assert answers == {True, False}


# how they are written ----------------------------------------------------------------------------------------------------
@each_claim(CLAIMS)
def test_every_claim_can_be_written(claim):
    assert claim.id in show(claim) and claim.id in show(claim, "code")
    for condition in (*claim.hypotheses, claim.statement):
        assert condition_latex(condition, letters_of(claim)) and "<" not in condition_text(condition, letters_of(claim))


INDICES = {"r", "t", "j", "k", "i"}


def _names(claim):
    conditions = (*claim.hypotheses, claim.statement)
    expressions = [e for c in conditions for e in (c.left, c.right)] + [d.formula for d in claim.used_definitions().values()]
    return {n for e in expressions for n in names_in(e)}


def test_letters_and_units_exist_for_every_name():
    names = set().union(*map(_names, CLAIMS)) - INDICES
    defined = set().union(*(c.used_definitions() for c in CLAIMS))
    assert names - defined - set(LETTERS) == set()
    assert names - defined - set(UNITS) - set(BASE) - {"C", "slack", "s_1", "s_2", "s_3", "s_4", "root_1", "root_2",
                                                       "tau_real", "tau_other"} == set()
