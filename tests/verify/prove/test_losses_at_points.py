"""What is used of losses at points holds on random federations; true statements about them are proven, no sharper ones."""

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from scipy.optimize import minimize

from bounds.controls.fedavg import control
from bounds.language.claim import Condition, Procedure, Variable
from bounds.language.operators import (
    F,
    F_star,
    F_star_client,
    L,
    Sum,
    clients,
    dot,
    grad,
    k,
    mu,
    norm,
    norm2,
    objective,
    x_star,
)
from bounds.registry.claims import all_claims, find_claim
from tests.verify.prove.test_lemmas import value
from verify.prove import losses_at_points
from verify.prove.losses_at_points import NotAtPoints, at_points
from verify.prove.multipliers import multiples
from verify.prove.prove import prove

AT_POINTS = [claim for claim in all_claims().values() if claim.setting == "point"]
each_client = (k, 0, clients - 1)
LIPSCHITZ, CURVATURE = 2.0, 0.5


class Clients:
    """Losses that are sums over coordinates, with curvatures between ``low`` and L; waves where they need not be convex."""

    def __init__(self, rng, count, dim, low):
        self.low, self.centers = low, rng.normal(size=(count, dim)) * 2
        self.sizes = rng.uniform(0, 1, (count, dim))
        if low < 0:
            self.centers[:] = self.centers[0]

    def loss(self, k, v):
        z = np.asarray(v) - self.centers[k]
        if self.low < 0:
            return np.sum(self.sizes[k] * LIPSCHITZ * (1 - np.cos(z)))
        soft = np.logaddexp(z, -z) - np.log(2)
        return np.sum(self.low / 2 * z**2 + (LIPSCHITZ - self.low) * self.sizes[k] * soft)

    def slope(self, k, v):
        z = np.asarray(v) - self.centers[k]
        if self.low < 0:
            return self.sizes[k] * LIPSCHITZ * np.sin(z)
        return self.low * z + (LIPSCHITZ - self.low) * self.sizes[k] * np.tanh(z)

    def least(self, k):
        return self.loss(k, self.centers[k])

    def optimum(self, weights):
        found = minimize(lambda v: sum(w * self.loss(k, v) for k, w in enumerate(weights)), self.centers[0],
                         jac=lambda v: sum(w * self.slope(k, v) for k, w in enumerate(weights)), tol=1e-13)
        return self.centers[0] if self.low < 0 else found.x


def values_of(translated, claim, rng):
    """Values of the letters of a translated claim on a random federation of its class."""
    count, dim = int(rng.integers(1, 5)), 2
    convex = "mu_client" in str(claim.hypotheses)
    strongly = any("mu_client" in str(c.left) and c.right != 0 for c in claim.hypotheses)
    losses = Clients(rng, count, dim, CURVATURE if strongly else 0.0 if convex else -LIPSCHITZ)
    procedure = claim.procedure or Procedure(free_clients=True)
    main = rng.random(count) < 0.6 if procedure.free_clients else np.ones(count, bool)
    main[0] = True
    weights = np.ones(count) if procedure.equal_weights else rng.uniform(0.1, 1, count)
    weights /= weights[main].sum()
    counted = ~main & (rng.random(count) < 0.5)
    star = losses.optimum(weights * main)
    local = star + rng.normal(size=(count, dim))
    parts = weights * (main | counted)
    letters = {v.name: rng.normal(size=(count, dim) if v.indices else dim) for v in claim.variables if v.domain == "vector"}
    letters |= {"x_star": star, "x": parts @ local / parts.sum()}
    given = {"weight(all included)": (weights * counted).sum(), "weight(priority)": weights * main,
             "weight(included)": weights * counted, "weight(free)": weights * ~main, "F_star_client": [*map(
                 losses.least, range(count))], "x_local": local} | letters
    numbers = {"clients": count, "L": LIPSCHITZ, "mu": CURVATURE}
    for v in translated.variables:
        if v.name.startswith(("F(", "grad(")):
            text = v.name.partition("(")[2][:-1]
            where = [point(text, letters, local, i) for i in range(count)]
            of = losses.loss if v.name[0] == "F" else losses.slope
            given[v.name] = [of(i, where[i]) for i in range(count)]
        elif " - " in v.name:
            name, _, origin = v.name[1:-1].partition(" - ")
            given[v.name] = (local if name == "x_local" else letters[name]) - point(origin, letters, local, 0)
        elif v.name not in given and not v.indices:
            numbers.setdefault(v.name, float(rng.exponential()))
    sides = [side for c in (*translated.conditions, translated.statement) for side in (c.left, c.right)]
    symbols = {s for side in sides for s in side.free_symbols if s.is_Symbol}
    by_name = given | numbers
    return given | {s: by_name[s.name] for s in symbols if s.name in by_name}


