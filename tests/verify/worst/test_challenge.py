"""Claims that hold at all places where proofs are looked for, and are false elsewhere."""

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
from verify.worst import challenge, proven
from verify.worst.challenge import challenged, geometric_limit, limit
from verify.worst.setting import Place, setting_of
from verify.worst.uphill import Known, known_at, uphill

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
def test_a_claim_that_is_false_far_away_is_challenged(claim):
    assert challenged(claim)
    assert proven.proven(claim).certificate is None


def test_without_challenges_it_would_count_as_proven(monkeypatch):
    monkeypatch.setattr(proven, "challenged", lambda claim, enough, every: "")
    assert proven.proven(find_claim("afedpd/lemma-3@inactive-theta")).certificate is not None


@pytest.mark.parametrize("name", [
    "classical/gd-distance", "classical/scaffold-drift-smooth", "classical/fedavg-dissimilar-convex", "li2020/theorem-1"])
def test_a_true_claim_is_not_challenged(name):
    assert not challenged(find_claim(name))


def test_of_sizes_for_every_number_of_which_there_are_proofs_few_are_looked_at(monkeypatch):
    claim, seen, looked_at = find_claim("classical/gd-distance"), [], challenge._look

    def look(claim, given, place, *most, **how):
        seen.append(place)
        return looked_at(claim, given, place, *most, **how)

    monkeypatch.setattr(challenge, "_look", look)
    challenged.__wrapped__(claim, 0, frozenset({"clients"}))
    assert max(place.clients for place in seen) == 2 < max(place.rounds for place in seen)
    of_many = {place[3:] for place in challenge.CHALLENGES[: challenge._COUNT] if place.clients > 2}
    assert of_many and not of_many & {place[3:] for place in seen}


def test_no_run_is_asked_for_that_is_as_large_as_one_that_is_too_large():
    """Runs of clients of the same weights may be smaller than others."""
    places = [Place(3, 1, 1, weights=(1, 2)), Place(3, 1, 1), Place(4, 1, 1), Place(3, 1, 2, weights=(1, 2)), Place(2, 5, 1)]
    seen, known = [], SimpleNamespace(setting=None)

    def look(given, place):
        seen.append(place)
        return () if place.clients > 2 else (1.0, known)

    found = [*known_at(look, places)]
    assert seen == [places[0], places[1], places[4]]
    assert [one is not None for one in found] == [False, False, False, False, True]


def test_a_number_is_followed_as_long_as_that_is_worse():
    """Three times 3 L is as far as it gets in as many trials."""
    claim = find_claim("classical/gd-convex")

    def look(given, place, enough=0.0):
        setting = setting_of(claim, given, place)
        number = float(Fraction(setting.values["L"]))
        return number, SimpleNamespace(setting=setting, factors=(number,))

    start = Known(*look({}, challenge.AT_BOUNDS), {}, challenge.AT_BOUNDS)
    factors = [one.factor for one in uphill(look, [start], 16)]
    assert len(factors) > 3 and all(b == pytest.approx(3 * a) for a, b in pairwise(factors))


def test_a_claim_of_which_too_few_places_can_be_looked_at_is_not_proven(monkeypatch):
    claim = find_claim("classical/gd-distance")
    assert proven.proven(claim).certificate is not None
    monkeypatch.setattr(challenge, "CHALLENGES", [Place(8, 40, 8)] * 48)
    monkeypatch.setattr(proven, "challenged", challenge.challenged.__wrapped__)  # answers are remembered
    assert "only 0 of 32 could be looked at" in proven.proven(claim).reason  # with every number of clients 16 are left out


def test_an_answer_without_precision_challenges_nothing(monkeypatch):
    claim = FALSE["with numbers far apart"]
    looked_at = challenge.worst_case
    monkeypatch.setattr(challenge, "worst_case", lambda *a, **k: replace(looked_at(*a, **k), sure=False))
    assert not challenged.__wrapped__(claim)  # answers are remembered


@pytest.mark.parametrize(("terms", "end"), [
    ([1 - 1 / n for n in (2, 4, 8)], 1.0), ([1.25 - 3 / (n + 1) for n in (2, 4, 8)], 1.25), ([0.3, 0.3, 0.3], 0.3)])
def test_where_sequences_go(terms, end):
    assert limit(*terms) == pytest.approx(end)


@pytest.mark.parametrize(("factors", "false"), [
    ({2: 0.5, 4: 0.6, 8: 0.9, 3: 0.55, 6: 0.7, 12: 1.1}, True), ({2: 0.5, 4: 0.6, 8: 0.9, 3: 0.55, 6: 0.7, 12: 0.75}, False),
    ({2: 0.5, 4: 0.6, 8: 0.9, 3: 0.55, 6: 0.7}, True), ({2: 0.5, 4: 0.6, 8: 0.65, 3: 0.5, 6: 0.7, 12: 1.1}, False)])
def test_sizes_seem_false_from_two_numbers_on(factors, false):
    claim = find_claim("classical/gd-convex")

    def look(given, place):
        one = SimpleNamespace(setting=setting_of(claim, given, place), factors=(factors.get(place.rounds),))
        return (factors[place.rounds], one) if place.rounds in factors else None

    found = [*challenge.growing(claim, [look], [Place()])]
    assert [(size, place.rounds) for size, _, place in found] == [("rounds", 8)] * false


