"""Numbers that an instance gives within what hypotheses leave open."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from bounds.language.claim import Assumption, Claim, Condition, Procedure
from bounds.language.definitions import DEFINITIONS
from bounds.language.operators import (
    E,
    F_star,
    L,
    L_client,
    clients,
    eta_l,
    g,
    iterations,
    k,
    norm,
    objective,
    rounds,
    t,
    x_round,
)
from bounds.registry.claims import find_claim
from synthetic.numbers.arrays import EXACT, NUMPY, TORCH
from synthetic.numbers.balls import Ball
from verify.claims.open_constants import ASSUMED, assumed_constants, multiple, possible
from verify.evaluation.judge import judge
from verify.exact.certificate import _value, certificate
from verify.exact.check import replay_alone as check
from verify.growth.check import check_file
from verify.growth.order import with_constant
from verify.instances.chance import chance_of
from verify.instances.draw import draw_params
from verify.instances.shape import Shape
from verify.measure.simulate import simulate
from verify.referee.decide import Settings, decide
from verify.search.budget import BUDGETS
from verify.search.search import search

G, sigma = sp.Symbol("G", nonnegative=True), sp.Symbol("sigma", positive=True)
beta1, eta_g = sp.Symbol("beta1", nonnegative=True), sp.Symbol("eta_g", positive=True)
ALL_CLIENTS, ALL_STEPS = (k, 0, clients - 1), (t, 0, iterations - 1)
BOUNDED = Assumption("assumed/bounded", "gradients along the run",
                     (Condition(norm(g[t, k]), "<=", G, (ALL_STEPS, ALL_CLIENTS)),))
SMOOTH = Assumption("assumed/smooth", "smooth", (Condition(L_client[k], "<=", L, (ALL_CLIENTS,)),))
HALVED = Condition(E(objective(x_round[rounds])) - F_star, "<=", (objective(x_round[0]) - F_star) / 2)


def claim(step, assumptions=(SMOOTH, BOUNDED), statement=HALVED, **more) -> Claim:
    return Claim("assumed/step", "assumed", "control", "run", statement, assumptions=assumptions,
                 conditions=(Condition(eta_l[t], "==", step, (ALL_STEPS,)),), derivation="textbook",
                 definitions=DEFINITIONS, **{"procedure": Procedure()} | more)


CIRCULAR = claim(1 / (L * (1 + G)))


def test_what_a_step_needs_of_the_run_is_assumed():
    assert assumed_constants(CIRCULAR) == ("G",)
    assert assumed_constants(claim(1 / L)) == ()
    assert assumed_constants(find_claim("fadamgc/theorem-5.4")) == ("G",)
    assert not assumed_constants(find_claim("fadamgc/eq-39"))


def test_an_assumed_constant_must_hold_on_the_run():
    shape = Shape(clients=2, local_steps=2, rounds=2)
    params = draw_params(CIRCULAR, shape, 60, np.random.default_rng(0))
    with np.errstate(all="ignore"):
        environment = simulate(CIRCULAR, shape, params, NUMPY)
    assumed, largest = params[f"{ASSUMED}G"][:, 0], abs(environment.bound["g"].data).max(axis=(1, 2, 3, 4, 5))
    met = judge(CIRCULAR, environment).met
    assert 0 < met.sum() < 60 and (assumed[met] >= largest[met] * (1 - 1e-9)).all() and (assumed < largest).any()
    assert environment.bound["eta_l"].data.max() < 1 / environment.bound["L"].data.min()


def test_a_counterexample_with_an_assumed_constant_is_replayed():
    found = search(CIRCULAR, BUDGETS["quick"]).violation
    data = certificate(CIRCULAR, found.environment, found.left, found.right)
    assert check(data).accepted
    data["values"]["G"] = "0"
    assert not check(data).accepted


@pytest.mark.parametrize("backend", [NUMPY, TORCH, EXACT], ids=["numpy", "torch", "exact"])
def test_zero_has_no_multiples(backend):
    one = claim(sigma / L)
    two = replace(one, conditions=(Condition(eta_l[t], "==", G / L, (ALL_STEPS,)),))
    least, factor = backend.array([0.0, 0.0, 2.0, 2.0]), backend.array([1.0, 1.5, 1.0, 1.5])
    assert [float(v) for v in multiple(one, "sigma", least, factor, backend)] == pytest.approx([0.001, 0.5, 2, 3])
    assert [float(v) for v in multiple(two, "G", least, factor, backend)] == pytest.approx([0, 0.5, 2, 3])


def test_a_parameter_that_cannot_be_costs_its_own_instance_alone():
    """beta1 = 1 - F(x_0) is negative on some instances of a batch; the method runs on the others."""
    moments = claim(1 / L, (SMOOTH,), procedure=Procedure("local-adam"))
    moments = replace(moments, conditions=(*moments.conditions, Condition(beta1, "==", 1 - objective(x_round[0])),
                                           Condition(beta1, "<=", 1)))
    shape = Shape(clients=2, rounds=2)
    params = draw_params(moments, shape, 60, np.random.default_rng(1))
    with np.errstate(all="ignore"):
        environment = simulate(moments, shape, params, NUMPY)
    value = environment.bound["beta1"].data.ravel()
    assert (value < 0).any() and (value > 0).any()
    met = judge(moments, environment).met
    assert met.any() and not met[value < 0].any()
    assert possible(moments, "beta1", np.array([-1.0, np.nan, 0.5]), NUMPY).tolist() == [1, 1, 0.5]


@pytest.mark.parametrize("name", ["theorem-5.2", "theorem-5.4", "theorem-C.2/eq-167-171", "theorem-5.2@big-o-betas"])
def test_steps_that_a_theorem_prescribes_are_taken(name):
    """Every order has instances that meet its hypotheses: steps, decay rates and bounds that define each other."""
    order = with_constant(find_claim(f"fadamgc/{name}"), 1)
    shape = Shape(clients=3, local_steps=2, rounds=2, participants=3, sampling="without-replacement",
                  sizes=(("trackers", 3),), chance=chance_of(order.procedure, order.variables))
    params = draw_params(order, shape, 200, np.random.default_rng(0))
    with np.errstate(all="ignore"):
        environment = simulate(order, shape, params, NUMPY)
    assert judge(order, environment).met.mean() > 0.2


def test_an_order_may_depend_on_what_sizes_fix():
    verdict = decide(find_claim("fadamgc/theorem-5.2@big-o-all-but-rounds"), Settings())
    assert verdict.verdict == "undecided" and "rounds" in verdict.evidence


@pytest.mark.slow
@pytest.mark.parametrize("name", ["theorem-5.2@big-o-betas", "theorem-C.2"])
def test_refuted_orders_with_prescribed_steps_replay(name, tmp_path):
    """The server's step is made of the first gap, and is irrational, or rational as a quotient of roots."""
    verdict = decide(find_claim(f"fadamgc/{name}"), Settings(out=tmp_path))
    assert verdict.verdict == "refuted" or "no constant" not in verdict.evidence, verdict.evidence
    if verdict.certificate:
        assert check_file(tmp_path / verdict.certificate).accepted


def test_a_value_near_a_fraction_is_written_as_its_formula():
    """sqrt(2)/sqrt(2) in balls is a number near 1, of which the checker has an interval too."""
    rule = claim(sp.sqrt(2 * L) / sp.sqrt(2 * L) / L, (SMOOTH,))
    near = Ball(Fraction(2)).sqrt() / Ball(Fraction(2)).sqrt()
    place = _value(rule, "eta_l", near)["hypothesis"]
    assert rule.hypotheses[place] is rule.conditions[0]
    assert _value(rule, "eta_l", Fraction(1)) == "1"


@pytest.mark.parametrize("backend", [NUMPY, TORCH, EXACT], ids=lambda b: b.library)
def test_possible_numbers_on_every_backend(backend):
    high = Condition(beta1, "<=", sp.Rational(9, 10))
    made = Claim("assumed/under", "assumed", "control", "run", HALVED, conditions=(high,), derivation="textbook")
    values = possible(made, "beta1", backend.array([Fraction(1, 2), Fraction(95, 100), -1]), backend)
    assert [float(v) for v in values] == [0.5, 0.9, 0.9]
