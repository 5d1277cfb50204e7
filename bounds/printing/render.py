"""Claims and expressions in readable mathematics: LaTeX, text for terminals, and a page of text per claim.

Formulas are printed in the letters of a paper (``notation``), or with the names of the code.
"""

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

import sympy as sp

from bounds.formulas.comparisons import LARGER
from bounds.language.claim import Assumption, Choice, Claim, Condition, Definition, parts_of_size
from bounds.language.definitions import SHARED
from bounds.language.names import row_of
from bounds.language.notation import Notation, notation_of_definition, notation_text, plain
from bounds.language.on_samples import speaks_of_samples
from bounds.language.witness import witness_id
from bounds.printing.legend import operators, symbols, with_domain
from bounds.printing.options import in_words, local_rate
from bounds.printing.writer import LatexWriter, UnicodeWriter, Writer, filled
from bounds.registry.known_names import known_names
from bounds.registry.papers import FOLDERS, PAPERS, letters_in_file, letters_of_paper, quantities_of_paper

__all__ = ["about", "condition_latex", "condition_text", "latex", "letters_of", "notation", "show", "there_is", "unicode"]

Letters = Mapping[str, Notation]
WIDTH = 110


def notation(paper: str) -> dict[str, Notation]:
    """The paper's letters by code name: LaTeX and meaning. An unknown paper raises LookupError."""
    if paper not in FOLDERS:
        raise LookupError(f"no notation for paper {paper!r}; allowed: {', '.join(FOLDERS)}")
    return letters_of_paper(paper)


def letters_of(claim: Claim) -> dict[str, Notation]:
    """The letters of the claim's paper. A user's claim has those of the paper of its method, or else the textbooks'.

    Without client sampling both averages are the same and have one letter.
    """
    base = claim.procedure.base if claim.procedure else ""
    paper = next((name for name in (claim.paper, base) if name in FOLDERS), "classical")
    letters = dict(notation(paper)) if paper in PAPERS else notation("classical") | notation(paper)
    own = {name: notation_of_definition(d) for name, d in claim.definitions.items()}
    if claim.paper not in FOLDERS:  # the names that papers explain are theirs alone
        shared = SHARED.keys() | set().union(*known_names())
        letters = {name: letter for name, letter in letters.items() if name in shared or row_of(name)}
        own |= {name: letter for name, letter in letters.items() if claim.definitions.get(name) is SHARED.get(name)}
    letters = own | letters if claim.paper in FOLDERS else letters | own
    if claim.procedure is None or claim.procedure.sampling == "full":
        one = "classical" if paper == "classical" else "fedalign"
        letters["x"] = letters["x_sampled"] = letters_of_paper(one)["one_average"]
    for name in (v.name for v in claim.variables if claim.compares):
        own = letters.get(name.removesuffix(LARGER))
        if name.endswith(LARGER) and own is not None:
            letters[name] = Notation(f"{own.latex}'", f"a larger value of: {own.meaning}")
    return letters | letters_in_file(claim)


def latex(expression, letters: Letters | Literal["code"] | None = None) -> str:
    """An expression in LaTeX, without dollar signs.

    Args:
        expression: an expression of the language of claims.
        letters: what ``notation`` or ``letters_of`` gives; FedALIGN's if None; ``"code"`` for the names of the code.

    Example:
        >>> from bounds.language.operators import eta_l, mu, t
        >>> latex(1 - mu * eta_l[t])
        '1 - \\\\mu \\\\eta_{t}'
    """
    return _writer(LatexWriter, letters).text(expression)


def unicode(expression, letters: Letters | Literal["code"] | None = None) -> str:
    """An expression as one line of text; arguments as for :func:`latex`.

    Example:
        >>> from bounds.language.operators import norm2, t, x, x_star
        >>> unicode(norm2(x[t + 1] - x_star)), unicode(norm2(x[t + 1] - x_star), "code")
        ('‖w_{t+1} − w*‖²', '‖x[t+1] − x_star‖²')
    """
    return _writer(UnicodeWriter, letters).text(expression)


def _writer(kind: type[Writer], letters) -> Writer:
    if letters == "code":
        return kind(None)
    if letters is None:
        letters = {name: notation_of_definition(d) for name, d in quantities_of_paper("fedalign").items()}
        letters |= notation("fedalign")
    return kind(letters)


# conditions ----------------------------------------------------------------------------------------------------------
def condition_text(condition: Condition, letters: Letters | Literal["code"] | None = None) -> str:
    """``left ≤ right`` as text, with the range of its indices."""
    return _writer(UnicodeWriter, letters).condition(condition)


