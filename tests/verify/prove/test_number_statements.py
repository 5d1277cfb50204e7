"""True statements about plain numbers and vectors are proven, and no false ones."""


import pytest
import sympy as sp

from bounds.controls.fedavg import control
from bounds.language.claim import Condition, Variable
from bounds.language.operators import Sum, norm, norm2
from bounds.registry.claims import all_claims, find_claim
from bounds.registry.papers import PAPERS
from bounds.registry.user_claims import load_claims
from tests.not_empty import not_empty
from verify.prove.number_certificates import number_certificate
from verify.search.budget import BUDGETS
from verify.search.search import search

i, y, z = sp.Symbol("i", integer=True), sp.Symbol("y"), sp.Symbol("z")


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
    "two numbers on a disc": ((q + a) ** 2, 2, (Condition(q**2 + a**2, "<=", 1),), 1.01),
}


#: true statements for which no proof is found that the checker accepts
UNPROVEN: set[str] = set()


def claim_of(left, right, hypotheses):
    formulas = [sp.sympify(e) for h in hypotheses for e in (h.left, h.right)] + [sp.sympify(left), sp.sympify(right)]
    names = {part.name for formula in formulas for part in formula.free_symbols if part.is_Symbol}
    return control("proven", "algebra", Condition(left, "<=", right), conditions=tuple(hypotheses),
                   variables=tuple(variable for name, variable in VARIABLES.items() if name in names))


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_true_statement_is_proven_and_a_sharper_one_is_not(name):
    left, right, hypotheses, beyond = STATEMENTS[name]
    assert (number_certificate(claim_of(left, right, hypotheses)) is None) == (name in UNPROVEN)
    assert not number_certificate(claim_of(left, right / sp.Rational(str(beyond)), hypotheses))


@pytest.mark.parametrize("name", ["afedpd/lemma-4-hitting@last+K-draws+rounds-below", "afedpd/lemma-4-hitting"])
def test_a_false_step_is_not_proven(name):
    assert number_certificate(find_claim(name)) is None


@pytest.mark.parametrize("paper", PAPERS)
def test_no_counterexample_contradicts_a_proof(paper):
    own = [claim for claim in all_claims().values() if claim.paper == paper and claim.explicit]
    for claim in not_empty(own):
        if claim.setting != "run" and number_certificate(claim):
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
        assert (number_certificate(claim) is None) == (bool(number) or name in UNPROVEN), statement
