"""The stand-alone checker's methods: everything that a run records is what the engine records."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction as Q
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
import sympy as sp

from bounds.controls.fedavg import CLASS, control
from bounds.language.claim import Condition, Procedure, Variable
from bounds.language.words import (
    E,
    F_star,
    L,
    eta_l,
    iterations,
    norm,
    norm2,
    objective,
    r,
    rounds,
    t,
    x_round,
    x_sampled,
    x_star,
)
from bounds.registry.claims import all_claims, find_claim
from fedtheory import ALGORITHMS
from synthetic.numbers.arrays import BALLS, EXACT
from tests.verify.checker.records import compare_with_record
from tests.verify.checker.test_replay import _simple, both, put
from verify.checker import replay as checker
from verify.checker.methods import (
    adaptive as checker_adam,
)
from verify.checker.methods import (
    averaging as checker_methods,
)
from verify.checker.methods import (
    duals as checker_duals,
)
from verify.checker.methods import (
    layers as checker_layers,
)
from verify.evaluation.evaluate import sides
from verify.exact.certificate import certificate, check, same_statement
from verify.instances.chance import chance_of
from verify.instances.draw import draw_leaves
from verify.instances.instance import federation_of
from verify.instances.leaves import map_leaves
from verify.instances.shape import Shape
from verify.measure.realise import realise
from verify.referee.decide import Settings, decide

BESIDE = {name: base for base, method in ALGORITHMS.items()
          for name, record in method.traits.records.items() if record.method}
MEASURED = ("x", "x_sampled", "x_local", "x_before", "g", "included", "sampled_weight", "sampled", "x_round", "x_broadcast")


def row(base, numbers=(), backend=EXACT, **options):
    """A method, the hyper-parameters that a claim would leave free, and its options."""
    return base, tuple(numbers), backend, tuple(options.items())


ADAM = {"beta1": Q(1, 2), "beta2": Q(3, 4), "eps": Q(1, 2), "eta_g": Q(3, 2)}
PLAIN = {"eta_g": Q(3, 2)}
MOVING = {"eta_g": Q(3, 2), "gamma": Q(1, 4), "rho_decay": Q(1, 2)}
DUAL = {"rho_prox": Q(1, 2)}
ROWS = {
    "fedavg": row("fedavg", PLAIN.items()),
    "fedswa": row("fedswa", [("eta_g", Q(3, 2)), ("rho_decay", Q(1, 2))]),
    "fedswa h1": row("fedswa", PLAIN.items(), schedule="geometric-h1"),
    "fedmoswa I": row("fedmoswa", MOVING.items(), option="I"),
    "fedmoswa II": row("fedmoswa", MOVING.items()),
    "fedmoswa II free": row("fedmoswa", MOVING.items(), start="free"),
    "fedmoswa gradient": row("fedmoswa", MOVING.items(), start="gradient"),
    "fedmoswa gradient-clients-only": row("fedmoswa", MOVING.items(), start="gradient-clients-only"),
    "fedmoswa all-clients": row("fedmoswa", MOVING.items(), variant="all-clients"),
    "fedmoswa all-clients gradient": row(
        "fedmoswa", MOVING.items(), variant="all-clients", start="gradient-clients-only"),
    "fedmoswa h1": row("fedmoswa", PLAIN.items(), schedule="geometric-h1"),
    "fedmoswa fresh": row("fedmoswa", MOVING.items(), variant="fresh", batch="independent"),
    "fedmoswa fresh same": row("fedmoswa", MOVING.items(), variant="fresh", batch="same"),
    "scaffold": row("scaffold", PLAIN.items()),
    "scaffold I": row("scaffold", PLAIN.items(), option="I", start="gradient"),
    "scaffold average": row("scaffold", PLAIN.items(), option="average-gradient", sign="printed-eq3"),
    "fedsam": row("fedsam", [*PLAIN.items(), ("rho_sam", Q(1, 3))], BALLS),
    "mofedsam": row("mofedsam", [*PLAIN.items(), ("rho_sam", Q(1, 3)), ("beta", Q(1, 4))], BALLS),
    "fedpd": row("fedpd", DUAL.items()),
    "fedpd exact": row("fedpd", DUAL.items(), solver="exact"),
    "fedadmm": row("fedadmm", DUAL.items()),
    "fedadmm stale": row("fedadmm", DUAL.items(), variant="stale"),
    "feddyn": row("feddyn", DUAL.items()),
    "feddyn printed": row("feddyn", DUAL.items(), order="printed"),
    "feddyn exact": row("feddyn", DUAL.items(), solver="exact"),
    "afedpd": row("afedpd", DUAL.items()),
    "afedpd exact": row("afedpd", DUAL.items(), solver="exact"),
    "local-adam": row("local-adam", ADAM.items(), BALLS),
    "local-adam delayed": row("local-adam", ADAM.items(), BALLS, vhat="none", moment_index="delayed", v_init=Q(1, 2)),
    "local-adam carry": row("local-adam", ADAM.items(), BALLS, vhat="carry", store="vhat"),
    "fadamgc": row("fadamgc", ADAM.items(), BALLS),
    "fadamgc carry": row("fadamgc", ADAM.items(), BALLS, vhat="carry", y_init="gradient"),
    "fadamgc scalar": row("fadamgc", ADAM.items(), BALLS, y_init="gradient", norm="scalar"),
    "fadamgc vhat": row("fadamgc", ADAM.items(), BALLS, store="vhat", vhat="zero"),
    "fadamgc one tracker": row("fadamgc", ADAM.items(), BALLS, trackers=1, y_init="gradient"),
    "fa-nt": row("fa-nt", ADAM.items(), BALLS),
    "fa-nt scalar": row("fa-nt", ADAM.items(), BALLS, y_init="normalised-gradient", norm="scalar"),
    "fa-nt one tracker": row("fa-nt", ADAM.items(), BALLS, trackers=1),
    "fa-nt-z": row("fa-nt-z", ADAM.items(), BALLS),
    "fa-nt-z gradient": row("fa-nt-z", ADAM.items(), BALLS, y_init="normalised-gradient", norm="scalar", vhat="carry"),
    "fa-nt carry": row("fa-nt", ADAM.items(), BALLS, y_init="normalised-gradient", vhat="carry"),
    "fedluar": row("fedluar", (), BALLS, masks=((0, 0), (1, 0), (0, 1))),
    "fedluar all": row(
        "fedluar", (), BALLS, masks=((1, 1), (1, 0), (1, 1)), initial_update=(Q(1), Q(-1, 2)), score="oracle"),
    "fedluar recompute": row("fedluar", (), BALLS, masks=((0, 0), (0, 1)), score="recompute"),
}
FULL_ONLY = {"fedpd", "fedmoswa fresh", "fedmoswa fresh same", "fa-nt-z", "fa-nt-z gradient"}
ARRAYS = ("masks", "initial_update")


def replayed(name, sampling, seed, noisy=(), rounds=2, steps=2):
    """A random exact instance of the row: the engine's environment, and the replay of its certificate."""
    base, numbers, backend, options = ROWS[name]
    sizes = tuple(pair for pair in options if pair[0] == "trackers")
    options = tuple(pair for pair in options if pair not in sizes)
    procedure = Procedure(base, options=options, sampling=sampling, equal_weights=True)
    statement = Condition(E(objective(x_sampled[iterations])) - F_star, "<=", 0)
    variables = tuple(Variable(number, "positive") for number, _ in numbers)
    claim = control("replay", "run", statement, procedure=procedure, variables=variables)
    steps = 1 if dict(options).get("solver") == "exact" else steps
    shape = Shape(3, 0, 2, steps, rounds, 2, sampling, noisy, Q(1, 4), sizes, layers=(1, 1), chance=chance_of(procedure))
    leaves = map_leaves(draw_leaves(claim, shape, 1, np.random.default_rng(seed)), _simple)
    leaves["start_offset"] = np.array([[Q(5, 4), Q(-3, 7)]])
    if "noise" in leaves:  # such that its mean is zero exactly, on balls too
        leaves["noise"] = np.array([[[Q(1, 2), Q(-1, 4)]] * len(noisy)])
    leaves |= {number: np.array([value]) for number, value in numbers}
    federation = federation_of(shape, leaves, backend)
    environment = realise(claim, shape, leaves, backend, federation.with_layers((1, 1)))
    data = certificate(claim, shape, leaves, environment, 1, 0)
    arrays = {name: data["procedure"]["options"].pop(name, None) for name in ARRAYS}
    data["values"] |= {name: arrays[name] for name in ("masks", "initial_update") if arrays[name]}
    return environment, checker.Replay(json.loads(json.dumps(data, default=str)))


