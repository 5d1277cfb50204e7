"""Bounds on probabilities of large noise: noise of three outcomes and of many chances, which means alone do not need."""

import json

import pytest

from bounds.registry.user_claims import load_claims
from verify.exact.check import check
from verify.exact.replay import instance_of
from verify.referee.decide import Settings, decide

CLAIM = """
[assumptions]
noise = ["sigma_sq_client[k] <= sigma_sq for each k"]
[let]
"error" = "norm2(g[0, 0] - grad(0, x_round[0]))"
[[claim]]
id = "mine/one"
method = "fedavg"
assume = ["noise"]
conditions = ["sigma_sq > 0", "clients == 1", "local_steps == 1", {more}]
statement = "{statement}"
"""

#: a statement, and whether it is true: bounds of Chebyshev, on both sides and on one
ROWS = {
    "P(error >= 4*sigma_sq) <= 1/4": True, "P(error >= 4*sigma_sq) <= 6/25": False, "P(error >= 2*sigma_sq) <= 1/2": True,
    "P(error >= 2*sigma_sq) <= 2/5": False, "P(error >= 9*sigma_sq) <= 1/10": False,
}


def claim_of(tmp_path, statement, more=""):
    path = tmp_path / "claim.toml"
    path.write_text(CLAIM.format(statement=statement, more=more), encoding="utf-8")
    return load_claims(path)[0]


@pytest.mark.parametrize("statement", ROWS)
def test_a_bound_on_a_tail_is_refuted_where_some_noise_reaches_more(statement, tmp_path):
    verdict = decide(claim_of(tmp_path, statement), Settings(federations=False))
    assert verdict.verdict == ("consistent" if ROWS[statement] else "refuted"), verdict.evidence


SYMMETRIC = [["1/8", ["2"]], ["1/8", ["-2"]], ["3/4", ["0"]]]
FORGED = {  # laws of two clients' noise, and why they are refused
    "of four outcomes": ([[["1/8", ["2"]], ["1/8", ["-2"]], ["1/4", ["0"]], ["1/2", ["0"]]]], "two or three outcomes"),
    "of one outcome": ([[["1", ["0"]]]], "two or three outcomes"),
    "not centred": ([[["1/8", ["2"]], ["1/8", ["-1"]], ["3/4", ["0"]]]], "centred"),
    "of chance zero": ([[["1/4", ["2"]], ["1/4", ["-2"]], ["1/2", ["0"]], ["0", ["0"]]]], "two or three outcomes"),
}


def test_noise_of_three_outcomes_is_replayed_and_forged_noise_is_not(tmp_path):
    claim = claim_of(tmp_path, "P(error >= 4*sigma_sq) <= 6/25")
    data = decide(claim, Settings(federations=False)).details["instance"]
    assert len(data["instance"]["noise"][0]) == 3 and check(data, claim).accepted
    for laws, why in FORGED.values():
        forged = json.loads(json.dumps(data)) | {"instance": data["instance"] | {"noise": laws}}
        found = check(forged, claim)
        assert not found.accepted and why in found.reason


def test_other_noise_of_three_outcomes_is_checked_and_not_run_again(tmp_path):
    claim = claim_of(tmp_path, "P(error >= 4*sigma_sq) <= 1/9")
    data = decide(claim, Settings(federations=False)).details["instance"]
    law = [["1/8", ["3"]], ["1/8", ["-1"]], ["3/4", ["-1/3"]]]
    values = data["values"] | {"sigma_sq": "4/3"}
    other = data | {"instance": data["instance"] | {"noise": [law]}, "values": values, "left": "1/8"}
    assert check(other, claim).accepted
    with pytest.raises(ValueError, match="two are opposite"):
        instance_of(other)


def test_noise_that_is_not_listed_has_two_outcomes(tmp_path):
    claim = claim_of(tmp_path, "E(norm2(x_round[rounds] - x_star)) <= 0", '"rounds == 12", "sigma_sq == 1"')
    data = decide(claim, Settings(federations=False)).details["instance"]
    shown = {"two": [["1/2", ["1"]], ["1/2", ["-1"]]], "three": SYMMETRIC}
    found = {name: check(data | {"instance": data["instance"] | {"noise": [law]}}, claim) for name, law in shown.items()}
    assert "two outcomes" in found["three"].reason and "two outcomes" not in found["two"].reason
