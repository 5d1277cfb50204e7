"""Hypotheses about all points are used in proofs at the points that occur, in the direction in which they say something."""

from dataclasses import replace

import pytest

from bounds.language.claim import Condition
from bounds.language.operators import L, mu
from bounds.language.space import infimum
from bounds.registry.user_claims import load_claims
from verify.worst.proven import TEMPLATES
from verify.worst.worst_case import worst_case

START = """
[assumptions]
smooth = ["L_client[k] <= L for k in 0..clients-1"]
noiseless = ["sigma_sq_client[k] <= 0 for k in 0..clients-1"]

[[claim]]
id = "own/points"
"""
STEPS = '"local_steps == 1", "eta_l[t] == 1/L for t in 0..iterations-1"'
RATE = "objective(x_round[rounds]) - F_star <= (1 - mu/L)**rounds*(objective(x_round[0]) - F_star)"
TOWARDS = "dot(objective_grad(v), v - x_star) >= objective(v) - F_star for all v"
CONVEX_RATE = "objective(x_round[rounds]) - F_star <= L*norm2(x_round[0] - x_star)/(2*rounds)"
ZETA = 'constants = {zeta_sq = "Mean(norm2(grad(k, v) - objective_grad(v)), (k, 0, clients-1)) for all v"}'
SAMPLED = 'sampling = "with-replacement"'
SPREAD = "E(norm2(x_round[1] - E(x_round[1]))) <= 1*eta_l[0]**2*zeta_sq/participants"
SLOPE = '{} <= G**2 for k in 0..clients-1 for all v'
MOVED = "norm(x_round[rounds] - x_round[0]) <= 1*rounds*G/L"


def fields(*conditions: str, more: str = "") -> str:
    return f'assume = ["smooth", "noiseless"]\nconditions = [{", ".join([STEPS, *(f"{c!r}" for c in conditions)])}]\n{more}'


#: fields, a statement, whether it is proven
ROWS = {
    "gradient dominance": (fields("norm2(objective_grad(v)) >= 2*mu*(objective(v) - F_star) for all v"), RATE, True),
    "gradient dominance, too fast": (
        fields("norm2(objective_grad(v)) >= 2*mu*(objective(v) - F_star) for all v"),
        RATE.replace("(1 - mu/L)", "(1 - 4*mu/(3*L))"), False),
    "the reverse": (fields("norm2(objective_grad(v)) <= 2*mu*(objective(v) - F_star) for all v"), RATE, False),
    "towards the optimum": (fields(TOWARDS), CONVEX_RATE, True),
    "towards the optimum, too fast": (fields(TOWARDS), CONVEX_RATE.replace("2*rounds", "9*rounds"), False),
    "dissimilar clients": (fields(more=f"{ZETA}\n{SAMPLED}"), SPREAD, True),
    "dissimilar clients, too little": (fields(more=f"{ZETA}\n{SAMPLED}"), SPREAD.replace("1*eta", "9/10*eta"), False),
    "slopes": (fields(SLOPE.format("norm2(grad(k, v))"), more='variables = {G = "positive"}'), MOVED, True),
    "slopes, too little": (
        fields(SLOPE.format("norm2(grad(k, v))"), more='variables = {G = "positive"}'), MOVED.replace("1*", "9/10*"), False),
    "slopes of others": (
        fields(SLOPE.format("norm2(grad(k, v))").replace("0..", "1.."), more='variables = {G = "positive"}'), MOVED, False),
}


@pytest.mark.parametrize("row", ROWS)
def test_what_holds_at_all_points_is_used_at_those_that_occur(row, tmp_path):
    text, statement, proven = ROWS[row]
    file = tmp_path / "own.toml"
    file.write_text(f'{START}{text}\nstatement = "{statement}"\n')
    found = worst_case(load_claims(file)[0], template=TEMPLATES[1])
    assert (found.certificate is not None) == proven, found.reason


#: what is said of the least value of |grad|^2 - 2 mu (F - F_*), and whether the rate is proven from it
SAID = {
    "at least 0": (lambda least: Condition(least, ">=", 0), True),
    "minus it": (lambda least: Condition(-least, "<=", 0), True),
    "twice it, on the right": (lambda least: Condition(0, "<=", 2 * least), True),
    "equal": (lambda least: Condition(least, "==", 0), True),
    "beside a number": (lambda least: Condition(3 + least / 2, ">=", 3), True),
    "at most 0": (lambda least: Condition(least, "<=", 0), False),
    "minus it at least 0": (lambda least: Condition(-least, ">=", 0), False),
    "less than it": (lambda least: Condition(least, ">=", -1), False),
    "its square": (lambda least: Condition(least**2, ">=", 0), False),
    "times a number without a sign": (lambda least: Condition((mu - L) * least, ">=", 0), False),
    "on both sides": (lambda least: Condition(least, ">=", 2 * least), False),
}


@pytest.mark.parametrize("said", SAID)
def test_a_least_value_is_used_in_the_direction_in_which_it_says_something(said, tmp_path):
    condition, proven = SAID[said]
    file = tmp_path / "own.toml"
    file.write_text(f'{START}{ROWS["gradient dominance"][0]}\nstatement = "{RATE}"\n')
    claim = load_claims(file)[0]
    (dominance,) = (c for c in claim.conditions if c.left.has(infimum) or c.right.has(infimum))
    least = next(iter(dominance.left.atoms(infimum)))
    others = tuple(c for c in claim.conditions if c != dominance)
    found = worst_case(replace(claim, conditions=(*others, condition(least))), template=TEMPLATES[1])
    assert (found.certificate is not None) == proven, found.reason
