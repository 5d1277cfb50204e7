"""Certificates of false statements, each of which the checker accepted once."""

import pytest

from verify.checker.formats import check_of
from verify.checker.words import replayed

NOTHING = {"put": {}, "steps": []}
LAST = ["+", -1, "clients"]


def one_over(a): return ["^", a, -1]
def condition(left, relation, right, *over): return dict(left=left, relation=relation, right=right, over=[*over], text="")
def whole(name): return condition(["Mod", name, 1], "==", 0)


def numbers(statement, *hypotheses, free=None, proof=None, setting="algebra"):
    """A proof about numbers."""
    return {"format": "fedtheory numbers 1", "claim": "mine", "reading": "", "setting": setting, "statement": statement,
            "hypotheses": [*hypotheses], "definitions": {}, "everywhere": [], "free": free or {},
            "procedure": {"base": "fedavg", "sampling": "", "indicator": "", "strict": False, "options": {}},
            "proof": proof or NOTHING}


def mean_loss(point, index, last):
    return ["Sum", ["*", ["priority", index], ["client_weight", index], ["F", index, point]], index, 0, last]


#: name -> a certificate; why its statement is false stands beside it
FALSE = {
    # for n = 0 the sum is empty: 1/n must not leave it
    "a divisor leaves an empty sum": numbers(
        condition(["Sum", ["*", one_over(["*", "n", ["+", "i", 1]]), one_over(one_over(["+", "i", 1]))], "i", 1, "n"],
                  "==", 1), whole("n"), condition("n", ">=", 0), free={"n": []}),
    # the hypothesis speaks of the entries a_ii
    "two indices with one name": numbers(
        condition(["a", 0, 1], ">=", 0), condition("rounds", ">=", 2),
        condition(["a", "i", "i"], ">=", 0, *[["i", 0, ["+", -1, "rounds"]]] * 2), free={"a": ["rounds", "rounds"]}),
    # x = 0 and k = 1 meet the hypothesis
    "a power needs a base other than 0 for some exponents alone": numbers(
        condition(["*", "x", one_over("x")], "==", 1), whole("k"), condition(["^", "x", "k"], ">=", 0),
        free={"x": [], "k": []}),
    "a real power needs a positive base for some exponents alone": numbers(
        condition(["^", "x", 2], ">", 0), condition(["^", "x", "k"], ">=", 0), free={"x": [], "k": []}),
    # the mean loss at one client's model is not the mean of the losses at their own models
    "an index with the name of one that a mean binds": numbers(
        condition(["objective", ["x_local", 0, "the client"]], "==", mean_loss(["x_local", 0, "k"], "k", LAST),
                  ["the client", 0, LAST]), setting="point"),
    # there may be two clients
    "an index with the name of a size": numbers(
        condition(["objective", "x_star"], "==", mean_loss("x_star", "k", 0), ["clients", 1, 1]), setting="point"),
}


@pytest.mark.parametrize("name", FALSE)
def test_a_false_statement_is_refused(name):
    accepted, reason, *_ = replayed(check_of(FALSE[name]), FALSE[name])
    assert not accepted, reason


def test_signs_of_functions_within_each_other_count_as_work():
    deep = "x"
    for i in range(10):
        deep = ["Max" if i % 2 else "Min", deep, f"y{i}"]
    certificate = numbers(condition(deep, ">=", 0), free={"x": []} | {f"y{i}": [] for i in range(10)})
    accepted, reason, *_ = replayed(check_of(certificate), certificate)
    assert not accepted and "TooLarge" in reason