def condition_latex(condition: Condition, letters: Letters | Literal["code"] | None = None) -> str:
    """``left \\le right`` in LaTeX, with the range of its indices."""
    return _writer(LatexWriter, letters).condition(condition)


def there_is(choice: Choice, write) -> str:
    """``there is γ in (0, 1/L] such that``; ``write`` writes a formula."""
    ends = f"{'(' if choice.open_low else '['}{write(choice.low)}, {write(choice.high)}{')' if choice.open_high else ']'}"
    return f"there is {write(sp.Symbol(choice.name))} in {ends} such that"


# a claim -------------------------------------------------------------------------------------------------------------
def show(claim: Claim, letters: Literal["paper", "code"] = "paper", method=None) -> str:
    """A claim as text: statement, reading, procedure, hypotheses, definitions, variables, symbols and source.

    Args:
        claim: any claim.
        letters: ``"paper"`` for the paper's letters, ``"code"`` for the names of the code.
        method: the claim's method, with ``arguments`` (name to default) and ``traits.records`` as methods of ``fedtheory``
            have them. Without it the text lists only the options that the claim fixes.
    """
    if letters not in ("paper", "code"):
        raise ValueError(f"letters must be 'paper' or 'code'; got {letters!r}")
    used: Letters | Literal["code"] = "code" if letters == "code" else letters_of(claim)
    lines = [f"{claim.id}   ({'; '.join(part for part in (claim.kind, claim.number) if part != 'none')})", ""]
    statement = _condition(claim.statement, used) if claim.statement else f"no statement: {claim.undefined}"
    if claim.exists is not None:
        lines += _folded(there_is(claim.exists, lambda e: unicode(e, used)), "    ")
    lines += [*_folded(statement, "    "), ""]
    for title, entries in _entries(claim, used, method):
        for number, entry in enumerate(entries):
            lines += _folded(entry, f"  {'' if number else title:<11}", " " * 13)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _entries(claim: Claim, letters, method) -> Iterator[tuple[str, Iterable[str]]]:
    yield "reading", [claim.reading]
    yield "about", [about(claim)]
    yield "options", _options(claim, letters, method)
    yield "assumes", _assumptions(claim, letters)
    yield "given", (_condition(condition, letters) for condition in printable_conditions(claim.conditions, letters))
    yield "witness", _value_that_may_do(claim, letters)
    yield "for all", (_variable(variable, letters) for variable in claim.variables)
    yield "where", (_definition(definition, letters) for definition in claim.used_definitions().values())
    yield "letters", _legend(claim, letters, method)
    yield "source", [claim.source or f"none; derived: {claim.derivation}"]
    yield "compares", [" and ".join(dict.fromkeys(claim.compares))] if claim.compares else []
    yield "constants", [] if claim.explicit else [_hidden(claim, letters)]
    yield "note", [claim.note] if claim.note else []


def _condition(condition: Condition, letters) -> str:
    return _without_breaks(condition_text(condition, letters))


def _value_that_may_do(claim: Claim, letters) -> Iterator[str]:
    """The value that a claim names for the number that it says to exist, and the claim with it put in."""
    if claim.exists is not None and claim.exists.witness is not None:
        value = Condition(sp.Symbol(claim.exists.name), "==", claim.exists.witness)
        yield f"{_condition(value, letters)}   [{witness_id(claim)}]"


def _assumptions(claim: Claim, letters) -> Iterator[str]:
    for assumption in claim.assumptions:
        yield f"{assumption.name}   [{assumption.id}]"
        yield from (f"  {_condition(condition, letters)}"
                    for condition in printable_conditions(printed(assumption), letters))
        if assumption.note:
            yield f"  {assumption.note}"


def _options(claim: Claim, letters, method) -> Iterator[str]:
    """The options of the claim's method, and its local rates if they vary within a round."""
    if claim.setting != "run":
        return
    yield from in_words(claim, lambda name: _name(name, (), letters), method)
    rate = local_rate(claim, method)
    if rate is not None:
        yield f"local rate at step j of round r: {_without_breaks(unicode(rate, letters))}"


def _legend(claim: Claim, letters, method) -> Iterator[str]:
    """Every symbol with its name in code, its meaning and where its value comes from; the operators beyond the core."""
    for symbol in symbols(claim, letters_of(claim), method):
        letter = _name(symbol.name, symbol.indices, letters)
        name = "" if letters == "code" else f" = {symbol.name}"
        yield f"{letter}{name}: {'; '.join(filter(None, (symbol.meaning, symbol.origin)))}"
    for operator, arguments, meaning in operators(claim):
        form = f"{operator.__name__}({', '.join(arguments)})"
        if letters != "code":
            form = filled(_writer(UnicodeWriter, letters).form(operator.__name__, operator), list(arguments))
        yield f"{form}: {meaning}"