def point(text, letters, local, client):
    at = {name: sp.Symbol(name) for name in letters} | {"x_local": sp.IndexedBase("x_local"), "client": sp.Symbol("client")}
    found = 0
    for v, c in sp.sympify(text, locals=at).as_coefficients_dict().items():
        own = local[int(v.indices[0].subs(at["client"], client))] if isinstance(v, sp.Indexed) else letters[str(v)]
        found = found + float(c) * own
    return found


def broken(claim, rng) -> list[str]:
    """What is said to be known of losses, whatever else is assumed, and does not hold on a random federation."""
    translated, _ = at_points(replace(claim, conditions=()))
    given, found = values_of(translated, claim, rng), []
    for c in translated.conditions:
        count = given["weight(priority)"].shape[0]
        for index in range(count if c.over else 1):
            at = given | {sp.Symbol("client", integer=True): index}
            left, right = value(c.left, at), value(c.right, at)
            slack = 1e-5 * (1 + abs(left) + abs(right))
            if not {"<=": left <= right + slack, "==": abs(left - right) <= slack}[c.relation]:
                found.append(f"{c.left} {c.sign} {c.right}")
    return found


#: losses of one client at the model of another, and gradients at points that depend on directions of gradients
OTHERS = ("fedalign/step-T1@minimum-as-printed", "fedmoswa/eq-106", "fedmoswa/eq-107")


@pytest.mark.parametrize("claim", AT_POINTS, ids=lambda claim: claim.id)
def test_what_is_known_holds_on_random_federations(claim):
    rng = np.random.default_rng(0)
    if claim.id in OTHERS:
        with pytest.raises(NotAtPoints):
            at_points(claim)
    else:
        assert [text for _ in range(3) for text in broken(claim, rng)] == []


def test_a_planted_false_inequality_is_seen(monkeypatch):
    own = losses_at_points._LossFacts._of_two

    def planted(known, one, other):
        yield from own(known, one, other)
        (p, _, g), (q, _, h) = one, other
        yield Condition(norm2(g - h), "<=", known.L * norm2(p - q) / 2)

    monkeypatch.setattr(losses_at_points._LossFacts, "_of_two", planted)
    rng = np.random.default_rng(0)
    assert any(broken(find_claim("fedmoswa/eq-11"), rng) for _ in range(20))


# statements --------------------------------------------------------------------------------------------------------------
p, q, eta = sp.Symbol("p"), sp.Symbol("q"), sp.Symbol("eta", positive=True)
SMOOTH = find_claim("fedmoswa/eq-11").assumptions[0]
CONVEX = find_claim("fedmoswa/eq-11").assumptions[1]
CHANGE = grad(k, p) - grad(k, q)
#: left, right, assumptions, conditions, and a factor with which the right side is too small
STATEMENTS = {
    "descent": (F(k, p), F(k, q) + dot(grad(k, q), p - q) + L / 2 * norm2(p - q), (SMOOTH,), (), None),
    "Lipschitz": (norm(CHANGE), L * norm(p - q), (SMOOTH,), (), "0.99"),
    "coercive": (norm2(CHANGE), L * dot(CHANGE, p - q), (SMOOTH, CONVEX), (), "0.99"),
    "step": (norm(p - q - eta * CHANGE), norm(p - q), (SMOOTH, CONVEX), (Condition(eta, "<=", 2 / L),), "0.99"),
    "infimum": (norm2(grad(k, p)), 2 * L * (F(k, p) - F_star_client[k]), (SMOOTH,), (), "0.99"),
    "growth": (mu / 2 * norm2(p - x_star), objective(p) - F_star, (SMOOTH, CONVEX), (), "0.99"),
    "slope at the optimum": (norm2(Sum(grad(k, x_star), (k, 0, clients - 1))), sp.Integer(0), (SMOOTH,), (), None),
    "smooth at the optimum": (objective(p) - F_star, L / 2 * norm2(p - x_star), (SMOOTH,), (), "0.99"),
}


