"""Claims about any method beside its runs: whose runs they are, with which arguments, and what is drawn of them."""

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import pytest
import sympy as sp
from matplotlib.figure import Figure

import fedtheory
from bounds.controls.fedavg import control
from bounds.language.claim import Condition, Procedure, Variable
from bounds.language.operators import (
    E,
    E_round,
    eta_l,
    iterations,
    local_steps,
    norm2,
    r,
    rounds,
    t,
    x_local,
    x_round,
    x_sampled,
    x_star,
)
from bounds.registry.claims import find_claim
from bounds.registry.user_claims import load_claims
from fedtheory import (
    ALGORITHMS,
    Algorithm,
    InverseTime,
    PriorityOnly,
    fedavg,
    load_trajectory,
    make_algorithm,
    resume,
    run,
    scaffold,
)
from fedtheory.selection import Independent, Selection
from synthetic import from_arrays, make_quadratic, to_numpy
from verify.claims.method import own_arguments
from verify.claims.same_method import arguments_of, other_procedure
from verify.evidence import runs
from verify.evidence.beside_runs import compare

QUIET = {"clients": 4, "dim": 2, "L": 4.0, "mu": 1.0, "seed": 2}


def test_what_happens_inside_of_a_round_is_there():
    """Local models, of which nothing was recorded."""
    federation = make_quadratic(**QUIET)
    moved = control("inside", "run", Condition(norm2(x_local[t, 0] - x_local[0, 0]), "<=", 0, ((t, 0, iterations - 1),)))
    result = compare(moved, run(fedavg(0.125, 3), federation, 2, record=["suboptimality"]))
    x, expected = np.zeros(2), []
    curvature, center, weights = (to_numpy(a)[0] for a in (federation.curvature, federation.center, federation.weights))
    for _ in range(2):
        models = np.tile(x, (4, 1))
        for _ in range(3):
            expected.append((models[0] ** 2).sum())
            models = models - 0.125 * slopes(curvature, models - center)
        x = weights @ models
    assert result.series.x == [*range(6)] and result.series.x_label == "local iteration"
    assert result.series.left == pytest.approx(expected) and result.series.right == [0] * 6
    assert result.verdict == "undecided" and "fedtheory verify control/inside decides" in result.reason


def slopes(curvature, apart):
    return curvature * apart if curvature.ndim == 2 else np.einsum("kde,ke->kd", curvature, apart)


def test_a_theorem_of_scaffold_beside_scaffold():
    """A step size that is too large, or another server step, is no reason not to draw."""
    federation, claim = make_quadratic(**QUIET), find_claim("classical/scaffold-convex")
    small = run(scaffold(0.001, 4), federation, 10, seeds=16)
    result = compare(claim, small)
    assert result.verdict == "consistent" and result.series.x[-1] == 10 and result.runs == "SCAFFOLD"
    large = compare(claim, run(scaffold(0.5, 4), federation, 10, seeds=16))
    assert large.verdict == "not applicable" and large.series is not None and "needs" in large.series.note
    twice = compare(claim, run(scaffold(0.001, 4, eta_g=2.0), federation, 10))
    assert twice.reason == "the claim is about SCAFFOLD with eta_g = 1; the runs are SCAFFOLD's"


@pytest.mark.parametrize("other", ["fedprox", "scaffold", "fedadam"])
def test_runs_of_another_method_are_drawn_and_decide_nothing(other):
    claim = control("still", "run", Condition(E(norm2(x_sampled[iterations] - x_star)), "<=", 1e-9))
    result = compare(claim, run(make_algorithm(other), make_quadratic(**QUIET), 3))
    assert result.verdict == "not applicable" and result.series.left[-1] > 0 and not result.series.decides
    assert result.reason.startswith("the claim is about FedAvg; the runs are ") and result.reason == result.series.note


def test_a_method_of_ones_own_is_drawn():
    @dataclass(frozen=True)
    class Lazy(Algorithm):
        def step_size(self, context):
            return 0.5 * super().step_size(context)

    result = compare("classical/gd-convex", run(Lazy(0.25, 1), make_quadratic(**QUIET | {"clients": 1}), 5))
    assert result.series is not None and "the runs are Lazy's" in result.reason


ALGORITHM_OF = [name for name in ALGORITHMS if name not in ("fedalign-fraction",)]


@pytest.mark.parametrize("name", ALGORITHM_OF)
def test_arguments_are_found_again(name):
    """Of a method made with other numbers than the defaults. What is not found makes another method of it."""
    method, given = ALGORITHMS[name], {}
    for argument in own_arguments(Procedure(name)):
        default = method.arguments[argument]
        for value in (0.625, 1.75, 2) if isinstance(default, float) else ():
            with suppress(ValueError):
                make_algorithm(name, **given, **{argument: value})
                given[argument] = value
                break
    made = make_algorithm(name, **given)
    found = arguments_of(Procedure(name), made)
    lost = {argument for argument, value in given.items() if found.get(argument) != value}
    assert lost <= LOST.get(name, set())
    matching = made.selection.matching
    if isinstance(matching, PriorityOnly):
        assert bool(other_procedure(Procedure(name), made)) == (name == "fedlada")
    if given and not lost:
        moved = make_algorithm(name, **given).having(eta_l=0.0625)
        assert arguments_of(Procedure(name), moved)["eta_l"] == 0.0625 or name in SCHEDULED


