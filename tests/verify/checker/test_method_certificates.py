"""Certificates of claims about methods: what the search finds is accepted, what was changed is not; irrational numbers."""

import json
import re
from dataclasses import replace
from fractions import Fraction as Q
from functools import cache

import numpy as np
import pytest
import sympy as sp

from bounds.controls.fedavg import CLASS, control
from bounds.language.claim import Condition, Procedure, Variable
from bounds.language.operators import L, eta_l, iterations, norm, norm2, r, rounds, t, x_round, x_star
from bounds.registry.claims import find_claim
from fedtheory import ALGORITHMS
from synthetic.numbers.arrays import BALLS
from tests.changes import both, put
from tests.not_empty import not_empty
from tests.verify.checker.test_replay import _simple
from verify.evaluation.evaluate import sides
from verify.exact.certificate import certificate
from verify.exact.check import replay_alone as check
from verify.exact.comparison import differences
from verify.instances.draw import draw_params
from verify.instances.parameters import map_params
from verify.instances.shape import Shape
from verify.measure.simulate import simulate
from verify.referee.decide import Settings, decide

# certificates of claims about methods --------------------------------------------------------------------------------------
#: claims whose refutation the search finds at once
REFUTED = ["fedmoswa/lemma-g.11", "fedmoswa/lemma-g.16@E0", "afedpd/lemma-2", "afedpd/r-recursion@exact",
           "fadamgc/eq-96"]


@cache
def _written(claim_id):
    verdict = decide(find_claim(claim_id), Settings(federations=False))
    assert verdict.verdict == "refuted", verdict.evidence
    return json.dumps(verdict.details["instance"])


@pytest.mark.parametrize("claim_id", REFUTED)
def test_refutations_of_methods_are_accepted(claim_id):
    data = json.loads(_written(claim_id))
    assert check(data).accepted and not [*differences(data, find_claim(claim_id))]


MOVED, NOISY, EXACTLY = "fedmoswa/lemma-g.16@E0", "fedmoswa/lemma-g.11", "afedpd/r-recursion@exact"
#: row -> (claim, what is changed, words of the reason)
TAMPERED = {
    "method": (NOISY, put("procedure", "base", "fedswa"), "options batch, client_variate, gamma"),
    "method without a name": (MOVED, put("procedure", "base", "none"), "KeyError"),
    "option": (MOVED, put("procedure", "options", "option", "III"), r"option = 'III' .*'I', 'II'"),
    "option gone": (MOVED, put("procedure", "options", {}), "KeyError"),
    "initial state": (MOVED, both(put("procedure", "options", "start", "free"),
                                  put("instance", "initial", {"client_variate": [["1"], ["1"]]})), "nothing violates"),
    "hyper-parameter beyond its limit": (MOVED, put("values", "gamma", "2"), "gamma <= 1"),
    "server step": (MOVED, put("values", "eta_g", "2"), "eta_l"),
    "local step": (MOVED, put("values", "eta_l", ["1/47"]), "eta_l"),
    "participants": (MOVED, put("sizes", "participants", 2), "."),
    "weights": (MOVED, put("instance", "client_weight", ["1/4", "3/4"]), "x_star|1/clients"),
    "right side": (MOVED, put("right", "1/100000"), "nothing violates"),
    "state given": (NOISY, put("values", lambda v: v | {"server_variate": [["0"], ["9"]], "server_lag": ["0", "9"]}),
                    "values .*'server_variate', 'server_lag'"),
    "noise": (NOISY, put("instance", "noise", 0, [["1/2", ["1/3"]], ["1/2", ["-1/3"]]]), "nothing violates"),
    "noise with a mean": (NOISY, put("instance", "noise", 0, [["1/2", ["1/3"]], ["1/2", ["1/3"]]]), "noise .*centred"),
    "penalty": (EXACTLY, put("values", "rho_prox", lambda rho: str(Q(rho) + 5)), "nothing violates"),
    "penalty negative": (EXACTLY, put("values", "rho_prox", "-1"), "rho_prox|at least 0"),
    "solver": (EXACTLY, put("procedure", "options", "solver", "gradient"), "nothing violates"),
    "solver unknown": (EXACTLY, put("procedure", "options", "solver", "tolerance"), r"solver = 'tolerance' .*'exact'"),
    "layers": (EXACTLY, put("instance", "layer_sizes", [2]), "layers"),
    "floats": (EXACTLY, put("values", "rho_prox", 1.0), "number .*; got 1.0"),
}


@pytest.mark.parametrize("row", TAMPERED)
def test_a_changed_certificate_of_a_method_is_rejected(row):
    claim_id, change, words = TAMPERED[row]
    data = json.loads(_written(claim_id))
    change(data)
    result = check(data)
    assert not result.accepted and re.search(words, result.reason), result.reason


# every method ----------------------------------------------------------------------------------------------------------
#: methods that need all clients, and the one whose losses are never smooth
ALL_CLIENTS, NEVER_SMOOTH = {"fa-nt-z", "fedlama", "scaffnew"}, "fedpara"


@pytest.mark.parametrize("base", sorted(ALGORITHMS))
def test_a_false_claim_about_any_method_is_refuted(base):
    """That a run ends at the optimum."""
    for sampling in not_empty(("full",) if base in ALL_CLIENTS else ("full", "without-replacement")):
        ends = Condition(norm2(x_round[rounds] - x_star), "<=", 0)
        procedure = Procedure(base, sampling=sampling, equal_weights=True)
        claim = control("end", "run", ends, assumptions=() if base == NEVER_SMOOTH else CLASS, procedure=procedure)
        verdict = decide(claim, Settings(federations=False))
        assert verdict.verdict == "refuted", verdict.evidence
        data = json.loads(json.dumps(verdict.details["instance"]))
        assert check(data).accepted and not [*differences(data, claim)]


