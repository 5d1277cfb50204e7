"""The built site in a browser without a window: no link that leads nowhere, no page wider than its window, no error in the
console, nothing that leaves the disk. What `make site` has built is brought up to date first.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

from docs.site import links
from tests import ROOT

pytestmark = pytest.mark.slow

SITE = ROOT / "build" / "site"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]
WIDTHS = (1280, 390)  #: a desk, a telephone
PATIENCE = 180_000  #: milliseconds for what takes one thousand
#: how far contents reach beyond the window; what scrolls by itself does not count
OVERFLOW = "() => document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth"
#: texts whose colour is that of their ground
FAINT = """() => {
  const parts = (colour) => (colour.match(/[\\d.]+/g) || []).map(Number);
  const ground = (node) => {
    for (; node; node = node.parentElement) {
      const found = parts(getComputedStyle(node).backgroundColor);
      if (found.length === 3 || found[3] > 0.5) return found;
    }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll("article p, article td, article h1, article code, article math, article a")]
    .filter((node) => node.textContent.trim() && node.getClientRects().length)
    .filter((node) => { const text = parts(getComputedStyle(node).color), under = ground(node);
                        return Math.max(...[0, 1, 2].map((i) => Math.abs(text[i] - under[i]))) < 60; })
    .map((node) => node.textContent.trim().slice(0, 40));
}"""


@pytest.fixture(scope="module")
def site() -> Path:
    pytest.importorskip("sphinx", reason="building the site needs the extra site")
    SITE.parent.mkdir(exist_ok=True)
    with FileLock(SITE.parent / "site.lock"):  # another worker may build it at the same time
        done = subprocess.run([sys.executable, "-m", "docs.site"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return SITE


@pytest.fixture(scope="module")
def chromium():
    api = pytest.importorskip("playwright.sync_api", reason="tests in a browser need playwright")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS, headless=True)
        yield browser
        browser.close()


class Window:
    """A tab that keeps what goes wrong in it."""

    def __init__(self, chromium, width: int, scheme: str = "light"):
        self.context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.page, self.wrong = self.context.new_page(), []
        self.page.set_default_timeout(PATIENCE)
        self.page.on("console", lambda said: self.wrong.append(said.text) if said.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", lambda asked: self._leaves(asked.url))

    def _leaves(self, url: str) -> None:
        if not url.startswith(("file:", "data:", "blob:")):
            self.wrong.append(f"it asks for {url}")

    def of(self, path: Path, *questions: str) -> list:
        """What goes wrong on a page, and the answers to questions."""
        self.wrong = []
        self.page.goto(path.as_uri())
        answers = [self.page.evaluate(question) for question in questions]
        return [*self.wrong, *answers]


def pages(site: Path) -> list[Path]:
    return sorted(path for path in site.rglob("*.html") if "_static" not in path.parts)


@pytest.mark.parametrize("width", WIDTHS)
def test_pages_fit_and_load_from_disk_without_an_error(site, chromium, width):
    window, found = Window(chromium, width), {}
    for path in pages(site):
        *wrong, beyond = window.of(path, OVERFLOW)
        if wrong or beyond > 0:
            found[path.relative_to(site).as_posix()] = [*wrong, f"{beyond} pixels beyond"]
    assert len(pages(site)) > 100 and found == {}


def test_texts_can_be_read_in_the_dark(site, chromium):
    window, found = Window(chromium, 1280, "dark"), {}
    for path in pages(site):
        *_, faint = window.of(path, FAINT)
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
    *wrong, beyond, faint = window.of(page, OVERFLOW, FAINT)
    assert wrong or beyond > 0 or faint


def test_a_good_page_has_none(chromium, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("<!doctype html><html><body><article><p>a page</p></article></body></html>", encoding="utf-8")
    assert Window(chromium, 390).of(page, OVERFLOW, FAINT) == [0, []]
