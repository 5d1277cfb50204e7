"""Checks a claim without running it: units, symbols, and whether its hypotheses can hold together."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import sympy as sp

from bounds.formulas.closed_form import draws_distinct_clients, side_conditions
from bounds.formulas.units import Clash, check_units, unit_text
from bounds.formulas.well_formed import faults
from bounds.language import operators
from bounds.language.claim import BY_NUMBER, DATA_SETS, HIDDEN, Claim, Condition, names_in
from bounds.language.names import ARGUMENT, NAMES, row_of
from bounds.language.on_samples import leaves_mean_open
from verify.claims.method import faults_of_method, own_arguments, recorded_by_methods
from verify.claims.needs import needs
from verify.claims.values import without_value
from verify.formulas.bound import Bound, bound_of
from verify.formulas.points import certainly_holds, exact_witness
from verify.prove.existence import requirements
from verify.prove.illposed import excluded
from verify.prove.satisfiable import satisfiable
from verify.results.numerals import counted

__all__ = ["SEVERITIES", "Finding", "lint", "lint_all"]

SEVERITIES = ("error", "warning", "note")
_TRACKERS = sp.Symbol("trackers", integer=True, positive=True)

#: sizes of every run: the first is at most the second
_ORDERED_SIZES = ((_TRACKERS, operators.clients), (_TRACKERS, operators.participants),
                  (operators.participants, operators.clients),
                  (operators.local_steps, operators.iterations), (operators.rounds, operators.iterations))

#: names that runs, data sets and federations supply
_SUPPLIED = {"sampling", *(row.name for row in NAMES.values() if row.source != ARGUMENT), *recorded_by_methods()}


@dataclass(frozen=True)
class Finding:
    """One finding about a claim: the check, the severity (one of SEVERITIES), a sentence, and the same as data."""

    claim: str
    check: str
    severity: str
    text: str
    data: dict[str, Any] = field(default_factory=dict)


def lint(claim: Claim) -> list[Finding]:
    """Return the findings on one claim, errors first.

    If a formula is malformed, other checks cannot read the claim, and only such findings are returned.
    """
    found = list(_malformed(claim))
    if not any(finding.severity == "error" for finding in found):
        found += [*_units(claim), *_symbols(claim), *_hypotheses(claim), *_witness_requirements(claim),
                  *_expectations(claim), *_not_excluded(claim)]
    return sorted(found, key=lambda f: SEVERITIES.index(f.severity))


def lint_all(claims: Iterable[Claim]) -> list[Finding]:
    """Return the findings on several claims.

    Claims of one paper often share a formula. A clash of units in it is reported once, on the first of these claims; the
    finding's data names all of them.
    """
    kept, sharing = {}, {}
    for finding in (finding for claim in claims for finding in lint(claim)):
        key = id(finding)
        if "terms" in finding.data:
            key = finding.claim.partition("/")[0], finding.data["where"].split(" ")[0], str(finding.data["terms"])
        kept.setdefault(key, finding)
        sharing.setdefault(key, []).append(finding.claim)
    return [replace(finding, text=f"{finding.text}; also in {counted(len(ids) - 1, 'more claim')}",
                    data=finding.data | {"claims": ids}) if len(ids) > 1 else finding
            for finding, ids in zip(kept.values(), sharing.values(), strict=True)]


def _malformed(claim: Claim) -> Iterator[Finding]:
    for fault in (*faults(claim), *faults_of_method(claim)):
        yield Finding(claim.id, "symbols", "note" if fault.harmless else "error", f"{fault.where}: {fault.text}",
                      {"symbol": fault.symbol, "part": fault.part, "place": fault.place})


def _witness_requirements(claim: Claim) -> Iterator[Finding]:
    """Yields a note on requirements that are not proven for the claim's witness of an existential constant."""
    if claim.statement is None or claim.exists is None or claim.exists.witness is None:
        return
    if missing := [one.text for one in requirements(claim) if not one.proof]:
        yield Finding(claim.id, "witness", "note", f"no proof that the witness {claim.exists.name} = {claim.exists.witness} "
                      f"always meets: {'; '.join(missing)}", {"missing": missing})


def _expectations(claim: Claim) -> Iterator[Finding]:
    """Yields a note if a claim about samples leaves open what ``E`` averages over."""
    if leaves_mean_open(claim):
        yield Finding(claim.id, "expectations", "note", (
            "E averages over the data sets and the replaced sample too, which says less than for every data set; write "
            'data_sets = "any" for every data set and each of its neighbours, with E over the chance of the runs alone, or '
            'data_sets = "random" (or E_data in place of E) for the mean'), {"allowed": list(DATA_SETS)})