def names_of(environment, name):
    states = [state for state in checker.METHODS[ROWS[name][0]][1] if state in environment.bound]
    return (*MEASURED, *(state for state in states if state not in checker_adam.BESIDE))


@pytest.mark.parametrize("name", ROWS)
def test_a_run_is_the_engines(name):
    seed = [*ROWS].index(name)
    for sampling in ("full",) if name in FULL_ONLY else ("full", "without-replacement"):
        noisy = () if sampling != "full" or "exact" in name or "tracker" in name else (1,)
        environment, replay = replayed(name, sampling, seed, noisy)
        compare_with_record(replay, environment, names_of(environment, name))


class Beside(NamedTuple):
    """What a replay has beside its own runs, as :func:`compare_with_record` asks for it."""

    replay: checker.Replay
    name: str

    def outcomes(self):
        return self.replay.outcomes()

    def run(self, outcome):
        rounds = range(self.replay.size["rounds"] + 1)
        return SimpleNamespace(record={self.name: [self.replay.name(self.name, [r], outcome) for r in rounds]})


@pytest.mark.parametrize("noisy", [(), (1,)])
@pytest.mark.parametrize("name, base", [*BESIDE.items()])
def test_what_another_method_does_beside_a_run_is_its_own_run(name, base, noisy):
    """With the same noise, from the same start; also where nothing is left to chance."""
    there = ALGORITHMS[base].traits.records[name].array
    assert checker_adam.BESIDE[name] == (ALGORITHMS[base].traits.records[name].method, there)
    environment, replay = replayed(base, "full", 3, noisy)
    compare_with_record(Beside(replay, name), environment, [name])
    apart = environment.bound[name].data - environment.bound[there].data
    assert (abs(apart.astype(float)) > 1e-3).any()


