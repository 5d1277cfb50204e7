"""Proofs about numbers: forgeries are refused with a reason, lemmas hold, formulas keep their values."""

import copy
import math
import random
from fractions import Fraction
from itertools import product

import pytest

from tests.messages import contains_in_order
from verify.checker import number_federation as federation
from verify.checker import number_proof as checker
from verify.checker.index_sums import dot, substitute
from verify.checker.number_facts import Fact, KnownFacts
from verify.checker.number_formulas import Reader
from verify.checker.number_lemmas import NUMBERS, SUMS, VECTORS
from verify.checker.operators import replayed
from verify.checker.polynomials import ONE, constant, inverse, of_atom, vanishes
from verify.checker.schema import STATED

VECTORS_OF = {"v": ["dim"], "w": ["dim"]}
FREE = {"algebra": {"x": [], "y": [], "z": [], "n": [], "a": ["n"], **VECTORS_OF}, "point": {"L": [], **VECTORS_OF}}


def condition(left, relation, right, over=()):
    return {"left": left, "relation": relation, "right": right, "over": [*map(list, over)], "text": ""}


def whole(name, low=1):
    return [condition(name, ">=", low), condition(["Mod", name, 1], "==", 0)]


def certificate(statement, hypotheses, steps, setting="algebra", proof=None):
    stated = {"claim": "mine/a", "reading": "", "setting": setting, "statement": condition(*statement),
              "hypotheses": hypotheses, "definitions": {}, "everywhere": [], "free": FREE[setting],
              "procedure": {"base": "fedavg", "sampling": "full", "indicator": "broadcast", "strict": True, "options": {}}}
    assert {*stated} == {*STATED}
    return {"format": checker.FORMAT, **stated, "proof": proof or {"put": {}, "steps": steps}}


def minus(a, b): return ["+", a, ["*", -1, b]]
def over(a, b): return ["*", a, ["^", b, -1]]
def identity(left, relation, right, *terms, times=(), name="s"):
    return {"name": name, "by": "identity", "shows": [left, relation, right], "times": [*times], "terms": [*terms]}


def term(*facts, times=(), **more): return {"facts": [*facts], "times": [*times], **more}


def lemma(name, *of, as_="s"): return {"name": as_, "by": "lemma", "lemma": name, "of": [*of]}


POSITIVE = [condition("x", ">", 0), condition("y", ">", 0)]
UP_TO = [condition("x", ">=", 0), condition("y", ">=", "x")]
ENTRIES = [*whole("n"), condition(["a", "j"], ">=", 0, [("j", 0, ["+", -1, "n"])])]
SQUARES = ["+", ["^", "x", 2], ["*", -2, "x", "y"], ["^", "y", 2]]
TOTAL = ["Sum", ["a", "j"], "j", 0, ["+", -1, "n"]]
POWER = ["^", ["+", 1, "x"], "n"]
BEHIND = ["*", -1, ["^", ["+", "n", ["*", -1, "i"], "y"], -1]]
GROWING = ["+", "n", ["*", minus("j", 1), "k"]]
INDUCTION = {"name": "all", "by": "induction", "index": "m", "low": 0, "high": None,
             "shows": [["^", 2, "m"], ">=", ["+", 1, "m"]], "base": [],
             "steps": [lemma("next power", 2, "m", as_="n"),
                       identity(["^", 2, ["+", "m", 1]], ">=", ["+", 2, "m"], term("before", times=[2]), term("n"),
                                term(times=["m"]))]}
AT_N = {"name": "end", "by": "instance", "fact": "all", "at": ["n"]}
BOTH = [condition(["L_client", "k"], "<=", "L", [("k", 0, ["+", -1, "clients"])]),
        condition(["mu_client", "k"], ">=", 0, [("k", 0, ["+", -1, "clients"])])]
AT_FIRST = {"name": "m", "by": "instance", "fact": "h1", "at": [0]}
CONVEX = (["dot", ["grad", 0, "w"], minus("v", "w")], "<=", minus(["F", 0, "v"], ["F", 0, "w"]))


