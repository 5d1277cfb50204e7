"""Writes the report: an index, pages of papers and claims, letters of errata, figures, and the verdicts as data."""

import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from bounds.language.claim import Claim
from bounds.language.notation import notation_text
from bounds.printing.mathml import mathml
from bounds.printing.render import letters_of
from bounds.registry.claims import find_claim
from bounds.registry.papers import source_of
from verify.claims.related import conclusions_of, repaired_forms
from verify.report.broken_step import broken_step
from verify.report.drawing import FORMATS, drawn_meanwhile, remove_others, stem_of
from verify.report.errata import STYLES, failing_results
from verify.report.mathematics import mathematics
from verify.report.results import MANY, MISSING, PaperPage, ids_with_figures, papers_of
from verify.report.run_picture import run_picture
from verify.report.sentences import capitalised, clauses, in_words, readable, sentence
from verify.report.tables import LONGEST_NUMBER, details_shown, instance_tables
from verify.results.commands import on_certificate
from verify.results.drawing import VERDICT_STYLE, save
from verify.results.figures import looseness
from verify.results.files import file_name, read_json, writable_directory, write_text
from verify.results.numerals import apart_from_one, approximately, middle_of, significant
from verify.results.records import as_record, load_verdicts, save_about, save_verdicts
from verify.results.store import KEPT
from verify.results.verdict import VERDICTS, Series, Verdict

__all__ = ["VERDICT_MEANINGS", "page_name", "write_report"]

#: what each verdict means, as the pages say it
VERDICT_MEANINGS = {
    "refuted": "an instance meets every hypothesis and violates the statement; its certificate can be replayed",
    "ill-posed": "the hypotheses exclude each other, or a quantity is undefined",
    "certified": "there is a proof of everything that the claim quantifies over",
    "consistent": "no violation was found; it may be proven at some sizes and numbers; the worst ratio shows how loose "
                  "the bound is",
    "undecided": "the evidence suffices for none of the others",
}


def write_report(
    verdicts: Iterable[Verdict],
    out: str | Path,
    *,
    title: str,
    command: str,
    versions: Mapping[str, str],
    claims: Mapping[str, Claim] | None = None,
    workers: int = 1,
) -> Path:
    """Write ``out/index.html``, ``papers/*``, ``claims/*``, ``errata/*`` (letters to the authors as pages, in Markdown and
    in LaTeX), ``figures/*`` and ``verdicts.json``.

    Every file is written whole or not at all. Pages and figures of an earlier report in ``out`` that this one does not have
    are removed; a figure of the same data is kept, and so is the page of the same verdict on a claim that is not among
    ``claims``, because it may show formulas. The pages need no network. ``certificate`` of a verdict is a path relative to
    ``out``.

    Args:
        verdicts: what was decided, in the order of the table.
        out: the directory; made if it is not there.
        title, command, versions: shown on the index; ``command`` regenerates the report.
        claims: the claims by id, by default all registered ones; a verdict on another id gets a page without formulas.
        workers: processes that draw the figures while this one writes the pages. The files do not depend on their number.
            A script that asks for several must guard its entry with ``if __name__ == "__main__"``.

    Returns:
        The path of the index.

    Raises:
        ValueError: ``out`` cannot be written.
    """
    verdicts, out = list(verdicts), writable_directory(out)
    if claims is None:
        from bounds.registry.claims import all_claims

        claims = all_claims()
    earlier = _earlier(out)
    same = {v.id for v in verdicts if v.id not in claims and v.id in earlier and as_record(v) == as_record(earlier[v.id])}
    with_figures = ids_with_figures(verdicts)
    formats = FORMATS[:1] if len(verdicts) > MANY else FORMATS
    figures = {verdict.id: _figures(verdict, formats) for verdict in verdicts if verdict.id in with_figures}
    drawings = [(figure["series"], out / figure["stem"]) for group in figures.values() for figure in group]
    with drawn_meanwhile(drawings, workers, formats):
        kinds = {verdict.id: verdict.verdict for verdict in verdicts}
        pages = [_page(verdict, out, claims, figures.get(verdict.id, []), kinds) for verdict in verdicts]
        papers = papers_of(pages)
        about = {"title": title, "versions": versions, "names": VERDICTS}
        for name in ("style.css", "filter.js"):
            _write(out / name, f"{name}.j2")
        letters = {paper.name: _write_letter(paper, out, about) for paper in papers}
        written = {path for paths in letters.values() for path in paths}
        for paper in papers:
            written |= _write_paper(paper, out, same, bool(letters[paper.name]), about)
    remove_others(out / "figures", (stem.name for _, stem in drawings))
    save(looseness(verdicts), out / "figures" / "looseness", FORMATS)
    counts = Counter(verdict.verdict for verdict in verdicts)
    save_verdicts(verdicts, out)
    save_about(out, title=title, command=command, versions=versions)
    index = _write(
        out / "index.html", "index.html.j2", root="", command=command, papers=papers, pages=pages,
        results=sum(len(paper.results) for paper in papers), kinds=_kinds(pages),
        letters={name for name, paths in letters.items() if paths},
        counts=[(name, counts[name], VERDICT_MEANINGS[name]) for name in VERDICTS],
        kept=Counter(page["kept"] for page in pages if page["kept"]), looseness_alt=_looseness_alt(verdicts), **about,
    )
    for path in _pages_of(earlier, out) - written:
        path.unlink(missing_ok=True)
    return index


