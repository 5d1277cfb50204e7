"""Reads one claim of a user's file: fields of a table as text become formulas, and every error names its line."""

import itertools
import re
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import Self

import sympy as sp

from bounds.language import coordinates, functions, samples, words
from bounds.language.claim import (
    DATA_SETS,
    HIDDEN,
    INDEPENDENT,
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
from bounds.language.definitions import SHARED
from bounds.language.letters import letter_text
from bounds.language.names import CONSTANT, NAMES, symbol
from bounds.language.on_samples import speaks_of_samples
from bounds.language.space import infimum
from bounds.registry.claim_files import LIST_NAME, Places, between_commas, short
from bounds.registry.declarations import LONGEST, Declarations
from bounds.registry.expressions import MOST_TERMS, NoFormula, excerpt, expression, only_ascii
from bounds.registry.known_names import known_names
from bounds.registry.probabilities import without_probabilities

__all__ = ["Reader"]

_FIELDS = {"id", "number", "kind", "reading", "source", "setting", "method", "options", "sampling", "equal_weights",
           "data_sets", "free_clients", "extends", "assume", "constants", "definitions", "conditions", "statement",
           "variables", "note", "limits", "constants_may_use", "steps", "exists", "witness"}
_ID = re.compile(r"[\w-]+/[\w@./+-]+", re.ASCII)
_DEFINED = re.compile(r"(\w+)\s*(?:\[([\w\s,]*)\])?", re.ASCII)
_INTERVAL = re.compile(r"([\[(])(.+)([\])])", re.ASCII)
_EQUATION = re.compile(r"[^<>=!]==[^=].*\sfor\s+all\s+v\b", re.DOTALL)  # at all points
_MOST_WRITTEN = 5_000  # parts of a formula with its definitions inserted
_OVER_SPACE = {name for name, row in NAMES.items() if row.source == CONSTANT and row.origin}


class Reader(Declarations):
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
        own = {*self.row}  # without what it extends
        row = self.row = self.extended()
        unknown = sorted(set(row) - _FIELDS)
        if unknown:
            near = get_close_matches(unknown[0], _FIELDS, 1)
            self.at(unknown[0]).fail(f"unknown field {short(unknown[0])}{f', nearest: {near[0]}' if near else ''}; allowed: "
                                     f"{', '.join(sorted(_FIELDS))}")
        for name in ("id", "statement"):
            if not isinstance(row.get(name), str):
                self.at(name).fail(f"a claim needs the text {name!r}; got {short(row.get(name))}")
        if not _ID.fullmatch(row["id"]) or len(row["id"]) > LONGEST:
            self.at("id").fail("an id is <paper>/<block>[@<reading>], of ASCII letters, digits and . + - _, at most "
                               f"{LONGEST} characters; got {short(row['id'])}")
        for name, allowed in (("kind", KINDS), ("setting", SETTINGS), ("sampling", SAMPLING), ("data_sets", DATA_SETS)):
            if row.get(name, allowed[0]) not in allowed:
                self.at(name, row[name]).fail(f"unknown {name} {short(row[name])}; allowed: {', '.join(allowed)}")
        if len(row.get("method", "")) > LONGEST:
            self.at("method").fail(f"a method is a name of `fedtheory algorithms`; got {short(row['method'])}")
        setting = row.get("setting", "run")
        if setting != "run" and row.get("method", "fedavg") != "fedavg":
            self.at("method", row["method"]).fail(f"only a claim about runs has a method; got {short(row['method'])} with "
                                                  f"setting {setting}")
        for name, domain in (self.may_vanish() | row.get("variables", {})).items():
            self.variables += (self.variable(name, domain),)
        if row.get("sampling") in INDEPENDENT and row.get("setting", "run") == "run":
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
        if row.get("sampling") in INDEPENDENT and row.get("setting", "run") == "run":  # it is a probability
            conditions += (Condition(symbol("participation"), "<=", 1),)
        statement = self.at("statement").condition(self.at_any_point(row["statement"]))
        limits = self.limits()
        for name in row.get("constants_may_use", ()):
            if name not in self.names():
                self.at("constants_may_use", name).fail(f"unknown name {short(name)}; allowed: names of the language, "
                                                        "variables, constants and definitions", name)
        options = tuple((name, self.option(name, value)) for name, value in row.get("options", {}).items())
        procedure = Procedure(row.get("method", "fedavg"), row.get("free_clients", False), options=options,
                              sampling=row.get("sampling", "full"), equal_weights=row.get("equal_weights", setting == "run"),
                              replaced=row.get("data_sets"))
        places = defining(conditions, {}, names_in, {name: d.formula for name, d in self.own.items()})
        given = {name for name, place in places.items() if conditions[place].left.is_Symbol}
        variables = tuple(v for v in self.variables if v.domain in ("integer", "vector") or v.name not in given)
        try:
            claim = Claim(
                row["id"], str(row.get("number", "none")), row.get("kind", "theorem"), setting, statement, assumptions,
                conditions, str(row.get("reading", "as written")), str(row.get("source", self.path)),
                procedure=None if setting == "algebra" else procedure, variables=variables, note=str(row.get("note", "")),
                explicit=all(v.domain not in HIDDEN for v in self.variables), limits=limits,
                constants_may_use=tuple(row["constants_may_use"]) if "constants_may_use" in row else None,
                steps=tuple(row.get("steps", ())), definitions=SHARED | self.own,
                exists=exists)
        except ValueError as error:
            self.at("id").fail(str(error))
        if "data_sets" in own and not speaks_of_samples(claim):
            self.at("data_sets", row["data_sets"]).fail(
                f"only a claim about samples or neighbouring runs has data_sets; got {short(row['data_sets'])}, and none of "
                "the names samples, twin_x_round, ...")
        for name in ("limits", "constants_may_use"):
            if name in own and row[name] and claim.explicit:
                self.at(name).fail(f"only an order has {name}: a claim with a variable of the domain {' or '.join(HIDDEN)}; "
                                   f"got {short(row[name])}")
        return claim

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
        if name in names_in(value):
            self.fail(f"the formula of {name} uses {name} itself; got {excerpt(text)}", name)
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

    def condition(self, text: str, more: dict | None = None) -> Condition:
        """``left <= right for k in 0..clients-1 for t in ...``; ``more`` names for it."""
        self.checked(only_ascii, text)
        text = self.checked(without_probabilities, text)
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
            if index in self.names() and self.names()[index] != sp.Symbol(index, integer=True):
                self.fail(f"{index} of 'for {index} in ...' has a meaning already; choose another letter", index)
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
