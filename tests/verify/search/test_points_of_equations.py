"""Points with fractions on equations, and statements that fail near points that have none."""

from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds.language.claim import Condition
from bounds.registry.user_claims import load_claims
from tests.not_empty import not_empty
from verify.search.budget import BUDGETS
from verify.search.points_of_equations import points_of_equations
from verify.search.search import search

a, b, c = sp.symbols("a b c", real=True)
QUADRICS = {  # an equation, and a point near it
    "circle": ([Condition(a**2 + b**2, "==", 1)], {"a": 0.7071, "b": 0.7071}),
    "hyperbola": ([Condition(a**2 - 2 * b**2, "==", 1)], {"a": 1.4142, "b": 0.7071}),
    "products": ([Condition(a * b + b * c, "==", c**2 - 1)], {"a": 0.23636, "b": 1.1, "c": 1.8}),
    "a sphere in a plane": ([Condition(a**2 + b**2 + c**2, "==", 1), Condition(a + b, "==", c + 1)],
                            {"a": 0.9, "b": 0.35414, "c": 0.25414}),
    "a square that is free": ([Condition(a**2 + 2 * a * b, "==", c)], {"a": 1.234, "b": 2.345, "c": 7.31}),
}


@pytest.mark.parametrize("name", QUADRICS)
def test_points_are_on_the_equations_and_come_nearer(name):
    equations, near = QUADRICS[name]
    points = [*points_of_equations(equations, near)]
    assert len(points) == 4
    for point in points:
        exact = {sp.Symbol(n, real=True): sp.Rational(Fraction(x).limit_denominator(10**6)) for n, x in point.items()}
        assert all((e.left - e.right).subs(exact) == 0 for e in equations)
    assert max(abs(points[-1][n] - near[n]) for n in near) < 0.02


@settings(max_examples=25, deadline=None)
@given(st.floats(0.05, 1.5), st.integers(1, 3))
def test_points_of_circles_are_exact(angle, radius):
    near = {"a": radius * float(sp.cos(angle)), "b": radius * float(sp.sin(angle))}
    for point in not_empty(points_of_equations([Condition(a**2 + b**2, "==", radius**2)], near)):
        x, y = (Fraction(point[n]).limit_denominator(10**6) for n in "ab")
        assert x * x + y * y == radius**2


@pytest.mark.parametrize("equations", [
    [], [Condition(a**3, "==", b)], [Condition(a**2 + b**2, "==", 3)], [Condition(a + b, "==", 1)],
    [Condition(sp.sqrt(a), "==", b)], [Condition(a * b, "==", 1), Condition(a**2, "==", c)]])
def test_other_equations_give_nothing(equations):
    """A circle of radius sqrt(3) has no point with fractions as coordinates."""
    assert [*points_of_equations(equations, {"a": 1.2, "b": 1.2, "c": 1.0})] == []


TIED = """
[[claim]]
id = "mine/tied"
setting = "algebra"
variables = {{a = "positive", b = "positive", c = "positive"}}
conditions = ["{equation}"]
statement = "{statement}"
"""


@pytest.mark.parametrize(("equation", "false", "true"), [
    ("a**2 + b**2 == c**2", "a + b <= 1.414*c", "a + b <= 1.4143*c"),
    ("a**2 + b**2 + c**2 == 1", "a + b + c <= 1.732", "a + b + c <= 1.7321"),
    ("a**2 - 2*b**2 == c**2", "a - b >= 0.7072*c", "a - b >= 0.7071*c"),
])
def test_a_statement_that_fails_at_irrational_numbers_fails_at_fractions_beside_them(equation, false, true, tmp_path):
    for statement, budget in ((false, "standard"), (true, "quick")):
        (tmp_path / "tied.toml").write_text(TIED.format(equation=equation, statement=statement), encoding="utf-8")
        found = search(load_claims(tmp_path / "tied.toml")[0], BUDGETS[budget])
        assert (found.violation is not None) == (statement == false)


EQUATIONS_OF_CONSTANTS = {  # an assumption and conditions: a false statement, and a true one
    ("L_client[k] == L for each k", ""): ("norm(x_round[1] - x_star) <= 9/10*norm(x_round[0] - x_star)",
                                          "norm(grad(k, x_round[0])) <= L*norm(x_round[0] - x_star) for each k"),
    ("L == L_client[k] for each k", ""): ("norm(x_round[1] - x_star) <= 9/10*norm(x_round[0] - x_star)",
                                          "norm(grad(k, x_round[0])) <= L*norm(x_round[0] - x_star) for each k"),
    ("mu_client[k] == mu for each k", '"mu >= 0"'): (
        "norm(x_round[1] - x_star) <= 9/10*norm(x_round[0] - x_star)",
        "norm(grad(k, x_round[0])) >= mu*norm(x_round[0] - x_star) for each k"),
    ("L_client[k] <= L for each k", '"L*eta == 2"'): ("norm(x_round[1] - x_star) <= 9/10*norm(x_round[0] - x_star)",
                                                      "norm(x_round[1] - x_star) <= norm(x_round[0] - x_star)"),
    ("L_client[k] <= L for each k", '"1 == rounds*eta*L"'): ("norm(x_round[1] - x_star) <= 0",
                                                             "norm(x_round[1] - x_star) <= norm(x_round[0] - x_star)"),
}


@pytest.mark.parametrize(("assumption", "conditions"), EQUATIONS_OF_CONSTANTS)
def test_equations_with_constants_of_losses_are_met(assumption, conditions, tmp_path):
    file, verdicts = tmp_path / "own.toml", []
    for statement in EQUATIONS_OF_CONSTANTS[assumption, conditions]:
        file.write_text(f"""[[claim]]
id = "mine/equation"
assume = ["{assumption}", "mu_client[k] >= 0 for each k", "sigma_sq_client[k] <= 0 for each k"]
variables = {{eta = "positive"}}
conditions = ["local_steps == 1", "eta_l[t] == eta for each t", "clients == 1", {conditions}]
statement = "{statement}"
""")
        found = search(load_claims(file)[0], BUDGETS["quick"], 0)
        verdicts.append(found.violation is None and found.met > 0)
    assert verdicts == [False, True]
