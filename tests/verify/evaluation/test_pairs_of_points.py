"""Least values over all pairs of points: of quadratic functions, of losses with pieces, and by the checker's own way."""

import itertools
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from bounds.language.space import infimum
from bounds.printing.claim_file import as_toml
from bounds.registry.collection import Collection, WrongClaims
from bounds.registry.user_claims import load_claims
from synthetic.numbers.arrays import EXACT, NUMPY
from verify.checker.infimum import least_of_two
from verify.checker.instance import Instance
from verify.claims.method import faults_of_method
from verify.evaluation.evaluate import sides
from verify.evaluation.pointwise_bounds import least_on_rectangles
from verify.exact.certificate import certificate
from verify.instances.draw import draw_params
from verify.instances.parameters import map_params
from verify.instances.piecewise import PiecewiseClients
from verify.instances.quadratic import QUADRATIC
from verify.instances.shape import Shape
from verify.measure.simulate import simulate
from verify.referee.decide import Settings, decide

PIECES = ((None, Fraction(0)), (Fraction(0), Fraction(1)), (Fraction(1), None))
INFINITE = float("inf")


def three(low, high):
    start = high - 2 if low is None else low
    step = Fraction(1) if None in (low, high) else (high - low) / 2
    return [start + step * times for times in range(3)]


def quadratic(rng, kind: int):
    """A function of two numbers; of kind 0 one of their difference and linear terms, of kind 1 with squares from 0 on."""
    c, a, b, p, q, r = (Fraction(int(number), 2) for number in rng.integers(-3, 4, 6))
    if kind == 0:
        p = r = Fraction(int(rng.integers(1, 4)))
        q = -2 * p
    elif kind == 1:
        p, r = abs(p), abs(r)
    return (c, a, b, p, q, r), lambda x, y: c + a * x + b * y + p * x * x + q * x * y + r * y * y


def least_on_the_plane(c, a, b, p, q, r):
    determinant = 4 * p * r - q * q
    if p < 0 or r < 0 or determinant < 0:
        return -INFINITE
    if determinant > 0:
        x, y = (q * b - 2 * r * a) / determinant, (q * a - 2 * p * b) / determinant
        return c + (a * x + b * y) / 2
    level = a * -q + b * 2 * p if p > 0 else a * 2 * r + b * -q
    if level != 0 or (p == r == 0 and (a, b) != (0, 0)):
        return -INFINITE
    return c - (a * a / (4 * p) if p > 0 else b * b / (4 * r) if r > 0 else 0)


def tables(functions):
    """Values of the function of each rectangle on its nine points, and the least values that the checker finds."""
    values, found = np.empty((3, 3, 3, 3), dtype=object), []
    for (i, one), (j, other) in itertools.product(enumerate(PIECES), repeat=2):
        function = functions[i, j]
        for (m, x), (n, y) in itertools.product(enumerate(three(*one)), enumerate(three(*other))):
            values[i, m, j, n] = function(x, y)
        try:
            found.append(least_of_two(function, one, other))
        except ValueError:
            found.append(-INFINITE)
    return values, min(found)


@pytest.mark.parametrize("seed", range(40))
def test_least_values_of_quadratic_functions_are_those_on_the_plane(seed):
    rng = np.random.default_rng(seed)
    numbers, function = quadratic(rng, seed % 3)
    values, found = tables(dict.fromkeys(itertools.product(range(3), repeat=2), function))
    expected = least_on_the_plane(*numbers)
    assert found == least_on_rectangles(values) == expected
    assert np.isclose(float(least_on_rectangles(values.astype(float))), float(expected), atol=1e-7)


@pytest.mark.parametrize("seed", range(40))
def test_search_and_checker_agree_on_any_rectangles(seed):
    rng = np.random.default_rng(100 + seed)
    kinds = {place: quadratic(rng, int(rng.integers(0, 2)))[1] for place in itertools.product(range(3), repeat=2)}
    values, found = tables(kinds)
    assert least_on_rectangles(values) == found
    assert np.isclose(float(least_on_rectangles(values.astype(float))), float(found), atol=1e-7)


