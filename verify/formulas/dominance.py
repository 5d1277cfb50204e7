"""Compares two bounds over all parameters: the first is always below, never, or it depends, with a witness on each side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import sympy as sp
from scipy.optimize import differential_evolution

from bounds.formulas.closed_form import always_true
from bounds.formulas.units import unit_of_sides, unit_text
from bounds.language import operators
from bounds.language.claim import Condition
from verify.formulas.bound import Bound, check_numbers, names_of, ranges_of
from verify.formulas.compiled import compiled
from verify.formulas.measured import number_of_terms, range_conditions
from verify.formulas.points import certainly_holds, near_fraction
from verify.formulas.rates import positive
from verify.prove.real import certainly_positive, never_negative

__all__ = ["Dominance", "Space", "where_below"]

_DECADES = 6.0  # parameters are searched from 10^-6 to 10^6
_POINTS, _GENERATIONS = 20_000, 60
_LONGEST = 1000  # terms of a sum
_RUN = ("iterations", "rounds", "local_steps")  # of which the first is the product of the others
_CLEAR = 1e-6  # logarithm of a ratio that is no rounding error
_MOST_BITS, _BITS = 10_000, 200  # of the parts of a fraction that is written exactly; of one that is not


@dataclass(frozen=True)
class Dominance:
    """Whether ``first <= second`` for all parameters at which both claims' conditions hold.

    ``answer``: ``always`` or ``never`` (``proof`` gives the proof, or says that only a search was made), ``depends``,
    ``equal``, or ``undecided``, of which ``proof`` gives the reason. ``below`` and ``above`` are
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
            "undecided": f"whether {self.first} is below {self.second} is undecided",
        }[self.answer]
        return f"{said} ({self.proof})" if self.proof else said


def where_below(first: Bound, second: Bound, fixed: Mapping[str, float] | None = None, seed: int = 0) -> Dominance:
    """Compare two bounds over all positive parameters (integers from 1) at which the conditions of both claims hold.

    Parameters of one name are the same in both bounds; ``fixed`` gives values to some.

    Raises:
        ValueError: bounds of quantities of different units; a name in ``fixed`` that neither bound has, or a value that it
            cannot have.
    """
    units = [unit_of_sides(b.claim) for b in (first, second)]
    if None not in units and units[0] != units[1]:
        raise ValueError(f"{first.name} bounds a quantity in {unit_text(units[0])} and {second.name} one in "
                         f"{unit_text(units[1])}; allowed: bounds of quantities of one unit")
    names = sorted(_names((first, second)))
    fixed = {name: Fraction(str(value)) for name, value in (fixed or {}).items()}  # 0.1 is a tenth
    unknown = sorted(set(fixed) - set(names))
    if unknown:
        raise ValueError(f"neither bound has the parameter {', '.join(map(repr, unknown))}; allowed: {', '.join(names)}")
    check_numbers((first, second), {name: float(value) for name, value in fixed.items()})
    space = Space((first, second), fixed)
    proof = _proof(first, second, fixed)
    low, high = space.extremes(np.random.default_rng(seed))
    below, above = (space.witness(point, sign) for point, sign in ((low, -1), (high, 1)))
    seen = [bool(sign * space.log_ratio(np.asarray(point)[:, None])[0] > _CLEAR) for point, sign in ((low, -1), (high, 1))]
    if not (space.admitted if proof else space.met):
        answer, below, above = ("undecided", "no parameters were found at which the conditions of both hold"), {}, {}
    elif proof:
        answer = proof
    elif below and above:
        answer = "depends", ""
    elif all(seen):
        answer = "undecided", "float64 sees it below and above, and no fractions were found that show both"
    else:
        shown = None if above or seen[1] else _by_real_numbers(space)
        note = f"no exception in a search of {space.tried} points; not proved"
        answer = "never" if above or seen[1] else "always", shown or note
    return Dominance(first.name, second.name, *answer, below, above, space.tried)


def _proof(first: Bound, second: Bound, fixed) -> tuple[str, str] | None:
    """Decide ``always``, ``never`` or ``equal`` if all terms of the difference have one sign for positive parameters."""
    formulas = [positive(bound.form.formula, fixed) for bound in (first, second)]
    opaque = set().union(*(f.atoms(sp.Sum, sp.Product, sp.Max, sp.Min) for f in formulas))
    for part in sorted(opaque, key=sp.count_ops, reverse=True):
        stand_in = _stand_in(part)
        formulas = [f.xreplace({part: stand_in}) for f in formulas]
    numerator, denominator = sp.fraction(sp.together(formulas[1] - formulas[0]))
    if sp.expand(numerator) == 0:
        return "equal", "the difference is zero"
    (sign, strict), (other, certain) = map(_one_sign, (numerator, denominator))
    if sign and other and certain and (strict or sign == other):
        return "always" if sign == other else "never", "all terms of the difference have one sign"
    return None


