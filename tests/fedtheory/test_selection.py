"""Who is drawn, who is there, and bad input to the engine named in one line."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from fedtheory import (
    ALGORITHMS,
    AllClients,
    Bernoulli,
    FractionOfBoth,
    Independent,
    InverseTime,
    LossMatching,
    Pattern,
    PriorityOnly,
    Selection,
    Tabulated,
    WithoutReplacement,
    WithReplacement,
    from_arrays,
    make_algorithm,
    run,
)
from fedtheory.algorithms.fedavg import FedAvg
from fedtheory.engine import one_round
from fedtheory.method import sampled
from fedtheory.selection import SCHEMES, scheme_of
from fedtheory.testing import Case
from fedtheory.testing.check import first_failure
from fedtheory.testing.property import PROPERTIES
from fedtheory.testing.subject import subject_of
from synthetic import Draws, make_quadratic
from tests.fedtheory.federations import FEDERATIONS, gathered, moved, variant


def test_scheme_one_draws_with_the_clients_weights_and_scheme_two_uniformly():
    check_scheme_one_frequencies()
    check_scheme_two_frequencies()


def _frequencies(sampling, runs=6000):
    """Mean weight in place of p_k over many runs, and its weights one by one."""
    federation = make_quadratic(clients=5, dim=2, weights=[1.0, 2.0, 5.0, 2.0, 7.0], priority=4)
    shares = moved(sampling.shares(federation, Draws(np.arange(runs)), 0))
    return federation, shares


def check_scheme_one_frequencies():
    """Shares are multiples of 1/s that sum to one, their mean is p_k, their variance p_k (1 - p_k) / s."""
    federation, shares = _frequencies(WithReplacement(4))
    p = moved(federation.weights[0] * federation.priority[0])
    assert np.array_equal(shares * 4, np.round(shares * 4)) and np.all(shares.sum(axis=1) == 1)
    assert np.all(np.abs(shares.mean(axis=0) - p) <= 5 * np.sqrt(p * (1 - p) / 4 / len(shares)))
    np.testing.assert_allclose(shares.var(axis=0), p * (1 - p) / 4, atol=6 / len(shares) ** 0.5 / 4)


def check_scheme_two_frequencies():
    """``s`` distinct priority clients, each as often as the others, with weight p_k |P| / s."""
    federation, shares = _frequencies(WithoutReplacement(3))
    p = moved(federation.weights[0] * federation.priority[0])
    counted = shares > 0
    assert np.all(counted.sum(axis=1) == 3) and not counted[:, 4].any()
    np.testing.assert_allclose(shares, counted * p * 4 / 3, atol=1e-15)
    assert np.all(np.abs(counted[:, :4].mean(axis=0) - 0.75) < 5 * (0.1875 / len(shares)) ** 0.5)


@pytest.mark.parametrize(("fraction", "normalisation"), [(0.5, "participants"), (0.5, "unbiased"), (0.01, "participants")])
def test_fraction_of_both_groups(fraction, normalisation):
    federation = make_quadratic(clients=9, dim=2, weights=np.arange(1.0, 10.0), priority=4)
    drawn, draws = FractionOfBoth(fraction, normalisation), Draws(np.arange(4000))
    shares, free = moved(drawn.shares(federation, draws, 0)), moved(drawn.available(federation, draws, 0)) > 0
    p, priority = moved(federation.weights[0]), moved(federation.priority[0]) > 0
    count = max(1, round(fraction * 4))
    assert np.all((shares > 0).sum(axis=1) == count) and not shares[:, ~priority].any()
    assert np.all(free.sum(axis=-1) == int(fraction * 5 + 0.5)) and not free[:, priority].any()
    if normalisation == "participants":
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    else:
        np.testing.assert_allclose(shares, (shares > 0) * (p * priority) * 4 / count)
        np.testing.assert_allclose(shares.mean(axis=0), p * priority, atol=5 * shares.std(axis=0).max() / 4000**0.5)


def test_bernoulli_and_pattern():
    federation = make_quadratic(clients=6, dim=2, priority=2)
    there = moved(Bernoulli(0.3).available(federation, Draws(np.arange(4000)), 2))
    assert np.all(np.abs(there.mean(axis=0) - 0.3) < 5 * (0.21 / 4000) ** 0.5)
    assert np.abs(np.corrcoef(there, rowvar=False) - np.eye(6)).max() < 5 / 4000**0.5
    for probability, value in ((0.0, 0.0), (1.0, 1.0)):
        assert np.all(moved(Bernoulli(probability).available(federation, Draws(range(9)), 0)) == value)
    table = torch.tensor([[True] * 6, [False] * 6])
    assert [bool(Pattern(table).available(federation, None, r).all()) for r in (0, 1, 9)] == [True, False, False]


# bad input ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("sampling", "priority", "same"), [
    (WithoutReplacement(4), 4, True), (WithoutReplacement(3), 4, False), (WithReplacement(4), 4, False),
    (WithReplacement(3), 1, True), (FractionOfBoth(1.0), 4, False),
])
def test_participation_is_the_same_in_all_rounds_where_all_are_drawn(sampling, priority, same):
    federation = make_quadratic(clients=5, dim=2, weights=[1.0, 2.0, 5.0, 2.0, 7.0], priority=priority)
    selection, x, draws = Selection(sampling=sampling), np.zeros((3, 5, 2)), Draws([0, 1, 2])
    assert selection.fixed_on(federation) is same and not selection.fixed
    assert not Selection(sampling=sampling, matching=LossMatching(1.0)).fixed_on(federation)
    if same:
        first, *others = [selection.participate(federation, federation.backend.array(x), draws, r, r) for r in range(4)]
        for other in others:
            for name in ("included", "virtual_weight", "weight"):
                assert (moved(getattr(other, name)) == moved(getattr(first, name))).all()


@pytest.mark.parametrize("priority", [5, 4])
def test_where_nobody_is_drawn_participation_is_decided_as_among_drawn_clients(priority, monkeypatch):
    federation = make_quadratic(clients=5, dim=2, weights=[1.0, 2.0, 5.0, 2.0, 7.0], priority=priority)
    x, draws = federation.backend.array(np.zeros((3, 5, 2))), Draws([0, 1, 2])
    short = Selection().participate(federation, x, draws, 1, 1)
    monkeypatch.setattr(Selection, "fixed", False)
    general = Selection().participate(federation, x, draws, 1, 1)
    for name in ("included", "virtual_weight", "weight"):
        one, other = (moved(getattr(part, name)) for part in (short, general))
        assert one.shape == other.shape and one.dtype == other.dtype and (one == other).all()
    assert short.nobody is general.nobody is None


def _run(**options):
    given = {"algorithm": make_algorithm("fedavg"), "federation": FEDERATIONS["no noise"](), "rounds": 2}
    return run(**given | options)


BAD = {
    "rounds 0": (lambda: _run(rounds=0), "rounds.* 1.*got 0"),
    "rounds 1.5": (lambda: _run(rounds=1.5), "rounds.* 1.*got 1.5"),
    "no seeds": (lambda: _run(seeds=0), "seeds.* 1 .*100000000.*got 0"),
    "empty seeds": (lambda: _run(seeds=[]), r"seeds.*got \[\]"),
    "fractional seeds": (lambda: _run(seeds=[0.5]), r"seeds.*got \[0.5\]"),
    "table of seeds": (lambda: _run(seeds=[[1], [2]]), r"seeds.*got \[\[1\], \[2\]\]"),
    "start too long": (lambda: _run(start=[0.0] * 4), r"start.*\(3,\).*\(1, 3\).*got \(4,\)"),
    "start a number": (lambda: _run(start=1.0), r"start.*\(3,\).*\(1, 3\).*got \(\)"),
    "start of other runs": (lambda: _run(start=np.zeros((2, 3)), seeds=3), r"start.*\(3, 3\).*got \(2, 3\)"),
    "start not a number": (lambda: _run(start=[0.0, np.nan, 0.0]), "finite; got 1 entries"),
    "instances": (lambda: _run(federation=FEDERATIONS["one instance per run"](), seeds=3), "4 instances.*got 3"),
    "observable": (lambda: _run(record=["suboptimalty"]), "'suboptimalty'.*'suboptimality'"),
    "algorithm": (lambda: make_algorithm("fedalgin"), "'fedalgin'.*'fedalign'"),
    "argument": (lambda: make_algorithm("fedavg", epsilon=1.0), "fedavg .*'epsilon'; allowed: eta_l, local_steps"),
    "negative step": (lambda: make_algorithm("fedavg", eta_l=-0.1), "eta_l.* 0.*got -0.1"),
    "step not a number": (lambda: make_algorithm("fedavg", eta_l=float("nan")), "eta_l.* 0.*got nan"),
    "a negative step among several": (lambda: make_algorithm("fedavg", eta_l=np.array([0.1, -0.1])), "eta_l.* 0.*got.*-0.1"),
    "no number among steps": (lambda: make_algorithm("fedavg", eta_l=np.array([0.1, np.nan])), "eta_l.* 0.*got .*nan"),
    "thresholds of other runs": (
        lambda: _run(algorithm=make_algorithm("fedalign", epsilon=np.ones(2)), seeds=3), r"shape \(3,\); got \(2,\)"),
    "time that never starts": (lambda: InverseTime(1.0, 0.0), "offset.* 0.*got 0.0"),
    "local steps 0": (lambda: make_algorithm("fedavg", local_steps=0), "local_steps.* 1.*got 0"),
    "local steps 1.5": (lambda: make_algorithm("fedavg", local_steps=1.5), "local_steps.* 1.*got 1.5"),
    "proximal weight": (lambda: make_algorithm("fedprox", rho_prox=-1.0), "rho_prox.* 0.*got -1"),
    "threshold": (lambda: make_algorithm("fedalign", epsilon=-0.5), "epsilon.* 0.*got -0.5"),
    "warm-up": (lambda: make_algorithm("fedalign", warmup=-1), "warmup.* 0.*got -1"),
    "warm-up of all": (lambda: make_algorithm("fedavg-all", warmup=-1), "warmup.* 0.*got -1"),
    "indicator": (lambda: LossMatching(indicator="local"), "unknown indicator 'local'; allowed: broadcast, local-at"),
    "scheme I of nobody": (lambda: WithReplacement(0), "participants.* 1.*got 0"),
    "scheme I of 1.5": (lambda: WithReplacement(1.5), "participants.* 1.*got 1.5"),
    "scheme II of nobody": (lambda: WithoutReplacement(0), "participants.* 1.*got 0"),
    "scheme II of too many": (
        lambda: _run(algorithm=make_algorithm("fedavg", participants=3)), "participants.* 1 .*2.*got 3"),
    "fraction": (lambda: FractionOfBoth(0.0), "fraction.* 0 .*1.*got 0"),
    "normalisation": (lambda: FractionOfBoth(0.5, "mean"), "allowed: participants, unbiased"),
    "probability": (lambda: Bernoulli(1.5), "probability.* 0 .*1.*got 1.5"),
    "clock": (lambda: Tabulated([1.0], by="epoch"), "allowed: iteration, round"),
    "empty table": (lambda: Tabulated([]), r"not empty; got shape \(0,\)"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named_in_one_line(case):
    action, message = BAD[case]
    with pytest.raises((TypeError, ValueError, LookupError), match=message) as caught:
        action()
    assert "\n" not in str(caught.value)


def test_sampling_needs_equally_many_priority_clients():
    federation = make_quadratic(clients=3, dim=2, instances=2, priority=np.array([[True, True, False], [True] * 3]))
    method = FedAvg(selection=Selection(sampling=WithoutReplacement(2)))
    with pytest.raises(ValueError, match="equally many; got 2 to 3"):
        run(method, federation, 1, seeds=2)


def test_helpers_of_the_tests_build_what_they_say():
    base = FEDERATIONS["no noise"]()
    turned = gathered(base, [4, 2, 3, 1, 0])
    np.testing.assert_array_equal(moved(turned.center)[:, 0], moved(base.center)[:, 4])
    np.testing.assert_array_equal(moved(variant(base, offset=base.offset + 1).offset), moved(base.offset) + 1)


@pytest.mark.parametrize("name", ["fedavg", "scaffold", "fednova", "fedadam"])
def test_independent_clients_are_averaged_and_a_round_without_any_changes_nothing(name):
    """Beside one run by hand for FedAvg; in a round of nobody every array of the state stays."""
    federation = make_quadratic(3, 2, L=4.0, mu=1.0, sigma=0.0, weights=[1.0, 2.0, 3.0], seed=1)
    method = make_algorithm(name, eta_l=0.1).having(selection=Selection(PriorityOnly(), Independent(0.3)))
    state = method.init(federation, federation.x_star + 1.0, draws := Draws([5]))
    seen = set()
    for number in range(12):
        shares = method.selection.sampling.shares(federation, draws, number)[0]
        after = one_round(method, federation, state, draws, number)
        seen.add(nobody := not bool((shares > 0).any()))
        if nobody:
            pairs = [(state.x, after.x), *((old[array], new[array]) for old, new in (
                (state.server, after.server), (state.clients, after.clients)) for array in new)]
            assert all(bool((one == other).all()) for one, other in pairs)
        elif name == "fedavg":
            models = federation.all_clients(state.x)
            ends = models - 0.1 * federation.gradient(models)
            np.testing.assert_allclose(after.x[0], (shares[:, None] * ends[0]).sum(0), rtol=1e-12)
        state = after
    assert seen == {True, False}


def test_independent_sampling_refuses_free_clients_and_chances_outside_of_0_to_1():
    for make in (lambda: Independent(0.0), lambda: Independent(1.5), lambda: Selection(AllClients(), Independent(0.5))):
        with pytest.raises(ValueError, match=r"above 0|at most 1|free clients"):
            make()


# schemes by name -------------------------------------------------------------------------------------------------------
UNEVEN = Case(clients=3, dim=2, rounds=4, local_steps=2, participants=2, runs=1, sigma=0.0)


def test_every_method_samples_by_one_scheme_unless_told_otherwise():
    defaults = {name: method.arguments["sampling"] for name, method in ALGORITHMS.items() if "sampling" in method.arguments}
    assert len(defaults) > 40 and set(defaults.values()) == {"without-replacement"}


def test_schemes_have_names():
    for name, made in SCHEMES.items():
        assert scheme_of(made(2)) == scheme_of(sampled(2, name).sampling) == name
    assert scheme_of(sampled().sampling) == "full" and scheme_of(FractionOfBoth(0.5)) == "FractionOfBoth"


def test_scaffold_reaches_the_optimum_of_unequal_clients():
    """Under every scheme but the one that averages models with weights that do not sum to one."""
    rng, client = np.random.default_rng(0), np.repeat([0, 1, 2, 3], [30, 15, 10, 5])
    features = rng.normal(size=(60, 3))
    federation = from_arrays(features, features @ [5.0, -3.0, 2.0] + 10, client)
    gaps = {}
    for name in SCHEMES:
        method = make_algorithm("scaffold", eta_l=0.02, local_steps=3, participants=2, sampling=name)
        gaps[name] = float(run(method, federation, 400).dataset.suboptimality.values[0, -1])
    assert {name for name, gap in gaps.items() if gap > 1e-8} == {"li2020-scheme-2"}


@pytest.mark.parametrize(("scheme", "fails"), [
    ("li2020-scheme-2", {"translation", "common optimum, sampled"}), ("bernoulli", {"unbiased average"}),
    ("without-replacement", set()), ("with-replacement", set()), ("bernoulli-expected", set())])
def test_the_conformance_suite_tells_schemes_apart(scheme, fails):
    """What a scheme does not keep is seen failing, and nothing else."""
    names = ("translation", "common optimum, sampled", "unbiased average")
    found = {name for name in names if first_failure(
        replace(PROPERTIES[name], schemes=(scheme,)), subject_of("fedavg"), [UNEVEN]) is not None}
    assert found == fails


def test_a_round_without_anybody_is_one_with_no_change_where_the_expected_number_divides():
    """The model stays, and the server's momentum goes on."""
    federation = make_quadratic(3, 2, L=4.0, mu=1.0, sigma=0.0, weights=[1.0, 2.0, 3.0], seed=1)
    method = make_algorithm("fedavgm", eta_l=0.1, beta1=0.5, participants=1, sampling="bernoulli-expected")
    data = run(method, federation, 12, seeds=[3], record=["x", "weight"]).dataset
    x, idle = data.x.values[0], (data.weight.values[0] == 0).all(axis=-1)
    assert idle.any() and not idle.all()
    for r in np.flatnonzero(idle[1:]) + 1:
        np.testing.assert_allclose(x[r + 1] - x[r], 0.5 * (x[r] - x[r - 1]), atol=1e-12)


@pytest.mark.parametrize("make", [
    lambda: Independent(), lambda: Independent(0.5, 2), lambda: Independent(participants=0),
    lambda: Independent(0.5, divisor="nobody"), lambda: WithoutReplacement(2, averaged="gradients"),
    lambda: run(make_algorithm("fedavg", participants=9, sampling="bernoulli"), make_quadratic(3, 2), 1)])
def test_schemes_refuse_what_they_do_not_know(make):
    with pytest.raises(ValueError, match=r"got |unknown"):
        make()
