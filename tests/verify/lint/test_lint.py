"""What is found wrong with a claim without running anything, and that nothing is found where nothing is wrong."""

import json
from dataclasses import replace

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds.formulas.units import check_units, parse_unit, unit_text
from bounds.language.claim import Claim, Condition, Procedure, Variable
from bounds.language.operators import (
    F_star,
    L,
    Max,
    clients,
    dot,
    eta_l,
    grad,
    k,
    local_steps,
    mu,
    norm2,
    objective,
    objective_grad,
    rounds,
    sigma_sq,
    x_local,
    x_round,
    x_star,
)
from bounds.registry.claims import all_claims, find_claim
from bounds.registry.papers import claims_of_paper
from tests.not_empty import if_any, not_empty
from verify.lint.lint import lint, lint_all
from verify.prove.illposed import conflict
from verify.prove.satisfiable import satisfiable

a, b, c = sp.symbols("a b c", positive=True)
C = sp.Symbol("C", positive=True)
ETA = sp.Symbol("eta", positive=True)
T = rounds


def claim(left, relation, right, *conditions, variables=("a", "b", "c", "eta"), hidden=(), **more):
    declared = [Variable(n, "positive") for n in variables] + [Variable(n, "hidden") for n in hidden]
    names = {s.name for e in (left, right) for s in sp.sympify(e).free_symbols}
    used = names | {s.name for con in conditions for e in (con.left, con.right) for s in e.free_symbols}
    base = {"kind": "theorem", "setting": "run", "source": "a textbook"} | more
    return Claim("test/claim", "1", base.pop("kind"), base.pop("setting"), Condition(left, relation, right),
                 conditions=conditions, variables=tuple(v for v in declared if v.name in used), **base)


GAP, DISTANCE = objective(x_round[T]) - F_star, norm2(x_round[0] - x_star)
Y, SLOPE = x_local[0, 0], grad(0, x_local[0, 0])


# units -------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("text", "unit"), [
    ("1", (0, 0)), ("loss", (1, 0)), ("parameter^2", (0, 2)), ("(loss/parameter)^2", (2, -2)), ("loss/parameter^2", (1, -2)),
    ("parameter^2/loss", (-1, 2)), ("floats", None),
])
def test_units_in_words(text, unit):
    assert parse_unit(text) == unit
    if unit is not None:
        assert parse_unit(unit_text(parse_unit(text))) == unit


RIGHT = {
    "gradient descent": claim(GAP, "<=", L * DISTANCE / (2 * T)),
    "noise": claim(GAP, "<=", DISTANCE / (eta_l[0] * T) + eta_l[0] * sigma_sq),
    "smoothness": claim(norm2(objective_grad(x_round[0])), "<=", 2 * L * (objective(x_round[0]) - F_star)),
    "arithmetic and geometric mean": claim(dot(Y, SLOPE), "<=", norm2(Y) / (2 * eta_l[0]) + eta_l[0] * norm2(SLOPE) / 2),
    "zero has every unit": claim(GAP, ">=", 0),
    "exponents that add up to one": claim(GAP, "<=", (L * DISTANCE) ** (1 / (1 + a)) * GAP ** (a / (1 + a))),
    "a ratio in an exponent": claim(GAP, "<=", sp.exp(-mu * T / L) * L * DISTANCE),
}
WRONG = {
    "gradient descent": claim(GAP, "<=", DISTANCE / (2 * T)),
    "noise": claim(GAP, "<=", DISTANCE / (eta_l[0] * T) + sigma_sq),
    "smoothness": claim(norm2(objective_grad(x_round[0])), "<=", 2 * (objective(x_round[0]) - F_star)),
    "arithmetic and geometric mean": claim(dot(Y, SLOPE), "<=", eta_l[0] * norm2(Y) / 2 + norm2(SLOPE) / (2 * eta_l[0])),
    "a curvature and a step": claim(GAP, "<=", L * DISTANCE / T, Condition(eta_l[0], "<=", L)),
    "a constant in an exponent": claim(GAP, "<=", sp.exp(-mu * T) * L * DISTANCE),
    "a maximum of two kinds": claim(GAP, "<=", Max(L, mu**2) * DISTANCE),
    "a dimensional base": claim(GAP, "<=", L**T * DISTANCE),
    "exponents that add up to two": claim(GAP, "<=", (L * DISTANCE) ** (1 / (1 + a)) * GAP ** ((1 + 2 * a) / (1 + a))),
}


