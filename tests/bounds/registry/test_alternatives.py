"""``or`` between relations: what it means, how it is printed, what is refused, and that no case is lost."""

from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
import sympy as sp

from bounds.language.alternatives import alternatives, either
from bounds.language.claim import HOLDS, Condition
from bounds.printing.render import condition_latex, condition_text, show
from bounds.registry.claim_files import tables
from bounds.registry.collection import Collection, WrongClaims
from bounds.registry.user_claims import load_claims
from tests.not_empty import not_empty
from verify.claims.method import faults_of_method
from verify.referee.decide import Settings, decide

A, B, C = sp.symbols("a b c", real=True)


@pytest.mark.parametrize("signs", [*product(("<=", ">=", "=="), repeat=2), ("<=", ">=", "==")])
def test_one_of_the_relations_holds(signs):
    sides = (A, B), (2*B, C - 1), (C, A + B)
    parts = [Condition(left, sign, right) for sign, (left, right) in zip(signs, sides, strict=False)]
    whole = either(parts)
    for values in not_empty(product(map(Fraction, (-1, 0, 1, 2)), repeat=3)):
        at = dict(zip((A, B, C), map(sp.Rational, values), strict=True))
        expected = any(HOLDS[c.sign](c.left.xreplace(at), c.right.xreplace(at)) for c in parts)
        assert HOLDS[whole.sign](whole.left.xreplace(at), 0) == expected, (values, parts)
        assert any(HOLDS[c.sign](c.left.xreplace(at), c.right.xreplace(at)) for c in alternatives(whole)) == expected


def test_alternatives_are_printed_as_such():
    condition = either([Condition(A, "<=", B), Condition(C, "==", 1)], ((sp.Symbol("k", integer=True), 0, 2),))
    assert condition_text(condition, "code") == "c = 1   or   a ≤ b   for k = 0, …, 2"
    assert r"\text{ or }" in condition_latex(condition, "code")
    assert not alternatives(Condition(A, "<=", 0)) and not alternatives(Condition(A*abs(B), "<=", 0))
    assert not alternatives(Condition(abs(A)*abs(B), "<", 0))


FILE = """
[[claim]]
id = "mine/a"
setting = "algebra"
variables = {a = "real", b = "real", n = "integer"}
conditions = ["CONDITION"]
statement = "STATEMENT"
"""


def claim(condition: str = "n >= 1", statement: str = "a <= b or b <= a", more: str = ""):
    text = FILE.replace("CONDITION", condition).replace("STATEMENT", statement) + more
    return Collection.read(Path("one.toml"), text).claims[0][1]


def test_ranges_are_those_of_the_whole():
    read = claim("a + i <= b or a >= i for i in 0..n-1").conditions[0]
    assert read.over[0][1:] == (0, sp.Symbol("n", integer=True, positive=True) - 1) and len(alternatives(read)) == 2


@pytest.mark.parametrize(("condition", "statement", "more", "message"), [
    ("a < b or b <= a", "a <= 1", "", "or stands between relations <=, >= and =="),
    ("a <= b for i in 0..n-1 or b <= a", "a <= 1", "", "or stands between two relations, and ranges behind the last"),
    ("a <= b or", "a <= 1", "", "'or' is not part of a formula"),
    ("a <= b or b", "a <= 1", "", "a condition needs a relation"),
    ("a <= b or a == 3*b", "a <= 1", "", "in a hypothesis with or an equation is about sizes alone"),
    ("n >= 1", "a <= b or b <= a", 'relation = "=="', "a statement with or keeps its own relations"),
    ("a <= b or norm2(v) >= 0 for all v", "a <= 1", "", "a condition for all v has no or"),
])
def test_what_is_refused(condition, statement, more, message):
    with pytest.raises(WrongClaims, match=message):
        claim(condition, statement, more)


def test_a_claim_with_alternatives_is_shown():
    read = claim("a <= b or n == 2", "a*b >= 0 or a == b")
    assert "n = 2   or   a ≤ b" in show(read) and "a = b   or   0 ≤ a b" in show(read)


DECIDED = """
[assumptions]
smooth = ["L_client[k] <= L for each k", "mu_client[k] >= 0 for each k", "sigma_sq_client[k] <= 0 for each k"]
[[claim]]
id = "true/short-steps"
assume = ["smooth"]
conditions = ["eta_l[t] <= 1/L or eta_l[t] <= 2/L for each t", "local_steps == 1"]
statement = "objective(x_round[1]) <= objective(x_round[0])"
[[claim]]
id = "false/second-case"
assume = ["smooth"]
conditions = ["eta_l[t] <= 1/(4*L) or eta_l[t] >= 30/L for each t", "local_steps == 1"]
statement = "objective(x_round[1]) <= objective(x_round[0])"
[[claim]]
id = "false/first-case"
assume = ["smooth"]
conditions = ["local_steps >= 2 or eta_l[0] <= 1/L", "rounds == 1", "eta_l[t] <= 4/L for each t"]
statement = "objective(x_round[1]) <= objective(x_round[0])"
[[claim]]
id = "true/sizes"
conditions = ["local_steps == 1 or rounds == 1"]
statement = "iterations == rounds or iterations == local_steps"
[[claim]]
id = "false/sizes"
conditions = ["local_steps == 1 or rounds == 1"]
statement = "iterations == rounds"
[[claim]]
id = "certified/numbers"
setting = "algebra"
variables = {a = "real", b = "real"}
conditions = ["a <= 0 or b <= 0", "a >= -1", "b >= -1", "a <= 1", "b <= 1"]
statement = "a*b <= 1"
[[claim]]
id = "false/numbers"
extends = "certified/numbers"
statement = "a*b <= 0"
[[claim]]
id = "false/neither"
setting = "algebra"
variables = {a = "real", b = "real"}
statement = "a <= 0 or b <= 0"
"""


@pytest.fixture(scope="module")
def decided(tmp_path_factory):
    path = tmp_path_factory.mktemp("claims") / "or.toml"
    path.write_text(DECIDED, encoding="utf-8")
    return {one.id: one for one in load_claims(path, faults_of_method)}


@pytest.mark.parametrize("name", [row["id"] for row in tables(Path("or.toml"), DECIDED)[0]])
def test_no_case_is_lost(name, decided):
    allowed = {"true": ("consistent", "certified"), "false": ("refuted",), "certified": ("certified",)}
    found = decide(decided[name], Settings(federations=False))
    assert found.verdict in allowed[name.partition("/")[0]], found.evidence


@pytest.mark.parametrize("field", ['compare = {left = "a", right = "b"}', 'monotone = {of = "a", in = "b"}'])
def test_no_bound_of_a_claim_with_alternatives_is_compared(field):
    text = FILE.replace("mine/a", "a").replace("CONDITION", "n >= 1").replace("STATEMENT", "a <= b or b <= a")
    text = "[paper]\n" + text + f'[[claim]]\nid = "c"\n{field}\n'
    with pytest.raises(WrongClaims, match="names a claim with one bound; got 'a', with an or"):
        Collection.read(Path("one.toml"), text)
