"""Violations smaller than what float64 surely sees are put to exact arithmetic, which decides."""

import pytest

from bounds.registry.user_claims import load_claims
from verify.referee.decide import Settings, decide

#: a statement, and whether it is true; the false ones fail by a small part of their terms, or where numbers are seldom drawn
ROWS = {
    "the series of the logarithm": ("log(1 + a) <= 2*a/(2 + a) + a**3/12", True),
    "its third term too small": ("log(1 + a) <= 2*a/(2 + a) + a**3/(121/10 + a)", False),
    "a gap between large numbers": ("(a - 1000000)*(a - 1000001) >= 0", False),
    "a gap that is large enough": ("(a - 1000000)*(a - 1000001) >= -1/4", True),
    "tiny numbers": ("a**2 >= 1/10**59 or a <= 1/10**30", False),
    "a number near one": ("a <= 1 - 1/10**12 or a >= 1", False),
    "a number up to one": ("a <= 1 or a >= 1", True),
    "the series of the root": ("sqrt(1 + a) <= 1 + a/2 - a**2/8 + a**3/16 or a >= 1/100", True),
    "its fourth term too large": ("sqrt(1 + a) <= 1 + a/2 - a**2/8 + a**3/16 - a**4/25 or a >= 1/100", False),
}


@pytest.mark.parametrize("row", ROWS)
def test_what_float64_hardly_sees_is_refuted(row, tmp_path):
    statement, true = ROWS[row]
    file = tmp_path / "own.toml"
    fields = 'setting = "algebra"\nvariables = {a = "positive"}'
    file.write_text(f'[[claim]]\nid = "own/narrow"\n{fields}\nstatement = "{statement}"\n')
    found = decide(load_claims(file)[0], Settings(federations=False, out=tmp_path))
    assert (found.verdict == "refuted") != true and (found.certificate is None) == (found.verdict == "consistent")
