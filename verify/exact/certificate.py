"""Counterexamples as JSON files: written from an exact instance, read and replayed by the stand-alone checker."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp

from bounds.language import words
from bounds.language.claim import Claim, Condition, Procedure, names_in
from bounds.language.names import FEDERATION, RUN, names_from
from fedtheory import find_algorithm
from synthetic.numbers.arrays import EXACT, to_numpy
from synthetic.numbers.balls import Ball
from synthetic.numbers.decimals import as_written, beyond_balls, certain, enclosure, rational_in
from verify.checker import replay as checker
from verify.checker.pieces import BOUNDS
from verify.checker.samples import SAMPLE_NAMES, SAMPLE_WORDS
from verify.claims.hypotheses import given_numbers
from verify.claims.method import own_arguments
from verify.claims.needs import always_available, needs_lipschitz, speaks_of_samples
from verify.claims.sizes import names_of
from verify.evaluation.environment import Environment
from verify.evaluation.judge import exact_violation
from verify.instances.instance import federation_of
from verify.instances.leaves import Leaves
from verify.instances.shape import Shape

__all__ = ["FORMAT", "CheckResult", "certificate", "check_file", "formula", "not_replayed", "read", "same_statement"]

FORMAT = checker.FORMAT
_FIELDS = ("claim", "setting", "statement", "hypotheses", "definitions", "sizes", "procedure", "instance", "values",
           "left", "right", "everywhere")


def formula(expression) -> Any:
    """A sympy expression as nested lists, the form in which the checker reads it."""
    e = sp.sympify(expression)
    if e.is_Integer:
        return int(e)
    if e.is_Rational:
        return ["*", int(e.p), ["^", int(e.q), -1]]
    if e.is_Symbol:
        return e.name
    if isinstance(e, sp.Indexed):
        return [str(e.base.label), *map(formula, e.indices)]
    if isinstance(e, sp.Sum | sp.Product):
        body = formula(e.function)
        for name, low, high in e.limits:
            body = [type(e).__name__, body, name.name, formula(low), formula(high)]
        return body
    if isinstance(e, words.E):
        return ["E" if len(e.args) == 1 else f"E_{e.args[1]}", formula(e.args[0])]
    names = {sp.Add: "+", sp.Mul: "*", sp.Pow: "^"}
    return [names.get(type(e)) or type(e).__name__, *map(formula, sorted(e.args, key=str) if e.is_Add else e.args)]


def _formulas(claim: Claim) -> Iterator[sp.Expr]:
    """The claim's formulas, those of the definitions that it uses included."""
    yield from (side for c in (*claim.hypotheses, claim.statement) for side in (c.left, c.right))
    yield from (definition.formula for definition in claim.used_definitions().values())


def _heads(node: Any) -> Iterator[str]:
    """Words and names of arrays in a formula as nested lists."""
    if isinstance(node, list):
        yield node[0]
        for argument in node[1:]:
            yield from _heads(argument)


def _own(claim: Claim) -> set[str]:
    """Names to which the claim itself gives a value, or leaves it."""
    return {*claim.definitions, *claim.constants, *(variable.name for variable in claim.variables)}


def not_replayed(claim: Claim) -> str | None:
    """The parts of a claim that the stand-alone checker does not know (method, operators, names); None if it knows all."""
    if words := sorted(_own(claim) & checker.FUNCTIONS):
        return f"a name of the claim that is a word of the language ({', '.join(words)}; another name would do)"
    base = (claim.procedure or Procedure()).base
    if claim.setting == "run" and base not in checker.METHODS:
        return base
    states = checker.METHODS[base][1] if claim.setting == "run" else ()
    known = {*checker.FUNCTIONS, *_OF_FEDERATION, *_OF_RUN, "eta_l", *states, *_own(claim)}
    if speaks_of_samples(claim):
        twins = {f"twin_{name}" for name in (*_OF_RUN, *states)}
        known = known - {"x_star", "F_star", "F_star_client"} | twins | {*SAMPLE_WORDS, *SAMPLE_NAMES}
    unknown = sorted({head for formula_ in _formulas(claim) for head in _heads(formula(formula_))} - known)
    return ", ".join(unknown) or None


