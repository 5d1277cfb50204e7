"""Every invariant of the specification's section 7 that concerns algorithms, on random federations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory import run
from tests.fedtheory.conformance import invariants as first
from tests.fedtheory.conformance import invariants_limits as limits
from tests.fedtheory.federations import moved

BOTH, QUADRATIC = ["diagonal", "rotated", "logistic"], ["diagonal", "rotated"]
#: number in section 7 and what it says -> (check, kinds of federations on which it makes sense)
INVARIANTS = {
    "1 zero threshold": (first.zero_epsilon_is_fedavg_on_priority, BOTH),
    "2 infinite threshold": (first.infinite_epsilon_is_fedavg_on_all, BOTH),
    "3 no free clients": (first.without_free_clients_epsilon_is_idle, BOTH),
    "4 weights": (first.weights_sum_to_one, BOTH),
    "7 order": (first.order_of_clients_is_idle, BOTH),
    "8 split": (first.a_client_may_be_split, BOTH),
    "9 weight zero": (first.a_weightless_free_client_is_idle, BOTH),
    "10 common offset": (first.a_common_offset_is_idle, QUADRATIC),
    "11 scale": (first.scaling_the_losses, QUADRATIC),
    "12 rotation": (first.rotating_and_shifting, BOTH),
    "13 nested": (first.selection_grows_with_epsilon, BOTH),
    "14 willing": (first.aligned_clients_are_willing, BOTH),
    "14 two sides": (first.alignment_has_two_sides, QUADRATIC),
    "15 warm-up": (first.warmup_is_fedavg_on_priority, BOTH),
    "16 no match": (first.a_round_without_match_is_a_fedavg_round, BOTH),
    "17 replicas": (limits.replicas_are_idle, ["diagonal", "logistic"]),
    "18 common optimum": (limits.a_common_optimum_is_fixed, QUADRATIC),
    "19 proximal": (limits.fedprox_meets_fedavg, BOTH),
    "20 sampling": (limits.sampling_is_unbiased_with_exact_variance, ["diagonal"]),
    "20 everybody drawn": (limits.drawing_everybody_makes_scheme_two_idle, BOTH),
    "21 one priority client": (limits.one_priority_client_makes_sampling_idle, BOTH),
    "22 unit of sizes": (limits.the_unit_of_sizes_is_idle, BOTH),
    "26 mixture": (limits.everybody_converges_to_the_mixture, QUADRATIC),
    "28 light free clients": (limits.light_free_clients_hardly_matter, BOTH),
    "29 ball": (limits.noise_free_iterates_stay_in_the_ball, BOTH),
}


@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name, (_, kinds) in INVARIANTS.items() for kind in kinds])
@settings(deadline=None, max_examples=10)
@given(seed=st.integers(0, 10**6))
def test_invariant(name, kind, seed):
    INVARIANTS[name][0](kind, seed)


@pytest.mark.parametrize("kind", BOTH)
def test_the_examples_see_free_clients_come_and_go(kind):
    """Otherwise many invariants would be checked on plain FedAvg alone."""
    shares = []
    for seed in range(12):
        federation, start, rng = first.example(kind, seed)
        data = run(first.method(rng), federation, first.ROUNDS, start=start, seeds=first.SEEDS, record=["included"]).dataset
        shares.append(data["included"].values[..., moved(federation.priority)[0] == 0].mean())
    assert 0.2 < np.mean(shares) < 0.95 and np.mean([0 < share < 1 for share in shares]) > 0.2
