"""Lemmas hold at random numbers, and true statements about plain numbers and vectors are proven, and no false ones."""

import math
from itertools import product

import numpy as np
import pytest
import sympy as sp

from bounds.controls.fedavg import control
from bounds.language.claim import Condition, Variable
from bounds.language.operators import Sum, dot, norm, norm2
from bounds.registry.claims import all_claims, find_claim
from bounds.registry.papers import PAPERS
from bounds.registry.user_claims import load_claims
from tests.not_empty import not_empty
from verify.prove.context import Context, Family
from verify.prove.lemmas import LEMMAS
from verify.prove.normal import outermost
from verify.prove.prove import prove
from verify.prove.satisfiable import Fact
from verify.search.budget import BUDGETS
from verify.search.search import search

b, c, eta = sp.symbols("b c eta", positive=True)
e, f = sp.symbols("e f", nonnegative=True)
n, m = sp.symbols("n m", integer=True, positive=True)
i, j, x = sp.Symbol("i", integer=True), sp.Symbol("j", integer=True, nonnegative=True), sp.Symbol("x", real=True)
r, w, u, uu, y, z = *map(sp.IndexedBase, ("r", "w", "u", "uu")), sp.Symbol("y"), sp.Symbol("z")

CONTEXT = Context(
    frozenset({"u", "uu", "y", "z"}), {"r": "nonnegative", "w": "simplex"},
    [Fact("", Condition(j, "<=", n - 1)), Fact("", Condition(sp.Sum(w[i], (i, 0, n - 1)), "==", 1))],
    [Family(Condition(r[i], "<=", eta), ((i, sp.Integer(0), n - 1),))], ranges={j: (sp.Integer(0), n - 1)},
    entries={"r": ((sp.Integer(0), n - 1),), "w": ((sp.Integer(0), n - 1),), "u": ((sp.Integer(0), n - 1),),
             "uu": ((sp.Integer(0), n - 1),) * 2})

FORMULAS = {
    "powers": b**e - b**f - c**e, "numbers to powers": (1 + 1 / n) ** n - 2**e, "exponentials": sp.exp(x) - sp.exp(b),
    "an index": b**j - b**n, "geometric": Sum(b ** (j - i), (i, 0, j)) - Sum(b**i, (i, 0, n - 1)),
    "longer": Sum(b ** (n - i), (i, 0, n)) - Sum(b ** (n - 1 - i), (i, 0, n - 1)),
    "longer range": Sum(r[i], (i, 0, j)) - Sum(r[i], (i, 0, n - 1)),
    "products": sp.Product(1 + r[i], (i, 0, n - 1)) - sp.exp(Sum(r[i], (i, 0, n - 1))),
    "nested": Sum(r[i] * sp.Product(1 + r[m], (m, i + 1, n - 1)), (i, 0, n - 1)),
    "one factor more": Sum(sp.Product(1 + r[m], (m, i, n)), (i, 0, n)) - Sum(
        sp.Product(1 + r[m], (m, i, n - 1)), (i, 0, n - 1)),
    "weights": Sum(r[i] * b**i, (i, 0, n - 1)) - Sum(r[i], (i, 0, n - 1)),
    "lengths": norm(b * y - c * z) - norm(y) - norm(z), "inner": dot(y, z) - norm(y) * norm(z),
    "mean": norm2(Sum(w[i] * u[i], (i, 0, n - 1))) - Sum(w[i] * norm2(u[i]), (i, 0, n - 1)),
    "sum of sums": norm2(Sum(uu[i, m], (i, 0, n - 1), (m, 0, n - 1))) - Sum(norm2(uu[i, m]), (i, 0, n - 1), (m, 0, n - 1)),
    "square of a sum of sums": Sum(r[i] * r[m], (i, 0, m), (m, 0, n - 1))**2 - Sum(r[i], (i, 0, n - 1)),
    "sum of lengths": Sum(norm(u[i] + b * y), (i, 0, n - 1)) - Sum(norm(u[i]), (i, 0, n - 1)),
}


