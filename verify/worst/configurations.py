"""The sizes and numbers at which a statement is evaluated on a symbolic run."""

from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from itertools import islice, product
from math import ceil, floor, prod
from typing import Any, NamedTuple

import sympy as sp

from bounds.language.claim import Claim, Condition, length_of, names_in
from bounds.language.layers import layer_part
from bounds.language.operators import clients
from bounds.language.space import infimum
from verify.checker.schema import SIZES
from verify.claims.entries import entries_of_equation, entry_equations
from verify.claims.needs import speaks_of_samples
from verify.claims.sizes import ABOVE, once_by_claim, possible, says_something
from verify.exact.statement import definition_of, free_names

__all__ = ["FAR", "Setting", "Template", "instantiate"]

_ENDS = ("<=", ">=")
FAR = 1e-9  #: of two sides in floats, in units of the larger one: what is nearer is left to exact arithmetic
_TABLES = 64  # of zeros and ones that are tried
#: shares of an interval without its ends: squares whose complements are squares, so that their roots are fractions
_SQUARES = [Fraction(leg, longest) ** 2 for leg, longest in ((24, 25), (4, 5), (3, 5), (7, 25), (20, 101), (60, 901))]
#: positive numbers at which conditions are looked at
_NUMBERS = [Fraction(digits) * Fraction(10) ** power for power in range(-8, 6) for digits in (
    10, 11, 12, 13, 14, 15, 17, 20, 22, 25, 28, 30, 33, 36, 40, 45, 50, 55, 60, 70, 80, 90)]


class Template(NamedTuple):
    """Sizes and numbers from which :func:`instantiate` makes a setting of any claim.

    ``near``: how near numbers lie to the ends of their intervals, in turn, 1 at an end. ``step``: a step size that nothing
    bounds, in units of 1/L. ``numbers``: values of the free names that nothing bounds, in turn, but for the ``unknown``
    ones; if it is empty, these stay symbolic. ``weights``: of clients, in turn, up to a factor, where they may differ.
    ``layers``: of a model, if a claim has layers. ``shares``: of the step, in iterations in turn.
    """

    clients: int = 2
    rounds: int = 2
    local_steps: int = 2
    L: Fraction = Fraction(1)
    mu: Fraction = Fraction(1, 10)
    near: tuple[Fraction, ...] = (Fraction(1),)
    step: Fraction = Fraction(1, 2)
    numbers: tuple[Fraction, ...] = ()
    weights: tuple[int, ...] = (1,)
    layers: int = 2
    unknown: frozenset[str] = frozenset()
    shares: tuple[Fraction, ...] = (Fraction(1),)


class Setting(NamedTuple):
    """The sizes, values of free names, symbolic free names and weights of clients (or any) that a certificate states."""

    sizes: dict[str, int]
    values: dict[str, Any]
    unknown: list[str]
    weights: list[str] | str


