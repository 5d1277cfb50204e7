"""For what an accepted proof proves its statement: what is fixed, what is not, and what would make the scope a lie."""

from copy import deepcopy
from dataclasses import replace

import pytest

from bounds.registry.user_claims import load_claims
from tests.not_empty import not_empty
from tests.verify.attack.scopes import EMPTIED, TIED, TIES, WIDENED, attack_scopes, emptied, proofs_of_many, tied
from verify.checker import scope, starts
from verify.exact.check import proof_scope, replay_alone
from verify.referee import decide as deciding
from verify.referee.decide import Settings, decide
from verify.search.stages import NAMES
from verify.worst.every_round import every_round

CLAIM = """
[[claim]]
id = "mine/descent"
assume = ["L_client[k] <= L for k in 0..clients-1", "mu_client[k] >= 0 for k in 0..clients-1",
          "sigma_sq_client[k] <= 0 for k in 0..clients-1"]
conditions = ["local_steps == 1", "eta_l[t] == 1/L for t in 0..iterations-1"CONDITIONS]
VARIABLES
statement = "norm2(x_round[rounds] - x_star) <= norm2(x_round[0] - x_star)"
"""


VARIABLES = 'variables = {T = "positive", N = "integer from 1"}'
SEARCHES = [name for name in NAMES if name not in ("small", "random")]  # to leave out, for time


@pytest.fixture(scope="module")
def many():
    return [*proofs_of_many()]


def test_the_proofs_cover_rounds_and_clients(many):
    texts = [proof_scope(data)[0] for data, _ in many]
    assert all(replay_alone(data).accepted for data, _ in many)
    assert sum("every number of rounds" in text for text in texts) >= 6
    assert sum("every number of clients from 2 on; any weights" in text for text in texts) >= 6
    assert not any(proof_scope(data)[1] for data, _ in many), "each is at one value of L"


@pytest.mark.parametrize("size", ["rounds", "clients"])
@pytest.mark.parametrize("integer", [True, False])
@pytest.mark.parametrize("tie", TIES)
def test_a_number_tied_to_what_the_proof_has_for_every_value_is_refused(many, tie, size, integer):
    covering = [data for data, _ in many if f"every number of {size}" in proof_scope(data)[0]]
    assert covering
    for data in covering[:2]:
        assert not replay_alone(tied(data, size, tie, integer)).accepted


def test_the_same_ties_are_accepted_at_fixed_sizes(many):
    """There T has the value of the setting, as the scope says."""
    data = next(data for data, _ in many if "every number" not in proof_scope(data)[0])
    result = replay_alone(tied(data, "clients", "one equation", False))
    assert result.accepted and "; T = 2" in result.reason and "; clients = 2" in result.reason


def test_a_statement_about_no_index_is_refused(many):
    for data, _ in not_empty(many):
        assert "the statement says nothing" in (result := replay_alone(emptied(data))).reason or not result.accepted


def test_a_random_attack_on_scopes(many):
    table = attack_scopes(many, 60, seed=0)
    assert not table.faults, table.faults[:2]
    assert {*table.rows} == {EMPTIED, WIDENED, f"{TIED}rounds", f"{TIED}clients"}


def test_the_attack_notices_a_checker_that_leaves_hypotheses_out(many, monkeypatch):
    monkeypatch.setattr(starts, "ties", lambda *_: False)
    assert attack_scopes(many, 40, seed=0).faults


# what may be left out ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("condition, every", [
    ("T <= 1", True), ("rounds >= 2", True), ("T <= rounds", True), ("rounds <= T", False), ("T == rounds", False),
    ("T >= t/2 for t in 0..rounds", False), ("T <= t + 1 for t in 0..iterations-1", False),
    ("eta_l[t] <= T for t in 0..iterations-1", True), ("rounds <= 10*norm2(x_round[0] - x_star)", False),
    ("N <= rounds", True), ("N >= rounds", False), ("epsilon[t] <= 5 for t in 0..rounds", True)])
def test_hypotheses_beside_a_proof_for_every_number_of_rounds(tmp_path, condition, every):
    """``T <= rounds`` holds for every number of rounds at T = 1, and T = 1 is among the settings."""
    path = tmp_path / "mine.toml"
    path.write_text(CLAIM.replace("CONDITIONS", f', "{condition}"').replace("VARIABLES", VARIABLES), encoding="utf-8")
    found = every_round(load_claims(path)[0])
    assert (found.certificate is not None) == every, found.reason
    refused = "depends on the number of rounds" if condition == "T == rounds" else "not shown for every number of rounds"
    assert every or refused in found.reason  # an equation says what T is, and is refused as a definition


def stated(**more):
    """A certificate of no hypotheses but those that every claim has, at one setting."""
    all_clients = [["k", 0, ["+", -1, "clients"]]]
    usual = [{"left": ["priority", "k"], "relation": "==", "right": 1, "over": all_clients},
             {"left": ["available", "i", "k"], "relation": "==", "right": 1, "over": [["i", 0, "rounds"], *all_clients]}]
    sizes = {"clients": 2, "rounds": 2, "iterations": 4, "local_steps": 2, "participants": 2, "dim": 1, "layers": 1}
    setting = {"sizes": sizes, "values": {}, "unknown": ["L"], "weights": ["1/2", "1/2"]}
    given = {"statement": {"left": "L", "right": 0}, "hypotheses": usual, "definitions": {}, "settings": [setting],
             "procedure": {"base": "fedavg", "sampling": "full"}}
    return deepcopy(given | more)