#: what is proven: statement, hypotheses, and how
HONEST = {
    "a square": ((SQUARES, ">=", 0), [], [identity(SQUARES, ">=", 0, term(square=minus("x", "y")))]),
    "multiplied": ((over("x", "y"), "<=", 1), [*POSITIVE, condition("x", "<=", "y")],
                   [identity(over("x", "y"), "<=", 1, term("h2"), times=["y"])]),
    "Bernoulli": ((POWER, ">=", ["+", 1, ["*", "n", "x"]]), [condition("x", ">=", 0), *whole("n")],
                  [lemma("bernoulli", ["+", 1, "x"], "n")]),
    "a sum of entries": ((TOTAL, ">=", 0), ENTRIES, []),
    "an entry": ((["a", 0], ">=", 0), ENTRIES, []),
    "an induction": ((["^", 2, "n"], ">=", ["+", 1, "n"]), whole("n", 0), [INDUCTION, AT_N]),
    "the last term": ((TOTAL, ">=", ["a", ["+", -1, "n"]]), ENTRIES, [lemma("last term", TOTAL)]),
    "cases": ((["Abs", "x"], ">=", "x"), [], [lemma("absolute", "x")]),
    "digits": ((["Exp1"], "<=", 3), [], [{"name": "s", "by": "digits", "shows": [["Exp1"], "<=", 3]}]),
    "a convex loss": (CONVEX, BOTH, [AT_FIRST, lemma("curvature", 0, "v", "w", 0)], "point"),
}

