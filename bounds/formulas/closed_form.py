"""A claim's side as a formula in parameters: definitions are inserted, measured quantities become parameters."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import sympy as sp

from bounds.language import operators
from bounds.language.claim import BY_NUMBER, DISTINCT, Claim, Condition
from bounds.language.names import symbol

__all__ = ["ClosedForm", "always_true", "closed_form", "conditions_on", "draws_distinct_clients", "equations_of",
           "side_conditions"]

#: operators with a value that only a run or a problem determines
_OPERATORS = (operators.E, operators.E_round, operators.F, operators.grad, operators.objective, operators.objective_grad,
              operators.norm2, operators.norm,
              operators.dot, operators.FurtherOperator)

#: usual names of measured quantities without a definition
_USUAL = {
    operators.norm2(operators.x_sampled[0] - operators.x_star): "D0_sq",
    operators.norm2(operators.x[0] - operators.x_star): "D0_sq",
    operators.norm2(operators.x_round[0] - operators.x_star): "D0_sq",
    operators.objective(operators.x_round[0]) - operators.F_star: "F0_gap",
}

#: constants of the problem: no bound counts as a function of them
_OF_THE_PROBLEM = {operators.F_star, operators.x_star, operators.clients, operators.participants}


@dataclass(frozen=True)
class ClosedForm:
    """``formula`` in ``parameters``; ``measured`` maps some of them to the expressions that they stand for."""

    formula: sp.Expr
    measured: dict[sp.Symbol, sp.Expr]

    @property
    def parameters(self) -> tuple[sp.Symbol, ...]:
        """All symbols that need a value, ordered by name."""
        return tuple(sorted(self.formula.free_symbols, key=str))


def closed_form(claim: Claim, side: str = "right") -> ClosedForm:
    """The ``left`` or ``right`` side of a claim's statement as a formula in numbers.

    Conditions ``symbol == formula`` and definitions are inserted. A quantity that only a run or a problem determines (an
    expectation, a loss, a sum over clients) becomes a parameter. Its name is that of its definition, or a usual one
    (D0_sq, F0_gap), or made of its text.

    Raises:
        ValueError: a claim without a statement, an unknown side, a free index.
    """
    if claim.statement is None:
        raise ValueError(f"{claim.id} states no formula: {claim.undefined}")
    if side not in ("left", "right"):
        raise ValueError(f"unknown side {side!r}; allowed: left, right")
    return _both_sides(claim)[side]


def _both_sides(claim: Claim) -> dict[str, ClosedForm]:
    """Both sides, in which a name stands for one measured quantity; the right side's names come first."""
    reader = _Reader(claim)
    return {side: reader.read(getattr(claim.statement, side)) for side in ("right", "left")}


def side_conditions(claim: Claim) -> list[Condition]:
    """The conditions on the parameters of both sides of a claim: see :func:`conditions_on`."""
    forms = _both_sides(claim).values()
    return conditions_on(claim, [s for form in forms for s in form.parameters],
                         {s: e for form in forms for s, e in form.measured.items()})


def conditions_on(claim: Claim, parameters: Iterable[sp.Symbol],
                  measured: Mapping[sp.Symbol, sp.Expr] | None = None) -> list[Condition]:
    """A claim's conditions on parameters alone, in closed form, and those that every problem and run satisfies.

    A condition for every index counts if insertion removes the index, as from ``eta_l[t] <= 1 / L`` with
    ``eta_l[t] == eta``, if the indices have a value, and if what is inserted holds for all of them. ``measured``: the
    measured quantities that are parameters, on which conditions count too, as ``norm2(x[0] - x_star) <= R**2``.
    """
    found, reader, quantities = [], _Reader(claim, measured), (measured or {}).items()
    for condition in claim.hypotheses:
        if reader.defines(condition) or not reader.applies(condition):
            continue
        try:
            left, right = (reader.read(side) for side in (condition.left, condition.right))
        except ValueError:  # an entry that no condition ties to parameters
            continue
        indices = {triple[0] for triple in condition.over} & (left.formula.free_symbols | right.formula.free_symbols)
        of_runs = {**left.measured, **right.measured}.items()
        if not indices and (not of_runs or (not condition.over and of_runs <= quantities)):
            found.append(Condition(left.formula, condition.sign, right.formula))
    names = {s.name for s in parameters}
    names |= {s.name for c in found for side in (c.left, c.right) for s in side.free_symbols}
    known = [c for c in always_true(names, [claim])
             if all(_has_its_meaning(claim, s.name) for s in (c.right - c.left).free_symbols)]
    return list(dict.fromkeys([*known, *found]))


#: constants, and the entries of which hypotheses say that they are at least, or at most, these
_BOUNDS_OF = {"L": (operators.L_client, "<="), "mu": (operators.mu_client, ">=")}


