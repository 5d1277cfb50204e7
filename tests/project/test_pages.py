"""Every block of code on the site does what it says: a page is run from its first block to its last, in an empty folder."""

import ast

import pytest

from bounds.registry.user_claims import PATHS
from docs.site import gallery, links, methods
from fedtheory.registry import ALGORITHMS
from tests import ROOT
from tests.project.blocks import blocks_of, run_page

#: pages with blocks -> how many blocks of each kind run; pages that have none are not listed
PAGES: dict[str, dict[str, int]] = {
    "../README.md": {"toml": 1, "sh": 4, "output": 1},
    "python.md": {"python": 7, "sh": 1, "output": 1, "text": 1},
    "command.md": {"sh": 1},
    "start.md": {"sh": 4, "output": 3, "toml": 1, "python": 4},
    "verdicts.md": {"sh": 1},
    "claims.md": {"toml": 7, "sh": 2, "output": 2, "text": 1},
    "beside_runs.md": {"python": 3},
    "worst_cases.md": {"sh": 3, "output": 2, "python": 4},
    "certificates.md": {"sh": 2},
    "read_the_checker.md": {"sh": 1},
    "conformance.md": {"python": 1},
    "gpu.md": {"python": 1, "text": 2},
    "architecture.md": {"mermaid": 1},
    "tutorials/referee_your_theorem.md": {"toml": 1, "sh": 5, "output": 3},
    "tutorials/review_a_paper.md": {"sh": 5},
    "tutorials/add_a_method.md": {"python": 3, "sh": 1, "output": 1},
    "tutorials/add_a_federation.md": {"python": 5, "sh": 1, "output": 1},
    "tutorials/property_tests.md": {"python": 5},
    "tutorials/sweeps.md": {"python": 2, "sh": 1},
    "tutorials/read_a_certificate.md": {"toml": 1, "sh": 2, "output": 2, "python": 5},
}


def written() -> dict[str, str]:
    docs = ROOT / "docs"
    pages = {path.relative_to(docs).as_posix(): path for path in [*docs.glob("*.md"), *docs.glob("tutorials/*.md")]}
    return {name: path.read_text(encoding="utf-8") for name, path in ({"../README.md": ROOT / "README.md"} | pages).items()}


def test_every_page_with_code_is_in_the_table():
    assert {name for name, page in written().items() if blocks_of(page)} == set(PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_does_what_it_says(tmp_path, monkeypatch, run, name):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(PATHS, "")  # which a command about a file of claims sets
    assert run_page(written()[name], run) == PAGES[name]


FENCE = "`" * 3
#: faults of a page
FAULTS = {
    "another value": f"{FENCE}python\n>>> 1 + 1\n3\n\n{FENCE}\n",
    "an error": f"{FENCE}python\nimport fedtheory.no_such_module\n{FENCE}\n",
    "no such command": f"{FENCE}sh\nfedtheory prove everything\n{FENCE}\n",
    "no such claim": f"{FENCE}sh\nfedtheory show fedalign/theorem-99\n{FENCE}\n",
    "another output": f"{FENCE}sh\nfedtheory claims --paper li2020\n{FENCE}\n\n{FENCE}text\nno claim is shown\n{FENCE}\n",
    "output in another order": f"{FENCE}sh\nfedtheory --version\n{FENCE}\n\n{FENCE}text\n0.1 … fedtheory\n{FENCE}\n",
    "a program that nobody runs": f"{FENCE}sh\nrm -rf report\n{FENCE}\n",
    "a language that nobody runs": f"{FENCE}yaml\nclaim: []\n{FENCE}\n",
    "a table that is none": f"{FENCE}toml mine.toml\n[[claim]\n{FENCE}\n",
    "a file that is no Python": f"{FENCE}python mine.py\ndef\n{FENCE}\n",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_a_page_is_noticed(tmp_path, monkeypatch, run, fault):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((AssertionError, ImportError, SyntaxError, ValueError)):
        run_page(FAULTS[fault], run)


@pytest.mark.parametrize("path", sorted(gallery.SCRIPTS.glob("*.py")), ids=lambda path: path.stem)
def test_a_script_of_the_gallery_draws_its_figure(path):
    text = path.read_text(encoding="utf-8")
    assert gallery.drawn(text).startswith(b"<?xml") and f'"{path.stem}.svg"' in text and ast.get_docstring(ast.parse(text))


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_the_script_of_a_method_draws_its_figure(name):
    assert gallery.drawn(methods.script(name)).startswith(b"<?xml")


@pytest.mark.parametrize("script", ["1 / 0", "pass", "import warnings; warnings.warn('a')",
                                    "open('a.svg', 'w').close(); open('b.svg', 'w').close()"])
def test_a_script_that_fails_or_draws_no_figure_is_an_error(tmp_path, script):
    with pytest.raises(RuntimeError, match=r"the script of a\.svg fails"):
        gallery.draw(None, "a.svg", script)


def test_links_that_lead_nowhere_and_networks_are_noticed(tmp_path):
    good = '<h1 id="here">a</h1><a href="#here">b</a><a href="other.html#there">c</a><a href="https://example.org">d</a>'
    (tmp_path / "page.html").write_text(good, encoding="utf-8")
    (tmp_path / "other.html").write_text('<p id="there"><img src="data:,">', encoding="utf-8")
    assert links.wrong(tmp_path) == []
    faults = ('<a href="none.html">', '<a href="#nowhere">', '<a href="other.html#here">', '<img src="none.svg">',
              '<script src="https://example.org/a.js"></script>', '<link rel="stylesheet" href="//example.org/a.css">')
    for fault in faults:
        (tmp_path / "page.html").write_text(good + fault, encoding="utf-8")
        assert len(links.wrong(tmp_path)) == 1, fault
