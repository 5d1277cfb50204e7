"""How growth is searched for: what is judged together, what is known before any search, and exact members by one run."""

import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from bounds.language.claim import Condition, Variable
from bounds.language.definitions import DEFINITIONS
from bounds.language.operators import E, F_star, L, clients, eta_l, local_steps, objective, rounds, x_round
from bounds.registry.claims import find_claim
from synthetic.numbers.arrays import NUMPY
from tests.verify.growth.controls import TRUE, A, B, C, a, b, control, gap, numbers
from verify.exact.confirm import Violation, violation_of
from verify.growth import growth_search as growth_search
from verify.growth import same_instance
from verify.growth.growth_search import GrowthCurve, GrowthSearch, Member
from verify.growth.limits import at_size, coupled_limits, held_numbers, scaled
from verify.growth.members import ExactMember, _increasing_beyond, exact_ratio_member
from verify.growth.order import never_vanishes, with_constant
from verify.growth.same_instance import tame
from verify.instances.draw import draw_params
from verify.instances.piecewise import PiecewiseClients
from verify.instances.quadratic import QUADRATIC
from verify.instances.resize import Together, resized
from verify.instances.shape import Shape
from verify.measure.simulate import simulate

CLAIM = with_constant(TRUE["growth/value"], 1)
SHAPE = Shape(clients=3, dim=2, rounds=2, sizes=(("local_steps", 1),))
DEFINED = {**DEFINITIONS, **find_claim("fadamgc/theorem-5.2").definitions}


def batches(family):
    shape = replace(SHAPE, family=family)
    params = draw_params(CLAIM, shape, 5, np.random.default_rng(0))
    powers = {"curvature": np.full(params.get("curvature", params["center"]).shape, 1.0)} if "curvature" in params else {}
    return shape, [scaled(params, powers, 4.0**stage) for stage in range(3)]


@pytest.mark.parametrize("family", [QUADRATIC, PiecewiseClients(2)], ids=lambda family: family.name)
@pytest.mark.parametrize("most", [growth_search._MOST_NUMBERS, 60, 12, 1])
def test_batches_judged_together_have_the_ratios_that_they_have_alone(family, most, monkeypatch):
    monkeypatch.setattr(growth_search, "_MOST_NUMBERS", most)
    shape, rows = batches(family)
    alone, together = GrowthSearch(CLAIM), GrowthSearch(CLAIM)
    expected = [alone.ratios(shape, params) for params in rows]
    found = list(together.ratios_of_each(shape, rows))
    assert np.array_equal(np.stack(found), np.stack(expected), equal_nan=True)
    told = [(seen.tried, seen.met, seen.ratio, seen.refused, len(seen.beyond)) for seen in (alone, together)]
    assert told[0] == told[1] and (alone.met > 0) == (most > 1)


@pytest.mark.parametrize("most", [2000, 150, 20])
def test_batches_of_large_arrays_are_judged_in_parts(most, monkeypatch):
    shape, (params, *_) = batches(PiecewiseClients(2))
    expected, parts = GrowthSearch(CLAIM).ratios(shape, params), []
    monkeypatch.setattr(growth_search, "judge", lambda *given, judge=growth_search.judge: parts.append(1) or judge(*given))
    monkeypatch.setattr(growth_search, "_MOST_TERMS", most)
    found = GrowthSearch(CLAIM).ratios(shape, params)
    assert np.array_equal(found, expected, equal_nan=True) and len(parts) == {2000: 1, 150: 5, 20: 5}[most]


def test_an_instance_of_too_many_terms_has_no_ratio(monkeypatch):
    shape, (params, *_) = batches(QUADRATIC)
    monkeypatch.setattr(growth_search, "_MOST_TERMS", 3)
    seen = GrowthSearch(CLAIM)
    assert np.isnan(seen.ratios(shape, params)).all() and re.search(r" 1 values .*; got 2$", seen.refused)


def test_only_batches_that_are_asked_for_count():
    shape, rows = batches(QUADRATIC)
    seen = GrowthSearch(CLAIM)
    next(seen.ratios_of_each(shape, rows))
    assert seen.tried == 5


def order(scale, conditions=(), variables=(A, B)):
    return replace(numbers("scale", a, b, *variables, conditions=conditions),
                   statement=Condition(a, "<=", C * scale), definitions=DEFINED)


whole, at_least_zero = sp.Symbol("n", integer=True, positive=True), sp.Symbol("z", nonnegative=True)


@pytest.mark.parametrize(("claim", "never"), [
    (order(b), True), (order(a / b + sp.sqrt(b)), True), (order(at_least_zero), False), (order(at_least_zero + b), True),
    (order(a - b), False), (order(b, (Condition(b, "==", 0),)), False), (order(b + a, (Condition(b, "==", 0),)), False),
    (order(sp.Symbol("F0_gap", nonnegative=True) + b), True), (order(sp.Symbol("F0_gap", positive=True)), False),
    (order(sp.Symbol("Gamma", positive=True)), False), (order(b + sp.Symbol("Gamma", positive=True)), False),
    (order(whole), True), (order(whole, variables=(Variable("n", "integer", low=0),)), False),
    (order(b * sp.Indexed("h", 0)), False), (order(b + (objective(x_round[0]) - F_star)), False),
    (control("step", gap, L / rounds), True), (control("steps", gap, eta_l[0]), False), (order(b + E(b)), False),
])
def test_what_hidden_constants_multiply_is_known_to_be_positive(claim, never):
    assert never_vanishes(claim) is never


