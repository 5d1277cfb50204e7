"""What a claim adds to the defaults of its file and to a claim that it extends, and what a reading does with a statement."""

from pathlib import Path

import pytest

from bounds.language import operators
from bounds.registry.collection import Collection, WrongClaims, paper_claims
from tests.not_empty import not_empty

FILE = """
[let]
bound = "eta_l[0]*L"

[axes]
sign.equal = {}
sign.at-most = {reading = "the equality as an upper bound", relation = "<="}
mean.over-runs = {}
mean.pathwise = {reading = "run by run", given = "run"}
start.zero = {reading = "from zero"}
start.one = {reading = "from one", let = {bound = "L"}}

[defaults.run]
conditions = ["eta_l[0] <= 1"]
limits = {rounds = "oo", clients = "oo"}
variables = ["C: hidden"]
vary = ["pathwise"]

[defaults.algebra]
variables = ["C: positive"]

[[claim]]
id = "one/run"
also = ["eta_l[0] <= 1/L"]
statement = "E(objective(x_round[0])) == C*bound"
vary = ["at-most", "pathwise", "readings * one"]
[claim.readings.pathwise]
reading = "for each run"
statement = "objective(x_round[0]) == C*bound"
[claim.readings.few]
limits = {rounds = "oo"}

[[claim]]
id = "one/more"
extends = "one/run"
also = ["eta_l[0] <= 2/L"]

[[claim]]
id = "one/number"
setting = "algebra"
statement = "C <= 2*C"
"""


def claims(text=FILE):
    return {claim.id: claim for _, claim in Collection.read(Path("one.toml"), text).claims}


def test_also_adds_to_the_conditions_of_the_defaults_and_of_a_claim_that_is_extended():
    found = claims()
    assert [str(c.right) for c in found["one/run"].conditions] == ["1", "1/L"]
    assert [str(c.right) for c in found["one/more"].conditions] == ["1", "1/L", "2/L"]
    assert not found["one/number"].conditions


def test_a_claim_that_extends_another_varies_as_the_defaults_say():
    assert [name for name in claims() if name.startswith("one/more")] == ["one/more", "one/more@pathwise"]


def test_a_reading_gives_the_statement_another_relation():
    found = claims()
    assert found["one/run"].statement.sign == "==" and found["one/run@at-most"].statement.sign == "<="
    assert found["one/run@at-most"].statement.right == found["one/run"].statement.right


def test_given_the_run_nothing_is_expected():
    found = claims()["one/more@pathwise"]
    assert not found.statement.left.has(operators.E) and claims()["one/more"].statement.left.has(operators.E)


def test_own_readings_stand_before_values_of_axes():
    assert claims()["one/run@pathwise"].reading == "from zero; for each run"


def test_a_value_in_a_product_stands_beside_the_first_of_its_axis():
    assert [name for name in claims() if name.startswith("one/run")] == [
        "one/run", "one/run@at-most", "one/run@pathwise", "one/run@one", "one/run@pathwise+one", "one/run@few",
        "one/run@few+one"]


def test_limits_of_a_reading_replace_those_of_the_claim():
    found = claims()
    assert [str(name) for name, _ in found["one/run"].limits] == ["rounds", "clients"]
    assert [str(name) for name, _ in found["one/run@few"].limits] == ["rounds"]


@pytest.mark.parametrize(("old", "new", "message"), [
    ('relation = "<="', 'relation = "<>"', "a relation is one of"), ('given = "run"', 'given = "k"', "given is"),
    ("readings * one", "readings * two", "no axis 'two'"),
])
def test_what_is_no_relation_no_past_and_no_value_is_refused_with_its_line(old, new, message):
    with pytest.raises(WrongClaims, match=rf"one\.toml, line \d+: {message}"):
        claims(FILE.replace(old, new))


HEAD = '[paper]\ntitle = "T"\nsections = ["one"]\n[names]\nc = ["c", "a number", "nonnegative below 1"]\n'
SECTION = """
[defaults]
setting = "algebra"

[[claim]]
id = "eq-3"
variables = ["c", "b: real"]
statement = "Abs((c - b)/(b*(1 - c))) <= Abs((c - b)/(b*(1 - c)))"
readings.strict = {reading = "for positive c", variables = ["c: positive", "b: real"]}

[[claim]]
id = "eq-4a"
variables = ["c", "b: real"]
statement = "sqrt(b/(1 - c)**2) <= c"
conditions = ["b >= 0"]

[[claim]]
id = "least"
compare = {left = "eq-5", right = "eq-5@more"}

[[claim]]
id = "eq-5"
variables = ["c: positive"]
statement = "0 <= c"
readings.more = {reading = "for any c", variables = ["c"], statement = "0 <= 2*c"}
"""


def test_a_paper_of_files(tmp_path):
    (tmp_path / "paper.toml").write_text(HEAD)
    (tmp_path / "one.toml").write_text(SECTION)
    found = {claim.id.partition("/")[2]: claim for claim in paper_claims(tmp_path, {}.get).claims()}
    assert [found[name].number for name in ("eq-3", "eq-3@strict", "eq-4a", "least")] == ["(3)", "(3)", "none", "none"]
    assert found["eq-5"].variables[0].domain == "positive"


def test_one_name_is_one_symbol_in_a_paper(tmp_path):
    """Also where a claim gives it a domain of its own: quantities have the paper's."""
    (tmp_path / "paper.toml").write_text(HEAD + '[quantities]\ntwice = ["d", "twice", "1", "2*c"]\n')
    (tmp_path / "one.toml").write_text(
        '[defaults]\nconditions = ["c <= 1"]\n[[claim]]\nid = "a"\nvariables = ["c: positive"]\n'
        'statement = "c*eta_l[0] <= twice"\nreadings.none = {reading = "none", variables = ["c: nonnegative"],'
        ' conditions = ["c == 0"]}\n')
    for claim in not_empty(paper_claims(tmp_path, {}.get).claims()):
        formulas = [claim.statement.left, claim.conditions[0].left, claim.used_definitions()["twice"].formula]
        assert len({symbol for formula in formulas for symbol in formula.free_symbols if symbol.name == "c"}) == 1
