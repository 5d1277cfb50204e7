"""Where one bound is below another: known answers, witnesses that can be recomputed, and no answer without grounds."""

import json
from fractions import Fraction

import pytest
import sympy as sp

from bounds.language.claim import Claim, Condition
from bounds.language.operators import L, clients, mu, participants
from bounds.registry.claims import find_claim
from tests.messages import contains_in_order
from verify.formulas.bound import bound_of
from verify.formulas.dominance import where_below

T, s, K = sp.symbols("T sigma K", positive=True)
N = sp.Symbol("N", positive=True, integer=True)


def bound(right, *conditions, name="a"):
    return bound_of(Claim(f"test/{name}", "1", "control", "algebra", Condition(sp.Symbol("left"), "<=", right),
                          conditions=conditions, source="a textbook"))


ROWS = {
    "a term dropped": (s / T, s / T + K, "always", "one sign"),
    "the other way round": (s / T + K, s / T, "never", "one sign"),
    "the same in another form": ((s + K) / T, s / T + K / T, "equal", "zero"),
    "a maximum in both": (s / (T + sp.Max(K, s)), 2 * s / (T + sp.Max(K, s)), "always", "one sign"),
    "rates that cross": (1 / sp.sqrt(T), K / T, "depends", ""),
    "a narrow region": (s + K, sp.Rational(201, 100) * sp.sqrt(s * K), "depends", ""),
    "arithmetic and geometric mean": (sp.sqrt(s * K), (s + K) / 2, "always", "z3"),
    "mu is at most L": (mu / L, sp.S(2) * L / mu, "always", "z3"),
    "fewer participants than clients": (1 / clients, 1 / participants, "always", "z3"),
    "integers start at one": (1 / N**2, 1 / N, "always", "z3"),
}


@pytest.mark.parametrize("row", ROWS)
def test_known_answers(row):
    first, second, answer, proof = ROWS[row]
    found = where_below(bound(first), bound(second, name="b"))
    assert found.answer == answer and proof in found.proof
    assert bool(found.below) == (answer in ("always", "depends")) and bool(found.above) == (answer in ("never", "depends"))
    for witness, sign in ((found.below, -1), (found.above, 1)):
        if witness:
            values = {name: sp.Rational(value) for name, value in witness["parameters"].items()}
            one, two = (sp.sympify(f).subs({p: values[p.name] for p in f.free_symbols}) for f in (first, second))
            assert sign * (one - two) > 0 and str(one) == witness["first"] and str(two) == witness["second"]


def test_conditions_narrow_the_space():
    free = where_below(bound(s), bound(K, name="b"))
    tied = where_below(bound(s, Condition(s, "<=", K)), bound(K, name="b"))
    assert free.answer == "depends" and tied.answer == "always"


def test_parameters_may_be_fixed():
    first, second = bound(1 / sp.sqrt(T)), bound(K / T, name="b")
    assert where_below(first, second, {"K": 1}).answer == "depends"
    assert where_below(first, second, {"K": Fraction(1, 10), "T": 100}).answer == "never"
    with pytest.raises(ValueError, match="parameter 'q'; allowed: K, T"):
        where_below(first, second, {"q": 1})
    with pytest.raises(ValueError, match=r"^K .*positive .*; got -1"):
        where_below(first, second, {"K": -1})


def test_nothing_meets_conditions_that_exclude_each_other():
    found = where_below(bound(s, Condition(s, ">=", 2)), bound(K * s, Condition(s, "<=", 1), name="b"))
    assert found.answer == "undecided" and not found.below and not found.above


def test_the_command(run):
    status, said, _ = run("compare", "li2020/theorem-1", "li2020/theorem-2", "--json")
    (found,) = json.loads(said)
    assert status == 0 and found["answer"] == "always" and found["below"]["parameters"]
    status, said, _ = run("compare", "li2020/theorem-1", "li2020/theorem-2")
    assert status == 0 and contains_in_order(said, "li2020/theorem-1 …never …li2020/theorem-2 (")
    status, _, error = run("compare", "li2020/theorem-1")
    assert status == 2 and "claims; got 1" in error


@pytest.mark.parametrize(("given", "message"), [
    ("L=abc", "L …2, 0.1 …1/3; got 'abc'"), ("L=[1, 2]", "L …2, 0.1 …1/3; got [1, 2]"),
    ("iterations=10.5", "iterations …whole … 1; got 10.5"),
    ("L=-5", "L …positive …; got -5"), ("q=1", "parameter 'q'; allowed: D0_sq"),
])
def test_bad_numbers_of_the_command(run, given, message):
    status, _, error = run("compare", "li2020/theorem-1", "li2020/theorem-2", given)
    assert status == 2 and contains_in_order(error, message)


def test_the_command_draws_the_bounds(run, tmp_path):
    pair = "fedalign/theorem-1", "li2020/theorem-1"
    status, said, _ = run("compare", *pair, "--plot", str(tmp_path / "curves"))
    assert status == 0 and "below at" in said and "above at" in said and (tmp_path / "curves.png").stat().st_size > 5000
    status, _, error = run("compare", *pair, "--plot", str(tmp_path / "none"), "--against", "q")
    assert status == 2 and contains_in_order(error, "'q'; …witness …: D0_sq, G_sq, ")


def test_curves_are_dashed_where_a_condition_fails():
    from verify.formulas.figures import bounds_around

    pair = [bound(K / T, Condition(K, "<=", T)), bound(1 / sp.sqrt(T), name="b")]
    (axes,) = bounds_around(pair, where_below(*pair), "T").axes
    dashed = [x for line in axes.lines if line.get_linestyle() == "--"
              for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True) if y == y]
    width = where_below(*pair).below["parameters"]["K"]
    assert dashed and max(dashed) < sp.Rational(width)


def test_figures_start_at_lengths_that_there_are():
    from verify.formulas.figures import bounds_around

    pair = [bound(1 / N), bound(K / N**2, name="b")]
    (axes,) = bounds_around(pair, where_below(*pair), "N").axes
    drawn = [x for line in axes.lines if line.get_linestyle() != "None" for x in line.get_xdata()]
    assert drawn and min(drawn) >= 1 and all(x == round(x) for x in drawn)


def test_witnesses_are_numbers_that_a_run_can_have():
    """Iterations are rounds times local steps, an empty sum is 0, and F(x_0) - F* <= L/2 |x_0 - x*|^2."""
    pair = bound_of(find_claim("fedalign/theorem-1")), bound_of(find_claim("classical/fedavg-dissimilar-convex"))
    found = where_below(*pair)
    late = where_below(*pair, {"iterations": 6, "local_steps": 2})
    assert found.below and found.above and late.below["parameters"]["rounds"] == "3"
    for witness in (found.below, found.above, late.below, late.above):
        at = {name: Fraction(value) for name, value in witness["parameters"].items()} if witness else {}
        if at:
            assert at["iterations"] == at["rounds"] * at["local_steps"]
            assert at["mu"] * at["D0_sq"] <= 2 * at["F0_gap"] <= at["L"] * at["D0_sq"]
            assert at["iterations"] > 1 or at["sum_mean_chi"] == at["sum_mean_psi"] == 0
    only_one = where_below(*pair, {"iterations": 1})
    for witness in filter(None, (only_one.below, only_one.above)):
        assert {witness["parameters"][name] for name in ("rounds", "local_steps")} == {"1"}
        assert witness["parameters"]["sum_mean_chi"] == "0"
    nothing = where_below(*pair, {"iterations": 1, "sum_mean_chi": 2})
    assert nothing.answer == "undecided"
