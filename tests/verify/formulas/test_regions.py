"""Regions in which one bound is below another: their ends are where the order turns, and maps show both sides."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from bounds.language.claim import Condition
from bounds.registry.claims import find_claim
from tests.verify.formulas.test_dominance import K, N, T, bound, s
from verify.formulas.bound import bound_of
from verify.formulas.dominance import space_of, where_below
from verify.formulas.figures import region_map
from verify.formulas.regions import intervals, map_of, region_text

PAIRS = {
    "rates that cross": (bound(1 / sp.sqrt(T)), bound(K / T, name="b"), {"K", "T"}),
    "a narrow region": (bound(s + K), bound(sp.Rational(201, 100) * sp.sqrt(s * K), name="b"), {"K", "sigma"}),
    "a whole number": (bound(N + s), bound(20 + T, name="b"), {"N", "sigma"}),
    "two stretches": (bound(T), bound(sp.Rational(1, 10) * (T - 3) ** 2 + K / 10**6, name="b"), {"T"}),
    "papers": (*map(bound_of, map(find_claim, ("fedalign/theorem-1", "li2020/theorem-1"))),
               {"Gamma", "sigma_sq", "sum_mean_chi", "sum_mean_psi"}),
}


def difference(pair, numbers):
    one, two = (float(b.values(**{p.name: numbers[p.name] for p in b.form.parameters})) for b in pair)
    return one - two


@pytest.mark.parametrize("row", PAIRS)
def test_the_order_turns_where_it_is_said_to(row):
    *pair, turning = PAIRS[row]
    found = where_below(*pair)
    witness = {name: float(Fraction(value)) for name, value in found.below["parameters"].items()}
    whole = space_of(*pair).whole
    assert found.answer == "depends" and set(found.region) == turning
    for name, parts in found.region.items():
        assert any((low or 0) <= witness[name] <= (high or np.inf) for low, high in parts), "the witness is in one of them"
        for ends in parts:
            for end, way in zip(ends, (-1, 1), strict=True):
                if end is not None:
                    beyond = end + way if name in whole else end * (1 + 1e-6 * way)
                    assert difference(pair, witness | {name: end}) < 0 <= difference(pair, witness | {name: beyond})


def test_stretches_are_told_apart():
    first, second, _ = PAIRS["two stretches"]  # whose roots are apart
    parts = where_below(first, second, {"K": 1}).region["T"]
    (none, low), (high, nothing) = parts
    roots = sorted(float(r) for r in np.roots([0.1, -1.6, 0.9 + 1e-6]))
    assert none is None and nothing is None and np.allclose([low, high], roots, rtol=1e-6)
    assert region_text({"T": parts}).endswith("for T up to 0.5838 or from 15.42")


def test_a_condition_ends_no_stretch():
    pair = bound(s, Condition(s, "<=", 5)), bound(K, name="b")
    ends = intervals(space_of(*pair), {"sigma": "1/2", "K": "2"})
    assert ends["sigma"][0][0] is None and ends["sigma"][0][1] == pytest.approx(2, rel=1e-6)
    ends = intervals(space_of(*pair), {"sigma": "1/2", "K": "6"})
    assert "sigma" not in ends and ends["K"][0][1] is None, "up to 5 it stays below"


def test_a_stretch_may_lie_between_conditions():
    pair = bound(T, Condition((T - 2) * (T - 5), ">=", 0)), bound(sp.S(3), name="b")
    ends = intervals(space_of(*pair), {"T": "1"})
    assert ends == {"T": [(None, None)]} and region_text(ends).endswith("for T as far as the conditions hold")


@pytest.mark.parametrize("row", PAIRS)
def test_maps_show_both_sides_and_their_witness(row):
    *pair, _ = PAIRS[row]
    found = where_below(*pair)
    there = map_of(space_of(*pair), found.below["parameters"], found.above["parameters"])
    assert (there.ratio < 0).any() and (there.ratio > 0).any()
    for name, values in ((there.x, there.xs), (there.y, there.ys)):
        assert values[0] <= float(Fraction(there.witness[name])) <= values[-1]
    (axes,) = region_map(found, there).axes
    assert [text.get_text() for text in axes.texts[:2]] == [f"{name} is smaller" for name in (found.second, found.first)]
    place = len(there.ys) // 3, len(there.xs) // 2
    here = {name: float(Fraction(value)) for name, value in there.witness.items()}
    here |= {there.x: there.xs[place[1]], there.y: there.ys[place[0]]}
    here |= {name: max(1, round(here[name])) for name in space_of(*pair).whole}
    assert np.sign(there.ratio[place]) == np.sign(difference(pair, here)) or np.isnan(there.ratio[place])


def test_a_map_is_over_the_parameter_that_is_asked_for():
    *pair, _ = PAIRS["papers"]
    found = where_below(*pair)
    sides = found.below["parameters"], found.above["parameters"]
    assert map_of(space_of(*pair), *sides, "sigma_sq").x == "sigma_sq"
    lone = bound(T), bound(sp.S(3), name="b")
    found = where_below(*lone)
    assert map_of(space_of(*lone), found.below["parameters"], found.above["parameters"]) is None


def test_the_command_says_and_draws_the_region(run, tmp_path):
    status, said, _ = run("compare", "fedalign/theorem-1", "li2020/theorem-1", "--plot", str(tmp_path / "map.svg"))
    assert status == 0 and "it is below for Gamma from" in said and (tmp_path / "map.png").exists()
    status, _, error = run("compare", "fedalign/theorem-1", "li2020/theorem-1", "--plot", "m.svg", "--against", "q")
    assert status == 2 and "cannot draw against 'q'; the witness has: D0_sq" in error
