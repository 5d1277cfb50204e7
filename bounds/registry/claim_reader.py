"""Reads one claim of a user's file: fields of a table as text become formulas, and every error names its line."""

import itertools
import re
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Self

import sympy as sp

from bounds.language import coordinates, functions, operators, samples
from bounds.language.claim import (
    DATA_SETS,
    HIDDEN,
    INDEPENDENT,
    KINDS,
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
from bounds.language.names import CONSTANT, NAMES, meaning_of, names_from, symbol
from bounds.language.notation import notation_text
from bounds.language.on_samples import speaks_of_samples
from bounds.language.space import infimum
from bounds.registry.abbreviations import Abbreviation, abbreviation, expanded
from bounds.registry.claim_files import LIST_NAME, Places, between_commas, short
from bounds.registry.declarations import LONGEST, domain_conditions, with_bounded_sizes, with_setting
from bounds.registry.expressions import excerpt
from bounds.registry.formula_reader import FormulaReader
from bounds.registry.vocabulary import Vocabulary, parts_of

__all__ = ["FIELDS", "Reader"]

#: of a claim
FIELDS = {"id", "number", "kind", "reading", "source", "setting", "method", "options", "sampling", "equal_weights",
          "data_sets", "free_clients", "extends", "assume", "constants", "definitions", "conditions", "statement",
          "variables", "note", "limits", "constants_may_use", "steps", "exists", "witness", "let", "given", "undefined",
          "derivation", "indicator", "free", "strict", "compare", "monotone", "relation"}
_PROSE = ("number", "reading", "note", "derivation", "undefined")  # where lines may break anywhere
_ID = re.compile(r"[\w-]+/[\w@./+-]+", re.ASCII)
_BLOCK = re.compile(r"[\w@./+-]+", re.ASCII)  # of a paper's claim, in the paper's file
_DEFINED = re.compile(r"(\w+)\s*(?:\[([\w\s,]*)\])?", re.ASCII)
_NUMBERED = re.compile(r"(eq|lemma|theorem|proposition|corollary)-((?:[a-z]\.)?\d+(?:\.\d+)*)", re.ASCII)
_INTERVAL = re.compile(r"([\[(])(.+)([\])])", re.ASCII)
_EQUATION = re.compile(r"[^<>=!]==[^=].*\sfor\s+all\s+[uv]\b", re.DOTALL)  # at all points
_CONSTANTS = {*names_from(CONSTANT)}
_GIVEN = {"r": lambda a: operators.E_round(a, operators.r), "run": lambda a: a}  # what an expectation is, given this
_OVER_SPACE = {name for name, row in NAMES.items() if row.source == CONSTANT and row.origin}


class Reader(FormulaReader):
    """One claim of a file: ``row`` has all its fields, ``vocabulary`` what the file says for all of them."""

    def __init__(self, path: Path, places: Places, number: int, row: dict, vocabulary: Vocabulary):
        self.path, self.places, self.number, self.vocabulary = path, places, number, vocabulary
        self.row, self.field, self.entry, self.variables = with_bounded_sizes(with_setting(row)), "", "", ()
        self.own, self.own_constants, self.lengths = {}, {}, {}
        self.declared, self.let = vocabulary.symbols, vocabulary.let
        self.index_letters: dict[str, tuple[str, ...]] = {}
        self.wider: dict[str, str] = {}  # variables that need not have the sign of [names], and what is said of them
        self.read: set[str] = set()  # the names in its formulas, those that cancel too

    def fail(self, message: str, symbol: str = ""):
        line = self.places.line(self.number, self.field, self.entry, symbol)
        raise ValueError(f"{self.path}, line {line}: {message}")

    def locate(self, field: str, entry: str = "") -> Self:
        """Remember the place of what is read next, for errors."""
        self.field, self.entry = field, entry
        return self

    def claim(self) -> Claim:
        row, paper = self.row, self.vocabulary.paper
        row |= {name: " ".join(row[name].split()) for name in _PROSE if isinstance(row.get(name), str)}
        self.let = self.vocabulary.let | self.abbreviations(row.get("let", {}))
        unknown = sorted(set(row) - FIELDS)
        if unknown:
            near = get_close_matches(unknown[0], FIELDS, 1)
            self.locate(unknown[0]).fail(f"unknown field {short(unknown[0])}{f', nearest: {near[0]}' if near else ''}; "
                                         f"allowed: {', '.join(sorted(FIELDS))}")
        for name in ("id", "statement"):
            if not isinstance(row.get(name), str) and not (name == "statement" and "undefined" in row):
                self.locate(name).fail(f"a claim needs the text {name!r}; got {short(row.get(name))}")
        if not (_BLOCK if paper else _ID).fullmatch(row["id"]) or len(row["id"]) > LONGEST:
            form = "<block>[@<reading>]" if paper else "<paper>/<block>[@<reading>]"
            self.locate("id").fail(f"an id is {form}, of ASCII letters, digits and . + - _, at most {LONGEST} characters; "
                                   f"got {short(row['id'])}")
        claim_id = self.own_id()
        for name, allowed in (("kind", KINDS), ("setting", SETTINGS), ("sampling", SAMPLING), ("data_sets", DATA_SETS)):
            if row.get(name, allowed[0]) not in allowed:
                self.locate(name, row[name]).fail(f"unknown {name} {short(row[name])}; allowed: {', '.join(allowed)}")
        if len(row.get("method", "")) > LONGEST:
            self.locate("method").fail(f"a method is a name of `fedtheory algorithms`; got {short(row['method'])}")
        setting = row.get("setting", "run")
        if setting != "run" and row.get("method", "fedavg") != "fedavg":
            self.locate("method", row["method"]).fail(
                f"only a claim about runs has a method; got {short(row['method'])} with setting {setting}")
        for name, domain in (self.may_vanish() | dict(self.domains())).items():
            if name not in row.get("exists", {}):
                self.variables += (self.variable(name, domain),)
        if row.get("sampling") in INDEPENDENT and setting == "run" and "participation" not in dict(self.domains()):
            self.variables += (Variable("participation", "positive"),)
        chosen = self.existential()
        constants = list(itertools.starmap(self.constant, row.get("constants", {}).items()))
        for name, formula in row.get("definitions", {}).items():
            self.define(name, formula)
        exists = self.choice(*chosen) if chosen else None
        assumptions = tuple(self.assumptions(claim_id))
        assumptions += tuple(
            Assumption(f"{claim_id}:constant-{c.left}", f"{c.left} is {text}", (c,)) for c, text in constants)
        conditions = tuple(c for text, given in self.listed("conditions")
                           for c in self.locate("conditions", text).hypotheses(text, given))
        if row.get("sampling") in INDEPENDENT and setting == "run":  # it is a probability
            conditions += (Condition(symbol("participation"), "<=", 1),)
        statement = self.related(self.condition_on(self.stated())) if "statement" in row else None
        limits = self.limits()
        may_use = tuple(name.strip() for name, _ in self.texts("constants_may_use"))
        for name in may_use:
            if name not in self.names():
                self.locate("constants_may_use", name).fail(f"unknown name {short(name)}; allowed: names of the language, "
                                                            "variables, constants and definitions", name)
        options = tuple((name, self.option(name, value)) for name, value in row.get("options", {}).items())
        procedure = Procedure(row.get("method", "fedavg"), row.get("free_clients", False), options=options,
                              sampling=row.get("sampling", "full"), equal_weights=row.get("equal_weights", setting == "run"),
                              replaced=row.get("data_sets"),
                              **{name: row[name] for name in ("indicator", "free", "strict") if name in row})
        without_procedure = setting == "algebra" or (paper and setting == "point" and not row.get("equal_weights"))
        quantities = SHARED | self.vocabulary.quantities | self.own
        steps = tuple(self.full_id(step) for step, _ in self.listed("steps"))
        places = defining(conditions, {}, names_in, {name: d.formula for name, d in self.own.items()})
        given = {name for name, place in places.items() if conditions[place].left.is_Symbol}
        variables = tuple(v for v in self.variables if v.domain in ("integer", "vector") or v.name not in given)
        for v in (v for v in self.variables if v not in variables):  # a domain is a hypothesis on what has a formula
            more = domain_conditions(v, self.names()[v.name], conditions[places[v.name]].right)
            conditions += tuple(c for c in more if c not in conditions)
        try:
            claim = Claim(
                claim_id, self.number_of_claim(), row.get("kind", "theorem"), setting, statement, assumptions,
                conditions, str(row.get("reading", "as printed" if paper else "as written")),
                None if "derivation" in row else str(row.get("source", paper.name if paper else self.path)),
                row.get("derivation", ""), procedure=None if without_procedure else procedure,
                variables=variables, note=str(row.get("note", "")), undefined=row.get("undefined", ""),
                explicit=all(v.domain not in HIDDEN for v in self.variables), limits=limits,
                constants_may_use=may_use if "constants_may_use" in row else None,
                steps=steps, exists=exists,
                definitions={} if paper and setting == "algebra" else quantities)
        except ValueError as error:
            self.locate("id").fail(str(error))
        self.check_signs(claim)
        own = row.get("data_sets") != self.vocabulary.defaults.get("data_sets")
        if own and not paper and not speaks_of_samples(claim):
            self.locate("data_sets", row["data_sets"]).fail(
                f"only a claim about samples or neighbouring runs has data_sets; got {short(row['data_sets'])}, and none of "
                "the names samples, twin_x_round, ...")
        for name in ("limits", "constants_may_use"):
            if row.get(name) and claim.explicit:
                self.locate(name).fail(f"only an order has {name}: a claim with a variable of the domain "
                                       f"{' or '.join(HIDDEN)}; got {short(row[name])}")
        return claim if paper else self.without_other_arrays(claim)

    def check_signs(self, claim: Claim) -> None:
        """Refuse a name of the language to which the file gives a sign that its value here need not have."""
        for quantity in claim.used_definitions():
            for name in sorted(self.wider.keys() & self.vocabulary.read.get(quantity, set())):
                self.locate("variables", name).fail(f"{self.wider[name]} that uses {quantity}, which is read with that "
                                                    "sign; give the name a domain there that has both", name)
        given = {c.left.name for c in claim.hypotheses if c.relation == "==" and c.left.is_Symbol and c.right.is_number}
        read = self.read.union(claim.names, *(self.vocabulary.read.get(name, ()) for name in claim.used_definitions()))
        for name in sorted(read - given - {v.name for v in self.variables}):
            row, meant = NAMES.get(name), self.names().get(name)
            sign = row and next((sign for sign in ("positive", "nonnegative") if getattr(meant, f"is_{sign}", None)
                                 and not getattr(symbol(name), f"is_{sign}")), "")
            if sign:
                self.locate("id").fail(f"{name} is {sign} in [names] and {row.sign} in this claim; declare it under "
                                       "variables, or give it no domain in [names]", name)

    def own_id(self) -> str:
        """The claim's id, with the paper's name in front."""
        return f"{self.vocabulary.paper.name}/{self.row['id']}" if self.vocabulary.paper else self.row["id"]

    def full_id(self, name: str) -> str:
        """The id of a claim that another names: in a paper's files one of the paper may be named without it."""
        return name if "/" in name or not self.vocabulary.paper else f"{self.vocabulary.paper.name}/{name}"

    def number_of_claim(self) -> str:
        """The number of the statement; of a paper's claim that gives none what its id says: (7) of eq-7, Lemma G.13 of
        lemma-g.13."""
        if "number" in self.row:
            return str(self.row["number"])
        block = self.row["id"].partition("@")[0]
        if not self.vocabulary.paper or not (parts := _NUMBERED.fullmatch(block)):
            return "none"
        return f"({parts[2]})" if parts[1] == "eq" else f"{parts[1].capitalize()} {parts[2].upper()}"

    def abbreviations(self, table: dict) -> dict[str, Abbreviation]:
        """The claim's own abbreviations by name, or what those of the file mean in this reading."""
        found = {}
        for head, text in table.items():
            try:
                one = abbreviation(head, text)
            except ValueError as error:
                self.locate("let", head).fail(str(error))
            if one.name not in self.vocabulary.let and self.vocabulary.has_meaning(one.name):
                self.locate("let", head).fail(f"{one.name} has a meaning already{meaning_of(one.name)}; choose another name",
                                                one.name)
            if not isinstance(text, str) and not (isinstance(text, list) and all(isinstance(part, str) for part in text)):
                self.locate("let", head).fail(f"an abbreviation stands for a text or a list of texts; got {short(text)}")
            found[one.name] = one
        return found

    def texts(self, field: str, entries: list[str] | None = None) -> list[tuple[str, dict[str, str]]]:
        """The texts of a field, or of ``entries``, abbreviations written out, each with the texts of its parameters."""
        entries = self.row.get(field, ()) if entries is None else entries
        try:
            return list(expanded([entries] if isinstance(entries, str) else list(entries), self.let))
        except ValueError as error:
            self.locate(field).fail(str(error))

    def listed(self, field: str, entries: list[str] | None = None) -> list[tuple[str, dict[str, Any]]]:
        """The texts of a field, or of ``entries``, abbreviations written out, each with what its parameters mean."""
        found = []
        for text, scopes in self.texts(field, entries):
            meaning: dict[str, Any] = {}
            for given in scopes:
                meaning = {name: self.locate(field, value).argument(value, meaning) for name, value in given.items()}
            found.append((text, meaning))
        return found

    def stated(self) -> Condition:
        """The statement, perhaps that of an abbreviation."""
        texts = self.listed("statement")
        if len(texts) != 1:
            self.locate("statement").fail(
                f"a statement is one condition; got {short(self.row['statement'])}, which stands for {len(texts)}")
        (text, given), = texts
        if "relation" in self.row and " or " in text:
            self.locate("relation").fail(f"a statement with or keeps its own relations; got {short(self.row['relation'])}")
        return self.locate("statement", text).condition(self.at_any_point(text), given)

    def argument(self, text: str, around: dict[str, Any]):
        """An argument of an abbreviation that stands for a condition: a formula, or another abbreviation.

        ``around`` has the arguments of the abbreviation in whose text it stands.
        """
        one = (self.let | around).get(text)
        return one if isinstance(one, Abbreviation) and one.parameters else self.formula(text, around)

    def domains(self) -> list[tuple[str, Any]]:
        """The variables' names and domains; a name alone has the domain that the file or the language gives it."""
        given = self.row.get("variables", {})
        if isinstance(given, dict):
            return list(given.items())
        found = []
        for text, _ in self.listed("variables"):
            head, colon, domain = (part.strip() for part in text.partition(":"))
            try:
                name, indices = parts_of(head)
            except ValueError as error:
                self.locate("variables", text).fail(str(error))
            if indices:
                self.index_letters[name] = indices
            row = NAMES.get(name)
            domain = domain if colon else self.vocabulary.domain(name) or (
                None if row is None else "integer" if row.kind == "integer" else row.sign)
            if domain is None:
                self.locate("variables", text).fail(
                    f"{short(name)} has no domain; write it as in \"{name}: positive\"", name)
            found.append((name, domain))
        return found

    def may_vanish(self) -> dict[str, str]:
        """Constants that are positive unless a hypothesis says that they are at least 0, as ``mu >= 0`` does: variables."""
        if self.vocabulary.paper:
            return {}
        texts = [text for field in ("assume", "conditions") for text, _ in self.texts(field)]
        lists = (self.vocabulary.assumptions.get(name.strip()) for name in texts)
        texts += [text for one in lists if one is not None
                  for text, _ in self.texts("assume", one if isinstance(one, list) else one.get("conditions", []))]
        written = {text.replace(" ", "") for text in texts}
        return {name: "nonnegative" for name, row in NAMES.items() if row.source == CONSTANT and row.sign == "positive"
                and not row.indices and {f"{name}>=0", f"0<={name}"} & written}

    def hypotheses(self, text: str, given: dict | None = None) -> tuple[Condition, ...]:
        """A condition. An equation at all points, or of a constant for each index, is two: either side bounds the other."""
        c = None if _EQUATION.search(text) else self.hypothesis(text, given)
        if c is not None and not (c.relation == "==" and c.over and {str(c.left), str(c.right)} & _CONSTANTS):
            return (c,)
        return tuple(self.hypothesis(text.replace("==", sign), given) for sign in ("<=", ">="))

    def hypothesis(self, text: str, given: dict | None = None) -> Condition:
        """A condition. No symbol gets a number that its sign excludes, no constant over all points a value of its own."""
        c = self.without_equations_of_numbers(self.condition(text, given), text)
        wider = [v.name for v in self.variables if self.vocabulary.paper and v.domain in ("nonnegative", "real")]
        for sign in ("positive", "nonnegative", "integer"):
            if (c.relation == "==" and c.left.is_Symbol and c.left.name not in wider and getattr(c.left, f"is_{sign}")
                    and c.right.is_number and getattr(c.right, f"is_{sign}") is False):
                self.fail(f"{c.left} is {sign}; got {c.left} == {c.right}; declare it under variables with a domain that "
                          "has this number", c.left.name)
        if self.row.get("setting") == "algebra" or self.vocabulary.paper or c.left.has(infimum) or c.right.has(infimum):
            return c
        pairs = {"=": [(c.left, c.right), (c.right, c.left)], "<": [(c.right, c.left)], ">": [(c.left, c.right)]}
        for side, other in pairs[c.relation[0]]:
            name = str(side.base.label) if isinstance(side, sp.Indexed) else getattr(side, "name", "")
            if name in _OVER_SPACE and (c.relation == "==" or names_in(other)):
                self.fail(f"{name} is {NAMES[name].origin}, and no condition gives it a value; another name may have one, "
                          f"and a difference is compared with 0; got {excerpt(text)}", name)
        return c

    def assumptions(self, claim_id: str) -> list[Assumption]:
        """The assumptions: conditions as they stand, lists of the file, and numbered assumptions of the file or paper."""
        found, number = [], 0
        for text, _ in self.listed("assume"):
            name = text.strip()
            shared = self.vocabulary.assumptions.get(name)
            if shared is None and LIST_NAME.fullmatch(name):
                self.locate("assume", text).fail(f"no assumption {short(text)} in this file; allowed: a condition, or one "
                                                 f"of {', '.join(self.vocabulary.assumptions) or 'none'}", name)
            if isinstance(shared, dict):
                found.append(self.numbered(name, {"owner": claim_id.partition("/")[0]} | shared))
                continue
            for one, given in [(text, {})] if shared is None else self.listed("assume", shared):
                number += 1
                found.append(self.locate("assume", one).assumption(f"{claim_id}:assumption-{number}", one, given))
        return found

    def numbered(self, name: str, row: dict) -> Assumption:
        """A numbered assumption, from its table."""
        self.locate("assume", name)
        points = {point: getattr(functions, point) for point in ("f", "f_grad", "u", "v")}
        conditions = tuple(c for text, given in self.listed("assume", row.get("conditions", ()))
                           for c in self.hypotheses(text, given))
        whole, everywhere = (self.condition(row[field], points) if field in row else None
                             for field in ("every_function", "everywhere"))
        name, note = (" ".join(row.get(field, "").split()) for field in ("name", "note"))
        return Assumption(f"{row['owner']}/{row['id']}", name, conditions, whole, everywhere, note)

    def condition_on(self, c: Condition) -> Condition:
        """The statement given everything before round r, or given the run: its expectations, and those in quantities."""
        if "given" not in self.row:
            return c
        if self.row["given"] not in _GIVEN:
            self.locate("given", self.row["given"]).fail(
                f"given is \"r\", the past of round r, or \"run\", all of the run; got {short(self.row['given'])}")
        known, quantities = _GIVEN[self.row["given"]], self.vocabulary.quantities | self.own

        def conditional(e):
            while averages := [a for a in e.atoms(sp.Indexed) if quantities.get(str(a.base.label)) is not None
                               and quantities[str(a.base.label)].formula.has(operators.E)]:
                e = e.xreplace({a: quantities[str(a.base.label)].formula.xreplace(
                    dict(zip(quantities[str(a.base.label)].indices, a.indices, strict=True))) for a in averages})
            return e.xreplace({a: known(a.args[0]) for a in e.atoms(operators.E)})

        return Condition(conditional(c.left), c.sign, conditional(c.right), c.over)

    def assumption(self, name: str, text: str, given: dict | None = None) -> Assumption:
        """A condition, or with ``for all u`` one on every loss ``f``, at all points."""
        written, shown, given = text.removesuffix(" for all u"), text, given or {}
        for parameter, value in given.items():
            shown = re.sub(rf"\b{parameter}\b", getattr(value, "name", "") or f"({value})", shown)
        if written == text or "f_grad" not in text:
            return Assumption(name, shown, self.hypotheses(text, given))
        condition = self.condition(written, {"u": functions.u, "f_grad": functions.f_grad} | given)
        if condition != Condition(operators.norm(functions.f_grad(functions.u)), "<=", samples.G_lip):
            self.fail("what is assumed of every sample's loss f at all points is written "
                      f"norm(f_grad(u)) <= G_lip for all u; got {excerpt(text)}")
        return Assumption(name, shown, everywhere=condition)

    def constant(self, name: str, text) -> tuple[Condition, str]:
        """``name`` is the least number that is at least the formula for all its indices."""
        self.locate("constants", name).new_name(name)
        if not isinstance(text, str):
            self.fail(f"{name} is a formula, as text; got {short(text)}")
        self.own_constants[name] = sp.Symbol(name, real=True)
        formula, space, ranges = text.partition(" for ")
        c = self.locate("constants", text).condition(f"{formula} <= {name}{space}{ranges}")
        value = c.left
        if name in names_in(value):
            self.fail(f"the formula of {name} uses {name} itself; got {excerpt(text)}", name)
        for triple in reversed(c.over):
            value = coordinates.highest(*triple, value)
        return Condition(c.right, "==", value), text

    def existential(self) -> tuple[str, str] | None:
        """The name and the interval of the number that is said to exist; the name gets its meaning."""
        chosen = self.row.get("exists", {})
        if len(chosen) > 1:
            self.locate("exists").fail(f"at most one number is said to exist; got {', '.join(chosen)}")
        if unknown := [name for name in self.row.get("witness", {}) if name not in chosen]:
            self.locate("witness", unknown[0]).fail(f"a witness is a value of the number that is said to exist; got "
                                                    f"{short(unknown[0])}, allowed: {', '.join(chosen) or 'none'}")
        for name in chosen:
            self.locate("exists", name).new_name(name)
            low = re.match(r"\s*([\[(])\s*0\s*,", str(chosen[name]))  # the sign of what lies above 0
            sign = "real" if low is None else "positive" if low[1] == "(" else "nonnegative"
            self.own_constants[name] = sp.Symbol(name, **{sign: True})
        return next(iter(chosen.items()), None)

    def choice(self, name: str, text) -> Choice:
        """``name = "(low, high]"``."""
        self.locate("exists", name)
        parts = _INTERVAL.fullmatch(text.strip()) if isinstance(text, str) else None
        ends = between_commas(parts[2]) if parts else []
        if len(ends) != 2:
            self.fail(f"{name} lies in an interval with two ends, as \"(0, 1/L]\" or \"[0, 1]\"; got {short(text)}")
        low, high = (self.locate("exists", text).formula(end) for end in ends)
        value = self.row.get("witness", {}).get(name)
        operators = {"id": "witness", "reading": ""}
        if isinstance(value, dict) and set(value) == {"formula", *operators} and {*map(type, value.values())} == {str}:
            value, operators = value["formula"], {word: value[word] for word in operators}
        if value is not None and not isinstance(value, str):
            self.locate("witness", name).fail(f"a witness of {name} is a formula, as text, or a table of the texts formula, "
                                              f"id and reading, of the claim with it put in; got {short(value)}")
        witness = None if value is None else self.locate("witness", value).formula(value)
        try:
            return Choice(name, low, high, parts[1] == "(", parts[3] == ")", witness, operators["id"], operators["reading"])
        except ValueError as error:
            self.fail(str(error))

    def define(self, head: str, text) -> None:
        """``name = formula`` or ``name[i, k] = formula``, which may use what is defined above it."""
        self.locate("definitions", head)
        parts = _DEFINED.fullmatch(head.strip())
        if not parts or not isinstance(text, str):
            self.fail("a definition is name = \"formula\" or \"name[t, k]\" = \"formula\"; got "
                      f"{short(head)} = {short(text)}")
        name, letters = parts[1], [letter.strip() for letter in (parts[2] or "").split(",") if letter.strip()]
        self.new_name(name)
        for letter in letters:
            self.check_name(letter)
        indices = {letter: sp.Symbol(letter, integer=True) for letter in letters}
        formula = self.locate("definitions", text).formula(text, indices)
        self.lengths[name] = self.written_out(formula)
        self.own[name] = Definition(
            name, tuple(indices.values()), formula, notation_text(name, tuple(letters), {}), "", "defined with the claim")
