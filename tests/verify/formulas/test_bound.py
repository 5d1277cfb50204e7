"""Bounds as functions of their parameters: closed forms, rates, values, rounds to a target, the best step."""

import json
import re

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds.formulas.closed_form import closed_form, side_conditions
from bounds.formulas.orders import leading_order
from bounds.language.claim import Claim, Condition, Variable
from bounds.language.operators import (
    F_star,
    L,
    clients,
    eta_l,
    iterations,
    k,
    local_steps,
    mu,
    norm2,
    objective,
    rounds,
    t,
    x_round,
    x_star,
)
from bounds.registry.claims import all_claims, find_claim
from tests.bounds.each_claim import each_claim
from tests.messages import contains_in_order
from verify.formulas.best_step import best_step
from verify.formulas.bound import bound_of
from verify.formulas.compiled import compiled
from verify.formulas.rates import rates
from verify.formulas.reach import reach

T, K, a = sp.symbols("T K a", positive=True)
M = sp.Symbol("M", integer=True, positive=True)
ETA = sp.Symbol("eta", positive=True)


def algebra(left, relation, right, **more):
    return Claim("test/claim", "1", "control", "algebra", Condition(left, relation, right), source="a textbook", **more)


@pytest.mark.parametrize("option", [("--best", "eta"), ("--target", "0.1")])
def test_best_and_target_take_one_value_of_the_other_parameters(run, option):
    known = ["L=1", "B=1", "participants=2", "local_steps=4", "G_sq=1", "F0_gap=1", "eta=0.001", "rounds=1000"]
    name = "classical/fedavg-sampled-nonconvex"
    assert run("bound", name, *known, "sigma_sq=1", *option)[0] == 0
    status, _, error = run("bound", name, *known, "sigma_sq=[0, 1]", *option)
    assert status == 2 and "sigma_sq; got 2" in error


@pytest.mark.parametrize("around", [
    lambda gap: gap, lambda gap: 3 * gap, lambda gap: sp.expand(gap / (2 * ETA)) + L, lambda gap: L + 3 * gap / T + gap * K])
def test_the_gap_at_the_start_is_one_parameter_wherever_it_stands(around):
    gap, F0_gap = objective(x_round[0]) - F_star, sp.Symbol("F0_gap", nonnegative=True)
    form = closed_form(algebra(L, "<=", around(gap)))
    assert sp.expand(form.formula - around(F0_gap)) == 0 and form.measured == {F0_gap: gap}


# orders ------------------------------------------------------------------------------------------------------------------
ORDERS = {
    3 * K / (T + 5) + 1 / sp.sqrt(T): ("1/sqrt(T)", "1/sqrt(T)"),
    (T + K) ** 2 / (1 + T): ("T", "1"),
    sp.log(T) / T: ("log(T)/T", "log(T)/T"),
    sp.Max(T, K / T): ("T", "1/T"),
    sp.Min(T, K / T): ("1/T", "T"),
    (1 - 1 / T) ** 3 * T**2: ("T**2", "1/T"),
    sp.exp(-K / T) * T: ("T", "T*exp(-K/T)"),
    sp.exp(-K * T) + 1 / T: ("1/T", "1/T"),
    2 * sp.exp(-K * T) / T: ("exp(-K*T)/T", "1/T"),
    sp.exp(-K * T**2) + a: ("1", "1"),
    sp.exp(K * T) + T**3: ("exp(K*T)", "1"),
    sp.Max(1 - a * T, 2): ("1", "1"),  # not the largest power: the largest
    sp.Max(1 - a * T, K * T - 1) ** 2: ("T**2", "1"),
    sp.Min(1 - a * T, 2): ("T", "1"),
    sp.Max(1 - a * T, 0): ("?", "1"),
    sp.log(1 + 1 / T): ("1/T", "log(T)"),
    (1 - a / T) ** 3 - 1: ("1/T", "T**(-3)"),
    1 - (1 + a * T) ** K: ("T**K", "T"),
    (a / T) ** T + K / T: ("1/T", "1/T"),
    T - sp.Mod(T, K): ("T", "?"),
    2**K * T ** sp.Rational(3, 2): ("T**(3/2)", "T**(3/2)"),
    sp.Sum(sp.Symbol("j", integer=True), (sp.Symbol("j", integer=True), 1, K)) * T: ("T", "T"),
    (T + 1) - T: ("1", "1"),
    sp.sqrt(T + 1) - sp.sqrt(T): ("?", "1"),  # leading terms cancel, and the rules do not go on
    (2 + 1 / (K * T)) ** (T - 1): ("2**T", "T"),
    (3 - 1 / T) ** T: ("3**T", "?"),  # of a negative number as T vanishes
    (K / T) ** (1 / (a * T + 1)): ("1", "1/T"),
    (K * T) ** (1 / (1 + a / T)): ("T", "1"),
    sp.Max((M - 1) ** 2 * T, 2): ("T", "1"),  # but for M = 1
    a**T: ("a**T", "1"),
    a**T + 1: ("?", "1"),  # a may be above 1
}


