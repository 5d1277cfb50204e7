"""Worst cases of methods: known constants, the class's conditions, the worst functions run, and what has no answer."""

import json
from fractions import Fraction as Q
from math import inf

import numpy as np
import pytest

import fedtheory as ft
from fedtheory import Tabulated
from synthetic import NUMPY, TORCH, make_quadratic
from tests.not_empty import not_empty
from verify.checker.quadratic_forms import QuadraticForm, SymbolicVector, between
from verify.cli.main import main
from verify.results.drawing import MEASUREMENT
from verify.worst import blocks
from verify.worst.blocks import Block, flatten, interpolation_products
from verify.worst.function import Polyhedral, measured, models_on, worst_function
from verify.worst.function_figure import function_figure
from verify.worst.method_worst_case import worst
from verify.worst.published_step_sizes import published_step_sizes
from verify.worst.tuning import over_rounds, rounds_figure, tuned

HALF, QUARTER = {"eta_l": 0.5, "local_steps": 2}, {"eta_l": 0.25, "local_steps": 4}
SETTLED = QUARTER | {"option": "I", "start": "gradient"}

#: method, rounds, clients, arguments, ratio: L = 1, mu = 1/10, zeta = 1; computed by hand-written programs of each method
FEDERATED = [
    ("fedavg", 1, 2, HALF, 0.868043), ("fedavg", 2, 2, HALF, 0.760080), ("fedavg", 2, 3, HALF, 0.760080),
    ("fedavg", 2, 1000, HALF, 0.760080), ("fedavg", 3, 2, {"eta_l": 0.2, "local_steps": 5}, 0.731841),
    ("scaffold", 2, 2, SETTLED, 0.666920), ("scaffold", 2, 2, SETTLED | {"zeta": None}, 0.666920),
    ("scaffold", 2, 2, QUARTER | {"zeta": 0}, 0.666920), ("fedavg", 2, 2, HALF | {"exact": True}, 0.760080),
]


@pytest.mark.parametrize("method, rounds, clients, arguments, ratio", FEDERATED)
def test_known_worst_cases_of_federated_methods(method, rounds, clients, arguments, ratio):
    found = worst(method, rounds, clients, **arguments)
    assert found.ratio == pytest.approx(ratio, abs=6e-7) and found.tight


def test_any_number_of_clients_has_the_same_program():
    two, many = (worst("scaffold", 2, clients, **QUARTER) for clients in (2, 1000))
    assert two.ratio == many.ratio and two.letters == many.letters == 10


#: gradient descent with N steps of h/L at L = 1, mu = 1/10: class, measure, given, and the tight factor
CONVEX, SMOOTH = "smooth-convex", "smooth"
DESCENT = {
    # Taylor, Hendrickx, Glineur 2018, Theorem 3.3 and its relatives in value and gradient
    **{(None, measure, measure): (lambda h, n: max((1 - h / 10) ** 2, (1 - h) ** 2) ** n)
       for measure in ("distance", "value", "gradient")},
    # Drori, Teboulle 2014, Conjecture 3.1 and its proof for h <= 1; Taylor, Hendrickx, Glineur 2017, Conjecture 3
    (CONVEX, "value", "distance"): lambda h, n: max(1 / (2 * n * h + 1), (1 - h) ** (2 * n)) / 2,
    (CONVEX, "gradient", "distance"): lambda h, n: max(1 / (n * h + 1), abs(1 - h) ** n) ** 2,
    # Abbaszadehpeivasti, de Klerk, Zamani 2021, for steps of 1/L
    (SMOOTH, "least-gradient", "value"): lambda h, n: 4 / (3 * n + 2) if h == 1 else None,
}


@pytest.mark.parametrize("h", [0.5, 1.0, 1.5, 1.9])
@pytest.mark.parametrize("row", DESCENT, ids=str)
def test_the_published_constants_of_gradient_descent(row, h):
    functions, measure, given = row
    for n in (1, 3):
        if DESCENT[row](h, n) is not None:
            question = {"functions": functions} if functions else {}
            found = worst("fedavg", n, 1, measure=measure, given=given, eta_l=h, **question)
            assert found.ratio == pytest.approx(DESCENT[row](h, n), rel=1e-7) and found.tight


