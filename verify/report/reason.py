"""Says why a claim fails: both sides of a counterexample term by term, its run in numbers, and what it needs."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import Any, NamedTuple

import numpy as np
import sympy as sp

from bounds.language.claim import Claim, Condition
from bounds.language.layers import share
from bounds.language.operators import iterations, rounds
from bounds.printing.render import letters_of, unicode
from bounds.registry.claims import find_claim
from synthetic.numbers.arrays import NUMPY
from verify.evaluation.environment import Environment
from verify.evaluation.evaluate import sides
from verify.exact.one_dimensional_run import on_outcome, shown_outcome, worst_place
from verify.exact.replay import CANNOT, rerun
from verify.instances.instance import outcomes
from verify.referee.decide import FEWEST
from verify.referee.wording import own_numbers
from verify.repair.ingredients import ingredients
from verify.repair.positions import own_definitions
from verify.results.numerals import significant
from verify.search.budget import BUDGETS
from verify.search.search import search

__all__ = ["Needs", "is_refuted", "needs_of", "number_text", "run_in_words", "sides_in_words"]

_MOST_TERMS = 8  # of a side
_MOST_ROUNDS = 4
_MOST_CLIENTS, _MOST_COORDINATES = 4, 2
_LARGEST_DENOMINATOR = 10**6
_SHORT = 12  # characters of a fraction


def number_text(value: float) -> str:
    """A number as the fraction that it is up to rounding, if that is short; else with six digits."""
    if not np.isfinite(value):
        return "∞" if value > 0 else "−∞" if value < 0 else "undefined"
    near = Fraction(value).limit_denominator(_LARGEST_DENOMINATOR)
    text = str(near)
    if abs(near - value) <= 1e-13 * max(abs(value), 1e-3) and len(text) <= _SHORT:
        return text.replace("-", "−")
    return significant(value, 6)


# both sides --------------------------------------------------------------------------------------------------------------
def sides_in_words(claim: Claim, data: Mapping[str, Any], write: Callable = unicode) -> Iterator[str]:
    """Yield a line for each side of the statement where it fails: its value and those of its terms; before that the numbers
    of a claim without runs, and the indices there; after it the values of the paper's quantities in it. ``write`` writes a
    formula with letters."""
    try:
        environment = rerun(data, claim, NUMPY).remembering()
        where = _where(claim, environment)
    except CANNOT:  # an instance that float64 does not make again
        return
    letters, over = letters_of(claim), claim.statement.over
    if claim.setting == "algebra" and (own := own_numbers(claim, dict(data))):
        yield ", ".join(f"{write(sp.Symbol(name), letters)} = {value}" for name, value in own.items())
    for quotient, places in _quotients_of_zeros(claim, environment):
        at = ", ".join(f"{write(index, letters)} = {number}" for index, number in places)
        yield f"{write(quotient, letters)}, of a hypothesis, is 0/0{f' at {at}' if at else ''} and counts as 0"
    if over:
        numbers = {index: where(index) for index, *_ in over}
        places = (f"{write(index, letters)} = {number:g}" + f" (client {number + 1:g})" * (str(index) == "k")
                  for index, number in numbers.items())
        yield f"it fails most at {', '.join(places)}"
    for name in ("left", "right"):
        side = getattr(claim.statement, name)
        terms = side.args if isinstance(side, (sp.Max, sp.Min)) else sp.Add.make_args(side)
        found = [_number_or_none(where, part) for part in (side, *terms)]
        if len(terms) == 1 or len(terms) > _MOST_TERMS or None in found:
            yield f"{name} side {number_text(float(Fraction(data[name])) if found[0] is None else found[0])}"
            continue
        values = "; ".join(f"{write(term, letters)} is {number_text(value)}"
                           for term, value in zip(terms, found[1:], strict=True))
        yield f"{name} side {number_text(found[0])}: {values}"
    for name in own_definitions(claim):
        definition = claim.definitions[name]
        if not definition.indices and (value := _number_or_none(where, definition.symbol)) is not None:
            ranges = ([write(part, letters) for part in triple] for triple in _empty_ranges(definition.formula, where))
            empty = "".join(f": there is no {index} from {low} to {high}" for index, low, high in ranges)
            yield f"{write(definition.symbol, letters)} is {number_text(value)}{empty}"


def _number_or_none(where, formula: sp.Expr) -> float | None:
    """The value of a formula there; None for a vector, and for one that depends on chance where the statement does not."""
    try:
        return where(formula)
    except (TypeError, ValueError):
        return None


def _empty_ranges(formula: sp.Basic, where) -> Iterator[sp.Tuple]:
    """Yield the ranges of sums, with ends that use no other index, which have no index there."""
    for part in sp.preorder_traversal(formula):
        if isinstance(part, sp.Tuple) and len(part) == 3:
            try:
                if where(part[1]) > where(part[2]):
                    yield part
            except CANNOT:  # ends that use another index
                continue


def _quotients_of_zeros(claim: Claim, environment: Environment) -> Iterator[tuple[sp.Expr, list[tuple[sp.Symbol, int]]]]:
    """Yield the quotients in hypotheses that are 0/0 there, which count as 0, each with the first indices of which it is."""
    seen = set()
    for condition in claim.hypotheses:
        for quotient in sorted((condition.left - condition.right).atoms(share) - seen, key=str):
            seen.add(quotient)
            parts = Condition(abs(quotient.args[0]) + abs(quotient.args[1]), "<=", 0, condition.over)
            with suppress(*CANNOT):
                values, _, mask = np.broadcast_arrays(*sides(parts, environment))
                if len(found := np.argwhere((values == 0) & mask)):
                    places = found[0][values.ndim - len(condition.over):]
                    yield quotient, [(index, int(low) + int(place))
                                     for (index, low, _), place in zip(condition.over, places, strict=True) if low.is_number]


def _where(claim: Claim, environment: Environment):
    """A function that evaluates a formula at the indices, and on the outcome of chance, where the statement fails most."""
    place, shape = worst_place(claim.statement, environment)

    def value(formula) -> float:
        with np.errstate(all="ignore"):
            found = sides(Condition(formula, "<=", 0, claim.statement.over), environment)[0]
        return float(np.broadcast_to(found, shape)[place])

    return value


# the run -----------------------------------------------------------------------------------------------------------------
def run_in_words(claim: Claim, data: Mapping[str, Any]) -> Iterator[str]:
    """Yield what happens on a small counterexample about a run: its clients, then every round."""
    sizes = data["sizes"]
    if claim.setting != "run" or "center" not in data["instance"] or (
            sizes["clients"] > _MOST_CLIENTS or sizes["dim"] > _MOST_COORDINATES):
        return
    try:
        environment = rerun(data, claim, NUMPY)
        models, sampled, star = (environment.bound[name].data for name in ("x_round", "sampled", "x_star"))
        outcome = shown_outcome(claim, environment, models)
        there = _round_that_fails(claim, environment)
    except CANNOT:
        return
    count = prod(outcomes(replace(environment.instance[0], many_draws=False)))
    yield from _clients_in_words(data["instance"], sizes["clients"])
    yield f"the objective is least at {_vector(star.reshape(-1, sizes['dim'])[0])}"
    if count > 1:
        yield f"chance has {count} outcomes; on one of them:"
    again = _reused_layers(environment, models, outcome)
    sampled, models = on_outcome(sampled, 2, models, outcome), on_outcome(models, 2, models, outcome)
    first = max(0, min(there - _MOST_ROUNDS // 2, sizes["rounds"] - _MOST_ROUNDS))
    last = min(first + _MOST_ROUNDS, sizes["rounds"])
    if first:
        yield f"after round {first - 1}: {_vector(models[first])}"
    for number in range(first, last):
        those = [str(k + 1) for k in range(sizes["clients"]) if sampled[number, k]]
        who = _listed("client", those) if those else "no client"
        before, after = _vector(models[number]), _vector(models[number + 1])
        moves = f"moves from {before} to {after}" if before != after else f"stays at {before}"
        yield f"round {number}: {who} take{'s' * (len(those) < 2)} part; {again(number)}the model {moves}"
    if sizes["rounds"] > last:
        yield f"after round {sizes['rounds'] - 1}: {_vector(models[sizes['rounds']])}"


def _reused_layers(environment: Environment, models: np.ndarray, outcome: int) -> Callable[[int], str]:
    """A function that says of which layers a round applies the update of before; of a method without layers, nothing."""
    marks = environment.bound.get("server_recycle_set")
    if marks is None:
        return lambda number: ""
    array = on_outcome(marks.data, 2, models, outcome)

    def words(number: int) -> str:
        names = [str(layer + 1) for layer in np.flatnonzero(array[number])]
        if len(names) == array.shape[1] == 1:
            return "the only layer repeats its last update; "
        what = "repeat their last updates" if len(names) > 1 else "repeats its last update"
        return f"{_listed('layer', names)} {what}; " if names else ""

    return words


def _round_that_fails(claim: Claim, environment: Environment) -> int:
    """The round in which the statement fails, where one of its indices is a round or a step; else 0."""
    where = _where(claim, environment)
    for index, _, high in claim.statement.over:
        if high.has(rounds):
            return int(where(index))
        if high.has(iterations):
            return int(where(index)) // environment.sizes["local_steps"]
    return 0


def _listed(noun: str, names: list[str]) -> str:
    """Several names in a sentence: ``clients 1, 2 and 3``."""
    return f"{noun}s {', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else f"{noun} {names[0]}"


def _clients_in_words(instance: Mapping[str, Any], count: int) -> Iterator[str]:
    turned = instance.get("half_tangent")
    for k in range(count):
        tangent = turned[k] if isinstance(turned, list) else turned
        curvature, center = (_vector(instance[name][k]) for name in ("curvature", "center"))
        free = "" if Fraction(instance["priority"][k]) else ", free"
        pieces = ", with further pieces" if instance.get("pieces") and any(map(len, instance["pieces"][k])) else ""
        noise = ", with noise" if instance["noise"][k] else ""
        weight = _vector(instance["client_weight"][k])
        angle = "" if tangent in (None, "0") else f", turned by an angle whose half has the tangent {_vector(tangent)}"
        yield (f"client {k + 1}{free}: weight {weight}, a quadratic of curvature {curvature} around {center}{pieces}{noise}"
               f"{angle}")


def _vector(values) -> str:
    texts = [number_text(float(Fraction(value) if isinstance(value, str) else value)) for value in np.atleast_1d(values)]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


# what it needs -----------------------------------------------------------------------------------------------------------
class Needs(NamedTuple):
    """Hypotheses, in words, under which a quick search still refutes a claim, and those under which it finds nothing on
    instances that meet them."""

    fails: list[str]
    survives: list[str]

    def __str__(self) -> str:
        parts = []
        if self.survives:
            parts.append(f"A quick search finds no violation {', or '.join(self.survives)}.")
        if self.fails:
            parts.append(f"It still fails {', or '.join(self.fails)}.")
        return " ".join(parts)


def is_refuted(claim_id: str) -> bool:
    """Whether a quick search refutes a claim."""
    claim = find_claim(claim_id)
    if claim.statement is None or not claim.explicit:
        return False
    try:
        return search(claim, BUDGETS["quick"]).violation is not None
    except CANNOT:
        return False


def needs_of(claim: Claim, seed: int = 0) -> Needs:
    """Search the claim anew under each hypothesis that excludes one ingredient of a counterexample."""
    found = Needs([], [])
    for words, changed in ingredients(claim):
        try:
            result = search(changed, BUDGETS["quick"], seed)
        except CANNOT:  # it cannot be measured under this hypothesis
            continue
        if result.violation is not None:
            found.fails.append(words)
        elif result.met >= FEWEST and not result.unconfirmed:
            found.survives.append(words)
    return found
