"""Damaged statements are repaired, what is found is refereed, and a claim that nobody refutes needs no repair."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounds.controls.fedavg import CONTROLS
from bounds.controls.methods import CONTROLS_ON_METHODS
from bounds.registry.claims import find_claim
from bounds.registry.user_claims import load_claims
from tests.not_empty import not_empty
from verify.api.repair import repair
from verify.cli.main import main
from verify.repair.atoms import scalars, unitless_products
from verify.repair.conclusions import conclusions_from
from verify.repair.edits import coefficients, shifts
from verify.repair.pool import pool_of
from verify.repair.positions import part_at, positions, with_part
from verify.repair.repair import repairs_of
from verify.repair.simple import simplest
from verify.results.verdict import Verdict
from verify.search.budget import BUDGETS
from verify.search.search import search

ROWS = {row.claim.id.partition("/")[2]: row for row in (*CONTROLS, *CONTROLS_ON_METHODS)}

#: (control, its false variant, a change that is found, and whether the statement is then the control's own)
DAMAGES = [
    ("means", "/2", "the right side times 2", True),
    ("means", "/10", "the right side times 10", True),
    ("young", "/2", "the right side times 2", True),
    ("geometric-sum", "one more", "i from 0 to length − 1 in place of i from 0 to length", True),
    ("descent", "/2", "L/2 · ‖x_0^k − x_0‖² in place of L/4 · ‖x_0^k − x_0‖²", True),
    ("contraction", "no noise", "η_t² σ² more on the right side", True),
    ("contraction", "any: step", "if η_t (L + μ) ≤ 2   for t = 0, …, N − 1", False),
    ("fedacg-stays-at-the-optimum", "any: from the optimum", "from the optimum", True),
    ("fedcm-stays-at-the-optimum", "any: no noise", "without noise", True),
    ("averages-move-along-gradients", "/2", None, True),
]


def is_same(one, other):
    return (one.left - other.left).expand() == 0 == (one.right - other.right).expand()


SLOW = ("averages-move-along-gradients", "contraction", "descent", "fedacg-stays-at-the-optimum", "geometric-sum")


@pytest.mark.parametrize(("name", "damage", "change", "same"), [
    pytest.param(*row, id=f"{row[0]} {row[1]}", marks=[pytest.mark.slow] * (row[0] in SLOW)) for row in DAMAGES])
def test_a_damage_is_undone(name, damage, change, same):
    control = ROWS[name]
    found = repairs_of(control.twins[damage], "quick")
    assert change is None or change in [one.change for one in found]
    if same:
        assert any(is_same(one.claim.statement, control.claim.statement) for one in found)
    for one in not_empty(found):
        assert one.verdict.verdict in ("certified", "consistent") and one.verdict.details["instances"]["met"] >= 8
        assert search(one.claim, BUDGETS["quick"], seed=5).violation is None
    assert [one.cost for one in found] == sorted(one.cost for one in found)


def test_the_sum_of_fedaligns_theorem_begins_too_late():
    first, *_ = repairs_of(find_claim("fedalign/theorem-1"), "quick", most=1)
    assert first.change == "i from 0 to T − 1 in place of i from 1 to T − 1 in ρ_T"
    own, changed = (claim.definitions["rho_bias"].formula for claim in (find_claim("fedalign/theorem-1"), first.claim))
    assert str(changed) == str(own).replace("(i, 1, iterations - 1)", "(i, 0, iterations - 1)") != str(own)


@pytest.mark.parametrize(("claim", "message"), [
    ("classical/gd-convex", "is not refuted"), ("fadamgc/theorem-C.3@big-o-betas", "hides constants")])
def test_only_a_refuted_claim_with_all_its_constants_is_repaired(claim, message, monkeypatch):
    monkeypatch.setitem(BUDGETS, "standard", BUDGETS["quick"])
    with pytest.raises(ValueError, match=message):
        repairs_of(find_claim(claim), "quick")


def test_what_the_referee_refutes_is_not_proposed(monkeypatch):
    asked = []

    def refuting(claim, settings):
        asked.append(claim.id)
        return Verdict(claim.id, claim.reading, claim.kind, "refuted", None, "", None, "", 0)

    monkeypatch.setattr("verify.repair.repair.decide", refuting)
    assert repairs_of(ROWS["means"].twins["/2"], "quick", depth=1) == [] and asked


def test_no_side_becomes_a_number(tmp_path):
    """Without b in one place the left side would be 0, and the statement true of nothing."""
    file = tmp_path / "factor.toml"
    file.write_text("""
