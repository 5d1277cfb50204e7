"""Compares what a certificate states with a claim, by reading it back into formulas.

Shares no code with the writer (``verify.exact.statement``): the signs, domains and names that a claim implies are found here
once more, from the claim alone.
"""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import sympy as sp
from sympy.tensor.indexed import IndexException

import bounds.language
from bounds.language.claim import Claim, Condition, Variable
from bounds.language.functions import f
from bounds.language.names import CONSTANT, names_from
from bounds.language.operators import E, Operator
from bounds.language.space import infimum
from fedtheory import find_algorithm
from verify.checker.operators import SENSELESS, senseless
from verify.checker.piecewise_quadratic import BOUNDS
from verify.checker.schema import SAMPLE_WORDS

__all__ = ["differences"]

#: what a statement consists of, and the numbers that make an instance of it
_STATED = ("claim", "reading", "setting", "statement", "hypotheses", "definitions", "procedure", "everywhere", "free")
_ENDS = ("low", "high")
_SAMPLES = {"samples", "H_loss", "used_sample", "replaced", "differing", *SAMPLE_WORDS}
_HEADS = {"+": sp.Add, "*": sp.Mul, "^": sp.Pow, "exp": sp.exp, "log": sp.log, "Abs": sp.Abs, "Mod": sp.Mod,
          "floor": sp.floor, "ceiling": sp.ceiling,
          "Max": lambda *a: sp.Max(*a, evaluate=False), "Min": lambda *a: sp.Min(*a, evaluate=False)}

Triple = tuple[str, sp.Expr, sp.Expr]  # an index and its range
Line = tuple[sp.Expr, str, sp.Expr, tuple[Triple, ...]]  # left, relation, right, ranges


@cache
def _operators() -> dict[str, type]:
    """The operators of the language by name."""
    modules = [import_module(f"{bounds.language.__name__}.{file.name}") for file in iter_modules(bounds.language.__path__)]
    return {value.__name__: value for module in modules for value in vars(module).values()
            if isinstance(value, type) and issubclass(value, Operator)}


class _Reader:
    """Reads formulas as nested lists; ``names`` says what a name stands for, a symbol or an array."""

    def __init__(self, names: Callable[[str, bool], Any]):
        self.names = names

    def __call__(self, node: Any) -> sp.Expr:
        if isinstance(node, int):
            return sp.Integer(node)
        if isinstance(node, str):
            return self.names(node, False)
        head, *args = node
        if head in ("Sum", "Product"):
            body, index, low, high = args
            return getattr(sp, head)(self(body), (self.names(index, False), self(low), self(high)))
        if head == "Exp1":
            return sp.E
        if head.startswith("E_") and head not in _operators():
            return E(self(args[0]), self.names(head.removeprefix("E_"), False))
        make = _HEADS.get(head) or _operators().get(head)
        read = [self(argument) for argument in args]
        return make(*read) if make else self.names(head, True)[tuple(read)]

    def line(self, data: Mapping[str, Any]) -> Line:
        over = tuple((str(index), self(low), self(high)) for index, low, high in data["over"])
        return self(data["left"]), data["relation"], self(data["right"]), over


def _of_claim(claim: Claim) -> Callable[[str, bool], Any]:
    """The claim's own symbols and arrays by name."""
    relations = [e for c in claim.relations for e in (c.left, c.right, *(end for triple in c.over for end in triple))]
    relations += [] if claim.exists is None else [claim.exists.low, claim.exists.high]
    formulas = [*relations, *(e for d in claim.used_definitions().values() for e in (d.formula, *d.indices))]
    symbols = {s.name: s for e in formulas for s in sp.sympify(e).atoms(sp.Symbol)}
    arrays = {str(a.base.label): a.base for e in formulas for a in sp.sympify(e).atoms(sp.Indexed)}
    return lambda name, indexed: (arrays if indexed else symbols)[name]


def _plain(name: str, indexed: bool):
    return sp.IndexedBase(name) if indexed else sp.Symbol(name)


def _line(condition: Condition, relation: str = "") -> Line:
    over = tuple((str(index), sp.sympify(low), sp.sympify(high)) for index, low, high in condition.over)
    return condition.left, relation or condition.sign, condition.right, over


# what the claim implies --------------------------------------------------------------------------------------------------
_ZERO, _ONE, _CLIENTS = sp.Integer(0), sp.Integer(1), ("k", sp.Integer(0), sp.Symbol("clients") - 1)


