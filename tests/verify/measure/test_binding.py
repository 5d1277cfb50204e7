"""What claims may name beyond the common language: layers, start arrays, chance outside local steps, constants."""

import gc
import weakref
from dataclasses import replace
from fractions import Fraction as Q
from itertools import product

import numpy as np
import pytest
import sympy as sp
import torch

from bounds.language.claim import Claim, Condition, Procedure, Variable
from bounds.language.coordinates import highest, least, raised, reciprocal, root, scaled, square, upper
from bounds.language.layers import largest_sum, layer_part, share
from bounds.language.operators import E, E_round, Sum, clients, eta_l, g, i, k, norm2, r, rounds, x_round
from bounds.registry.claims import find_claim
from synthetic import Quadratic
from synthetic.base.constants import Constant, Constants
from synthetic.numbers.arrays import EXACT, NUMPY, to_numpy
from synthetic.numbers.draws import LAYERS, NOISE, EnumeratedDraws, probability_of_order
from tests.not_empty import not_empty
from verify.claims.method import free_starts
from verify.claims.sizes import allowed, within_bounds
from verify.evaluation.environment import Bindings, Environment, NamedArray, UnboundName
from verify.evaluation.evaluate import evaluate
from verify.evaluation.judge import judge
from verify.instances.chance import Chance, chance_of
from verify.instances.draw import draw_params, draw_shape
from verify.instances.instance import admissible
from verify.instances.outcomes import enumerated, numbers_of_outcomes
from verify.instances.shape import Shape
from verify.measure.constants import known_constant
from verify.measure.simulate import simulate

VECTORS = {"a": [3, 4, 0], "b": [1, 16, 0]}


def environment(backend, layers=(2, 1)):
    federation = Quadratic(np.ones((1, 1, 3)), np.zeros((1, 1, 3)), backend=backend, layers=layers)
    sizes = {"clients": 2, "layers": 2, "rounds": 2, "recycled": 1, "eight": 8}
    found = Environment(backend, sizes, {}, federation=federation)
    for name, values in VECTORS.items():
        found.bound[name] = NamedArray(backend.array(np.array(values)).reshape(1, 1, 1, 3), 0, True)
    found.bound["s"] = NamedArray(backend.array(np.array([5, 7])).reshape(1, 1, 1, 2), 1)
    return found


a, b, s = sp.Symbol("a"), sp.Symbol("b"), sp.IndexedBase("s")
WORDS = [
    (norm2(layer_part(0, a)), 25), (norm2(layer_part(1, a)), 0), (Sum(norm2(layer_part(i, b)), (i, 0, 1)), 257),
    (largest_sum(1, s[i], i, 0, 1), 7), (largest_sum(2, s[i], i, 0, 1), 12), (largest_sum(0, s[i], i, 0, 1), 0),
    (largest_sum(sp.Symbol("recycled"), -s[i], i, 0, 1), -5), (Sum(largest_sum(1, s[i] * k, i, 0, 1), (k, 0, 2)), 21),
    (share(norm2(a), norm2(b)), Q(25, 257)), (share(norm2(layer_part(1, a)), norm2(a)), 0),
    (share(norm2(layer_part(1, a)), norm2(layer_part(1, b))), 0), (Sum(share(s[i], s[i]), (i, 0, 1)), 2),
    (norm2(scaled(a, b, 1)), Q(9, 4) + Q(16, 289)), (norm2(scaled(a, b, 0)), 9 + Q(1, 16)),
    (norm2(reciprocal(b, 1)), Q(1, 4) + Q(1, 289) + 1), (norm2(root(b)), 17), (norm2(square(a)), 81 + 256),
    (norm2(upper(a, b)), 9 + 256), (norm2(raised(a, 1)), 16 + 25 + 1), (least(a), 0),
    (norm2(highest(i, 0, 1, s[i] * a)), 49 * 25),
    (Sum(norm2(highest(i, 0, k, s[i] * (r + 1) * a)), (r, 0, 1), (k, 0, 1)), (1 + 4) * (25 + 49) * 25),
    (sp.exp(sp.Symbol("clients") - 2, evaluate=False), 1), (sp.log(sp.Symbol("clients") - 1, evaluate=False), 0),
    (sp.Symbol("eight") ** sp.Rational(1, 3), 2), (sp.Symbol("eight") ** sp.Rational(-2, 3), Q(1, 4)),
]


