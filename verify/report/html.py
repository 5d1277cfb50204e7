"""Writes the report: an index, a page for each claim, lists of claims, figures, and the verdicts as data."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from bounds.language.claim import Claim
from bounds.registry.papers import source_of
from verify.report.combined_evalue import RATE, combined_evalue
from verify.report.drawing import FORMATS, drawn_meanwhile, remove_others, stem_of
from verify.report.lists import (
    ATTENTION,
    MANY,
    by_kind,
    by_paper,
    grouped,
    ids_with_figures,
    not_proven,
    not_tested,
    paper_page,
    tightest_first,
)
from verify.report.mathematics import mathematics, symbols
from verify.report.tables import details_shown, instance_tables
from verify.results.commands import on_certificate
from verify.results.drawing import VERDICT_STYLE, save
from verify.results.figures import looseness
from verify.results.files import file_name, read_json, writable_directory, write_text
from verify.results.numerals import approximately, significant, typeset
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
    """Write ``out/index.html``, the lists beside it (``held.html``, ``untested.html``, ``papers/*``, ``errata/*``),
    ``out/claims/*.html``, ``out/figures/*`` and ``out/verdicts.json``.

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
        pages = [_page(verdict, out, claims.get(verdict.id), figures.get(verdict.id, [])) for verdict in verdicts]
        about = {"title": title, "versions": versions}
        written = set()
        for before, page, after in zip([None, *pages], pages, [*pages[1:], None], strict=False):
            written.add(_write(out / page["address"], "claim.html.j2", page["verdict"].id in same, page=page, before=before,
                               after=after, **about))
        written |= _write_lists(pages, out, same, about)
    remove_others(out / "figures", (stem.name for _, stem in drawings))
    save(looseness(verdicts), out / "figures" / "looseness", FORMATS)
    counts = Counter(verdict.verdict for verdict in verdicts)
    save_verdicts(verdicts, out)
    save_about(out, title=title, command=command, versions=versions)
    index = _write(
        out / "index.html", "index.html.j2", command=command, papers=_papers(pages), names=VERDICTS,
        kinds=by_kind(pages), reasons=not_proven(pages),
        counts=[(name, counts[name], VERDICT_MEANINGS[name]) for name in VERDICTS], attention=_attention(pages),
        kept=Counter(page["kept"] for page in pages if page["kept"]), many=len(verdicts) > MANY,
        looseness_alt=_looseness_alt(verdicts), together=combined_evalue(verdicts), rate=RATE, **about,
    )
    for path in _pages_of(earlier, out) - written:
        path.unlink(missing_ok=True)
    return index


def _papers(pages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row | {"errata": paper_page(row["paper"], "errata")} for row in by_paper(pages)]


def _attention(pages: list[dict[str, Any]]) -> list[tuple[str, str, list[dict[str, Any]]]]:
    """The refuted and the ill-posed claims, by verdict and block."""
    return [(name, block, group) for name in ATTENTION
            for block, group in grouped([p for p in pages if p["verdict"].verdict == name], "@")]


def _write_lists(pages: list[dict[str, Any]], out: Path, same: set[str], about: Mapping[str, Any]) -> set[Path]:
    """Write the pages that list claims: by paper, errata, what held, what is not decided."""
    written = set()
    for row in _papers(pages):
        written.add(_write(
            out / row["address"], "listing.html.j2", root="../", heading=f"Claims: {row['paper']}",
            words="Every claim of the paper, in each reading.", groups=[("All", row["pages"])], **about,
        ))
        if any(row["wrong"]):
            stays = any(page["verdict"].id in same for page in row["pages"])
            written.add(_write(out / row["errata"], "errata.html.j2", stays, paper=row["paper"], address=row["address"],
                               entries=_attention(row["pages"]), **about))
    words = ("The largest ratio of the left to the right side that the search found, tightest bounds first. At 1 both sides "
             "are equal. A small ratio is no proof of looseness: the true worst case may be larger.")
    _write(out / "held.html", "listing.html.j2", root="", heading="What held, and how loosely", words=words,
           groups=[("Certified and consistent", tightest_first(pages))] if tightest_first(pages) else [], **about)
    failing = [p for p in pages if p["verdict"].verdict == "ill-posed"]
    words = "Claims whose hypotheses exclude each other, or that are undefined; then claims that are not decided, and why."
    groups = [("Ill-posed", failing)] * bool(failing) + not_tested(pages)
    _write(out / "untested.html", "listing.html.j2", root="", words=words, groups=groups,
           heading="Hypotheses that cannot be met, and what is not decided", **about)
    return written


def _write(path: Path, template: str, stays: bool = False, /, **values) -> Path:
    """Write a page; if it ``stays``, only where it is not there."""
    if not (stays and path.exists()):
        write_text(path, _environment().get_template(template).render(**values))
    return path


def page_name(claim_id: str) -> str:
    """Address of a claim's page, relative to the report."""
    return f"claims/{file_name(claim_id)}.html"


def _page(verdict: Verdict, out: Path, claim: Claim | None, figures: list[dict[str, Any]]) -> dict[str, Any]:
    certificate = _certificate(verdict, out)
    proof = "scope" in verdict.details  # then the certificate has no instance
    instance = None if proof or verdict.verdict == "certified" else certificate or verdict.details.get("instance")
    facts, evidence_tables = details_shown(verdict.details)
    tables = instance_tables(instance) if isinstance(instance, Mapping) else []
    return {
        "verdict": verdict,
        "address": page_name(verdict.id),
        "claim": claim,
        "source": source_of(claim) if claim else None,
        "mathematics": mathematics(claim) if claim else None,
        "tables": [table | {"symbols": _symbols(table, claim)} for table in tables],
        "sides": _sides(instance) if isinstance(instance, Mapping) else None,
        "conflict": [line for line in verdict.details.get("conflict", ()) if line != verdict.id],
        "facts": [fact for fact in facts if fact[1] != verdict.evidence],
        "evidence_tables": evidence_tables,
        "figures": figures,
        "anchor": file_name(verdict.id),
        "certificate": verdict.certificate if certificate else None,
        "kept": verdict.details.get(KEPT, ""),
        "replay": on_certificate("check", verdict, out) if certificate else "",
        "rerun": on_certificate("replay", verdict, out) if certificate else "",
    }


def _symbols(table: Mapping[str, Any], claim: Claim | None) -> dict[str, str]:
    """MathML of the quantities named in a table."""
    if claim is None or "names" not in table:
        return {}
    if table["names"] == "head":
        return symbols(claim, table["head"], "k")
    return symbols(claim, [row[0] for row in table["rows"]], "t")


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
    return [(name, str(instance[name]), approximately(instance[name])) for name in ("left", "right")]


def _figures(verdict: Verdict, formats: Sequence[str]) -> list[dict[str, Any]]:
    return [{"stem": f"figures/{stem_of(verdict.id, series)}", "title": series.title, "alt": _series_alt(series),
             "series": series, "formats": formats} for series in verdict.series]


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
    """Pages of claims, and of their papers."""
    papers = {paper_page(i.split("/")[0], folder) for i in ids for folder in ("papers", "errata")}
    return {out / address for address in (*map(page_name, ids), *papers)}


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("verify.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, keep_trailing_newline=True,
    )
    environment.filters |= {"significant": significant, "mathml": Markup, "typeset": typeset}
    environment.globals |= {
        "colours": {name: colour for name, (colour, _) in VERDICT_STYLE.items()}, "meanings": VERDICT_MEANINGS,
    }
    return environment
