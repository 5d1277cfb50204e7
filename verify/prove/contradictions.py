"""Certificates that a claim is ill-posed, for the stand-alone checker.

Nothing here is trusted: each step is tried on the checker's own state before it is written, and the certificate is checked
as a whole.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import count, product
from typing import Any, NamedTuple

from bounds.language.claim import Claim
from verify.checker import contradiction as checker
from verify.checker import polynomials
from verify.checker.number_classes import BOUNDS
from verify.checker.number_facts import Fact
from verify.checker.number_hypotheses import definition_of
from verify.checker.polynomials import ONE, ZERO, Poly, constant, inverse, of_atom
from verify.exact.statement import printed_of, statement_of
from verify.prove.derived_facts import add_instances, add_recursions, add_sums, add_whole_bounds
from verify.prove.number_certificates import SPENT, without_unused_steps
from verify.prove.number_losses import add_weight_facts
from verify.prove.number_search import REFUSALS, Search, atoms_of
from verify.prove.number_squares import add_squares_of_vectors
from verify.prove.number_tactics import RUN_TACTICS, TACTICS, by_combination

__all__ = ["NeededParts", "contradiction", "needed_parts"]

_HALF = constant(Fraction(1, 2))
_SHORTENED = 150  # steps of the longest proof that is shortened


@lru_cache(256)
def contradiction(claim: Claim) -> dict[str, Any] | None:
    """A certificate that the checker accepts that the claim says nothing of anything; None where none is found."""
    if claim.statement is None:
        return None
    stated = statement_of(claim) | printed_of(claim)
    put = {rule["left"]: n for n, rule in enumerate(stated["hypotheses"])
           if rule["relation"] == "==" and isinstance(rule["left"], str) and not rule["over"]}
    ways = [(find, chosen) for find in (_proof, *[_proof_about_runs] * (claim.setting == "run"))
            for chosen in dict.fromkeys((frozenset(), frozenset(put.items())))]
    for find, chosen in ways:
        try:
            proof = find(stated, dict(chosen), count())
            data = {"format": checker.FORMAT, **stated, "proof": proof}
            if proof and checker.check(data)[0]:
                return _without_unused_steps(data)
        except (*REFUSALS, TimeoutError):
            continue
    return None


def _without_unused_steps(data: dict[str, Any]) -> dict[str, Any]:
    """Leaves out steps to which no later one refers; then steps, the last first, without which the checker accepts the
    proof, unless it is long or about runs, of which a replay takes a second."""
    named = data | {"proof": without_unused_steps(data["proof"])}
    data = named if _is_accepted(named) else data
    steps = data["proof"]["steps"]
    for step in [*reversed(steps)] if len(steps) <= _SHORTENED and "runs" not in data["proof"] else ():
        fewer = [one for one in steps if one is not step]
        if _is_accepted(data | {"proof": data["proof"] | {"steps": fewer}}):
            steps = fewer
    return data | {"proof": data["proof"] | {"steps": steps}}


class NeededParts(NamedTuple):
    """The parts of a claim without which a certificate does not show that it is ill-posed: the numbers of hypotheses, and
    whether the statement's value is one."""

    hypotheses: tuple[int, ...]
    statement: bool


def needed_parts(data: dict[str, Any]) -> NeededParts:
    """Parts from which none can be left out: each is left out in turn, for good where the checker accepts the rest."""
    hypotheses, needed = [*data["hypotheses"]], []
    data = data | {"hypotheses": hypotheses}
    without = data | {"statement": data["statement"] | _TRIVIAL}
    statement = not _is_accepted(without)
    data = data if statement else without
    for n, rule in enumerate(data["hypotheses"]):
        hypotheses[n] = rule | _TRIVIAL | {"over": []}
        if not _is_accepted(data):
            hypotheses[n] = rule
            needed.append(n)
    return NeededParts(tuple(needed), statement)


_TRIVIAL = {"left": 0, "relation": "<=", "right": 0}


def _is_accepted(data: dict[str, Any]) -> bool:
    try:
        return checker.check(data)[0]
    except REFUSALS:
        return False


def _proof(stated, put, effort: Iterator[int]) -> dict[str, Any] | None:
    polynomials.meter.spent = 0
    known, reader, names = checker.premises(stated, {name: definition_of(stated, name, n) for name, n in put.items()})
    search = Search(reader, known, names, effort, TACTICS)
    if reader.federation:
        add_weight_facts(search)
    for attempt in (_unbounded, _constants_only, _by_numbers):
        if attempt(search) or search.known.implies(">", ZERO):
            return {"put": put, "steps": search.steps}
    return None


def _proof_about_runs(stated, put, effort: Iterator[int]) -> dict[str, Any] | None:
    """A proof that uses the equations of the method and the inequalities of its losses."""
    polynomials.meter.spent = SPENT
    known, reader, names = checker.premises(stated, {name: definition_of(stated, name, n) for name, n in put.items()}, True)
    search = Search(reader, known, names, effort, RUN_TACTICS)
    add_weight_facts(search)
    if not (_some_contradicts(search) or search.known.implies(">", ZERO)):
        return None
    return {"put": put, "steps": search.steps, "runs": True}


