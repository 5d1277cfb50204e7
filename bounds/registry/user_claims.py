"""Users' claims: from a Python file with ``CLAIMS``, or from TOML or YAML with formulas as text.

::

    [[claim]]
    id = "mine/theorem-1"
    kind = "theorem"
    method = "scaffold"
    assume = ["L_client[k] <= L for k in 0..clients-1", "mu_client[k] >= mu for k in 0..clients-1"]
    conditions = ["eta_l[t] <= 1/(2*L) for t in 0..iterations-1"]
    statement = "E(norm2(x_round[rounds] - x_star)) <= norm2(x_round[0] - x_star)"

In YAML the same fields stand in a list under ``claim:``. Formulas may use the names and operators of
``bounds.language.words``, ``server_<name>[r]`` and ``client_<name>[r, k]`` for a method's state, and the names declared
under ``variables`` (name = domain, see ``bounds.language.claim``). A ``hidden`` variable is the constant of O(.). Then
``limits`` (``{rounds = "oo", mu = 0}``) gives the limit of the order, and ``constants_may_use`` lists the names on which
the constant may depend (without it, on everything but the symbols of the limits). ``steps`` lists ids of claims, for
``fedtheory chain``.
"""

from __future__ import annotations

import ast
import itertools
import keyword
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from tokenize import TokenError

import sympy as sp
from sympy.parsing.sympy_parser import parse_expr

from bounds.formulas.well_formed import Fault, faults
from bounds.language import words
from bounds.language.claim import (
    DOMAINS,
    KINDS,
    RELATIONS,
    SAMPLING,
    SETTINGS,
    Assumption,
    Claim,
    Condition,
    Procedure,
    Variable,
)
from bounds.language.definitions import DEFINITIONS
from bounds.registry.claim_files import SUFFIXES, Places, tables
from bounds.registry.papers import PAPERS, claims_of_paper
from bounds.registry.python_files import module_from

__all__ = ["PATHS", "WrongClaims", "claims_of_user", "load_claims"]

PATHS = "FEDTHEORY_CLAIMS"  #: environment variable with paths of claim files, as in PATH
_FIELDS = {"id", "number", "kind", "reading", "source", "setting", "method", "options", "sampling", "equal_weights",
           "assume", "conditions", "statement", "variables", "note", "limits", "constants_may_use", "steps"}
_LIMITS = {"oo": sp.oo, "0": sp.Integer(0)}
_RANGE = re.compile(r"\s+for\s+(\w+)\s+in\s+(.+?)\s*\.\.\s*(.+?)\s*$")

#: the syntax of formulas
_NODES = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Call, ast.Name, ast.Constant, ast.Subscript, ast.Tuple, ast.Load,
          ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.USub, ast.UAdd)


class WrongClaims(ValueError):
    """Errors in the claims of a file: ``slips``, one for each wrong claim."""

    def __init__(self, slips: Sequence[str]):
        super().__init__("; ".join(slips))
        self.slips = tuple(slips)


def claims_of_user() -> Iterator[Claim]:
    """Claims of the files named by the environment variable ``FEDTHEORY_CLAIMS``, and of installed packages that have an
    entry point in the group ``fedtheory.claims`` (a sequence of claims)."""
    for path in filter(None, os.environ.get(PATHS, "").split(os.pathsep)):
        yield from load_claims(path)
    for point in entry_points(group="fedtheory.claims"):
        yield from point.load()


def load_claims(path: str | Path, more: Callable[[Claim], Iterable[Fault]] = lambda claim: ()) -> tuple[Claim, ...]:
    """The claims of a ``.py``, ``.toml`` or ``.yaml`` file.

    ``more`` finds faults besides those of ``bounds.formulas.well_formed``.

    Raises:
        ValueError: an unreadable file.
        WrongClaims: wrong claims, with the first slip of each: its line of the file and the symbol.
    """
    path = Path(path)
    if path.suffix not in (".py", *SUFFIXES):
        raise ValueError(f"claims are read from .py, {', '.join(SUFFIXES[:-1])} and {SUFFIXES[-1]} files; got {path.name!r}")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    if path.suffix == ".py":
        claims, fail = _from_python(path), partial(_fail_in_python, path, text)
    else:
        rows, places = tables(path, text), Places(path, text)
        readers = [_Reader(path, places, number, row) for number, row in enumerate(rows)]
        claims, fail = _each(lambda reader: reader.claim(), readers), partial(_fail_in_table, path, places, rows)
    _taken(claims, fail)

    def checked(numbered):
        for fault in (*faults(numbered[1]), *more(numbered[1])):
            fail(*numbered, fault)

    _each(checked, enumerate(claims))
    return tuple(claims)


