"""Captured rounds: the bits of rounds computed step by step, whatever is recorded, and nothing that waits for a card.

The card is the processor, behind the seam ``fedtheory.graph.capture``: see ``tests/fedtheory/tape.py``.
"""

from fractions import Fraction

import numpy as np
import pytest
import torch

from fedtheory import (
    ALGORITHMS,
    Algorithm,
    Always,
    Bernoulli,
    EveryPriority,
    FractionOfBoth,
    GeometricLocal,
    GradientOracle,
    Independent,
    InverseTime,
    LossMatching,
    Pattern,
    Schedule,
    Selection,
    ServerOptimiser,
    State,
    StopAfter,
    Tabulated,
    ToTolerance,
    WithoutReplacement,
    WithReplacement,
    affine,
    fedavg,
    graph,
    make_algorithm,
    observables_of,
    recorder,
    resume,
    run,
)
from fedtheory.algorithms.fedasam import CyclicRounds
from fedtheory.testing.federations import CASES
from fedtheory.testing.outcome import NotApplicable
from fedtheory.testing.subject import subject_of
from synthetic.numbers.arrays import Backend, kept_on_device, to_numpy
from synthetic.numbers.rounds import ByRound, Clock, each_round
from tests.fedtheory.federations import FEDERATIONS
from tests.fedtheory.tape import on_a_card

ROUNDS = 9
ROWS = [(name, arguments) for name, method in ALGORITHMS.items()
        for arguments in ({}, *(variant.arguments for variant in method.traits.variants))]
NAMES = [" ".join([name, *(f"{key}={value}" for key, value in arguments.items())]) for name, arguments in ROWS]


def same(first, second):
    """Whether two trajectories are the same to the last bit."""
    assert set(first.dataset) == set(second.dataset)
    for name in first.dataset:
        np.testing.assert_array_equal(first.dataset[name].values, second.dataset[name].values, err_msg=name)
    for one, other in zip(graph._arrays(first.state), graph._arrays(second.state), strict=True):
        np.testing.assert_array_equal(to_numpy(one), to_numpy(other))


def both(patch, method, make, **options):
    """The run on a card, step by step and with captured rounds, which have the models of the processor up to rounding."""
    with on_a_card(patch):
        steps, captured = (run(method, make(), ROUNDS, path=path, **options) for path in ("steps", "graph"))
    there, here = steps.dataset["x"].values, run(method, make(), ROUNDS, path="steps", **options).dataset["x"].values
    np.testing.assert_allclose(there, here, rtol=1e-12, atol=1e-12 * np.nanmax(abs(here)))
    return steps, captured


@pytest.mark.parametrize(("name", "arguments"), ROWS, ids=NAMES)
def test_a_captured_round_has_the_bits_of_one_that_is_not(name, arguments, monkeypatch):
    compared = 0
    for case in CASES:
        subject = subject_of(name, arguments)
        try:
            method = subject.build(case)
        except NotApplicable:
            continue
        if method.refuses(case.federation()) is None:
            with monkeypatch.context() as patch:
                same(*both(patch, method, case.federation, seeds=case.seeds, start=case.start(),
                           record=observables_of(case.federation())))
            compared += 1
    assert compared or name == "fedpara"


SCHEDULES = {
    "inverse time": InverseTime(mu=1.0, offset=20.0), "stop": StopAfter(0.1, stop=4), "local": GeometricLocal(0.1, 2),
    "table by round": Tabulated(np.linspace(0.1, 0.01, 7), by="round"), "table": Tabulated(np.linspace(0.1, 0.01, 15)),
    "cycles": CyclicRounds(0.1, 0.5, start=2, cycle=3),
    "one per run, then one": StopAfter(np.array([0.1, 0.2, 0.05, 0.1]), stop=4, after=0.05),
    "integers": StopAfter(1, stop=4, after=2),
    "one per run": InverseTime(mu=np.array([1.0, 2.0, 3.0, 4.0]), offset=20.0),
}
SELECTIONS = {
    "without replacement": WithoutReplacement(1), "held": WithoutReplacement(1, held=3),
    "with replacement": WithReplacement(2), "independent": Independent(probability=0.3),
    "expected": Independent(probability=0.3, divisor="expected"),
}
FREE = {
    "always": Always(), "bernoulli": Bernoulli(0.5), "pattern": Pattern(np.arange(20).reshape(4, 5) % 3 == 0),
    "fraction": FractionOfBoth(0.5),
}
MATCHINGS = [LossMatching(1.0, warmup=3, indicator=word)
             for word in ("broadcast", "local-at-aggregation", "local-every-step")]


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", ["no noise", "logistic, minibatches", "one instance per run"])
def test_schedules_are_read_on_the_card(name, schedule, monkeypatch):
    method = make_algorithm("scaffold", eta_l=SCHEDULES[schedule], local_steps=2)
    same(*both(monkeypatch, method, FEDERATIONS[name], seeds=4))


