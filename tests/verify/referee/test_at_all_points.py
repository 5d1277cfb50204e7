"""What assumptions say of every loss at all points holds on every counterexample."""

import json

import pytest

from bounds.registry.user_claims import load_claims
from verify.exact.check import check
from verify.referee.decide import Settings, decide

CONVEX = 'printed = {id = "a1", name = "convex", every_function = "f(u) >= f(v) + dot(u - v, f_grad(v))"}'
SMOOTH = 'printed = {id = "a1", name = "smooth", every_function = "f(u) <= f(v) + dot(u - v, f_grad(v)) + norm2(u - v)/2"}'
BOUNDED = 'printed = ["norm(f_grad(u)) <= G_lip for all u"]'
STEEP = 'printed = {id = "a1", name = "bounded", everywhere = "norm2(f_grad(u)) <= 4"}'
NEVER_FLAT = 'printed = {id = "a1", name = "steep", everywhere = "norm2(f_grad(u)) >= 4"}'
BY_ITS_VALUE = 'printed = {id = "a1", name = "smooth", everywhere = "norm2(f_grad(u)) <= 2*(f(u) + 1)"}'
BELOW = 'printed = {id = "a1", name = "bounded below", everywhere = "f(u) >= -1"}'
ANY = "mu_client[k] >= 0 for each k"
#: an assumption, other hypotheses, a statement, and its verdict
ROWS = {
    "convex": (CONVEX, [], "objective(y) - F_star <= dot(objective_grad(y), y - x_star)", "consistent"),
    "convex, half": (CONVEX, [], "2*(objective(y) - F_star) <= dot(objective_grad(y), y - x_star) - norm2(y - x_star)",
                     "refuted"),
    "smooth": (SMOOTH, [ANY], "norm2(objective_grad(y)) <= 2*(objective(y) - F_star)", "consistent"),
    "smooth, half": (SMOOTH, [ANY], "norm2(objective_grad(y)) <= objective(y) - F_star", "refuted"),
    "bounded": (BOUNDED, ["mu_objective >= 0"], "mu_objective <= 0", "consistent"),
    "bounded, flat": (BOUNDED, [], "L_client[0] <= 0", "refuted"),
    "steep": (STEEP, ["mu_objective >= 0"], "norm(objective_grad(y)) <= 2", "consistent"),
    "steep, less": (STEEP, ["mu_objective >= 0"], "norm(objective_grad(y)) <= 1", "refuted"),
    "never flat": (NEVER_FLAT, [], "norm2(grad(0, y)) >= 4", "undecided"),
    "by its value": (BY_ITS_VALUE, [], "norm2(grad(0, y)) <= 2*(F(0, y) + 1)", "consistent"),
    "by its value, less": (BY_ITS_VALUE, [], "norm2(grad(0, y)) <= F(0, y) + 1", "refuted"),
    "below": (BELOW, ["mu_objective >= 0"], "F_star >= -1", "consistent"),
}


def claim_of(row, folder):
    assumption, conditions, statement, _ = ROWS[row]
    file = folder / "own.toml"
    file.write_text(f'[assumptions]\n{assumption}\n[[claim]]\nid = "own/claim"\nsetting = "point"\n'
                    f'variables = {{y = "vector"}}\nassume = {json.dumps(["printed", *conditions])}\n'
                    f'statement = "{statement}"\n', encoding="utf-8")
    return load_claims(file)[0]


@pytest.mark.parametrize("row", ROWS)
def test_a_counterexample_has_the_losses_that_an_assumption_asks_for(row, tmp_path):
    found = decide(claim_of(row, tmp_path), Settings(federations=False, out=tmp_path))
    assert found.verdict == ROWS[row][3], found.evidence


def test_a_counterexample_to_a_claim_without_the_assumption_is_none_with_it(tmp_path, monkeypatch):
    """Its certificate, with the hypotheses of the claim written into it, is rejected."""
    claim = claim_of("bounded", tmp_path)
    monkeypatch.setitem(ROWS, "free", ("printed = [\"mu_objective >= 0\"]", [], "mu_objective <= 0", "refuted"))
    free = decide(claim_of("free", tmp_path), Settings(federations=False, out=tmp_path))
    data = json.loads((tmp_path / free.certificate).read_text(encoding="utf-8"))
    assert not check(data, claim).accepted