@pytest.mark.parametrize("expression", ORDERS, ids=str)
def test_leading_orders(expression):
    said = []
    for at in (sp.oo, 0):
        order = leading_order(expression, T, at)
        said.append("?" if order is None else order.text(T))
    assert tuple(said) == ORDERS[expression]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 9), st.fractions(-3, 3, max_denominator=2)), min_size=1, max_size=4),
       st.lists(st.tuples(st.integers(1, 9), st.fractions(-3, 3, max_denominator=2)), min_size=1, max_size=4))
def test_orders_of_quotients_are_what_large_numbers_show(top, bottom):
    f = sum(c * T**sp.Rational(p.numerator, p.denominator) for c, p in top) / sum(
        c * T**sp.Rational(p.numerator, p.denominator) for c, p in bottom)
    for at, far in ((sp.oo, 10**60), (0, sp.Rational(1, 10**60))):
        order = leading_order(f, T, at)
        limit = order.coefficient * T**order.power
        assert abs(float((f / limit).subs(T, far)) - 1) < 1e-9


def test_signs_that_are_told_decide():
    """a**T + 1 with a below 1, and a maximum of which one side has a sign that is told."""
    below_one = {a - 1: -1, a + 1: 1, K - 1: -1}
    assert leading_order(a**T + 1, T, sp.oo, below_one.get).text(T) == "1"
    assert leading_order(sp.Max((K - 1) * T, 2), T, sp.oo, below_one.get).text(T) == "1"
    assert leading_order(sp.Max((K - 1) * T, 2), T) is None


def test_a_limit_is_zero_or_infinity():
    with pytest.raises(ValueError, match=r"limit .*oo .*0; got 1"):
        leading_order(T, T, 1)


# closed forms ------------------------------------------------------------------------------------------------------------
def test_what_conditions_define_is_put_in():
    c = Claim("test/claim", "1", "control", "run", Condition(norm2(x_round[rounds] - x_star), "<=", eta_l[3] * L + ETA),
              conditions=(Condition(eta_l[t], "==", ETA / (t + 1), ((t, 0, iterations - 1),)), Condition(ETA, "==", mu * K)),
              source="a textbook")
    form = closed_form(c)
    assert sp.simplify(form.formula - (mu * K * L / 4 + mu * K)) == 0 and form.measured == {}
    left = closed_form(c, "left")
    assert list(left.measured.values()) == [norm2(x_round[rounds] - x_star)] and left.formula.is_Symbol


def test_measured_quantities_have_usual_names():
    form = closed_form(find_claim("li2020/theorem-1"))
    variances = "sum_client_weight_sq_sigma_sq_client"
    assert {s.name for s in form.parameters} == {
        "D0_sq", "G_sq", "Gamma", "L", "iterations", "local_steps", "mu", variances}
    assert {s.name for s in form.measured} == {"D0_sq", "Gamma", variances}


