"""Constants hidden in O(.): the rule for growth, its evidence, and statements whose truth is known."""

import json
from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

from bounds.language.claim import Condition, Procedure, Variable
from bounds.language.operators import L, eta_l, iterations, rounds, t
from bounds.registry.claims import find_claim
from tests.messages import contains_in_order
from tests.verify.growth.controls import FALSE, OPEN_STEP, TRUE, A, B, C, a, b, control, gap, numbers
from verify.growth import decide as growth_evidence
from verify.growth.certificate import growth_certificate
from verify.growth.check import check, check_file
from verify.growth.fit import fit
from verify.growth.growth import _ZERO_BUDGETS, Growth, _persists
from verify.growth.growth_search import GrowthCurve, Member
from verify.growth.order import leaves_the_step_open, order_of, vanishing, with_constant
from verify.growth.same_instance import tame
from verify.instances.draw import draw_params
from verify.instances.piecewise import PiecewiseClients
from verify.instances.resize import resized
from verify.instances.shape import Shape
from verify.referee.decide import Settings, decide
from verify.search.search import search

SIZES = 2.0 ** np.arange(9)
rho_prox = sp.Symbol("rho_prox", positive=True)


@pytest.mark.parametrize(("ratios", "grows", "level"), [
    (SIZES, True, False), (SIZES**0.5, True, False), (3 * SIZES**2, True, False), (2.0**SIZES, True, False),
    (SIZES**0.05, False, False), (np.ones(9), False, True), (1 / SIZES, False, True),
    (SIZES / (1 + SIZES / 64), False, False), (SIZES / (1 + SIZES / 4), False, True), (np.log2(2 * SIZES), False, False),
    (np.where(np.arange(9) % 2, SIZES, SIZES / 8), False, False), (np.full(9, np.inf), True, False),
    (np.zeros(9), False, True), (SIZES**0.02 * (1 + 0.05 * (np.arange(9) % 2)), False, True),
    (np.where(np.arange(9) < 6, 1 / SIZES, SIZES / 1024), False, False), (SIZES / (1 + SIZES / 24), False, True),
    (4 * SIZES**2 / (1 + SIZES**2 / 600), False, False),
], ids=["linear", "root", "square", "exponential", "slow", "constant", "falling", "saturating", "saturated", "logarithm",
        "zigzag", "vanishing right", "vanishing left", "wavering", "rising again", "soon saturated",
        "slows down from faster growth"])
def test_what_counts_as_growth(ratios, grows, level):
    found = fit(SIZES, ratios)
    assert (found.grows, found.level) == (grows, level)


def test_growth_towards_zero_counts_sizes_by_their_inverses():
    found = fit(1 / SIZES, SIZES**2)
    assert found.grows and found.slope == pytest.approx(2) and found.error == pytest.approx(0)


def test_a_track_says_how_large_the_ratio_was_in_between():
    def text(*ratios):
        return str(GrowthCurve("rounds", tuple(Member(2.0**i, ratio, None, {}) for i, ratio in enumerate(ratios))))

    assert text(1, 9, 90, 80, 3).endswith("ratio 1 to 3, up to 90 at 4")  # its exponents say nothing
    assert "ratio 1 to 3, exponent" in text(1, 2, 4, 5, 3)


@pytest.mark.parametrize("length", [3, 4])
def test_too_few_octaves_show_nothing(length):
    assert not fit(SIZES[:length], 100 ** SIZES[:length]).grows


def test_the_constant_is_taken_out():
    claim = control("parts", gap, L)
    claim = replace(claim, statement=Condition(gap, "<=", (C + L) / rounds + 3))
    order = order_of(claim)
    assert order.scale == 1 / rounds and sp.simplify(order.measured - (gap - L / rounds - 3)) == 0
    stated = with_constant(claim, 7)
    assert stated.explicit and not stated.limits and stated.statement.right == 7 / rounds
    assert vanishing(claim).conditions[-1] == Condition(1 / rounds, "<=", 0)


def test_lower_bounds_take_the_inverse():
    claim = numbers("below", a, b, A, B)
    assert with_constant(replace(claim, statement=Condition(a, ">=", C * b)), 4).statement.right == b / 4


@pytest.mark.parametrize("change", [
    {"statement": Condition(a, "==", C * b)}, {"statement": Condition(a, "<=", b**C)},
    {"statement": Condition(a, "<=", C * b**C)}, {"statement": Condition(a * C, "<=", b)},
    {"statement": Condition(a, "<=", b)}, {"conditions": (Condition(a, ">=", C),)},
])
def test_constants_that_are_no_factors_are_refused(change):
    with pytest.raises(NotImplementedError, match=r"hidden|hides"):
        order_of(replace(numbers("odd", a, b, A, B), **change))


