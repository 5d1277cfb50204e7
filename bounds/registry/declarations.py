"""Reads what a claim of a file declares: variables with their domains, options of the method, limits."""

import keyword
import re
from dataclasses import replace
from typing import Any

import sympy as sp

from bounds.language.claim import DOMAINS, Claim, Condition, Variable
from bounds.language.names import ARGUMENT, COUPLED, DATA, FEDERATION, NAMES, RUN, SIZE, meaning_of
from bounds.registry.claim_files import short

__all__ = ["LONGEST", "Declarations", "domain_conditions", "with_bounded_sizes", "with_setting"]

LONGEST = 200  #: characters of an id, a name, or an option's value
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_DOMAIN = re.compile(r"([\w-]+)\s*(?:\[([\w\s,+]*)\])?(?:\s+from\s+(\d{1,9}))?(?:\s+to\s+(\d{1,9}))?"
                     r"(?:\s+below\s+(\d{1,9}))?", re.ASCII)
_AT_MOST = re.compile(r"integer(?=\s)(\s+from\s+\d{1,9})?(\s+to\s+\d{1,9})?", re.ASCII)  # what may be said of a size
_MORE = re.compile(r"(\w+)\s*\+\s*([1-9]\d{0,2})", re.ASCII)  # a size of an array that is larger than one of the claim
_FOLLOWED = {"rounds", "iterations", "local_steps"}  # sizes of an instance to which an array may add entries
_LARGEST = 1e15  # number as an option
_MEASURED = (SIZE, FEDERATION, DATA, RUN, COUPLED)  # sources of names that a variable of a run or of a point may not have
_LETTERS = "ijkl"  # of the indices of an array of the user's
_TABLES = ("exists", "witness", "definitions", "let")  # of formulas
_OF_NUMBERS = {"id", "extends", "number", "kind", "reading", "source", "note", "variables", "conditions", "statement",
               "steps", "limits", "constants_may_use", "relation", *_TABLES}
_OPERATORS = {"sqrt", "exp", "log", "Abs", "floor", "ceiling", "Max", "Min", "Sum", "Product", "norm", "norm2", "dot", "in"}
_OF_DOMAINS = {"from", "to", "below", "hidden", "log"}


def with_setting(row: dict[str, Any]) -> dict[str, Any]:
    """The fields of a claim, with the setting ``algebra`` where none is given and it speaks of its own numbers alone."""
    tables = [row.get(field, {}) for field in ("variables", *_TABLES)]
    if "variables" not in row or not row.keys() <= _OF_NUMBERS or not all(isinstance(table, dict) for table in tables):
        return row
    texts = [row.get("statement"), *_list(row.get("conditions")), *(v for table in tables[1:] for v in table.values())]
    if not all(isinstance(text, str) for text in texts):
        return row
    formulas, domains = " ".join(texts), " ".join(map(str, tables[0].values()))
    own = {_NAME.match(name)[0] for table in tables for name in table if _NAME.match(name)}
    known = {name for name, one in NAMES.items() if one.source != ARGUMENT}
    arguments = {one for table in tables[1:] for name in table for one in _NAME.findall(name)[1:]} - known
    indices = {*"tijkr", *arguments, *re.findall(r"\bfor\s+(\w+)", formulas), *re.findall(r",\s*\(\s*(\w+)\s*,", formulas)}
    names = {*_NAME.findall(formulas)} - _OPERATORS - {"for"} | {*_NAME.findall(domains)} - {*DOMAINS, *_OF_DOMAINS}
    return row if names - own - indices or own & known else row | {"setting": "algebra"}