def _has_its_meaning(claim: Claim, name: str) -> bool:
    """Whether a claim uses a name of ``_ORDERED`` in the language's meaning, not for a number of its own."""
    if name in {v.name for v in claim.variables}:
        return False
    both = [pair for c in claim.hypotheses
            for pair in ((c.left, c.relation, c.right), (c.right, _TURNED[c.relation], c.left))]
    beside = [pair for pair in both if pair[2].is_Symbol and pair[2].name == name]
    if name in _BOUNDS_OF:
        array, relation = _BOUNDS_OF[name]
        return any(isinstance(left, sp.Indexed) and left.base == array and sign in (relation, "==")
                   for left, sign, _ in beside)
    return all(_USUAL.get(left) == name for left, *_ in beside) or name in ("clients", "participants")


_TURNED = {"<=": ">=", "==": "==", ">=": "<="}


def equations_of(claim: Claim) -> list[Condition]:
    """The claim's conditions ``symbol == formula`` that closed forms insert, each with its formula in closed form."""
    found = []
    for left in (reader := _Reader(claim)).plain:
        try:
            right = reader.read(left)
        except ValueError:  # an entry that no condition ties to parameters
            continue
        if not right.measured and left not in right.formula.free_symbols:
            found.append(Condition(left, "==", right.formula))
    return found


_GAP, _DISTANCE_SQ = symbol("F0_gap"), symbol("D0_sq")
#: pairs of which the first is at most the second, in every problem and run; the gap F(x_0) - F* lies between
#: mu/2 |x_0 - x*|^2 and L/2 |x_0 - x*|^2
_ORDERED = ((operators.mu, operators.L), (operators.participants, operators.clients),
            (_GAP, operators.L * _DISTANCE_SQ / 2), (operators.mu * _DISTANCE_SQ / 2, _GAP))


def always_true(names: set[str], claims: Iterable[Claim]) -> list[Condition]:
    """The conditions on these parameters that every problem and run of the claims satisfies."""
    distinct = all(map(draws_distinct_clients, claims))
    return [Condition(small, "<=", large) for small, large in _ORDERED
            if {s.name for s in small.free_symbols | large.free_symbols} <= names
            and (distinct or small != operators.participants)]


def draws_distinct_clients(claim: Claim) -> bool:
    """Whether no client of a run takes part twice in a round."""
    return claim.procedure is None or claim.procedure.sampling not in BY_NUMBER or claim.procedure.sampling in DISTINCT


def _spelled(e) -> str:
    """A name made of the expression's text without its indices."""
    if isinstance(e, sp.Sum | sp.Product):
        return f"{type(e).__name__.lower()}_{_spelled(e.function)}"
    if isinstance(e, operators.E):
        return f"mean_{_spelled(e.args[0])}"
    text = re.sub(r"\[[^\]]*\]", "", str(e)).replace("**2", "_sq").replace("norm2", "sq")
    return re.sub(r"[^0-9A-Za-z]+", "_", text).strip("_") or "measured"


def _multiple(known, total):
    """The number c such that every term of ``known``, times c, is a term of the sum; None if there is none."""
    first = known.args[0]
    for term in total.args:
        times = term / first
        if not times.has(first) and all(times * part in total.args for part in known.args):
            return times
    return None


def _is_measured(expression) -> bool:
    """Whether only a run or a problem determines the value."""
    return expression.has(sp.Indexed, *_OPERATORS) or operators.x_star in expression.free_symbols


def _added_up(e, body, limits):
    """A sum of equal terms, or a geometric sum whose ratio is certainly not 1, in closed form; None for any other, and where
    the range may be less than empty."""
    (index, low, high), *more = limits
    if not isinstance(e, sp.Sum) or more or not (count := high - low + 1).is_nonnegative:
        return None
    if not body.has(index):
        return count * body
    factor, power = body.as_independent(index, as_Add=False)
    base, exponent = power.as_base_exp()
    start, slope = sp.expand(exponent).as_independent(index, as_Add=True)
    step = slope / index
    if base.has(index) or step.has(index) or not (1 - base**step).is_nonzero:
        return None
    return factor * base**start * (base ** (step * low) - base ** (step * (high + 1))) / (1 - base**step)


