"""The page "A paper" of CONTRIBUTING is complete: its files, in a folder of their own, make a paper that is refereed."""

import json
import os
import re
import subprocess
import sys

import pytest

from tests import ROOT

#: packages that find what they have by the files of their folders
FOUND = ("bounds/papers", "fedtheory/algorithms", "verify/checker/methods", "tests/bounds/papers")

#: run with the folder of the page's files as its argument; these files count as files of the packages
REFEREE = """
import importlib, json, pathlib, sys
folder = pathlib.Path(sys.argv[1])
for package in sys.argv[2:]:
    importlib.import_module(package.replace("/", ".")).__path__.append(str(folder / package))

method = importlib.import_module("fedtheory.algorithms.halfway")  # fedtheory had read its folder by now

import doctest
from bounds.registry.claims import all_claims, find_claim
from fedtheory.testing import check_algorithm
from tests.bounds.papers import test_papers
from tests.fedtheory.references import rows, test_methods_equal_references
from verify.exact.check import replay_alone as check
from verify.exact.comparison import differences
from verify.referee.decide import Settings, decide

verdicts = {}
for name in ("halfway/lemma-1", "halfway/lemma-2"):
    verdict = decide(find_claim(name), Settings(federations=False))
    verdicts[name] = {"verdict": verdict.verdict, "ratio": verdict.ratio}
    if verdict.verdict == "refuted":
        data = json.loads(json.dumps(verdict.details["instance"]))
        verdicts[name] |= {"accepted": check(data).accepted, "same": not [*differences(data, find_claim(name))]}
        wrong = data | {"statement": data["statement"] | {"right": ["*", 2, data["statement"]["right"]]}}
        verdicts[name]["another statement accepted"] = check(wrong).accepted

for test in vars(test_papers).values():  # what every paper owes
    marks = [mark for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize"]
    if marks and "halfway" in marks[0].args[1]:
        test("halfway")
test_methods_equal_references.test_a_method_equals_its_reference("halfway")
check_algorithm("halfway", quick=True).raise_if_failed()
tried = doctest.testmod(method)
examples = tried.attempted - tried.failed
print(json.dumps({"verdicts": verdicts, "listed": "halfway/lemma-1" in all_claims(), "examples": examples}))
"""


def files_of_the_page() -> dict[str, str]:
    """Code blocks that say of which file they are: path -> text."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    part = page.partition("\n## A paper\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^```(?:python|toml) (\S+)\n(.*?)^```$", part, re.DOTALL | re.MULTILINE))


def refereed(folder):
    """What the referee and the common tests say, in a process of its own."""
    given = [sys.executable, "-W", "error", "-c", REFEREE, str(folder), *FOUND]
    environment = {name: value for name, value in os.environ.items() if name != "FEDTHEORY_CLAIMS"}
    return subprocess.run(given, cwd=ROOT, capture_output=True, text=True, env=environment | {"PYTHONPATH": str(ROOT)})


@pytest.fixture
def toy(tmp_path):
    """The page's files, written into an empty folder."""
    for path, text in files_of_the_page().items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return tmp_path


def test_the_page_has_a_file_for_every_folder_in_which_things_are_found():
    assert {next(package for package in FOUND if path.startswith(package)) for path in files_of_the_page()} == set(FOUND)
    assert not any((ROOT / path).exists() for path in files_of_the_page())


def test_a_paper_made_by_the_page_is_refereed(toy):
    """The true claim is not refuted; the false one is, with a certificate that the stand-alone checker accepts."""
    result = refereed(toy)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout.splitlines()[-1])
    true, false = found["verdicts"]["halfway/lemma-1"], found["verdicts"]["halfway/lemma-2"]
    assert true["verdict"] in ("consistent", "certified") and 0.5 < true["ratio"] <= 1
    assert false["verdict"] == "refuted" and false["accepted"] and false["same"]
    assert not false["another statement accepted"]
    assert found["listed"] and found["examples"] == 3


@pytest.mark.slow
@pytest.mark.parametrize(("path", "old", "new"), [
    ("verify/checker/methods/halfway.py", "(x + run.aggregate(ends, x)) / 2", "run.aggregate(ends, x)"),
    ("tests/bounds/papers/halfway_rows.py", "8 * step", "4 * step"),
    ("fedtheory/algorithms/halfway.py", "(context.x + average) / 2, {}", "average / 2, {}"),
    ("bounds/papers/halfway/paper.toml", 'rounds = ["T", "rounds"]', ""),
])
def test_a_fault_in_one_of_its_files_is_detected(toy, path, old, new):
    text = (toy / path).read_text(encoding="utf-8")
    assert old in text
    (toy / path).write_text(text.replace(old, new), encoding="utf-8")
    assert refereed(toy).returncode != 0
