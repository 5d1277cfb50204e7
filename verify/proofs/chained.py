"""Theorems that follow from proven steps: a claim, what it rests on, and proofs of that at the same sizes and numbers.

A claim is certified by its steps if it follows from some of them by a proof (:mod:`verify.proofs.follows`), needs nothing
that it does not assume itself, and each of these is proven: for all numbers (:mod:`verify.prove`), on letters at settings
that agree with the claim's, or from steps of its own in the same way. A certificate holds the proofs of all parts, one
within the other, so that none can rest on itself.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Any

from bounds.language.claim import Claim, Variable, names_in
from synthetic.numbers.arrays import NUMPY
from verify.checker.quadratic_forms import QuadraticForm
from verify.checker.rounds import FORMAT as ROUNDS
from verify.checker.schema import STATED, differing
from verify.claims.related import related
from verify.evaluation.environment import UNMEASURED
from verify.exact import check as single
from verify.exact.check import CheckResult
from verify.exact.statement import free_names, statement_of
from verify.growth.check import claim_of
from verify.proofs.follows import Link, link, premises_of, unusable
from verify.proofs.strategies import proof_of_run
from verify.prove.number_certificates import number_certificate
from verify.search.budget import BUDGETS
from verify.search.search import search
from verify.symbolic.symbolic_run import SymbolicRun
from verify.worst.configurations import Setting, Template, instantiate
from verify.worst.every_round import at
from verify.worst.proven import FEWEST, TEMPLATES, only_small
from verify.worst.stress_test import suspected_failure
from verify.worst.worst_case import worst_case

__all__ = ["FORMAT", "Chained", "chained", "check", "check_file", "disagreement", "narrower", "numbers", "scope_of"]

FORMAT = "fedtheory chain 1"
_KEYS = ("format", *STATED, "rests on", "settings")
_ERRORS = (ArithmeticError, LookupError, TypeError, ValueError)
_open: list[Claim] = []  # claims whose steps are being looked at
_MOST, _DEEP, _GIVE_UP = 32, 4, 2  # letters; chains within each other; templates without a proof


@dataclass(frozen=True)
class Chained:
    """A certificate and its scope, or why there is none; ``rests_on``: ids of the steps that it is proven from."""

    certificate: dict[str, Any] | None = None
    scope: str = ""
    rests_on: tuple[str, ...] = ()
    reason: str = ""
    link: Link | None = None


def chained(claim: Claim, searched: bool = False) -> Chained:
    """A proof of a claim from its steps; none where too few settings have one, the solver says that the claim may be false,
    or a quick search refutes it, unless a longer one has been ``searched``.

    Raises:
        ImportError: the solver is not installed.
    """
    if claim in _open:
        return Chained(reason="it rests on itself")
    _open.append(claim)
    try:
        return _chained(claim, searched)
    finally:
        _open.pop()


def _chained(claim: Claim, searched: bool) -> Chained:
    if not claim.steps or claim.statement is None or not claim.explicit or claim.exists is not None:
        return Chained(reason="it lists no steps, or no explicit statement")
    with suppress(ImportError):  # without the solver there are chains of steps that are proven for all numbers
        if claim.setting == "run" and (where := proof_of_run(claim).false_at):
            return Chained(reason=f"it may be false at {where}")
    found = link(claim, premises_of(claim))
    if found.answer != "follows":
        return Chained(reason=f"{found.answer}: {found.text}", link=found)
    if not searched and _refuted(claim):
        return Chained(reason="a search refutes it", link=found)
    ready = [p for p in _usable(claim) if p.setting == "algebra" and number_certificate(p) is not None]
    if used := _followed(claim, ready):
        data = _certificate(claim, used, [])
        return Chained(data, scope_of(data)[0], tuple(p.id for p in used), link=found)
    if claim.setting != "run":
        return Chained(reason="its steps are not proven for all numbers", link=found)
    settings, reason, failed = [], "", 0
    names: tuple[str, ...] = ()
    for template in TEMPLATES:
        try:
            one = _at(claim, template)
        except _ERRORS as error:
            reason, failed = reason or str(error), failed + 1
            if failed == _GIVE_UP and not settings:
                break
            continue
        if names and one["rests on"] != [*names]:
            continue
        names = tuple(one["rests on"])
        if (setting := one["settings"][0]) not in settings:
            settings.append(setting)
    if len(settings) < FEWEST:
        return Chained(reason=reason or f"it has {len(settings)} settings; {FEWEST} are needed", link=found)
    if small := only_small(claim, [setting["sizes"] for setting in settings]):
        return Chained(reason=small, link=found)
    if where := suspected_failure(claim):
        return Chained(reason=f"it may be false at {where}", link=found)
    data = {**statement_of(claim), "format": FORMAT, "rests on": [*names], "settings": settings}
    return Chained(data, scope_of(data)[0], names, link=found)


def _at(claim: Claim, template: Template, given: Mapping[str, Fraction] | None = None, depth: int = 0) -> dict[str, Any]:
    """The certificate of a chain at one template. Raises LookupError, TypeError or ValueError where there is none."""
    if depth > _DEEP:
        raise ValueError("too many chains within each other")
    usable = _usable(claim)
    if not usable or _linked(claim, (*usable,)).answer != "follows":  # then it is no use to prove some of them
        raise ValueError(f"{claim.id} does not follow from its steps")
    setting = instantiate(claim, given or {}, template)
    parts, ready = {}, []
    for premise in usable:
        if premise.setting == "algebra":
            ready += [premise] * (number_certificate(premise) is not None)
            continue
        try:
            parts[premise.id] = _part(claim, setting, premise, template, depth)
        except _ERRORS:
            continue
        ready.append(premise)
    used = _followed(claim, ready)
    while used and (unproven := next((p for p in used if p.setting == "run" and not _certified(p)), None)):
        ready.remove(unproven)  # proofs at one template take less than those at enough templates
        used = _followed(claim, ready)
    if used is None:
        raise ValueError(f"{claim.id} does not follow from those of its steps that are proven: "
                         f"{', '.join(p.id for p in ready) or 'none'}")
    one = {**setting._asdict(), "parts": {p.id: parts[p.id] for p in used if p.id in parts}}
    return _certificate(claim, used, [one])


def _certificate(claim: Claim, used, settings) -> dict[str, Any]:
    return {"format": FORMAT, **statement_of(claim), "rests on": [p.id for p in used], "settings": settings}


def _part(claim: Claim, setting: Setting, premise: Claim, template: Template, depth: int) -> dict[str, Any]:
    """A proof of a premise at the sizes and numbers of a claim's setting."""
    given = {name: number for name, number in numbers(claim, setting).items() if _may_give(premise, name, number)}
    reasons = []
    for way in (lambda: at(premise, {n: v for n, v in given.items() if n != "rounds"}, template).certificate,
                lambda: worst_case(premise, given, template, _MOST, factors=False).certificate,
                lambda: _at(premise, template, given, depth + 1) if premise.steps else None):
        try:
            found = way()
        except _ERRORS as error:
            reasons.append(str(error))
            continue
        if found is not None:
            reason = disagreement(claim, setting._asdict(), premise, found)
            if not reason:
                return found
            reasons.append(reason)
    raise ValueError(f"{premise.id} is not proven: {'; '.join(reasons)}")


