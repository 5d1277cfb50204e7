"""Worst points: where a program finds a statement worst, the clients through them, and what the search makes of it."""

from fractions import Fraction

import numpy as np
import pytest
from sympy import Rational

from benchmarks.tight_constants import ROWS, claim_of
from benchmarks.unseen import statements
from bounds.controls.fedavg import control
from bounds.language.claim import Assumption, Condition, Procedure
from bounds.language.operators import (
    E,
    L,
    L_client,
    clients,
    eta_l,
    iterations,
    k,
    local_steps,
    norm,
    norm2,
    objective_grad,
    rounds,
    sigma_sq,
    t,
    x_round,
    x_star,
)
from synthetic.numbers.arrays import NUMPY
from tests.classical import EXACT, JUST_CONVEX, NOISE, SMOOTH
from tests.not_empty import not_empty
from verify.checker.limits import WorkLimit
from verify.instances.through_points import through_points
from verify.search.budget import BUDGETS
from verify.search.search import search
from verify.worst import one_dimensional
from verify.worst.configurations import Template
from verify.worst.one_dimensional import worst_points
from verify.worst.program import Program

STATEMENTS = statements()
THREE_ROUNDS = Template(1, 3, 1)
SEED = 1  #: at seed 0 a run that is drawn at random breaks "only-in-long-runs", at seeds 1 to 4 none does
SUBTLE = [18, 20, 21, 22, 23]  # rows of which the other stages do not refute 0.99 times the constant


OTHERS = ("slopes", "small-pieces")  # stages that refute some of them, too


def times(number: int, factor: str):
    return claim_of(ROWS[number]._replace(formula=f"{factor}*({ROWS[number].formula})"))


def federation(points, steep, flat):
    family, params = through_points([np.array(each) for each in points], steep, flat)

    class OneCoordinate:
        layers, dim = (), 1

    return family.federation(OneCoordinate, params, NUMPY, offset=np.zeros((1, len(points))))


@pytest.mark.parametrize("points, steep, flat", [
    ([[(0, 0, 0), (2, 1, 0.5)]], [1.0], [0.0]),  # flat, then steep
    ([[(0, 0, 0), (2, 1, 1.5)]], [1.0], [0.0]),  # steep, then flat
    ([[(0, 0, 0), (2, 1, 1.0), (5, 3, 7.0)]], [1.0], [0.0]),
    ([[(0, 0, 0), (2, 1.1, 0.9)]], [1.0], [0.1]),
    ([[(-1, -1, 0.5), (0, 0, 0), (3, 1, 1.8)], [(0, 0.5, 0), (1, 0.5, 0.5)]], [1.0, 2.0], [0.0, 0.0]),
    ([[(0, 0, 0), (1, 1, 0.5), (2, 1, 1.25)]], [1.0], [-1.0]),  # down and up again between equal gradients
], ids=["late", "early", "three points", "strongly convex", "two clients", "nonconvex"])
def test_clients_go_through_the_points(points, steep, flat):
    clients = federation(points, steep, flat)
    for client, each in not_empty(enumerate(points)):
        where, gradients, values = np.array(each).T
        x = np.broadcast_to(where[:, None, None], (len(where), len(points), 1))
        many = clients.repeat(len(where))
        found = many.value(x)[:, client]
        assert many.gradient(x)[:, client, 0] == pytest.approx(gradients, abs=1e-9)
        assert found - found[0] == pytest.approx(values - values[0], abs=1e-9)
        assert clients.smoothness().value[0, client] <= steep[client] + 1e-9
        assert clients.convexity().value[0, client] >= flat[client] - 1e-9


def test_points_that_no_such_function_has_are_missed():
    clients = federation([[(0, 0, 0), (2, 1, 1.8)]], [1.0], [0.0])  # at most 1.5
    x = np.array([[[0.0]], [[2.0]]])
    assert np.ptp(clients.repeat(2).value(x)) == pytest.approx(1.5)


@pytest.mark.parametrize("number", SUBTLE)
def test_the_factor_is_what_is_missing_and_the_points_lie_on_a_line(number):
    found = worst_points(times(number, "99/100"), {}, THREE_ROUNDS)
    assert found.factor == pytest.approx(100 / 99, rel=1e-5)
    clients = federation(found.points, found.steep, found.flat)
    where, gradients, _ = found.points[0].T
    gap = clients.repeat(len(where)).gradient(where[:, None, None])[:, 0, 0] - gradients
    assert np.abs(gap).max() < 1e-3 * np.abs(gradients).max()