#: formula of u and v -> the same of values and gradients of clients at pairs (clients, pairs[, dim]), and a
FORMULAS = {
    "a*norm2(u - v) - norm2(grad(0, u) - grad(0, v))": lambda F, g, G, H, u, v, a: (
        a * ((u - v) ** 2).sum(-1) - ((g[0] - H[0]) ** 2).sum(-1)),
    "F(0, u) + objective(v) + dot(grad(1, u), v) + a*norm2(u) + 3*norm2(v)": lambda F, g, G, H, u, v, a: (
        F[0] + G.mean(0) + (g[1] * v).sum(-1) + a * (u**2).sum(-1) + 3 * (v**2).sum(-1)),
    "F(1, u) - F(1, v) - dot(grad(1, v), u - v) + norm2(u - v)/2": lambda F, g, G, H, u, v, a: (
        F[1] - G[1] - (H[1] * (u - v)).sum(-1) + ((u - v) ** 2).sum(-1) / 2),
}
CLIENTS = {"quadratic": (QUADRATIC, 1), "pieces": (PiecewiseClients(2), 1), "two coordinates": (PiecewiseClients(1), 2)}
ROWS = 12


def claim_of(formula, folder):
    path = folder / "mine.toml"
    path.write_text(
        '[[claim]]\nid = "mine/one"\nsetting = "point"\nequal_weights = true\nvariables = {a = "positive", b = "real"}\n'
        f'assume = ["{formula} >= b for all u, v"]\nstatement = "b <= -1"\n', encoding="utf-8")
    return load_claims(path, faults_of_method)[0]


@pytest.mark.parametrize("clients, formula", [*itertools.product(["quadratic", "pieces"], FORMULAS)])
def test_least_values_are_those_of_a_grid(clients, formula, tmp_path):
    family, dim = CLIENTS[clients]
    claim, rng = claim_of(formula, tmp_path), np.random.default_rng(7)
    params = draw_params(claim, shape := Shape(clients=2, dim=dim, participants=2, family=family), ROWS, rng)
    environment = simulate(claim, shape, params, NUMPY)
    condition = next(c for c in claim.hypotheses if "b" in map(str, c.right.free_symbols))
    least = np.broadcast_to(sides(condition, environment)[0].ravel(), ROWS)
    axis = np.linspace(-10, 10, 401)
    u, v = (np.broadcast_to(x.reshape(1, -1, 1), (ROWS, axis.size**2, 1)) for x in np.meshgrid(axis, axis))
    numbers = [np.full((ROWS, axis.size**2), k) for k in range(2)]
    F, G = (np.stack([environment.federation.value(x, k) for k in numbers]) for x in (u, v))
    g, H = (np.stack([environment.federation.gradient(x, k) for k in numbers]) for x in (u, v))
    a = np.broadcast_to(environment.bound["a"].data.ravel(), ROWS)[:, None]
    on_grid = FORMULAS[formula](F, g, G, H, u, v, a)
    lowest, edge = on_grid.min(axis=1), np.maximum(abs(u), abs(v))[..., 0] >= 9.9
    assert (least <= lowest + 1e-6).all()
    inside = on_grid.argmin(axis=1)
    at_edge = edge[np.arange(ROWS), inside]
    close = ~at_edge & (least > -INFINITE)
    assert (least[close] >= lowest[close] - 0.2).all() and (close | at_edge | (least == -INFINITE)).all()


def _short(name, array):
    return np.frompyfunc(lambda number: Fraction(float(number)).limit_denominator(4), 1, 1)(array)


@pytest.mark.parametrize("clients, formula", [*itertools.product(CLIENTS, FORMULAS)])
def test_the_checker_finds_the_same_least_values(clients, formula, tmp_path):
    family, dim = CLIENTS[clients]
    claim, rng = claim_of(formula, tmp_path), np.random.default_rng(8)
    shape = Shape(clients=2, dim=dim, participants=2, family=family)
    place = next(n for n, c in enumerate(claim.hypotheses) if "b" in map(str, c.right.free_symbols))
    for _ in range(4):
        params = map_params(draw_params(claim, shape, 1, rng), _short)
        environment = simulate(claim, shape, params, EXACT)
        least = sides(claim.hypotheses[place], environment)[0].item()
        if least > -np.inf:
            data = certificate(claim, environment, 1, 0)
            assert Instance(data).sides(data["hypotheses"][place], {}, None)[0] == least


