"""Claims about losses at points as claims about plain numbers and free vectors.

At a point the losses and gradients of the clients are numbers and vectors. What is known of them are inequalities between
the points that occur, which hold for every function of the class: a proof for all numbers and vectors that meet these is one
for all federations, sizes and dimensions. Points are measured from one of them.
"""

from collections.abc import Callable, Iterator
from itertools import combinations, permutations

import sympy as sp

from bounds.language import operators
from bounds.language.claim import Claim, Condition, Procedure, Variable, parts_of_size
from bounds.language.names import NAMES, symbol
from bounds.language.operators import dot, norm2
from bounds.language.values import Need, changed, needs

__all__ = ["NotAtPoints", "at_points"]

_K = sp.Symbol("client", integer=True)  # any client
_CLIENTS = (_K, sp.Integer(0), operators.clients - 1)
_AVERAGES = ("x", "x_sampled")  # nothing is sampled at a point, so that they are the same
_OF_TIME = (*_AVERAGES, "x_local", "included", "eta_l")
_DEPTH = 10  # of definitions within definitions
_SHAPES = 6  # vectors whose sums and differences have squares
#: weights of priority clients, of the free clients that are included, and of all free clients
_MAIN, _COUNTED, _FREE = (sp.IndexedBase(f"weight({name})") for name in ("priority", "included", "free"))
_MASS = sp.Symbol("weight(all included)", nonnegative=True)
_LEAST, _STAR = sp.IndexedBase("F_star_client"), sp.Symbol("x_star")  # symbols without a sign


class NotAtPoints(ValueError):
    """A claim depends on more than losses at points."""


def at_points(claim: Claim) -> tuple[Claim, list[Need]]:
    """The claim about numbers and vectors from which a claim about losses at points follows, and all that is needed for both
    sides of the statement to have a value.

    Raises:
        NotAtPoints: the claim speaks of something else.
    """
    if claim.setting != "point" or claim.statement is None or not claim.explicit:
        raise NotAtPoints("it is not about losses at points")
    reader = _Reader(claim)
    *hypotheses, statement = map(reader.condition, (*reader.others, claim.statement))
    known = [*hypotheses, *_LossFacts(reader, [*hypotheses, statement]).conditions()]
    needed, moved = reader.needs(), _from_one_point(reader, [*known, statement])
    *known, statement = [Condition(moved(c.left), c.sign, moved(c.right), c.over) for c in (*known, statement)]
    found = Claim(claim.id, claim.number, claim.kind, "algebra", statement, conditions=tuple(known),
                 variables=_variables(claim, reader, [*known, statement]), derivation="what is known of losses at points")
    return found, [changed(need, moved) for need in needed]


