"""Measured quantities as free numbers, so that arithmetic alone can compare statements.

Expectations and sums are linear: they are split at sums, and factors that are numbers are taken out. What remains (a mean
squared norm, a quantity at an index, a sum of such) becomes one symbol, the same for the same quantity everywhere.
"""

from collections.abc import Mapping

import sympy as sp

from bounds.language import operators
from bounds.language.claim import Claim, Condition
from bounds.language.names import CONSTANT, FEDERATION, METHOD, NAMES, symbol
from verify.claims.method import recorded_by_methods
from verify.proofs.instantiate import terms_written_out

__all__ = ["Abstraction", "at_least", "name_of", "resolved"]

#: arrays of numbers whose entries are at least 0
_NEVER_NEGATIVE = {row.name for row in NAMES.values() if row.indices and row.sign in ("positive", "nonnegative")} | {
    name for name, record in recorded_by_methods().items() if record.nonnegative}

#: arrays of models whose first entries are the given start, and arrays of numbers that are given
_MODELS, _GIVEN = ("x", "x_round", "x_sampled", "x_local"), {
    row.name for row in NAMES.values() if row.indices and row.source in (FEDERATION, CONSTANT, METHOD)}

#: arrays of numbers, of the language and of methods
_NUMBERS = {row.name for row in NAMES.values() if row.indices and row.kind == "number"} | {
    name for name, record in recorded_by_methods().items() if record.nonnegative}

#: arrays whose entries are 0 or 1
_BINARY = ("priority", "included", "sampled")

#: states that start at the first model
_AT_START = {symbol(name)[0]: operators.x_round[0] for name, record in recorded_by_methods().items()
             if record.starts_at_model}
_OF_A_RUN = (sp.Indexed, operators.E, operators.E_round, operators.F, operators.grad, operators.objective,
             operators.objective_grad, operators.norm2,
             operators.norm, operators.dot, operators.tau, operators.FurtherOperator)
_NUMBERS_OF_A_RUN = (sp.Indexed, operators.F, operators.objective, operators.norm2, operators.norm, operators.dot)