def test_all_states_are_compared():
    seen = {}
    for name in ROWS:
        environment, _ = replayed(name, "full", 0, rounds=1, steps=2)
        seen.setdefault(ROWS[name][0], set()).update(names_of(environment, name))
    assert seen.keys() == checker.METHODS.keys()
    for base, (_, states) in checker.METHODS.items():
        assert {*states} - seen[base] - {*BESIDE} <= ({"client_scalar_moment2"} if base == "local-adam" else set())


def test_every_procedure_of_a_claim_is_replayed_or_about_growth():
    """The methods and options of all explicit claims about runs are known, and each has a row above."""
    for claim in all_claims().values():
        if claim.setting == "run" and claim.explicit and claim.statement is not None:
            assert claim.procedure.base in checker.METHODS, claim.id


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
    assert check(data).accepted and same_statement(data, find_claim(claim_id))


MOVED, NOISY, EXACTLY = "fedmoswa/lemma-g.16@E0", "fedmoswa/lemma-g.11", "afedpd/r-recursion@exact"
#: row -> (claim, what is changed, words of the reason)
TAMPERED = {
    "method": (NOISY, put("procedure", "base", "fedswa"), "KeyError: 'server_variate'"),
    "method without a name": (MOVED, put("procedure", "base", "none"), "KeyError"),
    "option": (MOVED, put("procedure", "options", "option", "III"), "is not replayed"),
    "option gone": (MOVED, put("procedure", "options", {}), "KeyError"),
    "initial state": (MOVED, both(put("procedure", "options", "start", "free"),
                                  put("instance", "initial", {"client_variate": [["1"], ["1"]]})), "nothing violates"),
    "hyper-parameter beyond its limit": (MOVED, put("values", "gamma", "2"), "gamma <= 1"),
    "server step": (MOVED, put("values", "eta_g", "2"), "eta_l"),
    "local step": (MOVED, put("values", "eta_l", ["1/47"]), "eta_l"),
    "participants": (MOVED, put("sizes", "participants", 2), "."),
    "weights": (MOVED, put("instance", "client_weight", ["1/4", "3/4"]), "x_star|1/clients"),
    "right side": (MOVED, put("right", "1/100000"), "nothing violates"),
    "state given": (NOISY, put("values", lambda v: v | {"server_variate": [["0"], ["9"]], "server_lag": ["0", "9"]}), ""),
    "noise": (NOISY, put("instance", "noise", 0, [["1/2", ["1/3"]], ["1/2", ["-1/3"]]]), "nothing violates"),
    "noise with a mean": (NOISY, put("instance", "noise", 0, [["1/2", ["1/3"]], ["1/2", ["1/3"]]]), "noise must be centred"),
    "penalty": (EXACTLY, put("values", "rho_prox", lambda rho: str(Q(rho) + 5)), "nothing violates"),
    "penalty negative": (EXACTLY, put("values", "rho_prox", "-1"), "rho_prox|at least 0"),
    "solver": (EXACTLY, put("procedure", "options", "solver", "gradient"), "nothing violates"),
    "solver unknown": (EXACTLY, put("procedure", "options", "solver", "tolerance"), "is not replayed"),
    "layers": (EXACTLY, put("instance", "layer_sizes", [2]), "layers"),
    "floats": (EXACTLY, put("values", "rho_prox", 1.0), "KeyError"),
}