# the claim's own formulas ------------------------------------------------------------------------------------------------
class _Reader:
    """Reads a claim's formulas.

    Attributes:
        L, m: the curvatures between which those of all clients lie; None where nothing is known.
        others: the other hypotheses.
        points: the points with losses or gradients and their names; of a client's own points those of client k.
    """

    def __init__(self, claim: Claim):
        procedure = claim.procedure or Procedure(free_clients=True)
        self.claim, self.equal, self.with_free = claim, procedure.equal_weights, procedure.free_clients
        self.vectors = {v.name for v in claim.variables if v.domain == "vector"} | {"x", "x_local", "x_star"}
        self.points: dict[sp.Expr, str] = {}
        bounds, self.others = {}, []
        if _K.name in claim.names:
            raise NotAtPoints(f"{_K} has a meaning here")
        for c in claim.hypotheses:
            name = c.left.base.label.name if isinstance(c.left, sp.Indexed) else ""
            relation = {"L_client": "<=", "mu_client": ">="}.get(name)
            if relation is None:
                self.others.append(c)
            elif c.relation != relation or name in bounds or c.over != ((*c.left.indices, *_CLIENTS[1:]),) or c.right.has(
                    *c.left.indices):
                raise NotAtPoints(f"{c.left} {c.sign} {c.right} bounds no curvatures of all clients")
            else:
                bounds[name] = c.right
        self.L, self.m = bounds.get("L_client"), bounds.get("mu_client")

    def condition(self, c: Condition) -> Condition:
        """A condition at the one time that there is."""
        once, over = _once(c)
        sides = [self.formula(self._defined(side).subs(once)) for side in (c.left, c.right)]
        return Condition(sides[0], c.sign, sides[1], over)

    def needs(self) -> list[Need]:
        """All that is needed for both sides of the statement to have a value, at that time."""
        claim, (once, _) = self.claim, _once(self.claim.statement)
        ranges = {row.name: tuple(_CLIENTS[1:] if letter == "k" else () for letter in row.indices) for row in NAMES.values()}
        ranges |= {v.name: tuple((sp.Integer(0), _size(name) + more - 1) for name, more in (
            parts_of_size(size) for _, size in v.indices)) for v in claim.variables}
        found = [need for side in (claim.statement.left, claim.statement.right)
                 for need in needs(side, ranges, claim.definitions)]
        found += [Need("whole", tuple(ends)) for _, *ends in claim.statement.over]
        return [changed(need, lambda part: self.formula(self._defined(part).subs(once))) for need in dict.fromkeys(found)]

    def _defined(self, e):
        """The formula with definitions inserted, and the objective as a sum over clients."""
        known = self.claim.definitions
        for _ in range(_DEPTH):
            found = e.replace(lambda p: isinstance(p, sp.Indexed) and p.base.label.name in known, lambda p: known[
                p.base.label.name].formula.subs(dict(zip(known[p.base.label.name].indices, p.indices, strict=True))))
            found = found.replace(lambda p: p.is_Symbol and p.name in known and not known[p.name].indices,
                                  lambda p: known[p.name].formula)
            found = found.replace(operators.objective, lambda v: _over_clients(operators.F, v))
            found = found.replace(operators.objective_grad, lambda v: _over_clients(operators.grad, v))
            found = found.xreplace({operators.F_star: _over_clients(operators.F, operators.x_star)})
            if found == e:
                return e
            e = found
        raise NotAtPoints("definitions go around in circles")

    def formula(self, e):
        """A formula with names of numbers and vectors for losses, gradients, weights and what belongs to the time."""
        e = sp.sympify(e)
        if isinstance(e, sp.Indexed):
            name, indices = e.base.label.name, e.indices
            if name in _OF_TIME and indices[0] != 0:
                raise NotAtPoints(f"{e} is at another time")
            if name == "eta_l":
                return sp.Symbol(name, positive=True)
            return sp.Symbol("x") if name in _AVERAGES else sp.IndexedBase(name)[indices[name in _OF_TIME:]]
        if isinstance(e, operators.F | operators.grad):
            return self._loss_at(e.func, e.args[0], self.formula(e.args[1]))
        if isinstance(e, sp.Sum):
            limits = tuple((index, self.formula(low), self.formula(high)) for index, low, high in e.limits)
            body = self.formula(e.function)
            for each in limits:
                body = self._sum(body, *each)
            return body
        if e.is_Symbol and e.name in self.vectors:
            return sp.Symbol(e.name)
        return e.func(*map(self.formula, e.args)) if e.args else e

    def _loss_at(self, of, client, point):
        own = point.xreplace({client: _K})
        named = {s.name for s in own.free_symbols if s.is_Symbol} | {a.base.label.name for a in own.atoms(sp.Indexed)}
        if {s for a in own.atoms(sp.Indexed) for s in a.free_symbols if s.is_Symbol and s.is_integer} - {_K} or not (
                named & self.vectors) or own.atoms(sp.Function):
            raise NotAtPoints(f"a loss at {point}, which is no point by itself")
        self.points.setdefault(own, str(own))
        return _entry(of, self.points[own])[client]

    def _sum(self, body, index, low, high):
        parts = sp.Add.make_args(self._weighed(body, index))
        every = (low, high) == _CLIENTS[1:]
        return sp.Add(*(_MASS if every and part == _COUNTED[index] else sp.Sum(part, (index, low, high)) for part in parts))

    def _weighed(self, body, index):
        """The terms of a sum over clients with a weight for each kind of clients."""
        p, priority, included = own = [sp.IndexedBase(name)[index] for name in ("client_weight", "priority", "included")]
        if not body.has(*own):
            return body
        found = []
        for term in sp.Add.make_args(sp.expand(body)):
            rest, weights = term.as_independent(*own, as_Add=False)
            powers = weights.as_powers_dict()
            if not {*powers} <= {*own} or powers[p] != 1 or any(q <= 0 for q in powers.values()):
                raise NotAtPoints(f"{term} is not linear in the weights of clients")
            if priority in powers or not self.with_free:
                found.append(rest * (1 / operators.clients if self.equal and not self.with_free else _MAIN[index]))
            else:
                found.append(rest * (_MAIN[index] + (_COUNTED if included in powers else _FREE)[index]))
        return sp.expand(sp.Add(*found))


