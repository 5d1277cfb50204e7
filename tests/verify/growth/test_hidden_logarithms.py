"""Growth that hidden logarithms explain refutes no order that hides them."""

from math import log

import pytest

from bounds.registry.user_claims import load_claims
from verify.growth.check import like_a_logarithm
from verify.referee.decide import Settings, decide

DOUBLINGS = {"early": [2**n for n in range(2, 7)], "late": [2**n for n in range(1, 40)],
             "falling": [2.0**-n for n in range(2, 7)]}
HIDDEN = {"log": lambda n: log(n), "log^2": lambda n: log(n) ** 2, "log^3": lambda n: log(n) ** 3,
          "log^5": lambda n: log(n) ** 5, "(1 + log)^2": lambda n: (1 + log(n)) ** 2,
          "(10 + log)^3": lambda n: (10 + log(n)) ** 3,
          "n^0.3": lambda n: n**0.3}
SEEN = {"n^0.5": lambda n: n**0.5, "n": lambda n: n, "n^0.5 log": lambda n: n**0.5 * log(n) ** 0.1, "n^2": lambda n: n**2}


@pytest.mark.parametrize("sizes", DOUBLINGS)
@pytest.mark.parametrize("growth", [*HIDDEN, *SEEN])
def test_what_a_logarithm_explains(growth, sizes):
    function = HIDDEN.get(growth) or SEEN[growth]
    ratios = [function(max(size, 1 / size)) for size in DOUBLINGS[sizes]]
    assert bool(like_a_logarithm(DOUBLINGS[sizes], ratios)) == (growth in HIDDEN)


def test_sizes_must_span_logarithms():
    sizes = [2**n for n in range(20, 26)]
    assert like_a_logarithm(sizes, [size**0.9 for size in sizes])


TEXT = """
[[claim]]
id = "mine/order"
setting = "algebra"
variables = {n = "integer from 2", C = "%s"}
limits = {n = "oo"}
statement = "%s <= C"
"""
ROWS = {
    "a logarithm": ("hidden", "log(n)", {"undecided"}), "a hidden one": ("hidden-log", "log(n)", {"consistent"}),
    "its cube, hidden": ("hidden-log", "log(n)**3", {"undecided", "consistent"}),
    "its fifth power, hidden": ("hidden-log", "log(n)**5", {"undecided", "consistent"}),
    "a root": ("hidden-log", "sqrt(n)", {"refuted"}),
}


@pytest.mark.parametrize("row", ROWS)
def test_the_verdict_on(row, tmp_path):
    domain, left, allowed = ROWS[row]
    path = tmp_path / "claim.toml"
    path.write_text(TEXT % (domain, left), encoding="utf-8")
    verdict = decide(load_claims(path)[0], Settings(budget="quick", federations=False))
    assert verdict.verdict in allowed, verdict.evidence
