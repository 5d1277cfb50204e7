"""Layers, and choices of layers that depend on the run: what is proven, and what looks alike and is not."""

import json
from copy import deepcopy
from fractions import Fraction as Q

import pytest

from bounds.registry.claims import find_claim
from tests.changes import put
from verify.checker.quadratic_forms import LAYER, SCENARIO, QuadraticForm, SymbolicVector, pairing
from verify.exact.check import check, replay_alone
from verify.exact.statement import statement_of
from verify.symbolic.scenarios import restricted, whole
from verify.symbolic.symbolic_run import SymbolicRun
from verify.worst.configurations import instantiate
from verify.worst.worst_case import worst_case

AT = {"rounds": Q(2), "local_steps": Q(1), "clients": Q(1), "eta": Q(1, 4)}

#: statements that hold whichever layers are chosen, or where they are prescribed, and one that does not
PROVEN = {
    "fedluar/eq-13@forced": (AT, True),  # noise in layers that were prescribed has mean zero
    "fedluar/eq-13": (AT, False),  # in layers that were chosen after it was drawn it has not
    "fedluar/lemma-A.2-kappa": (AT | {"kappa": Q(1, 2)}, True),
    "fedluar/lemma-A.2-smooth": (AT | {"local_steps": Q(2)}, True),
    "fedluar/lemma-A.2-variance": (AT, False),
    "fedluar/eq-6": (AT | {"rounds": Q(3)}, True),
}


@pytest.mark.parametrize("name", PROVEN)
def test_choices_that_depend_on_noise_are_told_from_prescribed_ones(name):
    given, true = PROVEN[name]
    claim = find_claim(name)
    found = worst_case(claim, given, factors=False)
    assert (found.certificate is not None) == true
    assert not true or check(json.loads(json.dumps(found.certificate)), claim).accepted


def test_parts_in_different_layers_are_orthogonal():
    u, v = (SymbolicVector({0: Q(1), LAYER: Q(2)}), SymbolicVector({0: Q(3), LAYER: Q(5)}))
    assert pairing(u, v).terms == {(0, 0): 3, (LAYER, LAYER): 10}


def test_a_form_is_the_sum_of_its_parts_in_the_worlds():
    form = QuadraticForm({(0, 1): Q(2), (): Q(1), "loss 0 1": Q(1), restricted((0, 1), 3): Q(1)})
    assert whole(form, [1, 2]).terms == {
        (SCENARIO, SCENARIO + 1): 2, (2 * SCENARIO, 2 * SCENARIO + 1): 2, (3 * SCENARIO, 3 * SCENARIO + 1): 1,
        "loss 0 1 @1": 1, "loss 0 1 @2": 1, "loss chance @1": 1, "loss chance @2": 1}


def test_ways_in_which_choices_never_turn_out_are_left_out():
    """Where all layers that are recycled in a round must have one age, some ways in three rounds have none."""
    found = {}
    for name in ("fedluar/eq-6", "fedluar/eq-6@common"):
        claim = find_claim(name)
        template = instantiate(claim, {**AT, "rounds": Q(4), "recycled": Q(2)})
        sizes = template.sizes | {"layers": 3}
        found[name] = len(SymbolicRun(statement_of(claim), *template._replace(sizes=sizes)).ways)
    assert 1 < found["fedluar/eq-6@common"] < found["fedluar/eq-6"] == 27


@pytest.fixture(scope="module")
def kappa():
    return worst_case(find_claim("fedluar/lemma-A.2-kappa"), PROVEN["fedluar/lemma-A.2-kappa"][0], factors=False).certificate


def _moved(certificate):
    """What one world says, said of both."""
    proofs = certificate["settings"][0]["proofs"][0]
    name = "hypothesis 6 2 of 1"
    proofs[name + " 2"] = proofs.pop(name)


def _halved(certificate):
    right = certificate["statement"]["right"]
    certificate["statement"]["right"] = ["*", ["^", 2, -1], right]


FORGERIES = {
    "what one world says": _moved,
    "half the right side": _halved,
    "nothing of one world": lambda data: data["settings"][0]["proofs"][0].pop("hypothesis 6 2 of 1"),
    "no worlds": lambda data: data["settings"][0]["proofs"][0].update({"client 0 0 1": "1"}),
    "a chance below zero": lambda data: data["settings"][0]["proofs"][0].update({"chance @1": "-1"}),
    "a third world": lambda data: data["settings"][0]["proofs"][0].update({"chance @3": "1"}),
    "one layer": put("settings", 0, "sizes", "layers", 1),
    "more layers than are recycled": put("settings", 0, "sizes", "recycled", 3),
    "no layers": put("settings", 0, "sizes", "layers", 0),
    "layers without end": put("settings", 0, "sizes", "layers", 1001),
}


@pytest.mark.parametrize("change", FORGERIES.values(), ids=FORGERIES)
def test_a_forged_proof_about_choices_is_rejected(change, kappa):
    assert replay_alone(kappa).accepted
    forged = deepcopy(kappa)
    change(forged)
    assert not replay_alone(forged).accepted


MEANS = """
[[claim]]
id = "mine/choices"
method = "fedluar"
sampling = "full"
assume = ["L_client[k] <= L for k in 0..clients-1", "sigma_sq_client[k] <= sigma_sq for k in 0..clients-1"]
conditions = ["recycled <= layers"]
variables = {recycled = "integer"}
statement = "STATEMENT"
"""


@pytest.mark.parametrize(("statement", "true"), [
    ("E(Max(server_recycle_set[1, 0], server_recycle_set[1, 1])) >= 1", True),
    ("E(server_recycle_set[1, 0]) >= E(server_recycle_set[1, 1])", False),  # chances are unknown
    ("E(server_recycle_set[1, 0] + server_recycle_set[1, 1]) == 1", True),
    ("E(server_recycle_set[1, 0])**2 <= E(server_recycle_set[1, 0]**2)/2", False),
    ("E(server_recycle_set[2, 0]) <= 1", False),  # of what is chosen for the round after the last one nothing is known
    ("E(Max(norm2(x_round[1] - x_star), norm2(x_round[0] - x_star))) <= "
     "Max(E(norm2(x_round[1] - x_star)), E(norm2(x_round[0] - x_star)))", False),  # a mean of maxima exceeds a maximum
    ("Max(E(norm2(x_round[1] - x_star)), E(norm2(x_round[0] - x_star))) >= E(norm2(x_round[1] - x_star))/2 + "
     "E(norm2(x_round[0] - x_star))/2", True),
    ("E(norm2(x_round[2] - E(x_round[2]))) <= 0", False),
])
def test_means_over_choices(statement, true, tmp_path):
    from bounds.registry.user_claims import load_claims

    path = tmp_path / "mine.toml"
    path.write_text(MEANS.replace("STATEMENT", statement))
    claim, = load_claims(path)
    try:
        found = worst_case(claim, {"rounds": Q(2), "local_steps": Q(1), "clients": Q(1), "recycled": Q(1), "eta_l": Q(1, 2)},
                           factors=False)
    except ValueError:
        assert not true
    else:
        assert (found.certificate is not None) == true
