"""Whether conditions on parameters can hold together, by z3: a witness, or a minimal set that cannot."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import sympy as sp

from bounds.language.claim import Condition
from verify.prove.z3_process import STEPS, ask

__all__ = ["Fact", "Satisfiability", "Untranslatable", "satisfiable"]


class Untranslatable(ValueError):
    """A formula that is not algebraic in its parameters."""


@dataclass(frozen=True)
class Fact:
    """``conclusion`` holds wherever all ``premises`` do; ``name`` says why."""

    name: str
    conclusion: Condition
    premises: tuple[Condition, ...] = ()

    def __str__(self):
        said = " and ".join(f"{c.left} {c.sign} {c.right}" for c in self.premises)
        conclusion = f"{self.conclusion.left} {self.conclusion.sign} {self.conclusion.right}"
        return f"{conclusion}{f' where {said}' if said else ''}{f' ({self.name})' if self.name else ''}"


@dataclass(frozen=True)
class Satisfiability:
    """``answer``: ``yes`` with a ``witness`` (exact numbers by name), ``no`` with a ``core`` of conditions that exclude each
    other, or ``unknown`` with the ``reason``. Integers are relaxed to real numbers of at least 1."""

    answer: str
    witness: dict[str, str] | None = None
    core: tuple[str, ...] = ()
    reason: str = ""


def satisfiable(conditions: Sequence[Condition | Fact], symbols: Sequence[sp.Symbol] = (), core: bool = True,
                steps: int = STEPS) -> Satisfiability:
    """Whether some numbers satisfy all conditions, each with the sign that its symbol declares. A condition whose sides have
    no value does not hold, and a fact says nothing where its premises have none.

    ``core`` names conditions, and signs such as ``mu > 0``; it is minimal. The answer is exact, because z3 computes with
    algebraic numbers. It depends neither on the machine nor on earlier questions, because the effort is counted in z3's
    ``steps``. Without ``core`` all conditions are named, which is faster.
    """
    reader = _Reader()
    try:
        named = [(str(c if isinstance(c, Fact) else Fact("", c)), reader.relation(c)) for c in conditions]
        for symbol in symbols:
            reader.read(symbol)
    except Untranslatable as reason:
        return Satisfiability("unknown", reason=str(reason))
    named += list(reader.signs())
    found = _cached_answer((*reader.symbols, *reader.roots.values()), (*(formula for _, formula in named),),
                   (*reader.always,), steps, core)
    if found["answer"] == "unknown":
        return Satisfiability("unknown", reason=f"not decided in {steps} steps of z3")
    if found["answer"] == "unsat":
        return Satisfiability("no", core=tuple(named[position][0] for position in found["core"]))
    return Satisfiability("yes", {name: found["model"][name] for name in reader.symbols})


@lru_cache(256)
def _cached_answer(names: tuple[str, ...], constraints: tuple[str, ...], always: tuple[str, ...], steps: int,
                   core: bool) -> dict:
    return ask(names, constraints, always, steps, core=core)


class _Reader:
    """Translates sympy formulas to SMT-LIB terms over the reals. A condition holds only where both sides have a value, as
    ``side`` collects it; a root has its meaning (``always``) where its base is not negative, and any value elsewhere."""

    def __init__(self):
        self.symbols: dict[str, sp.Symbol] = {}
        self.roots: dict[tuple[str, int], str] = {}
        self.always: list[str] = []
        self.side: list[str] = []

    def signs(self):
        """The sign that each symbol declares, as (text, formula)."""
        for name, symbol in self.symbols.items():
            if symbol.is_integer and symbol.is_positive:
                yield f"{name} >= 1", f"(>= |{name}| 1)"
            elif symbol.is_positive:
                yield f"{name} > 0", f"(> |{name}| 0)"
            elif symbol.is_nonnegative:
                yield f"{name} >= 0", f"(>= |{name}| 0)"

    def relation(self, c: Condition | Fact) -> str:
        if isinstance(c, Fact):
            premises = " ".join(map(self.relation, c.premises))
            return f"(=> (and {premises}) {self.relation(c.conclusion)})" if premises else self.relation(c.conclusion)
        sign, self.side = "=" if c.sign == "==" else c.sign, []
        compared = f"({sign} {self.read(c.left)} {self.read(c.right)})"
        return f"(and {' '.join(dict.fromkeys(self.side))} {compared})" if self.side else compared

    def read(self, e) -> str:
        e = sp.sympify(e)
        if e.is_Rational:
            number = f"(/ {abs(e.p)}.0 {e.q}.0)"
            return number if e.p >= 0 else f"(- {number})"
        if e.is_Symbol:
            self.symbols.setdefault(e.name, e)
            return f"|{e.name}|"
        if e.is_Add or e.is_Mul:
            return f"({'+' if e.is_Add else '*'} {' '.join(map(self.read, e.args))})"
        if e.is_Pow and e.exp.is_Rational:
            return self.power(e.base, e.exp)
        if isinstance(e, sp.Max | sp.Min):
            best, *others = map(self.read, e.args)
            for other in others:
                best = f"(let ((a {best}) (b {other})) (ite ({'>=' if isinstance(e, sp.Max) else '<='} a b) a b))"
            return best
        if isinstance(e, sp.Abs):
            return f"(let ((a {self.read(e.args[0])})) (ite (>= a 0.0) a (- a)))"
        raise Untranslatable(f"{e} is not algebraic in its parameters")

    def power(self, base, exponent) -> str:
        root = self.read(base)
        if exponent.q > 1:
            root = self.root(root, exponent.q, sure=base.is_nonnegative)
        raised = _times(root, abs(exponent.p))
        if exponent > 0:
            return raised
        if not base.is_nonzero:
            self.side.append(f"(not (= {raised} 0.0))")
        return f"(/ 1.0 {raised})"

    def root(self, base: str, degree: int, sure: bool) -> str:
        if not sure:
            self.side.append(f"(>= {base} 0.0)")
        if (base, degree) not in self.roots:
            name = self.roots[base, degree] = f"@root{len(self.roots)}"
            meaning = f"(and (>= |{name}| 0.0) (= {_times(f'|{name}|', degree)} {base}))"
            self.always.append(meaning if sure else f"(=> (>= {base} 0.0) {meaning})")
        return f"|{self.roots[base, degree]}|"


def _times(term, count) -> str:
    """The product of ``count`` equal terms."""
    return term if count == 1 else f"(* {' '.join([term] * int(count))})"
