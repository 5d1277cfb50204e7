"""The stand-alone checker's methods: everything that a run records is what the engine records."""

from __future__ import annotations

import json
from fractions import Fraction as Q

import numpy as np
import pytest
from checker_records import compare_with_record
from test_checker import _simple

from bounds.claim import Condition, Procedure, Variable
from bounds.controls import control
from bounds.language import E, F_star, iterations, objective, x_sampled
from bounds.registry import all_claims
from synthetic.arrays import BALLS, EXACT
from verify import checker
from verify.certificate import certificate
from verify.environment import realise
from verify.instances import Shape, federation_of, map_leaves
from verify.sampling import draw_leaves

MEASURED = ("x", "x_sampled", "x_local", "x_before", "g", "included", "sampled_weight", "sampled", "x_round", "x_broadcast")
VARIATES = tuple((Q(k, 2), Q(1 - k)) for k in range(3))


def row(base, numbers=(), backend=EXACT, extra=False, **options):
    """A method and what a claim would leave free; ``extra``: it takes gradients outside local steps."""
    return base, tuple(numbers), backend, extra, tuple(options.items())


ADAM = {"beta1": Q(1, 2), "beta2": Q(3, 4), "eps": Q(1, 2), "eta_g": Q(3, 2)}
PLAIN = {"eta_g": Q(3, 2)}
MOVING = {"eta_g": Q(3, 2), "gamma": Q(1, 4), "rho_decay": Q(1, 2)}
DUAL = {"rho_prox": Q(1, 2)}
ROWS = {
    "fedavg": row("fedavg", PLAIN.items()),
    "fedswa": row("fedswa", [("eta_g", Q(3, 2)), ("rho_decay", Q(1, 2))]),
    "fedswa h1": row("fedswa", PLAIN.items(), schedule="geometric-h1"),
    "fedmoswa I": row("fedmoswa", MOVING.items(), extra=True, option="I"),
    "fedmoswa II": row("fedmoswa", MOVING.items()),
    "fedmoswa II free": row("fedmoswa", MOVING.items(), start="free", client_variate=VARIATES, server_variate=VARIATES[1]),
    "fedmoswa gradient": row("fedmoswa", MOVING.items(), extra=True, start="gradient"),
    "fedmoswa gradient-clients-only": row("fedmoswa", MOVING.items(), extra=True, start="gradient-clients-only"),
    "fedmoswa all-clients": row("fedmoswa", MOVING.items(), variant="all-clients"),
    "fedmoswa all-clients gradient": row(
        "fedmoswa", MOVING.items(), extra=True, variant="all-clients", start="gradient-clients-only"),
    "fedmoswa h1": row("fedmoswa", PLAIN.items(), schedule="geometric-h1"),
    "fedmoswa fresh": row("fedmoswa", MOVING.items(), extra=True, variant="fresh", batch="independent"),
    "fedmoswa fresh same": row("fedmoswa", MOVING.items(), extra=True, variant="fresh", batch="same"),
    "scaffold": row("scaffold", PLAIN.items()),
    "scaffold I": row("scaffold", PLAIN.items(), extra=True, option="I", start="gradient"),
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
    "fa-nt": row("fa-nt", ADAM.items(), BALLS),
    "fa-nt scalar": row("fa-nt", ADAM.items(), BALLS, y_init="normalised-gradient", norm="scalar"),
    "fa-nt carry": row("fa-nt", ADAM.items(), BALLS, y_init="normalised-gradient", vhat="carry"),
    "fedluar": row("fedluar", (), BALLS, masks=((0, 0), (1, 0), (0, 1))),
    "fedluar all": row(
        "fedluar", (), BALLS, masks=((1, 1), (1, 0), (1, 1)), initial_update=(Q(1), Q(-1, 2)), score="oracle"),
    "fedluar recompute": row("fedluar", (), BALLS, masks=((0, 0), (0, 1)), score="recompute"),
}
FULL_ONLY = {"fedpd", "fedmoswa fresh", "fedmoswa fresh same"}
ARRAYS = ("client_variate", "server_variate", "masks", "initial_update")


def replayed(name, sampling, seed, noisy=(), rounds=2, steps=2):
    """A random exact instance of the row: the engine's environment, and the replay of its certificate."""
    base, numbers, backend, extra, options = ROWS[name]
    procedure = Procedure(base, options=options, sampling=sampling, equal_weights=True)
    statement = Condition(E(objective(x_sampled[iterations])) - F_star, "<=", 0)
    variables = tuple(Variable(number, "positive") for number, _ in numbers)
    claim = control("replay", "run", statement, procedure=procedure, variables=variables)
    steps = 1 if dict(options).get("solver") == "exact" else steps
    shape = Shape(3, 0, 2, steps, rounds, 2, sampling, () if extra else noisy, Q(1, 4))
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
    return (*MEASURED, *states)


@pytest.mark.parametrize("name", ROWS)
def test_a_run_is_the_engines(name):
    seed = [*ROWS].index(name)
    for sampling in ("full",) if name in FULL_ONLY else ("full", "without-replacement"):
        noisy = () if sampling != "full" or "exact" in name else (1,)
        environment, replay = replayed(name, sampling, seed, noisy)
        compare_with_record(replay, environment, names_of(environment, name))


def test_all_states_are_compared():
    seen = {}
    for name in ROWS:
        environment, _ = replayed(name, "full", 0, rounds=1, steps=2)
        seen.setdefault(ROWS[name][0], set()).update(names_of(environment, name))
    assert seen.keys() == checker.METHODS.keys()
    for base, (_, states) in checker.METHODS.items():
        assert {*states} - seen[base] <= {"tracked", "client_scalar_moment2"}


def test_every_procedure_of_a_claim_is_replayed_or_about_growth():
    """The methods and options of all explicit claims about runs are known, and each has a row above."""
    for claim in all_claims().values():
        if claim.setting == "run" and claim.explicit and claim.statement is not None:
            assert claim.procedure.base in checker.METHODS, claim.id


#: what is changed in a method of the checker -> (row, module, function, text, other text)
