"""Witnesses of numbers that are said to exist: what proves the claim, what does not, and what a user is told."""

import pytest

from bounds.printing.render import show
from bounds.registry.user_claims import load_claims
from verify.exact.check import check
from verify.exact.existential_conditions import existential_conditions
from verify.lint.lint import lint
from verify.prove.existence import requirements
from verify.referee.decide import Settings, decide
from verify.report.explain import explain
from verify.report.mathematics import mathematics

QUICK = Settings(budget="quick", federations=False)
CLAIM = """
[[claim]]
id = "mine/one"
setting = "{setting}"
variables = {{{variables}}}
conditions = [{conditions}]
exists = {{c = "{interval}"}}
witness = {{c = "{witness}"}}
statement = "{statement}"
"""
BOTH = 'a = "nonnegative", b = "nonnegative"'
RUN = ('"local_steps == 1", "eta_l[t] == c for t in 0..iterations-1", "L_client[k] <= L for k in 0..clients-1", '
       '"sigma_sq_client[k] <= 0 for k in 0..clients-1"')


def claims_of(tmp_path, interval, witness, statement, variables='a = "positive"', conditions="", setting="algebra"):
    path = tmp_path / "claim.toml"
    path.write_text(CLAIM.format(interval=interval, witness=witness, statement=statement, variables=variables,
                                 conditions=conditions, setting=setting), encoding="utf-8")
    return load_claims(path)


#: interval, witness, statement, and more; what is left to prove of the witness
PROVEN = {
    "a number": (("[0, 1]", "1/2", "c*(1 - c)*(a + b)**2 >= a*b", BOTH), []),
    "a formula": (("(0, a]", "a/2", "2*c <= a"), []),
    "what must hold for every value": (("[0, 1]", "1", "b*c <= 1", BOTH, '"b*c <= 1"'), []),
    "undefined, whatever the number": (("[0, 1]", "0", "c + 1/a <= 1/a", 'a = "nonnegative"'), []),
    "outside of its interval": (("[0, 1]", "a", "c == a"), ["c <= 1"]),
    "at an end that is left out": (("(0, a]", "Max(0, a - 1)", "c <= Max(0, a - 1)"), ["c > 0"]),
    "an interval without it": (("[a, 1]", "1/2", "c <= 1/2"), ["c >= a"]),
    "a condition on the value": (("[0, 1]", "1/4", "c*a <= a/3", 'a = "positive"', '"c >= 1/2"'), ["c >= 1/2"]),
    "the sign of a name": (("[-1, 0]", "-1", "p >= 0", 'p = "positive"', '"p == c"'), ["p > 0"]),
    "the formula divides by 0": (("[0, 1]", "b/a", "a*c == b", BOTH, '"b <= a"'),
                                ["c >= 0", "c <= 1", "a != 0"]),
    "the statement divides by 0": (("[0, 1]", "Max(0, 1 - a)", "a/c <= a/c + 1"), ["Max(0, 1 - a) != 0"]),
    "the sum with it is 0": (("[0, 1]", "0", "a + 1/(c + a) <= a + 1/(c + a)", 'a = "nonnegative"'), ["a != 0"]),
    "a logarithm": (("[0, 1]", "0", "log(c + a) <= log(c + a)", 'a = "nonnegative"'), ["a > 0"]),
    "a definition divides by 0": (("[0, 1]", "0", "p <= p + 1", 'p = "real", a = "nonnegative"', '"p == 1/(c + a)"'),
                                  ["a != 0"]),
    "steps of a run": (("(0, 2/L]", "1/L", "objective(x_round[1]) <= objective(x_round[0])", "", RUN, "run"), []),
    "steps that may be 0": (
        ("[0, 2/L]", "Max(0, 1/L - 1)", "objective(x_round[1]) <= objective(x_round[0])", "", RUN, "run"), []),
}


@pytest.mark.parametrize("row", PROVEN)
def test_what_is_not_proven_of_a_witness(row, tmp_path):
    given, missing = PROVEN[row]
    claim, reading = claims_of(tmp_path, *given)
    assert [one.text for one in requirements(claim) if not one.proof] == missing
    found = {(f.check, f.severity): f.data for f in lint(claim)}
    assert ("symbols", "warning") not in found and found.get(("witness", "note"), {"missing": []})["missing"] == missing
    assert not [f for f in lint(reading) if f.check == "witness"]


