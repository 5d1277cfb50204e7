"""Measured quantities as free numbers: what a statement says of its quantities by arithmetic alone.

Expectations and sums are linear: they are split at sums, and numbers are taken out of them. What is left (a mean squared
norm, a defined quantity at an index, a sum of such) becomes one symbol, the same for the same quantity everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from bounds import language as words
from bounds.claim import Claim, Condition

__all__ = ["FreeNumbers"]

#: indexed names that are no vectors, and never negative; a client that is not convex has a negative mu_client
_NEVER_NEGATIVE = {
    "eta_l", "epsilon", "included", "priority", "client_weight", "sampled", "sampled_weight", "sigma_sq_client", "L_client",
    "sigma_g_client", "differing", "replaced", "tracked"}
_OF_A_RUN = (sp.Indexed, words.E, words.E_round, words.F, words.grad, words.objective, words.objective_grad, words.norm2,
             words.norm, words.dot, words.tau, words.PaperWord)
_NUMBERS_OF_A_RUN = (sp.Indexed, words.F, words.objective, words.norm2, words.norm, words.dot)


class FreeNumbers:
    """Reads expressions of one claim and of those it rests on.

    Args:
        claim: whose hypotheses say what symbols and entries of sequences are.
        put_in: whether definitions are put in, or keep their names.
        pins: whole numbers for symbols of sizes and for the indices of the statement, put in everywhere.
    """

    def __init__(self, claim: Claim, put_in: bool = False, pins: Mapping[sp.Symbol, int] | None = None):
        self.definitions, self.put_in = claim.definitions, put_in
        self.pins = dict(pins or {})
        self.sizes = {s: value for s, value in self.pins.items() if s.is_positive}
        self.names: dict[sp.Expr, sp.Symbol] = {}
        self.open: set[sp.Symbol] = set()
        self.entries = {
            str(c.left.base.label): (c.left.indices, c.right) for c in claim.hypotheses
            if c.relation == "==" and isinstance(c.left, sp.Indexed) and all(i.is_Symbol for i in c.left.indices)}
        self.values = {c.left: c.right for c in claim.hypotheses
                       if c.relation == "==" and c.left.is_Symbol and not c.over and c.left not in c.right.free_symbols}

    def condition(self, condition: Condition) -> Condition:
        """The condition between numbers, without its range of indices."""
        return Condition(self.number(condition.left), condition.relation, self.number(condition.right))

    def number(self, e) -> sp.Expr:
        """The expression with each quantity in place of which it has a symbol."""
        e = sp.sympify(e).subs(self.pins)  # which leaves alone the index of a sum
        return self._number(self._with_definitions(e) if self.put_in else e)

    def _with_definitions(self, e):
        for _ in range(20):
            known = [a for a in e.atoms(sp.Indexed, sp.Symbol) if _name(a) in self.definitions]
            known = [a for a in known if len(getattr(a, "indices", ())) == len(self.definitions[_name(a)].indices)]
            if not known:
                return e
            e = e.xreplace({a: self.definitions[_name(a)].formula.xreplace(
                dict(zip(self.definitions[_name(a)].indices, getattr(a, "indices", ()), strict=True)) | self.sizes)
                for a in known})
        return e

    def _number(self, e):
        if e.is_number:
            return e
        if e.is_Symbol and e in self.values and e not in self.open:
            self.open.add(e)  # conditions may define two symbols by each other
            value = self.number(self.values[e])
            self.open.remove(e)
            return value
        if e.is_Symbol:
            return self._symbol(e) if e == words.x_star or e.name in self.definitions else e
        if isinstance(e, sp.Indexed) and str(e.base.label) in self.entries:
            indices, value = self.entries[str(e.base.label)]
            return self._number(value.xreplace(dict(zip(indices, e.indices, strict=True)) | self.sizes))
        if isinstance(e, words.E) and len(e.args) == 1:
            return self._linear(e.args[0], words.E)
        if isinstance(e, sp.Sum):
            return self._sum(e)
        if isinstance(e, (*_OF_A_RUN, sp.Product)):
            return self._symbol(e)
        if e.is_Add or e.is_Mul or isinstance(e, sp.Max | sp.Min | sp.Abs) or (e.is_Pow and e.exp.is_Rational):
            return e.func(*map(self._number, e.args))
        return self._symbol(e)

    def _linear(self, body, around):
        """The expectation of a body, term by term."""
        terms = [self._one_term(term, around) for term in sp.Add.make_args(sp.expand_mul(body))]
        return sp.Add(*terms)

    def _one_term(self, term, around):
        outside, inside = term.as_independent(*_OF_A_RUN, sp.Sum, sp.Product, words.x_star, as_Add=False)
        if inside == 1:
            return self._number(outside)
        if isinstance(inside, sp.Sum):
            return self._number(outside) * self._sum(sp.Sum(around(inside.function), *inside.limits))
        return self._number(outside) * self._symbol(inside if isinstance(inside, around) else around(inside))

    def _sum(self, e):
        """A sum, term by term and index by index; sums of what is read one index later are read one index earlier."""
        body, (first, *more) = e.function, e.limits
        index, low, high = first
        if more:
            return self._sum_of(sp.Sum(body, first), more)
        found = []
        for term in sp.Add.make_args(sp.expand_mul(self._opened(body))):
            outside, inside = term.as_independent(index, as_Add=False)
            if inside == 1:
                found.append(self._number(outside) * self._number(high - low + 1))
                continue
            inner = {limit[0] for a in inside.atoms(sp.Sum, sp.Product) for limit in a.limits}
            earlier = inside.xreplace({index + 1: sp.Dummy()})
            if index not in earlier.free_symbols | inner:
                before = inside.xreplace({index: index - 1})
                ends = self._number(before.xreplace({index: high + 1})) - self._number(before.xreplace({index: low}))
                found.append(self._number(outside) * (self._symbol(sp.Sum(before, (index, low, high))) + ends))
            else:
                found.append(self._number(outside) * self._symbol(sp.Sum(inside, (index, low, high))))
        return sp.Add(*found)

    def _sum_of(self, body, more):
        parts = []
        for term in sp.Add.make_args(sp.expand_mul(self._opened(body.function))):
            bound = [body.limits[0][0], *(limit[0] for limit in more)]
            outside, inside = term.as_independent(*bound, as_Add=False)
            if inside == 1:
                parts.append(self._symbol(sp.Sum(term, *body.limits, *more)))
            else:
                parts.append(self._number(outside) * self._symbol(sp.Sum(inside, *body.limits, *more)))
        return sp.Add(*parts)

    def _opened(self, body):
        """A sum's body with sequences put in and expectations split."""
        body = body.replace(lambda a: isinstance(a, sp.Indexed) and str(a.base.label) in self.entries, self._entry)
        return body.replace(lambda a: isinstance(a, words.E) and len(a.args) == 1, _split)

    def _entry(self, a):
        indices, value = self.entries[str(a.base.label)]
        return value.xreplace(dict(zip(indices, a.indices, strict=True)) | self.sizes)

    def _symbol(self, e):
        if e not in self.names:
            sign = {"nonnegative": True} if self.never_negative(e) else {"real": True}
            self.names[e] = sp.Symbol(f"quantity{len(self.names) + 1}", **sign)
        return self.names[e]

    def never_negative(self, e) -> bool:
        """Whether the quantity is at least 0 by how it is made; a False says nothing."""
        if isinstance(e, words.norm | words.norm2):
            return True
        if isinstance(e, words.E | words.E_round):
            return self.never_negative(e.args[0])
        if isinstance(e, sp.Sum | sp.Product):
            return self.never_negative(e.function)
        if isinstance(e, sp.Indexed | sp.Symbol) and _name(e) in self.definitions:
            return self.never_negative(self.definitions[_name(e)].formula) or bool(e.is_nonnegative)
        if isinstance(e, sp.Indexed):
            return _name(e) in _NEVER_NEGATIVE or (_name(e) in self.entries and self.never_negative(self._entry(e)))
        if e.is_Add or e.is_Mul:
            return all(map(self.never_negative, e.args))
        if e.is_Pow:
            return bool(e.exp.is_even) or self.never_negative(e.base)
        return bool(e.is_nonnegative)

    def parts(self, e) -> set:
        """The measured numbers that a quantity is made of: losses, lengths, products, entries of sequences."""
        if isinstance(e, _NUMBERS_OF_A_RUN):
            return {e}
        return set().union(*map(self.parts, e.args))

    @property
    def transcendental(self) -> list[sp.Expr]:
        """Functions of parameters that are no quantities of a run, such as powers with a free exponent."""
        return [e for e in self.names if not e.has(*_OF_A_RUN) and not isinstance(e, sp.Sum)
                and _name(e) not in self.definitions]


def _name(e) -> str:
    return str(e.base.label) if isinstance(e, sp.Indexed) else getattr(e, "name", "")


def _split(e):
    """An expectation as a sum of expectations, numbers taken out."""
    terms = []
    for term in sp.Add.make_args(sp.expand_mul(e.args[0])):
        outside, inside = term.as_independent(*_OF_A_RUN, sp.Sum, words.x_star, as_Add=False)
        terms.append(outside * (words.E(inside) if inside != 1 else 1))
    return sp.Add(*terms)
