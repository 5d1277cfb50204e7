"""Where in parameter space one bound is below another: always, never, or somewhere, with a witness on each side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import sympy as sp
from scipy.optimize import differential_evolution

from bounds.formulas.closed_form import always_true
from bounds.language.claim import Condition
from verify.formulas.bound import Bound, check_numbers
from verify.formulas.regions import intervals
from verify.prove.real import certainly_positive, never_negative

__all__ = ["Dominance", "Space", "space_of", "where_below"]

_DECADES = 6.0  # parameters are searched from 10^-6 to 10^6
_POINTS, _GENERATIONS = 20_000, 60


@dataclass(frozen=True)
class Dominance:
    """Whether ``first <= second`` for all parameters that meet both claims' conditions.

    ``answer``: ``always`` or ``never`` (``proof`` says how that is known, or that it rests on search), ``depends``,
    ``equal``, or ``undecided`` where no parameters were found that meet the conditions. ``below`` and ``above`` are
    witnesses: parameters, in fractions, with the exact values of both bounds. Of what depends, ``region`` says between which
    values of each parameter alone, the others as in the witness below, the first is below the second
    (:func:`verify.regions.intervals`).
    """

    first: str
    second: str
    answer: str
    proof: str = ""
    below: dict = field(default_factory=dict)
    above: dict = field(default_factory=dict)
    tried: int = 0
    region: dict = field(default_factory=dict)

    def text(self) -> str:
        """The answer in a sentence."""
        said = {
            "always": f"{self.first} is never above {self.second}", "never": f"{self.first} is always above {self.second}",
            "depends": f"{self.first} is below {self.second} in some places and above it in others",
            "equal": f"{self.first} equals {self.second} everywhere",
            "undecided": "no parameters were found that meet the conditions of both",
        }[self.answer]
        return f"{said} ({self.proof})" if self.proof else said


def where_below(first: Bound, second: Bound, fixed: Mapping[str, float] | None = None, seed: int = 0) -> Dominance:
    """Compare two bounds over all positive parameters (integers from 1) that meet the conditions of both claims.

    Parameters of the same name are the same; ``fixed`` gives some of them values.

    Raises:
        ValueError: a name in ``fixed`` that neither has, or a value that it cannot have.
    """
    space = space_of(first, second, fixed)
    fixed = space.fixed
    ids = first.name, second.name
    proof = _proof(first, second, fixed)
    low, high = space.extremes(np.random.default_rng(seed))
    below, above = (space.witness(point, sign) for point, sign in ((low, -1), (high, 1)))
    if proof:
        return Dominance(*ids, *proof, below, above, space.tried)
    if not space.met:
        return Dominance(*ids, "undecided", "", {}, {}, space.tried)
    if below and above:
        region = intervals(space, below["parameters"])
        return Dominance(*ids, "depends", "", below, above, space.tried, region)
    shown = _by_real_numbers(first, second, fixed) if not above else None
    if shown:
        return Dominance(*ids, "always", shown, below, above, space.tried)
    note = f"no exception in a search of {space.tried} points; not proved"
    return Dominance(*ids, "always" if not above else "never", note, below, above, space.tried)


def space_of(first: Bound, second: Bound, fixed: Mapping[str, float] | None = None) -> Space:
    """The parameters of two bounds, those in ``fixed`` as they are given; raises as :func:`where_below`."""
    names = sorted({*first.parameters, *second.parameters})
    fixed = {name: Fraction(str(value)) for name, value in (fixed or {}).items()}  # 0.1 is a tenth
    unknown = sorted(set(fixed) - set(names))
    if unknown:
        raise ValueError(f"neither bound has the parameter {', '.join(map(repr, unknown))}; allowed: {', '.join(names)}")
    check_numbers((first, second), {name: float(value) for name, value in fixed.items()})
    return Space(first, second, names, fixed)


def _proof(first: Bound, second: Bound, fixed) -> tuple[str, str] | None:
    """``always``, ``never`` or ``equal`` where the difference's terms all have one sign for positive parameters."""
    formulas = [_positive(bound.form.formula, fixed) for bound in (first, second)]
    opaque = set().union(*(f.atoms(sp.Sum, sp.Product, sp.Max, sp.Min) for f in formulas))  # positive, whatever they are
    for part in sorted(opaque, key=sp.count_ops, reverse=True):
        stand_in = sp.Dummy(positive=True)
        formulas = [f.xreplace({part: stand_in}) for f in formulas]
    numerator, denominator = sp.fraction(sp.together(formulas[1] - formulas[0]))
    signs = [_one_sign(part) for part in (numerator, denominator)]
    if sp.expand(numerator) == 0:
        return "equal", "the difference is zero"
    if None not in signs:
        return "always" if signs[0] * signs[1] > 0 else "never", "all terms of the difference have one sign"
    return None


def _by_real_numbers(first: Bound, second: Bound, fixed) -> str | None:
    """A proof that the first is never above the second where the conditions of both hold."""
    known = [Condition(_positive(c.left, fixed), c.relation, _positive(c.right, fixed))
             for c in (*first.conditions, *second.conditions, *always_true({*first.parameters, *second.parameters}))]
    apart = _positive(second.form.formula, fixed) - _positive(first.form.formula, fixed)
    return None if apart.has(sp.Sum, sp.Product) else never_negative(apart, known)


def _one_sign(expression) -> int | None:
    """1 or -1 if every term of the expanded expression is positive or negative for positive symbols."""
    terms = sp.Add.make_args(sp.expand(expression))
    signs = {1 if t.is_positive else -1 if t.is_negative else 0 for t in terms}
    return signs.pop() if len(signs) == 1 and 0 not in signs else None