def _may_give(premise: Claim, name: str, number) -> bool:
    known = {"clients", "rounds", "local_steps", "participants", *free_names(premise)}
    return name in known and isinstance(number, Fraction)


def numbers(claim: Claim, setting) -> dict[str, Any]:
    """Sizes, and names with a value at a setting, also those that formulas define; step sizes if they are all the same."""
    sizes, values = (setting._asdict() if isinstance(setting, Setting) else setting)["sizes"], {}
    letters = SymbolicRun(statement_of(claim), *(setting[n] if isinstance(setting, dict) else getattr(setting, n)
                                             for n in ("sizes", "values", "unknown", "weights")))
    for name in letters.free:
        if name in sizes or name == "eta_l":
            continue
        try:
            value = letters.parameter(name)
        except _ERRORS:
            continue
        if not isinstance(value, QuadraticForm):
            values[name] = value
    steps = {*letters.step_size}
    values["eta_l"] = steps.pop() if len(steps) == 1 else None
    return {name: Fraction(size) for name, size in sizes.items()} | values


# what is used --------------------------------------------------------------------------------------------------------------
def _usable(claim: Claim, claims: Mapping[str, Claim] | None = None) -> list[Claim]:
    """The steps from which a claim may follow: explicit, about the same procedure, and not narrower than the claim."""
    steps = premises_of(claim) if claims is None else premises_of(claim, claims)
    return [p for p in steps if p.id != claim.id and p.exists is None and not unusable(p, claim)
            and not narrower(p, claim) and p.setting in ("run", "algebra") and _means_the_same(p, claim)]


