"""Certificates of false statements, each of which the checker accepted once."""

import pytest

from verify.checker.formats import check_of
from verify.checker.formulas import Formulas
from verify.checker.operators import replayed
from verify.checker.scope import scope

NOTHING = {"put": {}, "steps": []}
LAST, LAST_TIME, LAST_ROUND = (["+", -1, name] for name in ("clients", "iterations", "rounds"))


def one_over(a): return ["^", a, -1]
def condition(left, relation, right, *over): return dict(left=left, relation=relation, right=right, over=[*over], text="")
def whole(name): return condition(["Mod", name, 1], "==", 0)


def number_certificate(statement, *hypotheses, free=None, proof=None, setting="algebra"):
    """A proof about numbers."""
    return {"format": "fedtheory numbers 1", "claim": "mine", "reading": "", "setting": setting, "statement": statement,
            "hypotheses": [*hypotheses], "definitions": {}, "everywhere": [], "free": free or {},
            "procedure": {"base": "fedavg", "sampling": "", "indicator": "", "strict": False, "options": {}},
            "proof": proof or NOTHING}


def mean_loss(point, index, last):
    return ["Sum", ["*", ["priority", index], ["client_weight", index], ["F", index, point]], index, 0, last]


def steps(statement, proof, *more, rounds=1, definitions=None, values=None):
    """A proof about steps of 1 with noise of variance at most 1, of one client, convex and 1-smooth."""
    hypotheses = [condition([f"{name}_client", "k"], relation, bound, ["k", 0, LAST])
                  for name, relation, bound in (("L", "<=", 1), ("mu", ">=", 0), ("sigma_sq", "<=", 1))]
    sizes = dict(clients=1, rounds=rounds, local_steps=1, layers=1, participants=1, dim=1, iterations=rounds)
    setting = {"sizes": sizes, "unknown": [], "weights": ["1"], "proofs": [proof],
               "values": {"eta_l": ["1"] * rounds} | (values or {})}
    return {"format": "fedtheory proof 2", "claim": "mine", "reading": "", "setting": "run", "statement": statement,
            "hypotheses": [*hypotheses, *more], "definitions": definitions or {}, "everywhere": [],
            "free": {"eta_l": ["iterations"]} | {name: [] for name in values or ()},
            "procedure": {"base": "fedavg", "sampling": "full", "indicator": "broadcast", "strict": True,
                          "options": {"eta_g": "1"}}, "settings": [setting]}


def apart(r): return ["norm2", ["+", ["x_round", r], ["*", -1, "x_star"]]]


def terms(high):
    """A proof that a sum of ones is at most the number of rounds."""
    found = steps(condition(["Sum", 1, "k", 0, high], "<=", "rounds"), {}, condition(
        ["eta_l", "t"], "==", 1, ["t", 0, LAST_TIME]))
    setting, = found["settings"]
    setting |= {"proofs": [{}] * 4, "potential": {"value": 0, "factor": "1", "cost": 1}}
    return found | {"format": "fedtheory rounds 1"}


def at_most_c(*over):
    """A proof that |x_0 - x_*| <= c, where its square is at most c^2, and c >= 0 over some range."""
    found = steps(condition(["norm", apart(0)[1]], "<=", "c"), {"hypothesis 3 0": "1"},
                  condition(apart(0), "<=", ["^", "c", 2]), condition("c", ">=", 0, *over))
    found["settings"][0]["unknown"] = ["c"]
    return found | {"free": found["free"] | {"c": []}}


def entry(last):
    """A proof that a_0 is at least 1, where a_i == 1 from 0 to some entry."""
    found = steps(condition(["a", 0], ">=", 1), {}, condition(["a", "i"], "==", 1, ["i", 0, last]),
                  values={"a": {"hypothesis": 3}})
    return found | {"free": found["free"] | {"a": None}}


ONE_STEP = {"client 0 1 0": "2", "client 0 0 1": "2", "hypothesis 2 0": "1", "uncorrelated 0 2": "2",
            "uncorrelated 1 2": "-2", "noise 0 noise 0 0 0": "1"}
NEXT_STEP = {"client 0 0 2": "2", "client 0 2 0": "2", "hypothesis 2 0": "1", "uncorrelated 0 4": "2",
             "uncorrelated 1 4": "-2", "uncorrelated 2 4": "-2", "uncorrelated 3 4": "-2", "noise 0 noise 1 0 0": "1"}
