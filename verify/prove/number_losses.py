"""Tactics for goals about losses at points, which use facts about clients' losses, weights and the optimum."""

from collections.abc import Iterator

from verify.checker.index_sums import combined, frozen, new_index, of_vector, scaled, substitute, sum_of, vector_sum
from verify.checker.polynomials import ONE, ZERO, Poly, constant, has, inverse, of_atom, total
from verify.prove.number_search import Search, atoms_of
from verify.prove.number_squares import by_squares_of_vectors
from verify.prove.number_terms import all_atoms, free_indices, instantiate_ranged, is_closed

__all__ = ["CLIENTS", "add_weight_facts", "by_losses", "by_weighted_sums", "curvature_bounds"]


# losses of clients -------------------------------------------------------------------------------------------------------
def lemmas_of_client(search: Search, k: Poly, points) -> Iterator[tuple[str, list]]:
    """Yields (lemma, arguments) for a client at each point and each pair of points."""
    own = search.formula(k)
    highs, lows = curvature_bounds(search, k)
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


def curvature_bounds(search: Search, k: Poly):
    """The known upper and lower bounds of a client's curvatures."""
    highs, lows = [], []
    for name, fact in [*search.known.facts.items()]:
        for kind, found in (("L_client", highs), ("mu_client", lows)):
            if not any(a[0] == "entry" and a[1] == kind for a in atoms_of(fact.poly)):
                continue
            entry = of_atom(("entry", kind, k))
            if len(fact.ranges) == 1 and search.step("instance", fact=name, at=[search.formula(k)]):
                p = [*search.known.facts.values()][-1].poly
            elif not fact.ranges and fact.relation in (">=", ">") and ("entry", kind, k) in atoms_of(fact.poly):
                p = fact.poly  # of the only client
            else:
                continue
            bound = p + entry if kind == "L_client" else entry - p
            if bound not in found:
                found.append(bound)
    lows += [ZERO] * any(search.known.evident_sign(low) and low.terms for low in lows)
    return highs, lows


def loss_points(p: Poly) -> list:
    """The points at which losses and gradients are taken."""
    return sorted({a[2] for a in all_atoms(p) if a and a[0] in ("F", "grad")}, key=repr)


def _gradient_step_vectors(search: Search, p: Poly, k: Poly) -> Iterator[dict]:
    """Yields differences of points plus or minus a gradient step of a client."""
    points = [dict(u) for u in loss_points(p)]
    slopes = [{("grad", k, frozen(u)): ONE} for u in points]
    steps = [of_atom(a) for a in sorted(atoms_of(p), key=repr) if a[0] in ("name", "entry") and a not in (
        ("name", "clients"),) and search.known.sign_of_atom(a) == 2 and not any(has(a, k_) for k_ in all_atoms(k))]
    for n, u in enumerate(points):
        for v in points[:n]:
            d = combined([u, scaled(v, constant(-1))])
            yield from (combined([d, scaled(g, eta * constant(sign))]) for g in slopes for eta in steps for sign in (1, -1))


