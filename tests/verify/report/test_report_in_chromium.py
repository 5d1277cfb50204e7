"""The pages of a report in a browser without a window, as wide as a desk and a telephone: `make report-check`.

``REPORT=folder`` checks the pages of that report. Screenshots of each kind of page are kept in ``build/report-check``.
"""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from bounds.registry.claims import all_claims, find_claim
from tests import ROOT
from tests.browser import FAINT, MISSING, OVERFLOW, RAW, UNFOLD, WIDTHS, Window
from tests.not_empty import not_empty
from verify.referee.decide import Settings, decide
from verify.report.html import page_name, write_report
from verify.results.records import load_verdicts

pytestmark = pytest.mark.slow

SHOTS = ROOT / "build" / "report-check"
PAPER = 718  #: pixels between the margins of a sheet of A4
#: a claim for each verdict, and one with much in its tables
CLAIMS = ("fedalign/theorem-1", "fedalign/theorem-1@assumptions-as-printed", "fedalign/lemma-A2", "fedalign/lemma-A3",
          "li2020/theorem-4", "fedalign/step-T8@as-printed", "fedalign/step-T16@as-printed", "fedalign/lemma-A8")


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    if "REPORT" in os.environ:
        return Path(os.environ["REPORT"]).resolve()
    out = tmp_path_factory.mktemp("report")
    verdicts = [replace(decide(find_claim(name), Settings(federations=False, out=out)), command=f"fedtheory verify {name}")
                for name in CLAIMS]
    write_report(verdicts, out, title="A report", command="fedtheory verify", versions={}, claims=all_claims())
    return out


def each_kind(report: Path) -> list[Path]:
    """One page of each kind, and one of a claim of each verdict."""
    claims = {verdict.verdict: report / page_name(verdict.id) for verdict in load_verdicts(report)}
    return [report / "index.html", *(min((report / kind).glob("*.html")) for kind in ("papers", "errata")), *claims.values()]


@pytest.mark.parametrize("width", WIDTHS)
def test_pages_fit_with_their_pictures_and_formulas_and_without_errors(report, chromium, width):
    window, found = Window(chromium, width), {}
    for path in sorted(report.rglob("*.html")):
        *wrong, _, beyond, missing, raw = window.look_at(path, UNFOLD, OVERFLOW, MISSING, RAW)
        if wrong or beyond > 0 or missing or raw:
            found[path.relative_to(report).as_posix()] = [*wrong, f"{beyond} pixels beyond", *missing, *raw]
    assert found == {}


def test_whole_tables_and_formulas_are_printed(report, chromium):
    window, found = Window(chromium, PAPER), {}
    window.page.emulate_media(media="print")
    for path in sorted(report.rglob("*.html")):
        *_, beyond = window.look_at(path, UNFOLD, OVERFLOW)
        if beyond > 0:
            found[path.relative_to(report).as_posix()] = beyond
    assert found == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_each_kind_of_page_is_kept_as_a_picture(report, chromium, width, scheme):
    SHOTS.mkdir(parents=True, exist_ok=True)
    window = Window(chromium, width, scheme)
    for path in not_empty(each_kind(report)):
        *_, faint = window.look_at(path, FAINT)
        assert faint == [], path
        picture = SHOTS / f"{path.parent.name if path.stem != 'index' else 'report'}-{path.stem}-{width}-{scheme}.png"
        window.page.screenshot(path=picture, full_page=path.stem != "index")
        assert picture.stat().st_size > 10_000


def shown(page) -> list[str]:
    return page.eval_on_selector_all("[data-verdicts]:not([hidden])", "found => found.map(one => one.textContent.trim())")


@pytest.mark.parametrize("folder", [".", "papers"])
def test_filters_and_search_leave_what_matches(report, chromium, folder):
    window = Window(chromium, 1280)
    path = report / "index.html" if folder == "." else report / "papers" / "fedalign.html"
    window.page.goto(path.as_uri())
    every = shown(window.page)
    window.page.select_option("form.filter select[name=verdict]", "certified")
    some = shown(window.page)
    assert 0 < len(some) < len(every) and all("certified" in text for text in some)
    window.page.select_option("form.filter select[name=verdict]", "")
    window.page.fill("form.filter input", "LEMMA a.2")
    assert any("Lemma A.2" in text for text in shown(window.page)) and len(shown(window.page)) < len(every)
    window.page.fill("form.filter input", "")
    assert shown(window.page) == every and window.wrong == []


def test_without_scripts_every_result_can_be_read(report, chromium):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((report / "index.html").as_uri())
    assert page.locator("form.filter").is_hidden()
    result = page.locator("details li").first
    if not result.is_visible():
        page.locator("summary").first.click()
    assert result.is_visible()


@pytest.mark.parametrize("fault", [
    "<div style='width: 3000px'>a</div>", "<script>console.error('a')</script>", "<img src='none.png'>",
    "<p>the bound \\frac{1}{2}</p>", "<p>at most $x$</p>", "<details><p style='width: 3000px'>a</p></details>",
])
def test_a_fault_would_be_seen(chromium, tmp_path, fault):
    page = tmp_path / "page.html"
    for text, faulty in (("<p>a page</p>", False), (fault, True)):
        page.write_text(f"<!doctype html><html><body><main>{text}</main></body></html>", encoding="utf-8")
        *wrong, _, beyond, missing, raw = Window(chromium, 390).look_at(page, UNFOLD, OVERFLOW, MISSING, RAW)
        assert bool(wrong or beyond > 0 or missing or raw) == faulty
