"""Points, witnesses and figures of compared bounds are those that both claims admit, checked claim by claim."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import sympy as sp

from bounds.formulas.units import unit_of_sides
from bounds.language import operators
from bounds.language.claim import HOLDS, names_in
from bounds.registry.claims import all_claims, find_claim
from bounds.registry.user_claims import load_claims
from verify.formulas.bound import bound_of
from verify.formulas.dominance import Space, where_below
from verify.formulas.figures import bounds_around

FILE = """
[[claim]]
id = "gd/convex"
assume = ["L_client[k] <= L for k in 0..clients-1"]
conditions = ["eta_l[t] == 1/L for t in 0..iterations-1", "local_steps == 1"]
statement = "objective(x[rounds]) - F_star <= L*norm2(x[0]-x_star)/(2*rounds)"

[[claim]]
id = "gd/many-steps"
conditions = ["local_steps >= 2", "local_steps <= 5"]
statement = "objective(x[rounds]) - F_star <= L*norm2(x[0]-x_star)/(3*local_steps*rounds)"

[[claim]]
id = "gd/shares"
definitions = {"part_of[t]" = "1/(1 + Sum(included[t, k]*client_weight[k], (k, 0, clients-1)))"}
statement = "objective(x[rounds]) - F_star <= L*Sum(E(part_of[t]), (t, 0, rounds-1))/rounds"

[[claim]]
id = "gd/flat"
statement = "objective(x[rounds]) - F_star <= 3*L"

[[claim]]
id = "gd/step"
variables = {gamma = "positive", a = "nonnegative below 1"}
conditions = ["gamma == 1/(4*L)", "a*L <= 2"]
statement = "objective(x[rounds]) - F_star <= norm2(x[0]-x_star)/(gamma*rounds) + a"

[[claim]]
id = "gd/any-step"
variables = {gamma = "positive"}
statement = "objective(x[rounds]) - F_star <= norm2(x[0]-x_star)/(4*gamma*rounds) + gamma*L**2"

[[claim]]
id = "gd/near"
variables = {R = "positive"}
conditions = ["norm2(x[0] - x_star) <= R**2"]
statement = "objective(x[rounds]) - F_star <= norm2(x[0] - x_star)*L"

