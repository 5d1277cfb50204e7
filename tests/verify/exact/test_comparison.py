"""The comparison of statements with claims agrees with the writer on every claim, and notices every change."""

import copy
import json
from dataclasses import replace

import pytest

from bounds.language.claim import Claim, Variable
from bounds.registry.claims import all_claims, find_claim
from bounds.registry.user_claims import load_claims
from tests.not_empty import not_empty
from tests.project.packages import imports_of_files
from verify.claims import hypotheses, implicit, method, needs
from verify.exact import statement as writer
from verify.exact.check import check
from verify.exact.comparison import differences
from verify.exact.statement import not_replayed, statement_of
from verify.growth.order import with_constant

#: claims of every setting: a run, a point, numbers, samples, free starts, masks, an order, definitions
CLAIMS = ("fedalign/theorem-1", "fedalign/step-eq47-as-printed", "fedalign/step-T3-as-printed", "afedpd/lemma-2",
          "classical/sgd-stability-distance", "fedmoswa/lemma-g.16@E0", "fedluar/lemma-A.2-shift@forced", "fadamgc/eq-96")


def stated(claim: Claim) -> dict:
    return json.loads(json.dumps(statement_of(claim)))


def explicit(claims) -> list[Claim]:
    found = []
    for claim in claims:
        if claim.statement is not None:
            try:
                one = claim if claim.explicit else with_constant(claim, 3)
            except NotImplementedError:
                continue
            if not_replayed(one) is None:
                found.append(one)
    return found


def agree(claims) -> None:
    wrong = {claim.id: found for claim in claims if (found := list(differences(stated(claim), claim)))}
    assert not wrong


def test_writer_and_comparison_agree():
    agree(explicit(map(find_claim, CLAIMS)))
    agree(explicit(list(all_claims().values())[::25]))


@pytest.mark.slow
def test_writer_and_comparison_agree_on_every_claim():
    claims = explicit(all_claims().values())
    assert len(claims) > 1800
    agree(claims)


def changes(statement):
    """The statement with one thing taken away or put in another's place, everywhere once."""
    for place in range(len(statement["hypotheses"])):
        yield "hypotheses", lambda s, p=place: s["hypotheses"].pop(p)
        yield "hypotheses", lambda s, p=place: s["hypotheses"][p].update(
            relation=">=" if s["hypotheses"][p]["relation"] == "<=" else "<=")
        yield "hypotheses", lambda s, p=place: s["hypotheses"][p].update(left=["+", s["hypotheses"][p]["left"], 1])
        if statement["hypotheses"][place]["over"]:
            yield "hypotheses", lambda s, p=place: s["hypotheses"][p]["over"].pop()
    for name in statement["definitions"]:
        yield "definitions", lambda s, n=name: s["definitions"].pop(n)
        yield "definitions", lambda s, n=name: s["definitions"][n].update(formula=0)
    for name in statement["procedure"]["options"]:
        yield "procedure", lambda s, n=name: s["procedure"]["options"].pop(n)
        yield "procedure", lambda s, n=name: s["procedure"]["options"].update({n: "77"})
    for name in ("base", "sampling", "indicator", "strict"):
        yield "procedure", lambda s, n=name: s["procedure"].update({n: "another"})
    yield "statement", lambda s: s["statement"].update(relation="==" if s["statement"]["relation"] != "==" else "<=")
    yield "statement", lambda s: s["statement"].update(left=0)
    yield "statement", lambda s: s["statement"].update(right=["*", 2, s["statement"]["right"]])
    yield "free", lambda s: s["free"].update(x_round=None)
    yield "free", lambda s: s["free"].update(F_star=[])
    yield "everywhere", lambda s: s["everywhere"].append("L")
    for name in ("claim", "reading", "setting"):
        yield name, lambda s, n=name: s.update({n: "another"})


@pytest.mark.parametrize("claim_id", CLAIMS)
def test_every_change_of_a_statement_is_noticed_twice(claim_id):
    claim = find_claim(claim_id)
    whole = stated(claim)
    for part, change in not_empty(changes(whole)):
        changed = copy.deepcopy(whole)
        change(changed)
        assert changed != whole and list(differences(changed, claim)), part
        assert part in check(changed, claim).reason


#: what a faulty writer would leave out -> how
FAULTS = {"signs": implicit.sign_conditions, "domains": implicit.domain_conditions,
          "assumptions on clients": implicit.client_conditions}


@pytest.mark.parametrize("name", FAULTS)
def test_a_faulty_writer_is_noticed(name, monkeypatch):
    """The comparison has its own way from the claim: a certificate that a faulty writer made is not accepted."""
    claim = replace(find_claim("fedalign/theorem-1"), variables=(Variable("more", "positive"),))
    before = len(stated(claim)["hypotheses"])
    faulty = [c for c in implicit.all_hypotheses(claim) if c not in FAULTS[name](claim)]
    monkeypatch.setattr(writer, "all_hypotheses", lambda claim: faulty)
    claim = replace(claim)  # whose statement is not known yet
    assert len(stated(claim)["hypotheses"]) < before
    found = list(differences(stated(claim), claim))
    assert any("implies" in difference for difference in found)
    assert check(stated(claim), claim).reason.endswith(f": {found[0]}")


SAMPLED = "classical/sgd-stability-distance"
#: what the writer asks about a claim -> (what answers, a wrong answer, a claim)
ASKED = {
    "whose losses are Lipschitz": (needs.needs_lipschitz, lambda claim: False, SAMPLED),
    "what speaks of samples": (needs.speaks_of_samples.__wrapped__, lambda claim: False, SAMPLED),
    "what is a value": (needs.determined.__wrapped__, lambda claim: frozenset({"G_lip"}), SAMPLED),
    "what is drawn once more": (method.subset_left_open, lambda claim: (), "fadamgc/eq-96"),
    "who is always there": (needs.always_available, lambda claim: False, "fedalign/theorem-1"),
    "which numbers are given": (hypotheses.given_numbers, lambda conditions: {
        symbol for condition in conditions for symbol in condition.left.free_symbols}, "fedalign/theorem-1"),
}


@pytest.mark.parametrize("name", ASKED)
def test_a_wrong_answer_about_a_claim_is_noticed(name, monkeypatch):
    """The comparison asks nobody whom the writer asks."""
    asked, other, claim_id = ASKED[name]
    right, claim = stated(find_claim(claim_id)), replace(find_claim(claim_id), note="not known yet")
    monkeypatch.setattr(asked, "__code__", other.__code__)
    assert stated(claim) != right and list(differences(stated(claim), claim))


def test_the_comparison_shares_nothing_with_the_writer():
    others = imports_of_files()["verify.exact.comparison"]
    assert {name for name in others if name.startswith("verify.")} == {
        name for name in others if name.startswith("verify.checker.")} != set()


@pytest.mark.parametrize("step, sign", [("t/(L*iterations)", ">="), ("1/L", ">")])
def test_steps_of_another_sign_are_noticed(step, sign, tmp_path):
    file = tmp_path / "own.toml"
    file.write_text(f"""[[claim]]
id = "own/steps"
conditions = ["L_client[k] <= L for each k", "eta_l[t] == {step} for each t"]
statement = "objective(x_round[1]) <= objective(x_round[0])"
""", encoding="utf-8")
    claim = load_claims(file)[0]
    data = stated(claim)
    (one,) = (rule for rule in data["hypotheses"] if rule["left"] == ["eta_l", "t"] and rule["relation"] != "==")
    assert one["relation"] == sign and not list(differences(data, claim))
    one["relation"] = {">=": ">", ">": ">="}[sign]
    assert list(differences(data, claim))
