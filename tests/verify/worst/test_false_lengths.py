"""Statements about lengths that are known to be false, or true, and where a sequence of factors goes."""

from math import e, inf

import pytest

from benchmarks.unseen import statements
from bounds.controls.classical import CONTROLS_CLASSICAL
from bounds.registry.claims import find_claim
from verify.worst.lengths_proven import lengths_proven
from verify.worst.stress_test import limit
from verify.worst.worst_of_lengths import about_lengths

UNSEEN = {name: claim for name, (_, claim) in statements().items() if about_lengths(claim)}
TWINS = {twin.id: twin for row in CONTROLS_CLASSICAL for twin in row.twins.values() if about_lengths(twin)}


@pytest.mark.parametrize("name", [name for name in UNSEEN if name.startswith("false/")])
def test_what_is_false_is_not_proven(name):
    """One of them is false from 20 local steps on, more than a proof is looked for."""
    found = lengths_proven(UNSEEN[name])
    assert found.certificate is None and found.reason


@pytest.mark.parametrize("name", ["true/fedswa-drift", "true/generalisation", "true/stability-clients"])
def test_what_is_true_is_proven(name):
    assert lengths_proven(UNSEEN[name]).certificate is not None


@pytest.mark.parametrize("name", TWINS)
def test_false_twins_are_not_proven(name):
    """One of them holds for all steps but large ones."""
    assert lengths_proven(TWINS[name]).certificate is None


@pytest.mark.parametrize("name", ["afedpd/lemma-5-geometric@run+round", "afedpd/lemma-6-unroll@run+round",
                                  "fedmoswa/eq-36@48", "fedmoswa/theorem-f.6@c-tilde-with-L"])
def test_what_a_search_refutes_is_not_proven(name):
    """They hold unless steps and pull are large, or unless a constant is as small as the learning rates allow."""
    assert lengths_proven(find_claim(name)).certificate is None


@pytest.mark.parametrize("sequence, where", [
    (lambda n: 0.9, 0.9), (lambda n: 1 - 1 / n, 1), (lambda n: n / (n + 5), 1), (lambda n: (1 + 1 / n) ** n, e),
    (lambda n: 1 - 0.6**n, 1), (lambda n: n, inf), (lambda n: n**2, inf), (lambda n: 1 / n, 0.25 / 3)])
def test_where_a_sequence_goes(sequence, where):
    assert limit(*map(sequence, (3, 6, 12))) == pytest.approx(where, rel=2e-3)