def test_more_clients_are_copies_and_steps_repeat():
    claim, rng = with_constant(FALSE["growth/noise/step-power"], 1), np.random.default_rng(0)
    shape = Shape(clients=2, noisy=(1,), sizes=(("local_steps", 1),))
    params = draw_params(claim, shape, 3, rng)
    larger, copies = resized(claim, shape, params, "clients", 5)
    assert larger.noisy == (1, 3) and (copies["curvature"][:, 4] == params["curvature"][:, 0]).all()
    assert (copies["noise"][:, 1] == params["noise"][:, 0]).all()
    longer, copies = resized(claim, shape, params, "rounds", 6)
    assert longer.iterations == 6 and (copies["step_fraction"] == params["step_fraction"][:, :1]).all()
    with pytest.raises(NotImplementedError, match="no size"):
        resized(claim, shape, params, "eta", 2)


def test_tame_instances_have_no_scales_apart():
    claim, shape = with_constant(TRUE["growth/instance/bias"], 1), Shape(clients=3, dim=2, local_steps=2, rounds=3)
    params = tame(claim, draw_params(claim, shape, 200, np.random.default_rng(1)), np.random.default_rng(2))
    for name in ("curvature", "center", "start_offset", "step_fraction", "step_scale", "weight", "slack:L"):
        size = abs(params[name][params[name] != 0])
        assert size.min() >= 0.25 and size.max() <= 2
    assert (params["step_fraction"] == params["step_fraction"][:, :1]).all() and params["slack:L"].min() >= 1


def test_a_step_is_not_open_where_the_run_shows_what_it_does():
    """Of an order in the error of local solutions, bad steps make both sides large."""
    assert not leaves_the_step_open(find_claim("afedpd/theorem-1"))
    assert leaves_the_step_open(find_claim("afedpd/table-7-afedpd"))


def test_an_open_step_is_seen():
    assert leaves_the_step_open(OPEN_STEP)
    some = next(claim for claim in TRUE.values() if claim.setting == "run")
    free = replace(some, variables=(*some.variables, Variable("eta_g", "positive")), procedure=Procedure("scaffold"))
    assert leaves_the_step_open(free)
    bounded = replace(free, conditions=(*free.conditions, Condition(sp.Symbol("eta_g"), "<=", 1)))
    assert not leaves_the_step_open(bounded)
    assert not any(leaves_the_step_open(claim) for claim in (*TRUE.values(), *FALSE.values()))
    assert decide(OPEN_STEP, Settings(budget="quick")).details["missing"] == "step"


QUICK_TRUE = ("squares", "young", "geometric-sum", "held", "instance/small", "instance/value", "value",
              "in-proportion", "instance/free-weight")
QUICK_FALSE = ("units", "value-linear/too-fast", "squares/mixed", "held/not", "instance/small-power",
               "instance/bias-goes", "noise/missing", "walk/no-own-gradient", "walk/one-step-less", "any-step/no-step",
               "in-proportion/too-fast", "instance/free-weight/too-fast")


@pytest.mark.parametrize("name", QUICK_TRUE)
def test_true_orders_are_spared(name):
    verdict = decide(TRUE[f"growth/{name}"], Settings(seed=3))
    assert verdict.verdict == "consistent" and verdict.certificate is None and verdict.details["growth"]
    assert " rests " in verdict.evidence and "  " not in verdict.evidence


@pytest.mark.parametrize("name", ["instance/short-steps", "short-steps"])
def test_runs_that_have_hardly_begun_refute_nothing(name):
    """For 10,000 rounds the left side stays what it is while the right one falls."""
    verdict = decide(TRUE[f"growth/{name}"], Settings())
    assert verdict.verdict == "undecided" and verdict.details["missing"] == "growth", verdict.evidence


def test_the_smaller_term_of_the_right_side_ends_growth():
    verdict = decide(TRUE["growth/instance/two-terms"], Settings())
    assert verdict.verdict != "refuted", verdict.evidence


@pytest.mark.parametrize(("name", "words"), [
    ("instance/value", "rests …runs …noise …rounds …64, …256"), ("instance/small", "rests …numbers …q …3.63798e-12"),
])
def test_what_held_says_what_it_rests_on(name, words):
    assert contains_in_order(decide(TRUE[f"growth/{name}"], Settings(seed=3)).evidence, words)


@pytest.mark.parametrize("name", QUICK_FALSE)
def test_false_orders_are_refuted_with_a_file_that_replays(name, tmp_path):
    claim = FALSE[f"growth/{name}"]
    verdict = decide(claim, Settings(out=tmp_path))
    assert verdict.verdict == "refuted", verdict.evidence
    assert check_file(tmp_path / verdict.certificate, {claim.id: claim}).accepted
    assert not check_file(tmp_path / verdict.certificate).accepted  # no such claim is registered
    data = json.loads((tmp_path / verdict.certificate).read_text())
    assert check(data, claim).accepted
    assert not check(data, TRUE["growth/value"]).accepted