def instantiate(claim: Claim, given: Mapping[str, Fraction], template: Template | None = None) -> Setting:
    """Sizes and numbers for a claim: those ``given``; else what hypotheses define; else a number in the interval that
    domain and conditions leave, near its lower end, or its upper one where conditions give no lower one; else one of the
    template's numbers, or no value. A bound may depend on one of the template's numbers.

    Raises:
        LookupError: ``given`` has a name that is neither a size nor a free name of the claim.
        ValueError: a size that is no whole number, or below its least value.
    """
    template, free = template or Template(), free_names(claim)
    settable = [*SIZES[:1], "layers", "local_steps", "participants", "rounds", *(n for n in free if n not in SIZES)]
    settable += ["samples"] * speaks_of_samples(claim)
    if unknown := sorted({*given} - {*settable}):
        raise LookupError(f"{claim.id} has no {', '.join(unknown)}; allowed: {', '.join(settable)}")
    sizes = _sizes(claim, given, free, template)
    known = {name: sp.Rational(str(number)) for name, number in {**sizes, **given}.items()}
    values: dict[str, Any] = {}
    waiting = [name for name in free if name not in sizes]
    numbers = {name: given[name] for name in waiting if name in given}
    whole = _integer_names(claim)
    for name in waiting:
        definition = definition_of(claim, name)
        over_all_points = definition is not None and claim.hypotheses[definition["hypothesis"]].right.has(infimum)
        if name not in given and definition is not None and not over_all_points:
            values[name] = definition

    def add_bounded(names: Iterable[str]) -> None:
        """Adds numbers for names that are bounded by numbers known so far."""
        before = None
        while before != len(numbers):  # bounds may wait for each other
            before = len(numbers)
            for name in names:
                if name in values or name in numbers:
                    continue
                number = _number_at_bounds(claim, name, known, template.near[waiting.index(name) % len(template.near)])
                if name in ("L", "mu") and _lies_within_bounds(claim, name, known, template._asdict()[name]):
                    number = template._asdict()[name]
                if number is not None:
                    number = Fraction(max(floor(number), 1)) if name in whole else number
                    numbers[name], known[name] = number, sp.Rational(str(number))

    add_bounded(waiting)
    if "eta_l" in waiting and not {"eta_l"} & {*values, *numbers}:
        numbers["eta_l"] = template.step / numbers.get("L", template.L)
    left = [name for name in waiting if name not in values and name not in numbers]
    for variable in claim.variables:
        by_layer = variable.domain == "binary" and [size for _, size in variable.indices] == ["rounds", "layers"]
        if by_layer and variable.name in left and (table := _binary_table(
                claim, variable.name, (*sizes.items(),), sum(template.weights))):
            values[variable.name] = [[*row] for row in table]
            left.remove(variable.name)
    own = {name: template.numbers[i % len(template.numbers)] for i, name in enumerate(left)
           if template.numbers and name not in template.unknown}
    for name in sorted(own, key=_bounded_names(claim).__contains__):  # then those that they bound
        if name not in numbers:
            numbers[name], known[name] = own[name], sp.Rational(str(own[name]))
            add_bounded(own)
    values |= {name: _as_text(number, free[name], sizes) for name, number in numbers.items()}
    if len(template.shares) > 1 and "eta_l" in numbers and "eta_l" not in given:
        shares = [template.shares[t % len(template.shares)] for t in range(sizes["iterations"])]
        values["eta_l"] = [str(numbers["eta_l"] * share) for share in shares]
    for equation in entry_equations(claim):
        _fill_entries(equation, values, known, sizes)
    parts = [1 if _has_equal_weights(claim) else template.weights[k % len(template.weights)]
             for k in range(sizes["clients"])]
    weights = [str(Fraction(part, sum(parts))) for part in parts]
    return Setting(sizes, values, [name for name in left if name not in values], weights)


@once_by_claim
def _has_equal_weights(claim: Claim) -> bool:
    """Whether all clients have the same weight, by the procedure or by a hypothesis."""
    said = (c for c in claim.hypotheses if c.relation == "==" and isinstance(c.left, sp.Indexed))
    return claim.procedure is None or claim.procedure.equal_weights or any(
        c.left.base.label.name == "client_weight" and sp.sympify(c.right) == 1 / clients for c in said)


@once_by_claim
def _bounded_names(claim: Claim) -> set[str]:
    """The names on the left of an inequality, which bounds them; names on the right alone are given."""
    return set().union(*(names_in(c.left) for c in claim.hypotheses if c.relation in _ENDS))


@once_by_claim
def _integer_names(claim: Claim) -> set[str]:
    """The names of positive whole numbers in a claim's formulas."""
    return {s.name for f in claim.formulas for s in f.free_symbols if s.is_integer and s.is_positive}