def printed(assumption: Assumption) -> list[Condition]:
    """The conditions of an assumption, and its inequalities on all functions and at all points."""
    whole = (assumption.for_all_functions, assumption.everywhere)
    return [*assumption.conditions, *(c for c in whole if c is not None)]


def printable_conditions(conditions: Iterable[Condition], letters) -> list[Condition]:
    """The conditions but for equations between equal texts, as ``G_sq == G**2`` if both sides are printed as G²."""
    return [c for c in conditions if c.relation != "==" or unicode(c.left, letters) != unicode(c.right, letters)]


def about(claim: Claim) -> str:
    """Describe the subject of a claim: the runs of a method with its clients and their sampling, a point, or numbers."""
    if claim.setting == "algebra":
        return "numbers, vectors and sequences alone"
    if claim.setting == "point":
        return "one step at a fixed time, from any local models, with any free clients included"
    how = claim.procedure
    words = [
        f"runs of {how.base}",
        f"with free clients (indicator {how.indicator}, matching {'strict' if how.strict else 'non-strict'}, "
        f"{_FREE[how.free]})" if how.free_clients else "without free clients",
        _SAMPLED.get(how.sampling) or f"priority clients sampled {how.sampling}",
        "clients of equal weight" if how.equal_weights else "clients of any weights",
        *([_DATA_SETS[how.data_sets]] if speaks_of_samples(claim) else []),
    ]
    return ", ".join(words)


def _hidden(claim: Claim, letters) -> str:
    """Describe the limits of an order, and the names on which its hidden constants may depend."""
    limits = ", ".join(f"{_name(str(symbol), (), letters)} → {'∞' if end == sp.oo else end}" for symbol, end in claim.limits)
    allowed = claim.constants_may_use
    on = "" if allowed is None else ("; they depend on nothing" if not allowed else "; they may depend on " + ", ".join(
        _name(name, (), letters) for name in allowed))
    return "hidden in the statement's order" + (f", as {limits}" if limits else "") + on


_BY_ITSELF = "in each round every client takes part with probability participation, independently of the others"
_SAMPLED = {"full": "full participation",
            "li2020-scheme-2": "priority clients sampled without replacement, their models averaged (scheme II)",
            "bernoulli": _BY_ITSELF, "bernoulli-expected": f"{_BY_ITSELF}; averages by the expected number"}
_DATA_SETS = {"random": "𝔼 over the data sets and the replaced sample too",
              "any": "on every data set and each of its neighbours, 𝔼 over the chance of the runs alone"}
_FREE = {"always": "always available", "arbitrary": "taking part in any pattern"}


def _variable(variable, letters) -> str:
    indices = tuple(index for index, _ in variable.indices)
    name = _name(variable.name, indices, letters)
    sizes = [(i, *parts_of_size(size)) for i, size in variable.indices]
    ranges = ", ".join(f"{i} = 0, …, {_name(size, (), letters)}{_more(more - 1)}" for i, size, more in sizes)
    return with_domain(name, variable) + (f" for {ranges}" if ranges else "")


def _more(number: int) -> str:
    return f"+{number}" if number > 0 else "−1" if number else ""


def _definition(definition: Definition, letters) -> str:
    name = _name(definition.name, tuple(map(str, definition.indices)), letters)
    formula = _without_breaks(f"{name} = {unicode(definition.formula, letters)}")
    return f"{formula}   ({'; '.join(filter(None, (definition.meaning, definition.unit, definition.source)))})"


def _name(name: str, indices: tuple[str, ...], letters) -> str:
    return plain(notation_text(name, indices, None if letters == "code" else letters))


def _folded(text: str, first: str, later: str | None = None) -> list[str]:
    """The text in lines of at most ``WIDTH`` columns where it can be broken."""
    lines = textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=first if later is None else later,
        break_long_words=False, break_on_hyphens=False,
    )
    return [line.replace(_KEPT, " ") for line in lines] or [first]


_KEPT = "\u00a0"


def _without_breaks(formula: str) -> str:
    """The formula so that lines break only before + − ≤ = ≥ outside short parentheses, or before its indices."""
    formula, gap, ranges = formula.partition("   ")
    formula = re.sub(r"\([^()]{1,40}\)", lambda m: m[0].replace(" ", _KEPT), formula)
    return re.sub(r" (?![+−≤=≥·] )", _KEPT, formula) + gap + ranges.replace(" ", _KEPT)

