"""The smallest shapes: all of a kind, admissible, and enough for what fails on a small instance."""

from dataclasses import replace
from math import prod

import numpy as np
import pytest

from bounds.language import operators
from bounds.language.claim import BY_NUMBER, DISTINCT, Assumption, Claim, Condition
from bounds.language.names import symbol
from bounds.registry.claims import find_claim
from tests.not_empty import not_empty
from verify.claims.sizes import allowed, integer_variables, says_something
from verify.instances.draw import draw_shape
from verify.instances.fitted import fitted
from verify.instances.instance import outcomes
from verify.instances.shape import RARE, Shape
from verify.instances.shapes import extreme_shapes, small_shapes
from verify.search.budget import Budget
from verify.search.search import search

DIM = symbol("dim")
SMALLEST = Budget(0, 96, 0, small=10_000)


@pytest.mark.parametrize("claim_id", [
    "fedluar/lemma-3.1", "fedluar/eq-13@sampled", "fedmoswa/lemma-g.9", "fedalign/theorem-1", "fadamgc/eq-190",
    "fedmoswa/eq-26",
])
def test_small_shapes_are_different_admissible_and_few_enough_to_enumerate(claim_id):
    claim = find_claim(claim_id)
    shapes = small_shapes(claim, np.random.default_rng(0), 64, 10_000)
    assert len(shapes) >= 2 and len(set(shapes)) == len(shapes)
    assert all(allowed(claim, s.as_sizes()) and prod(outcomes(s)) <= 64 for s in shapes)
    assert {s.clients for s in shapes} >= {1, 2}
    assert len(small_shapes(claim, np.random.default_rng(0), 64, 2)) == 2


@pytest.mark.parametrize("claim_id, least", [("fadamgc/eq-190", 2), ("fadamgc/eq-85@at-most", 1)])
def test_shapes_at_which_a_statement_has_nothing_to_say_are_left_out(claim_id, least):
    claim, rng = find_claim(claim_id), np.random.default_rng(0)
    assert says_something(claim, {"rounds": least, "clients": 2}) and not says_something(claim, {"rounds": least - 1})
    shapes = small_shapes(claim, rng, 64, 24) + extreme_shapes(claim, rng, 64, 40, (40,))
    shapes += [draw_shape(claim, rng, 64, 40) for _ in range(30)]
    assert len(shapes) > 50 and min(shape.rounds for shape in shapes) == least


def test_every_number_of_clients_rounds_and_steps_and_every_rare_noise_has_its_turn():
    shapes = small_shapes(find_claim("fadamgc/eq-208"), np.random.default_rng(0), 64, 24)
    assert {s.rounds for s in shapes} == {1, 2, 3, 5} and {s.local_steps for s in shapes} == {1, 2, 4}
    assert {s.clients for s in shapes} == {1, 2, 3} and {s.rare for s in shapes if s.noisy} <= set(RARE)
    more = small_shapes(find_claim("fadamgc/eq-208"), np.random.default_rng(0), 64, 80)
    assert {len(s.noisy) for s in more if s.clients == 3} == {0, 1, 3}
    assert len({s.rare for s in shapes if s.noisy}) >= 4


def test_of_few_sizes_there_are_several_kinds_of_clients_and_dimensions():
    claim = Claim("none/t", "none", "lemma", "point",
                  Condition(operators.objective(operators.x_star), "<=", operators.F_star),
                  (Assumption("one client", "", (Condition(operators.clients, "==", 1),)),), source="none")
    for seed in range(10):
        shapes = small_shapes(claim, np.random.default_rng(seed), 64, 24)
        assert len({*shapes}) == len(shapes) and {s.family.name for s in shapes} == {"quadratic", "piecewise"}
        assert {s.dim for s in shapes} >= {1, 2}


@pytest.mark.parametrize("sizes", [
    {"local_steps": 3, "clients": 2, "rounds": 1}, {"rounds": 7, "local_steps": 5}, {"clients": 5, "rounds": 2}])
def test_sizes_that_conditions_ask_for_are_looked_at_however_unusual(sizes):
    base = find_claim("fadamgc/eq-208")
    claim = replace(base, conditions=(*base.conditions, *(Condition(symbol(n), "==", s) for n, s in sizes.items())))
    rng = np.random.default_rng(0)
    shapes = small_shapes(claim, rng, 64, 24) + [draw_shape(claim, rng, 64, 40) for _ in range(20)]
    assert len(shapes) > 22 and all(s.as_sizes()[name] == size for s in shapes for name, size in sizes.items())


def test_no_small_shapes_of_numbers_alone():
    assert small_shapes(find_claim("fedluar/eq-14-reason"), np.random.default_rng(0), 64, 10) == []


def test_small_shapes_of_samples_differ_in_their_samples_too():
    shapes = small_shapes(find_claim("fedmoswa/eq-19"), np.random.default_rng(0), 64, 10_000)
    assert len(set(shapes)) == len(shapes)
    of_one = {(s.family.samples, s.family.atoms, s.local_steps) for s in shapes if s.clients == 1}
    assert of_one >= {(1, 2, 1), (2, 2, 1), (1, 3, 3)}
    assert all(prod(outcomes(s)) <= 16 * 64 for s in shapes)


@pytest.mark.parametrize("claim_id", [
    "fedluar/lemma-3.1",  # all layers recycled after one step into the optimum
    "fedluar/lemma-3.1@main",  # all layers recycled from a start at the optimum, with noise, for three rounds
    "fedmoswa/lemma-g.9",  # the less is known of variates in mean, the longer ago they were renewed
    "fedmoswa/eq-19",  # one of three samples differs, and is rare
    pytest.param("fedluar/eq-13", marks=pytest.mark.slow),  # which layers are recycled depends on the noise in them
])
def test_a_statement_that_fails_on_a_small_instance_is_refuted_there(claim_id):
    assert any(search(find_claim(claim_id), SMALLEST, seed).violation is not None for seed in range(3))