def value(expression, given):
    """A formula in floating point."""
    if isinstance(expression, sp.Sum | sp.Product):
        index, low, high, terms = outermost(expression)
        parts = [value(terms, given | {index: q}) for q in range(
            round(value(low, given)), round(value(high, given)) + 1)]
        return sum(parts) if isinstance(expression, sp.Sum) else math.prod(parts)
    if isinstance(expression, sp.Indexed):
        entry = given[expression.base.label.name]
        for index in expression.indices:
            entry = entry[round(value(index, given))]
        return entry
    if expression.is_Symbol:
        return given[expression]
    if expression.is_Number or expression is sp.E:
        return float(expression)
    if isinstance(expression, sp.Pow) and expression.exp.is_Integer and expression.exp < 0:
        return 1 / value(expression.base, given) ** int(-expression.exp)
    parts = [value(part, given) for part in expression.args]
    return {
        sp.Add: sum, sp.Mul: math.prod, sp.Pow: lambda p: p[0] ** p[1], sp.exp: lambda p: math.exp(p[0]), sp.Max: max,
        dot: lambda p: np.dot(p[0], p[1]), norm: lambda p: np.linalg.norm(p[0]), norm2: lambda p: np.dot(p[0], p[0]),
        sp.Abs: lambda p: abs(p[0]),
    }[expression.func](parts)


def holds(condition, given, slack):
    left, right = value(condition.left, given), value(condition.right, given)
    slack *= 1 + abs(left) + abs(right)
    return {"<=": left <= right + slack, ">=": left >= right - slack, "==": abs(left - right) <= slack}[condition.relation]


def drawn(rng):
    length = int(rng.integers(1, 5))
    weights, step = rng.dirichlet(np.ones(length)), rng.exponential()
    return {b: rng.choice([rng.uniform(0, 1), rng.uniform(1, 3)]), c: rng.exponential(), eta: step, e: rng.uniform(0, 3),
            f: rng.choice([0.0, rng.uniform(0, 3)]), n: length, m: 0, j: int(rng.integers(0, length)), x: rng.normal(),
            y: rng.normal(size=2), z: rng.normal(size=2), "r": step * rng.uniform(size=12), "w": weights,
            "u": rng.normal(size=(12, 2)), "uu": rng.normal(size=(12, 12, 2))}


@pytest.mark.parametrize("name", FORMULAS)
def test_every_instance_of_a_lemma_holds(name, monkeypatch):
    """Of all lemmas that a formula calls for, also of those on the terms of its sums."""
    used, own = [], Context._facts

    def recorded(context, gap, lemmas):
        found = own(context, gap, lemmas)
        used.append((context, found))
        return found

    monkeypatch.setattr(Context, "_facts", recorded)
    for sign in (1, -1):
        CONTEXT.proof(Condition(0, "<=", sign * FORMULAS[name]))
    rng, checked = np.random.default_rng(0), 0
    for _, (context, facts) in product(range(12), used):
        given = drawn(rng)
        given |= {sp.Symbol(f"#{k}", integer=True, nonnegative=sign): int(rng.integers(0, 4)) for k in range(4)
                  for sign in (True, None)}
        if not all(holds(fact.conclusion, given, 1e-9) for fact in context.facts if not fact.conclusion.left.has(sp.Sum)):
            continue
        for fact in facts:
            sides = [side for c in (fact.conclusion, *fact.premises) for side in (c.left, c.right)]
            assert not any(s.name.startswith("$") for side in sides for s in side.free_symbols if s.is_Symbol), str(fact)
            try:
                if all(holds(premise, given, 0) for premise in fact.premises):
                    checked += 1
                    assert holds(fact.conclusion, given, 1e-7), str(fact)
            except (IndexError, KeyError):  # an entry that the formula does not have
                continue
    assert checked > 10


def test_each_lemma_is_called_for():
    names = set()
    for formula in FORMULAS.values():
        for sign in (1, -1):
            gap = CONTEXT.normal.number(sign * formula)
            names |= {fact.name for fact in CONTEXT._facts(gap, LEMMAS)}
    assert len(names) >= 22


# statements -------------------------------------------------------------------------------------------------------------
VARIABLES = {
    "a": Variable("a", "positive"), "q": Variable("q", "real"), "K": Variable("K", "integer", low=2),
    "y": Variable("y", "vector"), "z": Variable("z", "vector"), "v": Variable("v", "vector", indices=(("i", "K"),)),
    "p": Variable("p", "simplex", indices=(("i", "K"),)), "s": Variable("s", "nonnegative", indices=(("i", "K"),)),
}
a, q, K = sp.symbols("a q K")
v, p, s = map(sp.IndexedBase, "vps")
ALL = (i, 0, K - 1)
MEAN = Sum(p[i] * v[i], ALL)
RECURSION = Condition(s[i + 1], "<=", a * s[i] + 1, ((i, 0, K - 2),))
#: left, right, hypotheses: each holds, and with the right side divided by the number beyond its constant does not
STATEMENTS = {
    "Young": (norm2(y + z), (1 + a) * norm2(y) + (1 + 1 / a) * norm2(z), (), 1.01),
    "triangle": (norm(y + a * z), norm(y) + a * norm(z), (), 1.01),
    "Jensen": (norm2(MEAN), Sum(p[i] * norm2(v[i]), ALL), (), 1.01),
    "variance": (Sum(p[i] * norm2(v[i] - MEAN), ALL), Sum(p[i] * norm2(v[i]), ALL) - norm2(MEAN), (), 1.01),
    "variance of any length": (Sum(p[i] * norm2(v[i] - MEAN), ALL), Sum(p[i] * norm2(v[i]), ALL), (), 1.01),
    "Bernoulli": (1 + K * a, (1 + a) ** K, (), 1.01),
    "growth": ((1 + 1 / K) ** K, 3, (), 1.5),
    "geometric": (Sum(a**i, ALL) * (1 - a), 1 - a**K, (), 1.01),
    "product": (sp.Product(1 + s[i], ALL), sp.exp(Sum(s[i], ALL)), (), 1.01),
    "bounded terms": (Sum(s[i] * a, ALL), K * a, (Condition(s[i], "<=", 1, (ALL,)),), 1.01),
    "induction": (s[K - 1], K, (RECURSION, Condition(a, "<=", 1), Condition(s[0], "<=", 1)), 1.01),
    "square": (2 * q, q**2 + 1, (), 1.01),
}


