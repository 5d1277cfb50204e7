"""Those who ask whether a formula has a value agree: the prover, the links of chains, and witnesses."""

import json
import re
from random import Random

import pytest

from bounds.formulas.closed_form import side_conditions
from bounds.registry.user_claims import load_claims
from tests.verify.attack.random_statements import random_formula
from tests.verify.attack.side_conditions import broken_at, lemma
from verify.proofs.abstraction import Abstraction
from verify.proofs.facts import facts_of
from verify.prove.contradictions import contradiction
from verify.prove.defined import part_without_value
from verify.prove.existence import requirements
from verify.prove.number_certificates import number_certificate
from verify.prove.satisfiable import satisfiable
from verify.search.budget import BUDGETS
from verify.search.search import search

DOMAINS = {"a": "positive", "b": "real", "n": "integer from 1", "m": "integer from 0", "x": "nonnegative below 1"}
BETWEEN = ("b >= -3", "b <= 3")
_FORMULAS = 90


def domains(formula, conditions):
    names = {*re.findall(r"\b[abnmx]\b", " ".join((formula, *BETWEEN, *conditions)))}
    return {name: domain for name, domain in DOMAINS.items() if name in names}


def of_a_formula(formula, conditions=()):
    """A claim that holds wherever the formula has a value."""
    return lemma((*domains(formula, conditions).items(),), f"0 <= Abs({formula})", (*BETWEEN, *conditions))


def of_a_witness(formula, conditions, folder):
    """The claim that a number exists for which the formula, with it in place of b, has a value; b is its witness."""
    of_c = re.sub(r"\bb\b", "c", formula)
    rows = {"id": "mine/one", "setting": "algebra", "statement": f"0 <= Abs({of_c})",
            "conditions": [*BETWEEN, *conditions]}
    (folder / "one.toml").write_text(
        "[[claim]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in rows.items())
        + 'exists = {c = "[-3, 3]"}\nwitness = {c = "b"}\n[claim.variables]\n'
        + "".join(f'{name} = "{domain}"\n' for name, domain in domains(formula, conditions).items()), encoding="utf-8")
    return load_claims(folder / "one.toml")[0]


def said_by_a_link(claim):
    return not part_without_value((claim.statement.left, claim.statement.right), facts_of(claim, Abstraction(claim)))


def said_of_a_witness(claim):
    return all(one.proof for one in requirements(claim))


def test_what_has_no_value_somewhere_is_never_said_to_have_one(tmp_path):
    rng, without, said = Random(0), 0, 0
    for _ in range(_FORMULAS):
        formula = random_formula(rng, 2)
        claim = of_a_formula(formula)
        if claim is None:
            continue
        link, numbers = said_by_a_link(claim), broken_at(claim)
        said += link
        if numbers is None:
            continue
        without += 1
        assert not link and number_certificate(claim) is None, f"{formula} at {numbers}"
    assert without > 15 and said > 10


def test_a_witness_at_which_a_formula_has_no_value_is_never_proven(tmp_path):
    rng, without, said = Random(1), 0, 0
    for _ in range(_FORMULAS):
        formula = random_formula(rng, 2)
        for name, other in {"a": "b", "x": "b", "n": "3", "m": "1"}.items():
            formula = re.sub(rf"\b{name}\b", other, formula)
        claim = of_a_formula(formula)
        if claim is None or not re.search(r"\bb\b", formula):
            continue
        proven = said_of_a_witness(of_a_witness(formula, (), tmp_path))
        said += proven
        if numbers := broken_at(claim):
            without += 1
            assert not proven, f"{formula} at {numbers}"
    assert without > 10 and said > 5


def test_what_has_a_value_somewhere_is_never_said_to_have_none():
    rng, nowhere = Random(2), 0
    for _ in range(_FORMULAS):
        conditions = [c for c in ("b <= 0", "b >= 0", "b <= -1", "n <= m", "n >= m") if rng.random() < 0.4]
        claim = of_a_formula(random_formula(rng, 2), tuple(conditions))
        if claim is not None and contradiction(claim) and satisfiable(side_conditions(claim)).answer == "yes":
            nowhere += 1
            assert search(claim, BUDGETS["quick"]).met == 0, claim.statement
    assert nowhere > 3


#: formulas that have a value everywhere, with the conditions under which they have it
EVERYWHERE = {
    "1/(1 + b**2)": (), "1/(b - 4)": (), "sqrt(b + 3)": (), "(3 - b)**(1/2)": (), "log(4 - b)": (), "1/b": ("b >= 1",),
    "b**(n - 1)": (), "1/b**2": ("b <= -1",), "(b + 3)**x": (), "a**b": (), "(b + 4)**b": (),
    "Sum(b/i, (i, 1, n))": (), "Sum(1/(b + 3 + i), (i, 1, n))": (), "1/(b**2 + a)": (), "1/(1 - x) + b": (),
}


@pytest.mark.parametrize("formula", EVERYWHERE)
def test_what_has_a_value_everywhere_is_said_to_have_one(formula, tmp_path):
    claim = of_a_formula(formula, EVERYWHERE[formula])
    assert broken_at(claim) is None
    assert said_by_a_link(claim) and (number_certificate(claim) is None) == (formula == "1/(b - 4)")  # no proof is found
    assert said_of_a_witness(of_a_witness(formula, EVERYWHERE[formula], tmp_path))
