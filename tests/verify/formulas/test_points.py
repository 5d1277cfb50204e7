"""Parameter sets of every claim's bound: they meet its conditions, and the bound has a value there."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds.language.claim import Claim, Condition
from bounds.language.operators import clients, participants, rounds
from bounds.registry.claims import all_claims
from verify.formulas.bound import bound_of
from verify.formulas.points import exact_witness, parameter_sets

STATED = sorted(c.id for c in all_claims().values() if c.statement is not None)
a, b = sp.symbols("a b", positive=True)


def bound(right, *conditions):
    return bound_of(Claim("test/a", "1", "control", "algebra", Condition(sp.Symbol("left"), "<=", right),
                          conditions=conditions, source="a textbook"))


def exactly(expression, numbers):
    """Evaluated by sympy, with thirty digits."""
    put_in = {s: sp.Integer(round(numbers[s.name])) if s.is_integer else sp.Float(float(numbers[s.name]), 30)
              for s in expression.free_symbols}
    return complex(expression.xreplace(put_in).doit().evalf(30))


def check_sets(claim_id, seed):
    form = bound_of(all_claims()[claim_id])
    sets = parameter_sets(form, 3, seed)
    names = {s.name for s in form.form.parameters}
    values = form.values(**{n: v for n, v in sets.items() if n in names})
    assert np.isfinite(values).all()
    numbers = {name: array[0] for name, array in sets.items()}
    for condition in form.conditions:
        left, right = exactly(condition.left, numbers).real, exactly(condition.right, numbers).real
        slack = 1e-9 * max(abs(left), abs(right), 1e-300)
        assert {"<=": left <= right + slack, ">=": left >= right - slack, "==": abs(left - right) <= 1e3 * slack}[
            condition.relation], condition
    for symbol in form.form.parameters:
        low = 1 if symbol.is_integer and symbol.is_positive else 0
        assert numbers[symbol.name] >= low and (not symbol.is_integer or numbers[symbol.name] == round(numbers[symbol.name]))


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.sampled_from(STATED), st.integers(0, 1000))
def test_sets_meet_the_conditions(claim_id, seed):
    check_sets(claim_id, seed)


@pytest.mark.slow
@pytest.mark.parametrize("claim_id", STATED)
def test_every_claim_has_sets(claim_id):
    check_sets(claim_id, 1)


ROWS = {
    "far from one": (a, Condition(a, "<=", sp.Rational(1, 10**9)), Condition(b, ">=", a * 10**12)),
    "one after the other": (a + b, Condition(a, "<=", b / 10**6), Condition(b, "<=", sp.Rational(1, 10**6))),
    "whole numbers": (1 / rounds, Condition(rounds, ">=", 10**5 / a)),
    "a curve": (a, Condition(a**2 + b**2, "==", 25)),
    "what always holds": (participants / clients,),
    "not everywhere": (sp.sqrt(a - 5),),
}


@pytest.mark.parametrize("row", ROWS)
def test_known_conditions(row):
    form = bound(*ROWS[row])
    sets = parameter_sets(form, 5)
    assert form.applies(**sets).all()
    assert np.isfinite(form.values(**{s.name: sets[s.name] for s in form.form.parameters})).all()


def test_the_seed_decides():
    one, same, other = (parameter_sets(bound(a + b), 4, seed)["a"].tolist() for seed in (1, 1, 2))
    assert one == same != other and len(one) == 4


@pytest.mark.parametrize(("formula", "conditions", "message"), [
    (a, (Condition(a, "<=", 1), Condition(a, ">=", 2)), "conditions .*test/a: a <= 1; a >= 2$"),
    (sp.log(-1 - a), (), "conditions .*test/a .*bound .*value$"),
])
def test_there_may_be_none(formula, conditions, message):
    with pytest.raises(ValueError, match=message):
        parameter_sets(bound(formula, *conditions), 1)


def test_a_witness_is_exact():
    """Where z3 cannot read a condition too."""
    form = bound(a, Condition(a**rounds, "<=", sp.Rational(1, 10)), Condition(2 * a, ">=", 1))
    numbers = exact_witness(form)
    assert 2 * numbers["a"] >= 1 and 10 * numbers["a"] ** int(numbers["rounds"]) <= 1
    assert exact_witness(bound(a, Condition(a**b, "<=", -1))) is None


def test_a_count_is_positive():
    with pytest.raises(ValueError, match=r"count .* 1; got 0"):
        parameter_sets(bound(a), 0)
