"""Forged proofs about lengths: each is refused, for the reason that was aimed at."""

import copy
import json
from fractions import Fraction

import pytest

from bounds.registry.claims import find_claim
from verify.checker import length_proof
from verify.checker.words import replayed
from verify.exact.check import check
from verify.worst.lengths_proven import lengths_at

CLAIMS = {"distance": ("classical/local-sgd-stability-distance", {}),
          "step": ("classical/coupled-step-convex", {"rounds": Fraction(1)}),
          "gap": ("classical/local-sgd-stability-convex", {}),
          "drift": ("fedmoswa/eq-23", {"rounds": Fraction(1)}), "points": ("fedmoswa/lemma-d.1-smooth", {})}


@pytest.fixture(scope="module")
def proofs():
    found = {}
    for name, (claim_id, given) in CLAIMS.items():
        certificate = lengths_at(find_claim(claim_id), given, factors=False).certificate
        assert replayed(length_proof.check, certificate)[0]
        found[name] = json.loads(json.dumps(certificate))
    return found


def of(data, part):
    """The entries of that part in the first proof that has any."""
    return next(proof[part] for proof in data["settings"][0]["proofs"] if proof[part])


def put(place, key, value):
    place[key] = value


def multiply_bound(data, factor):
    side = data["statement"]["right"]
    data["statement"]["right"] = ["*", side, factor, ["^", 100, -1]]


FORGERIES = {
    "a smaller bound": ("distance", lambda d: multiply_bound(d, 99)),
    "a smaller bound of a gap": ("gap", lambda d: multiply_bound(d, 99)),
    "a smaller bound of a step": ("step", lambda d: multiply_bound(d, 99)),
    "a smaller bound of points": ("points", lambda d: multiply_bound(d, 99)),
    "a smaller bound of drift": ("drift", lambda d: multiply_bound(d, 99)),
    "a larger step": ("distance", lambda d: put(d["settings"][0]["values"], "eta_l", ["5/2"] * 4)),
    "a negative multiplier": ("distance", lambda d: put(of(d, "hits")[0], -1, "-1")),
    "a multiplier that is no text": ("distance", lambda d: put(of(d, "hits")[0], -1, 1)),
    "another number of steps": ("distance", lambda d: put(of(d, "hits")[0], 4, "1/100")),
    "gradients by their length, the data given": ("distance", lambda d: put(of(d, "hits")[0], 5, "length")),
    "gradients by nothing": ("distance", lambda d: put(of(d, "hits")[0], 5, "")),
    "a draw on which the models depend": ("distance", lambda d: put(of(d, "hits")[0], 1, 1)),
    "the wrong function": ("distance", lambda d: put(of(d, "hits")[0], 0, len(of(d, "hits")) + 40)),
    "parts of a triangle that are fewer": ("distance", lambda d: of(d, "triangles")[0][1].pop()),
    "parts of a triangle that are smaller": ("distance", lambda d: put(of(d, "triangles")[0][1][0], 1, "1/1000")),
    "a letter that is none": ("distance", lambda d: put(of(d, "triangles")[0], 0, [[999, "1"]])),
    "the optimum as a letter": ("distance", lambda d: put(of(d, "triangles")[0], 0, [[-1, "1"]])),
    "something known of that name": ("gap", lambda d: put(of(d, "known"), "worst_mean_gap 2 7", "1")),
    "no proofs": ("distance", lambda d: put(d["settings"][0], "proofs", [])),
    "one proof": ("distance", lambda d: d["settings"][0]["proofs"].pop()),
    "no settings": ("distance", lambda d: put(d, "settings", [])),
    "no samples": ("distance", lambda d: put(d["settings"][0]["sizes"], "samples", 0)),
    "weights that differ": ("distance", lambda d: put(d["settings"][0], "weights", ["1/3", "2/3"])),
    "weights that are too small": ("drift", lambda d: put(d["settings"][0], "weights", ["1/4", "1/4"])),
    "a bound of samples that nothing says": ("distance", lambda d: put(d, "everywhere", [])),
    "no bound on curvatures": ("drift", lambda d: put(d, "hypotheses", d["hypotheses"][4:])),
    "a vector with a value": ("points", lambda d: put(d["settings"][0]["values"], "p1", ["1"])),
    "a vector without a name": ("points", lambda d: put(d["settings"][0], "vectors", ["p1"])),
    "a number as a vector": ("points", lambda d: put(d["settings"][0], "vectors", ["p1", "p2", "L"])),
    "a strict statement": ("distance", lambda d: put(d["statement"], "relation", "<")),
    "the other direction": ("distance", lambda d: put(d["statement"], "relation", ">=")),
    "an equality": ("distance", lambda d: put(d["statement"], "relation", "==")),
    "a proof of squares": ("distance", lambda d: put(d, "format", "fedtheory proof 2")),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_are_refused(proofs, name):
    kind, change = FORGERIES[name]
    data = copy.deepcopy(proofs[kind])
    change(data)
    assert data != proofs[kind]
    accepted, *_ = replayed(length_proof.check, data)
    assert not accepted
    assert not check(data, find_claim(CLAIMS[kind][0])).accepted


SMALLER = {"an error over all data, and a length that has them given": (
    ["E_data", ["+", ["F_pop", ["x_round", "rounds"]], ["*", -1, ["objective", ["x_round", "rounds"]]]]],
    ["*", "G_lip", ["E", ["norm", ["+", ["x_round", "rounds"], ["*", -1, ["twin_x_round", "rounds"]]]]]])}


@pytest.mark.parametrize("name", SMALLER)
def test_statements_that_mix_what_is_given_have_no_form(proofs, name):
    data = copy.deepcopy(proofs["distance"])
    data["statement"] |= dict(zip(("left", "right"), SMALLER[name], strict=True))
    empty = {"known": {}, "steps": [], "hits": [], "triangles": []}
    data["settings"][0]["proofs"] = [empty | {"known": {"generalisation 2 0": "1"}}] * 2
    accepted, reason, *_ = replayed(length_proof.check, data)
    assert not accepted and "given" in reason


def test_a_proof_is_of_its_claim_alone(proofs):
    assert not check(proofs["distance"], find_claim("classical/sgd-stability-distance")).accepted
    assert check(proofs["distance"], find_claim("classical/local-sgd-stability-distance")).accepted