#: arguments that a maker does not keep as they are, and methods whose step size is a schedule of their own
LOST, SCHEDULED = {"fedlada": {"eps"}, "fedasam": {"swa_ratio"}}, {"fedswa", "fedmoswa", "fedmo"}


def test_an_option_makes_another_method():
    claim = control("II", "run", Condition(norm2(x_sampled[iterations] - x_star), "<=", 9),
                    procedure=Procedure("scaffold", options=(("option", "I"),), equal_weights=True))
    federation = make_quadratic(**QUIET)
    same, other = (compare(claim, run(scaffold(0.1, 2, option=o), federation, 2)) for o in ("I", "II"))
    assert "the claim is about" not in same.reason
    assert other.reason == "the claim is about SCAFFOLD with option = I; the runs are SCAFFOLD's"


def test_free_numbers():
    """Given ones, ones that the steps say, and others, which are 1 or as far as the hypotheses let them."""
    a, eta = sp.Symbol("a", positive=True), sp.Symbol("eta", positive=True)
    steps = Condition(eta_l[t], "==", eta / local_steps, ((t, 0, iterations - 1),))
    bound = control("free", "run", Condition(norm2(x_sampled[iterations] - x_star), "<=", a * eta),
                    conditions=(steps, Condition(a, "<=", 0.25)),
                    variables=(Variable("a", "positive"), Variable("eta", "positive")))
    trajectory = run(fedavg(0.125, 2), make_quadratic(**QUIET), 2)
    assert compare(bound, trajectory).series.right == pytest.approx([0.25 * 0.25] * 2)
    assert compare(bound, trajectory, values={"a": 0.125}).series.right == pytest.approx([0.125 * 0.25] * 2)
    beyond = compare(bound, trajectory, values={"a": 2.0})
    assert beyond.verdict == "not applicable" and "got 2" in beyond.reason
    assert beyond.series.right == pytest.approx([0.5] * 2)


def test_a_statement_about_every_outcome_is_shown_where_it_is_worst():
    federation = make_quadratic(**QUIET, noise="gaussian", sigma=1.0)
    trajectory = run(fedavg(0.125, 2), federation, 3, seeds=16)
    sure = control("sure", "run", Condition(norm2(x_sampled[iterations] - x_star), "<=", 1e9))
    mean = control("mean", "run", Condition(E(norm2(x_sampled[iterations] - x_star)), "<=", 1e9))
    apart = ((trajectory.dataset["x"].values - to_numpy(federation.x_star)) ** 2).sum(axis=-1)
    assert compare(sure, trajectory).series.left == pytest.approx(apart.max(axis=0)[1:])
    assert compare(mean, trajectory).series.left == pytest.approx(apart.mean(axis=0)[1:])


def test_means_given_the_past_become_means_and_functions_of_them_do_not():
    federation, index = make_quadratic(**QUIET, noise="gaussian", sigma=1.0), ((r, 0, rounds - 1),)
    trajectory = run(fedavg(0.125, 1), federation, 3, seeds=16)
    mean = control("mean", "run", Condition(E_round(norm2(x_round[r + 1] - x_star), r), "<=", 1e9, index))
    apart = ((trajectory.dataset["x"].values - to_numpy(federation.x_star)) ** 2).sum(axis=-1)
    assert compare(mean, trajectory).series.left == pytest.approx(apart.mean(axis=0)[1:])
    inside = control("inside", "run", Condition(norm2(E_round(x_round[r + 1], r) - x_star), "<=", 1e9, index))
    assert "mean given the past" in compare(inside, trajectory).reason and compare(inside, trajectory).series is None
    assert compare(inside, run(fedavg(0.125, 1), make_quadratic(**QUIET), 3, seeds=2)).series is not None


BERNOULLI = """
[[claim]]
id = "mine/free"
sampling = "bernoulli"
statement = "norm2(x_round[1] - x_round[0]) <= 1000*participation"

[[claim]]
id = "mine/half"
extends = "mine/free"
conditions = ["participation == 1/2"]

[[claim]]
id = "mine/exists"
exists = {gamma = "(0, 1]"}
witness = {gamma = "1/2"}
statement = "norm2(x_round[1] - x_round[0]) <= 1000*gamma"
"""


