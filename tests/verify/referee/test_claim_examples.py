"""The examples of docs/claims.md, and more beside them, are read as they stand; what is true is not refuted, what is false
is."""

import re
from pathlib import Path

import pytest

from bounds.registry.user_claims import load_claims
from verify.claims.method import faults_of_method
from verify.referee.decide import Settings, decide

HERE = Path(__file__).parent
PAGE = (HERE.parents[2] / "docs" / "claims.md").read_text(encoding="utf-8")
BLOCKS = [*re.findall(r"```toml\n(.*?)```", PAGE.partition("## Examples")[2], re.DOTALL),
          *((HERE / name).read_text(encoding="utf-8") for name in ("examples.toml", "numbers.toml"))]
#: of a claim that a number exists, and of the claim with its witness put in
CERTIFIED = ("true/half-of-each", "true/half-of-each@witness")


def ids(text: str) -> list[str]:
    """The ids of the claims and parts of a text, in its order."""
    return re.findall(r'^(?:id = )?"((?:true|false)/[^"]+)"', text, re.MULTILINE)


#: by block and id: some of those beside the page are extended there
CASES = [(number, name) for number, block in enumerate(BLOCKS) for name in ids(block)]


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    found = {}
    for number, block in enumerate(BLOCKS):
        path = tmp_path_factory.mktemp("claims") / f"{number}.toml"
        path.write_text(block, encoding="utf-8")
        found |= {(number, claim.id): claim for claim in load_claims(path, faults_of_method)}
    return found


def test_there_are_fifty_on_the_page_and_all_are_read(examples):
    named = {(number, f"{name}@witness") for (number, name), claim in examples.items()
             if claim.exists and claim.exists.witness is not None}
    assert [case for case in examples if case not in named] == CASES and named <= {*examples}
    assert sum(number < len(BLOCKS) - 2 for number, _ in CASES) >= 50 and len(CASES) >= 80


@pytest.mark.parametrize(("number", "name"), CASES)
def test_the_referee_says_of_an_example_what_the_page_says(number, name, examples):
    verdict = decide(examples[number, name], Settings(federations=False))
    allowed = ("certified", "consistent") if name.startswith("true/") else ("refuted",)
    assert verdict.verdict in allowed, verdict.evidence


@pytest.mark.parametrize("name", CERTIFIED)
def test_a_proof_with_the_witness_put_in_proves_that_the_number_exists(name, examples):
    claim = next(claim for (_, own), claim in examples.items() if own == name)
    assert decide(claim, Settings(federations=False)).verdict == "certified"