def _once(c: Condition) -> tuple[dict, tuple]:
    """Substitutions for indices over the single time of a point, and the other ranges of a condition."""
    once, over = {operators.iterations: sp.Integer(1)}, []
    for index, low, high in c.over:
        low, high = low.xreplace(once), high.xreplace(once)
        if low == high:
            once[index] = low
        else:
            over.append((index, low, high))
    return once, tuple(over)


def _size(name: str) -> sp.Symbol:
    """The symbol of a size of the instance, or of a variable."""
    return symbol(name) if name in NAMES else sp.Symbol(name, integer=True)


def _over_clients(of, v):
    own = sp.Dummy("k", integer=True)
    bases = [sp.IndexedBase(name)[own] for name in ("priority", "client_weight")]
    return sp.Sum(sp.Mul(*bases, of(own, v)), (own, *_CLIENTS[1:]))


def _entry(of, name) -> sp.IndexedBase:
    return sp.IndexedBase(f"{'F' if of is operators.F else 'grad'}({name})")


# what is known -----------------------------------------------------------------------------------------------------------
class _LossFacts:
    """Facts about the losses at the points of a claim, whatever the federation."""

    def __init__(self, reader: _Reader, conditions):
        self.L, self.m, self.reader, self.stated = reader.L, reader.m, reader, conditions
        sides = [side for c in conditions for side in (c.left, c.right)]
        self.names = set().union(*({s.name for s in side.free_symbols if s.is_Symbol} | {
            a.base.label.name for a in side.atoms(sp.Indexed)} for side in (*sides, *reader.points)))
        if "x_star" in self.names:
            reader.points.setdefault(_STAR, "x_star")
        self.points = [(p, _entry(operators.F, name)[_K], _entry(operators.grad, name)[_K]) for p,
                       name in reader.points.items()]
        self.letters = [sp.Symbol(name) for name in sorted(self.names & reader.vectors) if name != "x_local" and not any(
            v.name == name and v.indices for v in reader.claim.variables)]
        self.letters += [v - w for v, w in combinations(self.letters, 2)]
        self.shapes = _shapes(sides)
        self.steps = sorted({s for side in sides for s in side.free_symbols if s.is_Symbol and s.is_positive
                             and not s.is_integer and s not in (self.L, self.m, _MASS)}, key=str)

    def conditions(self) -> Iterator[Condition]:
        """Each client's inequalities, their weighted sums, and what the optimum and the average are."""
        own = [c for point in self.points for c in self._of_one(*point)]
        own += [c for one, other in permutations(self.points, 2) for c in self._of_two(one, other)]
        own += self._squares()
        weights = [_MAIN[_K], _COUNTED[_K]] if self.reader.with_free else [
            1 / operators.clients if self.reader.equal else _MAIN[_K]]
        for c in own:
            yield Condition(c.left, c.relation, c.right, (_CLIENTS,))
        for c in own:
            for weight in weights:
                yield Condition(0, "<=", sp.Sum(sp.expand(weight * (c.right - c.left)), _CLIENTS))
        if self.L is not None and self.m is not None:
            yield Condition(self.m, "<=", self.L)  # of any client that there is
        if not self.reader.equal or self.reader.with_free:
            yield Condition(sp.Sum(_MAIN[_K], _CLIENTS), "==", 1)
        if self.reader.with_free:
            yield Condition(sp.Sum(_COUNTED[_K], _CLIENTS), "==", _MASS)
            yield Condition(_COUNTED[_K], "<=", _FREE[_K], (_CLIENTS,))
        yield from self._of_the_optimum()
        yield from self._of_the_average()

    def _of_one(self, p, f, g) -> Iterator[Condition]:
        """A loss beside its infimum, which a smooth one exceeds by at least |g|^2 / (2 L)."""
        if "F_star_client" in self.names:
            yield Condition(_LEAST[_K], "<=", f)
            if self.L is not None:
                yield Condition(norm2(g), "<=", 2 * self.L * (f - _LEAST[_K]))
            if self.m is not None and self.m.is_positive:
                yield Condition(2 * self.m * (f - _LEAST[_K]), "<=", norm2(g))

    def _of_two(self, one, other) -> Iterator[Condition]:
        """Interpolation conditions of functions with curvatures between m and L (Taylor, Hendrickx, Glineur 2017, Theorem 4;
        for m = -L Rotaru, Glineur, Patrinos 2022, Theorem 3.1), and what follows from pairs of them."""
        (p, f, g), (q, e, h) = one, other
        d, change, L, m = p - q, g - h, self.L, self.m
        gap = f - e - dot(h, d)
        low = m if m is not None else None if L is None else -L
        if low is not None:
            yield Condition(low * norm2(d), "<=", 2 * gap)
            yield Condition(low * norm2(d), "<=", dot(change, d))
            if low.is_nonnegative:
                yield Condition(0, "<=", gap)
        if L is not None:
            yield Condition(2 * gap, "<=", L * norm2(d))
            yield Condition(norm2(change) + low * L * norm2(d) - 2 * low * dot(change, d), "<=", 2 * (L - low) * gap)
            yield Condition(norm2(change), "<=", L**2 * norm2(d))
            yield Condition(norm2(change) + low * L * norm2(d), "<=", (L + low) * dot(change, d))
            if low.is_nonnegative:
                yield Condition(norm2(change), "<=", L * dot(change, d))
                yield Condition(norm2(change), "<=", 2 * L * gap)

    def _squares(self) -> Iterator[Condition]:
        """Squares of what steps and sums make of differences of points and of gradients."""
        places = [p for p, *_ in self.points] + [sp.Symbol("x")] * ("x" in self.names)
        moves = [p - q for p, q in combinations(dict.fromkeys(places), 2)]
        slopes = [g for *_, g in self.points]
        changes = [g - h for g, h in combinations(slopes, 2)]
        vectors = [*moves, *slopes, *changes]
        pairs = [(d, step * g) for d in moves for g in (*slopes, *changes) for step in self.steps]
        pairs += combinations([*self.shapes, *changes][:_SHAPES], 2)
        vectors += [u + sign * v for u, v in pairs for sign in (1, -1)]
        yield from (Condition(0, "<=", norm2(v)) for v in vectors)

    def _of_the_optimum(self) -> Iterator[Condition]:
        if _STAR not in self.reader.points:
            return
        slope = _weighted_sum(self.reader, _entry(operators.grad, "x_star")[_K])
        yield Condition(norm2(slope), "==", 0)
        yield from (Condition(dot(slope, v), "==", 0) for v in self.letters)
        least = _weighted_sum(self.reader, _entry(operators.F, "x_star")[_K])
        for p, f, g in self.points:
            if p != _STAR and not p.has(_K):
                yield Condition(least, "<=", _weighted_sum(self.reader, f))
                if self.L is not None:
                    excess = _weighted_sum(self.reader, f) - least
                    yield Condition(norm2(_weighted_sum(self.reader, g)), "<=", 2 * self.L * excess)

    def _of_the_average(self) -> Iterator[Condition]:
        """The mean of what models are away from the average is zero; a mean gradient is no longer than gradients (Jensen).
        A vector without a length has no inner products."""
        if "x" in self.names:
            mean = self._over_all(sp.IndexedBase("x_local")[_K] - sp.Symbol("x"))
            yield from (Condition(dot(mean, v), "==", 0) for v in self.letters)
        for c in self.stated:
            if c.relation == "==" and c.right == 0 and isinstance(c.left, norm2) and not c.over:
                yield from (Condition(dot(c.left.args[0], v), "==", 0) for v in self.letters)
        for _, _, g in self.points:
            total = 1 + _MASS if self.reader.with_free else 1
            yield Condition(norm2(self._over_all(g)), "<=", total * self._over_all(norm2(g)))

    def _over_all(self, e):
        """The weighted sum over priority clients and free ones that are included."""
        counted = sp.Sum(_COUNTED[_K] * e, _CLIENTS) if self.reader.with_free else 0
        return _weighted_sum(self.reader, e) + counted


