"""Axes of which a value implies another, fields for the claims of one setting, and readings without a statement."""

from pathlib import Path

import pytest

from bounds.registry.collection import Collection, WrongClaims
from bounds.registry.vocabulary import Vocabulary

FILE = """
[axes.age]
own = {reading = "each with its own age"}
common = {reading = "all of one age", let = {age = "2"}}
[axes.hat]
recycled = {reading = "a hat keeps what is recycled"}
fresh = {reading = "a hat keeps what is fresh", implies = ["common"]}

[let]
age = "1"

[defaults.run]
method = "fedprox"
conditions = ["age*eta_l[0] <= 1"]
[defaults.algebra]
variables = ["C: positive"]
note = "of numbers"

[[claim]]
id = "one/run"
statement = "objective(x_round[0]) <= age"
vary = ["age", "hat", "readings"]
[claim.readings.both]
implies = ["fresh"]
reading = "both"
[claim.readings.literal]
undefined = "a client 0"

[[claim]]
id = "one/hat"
statement = "objective(x_round[0]) <= age"
vary = ["hat"]

[[claim]]
id = "one/number"
setting = "algebra"
statement = "C*age <= 1"
"""


def claims(text=FILE):
    return {claim.id: claim for _, claim in Collection.read(Path("one.toml"), text).claims}


def test_a_value_goes_with_the_values_that_it_implies():
    found = claims()
    for name, age, words in [
        ("one/run", 1, "each with its own age; a hat keeps what is recycled"),
        ("one/run@common", 2, "all of one age; a hat keeps what is recycled"),
        ("one/run@fresh", 2, "all of one age; a hat keeps what is fresh"),
        ("one/run@both", 2, "all of one age; a hat keeps what is fresh; both"),
    ]:
        assert (found[name].statement.right, found[name].reading) == (age, words)


def test_where_an_axis_does_not_vary_nothing_of_it_is_implied():
    assert claims()["one/hat@fresh"].statement.right == 1
    assert claims()["one/hat@fresh"].reading == "a hat keeps what is fresh"


def test_a_value_that_is_named_stands_before_one_that_is_implied():
    found = claims(FILE.replace('"age", "hat", "readings"]', '"age * hat"]'))
    assert found["one/run@common+fresh"].statement.right == 2
    assert found["one/run@fresh"].statement.right == 1


def test_values_that_imply_each_other_are_found_once():
    found = claims(FILE.replace('let = {age = "2"}}', 'let = {age = "2"}, implies = ["fresh"]}'))
    assert found["one/run@common"].reading == "all of one age; a hat keeps what is fresh"


@pytest.mark.parametrize("name", ["nothing", "literal"])
def test_what_is_implied_is_a_value_of_an_axis(name):
    with pytest.raises(WrongClaims, match=f"line [0-9]+: '{name}' is a value of 0 axes, none; allowed: a value of one"):
        claims(FILE.replace('implies = ["common"]', f'implies = ["{name}"]'))


def test_fields_for_one_setting_are_those_of_its_claims_alone():
    found = claims()
    assert found["one/run"].procedure.base == "fedprox" and len(found["one/run"].conditions) == 1
    number = found["one/number"]
    assert [v.name for v in number.variables] == ["C"] and not number.conditions and number.note == "of numbers"
    assert not found["one/run"].note


@pytest.mark.parametrize("change, wrong", [
    (("[defaults.run]", "[defaults]\nrun = 1\n[axes.one.two]"), "'run' is a table; got 1"),
    (('setting = "algebra"', 'setting = "conditions"'), "unknown setting 'conditions'; allowed: run, point, algebra"),
    (('note = "of numbers"', 'run = {note = "of numbers"}'), "unknown field 'run'"),
    (('statement = "C*age <= 1"', 'statement = "C*age <= 1"\nimplies = ["common"]'), "unknown field 'implies'"),
])
def test_fields_for_a_setting_are_a_table_and_stand_under_defaults(change, wrong):
    with pytest.raises(ValueError, match=wrong):
        claims(FILE.replace(*change))


def test_a_reading_that_is_undefined_has_no_statement():
    found = claims()["one/run@literal"]
    assert found.statement is None and found.undefined == "a client 0"


def test_a_letter_may_have_numbers_of_indices_in_place_of_them():
    names = {"a[r, s]": [r"a_{r_{<0>}=<1>}", "one"], "b[r, s]": ["b_{r}^{s}", "another"]}
    letters = Vocabulary(names=names).notations
    assert (letters["a"].latex, letters["b"].latex) == (r"a_{r_{<0>}=<1>}", "b_{<0>}^{<1>}")
