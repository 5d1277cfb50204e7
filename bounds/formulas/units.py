"""Units of expressions, as powers of the loss's and the parameter's unit: known ones are checked, unknown ones derived.

Under ``x -> a x`` and ``F -> c F`` a quantity of unit ``loss^p parameter^q`` is multiplied by ``c^p a^q``. A formula with
terms that scale differently cannot hold for all problems unless some constant hides a unit.
"""

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import import_module

import sympy as sp

from bounds.language import operators
from bounds.language.claim import Claim, Condition
from bounds.language.names import LOSS, NAMES, ONE, PARAMETER, Unit

__all__ = ["BASE", "Clash", "Unit", "check_units", "parse_unit", "unit_of_sides", "unit_text", "units_of",
           "units_where"]

_LONGEST = 100  # characters of a unit

#: units of the language's own names
BASE: dict[str, Unit] = {row.name: row.unit for row in NAMES.values() if row.unit is not None}


@dataclass(frozen=True)
class Clash:
    """Terms of one sum, or sides of one relation, with different units.

    ``groups`` has the terms by unit, each as (unit in words, terms as text). ``fixed_units``: some terms consist of pure
    numbers, so the formula presumes fixed units. ``alike_if`` names the kind of quantity (``gradients``, say) that must
    count as a pure number for the units to agree; empty if there is no single one.
    """

    where: str
    groups: tuple[tuple[str, tuple[str, ...]], ...]
    fixed_units: bool = False
    alike_if: str = ""

    def text(self) -> str:
        """The clash as a sentence."""
        said = "; ".join(f"{', '.join(terms)} {'have' if len(terms) > 1 else 'has'} unit {unit}"
                         for unit, terms in self.groups)
        said += f" (alike if {self.alike_if} are pure numbers)" if self.alike_if else ""
        return f"{self.where}: {said}"


def parse_unit(text: str) -> Unit | None:
    """The unit in a definition's words, for example ``(loss/parameter)^2``; None if they are not a unit.

    Example:
        >>> tuple(map(int, parse_unit("(loss/parameter)^2")))
        (2, -2)
    """
    cleaned = re.sub(r"[^a-z0-9^*/().\\-]", "", text.replace("²", "^2")).replace("^", "**")
    try:
        return _powers(ast.parse(cleaned, mode="eval").body) if len(cleaned) <= _LONGEST else None
    except (SyntaxError, ValueError, ZeroDivisionError):
        return None


def _powers(node: ast.AST) -> Unit:
    """The powers of loss and parameter in a product of powers; ValueError for anything else."""
    match node:
        case ast.Name("loss" | "parameter"):
            return LOSS if node.id == "loss" else PARAMETER
        case ast.Constant():
            _number(node)
            return ONE
        case ast.BinOp(left, ast.Mult() | ast.Div(), right):
            sign = 1 if isinstance(node.op, ast.Mult) else -1
            (loss, parameter), (more, further) = _powers(left), _powers(right)
            return loss + sign * more, parameter + sign * further
        case ast.BinOp(base, ast.Pow(), exponent):
            power, (loss, parameter) = _number(exponent), _powers(base)
            return loss * power, parameter * power
    raise ValueError("no product of powers")


def _number(node: ast.AST) -> Fraction:
    match node:
        case ast.Constant(int() | float()) if abs(node.value) < 1000:
            return Fraction(str(node.value))
        case ast.UnaryOp(ast.USub(), inner):
            return -_number(inner)
        case ast.BinOp(above, ast.Div(), below):
            return _number(above) / _number(below)
    raise ValueError("no number")


def unit_text(unit: Unit) -> str:
    """A unit in words, for example ``loss^2/parameter^2``; ``1`` for pure numbers."""
    def power(name, p):
        return name if p == 1 else f"{name}^{p}" if isinstance(p, Fraction | int) else f"{name}^({p})"

    def falls(p):
        return isinstance(p, Fraction | int) and p < 0

    named = list(zip(("loss", "parameter"), unit, strict=True))
    above = [power(n, p) for n, p in named if not _is_zero(p) and not falls(p)]
    below = [power(n, -p) for n, p in named if falls(p)]
    return ("*".join(above) or "1") + "".join(f"/{part}" for part in below)


# a unit with unknowns: a constant and multiples of unknown names in each power --------------------------------------------
def _is_zero(power) -> bool:
    """Whether a power is 0; it is a fraction, or a formula of pure numbers from an exponent."""
    return sp.cancel(power) == 0 if isinstance(power, sp.Expr) else power == 0


