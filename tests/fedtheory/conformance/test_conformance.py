"""Every registered method, with every variant of its arguments, against every property that it owes or promises."""

import pytest

from fedtheory import ALGORITHMS
from fedtheory.testing import check_algorithm
from fedtheory.testing.report import PASSED
from fedtheory.traits import Traits
from tests.not_empty import if_any

ROWS = [(name, arguments) for name, method in ALGORITHMS.items()
        for arguments in ({}, *(variant.arguments for variant in method.traits.variants))]
NAMES = [" ".join([name, *(f"{key}={value}" for key, value in arguments.items())]) for name, arguments in ROWS]
#: methods that no quadratic federation suits, and that are a listed method on those that do
ELSEWHERE = {"fedpara": "fedavg"}


@pytest.mark.parametrize("name", [name for name in ALGORITHMS if name not in ELSEWHERE])
def test_a_method_conforms_on_two_federations(name):
    report = check_algorithm(name, quick=True).raise_if_failed()
    assert len(report.those(PASSED)) >= 20


@pytest.mark.slow
@pytest.mark.parametrize(("name", "arguments"), ROWS, ids=NAMES)
def test_a_method_conforms_with_every_variant_on_every_federation(name, arguments):
    check_algorithm(name, arguments=arguments).raise_if_failed()


@pytest.mark.parametrize("name", [name for name in ALGORITHMS if name not in ELSEWHERE])
def test_a_method_makes_promises(name):
    """What is promised is data beside the method: without it only what every method owes is checked."""
    assert ALGORITHMS[name].traits != Traits()


@pytest.mark.parametrize("name", ALGORITHMS)
def test_what_a_method_lacks_has_a_reason(name):
    traits = ALGORITHMS[name].traits
    for exempt in (traits.exempt, *(variant.changes.get("exempt", {}) for variant in traits.variants)):
        assert all(len(reason) > 10 for reason in if_any(exempt.values()))