@pytest.mark.parametrize("backend", [EXACT, NUMPY], ids=["exact", "floats"])
@pytest.mark.parametrize("expression, value", WORDS, ids=[str(e) for e, _ in WORDS])
def test_words_by_hand(expression, value, backend):
    found = to_numpy(evaluate(expression, environment(backend))).item()
    assert found == (value if backend == EXACT else pytest.approx(float(value), rel=1e-14))


@pytest.mark.parametrize("expression", [sp.exp(sp.Symbol("clients")), sp.Symbol("clients") ** sp.Rational(1, 3)])
def test_irrational_values_are_refused_in_exact_arithmetic(expression):
    with pytest.raises(ArithmeticError, match=r"irrational|not rational"):
        evaluate(expression, environment(EXACT))


def test_layers_need_a_federation():
    with pytest.raises(UnboundName, match="layers"):
        evaluate(norm2(layer_part(0, a)), replace(environment(EXACT), federation=None))


# orders ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("weights, expected", [
    ([1, 2, 1], {(0, 1, 2): Q(1, 6), (1, 0, 2): Q(1, 4), (2, 1, 0): Q(1, 6)}),
    ([0, 1, 0], {(1, 0, 2): Q(1, 2), (0, 1, 2): 0, (2, 0, 1): Q(1, 2)}),
])
def test_probability_of_orders(weights, expected):
    for places, probability in not_empty(expected.items()):
        found = probability_of_order(np.array([places]), EXACT.array(np.array([weights])))
        assert found.tolist() == [probability]


def test_draws_remember_how_probable_their_orders_were():
    draws = EnumeratedDraws({LAYERS: np.array([[[0, 1]] * 3, [[1, 0]] * 3])}, EXACT)
    assert draws.order_probability is None
    for time in range(2):
        draws.order(LAYERS, time, EXACT.array([[1, 2]]))
    assert draws.order_probability.tolist() == [Q(1, 9), Q(4, 9)]


def test_gradients_outside_the_local_steps_need_their_outcomes():
    table, keys = {NOISE: np.array([[[0], [0], [1]]])}, torch.zeros((1, 1), dtype=torch.int64)
    assert EnumeratedDraws(table, outside=frozenset({-1})).category(NOISE, None, -1, keys).tolist() == [[1]]
    with pytest.raises(KeyError, match="time -1"):
        EnumeratedDraws(table).category(NOISE, None, -1, keys)


@pytest.mark.parametrize("procedure, expected", [
    (Procedure(), Chance()),
    (Procedure("fedluar"), Chance(layers=True)),
    (Procedure("fedmoswa", options=(("option", "I"),)), Chance(extra=True)),
    (Procedure("fedmoswa", options=(("start", "gradient"),)), Chance(start=True)),
    (Procedure("fedmoswa", options=(("variant", "fresh"), ("start", "free"))), Chance(extra=True)),
    (Procedure("fadamgc", sampling="without-replacement", options=(("trackers", 1),)),
     Chance(trackers=True, subset="trackers")),
])
def test_what_methods_draw(procedure, expected):
    assert chance_of(procedure) == expected


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("chance", [Chance(), Chance(start=True), Chance(extra=True), Chance(start=True, extra=True),
                                    Chance(trackers=True)])
def test_numbers_and_weights_of_outcomes(chance, symmetric):
    shape = Shape(clients=3, local_steps=1, rounds=2, participants=2, sampling="without-replacement", noisy=(0,),
                  rare=Q(1, 4), chance=chance, symmetric=symmetric)
    found = enumerated(shape, np.full((1, 3), Q(1, 3)), EXACT)
    assert (found.noise_weight.shape[1], found.sampling_weight.shape[1]) == numbers_of_outcomes(shape)
    assert found.noise_weight.sum() == found.sampling_weight.sum() == 1
    assert found.noise_start == (3 if symmetric else 2) ** chance.start


@pytest.mark.parametrize("chance", [
    Chance(subset="trackers"), Chance(layers=True, subset="trackers"), Chance(trackers=True, subset="trackers")])
