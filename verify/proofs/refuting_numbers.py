"""Exact numbers that satisfy every premise and hypothesis at every index, and violate the claim.

Sizes are small whole numbers that the claim admits. Every range, sum and product is written out at them, so that each
quantity at each index is a number of its own. z3 proposes the numbers; they count only if exact arithmetic confirms every
condition, and if some measured quantities can have these values: squares are at least 0, losses at least their infimum,
and lengths are of vectors that do not depend on each other.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain as joined
from itertools import product

import sympy as sp

from bounds.language import operators
from bounds.language.claim import Claim, Condition
from bounds.language.space import infimum
from verify.proofs.abstraction import Abstraction, name_of
from verify.proofs.facts import ORDERED, bounds_of_variables, broken_ways, defines, signs_of_definitions
from verify.proofs.instantiate import NotFinite, instances
from verify.prove.real import certainly_positive
from verify.prove.satisfiable import satisfiable

__all__ = ["RefutingNumbers", "find_refuting_numbers", "holds_exactly"]

_SIZES = (2, 1, 3)  # in the order in which they are tried
_MOST_SIZES, _MOST_PLACES = 4, 2  # choices of sizes, and for each of them indices of the claim
_MOST_UNDECIDED, _MOST_REASONS = 2, 3  # questions that z3 may leave undecided, or that make no sense
_MOST_CONDITIONS = 400
_NONE_FOUND = "neither numbers that break it nor a proof were found"


@dataclass(frozen=True)
class RefutingNumbers:
    """``numbers`` by name; ``quantities`` gives the measured quantity that a name stands for."""

    numbers: dict[str, str]
    quantities: dict[str, str]


def find_refuting_numbers(conclusion: Claim, premises: Sequence[Condition]) -> RefutingNumbers | str:
    """Return numbers that satisfy the premises and violate the claim, or the reason why none are given."""
    reasons, undecided = [], 0
    for sizes in _admitted_sizes(conclusion, premises):
        try:
            question = _Question(conclusion, premises, sizes)
            places = [*instances(conclusion.statement, sizes)][::-1]
            for place in places[:: max(1, len(places) // _MOST_PLACES)]:
                why = question.not_comparable(place)
                if why:
                    reasons.append(why)
                    continue
                for broken in broken_ways(question.numbers.condition(place)):
                    answer = satisfiable([*question.facts, broken], core=False)
                    undecided += answer.answer == "unknown"
                    if undecided == _MOST_UNDECIDED:
                        break
                    if answer.answer != "yes":
                        continue
                    found = question.confirmed(answer.witness, broken)
                    if isinstance(found, RefutingNumbers):
                        return found
                    reasons.append(found)
        except NotFinite as why:
            reasons.append(str(why))
        if undecided >= _MOST_UNDECIDED or len(reasons) >= _MOST_REASONS:
            break
    return next(filter(None, reasons), _NONE_FOUND)


def holds_exactly(c: Condition, numbers: Mapping[str, Fraction]) -> bool:
    """Whether a condition certainly holds at these numbers; False where a side has no value."""
    left, right = (side.xreplace({s: sp.Rational(numbers[s.name]) for s in side.free_symbols}).doit()
                   for side in (c.left, c.right))
    if not (left.is_finite and right.is_finite and left.is_real and right.is_real):
        return False
    gap = left - right if c.relation == ">=" else right - left
    return certainly_positive(gap) if c.sign in "<>" else gap == 0 or (c.relation != "==" and certainly_positive(gap))


# sizes -------------------------------------------------------------------------------------------------------------------
def _admitted_sizes(conclusion: Claim, premises: Sequence[Condition]) -> Iterator[dict[sp.Symbol, sp.Integer]]:
    """Yield small values of all sizes that meet the hypotheses about sizes alone."""
    free = _sizes(conclusion, premises)
    if operators.iterations in free:
        free |= {operators.rounds, operators.local_steps}
    fixed = {c.left: c.right for c in conclusion.hypotheses
             if c.relation == "==" and not c.over and c.left in free and c.right.is_Integer}
    chosen = sorted(free - {*fixed, operators.iterations}, key=str)
    about = [c for c in (*conclusion.hypotheses, *bounds_of_variables(conclusion), *_ORDERED) if not c.over]
    count = 0
    equal = ((size,) * len(chosen) for size in _SIZES)
    for values in dict.fromkeys(joined(equal, product(_SIZES, repeat=min(len(chosen), 6)))):
        if len(values) < len(chosen):
            return
        sizes = fixed | dict(zip(chosen, map(sp.Integer, values), strict=True))
        if operators.iterations in free:
            sizes |= {operators.iterations: sizes[operators.rounds] * sizes[operators.local_steps]}
        known = {s.name: Fraction(int(value)) for s, value in sizes.items()}
        if all(holds_exactly(c, known) for c in about if _symbols(c) <= {*sizes}):
            yield sizes
            count += 1
            if count == _MOST_SIZES:
                return


_ORDERED = tuple(Condition(small, "<=", large) for small, large in ORDERED)


def _sizes(conclusion: Claim, premises: Sequence[Condition]) -> set[sp.Symbol]:
    """Return the sizes in the premises, in the claim and in the definitions that these use."""
    waiting = [part for c in (*premises, *conclusion.relations) for part in (c.left, c.right, *sum(c.over, ()))]
    found, known = set(), set()
    while waiting:
        e = waiting.pop()
        names = {s.name for s in e.free_symbols if s.is_Symbol} | {str(a.base.label) for a in e.atoms(sp.Indexed)}
        waiting += [conclusion.definitions[name].formula for name in names - known if name in conclusion.definitions]
        known |= names
        found |= {s for s in e.free_symbols if s.is_Symbol and s.is_integer and s.is_positive}
    return found


# one choice of sizes -----------------------------------------------------------------------------------------------------
class _Question:
    """The conditions at given sizes: ``facts`` on free numbers hold; a place of the claim may be broken."""

    def __init__(self, conclusion: Claim, premises: Sequence[Condition], sizes: Mapping[sp.Symbol, sp.Integer]):
        self.claim, self.sizes, self.numbers = conclusion, sizes, Abstraction(conclusion, sizes)
        self.premises = [[self.numbers.condition(c) for c in instances(premise, sizes)] for premise in premises]
        own = [c for c in conclusion.hypotheses if not defines(conclusion, c)]
        own += [*bounds_of_variables(conclusion), *signs_of_definitions(conclusion, self.numbers)]
        self.stated = [*joined(*self.premises), *(self.numbers.condition(c) for h in own for c in instances(h, sizes))]
        if len(self.stated) > _MOST_CONDITIONS:
            raise NotFinite(f"it has {len(self.stated)} conditions at small sizes; at most {_MOST_CONDITIONS} are looked at")

    @property
    def facts(self) -> list[Condition]:
        """All that holds of the numbers that have a name by now."""
        of_quantities = self.numbers.known_of_quantities()
        free = {s for c in self.stated for s in _symbols(c)}
        ordered = [c for c in _ORDERED if _symbols(c) <= free]
        return list(dict.fromkeys(c for c in (*self.stated, *of_quantities, *ordered) if c.strict or c.left != c.right))

    def not_comparable(self, place: Condition) -> str:
        """Explain why numbers would prove nothing; empty if they would."""
        stated = self.numbers.condition(place)
        claimed = (stated.left.free_symbols | stated.right.free_symbols) & set(self.numbers.names.values())
        by_symbol = {s: e for e, s in self.numbers.names.items()}
        if transcendental := self.numbers.transcendental:
            return f"{transcendental[0]} is no rational function of its parameters"
        mentioned = set().union(*map(_symbols, self.stated))
        if alone := sorted(claimed - mentioned, key=str):
            return f"no premise mentions {by_symbol[alone[0]]}"
        if not self._independent(mentioned | claimed):
            return "its quantities have parts in common"
        if why := self._tied([by_symbol[s] for s in sorted(mentioned | claimed, key=str) if s in by_symbol],
                             mentioned | _symbols(stated)):
            return why
        lone = self._lone(claimed)
        return "" if lone is None else f"nothing bounds {by_symbol[lone]}, which a premise uses"

    def _independent(self, used: set[sp.Symbol]) -> bool:
        """Whether no two quantities that are used share a measured part."""
        parts = [self.numbers.parts(e) for e, s in self.numbers.names.items() if s in used]
        return sum(map(len, parts)) == len(set().union(*parts))

    def _tied(self, used: list[sp.Expr], mentioned: set[sp.Symbol]) -> str:
        """Explain why some of the quantities that are used may not have any values; empty if nothing here ties them.

        Free are entries of arrays of real numbers, losses at one kind of loss, lengths and inner products of models, states
        and gradients, and their means.
        """
        inner = [e.args[0] if isinstance(e, operators.E | operators.E_round) else e for e in used]
        arrays = {v.name: v.domain for v in self.claim.variables if v.indices}
        for e in inner:
            lengths = isinstance(e, operators.norm | operators.norm2 | operators.dot)
            losses = isinstance(e, operators.F | operators.objective)
            entry = isinstance(e, sp.Indexed) and (arrays.get(name_of(e), "real") in ("real", "positive", "nonnegative")
                                                   and name_of(e) not in ("sampled", "included"))
            if not (lengths or losses or entry or e.is_Symbol) or e.has(operators.FurtherOperator):
                return f"{e} may not be any number"
            if e.has(operators.objective_grad(operators.x_star)) or (losses and e.has(operators.x_star)):
                return f"{e} is known at the optimum"
        if any(isinstance(e, operators.F) for e in inner) and any(isinstance(e, operators.objective) for e in inner):
            return "the objective is the mean of the clients' losses"
        if any(s.name in ("L_objective", "mu_objective") for s in mentioned):
            return "the objective's curvature depends on the clients'"
        if any(c.left.has(infimum) or c.right.has(infimum) for c in self.claim.hypotheses):
            return "a hypothesis speaks of all points"
        models = {name_of(a) for e in inner for a in e.atoms(sp.Indexed)} & {"x", "x_round", "x_sampled", "x_broadcast"}
        if len(models) > 1:
            return f"{' and '.join(sorted(models))} may be one model"
        means = [{name_of(a) for v in e.args for m in v.atoms(operators.E, operators.E_round) for a in m.atoms(sp.Indexed)}
                 for e in inner if isinstance(e, operators.norm | operators.norm2 | operators.dot)]
        outcomes = {name_of(a) for e, one in zip(used, inner, strict=True) if e is not one for a in one.atoms(sp.Indexed)}
        both = set().union(*means) & outcomes
        return f"the mean of {min(both)} and its outcomes depend on each other" if both else ""

    def _lone(self, claimed: set[sp.Symbol]) -> sp.Symbol | None:
        """Return a quantity that makes a premise vacuous for numbers wherever it is about the claim, or about what bounds
        the claim's quantities: it stands on the larger side, no other premise mentions it, no hypothesis bounds it, and it
        may be as large as one likes; None if there is none."""
        quantities = {*self.numbers.names.values()}
        times = Counter(s for premise in self.premises for s in set().union(*map(_symbols, premise)))
        bounded = {s for c in self.stated for s in (_symbols(c) if c.relation == "==" else _ends(c)[0].free_symbols)}
        ends = [[_ends(c) for c in premise if c.relation != "=="] for premise in self.premises]
        about, before = {*claimed}, set()
        while about != before:
            before = {*about}
            for small, large in joined(*ends):
                about |= large.free_symbols & quantities if small.free_symbols & before else set()
        for premise in ends:
            found = [[s for s in large.free_symbols & quantities - claimed - bounded
                      if times[s] == 1 and not _falls(large, s)] for small, large in premise if small.free_symbols & about]
            if found and all(found):
                return min(found[0], key=str)
        return None

    def confirmed(self, witness: Mapping[str, str], broken: Condition) -> RefutingNumbers | str:
        """Return z3's numbers if exact arithmetic confirms them, else the reason, if there is one to tell."""
        conditions = [*self.facts, broken]
        symbols = set().union(*map(_symbols, conditions))
        try:
            found = {s.name: Fraction(witness.get(s.name, "1")) for s in symbols}
        except ValueError:  # an algebraic number that is no fraction
            return "numbers that break it are no fractions"
        if not all(_admits(s, found[s.name]) for s in symbols) or not all(holds_exactly(c, found) for c in conditions):
            return ""
        if why := self._no_vectors(found):
            return why
        found |= {s.name: Fraction(int(value)) for s, value in self.sizes.items()}
        told = _that_matter(conditions) | {s.name for s in self.sizes}
        shown = {name: str(value) for name, value in sorted(found.items()) if name in told - {"gap"}}
        quantities = {s.name: str(e) for e, s in self.numbers.names.items() if s.name in shown}
        return RefutingNumbers(shown, quantities)

    def _no_vectors(self, found: Mapping[str, Fraction]) -> str:
        """Explain why no vectors need have these lengths and inner products; empty if some have.

        Vectors of which none is a combination of the others, each of them in one length or inner product only, may have any
        lengths and inner products.
        """
        parts = set().union(*(self.numbers.parts(e) for e, s in self.numbers.names.items() if s.name in found))
        vectors = [v for part in sorted(parts, key=str) if isinstance(part, operators.norm2 | operators.norm | operators.dot)
                   for v in part.args]
        rows = [self._coordinates(v, found) for v in vectors]
        basis = sorted(set().union(*rows), key=str)
        points = {e.args[1] for e in basis if isinstance(e, operators.grad)}
        mixed = any(e.args[0] in points for e in basis if isinstance(e, operators.objective_grad))
        matrix = sp.Matrix(len(rows), len(basis), lambda i, j: rows[i].get(basis[j], 0))
        if not rows or (not mixed and matrix.rank() == len(rows)):
            return ""
        return "its lengths are of vectors that depend on each other"

    def _coordinates(self, vector, found: Mapping[str, Fraction]) -> dict[sp.Expr, sp.Expr]:
        """Write a vector as a combination of models, states and gradients. Parameters have the numbers that were found, and
        measured factors, such as whether a client takes part, these or 1."""
        rows: dict[sp.Expr, sp.Expr] = {}
        for term in sp.Add.make_args(sp.expand_mul(vector)):
            factors = sp.Mul.make_args(term)
            outside = sp.Mul(*(f for f in factors if self.numbers.is_number(f)))
            value = outside.xreplace({a: self._value(a, found) for a in outside.atoms(sp.Indexed)})
            value = value.xreplace({s: sp.Rational(found[s.name]) for s in value.free_symbols if s.name in found})
            key = sp.Mul(*(f for f in factors if not self.numbers.is_number(f)))
            rows[key] = rows.get(key, 0) + value
        return {key: value for key, value in rows.items() if value != 0}

    def _value(self, a: sp.Indexed, found: Mapping[str, Fraction]) -> sp.Rational:
        """Return the number that an entry has, 1 if no condition mentions it."""
        own = self.numbers.names.get(a)
        return sp.Rational(found.get(own.name, 1)) if own is not None else sp.S.One


def _ends(c: Condition) -> tuple[sp.Expr, sp.Expr]:
    """The smaller and the larger side of an inequality."""
    return (c.left, c.right) if c.relation == "<=" else (c.right, c.left)


def _falls(e: sp.Expr, s: sp.Symbol) -> bool:
    """Whether an expression certainly does not grow with a quantity that is at least 0."""
    return bool(s.is_nonnegative and sp.diff(e, s).is_nonpositive)


def _admits(s: sp.Symbol, value: Fraction) -> bool:
    """Whether a symbol may have a value, by the sign and kind that it declares."""
    return not ((s.is_positive and value <= 0) or (s.is_nonnegative and value < 0)
                or (s.is_integer and value.denominator > 1))


def _symbols(c: Condition) -> set[sp.Symbol]:
    return c.left.free_symbols | c.right.free_symbols


def _that_matter(conditions) -> set[str]:
    """The names on which some condition depends. One that cancels, as values in between do where differences are added up,
    may have any number."""
    return {s.name for c in conditions for s in sp.expand(c.left - c.right).free_symbols}