@pytest.mark.parametrize("row", TAMPERED)
def test_a_changed_certificate_of_a_method_is_rejected(row):
    claim_id, change, words = TAMPERED[row]
    data = json.loads(_written(claim_id))
    change(data)
    result = check(data)
    if row == "state given":  # what a run measures is never taken from the file
        assert result.accepted and (result.left, result.right) == (data["left"], data["right"])
    else:
        assert not result.accepted and re.search(words, result.reason), result.reason


# planted faults ------------------------------------------------------------------------------------------------------------
#: what is changed in a method of the checker: (row, module, text, other text)
FAULTS = {
    "server step": ("fedswa", checker_methods, '* run.number("eta_g")', "* 1"),
    "rates": ("fedswa", checker_methods, "Fraction(j, K)", "Fraction(j + 1, K)"),
    "variate sign": ("fedmoswa II", checker_methods, "g - c[k] + m", "g + c[k] - m"),
    "everybody renews": ("fedmoswa II", checker_methods, "c = run.of_drawn(new, c)", "c = new"),
    "mean of all": ("fedmoswa II", checker_methods, "if everyone else run.mean(new)", "if everyone else run.over_all(c)"),
    "old server variate": ("fedmoswa II", checker_methods, "c[k] - m + (x", "c[k] + (x"),
    "start": ("fedmoswa gradient", checker_methods, 'if start == "gradient" else m', 'if start == "none" else m'),
    "fresh m after": ("fedmoswa fresh", checker_methods, "m * (1 -", "m * (2 -"),
    "sam radius": ("fedsam", checker_methods, "y + along(", "y - along("),
    "momentum": ("mofedsam", checker_methods, "M * (1 - beta)", "M * beta"),
    "virtual dual": ("afedpd", checker_duals, "if k in run.drawn else bar", "if k in run.drawn else x"),
    "server model": ("afedpd", checker_duals, "bar + run.over_all(lam) / rho", "bar"),
    "dual enters": ("fedadmm", checker_duals, "ends[k] + new[k] / rho", "ends[k] - new[k] / rho"),
    "stale": ("fedadmm stale", checker_duals, "x + run.over_all([sent", "x + run.mean([sent"),
    "order": ("feddyn", checker_duals, "(server if next_one", "(before if next_one"),
    "moment order": ("fadamgc", checker_adam, "m, top = (m, top) if self.delayed", "m, top = (m, top) if True"),
    "carry": ("fadamgc carry", checker_adam, '{"carry": self.largest', '{"carry": self.v'),
    "correction": ("fadamgc", checker_adam, "g + y - y_k[k]", "g"),
    "after": ("fa-nt", checker_adam, "adam.direction(k, g) + y - y_k[k]", "adam.direction(k, g)"),
    "z-form": ("fa-nt-z", checker_adam, "(ends[k] - x) / (sum(run.steps()) * run.number(\"eta_g\"))",
               "(ends[k] - x) / sum(run.steps())"),
    "recycled": ("fedluar", checker_layers, "old if layer_of[j] in recycled", "new if layer_of[j] in recycled"),
    "kept score": ("fedluar", checker_layers, 'if source == "keep" and', 'if source == "none" and'),
    "age": ("fedluar", checker_layers, "age[l] + 1", "age[l]"),
}