@pytest.mark.parametrize("name", ["all priority", "one instance per run", "logistic"])
@pytest.mark.parametrize("sampling", SELECTIONS)
def test_clients_are_drawn_on_the_card(name, sampling, monkeypatch):
    method = fedavg(0.1, 2).having(selection=Selection(sampling=SELECTIONS[sampling]))
    if name == "logistic" and sampling == "held":
        pytest.skip("one federation is enough")
    same(*both(monkeypatch, method, FEDERATIONS[name], seeds=4, record=("x", "weight", "participants")))


@pytest.mark.parametrize("matching", MATCHINGS, ids=lambda matching: matching.indicator)
@pytest.mark.parametrize("free", FREE)
def test_free_clients_are_chosen_on_the_card(free, matching, monkeypatch):
    sampling = FREE[free] if free == "fraction" else EveryPriority()
    method = fedavg(0.1, 2).having(selection=Selection(matching, sampling, FREE[free]))
    same(*both(monkeypatch, method, FEDERATIONS["gaussian noise"], seeds=4, record=("x", "included", "weight", "g")))


def test_runs_of_one_seed_share_their_draws(monkeypatch):
    same(*both(monkeypatch, fedavg(0.1, 2, participants=2), FEDERATIONS["all priority"], seeds=[0, 1, 0, 1]))


@pytest.mark.parametrize("path", ["affine", "graph"])
def test_the_affine_path_is_captured_too(path, monkeypatch):
    make, options = FEDERATIONS["no noise"], {"seeds": 3, "record": ("x", "suboptimality")}
    here = run(fedavg(0.1, 2), make(), ROUNDS, path="affine", **options)
    with on_a_card(monkeypatch):
        monkeypatch.setattr(affine, "map_rounds", lambda *rest: None)
        captured = run(fedavg(0.1, 2), make(), ROUNDS, path=path, **options)
    for name in ("x", "suboptimality"):
        np.testing.assert_allclose(captured.dataset[name].values, here.dataset[name].values, rtol=1e-12, atol=1e-14)


def test_tables_are_copied_in_pieces(monkeypatch):
    monkeypatch.setattr(graph, "PIECE", 400)
    same(*both(monkeypatch, fedavg(0.1, 2, participants=2), FEDERATIONS["all priority"], seeds=3,
               record=("x", "g", "included", "eta_l", "uplink_floats")))


def test_rows_of_a_card_are_copied_in_pieces(monkeypatch):
    with on_a_card(monkeypatch):
        whole = run(fedavg(0.1, 2), FEDERATIONS["logistic"](), ROUNDS, seeds=3, path="steps")
        monkeypatch.setattr(recorder, "PIECE", 400)
        same(whole, run(fedavg(0.1, 2), FEDERATIONS["logistic"](), ROUNDS, seeds=3, path="steps"))


def test_a_captured_run_resumes(monkeypatch):
    method, make = make_algorithm("fedlama", local_steps=2), FEDERATIONS["gaussian noise"]
    with on_a_card(monkeypatch):
        whole = run(method, make(), 2 * ROUNDS, seeds=3, path="steps")
        half = run(method, make(), ROUNDS, seeds=3, path="graph")
        same(whole, resume(half, method, make(), ROUNDS))


