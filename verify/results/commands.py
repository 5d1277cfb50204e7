"""Commands as text: those that results, pages and messages suggest are written here, so that a shell reads them back."""

import re
import shlex
from enum import Enum
from pathlib import Path
from typing import Any

from verify.results.verdict import Verdict

__all__ = ["CLAIM_FILES", "HEAD_FILE", "claim_file", "command", "file_and_id", "on_certificate"]

CLAIM_FILES = (".py", ".toml")  #: endings of files of claims
HEAD_FILE = "paper.toml"  #: the file of a paper's folder that stands for all its files
_FILE_AND_ID = re.compile(rf"(.+?(?:{'|'.join(map(re.escape, CLAIM_FILES))})):(.+)", re.DOTALL)


def command(name: str, *arguments: Any, **options: Any) -> str:
    """The command line ``fedtheory <name> <arguments> --<option> <value>``, with quotes where a shell needs them.

    An option that is None is left out; one that is a list is given again for each entry.

    Example:
        >>> command("verify", "a b/mine.toml:mine/theorem-1", budget="quick", kind=None)
        "fedtheory verify 'a b/mine.toml:mine/theorem-1' --budget quick"
    """
    parts = ["fedtheory", name, *map(str, arguments)]
    for option, value in options.items():
        for one in value if isinstance(value, list) else [value]:
            if one is not None:
                parts += [f"--{option}", str(one.value if isinstance(one, Enum) else one)]
    return shlex.join(parts)


def file_and_id(name: str) -> tuple[str, str]:
    """The file and the id in ``FILE:ID``; the whole name and no id where it has not this form.

    In place of a file there may be the folder of a paper, which stands for the file ``paper.toml`` in it.
    """
    if found := _FILE_AND_ID.fullmatch(name):
        return found.groups()
    folder, _, own = name.partition(":")
    return (str(Path(folder) / HEAD_FILE), own) if Path(folder).is_dir() else (name, "")


def claim_file(verdict: Verdict) -> str | None:
    """The file of the claim, as the verdict's command names it; None for a claim that is known by its id."""
    try:
        file, own = file_and_id(shlex.split(verdict.command)[2])
    except (ValueError, IndexError):  # no command, or none of ours
        return None
    return file if own == verdict.id else None


def on_certificate(name: str, verdict: Verdict, out: str | Path) -> str:
    """The command ``check`` or ``replay`` for the certificate of a verdict in the report ``out``."""
    return command(name, (Path(out) / verdict.certificate).as_posix(), statement=claim_file(verdict))
