"""Every word of the language by hand, on exact fractions and in floating point."""

from fractions import Fraction as Q
from math import prod

import numpy as np
import pytest
import sympy as sp

from bounds.language.claim import Condition, Definition
from bounds.language.operators import (
    E,
    E_noise,
    F,
    Max,
    Min,
    Product,
    Sum,
    clients,
    dot,
    grad,
    i,
    iterations,
    j,
    k,
    local_steps,
    norm,
    norm2,
    objective,
    objective_grad,
    sampling,
    t,
    tau,
    x,
    x_star,
)
from synthetic.numbers.arrays import BALLS, EXACT, NUMPY, TORCH, to_numpy
from synthetic.numbers.balls import Ball
from synthetic.numbers.roots import Irrational, real_power
from synthetic.quadratic.quadratic import Quadratic
from synthetic.registry import make_problem
from tests.not_empty import not_empty
from verify.evaluation import evaluate as evaluate_module
from verify.evaluation import operators  # noqa: F401  (gives E_noise its meaning)
from verify.evaluation.environment import Environment, NamedArray, UnboundName
from verify.evaluation.evaluate import evaluate, sides
from verify.evaluation.term_sizes import sizes_of_sides

BACKENDS = {"exact": EXACT, "numpy": NUMPY, "torch": TORCH}
a, n, c = sp.IndexedBase("a"), sp.IndexedBase("n"), sp.Symbol("c")  # by client; by chance and time; a number
s, double, tri, gap_at = sp.Symbol("s"), sp.IndexedBase("double"), sp.IndexedBase("tri"), sp.IndexedBase("gap_at")
nothing = sp.Symbol("nothing")

DEFINITIONS = {
    d.name: d for d in (
        Definition("s", (), Sum(a[k], (k, 0, clients - 1)) + c, "s", "1", "a sum"),
        Definition("double", (t,), 2 * tri[t + 1], "d", "1", "twice the next"),
        Definition("tri", (t,), Sum(i, (i, 0, t)), "T", "1", "a triangular number"),
        Definition("gap_at", (k, j), F(k, x[j]) - c, "g", "1", "two indices"),
        Definition("loop", (), sp.Symbol("nothing") + 1, "l", "1", "rests on what nobody supplies"),
    )
}


def environment(backend, instances=1):
    """Two clients in two dimensions (the second is free), times 0..3, two outcomes of noise, two of sampling.

    F_0 = (v_0^2 + 2 v_1^2) / 2 + 1 with priority; F_1 = ((v_0 - 1)^2 + v_1^2) / 2, free. x = (3, 4), (0, 1), (1, 1), (2, 0).
    """
    array = backend.array
    federation = Quadratic(
        array([[[1, 2], [1, 1]]]), array([[[0, 0], [1, 0]]]), array([[1, 0]]), array([[2, 1]]),
        np.array([[True, False]]), backend=backend,
    )
    points = [[3, 4], [0, 1], [1, 1], [2, 0]]
    chance = np.array([[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]])  # instance, noise, sampling, time
    bound = {
        "a": NamedArray(array([[[[Q(1, 2), -3]]]]), 1),
        "c": NamedArray(array(np.arange(1, instances + 1).reshape(-1, 1, 1) * 10)),
        "n": NamedArray(array(chance), 1),
        "x": NamedArray(array([[[points]]]), 1, True),
        "x_star": NamedArray(array([[[[0, 0]]]]), 0, True),
        "late": NamedArray(array([[[[7, 8, 9]]]]), 1, False, (0, 2, 4)),
    }
    sizes = {"clients": 2, "iterations": 3, "local_steps": 2}
    weights = array([[Q(1, 4), Q(3, 4)]]), array([[Q(1, 3), Q(2, 3)]])
    return Environment(backend, sizes, bound, *weights, federation=federation, definitions=DEFINITIONS)


