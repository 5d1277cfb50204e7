"""Certificates with an array of n + 1 entries: what is accepted, and what a forger may not say of its length."""

import json
from copy import deepcopy
from pathlib import Path

import pytest

from bounds.registry.user_claims import load_claims
from verify.exact.check import check, replay_alone
from verify.referee.decide import Settings, decide

KINDS = Path(__file__).parents[1] / "referee" / "kinds.toml"


@pytest.fixture(scope="module")
def refuted(tmp_path_factory):
    """The claim of a false recursion over a_0, ..., a_n, and its certificate."""
    out = tmp_path_factory.mktemp("report")
    claim = next(claim for claim in load_claims(KINDS) if claim.id == "false/recursion")
    verdict = decide(claim, Settings(budget="quick", out=out))
    return claim, json.loads((out / verdict.certificate).read_text())


def test_the_certificate_has_one_entry_more(refuted):
    claim, data = refuted
    assert data["free"]["a"] == ["n + 1"] and len(data["values"]["a"]) == data["sizes"]["n"] + 1
    assert check(data, claim).accepted


SIZES = ("n", "n + 2", "n + 0", "n + x", "n + -1", "m + 1", "n + 1 + 1", "rounds + 1")


@pytest.mark.parametrize("size", SIZES)
def test_a_length_is_the_claim_s(refuted, size):
    claim, data = refuted
    data = deepcopy(data)
    data["free"]["a"] = [size]
    if size == "n + 2":
        data["values"]["a"].append("0")
    result = check(data, claim)
    assert not result.accepted and "does not state" in result.reason
    if size != "n + 2":  # a length that the numbers do not have
        assert not replay_alone(data).accepted


@pytest.mark.parametrize("change", [lambda values: values[:-1], lambda values: [*values, "0"]])
def test_so_many_entries_and_no_others(refuted, change):
    claim, data = refuted
    data = deepcopy(data)
    data["values"]["a"] = change(data["values"]["a"])
    result = check(data, claim)
    assert not result.accepted and "entries in a list" in result.reason