STEP = ["norm2", ["+", ["x_round", 1], ["*", -1, ["x_round", 0]]]]
SURPLUS = {"x": [], "y": [], "v": ["dim"], "w": ["dim"]}


def potential(value, cost=0):
    """A proof that nothing is at most 1, by a potential that is 0."""
    found = steps(condition(0, "<=", 1), {})
    setting, = found["settings"]
    setting |= {"proofs": [{}] * 4, "potential": {"value": value, "factor": "1", "cost": cost}}
    return found | {"format": "fedtheory rounds 1"}


TRUE = {
    "nothing": potential(["Sum", 0, "i", 0, 1]),
    "a mean": steps(condition(["E", apart(1)], "<=", ["+", apart(0), 1]), ONE_STEP),
    "a mean given the past": steps(condition(["E_round", apart(2), 1], "<=", ["+", apart(1), 1]), NEXT_STEP, rounds=2),
    "a sum over all rounds": terms(LAST_ROUND),
    "a length": at_most_c(),
    "an entry": entry(3),
    "a ratio": steps(condition(["share", apart(0), apart(0)], "<=", 1), {}),
}

#: name -> a certificate; why its statement is false stands beside it
FALSE = {
    # for n = 0 the sum is empty: 1/n must not leave it
    "a divisor leaves an empty sum": number_certificate(
        condition(["Sum", ["*", one_over(["*", "n", ["+", "i", 1]]), one_over(one_over(["+", "i", 1]))], "i", 1, "n"],
                  "==", 1), whole("n"), condition("n", ">=", 0), free={"n": []}),
    # the hypothesis speaks of the entries a_ii
    "two indices with one name": number_certificate(
        condition(["a", 0, 1], ">=", 0), condition("rounds", ">=", 2),
        condition(["a", "i", "i"], ">=", 0, *[["i", 0, ["+", -1, "rounds"]]] * 2), free={"a": ["rounds", "rounds"]}),
    # x = 0 and k = 1 meet the hypothesis
    "a power needs a base other than 0 for some exponents alone": number_certificate(
        condition(["*", "x", one_over("x")], "==", 1), whole("k"), condition(["^", "x", "k"], ">=", 0),
        free={"x": [], "k": []}),
    "a real power needs a positive base for some exponents alone": number_certificate(
        condition(["^", "x", 2], ">", 0), condition(["^", "x", "k"], ">=", 0), free={"x": [], "k": []}),
    # the mean loss at one client's model is not the mean of the losses at their own models
    "an index with the name of one that a mean binds": number_certificate(
        condition(["objective", ["x_local", 0, "the client"]], "==", mean_loss(["x_local", 0, "k"], "k", LAST),
                  ["the client", 0, LAST]), setting="point"),
    # there may be two clients
    "an index with the name of a size": number_certificate(
        condition(["objective", "x_star"], "==", mean_loss("x_star", "k", 0), ["clients", 1, 1]), setting="point"),
    # in expectation alone: the noise of an outcome may be larger
    "a definition outside of means": steps(
        condition("D", "<=", ["+", apart(0), 1]), ONE_STEP, definitions={"D": {"indices": [], "formula": apart(1)}}),
    # a state whose distance is larger than its mean
    "a mean in a definition, beside one given the past": steps(
        condition(["E_round", apart(2), 1], "<=", ["+", "D", 1]), NEXT_STEP, rounds=2,
        definitions={"D": {"indices": [], "formula": ["E", apart(1)]}}),
    "a mean in a hypothesis that defines a number, beside one given the past": steps(
        condition(["E_round", apart(2), 1], "<=", ["+", "D", 1]), NEXT_STEP, condition("D", "==", ["E", apart(1)]), rounds=2,
        values={"D": {"hypothesis": 3}}),
    # of three rounds there are five terms
    "a sum that has as many terms as rounds, where there are one or two": terms(["^", LAST_ROUND, 2]),
    # c = -1
    "a sign that a hypothesis says of no index": at_most_c(["i", 1, 0]),
    # a_0 = 0
    "an entry of which no hypothesis says what it is": entry(-1),
    # a step may be 0 away from the optimum, where the ratio has no value
    "a ratio that has no value": steps(condition(["share", ["*", -1, apart(0)], STEP], "<=", 0), {}),
    # an index has no name that means something else, in a potential too
    "a potential with an index that is a size": potential(["Sum", 0, "rounds", 0, 1]),
    "a cost with an index that is the optimum": potential(0, ["Sum", 0, "x_star", 0, 1]),
    # words with too many or too few arguments have no value
    **{f"{shown[0]} of {len(shown) - 1}": number_certificate(condition(shown, ">=", 0), free=SURPLUS) for shown in (
        ["norm2", "v", "w", "v"], ["dot", "v"], ["dot", "v", "w", "v"], ["Exp1", "x"], ["Abs", "x", "y"], ["+"], ["*"])},
    "floor of 2": number_certificate(condition(["floor", "x", "y"], "==", ["floor", "x", "y"]), free=SURPLUS),
    "a loss of three things": steps(condition(["F", 0, ["x_round", 0], 7], "<=", ["F", 0, ["x_round", 0], 7]), {}),
    "a mean of two things": steps(condition(["E", apart(0), 7], "<=", ["E", apart(0), 7]), {}),
    "a sum with five parts": steps(condition(["Sum", apart(0), "i", 0, 0, 7], "<=", apart(0)), {}),
    # 0/0 = 0 at the optimum
    "a ratio that is at most a negative number": steps(condition(["share", ["*", -1, apart(0)], apart(0)], "<=", -1), {}),
}


