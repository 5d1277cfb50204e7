"""A folder of claim files anywhere is a paper like ours: its claims, letters and lines, and errors with file and line."""

import pytest

from bounds.language.claim import Claim
from bounds.printing.render import show
from bounds.registry import papers
from bounds.registry.claims import find_claim
from bounds.registry.papers import source_of
from bounds.registry.user_claims import PATHS, WrongClaims, load_claims

HEAD = """[paper]
title = "A title"
authors = "Somebody"
sections = ["one"]

[names]
step = ['h', "the step", "positive"]
x_star = ['x_{opt}', "where we want to be"]

[assumptions.smooth]
id = "assumption-1"
name = "smooth"
conditions = ["L_client[k] <= L for each k"]
"""
ONE = """section = "One"

[[claim]]
id = "theorem-1"
assume = ["smooth"]
variables = ["step"]
conditions = ["eta_l[t] == step for each t", "step <= 1/L"]
statement = "E(norm2(x_round[r+1] - x_star)) <= norm2(x_round[0] - x_star) for each r"
[claim.readings.at-most-half]
reading = "half the step"
also = ["step <= 1/(2*L)"]

# the next one
[[claim]]
id = "lemma-1"
statement = "F_star <= objective(x_round[0])"
"""


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "mine"
    place.mkdir()
    (place / "paper.toml").write_text(HEAD)
    (place / "one.toml").write_text(ONE)
    yield place
    papers.forget_papers()
    papers.FOLDERS.pop("mine", None)


def test_its_claims_are_read(folder):
    claims = load_claims(folder)
    assert [claim.id for claim in claims] == ["mine/theorem-1", "mine/theorem-1@at-most-half", "mine/lemma-1"]
    assert all(isinstance(claim, Claim) and claim.source == "mine" for claim in claims)
    assert claims[0].assumptions[0].id == "mine/assumption-1" and len(claims[1].conditions) == 3
    assert not list(folder.parent.glob("__kept__"))  # nothing is written beside the folders of others


def test_letters_are_its_own(folder):
    shown = show(load_claims(folder)[0])
    assert "x_{opt}" in shown and "where we want to be" in shown


def test_the_environment_names_it(folder, monkeypatch):
    monkeypatch.setenv(PATHS, str(folder))
    assert find_claim("mine/lemma-1").id == "mine/lemma-1"


def test_the_lines_of_a_claim(folder):
    _, reading, lemma = load_claims(folder)
    found = source_of(reading)
    assert (found.path.name, found.first, found.last) == ("one.toml", 3, 11)
    assert found.text.splitlines()[0] == "[[claim]]" and found.text.splitlines()[-1] == 'also = ["step <= 1/(2*L)"]'
    assert source_of(lemma).text.splitlines()[1] == 'id = "lemma-1"'


def test_a_change_is_read(folder):
    load_claims(folder)
    (folder / "one.toml").write_text(ONE.replace("lemma-1", "lemma-2"))
    assert load_claims(folder)[-1].id == "mine/lemma-2"


@pytest.mark.parametrize(("file", "old", "new", "message"), [
    ("one.toml", "x_round[0] - x_star", "x_round[0] - x_stra", r"one\.toml, line 8: unknown symbol 'x_stra'"),
    ("one.toml", "1/L", "1/x_star", r"one\.toml, line 7"),
    ("paper.toml", "<= L for", "<= LL for", r"one\.toml, line 5: unknown symbol 'LL'"),
    ("paper.toml", 'sections = ["one"]', 'sections = ["two"]', r"two\.toml"),
    ("paper.toml", 'authors = "Somebody"', 'author = "Somebody"', r"paper\.toml.*'author'.*allowed: .*authors"),
])
def test_errors_name_file_and_line(folder, file, old, new, message):
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new))
    with pytest.raises(ValueError, match=message):
        load_claims(folder)


def test_every_wrong_claim_is_named(folder):
    (folder / "one.toml").write_text(ONE.replace("F_star <=", "F_wrong <=").replace("x_round[0] - x_star", "x_round[0] - y"))
    with pytest.raises(WrongClaims) as error:
        load_claims(folder)
    assert len(error.value.slips) == 2  # both readings of the theorem have the same


def test_papers_that_use_each_other_are_refused(folder):
    (folder / "paper.toml").write_text(HEAD.replace('sections = ["one"]', 'sections = ["one"]\nuses = ["mine"]'))
    with pytest.raises(ValueError, match="papers use each other in a circle: mine"):
        load_claims(folder)


def test_a_folder_without_a_head_is_none(tmp_path):
    with pytest.raises(ValueError, match=r"a folder with a file paper\.toml"):
        load_claims(tmp_path)


def test_the_name_of_another_paper_is_taken(tmp_path):
    place = tmp_path / "fedalign"
    place.mkdir()
    (place / "paper.toml").write_text(HEAD)
    with pytest.raises(ValueError, match="there is a paper 'fedalign' already"):
        load_claims(place)