def _condition(condition: Condition) -> dict[str, Any]:
    over = [[str(name), formula(low), formula(high)] for name, low, high in condition.over]
    text = f"{condition.left} {condition.relation} {condition.right}"
    return {"left": formula(condition.left), "relation": condition.relation, "right": formula(condition.right),
            "over": over, "text": text}


def statement_of(claim: Claim) -> dict[str, Any]:
    """The part of a certificate that states the claim."""
    definitions = {
        name: {"indices": [str(i) for i in d.indices], "formula": formula(d.formula)}
        for name, d in claim.used_definitions().items()
    }
    if claim.setting == "point":  # there is no run: the average follows from the local models
        definitions |= {name: {"indices": ["t"], "formula": formula(_AVERAGE)} for name in ("x", "x_sampled")}
    return {
        "claim": claim.id, "reading": claim.reading, "setting": claim.setting, "statement": _condition(claim.statement),
        "hypotheses": [*map(_condition, claim.hypotheses), *_domains(claim), *_ranges(claim), *_participation(claim),
                       *_of_samples(claim)],
        "definitions": definitions, "procedure": _procedure(claim), "everywhere": _everywhere(claim),
    }


def _everywhere(claim: Claim) -> list[str]:
    """Names of constants that bound something over all points and that no hypothesis determines."""
    names = set().union(*map(names_in, _formulas(claim))) - set(claim.constants)
    return sorted(names & set(BOUNDS))


def _procedure(claim: Claim) -> dict[str, Any]:
    procedure = claim.procedure or Procedure()
    options = find_algorithm(procedure.base).arguments | dict(procedure.options)
    options = {name: _option(value) for name, value in options.items() if name not in _OF_EVERY_METHOD}
    names = ("base", "sampling", "indicator", "strict")
    coupled = {"replaced": procedure.replaced, "gradients": "training"} if speaks_of_samples(claim) else {}
    return {name: getattr(procedure, name) for name in names} | {"options": options} | coupled


#: arguments of a method that other parts of a certificate give
_OF_EVERY_METHOD = ("eta_l", "local_steps", "participants", "replacement")


def _option(value):
    value = as_written(value) if isinstance(value, float) else value
    return str(value) if isinstance(value, Fraction) else value


_CLIENTS = (words.k, 0, words.clients - 1)
_AVERAGE = words.Sum(
    words.client_weight[words.k] * words.included[words.t, words.k] * words.x_local[words.t, words.k], _CLIENTS
) / words.Sum(words.client_weight[words.k] * words.included[words.t, words.k], _CLIENTS)


def _domains(claim: Claim) -> Iterator[dict[str, Any]]:
    """The domains of the free quantities, as hypotheses for the checker."""
    for variable in claim.variables:
        indices = tuple(sp.Symbol(index, integer=True) for index, _ in variable.indices)
        over = tuple((i, 0, sp.Symbol(size, integer=True) - 1)
                     for i, (_, size) in zip(indices, variable.indices, strict=True))
        entry = sp.IndexedBase(variable.name)[indices] if indices else sp.Symbol(variable.name)
        if variable.domain == "positive":
            yield _positive(entry, over)
        elif variable.domain in ("nonnegative", "simplex"):
            yield _condition(Condition(entry, ">=", 0, over))
        elif variable.domain == "binary":
            yield _condition(Condition(entry * (1 - entry), "==", 0, over))
        if variable.below is not None:
            yield _positive(variable.below - entry) | {"text": f"{entry} < {variable.below}"}
        if variable.domain == "simplex":
            yield _condition(Condition(sp.Sum(entry, over[-1]), "==", 1, over[:-1]))
        if variable.domain == "integer" and not variable.indices:
            yield _condition(Condition(entry, ">=", variable.low))
            yield _condition(Condition(sp.Mod(entry, 1), "==", 0))
            if variable.high is not None:
                yield _condition(Condition(entry, "<=", variable.high))
    if claim.setting == "point":
        one = words.included[0, words.k]
        yield _condition(Condition(one * (1 - one), "==", 0, (_CLIENTS,)))
        yield _condition(Condition(one, ">=", words.priority[words.k], (_CLIENTS,)))