def _sizes(claim: Claim, given, free, template) -> dict[str, int]:
    least = dict.fromkeys(("clients", "rounds", "local_steps"), 1)
    found = {name: given.get(name, getattr(template, name)) for name in least}
    speaks_of_layers = "layers" in claim.names or any(formula.has(layer_part) for formula in claim.formulas)
    found["layers"] = given.get("layers", template.layers if speaks_of_layers else 1)
    for variable in claim.variables:
        if variable.domain == "integer" and not variable.indices:
            name, least[variable.name] = variable.name, variable.low
            known = {size: sp.Integer(number) for size, number in found.items()}
            equal, lows, highs = ([*map(int, _bounds(claim, name, known, relation))] for relation in ("==", ">=", "<="))
            number = given.get(name, max(variable.low, *lows, found.get(name, max(variable.low, 1))))
            if name not in given:
                number = equal[0] if equal else min([number, *highs])
            found[name] = number if variable.high is None else min(number, variable.high)
    if claim.procedure is not None and dict(claim.procedure.options).get("solver") == "exact":
        found["local_steps"] = given.get("local_steps", 1)  # a local problem that is solved has one
    everyone = (claim.procedure.sampling if claim.procedure else "full") == "full"
    if speaks_of_samples(claim):
        found["samples"] = given.get("samples", 1 + template.clients)
    for name in ("clients", "rounds", "local_steps", *["samples"] * ("samples" in found)):  # what a number bounds, or says
        if name not in given:
            equal, lows, highs = ([*_bounds(claim, name, {}, relation)] for relation in ("==", ">=", "<="))
            found[name] = equal[0] if equal else max([min([found[name], *map(floor, highs)]), *map(ceil, lows)])
    if "rounds" not in given:  # what is said of all steps says how many rounds there are
        steps = int(found["local_steps"])
        said = _bounds(claim, "iterations", {"local_steps": sp.Integer(steps)}, "==")
        found["rounds"] = next((count / steps for count in said), found["rounds"])
    if claim.setting == "point":  # there is one time
        found |= {"rounds": 1, "local_steps": 1}
    elif not says_something(claim, found):  # no index of the statement has a value in runs as short as this
        longer = (found | {name: found[name] + more} for more in ABOVE[1:] for name in ("rounds", "local_steps")
                  if name not in given)
        found = next((sizes for sizes in longer if possible(claim, sizes)), found)
    found |= {"participants": given.get("participants", found["clients"] if everyone else 1)}
    known = {size: sp.Integer(int(number)) for size, number in found.items()}
    found["dim"] = next((number for relation in ("==", ">=") for number in _bounds(claim, "dim", known, relation)), 1)
    for name, number in found.items():
        if number != int(number) or number < least.get(name, 1):
            raise ValueError(f"{name} must be a whole number of at least {least.get(name, 1)}; got {number}")
    sizes = {name: int(number) for name, number in found.items() if name in (*SIZES, "samples") or name in free}
    return sizes | {"iterations": sizes["rounds"] * sizes["local_steps"]}


@lru_cache(256)
def _binary_table(claim: Claim, name: str, of_sizes: tuple[tuple[str, int], ...],
                  turn: int) -> tuple[tuple[str, ...], ...] | None:
    """The first table of zeros and ones by round and layer that meets the conditions, in an order that begins at ``turn``;
    None if none is found."""
    sizes = dict(of_sizes)

    def sized(formula):
        formula = sp.sympify(formula)
        return formula.subs({s: sizes[s.name] for s in formula.free_symbols if getattr(s, "name", "") in sizes})

    about = [c for c in claim.hypotheses if name in (names := names_in(c.left) | names_in(c.right))
             and names <= {name, *sizes} | {str(index) for index, *_ in c.over}]
    rows = [*product("01", repeat=sizes["layers"])]
    turn %= len(rows)

    known: list[tuple[Any, Any, str]] = []  # all cases of all conditions
    for c in about:
        cases = [{}]
        for index, low, high in c.over:
            ends = [int(sized(end)) for end in (low, high)]
            cases = [{**case, index: sp.Integer(i)} for case in cases for i in range(ends[0], ends[1] + 1)]
        left, right = sized(c.left), sized(c.right)
        known += [(left.subs(case).doit(), right.subs(case).doit(), c.relation) for case in cases]
    entries = set().union(*(side.atoms(sp.Indexed) for *sides, _ in known for side in sides))

    def allowed(table) -> bool:
        numbers = {e: sp.Integer(table[int(e.indices[0])][int(e.indices[1])]) for e in entries}
        return all(sp.Rel(left.xreplace(numbers), right.xreplace(numbers), relation) for left, right, relation in known)

    for table in islice(product(rows[turn:] + rows[:turn], repeat=sizes["rounds"]), _TABLES):
        if allowed(table):
            return table
    return None


