"""The examples of docs/claims.md are read as they stand there; what is true is not refuted, what is false is."""

import re
from pathlib import Path

import pytest

from bounds.registry.user_claims import load_claims
from verify.claims.method import faults_of_method
from verify.referee.decide import Settings, decide

PAGE = (Path(__file__).parents[3] / "docs" / "claims.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```toml\n(.*?)```", PAGE.partition("## Examples")[2], re.DOTALL)
#: of a claim that a number exists, and of the claim with its witness put in
CERTIFIED = ("true/half-of-each", "true/half-of-each@witness")
IDS = re.findall(r'^id = "((?:true|false)/[^"]+)"', PAGE, re.MULTILINE)


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    found = {}
    for number, block in enumerate(BLOCKS):
        path = tmp_path_factory.mktemp("claims") / f"{number}.toml"
        path.write_text(block, encoding="utf-8")
        found |= {claim.id: claim for claim in load_claims(path, faults_of_method)}
    return found


def test_there_are_thirty_and_all_are_read(examples):
    named = {f"{name}@witness" for name, claim in examples.items() if claim.exists and claim.exists.witness is not None}
    assert len(IDS) >= 30 and [name for name in examples if name not in named] == IDS and named <= {*examples}


@pytest.mark.parametrize("name", IDS)
def test_the_referee_says_of_an_example_what_the_page_says(name, examples):
    verdict = decide(examples[name], Settings(federations=False))
    allowed = ("certified", "consistent") if name.startswith("true/") else ("refuted",)
    assert verdict.verdict in allowed, verdict.evidence


@pytest.mark.parametrize("name", CERTIFIED)
def test_a_proof_with_the_witness_put_in_proves_that_the_number_exists(name, examples):
    assert decide(examples[name], Settings(federations=False)).verdict == "certified"