def _ranges(claim: Claim) -> Iterator[dict[str, Any]]:
    """The signs that the claim's symbols imply for constants, steps and thresholds, as hypotheses."""
    declared, conditions = {v.name for v in claim.variables}, [*claim.hypotheses, claim.statement]
    formulas = [side for c in conditions for side in (c.left, c.right)]
    symbols = set().union(*(e.free_symbols for e in (*formulas, *(d.formula for d in claim.used_definitions().values()))))
    for symbol in sorted((s for s in symbols - given_numbers(claim.hypotheses) if s.is_Symbol), key=str):
        if symbol.is_integer or symbol.name in declared or not symbol.is_nonnegative:
            continue
        if symbol.is_positive:
            yield _positive(symbol)
        else:
            yield _condition(Condition(sp.Symbol(symbol.name), ">=", 0))
    if claim.setting == "run":
        yield _positive(words.eta_l[words.t], ((words.t, 0, words.iterations - 1),))
        yield _condition(Condition(words.epsilon[words.t], ">=", 0, ((words.t, 0, words.iterations),)))
    elif claim.setting == "point" and words.eta_l in symbols:
        yield _positive(words.eta_l[0])


def _positive(entry, over=()) -> dict[str, Any]:
    plain = sp.Symbol(entry.name) if entry.is_Symbol else entry  # lest sympy decides it from the symbol's own sign
    return _condition(Condition(plain, ">=", 0, over)) | {"relation": ">", "text": f"{entry} > 0"}


def _participation(claim: Claim) -> Iterator[dict[str, Any]]:
    """Assumptions on free clients, weights and availability, as hypotheses for the checker."""
    if claim.setting == "algebra":
        return
    if claim.procedure is not None and not claim.procedure.free_clients:
        yield _condition(Condition(words.priority[words.k], "==", 1, (_CLIENTS,)))
    if claim.procedure is not None and claim.procedure.equal_weights:
        yield _condition(Condition(words.client_weight[words.k], "==", 1 / words.clients, (_CLIENTS,)))
    if claim.setting == "run" and always_available(claim):
        there = sp.IndexedBase("available")[words.i, words.k]
        yield _condition(Condition(there, "==", 1, ((words.i, 0, sp.Symbol("rounds", integer=True)), _CLIENTS)))


def _of_samples(claim: Claim) -> Iterator[dict[str, Any]]:
    """Hypotheses by which the checker determines the Lipschitz constant, or the bound, of the samples' losses."""
    if speaks_of_samples(claim) and needs_lipschitz(claim):
        yield _condition(Condition(sp.Symbol("G_lip"), ">=", 0))
    if speaks_of_samples(claim) and "H_loss" in names_of(claim):
        yield _condition(Condition(sp.Symbol("loss_inf"), ">=", 0))


def certificate(claim: Claim, shape: Shape, leaves: Leaves, environment: Environment, left, right) -> dict[str, Any]:
    """The certificate of one exact instance (row 0 of ``leaves`` and ``environment``) with the sides it breaks."""
    also = {}
    if environment.also is not None:  # both readings of the gradients of clients with samples
        sides = exact_violation(claim, environment.also)
        also = {"also": {"values": _values(claim, environment.also), "left": _side(sides[0]), "right": _side(sides[1])}}
    return {
        "format": FORMAT,
        **statement_of(claim),
        "sizes": {n: v for n, v in shape.as_sizes().items() if n != "priority_clients"},
        "instance": {} if claim.setting == "algebra" else _instance(claim, shape, leaves, environment),
        "values": _values(claim, environment),
        "left": _side(left),
        "right": _side(right),
    } | also