def test_a_round_that_diverges_is_found(monkeypatch):
    with on_a_card(monkeypatch):
        steps, captured = (run(fedavg(1e60, 2), FEDERATIONS["no noise"](), ROUNDS, path=path) for path in ("steps", "graph"))
    assert steps.dataset["diverged"].values.tolist() == captured.dataset["diverged"].values.tolist() != [-1]


KINDS = {"fedavg": {}, "fedlama": {"period": 3}, "prunefl": {"period": 4}, "fedasam": {"swa_start": 2, "swa_cycle": 2}}


@pytest.mark.parametrize("name", KINDS)
def test_few_graphs_are_captured(name, monkeypatch):
    """One where all rounds are alike; one for each kind of round where the host decides."""
    made = []
    with on_a_card(monkeypatch):
        capture = graph.capture
        monkeypatch.setattr(graph, "capture", lambda *rest: made.append(1) or capture(*rest))
        run(make_algorithm(name, local_steps=2, **KINDS[name]), FEDERATIONS["all priority"](), 30, path="graph")
    assert len(made) == 1 if name == "fedavg" else 1 < len(made) <= 4


def test_rounds_of_too_many_kinds_are_launched_one_by_one(monkeypatch):
    monkeypatch.setattr(graph, "MOST_GRAPHS", 1)
    same(*both(monkeypatch, make_algorithm("fedlama", local_steps=2), FEDERATIONS["all priority"], seeds=2))


class Reading(GradientOracle):
    """Looks at the gradient, as a method of a user may."""

    def gradient(self, local, gradient, context):
        g = gradient(local.x)
        return (g if bool((g == g).all()) else -g), local


class Counting(GradientOracle):
    """Is not pure: every gradient is longer than the last."""

    def gradient(self, local, gradient, context):
        self.__dict__["calls"] = self.__dict__.get("calls", 0) + 1
        return self.calls * gradient(local.x), local


def test_a_method_that_is_not_pure_is_not_captured(monkeypatch):
    with on_a_card(monkeypatch):
        with pytest.raises(ValueError, match=r"path .graph. cannot be taken: a replayed round has other numbers.*not pure"):
            run(fedavg(0.01, 2).having(oracle=Counting()), FEDERATIONS["no noise"](), ROUNDS, path="graph")
        trajectory = run(fedavg(0.01, 2).having(oracle=Counting()), FEDERATIONS["no noise"](), ROUNDS, path="auto")
    assert trajectory.dataset["x"].shape[1] == ROUNDS + 1


class By(GradientOracle):
    """The gradient times a function of the context."""

    def __init__(self, factor):
        self.__dict__["factor"] = factor

    def __repr__(self):
        return "By"

    def gradient(self, local, gradient, context):
        return gradient(local.x) * self.factor(context), local


class Storing(ServerOptimiser):
    """The average, and what else a function of the average and the context keeps."""

    def __init__(self, first, then):
        self.__dict__.update(first=first, then=then)

    def server_state(self, federation, x, draws):
        return self.first(x)

    def step(self, average, context):
        return self.then(average, context.state.server, context)


class Renaming(Algorithm):
    """The name of what it keeps changes."""

    def init(self, federation, x, draws=None):
        return State(x, {"a": x})

    def server_step(self, upload, context):
        name = {"a": "b", "b": "a"}[next(iter(context.state.server))]
        return State(context.average(upload.model) + (0.1 if name == "a" else -0.1), {name: context.x})


def raising(context):
    """A schedule that has values in odd rounds only, and is asked in them only."""
    table = dict.fromkeys(range(1, 99, 2), 0.3)
    return context.algorithm.now(Odd(table), context) if context.round % 2 else 1


class Odd(Schedule):
    def __init__(self, table):
        self.table = table

    def __call__(self, iteration, round):
        return self.table[round]


