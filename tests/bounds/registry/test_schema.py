"""The JSON Schema of claim files: every file of ours meets it, and what it refuses the reader refuses too."""

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest

import bounds.papers
from bounds.registry.claim_files import SHARED
from bounds.registry.schema import schema
from bounds.registry.template import PAPER
from bounds.registry.user_claims import load_claims
from tests import ROOT

CHECK = jsonschema.Draft202012Validator(schema())
FILES = sorted(path for place in bounds.papers.__path__ for path in Path(place).glob("*/*.toml"))
CLAIM = '[[claim]]\nid = "one/a"\nstatement = "L <= L"\n'


def faults(text) -> list[str]:
    return [error.message for error in CHECK.iter_errors(tomllib.loads(text))]


def test_it_is_a_schema_with_every_table():
    jsonschema.Draft202012Validator.check_schema(schema())
    assert schema()["properties"].keys() == {*SHARED, "claim"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_files_of_papers_meet_it(path):
    assert not faults(path.read_text(encoding="utf-8"))


def test_the_template_and_the_examples_of_the_page_meet_it():
    page = (ROOT / "docs" / "claims.md").read_text(encoding="utf-8")
    texts = [*PAPER.values(), *(block.partition("```")[0] for block in page.split("```toml\n")[1:])]
    assert len(texts) > 5 and not [fault for text in texts for fault in faults(text)]


@pytest.mark.parametrize("text", [
    *(CLAIM + line for line in (
        'statment = "L <= L"', 'kind = "teorem"', 'sampling = "some"', 'assume = "L <= 1"', "equal_weights = 1",
        "method = 3", "readings.x = 3", 'relation = "="', 'given = "t"')),
    *(f"{table}\n{CLAIM}" for table in (
        "[names]\na = 3", "[lets]\na = 'L'", "[paper]\ntitel = 'x'", "[defaults]\nkinds = 'lemma'", "[axes.a]",
        "[let]\na = 3"))])
def test_what_it_refuses_the_reader_refuses(text, tmp_path):
    assert faults(text)
    path = tmp_path / "one.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"one\.toml"):
        load_claims(path)


def test_the_command_prints_it(run):
    status, printed, _ = run("schema")
    assert status == 0 and json.loads(printed) == schema()
