"""Ill-posed hypotheses are found in whatever letters they come; sound ones are left alone. Proofs prove what is true."""

import pytest
import sympy as sp

from bounds.controls.fedavg import CLASS, CONTROLS, control
from bounds.language.claim import Assumption, Claim, Condition, Definition, Variable
from bounds.language.functions import f, f_grad, u, v
from bounds.language.operators import G_sq, L, Max, dot, iterations, mu, norm2, sigma_sq, x_sampled, x_star
from bounds.registry.user_claims import load_claims
from tests.not_empty import not_empty
from verify.prove.contradictions import contradiction
from verify.prove.illposed import conflict
from verify.prove.number_certificates import number_certificate
from verify.referee.decide import decide
from verify.referee.referee import Settings

STATEMENT = Condition(norm2(x_sampled[iterations] - x_star), "<=", 1)
SMOOTH, CONVEX, NOISE = CLASS


def printed(name, left, relation, right):
    return Assumption(name, name, for_all_functions=Condition(left, relation, right))


def quadratic(constant, point, argument):
    """f at ``point`` expanded around ``argument`` with the gradient at ``argument``."""
    return f(argument) + dot(point - argument, f_grad(argument)) + constant / 2 * norm2(point - argument)


#: assumptions printed for all u, v -> whether they exclude each other
PRINTED = {
    "smooth": ([printed("S", f(v), "<=", quadratic(L, v, u))], False),
    "smooth, letters exchanged": ([printed("S", f(u), "<=", quadratic(L, u, v))], False),
    "convex": ([printed("C", f(v), ">=", quadratic(mu, v, u))], False),
    "smooth and convex": (
        [printed("S", f(v), "<=", quadratic(L, v, u)), printed("C", f(v), ">=", quadratic(mu, v, u))], False,
    ),
    "smooth and convex, sides exchanged": (
        [printed("S", quadratic(L, v, u), ">=", f(v)), printed("C", quadratic(mu, u, v), "<=", f(u))], False,
    ),
    "convex without a constant": ([printed("C", f(v), ">=", quadratic(0, v, u))], False),
    "Lipschitz gradients": ([printed("S", norm2(f_grad(u) - f_grad(v)), "<=", L**2 * norm2(u - v))], False),
    "swapped smooth and swapped convex": (
        [printed("S", f(v), "<=", f(u) + dot(u - v, f_grad(v)) + L / 2 * norm2(u - v)),
         printed("C", f(v), ">=", f(u) + dot(u - v, f_grad(v)) + mu / 2 * norm2(u - v))], True,
    ),
    "swapped, letters exchanged": (
        [printed("S", f(u), "<=", f(v) + dot(v - u, f_grad(u)) + L / 2 * norm2(v - u)),
         printed("C", f(u), ">=", f(v) + dot(v - u, f_grad(u)) + mu / 2 * norm2(v - u))], True,
    ),
    "swapped sign only": (
        [printed("S", f(v), "<=", f(u) + dot(u - v, f_grad(u)) + L / 2 * norm2(u - v)),
         printed("C", f(v), ">=", f(u) + dot(u - v, f_grad(u)) + mu / 2 * norm2(u - v))], True,
    ),
    "swapped smooth and sound convex": (
        [printed("S", f(v), "<=", f(u) + dot(u - v, f_grad(v)) + L / 2 * norm2(u - v)),
         printed("C", f(v), ">=", quadratic(mu, v, u))], True,
    ),
    "swapped smooth and convex by its constant": (
        [printed("S", f(v), "<=", f(u) + dot(u - v, f_grad(v)) + L / 2 * norm2(u - v)), CONVEX], True,
    ),
    "swapped smooth alone: constants satisfy it": (
        [printed("S", f(v), "<=", f(u) + dot(u - v, f_grad(v)) + L / 2 * norm2(u - v))], False,
    ),
    "swapped convex alone: nothing satisfies it": (
        [printed("C", f(v), ">=", f(u) + dot(u - v, f_grad(v)) + mu / 2 * norm2(u - v))], True,
    ),
}


def claim_with(*assumptions):
    return control("ill-posed", "run", STATEMENT, assumptions=assumptions)


