"""Claims of papers that were read once are kept as data: the same claims, under a key of all that decides them."""

import json
from dataclasses import fields

import pytest

from bounds.language.claim import Claim
from bounds.language.definitions import SHARED
from bounds.registry import claim_cache
from bounds.registry.collection import paper_claims
from bounds.registry.papers import PAPERS, claims_of_paper
from tests.bounds.each_claim import look_at_each

HEAD = '[paper]\nsections = ["one"]\n[names]\nstep = ["h", "a step", "positive"]\n[let]\n"D(v)" = "norm2(v - x_star)"\n'
ONE = ('section = "One"\n[[claim]]\nid = "a"\nvariables = ["step"]\nconditions = ["eta_l[t] == step for each t"]\n'
       'statement = "E(D(x_round[r+1])) <= D(x_round[0]) for each r"\n')


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "mine"
    place.mkdir()
    (place / "paper.toml").write_text(HEAD)
    (place / "one.toml").write_text(ONE)
    return place


def read(folder):
    return paper_claims(folder, {}.__getitem__)


def files(folder):
    return sorted(folder.parent.glob(f"{claim_cache.FOLDER}/*"))


def same(one, other):
    names = [f.name for f in fields(Claim) if f.name != "definitions"]
    assert [name for name in names if getattr(one, name) != getattr(other, name)] == []
    assert one.used_definitions() == other.used_definitions() and hash(one.statement) == hash(other.statement)


@pytest.mark.parametrize("paper", PAPERS)
def test_claims_are_the_same(paper):
    claims = list(claims_of_paper(paper).values())
    quantities = {name: d for claim in claims for name, d in claim.definitions.items() if name not in SHARED}
    found = claim_cache.decoded(claim_cache.encoded(quantities, [("all", list(enumerate(claims)))]))
    ((heading, pairs),) = found.sections
    assert heading == "all" and [number for number, _ in pairs] == list(range(len(claims)))
    look_at_each(zip(claims, (claim for _, claim in pairs), strict=True), lambda pair: same(*pair), lambda pair: pair[0].id)


def test_the_second_time_nothing_is_read_again(folder, monkeypatch):
    (first,) = read(folder).claims()
    assert len(files(folder)) == 1
    monkeypatch.setattr("bounds.registry.claim_reader.Reader.claim", None)
    (second,) = read(folder).claims()
    same(first, second)
    assert read(folder).sections[0][0] == "One" and set(read(folder).vocabulary.let) == {"D"}


@pytest.mark.parametrize(("name", "old", "new"), [
    ("one.toml", "[r+1]", "[r]"), ("paper.toml", "v - x_star", "v - x_round[0]"), ("one.toml", 'id = "a"', 'id = "b"')])
def test_another_text_has_another_key(folder, name, old, new):
    (first,) = read(folder).claims()
    path = folder / name
    path.write_text(path.read_text().replace(old, new))
    (second,) = read(folder).claims()
    assert (first.id, first.statement) != (second.id, second.statement)
    assert len(files(folder)) == 1  # the older one is gone


def test_other_code_has_another_key(folder, monkeypatch):
    before = read(folder).key
    monkeypatch.setattr(claim_cache, "_digest_of_code", lambda: b"another")
    assert read(folder).key != before


@pytest.mark.parametrize("change", [
    lambda text: text[:-20], lambda text: "", lambda text: "{}", lambda text: "[1]",
    lambda text: text.replace('"Mul"', '"eval"'), lambda text: text.replace('"Condition"', '"Path"')],
    ids=["cut", "empty", "nothing", "list", "word", "class"])
def test_what_is_no_kept_file_is_read_from_the_text(folder, change):
    (folder / "one.toml").write_text(ONE.replace("<= D(", "<= 2*D("))
    (first,) = read(folder).claims()
    (path,) = files(folder)
    before = path.read_text()
    after = change(before)
    assert after != before
    path.write_text(after)
    (second,) = read(folder).claims()
    same(first, second)
    assert json.loads(path.read_text()) == json.loads(before)  # and kept again


def test_a_folder_that_cannot_be_written_is_left_alone(folder):
    (folder.parent / claim_cache.FOLDER).write_text("a file in its place")
    (claim,) = read(folder).claims()
    assert claim.id == "mine/a"
