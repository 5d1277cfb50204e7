"""Arguments of methods: each is documented with its type and unit, and a wrong name is told the nearest one."""

import inspect
import re

import pytest

import fedtheory as ft
from fedtheory.arguments import ARGUMENTS, UnknownArgument, args_section
from fedtheory.method import ALGORITHMS
from fedtheory.traits import CURVATURE, STEP, Traits
from tests.not_empty import not_empty

MAKERS = {method.make: name for name, method in reversed(ALGORITHMS.items())}


@pytest.mark.parametrize("make", MAKERS, ids=MAKERS.values())
def test_every_argument_is_documented_with_its_type_and_unit(make):
    section = make.__doc__.partition("\nArgs:\n")[2].partition("\n\n")[0]
    lines = re.findall(r"^    (\w+) \((.+)\): \S.*", re.sub(r"\n {8}", " ", section), re.MULTILINE)
    assert [name for name, _ in lines] == [*inspect.signature(make).parameters]
    units = ALGORITHMS[MAKERS[make]].traits.units or {}
    for name, kind in not_empty(lines):
        assert name in ARGUMENTS and kind.startswith(ARGUMENTS[name][0])
        assert (", in " in kind) == (units.get(name, (0, 0)) != (0, 0))
    assert all(len(line) <= 125 for line in make.__doc__.splitlines())


def test_no_description_is_left_over():
    assert {*ARGUMENTS} == {name for make in MAKERS for name in inspect.signature(make).parameters}


def test_units_are_those_that_the_method_declares():
    def make(eta_l=0.1, rho_prox=1.0, own=3):
        """A method."""

    text = args_section(make, Traits(units={"eta_l": STEP, "rho_prox": CURVATURE}), {"rho_prox": "strength"})
    assert "eta_l (number, (runs,) array or Schedule, in parameter^2/loss, default 0.1): local step size." in text
    assert "in loss/parameter^2, default 1.0): strength." in text and "own (value, default 3): see above." in text


#: a name that a method does not take, and the nearest one
WRONG = {
    ("fedavg", "lr"): "eta_l", ("fedavg", "epochs"): "local_steps", ("fedavg", "server_lr"): "eta_g",
    ("fedavg", "participant"): "participants", ("fedprox", "mu"): "rho_prox", ("fedsam", "rho"): "rho_sam",
    ("fedadam", "momentum"): "beta1", ("fedacg", "momentum"): "lam", ("fedavg", "zzz"): None,
    ("fedluar", "learning_rate"): "eta_l", ("scaffold", "eta"): "eta_l",
}


@pytest.mark.parametrize("method, name", WRONG)
def test_a_wrong_name_is_told_the_nearest_and_all(method, name):
    for make in (getattr(ft, method), lambda **named: ft.make_algorithm(method, **named)):
        with pytest.raises(UnknownArgument) as told:
            make(**{name: 0.5})
        text, near = str(told.value), WRONG[method, name]
        assert repr(name) in text and "allowed: eta_l, local_steps" in text
        assert (f"did you mean {near}?" in text) if near else "did you mean" not in text


@pytest.mark.parametrize("make", MAKERS, ids=MAKERS.values())
def test_every_maker_tells(make):
    with pytest.raises(TypeError, match=r"takes no argument 'lr'; did you mean eta_l\? allowed: "):
        make(lr=0.1)