def _implied(claim: Claim) -> Iterator[Line]:
    """The signs, domains and assumptions that the claim's symbols, variables and procedure imply, with plain symbols."""
    for variable in claim.variables:
        yield from _of_variable(variable)
    set_to_numbers = _set_to_numbers(claim)
    declared = {variable.name for variable in claim.variables} | _existential_names(claim)
    for name, positive in _signs(claim).items():
        if name not in declared | set_to_numbers:
            yield sp.Symbol(name), ">" if positive else ">=", _ZERO, ()
    eta, client, run = sp.IndexedBase("eta_l"), sp.Symbol("k"), claim.setting == "run"
    if run:
        given = claim.defining.get("eta_l")
        sign = ">=" if given is not None and not given.right.is_positive else ">"
        yield eta[sp.Symbol("t")], sign, _ZERO, (("t", _ZERO, sp.Symbol("iterations") - 1),)
        yield sp.IndexedBase("epsilon")[sp.Symbol("t")], ">=", _ZERO, (("t", _ZERO, sp.Symbol("iterations")),)
    elif claim.setting == "point":
        if "eta_l" in claim.names:
            yield eta[_ZERO], ">", _ZERO, ()
        one = sp.IndexedBase("included")[_ZERO, client]
        yield one * (1 - one), "==", _ZERO, (_CLIENTS,)
        yield one, ">=", sp.IndexedBase("priority")[client], (_CLIENTS,)
    if claim.setting == "algebra":
        return
    procedure = claim.procedure
    if procedure is not None and not procedure.free_clients:
        yield sp.IndexedBase("priority")[client], "==", _ONE, (_CLIENTS,)
    if procedure is not None and procedure.equal_weights:
        weight = sp.IndexedBase("client_weight")
        yield weight[client], "==", weight[0] if procedure.free_clients else 1 / sp.Symbol("clients"), (_CLIENTS,)
    if run and (procedure is None or procedure.free == "always"):
        there = sp.IndexedBase("available")[sp.Symbol("i"), client]
        yield there, "==", _ONE, (("i", _ZERO, sp.Symbol("rounds")), _CLIENTS)
    if _of_samples(claim):
        if _lipschitz(claim):
            yield sp.Symbol("G_lip"), ">=", _ZERO, ()
        if "H_loss" in claim.names:
            yield sp.Symbol("loss_inf"), ">=", _ZERO, ()


def _of_variable(variable: Variable) -> Iterator[Line]:
    indices = [sp.Symbol(index) for index, _ in variable.indices]
    over = tuple((index, _ZERO, sp.Add(*map(_size, size.split(" + ")), -1)) for index, size in variable.indices)
    entry = sp.IndexedBase(variable.name)[tuple(indices)] if indices else sp.Symbol(variable.name)
    match variable.domain:
        case "positive":
            yield entry, ">", _ZERO, over
        case "nonnegative":
            yield entry, ">=", _ZERO, over
        case "binary":
            yield entry * (1 - entry), "==", _ZERO, over
        case "integer":
            yield entry, ">=", sp.Integer(variable.low), over
            yield sp.Mod(entry, 1), "==", _ZERO, over
            if variable.high is not None:
                yield entry, "<=", sp.Integer(variable.high), over
        case "simplex":
            *outer, (index, low, high) = over
            yield entry, ">=", _ZERO, over
            yield sp.Sum(entry, (sp.Symbol(index), low, high)), "==", _ONE, tuple(outer)
    if variable.below is not None:
        yield variable.below - entry, ">", _ZERO, ()


def _size(text: str) -> sp.Expr:
    """A part of the size of an array: a name, or a whole number that is added to it."""
    return sp.Integer(text) if text.isdigit() else sp.Symbol(text)


def _set_to_numbers(claim: Claim) -> set[str]:
    """Names that a hypothesis sets to a number."""
    return {c.left.name for c in claim.hypotheses if c.relation == "==" and c.left.is_Symbol and c.right.is_number}


def _signs(claim: Claim) -> dict[str, bool]:
    """Names of the claim's real numbers that are at least 0 by its symbols, and whether they are positive."""
    formulas = [side for c in claim.relations for side in (c.left, c.right)]
    formulas += [] if claim.exists is None else [claim.exists.low, claim.exists.high]
    formulas += [definition.formula for definition in claim.used_definitions().values()]
    found: dict[str, bool] = {}
    for symbol in sorted(set().union(*(e.free_symbols for e in formulas)), key=str):
        if isinstance(symbol, sp.Symbol) and symbol.is_nonnegative and not symbol.is_integer:
            found[symbol.name] = found.get(symbol.name, False) or bool(symbol.is_positive)
    return found


def _named(claim: Claim) -> set[str]:
    """Names and operators in the claim's formulas."""
    atoms = set().union(*(sp.sympify(e).atoms(sp.Symbol, sp.Indexed, Operator) for e in claim.formulas))
    return {type(a).__name__ if isinstance(a, Operator) else str(a.base.label) if isinstance(a, sp.Indexed) else a.name
            for a in atoms}