#: what Python and the card could make something else of than of a number
ODD = {
    "truth values are added": lambda c: 0.5 ** ((c.round > 2) + (c.round > 5)),
    "negative power": lambda c: 2**-c.round,
    "power that is no integer": lambda c: (1 + c.round) ** 0.37,
    "power of a tensor": lambda c: (c.federation.weights[0, 0] + 0.7) ** (c.round % 5),
    "large integers": lambda c: 0.1 * (10 ** (2 * c.round + 10) % 7),
    "integers of a hash": lambda c: 0.1 * (c.round * 0x9E3779B97F4A7C15 % 7),
    "short floats": lambda c: float(np.float32(0.1) * c.round),
    "in an array": lambda c: 2 if c.round in np.array([3, 5]) else 1,
    "in a set": lambda c: 2 if c.round in {3, 5} else 1,
    "fractions": lambda c: 2 if c.round in (Fraction(3), Fraction(5)) else 1,
    "formatted": lambda c: 2 if f"{c.round}" in ("3", "5") else 1,
    "names": lambda c: {str(number): 1 / (1 + number) for number in range(40)}[str(c.round)],
    "asked whether it is an integer": lambda c: 2 if isinstance(c.round, int) else 1,
    "functions of integers": lambda c: 1 / (1 + c.round.bit_length()),
    "a tensor of it": lambda c: 1 / torch.tensor(1 + c.round),
    "integers of a card": lambda c: torch.ones(1, dtype=torch.int64) * (0.1 * c.round),
    "an array that is written to": lambda c: c.federation.backend.array(np.zeros((1, 1))).add_(0.5),
    "raises in other rounds": raising,
}


@pytest.mark.parametrize("name", ODD)
def test_a_number_of_a_round_is_that_of_python(name, monkeypatch):
    runs_as_steps(monkeypatch, fedavg(0.1, 2).having(oracle=By(ODD[name])))


