"""Proofs of false statements about runs, and that well-posed claims are ill-posed, which the checker accepted once."""

import pytest

from tests.messages import contains_in_order
from tests.verify.attack.test_breaker import number_certificate
from tests.verify.checker.test_contradictions import CURVED, FIRST, OF_FIRST, POSITIVE, everywhere, zero
from tests.verify.checker.test_number_proofs import condition, identity, lemma, minus, over, term
from tests.verify.checker.test_number_runs import EACH_ROUND, GIVEN, LAST, claim
from verify.checker.formats import check_of
from verify.checker.operators import replayed


def proof(statement, *steps, more=(), **options): return claim(statement, [*steps], hypotheses=[*GIVEN, *more], **options)


# who is drawn decides the first local step of MoSWA-fresh, whose direction has the mean gradient of those drawn
FRESH = {"eta_g": "1", "gamma": "1", "rho_decay": "1", "schedule": "cyclic-linear", "variant": "fresh", "option": "I",
         "batch": "independent", "start": "zero"}
SECOND = ["norm2", ["x_local", ["+", 1, ["*", "r", "local_steps"]], "k"]]

# a client or a time that is 1 where a noisy gradient is long, else 0: the noise of this client, or at this time, has a mean
LONG = ["floor", ["norm2", ["g", 0, 0]]]
CHOSEN = ["Max", 0, ["Min", 1, LONG]]
AT_MOST_ONE = [lemma("least", 1, LONG, as_="least"), lemma("at least all", 1, 0, ["Min", 1, LONG], as_="at most one")]


def noise(t, k): return minus(["g", t, k], ["grad", k, ["x_local", t, k]])


#: 1 to 0 is no range, so anything holds there
NEVER = {"name": "x to", "by": "each", "index": "i", "low": 1, "high": 0, "shows": [-1000, ">=", 0], "steps": [
    identity(-1000, ">=", 0, term("i from", times=[1000]), term("i to", times=[1000]))]}
#: S >= m^2 r^2 for r = (S + 1)/m, where S is no number
SUPREMUM = [lemma("bounded gradients", "steepest", 0, "m", over(["+", 1, OF_FIRST], "m")),
            zero(term("s"), term(square=["+", OF_FIRST, over(1, 2)]), term(times=[over(3, 4)]))]


def at_points(right, index, point, last):
    """A proof that F_star is at most a number, where the step that says so has an index of this name."""
    shows = ["F_star", "<=", right]
    return number_certificate(condition(*shows), setting="point", proof={"put": {}, "steps": [
        {"name": "each", "by": "each", "index": index, "low": 0, "high": last, "shows": shows, "steps": [
            lemma("optimal loss", point)]}, {"name": "first", "by": "instance", "fact": "each", "at": [0]}]})


OF_ALL = ["k", 0, ["+", -1, "clients"]]
#: the mean loss of clients at models of their own, such as their minimisers
OWN = ["Sum", ["*", ["priority", "k"], ["client_weight", "k"], ["F", "k", ["x_local", 0, "k"]]], *OF_ALL]

#: certificates, and why they are refused
REFUSED = {
    "a draw and a local step that depends on it": (proof(
        [["E", ["*", ["sampled", "r", "k"], SECOND]], "==", ["*", over("participants", "clients"), ["E", SECOND]],
         EACH_ROUND],
        lemma("chance", "r", "k", SECOND), more=[condition("local_steps", ">=", 2)], sampling="without-replacement",
        base="fedmoswa", **FRESH), "who is drawn"),
    "a state that this variant does not have": (proof(
        [["norm2", ["client_variate", "r", "k"]], ">=", 0, EACH_ROUND], base="fedmoswa", **FRESH), "is no vector"),
    "noise of a client that the noise decides": (proof(
        [["E", ["dot", noise(0, CHOSEN), "x_star"]], "==", 0, []], *AT_MOST_ONE,
        identity(minus(["+", -1, "clients"], CHOSEN), ">=", 0, term("at most one"), term("h7"), name="is one"),
        lemma("unbiased", 0, CHOSEN, "x_star"), more=[condition("clients", ">=", 2)]), "a time and a client"),
    "noise and a model at a time that the noise decides": (proof(
        [["E", ["dot", noise(1, 0), ["x_local", CHOSEN, 0]]], "==", 0, []], *AT_MOST_ONE,
        lemma("unbiased", 1, 0, ["x_local", CHOSEN, 0]), more=[condition("local_steps", ">=", 2)]), "no whole number"),
    "a time behind the last by the name of a step": (proof(
        [["eta_l", ["+", 5, ["*", "r", "local_steps"]]], ">", 0, [["r", 0, LAST]]], NEVER,
        more=[condition(["eta_l", "t"], ">", 0, [["t", 0, ["+", -1, "iterations"]]])]), "not too large"),
    "an index called clients": (at_points(0, "clients", "x_star", 0), "no step shows"),
    "an index called as that of a mean": (at_points(OWN, "the client", ["x_local", 0, "the client"], OF_ALL[2]),
                                          "no step shows"),
    "a supremum that may be infinite": (everywhere([CURVED, POSITIVE], [FIRST, *SUPREMUM]) | {"everywhere": []},
                                        "a distance are asked for"),
    "a supremum that bounds itself": (everywhere([CURVED, POSITIVE], [
        FIRST, {**SUPREMUM[0], "of": [*SUPREMUM[0]["of"], OF_FIRST]}, SUPREMUM[1]]) | {"everywhere": []},
        "is no bound of one"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_was_accepted_is_refused(name):
    certificate, why = REFUSED[name]
    accepted, reason, *_ = replayed(check_of(certificate), certificate)
    assert not accepted and contains_in_order(str(reason), why), reason
