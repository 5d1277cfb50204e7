"""True statements about losses at points are proven, and no sharper ones."""

from dataclasses import replace

import pytest
import sympy as sp

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
from bounds.registry.claims import find_claim
from verify.prove.number_certificates import number_certificate

each_client = (k, 0, clients - 1)
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


#: true statements for which no proof is found that the checker accepts
UNPROVEN = {"step", "slope at the optimum"}


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_true_statement_is_proven_and_a_sharper_one_is_not(name):
    assert (number_certificate(claim_of(name)) is None) == (name in UNPROVEN)
    if STATEMENTS[name][-1]:
        assert not number_certificate(claim_of(name, STATEMENTS[name][-1]))


@pytest.mark.parametrize("statement, assumptions", [
    (Condition(norm(CHANGE), "<=", L * norm(p - q), (each_client,)), (CONVEX,)),  # nothing says that losses are smooth
    (Condition(norm2(CHANGE), "<=", L * dot(CHANGE, p - q), (each_client,)), (SMOOTH,)),  # nor that they are convex
    (Condition(F_star_client[k], "<", F(k, p), (each_client,)), (SMOOTH, CONVEX)),  # strict
    (Condition(objective(p), "<=", F_star), (SMOOTH, CONVEX)),
])
def test_a_false_statement_is_not_proven(statement, assumptions):
    variables = tuple(Variable(s.name, "vector") for s in (p, q) if statement.left.has(s) or statement.right.has(s))
    claim = control("false", "point", statement, assumptions=assumptions, variables=variables)
    assert number_certificate(replace(claim, procedure=Procedure(equal_weights=True))) is None


def test_a_loss_at_the_model_of_another_client_is_not_one_at_its_own():
    own = find_claim("fedalign/lemma-A2")
    i, t = sp.Symbol("i", integer=True, nonnegative=True), own.statement.over[0][0]
    swapped = own.statement.right.xreplace({F_star_client[k]: F_star_client[i]}).replace(F, lambda _, v: F(i, v))
    statement = replace(own.statement, right=swapped, over=(*own.statement.over, (i, 0, clients - 1)))
    assert swapped.has(i, t) and number_certificate(own) and number_certificate(replace(own, statement=statement)) is None