#: what is false, or is not shown: statement, hypotheses, steps, and the reason
FORGED = {
    "another multiplier": ((over("x", "y"), "<=", 1), [*POSITIVE, condition("x", "<=", "y")],
                           [identity(over("x", "y"), "<=", 1, term("h2", times=[2]), times=["y"])], "the identity fails"),
    "a multiplier below 0": (("y", "<=", "x"), UP_TO, [identity("y", "<=", "x", term("h1", times=[-1]))], "not known to be"),
    "a multiplier without a sign": ((["*", "z", minus("y", "x")], ">=", 0), UP_TO, [
        identity(["*", "z", minus("y", "x")], ">=", 0, term("h1", times=["z"]))], "not known to be"),
    "multiplied by what may be negative": (("x", "<=", "y"), [condition(["*", "z", minus("y", "x")], ">=", 0)], [
        identity("x", "<=", "y", term("h0"), times=["z"])], "not known to be"),
    "a strict one from one that is not": (("x", "<", "y"), UP_TO, [identity("x", "<", "y", term("h1"))], "surely positive"),
    "an equality from inequalities": (("x", "==", "y"), UP_TO, [identity("y", "==", "x", term("h1"))], "equalities alone"),
    "a fact that nobody showed": (("x", "<=", 1), UP_TO, [identity("x", "<=", 1, term("h7"))], "KeyError"),
    "nothing at all": (("x", "<=", 1), UP_TO, [], "no step shows the statement"),
    "a quotient by what may be 0": ((1, "<=", over("x", "x")), [condition("x", ">=", 0)], [], "a divisor is not 0"),
    "a root of what may be negative": ((["^", "x", ["^", 2, -1]], ">=", 0), [], [], "a root or real power"),
    "a logarithm": ((["log", "x"], "<=", "x"), [condition("x", ">=", 0)], [], "a logarithm is of a positive"),
    "a divisor that leaves an empty sum": (
        (["Sum", over(1, "n"), "i", 0, ["+", -1, "n"]], "==", 1), whole("n", 0), [], "a divisor is not 0"),
    "the length of a range that may be empty": (
        (["Sum", 1, "i", 1, "n"], "==", "n"), [condition(["Mod", "n", 1], "==", 0)], [], "no step shows"),
    "an entry outside": ((["a", "n"], ">=", 0), ENTRIES, [], "not too large"),
    "an entry that is no whole number": ((["a", "x"], ">=", 0), [*ENTRIES, condition("x", ">=", 0)], [], "no whole number"),
    "a sign of some entries": ((["a", ["+", -1, "n"]], ">=", 0), [
        *whole("n"), condition(["a", "j"], ">=", 0, [("j", 0, ["+", -2, "n"])])], [], "no step shows"),
    "an instance outside the range": ((["a", ["+", -1, "n"]], "<=", 1), [
        *whole("n"), condition(["a", "j"], "<=", 1, [("j", 0, ["+", -2, "n"])])],
        [{"name": "s", "by": "instance", "fact": "h2", "at": [["+", -1, "n"]]}], "lie in the range"),
    "an instance between whole numbers": ((["a", 0], "<=", 1), [
        *whole("n"), condition(["a", "j"], "<=", 1, [("j", 0, ["+", -1, "n"])])],
        [{"name": "s", "by": "instance", "fact": "h2", "at": [over(1, 2)]}], "lie in the range"),
    "a fact for all indices as one": ((["a", 0], "<=", 1), [
        *whole("n"), condition(["a", "j"], "<=", 1, [("j", 0, ["+", -1, "n"])])],
        [identity(["a", 0], "<=", 1, term("h2"))], "needs an instance"),
    "Bernoulli below exponent 1": ((["^", ["+", 1, "x"], "y"], ">=", ["+", 1, ["*", "x", "y"]]), [
        condition("x", ">=", 0), condition("y", ">=", 0)], [lemma("bernoulli", ["+", 1, "x"], "y")], "bernoulli needs"),
    "powers of a base that may be below 1": ((["^", "x", 2], ">=", "x"), [condition("x", ">=", 0)], [
        lemma("powers rise", "x", 1, 2)], "powers rise needs"),
    "roots that fall": ((["^", "y", ["^", 2, -1]], "<=", ["^", "x", ["^", 2, -1]]), UP_TO, [
        lemma("roots rise", "y", "x", 2)], "roots rise needs"),
    "squares of what may be negative": (("y", "<=", "x"), [condition(["^", "x", 2], ">=", ["^", "y", 2])], [
        lemma("by squares", "y", "x")], "by squares needs"),
    "the last term of what may be empty": ((TOTAL, ">=", 0), [*whole("n", 0), ENTRIES[2]], [
        lemma("last term", TOTAL)], "last term needs"),
    "a geometric sum with falling exponents of 0": (
        (["*", minus("x", 1), ["Sum", ["^", "x", minus("n", ["*", 2, "i"])], "i", 0, "n"]], "<=", 1),
        [condition("x", ">=", 0), *whole("n")], [], "not shown"),
    "a divisor that may be 0 where a sum is empty": (
        (["Sum", ["Sum", ["^", ["+", "n", ["*", "i", "j"]], -1], "j", 1, "n"], "i", 0, 0], ">=", 1), whole("n", 0), [],
        "a divisor leaves"),
    "a divisor that an instance makes 0": (("n", ">=", 1), whole("n", 0), [
        {"name": "all", "by": "each", "index": "k", "low": 0, "high": None,
         "shows": [["Sum", ["^", GROWING, -1], "j", 1, "n"], "<=", "n"], "steps": [
             {"name": "one", "by": "each", "index": "j", "low": 1, "high": "n", "shows": [["^", GROWING, -1], "<=", 1],
              "steps": [identity(["^", GROWING, -1], "<=", 1, term(times=[minus("n", 1)]), term(times=[minus("j", 1), "k"]),
                                 times=[GROWING])]},
             {"name": "s", "by": "sum", "fact": "one"}]},
        {"name": "end", "by": "instance", "fact": "all", "at": [0]}], "a divisor leaves"),
    "a next term that may have no value": ((0, ">=", 0), [*whole("n"), condition("y", ">=", 0)], [
        lemma("next terms", ["Sum", BEHIND, "i", 0, ["+", -1, "n"]])], "no value"),
    "an induction without a base": ((["^", 2, "n"], ">=", ["+", 2, "n"]), whole("n", 0), [
        {**INDUCTION, "shows": [["^", 2, "m"], ">=", ["+", 2, "m"]],
         "steps": [lemma("next power", 2, "m", as_="n"), identity(
             ["^", 2, ["+", "m", 1]], ">=", ["+", 3, "m"], term("before", times=[2]), term("n"),
             term(times=[["+", 1, "m"]]))]},
        AT_N], "no step shows"),
    "an induction without a step": ((["^", 2, "n"], ">=", ["+", 1, "n"]), whole("n", 0), [
        {**INDUCTION, "steps": []}, AT_N], "no step shows"),
    "an induction that begins later": ((["^", 2, "n"], ">=", ["+", 1, "n"]), whole("n", 0), [
        {**INDUCTION, "low": 2}, AT_N], "lie in the range"),
    "an induction that ends before": ((["^", 2, "n"], ">=", ["+", 1, "n"]), whole("n", 0), [
        {**INDUCTION, "high": 5}, AT_N], "lie in the range"),
    "one case alone": ((["^", "x", 2], ">=", "x"), [], [
        {"name": "s", "by": "cases", "of": minus("x", 1), "shows": [["^", "x", 2], ">=", "x"], "below": [],
         "above": [identity(["^", "x", 2], ">=", "x", term("above", "above"), term("above"))]}], "no step shows"),
    "an assumption that is kept": (("x", ">=", 1), UP_TO, [
        {"name": "s", "by": "cases", "of": minus("x", 1), "shows": [0, ">=", 0], "below": [], "above": []},
        identity("x", ">=", 1, term("above"))], "KeyError"),
    "the contrary without a contradiction": (("x", "<=", 1), UP_TO, [
        {"name": "s", "by": "contrary", "shows": ["x", "<=", 1], "steps": []}], "no step shows"),
    "wrong digits": ((["Exp1"], "<=", over(27, 10)), [], [
        {"name": "s", "by": "digits", "shows": [["Exp1"], "<=", over(27, 10)]}], "digits do not show"),
    "digits of a name": (("x", "<=", 3), [], [{"name": "s", "by": "digits", "shows": ["x", "<=", 3]}], "no digits"),
    "the larger of two": ((["Max", "x", "y"], "<=", "x"), [], [lemma("at least all", "x", "x", "y")], "needs"),
    "a shorter side": ((["norm", ["+", "v", "w"]], "<=", ["norm", "v"]), [], [lemma("triangle", "v", "w")], "no step shows"),
    "a vector as a number": (("v", "<=", 1), [], [], "is no number"),
    "a gap of a loss that is not convex": (CONVEX, BOTH[:1], [lemma("curvature", 0, "v", "w", 0)], "curvature needs"),
    "a client that is not there": (CONVEX, BOTH, [lemma("curvature", "clients", "v", "w", 0)], "not too large"),
    "a loss in a claim about numbers": (CONVEX, BOTH, [], "is no vector"),
    "an infimum that there may not be": ((0, ">=", 0), BOTH, [lemma("infimum", 0, "v")], "may be unbounded"),
    "a step of no kind": ((0, ">=", 0), [], [{"name": "s", "by": "z3", "shows": [0, ">=", 0]}], "KeyError"),
    "another optimum": ((["F", 0, "v"], ">=", "F_star"), BOTH, [lemma("optimal loss", "v")], "no step shows"),
}
AT_POINTS = {"a gap of a loss that is not convex", "a client that is not there", "an infimum that there may not be",
             "another optimum"}


