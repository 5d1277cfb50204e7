"""Pages in Chromium without a window: what goes wrong in them, and how they look."""

import shutil
from pathlib import Path

import pytest

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
  return [...document.querySelectorAll(":is(article, body > main) :is(p, td, h1, code, math, a)")]
    .filter((node) => node.textContent.trim() && node.getClientRects().length)
    .filter((node) => { const text = parts(getComputedStyle(node).color), under = ground(node);
                        return Math.max(...[0, 1, 2].map((i) => Math.abs(text[i] - under[i]))) < 60; })
    .map((node) => node.textContent.trim().slice(0, 40));
}"""
#: pictures that are not there
MISSING = """async () => {
  const pictures = [...document.images];
  pictures.forEach((picture) => { picture.loading = "eager"; });
  await Promise.allSettled(pictures.map((picture) => picture.decode()));
  return pictures.filter((picture) => !picture.naturalWidth).map((picture) => picture.getAttribute("src"));
}"""
#: formulas that a reader sees as they are written in LaTeX
RAW = """() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
  while (walker.nextNode()) {
    const text = walker.currentNode;
    if (!text.parentElement.closest("pre, code, annotation, script, style") && /\\\\[A-Za-z]+|[$]/.test(text.data))
      found.push(text.data.trim().slice(0, 60));
  }
  return found;
}"""
#: shows what a reader can unfold
UNFOLD = "() => document.querySelectorAll('details').forEach((part) => { part.open = true; })"


@pytest.fixture(scope="module")
def chromium():
    """Chromium, or a skipped test where there is none."""
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

    def look_at(self, path: Path, *questions: str) -> list:
        """What goes wrong on a page, and the answers to questions."""
        self.wrong = []
        self.page.goto(path.as_uri())
        answers = [self.page.evaluate(question) for question in questions]
        return [*self.wrong, *answers]
