"""Violations smaller than what float64 surely sees are put to exact arithmetic, which decides."""

import pytest

from bounds.registry.user_claims import load_claims
from verify.referee.decide import Settings, decide

#: a statement, and whether it is true; the false ones fail by a part in 10^9 at most
ROWS = {
    "the series of the logarithm": ("log(1 + a) <= 2*a/(2 + a) + a**3/12", True),
    "its third term too small": ("log(1 + a) <= 2*a/(2 + a) + a**3/(121/10 + a)", False),
}


@pytest.mark.parametrize("row", ROWS)
def test_what_float64_hardly_sees_is_refuted(row, tmp_path):
    statement, true = ROWS[row]
    file = tmp_path / "own.toml"
    fields = 'setting = "algebra"\nvariables = {a = "positive"}'
    file.write_text(f'[[claim]]\nid = "own/narrow"\n{fields}\nstatement = "{statement}"\n')
    found = decide(load_claims(file)[0], Settings(federations=False, out=tmp_path))
    assert (found.verdict == "refuted") != true and (found.certificate is None) == true