@pytest.mark.parametrize("row", RIGHT)
def test_consistent_units_are_not_complained_of(row):
    assert check_units(RIGHT[row])[0] == []


def test_a_free_number_may_be_an_exponent():
    b, x = sp.symbols("b x", real=True)
    own = claim(0, "<=", b ** (2 * x), variables=(), setting="algebra")
    own = replace(own, variables=(Variable("b", "real"), Variable("x", "real")))
    assert check_units(own)[0] == []


def test_a_number_of_the_claim_is_not_the_vector_of_that_name():
    x = sp.Symbol("x", positive=True)
    for domain, clashes in (("positive", 0), ("vector", 1)):
        own = replace(claim(sp.exp(x) if domain == "positive" else norm2(x), ">=", 1 + x if domain == "positive" else L),
                      setting="algebra", variables=(Variable("x", domain),))
        assert len(check_units(own)[0]) == clashes


@pytest.mark.parametrize("row", WRONG)
def test_clashing_units_are_found(row):
    assert check_units(WRONG[row])[0]
    assert any(f.check == "units" and f.severity == "error" for f in lint(WRONG[row]))


@pytest.mark.parametrize(("right", "groups", "fixed", "alike_if"), [
    (L * DISTANCE + DISTANCE / eta_l[0] + sigma_sq, [2, 1], False, "curvatures"),
    (L * DISTANCE * (1 + eta_l[0]), [1, 1], True, "curvatures"),
    (objective(x_round[0]) * Max(1, norm2(SLOPE)), [1, 1], True, "gradients"),
    (DISTANCE + sigma_sq + L, [1, 1, 1], False, ""),
])
def test_one_slip_is_told_once_with_the_terms_by_unit(right, groups, fixed, alike_if):
    (clash,) = check_units(claim(0 * L, "<=", right))[0]
    assert sorted(len(terms) for _, terms in clash.groups) == sorted(groups)
    assert (clash.fixed_units, clash.alike_if) == (fixed, alike_if)


@pytest.mark.parametrize(("more", "severity"), [
    ({}, "error"), ({"explicit": False, "constants_may_use": ()}, "warning"), ({"explicit": False}, "note")])
def test_constants_that_may_depend_on_the_problem_carry_units(more, severity):
    order = claim(GAP, "<=", C * (L * DISTANCE / T + 2 * DISTANCE / T**2), **more)
    assert [f.severity for f in lint(order) if f.check == "units"][:1] == [severity]


def test_a_number_that_stands_for_a_quantity_is_no_error():
    (found,) = [f for f in lint(claim(GAP, "<=", L * DISTANCE / T, Condition(eta_l[0], "<=", 1 / T))) if f.check == "units"]
    assert found.severity == "warning" and found.data["fixed units"]


@pytest.mark.parametrize(("hypotheses", "severity"), [
    ([Condition(DISTANCE, "==", 2)], "warning"), ([Condition(DISTANCE, "<=", norm2(x_star))], "error")])
def test_units_that_a_hypothesis_presumes_are_no_error_of_the_statement(hypotheses, severity):
    found = [f for f in lint(claim(GAP, "<=", L / 3, *hypotheses)) if f.check == "units"]
    assert {f.severity for f in found} == {severity}


def test_what_claims_of_one_paper_share_is_told_once():
    shared = Condition(eta_l[0], "<=", L)
    claims = [replace(claim(GAP, "<=", n * L * DISTANCE, shared), id=f"{paper}/claim-{n}")
              for paper in ("test", "other") for n in (1, 2, 3)]
    found = [f for f in lint_all(claims) if f.check == "units"]
    assert [f.claim for f in found] == ["test/claim-1", "other/claim-1"]
    assert found[0].data["claims"] == ["test/claim-1", "test/claim-2", "test/claim-3"]


def test_units_of_constants_are_derived():
    clashes, derived = check_units(claim(GAP, "<=", a * DISTANCE + b / T + c * eta_l[0]))
    assert clashes == [] and {n: unit_text(u) for n, u in derived.items()} == {
        "a": "loss/parameter^2", "b": "loss", "c": "loss^2/parameter^2"}
    hidden = claim(GAP, "<=", C * DISTANCE, hidden=("C",), explicit=False)
    assert [f.data for f in lint(hidden) if f.check == "units"] == [{"constant": "C", "unit": "loss/parameter^2"}]