def _write_paper(paper: PaperPage, out: Path, same: set[str], has_letter: bool, about: Mapping[str, Any]) -> set[Path]:
    """Write the page of a paper and the pages of its claims."""
    stays = any(page["verdict"].id in same for page in paper.pages)
    written = {_write(out / paper.address, "paper.html.j2", stays, root="../", paper=paper, letter=has_letter,
                      kinds=_kinds(paper.pages), **about)}
    for result in paper.results:
        for page in result.pages:
            written.add(_write(out / page["address"], "claim.html.j2", page["verdict"].id in same, root="../", page=page,
                               result=result, paper=paper, **about))
    return written


def _write_letter(paper: PaperPage, out: Path, about: Mapping[str, Any]) -> set[Path]:
    """Write the errata of a paper in each format; none if nothing in it fails."""
    written = set()
    for ending, style in STYLES.items():
        parts = failing_results(paper, style, out if ending == "html" else Path())
        if parts:
            count = sum(len(entries) for _, entries in parts)
            opening = f"{count} statements that fail" if count > 1 else "one statement that fails"
            heading = {"title": style.words(paper.title), "authors": style.words(paper.authors)} if ending != "html" else {}
            address = paper.folder("errata", ending)
            written.add(_write(out / address, f"errata.{ending}.j2", root="../", paper=paper, parts=parts, opening=opening,
                               name=file_name(paper.name), **(dict(about) | heading)))
    return written


