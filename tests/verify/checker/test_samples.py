"""The stand-alone checker on clients with samples: its words, runs and constants against the referee's, and tampering."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from bounds.language import samples as on_samples
from bounds.language.claim import Condition, Procedure
from bounds.language.names import symbol
from bounds.language.operators import (
    E,
    L_client,
    grad,
    k,
    mu_client,
    norm,
    norm2,
    objective,
    objective_grad,
    rounds,
    x_round,
)
from bounds.registry.claims import find_claim
from synthetic.numbers.arrays import EXACT
from tests.verify.instances.test_data_sets import GAP, LAST, SHAPES, claim_of, linear, random_leaves, shape_of
from verify.checker.instance import Instance
from verify.claims.method import free_starts
from verify.evaluation.evaluate import evaluate
from verify.evaluation.judge import exact_violation
from verify.exact.certificate import certificate
from verify.exact.check import replay_alone as check
from verify.exact.statement import not_replayed
from verify.instances.chance import Chance, chance_of
from verify.measure.simulate import simulate

sigma_g, sigma_g_2, sigma_g_client, server_variate = map(
    symbol, ("sigma_g", "sigma_g_2", "sigma_g_client", "server_variate"))
CLIENTS = ((k, 0, sp.Symbol("clients", integer=True, positive=True) - 1),)
RANDOM = {
    "E": E(GAP), "client": on_samples.E_client(0, GAP), "pair": on_samples.worst_pair_gap(*LAST),
    "absolute gap": on_samples.worst_mean_gap(*LAST), "signed gap": on_samples.worst_mean_signed_gap(*LAST),
    "gap": on_samples.worst_sample_gap(LAST[0], x_round[0]), "used": E(on_samples.replaced[0, 0] * GAP),
    "generalisation": on_samples.E_data(on_samples.F_pop(LAST[0]) - objective(LAST[0])),
    "sample": E(norm2(on_samples.loss_grad(0, on_samples.used_sample[0, 0], LAST[1]))),
    "gradients": E(norm2(objective_grad(LAST[1])) + norm2(grad(0, x_round[rounds]))),
}
GIVEN = {"absolute": on_samples.worst_mean_gap(*LAST), "signed": on_samples.worst_mean_signed_gap(*LAST),
         "data": on_samples.E_data(on_samples.F_pop(LAST[0])) + 0 * GAP}


def exact_leaves(shape, seed):
    return {name: np.vectorize(lambda v: Fraction(round(16 * v), 16), otypes=[object])(array)
            for name, array in random_leaves(shape, seed).items()}


def written(claim, shape, params):
    environment = simulate(claim, shape, params, EXACT)
    sides = exact_violation(claim, environment)
    return environment, json.loads(json.dumps(certificate(claim, environment, *sides)))


@pytest.mark.parametrize("shape", ["one client", "one of two", "three atoms",
                                   pytest.param("two samples", marks=pytest.mark.slow)])
@pytest.mark.parametrize("word", [*RANDOM, *GIVEN])
def test_the_checker_computes_the_same(word, shape):
    """Every word on an instance with rational numbers; the statement says that it is far below its value."""
    left, shape = (RANDOM | GIVEN)[word], SHAPES[shape]
    params = exact_leaves(shape, 3)
    claim = claim_of(left, replaced="any" if word in GIVEN else "random", sampling=shape.sampling)
    claim = replace(claim, statement=Condition(left, "<=", -10**6))
    assert not_replayed(claim) is None
    environment, data = written(claim, shape, params)
    assert Fraction(data["left"]) in np.asarray(evaluate(left, environment)).ravel().tolist()
    result = check(data)
    assert result.accepted, result.reason


@pytest.mark.parametrize("shape", ["two clients", "three atoms"])
def test_constants(shape):
    """L, mu and the variance by the checker's scan of knots and by the federations'."""
    variance = sp.IndexedBase("sigma_sq_client")
    for left in (sp.Sum(L_client[k], *CLIENTS), -sp.Sum(mu_client[k], *CLIENTS), sp.Sum(variance[k], *CLIENTS)):
        claim = replace(claim_of(E(GAP)), statement=Condition(left + E(GAP), "<=", -10**6))
        _, data = written(claim, SHAPES[shape], exact_leaves(SHAPES[shape], 4))
        assert check(data).accepted


def test_heterogeneity_and_lipschitz_constants():
    shape, params = shape_of(2, 1), linear([[1, 3], [5, 5]])
    left = E(GAP) + sigma_g + sigma_g_client[0] + sigma_g_2
    _, data = written(claim_of(left), shape, params)
    assert check(data).accepted
    bounds = Instance(data).given
    assert [bounds[name] for name in ("G_lip", "sigma_g", "sigma_g_2")] == [5, 2, 2]


CHANGES = {
    "an atom": lambda data: data["instance"]["atoms"][0][0].update(center=["7"]),
    "a piece": lambda data: data["instance"]["atoms"][0][0].update(pieces=[[["9"], ["-2"], ["1"]]]),
    "the start": lambda data: data["instance"].update(start_offset=["-5"]),
    "a side": lambda data: data.update(left="3/4"),
    "samples": lambda data: data["sizes"].update(samples=2),
    "an atom less": lambda data: data["instance"]["atoms"][0].pop(),
    "a negative width": lambda data: data["instance"]["atoms"][0][0].update(pieces=[[["1"], ["-2"], ["-1"]]]),
    "what is given": lambda data: data["procedure"].update(replaced="any"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_tampered_certificates_are_rejected(change):
    shape = shape_of(1, 1)
    params = linear([[1, 3]]) | {"sample_curvature": np.array([[[[Fraction(1)]]]])}
    _, data = written(claim_of(3 * E(GAP) + on_samples.E_data(objective(LAST[0]))), shape, params)
    assert check(data).accepted
    CHANGES[change](data)
    assert not check(data).accepted


def test_both_readings_of_gradients_must_be_violated():
    claim = claim_of(E(norm2(objective_grad(x_round[0]))) + 0 * GAP)
    claim = replace(claim, statement=Condition(E(norm2(objective_grad(x_round[0])) + E(GAP) - E(GAP) + GAP), "<=", 1))
    _, data = written(claim, shape_of(1, 1), linear([[1, 3]]))
    assert check(data).accepted
    without = {name: value for name, value in data.items() if name != "also"}
    assert not check(without).accepted
    data["also"]["left"] = "77"
    assert not check(data).accepted


def test_heterogeneity_that_a_hypothesis_bounds_is_not_that_over_all_points():
    """The one client is as far from itself as its gradients at the start are long, which is 3 or 1 of the training loss,
    and 2 of the risk."""
    start = Condition(norm(objective_grad(x_round[0])), "<=", sigma_g)
    claim = replace(claim_of(E(GAP) + sigma_g, start), statement=Condition(E(GAP) + sigma_g, "<=", 1))
    _, data = written(claim, shape_of(1, 1), linear([[1, 3]]))
    assert (data["values"]["sigma_g"], data["also"]["values"]["sigma_g"], data["everywhere"]) == ("3", "2", [])
    assert check(data).accepted, check(data).reason
    data["also"]["values"]["sigma_g"] = "1"
    assert not check(data).accepted


def test_a_loss_that_is_not_lipschitz_is_rejected():
    lipschitz = next(a for a in find_claim("afedpd/lemma-4").assumptions if a.id == "afedpd/assumption-2@sample")
    claim = claim_of(E(GAP), assumptions=(lipschitz,))
    _, data = written(claim, shape_of(1, 1), linear([[1, 3]]))
    assert check(data).accepted
    data["instance"]["atoms"][0][0]["curvature"] = ["1"]
    assert "G_lip" in check(data).reason


@pytest.mark.parametrize("options, outside", [
    ({"option": "I"}, (False, True)), ({"option": "II"}, (False, False)), ({"start": "gradient"}, (True, False)),
    ({"variant": "fresh", "batch": "independent"}, (False, True))])
def test_gradients_outside_the_local_steps_are_replayed(options, outside):
    """Every sample that a method draws is enumerated, before the first round and at the start of every round."""
    procedure = Procedure("fedmoswa", options=(*options.items(), ("eta_g", 1), ("rho_decay", 1), ("gamma", Fraction(1, 2))),
                          equal_weights=True)
    assert chance_of(procedure) == Chance(*outside)
    shape = replace(shape_of(1, 2, 1, 2), chance=Chance(*outside))
    claim = replace(claim_of(E(GAP)), procedure=procedure)
    _, data = written(claim, shape, exact_leaves(shape, 6))
    result = check(data)
    assert result.accepted, result.reason


@pytest.mark.parametrize("options", [(("variant", "fresh"), ("batch", "same")), (("option", "II"),)])
def test_methods_of_coupled_runs_start_where_the_instance_says(options):
    """Certificates carry the start, and both runs have it."""
    numbers = (("eta_g", 1), ("rho_decay", 1), ("gamma", Fraction(1, 2)), ("start", "free"))
    claim = replace(claim_of(E(GAP) + norm2(server_variate[0])),
                    procedure=Procedure("fedmoswa", options=(*options, *numbers), equal_weights=True))
    shape = replace(shape_of(1, 2, 1, 1), chance=chance_of(claim.procedure))
    drawn = shape.family.draw(claim, shape, 3, np.random.default_rng(0))
    starts = {name: np.round(8 * drawn[f"start:{name}"][:1]) for name in free_starts(claim.procedure)}
    assert set(starts) == {"server_variate"} | ({"client_variate"} if options[0][0] == "option" else set())
    exact = {f"start:{name}": EXACT.array(array.tolist()) for name, array in starts.items()}
    _, data = written(claim, shape, exact_leaves(shape, 6) | exact)
    assert data["instance"]["initial"].keys() == starts.keys()
    result = check(data)
    assert result.accepted, result.reason
