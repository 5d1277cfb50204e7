"""Claims that hold at all templates where proofs are looked for, and are false elsewhere."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import inf
from types import SimpleNamespace

import pytest

from benchmarks.unseen import statements
from bounds.controls.fedavg import control
from bounds.language.claim import Condition, Procedure
from bounds.language.names import symbol
from bounds.language.operators import (
    F_star,
    L,
    clients,
    dot,
    eta_l,
    iterations,
    local_steps,
    norm2,
    objective,
    objective_grad,
    rounds,
    t,
    x_round,
)
from bounds.registry.claims import find_claim
from tests.classical import EXACT, JUST_CONVEX, SMOOTH
from verify.worst import proven, stress_test
from verify.worst.configurations import Template, instantiate
from verify.worst.coordinate_ascent import Evaluation, ascend, evaluations
from verify.worst.stress_test import geometric_limit, limit, suspected_failure
from verify.worst.worst_case import WorstCase

STEP = Condition(eta_l[t], "==", 1 / L, over=((t, 0, iterations - 1),))
GAP = objective(x_round[rounds]) - F_star
DISTANCE = norm2(x_round[0] - symbol("x_star"))


def descent(bound, *conditions):
    return control("own", "run", Condition(GAP, "<=", bound * DISTANCE), assumptions=(SMOOTH, JUST_CONVEX, EXACT),
                   conditions=(STEP, *conditions), procedure=Procedure(equal_weights=True))


def coercive(sides):
    """A statement of gradient and distance at the start: <g, x - x_*> >= 6/5 |g|^2/L; it is true with 1 for 6/5."""
    gap, square = dot(objective_grad(x_round[0]), x_round[0] - symbol("x_star")), norm2(objective_grad(x_round[0])) / L
    return control("own", "run", Condition(sides[0](gap, square), "<=", sides[1](gap, square)),
                   assumptions=(SMOOTH, JUST_CONVEX, EXACT), conditions=(STEP,), procedure=Procedure(equal_weights=True))


def wider(claim, name, factor):
    """A claim whose bound on a number is so many times larger."""
    return replace(claim, conditions=tuple(
        replace(c, right=factor * c.right) if str(c.left) == name else c for c in claim.conditions))


#: the tight constant after N steps on one client is L/(4 N + 2)
FALSE = {
    "in long runs": descent(L / (5 * rounds - 20), Condition(local_steps, "==", 1), Condition(rounds, ">=", 5)),
    "with many local steps": descent(L / (5 * local_steps - 5), Condition(rounds, "==", 1), Condition(
        local_steps, ">=", 2), Condition(clients, "==", 1)),
    "with many clients": find_claim("afedpd/lemma-3@inactive-theta"),
    "with numbers far apart": find_claim("afedpd/q-combined@exact+averaged"),
    "with small numbers": find_claim("fedmoswa/eq-75@all-clients"),
    "with steps at a bound that another number moves": wider(find_claim("fedmoswa/eq-75@unrolled"), "eta_eff", 3),
    "with noise of many steps": find_claim("fedluar/lemma-A.1"),
    "with larger sides that are never positive": coercive((lambda gap, square: -gap, lambda gap, square: -6 * square / 5)),
    "with smaller sides that are zero": coercive((lambda gap, square: 0, lambda gap, square: gap - 6 * square / 5)),
    "with steps that vary": statements()["false/scaffold-mean-gradient"][1],
    "with numbers that vanish": find_claim("fedluar/lemma-A.3-insert-noise@forced"),
    "by a thousandth, where mu is about L": find_claim("fedmoswa/lemma-g.13@some-clients"),
    "with two clients of two steps": find_claim("fadamgc/lemma-D.1@y-gradient"),
    "with one of two clients in two rounds": find_claim("fedmoswa/lemma-g.14-second@some-clients"),
}


@pytest.mark.parametrize("claim", FALSE.values(), ids=FALSE)
def test_a_failure_far_away_is_suspected(claim):
    assert suspected_failure(claim)
    assert proven.proven(claim).certificate is None


def test_without_the_stress_test_it_would_count_as_proven(monkeypatch):
    monkeypatch.setattr(proven, "suspected_failure", lambda claim, enough, every: "")
    assert proven.proven(find_claim("afedpd/lemma-3@inactive-theta")).certificate is not None


@pytest.mark.parametrize("name", [
    "classical/gd-distance", "classical/scaffold-drift-smooth", "classical/fedavg-dissimilar-convex", "li2020/theorem-1"])
def test_a_true_claim_is_not_suspected(name):
    assert not suspected_failure(find_claim(name))


def test_of_sizes_for_every_number_of_which_there_are_proofs_few_are_looked_at(monkeypatch):
    claim, seen, looked_at = find_claim("classical/gd-distance"), [], stress_test._look

    def look(claim, given, template, *most, **how):
        seen.append(template)
        return looked_at(claim, given, template, *most, **how)

    monkeypatch.setattr(stress_test, "_look", look)
    suspected_failure.__wrapped__(claim, 0, frozenset({"clients"}))
    assert max(template.clients for template in seen) == 2 < max(template.rounds for template in seen)
    of_many = {template[3:] for template in stress_test.STRESS_TEMPLATES[: stress_test._COUNT] if template.clients > 2}
    assert of_many and not of_many & {template[3:] for template in seen}


def test_no_run_is_asked_for_that_is_as_large_as_one_that_is_too_large():
    """Runs of clients of the same weights may be smaller than others."""
    templates = [Template(3, 1, 1, weights=(1, 2)), Template(3, 1, 1), Template(4, 1, 1), Template(3, 1, 2, weights=(1, 2)),
                 Template(2, 5, 1)]
    seen, known = [], SimpleNamespace(setting=None)

    def look(given, template):
        seen.append(template)
        return () if template.clients > 2 else (1.0, known)

    found = [*evaluations(look, templates)]
    assert seen == [templates[0], templates[1], templates[4]]
    assert [one is not None for one in found] == [False, False, False, False, True]


def test_a_number_is_followed_as_long_as_that_is_worse():
    """Three times 3 L is as far as it gets in as many trials."""
    claim = find_claim("classical/gd-convex")

    def look(given, template, enough=0.0):
        setting = instantiate(claim, given, template)
        number = float(Fraction(setting.values["L"]))
        return number, SimpleNamespace(setting=setting, factors=(number,))

    start = Evaluation(*look({}, stress_test.AT_BOUNDS), {}, stress_test.AT_BOUNDS)
    factors = [one.factor for one in ascend(look, [start], 16)]
    assert len(factors) > 3 and all(b == pytest.approx(3 * a) for a, b in pairwise(factors))


def test_a_claim_of_which_too_few_places_can_be_looked_at_is_not_proven(monkeypatch):
    claim = find_claim("classical/gd-distance")
    assert proven.proven(claim).certificate is not None
    monkeypatch.setattr(stress_test, "STRESS_TEMPLATES", [Template(8, 40, 8)] * 48)
    monkeypatch.setattr(proven, "suspected_failure", stress_test.suspected_failure.__wrapped__)  # answers are remembered
    assert "only 0 of 32 could be looked at" in proven.proven(claim).reason  # with every number of clients 16 are left out


def test_an_answer_without_precision_raises_no_suspicion(monkeypatch):
    claim = FALSE["with numbers far apart"]
    looked_at = stress_test.worst_case
    monkeypatch.setattr(stress_test, "worst_case", lambda *a, **k: replace(looked_at(*a, **k), sure=False))
    assert not suspected_failure.__wrapped__(claim)  # answers are remembered


@pytest.mark.parametrize(("terms", "end"), [
    ([1 - 1 / n for n in (2, 4, 8)], 1.0), ([1.25 - 3 / (n + 1) for n in (2, 4, 8)], 1.25), ([0.3, 0.3, 0.3], 0.3)])
def test_where_sequences_go(terms, end):
    assert limit(*terms) == pytest.approx(end)


@pytest.mark.parametrize(("factors", "false"), [
    ({2: 0.5, 4: 0.6, 8: 0.9, 3: 0.55, 6: 0.7, 12: 1.1}, True), ({2: 0.5, 4: 0.6, 8: 0.9, 3: 0.55, 6: 0.7, 12: 0.75}, False),
    ({2: 0.5, 4: 0.6, 8: 0.9, 3: 0.55, 6: 0.7}, True), ({2: 0.5, 4: 0.6, 8: 0.65, 3: 0.5, 6: 0.7, 12: 1.1}, False)])
def test_sizes_seem_false_from_two_numbers_on(factors, false):
    claim = find_claim("classical/gd-convex")

    def look(given, template):
        one = SimpleNamespace(setting=instantiate(claim, given, template), factors=(factors.get(template.rounds),))
        return (factors[template.rounds], one) if template.rounds in factors else None

    found = [*stress_test.growing(claim, [look], [Template()])]
    assert [(size, template.rounds) for size, _, template in found] == [("rounds", 8)] * false


@pytest.mark.parametrize("pairs, asked", [(1, [2, 4]), (2, [2, 4, 8])])
def test_a_level_bound_of_one_pair_needs_no_long_run_and_one_of_several_does(pairs, asked):
    """Of several pairs of sides another one may become the worst."""
    claim, seen = find_claim("classical/gd-convex"), []

    def look(given, template):
        seen.append(template.rounds)
        return 1.0, SimpleNamespace(setting=instantiate(claim, given, template), factors=(1.0, template.rounds / 9)[:pairs])

    assert stress_test._factors([look, look], Template(), "rounds", (2, 4, 8), stress_test._seems_false, []) == [1.0] * 3
    assert seen == asked


def test_no_size_grows_to_a_run_that_is_as_large_as_one_that_was_too_large():
    claim, seen, large = find_claim("classical/gd-convex"), [], []

    def look(given, template):
        seen.append((template.clients, template.rounds))
        if template.clients * template.rounds > 4:
            return ()
        ratio = 0.1 * template.rounds
        return ratio, SimpleNamespace(setting=instantiate(claim, given, template), factors=(ratio,))

    for count in (1, 2):
        for template in (Template(clients=count), Template(clients=count, mu=Fraction(1, 3))):
            stress_test._factors([look, look], template, "rounds", (2, 4, 8), stress_test._seems_false, large)
    assert seen == [(1, 2), (1, 4), (1, 8)] and large == [Template(clients=1, rounds=8)]


def test_a_setting_at_which_nothing_is_compared_is_no_start():
    """As where a statement is about the times of a range that is empty."""
    claim = wider(FALSE["with numbers that vanish"], "L", 1)
    case = SimpleNamespace(setting=instantiate(claim, {}, stress_test.AT_BOUNDS), factors=())
    start = Evaluation(0.0, case, {}, stress_test.AT_BOUNDS)
    assert not [*ascend(lambda given, template, enough=0.0: (0.0, case), [start], 30)]


@pytest.mark.parametrize("second, asked", [(lambda n: 0.5, 1), (lambda n: n / 9, 4)])
def test_a_number_that_makes_no_difference_to_any_pair_is_left_alone(second, asked):
    claim, seen = wider(FALSE["with numbers that vanish"], "L", 1), []

    def look(given, template, enough=0.0):
        setting = instantiate(claim, given, template)
        seen.append(given)
        return 1.0, SimpleNamespace(setting=setting, factors=(1.0, second(float(Fraction(setting.values["L"])))))

    start = Evaluation(*look({}, stress_test.AT_BOUNDS), {}, stress_test.AT_BOUNDS)
    assert not [*ascend(look, [start], 200)]
    assert len({given["L"] for given in seen[1:]} - {1}) == asked


def test_curvatures_stay_within_what_conditions_allow():
    claim = statements()["false/fedprox-inexact"][1]
    for curvature, mu, expected in ((1, "1/10", "1/10"), (1, "9/10", "11/20"), (2, "9/5", "11/10"), (2, "1", "1")):
        assert instantiate(claim, {}, Template(L=Fraction(curvature), mu=Fraction(mu))).values["mu"] == expected


@pytest.mark.parametrize(("terms", "end"), [
    ([1.1 - 0.7**n for n in (2, 5, 8)], 1.1), ([0.3, 0.3, 0.3], 0.3), ([0.5, 0.4, 0.3], 0.3), ([1.0, 2.0, 3.0], inf)])
def test_where_geometric_sequences_go(terms, end):
    assert geometric_limit(*terms) == pytest.approx(end)


@pytest.mark.parametrize("name, size", [("sgd-stationary", "rounds"), ("noise-of-many-steps", "local_steps")])
def test_noise_adds_up_from_the_optimum_on(name, size):
    """The true ones allow 1/(2 - eta mu) where the false ones allow 1/2."""
    known = statements()
    assert f"larger {size}, from the optimum on" in stress_test._noise_adds_up(known[f"false/{name}"][1], ())
    assert not stress_test._noise_adds_up(known[f"true/{name}"][1], ())


def test_a_rough_answer_raises_no_suspicion_that_all_digits_do_not(monkeypatch):
    """One that is far above what all digits say, as of numbers of a small size."""
    claim, looked_at = find_claim("classical/gd-distance"), stress_test.worst_case

    def rougher(*given, **how):
        found = looked_at(*given, **how)
        found = replace(found, certificate=None)
        return replace(found, factors=tuple(2.0 for _ in found.factors)) if how.get("rough") else found

    monkeypatch.setattr(stress_test, "worst_case", rougher)
    monkeypatch.setattr(stress_test, "_TRIALS", 0)
    assert not suspected_failure.__wrapped__(claim)  # answers are remembered


@pytest.mark.parametrize("factor, sure, false", [
    (1.0, True, False), (1 + 1e-5, True, True), (1 + 1e-5, False, False), (1.001, False, True), (None, True, False)])
def test_factors_near_one_count_where_the_solver_is_sure(factor, sure, false):
    assert WorstCase.may_fail(SimpleNamespace(factors=(factor,), sure=sure)) is false
