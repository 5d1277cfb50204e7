"""Lemmas are proven with what they need to be true, and not without any of it; rewritings that need more are not made."""

import pytest
import sympy as sp

from bounds.controls.fedavg import control
from bounds.language.claim import Condition, Variable
from bounds.language.operators import Sum
from bounds.registry.user_claims import WrongClaims, load_claims
from tests.verify.attack.random_statements import attack_statements
from tests.verify.attack.side_conditions import LEMMAS, broken_at, damaged, lemma
from verify.prove.number_certificates import number_certificate
from verify.prove.satisfiable import Fact, satisfiable

#: true lemmas for which no proof is found that the checker accepts
UNPROVEN = {"the largest of numbers"}

#: lemmas of which nothing false is left: the language has no whole numbers from -1, and what it admits is true
REFUSED = {"the first numbers", "the first squares", "a geometric sum", "a product of one number",
           "a product that telescopes"}

#: variables, conditions, statement: none of them may be proven; where each fails, in words
NOT_PROVEN = {
    "b = -1, x = 1/2": ("b = 'real', x = 'real'", (), "0 <= b**(2*x)"),
    "b = -1, x = 1/2, c = 1": ("b = 'real', x = 'nonnegative', c = 'positive'", (), "c <= c + b**(2*x)"),
    "b = -1": ("b = 'real'", (), "sqrt(b**2) <= b"),
    "n = 0": ("n = 'integer from 0', a = 'positive'", (), "a <= Sum(a/n, (i, 0, n-1))"),
    "n = 40, m = 1": ("n = 'integer from 1', m = 'integer from 1', a = 'positive'", ("n >= 17*m + 23",),
                      "a <= Sum(a/(n - 17*m - 23), (i, 1, n - 17*m - 23))"),
    "n = 0, in an equality": ("n = 'integer from 0', x = 'real'", (), "Sum(x/n, (i, 1, n)) == x"),
    "n = 99, m = 70, y = 0": (
        "n = 'integer from 1', m = 'integer from 13', y = 'real'",
        ("n**2 >= 2*m**2 + 1", "n**2 - 2*m**2 - 1 <= (n**2 - 2*m**2 - 1)*y"),
        "1/(n**2 - 2*m**2 - 1) <= y/(n**2 - 2*m**2 - 1)"),
    "b = 0, n = 0": ("b = 'nonnegative', n = 'integer from 0'", (), "b**n >= b*b**(n - 1)"),
    "i = n": ("n = 'integer from 1'", (), "0 <= 1/(n - i) for i in 0..n"),
    "an entry that is not there": ("n = 'integer from 1', s = 'nonnegative[n]'", (), "0 <= s[n]"),
    "a power of a sum that vanishes": ("x = 'real', y = 'real'", (), "0 <= 1/(x + y)**2"),
    "a real exponent below zero": ("a = 'nonnegative', x = 'real'", (), "0 <= a**x"),
    "a length that vanishes": ("v = 'vector', w = 'vector', b = 'real'", (),
                               "norm(v) <= norm(v + w/b) + norm(w)/Abs(b)"),
    "n = 2, m = 1, of vectors": (
        "n = 'integer', m = 'integer', v = 'vector[n, m]'", (),
        "norm2(Sum(v[i, j], (j, 0, m-1), (i, 0, n-1))) <= m*Sum(norm2(v[i, j]), (j, 0, m-1), (i, 0, n-1))"),
    "n = 2, m = 1, of numbers": (
        "n = 'integer', m = 'integer', v = 'real[n, m]'", (),
        "Sum(v[i, j], (j, 0, m-1), (i, 0, n-1))**2 <= m*Sum(v[i, j]**2, (j, 0, m-1), (i, 0, n-1))"),
    "L = rho, by cases": (
        "eta = 'positive', L = 'positive', rho = 'positive', n = 'integer from 1'", ("eta*rho <= 1", "L <= rho"),
        "(1 - (1 - eta*(rho - L))**n)/(rho - L) <= eta*n"),
    "m = 0, a divisor of an empty sum": (
        "m = 'integer from 0'", (), "Sum(Sum(1/(m + (j-1)*i), (j, 1, m)), (i, 0, 0)) >= 1"),
    "m = 0, a divisor of an empty sum of vectors": (
        "m = 'integer from 0', v = 'vector'", (), "norm2(Sum(Sum(v/(m + i*j), (j, 1, m)), (i, 0, 0))) >= norm2(v)"),
    "m = n, a divisor of an empty sum": (
        "m = 'integer from 0', n = 'integer from 0'", ("m <= n",),
        "Sum(Sum(1/(n - m + i*j), (j, 1, n - m)), (i, 0, 0)) >= 1"),
    "an order of nothing": ("n = 'integer from 0', s = 'nonnegative[n]'", (), "0 <= Max(s[i], (i, 0, n - 1))"),
}