@pytest.mark.parametrize("claim_id", ["fedluar/lemma-A.1", "fadamgc/eq-208", "fedalign/theorem-1", "fedmoswa/lemma-g.9"])
def test_extreme_shapes_are_large_in_one_way(claim_id):
    claim = find_claim(claim_id)
    shapes = extreme_shapes(claim, np.random.default_rng(0), 64, 40, (40,))
    assert {(s.local_steps, s.rounds) for s in shapes} >= {(40, 1), (6, 6)}
    assert {s.clients for s in shapes} >= {6, 12, 50}
    assert all(s.sampling == "full" or s.participants == 50 for s in shapes if s.clients == 50)
    assert 16 in {s.dim for s in shapes} or not claim_id.startswith("fadamgc")
    assert all(allowed(claim, s.as_sizes()) and prod(outcomes(s)) <= 64 and s.iterations <= 40 for s in shapes)


def test_there_are_no_extreme_shapes_of_one_step():
    assert extreme_shapes(find_claim("fedalign/lemma-A2"), np.random.default_rng(0), 64, 40, (40,)) == []


def test_integers_of_claims_about_numbers_are_large_alone_and_together():
    claim = find_claim("afedpd/unrolled-constant@whole")
    shapes = [dict(s.sizes) for s in extreme_shapes(claim, np.random.default_rng(0), 64, 40, (40,))]
    for name, variable in not_empty(integer_variables(claim).items()):
        assert max(sizes[name] for sizes in shapes) >= (variable.high or variable.low + 1000)
    assert all(allowed(claim, sizes) for sizes in not_empty(shapes))


def test_sampled_clients_are_no_more_than_have_priority():
    """Free clients are not sampled; a crowd of participants once counted the free one too."""
    claim = find_claim("fedalign/derived-sampling-variance@without-replacement")
    shapes = [s for seed in range(8) for s in extreme_shapes(claim, np.random.default_rng([7, seed]), 64, 40, (40,))]
    assert any(s.free for s in shapes) and all(s.participants <= s.priority_clients for s in shapes)
    assert max(s.participants for s in shapes) > 10


@pytest.mark.parametrize("sizes", [
    (DIM, "==", 6), (DIM, ">=", 3), (operators.clients, "==", 12), (operators.rounds, ">=", 200),
    (operators.iterations, "==", 12),
    (DIM, "==", operators.clients), (operators.clients, "==", 2 * operators.local_steps),
    (3 * operators.rounds, "==", DIM + 4)])
def test_any_condition_on_sizes_is_met_by_all_shapes_that_are_drawn(sizes):
    base = find_claim("fadamgc/eq-208")
    claim, rng = replace(base, conditions=(*base.conditions, Condition(*sizes))), np.random.default_rng(0)
    small, large = small_shapes(claim, rng, 64, 24), extreme_shapes(claim, rng, 64, 40, (40,))
    drawn = [draw_shape(claim, rng, 64, 40) for _ in range(20)]
    assert len(small) > 4 and (large or sizes[0] is operators.rounds)
    assert all(allowed(claim, s.as_sizes()) for s in (*small, *large, *drawn))
    assert len({s.clients for s in drawn}) > 1 or sizes[0] is operators.clients


@pytest.mark.parametrize("sampling", BY_NUMBER)
def test_distinct_participants_are_at_most_the_clients(sampling):
    """Fewer clients than took part: the participants of a scheme that draws each at most once become fewer too."""
    base = find_claim("fadamgc/eq-208")
    claim = replace(base, procedure=replace(base.procedure, sampling=sampling),
                    conditions=(*base.conditions, Condition(operators.clients, "==", 2)))
    many = Shape(clients=5, rounds=1, local_steps=1, participants=4, sampling=sampling)
    found = fitted(claim, many, np.random.default_rng(0), kept=("participants",))
    assert found.clients == 2 and found.participants == (2 if sampling in DISTINCT else 4)


@pytest.mark.parametrize("name, size", [("samples", 5), ("dim", 4)])
def test_sizes_of_clients_with_samples_are_those_that_conditions_ask_for(name, size):
    base = find_claim("fedmoswa/eq-19")
    claim, rng = replace(base, conditions=(*base.conditions, Condition(symbol(name), "==", size))), np.random.default_rng(0)
    shapes = small_shapes(claim, rng, 64, 24) + [draw_shape(claim, rng, 64, 40) for _ in range(5)]
    assert len(shapes) > 5 and all(s.as_sizes()[name] == size for s in shapes)


def test_sizes_of_a_step_at_a_fixed_time_are_those_that_conditions_ask_for():
    base = find_claim("fedalign/lemma-A2")
    claim = replace(base, conditions=(Condition(operators.clients, "==", 9), Condition(DIM, "==", 5)))
    rng = np.random.default_rng(0)
    shapes = small_shapes(claim, rng, 64, 24) + [draw_shape(claim, rng, 64, 40) for _ in range(5)]
    assert len(shapes) > 5 and {(s.clients, s.dim) for s in shapes} == {(9, 5)}


def test_sizes_that_no_instance_has_are_given_up():
    base = find_claim("fadamgc/eq-208")
    claim = replace(base, conditions=(*base.conditions, Condition(operators.rounds**2, "==", 2)))
    assert small_shapes(claim, np.random.default_rng(0), 64, 24) == []