@cache
def _refuted(claim: Claim) -> bool:
    """Whether a quick search refutes a claim: a step may be false where it is not looked at on letters."""
    try:
        return search(claim, BUDGETS["quick"], 0, NUMPY, related(claim)).violation is not None
    except UNMEASURED:
        return False


@cache
def _certified(claim: Claim) -> bool:
    """Whether a claim about runs is proven at enough templates, false at none, and not refuted."""
    proven = any(way(claim).certificate is not None for way in (proof_of_run, partial(chained, searched=True)))
    return proven and not _refuted(claim)


def _means_the_same(premise: Claim, claim: Claim) -> bool:
    """Whether the quantities of a premise are defined as the claim's are."""
    own = claim.definitions
    return all(name in own and own[name].indices == d.indices and own[name].formula == d.formula
               for name, d in premise.used_definitions().items())


def _followed(claim: Claim, proven: list[Claim]) -> list[Claim] | None:
    """The premises, if the claim follows from them and they need nothing more; fewer where fewer are enough."""
    if not proven or not _follows(claim, (*proven,)):
        return None
    for one in [*proven]:
        fewer = [p for p in proven if p is not one]
        if fewer and _follows(claim, (*fewer,)):
            proven = fewer
    return proven


@cache
def _linked(claim: Claim, premises: tuple[Claim, ...]) -> Link:
    return link(claim, premises, search=False)


def _follows(claim: Claim, premises: tuple[Claim, ...]) -> bool:
    """Whether a claim follows from premises that need nothing more."""
    found = _linked(claim, premises)
    return found.answer == "follows" and not found.needs


def narrower(premise: Claim, claim: Claim) -> str:
    """Name a variable of a premise that admits less than the claim's does; empty if there is none."""
    own = {v.name: v for v in claim.variables}
    mentioned = frozenset(claim.names) | names_in(claim.statement.left) | names_in(claim.statement.right)
    for v in premise.variables:
        w = own.get(v.name)
        if w is None and (v.name in mentioned or v.name in ("clients", "rounds", "local_steps", "participants", "samples")):
            w = Variable(v.name, "integer") if v.domain == "integer" else None
            if w is None:
                return v.name
        if w is not None and not _admits(v, w):
            return v.name
    return ""


def _admits(v: Variable, w: Variable) -> bool:
    """Whether a variable may be all that another may be."""
    if v.domain != w.domain or v.indices != w.indices or (v.below is not None and v.below != w.below):
        return False
    return v.domain != "integer" or (v.low <= w.low and (v.high is None or (w.high is not None and w.high <= v.high)))


# the check -------------------------------------------------------------------------------------------------------------
def check(data: Mapping[str, Any], claim: Claim, steps: Mapping[str, Claim] | None = None) -> CheckResult:
    """Check a chain's certificate: the claim follows from the steps on which it rests, all over again, and each part is
    accepted at sizes and numbers that agree with the claim's.

    ``steps``: claims by id among which the steps are looked up first, before the registered ones.
    """
    try:
        reason = _objection(data, claim, 0, steps)
        return CheckResult(not reason, reason or f"{claim.id} follows from what is proven")
    except _ERRORS as error:
        return CheckResult(False, f"cannot be read: {type(error).__name__}: {error}")


def check_file(path: str | Path, claims: Mapping[str, Claim] | None = None,
               statement: Mapping[str, Any] | None = None, steps: Mapping[str, Claim] | None = None) -> CheckResult:
    """Check the file of a chain against the claim of its id, of ``claims`` or of the registry, and against its steps, which
    are those of ``steps`` where these have them.

    Raises ValueError for a file that cannot be read. A claim that is not here is a rejection."""
    data = single.read(path)
    if statement is not None:
        return CheckResult(False, "a chain is checked against its claim and the steps that this lists, not a statement")
    try:
        return check(data, claim_of(data, claims), claims if steps is None else steps)
    except LookupError as error:
        return CheckResult(False, f"nothing to compare it with: {error.args[0]}")