def _shapes(sides) -> list[sp.Expr]:
    """Vectors of which lengths are taken, those of a client as of client k."""
    found = {}
    for side in sides:
        for e in sorted(side.atoms(operators.norm2, operators.norm), key=sp.default_sort_key):
            indices = {s for a in e.atoms(sp.Indexed) for s in a.free_symbols if s.is_Symbol and s.is_integer}
            if len(indices) <= 1 and not e.has(sp.Sum):
                found[e.args[0].xreplace(dict.fromkeys(indices, _K))] = None
    return [*found]


def _weighted_sum(reader, e):
    """The weighted sum over priority clients."""
    return sp.Sum(e * (1 / operators.clients if reader.equal and not reader.with_free else _MAIN[_K]), _CLIENTS)


def _from_one_point(reader, conditions) -> Callable[[sp.Expr], sp.Expr]:
    """Return a function that rewrites formulas with all points measured from one of them, so that only their differences are
    symbols."""
    letters = sorted({p for p in reader.points if not p.args or isinstance(p, sp.Indexed)}, key=str)
    origin = next((p for p in [sp.Symbol("x"), *letters] if not p.has(_K) and any(
        side.has(p) for c in conditions for side in (c.left, c.right))), None)
    if origin is None:
        return lambda e: e
    names = {(p.base.label if isinstance(p, sp.Indexed) else p).name for p in (*letters, sp.IndexedBase("x_local")[_K])}

    def relative_to_origin(e):
        e = e.replace(lambda p: isinstance(p, sp.Indexed) and p.base.label.name in names and p != origin,
                      lambda p: sp.IndexedBase(f"({p.base.label.name} - {origin})")[p.indices] + origin)
        return e.replace(lambda p: p.is_Symbol and p.name in names and p != origin and p.name not in bases,
                         lambda p: sp.Symbol(f"({p.name} - {origin})") + origin)

    bases = {a.base.label.name for c in conditions for side in (c.left, c.right) for a in side.atoms(sp.Indexed)}
    reader.vectors |= {f"({name} - {origin})" for name in names}
    return relative_to_origin


