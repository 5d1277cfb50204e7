"""Shorter ways to write formulas and lists: bare indices, probabilities anywhere, lists in lists, extended readings."""

from pathlib import Path

import pytest
import sympy as sp

from bounds.formulas.units import check_units
from bounds.language import operators
from bounds.language.claim import Condition
from bounds.language.coordinates import highest
from bounds.language.operators import F, clients, k, objective, participants, rounds, sampled, x_star
from bounds.printing.render import show
from bounds.registry.collection import Collection, WrongClaims
from bounds.registry.user_claims import load_claims
from bounds.registry.vocabulary import Paper, Vocabulary

N, P, I = sp.Symbol("n", integer=True, positive=True), sp.IndexedBase("p", real=True), sp.Symbol("i", integer=True)


def claims(text: str, paper: str = "") -> dict:
    above = Vocabulary(Paper(paper)) if paper else None
    return {claim.id: claim for _, claim in Collection.read(Path("one.toml"), text, above).claims}


def statement(text: str, fields: str = "") -> Condition:
    return claims(f'[[claim]]\nid = "mine/a"\nstatement = "{text}"\n{fields}\n')["mine/a"].statement


ARRAYS = 'setting = "algebra"\nvariables = ["n: integer", "p[i]: simplex[n]", "b[i]: positive[n+1]"]'


@pytest.mark.parametrize(("text", "formula"), [
    ("Max(F(k, x_star), k)", highest(k, 0, clients - 1, F(k, x_star))),
    ("Min(F(k, x_star), k)", -highest(k, 0, clients - 1, -F(k, x_star))),
    ("Max(F(k, x_star), (k, 0, 1))", highest(k, 0, 1, F(k, x_star))),
    ("Sum(Max(k, F(k, x_star)), (k, 0, 1))", operators.Sum(operators.Max(F(k, x_star), k), (k, 0, 1))),
    ("Max(Sum(F(k, x_star), k), rounds)", operators.Max(operators.Sum(F(k, x_star), (k, 0, clients - 1)), rounds)),
])
def test_max_is_over_all_values_of_an_index_that_nothing_binds(text, formula):
    assert statement(f"{text} >= 0").left == formula


def test_max_of_a_bound_index_is_the_larger_of_two_numbers(tmp_path):
    assert statement("Max(k, F(k, x_star)) >= 0 for each k").left == operators.Max(F(k, x_star), k)
    assert statement("Max(rounds, k) >= 0 for each k").left == operators.Max(rounds, k)
    for text in ("Max(F(k, x_star), k) >= 0 for each k", "Sum(Max(F(k, x_star), k), k) >= 0"):
        with pytest.raises(WrongClaims, match=r"k is bound around F\(k, x_star\) and stands bare behind it"):
            statement(text)
    with pytest.raises(ValueError, match="the index k is bound by nothing"):
        claims_in('[[claim]]\nid = "mine/a"\nstatement = "Max(objective(x_star), k) >= 0"\n', tmp_path)


def claims_in(text: str, folder: Path) -> tuple:
    path = folder / "indices_and_lists.toml"
    path.write_text(text, encoding="utf-8")
    return load_claims(path)


def test_an_index_runs_over_the_arrays_that_have_it():
    assert statement("Sum(p[i], i) == 1", ARRAYS).left == operators.Sum(P[I], (I, 0, N - 1))
    assert statement("Sum(b[i], i) >= Max(b[i], i)", ARRAYS).left.limits == ((I, 0, N),)
    assert statement("p[i] <= 1 for each i", ARRAYS).over == ((I, 0, N - 1),)
    for text, message in (("Sum(p[i]*b[i], i) >= 0", "a range of Sum is written"), ("Sum(p[0], i) >= 0", "a range of Sum"),
                          ("Sum(p[j], j) == 1", "j runs over local_steps, and an array with that index has the size n"),
                          ("p[i]*b[i] <= 1 for each i", "arrays of different sizes"),
                          ("p[j] <= 1 for each j", "j of 'for each j' runs over local_steps")):
        with pytest.raises(WrongClaims, match=message):
            statement(text, ARRAYS)


def test_a_probability_stands_in_any_formula():
    whole = 'sampling = "without-replacement"\ndefinitions = {chance = "P(sampled[0, 0] >= 1)"}\nlet = {"at_least(a)" = '
    whole += '"P(sampled[0, 0] >= a)"}\nstatement = "chance + at_least(1) == 2*participants/clients"'
    claim = claims(f'[[claim]]\nid = "mine/a"\n{whole}\n')["mine/a"]
    chance = operators.E(operators.below(1, sampled[0, 0]))
    assert claim.definitions["chance"].formula == chance
    assert claim.statement == Condition(chance + claim.definitions["chance"].symbol, "==", 2 * participants / clients)
    with pytest.raises(WrongClaims, match="a probability is written"):
        claims(f'[[claim]]\nid = "mine/a"\n{whole.replace(">= 1)", ")")}\n')