@settings(max_examples=50, deadline=None)
@given(st.integers(-3, 3), st.integers(-3, 3), st.integers(1, 4))
def test_units_of_powers(p, q, n):
    """C with L^p eta^q C^n of unit loss: the unit follows, and putting it in clashes with nothing."""
    _, derived = check_units(claim(GAP, "<=", L**p * eta_l[0] ** q * a**n))
    loss, parameter = derived["a"]
    assert (p - q + n * loss, -2 * p + 2 * q + n * parameter) == (1, 0)


#: what the print itself adds up; every other formula of these papers has one unit
KNOWN = {"fedalign/step-T4@text-substitution", "fedalign/step-T14@26b-equality", "fedalign/step-eq37",
         "fedalign/step-eq37@local-at-aggregation", "fedalign/step-eq37@local-every-step"}


@pytest.mark.parametrize("paper", ["fedalign", "li2020", "classical"])
def test_formulas_of_these_papers_have_one_unit(paper):
    assert {i for i, c in claims_of_paper(paper).items() if check_units(c)[0]} == KNOWN & set(claims_of_paper(paper))


# satisfiability ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("conditions", "answer"), [
    ([Condition(a, "<=", 1 / (8 * b)), Condition(a * b, ">=", sp.Rational(1, 8))], "yes"),
    ([Condition(a, "<=", 1 / (8 * b)), Condition(a * b, ">=", sp.Rational(1, 7))], "no"),
    ([Condition(a**2, "==", 2)], "yes"),
    ([Condition(sp.sqrt(a), ">=", 3), Condition(a, "<=", 8)], "no"),
    ([Condition(Max(a, b), "<=", 1), Condition(a + b, ">=", 3)], "no"),
    ([Condition(a, "<=", -b)], "no"),
    ([Condition(sp.exp(a), "<=", b)], "unknown"),
])
def test_conditions_together(conditions, answer):
    found = satisfiable(conditions)
    assert found.answer == answer
    assert bool(found.witness) == (answer == "yes") and bool(found.core) == (answer == "no")


def test_a_core_names_only_what_is_needed():
    conditions = [Condition(c, "<=", 5), Condition(a, ">=", 2 * b), Condition(a, "<=", b)]
    assert set(satisfiable(conditions).core) == {"a >= 2*b", "a <= b", "b > 0"}


# everything ----------------------------------------------------------------------------------------------------------------
def checks(of):
    return {(f.check, f.severity) for f in lint(of) if f.severity != "note"}


@pytest.mark.parametrize("row", RIGHT)
def test_nothing_is_found_in_textbook_statements(row):
    assert checks(RIGHT[row]) == set()


D0_sq = sp.Symbol("D0_sq", nonnegative=True)
FAULTS = {
    "conditions that exclude each other": (
        claim(GAP, "<=", a * L * DISTANCE, Condition(a, "<=", b / 2), Condition(a, ">=", b)), ("hypotheses", "error")),
    "an index that nothing binds": (claim(norm2(x_local[0, k]), "<=", DISTANCE), ("symbols", "error")),
    "a symbol from nowhere": (claim(GAP, "<=", sp.Symbol("q") * L * DISTANCE), ("symbols", "warning")),
}


@pytest.mark.parametrize("row", FAULTS)
def test_planted_faults_are_found(row):
    wrong, expected = FAULTS[row]
    assert expected in checks(wrong)


def test_assumptions_that_exclude_each_other_are_an_error_with_the_proof():
    """As the referee decides, for every claim that it is asked about."""
    found = {name: conflict(one) for name, one in list(claims_of_paper("fedmoswa").items())[::20] + [
        (name, find_claim(name)) for name in ("fedmoswa/theorem-5.1-strongly-convex-fedswa", "fedalign/theorem-1")]}
    assert found["fedmoswa/theorem-5.1-strongly-convex-fedswa"] is not None and found["fedalign/theorem-1"] is None
    for name, reason in found.items():
        errors = [f for f in lint(find_claim(name)) if f.check == "hypotheses" and f.severity == "error"]
        assert bool(errors) == (reason is not None)
        assert reason is None or (reason.proof in errors[0].text and errors[0].data["core"] == list(reason.parts))


