"""Numbers that break a link: they satisfy every premise at every index, and no true link has any."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds.language.claim import Claim, Condition, Procedure, Variable
from bounds.language.operators import (
    E,
    F_star,
    L,
    L_client,
    Sum,
    client_weight,
    clients,
    eta_l,
    included,
    iterations,
    k,
    local_steps,
    mu,
    mu_client,
    norm,
    norm2,
    objective,
    objective_grad,
    r,
    rounds,
    t,
    x_local,
    x_round,
    x_star,
)
from bounds.registry.user_claims import load_claims
from tests.messages import contains_in_order
from verify.proofs.follows import check_link, link
from verify.proofs.refuting_numbers import RefutingNumbers, find_refuting_numbers, holds_exactly

HERE = Path(__file__).parent
CORRECT, DIVIDED = ({c.id: c for c in load_claims(HERE / f"{name}.toml")} for name in ("correct_steps", "divided_by_zero"))
a, b, c, eta = sp.symbols("a b c eta", positive=True)
ROUNDS, CLIENTS, TIMES = (r, 0, rounds - 1), (k, 0, clients - 1), (t, 0, iterations - 1)
start, end = norm2(x_round[0] - x_star), norm2(x_round[rounds] - x_star)
now, after = norm2(x_round[r] - x_star), norm2(x_round[r + 1] - x_star)
slope, value = E(norm2(objective_grad(x_round[r]))), E(objective(x_round[r]))


def claim(left, right, *conditions, relation="<=", over=(), **fields):
    fields.setdefault("procedure", Procedure())
    return Claim("test/end", "1", "theorem", "run", Condition(left, relation, right, over), conditions=conditions,
                 source="a textbook", **fields)


def le(left, right, *over):
    return Condition(left, "<=", right, over)


@pytest.mark.parametrize("name", [name for name, one in CORRECT.items() if one.steps])
def test_a_claim_follows_from_a_step_for_every_round(name):
    found = link(CORRECT[name], [CORRECT["mine/one-step"]])
    assert (found.answer, found.numbers) == ("follows", {}), found.text


def test_a_step_that_divides_by_what_may_be_zero_is_not_used():
    whole, step = DIVIDED["atk/whole"], DIVIDED["atk/step"]
    found = link(whole, [step])
    assert found.answer == "not checkable"
    assert contains_in_order(found.text, "atk/step: it needs …n**2… - 1 != 0, which may fail")
    far = replace(whole, conditions=(Condition(sp.Symbol("n", integer=True, positive=True), ">=", 1000), *whole.conditions))
    assert link(far, [step]).answer == "not checkable"  # n = 1393, m = 985 divides by 0, too


@pytest.mark.parametrize(("part", "given"), [
    (1 / (a - b), Condition(a, ">", b)), (sp.sqrt(a - b), Condition(a, ">=", b)), ((a - b)**c, Condition(a, ">", b)),
    (sp.log(a - b), Condition(a, ">", b)), (1 / (a - b)**2, Condition(a, "<", b))])
def test_a_part_of_a_step_must_have_a_value_wherever_the_hypotheses_hold(part, given):
    step = replace(claim(part, part), id="test/step", statement=le(part * now, part * b, ROUNDS))
    whole = claim(now, b, over=(ROUNDS,))
    assert contains_in_order(link(whole, [step]).text, "test/step: …b")
    assert "test/step: " not in link(replace(whole, conditions=(given,)), [step]).text
    assert link(replace(step, id="test/end"), [replace(whole, id="test/step")]).answer == "not checkable"


#: links that hold, though arithmetic on numbers without a meaning would break them
TRUE = {
    "a range in which one square is another": (claim(end, (1 - mu / L) * start), [le(after, (1 - mu / L) * now, ROUNDS)]),
    "a power that falls": (claim(end, start), [le(after, (1 - mu / (2 * L)) * now, ROUNDS)]),
    "vectors that depend on each other": (
        claim(norm2(x_round[1] - x_round[0]), 2 * a + 2 * b),
        [le(start, a), le(norm2(x_round[1] - x_star), b), le(norm2(x_round[1] - x_round[0]), 5 * a + 5 * b)]),
    "a norm and its square": (claim(norm(x_round[1]), a), [le(norm2(x_round[1]), a**2), le(norm(x_round[1]), 2 * a)]),
    "the start, which is given": (claim(start, a), [le(E(start), a), le(start, 2 * a)]),
    "a local model at the start": (claim(start, a), [le(norm2(x_local[0, k] - x_star), a, CLIENTS), le(start, 2 * a)]),
    "a mean and one of its outcomes": (
        claim(E(norm2(x_round[1])), a), [le(norm2(x_round[1]), a), le(E(norm2(x_round[1])), 2 * a)]),
    "steps are positive": (claim(0, (eta_l[0] - a) * b, le(eta_l[t], a, TIMES)), [le(eta_l[0] * b, 0)]),
    "iterations are rounds times local steps": (
        claim(iterations, a, Condition(local_steps, "==", 1)), [le(rounds, a), le(iterations, 2 * a)]),
    "a least curvature is no larger than the largest": (
        claim(mu_client[0], a), [le(L_client[0], a), le(mu_client[0], 2 * a)]),
    "an infimum": (claim(F_star, a), [le(value, a, ROUNDS), le(F_star, 2 * a)]),
    "a slope of strongly convex losses": (
        claim(value, F_star + a / (2 * mu), Condition(mu_client[k], ">=", mu, (CLIENTS,)), over=(ROUNDS,)),
        [le(slope, a, ROUNDS), le(value, F_star + a / mu, ROUNDS)]),
    "weights sum to one": (
        claim(1, a), [le(Sum(client_weight[k], CLIENTS), a), le(Sum(client_weight[k]**2, CLIENTS), 1)]),
    "indicators are 0 or 1": (
        claim(included[0, k], included[0, k]**2, over=(CLIENTS,)), [le(included[0, k], 2 * included[0, k]**2, CLIENTS)]),
    "a strict hypothesis": (claim(0, -1, le(a, b), Condition(b, "<", a)), [le(a, 2 * b)]),
    "a variable from two on": (claim(2, sp.Symbol("n", integer=True, positive=True),
                                     variables=(Variable("n", "integer", low=2),)), [le(a, 1)]),
    "a variable below one": (claim(a, 1, variables=(Variable("a", "positive", below=1),)), [le(a, 2)]),
    "a sign of what is defined": (
        claim(a, b, Condition(eta, "==", b - a), variables=(Variable("eta", "positive"),)), [le(a, 2 * b)]),
    "two values of one symbol": (
        claim(b, a, Condition(eta, "==", a), Condition(eta, "==", b), variables=(Variable("eta", "positive"),)),
        [le(b, 2 * a)]),
    "what is less than itself": (claim(a, b, Condition(a, "<", a)), [le(a, 2 * b)]),
    "a single step": (claim(b, a, Condition(eta_l[0], "==", b), le(eta_l[t], a, TIMES)), [le(b, 2 * a)]),
}


@pytest.mark.parametrize("row", TRUE)
def test_no_numbers_are_given_for_a_true_link(row):
    conclusion, premises = TRUE[row]
    found = find_refuting_numbers(conclusion, premises)
    assert isinstance(found, str), found


#: links that do not hold, with or without a range in a premise
FALSE = {
    "too fast": (claim(end, (1 - mu / L)**2 * start), [le(after, (1 - mu / L) * now, ROUNDS)]),
    "one index too many": (
        claim(slope, a, over=(ROUNDS,)), [le(slope, 2 * a, ROUNDS), le(slope, a, (r, 1, rounds))]),
    "an index that another range has": (
        claim(slope, a, over=(ROUNDS,)), [le(slope, 2 * a, ROUNDS), le(norm2(x_local[t, k]), a, (t, 1, 4), (k, 0, 1))]),
    "a part of a mean": (
        claim(client_weight[0] * norm2(x_local[1, 0]), a / 2),
        [le(Sum(client_weight[k] * norm2(x_local[1, k]), CLIENTS), a)]),
    "a sum of squares": (claim(slope, a, over=(ROUNDS,)), [le(Sum(slope, ROUNDS), a * rounds)]),
    "an equation": (claim(slope, a, over=(ROUNDS,), relation="=="), [le(slope, a, ROUNDS)]),
    "a strict statement": (claim(slope, a, over=(ROUNDS,), relation="<"), [le(slope, a, ROUNDS)]),
}


def put_back(e, known, sizes):
    """An expression with its sums written out by sympy, in which each quantity is looked up by its text."""
    e = e.subs(sizes).doit()
    ways = ((norm2, lambda v: known.get(str(norm2(-v)), norm2(v))), (E, lambda a: known.get(str(E(a)), a)))
    for kind, one in ways:
        e = e.replace(lambda p: str(p) in known, lambda p: known[str(p)]).replace(kind, one)
    return e.xreplace({s: known[s.name] for s in e.free_symbols if s.name in known})


def at_each_index(condition, sizes):
    over = [(index, low.subs(sizes), high.subs(sizes)) for index, low, high in condition.over]
    for values in product(*(range(int(low), int(high) + 1) for _, low, high in over)):
        put = {index: n for (index, _, _), n in zip(over, values, strict=True)}
        yield Condition(condition.left.subs(put), condition.sign, condition.right.subs(put))


@pytest.mark.parametrize("row", FALSE)
def test_numbers_that_break_a_link_satisfy_every_premise_at_every_index(row):
    conclusion, premises = FALSE[row]
    found = check_link(conclusion, premises)
    assert found.numbers, found
    numbers = {name: sp.Rational(text) for name, text in found.numbers.items()}
    known = numbers | {text: numbers[name] for name, text in found.quantities.items()}
    sizes = {s: numbers[s.name] for s in (rounds, clients, local_steps, iterations) if s.name in numbers}

    def holds(condition):
        gap = put_back(condition.right - condition.left, known, sizes)
        assert gap.is_Rational, (condition, gap)
        return gap == 0 if condition.relation == "==" else gap > 0 or (gap == 0 and not condition.strict)

    assert all(holds(each) for premise in premises for each in at_each_index(premise, sizes))
    assert not all(holds(each) for each in at_each_index(conclusion.statement, sizes))
    squares = [name for name, text in found.quantities.items() if "norm2" in text]
    assert squares and all(numbers[name] >= 0 for name in squares)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.fractions(0, 2, max_denominator=6), st.fractions(0, 3, max_denominator=4), st.integers(1, 3),
       st.fractions(0, 1, max_denominator=4))
def test_a_consequence_of_a_recursion_is_never_refuted(rate, floor, count, room):
    """From a(r+1) <= q a(r) + f follows a(R) <= q^R a(0) + f (1 + ... + q^(R-1)), and no less."""
    q, f = (sp.Rational(number.numerator, number.denominator) for number in (rate, floor))
    bound = q**count * start + f * sum(q**i for i in range(count)) + sp.Rational(room.numerator, room.denominator)
    fixed = Condition(rounds, "==", count)
    recursion = le(after, q * now + f, ROUNDS)
    true = claim(norm2(x_round[count] - x_star), bound, fixed)
    assert isinstance(find_refuting_numbers(true, [recursion]), str)
    false = claim(norm2(x_round[count] - x_star), bound - sp.Rational(room.numerator, room.denominator) - 1, fixed)
    if q > 0 or f >= 1:
        assert isinstance(find_refuting_numbers(false, [recursion]), RefutingNumbers)


@pytest.mark.parametrize(("condition", "holds"), [
    (le(1 / (a - b), 5), False), (Condition(a, "<", b), False), (Condition(a, "<=", b), True), (Condition(a, "==", b), True),
    (Condition(a, ">", b - 1), True), (le(sp.sqrt(a - 2), 5), False), (le(sp.sqrt(a + 1), sp.sqrt(2)), True)])
def test_a_condition_holds_exactly(condition, holds):
    assert holds_exactly(condition, {"a": Fraction(1), "b": Fraction(1)}) == holds