def with_bounded_sizes(row: dict[str, Any]) -> dict[str, Any]:
    """The fields of a claim about losses or runs, with conditions in place of bounds of sizes: ``clients = "integer to 2"``
    is ``clients <= 2``. The local steps stay a variable, of which methods know."""
    own = row.get("variables")
    if row.get("setting") == "algebra" or not isinstance(own, dict):
        return row
    bounds = {name: _AT_MOST.fullmatch(text.strip()) for name, text in own.items() if isinstance(text, str)
              and name in NAMES and NAMES[name].source == SIZE and name != "local_steps"}
    ends = {name: [text and int(text.split()[1]) for text in bound.groups()] for name, bound in bounds.items() if bound}
    if any(low and high and low > high for low, high in ends.values()):
        return row  # which is refused
    more = [f"{name} {sign} {end}" for name, both in ends.items()
            for sign, end in zip((">=", "<="), both, strict=True) if end]
    if not more:
        return row
    return row | {"conditions": [*_list(row.get("conditions")), *more],
                  "variables": {name: text for name, text in own.items() if not bounds.get(name)}}


def _list(value) -> list:
    return value if isinstance(value, list) else [value] if value is not None else []


class Declarations:
    """The part of a reader of claims that reads declarations."""

    def variable(self, name: str, domain: str) -> Variable:
        """The variable of a name and the text of its domain."""
        self.locate("variables", name).check_name(name)
        word, row = self.names().get(name), NAMES.get(name)
        if (word is not None and not isinstance(word, sp.Symbol | sp.IndexedBase)) or (
                row and (row.indices or row.source in _MEASURED) and self.row.get("setting") != "algebra"
                and not (row.source == SIZE and _AT_MOST.fullmatch(str(domain).strip()))):
            hint = "" if row is None or "setting" in self.row else ', or setting = "algebra" for a claim about numbers alone'
            self.fail(f"{name} has a meaning already{meaning_of(name)}; choose another name{hint}", name)
        if not isinstance(domain, str):
            self.fail(f"{name}: a domain is one of {', '.join(DOMAINS)}; got {short(domain)}")
        parts = _DOMAIN.fullmatch(domain.strip())
        if not parts or parts[1] not in DOMAINS:
            self.fail(f"{name}: unknown domain {short(domain)}; allowed: {', '.join(DOMAINS)}, with [size, ...] behind it "
                      "for an array, 'from 2' and 'to 9' for an integer, 'below 1' for a number")
        kind, sizes, low, high, below = parts.groups()
        if (low or high) and kind != "integer":
            self.fail(f"{name}: 'from' and 'to' are for an integer; got {short(domain)}")
        if (high is not None and int(high) < int(low or 1)) or (below == "0" and kind in ("positive", "nonnegative")):
            self.fail(f"{name}: no number lies in the domain {short(domain)}; an integer is at least 1 unless 'from' "
                      "says less")
        if kind == "simplex" and not sizes:
            self.fail(f"{name}: a simplex has a size behind it, as in simplex[clients]; got {short(domain)}")
        try:
            return Variable(name, kind, self.indices(name, sizes), int(low or 1), high and int(high), below and int(below))
        except ValueError as error:
            self.fail(str(error))

    def indices(self, name: str, sizes: str | None) -> tuple[tuple[str, str], ...]:
        """The indices of an array, a letter for each size."""
        listed = [size.strip() for size in (sizes or "").split(",")] if sizes is not None else []
        own = {v.name for v in self.variables if v.domain == "integer" and not v.indices}
        known = {row.name for row in NAMES.values() if row.source == SIZE} | own
        for place, size in enumerate(listed):
            if (more := _MORE.fullmatch(size)) and more[1] in own | _FOLLOWED:
                listed[place] = f"{more[1]} + {more[2]}"
            elif size not in known:
                self.fail(f"{name}: unknown size {short(size)}; allowed: {', '.join(sorted(known))}, and, with a whole "
                          f"number added as in n+1, {', '.join(sorted(own | _FOLLOWED))}", size)
        if len(listed) > len(_LETTERS):
            self.fail(f"{name}: an array has at most {len(_LETTERS)} indices; got {len(listed)}")
        letters = self.index_letters.get(name) or self.vocabulary.indices(name)
        return tuple(zip(letters if len(letters) == len(listed) else _LETTERS, listed, strict=False))

    def option(self, name: str, value):
        """The value of an option: a number, true or false, a short text, or a list of such."""
        self.locate("options", name).check_name(name)
        value = tuple(value) if isinstance(value, list) else value
        for one in value if isinstance(value, tuple) else [value]:
            number = isinstance(one, int | float) and abs(one) <= _LARGEST  # this leaves out nan
            if not number and not (isinstance(one, str) and len(one) <= LONGEST):
                self.fail(f"{name} is a number up to {_LARGEST:g}, true or false, a text of at most {LONGEST} characters, "
                          f"or a list of such; got {short(one)}")
        return value

    def limits(self) -> tuple:
        """Pairs of a symbol and its limit: ``{mu = "0"}``, or ``{oo = ["rounds", "L"]}`` for several."""
        found = []
        given = self.row.get("limits", {}).items()
        lists = {end: names for end, names in given if isinstance(names, list) and end in ("oo", "0")}
        ends = [(name, end) for end, names in lists.items() for name in names]
        for name, end in [*ends, *((name, end) for name, end in given if name not in lists)]:
            self.locate("limits", name).check_name(name)
            if isinstance(end, bool) or end not in ("oo", "0", 0):
                self.fail(f"{name} goes to \"oo\" or to 0; got {short(end)}")
            symbol = self.formula(name)
            if not isinstance(symbol, sp.Symbol | sp.IndexedBase) or name in self.vectors():
                self.fail(f"a limit is that of a number or an array; got {name}", name)
            if end != "oo" and symbol.is_Symbol and symbol.is_integer and symbol.is_positive:
                self.fail(f"{name} is a whole number of at least 1 and goes to \"oo\"; got {short(end)}", name)
            found.append((getattr(symbol, "label", symbol), sp.oo if end == "oo" else sp.Integer(0)))  # an array by its name
        return tuple(found)

    def without_other_arrays(self, claim: Claim) -> Claim:
        """A claim about numbers without the arrays that it does not use: those of claims with which it shares a table. A
        simplex stays, because it asks for one entry at least."""
        used = tuple(v for v in claim.variables if not v.indices or v.name in claim.names or v.domain == "simplex")
        return replace(claim, variables=used) if claim.setting == "algebra" else claim

    def vectors(self) -> set[str]:
        """The names that stand for vectors, without those of arrays."""
        known = {row.name for row in NAMES.values() if row.kind == "vector" and not row.indices}
        return known | {v.name for v in self.variables if v.domain == "vector" and not v.indices}

    def new_name(self, name: str) -> None:
        """Refuse a name that is none, or that stands for something else."""
        self.check_name(name)
        if name in self.names() or name in NAMES:
            self.fail(f"{name} has a meaning already{meaning_of(name)}; choose another name", name)

    def check_name(self, name: str) -> None:
        if not _NAME.fullmatch(name) or keyword.iskeyword(name) or len(name) > LONGEST:
            self.fail(f"{short(name)} is no name; a name has ASCII letters, digits and _")


def domain_conditions(variable: Variable, own: sp.Symbol, value: sp.Expr) -> tuple[Condition, ...]:
    """The conditions of a variable's domain on a number that a hypothesis defines, unless sympy derives them from the
    formula for its value."""
    found = {"positive": [(own, ">", 0)], "nonnegative": [(own, ">=", 0)], "binary": [(own*(1 - own), "==", 0)]}.get(
        variable.domain, [])
    if getattr(value, f"is_{variable.domain}", False) or (variable.domain == "binary" and value in (0, 1)):
        found = []
    if variable.below is not None and not (value - variable.below).is_negative:
        found.append((own, "<", variable.below))
    return tuple(Condition(left, sign, right) for left, sign, right in found)