def _stand_in(part) -> sp.Dummy:
    """Return a symbol with the sign of a sum, a product, a largest or a least value; a sum may have no terms."""
    if isinstance(part, sp.Sum):
        return sp.Dummy(nonnegative=True) if part.function.is_nonnegative else sp.Dummy(real=True)
    inner = part.function if isinstance(part, sp.Product) else part
    return sp.Dummy(positive=True) if inner.is_positive else sp.Dummy(real=True)


def _by_real_numbers(space: Space) -> str | None:
    """Prove by z3 that the first is never above the second where the conditions of both hold; None if that fails."""
    known = [Condition(positive(c.left, space.fixed), c.sign, positive(c.right, space.fixed))
             for c in space.joint.conditions]
    first, second = (positive(bound.form.formula, space.fixed) for bound in space.bounds)
    apart = second - first
    return None if apart.has(sp.Sum, sp.Product) else never_negative(apart, known)


def _one_sign(expression) -> tuple[int, bool]:
    """Return 1 or -1 if no term of the expanded expression has the other sign, else 0; and whether one is never 0."""
    terms = sp.Add.make_args(sp.expand(expression))
    for sign in (1, -1):
        if all((sign * term).is_nonnegative for term in terms):
            return sign, any((sign * term).is_positive for term in terms)
    return 0, False


def _values(bound: Bound, numbers: Mapping[str, np.ndarray]) -> np.ndarray:
    """The values of a bound, (points,); nan where a sum would have more than ``_LONGEST`` terms."""
    sums = bound.form.formula.atoms(sp.Sum, sp.Product)
    lengths = {s.name for one in sums for limit in one.limits for end in limit[1:] for s in end.free_symbols}
    own = {s.name: numbers[s.name] for s in bound.form.parameters}
    short = {name: np.minimum(value, _LONGEST) if name in lengths else value for name, value in own.items()}
    values = bound.values(**short)
    return np.where(np.logical_and.reduce([short[name] == own[name] for name in lengths & own.keys()]), values, np.nan)


