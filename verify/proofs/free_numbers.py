"""Measured quantities as free numbers, so that arithmetic alone can compare statements.

Expectations and sums are linear: they are split at sums, and factors that are numbers are taken out. What remains (a mean
squared norm, a quantity at an index, a sum of such) becomes one symbol, the same for the same quantity everywhere.
"""

from collections.abc import Mapping

import sympy as sp

from bounds.language import words
from bounds.language.claim import Claim, Condition
from bounds.language.names import NAMES, symbol
from verify.claims.method import recorded_by_methods

__all__ = ["FreeNumbers", "at_least", "resolved"]

#: arrays of numbers whose entries are at least 0
_NEVER_NEGATIVE = {row.name for row in NAMES.values() if row.indices and row.sign in ("positive", "nonnegative")} | {
    name for name, record in recorded_by_methods().items() if record.nonnegative}

#: states that start at the first model
_AT_START = {symbol(name)[0]: words.x_round[0] for name, record in recorded_by_methods().items() if record.starts_at_model}
_OF_A_RUN = (sp.Indexed, words.E, words.E_round, words.F, words.grad, words.objective, words.objective_grad, words.norm2,
             words.norm, words.dot, words.tau, words.FurtherOperator)
_NUMBERS_OF_A_RUN = (sp.Indexed, words.F, words.objective, words.norm2, words.norm, words.dot)


class FreeNumbers:
    """Reads expressions of one claim and of its premises, with all definitions put in.

    ``names`` collects the quantities that became symbols.

    Args:
        claim: its hypotheses define symbols and entries of sequences.
        pins: whole numbers for sizes and for the indices of the statement, put in everywhere.
    """

    def __init__(self, claim: Claim, pins: Mapping[sp.Symbol, int] | None = None):
        self.definitions = claim.definitions
        self.pins = dict(pins or {})
        self.sizes = {s: value for s, value in self.pins.items() if s.is_positive}
        self.names: dict[sp.Expr, sp.Symbol] = {}
        self.open: set[sp.Symbol] = set()
        self.entries = {
            name: (c.left.indices, c.right) for name, c in claim.defining.items() if isinstance(c.left, sp.Indexed)}
        self.values = {c.left: c.right for c in claim.defining.values() if c.left.is_Symbol}

    def condition(self, condition: Condition) -> Condition:
        """Return the condition on free numbers, without its range of indices."""
        return Condition(self.number(condition.left), condition.relation, self.number(condition.right))

    def number(self, e) -> sp.Expr:
        """Replace every quantity in the expression by its symbol."""
        e = sp.sympify(e).subs(self.pins)  # unlike xreplace, this leaves the index of a sum
        e = self.written_out(e).xreplace(_AT_START)
        return self._number(e.replace(lambda a: isinstance(a, words.norm | words.norm2), _of_either_sign))

    def written_out(self, e) -> sp.Expr:
        """Replace defined quantities by their formulas."""
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
            return self._number(self._entry(e))
        if _is_mean(e):
            return sp.Add(*(self._mean_of_term(term, e) for term in sp.Add.make_args(sp.expand_mul(e.args[0]))))
        if isinstance(e, sp.Sum):
            return self._sum(e)
        if isinstance(e, (*_OF_A_RUN, sp.Product)):
            return self._symbol(e)
        if e.is_Add or e.is_Mul or isinstance(e, sp.Max | sp.Min | sp.Abs) or (e.is_Pow and e.exp.is_Rational):
            return e.func(*map(self._number, e.args))
        return self._symbol(e)

    def _mean_of_term(self, term, mean):
        """Read the expectation of one term as ``mean`` takes it: over all chance, or given the rounds before."""
        outside, inside = term.as_independent(*_OF_A_RUN, sp.Sum, sp.Product, words.x_star, as_Add=False)
        if inside == 1:
            return self._number(outside)
        if isinstance(inside, sp.Sum):
            return self._number(outside) * self._sum(sp.Sum(mean.func(inside.function, *mean.args[1:]), *inside.limits))
        whole = _mean_of(inside, mean)
        return self._number(outside) * (self._symbol(whole) if _of_means(inside, mean) is None else self._number(whole))

    def _sum(self, e):
        """Read a sum term by term; factors without its indices are taken out."""
        found, (index, low, high) = [], e.limits[0]
        for term in sp.Add.make_args(sp.expand_mul(self._opened(e.function))):
            outside, inside = term.as_independent(*(limit[0] for limit in e.limits), as_Add=False)
            if len(e.limits) > 1:
                outside, inside = (sp.S.One, term) if inside == 1 else (outside, inside)
                total = self._symbol(sp.Sum(inside, *e.limits))
            else:
                total = self._number(high - low + 1) if inside == 1 else self._sum_of_one(inside, index, low, high)
            found.append(self._number(outside) * total)
        return sp.Add(*found)

    def _sum_of_one(self, term, index, low, high):
        """Read a sum of one term; a sum of entries at index + 1 becomes one of entries at index, plus ends."""
        if self.pins and low.is_Integer and high.is_Integer and not term.has(*_OF_A_RUN):
            return sp.Add(*(self._number(term.subs(index, i)) for i in range(int(low), int(high) + 1)))
        inner = {limit[0] for a in term.atoms(sp.Sum, sp.Product) for limit in a.limits}
        for shift in (1, -1):
            if index in term.xreplace({index + shift: sp.Dummy()}).free_symbols | inner:
                continue
            there = term.xreplace({index: index - shift})
            new, old = (high + 1, low) if shift == 1 else (low - 1, high)
            ends = self._number(there.xreplace({index: new})) - self._number(there.xreplace({index: old}))
            return self._symbol(sp.Sum(there, (index, low, high))) + ends
        return self._symbol(sp.Sum(term, (index, low, high)))

    def _opened(self, body):
        """Put sequences into the body of a sum, and split its expectations."""
        body = body.replace(lambda a: isinstance(a, sp.Indexed) and str(a.base.label) in self.entries, self._entry)
        return body.replace(_is_mean, _split)

    def _entry(self, a):
        indices, value = self.entries[str(a.base.label)]
        return value.xreplace(dict(zip(indices, a.indices, strict=True)) | self.sizes)

    def _symbol(self, e):
        if e not in self.names:
            sign = "positive" if e.is_positive else "nonnegative" if self.never_negative(e) else "real"
            self.names[e] = sp.Symbol(f"quantity{len(self.names) + 1}", **{sign: True})
        return self.names[e]

    def never_negative(self, e) -> bool:
        """Whether the quantity's form shows that it is at least 0; False means that this is unknown."""
        if isinstance(e, words.norm | words.norm2):
            return True
        if isinstance(e, words.E | words.E_round | sp.Sum | sp.Product):
            return self.never_negative(e.args[0])
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
        """Return the measured numbers in a quantity: losses, norms, inner products, entries of sequences."""
        if isinstance(e, _NUMBERS_OF_A_RUN):
            return {e}
        return set().union(*map(self.parts, e.args))

    @property
    def transcendental(self) -> list[sp.Expr]:
        """The functions of parameters alone among the names, such as powers with a free exponent."""
        return [e for e in self.names if not e.has(*_OF_A_RUN) and e != words.x_star and _name(e) not in self.definitions]