def _as_text(number, lengths, sizes) -> Any:
    """A number as text, nested in lists of the lengths of its array."""
    text = str(Fraction(number))
    for length in reversed(lengths or []):
        text = [text] * length_of(length, sizes)
    return text


def _fill_entries(equation: Condition, values: dict[str, Any], known, sizes: dict[str, int]) -> None:
    """Fills in the entries of an array that an equation gives, such as a[0] or a[t + 1], where its right side is known."""
    array = values.get(equation.left.base.label.name)

    def number(formula, case):
        def entry(e):
            row = values.get(e.base.label.name)
            place = number(e.indices[0], case) if len(e.indices) == 1 else None
            fits = place is not None and place.is_Integer and isinstance(row, list) and 0 <= place < len(row)
            return sp.Rational(row[int(place)]) if fits and isinstance(row[int(place)], str) else e

        formula = sp.sympify(formula).subs(case).replace(lambda e: isinstance(e, sp.Indexed), entry)
        return formula.subs({s: known[s.name] for s in formula.free_symbols if s.name in known})

    for given in entries_of_equation(equation, tuple(sorted(sizes.items())))[0]:
        value = number(given.formula, {index: sp.Integer(at) for index, at, _ in given.over})
        if isinstance(array, list) and given.position < len(array) and value.is_Rational:
            array[given.position] = str(value)


def _number_at_bounds(claim: Claim, name: str, known, near: Fraction) -> Fraction | None:
    """A number between the bounds that conditions with known numbers put on a name, ``near`` the lower one, or the upper one
    where the lower one is only its sign; None without bounds."""
    lows, highs = ([*_bounds(claim, name, known, relation)] for relation in (">=", "<="))
    if not lows and not highs:
        return None
    if any(c.strict for c in _hypotheses_about(claim, name)):
        near = min(_SQUARES, key=lambda square: abs(square - near))
    of_sign = [Fraction(0) for v in claim.variables if v.name == name and v.domain in ("positive", "nonnegative")]
    high = min(highs, default=None)
    if not lows:  # signs are no bounds to be met with equality
        return high - (1 - near) * (high - max(of_sign, default=Fraction(0)) if high > 0 else 1)
    low = max(lows)
    return low + (1 - near) * (high - low if high is not None else max(low, 1))


def _lies_within_bounds(claim: Claim, name: str, known, number: Fraction) -> bool:
    """Whether a number lies strictly between the bounds that conditions with known numbers put on a name."""
    lows, highs = ([*_bounds(claim, name, known, relation)] for relation in (">=", "<="))
    return all(low < number for low in lows) and all(number < high for high in highs)


def _bounds(claim: Claim, name: str, known, relation: str) -> Iterator[Fraction]:
    """Yields the largest, the least or the only numbers that conditions allow a name, if all else in them is known: the
    right sides of ``name relation ...``, and where a condition on a positive number changes from true to false."""
    for condition in _hypotheses_about(claim, name):
        left = condition.left.base.label if isinstance(condition.left, sp.Indexed) else condition.left
        if getattr(left, "name", "") == name and condition.relation == relation:
            number = _rational_value(condition.right, known)
            if number is not None:
                yield number
                continue
        if name not in known and relation in _ENDS and condition.relation in _ENDS and not condition.over:
            end = _last_number(condition, name, known, relation)
            if end is not None:
                yield end