def _kinds(pages: Iterable[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(page["verdict"].kind for page in pages))


def _write(path: Path, template: str, stays: bool = False, /, **values) -> Path:
    """Write a page; if it ``stays``, only where it is not there."""
    if not (stays and path.exists()):
        write_text(path, _environment().get_template(template).render(**values))
    return path


def page_name(claim_id: str) -> str:
    """Address of a claim's page, relative to the report."""
    return f"claims/{file_name(claim_id)}.html"


def _page(verdict: Verdict, out: Path, claims: Mapping[str, Claim], figures: list[dict[str, Any]],
          kinds: Mapping[str, str]) -> dict[str, Any]:
    claim = claims.get(verdict.id)
    certificate = _certificate(verdict, out)
    proof = "scope" in verdict.details  # then the certificate has no instance
    instance = None if proof or verdict.verdict == "certified" else certificate or verdict.details.get("instance")
    facts, evidence_tables = details_shown(verdict.details)
    of_numbers = claim.names if claim and claim.setting == "algebra" else None
    tables = instance_tables(instance, _letters_and_meanings(claim), of_numbers) if isinstance(instance, Mapping) else []
    explained = {row[0] for table in tables for row in table["rows"]}
    formulas = mathematics(claim) if claim else None
    run = verdict.details.get("instance") if verdict.verdict == "refuted" and claim else None
    return {
        "verdict": verdict,
        "address": page_name(verdict.id),
        "claim": claim,
        "source": source_of(claim) if claim else None,
        "mathematics": formulas,
        "letters": [row for row in formulas.letters if row[0] not in explained] if formulas else [],
        "sentence": sentence(verdict, claim),
        "short": sentence(verdict, claim, short=True),
        "lines": in_words(verdict, claim),
        "broken": _broken(verdict, claims, kinds),
        **{name: [(one.number, kinds[one.id], page_name(one.id)) for one in others(claim) if one.id in kinds]
           if claim and verdict.verdict == "refuted" else []
           for name, others in (("repaired", repaired_forms), ("conclusions", conclusions_of))},
        "needs": verdict.details.get("needs", ""),
        "repairs": verdict.details.get("repairs", ()),
        "picture": run_picture(claim, run) if isinstance(run, Mapping) else "",
        "tables": tables,
        "sides": _sides(instance) if isinstance(instance, Mapping) else None,
        "conflict": [line for line in verdict.details.get("conflict", ()) if line != verdict.id],
        "missing": MISSING.get(verdict.details.get("missing")) if verdict.verdict == "undecided" else None,
        "proof": verdict.details.get("proof"),
        "facts": [fact for fact in facts if fact[1] != verdict.evidence],
        "evidence_tables": evidence_tables,
        "figures": figures,
        "certificate": verdict.certificate if certificate else None,
        "kept": verdict.details.get(KEPT, ""),
        "commands": [on_certificate(name, verdict, out) for name in _commands(verdict)] if certificate else [],
    }


def _broken(verdict: Verdict, claims: Mapping[str, Claim], kinds: Mapping[str, str]) -> dict[str, Any] | None:
    """The step at which the proof of a refuted claim breaks: its sentences, its formula with the letters that the claim does
    not have, and its page in this report."""
    known = verdict.details.get("broken")  # which `fedtheory explain` found
    found = broken_step(verdict.details.get("steps"), lambda step: step == known or kinds.get(step) == "refuted",
                        lambda step: find_claim(step) if step == known else claims.get(step))
    if found is None:
        return None
    letters = letters_of(found.step)
    beside = [(mathml(notation_text(name, indices, letters)), meaning)
              for name, indices, meaning in found.letters_beside(claims[verdict.id])]
    return {"words": found.words, "holding": found.holding, "statement": mathematics(found.step).statement,
            "letters": beside, "page": page_name(found.step.id) if found.step.id in kinds else ""}


def _commands(verdict: Verdict) -> list[str]:
    """Names of the commands that take the verdict's certificate; only a counterexample has a run."""
    return ["check", "replay"] if verdict.verdict == "refuted" else ["check"]


def _letters_and_meanings(claim: Claim | None) -> Callable[[str], tuple[str, str] | None]:
    """A function that gives the letter, as MathML, and the meaning of a name; None where it has no letter."""
    letters = letters_of(claim) if claim else {}

    variables = {v.name: tuple(index for index, _ in v.indices) for v in claim.variables} if claim else {}

    def name_of(name: str) -> tuple[str, str] | None:
        if name not in letters:
            return (Markup(mathml(notation_text(name, variables[name], letters))), "") if name in variables else None
        return Markup(mathml(notation_text(name, tuple(letters[name].indices), letters))), letters[name].meaning

    return name_of


def _certificate(verdict: Verdict, out: Path) -> Mapping[str, Any] | None:
    """The data of the certificate that the verdict names; None where there is none inside the report."""
    if not verdict.certificate:
        return None
    path = out / verdict.certificate
    if not path.resolve().is_relative_to(out.resolve()) or not path.is_file():
        return None
    data = read_json(path, "certificate")
    return data if isinstance(data, Mapping) else None


def _sides(instance: Mapping[str, Any]) -> list[tuple[str, str, str]] | None:
    if "left" not in instance or "right" not in instance:
        return None
    sides = [(name, str(instance[name]), middle_of(str(instance[name]))) for name in ("left", "right")]
    digits = next((n for n in range(3, 15) if len({approximately(middle, n) for *_, middle in sides}) > 1), 3)
    rows = [(name, middle if middle in side.split(" to ") else side, middle) for name, side, middle in sides]
    return [(name, exact if len(exact) <= LONGEST_NUMBER else "in the certificate", approximately(middle, digits))
            for name, exact, middle in rows]


def _figures(verdict: Verdict, formats: Sequence[str]) -> list[dict[str, Any]]:
    return [{"stem": f"figures/{stem_of(verdict.id, series)}", "alt": _series_alt(series), "series": series,
             "title": series.title.removeprefix(f"{verdict.id}: "), "formats": formats} for series in verdict.series]


def _series_alt(series: Series) -> str:
    """The figure in words, for readers who cannot see it."""
    if not series.x:
        return f"{series.title}: no data were recorded."
    worst = significant(series.worst_ratio)
    if series.exact:
        return (f"{series.title}: {series.y_label} against {series.x_label} from {significant(series.x[0])} to "
                f"{significant(series.x[-1])}. At the end the bound (black) is {significant(series.right[-1])}, the exact "
                f"worst case (orange) {significant(series.exact[-1])}, the worst run found (blue) "
                f"{significant(series.left[-1])}.")
    return (
        f"{series.title}: {series.y_label}, measurement (blue) and bound (black) against {series.x_label} from "
        f"{significant(series.x[0])} to {significant(series.x[-1])}. At the end the measurement is "
        f"{significant(series.left[-1])} and the bound {significant(series.right[-1])}; worst ratio {worst}."
    )


def _looseness_alt(verdicts: list[Verdict]) -> str:
    known = [verdict for verdict in verdicts if verdict.ratio is not None]
    above = sum(verdict.ratio > 1 for verdict in known)
    return f"Worst ratio left/right of {len(known)} claims on a logarithmic axis; {above} lie above one."


def _earlier(out: Path) -> dict[str, Verdict]:
    """The verdicts of an earlier report in the same directory, by id."""
    try:
        return {verdict.id: verdict for verdict in load_verdicts(out)}
    except ValueError:
        return {}


def _pages_of(ids: Iterable[str], out: Path) -> set[Path]:
    """Pages of claims, and the files of their papers."""
    papers = {file_name(i.partition("/")[0]) for i in ids}
    files = {f"papers/{name}.html" for name in papers} | {f"errata/{name}.{ending}" for name in papers for ending in STYLES}
    return {out / address for address in (*map(page_name, ids), *files)}


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("verify.report"), autoescape=lambda name: name.endswith(".html.j2"), undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )
    environment.filters |= {
        "significant": significant, "apart_from_one": apart_from_one, "capital": capitalised,
        "typeset": lambda text: text if isinstance(text, Markup) else readable(text),
        "code": lambda text: Markup(escape(text, quote=False)),  # quotes need no escape there
        "folded": lambda text: " \\\n  ".join(textwrap.wrap(text, 72, break_long_words=False, break_on_hyphens=False)),
    }
    environment.globals |= {
        "colours": {name: colour for name, (colour, _) in VERDICT_STYLE.items()}, "meanings": VERDICT_MEANINGS,
        "clauses": clauses,
    }
    return environment
