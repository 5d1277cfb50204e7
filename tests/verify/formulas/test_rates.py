"""Rates of bounds: those of every claim are what large and small numbers show, and known ones are found."""

import re
from functools import lru_cache

import mpmath
import numpy as np
import pytest
import sympy as sp

from bounds.registry.claims import all_claims
from tests.bounds.each_claim import each_claim
from tests.not_empty import if_any
from verify.formulas.bound import bound_of, ranges_of
from verify.formulas.points import parameter_sets
from verify.formulas.rates import order_in, rates

FAR = (60, 1000)  # powers of ten at which an order is looked at; small coefficients need the second one
SEEN = set()  # formulas with their conditions, each of which is looked at once


@lru_cache(maxsize=64)
def as_function(expression):
    symbols = tuple(sorted(expression.free_symbols, key=str))
    return symbols, sp.lambdify(symbols, expression, "mpmath")


def evaluated(expression, numbers):
    """The value at numbers by name, as mpmath finds it; None where there is none, and of sums and products of many terms."""
    if expression.has(sp.Sum, sp.Product, sp.hyper):
        return None
    try:
        symbols, function = as_function(expression)
        return mpmath.mpf(1) * function(*(numbers[s.name] for s in symbols))
    except (ZeroDivisionError, OverflowError):
        return None


def beside(order, formula, symbol, at, numbers, far):
    """The formula over its leading order, ``far`` powers of ten towards the limit; None where they have no values."""
    place = {symbol.name: mpmath.mpf(10) ** (far if at == sp.oo else -far)}
    here = {name: mpmath.mpf(value) for name, value in numbers.items()} | place
    top, bottom = (evaluated(e, here) for e in (formula, order.coefficient * order.leading(symbol)))
    return top / bottom if top is not None and bottom and mpmath.isfinite(bottom) else None


def agrees(order, formula, symbol, at, numbers, far, generic):
    """Whether the formula over its leading order stays what it is towards the limit, and at 1 where no coefficient vanishes;
    True where they have no values there."""
    with mpmath.workdps(40 + 2 * far):
        values = [beside(order, formula, symbol, at, numbers, place) for place in (far // 2, far)]
        if any(value is None or not mpmath.isfinite(value) for value in values):
            return True
        near, last = values
        return bool(last != 0 and abs(near / last - 1) < 0.02 and (abs(last - 1) < 0.02 or not generic))


@each_claim(lambda: [claim for claim in all_claims().values() if claim.statement is not None])
def test_no_rate_is_wrong(claim):
    bound = bound_of(claim)
    if (said := (bound.form.formula, bound.conditions)) in SEEN:
        return
    SEEN.add(said)
    try:
        found = parameter_sets(bound, 50)
    except ValueError:  # conditions that exclude each other
        return
    sizes = [values for name, values in found.items() if ranges_of(bound)[name].whole]
    apart = [~np.isclose(*(bound._side(side, found) for side in (c.left, c.right)), rtol=1e-6)
             for c in bound.conditions if c.relation != "=="]  # not on the border of a condition
    generic = np.logical_and.reduce(np.broadcast_arrays([True], *(values > 1 for values in sizes), *apart))  # K > 1
    logs = [np.abs(np.log(np.maximum(values, 1e-9))) for values in found.values()]
    spread = np.max(logs, axis=0) if logs else np.zeros(1)
    place = int(np.argmin(np.where(generic, spread, 1e3 + spread)))  # far from where exponentials of them vanish
    numbers = {name: float(values[place]) for name, values in found.items()}
    for symbol in if_any(bound.form.parameters):
        for at in (sp.oo, 0):
            order = order_in(bound, symbol, at)
            if order is None:
                continue
            shown = any(agrees(order, bound.form.formula, symbol, at, numbers, far, np.any(generic)) for far in FAR)
            assert shown, (symbol, at, order, numbers)


WHOLE = "none: whole"  # a whole number does not vanish
KNOWN = [  # claim, parameter, as it grows, as it vanishes
    ("classical/gd-distance", "mu", "1", "1"),
    ("classical/gd-distance", "L", "L**2", "1"),
    ("classical/gd-value", "mu", "1", "1"),
    ("classical/gd-gradient", "mu", "1", "1"),
    ("fedmoswa/theorem-5.2-strongly-convex", "rounds", "1/rounds", WHOLE),
    ("fedmoswa/explicit-5.2-strongly-convex", "rounds", "1", WHOLE),
    ("classical/fedavg-dissimilar-convex", "rounds", "1", WHOLE),
    ("classical/fedavg-dissimilar-convex", "mu", "mu**rounds", "1"),
    ("classical/scaffold-convex", "rounds", "(-3*eta*local_steps*mu/4 + 1)**rounds", WHOLE),
    ("classical/fedavg-sampled-strongly-convex", "rounds", "1", WHOLE),
    ("fedmoswa/theorem-5.1-strongly-convex-fedswa", "local_steps", "1", WHOLE),
    ("fedmoswa/theorem-5.1-strongly-convex-fedswa", "L", "1/L", "1/L"),
    ("fedalign/theorem-1", "iterations", "not known: sum_mean_chi, sum_mean_psi", "not known: sum_mean_chi, sum_mean_psi"),
    ("fedalign/theorem-1", "mu", "1/mu", "1/mu"),
    ("li2020/theorem-1", "iterations", "1/iterations", WHOLE),
    ("li2020/theorem-1-self-consistent", "G_sq", "G_sq", "1"),  # whose coefficient (E - 1)^2 is none only for E = 1
    ("fedmoswa/theorem-5.1-nonconvex-fedswa", "local_steps", "2**local_steps", WHOLE),
    ("fedmoswa/eq-40", "eta", "none: at most 1/(L*local_steps*rounds)", "1"),
    ("fedmoswa/lemma-g.15@F-smooth", "gamma", "gamma", "1"),  # of which gamma^(2 a - 1) is a term, with 1/2 < a < 1
    ("fadamgc/eq-101", "local_steps", "local_steps**2", WHOLE),  # beside K beta1^K, with beta1 < 1
    ("afedpd/eq-9@second", "L", "1", "1/L"),
    ("fedmoswa/lemma-i.1", "local_steps", "?", WHOLE),  # (c + 1)^(K - 1) to the power K - 1
]


@pytest.mark.parametrize(("name", "parameter", "grows", "vanishes"), KNOWN)
def test_rates_that_are_known(name, parameter, grows, vanishes):
    found = rates(bound_of(all_claims()[name]))[parameter]
    assert {at: re.sub("^none: .*whole.*", WHOLE, rate) for at, rate in found.items()} == {"oo": grows, "0": vanishes}
