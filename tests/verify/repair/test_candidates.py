"""What repairs are proposed: one quantity for another, terms that instances ask for, and nothing that grows with them."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from bounds.controls.classical import CONTROLS_CLASSICAL
from bounds.controls.fedavg import CONTROLS
from bounds.controls.methods import CONTROLS_ON_METHODS
from bounds.language.names import symbol
from bounds.registry.claims import find_claim
from bounds.registry.user_claims import load_claims
from tests.not_empty import not_empty
from verify.repair.additions import _pairs, terms
from verify.repair.atoms import lengths, scalars
from verify.repair.edits import Edit, coefficients, shifts
from verify.repair.pool import Batch, pool_of
from verify.repair.repair import _grows
from verify.repair.usual import is_usual_condition, is_usual_term

ROWS = {row.claim.id.partition("/")[2]: row for row in (*CONTROLS, *CONTROLS_ON_METHODS, *CONTROLS_CLASSICAL)}


def product(claim, **powers):
    """The product of powers of a claim's quantities."""
    from verify.repair.atoms import Product

    atoms = {str(atom.formula): atom for atom in (*scalars(claim), *lengths(claim))}
    atoms |= {str(atom.formula.base): atom for atom in scalars(claim) if isinstance(atom.formula, sp.Indexed)}
    return Product(tuple((atoms[name], power) for name, power in powers.items()))


#: powers of quantities of FedAvg with sampled clients, the sign of the condition, and whether papers have such a one
CONDITIONS = [
    ({"eta": 1, "L": 1, "local_steps": 1}, "<=", True), ({"eta": 1, "L": 1}, ">=", False),
    ({"eta": 1, "L": 1, "local_steps": -1}, "<=", True),
    ({"L": 1, "mu": -1}, "<=", True), ({"L": 1, "mu": -1, "rounds": -1}, "<=", True),
    ({"L": 1, "mu": -1, "rounds": 1}, "<=", False), ({"L": 1, "mu": -1, "clients": 1}, "<=", False),
    ({"local_steps": 1}, "<=", True), ({"clients": 1, "participants": -1}, "<=", True),
    ({"clients": 1, "participants": 1}, "<=", False), ({"local_steps": 1, "rounds": 1}, "<=", False),
]


@pytest.mark.parametrize(("powers", "sign", "usual"), CONDITIONS)
def test_conditions_are_those_of_papers(powers, sign, usual):
    claim = find_claim("classical/fedavg-sampled-strongly-convex")
    assert is_usual_condition(product(claim, **powers), sign) is usual


#: powers of quantities, and whether a bound on the last model, or on every round, has such a term
TERMS = [
    ({"sigma_sq": 1, "eta": 1, "participants": -1}, True, True), ({"sigma_sq": 1, "eta": 1, "rounds": -1}, True, False),
    ({"L": 1, "eta": 1, "clients": 1}, True, True), ({"L": 1, "eta": 1, "local_steps": -1}, False, False),
]


@pytest.mark.parametrize(("powers", "last", "each"), TERMS)
def test_terms_are_those_of_papers(powers, last, each):
    claim = find_claim("classical/fedavg-sampled-strongly-convex")
    assert is_usual_term(claim, product(claim, **powers)) is last
    in_every_round = replace(claim, statement=replace(claim.statement, over=((symbol("r"), 0, symbol("rounds") - 1),)))
    assert is_usual_term(in_every_round, product(claim, **powers)) is each


#: controls, a change that a false variant of them needs, by hand
CHANGES = [
    ("gradient-and-gap", "exponent: of L", "L² in place of μ²"),  # one constant for another
    ("stochastic-recursion", "no convexity", "−μ η_t in place of −L η_t"),
    ("scaffold-old-variate", "any: clients", "for the clients that do not take part"),
]


@pytest.mark.parametrize(("name", "damage", "change"), CHANGES)
def test_a_change_of_this_kind_is_proposed(name, damage, change):
    assert change in [one(None).words for one in shifts(ROWS[name].twins[damage])]


def test_an_index_changes_as_a_whole():
    """No size within an index becomes another one; x[K r] becomes x[K r + 1] at most."""
    claim = find_claim("fedluar/lemma-3.1")
    words = [one(None).words for one in shifts(claim)]
    assert "x_{r+1} in place of x_r in V_r" in words and not [text for text in words if "(τ − 1) r" in text]


