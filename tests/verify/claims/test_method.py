"""Claims about methods other than FedAvg: their state has names, their hyper-parameters are symbols."""

from dataclasses import replace
from fractions import Fraction as Q

import numpy as np
import pytest
import sympy as sp

from bounds.language.claim import Claim, Condition, Procedure, Variable
from bounds.language.names import NAMES
from bounds.language.operators import (
    E,
    E_round,
    Sum,
    client_weight,
    clients,
    eta_l,
    iterations,
    k,
    local_steps,
    norm2,
    r,
    rounds,
    t,
    x_round,
    x_star,
)
from bounds.registry.user_claims import load_claims
from fedtheory.registry import ALGORITHMS
from fedtheory.traits import Record
from synthetic.numbers.arrays import EXACT, TORCH, to_numpy
from tests.messages import contains_in_order
from verify.checker import schema
from verify.claims.method import PARAMETERS as HYPERPARAMETERS
from verify.claims.method import faults_of_method
from verify.claims.sizes import possible
from verify.evaluation.evaluate import evaluate, sides
from verify.exact.check import replay_alone as check
from verify.exact.comparison import differences
from verify.instances.draw import draw_params
from verify.instances.parameters import PARAMETERS, map_params
from verify.instances.shape import Shape
from verify.measure.simulate import simulate
from verify.referee.decide import Settings, decide

client_variate, server_variate = (sp.IndexedBase(name, real=True) for name in ("client_variate", "server_variate"))
EVERY_ROUND, ALL_CLIENTS, ALL_STEPS = (r, 0, rounds), (k, 0, clients - 1), (t, 0, iterations - 1)
MEAN = Sum(client_weight[k] * client_variate[r, k], ALL_CLIENTS)
SCAFFOLD = Procedure("scaffold", sampling="without-replacement", equal_weights=True)
STEP = Condition(eta_l[t], "<=", 1, (ALL_STEPS,))


def claim(left, relation, right, **more):
    base = {"procedure": SCAFFOLD, "conditions": (STEP,), "source": "Karimireddy et al. 2020"}
    return Claim("test/claim", "1", "control", "run", Condition(left, relation, right, (EVERY_ROUND,)), **base | more)


def test_the_variates_mean_is_the_servers():
    true = claim(norm2(MEAN - server_variate[r]), "<=", 0)
    shape = Shape(3, 0, 1, 1, 2, 2, "without-replacement", noisy=(0,))
    params = draw_params(true, shape, 4, np.random.default_rng(0))
    left, _, _ = sides(true.statement, simulate(true, shape, params, TORCH))
    assert to_numpy(left).max() < 1e-20
    exact = map_params(params, lambda name, a: np.vectorize(Q, otypes=[object])(a))
    left, _, _ = sides(true.statement, simulate(true, shape, exact, EXACT))
    assert (left == 0).all() and left.shape[1] * left.shape[2] > 1


def test_a_refutation_is_replayed():
    false = claim(norm2(MEAN - 2 * server_variate[r]), "<=", 0)
    verdict = decide(false, Settings(federations=False))
    data = verdict.details["instance"]
    assert verdict.verdict == "refuted" and check(data).accepted and not [*differences(data, false)]
    assert data["procedure"]["base"] == "scaffold" and data["procedure"]["options"]["option"] == "II"
    for option in ("I", "III"):
        data["procedure"]["options"]["option"] = option
        assert [*differences(data, false)]
    assert contains_in_order(check(data).reason, "option = 'III' …'I', 'II'")


def test_an_array_that_no_run_has_is_no_refutation():
    missing = claim(norm2(sp.IndexedBase("server_dual")[r]), "<=", 0)
    verdict = decide(missing, Settings(federations=False))
    assert verdict.verdict == "undecided" and "nothing supplies 'server_dual'" in verdict.evidence


def test_hyper_parameters_are_bound_by_name():
    """With a server step of zero the model stays, with two it goes twice as far."""
    for step, factor in ((0, 0), (1, 1), (2, 2)):
        moves = claim(norm2(x_round[r] - x_round[0]), "<=", 0,
                      variables=(Variable("eta_g", "real"),), procedure=Procedure("scaffold", equal_weights=True))
        shape = Shape(2, 0, 1, 3, 1)
        params = draw_params(moves, shape, 5, np.random.default_rng(1)) | {"eta_g": np.full(5, float(step))}
        moved = to_numpy(sides(moves.statement, simulate(moves, shape, params, TORCH))[0])[:, 0, 0, -1]
        params["eta_g"] = np.ones(5)
        unit = to_numpy(sides(moves.statement, simulate(moves, shape, params, TORCH))[0])[:, 0, 0, -1]
        np.testing.assert_allclose(moved, factor**2 * unit, rtol=1e-12)


