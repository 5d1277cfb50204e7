"""Why a claim fails, in words: the run of its counterexample, both sides term by term, and what it needs."""

import re
from dataclasses import replace

import pytest
import sympy as sp

from bounds.controls.fedavg import TWINS
from bounds.registry.claims import find_claim
from tests.not_empty import not_empty
from verify.referee.decide import Settings, decide
from verify.report.reason import needs_of, number_text, run_in_words, sides_in_words
from verify.report.sentences import MARKDOWN, TEX, in_words, sentence
from verify.results.verdict import Verdict


@pytest.fixture(scope="module")
def fedalign():
    claim = find_claim("fedalign/theorem-1")
    return claim, decide(claim, Settings(federations=False)).details["instance"]


@pytest.mark.parametrize(("value", "text"), [
    (0.0, "0"), (0.125, "1/8"), (1 / 3, "1/3"), (-2.5, "−5/2"), (2**0.5, "1.41421"), (1e-7, "1·10⁻⁷"), (float("inf"), "∞"),
    (float("nan"), "undefined"), (3249 / 6400, "3249/6400")])
def test_numbers_are_fractions_where_these_are_short(value, text):
    assert number_text(value) == text


def test_the_run_of_a_counterexample_is_told_round_by_round(fedalign):
    lines = list(run_in_words(*fedalign))
    assert lines[:3] == ["client 1: weight 1, a quadratic of curvature 1 around 0",
                         "client 2, free: weight 1, a quadratic of curvature 1 around 1", "the objective is least at 0"]
    assert re.fullmatch(r"round 0: clients 1 and 2 take part; the model moves from 0 to 1/\d+", lines[3]), lines[3]


def test_an_empty_sum_is_named(fedalign):
    assert "ρ_T is 0: there is no i from 1 to T − 1" in list(sides_in_words(*fedalign))


def test_a_quotient_of_zeros_is_named():
    claim = find_claim("fedluar/lemma-3.1")  # whose kappa is the largest quotient of a run
    data = decide(claim, Settings(federations=False)).details["instance"]
    assert re.search(r"of a hypothesis, is 0/0 at r = \d+ and counts as 0", "\n".join(sides_in_words(claim, data)))
    rounds = [line for line in run_in_words(claim, data) if line.startswith("round")]
    assert [line.count("repeats its last update") for line in rounds] == [0, 1]


def test_a_quantity_that_depends_on_chance_where_the_statement_does_not_is_left_out():
    claim = find_claim("afedpd/lemma-4@cond-zeta+rounds-upto")
    lines = [*sides_in_words(claim, decide(claim, Settings(federations=False)).details["instance"])]
    assert [line.split()[0] for line in lines if " side " in line] == ["left", "right"]


def test_a_page_says_the_same_with_formulas(fedalign):
    claim, data = fedalign
    verdict = Verdict(claim.id, claim.reading, claim.kind, "refuted", None, "evidence", details={"instance": data})
    text = sentence(verdict, claim)
    assert text.startswith("with <math>") and text.endswith("the left side is 1/128 and the right side is 0")
    lines = in_words(verdict, claim, MARKDOWN)
    assert lines[:4] == list(run_in_words(claim, data)) and r"$\rho_T$ is 0: there is no $i$ from $1$ to $T - 1$" in lines
    hidden = replace(claim, explicit=False)  # which a single instance does not refute
    assert (sentence(verdict, hidden), in_words(verdict, hidden)) == ("evidence", [])


@pytest.mark.parametrize("name", ["contraction@no noise", "loss-recursion@/10", "descent@/10", "convexity@/10", "means@/2"])
def test_the_terms_of_a_side_add_up_to_it(name):
    claim = TWINS[f"control/{name}"]
    data = decide(claim, Settings(federations=False)).details["instance"]
    sides = [line for line in sides_in_words(claim, data) if " side " in line]
    assert len(sides) == 2
    for line, exact in zip(not_empty(sides), (data["left"], data["right"]), strict=True):
        value, _, terms = line.partition(" side ")[2].partition(": ")
        assert float(sp.Rational(value)) == pytest.approx(float(sp.Rational(exact)), rel=1e-5)
        if terms:
            numbers = [float(sp.Rational(one.rpartition(" is ")[2])) for one in terms.split("; ")]
            assert sum(numbers) == pytest.approx(float(sp.Rational(value)), rel=1e-4)


def test_both_numbers_of_a_maximum_are_shown():
    claim = find_claim("fedalign/claim-opposite")
    data = decide(claim, Settings(federations=False)).details["instance"]
    (left,) = [line for line in sides_in_words(claim, data) if line.startswith("left side")]
    numbers = [one.rpartition(" is ")[2] for one in left.split("; ")]
    largest = max(numbers, key=lambda number: sp.Rational(number.replace("−", "-")))
    assert len(numbers) == 2 and left.startswith(f"left side {largest}:")


def test_signs_of_numbers_are_written_for_latex():
    claim = find_claim("fedalign/claim-opposite")
    data = decide(claim, Settings(federations=False)).details["instance"]
    verdict = Verdict(claim.id, claim.reading, claim.kind, "refuted", None, "evidence", details={"instance": data})
    assert "−" in "".join(sides_in_words(claim, data)) and "−" not in "".join(in_words(verdict, claim, TEX))


def test_what_a_counterexample_needs_is_searched(fedalign):
    needs = needs_of(fedalign[0])
    assert "without free clients" in needs.survives and "without noise" in needs.fails
    assert not {*needs.survives} & {*needs.fails}
    assert needs_of(TWINS["control/means@/2"]) == ([], [])  # of numbers, which have no ingredients
