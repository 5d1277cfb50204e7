"""Potentials of methods: rates that are known, quadratics and runs that are not faster, forged proofs, what has none."""

import copy
import json
import random
from dataclasses import replace
from fractions import Fraction as Q

import numpy as np
import pytest

import fedtheory as ft
from tests.changes import both, dropped, put
from tests.not_empty import not_empty
from tests.verify.attack.mutants import mutant
from verify.checker.schema import STATED
from verify.exact.check import replay_alone
from verify.exact.statement import statement_of
from verify.worst.claim_figure import on_quadratics
from verify.worst.contraction import Contraction, check_contraction
from verify.worst.potential import potential, prove_contraction

pytest.importorskip("clarabel")

MU = Q(1, 10)
EXACT = {"solver": "exact"}


def descent(step, steps=1):
    """max(|1 - eta mu|, |1 - eta L|)^2, for each local step: Polyak 1963."""
    return max((1 - step * MU) ** 2, (1 - step) ** 2) ** steps


def proximal(rho):
    """1 / (1 + mu / rho)^2: Rockafellar 1976."""
    return 1 / (1 + MU / rho) ** 2


def heavy_ball(step, beta):
    """The squared spectral radius of z^2 - (1 + beta - eta h) z + beta over curvatures h: no method is faster than it is on
    quadratics."""
    return max(float(abs(np.roots([1, -(1 + float(beta) - float(step) * h), float(beta)])).max() ** 2)
               for h in np.linspace(float(MU), 1, 91))


#: method, clients, arguments, and the rate of a round at L = 1, mu = 1/10
KNOWN = {
    "gradient descent": ("fedavg", 1, {"eta_l": Q(1, 2)}, descent(Q(1, 2))),
    "with the best step": ("fedavg", 1, {"eta_l": Q(20, 11)}, descent(Q(20, 11))),
    "with long steps": ("fedavg", 2, {"eta_l": Q(19, 10)}, descent(Q(19, 10))),
    "two local steps": ("fedavg", 1, {"eta_l": Q(1, 2), "local_steps": 2}, descent(Q(1, 2), 2)),
    "four local steps": ("fedavg", 1, {"eta_l": Q(3, 2), "local_steps": 4}, descent(Q(3, 2), 4)),
    "proximal point": ("fedpd", 1, EXACT | {"rho_prox": 1}, proximal(Q(1))),
    "proximal point, by a dual method": ("feddyn", 1, EXACT | {"rho_prox": Q(1, 4)}, proximal(Q(1, 4))),
    "heavy ball": ("fedavgm", 1, {"eta_l": Q(1, 2), "beta1": Q(1, 5)}, heavy_ball(Q(1, 2), Q(1, 5))),
    "heavy ball, two clients": ("fedavgm", 2, {"eta_l": Q(1), "beta1": Q(1, 10)}, heavy_ball(Q(1), Q(1, 10))),
}
#: methods whose rate nobody has published; of the first with a floor
OTHERS = {
    "local steps": ("fedavg", 2, {"eta_l": Q(1, 2), "local_steps": 2}),
    "control variates": ("scaffold", 2, {"eta_l": Q(1, 2), "local_steps": 2, "option": "II"}),
    "duals": ("fedpd", 2, EXACT | {"rho_prox": 1}),
    "momentum of clients": ("fedcm", 1, {"eta_l": Q(1, 2)}),
    "falling steps": ("fedswa", 1, {"eta_l": Q(1, 2), "local_steps": 2}),
}


@pytest.fixture(scope="module")
def proven():
    return {name: potential(method, clients, **arguments) for name, (method, clients, arguments) in OTHERS.items()}


@pytest.mark.parametrize("name", KNOWN)
def test_the_rates_that_are_known_are_proven(name):
    method, clients, arguments, rate = KNOWN[name]
    found = potential(method, clients, **arguments)
    assert found.proven is not None, found.reason
    assert float(rate) * (1 - 1e-12) <= found.proven.rate <= float(rate) + 1e-6 and found.proven.cost == 0
    written = json.loads(json.dumps(found.certificate))
    assert check_contraction(written).accepted and replay_alone(written).accepted


def over(statement: Contraction, rounds: int) -> np.ndarray:
    """Left over right of a statement after so many rounds on random quadratics that meet its hypotheses."""
    setting = statement.setting
    numbers = {"mu": "1/10"} | ({"zeta_sq": "1"} if statement.cost else {})
    return on_quadratics(statement.claim, setting._replace(
        sizes=setting.sizes | {"rounds": rounds, "iterations": rounds * setting.sizes["local_steps"]},
        values=setting.values | numbers), 0)


