"""Whether hypotheses bound at all points what strong convexity makes grow without bound, in whatever form they say it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import sympy as sp

from bounds.formulas.closed_form import side_conditions
from bounds.language import operators
from bounds.language.claim import Claim, Condition
from bounds.language.coordinates import highest
from bounds.language.functions import f, f_grad
from bounds.language.names import CONSTANT, NAMES
from bounds.language.space import infimum
from verify.claims.needs import OVER_SPACE, determined
from verify.prove.satisfiable import satisfiable

__all__ = ["bounded_and_convex"]

_ALL = "all"  # clients
_LOSS_CONSTANTS = ("G_lip", "G_lip_client")  # suprema of gradients over all points
_FREE, _BELOW, _UNBOUNDED = "without the point", "bounded below", "unbounded above and bounded below"
_POSITIVE = sp.Dummy(positive=True)


@dataclass(frozen=True)
class _Hypothesis:
    """A hypothesis as ``gap <= 0`` (``< 0`` if ``strict``) for all indices in ``over``; ``point``: at all of these too."""

    label: str
    text: str
    gap: sp.Expr
    over: tuple
    strict: bool = False
    point: sp.Symbol | None = None


def bounded_and_convex(claim: Claim) -> tuple[str, str, str] | None:
    """Finds a hypothesis that bounds a gradient or a loss at all points, and one by which it is strongly convex.

    Returns their names and the proof that they exclude each other; None if none are found, which proves nothing. Both must
    be about one client, or the bound about the objective and the convexity about all clients.
    """
    reader = _Reader(claim)
    for bounded in reader.hypotheses:
        if (convex := reader.excludes(bounded)) is not None:
            return bounded.label, convex.label, (
                f"{convex.text} makes losses strongly convex: the gradient at a point is at least a positive number times "
                f"the distance from the minimiser, and no number bounds it at all points, as {bounded.text} asks")
    return None


class _Reader:
    def __init__(self, claim: Claim):
        self.claim, self.own = claim, {v.name for v in claim.variables} | {*claim.definitions}

    @cached_property
    def hypotheses(self) -> list[_Hypothesis]:
        if self.claim.setting == "algebra" or "mu_client" in self.own:  # there the names mean what the claim says
            return []
        found = []
        for assumption in self.claim.assumptions:
            found += [h for c in assumption.conditions for h in _as_gaps(assumption.id, c)]
            if assumption.everywhere is not None:
                found += _as_gaps(assumption.id, assumption.everywhere, _point_of(assumption.everywhere))
        return found + [h for c in self.claim.conditions for h in _as_gaps(_text(c), c)]

    # strong convexity ---------------------------------------------------------------------------------------------------
    @cached_property
    def convexities(self) -> list[tuple[object, _Hypothesis]]:
        """The clients that are strongly convex, each with the hypothesis that says it."""
        found = []
        for hypothesis in self.hypotheses:
            gap, over = hypothesis.gap, hypothesis.over
            for entry in gap.atoms(highest):  # the largest of -mu_client[k] over clients
                index, low, high, value = entry.args
                gap, over = gap.subs(entry, value), (*over, (index, low, high))
            entries = [e for e in gap.atoms(sp.Indexed) if e.base == operators.mu_client]
            if len(entries) != 1 or hypothesis.point is not None or not _never_empty(over):
                continue
            rest, multiple = self.expanded(gap.subs(entries[0], 0)), sp.expand(gap).coeff(entries[0])
            if sp.expand(rest + multiple * entries[0] - self.expanded(gap)) != 0 or not multiple.is_negative:
                continue
            positive = rest.is_positive or (hypothesis.strict and rest.is_nonnegative) or self.is_positive(rest)
            if positive and (clients := _clients(entries[0].indices[0], over)) is not None:
                found.append((clients, hypothesis))
        return found

    def expanded(self, e) -> sp.Expr:
        """A number with the definitions of its symbols inserted."""
        for _ in range(len(self.claim.definitions)):
            put = {s: self.claim.definitions[s.name].formula for s in e.free_symbols
                   if s.is_Symbol and s.name in self.claim.definitions and not self.claim.definitions[s.name].indices}
            if not put:
                break
            e = e.xreplace(put)
        return sp.expand(e)

    def is_positive(self, number) -> bool:
        """Whether the conditions on parameters alone make a number positive."""
        if number.is_number or number.has(sp.Indexed, operators.Operator) or self.claim.statement is None:
            return False
        return satisfiable([*side_conditions(self.claim), Condition(number, "<=", 0)]).answer == "no"

    def convexity(self, clients) -> _Hypothesis | None:
        """The hypothesis by which one of these clients is strongly convex; the same client for each of several bounds."""
        return next((h for convex, h in self.convexities if _share_one(clients, convex)), None)

    def convexity_of_all(self) -> _Hypothesis | None:
        return next((h for convex, h in self.convexities if convex == _ALL), None)

    # what is bounded ----------------------------------------------------------------------------------------------------
    def excludes(self, hypothesis: _Hypothesis) -> _Hypothesis | None:
        """The convexity that a bound excludes."""
        if not _never_empty(hypothesis.over):
            return None
        if hypothesis.point is not None:
            return self.unbounded(hypothesis.gap, hypothesis.point, hypothesis.over)
        terms = sp.Add.make_args(sp.expand(hypothesis.gap))
        for term in terms:
            rest = sp.Add(*(other for other in terms if other is not term))
            if rest.has(infimum) or {s.name for s in rest.free_symbols} & {*OVER_SPACE, "H_loss"}:
                continue
            if (convex := self.infinite(term, hypothesis.over)) is not None:
                return convex
        return None

    def infinite(self, term, over) -> _Hypothesis | None:
        """The convexity by which a term of a sum is infinite."""
        factors = sp.Mul.make_args(term)
        words_ = [e for e in factors if isinstance(e, infimum | highest)]
        if len(words_) == 1:
            word, multiple = words_[0], sp.Mul(*(e for e in factors if e is not words_[0]))
            if isinstance(word, infimum) and word.args[1].has(infimum):  # over two points
                return None
            if isinstance(word, infimum) and multiple.is_negative:
                return self.unbounded(-word.args[1], word.args[0], over)
            if isinstance(word, highest) and multiple.is_positive:
                index, low, high, value = word.args
                inner = (*over, (index, low, high))
                return self.infinite(value, inner) if _never_empty(inner) and not value.is_Add else None
            return None
        constants = [e for e in factors if _name(e) in {*_LOSS_CONSTANTS} - self.own - determined(self.claim)]
        if len(constants) != 1 or not sp.Mul(*(e for e in factors if e is not constants[0])).is_positive:
            return None
        entry = constants[0]
        return self.convexity(_clients(entry.indices[0], over) if isinstance(entry, sp.Indexed) else _ALL)

    def unbounded(self, e, point, over) -> _Hypothesis | None:
        """The convexity by which a number is unbounded above over all points."""
        kind, convex = self.kind(sp.expand(e), point, over)
        return convex if kind == _UNBOUNDED else None

    def kind(self, e, point, over) -> tuple[str | None, _Hypothesis | None]:
        """The way in which a number depends on the point, and the convexity that says so; (None, None) where that is not
        known."""
        if not e.has(point):
            return _FREE, None
        if e.is_Add:
            kinds = [self.kind(term, point, over) for term in e.args]
            if None in [kind for kind, _ in kinds]:
                return None, None
            return next((one for one in kinds if one[0] == _UNBOUNDED), (_BELOW, None))
        factors = sp.Mul.make_args(e)
        cores = [factor for factor in factors if factor.has(point)]
        multiple = sp.Mul(*(factor for factor in factors if not factor.has(point)))
        if len(cores) != 1 or not multiple.is_nonnegative:
            return None, None
        kind, convex = self.core(cores[0], point, over)
        return (_BELOW, None) if kind == _UNBOUNDED and not multiple.is_positive else (kind, convex)

    def core(self, e, point, over) -> tuple[str | None, _Hypothesis | None]:
        """The kind of a number that is no sum and no multiple."""
        if isinstance(e, operators.norm2 | operators.norm) or (isinstance(e, operators.dot) and e.args[0] == e.args[1]):
            convex = self.long(sp.expand(e.args[0]), point, over)
            return (_BELOW, None) if convex is None else (_UNBOUNDED, convex)
        if isinstance(e, operators.F) and e.args[1] == point:
            convex = self.convexity_of(e.args[0], over)
        elif isinstance(e, operators.objective) and e.args[0] == point:
            convex = self.convexity_of_all()
        elif isinstance(e, sp.Sum):
            return self.sum(e, point, over)
        else:
            return None, None
        return (None, None) if convex is None else (_UNBOUNDED, convex)

    def sum(self, e, point, over) -> tuple[str | None, _Hypothesis | None]:
        """The kind of a sum over a range, if all losses are strongly convex: then no term is unbounded below, and one of the
        clients has a positive weight."""
        limits = tuple(map(tuple, reversed(e.limits)))
        convex = self.convexity_of_all()
        moving = any(end.has(point) for triple in limits for end in triple[1:])
        if convex is None or moving or not _never_empty((*over, *limits)):
            return None, None
        return self.kind(sp.expand(_without_weights(e.function, limits)), point, (*over, *limits))

    def long(self, vector, point, over) -> _Hypothesis | None:
        """The convexity by which a vector gets as long as one likes: gradients of strongly convex losses, all with multiples
        of one sign, and vectors without the point."""
        found, signs = None, set()
        for term in sp.Add.make_args(vector):
            if not term.has(point):
                continue
            factors = sp.Mul.make_args(term)
            cores = [factor for factor in factors if factor.has(point)]
            multiple = sp.Mul(*(factor for factor in factors if not factor.has(point)))
            if len(cores) != 1 or not (multiple.is_positive or multiple.is_negative):
                return None
            signs.add(multiple.is_positive)
            found = self.gradient(cores[0], point, over)
            if found is None:
                return None
        return found if len(signs) == 1 else None

    def gradient(self, e, point, over) -> _Hypothesis | None:
        """The convexity of a loss whose gradient at the point this is, or of a sum of such."""
        if isinstance(e, operators.grad) and e.args[1] == point:
            return self.convexity_of(e.args[0], over)
        if isinstance(e, f_grad) and e.args[0] == point:
            return self.convexity(_ALL)
        if isinstance(e, operators.objective_grad) and e.args[0] == point:
            return self.convexity_of_all()
        if isinstance(e, sp.Sum) and len(e.limits) == 1 and _clients(e.limits[0][0], (tuple(e.limits[0]),)) == _ALL:
            multiple, gradient = _without_weights(e.function, (tuple(e.limits[0]),)).as_independent(point, as_Add=False)
            if isinstance(gradient, operators.grad) and gradient.args[1] == point and multiple.is_positive:
                return self.convexity_of_all()
        return None

    def convexity_of(self, client, over) -> _Hypothesis | None:
        clients = _clients(client, over)
        return None if clients is None else self.convexity(clients)


def _as_gaps(label: str, c: Condition, point=None) -> Iterator[_Hypothesis]:
    if c.relation in ("<=", "=="):
        yield _Hypothesis(label, _text(c), c.left - c.right, c.over, c.strict, point)
    if c.relation in (">=", "=="):
        yield _Hypothesis(label, _text(c), c.right - c.left, c.over, c.strict, point)


def _text(c: Condition) -> str:
    """A condition in one line, a supremum over all points as it is written in files."""
    if isinstance(-c.left, infimum):
        point, number = (-c.left).args
        return f"{-number} {c.sign} {c.right} for all {point}"
    return f"{c.left} {c.sign} {c.right}"


def _point_of(c: Condition):
    """The point at which an inequality about a function is stated for all; no second one may occur."""
    points = {e.args[0] for side in (c.left, c.right) for e in side.atoms(f, f_grad)}
    return points.pop() if len(points) == 1 else sp.Dummy()


def _name(e) -> str:
    name = str(e.base.label) if isinstance(e, sp.Indexed) else e.name if e.is_Symbol else ""
    return name if name in NAMES and NAMES[name].source == CONSTANT else ""


def _never_empty(over) -> bool:
    return all((high - low).is_nonnegative for _, low, high in over)


def _clients(index, over):
    """The clients of an index: all; or one that is certainly among them, by its number; None if none is known."""
    ends = {i: (low, high) for i, low, high in over}
    if index in ends:
        low, high = ends[index]
        return _ALL if low == 0 and high == operators.clients - 1 else int(low) if low.is_Integer else None
    return int(index) if index.is_Integer else None


def _share_one(some, others) -> bool:
    return some is not None and (_ALL in (some, others) or some == others)


def _without_weights(e, over):
    """A term of a sum over all clients with a positive number in place of their weights, of which one is positive."""
    for index, *_ in over:
        if _clients(index, over) == _ALL:
            e = e.xreplace({operators.client_weight[index]: _POSITIVE})
    return e