STATES = {
    "grows": Storing(lambda x: {"h": x}, lambda x, own, c: (x, {"h": torch.cat([own["h"], x], dim=1)})),
    "counts": Storing(lambda x: {"n": 0}, lambda x, own, c: (x * (1 - 0.1 * own["n"]), {"n": own["n"] + 1})),
    "counts seldom": Storing(lambda x: {"n": 0}, lambda x, own, c: (x * (1 - 0.1 * own["n"]), {"n": c.round // 4})),
    "lists": Storing(lambda x: {"h": [x]}, lambda x, own, c: (x + 0.1 * own["h"][0], {"h": [x]})),
    "swaps": Storing(lambda x: {"p": x, "q": x + 1}, lambda x, own, c: (x + own["p"], {"p": own["q"], "q": own["p"]})),
    "is laid out otherwise": Storing(lambda x: {"p": x[:, :1].expand(-1, 7)},
                                     lambda x, own, c: (x + own["p"].sum(1)[:, None], {"p": x[:, :1].expand(-1, 7)})),
    "shares": Storing(lambda x: {"p": x, "q": x}, lambda x, own, c: (x + 0.1 * own["p"], {"p": c.x, "q": c.x})),
}


@pytest.mark.parametrize("name", STATES)
def test_a_state_is_that_of_the_steps(name, monkeypatch):
    runs_as_steps(monkeypatch, fedavg(0.1, 2).having(server=STATES[name]), compared="x")


class Writing(ServerOptimiser):
    """Writes to the state before the round."""

    def step(self, average, context):
        return context.state.x.copy_(average), {}


def test_a_method_that_writes_to_the_state_is_not_captured(monkeypatch):
    with on_a_card(monkeypatch), pytest.raises(ValueError, match="the round writes to the arrays of the state before it"):
        run(fedavg(0.1).having(server=Writing()), FEDERATIONS["no noise"](), ROUNDS, path="graph")


def test_what_is_kept_on_a_card_is_sent_again_if_it_was_written_to(monkeypatch):
    with on_a_card(monkeypatch) as counts, kept_on_device():
        first = Backend().array([0.0])
        assert Backend().array([0.0]) is first and counts["sent"] == 1
        first.add_(1)
        assert Backend().array([0.0]).tolist() == [0.0] and counts["sent"] == 2


def test_the_names_of_a_state_are_compared(monkeypatch):
    runs_as_steps(monkeypatch, Renaming(0.1, 2))


def runs_as_steps(patch, method, compared=None):
    """``auto`` has the bits of ``steps``; ``graph`` as well, or says why not."""
    make, options = FEDERATIONS["gaussian noise"], {"seeds": 3, "record": ("x", "weight", "g", "eta_l")}
    with on_a_card(patch):
        steps = run(method, make(), 12, path="steps", **options)
        found = [run(method, make(), 12, **options)]
        try:
            found.append(run(method, make(), 12, path="graph", **options))
        except ValueError as error:
            assert str(error).startswith("path 'graph' cannot be taken")
    for one in found:
        if compared:
            np.testing.assert_array_equal(one.dataset[compared].values, steps.dataset[compared].values)
        else:
            same(steps, one)


def test_progress_is_told_in_order(monkeypatch):
    for method in (fedavg(0.1), fedavg(0.1).having(oracle=Reading())):
        told = []
        with on_a_card(monkeypatch):
            run(method, FEDERATIONS["no noise"](), ROUNDS, progress=lambda *now, told=told: told.append(now))
        assert told == [(done, ROUNDS) for done in range(1, ROUNDS + 1)]


WAITING = {
    "reads a gradient": fedavg(0.1, 2).having(oracle=Reading()),
    "solves to a tolerance": make_algorithm("fedprox", rho_prox=0.1).having(client=ToTolerance(1e-4)),
}


@pytest.mark.parametrize("name", WAITING)
def test_a_method_that_waits_is_launched_kernel_by_kernel(name, monkeypatch):
    method, make = WAITING[name], FEDERATIONS["no noise"]
    with on_a_card(monkeypatch):
        steps = run(method, make(), ROUNDS, path="steps", seeds=2)
        same(steps, run(method, make(), ROUNDS, seeds=2))
        with pytest.raises(ValueError, match=r"path 'graph' cannot be taken: .*captur.*allowed: auto, steps"):
            run(method, make(), ROUNDS, path="graph")


def test_without_a_card_the_path_says_so():
    with pytest.raises(ValueError, match=r"path 'graph' cannot be taken: the arrays are on torch, cpu, and rounds are "
                                         r"captured on CUDA devices only; allowed: auto, steps"):
        run(fedavg(0.1), FEDERATIONS["no noise"](), 2, path="graph")


@pytest.mark.parametrize("path", ["steps", "graph"])
@pytest.mark.parametrize("name", ["fedavg", "scaffold", "fedluar", "fadamgc", "fedlama", "moon"])
def test_no_round_waits_or_sends(name, path, monkeypatch):
    """Twenty more rounds read nothing from the card and send nothing to it."""
    counted = []
    for rounds in (10, 30):
        with monkeypatch.context() as patch, on_a_card(patch) as counts:
            run(make_algorithm(name, local_steps=2), FEDERATIONS["logistic, minibatches"](), rounds, seeds=3, path=path)
            counted.append(dict(counts))
    assert counted[0] == counted[1]


def test_a_gradient_that_is_read_is_counted(monkeypatch):
    counted = []
    for rounds in (10, 30):
        with monkeypatch.context() as patch, on_a_card(patch) as counts:
            run(WAITING["reads a gradient"], FEDERATIONS["no noise"](), rounds, path="steps")
            counted.append(counts["waits"])
    assert counted[1] - counted[0] == 20 * 2


# numbers of rounds ---------------------------------------------------------------------------------------------------------
def clock(first=1, rounds=6):
    return Clock(first, rounds, Backend())


def test_numbers_of_rounds_compute_as_numbers():
    now = clock()
    for function in (lambda r: 2 * r + 1, lambda r: (r - 3) // 2, lambda r: -2 - r, lambda r: r % 3, lambda r: r / 4):
        found = function(now.round)
        assert found.values.tolist() == [function(r) for r in range(1, 7)]
        for place in range(6):
            now.begin(place)
            now.index.fill_(place)
            assert function(now.round).now().item() == function(place + 1)
    iteration = 4 * now.round + 3
    assert iteration - 4 * now.round == 3 and (now.round > 0) is True and (now.round == 0) is False
    assert max(now.round - 1, 0) is not 0  # noqa: F632
    x = torch.arange(3.0)
    now.begin(2)
    now.index.fill_(2)
    assert (x * now.round).tolist() == [0.0, 3.0, 6.0] and torch.where(now.round > 2, x, 0).tolist() == x.tolist()


def test_a_decision_is_that_of_the_round_and_of_those_alike():
    now = clock()
    now.begin(1)
    assert not now.round % 2 and now.alike.tolist() == [False, True] * 3
    assert int(now.round // 4) == 0 and now.alike.tolist() == [False, True, False, False, False, False]


def test_a_card_divides_by_the_number_of_the_host():
    now, x = clock(), torch.arange(3.0)
    object.__setattr__(now.backend, "device", "cuda:0")
    now.begin(2)
    assert (x / now.round).tolist() == (x / 3).tolist() and now.alike.tolist() == [False, False, True, False, False, False]


def test_numpy_cannot_take_the_number_of_a_round():
    with pytest.raises(TypeError):
        np.arange(3) + clock().round
    with pytest.raises(TypeError):
        np.asarray(clock().round)


def test_a_function_is_evaluated_in_all_rounds():
    now = clock()
    assert each_round(lambda r: r * r, 3) == 9
    assert each_round(lambda r: r * r, now.round).values.tolist() == [1, 4, 9, 16, 25, 36]
    assert isinstance(each_round(lambda r: np.eye(2)[r % 2], now.round), ByRound)


# on a card -----------------------------------------------------------------------------------------------------------------
CARD = "cuda" if torch.cuda.is_available() else None


@pytest.mark.cuda
@pytest.mark.skipif(CARD is None, reason="there is no CUDA device")
@pytest.mark.parametrize("name", ["fedavg", "scaffold", "fadamgc", "fedluar", "fedlama", "moon", "fedpaq", "scaffnew"])
@pytest.mark.parametrize("schedule", [0.1, InverseTime(mu=1.0, offset=20.0)], ids=["constant", "inverse time"])
def test_a_card_replays_the_bits_that_it_computes(name, schedule):
    method = make_algorithm(name, eta_l=schedule, local_steps=2)
    make, options = FEDERATIONS["logistic, minibatches"], {"seeds": 4, "device": CARD}
    steps = run(method, make(), ROUNDS, path="steps", **options)
    same(steps, run(method, make(), ROUNDS, path="graph", **options))
    here = run(method, make(), ROUNDS, path="steps", seeds=4).dataset["x"].values
    np.testing.assert_allclose(steps.dataset["x"].values, here, rtol=1e-9, atol=1e-12)


@pytest.mark.cuda
@pytest.mark.skipif(CARD is None, reason="there is no CUDA device")
@pytest.mark.parametrize("path", ["affine", "compiled"])
@pytest.mark.parametrize("name", ["fedavg", "scaffold", "fedprox"])
def test_the_other_paths_of_a_card_agree(name, path):
    method, make = make_algorithm(name, eta_l=0.1, local_steps=3), FEDERATIONS["no noise"]
    found = run(method, make(), ROUNDS, path=path, seeds=4, device=CARD).dataset["x"].values
    np.testing.assert_allclose(found, run(method, make(), ROUNDS, path="steps", seeds=4).dataset["x"].values, rtol=1e-9,
                               atol=1e-12)


@pytest.mark.cuda
@pytest.mark.skipif(CARD is None, reason="there is no CUDA device")
def test_a_card_copies_tables_in_pieces(monkeypatch):
    method, make = fedavg(0.1, 2, participants=2), FEDERATIONS["all priority"]
    whole = run(method, make(), 30, path="graph", seeds=3, device=CARD, record=("x", "g", "eta_l"))
    monkeypatch.setattr(graph, "PIECE", 2000)
    same(whole, run(method, make(), 30, path="graph", seeds=3, device=CARD, record=("x", "g", "eta_l")))


@pytest.mark.cuda
@pytest.mark.skipif(CARD is None, reason="there is no CUDA device")
def test_a_method_that_reads_is_launched_kernel_by_kernel_on_a_card():
    method, make = WAITING["reads a gradient"], FEDERATIONS["no noise"]
    same(run(method, make(), ROUNDS, seeds=2, device=CARD, path="steps"), run(method, make(), ROUNDS, seeds=2, device=CARD))
    with pytest.raises(ValueError, match="path 'graph' cannot be taken"):
        run(method, make(), ROUNDS, path="graph", device=CARD)
