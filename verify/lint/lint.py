"""What can be said against a claim without running anything: units, symbols, hypotheses, limits, monotonicity, readings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import sympy as sp

from bounds.formulas.closed_form import side_conditions
from bounds.formulas.units import BASE, Clash, check_units, unit_text
from bounds.formulas.well_formed import faults
from bounds.language.claim import Claim, Condition, names_in
from verify.claims.method import faults_of_method
from verify.formulas.bound import bound_of
from verify.formulas.points import exact_witness
from verify.lint.findings import SEVERITIES, Finding, within_domain
from verify.lint.limits import limits, special_cases
from verify.lint.values import monotone, readings
from verify.prove.illposed import excluded
from verify.prove.satisfiable import satisfiable

__all__ = ["CHECKS", "lint", "lint_all"]

#: what runs, data sets and federations give besides, where a claim speaks of it
_GIVEN = ("sampling", "dim", "tracked", "z_x_round", "sigma_g", "sigma_g_1", "sigma_g_2", "sigma_g_max", "sigma_g_client",
          "L_objective", "samples", "H_loss", "differing", "replaced", "used_sample")


def lint(claim: Claim) -> list[Finding]:
    """Everything that the checks find on one claim, errors first; of a claim whose formulas say nothing, only that."""
    broken = list(_broken(claim))
    if any(finding.severity == "error" for finding in broken):
        return broken
    found = broken + [finding for check in CHECKS.values() for finding in check(claim)]
    return sorted(found, key=lambda f: SEVERITIES.index(f.severity))


def lint_all(claims: Iterable[Claim]) -> list[Finding]:
    """The findings on each claim, on readings of one block that disagree, and on claims at the special case of another one.

    A clash of units that several claims of a paper share, as they share a formula, is told once, and so is a bound that
    moves the wrong way in several readings of one block; the data names them all.
    """
    claims = list(claims)
    return [*_told_once([f for claim in claims for f in lint(claim)]), *readings(claims), *special_cases(claims)]


# formulas that say nothing -----------------------------------------------------------------------------------------------
def _broken(claim: Claim) -> Iterator[Finding]:
    for fault in (*faults(claim), *faults_of_method(claim)):
        yield Finding(claim.id, "symbols", "note" if fault.harmless else "error", f"{fault.where}: {fault.text}",
                      {"symbol": fault.symbol, "part": fault.part, "place": fault.place})


# units -----------------------------------------------------------------------------------------------------------------
def _units(claim: Claim) -> Iterator[Finding]:
    clashes, derived = check_units(claim)
    for clash in clashes:
        yield Finding(claim.id, "units", _severity_of(clash, claim), clash.text(),
                      {"where": clash.where, "terms": [[unit, list(terms)] for unit, terms in clash.groups],
                       "fixed units": clash.fixed_units, "alike if pure": clash.alike_if})
    hidden = {v.name for v in claim.variables if v.domain == "hidden"}
    for name in sorted(hidden & set(derived)):
        if derived[name] != (0, 0):
            unit = unit_text(derived[name])
            yield Finding(claim.id, "units", "note", f"the hidden constant {name} has unit {unit}: it is no pure number",
                          {"constant": name, "unit": unit})


def _severity_of(clash: Clash, claim: Claim) -> str:
    """A number that stands for a quantity may be meant; constants that may depend on the problem may carry any unit."""
    if not claim.explicit and claim.constants_may_use is None:
        return "note"
    return "error" if claim.explicit and not clash.fixed_units else "warning"


def _told_once(findings: list[Finding]) -> list[Finding]:
    """Clashes of one paper that read the same, and bounds of one block that move alike, as one finding, of the first claim
    that has them."""
    kept, others = {}, {}
    for finding in findings:
        what = finding.data["where"].split(" ")[0] if "where" in finding.data else ""
        key = (finding.claim.partition("/")[0], what, str(finding.data["terms"])) if what else id(finding)
        if finding.check == "monotonicity":
            key = finding.claim.partition("@")[0], finding.check, finding.severity, finding.data["symbol"]
        kept.setdefault(key, finding)
        others.setdefault(key, []).append(finding.claim)
    return [replace(f, text=f"{f.text}; also in {len(others[key]) - 1} more claims",
                    data=f.data | {"claims": others[key]}) if len(others[key]) > 1 else f for key, f in kept.items()]


# symbols ---------------------------------------------------------------------------------------------------------------
def _symbols(claim: Claim) -> Iterator[Finding]:
    used = set().union(*(names_in(e) for e in _expressions(claim))) if claim.statement is not None else set()
    supplied = {*BASE, *claim.definitions, *claim.constants, *(v.name for v in claim.variables), *_indices(claim),
                *(size for v in claim.variables for _, size in v.indices), *_own_arguments(claim), *_GIVEN}
    for name in sorted(used - supplied):
        if not name.startswith(("server_", "client_", "local_", "twin_")):
            text = f"{name} is given by nothing: no definition, variable, condition, or name of the language"
            yield Finding(claim.id, "symbols", "warning", text, {"symbol": name})
    elsewhere = {size for v in claim.variables for _, size in v.indices} | {*_own_arguments(claim), "local_steps", "rounds"}
    for variable in claim.variables:
        if variable.name not in used | elsewhere and claim.statement is not None:
            text = f"{variable.name} is declared and not used"
            yield Finding(claim.id, "symbols", "note", text, {"symbol": variable.name})


def _expressions(claim: Claim):
    yield from (side for c in (*claim.hypotheses, claim.statement) for side in (c.left, c.right))
    yield from (bound for c in (*claim.hypotheses, claim.statement) for triple in c.over for bound in triple[1:])
    yield from (definition.formula for definition in claim.used_definitions().values())


def _indices(claim: Claim):
    conditions = (*claim.hypotheses, *([claim.statement] if claim.statement else []))
    bound = {str(triple[0]) for c in conditions for triple in c.over}
    inner = {str(limit[0]) for e in (_expressions(claim) if claim.statement is not None else ())
             for s in e.atoms(sp.Sum, sp.Product) for limit in s.limits}
    return bound | inner | {str(i) for d in claim.definitions.values() for i in d.indices}


def _own_arguments(claim: Claim):
    from verify.claims.method import own_arguments

    try:
        return own_arguments(claim.procedure)
    except LookupError:
        return ()


# hypotheses --------------------------------------------------------------------------------------------------------------
def _hypotheses(claim: Claim) -> Iterator[Finding]:
    if claim.statement is None:
        yield Finding(claim.id, "hypotheses", "error", f"the statement is undefined: {claim.undefined}", {})
        return
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
    witness = _witness(claim, conditions, answer.witness)
    if witness:
        at = ", ".join(f"{name} = {value}" for name, value in witness.items())
        yield Finding(claim.id, "hypotheses", "note", f"the conditions hold together, for example at {at}",
                      {"witness": witness})
    elif answer.answer == "unknown":
        text = f"whether the conditions can hold together is not decided: {answer.reason}"
        yield Finding(claim.id, "hypotheses", "note", text, {"reason": answer.reason})


def _witness(claim: Claim, conditions: list[Condition], of_z3: dict[str, str] | None) -> dict[str, str]:
    """Numbers that certainly meet the conditions: z3's where they are fractions and its integers whole, else ones found."""
    symbols = {s.name: s for c in conditions for side in (c.left, c.right) for s in side.free_symbols}
    whole = {name for name, s in symbols.items() if s.is_integer}
    if of_z3 and all(re.fullmatch(r"\d+" if name in whole else r"-?\d+(/\d+)?", v) for name, v in of_z3.items()):
        return dict(sorted(of_z3.items()))
    found = exact_witness(within_domain(bound_of(claim), measured=False))
    if found is not None:
        return {name: str(found[name]) for name in sorted(found) if name in symbols}
    return {name: value for name, value in sorted((of_z3 or {}).items())} if not whole else {}


#: every check by name
CHECKS: dict[str, Callable[[Claim], Iterator[Finding]]] = {
    "units": _units, "symbols": _symbols, "hypotheses": _hypotheses, "limits": limits, "monotonicity": monotone,
}