@pytest.mark.parametrize("name", HONEST)
def test_a_proof_is_accepted(name):
    accepted, reason, *_ = replayed(checker.check, certificate(*HONEST[name]))
    assert accepted, reason


@pytest.mark.parametrize("name", FORGED)
def test_a_forgery_is_refused(name):
    *parts, why = FORGED[name]
    accepted, reason, *_ = replayed(checker.check, certificate(*parts, setting="point" if name in AT_POINTS else "algebra"))
    assert not accepted and contains_in_order(reason, why), reason


@pytest.mark.parametrize("hypotheses, low, accepted", [
    (whole("n"), 1, True), (whole("n"), 2, False), ([condition("n", ">=", 1)], 1, False), (whole("n", 0), 1, False)])
def test_cases_of_a_whole_number_cover_it(hypotheses, low, accepted):
    shows = ["^", 2, "n"], ">=", "n"
    parts = {"cases": "n", "from": low, "first": [{"put": {}, "steps": []}], "rest": {"put": {}, "steps": [
        INDUCTION, AT_N, identity(*shows, term("end"), term(times=[1]))]}}
    found, reason, *_ = replayed(checker.check, certificate(shows, hypotheses, [], proof=parts))
    assert found == accepted, reason


@pytest.mark.parametrize("rule, number, accepted", [
    (condition("x", "==", 2), 0, True), (condition("x", ">=", 2), 0, False), (condition("x", "==", ["+", "x", 1]), 0, False),
    (condition("y", "==", 2), 0, False), (condition("x", "==", 2), 3, False)])
