"""A table of planted faults: each is applied to the running code, and the check that it names must detect it.

The checks are those of the other test files, so a fault here that goes undetected would go undetected there. Faults that
the properties of ``check_algorithm`` detect are in ``fedtheory.testing.faults``.
"""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from fedtheory import Always, Bernoulli, LossMatching, Selection, WithoutReplacement, WithReplacement
from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedprox import Proximal
from synthetic import Draws
from tests.fedtheory import test_engine, test_observables, test_selection, test_trajectory
from tests.fedtheory.conformance import faults, invariants, invariants_limits
from tests.fedtheory.references import test_engine_equals_reference as test_reference


@dataclass(frozen=True)
class Fault:
    """What is wrong, how it is planted, and the check that must fail."""

    what: str
    plant: Callable
    check: Callable


def _invariant(check, kind="diagonal", seeds=range(6)):
    return lambda folder: [check(kind, seed) for seed in seeds]


def _reference(name, row):
    return lambda folder: test_reference.check_equals_reference(name, row)


def _plain(check, *arguments):
    return lambda folder: check(*arguments)


def _resume(row, name="gaussian noise"):
    return lambda folder: test_trajectory.check_resume(row, name, folder / "a.run")


FAULTS = [
    Fault("weights are not renormalised", faults.participation(faults.not_normalised),
          _invariant(invariants.weights_sum_to_one)),
    Fault("S is the sum over all free clients", faults.participation(faults.normalised_by_all),
          _invariant(invariants.weights_sum_to_one)),
    Fault("S ignores who is there", faults.participation(faults.normalised_by_matched),
          _invariant(invariants.weights_sum_to_one)),
    Fault("free clients weigh the same", faults.participation(faults.free_weights_shared),
          _invariant(invariants.infinite_epsilon_is_fedavg_on_all)),
    Fault("the sampling does not reach the aggregation", faults.participation(faults.sampling_forgotten),
          _reference("no noise", "scheme I")),
    Fault("epsilon compared with the wrong sign", faults.replaced(LossMatching, "matches", faults.opposite_sign),
          _invariant(invariants.zero_epsilon_is_fedavg_on_priority)),
    Fault("epsilon one-sided: willing for aligned", faults.replaced(LossMatching, "matches", faults.one_sided),
          _invariant(invariants.alignment_has_two_sides)),
    Fault("ties turned round", faults.replaced(LossMatching, "matches", faults.ties_turned),
          _plain(test_reference.check_ties, True, False)),
    Fault("the objective is averaged over all clients", faults.replaced(LossMatching, "gap", faults.objective_of_all),
          _reference("no noise", "fedalign")),
    Fault("the threshold is a round ahead", faults.replaced(LossMatching, "threshold", faults.one_round_early),
          _reference("one instance per run", "fedalign, falling")),
    Fault("selection decided anew at every local step", faults.read_as("local-every-step"),
          _reference("no noise", "fedalign")),
    Fault("selection decided on the models to be averaged", faults.read_as("local-at-aggregation"),
          _reference("no noise", "fedalign")),
    Fault("warm-up one round short", faults.shifted_warmup(1), _invariant(invariants.warmup_is_fedavg_on_priority)),
    Fault("warm-up one round long", faults.shifted_warmup(-1), _invariant(invariants.warmup_is_fedavg_on_priority)),
    Fault("scheme I draws uniformly", faults.replaced(WithReplacement, "shares", faults.uniform_draws),
          _plain(test_selection.check_scheme_one_frequencies)),
    Fault("a client drawn twice under scheme II", faults.replaced(Draws, "subset", faults.drawn_twice),
          _plain(test_selection.check_scheme_two_frequencies)),
    Fault("scheme II without its factor |P|/s", faults.replaced(WithoutReplacement, "shares", faults.unscaled),
          _invariant(invariants_limits.sampling_is_unbiased_with_exact_variance)),
    Fault("the same clients are there in every round", faults.replaced(Bernoulli, "available", faults.same_round),
          _reference("no noise", "fedalign, stragglers")),
    Fault("absent clients count", faults.replaced(Bernoulli, "available", lambda original: Always.available),
          _reference("no noise", "fedalign, stragglers")),
    Fault("step index one ahead",
          faults.replaced(Algorithm, "step_size", faults.at_time(lambda context: context.iteration + 1)),
          _plain(test_engine.check_step_sizes)),
    Fault("step index restarts in every round",
          faults.replaced(Algorithm, "step_size", faults.at_time(lambda m: m.iteration % m.algorithm.local_steps)),
          _plain(test_engine.check_step_sizes)),
    Fault("proximal term toward the origin",
          faults.replaced(Proximal, "correct", faults.pulled_to_the_origin),
          _invariant(invariants_limits.fedprox_meets_fedavg)),
    Fault("noise not centred", faults.noise(faults.off_centre), _plain(test_engine.check_noise_is_centred)),
    Fault("noise shared by the clients", faults.noise(faults.shared), _plain(test_engine.check_noise_is_independent)),
    Fault("noise the same in every iteration", faults.noise(faults.frozen),
          _plain(test_engine.check_noise_is_independent)),
    Fault("the position in the batch enters the random stream", faults.replaced(Draws, "__init__", faults.by_position),
          _plain(test_engine.check_batch_invariance, "stragglers", "gaussian noise")),
    Fault("resuming restarts the iteration counter", faults.clock_restarted, _resume("fedavg")),
    Fault("resuming restarts the draws of clients", faults.clock_restarted, _resume("scheme I", "logistic")),
    Fault("resuming with other seeds", faults.seeds_renewed, _resume("without replacement")),
    Fault("resuming forgets the clients' own models", faults.resumed_from(faults.models_forgotten), _resume("alone")),
    Fault("resuming forgets who counted", faults.resumed_from(faults.participation_forgotten),
          _resume("at aggregation")),
    Fault("the weight before the round is recorded", faults.recorded("weight", when="round"),
          _plain(test_observables.check_recorded_weight)),
    Fault("psi over all clients", faults.recorded("psi", measure=faults.bias_of_all),
          _plain(test_observables.check_observables, "stragglers", "gaussian noise")),
    Fault("drift from the broadcast model", faults.recorded("drift", measure=faults.drift_from_the_broadcast_model),
          _plain(test_observables.check_observables, "stragglers", "gaussian noise")),
    Fault("only aligned clients are taken to work", faults.replaced(Selection, "trains", faults.only_the_aligned_work),
          lambda folder: [test_observables.check_costs(*row) for row in test_observables.COSTS]),
]


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.what for fault in FAULTS])
def test_the_named_check_passes_without_the_fault_and_fails_with_it(fault, monkeypatch, tmp_path):
    fault.check(tmp_path)
    fault.plant(monkeypatch)
    with pytest.raises(AssertionError):
        fault.check(tmp_path)


def test_no_fault_stays_behind():
    """Planting is undone: the checks that were just seen to fail pass again."""
    test_reference.check_equals_reference("gaussian noise", "fedalign, stragglers")
    test_selection.check_scheme_two_frequencies()
    test_engine.check_noise_is_centred()
