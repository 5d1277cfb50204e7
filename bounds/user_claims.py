"""Claims of one's own: from a Python file with ``CLAIMS``, or from TOML or YAML with formulas as text.

::

    [[claim]]
    id = "mine/theorem-1"
    kind = "theorem"
    method = "scaffold"
    assume = ["L_client[k] <= L for k in 0..clients-1", "mu_client[k] >= mu for k in 0..clients-1"]
    conditions = ["eta_l[t] <= 1/(2*L) for t in 0..iterations-1"]
    statement = "E(norm2(x_round[rounds] - x_star)) <= norm2(x_round[0] - x_star)"

In YAML the same fields stand in a list under ``claim:``. Words are those of ``bounds.language``; besides,
``server_<name>[r]``, ``client_<name>[r, k]`` for a method's state, and the names declared under ``variables`` (name =
domain, see ``bounds.claim``). A variable that is ``hidden`` is the constant of O(.); ``limits`` (``{rounds = "oo", mu =
0}``) then says along what it is one, and ``constants_may_use`` on what it may depend (a list of names; without it, on
everything but the symbols of the limits). ``steps`` lists ids of claims, for ``fedtheory chain``.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from tokenize import TokenError

import sympy as sp
from sympy.parsing.sympy_parser import parse_expr

from bounds import language as words
from bounds.claim import Assumption, Claim, Condition, Procedure, Variable
from bounds.claim_files import SUFFIXES, line_of, tables
from bounds.definitions import DEFINITIONS
from bounds.python_files import module_from

__all__ = ["PATHS", "claims_of_user", "load_claims"]

PATHS = "FEDTHEORY_CLAIMS"  #: environment variable with paths of claim files, as in PATH
_FIELDS = {"id", "number", "kind", "reading", "source", "setting", "method", "options", "sampling", "equal_weights",
           "assume", "conditions", "statement", "variables", "note", "limits", "constants_may_use", "steps"}
_LIMITS = {"oo": sp.oo, "0": sp.Integer(0)}
_RANGE = re.compile(r"\s+for\s+(\w+)\s+in\s+(.+?)\s*\.\.\s*(.+?)\s*$")


def claims_of_user() -> Iterator[Claim]:
    """Claims of the files named by the environment variable ``FEDTHEORY_CLAIMS``, and of installed packages that have an
    entry point in the group ``fedtheory.claims`` (a sequence of claims)."""
    for path in filter(None, os.environ.get(PATHS, "").split(os.pathsep)):
        yield from load_claims(path)
    for point in entry_points(group="fedtheory.claims"):
        yield from point.load()


def load_claims(path: str | Path) -> tuple[Claim, ...]:
    """The claims of a ``.py``, ``.toml`` or ``.yaml`` file.

    Raises:
        ValueError: an unreadable file, or a claim that is wrong; the message names the line and the symbol.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    if path.suffix == ".py":
        return _from_python(path)
    if path.suffix not in SUFFIXES:
        raise ValueError(f"claims are read from .py, {', '.join(SUFFIXES[:-1])} and {SUFFIXES[-1]} files; got {path.name!r}")
    return tuple(_Reader(path, text, row).claim() for row in tables(path, text))


def _from_python(path: Path) -> tuple[Claim, ...]:
    try:
        module = module_from(path, f"fedtheory_claims_{path.stem}")
    except Exception as error:
        line = getattr(error, "lineno", None) or _line_of(error.__traceback__, path)
        raise ValueError(f"{path}, line {line}: {type(error).__name__}: {error}") from error
    claims = getattr(module, "CLAIMS", None)
    if not isinstance(claims, tuple | list) or not all(isinstance(c, Claim) for c in claims):
        raise ValueError(f"{path} must define CLAIMS, a tuple of Claim; got {type(claims).__name__}")
    return tuple(claims)


def _line_of(traceback, path: Path):
    line = "?"
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == str(path):
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line