def test_no_change_depends_on_where_the_origin_is():
    """A model times two is no displacement: the sides change where all losses move, which those of the claim do not."""
    claim = find_claim("fedluar/lemma-3.1")
    pool, edits = pool_of(claim), {edit.words: edit.claim for one in shifts(claim) if (edit := one(None))}
    doubled = find_claim("fedluar/lemma-3.1")
    drift = doubled.definitions["round_drift"]
    start = symbol("x_round")[symbol("r")]
    doubled = replace(doubled, definitions=doubled.definitions | {
        "round_drift": replace(drift, formula=drift.formula.xreplace({start: 2 * start}))})
    assert doubled.definitions["round_drift"] != drift
    assert pool.depends_on_origin(doubled)
    assert not pool.depends_on_origin(claim) and not pool.depends_on_origin(edits["x_{r+1} in place of x_r in V_r"])


def test_a_missing_step_size_is_put_in_where_units_clash():
    """1 - mu in place of 1 - mu eta_t."""
    claim = ROWS["loss-recursion"].claim
    step, mu = symbol("eta_l")[symbol("t")], symbol("mu")
    right = claim.statement.right.xreplace({mu * step: mu}).subs(1 - mu * step, 1 - mu)
    damaged = replace(claim, statement=replace(claim.statement, right=right))
    assert damaged.statement.right != claim.statement.right
    assert "−μ η_t in place of −μ" in [one(None).words for one in shifts(damaged)]


@pytest.mark.parametrize(("name", "damage", "term"), [
    ("local-sgd-step", "no noise", "η_t² Σ_{k=0}^{m−1} p_k² σ_k² more on the right side"),
    ("contraction", "no noise", "η_t² σ² more on the right side")])
def test_a_missing_term_is_proposed_with_its_number(name, damage, term):
    pool = pool_of(ROWS[name].twins[damage])
    from bounds.formulas.units import units_of, units_where

    unit = units_where(pool.claim, units_of(pool.claim), [pool.claim.statement.left])[0]
    assert term in [edit.words for one in terms(pool.claim, pool, unit) if (edit := one(pool))]


def test_a_number_that_grows_with_the_rounds_is_no_constant():
    """A bound on gradient descent, divided by the rounds, needs a factor that is larger in longer runs; halved, not."""
    claim = find_claim("classical/gd-convex")
    for part, grows in ((symbol("rounds"), True), (2, False)):
        damaged = replace(claim, id="test/damaged", statement=replace(claim.statement, right=claim.statement.right / part))
        pool = pool_of(damaged)
        found = [(one, edit) for one in coefficients(damaged) if (edit := one(pool)) and "the right side" in edit.words]
        assert {_grows(one, edit, pool) for one, edit in not_empty(found) if "T" not in edit.words} == {grows}


@pytest.mark.parametrize(("term", "grows"), [("1/(i + 1)", True), ("(i + 1)**(-9/10)", True), ("1/(i + 1)**2", False)])
def test_a_number_that_grows_like_a_logarithm_is_no_constant(term, grows, tmp_path):
    """The harmonic sum needs 11 up to 33616 terms, and then more."""
    path = tmp_path / "mine.toml"
    path.write_text(f"""[[claim]]
id = "mine/sum"
variables = {{n = "integer from 1", b = "positive"}}
statement = "b*Sum({term}, (i, 0, n - 1)) <= b"
""")
    (claim,) = load_claims(path)
    pool = pool_of(claim)
    found = [(one, edit) for one in coefficients(claim) if (edit := one(pool)) and "the right side times" in edit.words]
    assert {_grows(one, edit, pool) for one, edit in not_empty(found)} == {grows}


def test_halves_of_a_pool_leave_out_the_larger_instances():
    pool = pool_of(ROWS["local-gd-spread"].twins["any: step"])
    halves = pool.halves.values()
    largest = max(batch.shape.rounds for batch in pool.false)
    assert any(max(batch.shape.rounds for batch in half.false) <= largest / 2 for half in not_empty(halves))
    assert all(half.true is pool.true and all(isinstance(one, Batch) for one in half.false) for half in halves)


def test_without_numbers_nothing_grows():
    edit = Edit(ROWS["means"].claim, "a hypothesis", 1.0)
    assert not _grows(lambda pool: edit, edit, pool_of(ROWS["means"].twins["/2"]))
    larger = replace(edit, numbers=(Fraction(2),))
    assert not np.any([_grows(lambda pool: larger, larger, pool_of(ROWS["means"].twins["/2"]))])


def test_without_products_there_are_no_pairs_of_terms():
    assert [*_pairs((), (), (), "<=")] == []
