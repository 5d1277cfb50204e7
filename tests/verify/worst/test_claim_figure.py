"""No run exceeds a worst case: random quadratics of every registered claim that has one, at several sizes and numbers."""

import json

import numpy as np
import pytest

from bounds.registry.claims import all_claims, find_claim
from bounds.registry.papers import PAPERS
from verify.claims.needs import speaks_of_samples
from verify.worst import claim_figure
from verify.worst.claim_figure import bound_over_rounds, bound_over_rounds_figure, few_rounds, on_quadratics
from verify.worst.proven import TEMPLATES
from verify.worst.worst_case import worst_case

pytest.importorskip("clarabel")

_ERRORS = (ArithmeticError, LookupError, TypeError, ValueError)
_FEW = {"classical": 60, "li2020": 10, "afedpd": 20, "fedmoswa": 60, "fedluar": 10}  # comparisons that there must be
_ZERO = 1e-9  # ratios that are zero
_SOLVER = 1e-5  # relative error of the solver


def compared(paper):
    """For each claim and place: what is known there, the worst factor of all functions, and of random quadratics."""
    for claim in all_claims().values():
        about_runs = claim.paper == paper and claim.explicit and claim.setting == "run" and claim.statement is not None
        if not about_runs or speaks_of_samples(claim) or (claim.procedure and claim.procedure.free_clients):
            continue
        for place in TEMPLATES[:3]:
            try:
                found = worst_case(claim, {}, place, 16, proofs=False)
                ratios = on_quadratics(claim, found.setting, 0)
            except _ERRORS:
                continue
            if ratios.size and found.sure and not any(factor is None for factor in found.factors):
                yield claim, found, max(found.factors, default=np.inf), ratios.max()


@pytest.mark.parametrize("paper", PAPERS)
def test_no_run_exceeds_a_worst_case(paper):
    rows = [*compared(paper)]
    assert len(rows) >= _FEW.get(paper, 0)
    assert [(claim.id, found.scope, exact, seen) for claim, found, exact, seen in rows
            if seen > max(exact, 0.0) * (1 + _SOLVER) + _ZERO] == []


def test_a_run_that_exceeds_it_would_be_seen():
    claim = find_claim("classical/scaffold-convex")
    found = worst_case(claim, {}, proofs=False)
    assert on_quadratics(claim, found.setting, 0).max() > 0.99 * max(found.factors)


def test_the_course_of_a_claim_is_drawn(tmp_path, run):
    found = bound_over_rounds(find_claim("classical/scaffold-convex"), rounds=2)
    assert [*found.exact] == pytest.approx([*found.found], rel=1e-2) and min(found.middle) > 0
    assert "exact worst case" in [text.get_text() for text in bound_over_rounds_figure(found).axes[0].texts]
    assert found.numbers["rounds"] == "1 to 2" and found.numbers["local_steps"] == "2"
    status, said, _ = run("worst", "classical/gd-convex", "rounds=2", "--plot", tmp_path / "gd.png", "--json")
    assert status == 0 and "worst run found" in said and (tmp_path / "gd.png").stat().st_size > 9_000


def test_the_course_over_another_number(run, tmp_path):
    def over(name, *words):
        status, said, _ = run("worst", "classical/gd-distance", *words, "--plot", tmp_path / f"{name}.svg", "--json")
        assert status == 0 and (tmp_path / f"{name}.svg").stat().st_size
        return json.loads(said)[f"over {name}"]

    found = over("mu", "mu=0.1:0.5:3", "rounds=1")
    assert found["values"] == pytest.approx([0.1, 0.3, 0.5]) and found["exact"] == pytest.approx([1] * 3, rel=1e-5)
    assert max(found["worst run found"]) <= 1 + 1e-6
    assert over("rounds", "rounds=2:4")["values"] == [2, 3, 4]


@pytest.mark.parametrize("words", [
    ["rounds=1:3"], ["rounds=1:3", "mu=0.1:0.2", "--plot", "x.svg"], ["rounds=1:3:0", "--plot", "x.svg"],
    ["nothing=1:3", "--plot", "x.svg"], ["rounds=1:900", "--plot", "x.svg"],
])
def test_a_range_that_is_none_is_refused(words, run):
    assert run("worst", "classical/gd-distance", *words)[0] == 2


def test_figures_of_pages_are_those_of_small_programs(monkeypatch):
    """A claim without a worst case of this kind, or with one after one round alone, has none."""
    (shown,) = few_rounds(find_claim("classical/gd-value"))
    assert shown.x == [1, 2, 3, 4]
    assert few_rounds(find_claim("classical/drift-smooth")) == ()
    monkeypatch.setattr(claim_figure, "_SMALL", 6)
    assert few_rounds(find_claim("classical/gd-value")) == ()