class _Reader:
    """One table of a file."""

    def __init__(self, path: Path, text: str, row: dict):
        self.path, self.text, self.row = path, text, row

    def fail(self, part: str, message: str):
        raise ValueError(f"{self.path}, line {line_of(self.text, part)}: {message}")

    def claim(self) -> Claim:
        row = self.row
        unknown = sorted(set(row) - _FIELDS)
        if unknown:
            self.fail(unknown[0], f"unknown field {unknown[0]!r}; allowed: {', '.join(sorted(_FIELDS))}")
        for name in ("id", "statement"):
            if not isinstance(row.get(name), str):
                self.fail(str(row.get("id", "[[claim]]")), f"a claim needs the text {name!r}; got {row.get(name)!r}")
        if "/" not in row["id"]:
            self.fail(row["id"], f"an id is <paper>/<block>[@<reading>]; got {row['id']!r}")
        self.variables = tuple(itertools.starmap(self.variable, row.get("variables", {}).items()))
        assumptions = tuple(
            Assumption(f"{row['id']}:assumption-{n}", text, (self.condition(text),))
            for n, text in enumerate(row.get("assume", ()), start=1))
        setting, conditions = row.get("setting", "run"), tuple(map(self.condition, row.get("conditions", ())))
        statement = self.condition(row["statement"])
        procedure = Procedure(
            row.get("method", "fedavg"), sampling=row.get("sampling", "full"),
            options=tuple(row.get("options", {}).items()), equal_weights=bool(row.get("equal_weights", True)))
        try:
            return Claim(
                row["id"], str(row.get("number", "none")), row.get("kind", "theorem"), setting, statement, assumptions,
                conditions, row.get("reading", "as written"), row.get("source", str(self.path)),
                procedure=procedure if setting == "run" else None, variables=self.variables, note=row.get("note", ""),
                explicit=all(v.domain != "hidden" for v in self.variables), limits=self.limits(),
                constants_may_use=tuple(row["constants_may_use"]) if "constants_may_use" in row else None,
                steps=tuple(row.get("steps", ())), definitions=DEFINITIONS)
        except ValueError as error:
            self.fail(row["id"], str(error))

    def variable(self, name: str, domain: str) -> Variable:
        try:
            return Variable(name, domain)
        except ValueError as error:
            self.fail(name, str(error))

    def limits(self) -> tuple:
        """Pairs of a symbol and where it goes."""
        found = []
        for name, end in self.row.get("limits", {}).items():
            if str(end) not in _LIMITS:
                self.fail("limits", f"{name} goes to \"oo\" or to 0; got {end!r}")
            found.append((self.formula(name, "limits"), _LIMITS[str(end)]))
        return tuple(found)

    def condition(self, text: str) -> Condition:
        """``left <= right for k in 0..clients-1 for t in ...``."""
        rest, over = text, []
        while found := _RANGE.search(rest):
            index, low, high = found.groups()
            over.insert(0, (sp.Symbol(index, integer=True), self.formula(low, text), self.formula(high, text)))
            rest = rest[: found.start()]
        for relation in ("<=", ">=", "=="):
            left, sign, right = rest.partition(relation)
            if sign:
                return Condition(self.formula(left, text), relation, self.formula(right, text), tuple(over))
        self.fail(text, f"a condition needs <=, >= or ==; got {text!r}")

    def formula(self, text: str, within: str):
        names = set(re.findall(r"[A-Za-z_]\w*", text))
        known = self.names(text)
        for name in sorted(names):
            if name not in known and not name.startswith(("server_", "client_", "local_")):
                self.fail(within, f"unknown symbol {name!r} in {text.strip()!r}; declare it under variables, or use a word "
                          "of bounds.language")
            if name not in known:
                known[name] = sp.IndexedBase(name, real=True)
        try:
            return parse_expr(text.strip(), local_dict=known)
        except (SyntaxError, TokenError, TypeError, ValueError, AttributeError, IndexError) as error:
            self.fail(within, f"cannot read {text.strip()!r}: {error}")

    def names(self, text: str) -> dict:
        known = {name: getattr(words, name) for name in words.__all__}
        known |= {d.name: d.symbol for d in DEFINITIONS.values()}
        known |= {name: getattr(sp, name) for name in ("sqrt", "exp", "log", "Abs")}
        known |= {str(index): sp.Symbol(str(index), integer=True) for index in "tijkr"}
        for variable in self.variables:
            signs = {"positive": {"positive": True}, "nonnegative": {"nonnegative": True},
                     "integer": {"integer": True, "positive": True}}.get(variable.domain, {"real": True})
            known[variable.name] = sp.Symbol(variable.name, **signs)
        return known
