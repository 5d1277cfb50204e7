"""Proofs that a claim is ill-posed: what they show is accepted, and no well-posed claim is called ill-posed."""

import copy
import json
import math
import random

import pytest

from tests.messages import contains_in_order
from tests.verify.checker.test_number_proofs import condition, identity, lemma, minus, over, term, whole
from tests.verify.prove.test_illposed import CONVEX, NOISE, PRINTED, claim_with
from verify.checker import contradiction as checker
from verify.checker.number_classes import slack_coefficients
from verify.checker.number_formulas import Reader
from verify.checker.operators import replayed
from verify.exact.check import check
from verify.prove.contradictions import contradiction

FREE = {"p": [], "q": [], "n": [], "a": ["n"]}
CLIENTS = [("k", 0, ["+", -1, "clients"])]
CURVED = condition(["mu_client", "k"], ">=", "m", CLIENTS)
FIRST = {"name": "first", "by": "instance", "fact": "h0", "at": [0]}
POSITIVE = condition("m", ">", 0)


def certificate(statement, hypotheses, steps, over=(), setting="algebra", free=(), **more):
    stated = {"claim": "mine/a", "reading": "", "setting": setting, "statement": condition(*statement, over),
              "hypotheses": hypotheses, "definitions": {}, "everywhere": [], "free": FREE | dict(free),
              "procedure": {"base": "fedavg", "sampling": "full", "indicator": "broadcast", "strict": True, "options": {}}}
    return {"format": checker.FORMAT, **stated, "proof": {"put": {}, "steps": steps}} | more


def everywhere(hypotheses, steps, bound="G_lip", setting="run", **more):
    """A claim about losses with a bound on gradients at all points."""
    free = {"m": [], "G_lip": [], "G_lip_client": ["clients"]}
    return certificate((1, "<=", 2), hypotheses, steps, setting=setting, free=free, **{"everywhere": [bound]} | more)


def zero(*terms, **more): return identity(0, ">", 0, *terms, name="end", **more)
def squares(bound): return term(square=minus(bound, over(1, 2))), term(times=[over(3, 4)])
def distance(bound): return over(["+", 1, ["^", bound, 2]], "m")


BOUNDED = lemma("bounded gradients", "G_lip", 0, "m", distance("G_lip"))
STEEPEST = ["*", -1, ["infimum", "v", ["*", -1, ["norm2", ["grad", "k", "v"]]]]]
OF_FIRST = ["*", -1, ["infimum", "v", ["*", -1, ["norm2", ["grad", 0, "v"]]]]]
BELOW = condition(STEEPEST, "<=", "p", CLIENTS)
#: S >= m^2 r^2 for r = (S + 1)/m, and S - (S + 1)^2 < 0
BELOW_AT_FIRST = {"name": "below", "by": "instance", "fact": "h2", "at": [0]}
ALL_POINTS = [BELOW_AT_FIRST, lemma("bounded gradients", "steepest", 0, "m", over(["+", 1, OF_FIRST], "m"), "p"),
              zero(term("s"), term(square=["+", OF_FIRST, over(1, 2)]), term(times=[over(3, 4)]))]


def printed(*rules):
    """A claim of which an assumption prints inequalities for a function f at all points u and v."""
    return {"setting": "run", "free": {"m": []}, "printed": [condition(*rule) for rule in rules]}


def apart(times): return ["*", times, ["norm2", minus("u", "v")]]
def slope(at): return ["dot", minus("u", "v"), ["f_grad", at]]


SWAPPED = (["f", "v"], ">=", ["+", ["f", "u"], slope("v"), apart("m")])
SOUND = (["f", "u"], ">=", ["+", ["f", "v"], slope("v"), apart("m")])
CONSTANT = [lemma("constant functions", 0, 0)]