@pytest.mark.parametrize("row", FAULTS)
def test_a_fault_in_a_method_is_noticed(row, monkeypatch):
    name, module, text, other = FAULTS[row]
    source = Path(module.__file__).read_text(encoding="utf-8")
    assert text in source
    changed = {"__name__": "changed"}
    exec(compile(source.replace(text, other), "changed", "exec"), changed)
    base = ROWS[name][0]
    monkeypatch.setitem(checker.METHODS, base, changed["METHODS"][base])
    with pytest.raises((AssertionError, ValueError)):
        for seed in range(1, 4):  # a maximum may agree by chance
            environment, replay = replayed(name, "full" if name in FULL_ONLY else "without-replacement", seed, rounds=3)
            compare_with_record(replay, environment, names_of(environment, name))


# irrational numbers --------------------------------------------------------------------------------------------------------
def written_on_balls(claim, shape, leaves):
    """The certificate of an instance whose sides are balls."""
    environment = realise(claim, shape, leaves, BALLS)
    left, right = (side.ravel()[-1] for side in sides(claim.statement, environment)[:2])
    return json.loads(json.dumps(certificate(claim, shape, leaves, environment, left, right)))


def irrational(base="fedsam", conditions=(), **options):
    """A false claim about a run, and an instance of it with steps that are irrational."""
    variables = (Variable("rho_sam", "positive"), Variable("eta_g", "positive")) if base == "fedsam" else ()
    procedure = Procedure(base, options=tuple(options.items()), equal_weights=True)
    statement = Condition(norm2(x_round[rounds] - x_star), "<=", 0)
    claim = control(
        "end", "run", statement, variables=variables, assumptions=CLASS, procedure=procedure, conditions=conditions)
    shape = Shape(2, 0, 2, 2, 1)
    leaves = map_leaves(draw_leaves(claim, shape, 1, np.random.default_rng(5)), _simple)
    return claim, shape, leaves | {"start_offset": np.array([[Q(5, 4), Q(-3, 7)]])}


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
    claim, shape, leaves = irrational("fedswa")
    equal = replace(claim, statement=Condition(norm(x_round[rounds]) ** 2, "<=", norm2(x_round[rounds])))
    data = json.loads(json.dumps(certificate(equal, shape, leaves, realise(equal, shape, leaves, BALLS), 2, 1)))
    data |= {"left": "-100 to 100", "right": "-100 to 100"}
    assert check(data).reason == "nothing violates the statement by the recorded values"


def test_a_step_that_a_formula_defines_may_be_irrational():
    every_step = (t, 0, iterations - 1)
    data = written_on_balls(*irrational("fedswa", (Condition(eta_l[t], "==", 1 / sp.sqrt(3 * L), (every_step,)),)))
    assert data["values"]["eta_l"]["indices"] == ["t"] and check(data).accepted
    data["values"]["eta_l"]["formula"] = ["*", 1, ["^", 3, -1]]
    assert "a hypothesis fails" in check(data).reason
    data["values"]["eta_l"]["formula"] = ["eta_l", "t"]
    assert "RecursionError" in check(data).reason


def test_a_bound_that_is_irrational_is_written_a_little_too_large():
    radius = sp.Symbol("radius", positive=True)
    bounded = Condition(norm(x_round[r] - x_star), "<=", radius, ((r, 0, rounds),))
    data = written_on_balls(*irrational("fedswa", (bounded,), rho_decay=0.5))
    assert Q(data["values"]["radius"]) > 1 and check(data).accepted
    data["values"]["radius"] = str(Q(data["values"]["radius"]) - Q(1, 10**6))
    assert "radius" in check(data).reason
