"""Ways to prove goals about numbers: sums of multiples of facts, squares of vectors, sums term by term, and lemmas about the
powers, exponentials, roots, largest numbers and lengths that occur."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import permutations

from verify.checker.index_sums import (
    combined,
    dot,
    frozen,
    length,
    new_index,
    of_vector,
    scaled,
    substitute,
    sum_of,
    vector_sum,
)
from verify.checker.polynomials import ONE, ZERO, Poly, constant, has, inverse, of_atom, total
from verify.prove.number_search import Search, atoms_of

__all__ = ["TACTICS"]


def by_combination(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """The goal as a sum of products of facts, first of few."""
    return any(search.combine(relation, p, degree) for degree in (1, 2))


# vectors -----------------------------------------------------------------------------------------------------------------
def by_squares_of_vectors(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """A quadratic form in vectors as a sum of squares, by elimination; what is left is a sum of multiples of facts."""
    if relation != ">=" or not any(a[0] == "dot" for a in atoms_of(p)):
        return False
    rest, used, wrote = p, [], False
    for _ in range(6):
        parts = _by_dots(rest)
        if parts is None:
            return False
        lead = next((a for a in sorted({u for u, _ in parts}, key=repr) if (a, a) in parts and any(
            u != v and a in (u, v) for u, v in parts) and _positive(search, parts[a, a], depth)), None)
        if lead is None:
            break
        c = parts[lead, lead]
        try:
            v = {lead: ONE} | {(u if u != lead else w): q * inverse(c) * constant("1/2") for (u, w), q in parts.items()
                               if u != w and lead in (u, w)}
        except ArithmeticError:
            return False
        name = search.lemma("square", v)
        if name is None:
            return False
        used.append(name)
        wrote, rest = True, rest - c * dot(v, v)
        rest = total([q * dot({u: ONE}, {w: ONE}) for (u, w), q in (_by_dots(rest) or {}).items() if not _zero(q)] + [
            total(Poly({m: x}) for m, x in rest.terms.items() if not any(a[0] == "dot" for a, _ in m))])
    return wrote and search.combine(relation, p, 1)


def _zero(q):
    from verify.checker.polynomials import vanishes

    return vanishes(q)


def _positive(search, c, depth):
    return search.known.shown(">", c) or (depth > 1 and not search.reader.federation and search.prove(">", c, depth - 1))


def _by_dots(p):
    """The coefficients of inner products; None where there are products of these."""
    found: dict = {}
    for m, c in p.terms.items():
        dots = [(a, n) for a, n in m if a[0] == "dot"]
        if not dots:
            continue
        if len(dots) > 1 or dots[0][1] != 1:
            return None
        (_, u, v), _ = dots[0]
        found[u, v] = found.get((u, v), ZERO) + Poly({tuple(pair for pair in m if pair[0] != dots[0][0]): c})
    return found


def by_lengths(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """A length that is at most a sum of others: by squares, where need be after triangle inequalities."""
    if relation != ">=" or depth <= 0:
        return False
    lengths = {a: ZERO for a in sorted(atoms_of(p), key=repr) if a[0] == "norm"}
    for a in lengths:
        for m, c in p.terms.items():
            if dict(m).get(a) == 1:
                lengths[a] = lengths[a] + Poly({tuple(pair for pair in m if pair[0] != a): c})
    long = [a for a, c in lengths.items() if c == constant(-1)]
    if len(long) != 1:
        return False
    v, others = dict(long[0][1]), {a: c for a, c in lengths.items() if a != long[0]}
    bound = p + of_atom(long[0])
    for a in others:
        search.lemma("length squared", dict(a[1]))
    if search.prove(">=", bound, depth - 1) and search.prove(">=", bound * bound - dot(v, v), depth - 1) and search.lemma(
            "longer", v, bound):
        return True
    for a, c in others.items():
        for sign in (1, -1):
            part = scaled(dict(a[1]), c * constant(sign))
            rest = combined([v, scaled(part, constant(-1))])
            if not rest or len(rest) > len(v) or not search.prove(">=", c, depth - 1):
                continue
            search.lemma("multiple", dict(a[1]), c)
            if search.prove(">=", bound - c * of_atom(a) - length(rest), depth - 1) and search.lemma("triangle", rest, part):
                return search.known.shown(relation, p) or search.combine(relation, p, 1)
    return False


# sums --------------------------------------------------------------------------------------------------------------------
def term_by_term(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """A sum of multiples of sums over one range, by its terms; what is no such sum is shared among them."""
    inside = any(name[0] == "k" and name[1:].isdigit() for name in search.names)
    if relation == ">" or depth <= 0 or (inside and search.reader.federation):
        return False
    ranges = {(a[2], a[3]) for a in atoms_of(p) if a[0] == "Sum"} | {
        (part[3], part[4]) for a in atoms_of(p) if a[0] == "dot" for part in a[1:] if part[0] == "vsum"}
    return any(_over(search, relation, p, low, high, depth) for low, high in sorted(ranges, key=repr))


def _over(search, relation, p, low, high, depth):
    index = new_index()
    inside, rest = ZERO, ZERO
    for m, c in p.terms.items():
        sums = [a for a, n in m if n == 1 and a[0] == "Sum" and a[2:4] == (low, high)]
        inner = [a for a, n in m if n == 1 and a[0] == "dot" and any(
            part[0] == "vsum" and part[3:5] == (low, high) for part in a[1:])]
        if sums:
            _, body, *_, own = sums[0]
            others = Poly({tuple(pair for pair in m if pair[0] != sums[0]): c})
            inside = inside + others * substitute(search.known, body, own, of_atom(index))
        elif inner:
            long, other = sorted(inner[0][1:], key=lambda part: (
                part[0] != "vsum" or part[3:5] != (low, high), part[0] == "vsum" and part[2][0] != "grad"))
            _, factor, v, *_, own = long
            others = Poly({tuple(pair for pair in m if pair[0] != inner[0]): c})
            term = dot({v: factor}, {other: ONE}) if own else ZERO
            inside = inside + others * substitute(search.known, term, own, of_atom(index))
        else:
            rest = rest + Poly({m: c})
    number = high - low + ONE
    ways = [inside] if not rest.terms or search.known.evident(rest) else []
    if rest.terms and search.known.shown(">", number):
        ways.insert(0, inside + rest * inverse(number))
    for body in ways:
        name = _each(search, relation, body, index, low, high, depth)
        if name is not None and (fact := search.step("sum", fact=name)) is not None:
            if search.known.shown(relation, p) or search.combine(relation, p, 1):
                return True
            del fact
    return False


def _each(search, relation, body, index, low, high, depth):
    """The name of a fact for each index, if it is shown."""
    name = f"k{len(search.names)}"
    within = search.inside(search.known.within(index, low, high, name), {**search.names, name: of_atom(index)})
    if not within.prove(relation, body, depth - 1):
        for _ in use_ranged(within, body):
            if within.prove(relation, body, depth - 1):
                break
        else:
            return None
    return search.step("each", index=name, low=search.formula(low), high=search.formula(high),
                       shows=within.shows(relation, body), steps=within.steps)


def use_ranged(search: Search, p: Poly) -> Iterator[bool]:
    """Instances of facts for all indices at the indices of entries that occur."""
    wanted = {a for a in _all_atoms(p) if a[0] in ("entry", "vector") and _open(a)}
    for name, fact in [*search.known.facts.items()]:
        if not fact.ranges:
            continue
        for entry in {a for a in _all_atoms(fact.poly) if a[0] == "entry"}:
            for other in sorted(wanted, key=repr):
                if other[:2] != entry[:2]:
                    continue
                places = _matched(entry[2:], other[2:], [atom for atom, *_ in fact.ranges])
                if places is not None:
                    search.step("instance", fact=name, at=[search.formula(place) for place in places])
    yield True


def _open(a) -> bool:
    """Whether an atom has no index of a sum around it."""
    return not _bound(a)


@lru_cache(100_000)
def _bound(part) -> frozenset:
    """The indices of sums around a part."""
    if isinstance(part, Poly):
        return frozenset().union(*(_bound(a) for m in part.terms for a, _ in m))
    if not isinstance(part, tuple):
        return frozenset()
    if part[:1] == ("bound",):
        return frozenset([part])
    found = frozenset().union(*map(_bound, part))
    return found - {part[-1]} if part[:1] in (("Sum",), ("Product",), ("vsum",)) else found


def _matched(own, others, indices):
    """What the indices are where the places of an entry are those of another."""
    found = {}
    for q, place in zip(own, others, strict=True):
        for index in indices:
            if has(q, index) and index not in found:
                found[index] = place - (q - of_atom(index))
    if {*found} != {*indices} or any(has(p, index) for p in found.values() for index in indices):
        return None
    return [found[index] for index in indices]


def _all_atoms(part) -> set:
    """Atoms in a polynomial, also those within others."""
    if isinstance(part, Poly):
        return set().union(*({a} | _all_atoms(a) for m in part.terms for a, _ in m))
    if not isinstance(part, tuple) or not part:
        return set()
    return ({part} if isinstance(part[0], str) else set()).union(*map(_all_atoms, part))


def by_instances(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """Facts for all indices, at those that occur in the goal."""
    before = len(search.steps)
    for _ in use_ranged(search, p):
        pass
    return len(search.steps) > before and (search.known.shown(relation, p) or any(
        search.combine(relation, p, degree) for degree in (1, 2)))


# lemmas ------------------------------------------------------------------------------------------------------------------
def by_lemmas(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """Lemmas about what occurs, then a sum of multiples."""
    if depth <= 0:
        return False
    wrote = False
    for lemma, premises, args in _instances(search, p):
        if (lemma, repr(args)) in search.failed:
            continue
        search.failed.add((lemma, repr(args)))
        if all(search.known.shown(r, q) or search.prove(r, q, depth - 1) for r, q in premises):
            wrote = search.lemma(lemma, *args) is not None or wrote
    return wrote and (search.known.shown(relation, p) or any(search.combine(relation, p, degree) for degree in (1, 2)))


def _instances(search: Search, p: Poly):
    """(lemma, premises, arguments)."""
    atoms = _all_atoms(p)
    for fact in search.known.facts.values():
        if not fact.ranges and atoms_of(fact.poly) & atoms_of(p):
            atoms |= _all_atoms(fact.poly)
    kinds: dict = {}
    for a in sorted(atoms, key=repr):
        if a[0] in ("Sum", "Product") or _open(a):
            kinds.setdefault(a[0], []).append(a)
    for a in kinds.get("Max", []):
        for q in a[1:]:
            yield "largest", [], (q, *(r for r in a[1:] if r != q))
    for a in kinds.get("Min", []):
        for q in a[1:]:
            yield "least", [], (q, *(r for r in a[1:] if r != q))
    for a in kinds.get("Abs", []):
        yield "absolute", [], (a[1],)
        yield "absolute below", [], (a[1],)
    roots = kinds.get("root", [])
    for a, b in permutations(roots, 2):
        if a[2] == b[2]:
            yield "roots rise", [(">=", a[1]), (">=", b[1] - a[1])], (a[1], b[1], constant(a[2]))
    powers = kinds.get("pow", [])
    for _, b, e in powers:
        yield "power sign", [(">=", b), (">=", e)], (b, e)
        yield "bernoulli", [(">=", b), (">=", e - ONE)], (b, e)
        yield "bernoulli below", [(">=", b), (">=", e), (">=", ONE - e)], (b, e)
        yield "power at least one", [(">=", b - ONE), (">=", e)], (b, e)
        yield "power at most one", [(">=", b), (">=", ONE - b), (">=", e)], (b, e)
        yield "powers fall", [(">=", b), (">=", ONE - b), (">=", e - ONE)], (b, ONE, e)
        yield "powers rise", [(">=", b - ONE), (">=", e - ONE)], (b, ONE, e)
    for (_, b, e), (_, c, f) in permutations(powers, 2):
        if e == f:
            yield "bases rise", [(">=", b), (">=", c - b), (">=", e)], (b, c, e)
        if b == c:
            yield "powers rise", [(">=", b - ONE), (">=", f - e)], (b, e, f)
            yield "powers fall", [(">=", b), (">=", ONE - b), (">=", e), (">=", f - e)], (b, e, f)
    exponents = [a[1] for a in kinds.get("exp", [])]
    for e in exponents:
        yield "tangent", [], (e,)
    for e, f in permutations([*exponents, *([ZERO] if exponents else [])], 2):
        yield "exponentials rise", [(">=", f - e)], (e, f)
    for _, b, e in powers:
        yield "power below exponential", [(">=", b), (">=", e)], (b, e)
    for a in kinds.get("log", []):
        yield "logarithm below", [(">", a[1])], (a[1],)
        yield "logarithm above", [(">", a[1])], (a[1],)
    for a, b in permutations(kinds.get("log", []), 2):
        yield "logarithms rise", [(">", a[1]), (">=", b[1] - a[1])], (a[1], b[1])
    for a in kinds.get("norm", []):
        v = dict(a[1])
        yield "length squared", [], (v,)
        if len(v) > 1:
            parts = [{u: c} for u, c in v.items()]
            yield "triangle", [], (parts[0], _joined(parts[1:]))
        for u, c in v.items():
            if c != ONE:
                yield "multiple", [(">=", c)], ({u: ONE}, c)
    for a in kinds.get("dot", []):
        u, v = a[1:]
        if u != v:
            yield "Cauchy-Schwarz", [], ({u: ONE}, {v: ONE})
            if kinds.get("norm"):
                yield "product of lengths", [], ({u: ONE}, {v: ONE})
                yield "product of lengths", [], ({u: ONE}, {v: constant(-1)})
            yield "square", [], ({u: ONE, v: ONE},)
            yield "square", [], ({u: ONE, v: constant(-1)},)
    for a in kinds.get("Sum", []):
        yield "geometric", [], (of_atom(a),)


def _joined(parts):
    return {u: c for part in parts for u, c in part.items()}


# losses of clients -------------------------------------------------------------------------------------------------------
def client_lemmas(search: Search, k: Poly, points) -> Iterator[tuple[str, list]]:
    """(lemma, arguments) for a client at pairs of points and at each."""
    own = search.formula(k)
    highs, lows = _curvatures(search, k)
    for u in points:
        for v in points:
            if u == v:
                continue
            a, b = search.vector(dict(u)), search.vector(dict(v))
            for high in highs:
                for lemma in ("smoothness", "gap below", "gap above"):
                    yield lemma, [own, a, b, search.formula(high)]
                for low in lows:
                    yield "interpolation", [own, a, b, search.formula(high), search.formula(low)]
            for low in lows:
                yield "curvature", [own, a, b, search.formula(low)]
        if search.reader.infima:
            a = search.vector(dict(u))
            yield "infimum", [own, a]
            for high in highs:
                yield "above infimum", [own, a, search.formula(high)]
            for low in lows:
                yield "near infimum", [own, a, search.formula(low)]
    for high in highs:
        for low in lows:
            yield "curvatures", [own, search.formula(high), search.formula(low)]


def _curvatures(search: Search, k: Poly):
    """Numbers that are known to bound the curvatures of a client from above and from below."""
    highs, lows = [], []
    for name, fact in [*search.known.facts.items()]:
        for kind, found in (("L_client", highs), ("mu_client", lows)):
            if not any(a[0] == "entry" and a[1] == kind for a in atoms_of(fact.poly)):
                continue
            if len(fact.ranges) == 1 and search.step("instance", fact=name, at=[search.formula(k)]):
                p = [*search.known.facts.values()][-1].poly
                entry = of_atom(("entry", kind, k))
                found.append(p + entry if kind == "L_client" else entry - p)
    lows += [ZERO] * any(search.known.evident(low) and low.terms for low in lows)
    return highs, lows


def points_of(p: Poly) -> list:
    """The points at which losses and gradients are taken."""
    return sorted({a[2] for a in _all_atoms(p) if a and a[0] in ("F", "grad")}, key=repr)


def _steps_of_clients(search: Search, p: Poly, k: Poly) -> Iterator[dict]:
    """What steps along gradients of a client make of differences of points."""
    points = [dict(u) for u in points_of(p)]
    slopes = [{("grad", k, frozen(u)): ONE} for u in points]
    steps = [of_atom(a) for a in sorted(atoms_of(p), key=repr) if a[0] in ("name", "entry") and a not in (
        ("name", "clients"),) and search.known.sign(a) == 2 and not any(has(a, k_) for k_ in _all_atoms(k))]
    for n, u in enumerate(points):
        for v in points[:n]:
            d = combined([u, scaled(v, constant(-1))])
            yield from (combined([d, scaled(g, eta * constant(sign))]) for g in slopes for eta in steps for sign in (1, -1))


def by_losses(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """What is known of the losses of clients at the points that occur, then a sum of multiples."""
    clients = {a[1] for a in _all_atoms(p) if a and a[0] in ("F", "grad") and _open(a)}
    if not clients:
        return False
    wrote = False
    for k in sorted(clients, key=repr):
        for lemma, args in client_lemmas(search, k, points_of(p)):
            if ("client", lemma, repr(args)) not in search.failed:
                search.failed.add(("client", lemma, repr(args)))
                wrote = search.step("lemma", lemma=lemma, of=args) is not None or wrote
        for v in _steps_of_clients(search, p, k):
            if ("square", repr(v)) not in search.failed:
                search.failed.add(("square", repr(v)))
                wrote = search.lemma("square", v) is not None or wrote
    return wrote and (search.known.shown(relation, p) or search.combine(relation, p, 1) or by_squares_of_vectors(
        search, relation, p, depth) or search.combine(relation, p, 2))


CLIENTS = ZERO, of_atom(("name", "clients")) - ONE
_WEIGHTS = ("client_weight", "priority", "included")


def of_weights(search: Search) -> None:
    """Steps for what is known of the weights of clients: those of priority clients sum to one, and these are included."""
    index, (low, high) = new_index(), CLIENTS
    k = of_atom(index)
    weight, priority, included = (of_atom(("entry", name, *at)) for name, at in (
        ("client_weight", (k,)), ("priority", (k,)), ("included", (ZERO, k))))

    def shown(relation, body):
        name = f"k{len(search.names)}"
        within = search.inside(search.known.within(index, low, high, name), {**search.names, name: k})
        for _ in use_ranged(within, priority * included):
            within.lemma("binary order", priority, included)
            within.lemma("binary below", priority)
            within.lemma("binary below", included)
        if within.known.shown(relation, body) or within.combine(relation, body, 1):
            each = search.step("each", index=name, low=search.formula(low), high=search.formula(high),
                               shows=within.shows(relation, body), steps=within.steps)
            return each and search.step("sum", fact=each)
        return None

    shown("==", weight * priority * (ONE - included))
    shown(">=", weight * included * (ONE - priority))
    mass = sum_of(search.known, index, weight * included, low, high)
    search.prove(">=", mass - ONE, 0)
    free = sum_of(search.known, index, weight * included * (ONE - priority), low, high)
    if search.prove(">=", free, 0):
        search.step("evident", shows=search.shows(">", free + ONE))


def by_weighted_sums(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """What is known of each client, weighted and summed over clients; then a sum of multiples."""
    if depth < 2 or not search.reader.federation:
        return False
    index = new_index()
    weights, families, points = _of_clients(p, index)
    if not weights or ("weighted", repr(p)) in search.failed:
        return False
    search.failed.add(("weighted", repr(p)))
    used = [*_summed_losses(search, weights, points, index), *_summed_squares(search, weights, families, index)]
    for u in points:
        if not has(u, index):
            used.append(search.step("lemma", lemma="optimal loss", of=[search.vector(dict(u))]))
    for letter in sorted({v for a in atoms_of(p) if a[0] == "dot" for v in a[1:] if v[0] != "grad"}, key=repr):
        if _open(letter):
            used.append(search.step("lemma", lemma="optimal slope", of=[search.vector({letter: ONE})]))
    return any(used) and (search.known.shown(relation, p) or search.combine(relation, p, 1))


def _of_clients(p: Poly, index):
    """(weights, vectors of a client, points of a client) in sums over clients, of the client ``index``."""
    weights, families, points = {}, {}, {}
    for a in sorted(_all_atoms(p), key=repr):
        if a and a[0] in ("Sum", "vsum") and a[-3:-1] == CLIENTS:
            body, own = a[1], a[-1]
            for m in body.terms:
                w = Poly({tuple(pair for pair in m if pair[0][0] == "entry" and pair[0][1] in _WEIGHTS): ONE.number()})
                weights[substitute(None, w, own, of_atom(index))] = None
                for part in _all_atoms(Poly({m: ONE.number()})) | ({a[2]} if a[0] == "vsum" else set()):
                    if part and part[0] in ("grad", "vector") and _bound(part) == {own}:
                        families[next(iter(of_vector(None, {part: ONE}, own, of_atom(index))))] = None
            for u in points_of(Poly({((("x", a),  1),): ONE.number()})):
                if _bound(u) <= {own}:
                    points[frozen(of_vector(None, dict(u), own, of_atom(index)))] = None
        elif a and a[0] in ("F", "grad") and _open(a):
            points[a[2]] = None
    return [*weights], [*families], [*points]


def _weighted(search: Search, weight: Poly, index, script) -> list[str]:
    """Names of sums over clients of a weight times each fact that a ``script`` writes for a client."""
    name, (low, high) = f"k{len(search.names)}", CLIENTS
    within = search.inside(search.known.within(index, low, high, name), {**search.names, name: of_atom(index)})
    within.names[name] = of_atom(index)
    found = []
    for fact, steps in script(within):
        body = within.known.facts[fact].poly * weight
        shows = within.shows(">=", body)
        steps = [*steps, {"name": f"{fact} weighted", "by": "identity", "shows": shows,
                          "terms": [{"facts": [fact], "times": [within.formula(weight)]}]}]
        each = search.step("each", index=name, low=search.formula(low), high=search.formula(high), shows=shows, steps=steps)
        summed = each and search.step("sum", fact=each)
        if summed:
            found.append(summed)
    return found


def _summed_losses(search: Search, weights, points, index):
    def script(within: Search):
        lemmas = [*client_lemmas(within, of_atom(index), points)]
        first = [*within.steps]
        for lemma, args in lemmas:
            name = within.step("lemma", lemma=lemma, of=args)
            if name is not None:
                yield name, [*first, within.steps[-1]]

    for weight in weights:
        yield from _weighted(search, weight, index, script)


def _summed_squares(search: Search, weights, families, index):
    """Squares of what the vectors of a client are away from their mean, and of these beside steps along gradients."""
    low, high = CLIENTS
    steps = [of_atom(a) for a in search.known.signs if a[0] == "entry" and a[1] == "eta_l"]
    for weight in weights:
        mass = sum_of(search.known, index, weight, low, high)
        if not search.known.shown(">", mass):
            continue
        away = []
        for v in families:
            mean = scaled(vector_sum(search.known, index, {v: weight}, low, high), inverse(mass))
            away.append(combined([{v: ONE}, scaled(mean, constant(-1))]))
        slopes = [{v: ONE} for v in families if v[0] == "grad"]
        squares = [*away, *(combined([d, scaled(g, eta * constant(sign))]) for d in away for g in slopes for eta in steps
                            for sign in (1, -1))]

        def script(within: Search, squares=squares):
            for v in squares:
                name = within.lemma("square", v)
                if name is not None:
                    yield name, [within.steps[-1]]

        yield from _weighted(search, weight, index, script)


TACTICS: tuple[Callable[[Search, str, Poly, int], bool], ...] = (
    by_combination, by_squares_of_vectors, by_instances, by_losses, by_lengths, term_by_term,
    by_weighted_sums, by_lemmas)