def _objection(data, claim: Claim, depth: int, steps: Mapping[str, Claim] | None = None) -> str:
    if not isinstance(data, Mapping) or {*data} != {*_KEYS} or data["format"] != FORMAT or depth > _DEEP:
        return f"it is no {FORMAT}"
    if other := differing(dict(data), statement_of(claim)):
        return f"it does not state what {claim.id} states: {', '.join(other)}"
    names, known = data["rests on"], {p.id: p for p in _usable(claim, steps)}
    if not names or len({*names}) < len(names) or not {*names} <= {*known}:
        return f"it rests on what is no usable step of {claim.id}: {', '.join(map(str, names))}"
    premises = [known[name] for name in names]
    if not _follows(claim, (*premises,)):
        return f"{claim.id} does not follow from {', '.join(names)}, or needs more"
    on_runs = [p for p in premises if p.setting == "run"]
    for premise in premises:
        if premise.setting == "algebra" and number_certificate(premise) is None:
            return f"{premise.id} is not proven"
    settings = data["settings"]
    if not isinstance(settings, list) or bool(on_runs) != bool(settings):
        return "it has no settings, or needs none"
    for setting in settings:
        if {*setting} != {*Setting._fields, "parts"} or {*setting["parts"]} != {p.id for p in on_runs}:
            return "a setting has sizes, values, unknown, weights, and the parts on which it rests"
        for premise in on_runs:
            part = setting["parts"][premise.id]
            if part.get("format") == FORMAT:
                reason = _objection(part, premise, depth + 1, steps)
            else:
                result = single.check(part, premise)
                proof = "settings" in part
                reason = "" if result.accepted and proof else f"{premise.id}: {result.reason}"
            if reason := reason or disagreement(claim, setting, premise, part):
                return reason
    return ""


def disagreement(claim: Claim, setting: Mapping[str, Any], premise: Claim, part: Mapping[str, Any]) -> str:
    """Describe how the only setting of a part differs from that of the claim; empty where it agrees."""
    if len(part["settings"]) != 1:
        return f"the part of {premise.id} has not one setting"
    (other,) = part["settings"]
    every = part["format"] == ROUNDS
    if every and other["sizes"]["rounds"] > setting["sizes"]["rounds"]:
        return f"{premise.id} is proven from {other['sizes']['rounds']} rounds on"
    free = ("rounds", "iterations") if every else ()
    mine, theirs = numbers(claim, setting), numbers(premise, other)
    for name, value in theirs.items():
        if name in free:
            continue
        if name in mine and (value is None or mine[name] != value):
            return f"{premise.id} is proven at {name} = {value}, not at {mine[name]}"
        if name in setting["unknown"]:
            return f"{premise.id} is proven at {name} = {value} alone"
    return "" if other["weights"] == setting["weights"] else f"{premise.id} is proven for other weights"


def scope_of(data: Mapping[str, Any]) -> tuple[str, bool]:
    """Return the sizes and numbers for which an accepted chain proves its claim, and whether they are all that it admits."""
    return (_scope(data["settings"]), False) if data["settings"] else ("all numbers that the claim admits", True)


def _scope(settings: list[dict[str, Any]]) -> str:
    """The sizes and numbers of all settings, in one line; ``every number of rounds`` where all parts hold so."""
    every = all(_of_every_round(part) for s in settings for part in s["parts"].values())
    said: dict[str, list[str]] = {}
    for s in settings:
        for name, value in (*s["sizes"].items(), *s["values"].items()):
            if name not in ("dim", "layers", "iterations") and not isinstance(value, dict | list) and not (
                    every and name == "rounds"):
                said.setdefault(name, []).append(str(value))
    parts = ["in every dimension", *["every number of rounds"] * every, f"at {len(settings)} settings"]
    return "; ".join([*parts, *(f"{name} = {', '.join(dict.fromkeys(values))}" for name, values in said.items())])


def _of_every_round(part: Mapping[str, Any]) -> bool:
    if part["format"] == FORMAT:
        return all(_of_every_round(p) for s in part["settings"] for p in s["parts"].values())
    return part["format"] == ROUNDS and all(s["sizes"]["rounds"] == 1 for s in part["settings"])