@pytest.mark.parametrize("conditions", [
    [Condition(a, "<=", 1 / (8 * b)), Condition(b, ">=", 3)], [Condition(ETA, "<=", 1 / (2 * L * local_steps))],
    [Condition(2 * T, "==", 3 * local_steps)], [Condition(a, ">=", sp.sqrt(b)), Condition(b, ">=", 2)],
    [Condition(sp.exp(a), "<=", b), Condition(b, "<=", 3)], [Condition(a**T, "<=", sp.Rational(1, 7))],
    [Condition(sigma_sq, ">", 0), Condition(a, "<=", 1)],
], ids=str)
def test_conditions_come_with_numbers_that_meet_them(conditions):
    (found,) = [f for f in lint(claim(GAP, "<=", a * b * ETA * L * T * DISTANCE, *conditions)) if "witness" in f.data]
    witness = found.data["witness"]
    assert found.severity == "note" and all(f"{name} = {value}" in found.text for name, value in witness.items())
    for condition in conditions:
        sides = [side.xreplace({s: sp.Rational(witness[s.name]) for s in side.free_symbols})
                 for side in (condition.left, condition.right)]
        assert {"<=": sp.Le, ">=": sp.Ge, "==": sp.Eq, "<": sp.Lt, ">": sp.Gt}[condition.sign](*sides) == sp.true
    for s in set().union(*(side.free_symbols for c in conditions for side in (c.left, c.right))):
        assert not s.is_integer or sp.Rational(witness[s.name]).is_integer


def test_a_witness_lies_within_the_claim_s_domain():
    """Trackers are clients, a variable has a range, and an index lies within that of the statement."""
    trackers, i = sp.Symbol("trackers", integer=True, positive=True), sp.Symbol("i", integer=True, positive=True)
    powers = Condition(a**trackers, "<=", clients), Condition(b**i, "<=", 99 * clients)  # which z3 cannot read
    conditions = *powers, Condition(clients, "<=", 5)
    one = replace(claim(GAP, "<=", a * b * i * L * DISTANCE, *conditions),
                  variables=(Variable("a", "nonnegative", below=1), Variable("b", "integer", low=3, high=4)))
    one = replace(one, statement=replace(one.statement, over=((i, 2, clients),)))
    (found,) = [f for f in lint(one) if "witness" in f.data]
    at = {name: sp.Rational(value) for name, value in found.data["witness"].items()}
    assert at["trackers"] <= at["clients"] and at["a"] <= 1 and 3 <= at["b"] <= 4 and 2 <= at["i"] <= at["clients"]


def test_the_claims_of_one_paper_have_witnesses():
    found = [f for one in list(claims_of_paper("li2020").values()) for f in lint(one) if f.check == "hypotheses"]
    assert found and all(f.data["witness"] for f in found)


def test_a_start_that_is_left_open_is_no_mistake_in_a_method_s_options():
    options = (("variant", "fresh"), ("start", "free"))
    one = replace(claim(GAP, "<=", L * D0_sq), procedure=Procedure("fedmoswa", options=options))
    assert [f for f in if_any(lint(one)) if f.check == "symbols"] == []


@pytest.mark.parametrize("claims", [
    pytest.param(slice(None), marks=pytest.mark.slow, id="all"), pytest.param(slice(None, None, 8), id="every eighth")])
def test_every_claim_can_be_linted(claims):
    found = lint_all(list(all_claims().values())[claims])
    assert all(f.claim in all_claims() and f.text for f in not_empty(found))
    json.dumps([f.data for f in found])


def test_the_command(run):
    status, said, _ = run("lint", "fedalign/step-T4@text-substitution")
    assert status == 1 and "units" in said and "1 claim: 1 error, 0 warnings, 0 notes" in said
    status, said, _ = run("lint", "li2020/theorem-3", "--json")
    assert status == 0 and {f["check"] for f in json.loads(said)} == {"hypotheses"}
    status, said, _ = run("lint", "li2020/theorem-3", "--severity", "warning", "--json")
    assert status == 0 and json.loads(said) == []
    assert run("lint", "li2020/theorem-3", "--severity", "warning") == (0, "1 claim: nothing was found\n", "")
    status, _, error = run("lint")
    assert status == 2 and "got nothing" in error
    status, _, error = run("lint", "--all", "--severity", "bad")
    assert status == 2 and "allowed: error, warning, note" in error