@pytest.mark.parametrize("row", PRINTED)
def test_printed_assumptions(row):
    assumptions, excluded = PRINTED[row]
    found = conflict(claim_with(*assumptions, NOISE))
    assert (found is not None) == excluded
    if excluded:
        assert set(found.parts) <= {a.id for a in assumptions} and "f' = 0" in found.proof


everywhere = Assumption("G", "bounded gradients", everywhere=Condition(norm2(f_grad(u)), "<=", G_sq))
along = Assumption("G", "bounded along the run", (Condition(norm2(x_sampled[0]), "<=", G_sq),))


@pytest.mark.parametrize("assumptions, excluded", [
    ((everywhere, CONVEX), True), ((CONVEX, everywhere), True), ((SMOOTH, CONVEX, NOISE, everywhere), True),
    ((everywhere,), False), ((everywhere, SMOOTH, NOISE), False), ((CONVEX, along), False), (CLASS, False), ((), False),
])
def test_bounded_gradients(assumptions, excluded):
    found = conflict(claim_with(*assumptions))
    assert (found is not None) == excluded
    if excluded:
        assert found.parts == ("G", "control/convex") and " G_sq" in found.proof


def test_nothing_is_proven_of_a_statement_without_a_formula():
    claim = Claim("control/none", "none", "control", "run", None, derivation="none", undefined="no formula is printed")
    assert conflict(claim) is None and contradiction(claim) is None
    verdict = decide(claim, Settings(budget="quick"))
    assert verdict.verdict == "undecided" and claim.undefined in verdict.evidence


@pytest.mark.parametrize("row", CONTROLS, ids=lambda row: row.claim.id)
def test_controls_are_well_posed(row):
    assert conflict(row.claim) is None


#: variables, conditions, statement: whether the statement has a value nowhere where the conditions hold
NOWHERE = {
    "a logarithm": ('a = "real"', ["a <= -1"], "log(a) <= 0", True),
    "a root": ('a = "real"', ["a <= -1"], "sqrt(a) <= 1", True),
    "a divisor": ('a = "real", b = "real"', ["a == b"], "1/(a - b) <= 1", True),
    "a divisor, by two conditions": ('a = "real"', ["a >= 1", "a <= 1"], "1/(a - 1) <= 1", True),
    "a divisor somewhere": ('a = "real"', ["a >= 1"], "1/(a - 1) <= 1", False),
    "a sum without terms": ('a = "real", n = "integer from 0 to 0"', ["a == 0"], "Sum(1/a, (i, 1, n)) <= 1", False),
    "an exponent that is whole": ('a = "real", x = "real"', ["a <= -1", "2*x == 1"], "a**(2*x) <= 1", False),
    "no index": ('a = "real", n = "integer from 0"', ["a == 0"], "1/a <= i for i in 1..n", False),
}


@pytest.mark.parametrize("row", NOWHERE)
def test_a_statement_without_a_value(row, tmp_path):
    variables, conditions, statement, nowhere = NOWHERE[row]
    (tmp_path / "one.toml").write_text(
        f'[[claim]]\nid = "mine/one"\nsetting = "algebra"\nvariables = {{{variables}}}\nconditions = {conditions}\n'
        f'statement = "{statement}"\n', encoding="utf-8")
    (claim,) = load_claims(tmp_path / "one.toml")
    assert conflict(claim) is None and (contradiction(claim) is not None) == nowhere
    verdict = decide(claim, Settings(budget="quick"))
    assert (verdict.verdict == "ill-posed") == nowhere
    assert not nowhere or verdict.evidence.startswith("the statement has a value nowhere")


def test_a_geometric_sum_whose_ratio_is_one():
    """Its closed form would divide by 0: before, this claim was ill-posed."""
    i, y = sp.Symbol("i", integer=True), sp.Symbol("y", positive=True)
    at_one = Condition(y, ">=", 1), Condition(y, "<=", 1)
    total = Condition(sp.Sum(y**i, (i, 0, 2)), "<=", 3)
    assert conflict(fact(y, "<=", 1, "y", (*at_one, total))) is None