def test_a_formula_stands_for_a_name_where_a_hypothesis_says_so(rule, number, accepted):
    found, reason, *_ = replayed(checker.check, certificate(
        (["^", 2, "x"], "==", 4), [rule], [], proof={"put": {"x": number}, "steps": []}))
    assert found == accepted, reason


def test_another_statement_needs_another_proof():
    """Numbers in statements and hypotheses are changed: what is still accepted has the same meaning, or is weaker."""
    refused = 0
    for name, (statement, hypotheses, *rest) in HONEST.items():
        data = certificate(statement, hypotheses, *rest)
        for place in _numbers(data["statement"]):
            for change in (-3, -1, 1, 5):
                other = copy.deepcopy(data)
                holder, key = _at(other["statement"], place)
                holder[key] += change
                refused += not replayed(checker.check, other)[0]
        assert refused, name
    assert refused > 60


def _numbers(node, path=()):
    for key in node if isinstance(node, dict) else range(len(node)):
        if type(node[key]) is int:
            yield (*path, key)
        elif isinstance(node[key], list):
            yield from _numbers(node[key], (*path, key))


def _at(node, path):
    for key in path[:-1]:
        node = node[key]
    return node, path[-1]


# values ------------------------------------------------------------------------------------------------------------------
def value(p, names):
    """The value of a polynomial, as a float."""
    return sum(float(c) * math.prod(value_of_atom(a, names) ** n for a, n in m) for m, c in p.terms.items())


def value_of_atom(a, names):
    kind, *args = a
    if a in names:
        return names[a]
    if kind == "entry":
        return names[args[0]][round(value(args[1], names))]
    if kind in ("Sum", "Product"):
        body, low, high, own = args
        span = range(round(value(low, names)), round(value(high, names)) + 1)
        parts = [value(body, {**names, own: i}) for i in span]
        return sum(parts) if kind == "Sum" else math.prod(parts)
    if kind == "dot":
        return sum(x * y for x, y in zip(*(point(u, names) for u in args), strict=True))
    if kind == "norm":
        return math.hypot(*(sum(value(c, names) * point(u, names)[i] for u, c in args[0]) for i in range(2)))
    if kind == "root":
        return value(args[0], names) ** (1 / args[1])
    inner = [value(p, names) for p in args]
    return {"inv": lambda x: 1 / x, "pow": pow, "exp": math.exp, "log": math.log, "Abs": abs,
            "floor": math.floor, "ceiling": math.ceil, "Max": lambda *x: max(x), "Min": lambda *x: min(x)}[kind](*inner)


def point(u, names):
    if u[0] == "vsum":
        _, c, inner, low, high, own = u
        span = range(round(value(low, names)), round(value(high, names)) + 1)
        parts = [[value(c, {**names, own: i}) * x for x in point(inner, {**names, own: i})] for i in span]
        return [sum(entries) for entries in zip(*parts, strict=True)] if parts else [0.0, 0.0]
    return names[u] if u in names else names[u[1]][round(value(u[2], names))]