i = sp.Symbol("i", integer=True)
n = sp.Symbol("rounds", integer=True, positive=True)
SUMS = {  # a sum: what is read for it
    sp.Sum(ETA, (i, 0, n - 1)): ETA * n,
    sp.Sum(ETA, (i, 3, n - 1)): sp.Sum(ETA, (i, 3, n - 1)),  # there may be no term
    sp.Sum((1 - ETA)**i, (i, 0, n - 1)): (1 - (1 - ETA)**n) / ETA,
    sp.Sum(a * (1 - ETA) ** (i + 1), (i, 0, n - 1)): a * (1 - ETA) * (1 - (1 - ETA)**n) / ETA,
    sp.Sum(a * (1 + ETA) ** (2 * i), (i, 0, n)): sp.Sum(a * (1 + ETA) ** (2 * i), (i, 0, n)),  # nor this
    sp.Sum(ETA**i, (i, 0, n - 1)): sp.Sum(ETA**i, (i, 0, n - 1)),  # the ratio may be 1
    sp.Sum((1 - ETA)**i, (i, 3, n - 1)): sp.Sum((1 - ETA)**i, (i, 3, n - 1)),  # and less than no term
    sp.Sum(i * ETA**i, (i, 0, n)): sp.Sum(i * ETA**i, (i, 0, n)),
}


@pytest.mark.parametrize("written", SUMS, ids=str)
def test_sums_are_added_up_where_a_formula_is_known(written):
    read = closed_form(algebra(0, "<=", written)).formula
    assert sp.simplify(read - SUMS[written]) == 0
    given = {ETA: sp.Rational(1, 3), a: sp.Rational(5, 7), n: 6}
    assert read.subs(given).doit() == written.subs(given).doit()


def test_errors_name_what_is_wrong():
    with pytest.raises(ValueError, match="unknown side 'middle'; allowed: left, right"):
        closed_form(find_claim("li2020/theorem-1"), "middle")
    nothing = next(c for c in all_claims().values() if c.statement is None)
    with pytest.raises(ValueError, match=re.escape(nothing.undefined)):
        closed_form(nothing)


@each_claim([c for c in all_claims().values() if c.statement is not None])
def test_every_claim_has_a_closed_form_with_rates(claim):
    bound = bound_of(claim)
    assert not bound.form.formula.has(sp.Indexed)
    assert set(rates(bound)) == {s.name for s in bound.form.parameters}
    assert all(bound.meaning(name) for name in bound.parameters)


# values ------------------------------------------------------------------------------------------------------------------
GIVEN = {"L": 1.0, "mu": 0.1, "local_steps": 5, "D0_sq": 2.0, "G_sq": 0.1, "Gamma": 0.5,
         "sum_client_weight_sq_sigma_sq_client": 3.0}


def by_hand(length, L=1.0, mu=0.1, local_steps=5, D0_sq=2.0, G_sq=0.1, Gamma=0.5, variances=3.0):
    """Li et al. 2020, Theorem 1: kappa / (gamma + T) (2 B / mu + 2 L Delta_0), kappa = L / mu (twice in the print)."""
    gamma, noise = max(8 * L / mu, local_steps), variances + 6 * L * Gamma + 8 * (local_steps - 1) ** 2 * G_sq
    return 2 * L / mu / (gamma + length) * (noise / mu + 2 * L * D0_sq)


def test_values_are_those_of_the_formula():
    bound, lengths = bound_of(find_claim("li2020/theorem-1")), np.array([1.0, 10.0, 1000.0])
    np.testing.assert_allclose(bound.values(iterations=lengths, **GIVEN), [by_hand(n) for n in lengths], rtol=1e-12)
    np.testing.assert_allclose(bound.values(rounds=lengths, **GIVEN), [by_hand(5 * n) for n in lengths], rtol=1e-12)
    grid = bound.values(iterations=lengths[:, None], **GIVEN | {"mu": np.array([[0.1, 0.2]])})
    assert grid.shape == (3, 2)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 6), st.floats(-2, 2)), min_size=1, max_size=4))
def test_sums_and_products_with_limits_of_their_own_at_each_point(points):
    low, high, base = map(np.array, zip(*points, strict=True))
    j, p, q = sp.Symbol("j", integer=True), *sp.symbols("p q", integer=True)
    nested = compiled(["p", "q", "a"], sp.Sum(sp.Product(a + i + j / 8, (j, p, i)), (i, p, q)))
    wanted = [sum(np.prod([b + m + k / 8 for k in range(lo, m + 1)]) for m in range(lo, hi + 1)) for lo, hi, b in points]
    np.testing.assert_allclose(nested(low, high, base), wanted, rtol=1e-12, atol=1e-12)


