"""A paper's page of the documentation: letters, algorithms, assumptions, measured quantities, and every claim."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator

import sympy as sp

from bounds.language.claim import Claim, Condition
from bounds.language.notation import Notation, notation_text
from bounds.language.witness import witness_id
from bounds.printing.legend import domain_text, symbols
from bounds.printing.options import in_words, local_rate, own_arguments
from bounds.printing.render import (
    about,
    condition_latex,
    latex,
    letters_of,
    notation,
    printable_conditions,
    printed,
    there_is,
)
from bounds.registry.papers import claims_of_paper, sections_of, source_of, title_of

__all__ = ["page"]


def page(paper: str, find_method: Callable) -> str:
    """The page of a paper in Markdown: each assumption and quantity once, then the claims, which name them.

    ``find_method(name)`` gives a method as :func:`bounds.printing.render.show` takes it.
    """
    claims, title = list(claims_of_paper(paper).values()), title_of(paper)
    lines = [f"# {paper}: letters and claims", "", title, "", "Written by `make pages`. Times count local iterations and "
             "clients from 0."]
    methods = {c.procedure.base: find_method(c.procedure.base) for c in claims if c.procedure is not None}
    for heading, part in (("Letters", _symbol_rows(claims, notation(paper), methods)),
                          ("Algorithms", _algorithms(claims, methods)), ("Assumptions", _assumptions(claims)),
                          ("Measured quantities", _quantities(claims))):
        found = list(part)
        lines += ["", f"## {heading}", "", *found] if found else []
    for heading, section in sections_of(paper):
        lines += ["", f"## {heading}", ""]
        for claim in section:
            lines += _claim(claim, methods)
    return "\n".join(lines[:-1]) + "\n"


def _method_of(claim: Claim, methods: dict):
    return methods[claim.procedure.base] if claim.procedure is not None else None


def _symbol_rows(claims: list[Claim], letters: dict[str, Notation], methods: dict) -> Iterator[str]:
    """One row per letter that the claims use; the origin of its value may differ between them."""
    origins: dict[str, Counter] = defaultdict(Counter)
    for claim in claims:
        for symbol in symbols(claim, letters, _method_of(claim, methods)):
            origins[symbol.name][symbol.origin] += 1
    measured = {name for claim in claims for name in claim.definitions}
    yield from ("| letter | name in code | meaning | where its value comes from |", "|---|---|---|---|")
    for name, letter in letters.items():
        found = "; or ".join(origin for origin, _ in origins[name].most_common())
        found = found or ("measured by its formula, below" if name in measured else "")
        if found:
            yield f"| ${notation_text(name, tuple(letter.indices), letters)}$ | `{name}` | {letter.meaning} | {found} |"


def _algorithms(claims: list[Claim], methods: dict) -> Iterator[str]:
    """The methods of the claims with their hyper-parameters and options; the methods' page has the pseudocode."""
    about = Counter(claim.procedure.base for claim in claims if claim.procedure is not None)
    if not about:
        return
    yield from ("[algorithms.md](../algorithms.md) has their pseudocode, and the names that papers give them. Each claim "
                "lists the options that it fixes; all others have the values below.", "",
                "| method | claims about its runs | arguments, with their default values |",
                "|---|---|---|")
    for base, number in about.most_common():
        arguments = ", ".join(f"`{n}` {value}" for n, value in own_arguments(methods[base]).items() if value is not None)
        yield f"| [`{base}`](../algorithms.md#{base}) | {number} | {arguments} |"


def _assumptions(claims: list[Claim]) -> Iterator[str]:
    """Every assumption of the page's claims once, with its formulas."""
    for assumption, claim in _first((a.id, a, c) for c in claims for a in c.assumptions):
        letters = letters_of(claim)
        formulas = [f"${condition_latex(c, letters)}$" for c in printable_conditions(printed(assumption), letters)]
        text = "; ".join(filter(None, [assumption.name, *formulas, assumption.note]))
        yield f"- `{assumption.id}`: {text}"


def _quantities(claims: list[Claim]) -> Iterator[str]:
    """Every quantity that the page's claims use: its formula, what it is, its unit, its name in code and its source."""
    for d, claim in _first((name, d, c) for c in claims for name, d in c.used_definitions().items()):
        letters = letters_of(claim)
        letter = notation_text(d.name, tuple(map(str, d.indices)), letters)
        text = "; ".join(filter(None, (d.meaning, d.unit and f"unit: {d.unit}", d.source)))
        yield f"- `{d.name}`: ${letter} = {latex(d.formula, letters)}$; {text}"


def _first(parts: Iterable[tuple]) -> list[tuple]:
    """The first part of each name, with its claim, from tuples (name, part, claim)."""
    found: dict[str, tuple] = {}
    for name, *part in parts:
        found.setdefault(name, tuple(part))
    return list(found.values())


def _claim(claim: Claim, methods: dict) -> list[str]:
    """A claim: its statement, what it assumes, its conditions, free quantities, method and the quantities that it uses."""
    letters = letters_of(claim)
    lines = [f"### `{claim.id}`", "", f"{claim.kind}, {claim.number}; reading: {claim.reading}", ""]
    statement = condition_latex(claim.statement, letters) if claim.statement else None
    if claim.exists is not None:
        lines += [there_is(claim.exists, lambda e: f"${latex(e, letters)}$"), ""]
    if source := source_of(claim):
        file = source.path.relative_to(source.path.parents[3]).as_posix()
        lines += [f"[{source.lines}](../../{file}#L{source.first}-L{source.last})", ""]
    lines += [f"$${statement}$$" if statement else f"No statement: {claim.undefined}", ""]
    if claim.exists is not None and claim.exists.witness is not None:
        value = Condition(sp.Symbol(claim.exists.name), "==", claim.exists.witness)
        lines.append(f"- witness: ${condition_latex(value, letters)}$, put in by `{witness_id(claim)}`")
    if claim.assumptions:
        lines.append(f"- assumes: {', '.join(f'`{a.id}`' for a in claim.assumptions)}")
    conditions = [f"${condition_latex(c, letters)}$" for c in printable_conditions(claim.conditions, letters)]
    if conditions:
        lines.append(f"- given: {'; '.join(conditions)}")
    free = [f"${notation_text(v.name, tuple(index for index, _ in v.indices), letters)}$ {domain_text(v)}"
            for v in claim.variables]
    if free:
        lines.append(f"- for all: {', '.join(free)}")
    if claim.setting == "run" and claim.procedure is not None:
        options = list(in_words(claim, lambda name: f"${notation_text(name, (), letters)}$"))
        rate = local_rate(claim, _method_of(claim, methods))
        options += [] if rate is None else [f"local rate at step $j$ of round $r$: ${latex(rate, letters)}$"]
        runs = about(claim).replace(claim.procedure.base, f"`{claim.procedure.base}`", 1)
        lines.append(f"- {runs}" + "".join(f"; {option}" for option in options))
    used = claim.used_definitions()
    if used:
        lines.append(f"- uses: {', '.join(f'`{name}`' for name in used)}")
    return lines if lines[-1] == "" else [*lines, ""]