def _values(claim: Claim, environment: Environment) -> dict[str, Any]:
    """Values that the claim gives to names or leaves free."""
    arguments = own_arguments(claim.procedure) if claim.setting == "run" else ()
    states = checker.METHODS[(claim.procedure or Procedure()).base][1] if claim.setting == "run" else ()
    free = (_own(claim) | {"eta_l", *arguments, *_everywhere(claim)}) - {*states}
    given = [name for name in environment.bound if name in free and (name in BOUNDS or name not in _OF_FEDERATION)]
    arrays = {name: environment.bound[name].data for name in given}
    return {name: _value(claim, name, a[0, 0, 0]) for name, a in arrays.items() if a.shape[1] == a.shape[2] == 1}


#: names whose values the checker computes by itself
_OF_FEDERATION = (*names_from(FEDERATION), "epsilon", "sigma_g_client")
_OF_RUN = names_from(RUN)


def _value(claim: Claim, name: str, value):
    """A value as text. If it is irrational, or only known to be near a simple fraction: the formula by which a condition
    defines it; or, for a bound on something, a fraction just beyond it."""
    definition = _definition(claim, name)
    if definition is None or certain(value):
        try:
            return _text(value)
        except ArithmeticError:
            pass
    if definition is not None:
        return definition
    beyond = ">=" if name in BOUNDS else None
    for condition in claim.hypotheses:
        for side, relation in ((condition.left, condition.relation), (condition.right, _TURNED[condition.relation])):
            if side.is_Symbol and side.name == name and relation != "==":
                beyond = relation
    if beyond is None:
        raise ArithmeticError(f"{name} is irrational, and no condition defines or bounds it")
    return beyond_balls(value, upwards=beyond == ">=")


def _definition(claim: Claim, name: str) -> dict[str, Any] | None:
    """The formula by which a condition defines a name, if one does."""
    for condition in claim.hypotheses:
        left = formula(condition.left)
        if condition.relation == "==" and (left if isinstance(left, str) else left[0]) == name:
            return {"indices": [] if isinstance(left, str) else left[1:], "formula": formula(condition.right)}
    return None


_TURNED = {"<=": ">=", ">=": "<=", "==": "=="}


def _side(value) -> str:
    """A side of the statement: a fraction, or decimals that enclose it."""
    return _printed(value) if isinstance(value, Fraction) else enclosure(value) if isinstance(value, Ball) else _text(value)


def _instance(claim: Claim, shape: Shape, leaves: Leaves, environment: Environment) -> dict[str, Any]:
    losses = shape.family.written(leaves, _text)
    if shape.family.coupled:
        return losses | {"start_offset": _text(leaves["start_offset"][0]), "initial": _initial(claim, environment)}
    federation = federation_of(shape, leaves, EXACT)
    data = {"center": _text(leaves["center"][0]), "x_star": _text(federation.x_star[0])}
    if "half_tangent" in leaves and shape.dim > 1:
        data["half_tangent"], federation = _text(leaves["half_tangent"][0, 0]), federation.given
    data |= losses
    data["offset"], data["client_weight"] = _text(federation.offset[0].reshape(shape.clients)), _text(federation.weights[0])
    data["layer_sizes"] = [layer.stop - layer.start for layer in environment.federation.layers()]
    data["priority"] = shape.is_priority.astype(int).tolist()
    data["noise"] = [[] for _ in range(shape.clients)]
    for slot, client in enumerate(shape.noisy):
        a = leaves["noise"][0, slot]
        data["noise"][client] = [
            [str(shape.rare), _text(a * (1 - shape.rare))], [str(1 - shape.rare), _text(a * -shape.rare)]
        ]
    if claim.setting == "point":
        data["included"] = _text(leaves["included"])
        data["x_local"] = _text(to_numpy(environment.bound["x_local"].data)[0, 0, 0])
        return data
    data["start_offset"] = _text(leaves["start_offset"][0])
    data["initial"] = _initial(claim, environment)
    data["epsilon"] = _text(leaves["epsilon"][0])
    data["available"] = _text(leaves["available"][0])
    return data


