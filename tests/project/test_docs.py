"""What the documentation shows works: README's findings, CONTRIBUTING's claim, the demos, the file lists."""

import json
import re
import subprocess
import sys
import tomllib

import pytest

from tests import ROOT
from tests.not_empty import not_empty

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
REQUIREMENTS = [*PROJECT["dependencies"], *EXTRAS["test"], *EXTRAS["site"]]


def name_of(requirement: str) -> str:
    return re.match(r"[\w-]+", requirement)[0].lower()


README = (ROOT / "README.md").read_text()
FINDINGS = re.findall(r"^\| .*: (refuted|ill-posed)\. (.*) \| `fedtheory (verify (\S+))` \|$", README, re.MULTILINE)


def test_readme_is_short_and_counts_the_claims():
    from bounds.registry.claims import all_claims

    assert README.count("\n") <= 130
    assert [int(n.replace(",", "")) for n in re.findall(r"([\d,]+) claims", README)] == [len(all_claims())]
    assert len(FINDINGS) == 5


@pytest.mark.slow
@pytest.mark.parametrize(("verdict", "what", "command", "claim"), FINDINGS, ids=[claim for *_, claim in FINDINGS])
def test_a_finding_of_readme(run, tmp_path, verdict, what, command, claim):
    assert run(*command.split(), "--out", str(tmp_path / "report"))[0] == 1
    (found,) = json.loads((tmp_path / "report" / "verdicts.json").read_text())
    assert found["verdict"] == verdict
    if sides := re.search(r"left side (\S+), right side (\S+)|(\S+) is not at most (\S+)", what):
        left, right = [side for side in sides.groups() if side]
        assert f"left side {left}, right side {right} " in found["evidence"]


def test_contributing_shows_a_claim_as_it_is():
    from bounds.registry.claims import find_claim
    from bounds.registry.papers import source_of

    shown = re.search(r"```toml\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)[1]
    assert shown == source_of(find_claim("fedalign/lemma-A2")).text


@pytest.mark.slow
@pytest.mark.parametrize("demo", sorted(path.name for path in (ROOT / "demos").glob("*.py")))
def test_demo(tmp_path, demo):
    result = subprocess.run(
        [sys.executable, "-W", "error", ROOT / "demos" / demo], cwd=tmp_path, capture_output=True, text=True
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert re.search("consistent|refuted|certified|undecided|proven|sign reversed: [0-9]+ passed, 2 failed", result.stdout)


@pytest.mark.parametrize("requirement", REQUIREMENTS)
def test_every_dependency_is_justified_and_pinned(requirement):
    name = name_of(requirement)
    ranges = requirement[len(name):]
    assert f"| {name} | {ranges} |" in (ROOT / "docs" / "dependencies.md").read_text()
    assert re.search(rf"^{name}==[\d.]+$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)


def test_nothing_is_justified_that_is_not_needed():
    rows = re.findall(r"^\| ([a-z][\w-]*) \| [>=]", (ROOT / "docs" / "dependencies.md").read_text(), re.MULTILINE)
    assert sorted(rows) == sorted({*map(name_of, REQUIREMENTS)})


def test_pages_of_the_documentation_name_files_that_exist():
    for page in ("README.md", "CONTRIBUTING.md"):
        named = re.findall(r"`((?:[\w.-]+/)+[\w.-]*\.?\w*)`", (ROOT / page).read_text())
        files = [name for name in named if re.search(r"\.(py|md|html|json)$|/$", name) and not name.startswith("report/")]
        written = ("docs/papers/", "docs/algorithms.md")  # by make pages
        assert files and [name for name in files if not (ROOT / name).exists() and name not in written] == []


def test_documentation_has_no_absolute_paths_or_hosts():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "Makefile", ROOT / "constraints.txt"]
    for page in not_empty(pages):
        assert not re.search(r"https?://|(?<![\w.])/(home|root|tmp|work|usr)/", page.read_text()), page