def _of_samples(claim: Claim) -> bool:
    """Whether the claim is about clients with samples."""
    named = _named(claim) if claim.setting == "run" and claim.statement is not None else set()
    return bool(named & _SAMPLES) or any(name.startswith("twin_") for name in named)


def _lipschitz(claim: Claim) -> bool:
    """Whether an assumption bounds the gradients of all samples' losses everywhere."""
    said = [sp.sympify(a.everywhere.left) for a in claim.assumptions if a.everywhere is not None]
    return any(type(part).__name__ == "f_grad" for left in said for part in left.atoms(Operator))


def _drawn_once_more(claim: Claim) -> set[str]:
    """The number of participants that the method draws once more, where the claim leaves it open."""
    procedure = claim.procedure
    name = find_algorithm("fedavg" if procedure is None else procedure.base).traits.subset
    fixed = [option for option, _ in (() if procedure is None else procedure.options)]
    return {name} if claim.setting == "run" and name in _named(claim) - {*fixed} else set()


def _free(claim: Claim) -> set[str]:
    """Names that an instance of the claim must give."""
    free = {variable.name for variable in claim.variables} | {*_drawn_once_more(claim), *_everywhere(claim)}
    for c in claim.hypotheses:
        free |= {side.name for side in (c.left, c.right) if side.is_Symbol}
        if c.relation == "==" and isinstance(c.left, sp.Indexed):
            free.add(str(c.left.base.label))
        over_space = [word for side in (c.left, c.right) for word in side.atoms(infimum)]
        inside = {s.name for word in over_space for s in word.args[1].atoms(sp.Symbol)}
        free |= {name for name in inside if name in names_from(CONSTANT)}
    return (free | ({"eta_l"} if claim.setting != "algebra" else set())) - _existential_names(claim)


def _existential_names(claim: Claim) -> set[str]:
    return {claim.exists.name} if claim.exists is not None else set()


def _sizes(claim: Claim, name: str) -> list[str] | None:
    """The sizes of a free array; of a number none; None where hypotheses give it entry by entry."""
    if name == "eta_l" and claim.setting != "algebra":
        return ["iterations"] if claim.setting == "run" else None
    for variable in claim.variables:
        if variable.name == name:
            return [size for _, size in variable.indices] + (["dim"] if variable.domain == "vector" else [])
    if name in _everywhere(claim) and name.endswith("_client"):
        return ["clients"]
    indexed = any(isinstance(c.left, sp.Indexed) and str(c.left.base.label) == name for c in claim.hypotheses)
    return None if indexed else []


def _everywhere(claim: Claim) -> set[str]:
    determined = {str(c.left.base.label) for c in claim.hypotheses if c.relation == "==" and isinstance(c.left, sp.Indexed)}
    for c in claim.hypotheses:  # a comparison with a number determines nothing
        for one, sign, other in ((c.left, ">=", c.right), (c.right, "<=", c.left)):
            if one.is_Symbol and (c.relation == "==" or (c.relation == sign and not other.is_number)):
                determined.add(one.name)
    return ({*BOUNDS} & _named(claim)) - determined


# the comparison ----------------------------------------------------------------------------------------------------------
def differences(data: Mapping[str, Any], claim: Claim) -> Iterator[str]:
    """Yield the differences between the certificate's statement and the claim's, in words."""
    missing = [name for name in _STATED if not isinstance(data, Mapping) or name not in data]
    if missing or claim.statement is None:
        yield f"it lacks {', '.join(missing)}" if missing else "the claim has no statement"
        return
    try:
        yield from _differences(data, claim)
    except (*SENSELESS, IndexException) as error:
        senseless(error)
        yield f"it cannot be read as a statement: {type(error).__name__}: {error}"


def _differences(data: Mapping[str, Any], claim: Claim) -> Iterator[str]:
    for name, own in (("claim", claim.id), ("reading", claim.reading), ("setting", claim.setting)):
        if data[name] != own:
            yield f"{name} is {str(data[name])[:80]!r}, not {own!r}"
    own, plain, count = _Reader(_of_claim(claim)), _Reader(_plain), len(claim.hypotheses)
    if own.line(data["statement"]) != _line(claim.statement):
        yield "the statement"
    read, surplus = data["hypotheses"][:count], [plain.line(line) for line in data["hypotheses"][count:]]
    for place, condition in enumerate(claim.hypotheses):
        if place >= len(read) or own.line(read[place]) != _line(condition):
            yield f"hypothesis {place + 1}: {condition.left} {condition.relation} {condition.right}"
    for line in _implied(claim):
        if line in surplus:
            surplus.remove(line)
        else:
            yield f"what the claim implies: {line[0]} {line[1]} {line[2]}"
    for line in surplus:
        yield f"what the claim does not imply: {line[0]} {line[1]} {line[2]}"
    yield from _choice(data.get("exists"), claim, own)
    yield from _printed(data.get("printed", []), claim)
    yield from _definitions(data["definitions"], claim, own, plain)
    yield from _of_procedure(data["procedure"], claim)
    if _of_samples(claim) and any(c.has(f) for a in claim.assumptions for c in a.at_all_points):
        yield "what is said of the loss of every sample at all points"
    if {*data["everywhere"]} != _everywhere(claim) or len({*data["everywhere"]}) != len(data["everywhere"]):
        yield "the constants over all points"
    own_free = _free(claim)
    wrong = [name for name, sizes in data["free"].items() if name not in own_free or sizes != _sizes(claim, name)]
    if wrong:
        yield f"what it leaves free: {', '.join(wrong)}"


