"""Reads one claim of a user's file: fields of a table as text become formulas, and every error names its line."""

import itertools
import keyword
import re
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import Self

import sympy as sp

from bounds.language import coordinates, functions, samples, words
from bounds.language.claim import (
    DOMAINS,
    HIDDEN,
    KINDS,
    RELATIONS,
    SAMPLING,
    SETTINGS,
    Assumption,
    Choice,
    Claim,
    Condition,
    Definition,
    Procedure,
    Variable,
    names_in,
)
from bounds.language.defining import defining
from bounds.language.definitions import DEFINITIONS
from bounds.language.letters import letter_text
from bounds.language.names import CONSTANT, COUPLED, DATA, FEDERATION, NAMES, RUN, SIZE, symbol
from bounds.language.space import infimum
from bounds.registry.claim_files import LIST_NAME, Places, between_commas, short
from bounds.registry.expressions import MOST_TERMS, NoFormula, excerpt, expression, only_ascii
from bounds.registry.known_names import known_names

__all__ = ["Reader"]

_FIELDS = {"id", "number", "kind", "reading", "source", "setting", "method", "options", "sampling", "equal_weights",
           "free_clients", "extends", "assume", "constants", "definitions", "conditions", "statement", "variables", "note",
           "limits", "constants_may_use", "steps", "exists", "witness"}
_ID = re.compile(r"[\w-]+/[\w@./+-]+", re.ASCII)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_DEFINED = re.compile(r"(\w+)\s*(?:\[([\w\s,]*)\])?", re.ASCII)
_DOMAIN = re.compile(r"([\w-]+)\s*(?:\[([\w\s,+]*)\])?(?:\s+from\s+(\d{1,9}))?(?:\s+to\s+(\d{1,9}))?"
                     r"(?:\s+below\s+(\d{1,9}))?", re.ASCII)
_MORE = re.compile(r"(\w+)\s*\+\s*([1-9]\d{0,2})", re.ASCII)  # a size of an array that is larger than one of the claim
_FOLLOWED = {"rounds", "iterations", "local_steps"}  # sizes of an instance to which an array may add entries
_INTERVAL = re.compile(r"([\[(])(.+)([\])])", re.ASCII)
_EQUATION = re.compile(r"[^<>=!]==[^=].*\sfor\s+all\s+v\b", re.DOTALL)  # at all points
_LONGEST = 200  # characters of an id, a name, or an option's value
_LARGEST = 1e15  # number as an option
_MOST_WRITTEN = 5_000  # parts of a formula with its definitions inserted
_MEASURED = (SIZE, FEDERATION, DATA, RUN, COUPLED)  # sources of names that a variable of a run or of a point may not have
_OVER_SPACE = {name for name, row in NAMES.items() if row.source == CONSTANT and row.origin}
_LETTERS = "ijkl"  # of the indices of an array of the user's


