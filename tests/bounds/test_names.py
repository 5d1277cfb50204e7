"""The table of the language's names: every name has its row, and no paper repeats one."""

import pytest
import sympy as sp

from bounds.language import coordinates, functions, layers, names, operators, samples
from bounds.language.names import ARGUMENT, NAMES, Name, row_of, symbol
from bounds.registry.papers import PAPERS, units_of_paper
from tests.not_empty import if_any

MODULES = (operators, functions, samples, coordinates, layers)
KINDS, SIGNS = {"index", "integer", "number", "vector"}, {"positive", "nonnegative", "real"}


def without_a_row(modules) -> set[str]:
    """Names of symbols and arrays in modules of the language that are not the symbol of their row."""
    values = {name: value for module in modules for name, value in vars(module).items()}
    return {name for name, value in values.items() if isinstance(value, sp.Symbol | sp.IndexedBase)
            and (name not in NAMES or (symbol(name) != value and NAMES[name].source != ARGUMENT))}


def test_every_name_of_the_language_has_its_row(monkeypatch):
    assert without_a_row(MODULES) == set()
    monkeypatch.setattr(operators, "velocity", sp.IndexedBase("velocity", real=True), raising=False)
    monkeypatch.setattr(operators, "mu", sp.Symbol("mu"))
    assert without_a_row(MODULES) == {"velocity", "mu"}


def test_rows_are_complete():
    assert {row.source for row in NAMES.values()} == {
        names.ARGUMENT, names.SIZE, names.FEDERATION, names.CONSTANT, names.METHOD, names.DATA, names.RUN, names.COUPLED}
    for name, row in NAMES.items():
        assert row.name == name and row.kind in KINDS and row.sign in SIGNS and set(row.indices) <= set("tkr"), name
        assert (row.unit is None) == (row.source == ARGUMENT), name


@pytest.mark.parametrize(("name", "indices", "source"), [
    ("server_x_bar", "r", "run"), ("client_dual", "rk", "run"), ("local_variate", "tk", "run"),
    ("twin_server_duals", "r", "coupled run"), ("twin_g", "tk", "coupled run"), ("client_weight", "k", "federation"),
])
def test_arrays_of_states_and_of_coupled_runs_have_rows(name, indices, source):
    row = row_of(name)
    assert isinstance(row, Name) and (row.indices, row.source) == (indices, source)
    assert symbol(name) == sp.IndexedBase(name, real=True)


def test_other_names_have_none():
    assert row_of("velocity") is None and row_of("twin_velocity") is None
    with pytest.raises(LookupError):
        symbol("velocity")


@pytest.mark.parametrize("paper", PAPERS)
def test_papers_repeat_no_unit(paper):
    units = units_of_paper(paper)
    assert [name for name, unit in if_any(units.items()) if name in NAMES and NAMES[name].unit == unit] == []


def operators_of_the_language():
    """Every operator with as many arguments as it takes."""
    waiting, found = [operators.Operator], []
    while waiting:
        here = waiting.pop()
        waiting += here.__subclasses__()
        found += [(here, count) for count in getattr(here, "_nargs", None) or () if here.__module__.startswith("bounds")]
    return sorted(found, key=str)


@pytest.mark.parametrize(("operator", "count"), operators_of_the_language(), ids=str)
def test_no_operator_is_taken_for_a_number_of_sympy(operator, count):
    """sympy looks for digits of a function by its name: E(2) was the number e, of which it sought the sign for ever."""
    e = operator(*[sp.Integer(n + 2) for n in range(count)])
    assert e._eval_evalf(15) is None