# proofs ------------------------------------------------------------------------------------------------------------------
y, z, w, kappa = sp.symbols("y z w kappa")
m, n, i = sp.Symbol("m"), sp.Symbol("n", integer=True), sp.Symbol("i", integer=True)
POSITIVE = {"y": Variable("y", "positive"), "z": Variable("z", "nonnegative"), "m": Variable("m", "integer"),
            "w": Variable("w", "integer", low=3), "q": Variable("q", "real"), "v": Variable("v", "vector")}


def fact(left, relation, right, names="y z", conditions=(), definitions=None):
    return control("fact", "algebra", Condition(left, relation, right), conditions=conditions,
                   variables=tuple(POSITIVE[name] for name in names.split()), definitions=definitions or {})


DEFINED = {"kappa": Definition("kappa", (), 2 * y + 1, "k", "1", "defined")}
#: name -> (claim, whether it must be proved; what is false must not be)
PROOFS = {
    "square of a sum": (fact((y + z) ** 2, "==", y**2 + 2 * y * z + z**2), True),
    "wrong square": (fact((y + z) ** 2, "==", y**2 + y * z + z**2), False),
    "telescoping": (fact(1 / y - 1 / (y + 1), "==", 1 / (y * (y + 1)), "y"), True),
    "telescoping, wrong": (fact(1 / y - 1 / (y + 1), "==", 1 / (y + 1) ** 2, "y"), False),
    "between fractions": (fact(1 / (y + 1), "<=", 1 / y, "y"), True),
    "between fractions, false": (fact(1 / y, "<=", 1 / (y + 1), "y"), False),
    "turned": (fact(y + z, ">=", y), True),
    "turned, false": (fact(y, ">=", y + z), False),
    "equal on both sides": (fact(y * z, "<=", z * y), True),
    "true and false, by the size": (fact(y, "<=", y**2, "y"), False),
    "from a condition": (fact(y, "<=", y**2, "y", (Condition(y, ">=", 1),)), True),
    "condition not enough": (fact(2 * y, "<=", y**2, "y", (Condition(y, ">=", 1),)), False),
    "integers from 1": (fact(m, "<=", m**2, "m"), True),
    "integers from 3": (fact(3 * w, "<=", w**2, "w"), True),
    "integers from 3, false": (fact(4 * w, "<=", w**2, "w"), False),
    "by a definition": (fact(2 * y, "<=", sp.Symbol("kappa"), "y", definitions=DEFINED), True),
    "by a definition, false": (fact(2 * y + 2, "<=", sp.Symbol("kappa"), "y", definitions=DEFINED), False),
    "defined by a condition": (fact(y, "<=", z, "y", (Condition(z, "==", 2 * y),)), True),
    "defined by a condition, false": (fact(z, "<=", y, "y", (Condition(z, "==", 2 * y),)), False),
    "means, by real numbers": (fact(4 * y * z, "<=", (y + z) ** 2), True),
    "means: false": (fact(5 * y * z, "<=", (y + z) ** 2), False),
    "a maximum, by real numbers": (fact(y, "<=", Max(y, z)), True),
    "a condition that is needed": (fact(z, "<=", y, conditions=(Condition(z**2, "<=", y * z),)), True),
    "a real number": (fact(0, "<=", sp.Symbol("q") ** 2, "q"), True),
    "a real number, false": (fact(0, "<=", sp.Symbol("q") ** 3, "q"), False),
    "a variable called gap": (control("fact", "algebra", Condition(sp.Symbol("gap"), "<=", y), variables=(
        Variable("gap", "positive"), POSITIVE["y"])), False),
    "vectors": (fact(0, "<=", norm2(sp.Symbol("v")), "v"), True),
    "vectors, false": (fact(1, "<=", norm2(sp.Symbol("v")), "v"), False),
    "an unknown name": (fact(y, "<=", y + sigma_sq, "y"), False),
    "a denominator of both signs": (fact(0, "<=", 1 / (y - z)), False),
    "both sides negative": (fact(-y - z, "<=", -y), True),
}


@pytest.mark.parametrize("row", PROOFS)
def test_proofs(row):
    claim, provable = PROOFS[row]
    assert (number_certificate(claim) is not None) == provable


@pytest.mark.parametrize("row", [r for r in CONTROLS if r.claim.setting == "algebra"], ids=lambda row: row.claim.id)
def test_false_twins_are_not_proved(row):
    assert all(number_certificate(twin) is None for twin in not_empty(row.twins.values()))