class Reader:
    """One table of a file."""

    def __init__(self, path: Path, places: Places, number: int, row: dict, before: list[dict], shared: dict):
        self.path, self.places, self.number, self.row, self.before, self.shared = path, places, number, row, before, shared
        self.field, self.entry, self.variables = "", "", ()
        self.own, self.own_constants, self.lengths = {}, {}, {}

    def fail(self, message: str, symbol: str = ""):
        line = self.places.line(self.number, self.field, self.entry, symbol)
        raise ValueError(f"{self.path}, line {line}: {message}")

    def at(self, field: str, entry: str = "") -> Self:
        """Remember the place of what is read next, for errors."""
        self.field, self.entry = field, entry
        return self

    def claim(self) -> Claim:
        row = self.row = self.extended()
        unknown = sorted(set(row) - _FIELDS)
        if unknown:
            near = get_close_matches(unknown[0], _FIELDS, 1)
            self.at(unknown[0]).fail(f"unknown field {short(unknown[0])}{f', nearest: {near[0]}' if near else ''}; allowed: "
                                     f"{', '.join(sorted(_FIELDS))}")
        for name in ("id", "statement"):
            if not isinstance(row.get(name), str):
                self.at(name).fail(f"a claim needs the text {name!r}; got {short(row.get(name))}")
        if not _ID.fullmatch(row["id"]) or len(row["id"]) > _LONGEST:
            self.at("id").fail("an id is <paper>/<block>[@<reading>], of ASCII letters, digits and . + - _, at most "
                               f"{_LONGEST} characters; got {short(row['id'])}")
        for name, allowed in (("kind", KINDS), ("setting", SETTINGS), ("sampling", SAMPLING)):
            if row.get(name, allowed[0]) not in allowed:
                self.at(name, row[name]).fail(f"unknown {name} {short(row[name])}; allowed: {', '.join(allowed)}")
        setting = row.get("setting", "run")
        if setting != "run" and row.get("method", "fedavg") != "fedavg":
            self.at("method", row["method"]).fail(f"only a claim about runs has a method; got {short(row['method'])} with "
                                                  f"setting {setting}")
        for name, domain in (self.may_vanish() | row.get("variables", {})).items():
            self.variables += (self.variable(name, domain),)
        if row.get("sampling") == "bernoulli" and row.get("setting", "run") == "run":
            self.variables += (Variable("participation", "positive"),) * ("participation" not in row.get("variables", {}))
        chosen = self.chosen()
        constants = list(itertools.starmap(self.constant, row.get("constants", {}).items()))
        for name, formula in row.get("definitions", {}).items():
            self.define(name, formula)
        exists = self.choice(*chosen) if chosen else None
        assumptions = tuple(
            self.at("assume", text).assumption(f"{row['id']}:assumption-{n}", text)
            for n, text in enumerate(self.assumed(), start=1))
        assumptions += tuple(
            Assumption(f"{row['id']}:constant-{c.left}", f"{c.left} is {text}", (c,)) for c, text in constants)
        conditions = tuple(c for text in row.get("conditions", ()) for c in self.at("conditions", text).hypotheses(text))
        if row.get("sampling") == "bernoulli" and row.get("setting", "run") == "run":  # it is a probability
            conditions += (Condition(symbol("participation"), "<=", 1),)
        statement = self.at("statement").condition(self.at_any_point(row["statement"]))
        limits = self.limits()
        options = tuple((name, self.option(name, value)) for name, value in row.get("options", {}).items())
        procedure = Procedure(row.get("method", "fedavg"), row.get("free_clients", False), options=options,
                              sampling=row.get("sampling", "full"), equal_weights=row.get("equal_weights", setting == "run"))
        places = defining(conditions, {}, names_in, {name: d.formula for name, d in self.own.items()})
        given = {name for name, place in places.items() if conditions[place].left.is_Symbol}
        variables = tuple(v for v in self.variables if v.domain in ("integer", "vector") or v.name not in given)
        try:
            return Claim(
                row["id"], str(row.get("number", "none")), row.get("kind", "theorem"), setting, statement, assumptions,
                conditions, str(row.get("reading", "as written")), str(row.get("source", self.path)),
                procedure=None if setting == "algebra" else procedure, variables=variables, note=str(row.get("note", "")),
                explicit=all(v.domain not in HIDDEN for v in self.variables), limits=limits,
                constants_may_use=tuple(row["constants_may_use"]) if "constants_may_use" in row else None,
                steps=tuple(row.get("steps", ())), definitions=DEFINITIONS | self.own,
                exists=exists)
        except ValueError as error:
            self.at("id").fail(str(error))

    def may_vanish(self) -> dict[str, str]:
        """Constants that are positive unless a hypothesis says that they are at least 0, as ``mu >= 0`` does: variables."""
        said = {str(text).replace(" ", "") for text in (*self.assumed(), *self.row.get("conditions", ()))}
        return {name: "nonnegative" for name, row in NAMES.items() if row.source == CONSTANT and row.sign == "positive"
                and not row.indices and {f"{name}>=0", f"0<={name}"} & said}

    def hypotheses(self, text: str) -> tuple[Condition, ...]:
        """A condition; an equation at all points is two, since either side bounds the other."""
        both = ("<=", ">=") if _EQUATION.search(text) else ("==",)
        return tuple(self.hypothesis(text.replace("==", sign)) for sign in both)

    def hypothesis(self, text: str) -> Condition:
        """A condition. No symbol gets a number that its sign excludes, no constant over all points a value of its own."""
        c = self.condition(text)
        for sign in ("positive", "nonnegative", "integer"):
            if (c.relation == "==" and c.left.is_Symbol and getattr(c.left, f"is_{sign}")
                    and c.right.is_number and getattr(c.right, f"is_{sign}") is False):
                self.fail(f"{c.left} is {sign}; got {c.left} == {c.right}; declare it under variables with a domain that "
                          "has this number", c.left.name)
        if self.row.get("setting") == "algebra" or c.left.has(infimum) or c.right.has(infimum):
            return c
        pairs = {"=": [(c.left, c.right), (c.right, c.left)], "<": [(c.right, c.left)], ">": [(c.left, c.right)]}
        for side, other in pairs[c.relation[0]]:
            name = str(side.base.label) if isinstance(side, sp.Indexed) else getattr(side, "name", "")
            if name in _OVER_SPACE and (c.relation == "==" or names_in(other)):
                self.fail(f"{name} is {NAMES[name].origin}, and no condition gives it a value; another name may have one, "
                          f"and a difference is compared with 0; got {excerpt(text)}", name)
        return c

    def variable(self, name: str, domain: str) -> Variable:
        self.at("variables", name).check_name(name)
        word, row = self.names().get(name), NAMES.get(name)
        if (word is not None and not isinstance(word, sp.Symbol | sp.IndexedBase)) or (
                row and (row.indices or row.source in _MEASURED) and self.row.get("setting") != "algebra"):
            self.fail(f"{name} has a meaning already; choose another name", name)
        if not isinstance(domain, str):
            self.fail(f"{name}: a domain is one of {', '.join(DOMAINS)}; got {short(domain)}")
        parts = _DOMAIN.fullmatch(domain.strip())
        if not parts or parts[1] not in DOMAINS:
            self.fail(f"{name}: unknown domain {short(domain)}; allowed: {', '.join(DOMAINS)}, with [size, ...] behind it "
                      "for an array, 'from 2' and 'to 9' for an integer, 'below 1' for a number")
        kind, sizes, low, high, below = parts.groups()
        if (low or high) and kind != "integer":
            self.fail(f"{name}: 'from' and 'to' are for an integer; got {short(domain)}")
        return Variable(name, kind, self.indices(name, sizes), int(low or 1), high and int(high), below and int(below))

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
        return tuple(zip(_LETTERS, listed, strict=False))

    def extended(self) -> dict:
        """The fields of this claim, and those that it does not give from the claim that it extends."""
        base = self.row.get("extends")
        if base is None:
            return self.row
        known = {row.get("id"): row for row in self.before}
        if base not in known:
            self.at("extends").fail(f"extends the id of a claim above it; got {short(base)}, allowed: "
                                    f"{', '.join(map(str, known)) or 'none'}")
        for name, value in known[base].items():
            self.row.setdefault(name, value)
        return self.row

    def assumed(self) -> list[str]:
        """The assumptions, those of the file by name included."""
        found = []
        for text in self.row.get("assume", ()):
            if LIST_NAME.fullmatch(text.strip()):
                if text.strip() not in self.shared:
                    self.at("assume", text).fail(f"no assumption {short(text)} in this file; allowed: a condition, or one "
                                                 f"of {', '.join(self.shared) or 'none'}", text.strip())
                found += self.shared[text.strip()]
            else:
                found.append(text)
        return found

    def assumption(self, name: str, text: str) -> Assumption:
        """A condition, or with ``for all u`` one on every loss ``f``, at all points."""
        written = text.removesuffix(" for all u")
        if written == text or "f_grad" not in text:
            return Assumption(name, text, self.hypotheses(text))
        condition = self.condition(written, {"u": functions.u, "f_grad": functions.f_grad})
        if condition != Condition(words.norm(functions.f_grad(functions.u)), "<=", samples.G_lip):
            self.fail("what is assumed of every sample's loss f at all points is written "
                      f"norm(f_grad(u)) <= G_lip for all u; got {excerpt(text)}")
        return Assumption(name, text, everywhere=condition)

    def constant(self, name: str, text) -> tuple[Condition, str]:
        """``name`` is the least number that is at least the formula for all its indices."""
        self.at("constants", name).new_name(name)
        if not isinstance(text, str):
            self.fail(f"{name} is a formula, as text; got {short(text)}")
        self.own_constants[name] = sp.Symbol(name, real=True)
        formula, space, ranges = text.partition(" for ")
        c = self.at("constants", text).condition(f"{formula} <= {name}{space}{ranges}")
        value = c.left
        for triple in reversed(c.over):
            value = coordinates.highest(*triple, value)
        return Condition(c.right, "==", value), text

    def chosen(self) -> tuple[str, str] | None:
        """The name and the interval of the number that is said to exist; the name gets its meaning."""
        chosen = self.row.get("exists", {})
        if len(chosen) > 1:
            self.at("exists").fail(f"at most one number is said to exist; got {', '.join(chosen)}")
        if unknown := [name for name in self.row.get("witness", {}) if name not in chosen]:
            self.at("witness", unknown[0]).fail(f"a witness is a value of the number that is said to exist; got "
                                                f"{short(unknown[0])}, allowed: {', '.join(chosen) or 'none'}")
        for name in chosen:
            self.at("exists", name).new_name(name)
            self.own_constants[name] = sp.Symbol(name, real=True)
        return next(iter(chosen.items()), None)

    def choice(self, name: str, text) -> Choice:
        """``name = "(low, high]"``."""
        self.at("exists", name)
        parts = _INTERVAL.fullmatch(text.strip()) if isinstance(text, str) else None
        ends = between_commas(parts[2]) if parts else []
        if len(ends) != 2:
            self.fail(f"{name} lies in an interval with two ends, as \"(0, 1/L]\" or \"[0, 1]\"; got {short(text)}")
        low, high = (self.at("exists", text).formula(end) for end in ends)
        value = self.row.get("witness", {}).get(name)
        if value is not None and not isinstance(value, str):
            self.at("witness", name).fail(f"a witness of {name} is a formula, as text; got {short(value)}")
        witness = None if value is None else self.at("witness", value).formula(value)
        try:
            return Choice(name, low, high, parts[1] == "(", parts[3] == ")", witness)
        except ValueError as error:
            self.fail(str(error))

    def define(self, head: str, text) -> None:
        """``name = formula`` or ``name[i, k] = formula``, which may use what is defined above it."""
        self.at("definitions", head)
        parts = _DEFINED.fullmatch(head.strip())
        if not parts or not isinstance(text, str):
            self.fail("a definition is name = \"formula\" or \"name[t, k]\" = \"formula\"; got "
                      f"{short(head)} = {short(text)}")
        name, letters = parts[1], [letter.strip() for letter in (parts[2] or "").split(",") if letter.strip()]
        self.new_name(name)
        for letter in letters:
            self.check_name(letter)
        indices = {letter: sp.Symbol(letter, integer=True) for letter in letters}
        formula = self.at("definitions", text).formula(text, indices)
        self.lengths[name] = self.written_out(formula)
        self.own[name] = Definition(
            name, tuple(indices.values()), formula, letter_text(name, tuple(letters), {}), "", "defined with the claim")

    def new_name(self, name: str) -> None:
        """Refuse a name that is none, or that stands for something else."""
        self.check_name(name)
        if name in self.names() or name in NAMES:
            self.fail(f"{name} has a meaning already; choose another name", name)

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

    def condition(self, text: str, more: dict | None = None) -> Condition:
        """``left <= right for k in 0..clients-1 for t in ...``; ``more`` names for it."""
        self.checked(only_ascii, text)
        text = self.without_probabilities(text)
        sides, *ranges = " ".join(text.split()).split(" for ")
        relations = re.findall(r"[<>=!]+", sides)
        if len(relations) != 1 or relations[0] not in RELATIONS:
            said = "one of" if len(relations) > 1 else "a relation, one of"
            self.fail(f"a condition needs {said} {', '.join(RELATIONS)}; got {excerpt(text)}")
        points = [one.removeprefix("all ").strip() for one in ranges if one.startswith("all ")]
        if len(points) > 1 or points not in ([], ["u"], ["v"]):
            self.fail(f"a condition at all points is written with one 'for all u' or 'for all v'; got {excerpt(text)}")
        ranges = [one for one in ranges if not one.startswith("all ")]
        over, indices, strides = [], dict(more or {}) | {name: symbol(name) for name in points}, {}
        for one in ranges:
            index, _, ends = one.partition(" in ")
            low, dots, ends = ends.partition("..")
            high, stepped, step = ends.partition(" step ")
            if not (dots and low.strip() and high.strip()) or (stepped and not step.strip()):
                self.fail("a range is written 'for k in 0..clients-1' or 'for t in 0..iterations step local_steps'; got "
                          f"{excerpt(f'for {one}')}")
            self.check_name(index)
            if index in indices:
                self.fail(f"two ranges have the index {index}", index)
            indices[index] = sp.Symbol(index, integer=True)
            over.append((index, low, high, step))
        left, right = (self.formula(side, indices) for side in sides.split(relations[0]))
        triples = []
        for index, *ends, step in over:
            low, high = (self.end(end, indices).xreplace(strides) for end in ends)
            if step:
                length = self.end(step, indices).xreplace(strides)
                strides[indices[index]] = low + length * indices[index]
                low, high = sp.Integer(0), sp.floor((high - low) / length)
            triples.append((indices[index], low, high))
        left, right = left.xreplace(strides), right.xreplace(strides)
        if points:
            left, right = self.at_all_points(symbol(*points), left, relations[0], right)
        return Condition(left, relations[0], right, tuple(triples))

    def at_any_point(self, statement: str) -> str:
        """A statement without its 'for all v', of which v becomes a free vector."""
        found = re.search(r"\s+for\s+all\s+([uv])\b", statement)
        if not found:
            return statement
        if found[1] in {*self.names()}:
            self.fail(f"{found[1]} of 'for all {found[1]}' has a meaning already", found[1])
        self.variables += (Variable(found[1], "vector"),)
        return statement[:found.start()] + statement[found.end():]

    def at_all_points(self, u, left, relation: str, right):
        """Both sides of a relation at all points u without u: the least or the largest value over them beside the other."""
        if relation not in ("<=", ">="):
            self.fail(f"a condition for all {u} has the relation <=, >= or, as a hypothesis, ==; got {relation}")
        if str(u) in {variable.name for variable in self.variables} | {*self.own} | {*self.own_constants}:
            self.fail(f"{u} of 'for all {u}' has a meaning already", str(u))
        if u not in left.free_symbols | right.free_symbols:
            self.fail(f"{u} of 'for all {u}' is never used", str(u))
        small, large = (left, right) if relation == "<=" else (right, left)
        if u not in large.free_symbols:
            small = -infimum(u, -small)
        elif u not in small.free_symbols:
            large = infimum(u, large)
        else:
            small, large = sp.Integer(0), infimum(u, large - small)
        return (small, large) if relation == "<=" else (large, small)

    def without_probabilities(self, text: str) -> str:
        """The text with every ``P(a <= b)`` written as an expectation."""
        while place := re.search(r"(?<!\w)P\(", text):
            depth, end = 1, place.end()
            while end < len(text) and depth:
                depth += {"(": 1, ")": -1}.get(text[end], 0)
                end += 1
            event = text[place.end():end - 1]
            relations = re.findall(r"[<>=!]+", event)
            if depth or len(relations) != 1 or relations[0] not in ("<=", ">=", "<", ">"):
                self.fail("a probability is written P(a <= b), P(a >= b), P(a < b) or P(a > b); got "
                          f"{excerpt(text[place.start():end])}")
            left, right = event.split(relations[0])
            pair = f"{left}, {right}" if relations[0] in ("<=", ">") else f"{right}, {left}"
            chance = f"E(below({pair}))" if "=" in relations[0] else f"(1 - E(below({pair})))"
            text = text[:place.start()] + chance + text[end:]
        return text

    def end(self, text: str, indices: dict):
        """An end of a range."""
        found = self.formula(text, indices)
        if found.is_number and not (found.is_Integer and abs(found) <= MOST_TERMS):
            self.fail(f"an end of a range is a whole number up to {MOST_TERMS}; got {excerpt(text)}")
        return found

    def formula(self, text: str, indices: dict | None = None):
        if not text.strip():
            self.fail(f"a side of {excerpt(self.entry or self.row.get(self.field))} is empty")
        found = self.checked(expression, text, self.names() | (indices or {}))
        if (length := self.written_out(found)) > _MOST_WRITTEN:
            self.fail(f"a formula has at most {_MOST_WRITTEN} parts when its definitions are inserted; got {length} in "
                      f"{excerpt(text)}")
        return found

    def written_out(self, e) -> int:
        """The number of parts of a formula with its definitions inserted."""
        name = str(e.base.label) if isinstance(e, sp.Indexed) else getattr(e, "name", "")
        return self.lengths.get(name, 1) + sum(map(self.written_out, e.args))

    def checked(self, read: Callable, *given):
        """What ``read`` returns; a text that is no formula is refused with its line."""
        try:
            return read(*given)
        except NoFormula as error:
            self.fail(str(error), error.symbol)

    def names(self) -> dict:
        first, last = known_names()
        known = first | {d.name: d.symbol for d in self.own.values()} | self.own_constants | last
        for variable in self.variables:
            whole = {"integer": True, "positive" if variable.low >= 1 else "nonnegative": True}
            signs = {"positive": {"positive": True}, "nonnegative": {"nonnegative": True},
                     "integer": whole}.get(variable.domain, {"real": True})
            known[variable.name] = (sp.IndexedBase(variable.name, real=True) if variable.indices
                                    else sp.Symbol(variable.name, **signs))
        return known