def claim_of(name, factor=None):
    left, right, assumptions, conditions, _ = STATEMENTS[name]
    every = (each_client,) if k in left.free_symbols | sp.sympify(right).free_symbols else ()
    variables = tuple(Variable(s.name, "vector") for s in (p, q) if left.has(s) or right.has(s))
    variables += (Variable("eta", "positive"),) if left.has(eta) else ()
    statement = Condition(left, "<=", right * sp.Rational(factor or 1), every)
    found = control("at points", "point", statement, assumptions=assumptions, conditions=conditions, variables=variables)
    return replace(found, procedure=Procedure(equal_weights=True))


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_true_statement_is_proven_and_a_sharper_one_is_not(name):
    assert prove(claim_of(name))
    if STATEMENTS[name][-1]:
        assert not prove(claim_of(name, STATEMENTS[name][-1]))


@pytest.mark.parametrize("statement, assumptions", [
    (Condition(norm(CHANGE), "<=", L * norm(p - q), (each_client,)), (CONVEX,)),  # nothing says that losses are smooth
    (Condition(norm2(CHANGE), "<=", L * dot(CHANGE, p - q), (each_client,)), (SMOOTH,)),  # nor that they are convex
    (Condition(F_star_client[k], "<", F(k, p), (each_client,)), (SMOOTH, CONVEX)),  # strict
    (Condition(objective(p), "<=", F_star), (SMOOTH, CONVEX)),
])
def test_a_false_statement_is_not_proven(statement, assumptions):
    variables = tuple(Variable(s.name, "vector") for s in (p, q) if statement.left.has(s) or statement.right.has(s))
    claim = control("false", "point", statement, assumptions=assumptions, variables=variables)
    assert prove(replace(claim, procedure=Procedure(equal_weights=True))) is None


def test_a_loss_at_the_model_of_another_client_is_not_one_at_its_own():
    own = find_claim("fedalign/lemma-A2")
    i, t = sp.Symbol("i", integer=True, nonnegative=True), own.statement.over[0][0]
    swapped = own.statement.right.xreplace({F_star_client[k]: F_star_client[i]}).replace(F, lambda _, v: F(i, v))
    statement = replace(own.statement, right=swapped, over=(*own.statement.over, (i, 0, clients - 1)))
    assert swapped.has(i, t) and prove(own) and prove(replace(own, statement=statement)) is None


# sums of multiples -------------------------------------------------------------------------------------------------------
s, t = sp.symbols("s t", real=True)
a, b = sp.symbols("a b", positive=True)
CERTAIN = (lambda e: bool(sp.sympify(e).is_nonnegative), lambda e: bool(sp.sympify(e).is_positive))


@pytest.mark.parametrize("gap, known, found", [
    (a * s + b * t, [(s, False), (t, False)], [0, 1]),
    (a * s - b * t, [(s, False), (t, False)], None),
    (a * s - b * t, [(s, False), (t, True)], [0, 1]),  # t = 0
    (s / a, [(s, False)], [0]),
    ((a - b) * s, [(s, False)], None),  # the sign of a - b is not known
    (s / (a - b), [(s, False)], None),
    (s - 1, [(s, False)], None),
    (s**2 + a, [(s**2, False)], [0]),
])
def test_multiples(gap, known, found):
    assert multiples(gap, known, [], [s, t], *CERTAIN) == found