#: what says nothing of anything
HONEST = {
    "numbers": certificate((1, "<=", 2), [condition("p", ">=", 2), condition("p", "<=", 1)], []),
    "products": certificate((1, "<=", 2), [condition("p", ">=", 2), condition("q", ">=", "p"), condition(
        ["*", "p", "q"], "<=", 3)], [
            zero(term("h2"), term("h1", times=["p"]), term("h0", times=["p"]), term("h0", times=[2]), term(times=[1]))]),
    "a logarithm": certificate((["log", "p"], "<=", 1), [condition("p", "<=", 0)], []),
    "a divisor": certificate((over(1, minus("p", "q")), "<=", 1), [condition("p", "==", "q")], [
        lemma("nonzero square", minus("p", "q")), zero(term("s"), term("h0", times=[minus("q", "p")]))]),
    "no index": certificate((1, "<=", 2), [], [zero(term("r from"), term("r to"), term(times=[1]))], [
        ("r", "rounds", minus("rounds", 1))]),
    "no value of the number": certificate((1, "<=", 2), [condition("c", ">=", 2)], [], exists={
        "name": "c", "low": 0, "high": 1, "open": [False, False]}),
    "an open interval": certificate((1, "<=", 2), [], [zero(term("h0"), term("h1"))], exists={
        "name": "c", "low": 1, "high": 1, "open": [True, False]}),
    "bounded gradients": everywhere([CURVED, POSITIVE], [FIRST, BOUNDED, zero(term("s"), *squares("G_lip"))]),
    "gradients of a client": everywhere([CURVED, POSITIVE], [
        FIRST, lemma("bounded gradients", "G_lip_client", 0, "m", distance(["G_lip_client", 0])),
        zero(term("s"), *squares(["G_lip_client", 0]))], "G_lip_client"),
    "at all points": everywhere([CURVED, POSITIVE, BELOW], [FIRST, *ALL_POINTS]),
    "a swapped sign": certificate((1, "<=", 2), [POSITIVE], CONSTANT, **printed(SWAPPED)),
    "constants have no curvature": certificate(
        (1, "<=", 2), [CURVED, POSITIVE], [FIRST, lemma("constant curvature", 0, 0), zero(
            term("first"), term("s", times=[-1]), term("h1"))],
        **printed((["f", "v"], "<=", ["+", ["f", "u"], slope("v"), apart(1)]))),
}


@pytest.mark.parametrize("name", HONEST)
def test_what_says_nothing_is_ill_posed(name):
    accepted, reason, *_ = replayed(checker.check, HONEST[name])
    assert accepted, reason


def changed(name, **parts):
    return copy.deepcopy(HONEST[name]) | parts