def by_losses(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """Adds lemmas about the clients' losses at the points of the goal, then combines facts."""
    clients = {a[1] for a in all_atoms(p) if a and a[0] in ("F", "grad") and is_closed(a)}
    if not clients:
        return False
    wrote = False
    for k in sorted(clients, key=repr):
        for lemma, args in lemmas_of_client(search, k, loss_points(p)):
            if ("client", lemma, repr(args)) not in search.failed:
                search.failed.add(("client", lemma, repr(args)))
                wrote = search.step("lemma", lemma=lemma, of=args) is not None or wrote
        for v in _gradient_step_vectors(search, p, k):
            if ("square", repr(v)) not in search.failed:
                search.failed.add(("square", repr(v)))
                wrote = search.lemma("square", v) is not None or wrote
    return wrote and (search.known.implies(relation, p) or search.combine(relation, p, 1) or by_squares_of_vectors(
        search, relation, p, depth) or _by_cancelling_losses(search, relation, p, depth) or search.combine(relation, p, 2))


def _by_cancelling_losses(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """Subtracts multiples of one or two facts that cancel all losses of the goal, and proves the rest by squares."""
    def losses(q):
        return Poly({m: c for m, c in q.terms.items() if any(a[0] == "F" for a, _ in m)})

    own, found = losses(p), []
    for fact in search.known.facts.values():
        others = losses(fact.poly)
        if others.terms and not fact.ranges and fact.relation in (">=", ">"):
            found.append((others, fact.poly))
    for facts, factors in [*_matching_sums(own, found)][:_TRIES]:
        rest = p - total(fact * constant(factor) for fact, factor in zip(facts, factors, strict=True))
        if by_squares_of_vectors(search, relation, rest, depth) and search.combine(relation, p, 1):
            return True
    return False


_TRIES = 12  # sums of facts that have the losses of a goal


def _matching_sums(own: Poly, found) -> Iterator[tuple[list[Poly], list]]:
    """Yields (facts, positive factors) whose losses add up to those of the goal, ``own``."""
    for others, fact in found:
        m = next(iter(others.terms))
        factor = own.terms.get(m, 0) / others.terms[m]
        if factor > 0 and own == others * constant(factor):
            yield [fact], [factor]
    for n, (some, one) in enumerate(found):
        for others, two in found[:n]:
            m = next((m for m in some.terms if m not in others.terms), None)
            factor = own.terms.get(m, 0) / some.terms[m] if m is not None else 0
            rest = own - some * constant(factor)
            k = next((k for k in others.terms if k in rest.terms), None)
            other = 0 if k is None else rest.terms[k] / others.terms[k]
            if factor > 0 and other > 0 and rest == others * constant(other):
                yield [one, two], [factor, other]


CLIENTS = ZERO, of_atom(("name", "clients")) - ONE
_WEIGHTS = ("client_weight", "priority", "included")


def add_weight_facts(search: Search) -> None:
    """Adds facts about the clients' weights: those of priority clients sum to one, and priority clients are included."""
    index, (low, high) = new_index(), CLIENTS
    k = of_atom(index)
    weight, priority, included = (of_atom(("entry", name, *at)) for name, at in (
        ("client_weight", (k,)), ("priority", (k,)), ("included", (ZERO, k))))

    def add_client_sum(relation, body):
        name = f"k{len(search.names)}"
        within = search.branch(search.known.with_index(index, low, high, name), {**search.names, name: k})
        for _ in instantiate_ranged(within, priority * included):
            within.lemma("binary order", priority, included)
            within.lemma("binary below", priority)
            within.lemma("binary below", included)
        if within.known.implies(relation, body) or within.combine(relation, body, 1):
            return search.sum_each(name, low, high, within.shows(relation, body), within.steps)
        return None

    add_client_sum("==", weight * priority * (ONE - included))
    add_client_sum(">=", weight * included * (ONE - priority))
    mass = sum_of(search.known, index, weight * included, low, high)
    search.prove(">=", mass - ONE, 0)
    free = sum_of(search.known, index, weight * included * (ONE - priority), low, high)
    if search.prove(">=", free, 0):
        search.step("evident", shows=search.shows(">", free + ONE))


def by_weighted_sums(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """Adds weighted sums over clients of lemmas about each client, then combines facts."""
    if depth < 2 or not search.reader.federation:
        return False
    index = new_index()
    weights, families, points = _parts_of_clients(p, index)
    if not weights or ("weighted", repr(p)) in search.failed:
        return False
    search.failed.add(("weighted", repr(p)))
    used = [*_summed_losses(search, weights, points, index), *_summed_squares(search, weights, families, index)]
    for u in points:
        if not has(u, index):
            used.append(search.step("lemma", lemma="optimal loss", of=[search.vector(dict(u))]))
    for letter in sorted({v for a in atoms_of(p) if a[0] == "dot" for v in a[1:] if v[0] != "grad"}, key=repr):
        if is_closed(letter):
            used.append(search.step("lemma", lemma="optimal slope", of=[search.vector({letter: ONE})]))
    return any(used) and (search.known.implies(relation, p) or search.combine(relation, p, 1))


def _parts_of_clients(p: Poly, index):
    """(weights, vectors, points) of the client ``index`` in sums over clients."""
    weights, families, points = {}, {}, {}
    for a in sorted(all_atoms(p), key=repr):
        if a and a[0] in ("Sum", "vsum") and a[-3:-1] == CLIENTS:
            body, own = a[1], a[-1]
            for m in body.terms:
                w = Poly({tuple(pair for pair in m if pair[0][0] == "entry" and pair[0][1] in _WEIGHTS): ONE.number()})
                weights[substitute(None, w, own, of_atom(index))] = None
                for part in all_atoms(Poly({m: ONE.number()})) | ({a[2]} if a[0] == "vsum" else set()):
                    if part and part[0] in ("grad", "vector") and free_indices(part) == {own}:
                        families[next(iter(of_vector(None, {part: ONE}, own, of_atom(index))))] = None
            for u in loss_points(Poly({((("x", a),  1),): ONE.number()})):
                if free_indices(u) <= {own}:
                    points[frozen(of_vector(None, dict(u), own, of_atom(index)))] = None
        elif a and a[0] in ("F", "grad") and is_closed(a):
            points[a[2]] = None
    return [*weights], [*families], [*points]


def _weighted_client_sums(search: Search, weight: Poly, index, script) -> list[str]:
    """Adds the sum over clients of a weight times each fact that ``script`` yields for a client; returns the names."""
    name, (low, high) = f"k{len(search.names)}", CLIENTS
    within = search.branch(search.known.with_index(index, low, high, name), {**search.names, name: of_atom(index)})
    within.names[name] = of_atom(index)
    found = []
    for fact, steps in script(within):
        body = within.known.facts[fact].poly * weight
        shows = within.shows(">=", body)
        steps = [*steps, {"name": f"{fact} weighted", "by": "identity", "shows": shows,
                          "terms": [{"facts": [fact], "times": [within.formula(weight)]}]}]
        summed = search.sum_each(name, low, high, shows, steps)
        if summed:
            found.append(summed)
    return found


def _summed_losses(search: Search, weights, points, index):
    def script(within: Search):
        lemmas = [*lemmas_of_client(within, of_atom(index), points)]
        first = [*within.steps]
        for lemma, args in lemmas:
            name = within.step("lemma", lemma=lemma, of=args)
            if name is not None:
                yield name, [*first, within.steps[-1]]

    for weight in weights:
        yield from _weighted_client_sums(search, weight, index, script)


def _summed_squares(search: Search, weights, families, index):
    """Adds sums of squares of the clients' deviations from their mean, alone and plus or minus a gradient step."""
    low, high = CLIENTS
    steps = [of_atom(a) for a in search.known.signs if a[0] == "entry" and a[1] == "eta_l"]
    for weight in weights:
        mass = sum_of(search.known, index, weight, low, high)
        if not search.known.implies(">", mass):
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

        yield from _weighted_client_sums(search, weight, index, script)