class Abstraction:
    """Reads expressions of one claim and of its premises, with all definitions put in.

    ``names`` collects the quantities that became symbols.

    Args:
        claim: its hypotheses define symbols and entries of sequences.
        sizes: whole numbers for all sizes, put in everywhere; every sum and product is then written as its terms.
    """

    def __init__(self, claim: Claim, sizes: Mapping[sp.Symbol, sp.Integer] | None = None):
        self.claim, self.definitions = claim, claim.definitions
        self.finite, self.sizes = sizes is not None, dict(sizes or {})
        self.signs = {v.name: v.domain for v in claim.variables if v.indices}
        self.names: dict[sp.Expr, sp.Symbol] = {}
        self.open: set[sp.Symbol] = set()
        self.entries = {
            name: (c.left.indices, c.right) for name, c in claim.defining.items() if isinstance(c.left, sp.Indexed)}
        self.values = {c.left: c.right for c in claim.defining.values() if c.left.is_Symbol}

    def condition(self, condition: Condition) -> Condition:
        """Return the condition on free numbers, without its range of indices."""
        return Condition(self.number(condition.left), condition.sign, self.number(condition.right))

    def number(self, e) -> sp.Expr:
        """Replace every quantity in the expression by its symbol. Raises NotFinite where sizes are given."""
        e = self.written_out(sp.sympify(e).subs(self.sizes))  # unlike xreplace, subs leaves the index of a sum
        if self.finite:
            e = self._with_terms(e)
        e = e.xreplace(_AT_START)
        if self.claim.setting == "run":
            e = e.replace(_is_start, lambda a: operators.x_round[0])
        return self._number(e.replace(lambda a: isinstance(a, _LENGTHS + _MEANS), _canonical))

    def _with_terms(self, e) -> sp.Expr:
        """Write sums as their terms, and entries as their formulas, also within expectations and norms."""
        for _ in range(20):
            found = self.written_out(self._opened_entries(terms_written_out(e)).subs(self.sizes))
            if found == e:
                break
            e = found
        return e

    def known_of_quantities(self) -> list[Condition]:
        """Return what is known of the quantities that have a name.

        No loss is below its infimum, no client's least curvature is above its largest one, the objective's gradient is
        between what smoothness and strong convexity say, indicators are 0 or 1, and, where sizes are given, the weights of
        priority clients sum to one.
        """
        found = []
        clients = range(int(self.sizes.get(operators.clients, 0)))
        if any(isinstance(e, sp.Indexed) and e.base == operators.client_weight for e in self.names):
            procedure = self.claim.procedure
            alone = procedure is not None and not procedure.free_clients
            weights = [operators.client_weight[k] * (1 if alone else operators.priority[k]) for k in clients]
            found += [Condition(self.number(sp.Add(*weights)), "==", 1)] if weights else []
            found += [Condition(self.number(operators.client_weight[k]), "==", sp.Rational(1, len(clients)))
                      for k in clients if alone and procedure.equal_weights]
        for e, s in [*self.names.items()]:
            loss = e.args[0] if isinstance(e, operators.E | operators.E_round) else e
            if isinstance(loss, operators.F):
                infimum = operators.F_star_client[loss.args[0]]
                found += [Condition(self.names[infimum], "<=", s)] if infimum in self.names else []
            if isinstance(loss, operators.objective):
                found.append(Condition(operators.F_star, "<=", s))
                largest, least = self.curvatures
                slope = self.names.get(_in_mean(operators.norm2(operators.objective_grad(*loss.args)), e))
                if slope is not None and largest is not None:
                    found.append(Condition(slope, "<=", 2 * self.number(largest) * (s - operators.F_star)))
                if slope is not None and least is not None:
                    found.append(Condition(slope, ">=", 2 * self.number(least) * (s - operators.F_star)))
            if (isinstance(e, sp.Indexed) and e.base == operators.mu_client
                    and (top := operators.L_client[e.indices]) in self.names):
                found.append(Condition(s, "<=", self.names[top]))
            if isinstance(loss, operators.below):
                found += [Condition(s, ">=", 0), Condition(s, "<=", 1)]
            if isinstance(e, sp.Indexed) and (name_of(e) in _BINARY or self.signs.get(name_of(e)) == "binary"):
                found.append(Condition(s * (1 - s), "==", 0))
        return found

    @property
    def curvatures(self) -> tuple[sp.Expr | None, sp.Expr | None]:
        """Return what hypotheses say is at least every client's largest curvature, and at most its least one."""
        found: dict[tuple, sp.Expr] = {}
        for c in self.claim.hypotheses:
            every_client = ((*c.left.indices, sp.Integer(0), operators.clients - 1),) if isinstance(c.left,
                                                                                                    sp.Indexed) else None
            if c.over == every_client and not c.right.has(sp.Indexed, *c.left.indices):
                found.setdefault((c.left.base, c.relation), c.right)
        return found.get((operators.L_client, "<=")), found.get((operators.mu_client, ">="))

    def written_out(self, e) -> sp.Expr:
        """Replace defined quantities by their formulas."""
        for _ in range(20):
            known = [a for a in e.atoms(sp.Indexed, sp.Symbol) if name_of(a) in self.definitions]
            known = [a for a in known if len(getattr(a, "indices", ())) == len(self.definitions[name_of(a)].indices)]
            if not known:
                return e
            e = e.xreplace({a: self.definitions[name_of(a)].formula.xreplace(
                dict(zip(self.definitions[name_of(a)].indices, getattr(a, "indices", ()), strict=True)) | self.sizes)
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
            return self._symbol(e) if e == operators.x_star or e.name in self.definitions else e
        if isinstance(e, sp.Indexed) and str(e.base.label) in self.entries:
            return self.number(self._entry(e))
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
        outside, inside = term.as_independent(*_OF_A_RUN, sp.Sum, sp.Product, operators.x_star, as_Add=False)
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
                whole = inside == 1 and at_least(high + 1, low)  # an emptier range has no terms, and not fewer
                total = self._number(high - low + 1) if whole else self._sum_of_one(inside, index, low, high)
            found.append(self._number(outside) * total)
        return sp.Add(*found)

    def _sum_of_one(self, term, index, low, high):
        """Read a sum of one term; a sum of entries at index + 1 becomes one of entries at index, plus ends."""
        if not at_least(high + 1, low):
            return self._symbol(sp.Sum(term, (index, low, high)))
        if high.is_Symbol and high.is_positive and at_least(high, low):  # sums up to rounds and to rounds - 1 are alike
            return self._number(term.subs(index, high)) + self._sum_of_one(term, index, low, high - 1)
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
        return self._opened_entries(body).replace(_is_mean, _split)

    def _opened_entries(self, e):
        return e.replace(lambda a: isinstance(a, sp.Indexed) and str(a.base.label) in self.entries, self._entry)

    def _entry(self, a):
        indices, value = self.entries[str(a.base.label)]
        return value.xreplace(dict(zip(indices, a.indices, strict=True)) | self.sizes)

    def _symbol(self, e):
        if e not in self.names:
            sign = "positive" if self.declared_signs(e)[0] else "nonnegative" if self.never_negative(e) else "real"
            self.names[e] = sp.Symbol(f"quantity{len(self.names) + 1}", **{sign: True})
        return self.names[e]

    def declared_signs(self, e) -> tuple[bool, bool]:
        """Return whether a symbol or an entry is declared to be positive, and whether to be at least 0."""
        named = NAMES[name_of(e)].sign if isinstance(e, sp.Indexed) and name_of(e) in NAMES else ""
        kinds = {self.signs.get(name_of(e), ""), named}
        positive = bool(e.is_positive) or "positive" in kinds
        return positive, positive or bool(e.is_nonnegative) or bool(kinds & {"nonnegative", "binary", "simplex"})

    def never_negative(self, e) -> bool:
        """Whether the quantity's form shows that it is at least 0; False means that this is unknown."""
        if isinstance(e, operators.norm | operators.norm2):
            return True
        if isinstance(e, operators.E | operators.E_round | sp.Sum | sp.Product):
            return self.never_negative(e.args[0])
        if isinstance(e, sp.Indexed | sp.Symbol) and name_of(e) in self.definitions:
            return self.never_negative(self.definitions[name_of(e)].formula) or bool(e.is_nonnegative)
        if isinstance(e, sp.Indexed):
            return self.declared_signs(e)[1] or name_of(e) in _NEVER_NEGATIVE or (
                name_of(e) in self.entries and self.never_negative(self._entry(e)))
        if e.is_Add or e.is_Mul:
            return all(map(self.never_negative, e.args))
        if e.is_Pow:
            return bool(e.exp.is_even) or self.never_negative(e.base)
        return bool(e.is_nonnegative)

    def is_number(self, factor) -> bool:
        """Whether a factor of a vector is a number: a parameter, or an entry of an array of numbers."""
        if operators.x_star in factor.free_symbols or factor.has(
                operators.grad, operators.objective_grad, operators.FurtherOperator):
            return False
        names = map(name_of, factor.atoms(sp.Indexed))
        return all(name in _NUMBERS or self.signs.get(name, "vector") != "vector" for name in names)

    def parts(self, e) -> set:
        """Return the measured numbers in a quantity: losses, norms, inner products, entries of sequences."""
        if isinstance(e, _NUMBERS_OF_A_RUN):
            return {e}
        return set().union(*map(self.parts, e.args))

    @property
    def transcendental(self) -> list[sp.Expr]:
        """The functions of parameters alone among the names, such as powers with a free exponent."""
        return [e for e in self.names if not e.has(*_OF_A_RUN) and e != operators.x_star
                and name_of(e) not in self.definitions]


def name_of(e) -> str:
    """The name of an entry's array, or of a symbol; empty for anything else."""
    return str(e.base.label) if isinstance(e, sp.Indexed) else getattr(e, "name", "")


def _is_mean(e) -> bool:
    """Whether it is an expectation over all chance, or given the rounds before one."""
    return isinstance(e, operators.E_round) or (isinstance(e, operators.E) and len(e.args) == 1)


def _of_means(inner, outer):
    """Return the expectation that remains of ``outer`` of ``inner`` (tower property); None if there is none, or unknown."""
    if not _is_mean(inner):
        return None
    if isinstance(inner, operators.E) or isinstance(outer, operators.E):
        return inner if isinstance(inner, operators.E) else outer
    if at_least(inner.args[1], outer.args[1]):
        return outer
    return inner if at_least(outer.args[1], inner.args[1]) else None


def _is_start(a) -> bool:
    return isinstance(a, sp.Indexed) and name_of(a) in _MODELS and a.indices[0] == 0


def _is_past(e, mean) -> bool:
    """Whether a quantity is known before the round from which the mean is taken, since it has entries up to then only, or
    that of the start and given numbers alone."""
    entries = e.atoms(sp.Indexed)
    if any(map(_is_start, entries)) and all(_is_start(a) or name_of(a) in _GIVEN for a in entries):
        return True
    if not isinstance(mean, operators.E_round):
        return False
    return bool(entries) and all((a.base == operators.x_round or name_of(a).startswith("server_"))
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
    def extreme(a):
        largest = isinstance(a, sp.Max)
        return next((one for one in a.args if all(
            at_least(one, other, least) if largest else at_least(other, one, least) for other in a.args)), a)

    def of_times(a):
        return isinstance(a, sp.Max | sp.Min) and all(s.is_integer for s in a.free_symbols)

    return sp.sympify(e).replace(of_times, extreme)


def _in_mean(e, other):
    """Return the quantity in the mean in which another one is."""
    return other.func(e, *other.args[1:]) if isinstance(other, operators.E | operators.E_round) else e


def _split(e):
    """Write an expectation as a sum of multiples of expectations."""
    terms = []
    for term in sp.Add.make_args(sp.expand_mul(e.args[0])):
        outside, inside = term.as_independent(*_OF_A_RUN, sp.Sum, operators.x_star, as_Add=False)
        terms.append(outside * (_mean_of(inside, e) if inside != 1 else 1))
    return sp.Add(*terms)


def _mean_of(e, mean):
    """Return the expectation of a product of quantities as ``mean`` takes it."""
    outer = _of_means(e, mean)
    if outer is not None:
        return _split(outer.func(e.args[0], *outer.args[1:]))
    return e if _is_past(e, mean) else mean.func(e, *mean.args[1:])


_LENGTHS, _MEANS = (operators.norm, operators.norm2, operators.dot), (operators.E, operators.E_round, operators.E_noise)


def _canonical(e):
    """Give a vector and its opposite the same norm; norms, inner products and means of 0 are 0."""
    if isinstance(e, _MEANS):
        return e if e.args[0] != 0 else sp.S.Zero
    vectors = [sp.expand_mul(v) for v in e.args]
    if 0 in vectors:
        return sp.S.Zero
    if len(vectors) == 1 and vectors[0].could_extract_minus_sign():
        vectors = [-vectors[0]]
    return e.func(*vectors)
