"""The statements of benchmarks/unseen can be read, and what is true is not refuted."""

import re
from collections import Counter
from itertools import pairwise

import pytest

from benchmarks.unseen import FILES, right, statements
from tests.not_empty import not_empty
from verify.referee.decide import Settings, decide

STATEMENTS = statements()
TRUE = [name for name in STATEMENTS if name.startswith("true/")]
FALSE = [name for name in STATEMENTS if name.startswith("false/")]


def test_there_are_many_of_both_kinds():
    assert len(TRUE) >= 40 and len(FALSE) >= 40 and len(TRUE) + len(FALSE) == len(STATEMENTS)
    assert min(Counter(file for file, _ in STATEMENTS.values()).values()) >= 4


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_false_statement_has_its_reason_beside_it(path):
    tables = re.split(r"^\[\[claim\]\]$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for before, table in not_empty(pairwise(tables)):
        if 'id = "false/' in table:
            assert before.rstrip().splitlines()[-1].startswith("# "), table


@pytest.mark.parametrize("name, verdict, expected", [
    ("true/a", "certified", True), ("true/a", "consistent", True), ("true/a", "refuted", False),
    ("true/a", "undecided", False),
    ("false/a", "refuted", True), ("false/a", "consistent", False), ("false/a", "ill-posed", False),
])
def test_what_is_right(name, verdict, expected):
    assert right(name, verdict) == expected


#: true statements that stay undecided, because the number that exists may lie nearer to an open end than float64 can tell
UNDECIDED = {"true/exists-balance", "true/exists-tuned-step"}


@pytest.mark.parametrize("name", TRUE[::8])
def test_a_true_statement_is_spared(name):
    verdict = decide(STATEMENTS[name][1], Settings(federations=False))
    assert right(name, verdict.verdict) or (name in UNDECIDED and verdict.verdict == "undecided"), verdict.evidence


def test_a_free_client_may_weigh_as_much_as_the_others():
    assert decide(STATEMENTS["false/fedalign-descends"][1], Settings(federations=False)).verdict == "refuted"


@pytest.mark.parametrize("name", [
    "false/value-strongly-convex", "false/heavy-ball-average", "false/look-back-error", "false/fedavgm-momentum"])
def test_numbers_below_one_and_constants_that_bound_each_other_are_measured(name):
    assert decide(STATEMENTS[name][1], Settings(federations=False)).verdict == "refuted"


@pytest.mark.parametrize("name", [
    "false/restricted-secant-dominates", "false/order-short-steps-noise", "false/order-short-steps-sampling",
    "false/order-bias"])
def test_flat_parts_of_convex_losses_and_short_steps_with_chance_are_looked_at(name):
    assert decide(STATEMENTS[name][1], Settings(federations=False)).verdict == "refuted"


@pytest.mark.parametrize("name", ["false/order-told", "false/order-root-recursion", "false/last-weight"])
def test_steps_that_are_numbers_and_single_entries_that_are_bounded_are_looked_at(name):
    assert decide(STATEMENTS[name][1], Settings(federations=False)).verdict == "refuted"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["false/sgd-stationary", "false/noise-of-many-steps", "false/drift-nonconvex"])
def test_what_is_false_in_long_runs_alone_is_refuted_with_the_standard_budget(name):
    """In short runs they are true, and could be proven. One seed in three may begin where nothing leads to long runs."""
    assert any(decide(STATEMENTS[name][1], Settings(budget="standard", federations=False, seed=seed)).verdict == "refuted"
               for seed in range(3))


@pytest.mark.parametrize("name", ["true/order-bias", "true/adagrad-log"])
def test_rounding_errors_leave_no_true_statement_open(name):
    verdict = decide(STATEMENTS[name][1], Settings(federations=False))
    assert right(name, verdict.verdict), verdict.evidence


@pytest.mark.parametrize("name", [
    "false/half-to-the-n", "false/two-powers", "false/square-of-a-large-number", "false/twice-as-many-draws",
    "false/like-the-first", "false/momentum-cycles-of-given-curvature", "false/bias-without-the-condition-number",
    "false/gradient-confusion", "false/steps-of-one-over-t"])
def test_small_sides_tied_sizes_cycles_and_empty_ranges_are_looked_at(name):
    assert decide(STATEMENTS[name][1], Settings(federations=False)).verdict == "refuted"


def test_a_constant_that_real_data_do_not_have_takes_no_value_from_its_bound():
    assert decide(STATEMENTS["true/weakly-cocoercive"][1], Settings()).verdict == "consistent"