[[claim]]
id = "mine/factor"
variables = {a = "positive", b = "positive"}
conditions = ["b <= 1/2"]
statement = "(1 - b)*a <= (1 - b)*a/2"
""", encoding="utf-8")
    found = repairs_of(load_claims(file)[0], "quick")
    assert not [one.change for one in not_empty(found) if one.claim.statement.left.is_number]


# parts -------------------------------------------------------------------------------------------------------------------
@given(st.fractions(Fraction(1, 50), 50, max_denominator=60), st.fractions(1, 2, max_denominator=60))
def test_the_simplest_fraction_has_the_least_denominator(low, width):
    found, high = simplest(low, low * width), low * width
    assert low <= found <= high
    for denominator in range(1, found.denominator):
        assert -(-low * denominator // 1) > high * denominator // 1, denominator


def test_an_interval_without_numbers_has_no_simplest_fraction():
    with pytest.raises(ValueError, match="positive numbers"):
        simplest(2, 1)


@pytest.mark.parametrize("name", ["contraction", "means", "descent", "geometric-sum"])
def test_every_position_of_a_formula_can_take_another_part(name):
    claim = ROWS[name].claim
    for position, part in not_empty(list(positions(claim))):
        again = with_part(claim, position, part)
        assert (again.statement.left, again.statement.right) == (claim.statement.left, claim.statement.right)
        assert part_at(claim, position) == part


def test_what_the_pool_excludes_is_no_candidate():
    claim = ROWS["means"].twins["/2"]
    pool = pool_of(claim)
    assert pool.false and pool.true and pool.breaks(claim) and pool.excludes(claim)
    assert not pool.breaks(ROWS["means"].claim) and not pool.excludes(ROWS["means"].claim)


def test_a_coefficient_moves_no_farther_than_the_instances_ask():
    pool = pool_of(ROWS["means"].twins["/10"])
    edits = [edit for one in coefficients(pool.claim) if (edit := one(pool))]
    assert any(edit.claim.statement.right == ROWS["means"].claim.statement.right for edit in edits)
    for edit in not_empty(edits):
        assert not pool.breaks(edit.claim), edit.words


def test_shifts_change_one_place():
    claim = ROWS["geometric-sum"].claim
    edits = [one(None) for one in shifts(claim)]
    assert len({edit.words for edit in edits}) > 20
    for edit in not_empty(edits):
        changed = [name for name in ("left", "right", "over")
                   if getattr(edit.claim.statement, name) != getattr(claim.statement, name)]
        assert len(changed) == 1, edit.words


def test_products_are_pure_numbers_and_come_once():
    claim = ROWS["contraction"].claim
    found = list(unitless_products(scalars(claim), 3))
    formulas = {one.formula for one in not_empty(found)}
    assert len(formulas) == len(found)
    assert {1 / formula for formula in formulas}.isdisjoint(formulas)


# the command -------------------------------------------------------------------------------------------------------------
FILE = """
[[claim]]
id = "mine/half"
variables = {a = "positive", b = "positive"}
statement = "4*a*b <= (a + b)**2/2"

