"""Code blocks of a page, and running them in their order in an empty folder: a page is one script."""

import doctest
import importlib
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests import ROOT

__all__ = ["Block", "blocks_of", "run_page"]

_BLOCK = re.compile(r"^```(.*?)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NOT_RUN = ("python3 -m venv", ".venv/bin/", "pip install", "make ", "pytest")  # installations, whole papers, the suite
_NO_CODE = ("", "text", "mermaid")


@dataclass(frozen=True)
class Block:
    """A block of code: its language, the file that it is (or empty), its text and its line on the page."""

    language: str
    file: str
    text: str
    line: int


def blocks_of(page: str) -> list[Block]:
    """The blocks of code of a page in Markdown."""
    return [Block(found[1], found[2] or "", found[3], page.count("\n", 0, found.start()) + 2)
            for found in _BLOCK.finditer(page) if not found[1].startswith("{")]  # a directive of the site


def run_page(page: str, command: Callable[..., tuple[int, str, str]]) -> dict[str, int]:
    """Run every block of a page in the current folder; how many of each kind ran.

    ``command(*arguments)`` is the command line of fedtheory: status, standard output, standard error. A block with a file
    name is written to that file. A block of text behind commands shows their output: its words stand there in this order,
    a line for a line, with anything between them.

    Raises:
        AssertionError: a block fails, shows another output, or is of a language that nobody runs.
    """
    with _importing_from_here():
        return _run(page, command)


def _run(page: str, command) -> dict[str, int]:
    names: dict = {"__name__": "page"}
    ran: dict[str, int] = {}
    output = ""
    for block in blocks_of(page):
        where = f"line {block.line}"
        kind = block.language
        if block.file:
            Path(block.file).parent.mkdir(parents=True, exist_ok=True)
            Path(block.file).write_text(block.text, encoding="utf-8")
            importlib.invalidate_caches()
        if kind == "python" and ">>>" in block.text:
            _examples(block, names)
        elif kind == "python" and not block.file:
            exec(compile(block.text, where, "exec"), names)
        elif kind == "python":
            compile(block.text, block.file, "exec")
        elif kind == "toml":
            tomllib.loads(block.text)
        elif kind == "sh":
            output = "".join(_line(line, command, where) for line in block.text.splitlines())
        elif kind in _NO_CODE:
            if output:
                _shown(block.text, output, where)
                output, kind = "", "output"
        else:
            raise AssertionError(f"{where}: nobody runs blocks of {kind!r}")
        ran[kind] = ran.get(kind, 0) + 1
    return ran


@contextmanager
def _importing_from_here() -> Iterator[None]:
    """As at a prompt, files of the current folder can be imported; they are forgotten in the end."""
    before, here = set(sys.modules), str(Path.cwd())
    sys.path.insert(0, here)
    try:
        yield
    finally:
        sys.path.remove(here)
        for name in set(sys.modules) - before:
            if (getattr(sys.modules[name], "__file__", None) or "").startswith(here):
                del sys.modules[name]


def _examples(block: Block, names: dict) -> None:
    test = doctest.DocTestParser().get_doctest(block.text, names, "page", "page", block.line)
    told: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=told.append, clear_globs=False)
    names.update(test.globs)
    assert runner.failures == 0, "".join(told)


def _line(line: str, command, where: str) -> str:
    """The output of one line of a shell: of fedtheory, or of the checker by itself; installations do not run."""
    words = shlex.split(line, comments=True)
    if not words or line.startswith(_NOT_RUN):
        return ""
    target = None
    if ">" in words:
        words, target = words[:words.index(">")], words[words.index(">") + 1]
    if words[0] == "fedtheory":
        status, out, error = command(*words[1:])
        assert status in (0, 1), f"{where}: {line}: {error}"
    elif words[:2] == ["python3", "verify/checker"]:
        words = [sys.executable, str(ROOT / "verify" / "checker"), *words[2:]]
        done = subprocess.run(words, capture_output=True, text=True)
        out = done.stdout
        assert done.returncode == 0, f"{where}: {line}: {out} {done.stderr}"
    else:
        raise AssertionError(f"{where}: nobody runs {line!r}")
    if target:
        Path(target).write_text(out, encoding="utf-8")
        return ""
    return out


def _shown(text: str, output: str, where: str) -> None:
    place = 0
    for part in re.split(r"…|\n", text):
        found = output.find(part.strip(), place)
        assert found >= 0, f"{where}: {part.strip()!r} is not, or not there, in the output\n{output}"
        place = found + len(part.strip())
