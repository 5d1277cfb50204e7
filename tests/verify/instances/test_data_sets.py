"""Claims about samples: data sets, replaced samples and coupled runs against plain loops and against numbers by hand."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from bounds.language import samples as on_samples
from bounds.language.claim import Assumption, Claim, Condition, Procedure
from bounds.language.functions import f_grad, u
from bounds.language.names import symbol
from bounds.language.operators import E, eta_l, k, norm, objective, objective_grad, rounds, t, x_round
from synthetic.numbers.arrays import BALLS, EXACT, NUMPY
from synthetic.numbers.draws import SAMPLES
from tests.verify.instances.coupled_by_hand import Loops
from verify.checker.instance import Instance
from verify.claims.needs import speaks_of_samples
from verify.evaluation.evaluate import evaluate, sides
from verify.evaluation.judge import exact_violation
from verify.exact.certificate import certificate
from verify.exact.check import replay_alone as check
from verify.instances.data_sets import DataSets, data_sets_of
from verify.instances.samples import SampleClients
from verify.instances.shape import Shape
from verify.measure.simulate import simulate

sigma_g, sigma_g_2, sigma_g_client = map(symbol, ("sigma_g", "sigma_g_2", "sigma_g_client"))
LAST = x_round[rounds], on_samples.twin_x_round[rounds]
GAP = norm(LAST[0] - LAST[1])
STEP = Condition(eta_l[t], "==", sp.Rational(1, 4), ((t, 0, sp.Symbol("iterations", integer=True) - 1),))


def claim_of(left, *hypotheses, replaced="random", sampling="full", assumptions=()):
    procedure = Procedure(equal_weights=True, replaced=replaced, sampling=sampling)
    return Claim("user/coupled", "1", "lemma", "run", Condition(left, "<=", 0), assumptions, (STEP, *hypotheses),
                 derivation="for tests", procedure=procedure)


def random_leaves(shape, seed):
    rng = np.random.default_rng(seed)
    lead = (1, shape.clients, shape.family.atoms)
    pieces = (*lead, shape.family.pieces, 1)
    return {
        "sample_curvature": rng.uniform(0.5, 2, (1, shape.clients, 1, 1)), "sample_center": rng.normal(size=(*lead, 1)),
        "sample_slope": rng.normal(size=pieces), "sample_knot": rng.normal(size=pieces),
        "sample_width": rng.uniform(0.1, 2, pieces), "sample_offset": rng.normal(size=lead),
        "start_offset": rng.normal(size=(1, 1)), "weight": np.ones((1, shape.clients)),
    }


def measured(left, shape, params, backend=NUMPY, **options):
    """The left side's value on one instance, a number where it has no axis of chance left."""
    claim = claim_of(left, sampling=shape.sampling, **options)
    assert speaks_of_samples(claim)
    value = np.asarray(evaluate(left, simulate(claim, shape, params, backend)))
    return value.reshape(-1)[0] if value.size == 1 else value


def shape_of(clients, samples, local_steps=1, total=1, participants=None, pieces=1, atoms=2):
    sampling = "full" if participants is None else "without-replacement"
    return Shape(clients=clients, local_steps=local_steps, rounds=total, participants=participants or clients,
                 sampling=sampling, family=SampleClients(samples, atoms, pieces))


SHAPES = {
    "one client": shape_of(1, 2, 2), "two clients": shape_of(2, 1, 2, 2), "two samples": shape_of(2, 2),
    "one of two": shape_of(2, 1, 1, 2, participants=1), "three atoms": shape_of(1, 2, atoms=3),
    "two rounds": shape_of(1, 2, 1, 2),
}


def generalisation(run, twin, data, *_, loops):
    return loops.population(run[-1]) - loops.training(data, run[-1])


