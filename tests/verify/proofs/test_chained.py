"""Theorems from proven steps: what is certified, what is not, and forged certificates."""

import json
import re
from dataclasses import replace

import pytest
import sympy as sp

from bounds.controls.fedavg import control
from bounds.language.claim import Condition, Variable
from bounds.language.operators import E, L, eta_l, iterations, mu, norm2, sigma_sq, t, x_sampled, x_star
from bounds.registry.claims import find_claim, forget_files
from bounds.registry.user_claims import PATHS
from tests.changes import both, dropped, put
from tests.classical import CONVEX, JUST_CONVEX, NOISE, SMOOTH
from tests.messages import contains_in_order
from verify.checker import rounds
from verify.proofs import chained as chains
from verify.proofs import follows
from verify.proofs.chained import _at, chained, check, narrower
from verify.worst.proven import TEMPLATES, Proven

ETA = sp.Symbol("eta", positive=True)
STEP = "classical/sgd-distance"
FIRST, LAST = norm2(x_sampled[0] - x_star), E(norm2(x_sampled[iterations] - x_star))
CONSTANT = Condition(eta_l[t], "==", ETA, ((t, 0, iterations - 1),))
SMALL, ONE_STEP, FREE = Condition(ETA, "<=", 1 / L), Variable("local_steps", "integer", high=1), Variable("eta", "positive")


def theorem(right, assumptions=(SMOOTH, CONVEX, NOISE), conditions=(CONSTANT, SMALL), variables=(ONE_STEP, FREE),
            steps=(STEP,)):
    return control("sgd", "run", Condition(LAST, "<=", right), assumptions=assumptions, conditions=conditions,
                   variables=variables, steps=steps)


SHRUNK = (1 - ETA * mu)**iterations * FIRST
RIGHT = SHRUNK + ETA * sigma_sq / mu
THEOREM = theorem(RIGHT)


def at_one_place(claim):
    return _at(claim, TEMPLATES[0]._replace(rounds=1))


def test_a_recursion_is_unrolled():
    found = follows.link(THEOREM, follows.premises_of(THEOREM))
    assert (found.answer, found.needs) == ("follows", ()) and "unrolled" in found.text


@pytest.mark.slow
def test_a_theorem_is_certified_with_what_it_rests_on():
    found = chained(THEOREM)
    assert found.rests_on == (STEP,) and "every number of rounds" in found.scope
    assert check(json.loads(json.dumps(found.certificate)), THEOREM).accepted


def test_nothing_follows_where_a_challenge_says_that_it_is_false(monkeypatch):
    monkeypatch.setattr(chains, "proof_of_run", lambda claim: Proven(false_at="L = 3" * (claim is THEOREM)))
    found = chained(THEOREM, searched=True)
    assert found.certificate is None and found.reason == "it may be false at L = 3"


def test_so_it_is_at_one_place():
    found = at_one_place(THEOREM)
    assert found["settings"][0]["parts"][STEP]["format"] == rounds.FORMAT
    assert check(json.loads(json.dumps(found)), THEOREM).accepted


#: changes of the theorem that do not follow, or rest on what is not proven
NOT_PROVEN = {
    "half of the floor": theorem(SHRUNK + ETA * sigma_sq / (2 * mu)),
    "no floor": theorem(SHRUNK),
    "too fast": theorem((1 - 2 * ETA * mu)**iterations * FIRST + ETA * sigma_sq / mu),
    "a floor of one step": theorem(SHRUNK + ETA**2 * sigma_sq),
    "merely convex": theorem(RIGHT, assumptions=(SMOOTH, JUST_CONVEX, NOISE)),
    "no noise bound": theorem(RIGHT, assumptions=(SMOOTH, CONVEX)),
    "any step": theorem(RIGHT, conditions=(CONSTANT,)),
    "steps that change": theorem(RIGHT, conditions=(SMALL,)),
    "more local steps": theorem(RIGHT, variables=(FREE,)),
    "no steps": theorem(RIGHT, steps=()),
    "steps of another kind": theorem(RIGHT, steps=("classical/gd-value",)),
}


@pytest.mark.parametrize("name", NOT_PROVEN)
def test_what_does_not_follow_is_not_certified(name):
    claim = NOT_PROVEN[name]
    assert chained(claim).certificate is None
    forged = at_one_place(THEOREM) | {n: v for n, v in chains.statement_of(claim).items()}
    assert not check(forged, claim).accepted