[[claim]]
id = "mine/whole"
variables = {a = "positive", b = "positive"}
statement = "4*a*b <= (a + b)**2"
"""


def test_the_command_prints_statements_and_writes_a_claim_file(tmp_path, capsys):
    file, out = tmp_path / "mine.toml", tmp_path / "repaired.toml"
    file.write_text(FILE, encoding="utf-8")
    assert main(["repair", f"{file}:mine/half", "--budget", "quick", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "the right side times 2: certified\n   4 a b ≤ (a + b)²\n" in printed
    written = load_claims(out)
    assert len(written) == printed.count("certified") > 1
    assert main(["verify", str(out), "--out", str(tmp_path / "report")]) == 0


CHAIN = """
[[claim]]
id = "mine/lemma"
variables = {a = "positive", b = "positive"}
statement = "8*a*b <= (a + b)**2"

[[claim]]
id = "mine/weaker"
variables = {a = "positive", b = "positive"}
statement = "4*a*b <= 2*(a + b)**2"
steps = ["mine/lemma"]

[[claim]]
id = "mine/sharper"
variables = {a = "positive", b = "positive"}
statement = "16*a*b <= 3*(a + b)**2"
steps = ["mine/lemma"]

[[claim]]
id = "mine/theorem"
variables = {a = "positive", b = "positive"}
statement = "16*a*b <= 4*(a + b)**2"
steps = ["mine/sharper"]

[[claim]]
id = "mine/untouched"
variables = {a = "positive", b = "positive"}
statement = "16*a*b <= 5*(a + b)**2"
steps = ["mine/weaker"]
"""


@pytest.fixture
def chain(tmp_path, monkeypatch):
    file = tmp_path / "chain.toml"
    file.write_text(CHAIN, encoding="utf-8")
    monkeypatch.setenv("FEDTHEORY_CLAIMS", str(file))
    return file


def test_a_repaired_step_is_followed_to_what_rests_on_it(chain, capsys):
    first, *_ = repair("mine/lemma", "quick", most=1)
    assert [(one.claim.id, one.survives, one.verdict) for one in first.conclusions] == [
        ("mine/weaker", True, None), ("mine/sharper", False, "refuted"), ("mine/theorem", False, "certified")]
    assert main(["repair", f"{chain}:mine/lemma", "--budget", "quick", "--most", "1"]) == 0
    printed = capsys.readouterr().out
    for words in ("mine/weaker follows from it", "mine/sharper does not follow from it; by itself it is refuted",
                  "mine/theorem rests on mine/sharper; by itself it is certified"):
        assert words in printed


def test_a_conclusion_follows_under_the_condition_that_a_repair_adds(chain, tmp_path):
    other = tmp_path / "repaired.toml"
    lemma = CHAIN.partition("\n\n")[0]
    other.write_text(lemma.replace("lemma", "lemma@far") + '\nconditions = ["a >= 6*b"]\n', encoding="utf-8")
    found = conclusions_from(load_claims(chain)[0], load_claims(other)[0], lambda one: None)
    assert next(found).words == "mine/weaker follows from it, under the condition that is added"


@pytest.mark.parametrize(("more", "found"), [([], True), (["--short"], False)])
def test_explain_names_what_would_be_true(tmp_path, capsys, more, found):
    file = tmp_path / "mine.toml"
    file.write_text(FILE, encoding="utf-8")
    assert main(["explain", f"{file}:mine/half", "--out", str(tmp_path / "report"), *more]) == 0
    printed = capsys.readouterr().out
    assert ("the right side times 2: certified" in printed) is found
    assert "It is refuted" in printed and "left side" in printed


@pytest.mark.parametrize(("arguments", "message"), [
    (["mine/whole", "--budget", "quick"], "nothing to repair: mine/whole is certified; repair takes a refuted claim"),
    (["mine/half", "--most", "0"], "--most must be at least 1; got 0")])
def test_the_command_says_what_cannot_be_repaired(tmp_path, capsys, arguments, message):
    file = tmp_path / "mine.toml"
    file.write_text(FILE, encoding="utf-8")
    assert main(["repair", f"{file}:{arguments[0]}", *arguments[1:]]) == 2
    assert message in capsys.readouterr().err