all_k = (k, 0, clients - 1)
late = sp.IndexedBase("late")
#: expression -> value, worked out by hand
VALUES = {
    sp.Rational(2, 3): Q(2, 3),
    clients + iterations: 5,
    c: 10,
    a[1] * a[0]: Q(-3, 2),
    c - a[0] / 3: 10 - Q(1, 6),
    c**-2: Q(1, 100),
    a[1] ** iterations: -27,
    (a[1] ** 2) ** sp.Rational(1, 2): 3,
    sp.sqrt(norm2(x[0])) ** -1: Q(1, 5),
    sp.Abs(a[1]): 3,
    Max(a[0], a[1], -5): Q(1, 2),
    Min(a[0], a[1], 2): -3,
    a[Max(0, clients - 1)]: -3,
    a[sp.Mod(iterations, 2)]: -3,
    a[Min(iterations, 1)]: -3,
    a[2 * clients - iterations]: -3,
    late[4] - late[2]: 1,
    # words for vectors
    norm2(x[0]): 25,
    norm(x[0]): 5,
    norm2(x[0] - 2 * x[1]): 9 + 4,
    dot(x[0], x[2]): 7,
    dot(x[1], x[3]): 0,
    norm2(c * x[2] - x_star): 200,
    F(0, x[0]): Q(9 + 32, 2) + 1,
    F(1, x[0]): Q(4 + 16, 2),
    F(clients - 1, x_star): Q(1, 2),
    norm2(grad(0, x[0])): 9 + 64,
    dot(grad(1, x[0]), x[1]): 4,
    objective(x[0]): Q(9 + 32, 2) + 1,
    norm2(objective_grad(x[2])): 1 + 4,
    # sums and products
    Sum(a[k], all_k): Q(-5, 2),
    Product(a[k], all_k): Q(-3, 2),
    Sum(a[k] * t, (t, 1, 3), all_k): Q(-5, 2) * 6,
    Sum(norm2(x[t]), (t, 0, iterations)): 25 + 1 + 2 + 4,
    norm2(Sum(x[t], (t, 0, iterations))): 36 + 36,
    Sum(F(k, x[t]), all_k, (t, 1, 2)): (2 + 1) + (Q(3, 2) + 1) + Q(1, 2),
    Sum(1, (i, 5, 4)): 0,
    Product(a[k] + 7, (k, 2, 1)): 1,
    Sum(late[i], (i, 9, 8)): 0,
    norm2(x[0] + 2 * Sum(x[i], (i, 2, 1))): 25,
    norm2(Sum(x[i], (i, 2, 1))) + dot(x[0], Sum(x[i], (i, 2, 1))): 0,
    Sum(sp.Sum(t, (t, 0, i)), (i, 0, 3)): 0 + 1 + 3 + 6,
    Sum(Sum(t * a[k], (t, k, 2)), all_k): Q(1, 2) * 3 - 3 * 3,
    Sum(Product(t + 1, (t, 0, i - 1)), (i, 0, 3)): 1 + 1 + 2 + 6,
    Sum(a[tau(t)], (t, 0, local_steps - 1)): 1,
    1 / (c - 9): 1,
    (2 * c - 19) ** sp.Rational(-1, 2): 1,
    (9 - c) ** -3: -1,
    Sum(tau(t), (t, 0, 5)): 0 + 0 + 2 + 2 + 4 + 4,
    Sum(sp.Mod(t, local_steps), (t, 0, 4)): 2,
    Sum(2**t, (t, 0, 3)): 15,
    Sum((-1) ** t * t, (t, 0, 4)): 2,
    # definitions
    s: Q(-5, 2) + 10,
    double[2]: 12,
    Sum(double[k], all_k): 2 + 6,
    Sum(tri[t] * a[k], all_k, (t, 0, 2)): Q(-5, 2) * 4,
    gap_at[1, 3]: Q(1, 2) - 10,
    Sum(gap_at[k, k + 1], all_k): (2 - 10) + (Q(1, 2) - 10),
    # chance: n[0] is 1, 3 | 5, 7 and n[1] is 2, 4 | 6, 8 for noise | and sampling ,
    E(n[0]): Q(1, 4) * (Q(1, 3) + 2) + Q(3, 4) * (Q(5, 3) + Q(14, 3)),
    E(n[0]) ** 2 - E(n[0] ** 2): Q(16, 3) ** 2 - (Q(1, 4) * (Q(1, 3) + 6) + Q(3, 4) * Q(25 + 98, 3)),
    E(Sum(n[t], (t, 0, 1))): 2 * Q(16, 3) + 1,
    E(c): 10,
    E(norm2(n[0] * x[2])): 2 * (Q(1, 4) * (Q(1, 3) + 6) + Q(3, 4) * Q(123, 3)),
    norm2(E(n[0] * x[2])): 2 * Q(16, 3) ** 2,
    E(E(n[0], sampling)): Q(16, 3),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("expression", VALUES, ids=str)
def test_words(expression, backend):
    value = to_numpy(evaluate(expression, environment(BACKENDS[backend])))
    assert value.shape == (1, 1, 1)
    if backend == "exact":
        assert value.item() == VALUES[expression] and isinstance(value.item(), Q)
    else:
        assert value.item() == pytest.approx(float(VALUES[expression]), rel=1e-14)


@pytest.mark.parametrize("backend", BACKENDS)
def test_expectations_over_sampling_keep_the_noise(backend):
    env = environment(BACKENDS[backend])
    value = to_numpy(evaluate(E(n[0], sampling), env)).astype(float)
    assert value.shape == (1, 2, 1)
    assert value.ravel() == pytest.approx([1 / 3 + 2, 5 / 3 + 14 / 3])
    assert to_numpy(evaluate(n[1], env)).astype(float).tolist() == [[[2, 4], [6, 8]]]


@pytest.mark.parametrize("backend", BACKENDS)
def test_expectations_over_noise_keep_the_sampling(backend):
    env = environment(BACKENDS[backend])
    value = to_numpy(evaluate(E_noise(n[0]), env)).astype(float)
    assert value.shape == (1, 1, 2)
    assert value.ravel() == pytest.approx([1 / 4 + 15 / 4, 3 / 4 + 21 / 4])
    assert to_numpy(evaluate(E(E_noise(n[0]), sampling) - E(n[0]), env)).astype(float).ravel() == pytest.approx([0])


@pytest.mark.parametrize("backend", BACKENDS)
def test_instances_are_apart(backend):
    value = to_numpy(evaluate(c * Sum(a[k], all_k), environment(BACKENDS[backend], instances=3))).astype(float)
    assert value.ravel().tolist() == [-25, -50, -75]


#: expression -> (error, words in it)
ERRORS = {
    nothing: (UnboundName, "nothing supplies 'nothing'"),
    sp.IndexedBase("nothing")[0]: (UnboundName, "nothing supplies 'nothing'"),
    sp.Symbol("loop"): (UnboundName, "nothing supplies 'nothing'"),
    a[2]: (IndexError, r"index 0 .*a .*0\.\.1; got 2"),
    a[-1]: (IndexError, r"got -1"),
    x[iterations + 1]: (IndexError, r"index 0 .*x .*0\.\.3; got 4"),
    Sum(a[k], (k, 0, clients)): (IndexError, r"got 0..2"),
    late[1]: (UnboundName, r"late\[1\] .*recorded: 3 .* 4"),
    late[6]: (UnboundName, r"late\[6\] .*recorded: 3 .* 4"),
    a[0, 1]: (TypeError, "a takes 1 indices; got 2"),
    tri[0, 0]: (TypeError, "tri takes 1 indices; got 2"),
    a[c]: (UnboundName, "^c .*index"),
    x[0] + 1: (TypeError, "add .*vector .*number"),
    x[0] * x[1]: (TypeError, "multiply .*vectors.*dot"),
    x[0] ** 2: (TypeError, "vector .*power.*norm2"),
    norm2(c): (TypeError, "vector, got .*number c"),
    dot(c, x[0]): (TypeError, "vector, got .*number c"),
    E(c, sp.Symbol("weather")): (UnboundName, "chance weather; allowed: sampling"),
    sp.sin(c): (UnboundName, r"sin\(c\)"),
}


@pytest.mark.parametrize("backend", ["exact", "torch"])
@pytest.mark.parametrize("expression", ERRORS, ids=str)
def test_errors(expression, backend):
    error, words = ERRORS[expression]
    with pytest.raises(error, match=words):
        evaluate(expression, environment(BACKENDS[backend]))


def test_losses_need_a_federation():
    env = environment(EXACT)
    env.federation = None
    with pytest.raises(UnboundName, match=r"losses.*federation"):
        evaluate(F(0, x[0]), env)


@pytest.mark.parametrize("root", [sp.sqrt(c), norm(x[2]), sp.sqrt(a[1])])
def test_irrational_roots_are_never_rounded(root):
    with pytest.raises(ArithmeticError, match=r"degree 2 .*rational"):
        evaluate(root, environment(EXACT))


@pytest.mark.parametrize("base, exponent, power", [
    (Q(8, 27), Q(-2, 3), Q(9, 4)), (Q(1), Q(10**30, 10**12 + 1), Q(1)), (Q(0), Q(1, 10**12), Q(0)),
    (Q(2), Q(1, 10**12), "10{12} .*rational"), (Q(3, 2), Q(10**12 + 1, 10**12), "10{12} .*rational"),
    (Q(3), Q(10**12), "binary digits"), (Q(1, 3), Q(10**12), "binary digits"),
])
def test_rational_powers_with_many_digits_are_exact_or_refused(base, exponent, power):
    arrays = (np.array([value], dtype=object) for value in (base, exponent))
    if isinstance(power, str):
        with pytest.raises(Irrational, match=power):
            real_power(*arrays)
    else:
        assert real_power(*arrays).tolist() == [power]


def test_a_whole_power_of_very_many_digits_is_left_to_balls():
    """n is a size of the instance: a fraction of 50 digits to the power 10^6 takes seconds, and nobody reads it."""
    from bounds.language.operators import rounds

    def powers(n):
        env = Environment(EXACT, {"rounds": n}, {"a": NamedArray(np.full((1, 1, 1, 1), Q(10**25 + 1, 10**25)), 1)})
        return evaluate(a[0] ** rounds, env)

    assert powers(3)[0, 0, 0] == Q(10**25 + 1, 10**25) ** 3
    with pytest.raises(Irrational, match="binary digits"):
        powers(10**6)


def test_rational_powers_of_exact_balls_are_exact():
    power = np.array([Q(2, 3)], dtype=object)
    assert real_power(np.array([Ball(8)], dtype=object), power)[0].ends == (4, 4)
    low, high = real_power(np.array([Ball(2)], dtype=object), power)[0].ends
    assert low < high and low**3 <= 4 <= high**3
    claimed = Environment(BALLS, {}, {"a": NamedArray(np.full((1, 1, 1, 1), Ball(8)), 1)})
    assert evaluate(a[0] ** sp.Rational(2, 3), claimed)[0, 0, 0].ends == (4, 4)


# conditions --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("backend", BACKENDS)
def test_both_sides_for_all_indices_of_a_ragged_range(backend):
    """k = 0, 1 and t = k .. 2: five pairs, one hole."""
    condition = Condition(a[k] + t, "<=", 2 * a[k], (all_k, (t, k, 2)))
    left, right, mask = (to_numpy(v) for v in sides(condition, environment(BACKENDS[backend])))
    left, right = (np.broadcast_to(v, (1, 1, 1, 2, 3))[0, 0, 0].astype(float) for v in (left, right))
    mask = np.broadcast_to(mask, (2, 3))
    assert mask.tolist() == [[True, True, True], [False, True, True]]
    assert left[mask].tolist() == [0.5, 1.5, 2.5, -2, -1]
    assert right[mask].tolist() == [1, 1, 1, -6, -6]


def test_a_ragged_sum_may_reach_beyond_what_is_recorded_only_where_it_is_not_counted():
    inner = Sum(x_norm(t + k), (t, 0, iterations - k))
    value = evaluate(Sum(inner, all_k), environment(EXACT))
    assert value.item() == (25 + 1 + 2 + 4) + (1 + 2 + 4)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_power_of_zero_that_no_ragged_sum_counts_changes_nothing(backend):
    """For j = 0, 1, 2 the sum over i <= j of 0^(j - i) (i + 1) is j + 1; beyond i = j it would be 1/0."""
    kept = Definition("kept", (j,), Sum((c - 10) ** (j - i) * (i + 1), (i, 0, j)), "e", "1", "a sum with weights")
    env = environment(BACKENDS[backend])
    env.definitions = env.definitions | {"kept": kept}
    direct, defined = (Sum(body, (j, 0, 2)) for body in (kept.formula, sp.IndexedBase("kept")[j]))
    assert (evaluate(direct, env).item(), evaluate(defined, env).item()) == (6, 6)


def test_a_negative_power_that_a_sum_counts_is_taken():
    """2^0 + (2^1 + 2^-1) + (2^2 + 2^0 + 2^-2), over i = 0 .. j."""
    assert evaluate(Sum((c / 5) ** (j - 2 * i), (i, 0, j), (j, 0, 2)), environment(EXACT)).item() == Q(35, 4)


def x_norm(time):
    return norm2(x[time])


def test_a_condition_compares_numbers():
    with pytest.raises(TypeError, match=r"condition .*numbers; got .*vector"):
        sides(Condition(x[0], "<=", 1), environment(EXACT))


@pytest.mark.parametrize("backend", ["numpy", "torch"])
@pytest.mark.parametrize("expression", VALUES, ids=str)
def test_sizes_are_at_least_the_values(expression, backend):
    """Sizes bound what rounding is measured against; vectors that cancel may keep less (1e-4 of their terms)."""
    condition = Condition(expression, "<=", -expression)
    env = environment(BACKENDS[backend])
    values, sizes = sides(condition, env), sizes_of_sides(condition, env)
    for value, size in not_empty(zip(values[:2], sizes[:2], strict=True)):
        assert (abs(to_numpy(value)) <= to_numpy(size) * (1 + 1e-12)).all()


@pytest.mark.parametrize("backend", ["numpy", "torch"])
@pytest.mark.parametrize("gradient, size", [
    (grad(1, x[2] - x[1]), 2**0.5 * 1e-4), (objective_grad(x[1] - x[2]), 1 + 3e-4),
    (Sum(norm(grad(k, x[2] - x[1])), all_k), 1 + (3 + 2**0.5) * 1e-4)])
def test_what_cancels_in_a_gradient_is_as_large_as_smoothness_times_the_point(gradient, size, backend):
    """x_2 - x_1 = (1, 0) is the optimum of client 1, where its gradient 1 - 1 may be any rounding error; L is 3 and 1."""
    env = environment(BACKENDS[backend])
    env.bound["L_client"] = NamedArray(env.backend.array(np.array([[[[3, 1]]]])), 1)
    left = gradient if gradient.is_Add or isinstance(gradient, sp.Sum) else norm(gradient)
    found, _, _ = sizes_of_sides(Condition(left, "<=", 0), env)
    assert found.item() == pytest.approx(size, rel=1e-6)


def test_sizes_see_what_cancels():
    condition = Condition(c - c * (1 + a[0] / 2**40), "<=", norm2(10**6 * x[0] - 10**6 * E(x[0]) + x[1]))
    left, right, _ = sizes_of_sides(condition, environment(NUMPY))
    assert left.item() >= 20 and right.item() >= (1e-4 * 8e6) ** 2


def test_gradients_of_clients_with_samples_are_the_same_in_blocks(monkeypatch):
    federation, rng = make_problem("digits"), np.random.default_rng(0)
    points = federation.backend.array(rng.standard_normal((2, 5, federation.dim)))
    numbers = federation.backend.integers(rng.integers(0, federation.clients, (2, 5)))
    seen = []

    def gradients(f, x, clients):
        seen.append(clients.shape[1])
        return f.gradient(x, clients)

    whole = evaluate_module._in_blocks(gradients, federation, points, numbers)
    monkeypatch.setattr(evaluate_module, "_MOST_TAKEN", 2 * 2 * prod(federation.features.shape[2:]))
    parts = evaluate_module._in_blocks(gradients, federation, points, numbers)
    assert seen == [5, 2, 2, 1]
    np.testing.assert_allclose(np.asarray(parts), np.asarray(whole), rtol=1e-12)

