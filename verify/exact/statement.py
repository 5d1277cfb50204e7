"""Writes a claim's statement as plain data for certificates."""

import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import sympy as sp

from bounds.language import names as language
from bounds.language import operators
from bounds.language.claim import Claim, Condition, Procedure
from bounds.language.functions import f
from bounds.language.names import names_from
from fedtheory import find_algorithm
from synthetic.numbers.decimals import as_written
from verify.checker.piecewise_quadratic import BOUNDS
from verify.checker.run import METHODS
from verify.checker.samples import SAMPLE_NAMES
from verify.checker.schema import COMPUTED, FEDERATION, FUNCTIONS, MEASURED, OF_COUPLED_RUNS, SAMPLE_WORDS, SIZES
from verify.claims.implicit import CLIENTS, all_hypotheses, signs_of
from verify.claims.method import own_arguments, subset_left_open
from verify.claims.needs import determined, needs_lipschitz, speaks_of_samples
from verify.claims.sizes import once_by_claim

__all__ = ["definition_of", "formula", "free_names", "not_replayed", "printed_of", "statement_of"]


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
    if isinstance(e, operators.E):
        return ["E" if len(e.args) == 1 else f"E_{e.args[1]}", formula(e.args[0])]
    names = {sp.Add: "+", sp.Mul: "*", sp.Pow: "^"}
    return [names.get(type(e)) or type(e).__name__, *map(formula, sorted(e.args, key=str) if e.is_Add else e.args)]


def _heads(node: Any) -> Iterator[str]:
    """Words and names of arrays in a formula as nested lists."""
    if isinstance(node, list):
        yield node[0]
        for argument in node[1:]:
            yield from _heads(argument)


def _own(claim: Claim) -> set[str]:
    """Names to which the claim itself gives a value, or leaves it."""
    chosen = set() if claim.exists is None else {claim.exists.name}
    return {*claim.definitions, *claim.constants, *(variable.name for variable in claim.variables)} | chosen


def not_replayed(claim: Claim) -> str | None:
    """The parts of a claim that the stand-alone checker does not know (method, operators, names); None if it knows all."""
    if words := sorted(_own(claim) & FUNCTIONS):
        return f"a name of the claim that is a word of the language ({', '.join(words)}; another name would do)"
    base = (claim.procedure or Procedure()).base
    if claim.setting == "run" and base not in METHODS:
        return base
    states = _states(claim)
    known = {*FUNCTIONS, *names_from(language.FEDERATION), *names_from(language.RUN), *states, *_own(claim),
             "eta_l", "epsilon", "sigma_g_client"}
    if speaks_of_samples(claim):
        if any(c.has(f) for a in claim.assumptions for c in a.at_all_points):
            return "what is said of the loss of every sample at all points"
        twins = {f"twin_{name}" for name in (*names_from(language.RUN), *states)}
        known = known - {"x_star", "F_star", "F_star_client"} | twins | {*SAMPLE_WORDS, *SAMPLE_NAMES}
    unknown = sorted({head for formula_ in claim.formulas for head in _heads(formula(formula_))} - known)
    return ", ".join(unknown) or None


def _condition(condition: Condition) -> dict[str, Any]:
    over = [[str(name), formula(low), formula(high)] for name, low, high in condition.over]
    text = f"{condition.left} {condition.sign} {condition.right}"
    return {"left": formula(condition.left), "relation": condition.sign, "right": formula(condition.right),
            "over": over, "text": text}


def statement_of(claim: Claim) -> dict[str, Any]:
    """The part of a certificate that states the claim, as JSON has it."""
    return json.loads(_text(claim))


@once_by_claim
def _text(claim: Claim) -> str:
    return json.dumps(_statement(claim))


def _statement(claim: Claim) -> dict[str, Any]:
    definitions = {
        name: {"indices": [str(i) for i in d.indices], "formula": formula(d.formula)}
        for name, d in claim.used_definitions().items()
    }
    if claim.setting == "point":  # there is no run: the average follows from the local models
        definitions |= {name: {"indices": ["t"], "formula": formula(_AVERAGE)} for name in ("x", "x_sampled")}
    return {
        "claim": claim.id, "reading": claim.reading, "setting": claim.setting, "statement": _condition(claim.statement),
        "hypotheses": [*map(_condition, (*all_hypotheses(claim), *_of_samples(claim)))],
        "definitions": definitions, "procedure": _procedure(claim), "everywhere": _everywhere(claim),
        "free": free_names(claim),
    } | _exists(claim)