@pytest.mark.parametrize("name", TRUE)
def test_what_they_differ_from_is_accepted(name):
    accepted, reason, *_ = replayed(check_of(TRUE[name]), TRUE[name])
    assert accepted, reason


@pytest.mark.parametrize("name", FALSE)
def test_a_false_statement_is_refused(name):
    accepted, reason, *_ = replayed(check_of(FALSE[name]), FALSE[name])
    assert not accepted, reason


def test_a_name_is_sure_only_where_a_sum_binds_it():
    formulas = Formulas({}, {}, None, (), None)
    summed = ["Sum", ["*", "drawn", ["exp", "drawn"]], "drawn", 0, 3]
    assert formulas.sure(summed, set()) and formulas.sure(["+", summed, "i"], {"i"})
    for other in (["+", "drawn", summed], ["Sum", 1, "drawn", 0, "drawn"], ["*", summed, ["drawn", 1]]):
        assert not formulas.sure(other, set())


def test_signs_of_functions_within_each_other_are_sought_once():
    """Before, each level sought them again, twice or more often."""
    deep = "x"
    for i in range(40):
        deep = ["Max" if i % 2 else "Min", deep, f"y{i}"]
    certificate = number_certificate(condition(deep, ">=", 0), free={"x": []} | {f"y{i}": [] for i in range(40)})
    accepted, reason, *_ = replayed(check_of(certificate), certificate)
    assert not accepted and "no step shows" in reason


def test_a_statement_about_points_is_not_proven_and_refuted():
    """There is one time: a proof says so, and a counterexample had two."""
    proof = number_certificate(condition("iterations", "==", 1), setting="point")
    given = {"center": [["0"]], "curvature": [["1"]], "x_star": ["0"], "offset": ["0"], "client_weight": ["1"],
             "layer_sizes": ["1"], "priority": ["1"], "noise": [[]], "included": [["1"]], "x_local": [[["0"]]]}
    sizes = dict(clients=1, rounds=2, local_steps=1, layers=1, participants=1, dim=1, iterations=2)
    other = {name: part for name, part in proof.items() if name != "proof"} | {
        "format": "fedtheory certificate 4", "sizes": sizes, "values": {}, "left": "2", "right": "1", "instance": given}
    accepted = [replayed(check_of(certificate), certificate)[0] for certificate in (proof, other)]
    assert accepted == [True, False]


def test_a_range_that_ends_at_the_number_of_layers_fixes_it():
    """l <= 0 for l in 0..layers-1."""
    each, given = ["k", 0, LAST], [condition(name, "==", 1) for name in ("rounds", "clients", "local_steps")]
    equal = [condition(["priority", "k"], "==", 1, each), condition(["client_weight", "k"], "==", one_over("clients"), each),
             condition(["available", "i", "k"], "==", 1, ["i", 0, "rounds"], each),
             condition(["eta_l", "t"], "==", 1, ["t", 0, LAST_TIME])]
    found = steps(condition("l", "<=", 0, ["l", 0, ["+", -1, "layers"]]), {}, *given, *equal,
                  values={"eta_l": {"hypothesis": 9}})
    found["free"]["eta_l"] = ["iterations"]
    assert replayed(check_of(found), found)[0] and not scope(found)[1]