@pytest.mark.parametrize("L, m", [(Q(1), Q(0)), (Q(2), Q(1, 3)), (Q(1), Q(-1)), (None, Q(0)), (None, Q(1))])
def test_conditions_are_those_of_the_checker(L, m):
    rng = np.random.default_rng(0)
    x, g = rng.integers(-3, 4, (2, 4, 3))
    one, other = (index.ravel() for index in np.indices((4, 4)))
    rows = interpolation_products(
        Block(x.astype(float), g.astype(float)), one, other, inf if L is None else float(L), float(m))
    gram = rng.integers(-3, 4, (3, 3))
    for row, i, j in not_empty(zip(rows, one, other, strict=True)):
        points = [(SymbolicVector(dict(enumerate(map(Q, x[k].tolist())))),
                   SymbolicVector(dict(enumerate(map(Q, g[k].tolist())))), QuadraticForm({}))
                  for k in (i, j)]
        terms = between(*points, L, m).terms
        assert row @ flatten((gram + gram.T) / 2) == pytest.approx(
            float(sum(c * Q(int(gram[a, b] + gram[b, a]), 2) for (a, b), c in terms.items())))


EXACT = {"solver": "exact", "rho_prox": 1.0}
#: methods whose worst functions are run
METHODS = [
    ("fedavg", 2, HALF), ("fedavg", 5, HALF), ("fedavg", 1, HALF), ("scaffold", 2, SETTLED), ("scaffold", 4, HALF),
    ("fedprox", 2, HALF), ("fedavgm", 2, HALF), ("fedacg", 2, HALF), ("fedcm", 2, HALF), ("fednova", 2, HALF),
    ("fedpd", 2, {"solver": "exact", "rho_prox": 1.0}), ("afedpd", 3, {"solver": "exact", "rho_prox": 1.0}),
    ("feddyn", 2, HALF), ("fedspeed", 2, HALF), ("fedswa", 2, HALF), ("fedmoswa", 2, HALF),
    ("fedavg", 2, HALF | {"functions": CONVEX, "measure": "value"}),
    ("fedavg", 3, HALF | {"functions": CONVEX, "measure": "least-gradient", "given": "value"}),
    ("fedpd", 3, EXACT | {"functions": "convex"}), ("fedpd", 1, EXACT | {"functions": "convex"}),
    ("fedavg", 1, {"eta_l": 0.5, "functions": "convex-lipschitz", "measure": "least-value", "L": 2.0}),
    ("fedavg", 1, {"eta_l": 0.2, "functions": "convex-quadratic-bound", "measure": "value", "L": 2.0}),
    ("fedavg", 1, {"eta_l": 0.3, "functions": SMOOTH, "L": 2.0}),
]


@pytest.mark.parametrize("backend", [NUMPY, TORCH], ids=lambda backend: backend.library)
@pytest.mark.parametrize("method, clients, arguments", METHODS)
def test_the_worst_functions_are_as_bad_as_the_program_says(method, clients, arguments, backend):
    function = worst_function(worst(method, 2, clients, **arguments))
    run = measured(function, backend)
    assert run["ratio"] == pytest.approx(function.ratio, rel=5e-8)
    assert function.worst.ratio == pytest.approx(function.ratio, abs=1e-6)
    assert run["given"] <= 1 + 1e-8 and run["zeta_sq"] <= 1 + 1e-6 and function.error < 1e-5
    assert function.federation.clients == clients and max(function.rank) <= 3


def test_the_largest_of_affine_functions():
    """Subgradients are below the function, and no nearby point is better for a local problem than its solution."""
    rng = np.random.default_rng(0)
    places, gradients, values = rng.normal(size=(2, 4, 3)), rng.normal(size=(2, 4, 3)), rng.normal(size=(2, 4))
    federation = Polyhedral(places, gradients, values)
    x, linear, other = rng.normal(size=(3, 50, 2, 3))
    assert (federation.value(other) >= federation.value(x) + (federation.gradient(x) * (other - x)).sum(-1) - 1e-6).all()
    v = federation.prox(linear, 0.3, x)
    for near in (other, v + 1e-3 * other):
        problem = [federation.value(y) + (linear * y).sum(-1) + 0.15 * ((y - x) ** 2).sum(-1) for y in (v, near)]
        assert (problem[0] <= problem[1] + 1e-12).all()