def test_a_sum_that_is_none_is_not_a_number_and_an_endless_one_is_refused():
    added = compiled(["rounds"], sp.Sum(1 / (i + 1), (i, 0, n)))
    np.testing.assert_array_equal(added([2.5, np.nan, 0.0, -1.0]), [np.nan, np.nan, 1.0, 0.0])
    assert abs(added(1e6) - 14.392727722864989) < 1e-9
    with pytest.raises(ValueError, match=r"1e\+09 terms; allowed: .*1e\+07"):
        added(1e9)


P, Q = sp.symbols("p q", integer=True)
LONG_SUMS = {  # a sum over i = p .. q: its terms
    "powers": lambda i, p, q, a: (i + 3) ** -a, "powers of a fraction": lambda i, p, q, a: a * (1 / (i + 2)) ** (a + 1),
    "the harmonic sum": lambda i, p, q, a: 1 / (i + 1), "powers that rise": lambda i, p, q, a: (i + 1) ** a,
    "powers from 0": lambda i, p, q, a: i**a, "steep powers": lambda i, p, q, a: (i + 1) ** (-20 * a),
    "no powers": lambda i, p, q, a: a**i + i / (i + a), "alike everywhere": lambda i, p, q, a: 1 / (i**2 + 1),
    "tails": lambda i, p, q, a: a * _product(lambda j: 1 + a / (j + 1), i, q) / (i + 1),
    "tails to elsewhere": lambda i, p, q, a: _product(lambda j: 1 - a / (j + 4), i, 7) + i,
    "heads": lambda i, p, q, a: _product(lambda j: 1 - a / (j + 4), p, i),
}


def _product(term, low, high):
    if isinstance(low, sp.Basic) or isinstance(high, sp.Basic):
        j = sp.Symbol("j", integer=True)
        return sp.Product(term(j), (j, low, high))
    return np.prod([term(j) for j in range(low, high + 1)])


@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize("name", LONG_SUMS)
def test_long_sums_are_what_adding_up_gives(name, alike):
    rng, terms = np.random.default_rng(0), LONG_SUMS[name]
    low, high, base = rng.integers(0, 4, 60), rng.integers(-3, 90, 60), rng.uniform(0.05, 1.9, 60)
    if alike:
        low, base = np.full(60, 2), np.full(60, 1.0)
    added = compiled(["p", "q", "a"], sp.Sum(terms(i, P, Q, a), (i, P, Q)))
    got = added(low[:1], high, base[:1]) if alike else added(low, high, base)
    wanted = [sum(terms(m, lo, hi, b) for m in range(lo, hi + 1)) for lo, hi, b in
              zip(low.tolist(), high.tolist(), base.tolist(), strict=True)]
    np.testing.assert_allclose(got, wanted, rtol=1e-12)
    assert np.isnan(added(0.0, [3.5, np.nan], 1.0)).all()


def test_lengths_of_a_sum_whose_terms_are_alike_are_looked_up(monkeypatch):
    asked = []
    added = compiled(["rounds"], sp.Sum(1 / (i**2 + i + 1), (i, 0, n - 1)))
    monkeypatch.setattr(np, "where", lambda *a, where=np.where: asked.append(np.size(a[0])) or where(*a))
    lengths = np.arange(1, 20001)
    np.testing.assert_allclose(added(lengths), np.cumsum(1 / ((lengths - 1.0) ** 2 + lengths)), rtol=1e-12)
    assert max(asked) <= 20000  # not once for every term


def test_missing_and_unknown_parameters_are_named():
    bound = bound_of(find_claim("li2020/theorem-1"))
    with pytest.raises(ValueError, match=r"li2020/theorem-1 .*, G_sq, Gamma, iterations, local_steps, sum_\w+; D0_sq: "):
        bound.values(L=1, mu=1)
    with pytest.raises(ValueError, match="parameter 'beta'; allowed: D0_sq"):
        bound.values(beta=1, iterations=1, **GIVEN)
    with pytest.raises(ValueError, match=r" D0_sq, G_sq, .*parameter 'alpha', 'beta'; allowed"):
        bound.values(beta=1, alpha=2, L=1)


