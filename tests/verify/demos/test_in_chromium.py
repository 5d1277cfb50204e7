"""Every notebook in a browser: it starts, a slider moves the picture, no error is logged, no request leaves this machine."""

import os
import shutil
import socket
import subprocess
import time
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

from tests.verify.demos.notebooks import NAMES, picture_of
from verify.demos import opening
from verify.demos.catalogue import find_demo
from verify.demos.controls import Slider

pytestmark = pytest.mark.slow

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync")
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


@pytest.mark.parametrize("served", NAMES, indirect=True)
def test_a_notebook_starts_and_its_picture_moves(browser, served):
    name, address = served
    page, said, asked = browser.new_page(), [], []
    page.set_default_timeout(1000 * PATIENCE)
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda socket: asked.append(socket.url))
    page.goto(address)
    picture = page.locator(PICTURE)
    picture.wait_for()
    sliders = [control for control in picture_of(name).CONTROLS.values() if isinstance(control, Slider)]
    for number, slider in enumerate(sliders):
        before = picture.inner_html()
        page.get_by_role("slider").nth(number).press("ArrowLeft" if slider.start == slider.values[-1] else "ArrowRight")
        page.wait_for_function("([before, query]) => { const now = document.querySelector(query); "
                               "return now && now.innerHTML !== before }", arg=[before, PICTURE])
    assert page.locator(".marimo-error").count() == 0 and page.get_by_text("Traceback").count() == 0
    page.close()
    elsewhere = [url for url in asked if urlsplit(url).netloc != urlsplit(address).netloc and not url.startswith(INSIDE)]
    assert said == [] and elsewhere == [] and asked


def test_a_planted_request_and_a_planted_error_are_noticed(browser):
    """What the listeners above listen to."""
    page, said, asked = browser.new_page(), [], []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: asked.append(request.url))
    page.route("**/*", lambda route: route.abort())
    page.set_content('<script>console.error("planted")</script><img src="http://192.0.2.1/picture.png">')
    page.wait_for_function("document.images[0].complete")
    page.close()
    assert "planted" in said and "http://192.0.2.1/picture.png" in asked
    assert os.path.exists(CHROMIUM)