def direct(node, names):
    """The value of a formula as it is written."""
    if isinstance(node, int):
        return node
    if isinstance(node, str):
        return names[node]
    head, *args = node
    if head in ("Sum", "Product"):
        body, index, low, high = args
        parts = [direct(body, {**names, index: i}) for i in range(direct(low, names), direct(high, names) + 1)]
        return sum(parts) if head == "Sum" else math.prod(parts)
    if head == "a":
        return names["a"][direct(args[0], names)]
    inner = [direct(a, names) for a in args]
    return {"+": lambda *x: sum(x), "*": lambda *x: math.prod(x), "^": pow, "Max": lambda *x: max(x)}[head](*inner)


def formula(rng, indices, depth=3):
    """A random formula with sums within sums."""
    if depth == 0 or rng.random() < 0.15:
        return rng.choice(["x", "y", "n", rng.randint(-3, 4), *indices, *([["a", i] for i in indices])])
    kind = rng.choice(["+", "*", "^", "inverse", "Sum", "Sum", "Sum", "Product", "Max"])
    inner = lambda more=(): formula(rng, [*indices, *more], depth - 1)  # noqa: E731
    if kind == "inverse":
        return ["^", ["+", 1, ["^", inner(), 2]], -1]
    if kind == "^":
        return ["^", inner(), rng.randint(0, 3)]
    if kind in ("Sum", "Product"):
        index = f"i{len(indices)}"
        return [kind, inner([index]), index, 0, rng.choice(["n", ["+", -1, "n"], 3, *indices])]
    return [kind, inner(), inner()]


def test_a_polynomial_has_the_value_of_its_formula():
    rng, reader, known = random.Random(5), Reader({"x": [], "y": [], "n": [], "a": ["m"], "m": []}, {}, {}), KnownFacts()
    known.whole |= {("name", "n"), ("name", "m")}
    for name in ("n", "m"):
        known.add(name, Fact(">=", of_atom(("name", name)), ()))
    n, m = of_atom(("name", "n")), of_atom(("name", "m"))
    known.add("longer", Fact(">=", m - n - constant(4), ()))
    read = 0
    for _ in range(200):
        node = formula(rng, [])
        try:
            p = reader.number(node, known, {})
        except (ValueError, ArithmeticError):
            continue
        read += 1
        for n in (0, 1, 2, 4):
            given = {"x": 0.7, "y": -1.3, "n": n, "a": [0.3 * i - 1 for i in range(20)]}
            names = {("name", name): number for name, number in given.items() if name != "a"} | {"a": given["a"]}
            names |= {("name", "m"): n + 4}
            wanted = direct(node, given)
            assert value(p, names) == pytest.approx(wanted, rel=1e-6, abs=1e-6), node
            put = substitute(known, p, ("name", "x"), of_atom(("name", "y")) * of_atom(("name", "y")))
            assert value(put, names) == pytest.approx(direct(node, {**given, "x": 1.69}), rel=1e-6, abs=1e-6), node
    assert read > 100


def test_an_index_is_not_caught():
    """A sum in place of a name within another sum."""
    known, reader = KnownFacts(), Reader({"x": [], "n": [], "y": []}, {}, {})
    known.whole.add(("name", "n"))
    outer = reader.number(["Sum", ["*", "i", ["exp", ["*", "x", "i"]]], "i", 0, "n"], known, {})
    inner = reader.number(["Sum", ["exp", ["*", "y", "i"]], "i", 0, "n"], known, {})
    both = substitute(known, outer, ("name", "x"), inner)
    names = {("name", "n"): 9, ("name", "y"): -0.4}
    x = sum(math.exp(-0.4 * i) for i in range(10))
    assert value(both, names) == pytest.approx(sum(i * math.exp(x * i) for i in range(10)))