@settings(max_examples=40, deadline=None)
@given(st.floats(1e-3, 10.0))
def test_the_least_length_that_reaches_a_target(target):
    bound = bound_of(find_claim("li2020/theorem-1"))
    length = reach(bound, target, **GIVEN).first
    assert by_hand(length) <= target * (1 + 1e-12) and (length == 1 or by_hand(length - 1) > target * (1 - 1e-12))


def test_a_target_that_is_never_reached():
    floor = bound_of(algebra(a, "<=", K + 1 / rounds))
    assert reach(floor, 0.5, K=1).first is None and reach(floor, 1.5, K=1).first == 2
    with pytest.raises(ValueError, match=r"test/claim .*length; .*\bK$"):
        reach(bound_of(algebra(a, "<=", K)), 1, K=1)


TARGETS = {  # right side, conditions, numbers: the lengths at which it is at most 1/10, and a part of what is said of them
    "from some length on": (1 / rounds, [], {}, 10, None, "0.1 … 10 rounds"),
    "conditions begin later": (1 / rounds, [Condition(rounds, ">=", 25 * K)], {"K": 2}, 50, None, " 50 rounds"),
    "conditions end": (1 / rounds, [Condition(ETA, "<=", 1 / rounds)], {"eta": 0.05}, 10, 20,
                       " 10 …20 rounds: …eta <= 1/rounds; got eta = 0.05, …0.047619"),
    "conditions end before": (1 / rounds, [Condition(ETA, "<=", 1 / rounds)], {"eta": 0.5}, None, None,
                              " 1 …2, …0.5"),
    "conditions leave few": (1 / rounds, [Condition(rounds, ">=", 123456), Condition(ETA, "<=", 1 / rounds)],
                             {"eta": 1 / 123460.5}, 123456, 123460, " 123456 …123460 rounds"),
    "conditions never hold": (1 / rounds, [Condition(ETA, "<=", 1 / rounds)], {"eta": 2}, None, None,
                              "eta <= 1/rounds; got eta = 2, … 1 …rounds = 1"),
    "a condition without the length fails": (1 / rounds, [Condition(ETA, "<=", 1 / L)], {"eta": 2, "L": 4}, None, None,
                                             "eta <= 1/L; got eta = 2, …0.25"),
    "a condition without a value is not asked": (1 / rounds, [Condition(ETA, "<=", 1 / L)], {"eta": 2}, 10, None, " 10 "),
    "it rises again": (1 / rounds + rounds / 1000, [], {}, 12, 88, " 12 …88 rounds"),
    "it falls at last": (sp.Abs(sp.log(rounds / 100)) / rounds + 1 / rounds, [], {}, 25, None, " 25 rounds"),
    "it adds up products": (sp.Sum(sp.Product(1 - K / (t + 2), (t, i, rounds - 1)) / 100, (i, 0, rounds - 1)), [],
                            {"K": 0.5}, 1, 14, " 1 …14 rounds"),
    "it adds up, and falls": (sp.Sum(1 / (K + i) ** 2, (i, 1, rounds)) / rounds, [], {"K": 1}, 5, None,
                              " 5 rounds …1e+06"),
    "it adds up": (sp.Sum(1 / (K + i), (i, 0, rounds - 1)), [], {"K": 30}, 1, 3, " 1 …3 rounds"),
}


@pytest.mark.parametrize("row", TARGETS)
def test_a_target_is_reached_where_the_conditions_hold(row):
    right, conditions, numbers, first, last, said = TARGETS[row]
    bound = bound_of(algebra(a, "<=", right, conditions=tuple(conditions)))
    found = reach(bound, 0.1, **numbers)
    assert (found.first, found.last) == (first, last) and contains_in_order(found.text(), said) and found.counts == "rounds"

    def met(length):
        here = numbers | {"rounds": length}
        return bool(bound.values(**here) <= 0.1) and bool(bound.checkable(here).applies(**here))

    if first is not None:
        assert met(first) and (first == 1 or not met(first - 1))
        assert last is None or (met(last) and not met(last + 1))


