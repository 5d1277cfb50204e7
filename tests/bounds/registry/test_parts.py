"""Tables with parts, and statements by their names."""

import pytest

from bounds.registry.user_claims import load_claims

SHARED = """[let]
gap = "objective(x_round[r]) - F_star"
"at_most(a)" = "gap <= a for each r"
"twice(a)" = "2*a"

"""
CHAIN = SHARED + """[[claim]]
kind = "proof step"
conditions = ["local_steps == 1"]
variables = {a = "positive", b = "positive"}
let = {low = "gap"}
parts."mine/line-1" = {number = "first line", statement = "low <= a for each r"}
parts."mine/line-2" = {number = "second line", let = {high = "twice(b)"}, statement = "a <= high"}
[claim.parts."mine/line-3"]
conditions = []
statement = "low <= 2*b for each r"
readings.strict = {statement = "low < 2*b for each r"}
"""


@pytest.fixture
def claims_of(tmp_path):
    def read(text):
        path = tmp_path / "mine.toml"
        path.write_text(text)
        return {claim.id: claim for claim in load_claims(path)}

    return read


def test_parts_take_the_fields_that_they_do_not_give(claims_of):
    claims = claims_of(CHAIN)
    assert [*claims] == ["mine/line-1", "mine/line-2", "mine/line-3", "mine/line-3@strict"]
    assert {claim.kind for claim in claims.values()} == {"proof step"}
    assert [claim.number for claim in claims.values()] == ["first line", "second line", "none", "none"]
    assert [len(claim.conditions) for claim in claims.values()] == [1, 1, 0, 0]
    assert str(claims["mine/line-2"].statement.right) == "2*b"
    assert claims["mine/line-3"].statement.left == claims["mine/line-1"].statement.left
    assert [claim.statement.strict for claim in claims.values()] == [False, False, False, True]


def test_claims_about_numbers_share_a_table_of_variables(claims_of):
    """An array that a claim does not use is none of its variables: its entries would be drawn for nothing."""
    claims = claims_of("""[[claim]]
setting = "algebra"
variables = {a = "real", b = "real", n = "integer", m = "integer", p = "real[n]", q = "real[m]"}
parts."mine/one" = {statement = "a <= b"}
parts."mine/two" = {statement = "Sum(p[i], (i, 0, n - 1)) <= b"}
""")
    arrays = {name: [v.name for v in claim.variables if v.indices] for name, claim in claims.items()}
    assert arrays == {"mine/one": [], "mine/two": ["p"]}


def test_a_simplex_is_a_hypothesis_where_nothing_uses_it(claims_of):
    """No entries sum to one where there are none, so that n is at least 1."""
    (claim,) = claims_of('''[[claim]]
id = "mine/one"
variables = {n = "integer from 0", p = "simplex[n]"}
statement = "n >= 1"
''').values()
    assert [v.name for v in claim.variables] == ["n", "p"]


def test_readings_of_a_claim_are_not_those_of_its_parts(claims_of):
    claims = claims_of(SHARED + """[[claim]]
id = "mine/lemma"
variables = {a = "positive"}
statement = "gap <= a for each r"
readings.strict = {statement = "gap < a for each r"}
parts."mine/next" = {statement = "gap <= twice(a) for each r"}
""")
    assert [*claims] == ["mine/lemma", "mine/lemma@strict", "mine/next"]
    assert not claims["mine/next"].statement.strict


def test_a_statement_may_have_a_name(claims_of):
    claims = claims_of(SHARED + """[[claim]]
id = "mine/lemma"
variables = {a = "positive"}
statement = "at_most(twice(a))"
readings.as-condition = {conditions = ["at_most(a)"], statement = "gap <= twice(a) for each r"}
""")
    lemma, other = claims["mine/lemma"], claims["mine/lemma@as-condition"]
    assert lemma.statement == other.statement and len(lemma.statement.over) == 1
    assert str(other.conditions[0].right) == "a"


def test_a_condition_between_two_abbreviations_is_none_itself(claims_of):
    claim = claims_of(SHARED + """[[claim]]
id = "mine/lemma"
setting = "algebra"
variables = {a = "positive", b = "positive"}
conditions = ["twice(a) <= twice(b)"]
statement = "twice(a) <= twice(2*b)"
""")["mine/lemma"]
    assert [str(side) for c in (*claim.conditions, claim.statement) for side in (c.left, c.right)] == [
        "2*a", "2*b", "2*a", "4*b"]


@pytest.mark.parametrize(("old", "new", "message"), [
    ('low <= a for', 'low <= wrong for', "line 11: unknown symbol .wrong."),
    ('parts."mine/line-1" = {number = "first line", statement', 'parts."mine/line-1" = {numbr = "first line", statement',
     "unknown field 'numbr'"),
    ('parts."mine/line-1" = {number = "first line", statement = "low <= a for each r"}', 'parts."mine/line-1" = "low"',
     "line 11: an entry of parts is a table of fields; got 'low'"),
    ('{number = "first line"', '{id = "mine/other", number = "first line"',
     "the id of a part is its name, 'mine/line-1'; got another, 'mine/other'"),
    ('{number = "first line"', '{parts = {}, number = "first line"', "unknown field 'parts'"),
    ('parts."mine/line-1"', 'parts."line 1"', "an id is"),
])
def test_slips_in_parts_are_refused(claims_of, old, new, message):
    assert old in CHAIN
    with pytest.raises(ValueError, match=message):
        claims_of(CHAIN.replace(old, new))


def test_a_statement_is_one_condition(claims_of):
    with pytest.raises(ValueError, match="line 6: a statement is one condition; got 'BOTH', which stands for 2"):
        claims_of("""[let]
BOTH = ["a <= b", "b <= a"]

[[claim]]
id = "mine/lemma"
statement = "BOTH"
setting = "algebra"
variables = {a = "positive", b = "positive"}
""")
