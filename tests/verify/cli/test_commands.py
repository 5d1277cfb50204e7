"""Commands that results suggest work as printed, for registered claims and for those of a file with a space in its path."""

import json
import re
import shlex
from html import unescape

import pytest

from bounds.registry.claims import forget_files
from bounds.registry.user_claims import PATHS
from tests.messages import contains_in_order
from verify.cli.main import main
from verify.results.commands import claim_file, command, file_and_id
from verify.results.verdict import Verdict
from verify.search.budget import BUDGETS, Budget

MINE = """
[[claim]]
id = "mine/false"
setting = "algebra"
variables = {a = "positive"}
statement = "a <= 1"

[[claim]]
id = "mine/true"
setting = "algebra"
variables = {n = "integer"}
statement = "Sum(1/sqrt(j), (j, 1, n)) <= 2*sqrt(n)"
"""
IN_TEXT, IN_PAGE = re.compile(r"`(fedtheory [^`]+)`"), re.compile(r"<code>(fedtheory .*?)</code>", re.DOTALL)


def printed(out, said):
    """Every command in the texts, the data and the pages of a report."""
    found = [one for text in said for one in IN_TEXT.findall(text)]
    found += [record["command"] for record in json.loads((out / "verdicts.json").read_text(encoding="utf-8"))]
    for page in out.rglob("*.html"):
        for block in IN_PAGE.findall(page.read_text(encoding="utf-8")):
            found += unescape(block).strip().splitlines()
    return dict.fromkeys(found)


@pytest.mark.parametrize("names, folder", [
    (["fedalign/step-eq47-as-printed", "fedalign/lemma-A3"], "report"),
    (["a b/mine.toml:mine/false", "a b/mine.toml:mine/true"], "re port"),
])
def test_every_printed_command_works(run, tmp_path, monkeypatch, names, folder):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(PATHS, "")
    monkeypatch.setattr("verify.api.repair.repair", lambda *_, **__: [])  # which takes minutes, and finds nothing here
    for budget in ("quick", "standard"):
        monkeypatch.setitem(BUDGETS, budget, Budget(8, 64, 8))
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b" / "mine.toml").write_text(MINE)
    statuses = [run("verify", name, "--seeds", 2, "--out", folder)[0] for name in names]
    said = [run("explain", name, "--short", "--out", folder)[1] for name in names]
    assert statuses == [1, 0]
    found = printed(tmp_path / folder, said)
    assert {text.split()[1] for text in found} == {"verify", "check", "replay", "repair"} and len(found) >= 4
    assert ".toml" not in names[0] or "--budget standard" in " ".join(found)
    for text in found:
        monkeypatch.setenv(PATHS, "")  # as in a new process
        if ".toml" in names[0]:
            forget_files()
        wanted = int(text.startswith((f"fedtheory verify {shlex.quote(names[0])}", "fedtheory repair ")))
        assert (main(shlex.split(text)[1:]), text) == (wanted, text)
    forget_files()


def test_a_claim_of_a_file_is_known_by_no_command_without_it(run, tmp_path, monkeypatch):
    monkeypatch.setenv(PATHS, "")
    (tmp_path / "mine.toml").write_text(MINE)
    path = tmp_path / "mine.toml"
    assert run("show", f"{path}:mine/true")[0] == 0
    status, lines, _ = run("show", f"{path}:mine/true", "--source")
    assert status == 0 and lines == f"# {path}, lines 8 to 12\n" + MINE[MINE.rindex("[[claim]]"):]
    status, _, err = run("show", f"{path}:mine/another")
    assert status == 2 and f"no claim 'mine/another' in {path}; allowed: {path}:mine/false, {path}:mine/true" in err
    status, _, err = run("show", path)
    assert status == 2 and contains_in_order(err, f"{path} … 2 claims; …: {path}:mine/false")
    forget_files()


def test_commands_are_read_back_by_a_shell():
    text = command("verify", "a b:c", "it's", out="x y", kind=None, paper=["p", "q"])
    assert shlex.split(text) == ["fedtheory", "verify", "a b:c", "it's", "--out", "x y", "--paper", "p", "--paper", "q"]


@pytest.mark.parametrize("name, parts", [
    ("mine.toml:mine/a", ("mine.toml", "mine/a")), ("a b/x.py:m/a", ("a b/x.py", "m/a")), ("mine.toml", ("mine.toml", "")),
    ("fedalign/theorem-1", ("fedalign/theorem-1", "")), (r"C:\x\mine.toml:m/a", (r"C:\x\mine.toml", "m/a")),
])
def test_a_name_is_taken_apart(name, parts):
    assert file_and_id(name) == parts


@pytest.mark.parametrize("text, file", [
    ("fedtheory verify 'a b/x.toml:mine/a' --seed 0", "a b/x.toml"), ("fedtheory verify mine/a", None), ("", None),
    ("fedtheory verify 'x", None), ("fedtheory verify x.toml:other/b", None),
])
def test_the_file_of_a_verdict_is_that_of_its_command(text, file):
    assert claim_file(Verdict("mine/a", "", "theorem", "consistent", None, "", command=text)) == file