@pytest.mark.parametrize(("claim", "numbers", "length", "said"), [
    ("fedmoswa/explicit-5.2-strongly-convex", {"participants": 20}, None, "participants = 20, … 10"),
    ("fedmoswa/explicit-5.2-strongly-convex", {"participants": 5}, 10000, " 0.5 … 10000 rounds"),
    ("fedmoswa/explicit-5.2-strongly-convex", {"participants": 5, "mu": 0.5, "L": 2, "eta_eff": 0.001}, 2000,
     " 0.5 … 2000 rounds"),
])
def test_the_command_asks_for_the_conditions_of_a_claim(run, claim, numbers, length, said):
    given = {"eta_eff": 0.01, "L": 1, "mu": 0.01, "clients": 10, "eta_g": 1, "gamma": 0.5, "local_steps": 5, "sigma_sq": 1,
             "D0_sq": 1, "variate_lag_total": 1} | numbers
    arguments = [claim, *(f"{name}={value}" for name, value in given.items()), "--target", "0.5"]
    assert contains_in_order(run("bound", *arguments)[1], said)
    found = json.loads(run("bound", *arguments, "--json")[1])["target"]
    assert (found["length"], found["counts"], found["known"]) == (length, "rounds", True)


def test_what_adds_up_over_the_run_is_not_held_fixed(run):
    bound = bound_of(find_claim("fedalign/theorem-1"))
    given = {"L": 1, "mu": 0.5, "local_steps": 5, "D0_sq": 1, "G_sq": 1, "Gamma": 1, "sigma_sq": 1, "sum_mean_chi": 1,
             "sum_mean_psi": 1}
    assert bound.values(iterations=100, **given) > 0
    found = reach(bound, 0.1, **given)
    assert (found.first, found.last, found.known) == (None, None, False)
    status, said, _ = run("bound", "fedalign/theorem-1", *(f"{n}={v}" for n, v in given.items()), "--target", "0.1")
    assert status == 0 and contains_in_order(said, " iterations … 0.1 …: sum_mean_chi (…), sum_mean_psi (")
    assert "not known: sum_mean_chi, sum_mean_psi" in said.replace("\n", " ")


def test_the_best_step_is_the_same_in_all_units():
    """Steps below 1e-12 were not tried, whatever L was."""
    bound = bound_of(find_claim("classical/fedavg-sampled-nonconvex"))
    known = {"B": 1, "participants": 2, "local_steps": 4, "rounds": 1000}
    one, other = (best_step(bound, "eta", L=L, G_sq=L**2, sigma_sq=L**2, F0_gap=L, **known) for L in (1.0, 1e14))
    assert other.value * 1e14 == pytest.approx(one.value, rel=1e-6) and other.at_border == one.at_border


def test_the_best_step_needs_no_value_of_what_it_does_not_depend_on():
    known = {"L": 1, "sigma_sq": 1, "clients": 100, "participants": 10, "local_steps": 10, "eta_g": 1.5, "F0_gap": 1}
    bound = bound_of(find_claim("fedmoswa/explicit-5.2-nonconvex"))
    best = best_step(bound, "eta_eff", rounds=1000, **known)  # gamma stands in a condition of its own alone
    assert best == best_step(bound, "eta_eff", rounds=1000, gamma=0.2, **known) and best.at_border
    with pytest.raises(ValueError, match="eta_g"):
        best_step(bound, "eta_eff", rounds=1000, **{name: v for name, v in known.items() if name != "eta_g"})


@pytest.mark.parametrize(("limit", "value", "border"), [(10, 2.0, False), (1, 1.0, True)])
def test_the_best_step_within_its_conditions(limit, value, border):
    """4 / eta + eta is smallest at 2, unless eta may be at most 1."""
    claim = algebra(a, "<=", 4 / ETA + K * ETA, conditions=(Condition(ETA, "<=", limit * K),))
    assert len(side_conditions(claim)) == 1
    best = best_step(bound_of(claim), "eta", K=1)
    assert best.value == pytest.approx(value, rel=1e-6) and best.at_border is border
    assert best.bound == pytest.approx(4 / value + value, rel=1e-9)