def test_what_vanishes_is_zero_and_what_does_not_is_not():
    x, y = of_atom(("name", "x")), of_atom(("name", "y"))
    assert vanishes(inverse(x + y) * inverse(x - y) * (x * x - y * y) - ONE)
    assert vanishes(inverse(ONE + inverse(x + ONE)) - (x + ONE) * inverse(x + constant(2)))
    r = of_atom(("root", x + y, 2))
    assert vanishes(r * r * r * inverse(r) - x - y) and not vanishes(r * inverse(x) - ONE)
    assert not vanishes(inverse(x + y) - inverse(x - y))


# lemmas ------------------------------------------------------------------------------------------------------------------
def holds(pair, names, slack=1e-7):
    relation, p = pair
    if relation == "whole":
        return abs(value(p, names) - round(value(p, names))) < 1e-9
    number = value(p, names)
    return {">=": number >= -slack, ">": number > 0, "==": abs(number) <= slack, "!=": number != 0}[relation]


@pytest.mark.parametrize("name", NUMBERS)
def test_a_lemma_of_numbers_holds(name):
    rng, held, made = random.Random(name), 0, NUMBERS[name]
    count = made.__code__.co_argcount + 2 * bool(made.__code__.co_flags & 4)
    letters = [("name", letter) for letter in "xyzuv"[:count]]
    for _ in range(3000):
        numbers = [rng.choice([0, 0.5, 1, 2, 3, rng.uniform(-2, 3), rng.uniform(0, 1), rng.uniform(1, 3)]) for _ in letters]
        args = [of_atom(letter) for letter in letters]
        if name == "roots rise":
            args[2] = constant(rng.choice([2, 3, 5]))
        names = dict(zip(letters, numbers, strict=True))
        premises, conclusion = made(*args)
        try:
            if all(holds(premise, names, slack=0) for premise in premises):
                assert holds(conclusion, names, slack=1e-6), (name, numbers)
                held += 1
        except (ZeroDivisionError, OverflowError):
            raise AssertionError(f"{name} has no value at {numbers}") from None
    assert held > 20


@pytest.mark.parametrize("name", VECTORS)
def test_a_lemma_of_vectors_holds(name):
    rng, (made, vectors, numbers) = random.Random(name), VECTORS[name]
    letters, held = [("vector", letter) for letter in "uv"[:vectors]], 0
    for _ in range(500):
        names = {letter: [rng.uniform(-2, 2), rng.uniform(-2, 2)] for letter in letters}
        names["name", "p"] = rng.uniform(-1, 3)
        if name.startswith("same"):
            names[letters[1]] = rng.choice([names[letters[0]], names[letters[1]]])
        premises, conclusion = made(*({letter: ONE} for letter in letters), *[of_atom(("name", "p"))] * numbers)
        if all(holds(premise, names, slack=0) for premise in premises):
            assert holds(conclusion, names), names
            held += 1
    assert held > 20


@pytest.mark.parametrize("name", sorted({*SUMS} - {"length of sum"}))
@pytest.mark.parametrize("base", [0, 0.5, 1, 2])
def test_a_lemma_of_sums_holds(name, base):
    known, reader, low = KnownFacts(), Reader({"x": [], "n": [], "m": []}, {}, {}), ("name", "m")
    known.whole |= {("name", "n"), ("name", "q"), low}
    known.add("x", Fact(">=", of_atom(("name", "x")), ()))
    known.add("m", Fact(">=", of_atom(low), ()))
    body = {"no index in product": "x", "next terms": ["^", "i", 2]}.get(name, ["^", "x", "i"])
    kind = "Product" if "product" in name or "factor" in name else "Sum"
    p = reader.number([kind, body, "i", "m", "n"], known, {})
    premises, conclusion = SUMS[name](known, p, *[of_atom(("name", "q"))] * (name == "term of sum"))
    for n, m, q in product(range(-2, 12), range(4), range(-1, 13)):
        names = {("name", "x"): base, ("name", "n"): n, low: m, ("name", "q"): q}
        if all(holds(premise, names, 0) for premise in premises):
            assert holds(conclusion, names), (n, m, q)


