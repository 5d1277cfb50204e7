"""The fingerprint of a verdict: a digest of the claim, the settings, the code that decides and its libraries.

A stored verdict is current for as long as its fingerprint stays the same.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import sympy as sp

from bounds.language.claim import Claim, Condition

__all__ = ["claim_as_text", "code_version", "deciding_files", "digest", "fingerprints"]

ROOT = Path(__file__).resolve().parents[2]

#: subpackages and files whose code decides. Of the papers only their operators: each claim enters its own fingerprint.
DECIDES = (
    "synthetic", "fedtheory", "bounds/language", "bounds/formulas", "bounds/registry", "bounds/papers/*/operators.py",
    "verify/checker", "verify/claims", "verify/evaluation", "verify/evidence", "verify/exact", "verify/formulas",
    "verify/growth", "verify/instances", "verify/measure", "verify/proofs", "verify/prove", "verify/referee/decide.py",
    "verify/referee/ill_posed.py", "verify/referee/witness.py", "verify/referee/wording.py",
    "verify/symbolic", "verify/results/verdict.py", "verify/search", "verify/worst",
)
#: subpackages and files within these that decide nothing
SHOWS = (
    "fedtheory/pages.py", "fedtheory/testing", "verify/evidence/along.py",
    "verify/evidence/stability_figure.py", "verify/formulas/figures.py", "verify/proofs/looseness.py",
    "verify/proofs/looseness_figure.py", "verify/worst/blocks.py", "verify/worst/method_worst_case.py",
    "verify/worst/conditions.py", "verify/worst/contraction.py", "verify/worst/function.py",
    "verify/worst/function_figure.py", "verify/worst/potential.py", "verify/worst/tuning.py",
)
LIBRARIES = ("torch", "numpy", "sympy", "scipy", "scikit-learn", "cma", "z3-solver", "clarabel")


def digest(data: Any) -> str:
    """SHA-256 of plain data, the same whatever the order of its keys."""
    text = json.dumps(data, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def claim_as_text(claim: Claim) -> dict[str, Any]:
    """Everything in a claim that its verdict depends on, as plain data: formulas with the domains of their symbols."""
    assumptions = [
        {"id": a.id, "conditions": _conditions(a.conditions),
         "others": [_condition(c) for c in a.at_all_points]}
        for a in claim.assumptions
    ]
    definitions = {name: _canonical((*d.indices, d.formula)) for name, d in claim.used_definitions().items()}
    return {
        "id": claim.id, "reading": claim.reading, "kind": claim.kind, "setting": claim.setting,
        "statement": _condition(claim.statement) if claim.statement else None, "undefined": claim.undefined,
        "assumptions": assumptions, "conditions": _conditions(claim.conditions), "definitions": definitions,
        "procedure": repr(claim.procedure), "variables": repr(claim.variables), "explicit": claim.explicit,
        "limits": [_canonical(tuple(pair)) for pair in claim.limits], "constants_may_use": claim.constants_may_use,
        "exists": _choice(claim),
    }


def fingerprints(claims: Iterable[Claim], settings: Mapping[str, Any],
                 related: Callable[[Claim], Iterable[Claim]] = lambda claim: ()) -> dict[str, str]:
    """A digest for each claim, by id, that changes with the claim, the settings (budget, seeds, ...) and the code.

    It also changes with the ``related`` claims: those at whose counterexamples the search looks, and the steps of a proof.
    """
    own: dict[str, str] = {}

    def claim_digest(claim: Claim) -> str:
        if claim.id not in own:
            own[claim.id] = digest(claim_as_text(claim))
        return own[claim.id]

    return {claim.id: digest({"claim": claim_digest(claim), "related": sorted(map(claim_digest, related(claim))),
                              "settings": dict(settings), "code": code_version()}) for claim in claims}


@cache
def code_version() -> str:
    """SHA-256 of the code that decides, and the versions of the libraries that it computes with."""
    files = {path.relative_to(ROOT).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in deciding_files()}
    return digest({"files": files, "libraries": {name: _version(name) for name in LIBRARIES}})


def _version(name: str) -> str | None:
    """The installed version; None of what is optional and not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def deciding_files() -> list[Path]:
    """Files of code on which verdicts depend, sorted by name."""
    places = [path for place in DECIDES for path in ROOT.glob(place)]
    found = {path for place in places for path in (place.rglob("*") if place.is_dir() else [place])}
    return sorted(path for path in found if path.suffix in (".py", ".c", ".h")
                  and not any(path.is_relative_to(ROOT / place) for place in SHOWS))


def _choice(claim: Claim) -> list | None:
    exists = claim.exists
    return None if exists is None else [
        exists.name, _canonical((exists.low, exists.high)), exists.open_low, exists.open_high,
        *([] if exists.witness is None else [_canonical((exists.witness,)), exists.reading_id])]


def _conditions(conditions: Iterable[Condition]) -> list:
    return [_condition(condition) for condition in conditions]


@cache
def _condition(condition: Condition) -> list:
    sides = _canonical((condition.left, condition.right))
    return [sides, condition.sign, [_canonical(tuple(triple)) for triple in condition.over]]


def _canonical(expressions: tuple) -> list[str]:
    """Each expression as text that does not depend on which expressions were built before it in this process.

    Sympy may answer with an equal expression that it built earlier, whose symbols declare the same assumptions in other
    words; and the order of arguments may depend on the numbers of Dummies, which count up. Symbols are therefore written
    with everything that their assumptions imply, arguments that commute in the order of their texts, and Dummies by the
    place where they first occur. Bound indices keep their names, which certificates carry.
    """
    return [_text(_numbered(sp.sympify(expression))) for expression in expressions]


def _numbered(e: sp.Basic) -> sp.Basic:
    if not e.atoms(sp.Dummy):
        return e
    found = dict.fromkeys(part for part in _parts(e) if isinstance(part, sp.Dummy))
    return e.xreplace({dummy: sp.Symbol(f"{dummy.name} {n}", **dummy.assumptions0) for n, dummy in enumerate(found)})


def _parts(e: sp.Basic) -> Iterator[sp.Basic]:
    yield e
    for argument in _arguments(e):
        yield from _parts(argument)


def _arguments(e: sp.Basic) -> Iterable[sp.Basic]:
    return sorted(e.args, key=_text) if isinstance(e, _COMMUTE) else e.args


_COMMUTE = (sp.Add, sp.Mul, sp.Max, sp.Min)


@cache
def _text(e: sp.Basic) -> str:
    name = type(e).__name__
    if isinstance(e, sp.Symbol):
        return f"{name}({e.name}: {', '.join(sorted(fact for fact, holds in e.assumptions0.items() if holds))})"
    return f"{name}({', '.join(map(_text, _arguments(e)))})" if e.args else sp.srepr(e)