@pytest.mark.parametrize("sampling, participants, sizes", [
    ("full", 1, ()), ("with-replacement", 2, ()), ("without-replacement", 3, ()), ("full", 1, (("trackers", 2),)),
    ("without-replacement", 3, (("trackers", 2),))])
def test_outcomes_are_counted_as_they_are_listed(chance, sampling, participants, sizes):
    shape = Shape(clients=4, free=sampling != "full", rounds=2, dim=3, layers=(1, 2), participants=participants,
                  sampling=sampling, chance=chance, sizes=sizes)
    if chance.trackers and sampling == "with-replacement":
        with pytest.raises(NotImplementedError, match="without replacement"):
            numbers_of_outcomes(shape)
    else:
        weights = np.full((1, 4), Q(1, 3))
        assert enumerated(shape, weights, EXACT).sampling_weight.shape[1] == numbers_of_outcomes(shape)[1]


@pytest.mark.parametrize("sampling, participants, trackers", [
    ("full", 1, 1), ("full", 1, 3), ("without-replacement", 2, 1), ("without-replacement", 2, 2)])
def test_every_set_of_so_many_trackers_is_an_outcome(sampling, participants, trackers):
    """A client is among the trackers in one round of n / Y, and renews its y_k, here its gradient -1 at 0, only then."""
    claim = claim_of(Procedure("fadamgc", sampling=sampling, equal_weights=True))
    shape = Shape(clients=3, rounds=2, participants=participants, sampling=sampling, sizes=(("trackers", trackers),),
                  chance=chance_of(claim.procedure))
    params = leaves_of(shape, center=[[[1], [1], [1]]], start_offset=[[-1]])
    environment = simulate(claim, shape, params, NUMPY, values={
        name: NamedArray(np.zeros((1, 1, 1))) for name in ("beta1", "beta2", "eps")})
    assert np.prod(environment.bound["tracked"].data.shape[:3]) == np.prod(numbers_of_outcomes(shape))
    weight = environment.sampling_weight.astype(float)[..., None]
    tracked = (environment.bound["tracked"].data[0, 0] * weight[0, :, None]).sum(axis=0)
    assert tracked == pytest.approx(np.full((2, 3), trackers / 3))
    kept = (environment.bound["client_variate"].data[0, 0, :, 1, :, 0] * weight[0]).sum(axis=0)
    assert kept == pytest.approx(np.full(3, -trackers / 3))


# means -------------------------------------------------------------------------------------------------------------------
EVERY = (r, 0, rounds - 1)


def claim_of(procedure, variables=(), conditions=()):
    return Claim("test/claim", "1", "control", "run", Condition(norm2(x_round[rounds]), ">=", 0), procedure=procedure,
                 derivation="none", variables=variables, conditions=conditions)


def leaves_of(shape, **others):
    one = np.ones((1, shape.clients, shape.dim))
    params = {
        "curvature": one * 1, "center": one * np.arange(1, shape.dim + 1), "offset": np.zeros((1, shape.clients)),
        "weight": np.ones((1, shape.clients)), "step_fraction": np.full((1, shape.iterations), 0.5),
        "step_scale": np.ones((1, 1)),
        "start_offset": np.ones((1, shape.dim)), "noise": np.full((1, len(shape.noisy), shape.dim), 2.0),
        "epsilon": np.zeros((1, shape.rounds + 1)), "available": np.ones((1, shape.rounds + 1, shape.clients)),
    }
    return params | {name: np.array(value, dtype=float) for name, value in others.items()}


def test_layers_are_drawn_as_often_as_their_scores_say():
    """Two layers from x = (2, 3) towards (1, 2) with step 1/2: changes (-1/2, -1/2), scores 1/4 and 1/6, so the second layer
    is recycled with probability (6) / (4 + 6) = 3/5. Round 1 changes by -1/4, or by -1/2 where it is recycled."""
    shape = Shape(dim=2, rounds=2, sizes=(("recycled", 1),), layers=(1, 1), chance=Chance(layers=True))
    claim = claim_of(Procedure("fedluar"), (Variable("recycled", "integer"),))
    found = simulate(claim, shape, leaves_of(shape), NUMPY)
    expected = 2 / 5 * (1.0**2 + 2.25**2) + 3 / 5 * (1.25**2 + 2.0**2)
    assert to_numpy(evaluate(E(norm2(x_round[rounds])), found)).item() == pytest.approx(expected, rel=1e-13)