def size_is(name, relation, number):
    return {"left": name, "relation": relation, "right": number, "over": []}


def test_what_hypotheses_leave_one_value_is_not_fixed():
    data = stated()
    assert scope.fixed(data, data["settings"][0], False).keys() == {"clients", "rounds", "local_steps", "client_weight"}
    data["hypotheses"] += [size_is("local_steps", "<=", 2), size_is("local_steps", ">=", 2)]
    assert scope.fixed(data, data["settings"][0], True).keys() == {"clients", "client_weight"}
    equal = {"left": ["client_weight", "k"], "relation": "==", "right": ["^", "clients", -1],
             "over": [["k", 0, ["+", -1, "clients"]]]}
    data["hypotheses"] += [size_is("clients", "==", 2), equal]
    assert scope.scope(data, True)[1]
    assert not scope.scope(data, False)[1], "the number of rounds is fixed"


@pytest.mark.parametrize("change", [
    lambda data: data["settings"][0]["values"].update(L="1"), lambda data: data["hypotheses"].pop(0),
    lambda data: data["hypotheses"].pop(1), lambda data: data["settings"][0].update(weights=["1/3", "2/3"]),
    lambda data: data["procedure"].update(sampling="with-replacement"),
    lambda data: data["statement"].update(left="layers"), lambda data: data["procedure"].update(base="fedluar"),
    lambda data: data["hypotheses"].__setitem__(-1, size_is("clients", "<=", 3)),
    lambda data: data["hypotheses"][1].update(left=["available", 0, 0], over=[]),
    lambda data: data["hypotheses"][1]["over"].__setitem__(0, ["i", 0, 0]),
    lambda data: data["hypotheses"][1]["over"].__setitem__(1, ["k", 0, 0])])
def test_what_is_fixed_keeps_a_proof_from_being_complete(change):
    data = stated()
    equal = {"left": ["client_weight", "k"], "relation": "==", "right": ["^", "clients", -1],
             "over": [["k", 0, ["+", -1, "clients"]]]}
    data["hypotheses"] += [size_is("local_steps", "==", 2), equal, size_is("clients", "==", 2)]
    assert scope.scope(data, True)[1]
    change(data)
    assert not scope.scope(data, True)[1]


def test_every_number_of_clients_needs_those_below_its_least_too():
    data = stated()
    data["hypotheses"] += [size_is("local_steps", "==", 2)]
    many, one = data["settings"][0] | {"degree": 0, "weights": "any"}, deepcopy(data["settings"][0])
    one["sizes"] |= {"clients": 1, "participants": 1}
    one["weights"] = ["1"]
    assert not scope.scope(data | {"settings": [many]}, True)[1]
    text, complete = scope.scope(data | {"settings": [many, one]}, True)
    assert complete and "every number of clients from 2 on and one client; any weights; every L" in text
    data["hypotheses"] += [size_is("clients", ">=", 2)]
    assert scope.scope(data | {"settings": [many]}, True)[1]


# the verdict ---------------------------------------------------------------------------------------------------------------
def test_a_claim_proven_at_some_numbers_is_consistent(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(CLAIM.replace("CONDITIONS", "").replace("VARIABLES", ""), encoding="utf-8")
    verdict = decide(load_claims(path)[0], Settings("standard", out=tmp_path, federations=False, without=SEARCHES))
    assert verdict.verdict == "consistent" and verdict.certificate
    assert verdict.evidence.startswith("proven for every function that the hypotheses admit") and "L = " in verdict.evidence
    assert "no violation in" in verdict.evidence


@pytest.mark.parametrize("conditions", [
    '"local_steps == 1", "eta_l[t] == 1/2 for t in 0..iterations-1"', '"eta_l[t] == 1/2 for t in 0..iterations-1"',
    '"local_steps == 1"'])
def test_a_claim_proven_for_all_that_it_admits_is_certified(tmp_path, conditions):
    """Monotonicity of the gradient, which holds at every model, however the run gets there."""
    path = tmp_path / "mine.toml"
    path.write_text(f"""
[[claim]]
id = "mine/monotone"
assume = ["mu_client[k] >= 0 for k in 0..clients-1", "sigma_sq_client[k] <= 0 for k in 0..clients-1"]
conditions = [{conditions}]
statement = "dot(objective_grad(x_round[r]), x_round[r] - x_star) >= 0 for r in 0..rounds-1"
""", encoding="utf-8")
    verdict = decide(load_claims(path)[0], Settings("standard", out=tmp_path, federations=False, without=SEARCHES))
    assert (verdict.verdict, bool(verdict.certificate)) == ("certified", True)


def test_no_claim_is_certified_of_which_exact_arithmetic_cannot_tell_whether_instances_violate_it(tmp_path, monkeypatch):
    path = tmp_path / "mine.toml"
    path.write_text('''
[[claim]]
id = "mine/square"
setting = "algebra"
variables = {a = "real", b = "real"}
statement = "2*a*b <= a**2 + b**2"
''', encoding="utf-8")
    claim = load_claims(path)[0]
    assert decide(claim, Settings(federations=False)).verdict == "certified"
    searched = deciding.search

    for doubts, expected in ({"unconfirmed": 2}, "certified"), ({"unconfirmed": 2, "doubtful": 2}, "consistent"):
        monkeypatch.setattr(deciding, "search", lambda *arguments, doubts=doubts: replace(searched(*arguments), **doubts))
        verdict = decide(claim, Settings(federations=False))
        assert verdict.verdict == expected, verdict.evidence
        assert ("cannot tell whether 2 of the instances violate it" in verdict.evidence) == (expected == "consistent")