@pytest.mark.parametrize("name", ["value", "instance/value", "squares", "instance/two-terms"])
def test_one_run_makes_an_exact_member(name, monkeypatch):
    claim = TRUE[f"growth/{name}"]
    shape = Shape(clients=2, rounds=2, sizes=(("local_steps", 1),) if claim.setting == "run" else (("length", 3),))
    again, rng = [], np.random.default_rng(3)
    monkeypatch.setattr("verify.growth.members.violation_of", lambda *given: again.append(1) or violation_of(*given))
    found = (exact_ratio_member(claim, 2, shape, tame(claim, draw_params(with_constant(claim, 1), shape, 1, rng), rng))
             for _ in range(30))
    member = next(member for count, member in enumerate(found, start=1) if member and len(again) == count)
    there, constant = member.violation, member.constant
    direct = violation_of(with_constant(claim, constant), there.shape, there.params)
    assert isinstance(direct, Violation) and (direct.left, direct.right) == (there.left, there.right)
    assert violation_of(with_constant(claim, constant * Fraction(101, 100)), there.shape, there.params) == "holds"


@pytest.mark.parametrize(("constants", "growing", "asked"), [
    ([1e6, 2e6, 4e6], True, 3), ([1, 2, 1e6], True, 3), ([1, 2, 999_999], False, 1), ([1e6, 4e6, 2e6], False, 2),
    ([2e6, 2e6, 4e6], False, 3), ([None, 2e6, 4e6], False, 3), ([1, None, 4e6], False, 2),
])
def test_exact_members_are_asked_for_until_one_fails(constants, growing, asked):
    seen = []

    def exact(place):
        seen.append(place)
        return None if constants[place] is None else ExactMember(place, Fraction(constants[place]), None)

    found = _increasing_beyond(exact, [0, 1, 2])
    assert [member.size for member in found] == ([0, 1, 2] if growing else []) and seen == [2, 1, 0][:asked]


@pytest.mark.parametrize(("formulas", "name", "names"), [
    ((), "rounds", ("rounds",)), ((rounds / clients,), "clients", ("rounds", "clients")),
    ((((local_steps * clients - 2 * rounds) / (2 * local_steps * clients)) ** (1 / local_steps),), "rounds",
     ("rounds", "clients")),
    (((1 - rounds / clients) ** (1 / local_steps),), "local_steps", ()), ((clients,), "rounds", ("rounds",)),
    ((rounds / clients, rounds / local_steps), "rounds", ("rounds", "clients", "local_steps")), ((rounds,), "rounds", ()),
    ((rounds * local_steps,), "rounds", ()),
])
def test_sizes_grow_together_where_that_changes_no_formula(formulas, name, names):
    assert coupled_limits(formulas, name) == names


def test_sizes_that_grow_together_keep_their_proportions():
    together = Together(("rounds", "clients"), (("rounds", 1), ("clients", 3), ("local_steps", 2)))
    shape, (params, *_) = batches(QUADRATIC)
    larger, copies = resized(CLAIM, shape, params, together, 4)
    assert (larger.rounds, larger.clients, larger.local_steps) == (4, 12, 2) and copies["curvature"].shape[1] == 12
    assert str(together) == "rounds and clients"


@pytest.mark.parametrize(("ratio", "rounding"), [(2.0, False), (2.2, False), (5.0, True), (np.inf, True)])
def test_exact_arithmetic_says_which_ratios_are_rounding(ratio, rounding, monkeypatch):
    """Of a / b with a = 2, b = 1; an infinite ratio stands for a large one."""
    claim = numbers("two", a, b, A, B)
    member = Member(1.0, ratio, Shape(), {"a": np.full((1,), 2.0), "b": np.ones((1,))})
    monkeypatch.setattr(same_instance, "within_exact_runs", lambda curve: curve)
    curve = GrowthCurve("a", (member,))
    assert same_instance._is_rounding(GrowthSearch(claim, original=claim), curve) == rounding


def test_numbers_that_hypotheses_tie_to_a_limit_stay_along_it():
    """`eta_0 <= mu_lr/(gamma*local_steps)` moved mu_lr with every local step; constants may depend on it."""
    claim = with_constant(find_claim("afedpd/remark-2.1-rate@fedpd"), 1)
    trials = GrowthSearch(claim, rng=np.random.default_rng(1))
    shape, params, sizes, _ = same_instance._batch(trials, "local_steps", sp.oo)
    assert "mu_lr" in held_numbers(claim, "local_steps")
    each = [simulate(claim, *at_size(claim, shape, params, "local_steps", size), NUMPY).bound for size in sizes[:4]]
    for name in held_numbers(claim, "local_steps"):
        assert all((bound[name].data.ravel() == params[name].ravel()).all() for bound in each), name
