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

import itertools
import keyword
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import Self

import sympy as sp

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
from bounds.registry.claim_files import SUFFIXES, Places, short, tables, text_of
from bounds.registry.expressions import MOST_TERMS, NoFormula, excerpt, expression, only_ascii
from bounds.registry.papers import PAPERS, claims_of_paper
from bounds.registry.python_files import module_from

__all__ = ["PATHS", "WrongClaims", "claims_of_user", "load_claims"]

PATHS = "FEDTHEORY_CLAIMS"  #: environment variable with paths of claim files, as in PATH
_FIELDS = {"id", "number", "kind", "reading", "source", "setting", "method", "options", "sampling", "equal_weights",
           "assume", "conditions", "statement", "variables", "note", "limits", "constants_may_use", "steps"}
_ID = re.compile(r"[\w-]+/[\w@./+-]+", re.ASCII)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_LONGEST = 200  # characters of an id, a name, or an option's value
_LARGEST = 1e15  # number as an option


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
    """The claims of a ``.py``, ``.toml`` or ``.yaml`` file. A ``.py`` file is run; the others are data.

    ``more`` finds faults besides those of ``bounds.formulas.well_formed``.

    Raises:
        ValueError: an unreadable file.
        WrongClaims: wrong claims, with the first slip of each: its line of the file and the symbol.
    """
    path = Path(path)
    if path.suffix not in (".py", *SUFFIXES):
        raise ValueError(f"claims are read from .py, {', '.join(SUFFIXES[:-1])} and {SUFFIXES[-1]} files; got {path.name!r}")
    text = text_of(path)
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

    def at(self, field: str, entry: str = "") -> Self:
        """Remember the place of what is read next, for errors."""
        self.field, self.entry = field, entry
        return self

    def claim(self) -> Claim:
        row = self.row
        unknown = sorted(set(row) - _FIELDS)
        if unknown:
            self.at(unknown[0]).fail(f"unknown field {short(unknown[0])}; allowed: {', '.join(sorted(_FIELDS))}")
        for name in ("id", "statement"):
            if not isinstance(row.get(name), str):
                self.at(name).fail(f"a claim needs the text {name!r}; got {short(row.get(name))}")
        if not _ID.fullmatch(row["id"]) or len(row["id"]) > _LONGEST:
            self.at("id").fail("an id is <paper>/<block>[@<reading>], of ASCII letters, digits and . + - _, at most "
                               f"{_LONGEST} characters; got {short(row['id'])}")
        for name, allowed in (("kind", KINDS), ("setting", SETTINGS), ("sampling", SAMPLING)):
            if row.get(name, allowed[0]) not in allowed:
                self.at(name, row[name]).fail(f"unknown {name} {short(row[name])}; allowed: {', '.join(allowed)}")
        self.variables = tuple(itertools.starmap(self.variable, row.get("variables", {}).items()))
        assumptions = tuple(
            Assumption(f"{row['id']}:assumption-{n}", text, (self.at("assume", text).condition(text),))
            for n, text in enumerate(row.get("assume", ()), start=1))
        conditions = tuple(self.at("conditions", text).condition(text) for text in row.get("conditions", ()))
        statement = self.at("statement").condition(row["statement"])
        setting, limits = row.get("setting", "run"), self.limits()
        options = tuple((name, self.option(name, value)) for name, value in row.get("options", {}).items())
        procedure = Procedure(row.get("method", "fedavg"), sampling=row.get("sampling", "full"), options=options,
                              equal_weights=row.get("equal_weights", True))
        try:
            return Claim(
                row["id"], str(row.get("number", "none")), row.get("kind", "theorem"), setting, statement, assumptions,
                conditions, str(row.get("reading", "as written")), str(row.get("source", self.path)),
                procedure=procedure if setting == "run" else None, variables=self.variables, note=str(row.get("note", "")),
                explicit=all(v.domain != "hidden" for v in self.variables), limits=limits,
                constants_may_use=tuple(row["constants_may_use"]) if "constants_may_use" in row else None,
                steps=tuple(row.get("steps", ())), definitions=DEFINITIONS)
        except ValueError as error:
            self.at("id").fail(str(error))

    def variable(self, name: str, domain: str) -> Variable:
        self.at("variables", name).check_name(name)
        if not isinstance(domain, str):
            self.fail(f"{name}: a domain is one of {', '.join(DOMAINS)}; got {short(domain)}")
        if domain not in DOMAINS:
            self.fail(f"{name}: unknown domain {short(domain)}; allowed: {', '.join(DOMAINS)}")
        return Variable(name, domain)

    def check_name(self, name: str) -> None:
        if not _NAME.fullmatch(name) or keyword.iskeyword(name) or len(name) > _LONGEST:
            self.fail(f"{short(name)} is no name; a name has ASCII letters, digits and _")

    def option(self, name: str, value):
        """The value of an option: a number, true or false, a short text, or a list of such."""
        self.at("options", name).check_name(name)
        value = tuple(value) if isinstance(value, list) else value
        for one in value if isinstance(value, tuple) else [value]:
            number = isinstance(one, int | float) and abs(one) <= _LARGEST  # this leaves out nan
            if not number and not (isinstance(one, str) and len(one) <= _LONGEST):
                self.fail(f"{name} is a number up to {_LARGEST:g}, true or false, a text of at most {_LONGEST} characters, "
                          f"or a list of such; got {short(one)}")
        return value

    def limits(self) -> tuple:
        """Pairs of a symbol and its limit."""
        found = []
        for name, end in self.row.get("limits", {}).items():
            self.at("limits", name).check_name(name)
            if isinstance(end, bool) or end not in ("oo", "0", 0):
                self.fail(f"{name} goes to \"oo\" or to 0; got {short(end)}")
            symbol = self.formula(name)
            if not isinstance(symbol, sp.Symbol | sp.IndexedBase):
                self.fail(f"a limit is that of a number or an array; got {name}")
            found.append((symbol, sp.oo if end == "oo" else sp.Integer(0)))
        return tuple(found)

    def condition(self, text: str) -> Condition:
        """``left <= right for k in 0..clients-1 for t in ...``."""
        self.checked(only_ascii, text)
        sides, *ranges = " ".join(text.split()).split(" for ")
        relations = re.findall(r"[<>=!]+", sides)
        if len(relations) != 1 or relations[0] not in RELATIONS:
            said = "one of <=, >= and ==" if len(relations) > 1 else "<=, >= or =="
            self.fail(f"a condition needs {said}; got {excerpt(text)}")
        over, indices = [], {}
        for one in ranges:
            index, _, ends = one.partition(" in ")
            low, dots, high = ends.partition("..")
            if not (dots and low.strip() and high.strip()):
                self.fail(f"a range is written 'for k in 0..clients-1'; got {excerpt(f'for {one}')}")
            self.check_name(index)
            if index in indices:
                self.fail(f"two ranges have the index {index}", index)
            indices[index] = sp.Symbol(index, integer=True)
            over.append((index, low, high))
        left, right = (self.formula(side, indices) for side in sides.split(relations[0]))
        return Condition(left, relations[0], right, tuple(
            (indices[index], *(self.end(end, indices) for end in ends)) for index, *ends in over))

    def end(self, text: str, indices: dict):
        """An end of a range."""
        found = self.formula(text, indices)
        if found.is_number and not (found.is_Integer and abs(found) <= MOST_TERMS):
            self.fail(f"an end of a range is a whole number up to {MOST_TERMS}; got {excerpt(text)}")
        return found

    def formula(self, text: str, indices: dict | None = None):
        if not text.strip():
            self.fail(f"a side of {excerpt(self.entry or self.row.get(self.field))} is empty")
        return self.checked(expression, text, self.names() | (indices or {}))

    def checked(self, read: Callable, *given):
        """What ``read`` returns; a text that is no formula is refused with its line."""
        try:
            return read(*given)
        except NoFormula as error:
            self.fail(str(error), error.symbol)

    def names(self) -> dict:
        known = {name: getattr(words, name) for name in words.__all__} | {d.name: d.symbol for d in DEFINITIONS.values()}
        known |= {name: getattr(sp, name) for name in ("sqrt", "exp", "log", "Abs")}
        known |= {index: sp.Symbol(index, integer=True) for index in "tijkr"}
        for variable in self.variables:
            signs = {"positive": {"positive": True}, "nonnegative": {"nonnegative": True},
                     "integer": {"integer": True, "positive": True}}.get(variable.domain, {"real": True})
            known[variable.name] = sp.Symbol(variable.name, **signs)
        return known
