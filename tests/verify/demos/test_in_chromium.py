"""Every notebook in a browser: it starts, a slider moves the picture, no error is logged, no request leaves this machine."""

import socket
import subprocess
import time
from functools import partial
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

from tests.browser import CHROMIUM, FLAGS
from tests.verify.demos.notebooks import NAMES, picture_of
from verify.demos import opening
from verify.demos.catalogue import find_demo
from verify.demos.controls import Choice, Slider

pytestmark = pytest.mark.slow

PATIENCE = 120  # seconds for what takes one or two
PICTURE = "svg[role=img]"
INSIDE = ("data:", "blob:")  # addresses of what a page has already


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="tests in a browser need playwright")
    pytest.importorskip("marimo", reason="live notebooks need marimo")
    if CHROMIUM is None:
        pytest.skip("tests in a browser need Chromium")
    with api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS, headless=True)
        yield chromium
        chromium.close()


@pytest.fixture
def served(request, tmp_path):
    """The address of a notebook's server, which ends with the test."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = opening.environment() | {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    with open(tmp_path / "log", "wb") as log:
        server = subprocess.Popen(opening.command(find_demo(request.param), port, browser=False), env=environment,
                                  stdout=log, stderr=log, cwd=tmp_path)
    try:
        address, until = f"http://127.0.0.1:{port}", time.monotonic() + PATIENCE
        while True:
            try:
                urlopen(address, timeout=5).close()
                break
            except (URLError, OSError):
                assert server.poll() is None and time.monotonic() < until, (tmp_path / "log").read_text()
                time.sleep(0.1)
        yield request.param, address
    finally:
        server.terminate()
        server.wait()


class Visit:
    """A page with what it said and asked for: errors of the console, and addresses."""

    def __init__(self, browser):
        self.page, self.errors, self.asked = browser.new_page(), [], []
        self.page.set_default_timeout(1000 * PATIENCE)
        self.page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("websocket", lambda socket: self.asked.append(socket.url))

    def moves(self, act) -> None:
        """Wait until the picture is another one after ``act``."""
        before = self.page.locator(PICTURE).evaluate("picture => picture.outerHTML")
        act()
        self.page.wait_for_function("([before, query]) => { const now = document.querySelector(query); "
                                    "return now && now.outerHTML !== before }", arg=[before, PICTURE])

    def says(self, word: str) -> None:
        """Wait until the picture is said to show this."""
        self.page.wait_for_function("([word, query]) => document.querySelector(query)?.getAttribute('aria-label')"
                                    ".includes(word)", arg=[word, PICTURE])

    def elsewhere(self, address: str) -> list[str]:
        """What was asked from another place than ``address``."""
        return [url for url in self.asked if urlsplit(url).netloc != urlsplit(address).netloc and not url.startswith(INSIDE)]


@pytest.fixture
def visit(browser):
    here = Visit(browser)
    yield here
    here.page.close()


@pytest.mark.parametrize("served", NAMES, indirect=True)
def test_a_notebook_starts_and_its_picture_moves(visit, served):
    (name, address), page = served, visit.page
    page.goto(address)
    page.locator(PICTURE).wait_for()
    controls = picture_of(name).CONTROLS.values()
    for number, slider in enumerate(each for each in controls if isinstance(each, Slider)):
        key = "ArrowLeft" if slider.start == slider.values[-1] else "ArrowRight"
        visit.moves(partial(page.get_by_role("slider").nth(number).press, key))
    for number, choice in enumerate(each for each in controls if isinstance(each, Choice)):
        value = next(value for value in reversed(choice.values) if value != choice.start)
        visit.moves(partial(page.locator("select").nth(number).select_option, label=value))
    assert page.locator(".marimo-error").count() == 0 and page.get_by_text("Traceback").count() == 0
    assert visit.errors == [] and visit.elsewhere(address) == [] and visit.asked


@pytest.mark.parametrize("served", ["live-counterexample"], indirect=True)
def test_an_inequality_is_typed_and_markup_stays_text(visit, served):
    (_, address), page = served, visit.page
    page.goto(address)
    page.locator(PICTURE).wait_for()
    box = page.get_by_role("textbox").first

    def typed(text):
        box.fill(text)
        box.press("Enter")

    visit.says("refuted")
    page.evaluate("""query => {
        const look = () => window.seen.add(document.querySelector(query)?.getAttribute('aria-label'));
        window.seen = new Set();
        new MutationObserver(look).observe(document.body, {childList: true, subtree: true}) }""", PICTURE)
    typed("objective(x_round[0]) - F_star <= L*norm2(x_round[0] - x_star)/2")
    visit.says("consistent")
    watched = [said for said in page.evaluate("[...window.seen]") if said and "under way" in said]
    assert len(watched) > 1  # pictures of the search while it went
    visit.moves(lambda: typed("objective(x_round[0]) - F_star <= L*norm2(x_round[0] - x_star)/3"))
    visit.says("refuted")
    images = page.locator("img").count()
    attack = "<img src=http://192.0.2.1/x.png onerror=console.error(1)> <script>console.error(2)</script> $x$ **b** <= 1"
    visit.moves(lambda: typed(attack))
    assert attack[:40] in page.inner_text("body") and page.locator("img").count() == images
    assert visit.errors == [] and visit.elsewhere(address) == []


def test_a_planted_request_and_a_planted_error_are_noticed(visit):
    page = visit.page
    page.route("**/*", lambda route: route.abort())
    page.set_content('<script>console.error("planted")</script><img src="http://192.0.2.1/picture.png">')
    page.wait_for_function("document.images[0].complete")
    assert "planted" in visit.errors and visit.elsewhere("http://127.0.0.1:1") == ["http://192.0.2.1/picture.png"]


def test_a_picture_that_stays_is_noticed(visit):
    visit.page.set_content('<svg role="img"></svg>')
    visit.page.set_default_timeout(1000)
    with pytest.raises(Exception, match="wait_for_function: Timeout"):
        visit.moves(lambda: None)


def test_a_page_of_slides_moves_without_a_server(visit, tmp_path):
    from verify.demos import slides

    path, page = tmp_path / "slides.html", visit.page
    path.write_text(slides.page(find_demo("worst-function"), 6), encoding="utf-8")
    page.goto(path.as_uri())
    picture, said = page.locator("#picture"), page.locator("#said")
    before = picture.get_attribute("src"), said.inner_text()
    few = slides.thinned(picture_of("worst-function").CONTROLS, 6)
    moves = [(number, "Home" if slider.start == slider.values[-1] else "End") for number, slider in enumerate(
        each for each in few.values() if isinstance(each, Slider)) if len(slider.values) > 1]
    number, key = moves[0]
    page.get_by_role("slider").nth(number).press(key)
    page.wait_for_function("before => document.getElementById('picture').src !== before", arg=before[0])
    assert said.inner_text() != before[1] and page.evaluate("document.getElementById('picture').naturalWidth") > 500
    assert visit.errors == [] and [url for url in visit.asked if not url.startswith((*INSIDE, path.as_uri()))] == []