@pytest.mark.parametrize(("right", "towards"), [(4 / ETA + K, "oo"), (ETA + K, "0"), (4 / ETA + K * ETA, "")])
def test_a_bound_that_falls_beyond_all_steps_says_so(right, towards, run, monkeypatch):
    claim = algebra(a, "<=", right)
    assert best_step(bound_of(claim), "eta", K=1).towards == towards
    monkeypatch.setattr("bounds.registry.claims.find_claim", lambda _: claim)
    _, said, _ = run("bound", claim.id, "--set", "K=1", "--best", "eta")
    assert (f" towards {towards}" in said) is bool(towards)


def test_conditions_that_do_not_hold_are_told_with_numbers():
    bound = bound_of(algebra(a, "<=", ETA, conditions=(Condition(ETA, "<=", 1 / (8 * L)),)))
    (unmet,) = bound.unmet(eta=0.5, L=1)
    assert contains_in_order(unmet, "eta <= 1/(8*L); got eta = 0.5, … 0.125")
    assert bound.unmet(eta=0.125, L=1) == []
    assert bound.applies(eta=[0.1, 0.2], L=1).tolist() == [True, False]
    never = algebra(a, "<=", ETA, conditions=(Condition(ETA, "<=", -1),), variables=(Variable("a", "positive"),))
    with pytest.raises(ValueError, match=r"eta .*conditions .*test/claim: .*eta <= -1; got eta = "):
        best_step(bound_of(never), "eta")


def test_client_constants_stay_measured():
    form = closed_form(algebra(a, "<=", sp.Sum(sp.IndexedBase("client_weight")[k], (k, 0, clients - 1)) * local_steps))
    assert {s.name for s in form.parameters} >= {"local_steps"} and len(form.measured) == 1


# the command -------------------------------------------------------------------------------------------------------------
def test_the_command_says_values_rates_and_targets(run, tmp_path):
    arguments = [f"{name}={value}" for name, value in GIVEN.items()]
    status, said, _ = run("bound", "li2020/theorem-1", "--set", *arguments, "iterations=[1, 10]", "--json")
    found = json.loads(said)
    assert status == 0 and found["values"]["bound"] == pytest.approx([by_hand(1), by_hand(10)])
    assert found["rates"]["iterations"]["oo"] == "1/iterations" and found["not applicable"] == []
    status, said, _ = run("bound", "li2020/theorem-1", *arguments, "iterations=10:1000:30:log", "--target", "0.1",
                          "--plot", str(tmp_path / "curve"))
    assert status == 0 and "iterations on" in said and (tmp_path / "curve.png").stat().st_size > 5000
    assert " 30 values" in said


def test_without_values_the_command_says_what_is_needed(run):
    status, said, _ = run("bound", "li2020/theorem-1")
    assert status == 0 and "Gamma" in said and "1/iterations" in said


IMPOSSIBLE = {
    "L=-5": "L …positive …; got -5", "L=0": "L …positive …; got 0",
    "mu=[1, -1]": "mu …positive …; got -1",
    "iterations=10.5": "iterations …whole … 1; got 10.5",
    "local_steps=1.5": "local_steps …whole … 1; got 1.5",
    "G_sq=-1": "G_sq … 0; got -1",
    "iterations=0": "iterations …whole … 1; got 0",
}


@pytest.mark.parametrize("given", IMPOSSIBLE)
def test_impossible_numbers_are_refused(run, given):
    known = [f"{name}={value}" for name, value in (GIVEN | {"iterations": 10}).items() if not given.startswith(name + "=")]
    for more in ([], ["--target", "0.1"], ["--best", "L"]):
        status, _, error = run("bound", "li2020/theorem-1", given, *known, *more)
        assert status == 2 and contains_in_order(error, IMPOSSIBLE[given])
    status, _, error = run("compare", "li2020/theorem-1", "li2020/theorem-2", given)
    assert status == 2 and (contains_in_order(error, IMPOSSIBLE[given])
                            or contains_in_order(error, "mu …2, 0.1 …1/3; got [1, -1]"))


