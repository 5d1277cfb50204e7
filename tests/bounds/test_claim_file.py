"""What ``fedtheory show --toml`` prints is the claim: read back, it has the same hypotheses, domains, bounds and options."""

from collections import Counter
from dataclasses import replace
from functools import cache

import pytest

from bounds.language.claim import SAMPLING
from bounds.printing.claim_file import NotInFiles, as_toml, read_back
from bounds.printing.deciding_fields import deciding_fields
from bounds.printing.pages import page
from bounds.registry.claims import find_claim
from bounds.registry.papers import PAPERS, claims_of_paper
from bounds.registry.user_claims import load_claims
from fedtheory import find_algorithm
from tests import ROOT

#: how many claims of each paper the language of files cannot say: comparisons, what states no formula, and six of FAdamGC
#: whose text is read as the same sum with a factor taken out
NOT_IN_FILES = {"afedpd": 1, "classical": 0, "fadamgc": 9, "fedalign": 2, "fedluar": 8, "fedmoswa": 61, "li2020": 0}


@cache
def unsaid(paper) -> dict[str, str]:
    """The claims of a paper that no file can say, each with the reason."""
    found = {}
    for claim in claims_of_paper(paper).values():
        try:
            text = as_toml(claim)
        except NotInFiles as reason:
            found[claim.id] = str(reason)
        else:
            assert deciding_fields(read_back(text)) == deciding_fields(claim)
    return found


@pytest.mark.parametrize("paper", [
    paper if paper in ("li2020", "classical") else pytest.param(paper, marks=pytest.mark.slow) for paper in PAPERS])
def test_what_is_printed_of_a_paper_is_its_claims(paper):
    reasons = Counter(reason.partition(": ")[2][:60] for reason in unsaid(paper).values())
    assert reasons.total() == NOT_IN_FILES[paper], reasons


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    blocks = (ROOT / "docs" / "claims.md").read_text(encoding="utf-8").partition("## Examples")[2].split("```toml\n")[1:]
    blocks.append((ROOT / "tests" / "verify" / "referee" / "examples.toml").read_text(encoding="utf-8"))
    folder, found = tmp_path_factory.mktemp("examples"), []
    for number, block in enumerate(blocks):
        path = folder / f"{number}.toml"
        path.write_text(block.partition("```")[0], encoding="utf-8")
        found += load_claims(path)
    return found


def test_every_example_of_the_page_is_read_back(examples):
    assert len(examples) >= 80
    for claim in examples:
        assert deciding_fields(read_back(as_toml(claim))) == deciding_fields(claim), claim.id


def test_a_text_that_lacks_a_line_or_an_end_is_another_claim(examples):
    """The comparison notices what is left out: each condition, each variable's end, each field."""
    looked_at = 0
    for claim in [*examples, find_claim("classical/gd-convex")]:
        fields = deciding_fields(claim)
        weaker = [replace(claim, conditions=claim.conditions[:n] + claim.conditions[n + 1:])
                  for n in range(len(claim.conditions))]
        weaker += [replace(claim, assumptions=claim.assumptions[:n] + claim.assumptions[n + 1:])
                   for n, a in enumerate(claim.assumptions) if claim.assumptions.count(a) == 1]
        for n, v in enumerate(claim.variables):
            ends = [replace(v, high=None)] * (v.high is not None) + [replace(v, below=None)] * (v.below is not None)
            ends += [replace(v, low=v.low + 1)] * (v.domain == "integer")
            weaker += [replace(claim, variables=(*claim.variables[:n], end, *claim.variables[n + 1:])) for end in ends]
        if claim.procedure is not None:
            others = [{"equal_weights": not claim.procedure.equal_weights},
                      {"free_clients": not claim.procedure.free_clients},
                      {"sampling": next(s for s in SAMPLING if s != claim.procedure.sampling)}, {"strict": False},
                      {"options": (*claim.procedure.options, ("eta_g", 2))}]
            weaker += [replace(claim, procedure=replace(claim.procedure, **other)) for other in others]
        for other in weaker:
            looked_at += 1
            assert deciding_fields(other) != fields, other
    assert looked_at > 300


def test_the_upper_end_of_a_whole_number_is_printed(examples):
    claim = find_claim("classical/gd-convex")
    text = as_toml(claim)
    assert '"local_steps <= 1"' in text and '"K: integer' not in text
    without = read_back(text.replace('  "local_steps <= 1",\n', ""))
    assert deciding_fields(without) != deciding_fields(claim)


def test_a_claim_that_files_cannot_say_is_refused_with_the_part():
    with pytest.raises(NotInFiles, match=r"fedluar/eq-16@literal: it states no formula"):
        as_toml(find_claim("fedluar/eq-16@literal"))


def test_names_and_assumptions_of_a_paper_are_printed_with_its_claim():
    text = as_toml(find_claim("fedalign/theorem-A9"))
    assert 'free = "arbitrary"' in text and "[names]" in text
    assert "[assumptions." in as_toml(find_claim("classical/sgd-stability-convex"))


def test_pages_have_the_ends_of_whole_numbers():
    text = page("classical", find_algorithm)
    assert "$K$ = 1" in text and "integer from 1 to 1" not in text


def test_a_printed_claim_is_one_of_a_file(tmp_path):
    """A copy of a registered claim has an id of its own, so that it can be loaded and verified."""
    path = tmp_path / "copy.toml"
    path.write_text(as_toml(find_claim("classical/gd-convex")), encoding="utf-8")
    (claim,) = load_claims(path)
    assert claim.id == "copy/classical-gd-convex"
    assert deciding_fields(claim) == deciding_fields(find_claim("classical/gd-convex"))