class _Reader:
    """Reads expressions of a claim. ``named``: the measured quantities that have a name; of two with the same usual name,
    the second gets a number."""

    def __init__(self, claim: Claim, named: Mapping[sp.Symbol, sp.Expr] | None = None):
        self.claim, self.measured, self.named = claim, {}, dict(named or {})
        self.indexed, self.ranges, self.plain, self.open = {}, {}, {}, set()
        for name, condition in claim.defining.items():
            if condition.left.is_Symbol:
                self.plain[condition.left] = condition.right
            else:
                ends = {i: (low, high) for i, low, high in condition.over}
                self.indexed[name] = (condition.left.indices, condition.right)
                self.ranges[name] = [ends.get(i, (i, i)) for i in condition.left.indices]

    def defines(self, condition: Condition) -> bool:
        """Whether a condition defines a symbol or the entries of a sequence."""
        return any(condition is one for one in self.claim.defining.values())

    def applies(self, condition: Condition) -> bool:
        """Whether a condition's indices have values, and the definitions of its arrays hold at all of these."""
        ends = {index: (low, high) for index, low, high in condition.over}
        if not all((high - low).is_nonnegative for low, high in ends.values()):
            return False
        entries = condition.left.atoms(sp.Indexed) | condition.right.atoms(sp.Indexed)
        return all(self.covers(entry, ends) for entry in entries if str(entry.base.label) in self.ranges)

    def covers(self, entry, ends: dict) -> bool:
        """Whether the definition of an array holds for an entry, at all values of its indices between their ``ends``."""
        for index, (low, high) in zip(entry.indices, self.ranges[str(entry.base.label)], strict=True):
            first, last = (sp.expand(index.xreplace({i: pair[n] for i, pair in ends.items()})) for n in (0, 1))
            monotone = all(index.diff(i).is_nonnegative for i in ends)
            if not (monotone and (first - low).is_nonnegative and (high - last).is_nonnegative):
                return False
        return True

    def read(self, expression) -> ClosedForm:
        self.measured = {}
        formula = self.formula(sp.sympify(expression))
        left_over = formula.atoms(sp.Indexed)
        if left_over:
            raise ValueError(f"{self.claim.id}: {sorted(map(str, left_over))[0]} depends on an index that is free")
        return ClosedForm(formula, dict(self.measured))

    def formula(self, e):
        if e.is_Symbol:
            return self.symbol(e)
        if e.is_number or not e.args:
            return e
        if isinstance(e, sp.Indexed):
            return self.entry(e)
        if isinstance(e, _OPERATORS):
            return self.name(e)
        if isinstance(e, operators.tau):
            inner = self.formula(e.args[0])
            return inner - sp.Mod(inner, operators.local_steps)
        if isinstance(e, sp.Sum | sp.Product):
            body = self.inlined(e.function)
            if _is_measured(body) or any(_is_measured(end) for _, low, high in e.limits for end in (low, high)):
                return self.name(e)
            limits = [(n, self.formula(low), self.formula(high)) for n, low, high in e.limits]
            return _added_up(e, body, limits) or e.func(body, *limits)
        if e in _USUAL:
            return self.name(e)
        if e.is_Add:  # F(x_0) - F* is one quantity, not two; so is a multiple of it
            for known, name in _USUAL.items():
                times = _multiple(known, e) if known.is_Add else None
                if times is not None:
                    one = self._named(sp.Symbol(name, nonnegative=True), known)
                    return self.formula(times) * one + self.formula(sp.Add(*(a for a in e.args if a not in [
                        times * part for part in known.args])))
        parts = map(self.formula, e.args)
        if isinstance(e, sp.Max | sp.Min):
            return e.func(*parts, evaluate=False)  # skips the search for redundant arguments, as words.Max does
        return e.func(*parts)

    def inlined(self, body):
        """The body of a sum with definitions inserted, except those of measured quantities."""
        return body.replace(lambda a: isinstance(a, sp.Indexed) and str(a.base.label) in self.indexed, self.entry).xreplace(
            {s: self.symbol(s) for s in body.free_symbols if s in self.plain})

    def symbol(self, s):
        if s in self.plain:
            return self.formula(self.plain[s])
        definition = self.claim.definitions.get(s.name)
        if definition is None or definition.indices:
            return s
        before = dict(self.measured)
        value = self.formula(definition.formula)
        if self.measured == before or value.free_symbols - set(self.measured) - _OF_THE_PROBLEM:
            return value
        self.measured = before  # it consists of measured quantities alone: it keeps its own name
        return self._named(s, definition.formula)

    def entry(self, e):
        name = str(e.base.label)
        if name in self.indexed:
            indices, value = self.indexed[name]
            return self.formula(value.xreplace(dict(zip(indices, e.indices, strict=True))))
        definition = self.claim.definitions.get(name)
        if definition is not None:
            value = definition.formula.xreplace(dict(zip(definition.indices, e.indices, strict=True)))
            if not _is_measured(value):
                return self.formula(value)
        return self.name(e)

    def name(self, e):
        """A measured quantity as a parameter."""
        if e in _USUAL:
            return self._named(sp.Symbol(_USUAL[e], nonnegative=True), e)
        return self._named(sp.Symbol(_spelled(e), real=True), e)

    def _named(self, symbol, e):
        usual, number = symbol.name, len(self.measured)
        while self.named.get(symbol, e) != e:
            symbol, number = sp.Symbol(f"{usual}_{number}", real=True), number + 1
        self.measured[symbol] = self.named[symbol] = e
        return symbol