@pytest.mark.parametrize("pairs, asked", [(1, [2, 4]), (2, [2, 4, 8])])
def test_a_level_bound_of_one_pair_needs_no_long_run_and_one_of_several_does(pairs, asked):
    """Of several pairs of sides another one may become the worst."""
    claim, seen = find_claim("classical/gd-convex"), []

    def look(given, place):
        seen.append(place.rounds)
        return 1.0, SimpleNamespace(setting=setting_of(claim, given, place), factors=(1.0, place.rounds / 9)[:pairs])

    assert challenge._factors([look, look], Place(), "rounds", (2, 4, 8), challenge._seems_false, []) == [1.0] * 3
    assert seen == asked


def test_no_size_grows_to_a_run_that_is_as_large_as_one_that_was_too_large():
    claim, seen, large = find_claim("classical/gd-convex"), [], []

    def look(given, place):
        seen.append((place.clients, place.rounds))
        if place.clients * place.rounds > 4:
            return ()
        return 0.1 * place.rounds, SimpleNamespace(setting=setting_of(claim, given, place), factors=(0.1 * place.rounds,))

    for count in (1, 2):
        for place in (Place(clients=count), Place(clients=count, mu=Fraction(1, 3))):
            challenge._factors([look, look], place, "rounds", (2, 4, 8), challenge._seems_false, large)
    assert seen == [(1, 2), (1, 4), (1, 8)] and large == [Place(clients=1, rounds=8)]


def test_a_setting_at_which_nothing_is_compared_is_no_start():
    """As where a statement is about the times of a range that is empty."""
    claim = wider(FALSE["with numbers that vanish"], "L", 1)
    case = SimpleNamespace(setting=setting_of(claim, {}, challenge.AT_BOUNDS), factors=())
    start = Known(0.0, case, {}, challenge.AT_BOUNDS)
    assert not [*uphill(lambda given, place, enough=0.0: (0.0, case), [start], 30)]


@pytest.mark.parametrize("second, asked", [(lambda n: 0.5, 1), (lambda n: n / 9, 4)])
def test_a_number_that_makes_no_difference_to_any_pair_is_left_alone(second, asked):
    claim, seen = wider(FALSE["with numbers that vanish"], "L", 1), []

    def look(given, place, enough=0.0):
        setting = setting_of(claim, given, place)
        seen.append(given)
        return 1.0, SimpleNamespace(setting=setting, factors=(1.0, second(float(Fraction(setting.values["L"])))))

    start = Known(*look({}, challenge.AT_BOUNDS), {}, challenge.AT_BOUNDS)
    assert not [*uphill(look, [start], 200)]
    assert len({given["L"] for given in seen[1:]} - {1}) == asked


def test_curvatures_stay_within_what_conditions_allow():
    claim = statements()["false/fedprox-inexact"][1]
    for curvature, mu, expected in ((1, "1/10", "1/10"), (1, "9/10", "11/20"), (2, "9/5", "11/10"), (2, "1", "1")):
        assert setting_of(claim, {}, Place(L=Fraction(curvature), mu=Fraction(mu))).values["mu"] == expected


@pytest.mark.parametrize(("terms", "end"), [
    ([1.1 - 0.7**n for n in (2, 5, 8)], 1.1), ([0.3, 0.3, 0.3], 0.3), ([0.5, 0.4, 0.3], 0.3), ([1.0, 2.0, 3.0], inf)])
def test_where_geometric_sequences_go(terms, end):
    assert geometric_limit(*terms) == pytest.approx(end)


@pytest.mark.parametrize("name, size", [("sgd-stationary", "rounds"), ("noise-of-many-steps", "local_steps")])
def test_noise_adds_up_from_the_optimum_on(name, size):
    """The true ones allow 1/(2 - eta mu) where the false ones allow 1/2."""
    known = statements()
    assert f"larger {size}, from the optimum on" in challenge._noise_adds_up(known[f"false/{name}"][1], ())
    assert not challenge._noise_adds_up(known[f"true/{name}"][1], ())


def test_a_rough_answer_challenges_nothing_that_all_digits_do_not(monkeypatch):
    """One that is far above what all digits say, as of numbers of a small size."""
    claim, looked_at = find_claim("classical/gd-distance"), challenge.worst_case

    def rougher(*given, **how):
        found = looked_at(*given, **how)
        found = replace(found, certificate=None)
        return replace(found, factors=tuple(2.0 for _ in found.factors)) if how.get("rough") else found

    monkeypatch.setattr(challenge, "worst_case", rougher)
    monkeypatch.setattr(challenge, "_TRIALS", 0)
    assert not challenged.__wrapped__(claim)  # answers are remembered


@pytest.mark.parametrize("factor, sure, false", [
    (1.0, True, False), (1 + 1e-5, True, True), (1 + 1e-5, False, False), (1.001, False, True), (None, True, False)])
def test_factors_near_one_count_where_the_solver_is_sure(factor, sure, false):
    assert proven.may_fail(SimpleNamespace(factors=(factor,), sure=sure)) is false