CASES = [
    (Procedure("fedluar"), (Variable("recycled", "integer"),), {"sizes": (("recycled", 1),), "layers": (1, 1)}, {}),
    (Procedure("fedmoswa", options=(("option", "I"), ("start", "gradient"))), (), {}, {}),
    (Procedure("fedmoswa", options=(("variant", "fresh"),)), (), {}, {}),
]


@pytest.mark.parametrize("procedure, variables, fields, others", CASES, ids=["layers", "start and extra", "fresh"])
def test_means_of_conditional_means_are_means(procedure, variables, fields, others):
    shape = Shape(clients=2, dim=2, rounds=2, noisy=(0,), rare=Q(1, 4), chance=chance_of(procedure, variables), **fields)
    found = simulate(claim_of(procedure, variables), shape, leaves_of(shape, **others), NUMPY)
    goal = norm2(x_round[rounds])
    whole = to_numpy(evaluate(E(goal), found)).item()
    for known in range(3):
        mean = to_numpy(evaluate(E(E_round(goal, known)), found)).item()
        assert mean == pytest.approx(whole, rel=1e-13)
    last = to_numpy(evaluate(E_round(goal, rounds), found))
    assert np.allclose(last, np.broadcast_to(to_numpy(evaluate(goal, found)), last.shape), rtol=1e-13)


def test_noise_before_the_first_round_by_brute_force():
    """One client with c = g(x0) and m = g(x0): both cancel in every step, so the start's noise has no effect; with m = 0
    (clients only) the first step is along g - c, noise of the step minus noise of the start."""
    shape = Shape(dim=1, rounds=1, noisy=(0,), rare=Q(1, 4), chance=Chance(start=True))
    options = (("start", "gradient-clients-only"), ("rho_decay", 1), ("eta_g", 1))
    found = simulate(claim_of(Procedure("fedmoswa", options=options)), shape, leaves_of(shape), NUMPY)
    atoms = {Q(3, 2): Q(1, 4), Q(-1, 2): Q(3, 4)}
    expected = sum(p * q * (2 - Q(1, 2) * (one - other)) ** 2 for (one, p), (other, q) in product(atoms.items(), repeat=2))
    assert to_numpy(evaluate(E(norm2(x_round[1])), found)).item() == pytest.approx(float(expected), rel=1e-14)


# start arrays ------------------------------------------------------------------------------------------------------------
def test_arrays_that_start_anywhere_are_leaves():
    procedure = Procedure("fedmoswa", options=(("start", "free"),), equal_weights=True)
    assert free_starts(procedure) == {"client_variate": True, "server_variate": False}
    assert free_starts(Procedure("fedmoswa", options=(("variant", "fresh"), ("start", "free")))) == {"server_variate": False}
    shape = Shape(clients=2, dim=2)
    claim = claim_of(procedure)
    params = draw_params(claim, shape, 3, np.random.default_rng(0))
    assert params["start:client_variate"].shape == (3, 2, 2) and params["start:server_variate"].shape == (3, 2)
    found = simulate(claim, shape, params, NUMPY)
    assert np.array_equal(found.bound["client_variate"].data[:, 0, 0, 0], params["start:client_variate"])


# constants over R^dim ------------------------------------------------------------------------------------------------------
def test_heterogeneity_over_the_space():
    """Gradients differ from their mean by (1, 0) * 2 and its opposite: centers (0, 0), (4, 0), curvature 1."""
    names = [sp.Symbol(n) for n in ("sigma_g", "sigma_g_2", "sigma_g_max")]
    statement = Condition(sum(names) + sp.IndexedBase("sigma_g_client")[0], "==", 8)
    claim = Claim("test/claim", "1", "control", "point", statement, derivation="none",
                  procedure=Procedure(equal_weights=True))
    shape = Shape(clients=2, dim=2)
    params = draw_params(claim, shape, 1, np.random.default_rng(0))
    assert params["curvature"].shape == (1, 1, 2)
    params |= {"curvature": np.ones((1, 1, 2)), "center": np.array([[[0.0, 0.0], [4.0, 0.0]]])}
    found = judge(claim, simulate(claim, shape, params, NUMPY))
    assert found.met.tolist() == [True] and found.score[0] <= 0
    params["curvature"] = np.array([[[1.0, 1.0], [1.0, 2.0]]])
    assert judge(claim, simulate(claim, shape, params, NUMPY)).met.tolist() == [False]
    with pytest.raises(ArithmeticError, match="Hessians"):
        simulate(claim, shape, {n: np.vectorize(Q, otypes=[object])(v) for n, v in params.items()}, EXACT)