def _unbounded(search: Search) -> bool:
    """A bound on gradients at all points, and a client that is strongly convex."""
    bounds = [name for name in BOUNDS if name in search.reader.everywhere]
    if any(a[0] == "steepest" for fact in search.known.facts.values() for a in atoms_of(fact.poly)):
        bounds.append("steepest")
    for fact, name in product([*search.known.facts], bounds):
        for curved, p in _of_clients(search, fact):
            client, low = search.formula(curved[2]), of_atom(curved) - p
            if not search.prove(">", low):
                continue
            bound = of_atom({"G_lip": ("name", name), "steepest": (name, curved[2])}.get(name, ("entry", name, curved[2])))
            r, half = (bound + ONE, _HALF) if name == "steepest" else (bound * bound + ONE, -_HALF)
            most = _above(search, (name, curved[2])) if name == "steepest" else ()
            last = search.step("lemma", lemma="bounded gradients", of=[
                name, client, search.formula(low), search.formula(r * inverse(low)), *map(search.formula, most)])
            if last and search.step("identity", shows=search.shows(">", ZERO), terms=[  # G - G^2 - 1 or S - (S + 1)^2
                    {"facts": [last]}, {"facts": [], "square": search.formula(bound + half)},
                    {"facts": [], "times": [search.formula(ONE - _HALF * _HALF)]}]):
                return True
    return False


def _above(search: Search, atom: Any) -> list[Poly]:
    """A number that a hypothesis says is at least an atom, if there is one."""
    for name in [*search.known.facts]:
        fact: Fact = search.known.facts[name]
        if len(fact.ranges) == 1 and atom[0] in {a[0] for a in atoms_of(fact.poly)}:
            place = search.step("instance", fact=name, at=[search.formula(atom[1])])
            fact = search.known.facts[place] if place else fact
        if fact.ranges or fact.relation not in (">=", ">", "=="):
            continue
        for p in (fact.poly, -fact.poly)[: 1 + (fact.relation == "==")]:
            times = -p.terms.get(((atom, 1),), 0)
            most = p * constant(1 / times) + of_atom(atom) if times > 0 else of_atom(atom)
            if atom not in atoms_of(most):
                return [most]
    return []


def _of_clients(search: Search, name: str) -> Iterator[tuple[Any, Poly]]:
    """The curvatures that a hypothesis bounds from below, each with what is at least 0, at the first client if at all."""
    fact: Fact = search.known.facts[name]
    if fact.ranges:
        place = search.step("instance", fact=name, at=[search.formula(low) for _, low, _ in fact.ranges])
        if place is None:
            return
        fact = search.known.facts[place]
    for a in atoms_of(fact.poly):
        if a[:2] == ("entry", "mu_client") and fact.relation in (">=", ">", "==") and fact.poly.terms.get(((a, 1),)) == 1:
            yield a, fact.poly


def _constants_only(search: Search) -> bool:
    """An inequality for all functions that forces them to be constant, and something that no constant satisfies."""
    numbers = range(len(search.reader.printed))
    for forcing, other in product(numbers, numbers):
        name = search.step("lemma", lemma="constant functions", of=[forcing, other])
        if name and _contradicts(search, name):
            return True
    for forcing, fact in product(numbers, [*search.known.facts]):
        for curved, _ in _of_clients(search, fact):
            name = search.step("lemma", lemma="constant curvature", of=[forcing, search.formula(curved[2])])
            if name and _contradicts(search, [*search.known.facts][-2]):
                return True
    return False


def _by_numbers(search: Search) -> bool:
    """A hypothesis, a range or what is needed for a value that the others exclude: first by combinations of these facts,
    then of what follows from them for indices and whole numbers, last by all tactics."""
    for fact in [*search.known.facts.values()]:
        if fact.relation == "!=" and not fact.ranges:
            search.lemma("nonzero square", fact.poly)
    add_squares_of_vectors(search)
    search.tactics = (by_combination,)
    if _some_contradicts(search):
        return True
    for add in (add_recursions, add_instances, add_sums, add_whole_bounds):
        add(search)
    if _some_contradicts(search):
        return True
    search.tactics = TACTICS
    return _some_contradicts(search)


def _some_contradicts(search: Search) -> bool:
    """Whether some fact is excluded by the others, so far as the tactics show."""
    search.failed = set()
    return any(_contradicts(search, name) for name, fact in [*search.known.facts.items()]
               if not fact.ranges and fact.relation != "!=" and len(fact.poly.terms) > 0)


def _contradicts(search: Search, name: str) -> bool:
    """Whether the opposite of a fact is shown: as a strict inequality, or without one of its positive terms as one that is
    not strict."""
    fact = search.known.facts[name]
    strict = ">=" if fact.relation == ">" else ">"
    for p in (-fact.poly, fact.poly)[: 1 + (fact.relation == "==")]:
        sign = [] if p == -fact.poly else [-1]
        terms = [Poly({m: c}) for m, c in p.terms.items()] if search.reader.run else []
        positive = [part for part in terms if search.known.implies(">", part)]
        for relation, part in [(strict, ZERO), *((">=", part) for part in positive if len(p.terms) > 1)]:
            if not search.prove(relation, p - part):
                continue
            if search.known.implies(">", ZERO):
                return True
            opposite = search.step("evident", shows=search.shows(relation, p - part))
            parts = [{"facts": [], "times": [search.formula(part)]}] if part.terms else []
            if opposite and search.step("identity", shows=search.shows(">", ZERO), terms=[
                    {"facts": [opposite]}, {"facts": [name], "times": sign}, *parts]):
                return True
    return False
