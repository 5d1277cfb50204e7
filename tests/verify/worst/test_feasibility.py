"""Numbers that break a hypothesis are left without a run on letters; others, and what floats do not decide, are not."""

from fractions import Fraction as Q

import pytest

from bounds.registry.claims import find_claim
from verify.worst.configurations import instantiate
from verify.worst.feasibility import feasible

STEPS = {"rounds": Q(2), "local_steps": Q(2), "rho_decay": Q(1, 2)}


@pytest.mark.parametrize(("claim", "given", "broken"), [
    ("classical/gd-distance", {"L": Q(2), "mu": Q(1, 2)}, ""),
    ("fadamgc/eq-61", {"beta1": Q(1, 2), "beta2": Q(3, 2)}, "beta2 < 1"),
    ("fadamgc/eq-61", {"beta1": Q(1, 2), "beta2": Q(1)}, ""),  # only just: exact arithmetic says so
    ("fedmoswa/eq-53@first", {**STEPS, "L": Q(1), "eta": Q(1), "c": Q(9)}, r"eta <= 1/\(L\*local_steps\*rounds\)"),
    ("fedmoswa/eq-53@first", {**STEPS, "L": Q(1), "eta": Q(1, 4), "c": Q(6, 5)}, r"L\*swa_rate\[t\] \+ 1 <= c"),
    ("fedmoswa/eq-53@first", {**STEPS, "L": Q(1), "eta": Q(1, 4), "c": Q(5, 4)}, ""),
    ("fedluar/lemma-3.1@main", {}, ""),  # a product has no floats
])
def test_numbers_that_break_a_hypothesis_are_left(claim, given, broken):
    claim = find_claim(claim)
    setting = instantiate(claim, given)
    if not broken:
        assert feasible(claim, setting) == setting
        return
    with pytest.raises(ValueError, match=broken):
        feasible(claim, setting)
