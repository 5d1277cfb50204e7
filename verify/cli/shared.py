"""Shared parts of the commands: they choose claims, check values, and tell bad input from defects of our own."""

import errno
import os
import platform
from collections.abc import Callable
from difflib import get_close_matches
from importlib.metadata import version
from json import dumps
from pathlib import Path

from verify.results.commands import file_and_id

__all__ = [
    "at_least", "check_device", "check_memory", "choose_claim", "choose_claims", "claims_as_json", "claims_in",
    "explain", "filter_claims", "names_in_files", "total_memory", "versions",
]

MUCH = 10**9  # bytes of memory from which on a run says how much it needs


def explain(problem: Exception) -> str | None:
    """The message to a user about bad input; None for a defect of our own."""
    if hasattr(problem, "format_message"):  # typer's message about the command line
        return problem.format_message().replace(": Value error, ", ": ")  # of pydantic, within typer
    if isinstance(problem, OSError) and problem.filename is not None:
        return f"{problem.filename}: {problem.strerror}"
    if isinstance(problem, OSError) and problem.errno in (errno.ENOSPC, errno.EDQUOT):
        return problem.strerror
    if isinstance(problem, TypeError) and type(problem).__name__ == "UnknownArgument":
        return str(problem)
    if isinstance(problem, ImportError) and problem.name is None:
        return str(problem)  # which extra to install
    told = isinstance(problem, (ValueError, LookupError, MemoryError))
    if told and len(problem.args) == 1 and " " in str(problem.args[0]):
        return None if isinstance(problem, IndexError) else str(problem.args[0])
    return None


def choose_claim(name: str):
    """Returns the claim of an id, of a file with a single claim, or of ``FILE:ID``; workers find it too."""
    found = choose_claims([name], None)
    if len(found) != 1:
        from verify.claims.named import several

        raise several(name, found)
    return found[0]


def choose_claims(names: list[str], papers: list[str] | None) -> list:
    """The claims named by ids, files (.py, .toml), ``FILE:ID``, or their papers; all if nothing is named."""
    from bounds.registry.claims import all_claims, find_claim, forget_files
    from verify.claims.named import is_file

    in_files = [name for name in names if is_file(file_and_id(name)[0])]
    ids = [name for name in names if name not in in_files]
    if in_files:  # workers start afresh, and find them there
        from bounds.registry.user_claims import PATHS

        ids += [claim.id for claim in claims_in(in_files)]
        files = (os.path.abspath(file_and_id(name)[0]) for name in in_files)
        os.environ[PATHS] = os.pathsep.join(dict.fromkeys([*_known_files(), *files]))
        forget_files()
    of_papers = [name for name in ids if _is_paper(name)]
    named = {claim.id: claim for name in ids if name not in of_papers for claim in [find_claim(name)]}
    for paper in [*of_papers, *(papers or [])]:
        named |= _claims_of(paper)
    return list(named.values() if names or papers else all_claims().values())


def claims_in(names: list[str]) -> list:
    """Returns the claims of files, all (``FILE``) or one (``FILE:ID``); see :func:`verify.claims.named.claims_in`."""
    from verify.claims.named import claims_in as named_claims

    return named_claims(names)


def _known_files() -> list[str]:
    """Paths of the files of claims that this process and its workers know."""
    from bounds.registry.user_claims import PATHS

    return list(filter(None, os.environ.get(PATHS, "").split(os.pathsep)))


def names_in_files() -> dict[str, str]:
    """The names of the claims of known files in commands: id -> ``FILE:ID``."""
    from bounds.registry.user_claims import load_claims

    here = Path.cwd()
    shown = {path: Path(path).relative_to(here) if Path(path).is_relative_to(here) else path for path in _known_files()}
    return {claim.id: f"{shown[path]}:{claim.id}" for path in shown for claim in load_claims(path)}


def _is_paper(name: str) -> bool:
    """Whether a name, which has no slash then, is that of a paper, registered or in a file of the user's."""
    from bounds.registry.papers import PAPERS
    from bounds.registry.user_claims import claims_of_user

    return "/" not in name and (name in PAPERS or any(claim.paper == name for claim in claims_of_user()))


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
    """Returns the claims of a kind, about runs of an algorithm, in a reading, with explicit or (``order``) hidden constants.

    A ``reading`` is one of the names after the @ of an id, which plus signs separate; ``default`` means none.
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
    """Writes claims as a JSON list, each with its statement in the paper's notation."""
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
    """Raises ValueError, with the received and the lowest allowed value, unless ``value`` is at least that."""
    if not value >= lowest:
        raise ValueError(f"{option} must be at least {lowest}; got {value}")


def check_device(device: str) -> None:
    """Raises ValueError, with the reason, for a device that this machine does not have."""
    if device != "cpu":
        from synthetic.numbers.arrays import Backend

        Backend(device=str(device))


def check_memory(needed: Callable[..., int], numbers: dict[str, int]) -> None:
    """Says how much memory a run needs, if it is much. Raises ValueError, with the allowed numbers, if there is less.

    ``needed`` returns the bytes for the numbers of rounds, local steps and runs, and is affine in each.
    """
    bytes_, there = needed(**numbers), total_memory()
    rounds, runs = numbers["rounds"], numbers["runs"]
    says = f"{rounds} rounds of {runs} run{'s' * (runs > 1)} need about {_memory_in_words(bytes_)} of memory"
    if there is None or bytes_ <= there:
        if bytes_ > MUCH:
            from verify.cli import console

            console.note(says + (f"; this machine has {_memory_in_words(there)}" if there else ""))
        return
    allowed = []
    for name, value in numbers.items():
        fixed = needed(**numbers | {name: 0})
        if fixed < bytes_ and (most := (there - fixed) * value // (bytes_ - fixed)) > 0:
            allowed.append(f"--{'seeds' if name == 'runs' else name.replace('_', '-')} at most {most}")
    raise ValueError(
        f"{says}, and this machine has {_memory_in_words(there)}; allowed: {' or '.join(allowed) or 'fewer of each'}")


def total_memory() -> int | None:
    """The memory of this machine in bytes; None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _memory_in_words(size: int) -> str:
    return f"{size / 10**9:.3g} GB" if size < 10**18 else "more than 10^9 GB"


def versions() -> dict[str, str]:
    """The versions of the packages that a result depends on, read without importing them."""
    return {name: version(name) for name in ("fedtheory", "torch", "numpy", "sympy")} | {
        "python": platform.python_version()
    }