def _rational_value(formula, known) -> Fraction | None:
    """The value of a formula, given the known names; None if it is not a rational number."""
    try:
        return _rational(formula, known)
    except _Irrational:
        number = formula.subs({s: known[s.name] for s in formula.free_symbols if s.name in known})
        return Fraction(int(number.p), int(number.q)) if number.is_Rational else None
    except LookupError:
        return None


class _Irrational(ValueError):
    """A formula has more than sums, products and whole powers, or divides by zero."""


def _rational(formula, known) -> Fraction:
    """The value of a formula of sums, products and whole powers, in a hundredth of the time that substitution takes. Raises
    LookupError for a name that is not known."""
    if formula.is_Rational:
        return Fraction(int(formula.p), int(formula.q))
    if formula.is_Symbol:
        return _rational(known[formula.name], known)
    if formula.is_Add:
        return sum((_rational(part, known) for part in formula.args), Fraction(0))
    if formula.is_Mul:
        parts = [_rational(part, known) for part in formula.args]
        return prod(parts[1:], start=parts[0])
    if formula.is_Pow and formula.exp.is_Integer:
        base = _rational(formula.base, known)
        if base or formula.exp > 0:
            return base ** int(formula.exp)
    raise _Irrational


@lru_cache(1024)
def _hypotheses_about(claim: Claim, name: str) -> list[Condition]:
    """The hypotheses that mention a name."""
    return [c for c in claim.hypotheses if name in names_in(c.left) | names_in(c.right)]


@lru_cache(4096)
def _gap(condition: Condition) -> tuple[Any, tuple[str, ...], set[str], Callable[..., list[float]] | None]:
    """The larger side less the smaller side of a condition without indices, the names of its numbers (none if it has
    arrays), the names in exponents, and a function of these numbers that returns both sides in floats."""
    left, right = (condition.left, condition.right) if condition.relation == "<=" else (condition.right, condition.left)
    gap = sp.sympify(right) - left
    powers = set().union(*(names_in(power.exp) for power in gap.atoms(sp.Pow)))
    numbers = [] if gap.has(sp.Indexed) else [*gap.free_symbols]
    try:
        sides = sp.lambdify(numbers, [sp.sympify(right), sp.sympify(left)], "math")
    except NotImplementedError:  # a word that has no floats
        sides = None
    return gap, (*(s.name for s in numbers),), powers, sides


def _last_number(condition: Condition, name: str, known, relation: str) -> Fraction | None:
    """The largest listed number at which a condition holds (for <=, if it holds at small numbers only), or the least one
    (for >=, if it holds at large numbers only); else None."""
    gap, names, powers, sides = _gap(condition)
    if name not in names or not {*names} <= {name, *known}:
        return None
    rounded = name in powers  # exact powers have millions of digits
    floats = {other: float(known[other]) for other in names if other in known}

    def fails(number: Fraction) -> bool:
        with suppress(ArithmeticError, NameError, TypeError, ValueError):  # what floats do not decide
            larger, smaller = sides(*(float(number) if other == name else floats[other] for other in names))
            if abs(larger - smaller) > FAR * max(abs(larger), abs(smaller)):
                return larger < smaller
        at = known | {name: sp.Rational(str(number))}
        with suppress(_Irrational):
            if not rounded:
                return _rational(gap, at) < 0
        at = {s: at[s.name] for s in gap.free_symbols}
        value = gap.evalf(30, subs=at) if rounded else gap.subs(at)
        return not (value.is_number and value.is_real and value.evalf(30) >= 0)

    small = relation == "<="
    if fails(_NUMBERS[0]) is small or fails(_NUMBERS[-1]) is not small:
        return None
    place = bisect(_NUMBERS, False, key=lambda number: fails(number) is small)
    return _NUMBERS[place - 1 if small else place]