# sizes -------------------------------------------------------------------------------------------------------------------
def test_sizes_are_drawn_within_what_conditions_say():
    claim, rng = find_claim("fedluar/eq-3-5"), np.random.default_rng(0)
    shapes = [draw_shape(claim, rng, 64, 40) for _ in range(60)]
    assert all(dict(shape.sizes)["recycled"] <= len(shape.layers) for shape in shapes)
    assert {len(shape.layers) for shape in shapes} >= {1, 2} and any(shape.rounds > 1 for shape in shapes)
    wrong = replace(shapes[0], sizes=(("recycled", len(shapes[0].layers) + 1),))
    assert not allowed(claim, wrong.as_sizes())
    assert not admissible(claim, wrong, {})
    assert within_bounds(claim, wrong.as_sizes(), rng)["recycled"] <= len(wrong.layers)


def test_empty_ranges_hold():
    claim = replace(claim_of(Procedure()), statement=Condition(E_round(norm2(g[r, k]), r), "<=", -1, (
        (r, 1, rounds - 1), (k, 0, clients - 1))), conditions=(Condition(eta_l[r], "<=", 1, ((r, 1, rounds - 1),)),))
    found = judge(claim, simulate(claim, Shape(), leaves_of(Shape()), NUMPY))
    assert found.met.tolist() == [True] and found.score.tolist() == [-1.0]


def test_what_is_bound_later_is_made_once_when_somebody_asks():
    made, names = [], Bindings()
    names.later("x", lambda: made.append("x") or NamedArray(np.zeros((1, 1, 1))))
    handed_on = names.copy()
    assert "x" in names and names.get("y") is None and not made
    assert names["x"] is names.get("x") is dict(names.items())["x"]
    assert made == ["x"]
    assert handed_on["x"].indices == 0 and made == ["x", "x"]


def test_constants_are_made_group_by_group_as_far_as_somebody_asks():
    made = []

    def group(name):
        return lambda: made.append(name) or {name: Constant(1.0)}

    constants = Constants({"L": Constant(2.0)}, (group("Gamma"), group("G")))
    assert constants.value("L") == 2 and not made
    assert "Gamma" in constants and made == ["Gamma"]
    with pytest.raises(KeyError, match="no constant 'H'; it has G, Gamma, L"):
        constants["H"]
    assert made == ["Gamma", "G"] and len(constants) == 3


def test_a_constant_that_clients_lack_is_a_name_that_nothing_supplies():
    assert known_constant(Constants({"L": Constant(2.0)}), "L") == 2
    with pytest.raises(UnboundName, match="nothing supplies 'F_star_client'"):
        known_constant(Constants({"L": Constant(2.0)}), "F_star_client")


@pytest.mark.parametrize("name", [
    "classical/gd-distance", "fedmoswa/eq-94", "fedluar/lemma-3.1", "afedpd/lemma-2"])
def test_arrays_of_a_run_are_freed_at_once(name):
    """An environment in a reference cycle keeps its arrays until the garbage collector runs; a growth search ended for want
    of memory by that."""
    claim, rng = find_claim(name), np.random.default_rng(0)
    shape = draw_shape(claim, rng, 16, 10)
    params = draw_params(claim, shape, 3, rng)
    gc.disable()
    try:
        environment = simulate(claim, shape, params, NUMPY)
        evaluate(E(norm2(x_round[rounds])), environment)
        gone = weakref.ref(environment)
        del environment
        assert gone() is None
    finally:
        gc.enable()
