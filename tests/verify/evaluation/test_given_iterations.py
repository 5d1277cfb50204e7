"""Means given everything before an iteration: over which draws they are, and where they are refused."""

from fractions import Fraction
from types import SimpleNamespace

import pytest

from bounds.registry.user_claims import load_claims
from verify.checker.operators import MEANS
from verify.checker.quadratic_forms import NotQuadratic
from verify.checker.symbolic_operators import SymbolicOperators
from verify.claims.method import faults_of_method
from verify.referee.decide import Settings, decide
from verify.symbolic.symbolic_run import SymbolicRun


def claim(statement: str, folder, fields: str = ""):
    path = folder / "mine.toml"
    path.write_text(f'[[claim]]\nid = "mine/a"\nstatement = "{statement}"\n{fields}\n', encoding="utf-8")
    return load_claims(path, faults_of_method)[0]


def test_later_draws_are_averaged():
    averaged = MEANS["E_step"]
    for at, expected in (((Fraction(1), Fraction(2)), [False, False, False, True, True, False, True]),
                         ((Fraction(1), Fraction(0)), [False, False, True, True, True, False, True])):
        draws = [("start", -1, 0, 0), ("noise", 0, 2, 0), ("noise", 1, 1, 0), ("noise", 1, 2, 1), ("noise", 2, 0, 0),
                 ("sampling", 1, 0, 0), ("sampling", 2, 0, 0)]
        assert [averaged(draw, at) for draw in draws] == expected


@pytest.mark.parametrize("fields", [
    'method = "scaffnew"\nvariables = {communication = "positive"}\nconditions = ["communication <= 1"]',
    'method = "fedluar"', 'method = "feddropoutavg"'])
def test_runs_that_draw_more_than_gradients_and_clients_have_none(fields, tmp_path):
    one = claim("E_step(norm2(x_local[1, k] - x_star), 1) == norm2(x_local[1, k] - x_star) for each k", tmp_path, fields)
    found = decide(one, Settings(federations=False))
    assert found.verdict == "undecided" and "E_step is known of" in found.evidence, found.evidence


def test_there_is_none_beside_samples(tmp_path):
    with pytest.raises(ValueError, match="E_step has no meaning in a claim about samples"):
        claim("E_step(norm2(x_round[1] - twin_x_round[1]), 0) <= 1", tmp_path)


def test_no_proof_takes_it_for_another_mean():
    with pytest.raises(NotQuadratic, match="which is no round"):
        SymbolicRun.mean(SimpleNamespace(given_past=None), ("E_step", (Fraction(0), Fraction(1))), "x", None, {}, None)
    formulas = SimpleNamespace(value=lambda node, at: Fraction(1))
    with pytest.raises(NotQuadratic, match="which is no round"):
        SymbolicOperators(SimpleNamespace(instance=SimpleNamespace(formulas=formulas))).mean("E_step", ["x", 1], None)
