"""An assumption that bounds the slope of every loss is met by each instance, also where no formula names the slope."""

import json

import pytest

from bounds.registry.user_claims import load_claims
from verify.exact.check import check
from verify.referee.decide import Settings, decide

TEXT = """[assumptions.lip]
id = "A4"
name = "the slope of every loss is bounded"
everywhere = "{bound}"
[names]
G_lip_sq = ["G^2", "square of the bound", "nonnegative"]
[[claim]]
id = "one/a"
assume = [{assume}]
statement = "{statement}"
"""
EQUAL = "norm(objective_grad(x_round[0]) - objective_grad(x_star)) <= 0"


def claim_of(tmp_path, statement, assume='"lip"', bound="norm2(f_grad(u)) <= G_lip_sq"):
    path = tmp_path / "one.toml"
    path.write_text(TEXT.format(statement=statement, assume=assume, bound=bound), encoding="utf-8")
    return load_claims(path)[0]


@pytest.mark.parametrize("bound", [
    "norm2(f_grad(u)) <= G_lip_sq", "norm2(f_grad(u)) <= G_lip**2", "norm(f_grad(u)) <= G_lip"])
def test_a_counterexample_has_bounded_slopes(tmp_path, bound):
    claim = claim_of(tmp_path, EQUAL, bound=bound)
    verdict = decide(claim, Settings(federations=False))
    instance = json.loads(json.dumps(verdict.details["instance"]))
    assert verdict.verdict == "refuted" and check(instance, claim).accepted
    assert {entry for row in instance["instance"]["curvature"] for entry in row} == {"0"}


def test_a_quadratic_is_no_counterexample(tmp_path):
    """The checker accepted it: no hypothesis of the certificate named the slope."""
    free = claim_of(tmp_path, EQUAL, assume="")
    quadratic = json.loads(json.dumps(decide(free, Settings(federations=False)).details["instance"]))
    assert check(quadratic, free).accepted
    assert {entry for row in quadratic["instance"]["curvature"] for entry in row} != {"0"}
    bounded = claim_of(tmp_path, EQUAL)
    found = json.loads(json.dumps(decide(bounded, Settings(federations=False)).details["instance"]))
    assert not check(found | {name: quadratic[name] for name in ("instance", "sizes", "left", "right")}, bounded).accepted


def test_a_name_for_the_bound_has_the_value_of_the_slope(tmp_path):
    assert decide(claim_of(tmp_path, "norm2(objective_grad(x_round[r])) <= G_lip_sq for each r"),
                  Settings(federations=False)).verdict != "refuted"
    assert decide(claim_of(tmp_path, "norm2(objective_grad(x_round[r])) <= G_lip_sq/2 for each r"),
                  Settings(federations=False)).verdict == "refuted"
