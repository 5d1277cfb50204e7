"""Orders of numbers that exist: judged at the best value, refuted only where the right side vanishes for every value."""

import json

import numpy as np
import pytest

from bounds.registry.user_claims import load_claims
from verify.claims.existential import with_position
from verify.growth.check import check
from verify.growth.growth_search import GrowthSearch
from verify.growth.order import with_constant
from verify.instances.shape import Shape
from verify.referee.decide import Settings, decide

CLAIM = """
[[claim]]
id = "mine/one"
setting = "algebra"
variables = {{n = "integer", b = "nonnegative", C = "{hidden}"}}
exists = {{c = "{interval}"}}
limits = {{n = "oo"}}
{more}
statement = "{statement}"
"""


def claims_of(tmp_path, interval, statement, hidden="hidden", more=""):
    path = tmp_path / "claim.toml"
    path.write_text(CLAIM.format(interval=interval, statement=statement, hidden=hidden, more=more), encoding="utf-8")
    return load_claims(path)


ABSOLUTE = "constants_may_use = []"
ROWS = {  # interval, statement, and more; verdict, and what is missing
    "the best value falls with the size": (("(0, 1]", "1/(n*c) + n*c <= C"), "consistent", None),
    "no value balances": (("(0, 1]", "1/(n*c) + n**2*c <= C"), "undecided", "growth"),
    "it grows for every value": (("[0, 1]", "n*(c**2 + (1 - c)**2) <= C"), "undecided", "growth"),
    "a logarithm is hidden": (("(0, 1]", "exp(-n*c) + c <= C/n", "hidden-log"), "consistent", None),
    "the right side vanishes": (("[0, 1]", "(c - b)**2 + 1 <= C*n*b", "hidden", ABSOLUTE), "refuted", None),
    "it vanishes, and one value makes the left side 0": (
        ("[0, b]", "(c - b)**2 <= C*n*b", "hidden", ABSOLUTE), "consistent", None),
}


@pytest.mark.parametrize("row", ROWS)
def test_the_verdict_on_an_order(row, tmp_path):
    given, expected, missing = ROWS[row]
    claim, = claims_of(tmp_path, *given)
    verdict = decide(claim, Settings(budget="quick", federations=False, out=tmp_path))
    assert verdict.verdict == expected, verdict.evidence
    assert verdict.details.get("missing") == missing
    if expected == "refuted":
        data = json.loads((tmp_path / verdict.certificate).read_text(encoding="utf-8"))
        assert check(data, claim).accepted
        member = data["members"][0]["certificate"]
        for forged in (member | {"subdivision": ["0", "1/2"]}, {k: v for k, v in member.items() if k != "subdivision"}):
            assert not check(data | {"members": [{**data["members"][0], "certificate": forged}]}, claim).accepted


def test_the_ratio_of_an_instance_is_the_one_at_the_best_value(tmp_path):
    """Of 1/(n c) + n c it is 2, also where n is so large that the best value is far below the interval."""
    claim, = claims_of(tmp_path, "(0, 1]", "1/(n*c) + n*c <= C")
    trials = GrowthSearch(with_position(with_constant(claim, 1)))
    for n in (1, 7, 1000, 10**7):
        params = {"b": np.ones(3), "position_of_c": np.ones(3)}
        assert trials.ratios(Shape(sizes=(("n", n),)), params) == pytest.approx(2.0, rel=1e-3)


def test_a_witness_of_an_order_is_told(tmp_path):
    claim, reading = claims_of(tmp_path, "(0, 1]", "1/(n*c) + n*c <= C", more='witness = {c = "1/n"}')
    verdict = decide(claim, Settings(budget="quick", federations=False))
    assert verdict.verdict == "consistent" and verdict.details["witness"]["claim"] == reading.id
    assert verdict.details["witness"]["verdict"] == "consistent" and not verdict.details["witness"]["not shown"]


ANY_SIZE = """
[[claim]]
id = "mine/one"
variables = {{n = "integer from 1", a = "positive", C = "hidden"}}
constants_may_use = ["a"]
statement = "{statement}"
"""


@pytest.mark.parametrize(("statement", "expected"), [
    ("Sum(a*(i + 1)**2, (i, 0, n - 1)) <= C*n**2", "refuted"), ("Sum(a*(i + 1)**2, (i, 0, n - 1)) <= C*n**3", "consistent")])
def test_without_limits_every_size_is_followed_that_may_grow(statement, expected, tmp_path):
    path = tmp_path / "claim.toml"
    path.write_text(ANY_SIZE.format(statement=statement), encoding="utf-8")
    (claim,) = load_claims(path)
    verdict = decide(claim, Settings(federations=False))
    assert verdict.verdict == expected and "n 1 to" in verdict.evidence, verdict.evidence