@pytest.mark.parametrize("method, arguments", [("fedavg", HALF), ("scaffold", QUARTER), ("fedprox", QUARTER)])
def test_no_run_exceeds_the_worst_case(method, arguments):
    """Quadratics with curvatures in [mu, L], scaled so that what is given is at most 1."""
    bound = worst(method, 2, 3, **arguments).ratio
    for seed in range(20):
        federation = make_quadratic(3, 4, mu=0.1, L=1.0, seed=seed, backend=NUMPY)
        star = federation.x_star
        own = federation.gradient(federation.all_clients(star))
        zeta = float((own**2).sum(-1).mean() ** 0.5)
        away = np.random.default_rng(seed).normal(size=star.shape)
        start = star + away / np.linalg.norm(away) * zeta  # in units of zeta
        states = ft.run(ft.make_algorithm(method, **arguments), federation, 2, start=start).dataset.x.values[0]
        assert ((states[-1] - star) ** 2).sum() <= bound * zeta**2 * (1 + 1e-9)


def test_more_freedom_is_never_better():
    """The ratio grows with L/mu, zeta, and free variates, and upper bounds are above what they bound."""
    first = worst("scaffold", 2, **HALF).ratio
    for freer in ({"mu": 0.05}, {"zeta": 2.0}, {"functions": CONVEX}, {"variates": 2.0}):
        assert worst("scaffold", 2, **HALF | freer).ratio > first + 1e-6
    settled = worst("scaffold", 2, **SETTLED | {"start": "zero"}, variates=0.0, zeta=None).ratio
    assert settled <= worst("scaffold", 2, **SETTLED | {"start": "zero"}, variates=0.1, zeta=None).ratio
    assert not worst("fedavg", 2, functions=SMOOTH, **HALF).tight


@pytest.mark.parametrize("question", [
    {"functions": CONVEX, "given": "value"}, {"local_steps": 2, "zeta": None},
])
def test_what_has_no_largest_ratio_is_infinite(question):
    assert worst("fedavg", 2, eta_l=0.5, **question).ratio == inf


@pytest.mark.parametrize("method, question, told", [
    ("fedsam", {}, "FedSAM"), ("fedavg", {"participants": 1}, "samples"), ("fedavg", {"measure": "loss"}, "loss"),
    ("fedavg", {"functions": "concave"}, "smooth-convex"),
    ("fedavg", {"functions": SMOOTH, "given": "distance"}, "distance"),
    ("fedavg", {"functions": CONVEX, "mu": 0.1}, "mu"), ("fedavg", {"mu": 1.0}, "mu"), ("fedavg", {"clients": 0}, "clients"),
    ("fedavg", {"zeta": -1}, "zeta"), ("fedavg", {"variates": 1}, "FedAvg"), ("fedavg", {"rho_prox": 1}, "rho_prox"),
    ("fedavg", {"given": "least-gradient"}, "given"),
    ("fedavg", {"functions": CONVEX, "measure": "value", "given": "gradient", "local_steps": 2}, "infinite"),
    ("fedavg", {"functions": "convex", "L": 2}, "L; got 2"), ("fedavg", {"functions": "convex-lipschitz"}, "2 clients"),
    ("fedavg", {"functions": "convex-quadratic-bound"}, "2 clients"), ("fedavg", {"functions": "convex", "mu": 1}, "mu"),
    (ft.fedavg(), {"eta_l": 0.5}, "eta_l"), (ft.scaffold(), {"variates": 1}, "SCAFFOLD"),
])
def test_what_has_no_answer_says_why(method, question, told):
    with pytest.raises((TypeError, ValueError), match=told):
        worst(method, 2, **question)


def test_a_solver_that_is_missing_is_named(monkeypatch):
    def missing():
        raise ImportError("clarabel")

    monkeypatch.setattr(blocks, "solver", missing)
    with pytest.raises(ImportError, match="clarabel"):
        worst("fedavg")


def test_the_best_step_of_gradient_descent_is_found():
    found = tuned("fedavg", clients=1, rounds=2, mu=0.1)
    assert found.value == pytest.approx(2 / 1.1, rel=1e-3) and found.worst.ratio == pytest.approx((0.9 / 1.1) ** 4, rel=1e-3)
    assert min(found.seen.values()) == found.worst.ratio
    with pytest.raises(ValueError, match="rho_prox"):
        tuned("fedprox", "rho_prox")
    with pytest.raises(ValueError, match="eta_l"):
        tuned("fedprox", eta_l=0.1)