#: possibilities that a statement about runs does not exclude: the names whose mention settles it, the note in words, and
#: the line that excludes it, of hypotheses (``assume``), of numbers (``conditions``) or of the method
_NOT_EXCLUDED = (
    ("noise", ("sigma", "G_sq", "noise_bound"), "gradients may be noisy, with any variance",
     'assume "sigma_sq_client[k] == 0 for k in 0..clients-1" for full gradients, or bound it by sigma_sq'),
    ("local steps", ("local_steps", "iterations"), "clients may take several local steps",
     'conditions "local_steps == 1" for one'),
    ("clients", ("clients",), "there may be several clients with different losses", 'conditions "clients == 1" for one'),
    ("participants", ("participants",), "any number of clients may be drawn in a round, one alone or all",
     'conditions "participants == clients" for all'),
    ("weights", ("client_weight",), "clients may have different weights",
     'assume "client_weight[k] == 1/clients for k in 0..clients-1" for equal ones'),
)


def _not_excluded(claim: Claim) -> Iterator[Finding]:
    """Yields notes on possibilities that a claim about runs neither mentions nor excludes, though beginners often mean to,
    with the line that excludes them."""
    if claim.setting != "run" or claim.procedure is None or claim.statement is None:
        return
    named = set().union(*map(names_in, claim.formulas)) - {"clients"}
    named |= {"sigma"} if any(name.startswith("sigma") for name in named) else set()
    for condition in claim.hypotheses:  # ranges of indices do not bound a size, and only a condition on it does
        if names_in(condition.left) | names_in(condition.right) == {"clients"}:
            named.add("clients")
    settled = {"weights"} if claim.procedure.equal_weights else set()
    settled |= {"clients"} if needs(claim).alike else set()
    settled |= {"participants"} if claim.procedure.sampling not in BY_NUMBER else set()
    for what, names, text, line in _NOT_EXCLUDED:
        if named & {*names} or what in settled:
            continue
        yield Finding(claim.id, "not excluded", "note", f"{text}; {line}", {"what": what})
    if claim.procedure.sampling == "full" and claim.procedure.free_clients:
        yield Finding(claim.id, "not excluded", "note", "free clients may take part while their loss matches", {
            "what": "free clients"})


# units -------------------------------------------------------------------------------------------------------------------
def _units(claim: Claim) -> Iterator[Finding]:
    clashes, derived = check_units(claim)
    presumed = any(clash.fixed_units and clash.where.startswith("hypothesis") for clash in clashes)
    for clash in clashes:
        yield Finding(claim.id, "units", _severity_of(clash, claim, presumed), clash.text(),
                      {"where": clash.where, "terms": [[unit, list(terms)] for unit, terms in clash.groups],
                       "fixed units": clash.fixed_units, "alike if pure": clash.alike_if})
    hidden = {v.name for v in claim.variables if v.domain in HIDDEN}
    for name in sorted(hidden & set(derived)):
        if derived[name] != (0, 0):
            unit = unit_text(derived[name])
            yield Finding(claim.id, "units", "note", f"the hidden constant {name} has unit {unit}: it is not a pure number",
                          {"constant": name, "unit": unit})


def _severity_of(clash: Clash, claim: Claim, presumed: bool) -> str:
    """The severity of a clash of units. A plain number may stand for a quantity with a unit, and does where a hypothesis
    presumes fixed units; so may an exponent in a claim about numbers. Constants that may depend on the problem may have any
    unit."""
    if not claim.explicit and claim.constants_may_use is None:
        return "note"
    presumed = presumed or (claim.setting == "algebra" and bool(clash.alike_if))
    return "error" if claim.explicit and not clash.fixed_units and not presumed else "warning"