@dataclass(frozen=True)
class _LinearForm:
    constant: Unit = ONE
    unknown: Mapping[str, Fraction] = field(default_factory=dict)

    def plus(self, other, factor=Fraction(1)):
        unknown = dict(self.unknown)
        for name, share in other.unknown.items():
            unknown[name] = unknown.get(name, Fraction(0)) + factor * share
        constant = tuple(a + factor * b for a, b in zip(self.constant, other.constant, strict=True))
        return _LinearForm(constant, {n: s for n, s in unknown.items() if not _is_zero(s)})

    @property
    def pure(self) -> bool:
        return not self.unknown and all(map(_is_zero, self.constant))


#: kinds of quantities, by the direction of the difference of two units
_KINDS = {(1, 0): "losses", (0, 1): "parameters", (1, -1): "gradients", (1, -2): "curvatures"}


def _alike_if(gaps) -> str:
    """The kind of quantity that has powers equal to all differences of units; empty if there is none."""
    for (loss, parameter), kind in _KINDS.items():
        if all(_is_zero(a * parameter - b * loss) for a, b in gaps):
            return kind
    return ""


class _Checker:
    def __init__(self, known: Mapping[str, Unit], definitions):
        self.known, self.definitions = dict(known), definitions
        self.solved: dict[str, _LinearForm] = {}
        self.clashes: list[Clash] = []
        self.where = ""

    def reduced(self, form: _LinearForm) -> _LinearForm:
        while any(name in self.solved for name in form.unknown):
            name = next(n for n in form.unknown if n in self.solved)
            share = form.unknown[name]
            rest = _LinearForm(form.constant, {n: s for n, s in form.unknown.items() if n != name})
            form = rest.plus(self.solved[name], share)
        return form

    def same(self, forms, terms) -> _LinearForm:
        """Demand that units are equal, and return the common unit. Solve for an unknown if that makes them equal.

        After a clash the common unit is a new unknown, so that one slip is reported once.
        """
        groups: list[tuple[_LinearForm, list]] = []
        for form, term in zip(forms, terms, strict=True):
            for known, alike in groups:
                gap = self.reduced(known.plus(form, Fraction(-1)))
                if gap.unknown:
                    name, share = next(iter(sorted(gap.unknown.items())))
                    rest = _LinearForm(gap.constant, {n: s for n, s in gap.unknown.items() if n != name})
                    self.solved[name] = _LinearForm().plus(rest, -1 / share)
                if gap.unknown or gap.pure:
                    alike.append(term)
                    break
            else:
                groups.append((form, [term]))
        if len(groups) == 1:
            return groups[0][0]
        self.clash([(self.reduced(form).constant, alike) for form, alike in groups])
        return _LinearForm(unknown={f"?{len(self.clashes)}": Fraction(1)})

    def clash(self, groups):
        first = groups[0][0]
        gaps = [tuple(a - b for a, b in zip(unit, first, strict=True)) for unit, _ in groups[1:]]
        fixed = any(all(map(_is_zero, unit)) and all(map(self.of_numbers, terms)) for unit, terms in groups)
        said = tuple((unit_text(unit), tuple(dict.fromkeys(map(str, terms)))) for unit, terms in groups)
        found = Clash(self.where, said, fixed, _alike_if(gaps))
        if found not in self.clashes:
            self.clashes.append(found)

    @staticmethod
    def of_numbers(term) -> bool:
        """Whether a term consists of numbers, sizes and pure hyper-parameters."""
        return not isinstance(term, str) and all(
            s.is_integer or (s.is_Symbol and BASE.get(s.name) == ONE) for s in term.free_symbols)

    def name(self, name: str) -> _LinearForm:
        if name in self.known:
            return _LinearForm(self.known[name])
        definition = self.definitions.get(name)
        unit = parse_unit(definition.unit) if definition is not None else None
        return _LinearForm(unit) if unit is not None else _LinearForm(unknown={name: Fraction(1)})

    def unit(self, e) -> _LinearForm:
        if e.is_number:
            return _LinearForm()
        if e.is_Symbol:
            return _LinearForm() if e.is_integer else self.name(e.name)
        if isinstance(e, sp.Indexed):
            return self.name(str(e.base.label))
        if e.is_Add or isinstance(e, sp.Max | sp.Min):
            return self.alike([a for a in e.args if a != 0])
        if e.is_Mul:
            total = _LinearForm()
            for a in e.args:
                total = total.plus(self.unit(a))
            return total
        if e.is_Pow:
            return self.power(*e.as_base_exp())
        if isinstance(e, sp.Sum):
            return self.unit(e.function)
        if isinstance(e, sp.Product):
            self.pure(e.function)
            return _LinearForm()
        return self.word(e)

    def alike(self, parts) -> _LinearForm:
        return self.same([self.unit(part) for part in parts], parts)

    def power(self, base, exponent) -> _LinearForm:
        inner = self.unit(base)
        if exponent.is_Rational:
            return _LinearForm().plus(inner, Fraction(int(exponent.p), int(exponent.q)))
        self.pure(exponent)
        inner = self.reduced(inner)
        return inner if inner.pure else _LinearForm().plus(inner, exponent)

    def pure(self, e):
        self.same([self.unit(e), _LinearForm()], [e, "a pure number"])

    def word(self, e) -> _LinearForm:
        if isinstance(e, operators.Operator) and e.unit is not None:
            for point in (a for position, a in enumerate(e.args) if position not in e.indices):
                self.same([self.unit(point), _LinearForm(PARAMETER)], [point, "a model"])
            return _LinearForm(e.unit)
        if isinstance(e, operators.Operator) and e.unit_powers:
            if e.alike:
                self.alike([e.args[n] for n in e.alike if e.args[n] != 0])
            total = _LinearForm()
            for number, power in e.unit_powers:
                total = total.plus(self.unit(e.args[number]), Fraction(str(power)))
            return total
        if isinstance(e, sp.exp | sp.log):
            self.pure(e.args[0])
            return _LinearForm()
        if isinstance(e, sp.Abs | sp.Mod | sp.floor | sp.ceiling):
            return self.unit(e.args[0])
        return _LinearForm(unknown={f"{type(e).__name__}(...)": Fraction(1)})

    def define(self, claim: Claim):
        for definition in claim.used_definitions().values():
            self.where = f"definition of {definition.name}"
            terms = [term for term in sp.Add.make_args(sp.sympify(definition.formula)) if term != 0]
            self.same([self.name(definition.name), *map(self.unit, terms)], [sp.Symbol(definition.name), *terms])

    def condition(self, condition: Condition, where: str):
        self.where = where
        terms = [term for side in (condition.left, condition.right) for term in sp.Add.make_args(side) if term != 0]
        if terms:
            self.alike(terms)


