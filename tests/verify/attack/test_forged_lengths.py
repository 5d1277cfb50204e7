"""Forged proofs about lengths: each is refused, for the reason that was aimed at."""

import copy
import json
import random
from fractions import Fraction

import pytest

from bounds.registry.claims import find_claim
from tests.verify.attack.mutants import mutant
from verify.checker import length_certificate
from verify.checker.operators import replayed
from verify.exact.check import check
from verify.worst.lengths_proven import lengths_at

CLAIMS = {"distance": ("classical/local-sgd-stability-distance", {}),
          "step": ("classical/coupled-step-convex", {"rounds": Fraction(1)}),
          "gap": ("classical/local-sgd-stability-convex", {}),
          "drift": ("fedmoswa/eq-23", {"rounds": Fraction(1)}), "points": ("fedmoswa/lemma-d.1-smooth", {}),
          "noise": ("fedmoswa/lemma-e.4", {}),
          "exchange": ("fedmoswa/eq-28", {"rounds": Fraction(1), "local_steps": Fraction(1)})}


@pytest.fixture(scope="module")
def proofs():
    found = {}
    for name, (claim_id, given) in CLAIMS.items():
        certificate = lengths_at(find_claim(claim_id), given, factors=False).certificate
        assert replayed(length_certificate.check, certificate)[0]
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


def negate(known):
    known.update({name: f"-{times}" for name, times in known.items()})


def exchange(triangle):
    """The longest part as the whole."""
    whole, parts, _ = triangle
    triangle[0], parts[0] = parts[0][0], [whole, parts[0][1]]


def drop(data, name):
    """Without the hypotheses on that constant of clients."""
    data["hypotheses"] = [rule for rule in data["hypotheses"] if rule["left"][0] != name]


def stay_away(data):
    data["procedure"]["sampling"] = "bernoulli"
    data["free"]["participation"] = []
    data["settings"][0]["values"]["participation"] = "1/2"


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
    "a model of another run": ("distance", lambda d: put(of(d, "hits")[0], 1, 1)),
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
    "no bound on curvatures": ("step", lambda d: drop(d, "L_client")),
    "a vector with a value": ("points", lambda d: put(d["settings"][0]["values"], "p1", ["1"])),
    "a vector without a name": ("points", lambda d: put(d["settings"][0], "vectors", ["p1"])),
    "a number as a vector": ("points", lambda d: put(d["settings"][0], "vectors", ["p1", "p2", "L"])),
    "a strict statement": ("distance", lambda d: put(d["statement"], "relation", "<")),
    "the other direction": ("distance", lambda d: put(d["statement"], "relation", ">=")),
    "an equality": ("distance", lambda d: put(d["statement"], "relation", "==")),
    "a proof of squares": ("distance", lambda d: put(d, "format", "fedtheory proof 2")),
    "a negative multiplier of a triangle": ("distance", lambda d: put(of(d, "triangles")[0], -1, "-1")),
    "a negative multiplier of a step": ("points", lambda d: put(of(d, "steps")[0], -1, "-1")),
    "a negative multiplier of what is known": ("gap", lambda d: negate(of(d, "known"))),
    "the whole as a part": ("distance", lambda d: exchange(of(d, "triangles")[0])),
    "a step of two functions": ("points", lambda d: put(of(d, "steps")[0], 0, 7)),
    "the second run's function as the draw's": ("distance", lambda d: put(of(d, "hits")[0], 0, -1)),
    "another client's sample": ("distance", lambda d: put(of(d, "hits")[0], 0, of(d, "hits")[0][0] + 1)),
    "points of the second run that are none": ("distance", lambda d: put(of(d, "hits")[0], 2, 99)),
    "fewer clients": ("distance", lambda d: put(d["settings"][0]["sizes"], "clients", 1)),
    "losses that are not convex": ("step", lambda d: drop(d, "mu_client")),
    "clients that are no priority clients": ("distance", lambda d: drop(d, "priority")),
    "clients that stay away by chance": ("distance", lambda d: stay_away(d)),
    "a negative bound": ("distance", lambda d: put(d["settings"][0]["values"], "G_lip", "-1")),
    "a bound that a hypothesis is said to define": (
        "distance", lambda d: put(d["settings"][0]["values"], "G_lip", {"hypothesis": 3})),
    "a part more": ("distance", lambda d: put(d["settings"][0], "instance", {})),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_are_refused(proofs, name):
    kind, change = FORGERIES[name]
    data = copy.deepcopy(proofs[kind])
    change(data)
    assert data != proofs[kind]
    accepted, *_ = replayed(length_certificate.check, data)
    assert not accepted
    assert not check(data, find_claim(CLAIMS[kind][0])).accepted


APART = ["+", ["x_round", "rounds"], ["*", -1, ["twin_x_round", "rounds"]]]
MOVED = ["+", ["x_round", "rounds"], ["*", -1, ["x_round", 0]]]
SECOND = ["*", 2, ["g", 0, 1]]
NOISE = ["+", ["g", 0, 0], ["*", -1, ["grad", 0, ["x_local", 0, 0]]]]
LAST = ["x_round", "rounds"]