def test_the_probability_of_the_runs_is_the_claim_s(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(BERNOULLI)
    free, half, exists, witnessed = load_claims(path)
    for chance, verdict in ((0.5, "consistent"), (0.25, "not applicable")):
        method = fedavg(0.125, 1).having(selection=Selection(PriorityOnly(), Independent(chance)))
        trajectory = run(method, make_quadratic(**QUIET), 3, seeds=8)
        assert compare(free, trajectory).series.right == pytest.approx([1000 * chance] * 3)
        assert compare(half, trajectory).verdict == verdict
    federation = make_quadratic(**QUIET)
    several = Independent(federation.backend.array(np.array([0.25, 0.5] * 4)))
    found = compare(free, run(fedavg(0.125, 1).having(selection=Selection(PriorityOnly(), several)), federation, 3, seeds=8))
    assert found.verdict == "not applicable" and "2, from 0.25 to 0.5" in found.reason
    everyone = run(fedavg(0.125, 1), make_quadratic(**QUIET), 3)
    assert compare(witnessed, everyone).series.right == compare(exists, everyone).series.right == [500.0] * 3


def test_a_constant_that_may_be_0_is_the_federation_s(tmp_path):
    path = tmp_path / "mine.toml"
    for said in ('conditions = ["mu >= 0"]', 'variables = {mu = "nonnegative"}'):
        path.write_text('[[claim]]\nid = "mine/mu"\nassume = ["mu_client[k] >= mu for k in 0..clients-1"]\n'
                        f'statement = "mu <= norm2(x_round[0] - x_star)"\n{said}\n')
        (claim,), federation = load_claims(path), make_quadratic(**QUIET | {"L": 8.0, "mu": 3.0})
        found = compare(claim, run(fedavg(0.125, 1), federation, 2))
        assert found.series.left == pytest.approx([3.0, 3.0])
        assert compare(claim, run(fedavg(0.125, 1), federation, 2), values={"mu": 0.5}).series.left == [0.5, 0.5]


def test_what_cannot_be_run_again_is_refused(tmp_path, monkeypatch):
    federation = make_quadratic(**QUIET)
    trajectory = run(fedavg(0.125, 1), federation, 3)
    with pytest.raises(ValueError, match="read from a file"):
        compare("classical/gd-convex", load_trajectory(trajectory.save(tmp_path / "run.npz")))
    with pytest.raises(ValueError, match="end elsewhere"):
        compare("classical/gd-convex", replace(trajectory, algorithm=fedavg(0.25, 1)))
    monkeypatch.setattr(runs, "MOST_BYTES", 1000)
    with pytest.raises(ValueError, match=r"take 1\.15e-06 GB; allowed: 1e-06 GB"):
        compare("classical/gd-convex", trajectory)


def test_a_resumed_run_is_one_run():
    federation, claim = make_quadratic(**QUIET, noise="gaussian", sigma=1.0), find_claim("classical/fedavg-round")
    whole, half = (run(fedavg(0.125, 2), federation, length, seeds=4) for length in (6, 3))
    joined = resume(half, fedavg(0.125, 2), federation, 3)
    assert compare(claim, joined).series.left == compare(claim, whole).series.left


def test_data_of_ones_own():
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 2
    federation = from_arrays(X, y, np.repeat([0, 1], 20), task="binary", ridge=0.1)
    result = compare("li2020/theorem-1", run(fedavg(InverseTime(0.1, 100.0), 1), federation, 10))
    assert result.series is not None and result.series.x[-1] == 10


# figures -----------------------------------------------------------------------------------------------------------------
def test_runs_in_one_figure(tmp_path):
    federation = make_quadratic(**QUIET, noise="gaussian", sigma=0.5)
    claim = control("mean", "run", Condition(E(norm2(x_sampled[iterations] - x_star)), "<=", 4))
    first, second = (compare(claim, run(method(0.125, 2), federation, 5, seeds=8)) for method in (fedavg, scaffold))
    assert all(path.stat().st_size for path in first.plot(tmp_path / "both", beside=[second]).values())
    axes = Figure().subplots()
    assert first.plot(ax=axes, beside=[second]) is axes
    assert {text.get_text() for text in axes.get_legend().get_texts()} == {"FedAvg", "SCAFFOLD", "bound"}
    alone = Figure(layout="constrained").subplots()
    assert first.plot(ax=alone) is alone and "measured" in {text.get_text() for text in alone.texts}
    for wrong in ({}, {"path": tmp_path / "x", "ax": axes}):
        with pytest.raises(ValueError, match=r"plot needs a path or ax; got (neither|both)"):
            first.plot(**wrong)
    with pytest.raises(ValueError, match="at most 4 runs can be told apart; got 5"):
        first.plot(tmp_path / "many", beside=[second] * 4)


def test_a_claim_of_a_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('[[claim]]\nid = "mine/near"\nmethod = "scaffold"\nvariables = {eta_g = "positive"}\n'
                    'statement = "norm2(x_round[rounds] - x_star) <= eta_g"\n')
    result = compare(fedtheory.claim(f"{path}:mine/near"), run(scaffold(0.1, 2, eta_g=0.75), make_quadratic(**QUIET), 2))
    assert result.series.right == [0.75, 0.75] and result.verdict in ("consistent", "undecided")
    with pytest.raises(LookupError, match=r"no claim 'mine/far' in .*; allowed: .*:mine/near"):
        fedtheory.claim(f"{path}:mine/far")