@pytest.mark.parametrize("base, change, words", [
    ("fedpara", lambda d: d["instance"].pop("factors"), "in a list"),
    ("fedpara", put("instance", "factors", 2), "dim = 2 . 2 n"),
    ("fedpara", put("instance", "factors", True), "dim = 2 . 2 n"),
    ("fedpara", put("instance", "factors", "1"), "dim = 2 . 2 n"),
    ("fedpara", put("instance", "half_tangent", "1/2"), "not turned"),
    ("fedpara", put("instance", "x_star", ["1", "5", "1", "1"]), "optimum"),
    ("fedpara", put("instance", "noise", [[["1/2", ["1"]], ["1/2", ["-1"]]]]), "no noise"),
    ("fedpara", put("procedure", "base", "fedavg"), "only fedpara"),
    ("fedavg", put("procedure", "base", "fedpara"), "which these clients do not have"),
    ("fedavg", put("instance", "factors", 1), "dim = 2 . 2 n"),
])
def test_factors_that_do_not_fit_are_refused(base, change, words):
    end = Condition(norm2(x_round[rounds] - x_star), "<=", 0)
    claim = control("end", "run", end, assumptions=(), procedure=Procedure(base, equal_weights=True))
    verdict = decide(claim, Settings(federations=False))
    data = json.loads(json.dumps(verdict.details["instance"]))
    assert check(data).accepted
    change(data)
    assert not check(data).accepted and re.search(words, check(data).reason), check(data).reason


@pytest.mark.parametrize("base, sampling, words", [
    ("fedpaq", "with-replacement", "equally many"), ("fedpara", "full", "L_client")])
def test_what_cannot_be_enumerated_or_measured_is_undecided(base, sampling, words):
    ends = Condition(norm2(x_round[rounds] - x_star), "<=", 0)
    claim = control("end", "run", ends, assumptions=CLASS, procedure=Procedure(base, sampling=sampling, equal_weights=True))
    verdict = decide(claim, Settings(federations=False))
    assert verdict.verdict == "undecided" and words in str(verdict.evidence)


# irrational numbers --------------------------------------------------------------------------------------------------------
def written_on_balls(claim, shape, params):
    """The certificate of an instance whose sides are balls."""
    environment = simulate(claim, shape, params, BALLS)
    left, right = (side.ravel()[-1] for side in sides(claim.statement, environment)[:2])
    return json.loads(json.dumps(certificate(claim, environment, left, right)))


def irrational(base="fedsam", conditions=(), **options):
    """A false claim about a run, and an instance of it with steps that are irrational."""
    variables = (Variable("rho_sam", "positive"), Variable("eta_g", "positive")) if base == "fedsam" else ()
    procedure = Procedure(base, options=tuple(options.items()), equal_weights=True)
    statement = Condition(norm2(x_round[rounds] - x_star), "<=", 0)
    claim = control(
        "end", "run", statement, variables=variables, assumptions=CLASS, procedure=procedure, conditions=conditions)
    shape = Shape(2, 0, 2, 2, 1)
    params = map_params(draw_params(claim, shape, 1, np.random.default_rng(5)), _simple)
    return claim, shape, params | {"start_offset": np.array([[Q(5, 4), Q(-3, 7)]])}


@pytest.mark.parametrize("base", ["fedsam", "local-adam", "fadamgc", "fa-nt"])
def test_irrational_sides_are_enclosed(base):
    data = written_on_balls(*irrational(base))
    assert " to " in data["left"] and check(data).accepted
    low, high = map(Q, data["left"].split(" to "))
    for shift in (Q(1, 10**9), Q(-1, 10**9)):
        assert not check(data | {"left": f"{low + shift} to {high + shift}"}).accepted
    assert not check(data | {"left": str(low)}).accepted and not check(data | {"right": "1"}).accepted
    turned = data | {"statement": data["statement"] | {"relation": ">="}}
    assert not check(turned).accepted


def test_what_is_not_certain_is_no_violation():
    """No interval can tell |x|^2 from the square of |x|."""
    claim, shape, params = irrational("fedswa")
    equal = replace(claim, statement=Condition(norm(x_round[rounds]) ** 2, "<=", norm2(x_round[rounds])))
    data = json.loads(json.dumps(certificate(equal, simulate(equal, shape, params, BALLS), 2, 1)))
    data |= {"left": "-100 to 100", "right": "-100 to 100"}
    assert not check(data).accepted and "nothing violates" in check(data).reason


def test_a_step_that_a_formula_defines_may_be_irrational():
    every_step = (t, 0, iterations - 1)
    data = written_on_balls(*irrational("fedswa", (Condition(eta_l[t], "==", 1 / sp.sqrt(3 * L), (every_step,)),)))
    place = data["values"]["eta_l"]["hypothesis"]
    assert data["hypotheses"][place]["left"] == ["eta_l", "t"] and check(data).accepted
    others = [other for other in range(len(data["hypotheses"])) if other != place]
    for other in others:
        assert not check(data | {"values": data["values"] | {"eta_l": {"hypothesis": other}}}).accepted
    data["hypotheses"][place]["right"] = ["eta_l", "t"]
    assert "defined by itself" in check(data).reason


def test_a_bound_that_is_irrational_is_written_a_little_too_large():
    radius = sp.Symbol("radius", positive=True)
    bounded = Condition(norm(x_round[r] - x_star), "<=", radius, ((r, 0, rounds),))
    data = written_on_balls(*irrational("fedswa", (bounded,), rho_decay=0.5))
    assert Q(data["values"]["radius"]) > 1 and check(data).accepted
    data["values"]["radius"] = str(Q(data["values"]["radius"]) - Q(1, 10**6))
    assert "radius" in check(data).reason