def printed_of(claim: Claim) -> dict[str, Any]:
    """The conditions that the claim's assumptions print for a function f at all points u and v, with signs of symbols in
    there alone, for proofs that nothing satisfies them. Empty where they print no such condition."""
    printed = [a.for_all_functions for a in claim.assumptions if a.for_all_functions is not None]
    symbols = set().union(*(side.free_symbols for c in printed for side in (c.left, c.right)))
    signs = signs_of(claim, symbols - set().union(*(e.free_symbols for e in claim.formulas)))
    return {"printed": [*map(_condition, (*printed, *signs))]} if printed else {}


def _exists(claim: Claim) -> dict[str, Any]:
    """The number that is said to exist, and its interval, if there is one."""
    choice = claim.exists
    return {} if choice is None else {"exists": {
        "name": choice.name, "low": formula(choice.low), "high": formula(choice.high),
        "open": [choice.open_low, choice.open_high]}}


def free_names(claim: Claim) -> dict[str, list[str] | None]:
    """The names to which an instance of the claim gives values or whole numbers: its variables, the constants that its
    hypotheses define or bound, step sizes, and constants over all points. Each with the sizes of its array, none for a
    number, None where a formula decides."""
    return {name: lengths and [*lengths] for name, lengths in _free_names(claim).items()}


@once_by_claim
def _free_names(claim: Claim) -> dict[str, list[str] | None]:
    arrays = {str(c.left.base.label) for c in claim.hypotheses if isinstance(c.left, sp.Indexed)}
    known = {v.name: [size for _, size in v.indices] + ["dim"] * (v.domain == "vector") for v in claim.variables}
    known |= {name: ["clients"] for name in _everywhere(claim) if name.endswith("_client")}
    known["eta_l"] = _STEPS[claim.setting]
    return {name: known.get(name, None if name in arrays else []) for name in _names_of_free(claim)}


_STEPS = {"run": ["iterations"], "point": None, "algebra": []}


def _names_of_free(claim: Claim) -> list[str]:
    variables = {variable.name for variable in claim.variables}
    steps = {"eta_l"} if claim.setting == "run" or (claim.setting == "point" and "eta_l" in claim.names) else set()
    named = {*claim.constants, *variables, *subset_left_open(claim), *_everywhere(claim)} | steps
    named -= set() if claim.exists is None else {claim.exists.name}
    if claim.setting == "algebra":
        return sorted(named - {*SIZES, *claim.definitions})
    return sorted(named - {*COMPUTED, *FEDERATION, *MEASURED, *OF_COUPLED_RUNS, *SIZES, *_states(claim), *claim.definitions,
                           "epsilon", "available", "samples"})


def definition_of(claim: Claim, name: str) -> dict[str, int] | None:
    """The place of the hypothesis that defines a name by a formula, if one does."""
    condition = claim.defining.get(name)
    places = [place for place, one in enumerate(claim.hypotheses) if one is condition]
    return {"hypothesis": places[0]} if places else None


def _states(claim: Claim) -> tuple[str, ...]:
    """The arrays of its own that a claim's method records."""
    return METHODS[(claim.procedure or Procedure()).base][1] if claim.setting == "run" else ()


def _everywhere(claim: Claim) -> list[str]:
    """Names of constants that bound something over all points and that no hypothesis determines."""
    return sorted((claim.names - determined(claim)) & {*BOUNDS})


def _procedure(claim: Claim) -> dict[str, Any]:
    procedure = claim.procedure or Procedure()
    options = find_algorithm(procedure.base).arguments | dict(procedure.options)
    options = {name: _option(value) for name, value in options.items() if name not in _OF_EVERY_METHOD}
    if claim.setting == "run":
        free = free_names(claim)
        options |= {name: {"symbol": name} for name in own_arguments(claim.procedure) if name in free}
    names = ("base", "sampling", "indicator", "strict")
    coupled = {"replaced": procedure.data_sets, "gradients": "training"} if speaks_of_samples(claim) else {}
    return {name: getattr(procedure, name) for name in names} | {"options": options} | coupled


#: arguments of a method that other parts of a certificate give
_OF_EVERY_METHOD = ("eta_l", "local_steps", "participants", "sampling")


def _option(value):
    value = as_written(value) if isinstance(value, float) else value
    return str(value) if isinstance(value, Fraction) else value


_AVERAGE = operators.Sum(
    operators.client_weight[operators.k] * operators.included[operators.t, operators.k]
    * operators.x_local[operators.t, operators.k], CLIENTS
) / operators.Sum(operators.client_weight[operators.k] * operators.included[operators.t, operators.k], CLIENTS)


def _of_samples(claim: Claim) -> Iterator[Condition]:
    """Hypotheses by which the checker determines the Lipschitz constant, or the bound, of the samples' losses."""
    if speaks_of_samples(claim) and needs_lipschitz(claim):
        yield Condition(sp.Symbol("G_lip"), ">=", 0)
    if speaks_of_samples(claim) and "H_loss" in claim.names:
        yield Condition(sp.Symbol("loss_inf"), ">=", 0)
