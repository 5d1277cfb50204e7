"""Orders along a number: followed beyond float64, and beyond the numbers in the claim, where their growth may end."""

import json

import pytest

from bounds.registry.user_claims import load_claims
from verify.growth.check import check
from verify.referee.decide import Settings, decide

NUMBERS = """
[[claim]]
id = "mine/one"
setting = "algebra"
variables = {{e = "positive", C = "hidden"}}
limits = {{e = {limit}}}
statement = "{statement}"
"""
STEPS = """
[[claim]]
id = "mine/one"
assume = ["L_client[k] <= L for k in 0..clients-1", "mu_client[k] >= mu for k in 0..clients-1",
          "sigma_sq_client[k] <= 0 for k in 0..clients-1"]
variables = {{e = "positive", C = "hidden"}}
conditions = ["local_steps == 1", "eta_l[t] == e for t in 0..iterations-1", "e <= 1/L"]
limits = {{e = {limit}}}
statement = "{statement}"
"""

ROWS = {  # the file, the limit and the statement; whether it is refuted
    "a root": ((NUMBERS, "0", "1 <= C*e**(1/2)*(1 + e)"), True),
    "a difference of nearly equal numbers": ((NUMBERS, "0", "sqrt(1 + e) - 1 <= C*e**2"), True),
    "a square of a step": ((STEPS, "0", "norm2(x_round[1] - x_round[0]) <= C*e**3"), True),
    "a descent": ((STEPS, "0", "objective(x_round[0]) - objective(x_round[1]) <= C*e**2"), True),
    "beside a small number": ((NUMBERS, "0", "(1 + 10**(-12))/e <= C"), True),
    "a descent of the right order": ((STEPS, "0", "objective(x_round[0]) - objective(x_round[1]) <= C*e"), False),
    "level below a small number": ((NUMBERS, "0", "1/(e + 10**(-20)) <= C"), False),
    "level below a small exponential": ((NUMBERS, "0", "1/(e + exp(-50)) <= C"), False),
    "level above a large number": ((NUMBERS, '\"oo\"', "e/(1 + e/10**15) <= C"), False),
    "level where float64 is lost": ((NUMBERS, "0", "sqrt(1 + e) - 1 <= C*(e**2 + e/10**8)"), False),
}


@pytest.mark.parametrize("row", ROWS)
def test_an_order_along_a_number(row, tmp_path):
    (text, limit, statement), refuted = ROWS[row]
    path = tmp_path / "claim.toml"
    path.write_text(text.format(limit=limit, statement=statement), encoding="utf-8")
    claim, = load_claims(path)
    verdict = decide(claim, Settings(budget="quick", federations=False, out=tmp_path))
    assert (verdict.verdict == "refuted") == refuted, verdict.evidence
    if refuted:
        data = json.loads((tmp_path / verdict.certificate).read_text(encoding="utf-8"))
        assert check(data, claim).accepted
