"""Strategies for property tests: federations shrink, steps stay below the bound, a planted sign error is caught."""

from dataclasses import dataclass

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from fedtheory import Algorithm, run
from fedtheory.testing import Case, check_algorithm
from fedtheory.testing.strategies import federations, runs


@dataclass(frozen=True)
class Uphill(Algorithm):
    """A sign error: the server goes away from the average of the models."""

    def server_step(self, upload, context):
        return context.state._replace(x=2 * context.x - context.average(upload.model))


def never_rises(method):
    @settings(max_examples=20, database=None, deadline=None)
    @given(runs(method, within=1.0, sigma=0.0, clients=1, free=0, data=False))
    def check(drawn):
        algorithm, case = drawn
        gap = run(algorithm, case.federation(), case.rounds).dataset.suboptimality.values
        assert (gap[..., 1:] <= gap[..., :-1] + 1e-9).all()

    check()


def test_a_sign_error_is_caught():
    never_rises("fedavg")
    with pytest.raises(AssertionError):
        never_rises(Uphill)


def test_federations_shrink_to_the_smallest_and_print_as_they_are_written():
    smallest = find(federations(), lambda case: case.clients >= 2, settings=settings(database=None))
    assert (smallest.clients, smallest.dim, smallest.rounds, smallest.local_steps, smallest.sigma) == (2, 1, 1, 1, 0.0)
    assert eval(repr(smallest)) == smallest and isinstance(smallest, Case)
    with pytest.raises(TypeError, match="no field 'client'; allowed: clients"):
        find(federations(client=2), lambda case: True)


@settings(max_examples=20, database=None, deadline=None)
@given(runs("scaffold", within=0.5))
def test_steps_stay_below_the_bound(drawn):
    algorithm, case = drawn
    assert 0 < algorithm.eta_l * float(case.federation().smoothness().value.max()) <= 0.5 + 1e-12
    assert algorithm.local_steps == case.local_steps


@settings(max_examples=20, database=None, deadline=None)
@given(runs("fedprox", within=lambda case: 1 / (8 * case.local_steps), data=st.booleans(),
            given=lambda case: {"rho_prox": st.floats(2 * case.L - case.mu, 4 * case.L)}))
def test_hyper_parameters_meet_conditions_on_sizes_and_constants(drawn):
    algorithm, case = drawn
    federation = case.federation()
    L, mu = float(federation.smoothness().value.max()), float(federation.convexity().value.min())
    assert 0 < 8 * algorithm.eta_l * L * case.local_steps <= 1 + 1e-12
    assert 0 <= mu <= L and 2 * L - mu <= algorithm.correction.rho_prox <= 4 * L


@dataclass(frozen=True)
class Stops(Algorithm):
    def client_step(self, local, gradient, context):
        return None + 1


def test_what_does_not_run_is_one_plain_error():
    with pytest.raises(TypeError, match=r"Stops does not run: TypeError: unsupported operand.*in client_step"):
        check_algorithm(Stops)
    with pytest.raises(TypeError, match="needs x; give arguments="):
        check_algorithm(lambda x: x)
    with pytest.raises(TypeError, match="must make an Algorithm; got 5"):
        check_algorithm(lambda: 5)
    for nothing in (3, dict):
        with pytest.raises(TypeError, match="expected an Algorithm, a maker or a method's name"):
            check_algorithm(nothing)