[[claim]]
id = "gd/far"
variables = {R = "positive"}
statement = "objective(x[rounds]) - F_star <= R**2*L"
"""


@pytest.fixture(scope="module")
def bounds(tmp_path_factory):
    path = tmp_path_factory.mktemp("claims") / "gd.toml"
    path.write_text(FILE)
    return {claim.id.removeprefix("gd/"): bound_of(claim) for claim in load_claims(path)} | {
        "classical": bound_of(find_claim("classical/gd-convex"))}


def broken(claim, point) -> list[str]:
    """The hypotheses, domains and ties of a claim that exact numbers violate, read off the claim by itself."""
    numbers = {name: sp.Rational(str(value)) for name, value in point.items()}
    found = [f"{v.name}: {v}" for v in claim.variables if v.name in numbers and not v.indices and not _in_domain(
        v, numbers[v.name])]
    plain = [c for c in claim.hypotheses if not any(side.has(sp.Indexed, sp.Function, operators.Operator) for side in (
        c.left, c.right))]
    for c in plain:  # what the claim defines and the point does not say
        if c.relation == "==" and c.left.is_Symbol and c.left.name not in numbers and names_in(c.right) <= numbers.keys():
            numbers[c.left.name] = _value(c.right, numbers)
    for c in plain:
        known = names_in(c.left) | names_in(c.right) <= numbers.keys() and not c.over
        if known and not HOLDS[c.sign](_value(c.left, numbers), _value(c.right, numbers)):
            found.append(f"{c.left} {c.sign} {c.right}")
    one_run = claim.setting == "run" and {"iterations", "rounds", "local_steps"} <= numbers.keys()
    if one_run and numbers["iterations"] != numbers["rounds"] * numbers["local_steps"]:
        found.append("iterations == rounds*local_steps")
    return found


def _value(side, numbers):
    return side.xreplace({s: numbers[s.name] for s in side.free_symbols}).doit()


def _in_domain(variable, value) -> bool:
    if variable.domain == "integer":
        return value.is_integer and variable.low <= value and (variable.high is None or value <= variable.high)
    sign = {"positive": value > 0, "nonnegative": value >= 0}.get(variable.domain, True)
    return bool(sign) and (variable.below is None or value < variable.below)


def points_of(found) -> list[dict]:
    return [witness["parameters"] for witness in (found.below, found.above) if witness]


# the kinds ---------------------------------------------------------------------------------------------------------------
def test_a_claim_about_one_local_step_is_compared_at_one(bounds):
    found = where_below(bounds["convex"], bounds["classical"])
    assert found.answer == "never" and found.above["parameters"]["local_steps"] == "1"
    assert Fraction(found.above["first"]) == Fraction(1, 2) and Fraction(found.above["second"]) == Fraction(1, 6)


@pytest.mark.parametrize("against", ["rounds", "iterations"])
def test_curves_of_a_run_grow_with_rounds_and_iterations_together(bounds, against):
    pair = bounds["convex"], bounds["classical"]
    (axes,) = bounds_around(pair, where_below(*pair), against).axes
    first, second = [line for line in axes.lines if line.get_linestyle() == "-" and len(line.get_xdata()) > 3]
    x, one, two = (np.asarray(values, dtype=float) for values in (first.get_xdata(), first.get_ydata(), second.get_ydata()))
    np.testing.assert_allclose(one, 1 / (2 * x))
    np.testing.assert_allclose(two, 1 / (4 * x + 2))


def test_claims_that_exclude_each_other_are_undecided(bounds):
    for pair in (("convex", "many-steps"), ("many-steps", "classical")):
        found = where_below(*(bounds[name] for name in pair))
        assert found.answer == "undecided" and not points_of(found)
        assert "no parameters were found" in found.text()


def test_a_sum_has_as_many_terms_as_its_range(bounds):
    """Each share is at most 1, so that their mean never reaches 3."""
    found = where_below(bounds["shares"], bounds["flat"])
    assert found.answer == "always" and not found.above


def test_a_number_that_one_claim_defines_has_that_value_in_both(bounds):
    """With gamma = 1/(4 L) the first is 4 L D/R + a, the second L D/R + L/4."""
    found = where_below(bounds["step"], bounds["any-step"])
    assert points_of(found)
    for point in points_of(found):
        assert Fraction(point["gamma"]) == 1 / (4 * Fraction(point["L"]))
        assert not broken(bounds["step"].claim, point) and not broken(bounds["any-step"].claim, point)


def test_a_condition_on_a_measured_quantity_counts(bounds):
    assert where_below(bounds["near"], bounds["far"]).answer == "always"


def test_a_bound_is_not_evaluated_where_its_claim_says_nothing(bounds):
    given = {"L": 1.0, "D0_sq": 1.0, "rounds": 3.0}
    assert bounds["convex"].unmet(**given, local_steps=4.0) == [
        "needs local_steps == 1; got local_steps = 4, allowed: 1"]
    assert bounds["classical"].unmet(L=1.0, D0_sq=1.0, rounds=3.0, local_steps=1.0, iterations=7.0) == [
        "needs iterations == local_steps*rounds; got iterations = 7, allowed: 3"]
    with pytest.raises(ValueError, match=r"local_steps must be a whole number from 1 to 1; got 4"):
        bounds["classical"].check({"local_steps": 4})
    with pytest.raises(ValueError, match=r"a must be a number from 0 below 1; got 1"):
        bounds["step"].check({"a": 1})


# every pair --------------------------------------------------------------------------------------------------------------
def comparable():
    """Pairs of registered claims about runs whose bounds share most parameters, one of every so many."""
    found = []
    for claim in all_claims().values():
        if claim.setting == "run" and claim.statement is not None and claim.explicit and claim.kind in (
                "theorem", "control"):
            try:
                bound = bound_of(claim)
            except ValueError:
                continue
            if 1 < len(bound.parameters) < 12:
                found.append(bound)
    units = {bound.claim.id: unit_of_sides(bound.claim) for bound in found}
    pairs = [(a.claim.id, b.claim.id) for a, b in combinations(found, 2)
             if len({*a.parameters} & {*b.parameters}) >= 3 and a.claim.paper != b.claim.paper
             and units[a.claim.id] == units[b.claim.id]]
    return pairs[:: max(1, len(pairs) // 60)]


PAIRS = comparable()


@pytest.mark.parametrize("pair", [
    pair if number % 10 == 0 else pytest.param(pair, marks=pytest.mark.slow) for number, pair in enumerate(PAIRS)],
    ids=" and ".join)
def test_both_claims_admit_every_witness_and_every_point_of_its_curves(pair):
    both = tuple(bound_of(find_claim(name)) for name in pair)
    found = where_below(*both)
    space = Space(both, {})
    for point in points_of(found):
        for bound in both:
            assert not broken(bound.claim, point), (point, broken(bound.claim, point))
        exact = {name: Fraction(value) for name, value in point.items()}
        for against in {"rounds", "iterations", "local_steps", "L"} & point.keys():
            start = exact["local_steps"] if against == "iterations" and space.tied else 1
            x = np.array([float(start * n) for n in (1, 2, 5, 9)] + [float(exact[against])])
            values, admitted = space.along(exact, against, x)
            assert admitted[-1], (against, point)
            for place in np.flatnonzero(admitted):
                here = {name: Fraction(float(values[name][place])).limit_denominator(10**9) for name in point}
                loose = [text for bound in both for text in broken(bound.claim, here) if "==" not in text]
                assert not loose or _within_rounding(both, here), (against, here, loose)
    assert found.answer in ("always", "never", "depends", "equal", "undecided")


def _within_rounding(both, here) -> bool:
    """Whether all broken conditions are equalities of both sides up to float64."""
    numbers = {name: float(value) for name, value in here.items()}
    for bound in both:
        for c in bound.conditions:
            if names_in(c.left) | names_in(c.right) <= numbers.keys():
                left, right = (float(side.subs({s: numbers[s.name] for s in side.free_symbols}))
                               for side in (c.left, c.right))
                if not HOLDS[c.sign](left, right) and not np.isclose(left, right, rtol=1e-6):
                    return False
    return True


def test_there_are_pairs_with_witnesses():
    assert len(PAIRS) >= 50
    assert any(points_of(where_below(*(bound_of(find_claim(name)) for name in pair))) for pair in PAIRS[:3])