def mean(formula):
    return ["E", formula]


def long(formula):
    return ["norm", formula]


#: false statements whose sides would be alike if chance were forgotten, or if lengths were numbers
MIXED = {
    "an error over all data, and a length that has them given": (
        "distance", ["E_data", ["+", ["F_pop", LAST], ["*", -1, ["objective", LAST]]]], ["*", "G_lip", mean(long(APART))]),
    "a length, and that of a mean over samples": ("distance", long(APART), long(mean(APART))),
    "a mean length, and the length of a mean": ("distance", mean(long(APART)), mean(long(mean(APART)))),
    "a mean length, and that of a client's mean": ("distance", mean(long(APART)), mean(long(["E_client", 0, APART]))),
    "a loss, and its mean over samples": ("distance", ["objective", LAST], mean(["objective", LAST])),
    "a risk, and its mean over samples": ("distance", ["F_pop", LAST], mean(["F_pop", LAST])),
    "noise, and its mean": ("noise", long(NOISE), long(mean(["*", 2, NOISE]))),
    "the mean length of noise, and the length of its mean": ("noise", mean(long(NOISE)), mean(long(mean(NOISE)))),
    "a mean square, and the square of a mean": ("noise", mean(["norm2", MOVED]), mean(["norm2", mean(MOVED)])),
    "a mean square, and the square of a mean length": ("noise", mean(["norm2", MOVED]), ["^", mean(long(MOVED)), 2]),
    "a loss, and its mean over noise": ("noise", ["objective", LAST], mean(["objective", LAST])),
    "a mean loss, and the loss at a mean": ("noise", mean(["objective", LAST]), ["objective", mean(LAST)]),
    "a mean, and one given the past": ("noise", mean(long(NOISE)), mean(long(["E_round", NOISE, 0]))),
    "a share of nothing": ("noise", ["*", mean(long(MOVED)), ["^", mean(long(MOVED)), -1]], 1),
    "a length that is at least one": ("noise", ["Max", mean(long(MOVED)), 1], mean(long(MOVED))),
    "a length, and what the exchange of both runs makes of it": (
        "exchange", ["*", 6, mean(long(["+", ["g", 0, 0], SECOND]))],
        ["*", 5, mean(long(["+", ["twin_g", 0, 0], SECOND]))]),
    "a length that may be negative": ("noise", ["*", -1, mean(["*", -1, long(MOVED)])], ["*", -1, mean(long(MOVED))]),
}


def said(data, left, right):
    """The statement, with a proof that nothing is to be added."""
    data["statement"] |= {"left": left, "right": right, "over": []}
    empty = {"known": {}, "steps": [], "hits": [], "triangles": []}
    data["settings"] = [data["settings"][0] | {"proofs": [empty]}]
    return data


@pytest.mark.parametrize("name", MIXED)
def test_statements_that_forget_chance_are_not_proven(proofs, name):
    kind, left, right = MIXED[name]
    accepted, reason, *_ = replayed(length_certificate.check, said(copy.deepcopy(proofs[kind]), left, right))
    assert not accepted and ("NotLinear" in reason or "may be negative" in reason)


def test_a_name_for_a_mean_is_a_mean(proofs):
    """Else a length would be compared with its mean under another name."""
    data = said(copy.deepcopy(proofs["noise"]), mean(long(MOVED)), "bound")
    data["hypotheses"].append({"left": "bound", "relation": "==", "right": mean(long(MOVED)), "over": [], "text": "bound"})
    data["free"]["bound"] = []
    data["settings"][0]["values"]["bound"] = {"hypothesis": len(data["hypotheses"]) - 1}
    assert replayed(length_certificate.check, data)[0]
    data["statement"]["left"] = long(MOVED)
    accepted, reason, *_ = replayed(length_certificate.check, data)
    assert not accepted and "NotLinear" in reason


#: proofs of statements that no smaller right side has, at any numbers: there is no true mutant with a smaller one
TIGHT = ("distance", "step")
_MUTANTS = 80


@pytest.mark.parametrize("name", TIGHT)
def test_no_mutant_proves_a_smaller_bound(proofs, name):
    data, rng = copy.deepcopy(proofs[name]), random.Random(0)
    multiply_bound(data, 99)
    for _ in range(_MUTANTS):
        settings = mutant({"of": data["settings"]}, rng).get("of")
        accepted, *_ = replayed(length_certificate.check, data | {"settings": settings})
        assert not accepted or settings[0]["values"]["G_lip"] == "0", settings  # then nothing moves the runs apart


def test_a_proof_is_of_its_claim_alone(proofs):
    assert not check(proofs["distance"], find_claim("classical/sgd-stability-distance")).accepted
    assert check(proofs["distance"], find_claim("classical/local-sgd-stability-distance")).accepted