def check_units(claim: Claim) -> tuple[list[Clash], dict[str, Unit]]:
    """The clashes of a claim's units, and the units derived for names without a given one.

    Units are given by the language, by the paper, and by definitions.
    """
    checker = _Checker(_given_units(claim), claim.definitions)
    checker.define(claim)
    for number, condition in enumerate(claim.hypotheses):
        checker.condition(condition, f"hypothesis {number + 1}")
    if claim.statement is not None:
        checker.condition(claim.statement, "statement")
    derived = {name: checker.reduced(_LinearForm(unknown={name: Fraction(1)})) for name in checker.solved}
    return checker.clashes, {name: form.constant for name, form in derived.items()
                             if not form.unknown and not name.startswith("?")}


def units_of(claim: Claim) -> dict[str, Unit]:
    """Units of the names in a claim, given and derived ones."""
    return {**_given_units(claim), **check_units(claim)[1]}


def unit_of_sides(claim: Claim) -> Unit | None:
    """The unit of what a claim's statement bounds; None where it is not known."""
    return units_where(claim, units_of(claim), [claim.statement.left])[0]


def units_where(claim: Claim, known: Mapping[str, Unit], expressions: Iterable[sp.Expr]) -> list[Unit | None]:
    """Units of expressions in which names have the ``known`` units; None for one whose terms differ, or whose unit is not
    known."""
    checker, found = _Checker(known, claim.definitions), []
    checker.define(claim)
    for expression in expressions:
        clashes = len(checker.clashes)
        form = checker.reduced(checker.unit(expression))
        fits = len(checker.clashes) == clashes and not form.unknown and all(isinstance(p, Fraction) for p in form.constant)
        found.append(form.constant if fits else None)
    return found


def _given_units(claim: Claim) -> dict[str, Unit]:
    """Units that the language and the paper give to names. A number that a claim declares is not the vector of that name."""
    other = {v.name for v in claim.variables if v.name in NAMES and NAMES[v.name].kind == "vector" and v.domain != "vector"}
    return {name: unit for name, unit in BASE.items() if name not in other} | _of_file(claim)


def _of_file(claim: Claim) -> Mapping[str, Unit]:
    units = import_module("bounds.registry.papers").units_of(claim)  # above
    return {name: parse_unit(unit) for name, unit in units.items()}