class Space:
    """The common parameters of bounds on a logarithmic scale, and the logarithm of the ratio of the first two.

    Points are those that every claim admits, and that a run can have: iterations are rounds times local steps (a bound in
    iterations and one of the two gets the other as a parameter), what an equation of a claim defines has its value, whole
    numbers lie between their ends, and a sum has as many terms as its range. ``joint`` is the first bound under the
    conditions of all. ``tried`` counts the points that were evaluated; ``admitted`` and ``met`` say whether these conditions
    held at one of them, and whether both bounds were positive there.
    """

    def __init__(self, bounds: Sequence[Bound], fixed: Mapping[str, Fraction]):
        self.bounds, self.names = tuple(bounds), _names(bounds)
        self.tied = {*_RUN} <= self.names
        ranges = [(name, one) for bound in bounds for name, one in ranges_of(bound).items() if name in self.names]
        equations = [c for bound in bounds for c in bound.equations if names_of(c) <= self.names]
        given = {c.left.name: Fraction(int(c.right.p), int(c.right.q)) for c in equations if c.right.is_Rational}
        self.fixed = given | dict(fixed)
        held = {*self.fixed, *(_RUN if self.tied else ())}
        self.defined = _in_order({c.left.name: c.right for c in reversed(equations) if c.left.name not in held})
        self.free = sorted(self.names - self.fixed.keys() - self.defined.keys())
        self.ends = {name: (max(one.low for n, one in ranges if n == name), min(one.high for n, one in ranges if n == name))
                     for name, one in ranges if one.whole}
        self.whole = self.ends.keys() & {*self.free}
        symbols = {name: s for bound in bounds for name, s in bound.symbols.items()}
        measured = {s: e for bound in bounds for s, e in bound.form.measured.items()}
        one_run = [Condition(operators.iterations, "==", operators.rounds * operators.local_steps)] if self.tied else []
        self.joint = bounds[0].with_conditions(dict.fromkeys((
            *(c for bound in bounds for c in bound.conditions), *always_true(self.names, [b.claim for b in bounds]),
            *one_run, *equations,
            *(c for name, one in ranges for c in one.conditions(symbols.get(name, sp.Symbol(name)))),
            *(c for bound in bounds for c in range_conditions(bound.claim, bound.form.measured, self.names)))))
        self.lengths = [(s.name, terms) for s, e in measured.items() if isinstance(e, sp.Sum) and s.name in self.names
                        and (terms := number_of_terms(e, self.names)) is not None]
        self.tried, self.met, self.admitted = 0, False, False

    def numbers(self, logs):
        """Return the parameters at decimal logarithms (free parameters, points)."""
        values = {n: 10.0**row for n, row in zip(self.free, logs, strict=True)}
        values = {n: np.clip(np.round(v), *self.ends[n]) if n in self.whole else v for n, v in values.items()}
        return self.completed(values, logs.shape[-1])

    def completed(self, values: Mapping[str, np.ndarray], points: int) -> dict[str, np.ndarray]:
        """Return the free parameters, (points,) each, with those that are fixed, tied or defined."""
        values = dict(values) | {n: np.full(points, float(v)) for n, v in self.fixed.items()}
        values = self._of_one_run(values) if self.tied else values
        for name, formula in self.defined.items():
            names = sorted(s.name for s in formula.free_symbols)
            values[name] = compiled(names, formula)(*(values[n] for n in names))
        return self._of_no_terms(values)

    def along(self, point: Mapping[str, Fraction], against: str, x: np.ndarray) -> tuple[dict, np.ndarray]:
        """Return the parameters where one takes the values ``x`` and the others are as at a point, and which of these points
        all claims admit. What is tied to it or defined by it changes with it: iterations with rounds, rounds with
        iterations."""
        values = {name: np.full(len(x), float(value)) for name, value in point.items()} | {against: x}
        if self.tied and against == "iterations":
            values["rounds"] = x / values["local_steps"]
        elif self.tied:
            values["iterations"] = values["rounds"] * values["local_steps"]
        for name, formula in self.defined.items():
            if name != against:
                names = sorted(s.name for s in formula.free_symbols)
                values[name] = compiled(names, formula)(*(values[n] for n in names))
        values = self._of_no_terms(values)
        whole = (np.isclose(values[n], np.round(values[n])) for n in self.ends if n in values)
        return values, np.logical_and.reduce([np.broadcast_to(self.joint.applies(**values), x.shape), *whole])

    def _of_one_run(self, values):
        """Set iterations to rounds times local steps; where they are fixed, rounds and local steps are divisors of them."""
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
        """Set sums over no terms to 0; nan where one is fixed at another value."""
        for name, length in self.lengths:
            names = sorted(s.name for s in length.free_symbols)
            empty = compiled(names, length)(*(values[n] for n in names)) <= 0
            nothing = 0.0 if not self.fixed.get(name) else np.nan
            values[name] = np.where(empty, nothing, values[name])
        return values

    def log_ratio(self, logs):
        """Return log(first / second); nan where a condition fails, or a bound is not positive or a sum of too many terms."""
        numbers = self.numbers(logs)
        self.tried += logs.shape[-1]
        with np.errstate(all="ignore"):
            one, two = (_values(bound, numbers) for bound in self.bounds[:2])
            admitted = np.broadcast_to(self.joint.applies(**numbers), logs.shape[-1:])
            ratio = np.where(admitted, np.log(one) - np.log(two), np.nan)
        self.admitted = self.admitted or bool(admitted.any())
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
            clear = sign * ratio < -_CLEAR
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
            simple = self._exact({n: self.fixed[n] if n in self.fixed else Fraction(round(v)) if n in self.whole
                                  else near_fraction(v, digits) for n, v in numbers.items()})
            values = [_exact(b, simple) for b in self.bounds[:2]] if simple else [None]
            if None in values or not all(certainly_holds(c, simple) for c in self.joint.conditions):
                continue
            if certainly_positive(sign * (values[0] - values[1])):
                return {"parameters": {n: str(v) for n, v in sorted(simple.items())}, "first": _text(values[0]),
                        "second": _text(values[1])}
        return {}

    def _exact(self, values: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """Return the numbers with those that are tied or defined computed exactly; empty where one is no fraction."""
        values = dict(values)
        if self.tied and "iterations" not in self.fixed:
            values["iterations"] = values["rounds"] * values["local_steps"]
        for name, formula in self.defined.items():
            value = formula.xreplace({s: sp.Rational(values[s.name]) for s in formula.free_symbols}).doit()
            if not value.is_Rational:
                return {}
            values[name] = Fraction(int(value.p), int(value.q))
        return values


def _names(bounds: Sequence[Bound]) -> set[str]:
    """Names of the parameters of the bounds, of what is tied to them and of what defines them."""
    names, before = set().union(*(bound.parameters for bound in bounds)), set()
    equations = [c for bound in bounds for c in bound.equations if names_of(c) != {*_RUN}]
    while names != before:
        before = set(names)
        lengths = (names | {c.left.name for c in equations}) & {*_RUN}
        if "iterations" in lengths and len(lengths) > 1 and names & {*_RUN}:
            names |= {*_RUN}
        names = names.union(*(names_of(c) for c in equations if c.left.name in names))
    return names


def _in_order(formulas: Mapping[str, sp.Expr]) -> dict[str, sp.Expr]:
    """Sort formulas so that each uses only names before it; those that use each other are left out."""
    found: dict[str, sp.Expr] = {}
    left = dict(formulas)
    while ready := {n: f for n, f in left.items() if not {s.name for s in f.free_symbols} & left.keys()}:
        found |= ready
        left = {n: f for n, f in left.items() if n not in ready}
    return found


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
