"""Where a claim that holds is tight: an exact instance in simple numbers, and by how much the claim could shrink."""

import pytest

from bounds.controls.fedavg import CONTROLS, TWINS
from bounds.registry.claims import find_claim
from tests.not_empty import not_empty
from verify.exact.replay import rerun, worst_sides
from verify.report.reason import run_in_words, sides_in_words
from verify.report.tightest import tightest_instance

ROWS = {row.claim.id: row.claim for row in CONTROLS}

#: claims that hold, and the least ratio of the instance that is found
TIGHT = [("classical/gd-convex", 1.0), ("fedalign/lemma-A6", 1.0), ("fedalign/step-T20", 1.0), ("li2020/theorem-1", 0.55)]


@pytest.mark.parametrize(("name", "least"), TIGHT)
def test_the_instance_has_the_ratio_and_is_told(name, least):
    claim = find_claim(name)
    data, ratio = tightest_instance(claim)
    assert least - 1e-9 <= ratio <= 1 + 1e-9
    left, right = (side[0] for side in worst_sides(claim, rerun(data, claim)))
    assert left == pytest.approx(ratio * right)
    lines = [*run_in_words(claim, data), *sides_in_words(claim, data)]
    assert any(line.startswith("left side") for line in not_empty(lines))


def test_gradient_descent_is_tight_on_a_loss_that_becomes_linear():
    """Its worst case, by hand: slope 1 from the start to the last model but one width, and 5/2 on both sides."""
    claim = find_claim("classical/gd-convex")
    data, ratio = tightest_instance(claim)
    assert ratio == 1 and data["sizes"]["rounds"] == 2
    lines = [*sides_in_words(claim, data)]
    assert lines[0].startswith("left side 5/2: ") and lines[1] == "right side 5/2"


@pytest.mark.parametrize("claim", [
    find_claim("fedalign/step-update-identity"), find_claim("afedpd/theorem-1"), TWINS["control/descent@/2"],
    ROWS["control/spread"]], ids=lambda claim: claim.id)
def test_equations_orders_and_what_fails_have_no_such_instance(claim):
    assert tightest_instance(claim) is None