LISTS = """
[let]
smooth = ["L_client[k] <= L for each k"]
"noise(a)" = "sigma_sq_client[k] <= a for each k"
sizes = ["rounds", "clients"]
may_vanish = ["mu >= 0"]
[assumptions]
basic = ["smooth", "noise(2*sigma_sq)"]
convex = ["may_vanish", "mu_client[k] >= mu for each k"]
numbered = {id = "A", name = "both", conditions = ["smooth", "noise(0)"]}
[[claim]]
id = "mine/a"
assume = ["basic", "convex", "numbered"]
variables = {C = "hidden"}
limits = {rounds = "oo"}
constants_may_use = ["sizes", "mu"]
statement = "objective(x_round[rounds]) <= C*mu"
"""


def test_abbreviations_are_written_out_inside_assumptions_and_in_constants_may_use():
    claim = claims(LISTS)["mine/a"]
    texts = [assumption.name for assumption in claim.assumptions]
    assert texts == ["L_client[k] <= L for each k", "sigma_sq_client[k] <= (2*sigma_sq) for each k", "mu >= 0",
                     "mu_client[k] >= mu for each k", "both"]
    assert [len(a.conditions) for a in claim.assumptions] == [1, 1, 1, 1, 2]
    assert claim.assumptions[1].conditions[0].right == 2 * operators.sigma_sq
    assert [(v.name, v.domain) for v in claim.variables] == [("mu", "nonnegative"), ("C", "hidden")]
    assert claim.constants_may_use == ("rounds", "clients", "mu")
    with pytest.raises(WrongClaims, match="unknown name 'size'"):
        claims(LISTS.replace('["sizes", "mu"]', '["size"]'))
    with pytest.raises(WrongClaims, match=r"noise takes 1 argument\(s\); got 0"):
        claims(LISTS.replace('"noise(0)"', '"noise"'))


EXTENDED = """
[axes.age]
now = {reading = "now"}
before = {reading = "before", conditions = ["rounds >= 2"]}
[[claim]]
id = "a"
conditions = ["rounds >= 1"]
statement = "objective(x_star) == F_star"
vary = ["age", "one"]
readings.one = {reading = "one step", also = ["local_steps == 1"]}
[[claim]]
parts.b = {statement = "objective(x_round[0]) >= F_star", conditions = ["rounds >= 3"]}
[[claim]]
id = "c"
extends = "EXTENDED"
statement = "F_star <= objective(x_round[1])"
"""


@pytest.mark.parametrize(("name", "conditions", "reading"), [
    ("a", ["rounds >= 1"], "as printed"), ("paper/a", ["rounds >= 1"], "as printed"),
    ("a@before", ["rounds >= 2"], "before"), ("paper/a@one", ["rounds >= 1", "local_steps == 1"], "one step"),
    ("b", ["rounds >= 3"], "as printed")])
def test_a_claim_extends_a_claim_a_reading_or_a_part(name, conditions, reading):
    found = claims(EXTENDED.replace("EXTENDED", name), "paper")
    assert [f"{c.left} {c.sign} {c.right}" for c in found["paper/c"].conditions] == conditions
    assert reading in found["paper/c"].reading and not [i for i in found if i.startswith("paper/c@")]
    assert found["paper/c"].statement.right == objective(operators.x_round[1])


def test_what_is_extended_stands_above():
    for name in ("d", "a@two", "c", "other/a"):
        with pytest.raises(WrongClaims, match=f"the id of a claim above it; got '{name}', allowed: a, their"):
            claims(EXTENDED.replace("EXTENDED", name), "paper")


def test_a_single_file_has_letters_and_units(tmp_path):
    text = """
[names]
gap = ['\\Delta', "what is left", "nonnegative", "loss"]
"x_round[r]" = ["z_{r}", "model before round r"]
[[claim]]
id = "mine/a"
variables = ["gap"]
statement = "objective(x_round[rounds]) - F_star <= gap"
[[claim]]
id = "mine/b"
variables = ["gap"]
statement = "norm2(x_round[rounds] - x_star) <= gap"
"""
    first, second = claims_in(text, tmp_path)
    assert "F(z_T) − F* ≤ Δ" in show(first) and "z_r = x_round: model before round r" in show(first)
    assert not check_units(first)[0] and check_units(second)[0]
