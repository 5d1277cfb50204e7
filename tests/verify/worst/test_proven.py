"""Proofs at several sizes and numbers: what counts as proven, and what does not."""

import json

import pytest

from bounds.registry.claims import find_claim
from verify.exact.check import check
from verify.worst.proven import TEMPLATES, most_frequent, proven


def test_a_theorem_is_proven_at_all_places():
    claim = find_claim("li2020/theorem-1")
    found = proven(claim)
    assert check(json.loads(json.dumps(found.certificate)), claim).accepted
    assert len(found.certificate["settings"]) == len(TEMPLATES) and "every G_sq" in found.scope


@pytest.mark.slow
def test_a_theorem_of_sampled_clients_of_the_same_weight_is_proven():
    claim = find_claim("li2020/theorem-3")
    found = proven(claim)
    assert check(json.loads(json.dumps(found.certificate)), claim).accepted
    assert {*found.certificate["settings"][0]["weights"]} == {"1/2"} and "participants = 1" in found.scope


@pytest.mark.parametrize("name", ["fadamgc/eq-130@k-prime", "fadamgc/eq-71@vhat-carry", "fadamgc/eq-130@y-gradient"])
def test_steps_of_adaptive_methods_are_proven(name):
    claim = find_claim(name)
    found = proven(claim)
    assert check(json.loads(json.dumps(found.certificate)), claim).accepted and "beta1" in found.scope


@pytest.mark.parametrize("name", [
    "fedalign/theorem-1",  # free clients
    "fedmoswa/eq-80@all-clients", "afedpd/lemma-2-step-2", "fedmoswa/lemma-g.13@all-clients",  # proven at all places
    "fedluar/lemma-A.2-heterogeneity@sampled",  # several clients and several rounds are not known at once
    "fedalign/lemma-A4@as-printed", "classical/sgd-stability-distance", "fedmoswa/eq-101@printed", "fadamgc/eq-83@in-mean",
    "fadamgc/eq-124", "fadamgc/eq-144@in-mean", "fadamgc/eq-17@k-prime+y-gradient",
    "fadamgc/theorem-5.4/eq-48-51@v-init"])  # the last one where gradients are small, which the challenge sees
def test_what_is_refuted_or_of_another_kind_is_not_proven(name):
    found = proven(find_claim(name))
    assert found.certificate is None and found.reason


@pytest.mark.parametrize(("reasons", "told"), [
    ([], ""), (["no value"], "no value"), (["no value", "unmet"], "unmet"),
    (["no value", "unmet", "no proof", "unmet", "no proof", "unmet"], "unmet")])
def test_the_reason_is_one_that_most_places_give(reasons, told):
    """At the first place free numbers have no values, which says nothing of the claim."""
    assert most_frequent(reasons) == told