def test_others_are_proven_and_no_run_is_slower(proven):
    """Over three rounds of random quadratics."""
    for name, found in not_empty(proven.items()):
        assert found.proven is not None and 0 < found.proven.rate < 1, (name, found.reason)
        assert (found.proven.cost > 0) == (name == "local steps")
        assert Contraction.read(found.proven.text) == found.proven
        ratios = over(found.proven, 3)
        assert len(ratios) > 20 and ratios.max() <= 1 + 1e-9, name
        assert over(replace(found.proven, rate=found.proven.rate / 4, cost=found.proven.cost / 16), 3).max() > 1, name


def stated(statement: Contraction, data):
    """The proof ``data``, with all that another statement says."""
    settings = [statement.setting._asdict() | {"potential": statement.in_checker, "proofs": data["settings"][0]["proofs"]}]
    return {"format": data["format"], **statement_of(statement.claim), "settings": settings}


def weighted(statement, factor, place=0):
    name, weight = statement.weights[place]
    return replace(statement, weights=(*statement.weights[:place], (name, weight * factor), *statement.weights[place + 1:]))


#: statements that are false, or for which the proof is none
FORGED = {
    "a better rate": lambda s: replace(s, rate=s.rate * Q(999, 1000)),
    "no loss at all": lambda s: replace(s, rate=Q(0)),
    "a wider class": lambda s: replace(s, mu=s.mu / 2),
    "a steeper class": lambda s: replace(s, L=s.L * 2),
    "other clients": lambda s: replace(s, clients=s.clients + 1),
    "a longer step": lambda s: replace(s, arguments=tuple(
        (name, v * 4 if name in ("eta_l", "rho_prox") else v) for name, v in s.arguments)),
    "a smaller potential": lambda s: weighted(s, Q(1, 100)),
    "no potential": lambda s: replace(s, weights=()),
    "a negative potential": lambda s: weighted(s, -1),
}
TAMPERED = {
    "the reading alone": put("reading", lambda text: text.replace("rate=", "rate=0.", 1)),
    "a rate in the reading alone": put("reading", lambda text: text.replace("mu=1/10", "mu=1/100")),
    "words twice": put("reading", lambda text: f"{text} mu=1/10"),
    "the same in other words": put("reading", lambda text: text.replace("mu=1/10", "mu=10/100")),
    "another name": put("claim", "potential/fedavgm"),
    "no name": put("claim", "potential/"),
    "the sizes of the proof": put("settings", 0, "sizes", "clients", 3),
    "the factor of the proof": put("settings", 0, "potential", "factor", "1"),
    "the potential of the proof": put("settings", 0, "potential", "value", 0),
    "no proof": put("settings", []),
    "no settings": dropped("settings"),
    "multipliers": put("settings", 0, "proofs", 0, {}),
    "negative multipliers": put("settings", 0, "proofs", 0, lambda old: {n: f"-{v.lstrip('-')}" for n, v in old.items()}),
    "hypotheses that nothing meets": both(put("hypotheses", 1, "right", 2), put("hypotheses", 0, "right", 1)),
}


@pytest.mark.parametrize("lie", FORGED)
def test_forged_statements_are_refused(proven, lie):
    for name, found in not_empty(proven.items()):
        data = json.loads(json.dumps(stated(FORGED[lie](found.proven), found.certificate)))
        assert not check_contraction(data).accepted, name
        assert not replay_alone(data).accepted or lie == "other clients", name


@pytest.mark.parametrize("change", TAMPERED)
def test_tampered_files_are_refused(proven, change):
    for name, found in not_empty(proven.items()):
        data = copy.deepcopy(found.certificate)
        TAMPERED[change](data)
        assert data != found.certificate and not check_contraction(data).accepted, name


def test_a_floor_that_is_left_out_is_noticed(proven):
    found = proven["local steps"]
    for cost in (Q(0), found.proven.cost / 2):
        assert not check_contraction(stated(replace(found.proven, cost=cost), found.certificate)).accepted


def test_mutants_are_refused_or_say_the_same(proven):
    rng, accepted = random.Random(0), 0
    for _ in range(60):
        found = rng.choice([*proven.values()])
        changed = mutant(found.certificate, rng)
        if isinstance(changed, dict) and check_contraction(changed).accepted:
            accepted += 1
            assert {name: changed[name] for name in STATED} == {name: found.certificate[name] for name in STATED}


@pytest.mark.parametrize("text", [
    "", "method=fedavg", "method=fedavg clients=2 L=1 mu=1/10 rate=1", "method=2 clients=2 L=1 mu=1/10 rate=1 cost=0",
    "method=fedavg clients=1/2 L=1 mu=1/10 eta_l=1 rate=1 cost=0", "method=fedavg clients=2 L=1 mu=2 eta_l=1 rate=1 cost=0",
    "method=fedavg clients=2 L=1 mu=1/10 eta_l=1 rate=1 cost=1", "method=fedavg clients=2 L=1 mu=1/10 rate=2 cost=0",
    "method=fedavg clients=2 L=one mu=1/10 eta_l=1 rate=1 cost=0", "method=sgd clients=2 L=1 mu=1/10 rate=1 cost=0",
])
def test_a_reading_that_says_something_else_is_refused(text):
    with pytest.raises(ValueError, match=" "):
        Contraction.read(text)


