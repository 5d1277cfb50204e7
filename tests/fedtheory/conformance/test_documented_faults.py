"""Documented faults of federated code: every one is noticed, by the properties that are expected to notice it."""

import re

import pytest

from fedtheory import ALGORITHMS
from fedtheory.testing import mutants
from fedtheory.testing.check import first_failure, properties_of
from fedtheory.testing.faults import FAULTS, Fault
from fedtheory.testing.property import PROPERTIES
from fedtheory.testing.subject import subject_of


@pytest.mark.parametrize("fault", FAULTS, ids=[f"{fault.method}: {fault.name}" for fault in FAULTS])
def test_the_properties_named_notice_the_fault_and_spare_the_right_method(fault):
    wrong, right = mutants.mutant(fault), subject_of(fault.method, fault.arguments)
    properties = properties_of(wrong)
    assert fault.killers
    for name in fault.killers:
        assert first_failure(properties[name], wrong, mutants.LOOKED_AT) is not None, f"{name} did not notice"
        assert first_failure(properties[name], right, mutants.LOOKED_AT) is None, f"{name} fails on the right method"


def test_the_corpus_is_large_documented_and_without_repetition():
    assert len(FAULTS) >= 40 and len({(fault.method, fault.name) for fault in FAULTS}) == len(FAULTS)
    documented = [fault for fault in FAULTS if fault.source != "general"]
    assert len(documented) >= 40 and {fault.method for fault in FAULTS} <= set(ALGORITHMS)
    places = r"[\w.-]+/[\w.-]+#\d+|docs/peers.md, fault \d+|(fedmoswa|fedluar|fadamgc|afedpd) \d"
    assert [fault.source for fault in documented if not re.match(places, fault.source)] == []


def test_every_property_of_every_method_is_seen_failing():
    """A check that cannot fail is a defect."""
    noticed = {name for fault in FAULTS for name in fault.killers}
    assert set(PROPERTIES) - noticed == set()


def test_the_table_counts_the_killed(capsys):
    assert mutants.main(["fedavgm", "fedprox"]) == 0
    printed = capsys.readouterr().out
    total = sum(fault.method in ("fedavgm", "fedprox") for fault in FAULTS)
    assert f"killed {total}/{total}" in printed and "KarhouTam/FL-bench#165" in printed and "survived" not in printed


def test_a_fault_that_is_none_survives_and_fails_the_run(capsys, monkeypatch):
    harmless = Fault("nothing is wrong", "fedavgm", "general", lambda algorithm: algorithm, ())
    monkeypatch.setattr(mutants, "FAULTS", (harmless,))
    assert mutants.main() == 1
    assert "survived" in (printed := capsys.readouterr().out) and "killed 0/1" in printed
