"""Whether conditions on parameters can hold together: a witness, or a set of them that exclude each other (by z3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sympy as sp

from bounds.claim import Condition

__all__ = ["Satisfiability", "Untranslatable", "satisfiable"]

_MILLISECONDS = 2000


class Untranslatable(ValueError):
    """A formula that is not algebraic in its parameters."""


@dataclass(frozen=True)
class Satisfiability:
    """``answer``: ``yes`` with a ``witness`` (exact numbers by name), ``no`` with a ``core`` of conditions that exclude
    each other, or ``unknown`` with the ``reason``. Whole numbers are treated as real ones of at least 1."""

    answer: str
    witness: dict[str, str] | None = None
    core: tuple[str, ...] = ()
    reason: str = ""


def satisfiable(conditions: Sequence[Condition], symbols: Sequence[sp.Symbol] = ()) -> Satisfiability:
    """Whether all conditions hold somewhere, each parameter within the sign that its symbol declares.

    ``core`` names conditions, and signs such as ``mu > 0``, of which no two halves suffice. What z3 answers is exact:
    it computes with algebraic numbers.
    """
    import z3

    solver, named = z3.Solver(), {}
    solver.set("timeout", _MILLISECONDS)
    solver.set("random_seed", 0)
    solver.set("unsat_core", True)
    try:
        reader = _Reader(z3)
        for number, condition in enumerate(conditions):
            left, right = reader.read(condition.left), reader.read(condition.right)
            text = f"{condition.left} {condition.relation} {condition.right}"
            named[f"c{number}"] = text
            solver.assert_and_track({"<=": left <= right, ">=": left >= right, "==": left == right}[condition.relation],
                                    f"c{number}")
        for symbol in symbols:
            reader.read(symbol)
        for number, (constraint, text) in enumerate(reader.signs()):
            named[f"s{number}"] = text
            solver.assert_and_track(constraint, f"s{number}")
        for constraint in reader.side:
            solver.add(constraint)
    except Untranslatable as reason:
        return Satisfiability("unknown", reason=str(reason))
    answer = solver.check()
    if answer == z3.unsat:
        return Satisfiability("no", core=tuple(named[str(c)] for c in solver.unsat_core()))
    if answer == z3.unknown:
        return Satisfiability("unknown", reason=f"not decided in {_MILLISECONDS / 1000:g} s")
    model = solver.model()
    return Satisfiability("yes", {name: str(model.eval(v, model_completion=True)) for name, v in reader.found.items()})


class _Reader:
    """sympy formulas as z3 terms over the reals."""

    def __init__(self, z3):
        self.z3, self.found, self.symbols, self.side = z3, {}, {}, []

    def signs(self):
        """The sign that each symbol declares, as (constraint, text)."""
        for name, symbol in self.symbols.items():
            term = self.found[name]
            if symbol.is_integer and symbol.is_positive:
                yield term >= 1, f"{name} >= 1"
            elif symbol.is_positive:
                yield term > 0, f"{name} > 0"
            elif symbol.is_nonnegative:
                yield term >= 0, f"{name} >= 0"

    def read(self, e):
        z3 = self.z3
        e = sp.sympify(e)
        if e.is_Rational:
            return z3.RealVal(f"{e.p}/{e.q}")
        if e.is_Symbol:
            self.symbols.setdefault(e.name, e)
            return self.found.setdefault(e.name, z3.Real(e.name))
        if e.is_Add:
            return z3.Sum([self.read(a) for a in e.args])
        if e.is_Mul:
            return z3.Product([self.read(a) for a in e.args])
        if e.is_Pow and e.exp.is_Rational:
            return self.power(self.read(e.base), e.exp)
        if isinstance(e, sp.Max | sp.Min):
            parts = [self.read(a) for a in e.args]
            best = parts[0]
            for part in parts[1:]:
                best = z3.If((best >= part) if isinstance(e, sp.Max) else (best <= part), best, part)
            return best
        if isinstance(e, sp.Abs):
            inner = self.read(e.args[0])
            return z3.If(inner >= 0, inner, -inner)
        raise Untranslatable(f"{e} is not algebraic in its parameters")

    def power(self, base, exponent):
        z3, root = self.z3, base
        if exponent.q > 1:
            root = z3.Real(f"root{len(self.side)}")
            self.side += [root >= 0, z3.Product([root] * int(exponent.q)) == base]
        raised = z3.Product([root] * abs(int(exponent.p)))
        if exponent > 0:
            return raised
        self.side.append(raised != 0)
        return 1 / raised