def refuted_step(monkeypatch, **changes):
    """The theorem with a changed step; as the registry would list it."""
    step = replace(find_claim(STEP), id="control/step", **changes)
    claim = theorem(RIGHT, steps=(step.id,))
    monkeypatch.setattr(chains, "premises_of", lambda c: [step] if c is claim else [])
    return claim, step


def test_a_false_step_gives_nothing(monkeypatch):
    statement = find_claim(STEP).statement
    claim, step = refuted_step(monkeypatch, statement=replace(statement, right=statement.right.subs(sigma_sq, sigma_sq / 2)))
    assert follows.link(claim, [step]).answer == "follows"
    assert chained(claim).certificate is None


def test_nothing_rests_on_itself(monkeypatch):
    monkeypatch.setattr(chains, "premises_of", lambda c: [THEOREM])
    assert chained(THEOREM).certificate is None
    other = replace(THEOREM, id="control/other")
    monkeypatch.setattr(chains, "premises_of", lambda c: [other] if c is THEOREM else [THEOREM])
    monkeypatch.setattr(chains, "at", lambda *_: (_ for _ in ()).throw(ValueError("not directly")))
    monkeypatch.setattr(chains, "worst_case", lambda *_, **__: (_ for _ in ()).throw(ValueError("not directly")))
    assert chained(THEOREM).certificate is None


def test_a_step_about_other_definitions_is_not_used(monkeypatch):
    claim, step = refuted_step(monkeypatch)
    assert chains._usable(claim) == [step]
    name = "drift"
    monkeypatch.setattr(type(step), "used_definitions", lambda self: {name: replace(
        claim.definitions[name], formula=claim.definitions[name].formula * 2)})
    assert chains._usable(claim) == []


@pytest.mark.parametrize(("premise", "claim", "name"), [
    (Variable("n", "integer", low=2), Variable("n", "integer"), "n"),
    (Variable("n", "integer", high=3), Variable("n", "integer"), "n"),
    (Variable("n", "integer"), Variable("n", "integer", low=2), ""), (Variable("a", "positive"), Variable("a", "real"), "a"),
    (Variable("a", "real", below=1), Variable("a", "real"), "a"),
    (Variable("local_steps", "integer", high=1), None, "local_steps"), (Variable("b", "positive"), None, "")])
def test_a_step_about_fewer_values_is_narrower(premise, claim, name):
    assert narrower(replace(THEOREM, variables=(premise,)), replace(THEOREM, variables=(claim,) if claim else ())) == name


def in_part(*path):
    return put("settings", 0, "parts", STEP, "settings", 0, *path)


FORGERIES = {
    "another step size": (put("settings", 0, "values", "eta", "1/3"), "proven at eta_l"),
    "another curvature": (put("settings", 0, "values", "mu", "1/3"), "proven at mu"),
    "another number of clients": (both(
        put("settings", 0, "sizes", "clients", 3), put("settings", 0, "sizes", "participants", 3),
        put("settings", 0, "weights", ["1/3"] * 3)), "proven at clients"),
    "other weights": (put("settings", 0, "weights", ["1/4", "3/4"]), "weights"),
    "a number without a value": (both(put("settings", 0, "unknown", ["mu"]), dropped("settings", 0, "values", "mu")), "."),
    "no parts": (put("settings", 0, "parts", {}), "parts"),
    "no settings": (put("settings", []), "no settings"),
    "rests on nothing": (put("rests on", []), "no usable step"),
    "rests on another": (put("rests on", ["classical/gd-value"]), "no usable step"),
    "rests on itself": (put("rests on", ["control/sgd"]), "no usable step"),
    "twice": (put("rests on", [STEP, STEP]), "no usable step"),
    "a part without a proof": (in_part("proofs", 0, {}), "sum of squares"),
    "a part with two settings": (put("settings", 0, "parts", STEP, "settings", lambda s: s * 2), "one setting"),
    "a part of another statement": (put("settings", 0, "parts", STEP, "statement", "right", 0), "states"),
    "a part about more rounds": (in_part("sizes", "rounds", 2), "."),
    "another statement": (put("statement", "right", 0), "states"),
    "a key more": (put("note", ""), "no fedtheory chain"),
}