def test_a_method_that_does_not_contract_has_none():
    found = potential("fedavg", eta_l=Q(5, 2))
    assert found.best == 1 and found.proven is None and found.certificate is None and found.reason


@pytest.mark.parametrize("method, question, told", [
    ("fednova", {}, "fedavg"), ("fedavg", {"rounds": 2}, "rounds"), ("fedavg", {"participants": 1}, "participants"),
    ("fedavg", {"mu": 1}, "mu"), ("fedavg", {"eta_l": 0}, "eta_l"), ("fedavg", {"clients": 0}, "clients"),
    ("fedavg", {"local_steps": Q(3, 2)}, "local_steps"), ("fedavg", {"L": -1}, "L"), ("fedavg", {"clients": 40}, "letters"),
    ("fedavg", {"local_steps": 30}, "letters"), ("fedavg", {"eta_l": "1/0"}, "eta_l"),
])
def test_what_has_no_potential_says_why(method, question, told):
    with pytest.raises(ValueError, match=told):
        potential(method, **question)


def test_the_facade_and_the_commands_agree(run, tmp_path):
    file = tmp_path / "proof.json"
    status, said, _ = run("worst", "fedavg", "clients=1", "eta_l=1/2", "--potential", "--json", "--out", file)
    assert status == 0 and json.loads(said)["rate"] == "361/400"
    assert ft.potential("fedavg", clients=1, eta_l=Q(1, 2)).proven.rate == Q(361, 400)
    status, said, _ = run("check", file)
    assert status == 0 and said.startswith("accepted") and "361/400" in said
    data = json.loads(file.read_text())
    put("reading", lambda text: text.replace("361/400", "36/400"))(data)
    file.write_text(json.dumps(data))
    assert run("check", file)[0] == 1
    assert run("worst", "fedavg", "eta_l=3", "--potential")[0] == 1


@pytest.mark.parametrize("words", [
    ["classical/gd-convex"], ["fedavg", "rounds=2"], ["fedavg", "--tune", "eta_l"], ["fedavg", "--measure", "value"],
    ["fednova"], ["fedavg", "--plot", "x.png"], ["fedavg", "--class", "smooth"],
])
def test_bad_input_is_refused(words, run):
    assert run("worst", *words, "--potential")[0] == 2


@pytest.mark.parametrize("method, clients, arguments", [
    ("fedavg", 2, {"eta_l": 0.5, "local_steps": 2}), ("fedavg", 3, {"eta_l": 0.25, "local_steps": 3}),
    ("fedprox", 2, {"eta_l": 0.25, "local_steps": 2, "rho_prox": 1.0}), ("fedavg", 1, {"eta_l": 1.5, "local_steps": 2}),
    ("fedswa", 1, {"eta_l": 0.5, "local_steps": 2}),
])
def test_no_exact_worst_case_exceeds_what_is_proven(method, clients, arguments):
    """Another program, of another implementation of the method, over several rounds; with one client it agrees."""
    proven = potential(method, clients, **arguments).proven
    assert [name for name, _ in proven.weights] == ["x.x"]
    for rounds in (1, 2, 4):
        exact = ft.worst(method, rounds, clients, mu=0.1, zeta=1.0, **arguments).ratio
        bound = float(proven.rate**rounds * proven.weights[0][1] + proven.floor)
        assert exact <= bound * (1 + 1e-6)
        assert clients > 1 or exact == pytest.approx(bound, rel=1e-5)


def test_changed_statements_that_are_proven_anew_hold(proven):
    """Rates, weights and costs at random: what has a proof is not broken by any quadratic, after 1, 2 and 5 rounds."""
    rng, kinds = random.Random(0), {True: 0, False: 0}
    for _ in range(60):
        found = rng.choice([*proven.values()]).proven
        all_, mostly_one = rng.choice((1, 2, Q(9, 10))), (1, 1, 1, Q(21, 20), Q(19, 20), -1)
        changed = replace(
            found, rate=min(found.rate * rng.choice((1, Q(101, 100), Q(11, 10), Q(99, 100), Q(2, 3))), Q(99, 100)),
            cost=found.cost * rng.choice((1, 2, Q(1, 2))),
            weights=tuple((name, weight * all_ * rng.choice(mostly_one)) for name, weight in found.weights))
        certificate = prove_contraction(changed)
        accepted = certificate is not None and check_contraction(certificate).accepted
        kinds[accepted] += 1
        assert not accepted or all(over(changed, rounds).max() <= 1 + 1e-9 for rounds in (1, 2, 5)), changed.text
    assert min(kinds.values()) >= 8, kinds