def _positive(formula, fixed):
    """The formula with every parameter a positive symbol, or its fixed value."""
    values = {s: sp.Rational(fixed[s.name]) if s.name in fixed else sp.Symbol(s.name, positive=True, integer=s.is_integer)
              for s in formula.free_symbols}
    return formula.xreplace(values)


class Space:
    """Parameters on a logarithmic scale, and the two bounds' log ratio on them."""

    def __init__(self, first, second, names, fixed):
        self.bounds, self.names, self.fixed = (first, second), names, fixed
        self.free = [name for name in names if name not in fixed]
        spoken = {side for b in self.bounds for c in b.conditions for side in (c.left, c.right)}
        symbols = {s.name: s for side in (first.form.formula, second.form.formula, *spoken) for s in side.free_symbols}
        self.whole = {n for n in self.free if n in symbols and symbols[n].is_integer}
        self.ordered = [(c.left.name, c.right.name) for c in always_true(set(names))]
        self.tried, self.met = 0, False

    def numbers(self, logs):
        """Parameters at points (free parameters, points) of the logarithmic scale."""
        values = {n: 10.0**row for n, row in zip(self.free, logs, strict=True)}
        values = {n: np.maximum(1, np.round(v)) if n in self.whole else v for n, v in values.items()}
        return values | {n: float(v) for n, v in self.fixed.items()}

    def log_ratio(self, logs):
        """log(first / second), nan where a condition fails or a bound is not positive."""
        numbers = self.numbers(logs)
        self.tried += logs.shape[-1]
        with np.errstate(all="ignore"):
            one, two = (b.values(**{n: numbers[n] for n in b.parameters if n in {s.name for s in b.form.parameters}})
                        for b in self.bounds)
            ratio = np.log(one) - np.log(two)
            for b in self.bounds:
                ratio = np.where(b.applies(**{n: numbers[n] for n in b.parameters}), ratio, np.nan)
            for small, large in self.ordered:
                ratio = np.where(np.asarray(numbers[small]) <= np.asarray(numbers[large]), ratio, np.nan)
        ratio = np.broadcast_to(np.where(np.isfinite(ratio), ratio, np.nan), logs.shape[-1:])
        self.met = self.met or bool(np.isfinite(ratio).any())
        return ratio

    def extremes(self, rng):
        """The points at which the ratio is smallest and largest, each (free parameters,)."""
        if not self.free:
            self.log_ratio(np.zeros((0, 1)))
            return np.zeros(0), np.zeros(0)
        logs = rng.uniform(-_DECADES, _DECADES, (len(self.free), _POINTS)) * rng.choice([1.0, 0.2], (1, _POINTS))
        ratio = self.log_ratio(logs)
        if not self.met:
            return logs[:, 0], logs[:, 0]
        found = []
        for sign in (1, -1):
            clear = sign * ratio < -1e-6
            if clear.any():  # the plainest of the points that show it: nearest to all parameters being one
                far = np.where(clear, np.abs(logs).max(axis=0), np.inf)
                found.append(logs[:, int(np.argmin(far))])
                continue
            start = logs[:, int(np.nanargmin(sign * ratio))]

            def cost(points, sign=sign):
                value = sign * self.log_ratio(points.reshape(len(self.free), -1))
                return np.where(np.isfinite(value), value, 1e9)

            better = differential_evolution(
                cost, [(-_DECADES, _DECADES)] * len(self.free), x0=start, maxiter=_GENERATIONS, vectorized=True,
                updating="deferred", polish=False, rng=rng, init="sobol", tol=0)
            found.append(better.x if better.fun <= cost(start)[0] else start)
        return found

    def witness(self, logs, sign) -> dict:
        """Simple fractions near a point at which first < second (``sign`` -1) or first > second, with exact values."""
        numbers = {n: float(v.ravel()[0]) if hasattr(v, "ravel") else v
                   for n, v in self.numbers(np.asarray(logs)[:, None]).items()}
        for digits in (1, 10, 1000, 10**6, 10**12):
            simple = {n: self.fixed.get(n) or _round(v, digits, n in self.whole) for n, v in numbers.items()}
            values = [_exact(b, simple) for b in self.bounds]
            tangled = any(simple[small] > simple[large] for small, large in self.ordered)
            if None in values or tangled or not all(_meets(b, simple) for b in self.bounds):
                continue
            if certainly_positive(sign * (values[0] - values[1])):
                return {"parameters": {n: str(v) for n, v in simple.items()}, "first": str(values[0]),
                        "second": str(values[1])}
        return {}


def _round(value: float, denominator: int, whole: bool) -> Fraction:
    if whole:
        return Fraction(round(value))
    if value < 1:
        return 1 / Fraction(1 / value).limit_denominator(denominator)
    return Fraction(value).limit_denominator(denominator)


def _exact(bound: Bound, numbers):
    """The bound's exact value, a sympy number, or None if it is not real there."""
    value = bound.form.formula.xreplace({s: sp.Rational(numbers[s.name]) for s in bound.form.parameters}).doit()
    return value if value.is_number and value.is_real else None


def _meets(bound: Bound, numbers) -> bool:
    for c in bound.conditions:
        left, right = (s.xreplace({p: sp.Rational(numbers[p.name]) for p in s.free_symbols}) for s in (c.left, c.right))
        if not {"<=": left <= right, ">=": left >= right, "==": sp.Eq(left, right)}[c.relation]:
            return False
    return True