def test_growth_beyond_float64_is_followed_in_exact_arithmetic(tmp_path):
    """Both sides decay, the right one so fast that float64 soon takes it for zero."""
    claim = FALSE["growth/instance/too-fast"]
    verdict = decide(claim, Settings(out=tmp_path))
    assert verdict.verdict == "refuted", verdict.evidence
    assert check_file(tmp_path / verdict.certificate, {claim.id: claim}).accepted


def test_limits_begin_where_the_hypotheses_are_met():
    claim = replace(FALSE["growth/instance/bias-goes"], conditions=(
        *FALSE["growth/instance/bias-goes"].conditions, Condition(rounds, ">=", 3)))
    verdict = decide(claim, Settings(seed=1))  # with which the growth is found
    assert verdict.verdict == "refuted" and "rounds 4 to " in verdict.evidence, verdict.evidence


def test_copies_of_clients_take_their_pieces_and_starts_along():
    claim = with_constant(TRUE["growth/noise"], 1)
    claim = replace(claim, procedure=Procedure("fedmoswa", options=(("start", "free"),)))
    shape = Shape(clients=2, family=PiecewiseClients(2))
    larger, copies = resized(claim, shape, draw_params(claim, shape, 3, np.random.default_rng(0)), "clients", 5)
    assert larger.clients == 5 and copies["piece_slope"].shape == (3, 5, 2, 1)
    assert {a.shape for n, a in copies.items() if n.startswith("start:client")} == {(3, 5, 1)}
    assert all(a.shape == (3, 1) for n, a in copies.items() if n.startswith("start:server"))


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    """A growth certificate of the same instance along a limit."""
    out = tmp_path_factory.mktemp("growth")
    verdict = decide(FALSE["growth/instance/small-power"], Settings(out=out))
    return (out / verdict.certificate).read_text()


def _falling(data):
    data["members"].reverse()


def _short(data):
    del data["members"][2:]


def _mixed(data):
    data["members"][0]["constant"] = None


def _another_dependence(data):
    data["constants_may_use"] = ["a"]


def _larger_constant(data):
    data["members"][1]["constant"] = "1000000"


def _broken_member(data):
    data["members"][3]["certificate"]["left"] = "7"


def _held_number_moves(data):
    data["constants_may_use"] = ["q"]


@pytest.mark.parametrize("fault", [
    _falling, _short, _mixed, _another_dependence, _larger_constant, _broken_member, _held_number_moves])
def test_members_must_belong_together(grown, fault):
    data, claim = json.loads(grown), FALSE["growth/instance/small-power"]
    assert check(data, claim).accepted
    fault(data)
    assert not check(data, claim).accepted


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", TRUE)
def test_no_true_order_is_refuted(name, seed):
    assert decide(TRUE[name], Settings(seed=seed)).verdict != "refuted"


@pytest.mark.slow
def test_two_of_three_false_orders_are_refuted():
    """Slow growth under noise is out of its reach."""
    missed = [name for name, claim in FALSE.items() if decide(claim, Settings(budget="standard")).verdict != "refuted"]
    assert len(missed) <= len(FALSE) / 3, missed


def test_one_instance_at_a_limit_of_zero_suffices():
    """left <= A + O(epsilon): where epsilon is 0 no constant helps, and nothing has to be followed any further."""
    claim = find_claim("afedpd/theorem-1")
    solved = Condition(eta_l[t], "==", 1 / (L + rho_prox), ((t, 0, iterations - 1),))
    claim = replace(claim, conditions=(solved, Condition(rho_prox, "<=", L)))
    verdict = decide(claim, Settings(federations=False))
    assert verdict.verdict == "refuted" and verdict.ratio == np.inf
    (member,) = _persists(vanishing(claim), search(vanishing(claim), _ZERO_BUDGETS["quick"]).violation, "eps_inexact", 0)
    data = growth_certificate(claim, "eps_inexact", (member,))
    assert check(data, claim).accepted
    data["members"][0]["certificate"]["values"]["eps_inexact"] = "1"
    assert not check(data, claim).accepted


@pytest.mark.parametrize(("refuting", "tried"), [("quick", ["quick"]), ("standard", ["quick", "standard"]),
                                                 ("never", ["quick", "standard"])])
def test_a_larger_budget_looks_first_as_the_smaller_one(monkeypatch, refuting, tried):
    seen = []

    def found(claim, budget, seed, backend, accepts):
        seen.append(budget)
        return Growth(members=("a member",) if budget == refuting else ())

    monkeypatch.setattr(growth_evidence, "growth_of", found)
    claim = TRUE[min(TRUE)]
    growth = growth_evidence._growth_within(claim, "standard", 0, None)
    assert seen == tried and bool(growth.members) == (refuting != "never")


@pytest.mark.parametrize("name", ["theorem-C.2", "table-1/fa-nt"])
def test_a_run_of_many_rounds_is_replayed_in_intervals(name):
    """All clients take part: the average of their models is computed from these alone, so that the interval stays short."""
    verdict = decide(find_claim(f"fadamgc/{name}@big-o-all-but-rounds"), Settings(federations=False))
    assert verdict.verdict == "refuted", verdict.evidence