def _name(e) -> str:
    return str(e.base.label) if isinstance(e, sp.Indexed) else getattr(e, "name", "")


def _is_mean(e) -> bool:
    """Whether it is an expectation over all chance, or given the rounds before one."""
    return isinstance(e, words.E_round) or (isinstance(e, words.E) and len(e.args) == 1)


def _of_means(inner, outer):
    """Return the expectation that remains of ``outer`` of ``inner`` (tower property); None if there is none, or unknown."""
    if not _is_mean(inner):
        return None
    if isinstance(inner, words.E) or isinstance(outer, words.E):
        return inner if isinstance(inner, words.E) else outer
    if at_least(inner.args[1], outer.args[1]):
        return outer
    return inner if at_least(outer.args[1], inner.args[1]) else None


def _known(e, mean) -> bool:
    """Whether a quantity is known before the round from which the mean is taken, since it has entries up to then only."""
    if not isinstance(mean, words.E_round):
        return False
    entries = e.atoms(sp.Indexed)
    return bool(entries) and all((a.base == words.x_round or _name(a).startswith("server_"))
                                 and at_least(mean.args[1], a.indices[0]) for a in entries)


def at_least(high, low, least: Mapping[sp.Symbol, sp.Expr] | None = None) -> bool:
    """Whether ``high >= low`` certainly holds for times: whole numbers of at least 0, or at least ``least``."""
    for of_high, of_low, enough in ((sp.Max, sp.Min, any), (sp.Min, sp.Max, all)):
        if isinstance(high, of_high) or isinstance(low, of_low):
            parts = [(a, low) for a in high.args] if isinstance(high, of_high) else [(high, b) for b in low.args]
            return enough(at_least(a, b, least) for a, b in parts)
    gap = sp.expand(high - low)
    times = {s: sp.Dummy(integer=True, nonnegative=True) + (least or {}).get(s, int(bool(s.is_positive)))
             for s in gap.free_symbols}
    return bool(sp.expand(gap.xreplace(times)).is_nonnegative)


def resolved(e, least: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
    """Replace max and min over times by one of their terms, where ``least`` decides which."""
    def chosen(a):
        largest = isinstance(a, sp.Max)
        return next((one for one in a.args if all(
            at_least(one, other, least) if largest else at_least(other, one, least) for other in a.args)), a)

    def of_times(a):
        return isinstance(a, sp.Max | sp.Min) and all(s.is_integer for s in a.free_symbols)

    return sp.sympify(e).replace(of_times, chosen)


def _split(e):
    """Write an expectation as a sum of multiples of expectations."""
    terms = []
    for term in sp.Add.make_args(sp.expand_mul(e.args[0])):
        outside, inside = term.as_independent(*_OF_A_RUN, sp.Sum, words.x_star, as_Add=False)
        terms.append(outside * (_mean_of(inside, e) if inside != 1 else 1))
    return sp.Add(*terms)


def _mean_of(e, mean):
    """Return the expectation of a product of quantities as ``mean`` takes it."""
    outer = _of_means(e, mean)
    if outer is not None:
        return _split(outer.func(e.args[0], *outer.args[1:]))
    return e if _known(e, mean) else mean.func(e, *mean.args[1:])


def _of_either_sign(length):
    """Give a vector and its opposite the same norm."""
    return length.func(-length.args[0]) if length.args[0].could_extract_minus_sign() else length