def test_steps_that_theorems_allow_are_shown_beside():
    found = {claim: one for one in published_step_sizes("fedavg", rounds=2, local_steps=4) for claim in one.claims}
    schedule = [2 / (0.1 * (80 + t)) for t in range(8)]
    assert found["li2020/theorem-1"].steps == pytest.approx(schedule)
    assert found["classical/fedavg-round"].steps == (0.25,) * 8
    at_once = [worst("fedavg", rounds=2, local_steps=4, eta_l=eta).ratio for eta in (Tabulated(schedule), 0.25)]
    assert [found["li2020/theorem-1"].ratio, found["classical/fedavg-round"].ratio] == pytest.approx(at_once)
    ratios = [one.ratio for one in published_step_sizes("fedavg", rounds=2, local_steps=4)]
    assert ratios == sorted(ratios) and all(named.startswith(("classical/", "li2020/", "fedalign/")) for named in found)


def test_steps_that_theorems_allow_have_the_unit_of_one_over_L():
    one, two = (published_step_sizes("scaffold", L=L, zeta=L, local_steps=2) for L in (1, 2))
    assert one and [found.claims for found in one] == [found.claims for found in two]
    for here, there in zip(one, two, strict=True):
        assert here.steps == pytest.approx([2 * step for step in there.steps]) and here.ratio == pytest.approx(there.ratio)


def test_ratios_over_rounds_fall_and_are_drawn():
    found = [*over_rounds("fedavg", 3, clients=1, eta_l=1.0)]
    assert [one.ratio for one in found] == pytest.approx([0.81**n for n in (1, 2, 3)])
    assert [*rounds_figure(found).axes[0].lines[0].get_ydata()] == [one.ratio for one in found]


def test_the_facade_and_the_command_agree(capsys, tmp_path):
    assert ft.worst("fedavg", rounds=2, **HALF).ratio == worst(ft.fedavg(0.5, 2), 2).ratio
    picture = tmp_path / "rounds.png"
    assert main(["worst", "fedavg", "rounds=2", "eta_l=1/2", "local_steps=2", "--json", "--plot", str(picture)]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["worst ratio"] == pytest.approx(0.760080, abs=6e-7) and said["basis vectors"] == 6 and picture.stat().st_size
    assert said["over rounds"] == pytest.approx([0.868043, 0.760080], abs=2e-6)
    assert main(["worst", "fedavg", "clients=1", "--tune", "eta_l=1:1.9", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["settings"]["eta_l"] == pytest.approx(2 / 1.1, rel=1e-2)
    assert main(["worst", "feddyn", "solver=exact", "rho_prox=1"]) == 0
    assert main(["worst", "fedavg", "zeta=null", "local_steps=2"]) == 1


@pytest.mark.parametrize("clients, rounds, dim", [(1, 3, 1), (2, 3, 2), (3, 1, 3)])
def test_the_worst_functions_are_drawn_and_run(clients, rounds, dim, tmp_path, capsys):
    """The models of the figure are those of the run, and the command measures what the program says."""
    function = worst_function(worst("fedavg", rounds, clients, **HALF))
    assert function.federation.dim == dim
    line = next(line for line in function_figure(function).axes[0].lines if line.get_color() == MEASUREMENT)
    along = np.array(line.get_xdata())
    models = np.array([np.ravel(model) for model in models_on(function)])
    assert len(along) == rounds + 1 and (np.abs(along) <= np.linalg.norm(models, axis=1) + 1e-9).all()
    assert dim > 2 or along == pytest.approx(models[:, 0])
    file = tmp_path / "worst.svg"
    given = [f"clients={clients}", f"rounds={rounds}", "eta_l=1/2", "local_steps=2"]
    assert main(["worst", "fedavg", *given, "--function", str(file), "--json"]) == 0 and file.stat().st_size
    said = json.loads(capsys.readouterr().out)
    assert said["measured on the worst functions"] == pytest.approx(function.ratio, rel=5e-8)


@pytest.mark.parametrize("words", [
    ["fedavg", "--out", "proof.json"], ["classical/gd-convex", "--measure", "value"], ["fedavg", "low=3"], ["fedsam"],
    ["fedavg", "--plot", "x.doc"], ["fedavg", "eta_l=0.1", "--tune", "eta_l"], ["fedavg", "--function", "x.doc"],
    ["classical/gd-convex", "--function", "x.svg"],
])
def test_bad_input_is_refused(words):
    assert main(["worst", *words]) == 2