def _variables(claim, reader, conditions) -> tuple[Variable, ...]:
    """The numbers and vectors of which nothing else is known."""
    found = {v.name: v for v in claim.variables}
    defined = {c.left for c in conditions if c.relation == "==" and not c.over and c.left.is_Symbol}
    every = [e for c in conditions for e in (c.left, c.right, *(end for _, *ends in c.over for end in ends))]
    indices = {index for c in conditions for index, *_ in c.over} | {
        index for e in every for s in e.atoms(sp.Sum) for index, *_ in s.limits}
    entries = {entry for e in every for entry in e.atoms(sp.Indexed)}
    for name in sorted({entry.base.label.name for entry in entries} - {*found}):
        if not (name.startswith(("weight(", "grad(", "F(")) or name == "F_star_client" or name in reader.vectors):
            raise NotAtPoints(f"{name} is not measured at points")
        vector = name in reader.vectors or name.startswith("grad(")
        domain = "vector" if vector else "nonnegative" if name.startswith("weight(") else "real"
        found[name] = Variable(name, domain, (("k", "clients"),))
    single = {s for e in every for s in e.free_symbols if s.is_Symbol} - indices - defined - {e.base.label for e in entries}
    found |= {s.name: _variable(s, reader) for s in sorted(single, key=str) if s.name not in found}
    return tuple(found.values())


def _variable(s, reader) -> Variable:
    if s.name in reader.vectors:
        return Variable(s.name, "vector")
    if s.is_integer:
        return Variable(s.name, "integer")
    return Variable(s.name, "positive" if s.is_positive else "nonnegative" if s.is_nonnegative else "real")
