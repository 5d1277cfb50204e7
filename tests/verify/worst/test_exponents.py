"""Conditions with a number in an exponent: where they end is found in floats, since exact powers have millions of digits."""

from fractions import Fraction

import pytest

from bounds.registry.user_claims import load_claims
from verify.worst.configurations import instantiate
from verify.worst.proven import TEMPLATES

#: conditions on a number a -> the most or the least that they allow, of the numbers that are looked at
ROWS = {"(1/100)**a >= 1/1000": "3/2", "(99/100)**a/24 <= 1/100": "150", "(99/100)**a >= 1/3000*L": "700"}


@pytest.mark.parametrize("condition", ROWS)
def test_a_setting_meets_them(condition, tmp_path):
    file = tmp_path / "own.toml"
    file.write_text('[[claim]]\nid = "own/power"\nvariables = {a = "positive"}\nstatement = "F_star <= F_star + a"\n'
                    f'conditions = ["{condition}", "L_client[k] <= L for k in 0..clients-1"]\n')
    claim = load_claims(file)[0]
    assert Fraction(instantiate(claim, {}, TEMPLATES[0]).values["a"]) == Fraction(ROWS[condition])