def test_ranges_of_what_counts_are_whole_numbers(run):
    known = [f"{name}={value}" for name, value in GIVEN.items()]
    for asked, wanted in (("1:5", [1, 2, 3, 4, 5]), ("1:100:4:log", [1, 5, 22, 100]), ("10:8", [10, 9, 8])):
        status, said, _ = run("bound", "li2020/theorem-1", *known, f"iterations={asked}", "--json")
        assert status == 0 and json.loads(said)["values"]["iterations"] == wanted
    status, said, _ = run("bound", "li2020/theorem-1", *known[1:], "L=[1/2, 1/4]", "iterations=3", "--json")
    assert status == 0 and json.loads(said)["values"]["L"] == [0.5, 0.25]


def test_too_many_combinations_are_refused_before_they_are_made():
    bound = bound_of(find_claim("li2020/theorem-1"))
    many = np.broadcast_to(1.0, 40_000)
    with pytest.raises(ValueError, match=r" 1600000000 combinations .*; allowed: .* 10000000$"):
        bound.table(GIVEN | {"iterations": many, "L": many})


@pytest.mark.parametrize(("arguments", "message"), [
    (["L=1:5:0"], "got '1:5:0' (…count … 1 …10000000; got 0)"),
    (["L=1:5:2000000000"], "count … 1 …10000000; got 2000000000"),
    (["L=0:5:9:log"], "got '0:5:9:log' (…logarithmic …positive"),
    (["iterations=1.5:5"], "got '1.5:5' (…counts…whole"),
    (["L=true"], "L …[:count][:log]; got True"),
    (["L=null"], "L …[:log]; got None"), (["L=[]"], "L …[:log]; got []"), (["L=1/0"], "L …[:log]; got '1/0'"),
    (["L=NaN"], "L …[:log]; got nan"), (["L=1", "beta=2", "alpha=1"], "parameter 'alpha', 'beta'; allowed"),
    (["L=1", "beta=2"], " D0_sq, G_sq, Gamma, iterations, local_steps, mu, sum_client"),
    (["iterations=many"], "iterations …first:last[:count][:log]; got 'many'"),
    (["mu"], "--set …key=value; got 'mu'"),
    (["mu=1"], " D0_sq, G_sq, Gamma, L, iterations, local_steps, sum_client"),
    (["--best", "eta_l"], "'eta_l'; … D0_sq, G_sq, "),
])
def test_bad_input_is_one_clear_line(run, arguments, message):
    status, _, error = run("bound", "li2020/theorem-1", *arguments)
    assert status == 2 and contains_in_order(error, message)


def test_conditions_on_parameters_without_values_are_named_not_needed(run):
    given = ["G_lip=1", "L=1", "clients=10", "samples=5", "sigma_g=1", "sigma_sq=1", "rounds=2", "local_steps=3"]
    status, said, _ = run("bound", "fedmoswa/theorem-5.1-nonconvex-fedswa", *given, "eta=1", "--json")
    found = json.loads(said)
    assert status == 0 and found["values"]["bound"] and len(found["not checked"]) == 1
    assert found["not checked"][0].startswith("rho_decay <= 1: ")
    assert contains_in_order(found["not applicable"][0], "got eta = 1, … 0.166667")


def test_several_ranges_are_several_curves():
    from verify.formulas.figures import bound_curve

    form = bound_of(all_claims()["fedmoswa/theorem-5.1-nonconvex-fedswa"])
    given = dict.fromkeys(("G_lip", "L", "clients", "samples", "sigma_g", "sigma_sq"), 1)
    figure = bound_curve(form, given | {"rounds": [1, 10, 100], "local_steps": [1, 2]}, "rounds")
    curves = [line for line in figure.axes[0].lines if line.get_linestyle() != "None"]  # else they are ticks
    drawn = [line.get_ydata() for line in curves if np.isfinite(line.get_ydata()).any()]
    assert len(drawn) == 2
    for curve, steps in zip(drawn, (1, 2), strict=True):
        assert curve == pytest.approx(form.values(**given, rounds=[1, 10, 100], local_steps=steps))
    with pytest.raises(ValueError, match=r" 5 curves .*; got 6, .*local_steps$"):
        bound_curve(form, given | {"rounds": [1, 2], "local_steps": [1, 2, 3, 4, 5, 6]}, "rounds")
    with pytest.raises(ValueError, match=r"axis .*; got 'rounds', .*local_steps$"):
        bound_curve(form, given | {"rounds": 3, "local_steps": [1, 2]}, "rounds")
