"""What the commands share: choosing claims, checking values, telling bad input from our own defects."""

from __future__ import annotations

import errno
import os
import platform
import shlex
from collections.abc import Iterable
from difflib import get_close_matches
from enum import Enum
from importlib.metadata import version
from json import dumps
from typing import Any

__all__ = [
    "at_least", "check_device", "choose_claim", "choose_claims", "claims_as_json", "command_text", "explain",
    "filter_claims", "versions",
]

_FILES = (".py", ".toml", ".yaml", ".yml")  # of claims


def explain(problem: Exception) -> str | None:
    """What to tell the user about bad input; None for what is a defect of ours."""
    if hasattr(problem, "format_message"):  # what typer says about the command line
        return problem.format_message()
    if isinstance(problem, OSError) and problem.filename is not None:
        return f"{problem.filename}: {problem.strerror}"
    if isinstance(problem, OSError) and problem.errno in (errno.ENOSPC, errno.EDQUOT):
        return problem.strerror
    if isinstance(problem, (ValueError, LookupError)) and len(problem.args) == 1 and " " in str(problem.args[0]):
        return None if isinstance(problem, IndexError) else str(problem.args[0])
    return None


def choose_claim(name: str):
    """The claim of an id, of a file that has only one, or of ``FILE:ID``."""
    from bounds.registry.claims import find_claim

    file, _, own = name.rpartition(":")
    if not file.endswith(_FILES):
        file, own = name, ""
    if not _is_file(file):
        return find_claim(name)
    found = choose_claims([file], None)
    chosen = [claim for claim in found if own in ("", claim.id)]
    if len(chosen) != 1:
        allowed = ", ".join(f"{file}:{claim.id}" for claim in found)
        raise LookupError(f"no claim {own!r} in {file}; allowed: {allowed}" if own
                          else f"{file} has {len(found)} claims; name one of them: {allowed}")
    return chosen[0]


def _is_file(name: str) -> bool:
    """Whether a name is one of a file of claims rather than an id, which has a /."""
    return os.path.isfile(name) or name.endswith(_FILES) or ("/" not in name and "." in name)


def choose_claims(ids: list[str], papers: list[str] | None) -> list:
    """The claims named, those of files (.py, .toml, .yaml) and of papers that are named; all if nothing is named."""
    from bounds.registry.claims import all_claims, find_claim

    files = [name for name in ids if _is_file(name)]
    if files:  # workers start afresh, and find them there
        from bounds.registry.user_claims import PATHS, load_claims
        from verify.claims.method import faults_of_method

        own = [claim.id for path in dict.fromkeys(files) for claim in load_claims(path, faults_of_method)]
        known = [*filter(None, os.environ.get(PATHS, "").split(os.pathsep)), *map(os.path.abspath, files)]
        os.environ[PATHS] = os.pathsep.join(dict.fromkeys(known))
        all_claims.cache_clear()
        ids = [name for name in ids if name not in files] + own
    named = {claim.id: claim for claim in map(find_claim, ids)}
    for paper in papers or []:
        named |= _claims_of(paper)
    return list(named.values() if ids or papers else all_claims().values())


def _claims_of(paper: str) -> dict:
    """The claims of a paper, registered or in a file of the user's, by id; LookupError if there is none of that name."""
    from bounds.registry.papers import PAPERS, claims_of_paper
    from bounds.registry.user_claims import claims_of_user

    found = claims_of_paper(paper) if paper in PAPERS else {}
    found = found | {claim.id: claim for claim in claims_of_user() if claim.paper == paper}
    if not found:
        known = list(dict.fromkeys([*PAPERS, *(claim.paper for claim in claims_of_user())]))
        near = get_close_matches(paper, known, n=1, cutoff=0.3)
        raise LookupError(f"unknown paper {paper!r}; " + (f"nearest: {near[0]}; " if near else "")
                          + f"allowed: {', '.join(known)}")
    return found


def filter_claims(claims: list, kind: str | None = None, algorithm: str | None = None, explicit: bool = False,
                  reading: str | None = None, order: bool = False) -> list:
    """Those of a kind, about runs of an algorithm, in a reading, with explicit constants or (``order``) hidden ones.

    A ``reading`` is a name that ids have after their @, between plus signs; ``default`` are the claims without one.
    LookupError for an unknown name, ValueError for ``explicit`` and ``order`` together.
    """
    from bounds.language.claim import KINDS

    if kind is not None and kind not in KINDS:
        raise LookupError(f"unknown kind {kind!r}; allowed: {', '.join(KINDS)}")
    names = sorted({c.procedure.base for c in claims if c.procedure})
    if algorithm is not None and algorithm not in names:
        raise LookupError(f"no claim chosen is about runs of {algorithm!r}; allowed: {', '.join(names)}")
    if explicit and order:
        raise ValueError("a claim has explicit constants or hidden ones; got --explicit and --order")
    readings = {c.id: set(c.id.partition("@")[2].split("+")) - {""} or {"default"} for c in claims}
    known = sorted(set().union(*readings.values()))
    if reading is not None and reading not in known:
        near = get_close_matches(reading, known, n=3, cutoff=0.4)
        raise LookupError(f"no claim chosen has a reading {reading!r}; nearest: {', '.join(near or known[:3])}")
    return [c for c in claims if kind in (None, c.kind) and (c.explicit or not explicit) and not (order and c.explicit)
            and reading in (None, *readings[c.id])
            and (algorithm is None or (c.procedure is not None and c.procedure.base == algorithm))]


def claims_as_json(claims) -> str:
    """Claims as a JSON list, each with its statement in the paper's letters."""
    from bounds.printing.render import condition_text, letters_of

    fields = ("id", "paper", "number", "kind", "reading", "source", "setting")
    rows = [
        {name: getattr(c, name) for name in fields}
        | {"algorithm": c.procedure.base if c.procedure else None, "explicit": c.explicit,
           "limits": {str(symbol): str(end) for symbol, end in c.limits}}
        | {"statement": condition_text(c.statement, letters_of(c)) if c.statement else None} for c in claims
    ]
    return dumps(rows, indent=1, ensure_ascii=False)


def at_least(option: str, value: float, lowest: float) -> None:
    """ValueError with the received and the lowest allowed value, unless ``value`` is at least that."""
    if not value >= lowest:
        raise ValueError(f"{option} must be at least {lowest}; got {value}")


def check_device(device: str) -> None:
    """ValueError where ``cuda`` is asked for and there is none."""
    if device == "cuda":
        import torch

        if not torch.cuda.is_available():
            raise ValueError("device 'cuda' is not available on this machine; allowed here: cpu")


def command_text(name: str, arguments: Iterable[str], **options: Any) -> str:
    """The command line that does the same again."""
    parts = ["fedtheory", name, *arguments]
    for option, value in options.items():
        for one in value if isinstance(value, list) else [value]:
            if one is not None:
                parts += [f"--{option}", str(one.value if isinstance(one, Enum) else one)]
    return shlex.join(parts)


def versions() -> dict[str, str]:
    """Versions of what a result depends on, read without importing them."""
    return {name: version(name) for name in ("fedtheory", "torch", "numpy", "sympy")} | {
        "python": platform.python_version()
    }