@pytest.fixture(scope="module")
def honest():
    return json.dumps(at_one_place(THEOREM))


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_chains_are_refused(name, honest):
    change, words = FORGERIES[name]
    forged = json.loads(honest)
    change(forged)
    said = check(forged, THEOREM)
    assert not said.accepted and re.search(words, said.reason), said.reason


def test_steps_from_which_nothing_follows_at_one_place_are_not_proven_at_all(monkeypatch):
    monkeypatch.setattr(chains, "proof_of_run", lambda claim: Proven())
    monkeypatch.setattr(chains, "_certified", lambda premise: pytest.fail(f"{premise.id} is proven at all places"))
    assert "does not follow" in chained(find_claim("fedmoswa/lemma-g.12@F-smooth"), searched=True).reason


def test_steps_that_a_theorem_does_not_rest_on_are_not_proven_at_all_places(monkeypatch):
    asked = []
    monkeypatch.setattr(chains, "_certified", lambda premise: asked.append(premise.id) or True)
    claim = theorem(RIGHT, steps=("classical/sgd-value", STEP))
    assert len(chains._usable(claim)) > 1
    assert _at(claim, TEMPLATES[0]._replace(rounds=1))["rests on"] == asked == [STEP]


# claims of a file --------------------------------------------------------------------------------------------------------
OF_NUMBERS = """
[[claim]]
id = "mine/step"
setting = "algebra"
variables = {a = "positive", b = "positive"}
statement = "2*a*b <= a**2 + b**2"

[[claim]]
id = "mine/whole"
extends = "mine/step"
statement = "4*a*b <= 2*a**2 + 2*b**2 + 1"
steps = ["mine/step"]
"""


@pytest.fixture
def chain_of_a_file(run, tmp_path, monkeypatch):
    """A file of claims, the certificate of a chain in it, and a process that knows the file no more."""
    file, certificate = tmp_path / "mine.toml", tmp_path / "chain.json"
    file.write_text(OF_NUMBERS, encoding="utf-8")
    assert run("chain", f"{file}:mine/whole", "--out", certificate)[0] == 0
    monkeypatch.setenv(PATHS, "")
    forget_files()
    return file, certificate


def test_a_chain_is_checked_against_the_claims_of_a_file(run, chain_of_a_file):
    file, certificate = chain_of_a_file
    for statement in (file, f"{file}:mine/whole"):
        status, said, _ = run("check", certificate, "--statement", statement)
        assert status == 0 and said.startswith("accepted"), said
    status, said, _ = run("check", certificate)
    assert status == 1 and contains_in_order(said, "rejected …nothing to compare it with…mine/whole")


@pytest.mark.parametrize(("old", "new", "reason"), [
    ('"2*a*b <= a**2 + b**2"', '"2*a*b <= a**2"', "mine/step is not proven"),
    ('"4*a*b <= 2*a**2 + 2*b**2 + 1"', '"4*a*b <= 2*a**2 + 2*b**2"', "does not state …statement"),
    ('steps = ["mine/step"]', 'steps = ["mine/steps"]', "mine/steps"),
    ('steps = ["mine/step"]', "", "no usable step"),
    ('id = "mine/step"', 'id = "mine/other-step"', "mine/step"),
])
def test_a_chain_is_refused_where_the_file_states_something_else(run, chain_of_a_file, old, new, reason):
    file, certificate = chain_of_a_file
    text = OF_NUMBERS.replace(old, new)
    assert text != OF_NUMBERS
    if "other-step" in new:
        text = text.replace('extends = "mine/step"', 'extends = "mine/other-step"')
    file.write_text(text, encoding="utf-8")
    status, said, error = run("check", certificate, "--statement", file)
    assert status == 1 and contains_in_order(said, f"rejected …{reason}"), said + error


def test_a_part_proves_what_the_step_of_the_file_states(honest, tmp_path):
    """The part of a step about runs must state what the step of that id states that is given, not a registered one."""
    path = tmp_path / "chain.json"
    path.write_text(honest, encoding="utf-8")
    own = {THEOREM.id: THEOREM, STEP: find_claim(STEP)}
    assert chains.check_file(path, own).accepted
    statement = own[STEP].statement
    stronger = replace(own[STEP], statement=replace(statement, right=statement.right.subs(sigma_sq, sigma_sq / 2)))
    said = chains.check_file(path, {**own, STEP: stronger})
    assert not said.accepted and contains_in_order(said.reason, f"{STEP} …statement")
