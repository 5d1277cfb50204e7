"""``--statement``: what a certificate must refute, as a file of claims, as one claim of it, or as JSON."""

import json

import pytest

from bounds.registry.claims import find_claim, forget_files
from bounds.registry.user_claims import PATHS
from tests.messages import contains_in_order
from verify.cli.shared import choose_claim
from verify.referee.decide import Settings, decide

TEXT = """
[[claim]]
id = "mine/halved"
method = "fedprox"
assume = ["L_client[k] <= L for k in 0..clients-1"]
conditions = ["eta_l[t] <= 1/(2*L) for t in 0..iterations-1"]
statement = "norm2(x_round[rounds] - x_star) <= 0.5*norm2(x_round[0] - x_star)"

[[claim]]
id = "mine/other"
method = "fedprox"
statement = "norm2(x_round[rounds] - x_star) <= norm2(x_round[0] - x_star)"
"""


@pytest.fixture(scope="module")
def refuted(tmp_path_factory):
    """A file of claims, and a certificate against the first of them; in a folder with a space in its name."""
    folder = tmp_path_factory.mktemp("a folder")
    path = folder / "mine.toml"
    path.write_text(TEXT)
    from bounds.registry.user_claims import load_claims

    verdict = decide(load_claims(path)[0], Settings(federations=False, out=folder))
    return path, folder / verdict.certificate


@pytest.mark.parametrize("command", ["check", "replay"])
def test_a_claim_of_a_file_is_what_is_refuted(command, refuted, run, tmp_path):
    path, certificate = refuted
    more = ("--out", tmp_path / "drawn") if command == "replay" else ()
    for name in (path, f"{path}:mine/halved"):
        assert run(command, certificate, "--statement", name, *more)[0] == 0
    status, _, said = run(command, certificate, "--statement", f"{path}:mine/other", *more)
    assert status == 2 and contains_in_order(said, "about 'mine/halved'; given are mine/other; give --statement FILE")
    status, _, said = run(command, certificate, "--statement", f"{path}:mine/none", *more)
    assert status == 2 and "mine/other" in said
    status, _, said = run(command, certificate, *more)
    assert status == 2 and contains_in_order(said, "about 'mine/halved', which is not registered; give --statement FILE")


def test_a_statement_that_show_prints_is_what_is_refuted(refuted, run, tmp_path):
    path, certificate = refuted
    statement = tmp_path / "statement.json"
    for name, status in (("mine/halved", 0), ("mine/other", 1)):
        shown = run("show", f"{path}:{name}", "--statement")
        assert shown[0] == 0
        statement.write_text(shown[1])
        assert run("check", certificate, "--statement", statement)[0] == status
    part = json.loads(shown[1])
    del part["hypotheses"]
    statement.write_text(json.dumps(part))
    assert run("check", certificate, "--statement", statement)[0] == 2


@pytest.mark.parametrize(("name", "words"), [
    ("none.json", "none.json"), ("mine.txt", ".toml"), ("fedalign/theorem-0", "fedalign"), ("none.toml", "none.toml")])
def test_what_is_no_statement_is_one_line(name, words, refuted, run, tmp_path):
    status, _, said = run("check", refuted[1], "--statement", tmp_path / name if "/" not in name else name)
    assert status == 2 and words in said and said.count("\n") == 1


def test_a_file_that_changed_is_read_again(tmp_path, monkeypatch):
    """Also within one process: who edits a claim and asks again gets what the file says now."""
    monkeypatch.setenv(PATHS, "")
    path = tmp_path / "mine.toml"
    for number in ("2", "3"):
        path.write_text(TEXT.replace("0.5*", f"{number}*"))
        chosen = choose_claim(f"{path}:mine/halved")
        assert number in str(chosen.statement.right) and find_claim("mine/halved") is chosen
    forget_files()