@pytest.mark.parametrize("backend", [TORCH, EXACT], ids=lambda b: b.library)
def test_expectations_given_a_round(backend):
    """They average over later chance only: all of it from round 0, none of it from the last; and they are nested."""
    some = claim(norm2(x_round[r]), "<=", 0)
    shape = Shape(3, 0, 1, 1, 2, 2, "without-replacement", noisy=(0,), rare=Q(1, 4))
    params = draw_params(some, shape, 3, np.random.default_rng(3))
    if backend is EXACT:
        params = map_params(params, lambda name, a: np.vectorize(Q, otypes=[object])(a))
    environment = simulate(some, shape, params, backend)

    def value(expression):
        return to_numpy(evaluate(expression, environment)).astype(float)

    end = norm2(x_round[rounds] - x_star)
    whole, outcomes = value(E(end)), value(end)
    assert outcomes.shape == (3, 4, 9) and np.ptp(outcomes[0]) > 0
    np.testing.assert_allclose(value(E_round(end, 0)), whole + 0 * outcomes, rtol=1e-12)
    np.testing.assert_allclose(value(E_round(end, rounds)), outcomes, rtol=1e-12)
    np.testing.assert_allclose(value(E(E_round(end, 1))), whole, rtol=1e-12)
    weights = np.array([Q(1, 4), Q(3, 4)]).astype(float)
    grouped = outcomes.reshape(3, 2, 2, 3, 3)
    np.testing.assert_allclose(value(E_round(end, 1)).reshape(3, 2, 2, 3, 3)[:, :, 0, :, 0],
                               np.einsum("iabcd,b->iac", grouped, weights) / 3, rtol=1e-12)
    left, _, _ = sides(Condition(E_round(norm2(x_round[r]), r), "<=", 0, (EVERY_ROUND,)), environment)
    np.testing.assert_allclose(to_numpy(left)[..., 1].astype(float), value(E_round(norm2(x_round[1]), 1)), rtol=1e-12)


def broken_records(methods) -> set[tuple[str, str]]:
    """(method, array) where a run does not keep what the method declares of the array."""
    found = set()
    for base, name, record in ((b, n, one) for b, method in methods.items() for n, one in method.traits.records.items()):
        array = sp.IndexedBase(name, real=True)
        left = E(Sum(array[r, k], ALL_CLIENTS)) if record.nonnegative else E(norm2(array[r]))
        every = (r, 0, rounds - 1) if record.nonnegative else EVERY_ROUND
        mentions = replace(claim(left, "<=", 0, procedure=Procedure(base, equal_weights=True)),
                           statement=Condition(left, "<=", 0, (every,)))
        shape = Shape(3, 0, 1, 2, 2)
        bound = simulate(mentions, shape, draw_params(mentions, shape, 4, np.random.default_rng(0)), TORCH).bound
        values, start = to_numpy(bound[name].data), to_numpy(bound["x_round"].data)[:, :, :, 0]
        kept = values.min() >= 0 if record.nonnegative else values.shape[-1] == start.shape[-1]
        kept = kept and (not record.starts_at_model or np.array_equal(values[:, :, :, 0] + 0 * start, start))
        found |= set() if kept else {(base, name)}
    return found


def test_what_methods_declare_of_recorded_arrays_holds():
    declaring = {base: method for base, method in ALGORITHMS.items() if method.traits.records}
    assert len(declaring) >= 3 and broken_records(declaring) == set()
    wrong = {"server_variate": Record(starts_at_model=True), "client_variate": Record(nonnegative=True)}
    scaffold = replace(ALGORITHMS["scaffold"], traits=replace(ALGORITHMS["scaffold"].traits, records=wrong))
    assert broken_records({"scaffold": scaffold}) == {("scaffold", name) for name in wrong}


SOLVED = Procedure("fedpd", options=(("solver", "exact"),))


def test_a_local_problem_that_is_solved_has_one_local_step():
    """The search draws one local step; a claim that fixes another number is at fault."""
    nearer = claim(norm2(x_round[r] - x_star), "<=", 1 + norm2(x_round[r] - x_star), procedure=SOLVED)
    sizes = {"clients": 2, "rounds": 1, "iterations": 1, "local_steps": 1}
    assert possible(nearer, sizes) and not possible(nearer, sizes | {"local_steps": 2, "iterations": 2})
    assert decide(nearer, Settings(federations=False)).verdict != "undecided"
    assert not list(faults_of_method(replace(nearer, conditions=(STEP, Condition(local_steps, ">=", 1)))))
    (fault,) = faults_of_method(replace(nearer, conditions=(STEP, Condition(local_steps, "==", 2))))
    assert fault.part == "conditions" and fault.place == 1
    assert contains_in_order(fault.text, "local_steps == 2: …fedpd …one …step")


def test_what_an_instance_has_is_the_name_of_no_variable(tmp_path):
    fixed = {*schema.COMPUTED, *schema.MAY_HAVE, *schema.OF_SAMPLES, *schema.INSTANCE["point"], *schema.INSTANCE["run"]}
    assert ({*PARAMETERS} | fixed) - {*NAMES} == HYPERPARAMETERS
    for part, text in (("variables", "weight = 'positive'"), ("constants", "noise = 'norm(x_star)'"),
                       ("exists", "offset = '(0, 1]'")):
        name = text.split()[0]
        (tmp_path / "mine.toml").write_text(f"[[claim]]\nid = 'mine/one'\n{part} = {{{text}}}\nstatement = '{name} <= 1'\n"
                                            "setting = 'run'\n")
        with pytest.raises(ValueError, match=f"line 3: .*{name} is the name of a parameter"):
            load_claims(tmp_path / "mine.toml", faults_of_method)


@pytest.mark.parametrize("base", ["fedavg-priority", "fedprox-priority", "fedavg-all", "fedprox-all", "fedalign-fraction"])
def test_methods_that_choose_free_clients_themselves_are_refused_with_them(base):
    """In a claim free clients take part while their loss matches, whatever the method says."""
    def faults(**of):
        return [str(fault) for fault in faults_of_method(claim(norm2(x_round[r]), "<=", 0, procedure=Procedure(base, **of)))]

    assert not faults() and "allowed: false, or another method" in str(faults(free_clients=True))
