"""The built site in a browser without a window: no link that leads nowhere, no page wider than its window, no error in the
console, nothing that leaves the disk. What `make site` has built is brought up to date first.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

from docs.site import links
from tests import ROOT
from tests.browser import FAINT, OVERFLOW, WIDTHS, Window

pytestmark = pytest.mark.slow

SITE = ROOT / "build" / "site"


@pytest.fixture(scope="module")
def site() -> Path:
    pytest.importorskip("sphinx", reason="building the site needs the extra site")
    SITE.parent.mkdir(exist_ok=True)
    with FileLock(SITE.parent / "site.lock"):  # another worker may build it at the same time
        done = subprocess.run([sys.executable, "-m", "docs.site"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return SITE


def pages(site: Path) -> list[Path]:
    return sorted(path for path in site.rglob("*.html") if "_static" not in path.parts)


@pytest.mark.parametrize("width", WIDTHS)
def test_pages_fit_and_load_from_disk_without_an_error(site, chromium, width):
    window, found = Window(chromium, width), {}
    for path in pages(site):
        *wrong, beyond = window.look_at(path, OVERFLOW)
        if wrong or beyond > 0:
            found[path.relative_to(site).as_posix()] = [*wrong, f"{beyond} pixels beyond"]
    assert len(pages(site)) > 100 and found == {}


def test_texts_can_be_read_in_the_dark(site, chromium):
    window, found = Window(chromium, 1280, "dark"), {}
    for path in pages(site):
        *_, faint = window.look_at(path, FAINT)
        if faint:
            found[path.relative_to(site).as_posix()] = faint[:3]
    assert found == {}


def test_no_link_leads_nowhere(site):
    assert links.wrong(site) == []


def test_the_search_finds_a_method(site, chromium):
    window = Window(chromium, 1280)
    window.page.goto((site / "search.html").as_uri() + "?q=scaffold")
    window.page.wait_for_selector("#search-results li a")
    assert any("scaffold" in (link.get_attribute("href") or "")
               for link in window.page.query_selector_all("#search-results li a")) and window.wrong == []


@pytest.mark.parametrize("fault", [
    "<div style='width: 3000px'>a</div>", "<script>throw new Error('a')</script>", "<script>console.error('a')</script>",
    "<img src='https://example.org/a.png'>", "<img src='none.png'>",
    "<article style='background: #111; color: #222'><p>dark on dark</p></article>",
])
def test_a_fault_would_be_seen(chromium, tmp_path, fault):
    page = tmp_path / "page.html"
    page.write_text(f"<!doctype html><html><body><p>a page</p>{fault}</body></html>", encoding="utf-8")
    window = Window(chromium, 390)
    *wrong, beyond, faint = window.look_at(page, OVERFLOW, FAINT)
    assert wrong or beyond > 0 or faint


def test_a_good_page_has_none(chromium, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("<!doctype html><html><body><article><p>a page</p></article></body></html>", encoding="utf-8")
    assert Window(chromium, 390).look_at(page, OVERFLOW, FAINT) == [0, []]