def test_a_true_statement_has_no_larger_factor():
    assert worst_points(times(SUBTLE[0], "1"), {}, THREE_ROUNDS).factor == pytest.approx(1, abs=1e-5)


def test_noise_is_left_out():
    claim = times(SUBTLE[0], "1")
    noisy = tuple(a for a in claim.assumptions if "sigma" not in str(a.conditions))
    assert len(noisy) < len(claim.assumptions)
    found = worst_points(type(claim)(**{**vars_of(claim), "assumptions": noisy}), {"L": Fraction(1)}, THREE_ROUNDS)
    assert found.factor == pytest.approx(worst_points(claim, {"L": Fraction(1)}, THREE_ROUNDS).factor)
    assert worst_points(after_steps(*OF_NOISE, NOISE), {}, THREE_ROUNDS).setting.values["sigma_sq"] == "0"


def test_a_number_that_bounds_more_than_noise_is_no_zero():
    more = Assumption("own/more", "", (Condition(L_client[k], "<=", 2 * L + sigma_sq, ((k, 0, clients - 1),)),))
    found = worst_points(after_steps(*OF_NOISE, NOISE, more), {"sigma_sq": Fraction(1)}, THREE_ROUNDS)
    assert found.setting.values["sigma_sq"] == "1"


def vars_of(claim):
    return {name: getattr(claim, name) for name in claim.__dataclass_fields__}


UNSEEN = ["gradient-after-n-steps", "gradient-by-value", "least-gradient-nonconvex"]
LAST, FIRST = objective_grad(x_round[rounds]), x_round[0] - x_star


def after_steps(left, right, *assumptions):
    """On smooth convex losses after steps of 1/L, all rounds of one."""
    return control("own", "run", Condition(left, "<=", right), assumptions=(SMOOTH, JUST_CONVEX, *assumptions), conditions=(
        Condition(eta_l[t], "==", 1 / L, over=((t, 0, iterations - 1),)), Condition(local_steps, "==", 1)),
        procedure=Procedure(equal_weights=True))


OF_NOISE = E(norm2(LAST)), L**2 * norm2(FIRST) / (rounds + Rational(51, 50)) ** 2 + 10 * sigma_sq * rounds
FALSE = {name: STATEMENTS[f"false/{name}"][1] for name in UNSEEN} | {
    f"{number} less": times(number, "99/100") for number in SUBTLE} | {
    "with noise": after_steps(*OF_NOISE, NOISE),
    "of lengths": after_steps(norm(LAST), L * norm(FIRST) / (rounds + Rational(101, 100)), EXACT)}


@pytest.mark.parametrize("name", FALSE)
def test_what_a_program_knows_to_be_false_is_refuted_at_quick(name):
    found = search(FALSE[name], BUDGETS["quick"], SEED, without=OTHERS)
    assert found.violation is not None and found.stage == "worst-points"


@pytest.mark.parametrize("name", FALSE)
def test_it_is_not_without_worst_points(name):
    assert search(FALSE[name], BUDGETS["quick"], SEED, without=(*OTHERS, "worst-points")).violation is None


def test_what_fails_only_in_long_runs_is_refuted_without_a_program():
    found = search(STATEMENTS["false/only-in-long-runs"][1], BUDGETS["quick"], SEED)
    assert found.violation is not None and found.stage in ("patient", "slopes")


@pytest.mark.parametrize("number", SUBTLE)
def test_the_constant_itself_is_spared(number):
    assert search(times(number, "1"), BUDGETS["standard"], without=("evolved",)).violation is None


def test_no_program_is_solved_once_the_effort_is_used_up(monkeypatch):
    solved, meter = [], WorkLimit(10**4)
    monkeypatch.setattr(Program, "solve", lambda *given, **named: solved.append(given))
    assert one_dimensional.worst(times(SUBTLE[0], "1"), {}, THREE_ROUNDS, meter=meter) is None
    before, meter.most = len(solved), meter.spent
    assert before > 0 and meter.spent > 0
    with pytest.raises(ValueError, match=f"more than {meter.most} steps"):
        one_dimensional.worst(times(SUBTLE[0], "1"), {}, THREE_ROUNDS, meter=meter)
    assert len(solved) == before
