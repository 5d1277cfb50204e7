"""Compares two bounds over all parameters: the first is always below, never, or it depends, with a witness on each side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import sympy as sp
from scipy.optimize import differential_evolution

from bounds.formulas.closed_form import always_true
from bounds.language import words
from bounds.language.claim import Condition
from verify.formulas.bound import Bound, check_numbers
from verify.formulas.compiled import compiled
from verify.formulas.points import certainly_holds, near_fraction
from verify.formulas.rates import positive
from verify.prove.real import certainly_positive, never_negative

__all__ = ["Dominance", "Space", "where_below"]

_DECADES = 6.0  # parameters are searched from 10^-6 to 10^6
_POINTS, _GENERATIONS = 20_000, 60
_MOST_BITS, _BITS = 10_000, 200  # of the parts of a fraction that is written exactly; of one that is not


@dataclass(frozen=True)
class Dominance:
    """Whether ``first <= second`` for all parameters at which both claims' conditions hold.

    ``answer``: ``always`` or ``never`` (``proof`` gives the proof, or says that only a search was made), ``depends``,
    ``equal``, or ``undecided`` if no parameters were found at which the conditions hold. ``below`` and ``above`` are
    witnesses: parameters as fractions, with the exact values of both bounds (30 digits of fractions that have thousands).
    ``tried`` counts the points of the search.
    """

    first: str
    second: str
    answer: str
    proof: str = ""
    below: dict = field(default_factory=dict)
    above: dict = field(default_factory=dict)
    tried: int = 0

    def text(self) -> str:
        """Return the answer as a sentence."""
        said = {
            "always": f"{self.first} is never above {self.second}", "never": f"{self.first} is always above {self.second}",
            "depends": f"{self.first} is below {self.second} in some places and above it in others",
            "equal": f"{self.first} equals {self.second} everywhere",
            "undecided": "no parameters were found at which the conditions of both hold",
        }[self.answer]
        return f"{said} ({self.proof})" if self.proof else said


def where_below(first: Bound, second: Bound, fixed: Mapping[str, float] | None = None, seed: int = 0) -> Dominance:
    """Compare two bounds over all positive parameters (integers from 1) at which the conditions of both claims hold.

    Parameters of one name are the same in both bounds; ``fixed`` gives values to some.

    Raises:
        ValueError: a name in ``fixed`` that neither bound has, or a value that it cannot have.
    """
    names = {*first.parameters, *second.parameters}
    if "iterations" in names and names & {"rounds", "local_steps"}:
        names |= {"rounds", "local_steps"}
    names = sorted(names)
    fixed = {name: Fraction(str(value)) for name, value in (fixed or {}).items()}  # 0.1 is a tenth
    unknown = sorted(set(fixed) - set(names))
    if unknown:
        raise ValueError(f"neither bound has the parameter {', '.join(map(repr, unknown))}; allowed: {', '.join(names)}")
    check_numbers((first, second), {name: float(value) for name, value in fixed.items()})
    space = Space(first, second, names, fixed)
    proof = _proof(first, second, fixed)
    low, high = space.extremes(np.random.default_rng(seed))
    below, above = (space.witness(point, sign) for point, sign in ((low, -1), (high, 1)))
    if not proof and not space.met:
        proof, below, above = ("undecided", ""), {}, {}
    elif not proof and below and above:
        proof = "depends", ""
    elif not proof:
        shown = None if above else _by_real_numbers(space)
        note = f"no exception in a search of {space.tried} points; not proved"
        proof = "never" if above else "always", shown or note
    return Dominance(first.name, second.name, *proof, below, above, space.tried)


def _proof(first: Bound, second: Bound, fixed) -> tuple[str, str] | None:
    """Decide ``always``, ``never`` or ``equal`` if all terms of the difference have one sign for positive parameters."""
    formulas = [positive(bound.form.formula, fixed) for bound in (first, second)]
    opaque = set().union(*(f.atoms(sp.Sum, sp.Product, sp.Max, sp.Min) for f in formulas))  # each is positive
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


def _by_real_numbers(space: Space) -> str | None:
    """Prove by z3 that the first is never above the second where the conditions of both hold; None if that fails."""
    known = [Condition(positive(c.left, space.fixed), c.sign, positive(c.right, space.fixed))
             for c in space.joint.conditions]
    first, second = (positive(bound.form.formula, space.fixed) for bound in space.bounds)
    apart = second - first
    return None if apart.has(sp.Sum, sp.Product) else never_negative(apart, known)


def _one_sign(expression) -> int | None:
    """Return 1 or -1 if all terms of the expanded expression are positive or all negative for positive symbols."""
    terms = sp.Add.make_args(sp.expand(expression))
    signs = {1 if t.is_positive else -1 if t.is_negative else 0 for t in terms}
    return signs.pop() if len(signs) == 1 and 0 not in signs else None


class Space:
    """The common parameters of two bounds on a logarithmic scale, and the logarithm of the bounds' ratio.

    Points are those that a run can have: its iterations are rounds times local steps (a bound in iterations and one of the
    two gets the other as a parameter), and a sum over no terms is 0. ``joint`` is the first bound under the conditions of
    both. ``tried`` counts the points that were evaluated; ``met`` says
    whether these conditions held at one of them.
    """

    def __init__(self, first, second, names, fixed):
        self.bounds, self.fixed = (first, second), fixed
        self.tied = {"rounds", "local_steps", "iterations"} <= set(names)
        self.free = [name for name in names if name not in fixed]
        self.whole = {*self.free} & {"rounds", "local_steps", *first.whole, *second.whole}
        one_run = [Condition(words.iterations, "==", words.rounds * words.local_steps)] if self.tied else []
        self.joint = first.with_conditions(
            dict.fromkeys((*first.conditions, *second.conditions, *always_true(set(names)), *one_run)))
        self.lengths = list(_lengths({**first.form.measured, **second.form.measured}, names))
        self.tried, self.met = 0, False

    def numbers(self, logs):
        """Return the parameters at decimal logarithms (free parameters, points)."""
        values = {n: 10.0**row for n, row in zip(self.free, logs, strict=True)}
        values = {n: np.maximum(1, np.round(v)) if n in self.whole else v for n, v in values.items()}
        values |= {n: np.full(logs.shape[-1], float(v)) for n, v in self.fixed.items()}
        return self._of_no_terms(self._of_one_run(values) if self.tied else values)

    def _of_one_run(self, values):
        """Let iterations be rounds times local steps; where they are fixed, rounds and local steps are divisors of them."""
        total = self.fixed.get("iterations")
        if total is None:
            return values | {"iterations": values["rounds"] * values["local_steps"]}
        free, given = ("rounds", "local_steps") if "local_steps" in self.fixed else ("local_steps", "rounds")
        if free in self.fixed:
            return values
        parts = np.array(sp.divisors(int(total)), dtype=float)
        if given not in self.fixed:
            values[free] = parts[np.abs(np.log(parts[:, None] / values[free])).argmin(axis=0)]
            values[given] = float(total) / values[free]
        else:
            values[free] = np.maximum(1.0, np.round(float(total) / values[given]))
        return values

    def _of_no_terms(self, values):
        """Let sums over no terms be 0; nan where one is fixed at another value."""
        for name, length in self.lengths:
            names = sorted(s.name for s in length.free_symbols)
            empty = compiled(names, length)(*(values[n] for n in names)) <= 0
            nothing = 0.0 if not self.fixed.get(name) else np.nan
            values[name] = np.where(empty, nothing, values[name])
        return values

    def log_ratio(self, logs):
        """Return log(first / second); nan where a condition fails or a bound is not positive."""
        numbers = self.numbers(logs)
        self.tried += logs.shape[-1]
        with np.errstate(all="ignore"):
            one, two = (b.values(**{s.name: numbers[s.name] for s in b.form.parameters}) for b in self.bounds)
            ratio = np.where(self.joint.applies(**numbers), np.log(one) - np.log(two), np.nan)
        ratio = np.broadcast_to(np.where(np.isfinite(ratio), ratio, np.nan), logs.shape[-1:])
        self.met = self.met or bool(np.isfinite(ratio).any())
        return ratio

    def extremes(self, rng):
        """Search the points (free parameters,) at which the ratio is smallest and largest."""
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
            if clear.any():  # of the points on that side the one nearest to all parameters being 1
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
        """Return simple fractions near a point with first < second (``sign`` -1) or first > second, and the exact values.

        Empty if no fractions near the point certainly show it.
        """
        numbers = {n: float(v.ravel()[0]) if hasattr(v, "ravel") else v
                   for n, v in self.numbers(np.asarray(logs)[:, None]).items()}
        for digits in (1, 10, 1000, 10**6, 10**12):
            simple = {n: self.fixed.get(n) or (Fraction(round(v)) if n in self.whole else near_fraction(v, digits))
                      for n, v in numbers.items()}
            values = [_exact(b, simple) for b in self.bounds]
            if None in values or not all(certainly_holds(c, simple) for c in self.joint.conditions):
                continue
            if certainly_positive(sign * (values[0] - values[1])):
                return {"parameters": {n: str(v) for n, v in simple.items()}, "first": _text(values[0]),
                        "second": _text(values[1])}
        return {}


def _lengths(measured, names):
    """Yield (name, number of terms) of every measured sum whose number of terms is a formula in the parameters."""
    for symbol, expression in measured.items():
        for _, low, high in expression.limits if isinstance(expression, sp.Sum) else ():
            length = high - low + 1
            if {s.name for s in length.free_symbols} <= set(names):
                yield symbol.name, length


def _exact(bound: Bound, numbers):
    """Return the bound's exact value, a sympy number; None if it is not real."""
    value = bound.form.formula.xreplace({s: sp.Rational(numbers[s.name]) for s in bound.form.parameters}).doit()
    return value if value.is_number and value.is_real else None


def _text(value) -> str:
    """Write a value exactly, or with 30 digits if it is a fraction of thousands of digits."""
    if not value.is_Rational or max(int(value.p).bit_length(), int(value.q).bit_length()) <= _MOST_BITS:
        return str(value)
    over, under = (max(abs(int(part)).bit_length() - _BITS, 0) for part in (value.p, value.q))
    shares = [sp.Float(int(part) >> shift, 40) for part, shift in ((value.p, over), (value.q, under))]
    return str((shares[0] / shares[1] * sp.Float(2, 40) ** (over - under)).n(30))
