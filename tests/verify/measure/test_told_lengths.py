"""Vectors whose length an equation tells, and simplices of which conditions bound entries, are as their hypotheses say."""

from fractions import Fraction

import numpy as np
import pytest

from bounds.registry.user_claims import load_claims
from synthetic.numbers.arrays import BALLS, EXACT, NUMPY
from synthetic.numbers.lengths import of_length
from tests.not_empty import not_empty
from verify.claims.told_lengths import told_lengths
from verify.referee.decide import Settings, decide

TWO, UNIT = "a = 'vector', b = 'vector'", "norm2({}) == 1"
#: variables, conditions, a true statement, a false one
ROWS = {
    "one unit vector": (TWO, [UNIT.format("a")], "dot(a, b) <= norm(b)", "dot(a, b) <= 0.9*norm(b)"),
    "a length": (TWO, ["norm(b) == 2"], "norm(a + b) >= 2 - norm(a)", "norm(a + b) >= 2.1 - norm(a)"),
    "two unit vectors": (TWO, [UNIT.format("a"), UNIT.format("b")], "norm2(a + b) <= 4", "norm2(a + b) <= 3.9"),
    "a difference": (TWO, ["1 == norm2(a - b)"], "norm(a) <= norm(b) + 1", "norm(a) <= norm(b) + 0.95"),
    "a length that is a number": (f"{TWO}, r = 'positive'", ["norm(a) == r", "norm(b) == r"], "norm2(a + b) <= 4*r**2",
                                  "norm2(a + b) <= 3.9*r**2"),
    "orthonormal": (TWO, ["norm(a) == 1", "norm(b) == 1", "dot(a, b) == 0"], "norm2(a + b) <= 2", "norm1(a + b) <= 1.9"),
    "a tetrahedron": (f"{TWO}, c = 'vector', d = 'vector'", [*map(UNIT.format, "abcd")],
                      "Max(dot(a,b), dot(a,c), dot(a,d), dot(b,c), dot(b,d), dot(c,d)) >= -1/3",
                      "Max(dot(a,b), dot(a,c), dot(a,d), dot(b,c), dot(b,d), dot(c,d)) >= -0.3"),
    "a simplex": ("n = 'integer from 2', p = 'simplex[n]'", ["p[0] >= 1/2"], "p[1] <= 1/2", "p[1] <= 0.4"),
    "two entries": ("n = 'integer from 3', p = 'simplex[n]'", ["p[0] >= 1/2", "p[1] >= 1/3"], "p[2] <= 1/6", "p[2] <= 1/7"),
    "a whole entry": ("n = 'integer from 2', p = 'simplex[n]'", ["p[0] >= 1"], "Sum(p[i]**2, (i, 0, n-1)) >= 1",
                      "p[n-1] > 0"),
    "an entry by an equation": ("n = 'integer from 2', p = 'simplex[n]'", ["p[0] == 1/2"],
                                "Sum(p[i]**2, (i, 0, n-1)) >= 1/4", "Sum(p[i]**2, (i, 0, n-1)) >= 1/3"),
    "falling entries": ("n = 'integer from 2', p = 'simplex[n]'", ["p[i+1] == p[i]/2 for i in 0..n-2"], "p[0] <= 2/3",
                        "p[0] <= 0.6"),
}


def read(tmp_path, variables, conditions, statement):
    path = tmp_path / "mine.toml"
    conditions = ", ".join(f'"{c}"' for c in conditions)
    path.write_text(f"[[claim]]\nid = 'mine/claim'\nsetting = 'algebra'\nvariables = {{{variables}}}\n"
                    f"conditions = [{conditions}]\nstatement = '''{statement}'''\n")
    (claim,) = load_claims(path)
    return claim


@pytest.mark.parametrize("name", ROWS)
def test_what_hypotheses_say_is_met_and_the_false_statement_is_refuted(name, tmp_path):
    variables, conditions, true, false = ROWS[name]
    spared = decide(read(tmp_path, variables, conditions, true), Settings(federations=False))
    assert spared.verdict in ("consistent", "certified") and spared.details["instances"]["met"] > 100, spared.evidence
    assert "unconfirmed" not in spared.details
    found = decide(read(tmp_path, variables, conditions, false), Settings(federations=False))
    assert found.verdict == "refuted", found.evidence


@pytest.mark.parametrize("backend", [NUMPY, EXACT, BALLS], ids=lambda one: one.library)
@pytest.mark.parametrize("dim", [1, 2, 3, 5])
@pytest.mark.parametrize("others", [0, 1, 2])
def test_vectors_have_the_length_and_are_orthogonal(backend, dim, others):
    rng, placed = np.random.default_rng(0), []
    for size in not_empty((2, 3, 5)[: min(dim, others + 1)]):
        length = backend.array(np.full((7, 1), Fraction(size)))
        drawn = rng.integers(-9, 10, (7, dim)).astype(object)
        drawn[0] = 0
        before = backend.array(np.vectorize(Fraction)(drawn))
        after = of_length(before, length, placed)
        gaps = [(after * after).sum(-1) - size**2, *((after * other).sum(-1) for other, _ in placed)]
        for gap in not_empty(gaps):
            assert (abs(gap.astype(float)) < 1e-9).all() if backend is NUMPY else (gap == 0).all()
        assert (of_length(after, length, placed) == after).all() or backend is NUMPY
        if not placed:  # the direction stays, nearly
            inner, most = (after * before).sum(-1).astype(float), size * np.linalg.norm(drawn.astype(float), axis=-1)
            assert (inner >= 0.999 * most).all()
        placed.append((after, length))


def test_a_vector_that_the_length_rests_on_is_not_moved(tmp_path):
    claim = read(tmp_path, TWO, ["norm2(a) == norm2(b)*norm2(a)", "norm(a - b) == 3"], "norm(a) <= norm(b) + 3")
    assert [(one.name, one.factor, str(one.rest)) for one in told_lengths(claim)] == [("b", -1, "a")]