def _printed(given: list[Mapping[str, Any]], claim: Claim) -> Iterator[str]:
    """Inequalities for all functions, of which a certificate has all or none."""
    wanted = [a.for_all_functions for a in claim.assumptions if a.for_all_functions is not None] if given else []
    symbols = {s.name: s for c in wanted for side in (c.left, c.right) for s in sp.sympify(side).atoms(sp.Symbol)}
    own = _Reader(lambda name, indexed: symbols[name])
    if [own.line(line) for line in given[: len(wanted)]] != [_line(condition) for condition in wanted]:
        yield "what is printed for all functions"
    others = {variable.name for variable in claim.variables} | _existential_names(claim)
    others |= {*_signs(claim)} | _set_to_numbers(claim)
    signs = [(sp.Symbol(s.name), ">" if s.is_positive else ">=", _ZERO, ()) for s in sorted(symbols.values(), key=str)
             if s.is_nonnegative and not s.is_integer and s.name not in others]
    if [*map(_Reader(_plain).line, given[len(wanted) :])] != signs:
        yield "the signs in what is printed for all functions"


def _choice(given: Mapping[str, Any] | None, claim: Claim, own: _Reader) -> Iterator[str]:
    if (given is None) != (claim.exists is None):
        yield "whether a number is said to exist"
    elif given is not None:
        same = {*given} == {"name", "open", *_ENDS} and given["name"] == claim.exists.name
        ends = same and [own(given[end]) for end in _ENDS] == [claim.exists.low, claim.exists.high]
        if not ends or given["open"] != [claim.exists.open_low, claim.exists.open_high]:
            yield "the number that is said to exist"


def _definitions(given: Mapping[str, Any], claim: Claim, own: _Reader, plain: _Reader) -> Iterator[str]:
    wanted = claim.used_definitions()
    averages = ("x", "x_sampled") if claim.setting == "point" else ()
    if {*given} != {*wanted, *averages}:
        yield f"the definitions of {', '.join(sorted({*given} ^ {*wanted, *averages}))}"
        return
    for name, definition in wanted.items():
        same = own(given[name]["formula"]) == definition.formula
        if not same or given[name]["indices"] != [str(index) for index in definition.indices]:
            yield f"the definition of {name}"
    time, client, (_, low, high) = sp.Symbol("t"), sp.Symbol("k"), _CLIENTS
    weight = sp.IndexedBase("client_weight")[client] * sp.IndexedBase("included")[time, client]
    over = (client, low, high)
    average = sp.Sum(weight * sp.IndexedBase("x_local")[time, client], over) / sp.Sum(weight, over)
    for name in averages:
        if given[name]["indices"] != ["t"] or plain(given[name]["formula"]) != average:
            yield f"the definition of {name}"


def _of_procedure(given: Mapping[str, Any], claim: Claim) -> Iterator[str]:
    procedure = claim.procedure
    base = "fedavg" if procedure is None else procedure.base
    wanted = {"base": base, "sampling": "full", "indicator": "broadcast", "strict": True}
    if procedure is not None:
        wanted |= {"sampling": procedure.sampling, "indicator": procedure.indicator, "strict": procedure.strict}
        if _of_samples(claim):
            wanted |= {"replaced": procedure.data_sets, "gradients": "training"}
    arguments = dict(find_algorithm(base).arguments)
    for name in ("eta_l", "local_steps", "participants", "sampling"):
        arguments.pop(name, None)
    arguments |= dict(() if procedure is None else procedure.options)
    named = _free(claim) if claim.setting == "run" else set()
    options = {name: {"symbol": name} if name in named else _as_data(value) for name, value in arguments.items()}
    if given.get("options") != options:
        yield f"options: {given.get('options')}, not {options}"
    if {name: value for name, value in given.items() if name != "options"} != wanted:
        yield f"the procedure: {dict(given) | {'options': '...'}}, not {wanted}"


def _as_data(value):
    """An option as it stands in JSON: decimals and fractions as text."""
    if isinstance(value, list | tuple):
        return [_as_data(entry) for entry in value]
    if isinstance(value, float):
        return str(Fraction(repr(value)))
    return str(value) if isinstance(value, Fraction) else value