def _each(make: Callable, parts: Iterable) -> list:
    """Apply ``make`` to every part; raise the errors of all parts together."""
    made, wrong = [], []
    for part in parts:
        try:
            made.append(make(part))
        except ValueError as error:
            wrong.append(str(error))
    if wrong:
        raise WrongClaims(wrong)
    return made


def _taken(claims, fail) -> None:
    """Fail on an id that another claim of the file, or one of a paper, has."""
    seen = set()
    for number, claim in enumerate(claims):
        if claim.paper in PAPERS and claim.id in claims_of_paper(claim.paper):
            fail(number, claim, Fault("id", 0, "", f"there is a claim {claim.id!r} already, of the paper {claim.paper}"))
        if claim.id in seen:
            fail(number, claim, Fault("id", 0, "", f"two claims have the id {claim.id!r}"))
        seen.add(claim.id)


def _fail_in_table(path: Path, places: Places, rows: list, number: int, claim: Claim, fault: Fault):
    value = rows[number].get(fault.part, "")
    entry = value[fault.place] if isinstance(value, list) and fault.place < len(value) else ""
    raise ValueError(f"{path}, line {places.line(number, fault.part, entry, fault.symbol)}: {claim.id}: {fault.text}")


def _fail_in_python(path: Path, text: str, number: int, claim: Claim, fault: Fault):
    """Name the line of the id, if the file has it in full."""
    position = text.find(claim.id)
    line = text.count("\n", 0, position) + 1 if position >= 0 else "?"
    raise ValueError(f"{path}, line {line}: {claim.id}, {fault.where}: {fault.text}")


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

    def __init__(self, path: Path, places: Places, number: int, row: dict):
        self.path, self.places, self.number, self.row = path, places, number, row
        self.field, self.entry = "", ""

    def fail(self, message: str, symbol: str = ""):
        line = self.places.line(self.number, self.field, self.entry, symbol)
        raise ValueError(f"{self.path}, line {line}: {message}")

    def at(self, field: str, entry: str = "") -> _Reader:
        """Remember the place of what is read next, for errors."""
        self.field, self.entry = field, entry
        return self

    def claim(self) -> Claim:
        row = self.row
        unknown = sorted(set(row) - _FIELDS)
        if unknown:
            self.at(unknown[0]).fail(f"unknown field {unknown[0]!r}; allowed: {', '.join(sorted(_FIELDS))}")
        for name in ("id", "statement"):
            if not isinstance(row.get(name), str):
                self.at(name).fail(f"a claim needs the text {name!r}; got {row.get(name)!r}")
        if "/" not in row["id"]:
            self.at("id").fail(f"an id is <paper>/<block>[@<reading>]; got {row['id']!r}")
        for name, allowed in (("kind", KINDS), ("setting", SETTINGS), ("sampling", SAMPLING)):
            if row.get(name, allowed[0]) not in allowed:
                self.at(name, str(row[name])).fail(f"unknown {name} {row[name]!r}; allowed: {', '.join(allowed)}")
        self.variables = tuple(itertools.starmap(self.variable, row.get("variables", {}).items()))
        assumptions = tuple(
            Assumption(f"{row['id']}:assumption-{n}", text, (self.at("assume", text).condition(text),))
            for n, text in enumerate(row.get("assume", ()), start=1))
        conditions = tuple(self.at("conditions", text).condition(text) for text in row.get("conditions", ()))
        statement = self.at("statement").condition(row["statement"])
        setting, limits = row.get("setting", "run"), self.limits()
        procedure = Procedure(
            row.get("method", "fedavg"), sampling=row.get("sampling", "full"),
            options=tuple(row.get("options", {}).items()), equal_weights=bool(row.get("equal_weights", True)))
        try:
            return Claim(
                row["id"], str(row.get("number", "none")), row.get("kind", "theorem"), setting, statement, assumptions,
                conditions, row.get("reading", "as written"), row.get("source", str(self.path)),
                procedure=procedure if setting == "run" else None, variables=self.variables, note=row.get("note", ""),
                explicit=all(v.domain != "hidden" for v in self.variables), limits=limits,
                constants_may_use=tuple(row["constants_may_use"]) if "constants_may_use" in row else None,
                steps=tuple(row.get("steps", ())), definitions=DEFINITIONS)
        except ValueError as error:
            self.at("id").fail(str(error))

    def variable(self, name: str, domain: str) -> Variable:
        self.at("variables", name)
        if not isinstance(domain, str):
            self.fail(f"{name}: a domain is one of {', '.join(DOMAINS)}; got {domain!r}")
        if not name.isidentifier() or keyword.iskeyword(name):
            self.fail(f"{name!r} is no name; a name has letters, digits and _")
        try:
            return Variable(name, domain)
        except ValueError as error:
            self.fail(str(error))

    def limits(self) -> tuple:
        """Pairs of a symbol and its limit."""
        found = []
        for name, end in self.row.get("limits", {}).items():
            self.at("limits", name)
            if str(end) not in _LIMITS:
                self.fail(f"{name} goes to \"oo\" or to 0; got {end!r}")
            found.append((self.formula(name), _LIMITS[str(end)]))
        return tuple(found)

    def condition(self, text: str) -> Condition:
        """``left <= right for k in 0..clients-1 for t in ...``."""
        rest, over = " ".join(text.split()), []
        while found := _RANGE.search(rest):
            index, low, high = found.groups()
            over.insert(0, (index, low, high))
            rest = rest[: found.start()]
        relations = re.findall(r"[<>=!]+", rest)
        if len(relations) != 1 or relations[0] not in RELATIONS:
            said = "one of <=, >= and ==" if len(relations) > 1 else "<=, >= or =="
            self.fail(f"a condition needs {said}; got {text!r}")
        indices = {index: sp.Symbol(index, integer=True) for index, *_ in over}
        left, right = (self.formula(side, indices) for side in rest.split(relations[0]))
        ranges = [(indices[index], *(self.formula(end, indices) for end in ends)) for index, *ends in over]
        return Condition(left, relations[0], right, tuple(ranges))

    def formula(self, text: str, indices: dict | None = None):
        text, known = text.strip(), self.names() | (indices or {})
        try:
            tree = ast.parse(text, mode="eval")
        except SyntaxError as error:
            rest = text[(error.offset or len(text) + 1) - 1:]
            self.fail(f"cannot read {text!r}: {error.msg} at {repr(rest) if rest else 'its end'}" if text
                      else f"a side of {self.entry or self.row.get(self.field)!r} is empty")
        for node in ast.walk(tree):
            self.node(node, text, known)
        try:
            return parse_expr(text, local_dict=known)
        except (SyntaxError, TokenError, TypeError, ValueError, AttributeError, IndexError) as error:
            self.fail(f"cannot read {text!r}: {error}")

    def node(self, node, text: str, known: dict) -> None:
        """Fail on a part of a formula that is not in the language."""
        if not isinstance(node, _NODES):
            hint = "; powers are written **" if isinstance(node, ast.BitXor) else ""
            self.fail(f"cannot read {text!r}: {type(node).__name__} is not part of a formula{hint}")
        if isinstance(node, ast.Name):
            name = node.id
            if name not in known and not name.startswith(("server_", "client_", "local_")):
                near = get_close_matches(name, known, 1)
                self.fail(f"unknown symbol {name!r} in {text!r}; declare it under variables, or use a name of "
                          "bounds.language.words" + (f"; nearest: {near[0]}" if near else ""), name)
            known.setdefault(name, sp.IndexedBase(name, real=True))
        base = node.value if isinstance(node, ast.Subscript) else node.func if isinstance(node, ast.Call) else None
        if isinstance(base, ast.Name) and base.id in known:
            array = isinstance(known[base.id], sp.IndexedBase)
            if isinstance(node, ast.Subscript) and not array:
                self.fail(f"{base.id} takes no index; got {ast.unparse(node)}", base.id)
            if isinstance(node, ast.Call) and (array or isinstance(known[base.id], sp.Symbol)):
                self.fail(f"{base.id} is no function; got {ast.unparse(node)}"
                          + (f"; indices stand in brackets, {base.id}[...]" if array else ""), base.id)

    def names(self) -> dict:
        known = self.words() | {str(index): sp.Symbol(str(index), integer=True) for index in "tijkr"}
        for variable in self.variables:
            signs = {"positive": {"positive": True}, "nonnegative": {"nonnegative": True},
                     "integer": {"integer": True, "positive": True}}.get(variable.domain, {"real": True})
            known[variable.name] = sp.Symbol(variable.name, **signs)
        return known

    @staticmethod
    def words() -> dict:
        known = {name: getattr(words, name) for name in words.__all__}
        known |= {d.name: d.symbol for d in DEFINITIONS.values()}
        return known | {name: getattr(sp, name) for name in ("sqrt", "exp", "log", "Abs")}