@pytest.mark.parametrize(("condition", "message"), [
    ("norm2(u - v) <= 1 for all u, w", "written with one 'for all u', 'for all v' or 'for all u, v'"),
    ("norm2(u - v) <= 1 for all v, u", "written with one 'for all u', 'for all v' or 'for all u, v'"),
    ("norm2(u - v) <= 1 for all u for all v", "written with one 'for all u', 'for all v' or 'for all u, v'"),
    ("norm2(u - x_star) <= 1 for all u, v", "v of 'for all u, v' is never used"),
    ("norm2(u - v) < 1 for all u, v", "has the relation <=, >= or, as a hypothesis, =="),
])
def test_what_is_refused(condition, message):
    text = f'[[claim]]\nid = "mine/a"\nassume = ["{condition}"]\nstatement = "F_star <= objective(x_round[0])"\n'
    with pytest.raises(WrongClaims, match=message):
        Collection.read(Path("one.toml"), text)


@pytest.mark.parametrize("formula", ["norm(u - v)", "dot(u, v)*norm2(u)", "F(0, u - v)", "norm2(x_round[0] + F(0, u)*v)"])
def test_formulas_without_a_known_least_value_are_refused(formula, tmp_path):
    with pytest.raises(ValueError, match="the least value over all u, v is not known"):
        claim_of(formula, tmp_path)


DECIDED = """
[assumptions]
similar = [\"\"\"norm2(grad(k, u) - grad(k, v) - objective_grad(u) + objective_grad(v)) <= delta**2*norm2(u - v)
  for all u, v for each k\"\"\"]
quadratic = ["2*(F(k, u) - F(k, v)) == dot(grad(k, u) + grad(k, v), u - v) for all u, v for each k"]
[[claim]]
id = "true/similar-hessians"
assume = ["similar"]
variables = {delta = "positive"}
statement = \"\"\"norm(grad(k, x_round[0]) - grad(k, x_star)) <= norm(objective_grad(x_round[0]))
  + delta*norm(x_round[0] - x_star) for each k\"\"\"
[[claim]]
id = "false/similar-hessians"
extends = "true/similar-hessians"
statement = "norm(grad(k, x_round[0]) - grad(k, x_star)) <= delta*norm(x_round[0] - x_star) for each k"
[[claim]]
id = "true/quadratic-losses"
assume = ["quadratic"]
statement = "objective((x_round[0] + x_star)/2) - F_star <= (objective(x_round[0]) - F_star)/4"
[[claim]]
id = "false/quadratic-losses"
assume = ["quadratic"]
statement = "objective((x_round[0] + x_star)/2) - F_star <= (objective(x_round[0]) - F_star)/5"
[[claim]]
id = "true/gradient-at-the-middle"
assume = ["quadratic"]
statement = "norm2(grad(k, x_round[0]) - 2*grad(k, (x_round[0] + x_star)/2) + grad(k, x_star)) == 0 for each k"
[[claim]]
id = "false/gradient-at-the-middle-of-any-losses"
statement = "norm2(grad(k, x_round[0]) - 2*grad(k, (x_round[0] + x_star)/2) + grad(k, x_star)) == 0 for each k"
[[claim]]
id = "true/two-free-points"
setting = "point"
assume = ["mu_objective >= 0"]
statement = "objective(u) >= objective(v) + dot(objective_grad(v), u - v) for all u, v"
[[claim]]
id = "false/two-free-points"
setting = "point"
assume = ["mu_objective >= 0"]
statement = "objective(u) >= objective(v) + 2*dot(objective_grad(v), u - v) for all u, v"
"""


@pytest.fixture(scope="module")
def decided(tmp_path_factory):
    path = tmp_path_factory.mktemp("claims") / "pairs.toml"
    path.write_text(DECIDED, encoding="utf-8")
    return {one.id: one for one in load_claims(path, faults_of_method)}


@pytest.mark.parametrize("name", [line.split('"')[1] for line in DECIDED.splitlines() if line.startswith("id = ")])
def test_the_referee_decides_claims_with_hypotheses_at_all_pairs(name, decided):
    found = decide(decided[name], Settings(federations=False))
    assert found.verdict in (("consistent", "certified") if name.startswith("true/") else ("refuted",)), found.evidence


def test_a_hypothesis_at_all_pairs_is_written_again(decided):
    claim = decided["true/similar-hessians"]
    assert len(claim.hypotheses[0].right.atoms(infimum)) == 2
    assert "for all u, v" in as_toml(claim)