IN_SUM = ["Sum", over(1, "p"), "i", 1, "n"]
NONZERO = [lemma("nonzero square", "p"), zero(term("s"), term("h0", times=[["*", -1, "p"]]))]
EMPTY = "no step shows that 0 > 0"
#: what is well-posed, or not shown to be ill-posed: a certificate, and the reason
FORGED = {
    "a need within a sum that may be empty": (certificate((IN_SUM, "<=", 1), [condition("p", "==", 0), *whole("n", 0)],
                                                          NONZERO), "needs"),
    "a need of a product that may be empty": (certificate((["Product", *IN_SUM[1:]], "<=", 1), [
        condition("p", "==", 0), *whole("n", 0)], NONZERO), "needs"),
    "a need that may depend on the exponent": (certificate((["^", "p", "q"], "<=", 1), [condition("p", "<", 0)], []), EMPTY),
    "a value at other indices": (certificate((over(1, "p"), "<=", "i"), [condition("p", "==", 0), *whole("n", 0)], NONZERO, [
        ("i", 1, "n")]), "needs"),
    "a range that is empty at some sizes": (certificate((1, "<=", 2), whole("n", 0), [], [("i", 1, "n")]), EMPTY),
    "a range with one index": (certificate((1, "<=", 2), [], [], [("r", "rounds", "rounds")]), EMPTY),
    "a hypothesis that may be about no index": (certificate((1, "<=", 2), [
        condition(["a", "j"], ">=", 1, [("j", 0, minus("n", 1))]), condition(["a", "j"], "<=", 0, [("j", 0, minus("n", 1))]),
        *whole("n", 0)], [{"name": "a", "by": "instance", "fact": "h0", "at": [0]}]), "lie in the range"),
    "hypotheses about two entries": (certificate((1, "<=", 2), [condition(["a", 0], ">=", 1), condition(
        ["a", 1], "<=", 0), *whole("n", 2)], [zero(term("h0"), term("h1"), term(times=[1]))]), "the identity fails"),
    "a value that the number may have": (changed("no value of the number", exists={
        "name": "c", "low": 0, "high": 2, "open": [False, False]}), EMPTY),
    "an interval with its end": (changed("an open interval", exists={
        "name": "c", "low": 1, "high": 1, "open": [False, False]}), "surely positive"),
    "a bound of nothing": (changed("bounded gradients", everywhere=[]), "the name of a bound"),
    "a bound on something else": (changed("bounded gradients", everywhere=["sigma_g_max"]), "the name of a bound"),
    "a distance between gradients": (everywhere([CURVED, POSITIVE], [
        FIRST, lemma("bounded gradients", "sigma_g_max", 0, "m", 1)], "sigma_g_max"), "the name of a bound"),
    "less than no curvature": (everywhere([condition(["mu_client", "k"], ">=", -1, CLIENTS)], [
        FIRST, lemma("bounded gradients", "G_lip", 0, -1, ["*", -1, ["+", 1, ["^", "G_lip", 2]]]),
        zero(term("s"), *squares("G_lip"))]), "bounded gradients needs"),
    "numbers of the same names": (changed("bounded gradients", setting="algebra", free=FREE | {
        "m": [], "G_lip": [], "mu_client": ["clients"]}), "the name of a bound"),
    "convex alone": (changed("bounded gradients", hypotheses=[CURVED, condition("m", ">=", 0)]), "a divisor is not 0"),
    "a curvature below another number": (changed("bounded gradients", hypotheses=[
        condition(["mu_client", "k"], "<=", "m", CLIENTS), POSITIVE]), "mu_client"),
    "another client's curvature": (everywhere([condition(["mu_client", "k"], ">=", "m", [("k", 1, minus("clients", 1))]),
                                               POSITIVE], [FIRST, BOUNDED]), "lie in the range"),
    "another client's gradients": (everywhere([condition(["mu_client", 0], ">=", "m"), POSITIVE], [
        lemma("bounded gradients", "G_lip_client", 1, "m", distance(["G_lip_client", 1]))], "G_lip_client"),
        "not too large"),
    "a client who is not there": (changed("bounded gradients", proof={"put": {}, "steps": [FIRST, lemma(
        "bounded gradients", "G_lip", "clients", "m", 1)]}), "not too large"),
    "less at all points": (changed("at all points", hypotheses=[CURVED, POSITIVE, condition(STEEPEST, ">=", "p", CLIENTS)],
                                   proof={"put": {}, "steps": [FIRST]}), EMPTY),
    "at the best point": (everywhere([CURVED, POSITIVE, condition(["infimum", "v", ["norm2", ["grad", "k", "v"]]], "<=", "p",
                                                                  CLIENTS)], [FIRST, {
        "name": "s", "by": "instance", "fact": "h2", "at": [0]}]), "KeyError"),
    "near the mean gradient at all points": (everywhere([CURVED, POSITIVE, condition(
        ["*", -1, ["infimum", "v", ["*", -1, ["norm2", minus(["grad", "k", "v"], ["objective_grad", "v"])]]]], "<=", "p",
        CLIENTS)], [FIRST, {"name": "s", "by": "instance", "fact": "h2", "at": [0]}]), "KeyError"),
    "a gradient at another point": (everywhere([CURVED, POSITIVE, condition(
        ["*", -1, ["infimum", "v", ["*", -1, ["norm2", ["grad", "k", "x_star"]]]]], "<=", "p", CLIENTS)], [FIRST, {
            "name": "s", "by": "instance", "fact": "h2", "at": [0]}]), "KeyError"),
    "a sound sign": (changed("a swapped sign", printed=[condition(*SOUND)]), "does not force"),
    "a sound sign, exchanged": (changed("a swapped sign", printed=[condition(
        ["f", "v"], ">=", ["+", ["f", "u"], ["*", -1, slope("u")], apart("m")])]), "does not force"),
    "constants are allowed": (changed("a swapped sign", printed=[condition(
        ["f", "v"], "<=", ["+", ["f", "u"], slope("v"), apart("m")])]), EMPTY),
    "with something that does not vanish": (changed("a swapped sign", printed=[condition(
        ["f", "v"], ">=", ["+", ["f", "u"], slope("v"), apart("m"), -1])]), "does not force"),
    "a multiple that may be 0": (changed("a swapped sign", printed=[condition(
        ["f", "v"], ">=", ["+", ["f", "u"], ["*", "p", slope("v")], apart("m")])]), "does not force"),
    "how large losses are": (changed("a swapped sign", printed=[condition(
        ["*", 2, ["f", "v"]], ">=", ["+", ["f", "u"], slope("v"), apart("m")])]), "differences alone"),
    "lengths of gradients": (changed("a swapped sign", printed=[condition(
        ["norm2", minus(["f_grad", "u"], ["f_grad", "v"])], "<=", apart("m"))]), "a vector is not u - v"),
    "at some points": (changed("a swapped sign", printed=[condition(*SWAPPED, [("k", 0, 1)])]), "at all points"),
    "a point by itself": (changed("a swapped sign", printed=[condition(
        ["f", "v"], ">=", ["+", ["f", "u"], ["dot", "u", ["f_grad", "v"]]])]), "not a multiple of u - v"),
    "numbers of another claim": (changed("a swapped sign", setting="algebra"), "is printed"),
    "another format": (changed("numbers", format="fedtheory numbers 1"), "not a fedtheory ill-posed"),
    "a proof by cases": (changed("numbers", proof={"cases": "n", "from": 0, "first": [], "rest": {}}), "a proof lacks"),
    "more keys": (changed("numbers", values={}), "may not give"),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_well_posed_claim_is_not_ill_posed(name):
    data, why = FORGED[name]
    accepted, reason, *_ = replayed(checker.check, data)
    assert not accepted and contains_in_order(str(reason), why), reason


def test_hypotheses_about_chance_are_not_read():
    """Means are no numbers of one outcome."""
    known, *_ = checker.premises(certificate((1, "<=", 2), [
        condition(["E", "p"], ">=", 1), condition(["E", ["norm2", ["x_round", 1]]], "<=", 0), condition("p", "<=", 0)], [],
        setting="run"), {})
    assert [name for name in known.facts if name.startswith("h")] == ["h2"]


# lemmas about functions --------------------------------------------------------------------------------------------------
def test_gradients_of_strongly_convex_functions_grow_as_the_lemma_says():
    """|F'(x_* + r)| >= m r and x_* where F' is 0, for F' with slopes of at least m."""
    rng = random.Random(1)
    for _ in range(300):
        low, wave, shift, r = rng.uniform(0.1, 3), rng.uniform(0, 2), rng.uniform(-2, 2), rng.uniform(-5, 5)

        def gradient(x, low=low, wave=wave, shift=shift):
            return low * x + wave * math.tanh(x - shift) + shift

        left, right = -100.0, 100.0
        for _ in range(100):
            middle = (left + right) / 2
            left, right = (left, middle) if gradient(middle) > 0 else (middle, right)
        assert abs(gradient(left + r)) >= low * abs(r) - 1e-9


@pytest.mark.parametrize("seed", range(40))
def test_the_first_order_of_a_printed_inequality_is_what_the_lemma_says(seed):
    """For f(x) = sin(q x) the difference of both sides at u = v + h, over h, tends to (a + b + b') f'(v) for small h."""
    rng = random.Random(seed)
    a, b, c, s, q = (rng.randint(-3, 3) for _ in range(5))
    more = ["*", a, ["f", "u"]], ["*", b, slope("u")], ["*", c, slope("v")], apart(s)
    rule = condition(["*", a, ["f", "v"]], "<=", ["+", *more])
    reader = Reader({}, {}, {})
    reader.printed = [rule]
    form = slack_coefficients(0, reader, checker.premises(certificate((1, "<=", 2), [], []), {})[0])
    found = float((form["value u"] + form["slope u"] + form["slope v"]).number())

    def f(x): return math.sin(q * x)
    def g(x): return q * math.cos(q * x)

    v, h = rng.uniform(-2, 2), 1e-6
    u = v + h
    right = a * f(u) + b * (u - v) * g(u) + c * (u - v) * g(v) + s * (u - v) ** 2
    assert (right - a * f(v)) / h == pytest.approx(found * g(v), abs=1e-3)


# against claims ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("row", PRINTED)
def test_printed_assumptions_have_a_certificate_where_they_exclude_each_other(row):
    assumptions, excluded = PRINTED[row]
    claim = claim_with(*assumptions, NOISE)
    data = contradiction(claim)
    assert (data is not None) == excluded
    assert not excluded or check(json.loads(json.dumps(data)), claim).accepted


def test_a_certificate_states_what_the_claim_prints():
    claim = claim_with(*PRINTED["swapped smooth and convex by its constant"][0], NOISE)
    other = claim_with(*PRINTED["smooth"][0], CONVEX, NOISE)
    data = json.loads(json.dumps(contradiction(claim)))
    assert check(data, claim).accepted and contains_in_order(check(data, other).reason, "does not state …printed")
    forged = copy.deepcopy(data)
    forged["printed"][0]["right"] = ["f", "u"]
    assert contains_in_order(check(forged, claim).reason, "does not state …printed")


def test_what_is_printed_is_written_in_two_ways(monkeypatch):
    """A fault of the writer is seen by the comparison."""
    claim = claim_with(*PRINTED["swapped smooth and convex by its constant"][0], NOISE)
    data = json.loads(json.dumps(contradiction(claim)))
    data["printed"][0]["relation"] = ">="
    monkeypatch.setattr("verify.exact.check.printed_of", lambda _: {"printed": data["printed"]})
    assert contains_in_order(check(data, claim).reason, "written in two ways: what is printed")
