"""Keeps digests of what registered claims state, so that a certificate is compared with its claim without loading the claim.

A digest is written beside this file, as Python keeps compiled files, after a certificate was compared in full. The name of
its file has a digest of all files that say what claims state, and of sympy's version. Nothing is kept where one of these
files was changed since claims may have been loaded. Whoever can write a digest can write the code too.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from verify import LOADED
from verify.checker.schema import STATED
from verify.results.files import file_name

__all__ = ["FOLDER", "remember", "states_its_claim"]

FOLDER = Path(__file__).with_name("__kept__")
_ROOT = Path(__file__).parents[2]
_SAY_WHAT_IS_STATED = ("bounds", "fedtheory", "synthetic", "verify/claims", "verify/exact", "verify/checker")
_OPTIONAL = ("exists", "printed")


_SURELY = 2.0  # seconds by which times of files may be wrong


def _files() -> list[Path]:
    return [path for folder in _SAY_WHAT_IS_STATED for path in sorted((_ROOT / folder).rglob("*"))
            if path.suffix in (".py", ".toml")]


@cache
def _sources() -> str:
    found = hashlib.sha256(Path(find_spec("sympy").origin).with_name("release.py").read_bytes())
    for path in _files():
        found.update(f"{path.relative_to(_ROOT).as_posix()}\n".encode() + hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()[:32]


@cache
def _unchanged() -> bool:
    """Whether no file was changed since claims may have been loaded."""
    return max(path.stat().st_mtime for path in _files()) + _SURELY < LOADED


def _digest(data: Mapping[str, Any]) -> str:
    stated = {name: data[name] for name in (*STATED, *_OPTIONAL) if name in data}
    return hashlib.sha256(json.dumps(stated, sort_keys=True).encode()).hexdigest()


def _file(claim_id: str, more: str = "") -> Path:
    return FOLDER / f"{file_name(claim_id)}{more}.{_sources()}.txt"


def states_its_claim(data: Mapping[str, Any]) -> bool:
    """Whether a certificate is known to state what the registered claim of its id states. False says nothing."""
    if any(name not in data for name in STATED) or not isinstance(data["claim"], str):
        return False
    try:
        return _file(data["claim"], ".printed" * ("printed" in data)).read_text(encoding="utf-8") == _digest(data)
    except (OSError, ValueError):
        return False


def remember(data: Mapping[str, Any], claim) -> None:
    """Keep the digest of what a certificate states, after it was compared with the claim, if the claim is a registered one
    and the folder can be written."""
    from bounds.registry.claims import find_claim
    from bounds.registry.papers import PAPERS

    try:
        if claim.paper not in PAPERS or find_claim(claim.id) is not claim or not _unchanged():
            return
        file = _file(claim.id, ".printed" * ("printed" in data))
        if file.exists():
            return
        FOLDER.mkdir(exist_ok=True)
        own = file.with_suffix(f".{os.getpid()}")
        own.write_text(_digest(data), encoding="utf-8")
        for old in FOLDER.glob(file.name.replace(_sources(), "?" * len(_sources()))):
            old.unlink(missing_ok=True)
        own.replace(file)
    except (LookupError, OSError):  # a claim that is registered nowhere, or a folder of others
        return