# symbols -----------------------------------------------------------------------------------------------------------------
def _symbols(claim: Claim) -> Iterator[Finding]:
    if claim.statement is None:
        return
    relations = (*claim.hypotheses, claim.statement)
    formulas = [side for c in relations for side in (c.left, c.right)]
    formulas += [bound for c in relations for triple in c.over for bound in triple[1:]]
    formulas += [definition.formula for definition in claim.used_definitions().values()]
    used = set().union(*map(names_in, formulas))
    indices = {str(triple[0]) for c in relations for triple in c.over}
    indices |= {str(limit[0]) for e in formulas for s in e.atoms(sp.Sum, sp.Product) for limit in s.limits}
    indices |= {str(i) for d in claim.definitions.values() for i in d.indices}
    sizes, arguments = set().union(*(v.sizes for v in claim.variables)), set(_arguments(claim))
    declared = {v.name for v in claim.variables} | ({claim.exists.name} if claim.exists is not None else set())
    supplied = _SUPPLIED.union(claim.definitions, claim.constants, declared, indices, sizes, arguments)
    for name in sorted(used - supplied):
        if row_of(name) is None:
            text = f"{name} is undefined: no definition, variable or condition gives it, and the language has no such name"
            yield Finding(claim.id, "symbols", "warning", text, {"symbol": name})
    for name in (v.name for v in claim.variables):
        if name not in used | sizes | arguments | {"local_steps", "rounds"}:
            yield Finding(claim.id, "symbols", "note", f"{name} is declared and not used", {"symbol": name})


def _arguments(claim: Claim) -> tuple[str, ...]:
    try:
        return own_arguments(claim.procedure)
    except LookupError:
        return ()


# hypotheses --------------------------------------------------------------------------------------------------------------
def _hypotheses(claim: Claim) -> Iterator[Finding]:
    if claim.statement is None:
        yield Finding(claim.id, "hypotheses", "error", f"the statement is undefined: {claim.undefined}")
        return
    yield from (Finding(claim.id, "values", "error", text) for text in without_value(claim))
    found = excluded(claim)
    if found is not None:
        yield Finding(claim.id, "hypotheses", "error", f"these assumptions exclude each other: {found.proof}",
                      {"core": list(found.parts), "proof": found.proof})
    conditions = side_conditions(claim)
    if not conditions:
        return
    answer = satisfiable(conditions)
    if answer.answer == "no":
        yield Finding(claim.id, "hypotheses", "error", "these conditions exclude each other: " + "; ".join(answer.core),
                      {"core": list(answer.core)})
        return
    witness = _witness(claim, conditions, answer.witness or {})
    if witness:
        at = ", ".join(f"{name} = {value}" for name, value in witness.items())
        yield Finding(claim.id, "hypotheses", "note", f"the conditions hold together, for example at {at}",
                      {"witness": witness})
    elif answer.answer == "unknown":
        text = f"it is undecided whether the conditions can hold together: {answer.reason}"
        yield Finding(claim.id, "hypotheses", "note", text, {"reason": answer.reason})


def _witness(claim: Claim, conditions: list[Condition], of_z3: dict[str, str]) -> dict[str, str]:
    """Return exact numbers at which the conditions hold; empty if none are known.

    z3's numbers come first, if they are rational and whole where they must be (z3 knows no whole numbers); then those that a
    search finds; then z3's algebraic numbers, which suit parameters that need not be whole.
    """
    symbols = {s.name: s for c in conditions for side in (c.left, c.right) for s in side.free_symbols}
    whole = {name for name, s in symbols.items() if s.is_integer}
    if of_z3 and all(re.fullmatch(r"\d+" if name in whole else r"-?\d+(/\d+)?", v) for name, v in of_z3.items()):
        numbers = {name: Fraction(value) for name, value in of_z3.items()}
        if all(certainly_holds(c, numbers) for c in conditions):
            return dict(sorted(of_z3.items()))
    bound = bound_of(claim)
    found = exact_witness(bound.with_conditions(dict.fromkeys((*bound.conditions, *_domain(bound)))))
    if found is not None:
        return {name: str(found[name]) for name in sorted(found) if name in symbols}
    return {} if whole else dict(sorted(of_z3.items()))


def _domain(bound: Bound) -> Iterator[Condition]:
    """Yield the ranges of the bound's variables, indices and sizes as conditions."""
    symbols = bound.symbols
    for variable in bound.claim.variables:
        if variable.name in symbols and not variable.indices and variable.domain not in HIDDEN:
            symbol = symbols[variable.name]
            if variable.domain == "integer":
                yield Condition(variable.low, "<=", symbol)
            if variable.high is not None or variable.below is not None:
                yield Condition(symbol, "<=", variable.high if variable.high is not None else variable.below)
    known = set(symbols.values())
    for index, low, high in bound.claim.statement.over:
        if index in known and low.free_symbols | high.free_symbols <= known:
            yield Condition(low, "<=", index)
            yield Condition(index, "<=", high)
    distinct = draws_distinct_clients(bound.claim)
    for small, large in _ORDERED_SIZES:
        if {small.name, large.name} <= set(symbols) and (distinct or small != operators.participants):
            yield Condition(symbols[small.name], "<=", symbols[large.name])
