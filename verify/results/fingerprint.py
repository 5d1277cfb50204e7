"""What a verdict rests on, as a short text: the claim, the settings, and the code that decides."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import sympy as sp

from bounds.language.claim import Claim, Condition

__all__ = ["claim_as_text", "code_version", "digest", "fingerprint"]

ROOT = Path(__file__).resolve().parents[2]

#: rooms and files whose code decides; a paper's claims are left out, because each enters its own fingerprint
DECIDES = (
    "synthetic", "fedtheory", "bounds/language", "bounds/formulas", "bounds/registry", "verify/checker", "verify/claims",
    "verify/evaluation", "verify/evidence", "verify/exact", "verify/formulas", "verify/growth", "verify/instances",
    "verify/measure", "verify/prove", "verify/referee/decide.py", "verify/search",
)
SHOWS = ("fedtheory/testing",)  #: rooms within these that only test
LIBRARIES = ("torch", "numpy", "sympy", "scipy", "scikit-learn")


def digest(data: Any) -> str:
    """SHA-256 of plain data, the same whatever the order of its keys."""
    text = json.dumps(data, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def claim_as_text(claim: Claim) -> dict[str, Any]:
    """All of a claim that its verdict rests on, as plain data: formulas with the domains of their symbols."""
    assumptions = [
        {"id": a.id, "conditions": _conditions(a.conditions),
         "others": [_condition(c) for c in (a.for_all_functions, a.everywhere) if c is not None]}
        for a in claim.assumptions
    ]
    definitions = {name: _exactly((*d.indices, d.formula)) for name, d in claim.used_definitions().items()}
    return {
        "id": claim.id, "reading": claim.reading, "kind": claim.kind, "setting": claim.setting,
        "statement": _condition(claim.statement) if claim.statement else None, "undefined": claim.undefined,
        "assumptions": assumptions, "conditions": _conditions(claim.conditions), "definitions": definitions,
        "procedure": repr(claim.procedure), "variables": repr(claim.variables), "explicit": claim.explicit,
        "limits": [_exactly(tuple(pair)) for pair in claim.limits],
    }


def fingerprint(claim: Claim, settings: Mapping[str, Any]) -> str:
    """Text that changes where the claim, the settings (budget, seeds, ...) or the code that decides change."""
    return digest({"claim": claim_as_text(claim), "settings": dict(settings), "code": code_version()})


@cache
def code_version() -> str:
    """SHA-256 of the code that decides, and the versions of the libraries that it computes with."""
    files = {path.relative_to(ROOT).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in deciding_files()}
    return digest({"files": files, "libraries": {name: version(name) for name in LIBRARIES}})


def deciding_files() -> list[Path]:
    """Files of code on which verdicts depend, sorted by name."""
    places = [ROOT / place for place in DECIDES]
    found = {path for place in places for path in (place.rglob("*") if place.is_dir() else [place])}
    return sorted(path for path in found if path.suffix in (".py", ".c", ".h")
                  and not any(path.is_relative_to(ROOT / place) for place in SHOWS))


def _conditions(conditions: Iterable[Condition]) -> list:
    return [_condition(condition) for condition in conditions]


@cache
def _condition(condition: Condition) -> list:
    sides = _exactly((condition.left, condition.right))
    return [sides, condition.relation, [_exactly(tuple(triple)) for triple in condition.over]]


@cache
def _exactly(expressions: tuple) -> list[str]:
    return [sp.srepr(sp.sympify(expression)) for expression in expressions]
