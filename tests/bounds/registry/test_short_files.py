"""Shorter ways to write a claim: numbers, lists of limits and ranges, witnesses with a reading, comparisons that merge."""

from pathlib import Path

import pytest
import sympy as sp

from bounds.registry.collection import Collection, WrongClaims
from bounds.registry.vocabulary import Paper, Vocabulary


def claims(text, paper="one"):
    above = Vocabulary(Paper(paper)) if paper else None
    return {claim.id: claim for _, claim in Collection.read(Path("one.toml"), text, above).claims}


@pytest.mark.parametrize(("block", "number"), [
    ("eq-7", "(7)"), ("eq-7@first", "(7)"), ("lemma-g.13", "Lemma G.13"), ("theorem-4.2", "Theorem 4.2"),
    ("eq-7-a", "none"), ("claim-7", "none")])
def test_the_number_follows_from_the_block(block, number):
    text = f'[[claim]]\nid = "{block}"\nsetting = "algebra"\nvariables = ["L"]\nstatement = "L <= 2*L"\n'
    assert claims(text)[f"one/{block}"].number == number
    assert claims(text + 'number = "X"\n')[f"one/{block}"].number == "X"
    assert claims(text.replace(block, f"one/{block}"), "")[f"one/{block}"].number == "none"


RANGES = """
[let]
all_of = ["each r"]
some_of = []
[[claim]]
id = "each"
statement = "objective(x_round[r]) >= F_star for all_of for some_of"
[claim.readings.clients]
let = {some_of = ["each k"]}
"""


def test_an_abbreviation_stands_for_ranges():
    found = claims(RANGES)
    assert [str(index) for index, *_ in found["one/each"].statement.over] == ["r"]
    assert [str(index) for index, *_ in found["one/each@clients"].statement.over] == ["r", "k"]
    with pytest.raises(WrongClaims, match="a range is written"):
        claims(RANGES.replace('["each k"]', '"each k"'))


ORDER = """
[[claim]]
id = "order"
setting = "algebra"
variables = ["a: positive", "b[i]: positive[rounds]", "rounds", "C: hidden"]
statement = "a <= C*a*rounds*b[0]"
limits = {oo = ["rounds", "b"], 0 = ["a"]}
[claim.readings.one]
limits = {rounds = "oo"}
"""


def test_limits_in_lists_and_those_of_a_reading_alone():
    found = claims(ORDER)
    assert [(str(s), end) for s, end in found["one/order"].limits] == [("rounds", sp.oo), ("b", sp.oo), ("a", 0)]
    assert [(str(s), end) for s, end in found["one/order@one"].limits] == [("rounds", sp.oo)]
    with pytest.raises(WrongClaims, match="is no name"):
        claims(ORDER.replace("0 = [", "1 = ["))


CHOICE = """
[[claim]]
id = "choice"
setting = "algebra"
variables = ["a: positive"]
exists = {w = "(0, 1]"}
witness.w = {formula = "1/(1 + a)", id = "half", reading = "the step of the proof"}
statement = "w*a <= 1"
"""


def test_a_witness_names_the_reading_with_it_put_in():
    found = claims(CHOICE)["one/choice"].exists
    assert (str(found.witness), found.reading_id, found.reading) == ("1/(a + 1)", "half", "the step of the proof")
    with pytest.raises(WrongClaims, match="a table of the texts formula, id and reading"):
        claims(CHOICE.replace(", id = \"half\"", ""))


COMPARED = """
[[claim]]
id = "small"
statement = "loss_gap <= start"
[[claim]]
id = "large"
statement = "loss_gap <= 2*start"
[[claim]]
id = "order"
number = "1"
compare = {left = "small", right = "large", nonnegative = ["start"], strict = true}
[claim.readings.at-most]
compare = {strict = false}
[let]
loss_gap = "E(objective(x_round[rounds])) - F_star"
[quantities]
start = ["D", "distance of the start", "parameter^2", "norm2(x_round[0] - x_star)"]
"""


def test_a_reading_changes_a_comparison_and_what_is_measured_is_one_number():
    found = claims(COMPARED)
    assert found["one/order"].statement.sign == "<" and found["one/order@at-most"].statement.sign == "<="
    assert {str(v.name) for v in found["one/order"].variables} == {"start"}


def test_a_size_is_at_least_a_number_and_data_sets_are_those_of_the_method():
    text = """
[[claim]]
id = "two"
variables = ["local_steps: integer from 2"]
data_sets = "random"
statement = "objective(x_round[0]) >= F_star"
"""
    found = claims(text)["one/two"]
    assert [(v.name, v.low) for v in found.variables] == [("local_steps", 2)] and found.procedure.replaced == "random"
    with pytest.raises(WrongClaims, match="has data_sets"):
        claims(text.replace('"two"', '"one/two"'), "")