@pytest.mark.parametrize("sign", [">=", None])
def test_the_length_of_a_sum_is_at_most_the_sum_of_lengths(sign):
    """For numbers a_i of a known sign, and of any."""
    rng, known, reader = random.Random(0), KnownFacts(), Reader({"n": [], "a": ["n"], "v": ["n", "dim"]}, {}, {})
    known.whole.add(("name", "n"))
    known.families.update({"a": 1} if sign else {})
    p = reader.number(["norm", ["Sum", ["*", ["a", "i"], ["v", "i"]], "i", 0, ["+", "n", -1]]], known, {})
    premises, (relation, conclusion) = SUMS["length of sum"](known, p)
    assert not premises and ("Abs" in repr(conclusion)) == (sign is None)
    tight = 0
    for n in [0, 1, 2, 5] * 20:
        names = {("name", "n"): n, "a": [rng.uniform(0 if sign else -2, 2) for _ in range(n)],
                 "v": [[rng.uniform(-2, 2), rng.uniform(-2, 2)] for _ in range(n)]}
        assert holds((relation, conclusion), names)
        tight += not holds((relation, conclusion - constant("1/10")), names)
    assert tight >= 40


@pytest.mark.parametrize("name", federation.FUNCTIONS)
def test_a_lemma_of_losses_holds(name):
    """Losses of one coordinate beside another: a/2 x^2 + b sqrt(1 + x^2), with curvatures from a to a + b."""
    made, vectors, numbers = federation.FUNCTIONS[name]
    rng, k, held = random.Random(name), of_atom(("name", "k")), 0
    letters = [("vector", letter) for letter in "uvw"[:vectors]]
    for _ in range(400):
        a, b = rng.choice([(rng.uniform(-2, 2), rng.uniform(0, 3)), (1, 0), (0, 1), (-1, 1)])
        if "infimum" in name and a < 0:
            continue
        low, high = a, a + b
        bounds = {"L": max(abs(low), abs(high)) * rng.choice([1, 1, 2]), "m": low - rng.choice([0, 0, 1])}
        names = {letter: [rng.gauss(0, 3), rng.gauss(0, 3)] for letter in letters}
        if name.startswith("same"):
            names[letters[1]] = rng.choice([names[letters[0]], names[letters[1]]])
        names |= {("name", "L"): bounds["L"], ("name", "m"): bounds["m"], ("name", "k"): 0}
        for letter in letters:
            x, y = names[letter]
            point_of = (((letter), ONE),)
            names["grad", k, point_of] = [a * x + b * x / math.sqrt(1 + x * x), low * y]
            names["F", k, point_of] = a / 2 * x * x + b * math.sqrt(1 + x * x) + low / 2 * y * y
        names |= {"L_client": [max(abs(low), abs(high))], "mu_client": [low], "F_star_client": [b]}
        named = {"interpolation": "Lm", "curvatures": "Lm", "curvature": "m", "near infimum": "m"}.get(name, "L")[:numbers]
        given = [of_atom(("name", one)) for one in named]
        premises, conclusion = made(k, *({letter: ONE} for letter in letters), *given)
        if all(holds(premise, names, 0) for premise in premises):
            assert holds(conclusion, names, 1e-6), names
            held += 1
    assert held > 50


def test_a_sum_of_vectors_has_its_inner_products():
    known, reader = KnownFacts(), Reader({"c": ["n", "dim"], "b": ["n"], "n": [], "w": ["dim"]}, {}, {})
    known.whole.add(("name", "n"))
    total = ["Sum", ["*", ["b", "i"], ["c", "i"]], "i", 0, ["+", -1, "n"]]
    left = reader.number(["dot", total, "w"], known, {})
    right = reader.number(["Sum", ["*", ["b", "i"], ["dot", ["c", "i"], "w"]], "i", 0, ["+", -1, "n"]], known, {})
    assert vanishes(left - right) and dot({}, {}).terms == {} and Fraction(0) == 0