def written(folder, variables, conditions, statement, more=""):
    path = folder / "claim.toml"
    path.write_text(f"[[claim]]\nid = 'mine/lemma'\nsetting = 'algebra'\nvariables = {{{variables}}}\n"
                    f"conditions = {[*conditions]}\nstatement = '''{statement}'''\n{more}", encoding="utf-8")
    return load_claims(path)[0]


@pytest.mark.parametrize("where", NOT_PROVEN)
def test_what_fails_somewhere_is_not_proven(where, tmp_path):
    try:
        claim = written(tmp_path, *NOT_PROVEN[where])
    except WrongClaims as error:
        assert where in ("half a range", "an index with the name of a variable"), f"read as before: {error}"
    else:
        assert number_certificate(claim) is None


@pytest.mark.parametrize("name", LEMMAS)
def test_a_lemma_is_true_and_proven_with_its_side_conditions(name):
    variables, statement, conditions = LEMMAS[name]
    claim = lemma(tuple(variables.items()), statement, conditions)
    assert broken_at(claim) is None
    assert (number_certificate(claim) is None) == (name in UNPROVEN)


@pytest.mark.parametrize("name", LEMMAS)
def test_a_lemma_without_a_side_condition_is_false_and_not_proven(name):
    cases = [*damaged(name)]
    assert bool(cases) == (name not in REFUSED)
    for text, claim, numbers in cases:
        assert number_certificate(claim) is None, f"{text}; it fails at {numbers}"


def test_what_is_proven_of_random_statements_holds():
    """Before, a third of what was proven had no value somewhere."""
    table = attack_statements(120, 0)
    assert table.total("accepted") > 20 and not table.faults, table.faults


def test_there_are_enough_of_them():
    assert len(LEMMAS) >= 80 and len(UNPROVEN) <= 25


N, K = sp.Symbol("n", integer=True, positive=True), sp.Symbol("k", integer=True)


@pytest.mark.parametrize(("variable", "left", "right"), [
    (Variable("n", "integer"), 0, Sum(1, (K, 1, N / 2))),  # n = 1: half a range
    (Variable("k", "positive"), Sum(sp.Abs(K), (K, -3, 1)), Sum(K, (K, -3, 1))),  # an index is no variable of its name
])
def test_what_no_file_may_say_is_not_proven_either(variable, left, right):
    assert number_certificate(control("mine", "algebra", Condition(left, "<=", right), variables=(variable,))) is None


def test_jensen_counts_all_terms_of_a_sum_of_sums(tmp_path):
    """Before, the outer sum was taken for the inner one, so that `m` was enough."""
    statement = "norm2(Sum(v[i, j], (j, 0, m-1), (i, 0, n-1))) <= m*Sum(norm2(v[i, j]), (j, 0, m-1), (i, 0, n-1))"
    claim = written(tmp_path, "n = 'integer', m = 'integer', v = 'vector[n, m]'", (), statement)
    assert number_certificate(claim) is None


# definitions and hypotheses ----------------------------------------------------------------------------------------------
def test_a_quotient_of_definitions_that_cancels_needs_its_divisor(tmp_path):
    own = "definitions = {y = 'x', z = 'x'}\n"
    assert number_certificate(written(tmp_path, "x = 'positive'", (), "y/z <= 1", own))
    assert number_certificate(written(tmp_path, "x = 'real'", (), "y/z <= 1", own)) is None


def test_a_definition_needs_a_value(tmp_path):
    own = "definitions = {y = '1/x'}\n"
    assert number_certificate(written(tmp_path, "x = 'positive'", (), "y*x <= 1", own))
    assert number_certificate(written(tmp_path, "x = 'real'", (), "y*x <= 1", own)) is None


def test_a_hypothesis_shows_that_a_divisor_is_not_zero(tmp_path):
    """Numbers at which a hypothesis has no value do not meet it."""
    assert number_certificate(written(tmp_path, "x = 'real', y = 'real'", ("y <= 1/x",), "(x**2 - 1)/x == x - 1/x"))
    assert number_certificate(written(tmp_path, "x = 'real', y = 'real'", ("y <= x",), "(x**2 - 1)/x == x - 1/x")) is None


# questions to z3 ---------------------------------------------------------------------------------------------------------
x = sp.Symbol("x", real=True)


def test_a_fact_says_nothing_where_its_premise_is_not_met():
    """Before, a root or quotient behind a premise was asked to have a value in any case."""
    for part in (sp.sqrt(x), 1 / (x + 1)):
        fact = Fact("", Condition(part, ">=", 0), (Condition(x, ">=", 0),))
        assert satisfiable([fact, Condition(x, "==", -1)]).answer == "yes"
    assert satisfiable([Condition(sp.sqrt(x), ">=", 0), Condition(x, "<=", -1)]).answer == "no"