#: interval, witness, statement, and more; the verdict, and that of the claim with the witness put in
VERDICTS = {
    "a proof": (("[0, 1]", "1/2", "c*(1 - c)*(a + b)**2 >= a*b", BOTH), "certified", "certified"),
    "a proof of a value outside": (("[0, 1]", "a", "c == a"), "refuted", None),
    "a proof where its value divides by 0": (("[0, 1]", "0", "a + 1/(c + a) <= a + 1/(c + a)", 'a = "nonnegative"'),
                                             "consistent", "consistent"),
    "another value does": (("[0, 1]", "1/4", "c*(1 - c)*(a + b)**2 >= a*b", BOTH), "consistent", "refuted"),
    "no value does": (("[0, 1]", "1/2", "c*(1 - c)*(a + b)**2 >= 2*a*b", BOTH), "refuted", None),
    "the upper end is excluded": (("[0, 4]", "1", "a*c >= 5*a", 'a = "positive"', '"c <= 2"'), "refuted", None),
    "conditions exclude it": (("[0, 1]", "1/4", "c*a <= a/3", 'a = "positive"', '"c >= 1/2"'), "consistent", "ill-posed"),
}


@pytest.mark.parametrize("row", VERDICTS)
def test_the_verdict_with_a_witness(row, tmp_path):
    given, expected, of_witness = VERDICTS[row]
    claim, reading = claims_of(tmp_path, *given)
    verdict = decide(claim, QUICK)
    assert verdict.verdict == expected, verdict.evidence
    assert verdict.details.get("witness", {}).get("verdict") == of_witness
    if of_witness is not None:
        assert verdict.details["witness"]["claim"] == reading.id == "mine/one@witness"
        said = explain(claim, verdict, {}, "quick", "report")
        assert "there is c in" in said and reading.id in said and all(
            text in said for text in verdict.details["witness"]["not shown"])


def test_pages_name_the_witness(tmp_path):
    claim, reading = claims_of(tmp_path, "[0, 1]", "1/2", "c*a <= a")
    for said in (show(claim), mathematics(claim).statement):
        assert reading.id in said
    assert "said to exist" in show(claim) and "said to exist" not in show(reading) and "1/2" in show(reading)


def test_a_counterexample_to_the_witness_is_none_to_the_claim(tmp_path):
    claim, reading = claims_of(tmp_path, "[0, 1]", "1/4", "c*(1 - c)*(a + b)**2 >= a*b", BOTH)
    data = decide(reading, QUICK).details["instance"]
    assert check(data, reading).accepted and not check(data, claim).accepted
    for forged in (data | {"claim": claim.id}, data | {"claim": claim.id, "reading": claim.reading}):
        assert not check(forged, claim).accepted


def test_a_hypothesis_is_a_condition_on_the_number_as_the_checker_says(tmp_path):
    claim, _ = claims_of(tmp_path, "(0, 1]", "1/2", "a*c <= a", 'a = "positive", p = "positive", q = "real"',
                         '"p == c**2", "p <= 1/2", "q == a*c", "q <= 9", "a <= 3"')
    on = existential_conditions(claim)
    assert {str(rule.left) for rule in on.values} == {"p"} and {*on.defining} == {"p", "q"}
    assert [(str(rule.left), rule.sign) for rule in on.values] == [("p", "<="), ("p", ">")]
    assert [str(rule.left) for rule in on.every] == ["q"] and "a" in {str(rule.left) for rule in on.others}


BAD = {
    "of another name": ('witness = {b = "1/2"}', "allowed: c"),
    "no text": ("witness = {c = 1}", "formula, as text"),
    "of itself": ('witness = {c = "c/2"}', "does not use c"),
    "of an unknown name": ('witness = {c = "1/M_unknown"}', "M_unknown"),
    "of a name that the claim has not": ('witness = {c = "1/mu"}', "uses mu, of which"),
    "of an index": ('witness = {c = "1/(k + 1)"}', "uses k, of which"),
    "outside": ('witness = {c = "2"}', r"outside of \[0, 1\]"),
    "not a table": ('witness = "1/2"', "is a table"),
}


@pytest.mark.parametrize("row", BAD)
def test_a_witness_that_is_none_is_refused(row, tmp_path):
    text, said = BAD[row]
    path = tmp_path / "claim.toml"
    path.write_text(CLAIM.format(interval="[0, 1]", witness="1/2", statement="a*c <= a", variables='a = "positive"',
                                 conditions="", setting="algebra").replace('witness = {c = "1/2"}', text), encoding="utf-8")
    with pytest.raises(ValueError, match=f"line 8: .*{said}"):
        load_claims(path)


def test_a_witness_without_a_number_is_refused(tmp_path):
    path = tmp_path / "claim.toml"
    path.write_text('[[claim]]\nid = "mine/one"\nsetting = "algebra"\nvariables = {a = "positive"}\n'
                    'statement = "a >= 0"\nwitness = {c = "1/2"}\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"line 6: .*allowed: none"):
        load_claims(path)