def not_used(loops, before):
    def given(data, twin, where, used, drawn):
        client, sample = where
        return not any(used[t][client] == sample and client in drawn[t // loops.K] for t in range(before * loops.K))

    return given


def compare_all(shape, seed):
    """Every word against the loops, on one random instance."""
    params = random_leaves(shape, seed)
    count = shape.iterations
    loops = Loops(params, shape.family.samples, shape.local_steps, shape.rounds, [0.25] * count, shape.participants)
    apart = loops.mean(lambda run, twin, *_: abs(run[-1] - twin[-1]))
    by_client = [loops.mean(lambda run, twin, *_: abs(run[-1] - twin[-1]), lambda d, w, where, *_, c=c: where[0] == c)
                 for c in range(shape.clients)]
    gap = loops.mean(lambda *case: generalisation(*case, loops=loops))
    close = {"rtol": 1e-10, "atol": 1e-12}
    np.testing.assert_allclose(measured(E(GAP), shape, params), apart, **close)
    for client, expected in enumerate(by_client):
        np.testing.assert_allclose(measured(on_samples.E_client(client, GAP), shape, params), expected, **close)
    left = on_samples.E_data(on_samples.F_pop(x_round[rounds]) - objective(x_round[rounds]))
    np.testing.assert_allclose(measured(left, shape, params), gap, **close)
    for word, absolute, replaced in ((on_samples.worst_pair_gap, False, "random"), (on_samples.worst_mean_gap, True, "any"),
                                     (on_samples.worst_mean_signed_gap, False, "any")):
        found = measured(word(*LAST), shape, params, replaced=replaced)
        np.testing.assert_allclose(found, loops.worst_pair(absolute), **close)


@pytest.mark.parametrize("name", SHAPES)
def test_words_agree_with_plain_loops(name):
    compare_all(SHAPES[name], seed=len(name))


@pytest.mark.parametrize("name", ["one client", "one of two", "two rounds", "two samples"])
@pytest.mark.parametrize("before", [0, 1])
def test_expectations_in_one_world(name, before):
    """Where data and replaced sample are given, every world has its own mean, and a supremum is one of means."""
    shape = SHAPES[name]
    params = random_leaves(shape, 5)
    steps = [0.25] * shape.iterations
    loops = Loops(params, shape.family.samples, shape.local_steps, shape.rounds, steps, shape.participants)
    given = not_used(loops, before)
    sums = {}
    for case in loops.cases():
        data, twin, where, used, drawn = case
        if where[1] == 0 and given(*case):
            apart = abs(loops.run(data, used, drawn)[-1] - loops.run(twin, used, drawn)[-1])
            sums.setdefault((data, where[0], tuple(map(tuple, twin))), []).append(apart)
    expected = sorted(np.mean(values) for values in sums.values())
    left = on_samples.E_unused(before, GAP) if before else E(GAP)
    found = measured(left, shape, params, replaced="any").reshape(-1)
    data_sets = shape.family.data_sets(shape.clients)
    found = found.reshape(data_sets, -1)
    np.testing.assert_allclose(found, found[:, :1] + 0 * found, rtol=1e-12)
    distinct = sorted(found[:, 0])
    if len(sums) == data_sets:
        np.testing.assert_allclose(distinct, expected, rtol=1e-10, atol=1e-12)
    else:
        np.testing.assert_allclose(sorted(set(np.round(distinct, 9))), sorted(set(np.round(expected, 9))), atol=1e-8)


# numbers by hand ------------------------------------------------------------------------------------------------------
def linear(slopes):
    """Losses that are linear to the right of -1, of the given slopes, (clients, atoms); runs start at 100."""
    slopes = np.array(slopes, dtype=object)[None, ..., None, None]
    one = 0 * slopes + Fraction(1)
    return {
        "sample_curvature": 0 * one[:, :, :1, 0], "sample_center": 0 * one[..., 0], "sample_slope": slopes,
        "sample_width": one, "sample_knot": -2 * one, "sample_offset": 0 * one[..., 0, 0],
        "start_offset": np.array([[Fraction(100)]]), "weight": one[:, :, 0, 0, 0],
    }


def test_one_linear_client():
    """Slopes 1 and 3 with one sample: the models are apart by the step times |1 - 3| in half of the cases."""
    shape, params = shape_of(1, 1), linear([[1, 3]])
    assert measured(E(GAP), shape, params, EXACT) == Fraction(1, 4)
    left = on_samples.E_data(on_samples.F_pop(x_round[rounds]) - objective(x_round[rounds]))
    assert measured(left, shape, params, EXACT) == Fraction(1, 4)  # the step times the variance of the slopes
    # losses 1 (v + 3/2) and 3 (v + 3/2): the worst sample has slope 3 and the models are 1/2 apart
    assert measured(on_samples.worst_pair_gap(*LAST), shape, params, EXACT) == Fraction(3, 2)
    assert measured(on_samples.worst_sample_gap(*LAST), shape, params, EXACT) == 0  # neighbours can be exchanged
    assert measured(on_samples.worst_mean_gap(*LAST), shape, params, EXACT, replaced="any") == Fraction(3, 2)


def test_one_sample_in_two_is_met_in_half_of_the_steps():
    params = linear([[1, 3]])
    assert measured(E(GAP), shape_of(1, 2), params, EXACT) == Fraction(1, 8)
    assert measured(E(GAP), shape_of(1, 2, 2, 1), params, EXACT) == Fraction(2, 8)
    # two clients, of which only the second one's samples differ: half of the time, half of the distance
    two = linear([[1, 1], [1, 3]])
    assert measured(E(GAP), shape_of(2, 1), two, EXACT) == Fraction(1, 16)
    assert measured(on_samples.E_client(0, GAP), shape_of(2, 1), two, EXACT) == 0
    assert measured(on_samples.E_client(1, GAP), shape_of(2, 1), two, EXACT) == Fraction(1, 8)


def test_what_samples_are_used():
    """The first of two samples is the replaced one, and the gradient of a used sample is that of its atom."""
    shape, params = shape_of(1, 2), linear([[1, 3]])
    t_, used = 0, on_samples.used_sample
    own = norm(on_samples.loss_grad(0, used[t_, 0], x_round[0]) - sp.IndexedBase("g")[t_, 0])
    assert measured(E(own + 0 * GAP), shape, params, EXACT) == 0
    assert measured(E(on_samples.replaced[t_, 0]), shape, params, EXACT) == Fraction(1, 2)
    moved = (1 - on_samples.replaced[t_, 0]) * GAP
    assert measured(E(moved), shape, params, EXACT) == 0
    claim = claim_of(E(on_samples.differing[k]), replaced="any")
    both = simulate(claim, shape_of(2, 1), linear([[1, 3], [1, 3]]), EXACT).bound["differing"].data
    assert both.sum(axis=-1).min() == both.sum(axis=-1).max() == 1


def test_suprema_are_compared_with_suprema():
    """A supremum over neighbouring data sets stands against the largest right side, not against that of every pair."""
    statement = Condition(on_samples.worst_mean_gap(*LAST), "<=", 3 * E(GAP))
    claim = replace(claim_of(E(GAP), replaced="any"), statement=statement)
    left, right, _ = sides(statement, simulate(claim, shape_of(1, 1), linear([[1, 3]]), EXACT))
    assert (left.ravel().tolist(), right.ravel().tolist()) == ([Fraction(3, 2)], [Fraction(3, 2)])


def test_constants_hold_for_samples_law_and_data():
    names = (sp.Symbol("sigma_sq", nonnegative=True), sigma_g, sigma_g_client[0], sp.Symbol("G_lip"))
    sigma_sq = names[0]
    client = sp.IndexedBase("sigma_sq_client")
    over = ((k, 0, sp.Symbol("clients", integer=True, positive=True) - 1),)
    lipschitz = Assumption("user/lipschitz", "Lipschitz", everywhere=Condition(norm(f_grad(u)) ** 2, "<=", names[3]))
    left = E(GAP) + sum(names)
    claim = claim_of(left, Condition(client[k], "<=", sigma_sq, over), assumptions=(lipschitz,))
    environment = simulate(claim, shape_of(2, 1), linear([[1, 3], [5, 5]]), EXACT)
    found = [np.asarray(evaluate(name, environment)).item() for name in names]
    # variance of the slopes 1, 3; means 2 and 5, data sets 1 and 5 as well: distances up to 2 from their mean; slope 5
    assert found == [1, 2, 2, 5]


def test_gradients_of_training_loss_and_of_population_risk():
    """A violation must be one for the gradients of both; here the first data set's gradient is 1, the law's 2."""
    claim = claim_of(E(norm(objective_grad(x_round[0]))) + 0 * E(GAP))
    environment = simulate(claim, shape_of(1, 1), linear([[1, 3]]), EXACT)
    given = norm(objective_grad(x_round[0]))
    assert sorted(set(np.asarray(evaluate(given, environment)).ravel())) == [1, 3]
    assert set(np.asarray(evaluate(given, environment.also)).ravel()) == {2}


def test_bounded_losses():
    """They lie between their offset and H_loss, and reach both; on a grid, and by the checker."""
    shape = replace(shape_of(2, 1, pieces=2), family=SampleClients(1, 2, 2, bounded=True))
    rng = np.random.default_rng(2)
    params = {name: np.vectorize(lambda v: Fraction(round(8 * v), 8), otypes=[object])(array)
              for name, array in random_leaves(shape, 2).items()}
    params["sample_curvature"] *= 0
    params["sample_offset"] = np.abs(params["sample_offset"])
    claim = claim_of(on_samples.worst_mean_gap(*LAST) + on_samples.H_loss, replaced="any")
    environment = simulate(claim, shape, params, EXACT)
    found = environment.bound["H_loss"].data.item()
    grid = np.concatenate([np.linspace(-50, 50, 20001), rng.normal(size=99)])
    each = environment.data_sets.each.to(NUMPY)
    values = np.stack([each.value(np.full((1, each.clients, 1), v))[0] for v in grid])
    np.testing.assert_allclose(values.max(), float(found), rtol=1e-3)
    np.testing.assert_allclose(values.min(axis=0), params["sample_offset"].reshape(-1).astype(float), atol=1e-3)
    data = certificate(claim, environment, *exact_violation(claim, environment))
    assert check(json.loads(json.dumps(data))).accepted
    assert Instance(data).given["H_loss"] == found


# faults ---------------------------------------------------------------------------------------------------------------
def other_samples(monkeypatch):
    """The coupled run uses sample numbers of its own."""
    right = DataSets.draws

    def wrong(self, rows, backend):
        draws = right(self, rows, backend)
        own, twin = np.split(draws.tables[SAMPLES], 2)
        draws.tables[SAMPLES] = np.concatenate([own, twin.max() - twin])
        return draws

    monkeypatch.setattr(DataSets, "draws", wrong)


def of_the_first_client(monkeypatch):
    """It is always the first client's sample that is replaced."""
    def wrong(*arguments):
        data_sets = data_sets_of(*arguments)
        twin = data_sets.data.copy()
        twin[:, 0, 0] = data_sets.twin[np.arange(data_sets.count), data_sets.replaced, 0]
        return replace(data_sets, twin=twin)

    monkeypatch.setattr("verify.instances.sample_federations.data_sets_of", wrong)


def no_fresh_sample(monkeypatch):
    """The replaced sample becomes the first atom."""
    def wrong(*arguments):
        data_sets = data_sets_of(*arguments)
        twin = data_sets.data.copy()
        twin[np.arange(data_sets.count), data_sets.replaced, 0] = 0
        return replace(data_sets, twin=twin)

    monkeypatch.setattr("verify.instances.sample_federations.data_sets_of", wrong)


def supremum_inside(monkeypatch):
    """The supremum over samples inside the expectation."""
    monkeypatch.setattr(DataSets, "mean_given", lambda self, data: data.max(axis=2, keepdims=True))


def any_client(monkeypatch):
    """E_client without its condition."""
    right = DataSets.mean_of_client

    def wrong(self, data, clients, *arguments):
        return sum(right(self, data, 0 * clients + c, *arguments) for c in range(self.data.shape[1])) / self.data.shape[1]

    monkeypatch.setattr(DataSets, "mean_of_client", wrong)


@pytest.mark.parametrize("fault, name", [
    (other_samples, "one client"), (of_the_first_client, "two clients"), (no_fresh_sample, "two samples"),
    (supremum_inside, "one client"), (any_client, "two clients")])
def test_planted_faults_are_noticed(monkeypatch, fault, name):
    fault(monkeypatch)
    with pytest.raises(AssertionError, match="Not equal"):
        compare_all(SHAPES[name], seed=1)


@pytest.mark.parametrize("option", ["sam", "none"])
def test_coupled_runs_on_balls(option):
    """Constants with roots and pieces, and a method with roots, as in floats."""
    left = E(GAP) + sigma_g_2 + sigma_g_client[0]
    base = Procedure("fedsam", options=(("rho_sam", Fraction(1, 3)),)) if option == "sam" else Procedure()
    shape, params = SHAPES["two clients"], random_leaves(SHAPES["two clients"], 5)
    params["sample_curvature"] = params["sample_curvature"][:, :1] + 0 * params["sample_curvature"]
    claim = replace(claim_of(left), procedure=replace(base, equal_weights=True, replaced="random"))
    floats = np.asarray(evaluate(left, simulate(claim, shape, params, NUMPY))).item()
    exact = {name: np.vectorize(Fraction, otypes=[object])(array) for name, array in params.items()}
    ball = np.asarray(evaluate(left, simulate(claim, shape, exact, BALLS))).item()
    assert float(ball) == pytest.approx(floats, rel=1e-9) and ball.radius < 1e-9