def _initial(claim: Claim, environment: Environment) -> dict[str, Any]:
    """The first values of the method's own arrays, if these are free."""
    procedure = claim.procedure or Procedure()
    free = checker.METHODS[procedure.base][1] if dict(procedure.options).get("start") == "free" else ()
    return {name: _text(to_numpy(environment.bound[name].data)[0, 0, 0, 0]) for name in free if name in environment.bound}


def _text(value):
    if isinstance(value, np.ndarray) and value.ndim:
        return [_text(v) for v in value]
    value = value.item() if isinstance(value, np.ndarray) else value
    if isinstance(value, float):
        raise TypeError(f"a certificate holds exact numbers; got the float {value!r}")
    found = rational_in(value) if isinstance(value, Ball) else Fraction(value)
    if found is None:
        raise ArithmeticError(f"{value!r} is irrational")
    return str(found)


@dataclass(frozen=True)
class CheckResult:
    """The checker's answer; ``left`` and ``right`` are fractions as text."""

    accepted: bool
    reason: str
    left: str
    right: str


def read(path: str | Path) -> dict[str, Any]:
    """A certificate from a file. Raises ValueError with one clear line for anything that is not one."""
    path = Path(path)
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not a certificate: not valid JSON (truncated?): {error}") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        found = data.get("format") if isinstance(data, dict) else type(data).__name__
        raise ValueError(f"{path} is not a certificate: expected format {FORMAT!r}, got {found!r}; others are not read")
    missing = [name for name in _FIELDS if name not in data]
    if missing:
        raise ValueError(f"{path} is not a complete certificate: it lacks {', '.join(missing)}")
    return data


def same_statement(data: dict[str, Any], claim: Claim) -> bool:
    """Whether the certificate states exactly what the claim states."""
    own = json.loads(json.dumps(statement_of(claim)))
    stated = ("reading", "setting", "statement", "hypotheses", "definitions", "procedure", "everywhere")
    return all(data.get(name) == own[name] for name in stated)


def check(data: dict[str, Any]) -> CheckResult:
    """Replay a certificate with the stand-alone checker."""
    try:
        accepted, reason, left, right = checker.check(data)
    except (ArithmeticError, AssertionError, IndexError, KeyError, RecursionError, TypeError, ValueError) as error:
        return CheckResult(False, f"cannot be replayed: {type(error).__name__}: {error}", "", "")
    return CheckResult(accepted, reason, _printed(left), _printed(right))


_PRINTED_BITS = 12_000  # of a fraction that is printed in full


def _printed(side) -> str:
    """A side as text; of fractions of very many digits, decimals that enclose them."""
    long = isinstance(side, Fraction) and max(abs(side.numerator), side.denominator).bit_length() > _PRINTED_BITS
    return enclosure(side) if long else str(side)


def check_file(path: str | Path) -> CheckResult:
    """Replay a certificate file, and compare its statement with the claim of that id if there is one."""
    from bounds.registry.claims import all_claims

    data = read(path)
    result = check(data)
    claim = all_claims().get(data["claim"])
    if claim is None:
        return CheckResult(result.accepted, result.reason + f"; no claim is called {data['claim']!r} here", result.left,
                           result.right)
    if not same_statement(data, claim):
        return CheckResult(False, f"the certificate does not state what {claim.id} states", result.left, result.right)
    return result
