"""Mutants of claims: each is a claim with one change in one place.

An expectation taken away or exchanged for another kind, a constant one more or one less, the sign of a term, an index, an
end of a range, a name, a relation, a hypothesis left out, added or changed, the domain of a variable, the algorithm. Changes
that leave the same formula are left out, such as the sign of all that stands in a norm.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import sympy as sp

from bounds.language import operators, samples
from bounds.language.claim import HIDDEN, Claim, Condition

__all__ = ["KINDS", "Mutant", "changes_of", "mutants_of"]

KINDS = (
    "expectation", "constant", "sign", "index", "name", "maximum", "range", "relation", "hypothesis", "domain", "method")
EXPECTATIONS = (operators.E, operators.E_round, operators.E_noise, samples.E_data, samples.E_unused, samples.E_client)
#: where the sign of the whole argument is of no matter
EVEN = (operators.norm, operators.norm2, sp.Abs)
FLIPPED = {"<=": ">=", ">=": "<=", "==": "<=", "<": ">", ">": "<"}
STRICT = {"<=": "<", ">=": ">", "<": "<=", ">": ">=", "==": ">="}


@dataclass(frozen=True)
class Mutant:
    """A claim with one change.

    Attributes:
        kind: one of ``KINDS``.
        part: what has changed: ``statement``, ``hypotheses`` or ``variables`` (with the algorithm).
        text: the change, in words.
        claim: the claim with it.
    """

    kind: str
    part: str
    text: str
    claim: Claim

    def __str__(self) -> str:
        return f"{self.claim.id}: {self.kind}: {self.text}"


# formulas ------------------------------------------------------------------------------------------------------------
def _rebuilt(e, arguments):
    """An expression of the same kind with other arguments."""
    if isinstance(e, sp.Max | sp.Min):
        return e.func(*arguments, evaluate=False)
    return e.func(*arguments)


def changes_of(e) -> Iterator[tuple[str, str, sp.Expr]]:
    """Yields every change of a formula in one place: (kind, text, new formula)."""
    e = sp.sympify(e)
    symbols = sorted(e.atoms(sp.Symbol) - _bound(e), key=str)
    others = dict(zip(symbols, symbols[1:] + symbols[:1], strict=True))
    yield from ((kind, text, new) for kind, text, new in _changes(e, others) if new != e)


def _bound(e) -> set:
    """Indices, names of arrays and sources of chance, which are exchanged for no other name."""
    found = {operators.sampling, *(symbol for indexed in e.atoms(sp.IndexedBase) for symbol in indexed.free_symbols)}
    found |= {symbol for symbol in e.atoms(sp.Symbol) if symbol.is_integer and len(symbol.name) == 1}
    return found | {triple[0] for sums in e.atoms(sp.Sum, sp.Product) for triple in sums.limits}


def _changes(e, others):
    if e.is_Rational:
        yield from (("constant", f"{e} -> {e + more}", e + more) for more in (1, -1))
    elif e in others:
        yield "name", f"{e} -> {others[e]}", others[e]
    if not e.args:
        return
    if isinstance(e, EXPECTATIONS):
        inner = e.args[1] if isinstance(e, samples.E_unused | samples.E_client) else e.args[0]
        another = operators.E_noise if e == operators.E(inner) else operators.E
        yield "expectation", f"{type(e).__name__} taken away", inner
        yield "expectation", f"{type(e).__name__} -> {another.__name__}", another(inner)
    if isinstance(e, sp.Max | sp.Min):
        other = sp.Min if isinstance(e, sp.Max) else sp.Max
        yield "maximum", f"{type(e).__name__} -> {other.__name__}", other(*e.args, evaluate=False)
    if e.is_Add:
        for number, term in enumerate(e.args):
            yield "sign", f"-({term})", _rebuilt(e, [*e.args[:number], -term, *e.args[number + 1:]])
    for number in range(len(e.args)):
        for kind, text, new in _inside(e, number, others):
            try:
                whole = _rebuilt(e, [*e.args[:number], new, *e.args[number + 1:]])
            except (TypeError, ValueError):
                continue  # no formula of the language
            if not whole.has(sp.nan, sp.zoo, sp.oo):
                yield kind, text, whole


def _inside(e, number, others):
    """Yields the changes of one argument."""
    argument = e.args[number]
    array, place = isinstance(e, sp.Indexed), isinstance(e, operators.Operator) and number in e.indices
    if (array and number > 0) or place:
        name = e.base if array else type(e).__name__
        yield from (("index", f"{name}: {argument} -> {argument + more}", argument + more) for more in (1, -1))
    elif isinstance(e, sp.Sum | sp.Product) and number > 0:
        index, low, high = argument
        yield from (("range", f"{index}: {text}", sp.Tuple(index, *ends)) for text, ends in _ends(low, high))
    elif not array and not (isinstance(e, operators.Operator) and number == e.binds) and argument != operators.sampling:
        for kind, text, new in _changes(argument, others):
            if not (isinstance(e, EVEN) and new == -argument):
                yield kind, text, new


def _ends(low, high):
    for new_low, new_high in ((low + 1, high), (low - 1, high), (low, high + 1), (low, high - 1)):
        yield f"{low}..{high} -> {new_low}..{new_high}", (new_low, new_high)


def _conditions(condition: Condition) -> Iterator[tuple[str, str, Condition]]:
    """Yields every change of a condition."""
    for side in ("left", "right"):
        formula = getattr(condition, side)
        for kind, text, new in changes_of(formula):
            yield kind, f"{side}: {text}", _with_side(condition, side, new)
        if not formula.is_Add and formula != 0:
            yield "sign", f"{side}: -({formula})", _with_side(condition, side, -formula)
    for sign in (FLIPPED[condition.sign], STRICT[condition.sign]):
        yield "relation", f"{condition.sign} -> {sign}", Condition(condition.left, sign, condition.right, condition.over)
    for number, (index, low, high) in enumerate(condition.over):
        for text, ends in _ends(low, high):
            over = (*condition.over[:number], (index, *ends), *condition.over[number + 1:])
            yield "range", f"over {index}: {text}", Condition(condition.left, condition.sign, condition.right, over)


def _with_side(condition, side, formula):
    left, right = (formula, condition.right) if side == "left" else (condition.left, formula)
    return Condition(left, condition.sign, right, condition.over)


# claims --------------------------------------------------------------------------------------------------------------
def mutants_of(claim: Claim, others: tuple = (), known: set | None = None) -> Iterator[Mutant]:
    """Yields every mutant of a claim.

    Args:
        others: hypotheses of the paper, of which one that the claim does not have is added.
        known: assumptions and conditions whose own changes another claim had already; those of this claim are added to it.
    """
    known = set() if known is None else known
    if claim.statement is not None:
        for kind, text, statement in _conditions(claim.statement):
            yield Mutant(kind, "statement", f"statement, {text}", replace(claim, statement=statement))
    yield from _of_hypotheses(claim, others, known)
    for number, variable in enumerate(claim.variables):
        for new in _other_domains(variable):
            variables = (*claim.variables[:number], *new, *claim.variables[number + 1:])
            yield Mutant("domain", "variables", f"{variable} -> {new}", replace(claim, variables=variables))
    yield from _of_method(claim)


def _of_hypotheses(claim, others, known):
    for field in ("assumptions", "conditions"):
        own = getattr(claim, field)
        for number, hypothesis in enumerate(own):
            without = (*own[:number], *own[number + 1:])
            yield Mutant("hypothesis", "hypotheses", f"without {_name(hypothesis)}", replace(claim, **{field: without}))
            if hypothesis in known:
                continue
            known.add(hypothesis)
            changed = _conditions(hypothesis) if field == "conditions" else _assumptions(hypothesis)
            for kind, text, new in changed:
                yield Mutant("hypothesis" if kind in ("constant", "sign", "relation") else kind, "hypotheses",
                             f"{_name(hypothesis)}, {kind}, {text}",
                             replace(claim, **{field: (*own[:number], new, *own[number + 1:])}))
        one = next((other for other in others if isinstance(other, Condition) == (field == "conditions")
                    and other not in own), None)
        if one is not None:
            yield Mutant("hypothesis", "hypotheses", f"with {_name(one)}", replace(claim, **{field: (*own, one)}))


def _name(hypothesis) -> str:
    if isinstance(hypothesis, Condition):
        return f"{hypothesis.left} {hypothesis.sign} {hypothesis.right}"
    return hypothesis.id


def _assumptions(assumption):
    for number, condition in enumerate(assumption.conditions):
        for kind, text, new in _conditions(condition):
            conditions = (*assumption.conditions[:number], new, *assumption.conditions[number + 1:])
            yield kind, text, replace(assumption, conditions=conditions)
        yield "hypothesis", "left out", replace(
            assumption, conditions=(*assumption.conditions[:number], *assumption.conditions[number + 1:]))
    for field in ("for_all_functions", "everywhere"):
        if getattr(assumption, field) is not None:
            for kind, text, new in _conditions(getattr(assumption, field)):
                yield kind, text, replace(assumption, **{field: new})
            yield "hypothesis", "left out", replace(assumption, **{field: None})


def _other_domains(variable):
    yield ()
    if variable.domain == "integer":
        yield (replace(variable, low=variable.low + 1),)
        yield (replace(variable, high=(variable.high or 8) + 1),)
    else:
        others = {"positive": "nonnegative", "nonnegative": "positive"}
        yield (replace(variable, domain=others.get(variable.domain, "positive")),)
        if variable.domain not in HIDDEN and variable.below is None and not variable.indices and variable.domain != "vector":
            yield (replace(variable, domain="real", below=1),)
        if variable.domain in HIDDEN:
            yield (replace(variable, domain=HIDDEN[variable.domain == HIDDEN[0]]),)
    if variable.indices:
        (letter, size), *more = variable.indices
        yield (replace(variable, indices=((letter, f"{size} + 1" if "+" not in size else size.partition(" +")[0]), *more)),)


def _of_method(claim):
    if claim.procedure is not None:
        own = claim.procedure
        for change in (
            {"free_clients": not own.free_clients}, {"strict": not own.strict}, {"equal_weights": not own.equal_weights},
            {"sampling": "bernoulli" if own.sampling != "bernoulli" else "full"},
            {"free": "arbitrary" if own.free == "always" else "always"},
            {"replaced": "any" if own.replaced == "random" else "random"}, {"base": "fedprox"}, {"options": own.options[1:]},
            {"options": (*own.options, ("eta_g", 2))},
        ):
            procedure = replace(own, **change)
            if procedure != own:
                yield Mutant("method", "variables", f"{change}", replace(claim, procedure=procedure))
    for number, (name, limit) in enumerate(claim.limits):
        for new in ((), ((name, 0 if limit == sp.oo else sp.oo),)):
            limits = (*claim.limits[:number], *new, *claim.limits[number + 1:])
            yield Mutant("method", "variables", f"limits {limits}", replace(claim, limits=limits))
    if claim.limits:
        used = claim.constants_may_use
        yield Mutant("method", "variables", "what constants may depend on", replace(
            claim, constants_may_use=() if used is None else None))
    if claim.exists is not None:
        for change in ({"open_low": not claim.exists.open_low}, {"open_high": not claim.exists.open_high},
                       {"low": claim.exists.low + 1}, {"high": claim.exists.high + 1}, {"name": "another"}):
            yield Mutant("method", "variables", f"exists {change}", replace(claim, exists=replace(claim.exists, **change)))