def claim_of(left, right, hypotheses):
    formulas = [sp.sympify(e) for h in hypotheses for e in (h.left, h.right)] + [sp.sympify(left), sp.sympify(right)]
    names = {part.name for formula in formulas for part in formula.free_symbols if part.is_Symbol}
    return control("proven", "algebra", Condition(left, "<=", right), conditions=tuple(hypotheses),
                   variables=tuple(variable for name, variable in VARIABLES.items() if name in names))


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_true_statement_is_proven_and_a_sharper_one_is_not(name):
    left, right, hypotheses, beyond = STATEMENTS[name]
    assert prove(claim_of(left, right, hypotheses))
    assert not prove(claim_of(left, right / sp.Rational(str(beyond)), hypotheses))


@pytest.mark.parametrize("name", ["afedpd/lemma-4-hitting@last+K-draws+rounds-below", "afedpd/lemma-4-hitting"])
def test_a_false_step_is_not_proven(name):
    assert prove(find_claim(name)) is None


@pytest.mark.parametrize("paper", PAPERS)
def test_no_counterexample_contradicts_a_proof(paper):
    own = [claim for claim in all_claims().values() if claim.paper == paper and claim.explicit]
    for claim in not_empty(own):
        if prove(claim):
            assert search(claim, BUDGETS["quick"], 0).violation is None, claim.id


MORE = {  # statements about numbers and vectors: what is proven, and a sharper statement that is not
    "log": ("variables = {a = 'positive'}", "log(a) <= a - 1", "log(a) <= a - 1.01"),
    "log from below": ("variables = {a = 'positive'}", "log(a) >= 1 - 1/a", "log(a) >= 1.01 - 1/a"),
    "squared sum": ("variables = {n = 'integer', a = 'real[n]'}", "Sum(a[i], (i, 0, n-1))**2 <= n*Sum(a[i]**2, (i, 0, n-1))",
                    "Sum(a[i], (i, 0, n-1))**2 <= (n - 1/2)*Sum(a[i]**2, (i, 0, n-1))"),
    "length of a sum": ("variables = {n = 'integer', v = 'vector[n]'}",
                        "norm(Sum(v[i], (i, 0, n-1))) <= Sum(norm(v[i]), (i, 0, n-1))",
                        "norm(Sum(v[i], (i, 0, n-1))) <= Sum(norm(v[i]), (i, 0, n-1)) - 1/9"),
    "below": ("variables = {n = 'integer', q = 'positive below 1'}", "Sum(q**j, (j, 0, n-1)) <= 1/(1 - q)",
              "Sum(q**j, (j, 0, n-1)) <= 0.9/(1 - q)"),
    "strict": ("variables = {a = 'positive', b = 'positive'}", "a/(a + b) < 1", "a/(a + b) < 0.9"),
    "strict at an end": ("variables = {a = 'nonnegative', b = 'positive'}", "a/(a + b) >= 0", "a/(a + b) > 0"),
}


@pytest.mark.parametrize("name", MORE)
def test_what_a_file_states_is_proven_and_a_sharper_statement_is_not(name, tmp_path):
    variables, *statements = MORE[name]
    for number, statement in not_empty(enumerate(statements)):
        path = tmp_path / f"{number}.toml"
        path.write_text(f"[[claim]]\nid = 'mine/lemma'\nsetting = 'algebra'\n{variables}\nstatement = '''{statement}'''\n")
        (claim,) = load_claims(path)
        assert (prove(claim) is None) == bool(number), statement
