"""The infimum of the objective, which many papers name in place of its minimum."""

import pytest

from bounds.registry.user_claims import load_claims
from verify.referee.decide import Settings, decide

HEAD = """
[[claim]]
id = "own/infimum"
assume = ["L_client[k] <= L for each k", "sigma_sq_client[k] <= 0 for each k", {more}]
conditions = ["local_steps == 1", "eta_l[t] == 1/L for each t"]
statement = "Min(norm2(objective_grad(x_round[r])), (r, 0, rounds-1)) <= {factor}*L*(objective(x_round[0]) - F_inf)/rounds"
"""


@pytest.mark.parametrize("more", ["", '"objective(v) >= F_inf for all v"'], ids=["by its name", "as a lower bound"])
@pytest.mark.parametrize("factor, verdict", [("2", "consistent"), ("1", "refuted")])
def test_the_infimum_of_quadratics_is_their_minimum(more, factor, verdict, tmp_path):
    file = tmp_path / "own.toml"
    file.write_text(HEAD.format(more=more, factor=factor))
    found = decide(load_claims(file)[0], Settings(federations=False, out=tmp_path))
    assert found.verdict == verdict, found.evidence
