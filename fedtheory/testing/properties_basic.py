"""Properties of every implementation: shapes, kinds of arrays, purity, independence of the batch, resuming."""

import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import torch

from fedtheory.run import resume, run
from fedtheory.testing.outcome import NotApplicable, same, short, true
from fedtheory.testing.property import needs, property_of_every_method
from fedtheory.testing.subject import arrays_of, begin, describe, models, outputs, play
from fedtheory.trajectory import load_trajectory
from synthetic.numbers.arrays import EXACT, NUMPY, TORCH, Backend, to_numpy
from synthetic.numbers.draws import Draws


def _all_arrays(states):
    """Every array of every state, by its name and round."""
    return [(f"{name} after round {r}", array) for r, state in enumerate(states) for name, array in arrays_of(state).items()]


@property_of_every_method("shapes")
def shapes(subject, case):
    """The model is (runs, dim); server's arrays begin with (runs,), clients' with (runs, clients)."""
    algorithm, federation = subject.build(case), case.federation()
    for r, state in enumerate(play(algorithm, federation, case)):
        for what, model in (("the model", state.x), ("the model returned", algorithm.output(state))):
            true(tuple(model.shape) == (case.runs, case.dim), f"shape of {what} after round {r}",
                 f"({case.runs}, {case.dim})", str(tuple(model.shape)))
        for owner, head in (("server", (case.runs,)), ("clients", (case.runs, case.clients))):
            for name, array in getattr(state, owner).items():
                true(tuple(array.shape[: len(head)]) == head, f"shape of {owner}' {name} after round {r}",
                     f"{head} and more", str(tuple(array.shape)))


@property_of_every_method("stays finite")
def stays_finite(subject, case):
    """Every number is finite on well-conditioned losses with small steps."""
    for name, array in _all_arrays(play(subject.build(case), case.federation(subject.backend), case)):
        numbers = to_numpy(array)
        true(np.isfinite(numbers.astype(float)).all(), name, "finite", short(numbers))


@property_of_every_method("dtype and device")
def dtype_and_device(subject, case):
    """float32 stays float32 on its device, with the numbers of float64 to single precision."""
    algorithm, federation = subject.build(case), case.federation()
    double = play(algorithm, federation, case)
    devices = ["cpu"] + ["cuda"] * torch.cuda.is_available()
    for device in devices:
        backend = Backend("torch", device, torch.float32)
        single = play(algorithm, federation.to(backend), case)
        for (name, wide), (_, narrow) in zip(_all_arrays(double), _all_arrays(single), strict=True):
            expected = str(wide.dtype).replace("float64", "float32")
            true(isinstance(narrow, torch.Tensor) and str(narrow.dtype) == expected and narrow.device.type == device,
                 f"kind of {name}", f"torch {device} {expected}", describe(narrow))
        same(outputs(algorithm, double), outputs(algorithm, single), "x in float32", 1e-2)


@property_of_every_method("NumPy and torch")
def numpy_and_torch(subject, case):
    """The same lines give the same numbers on NumPy arrays and on torch tensors."""
    algorithm = subject.build(case)
    states = {backend.library: play(algorithm, case.federation(backend), case) for backend in (TORCH, NUMPY)}
    for name, array in _all_arrays(states["numpy"]):
        true(isinstance(array, np.ndarray), f"kind of {name} on NumPy", "a NumPy array", type(array).__name__)
    same(outputs(algorithm, states["torch"]), outputs(algorithm, states["numpy"]), "x on NumPy")


@property_of_every_method("exact fractions", rounds=2, runs=1)
def exact_fractions(subject, case):
    """A method that needs only + - * / stays in exact fractions, and floats agree with them."""
    needs(not case.data, "minibatch losses are no fractions")
    algorithm = subject.build(case)
    try:
        exact = play(algorithm, case.federation(EXACT), case)
    except (TypeError, AttributeError, ValueError, NotImplementedError) as error:
        raise NotApplicable(f"it uses more than + - * / ({type(error).__name__})") from error
    for name, array in _all_arrays(exact):
        if array.dtype == object:
            kinds = {type(entry).__name__ for entry in array.ravel() if not isinstance(entry, (Fraction, int))}
            true(not kinds, f"entries of {name}", "fractions", ", ".join(sorted(kinds)))
    needs(exact[-1].x.dtype == object, "it leaves the fractions")
    same(outputs(algorithm, exact), outputs(algorithm, play(algorithm, case.federation(), case)), "x against fractions")


@property_of_every_method("purity")
def purity(subject, case):
    """A round leaves the state before it, the federation and the start as they were."""
    algorithm, federation = subject.build(case), case.federation()
    start = begin(algorithm, federation, case)
    kept = [(name, array, to_numpy(array).copy()) for name, array in arrays_of(start).items()]
    own = [(name, array, to_numpy(array).copy()) for name, array in vars(federation).items() if hasattr(array, "dtype")]
    states = [start]
    for r in range(case.rounds):
        states += play(algorithm, federation, case, state=states[-1], first=r, rounds=1)[1:]
        kept += [(f"{name} after round {r + 1}", a, to_numpy(a).copy()) for name, a in arrays_of(states[-1]).items()]
    for name, array, before in kept + own:
        same(before, array, f"{name}, once later rounds have run", 0)


@property_of_every_method("determinism")
def determinism(subject, case):
    """The same arguments give the same numbers, to the last bit."""
    first, again = (play(subject.build(case), case.federation(), case) for _ in range(2))
    for (name, a), (_, b) in zip(_all_arrays(first), _all_arrays(again), strict=True):
        same(a, b, f"{name}, a second time", 0)


@property_of_every_method("batch", runs=3)
def batch(subject, case):
    """A run is the same alone, in a batch, and in a batch in another order."""
    federation, start = case.federation(), case.start()
    together = models(subject, case, federation)
    turned = models(subject, case, federation, start=start[::-1].copy(), seeds=case.seeds[::-1].copy())
    same(together, turned[::-1], "x in the reverse order", 1e-12)
    for i in range(case.runs):
        alone = models(subject, case, federation, start=start[i : i + 1], seeds=case.seeds[i : i + 1])
        same(together[i : i + 1], alone, f"x of run {i} alone", 1e-12)


@property_of_every_method("instances", runs=3, data=False)
def instances(subject, case):
    """A run with one problem per run is the run on its own problem alone."""
    start = case.start()
    apart = [case.but(seed=case.seed + 7 * i, runs=1).federation() for i in range(case.runs)]
    first = apart[0]
    joined = first._with(lambda a: a, first.noise)
    for name in first._arrays:
        setattr(joined, name, torch.cat([getattr(one, name) for one in apart]))
    if case.sigma:
        joined.noise = type(first.noise)(torch.cat([one.noise.atoms for one in apart]), first.noise.probabilities)
    together = models(subject, case, joined)
    for i, one in enumerate(apart):
        alone = models(subject, case, one, start=start[i : i + 1], seeds=case.seeds[i : i + 1])
        same(together[i : i + 1], alone, f"x of run {i} on its problem alone", 1e-12)


@property_of_every_method("resume")
def resumes(subject, case):
    """Saved after any round and resumed, a run goes on bit for bit as if it had never stopped."""
    needs(case.rounds > 1, "there is one round only")
    algorithm, federation = subject.build(case), case.federation()
    begin(algorithm, federation, case)
    given = {"start": case.start(), "seeds": case.seeds, "record": ["x"]}
    with np.errstate(all="ignore"), tempfile.TemporaryDirectory() as folder:
        whole = run(algorithm, federation, case.rounds, **given)
        for stop in range(1, case.rounds):
            stopped = run(algorithm, federation, stop, **given).save(Path(folder) / "stopped.run")
            joined = resume(load_trajectory(stopped), algorithm, federation, case.rounds - stop)
            same(whole.dataset["x"].values, joined.dataset["x"].values, f"x, resumed after round {stop}", 0)


@property_of_every_method("run and loop")
def run_and_loop(subject, case):
    """``fedtheory.run``, by whatever path it takes, gives what the loop of rounds gives."""
    algorithm = subject.build(case)
    for one in dict.fromkeys((case, case.but(sigma=0.0))):
        federation = one.federation()
        looped = outputs(algorithm, play(algorithm, federation, one))
        with np.errstate(all="ignore"):
            ran = run(algorithm, federation, one.rounds, start=one.start(), seeds=one.seeds, record=["x"])
        same(looped, ran.dataset["x"].values, "x by fedtheory.run")


@property_of_every_method("seeds", runs=3, sigma=0.0, participants=None)
def seeds(subject, case):
    """Seeds do not matter without noise and with all clients."""
    needs(not subject.traits.random, "the method draws at random by itself")
    same(models(subject, case), models(subject, case, seeds=case.seeds + 1000), "x under other seeds", 0)


@property_of_every_method("one seed per run", runs=3, clients=5, free=0, rounds=lambda rounds: max(rounds, 3))
def one_seed_per_run(subject, case):
    """Runs from one start with different seeds differ with noise, or with sampled clients."""
    needs(case.sigma or case.participants, "there is no chance")
    found = models(subject, case, start=np.repeat(case.start()[:1], case.runs, axis=0))[:, -1]
    true(len(np.unique(found, axis=0)) == case.runs, f"different models after {case.rounds} rounds from {case.runs} seeds",
         case.runs, len(np.unique(found, axis=0)))


@property_of_every_method("divergence", runs=3)
def divergence(subject, case):
    """A run that overflows leaves the other runs of its batch as they are."""
    federation, start = case.federation(), case.start()
    start[1] = 1e308
    calm, wild = models(subject, case, federation), models(subject, case, federation, start=start)
    same(calm[[0, 2]], wild[[0, 2]], "x beside a run that overflows", 1e-12)


@property_of_every_method("one step size per run", runs=2)
def one_step_size_per_run(subject, case):
    """A step size per run acts on its own run only."""
    needs("eta_l" in subject.parameters and not subject.build(case).client.solves, "it takes no steps of eta_l")
    federation, start, steps = case.federation(), case.start(), np.array([0.05, 0.2])
    together = models(subject.with_arguments({"eta_l": steps}), case, federation)
    for i, step in enumerate(steps.tolist()):
        one = subject.with_arguments({"eta_l": step})
        alone = models(one, case, federation, start=start[i : i + 1], seeds=case.seeds[i : i + 1])
        same(alone, together[i : i + 1], f"x of run {i}", 1e-12)


@property_of_every_method("descends", runs=1, rounds=15, sigma=0.0, participants=None, identical=True, free=0, data=False)
def descends(subject, case):
    """The loss falls within fifteen rounds if all clients share one well-conditioned loss."""
    algorithm, federation = subject.build(case), case.federation(subject.backend)
    far = case.but(clients=1).federation(NUMPY).x_star + 3
    states = play(algorithm, federation, case, start=far)
    loss = [float(federation.objective(algorithm.output(state))[0] - federation.F_star[0]) for state in states]
    true(loss[-1] < 0.9 * loss[0], "F(x) - F* in the end", f"below {0.9 * loss[0]:.8g}, from {loss[0]:.8g} at the start",
         loss[-1])


@property_of_every_method("no dead state", rounds=4, clients=5, dim=3, local_steps=3, free=0)
def no_dead_state(subject, case):
    """Every array of numbers in the state changes in some round."""
    states = play(subject.build(case), case.federation(), case)
    for name, first in arrays_of(states[0]).items():
        if "float" in str(first.dtype) and not name.startswith("participation"):
            still = all(np.array_equal(to_numpy(first), to_numpy(arrays_of(state)[name])) for state in states[1:])
            true(not still, f"{name} over {case.rounds} rounds", "different numbers", "the same numbers")


@property_of_every_method("fresh samples")
def fresh_samples(subject, case):
    """No sample is used in two rounds, and no step of a round uses another step's."""
    algorithm, federation = subject.build(case), case.federation(subject.backend)
    draws, used, owner = Draws(case.seeds, federation.backend), [], {}
    original = federation.stochastic_gradient

    def record(x, draws, iteration, clients=None):
        used.append(iteration)
        return original(x, draws, iteration, clients)

    federation.stochastic_gradient = record
    state = begin(algorithm, federation, case, draws=draws)
    for r in range(case.rounds):
        used.clear()
        state = play(algorithm, federation, case, draws=draws, state=state, first=r, rounds=1)[-1]
        for iteration in set(used):
            true(owner.setdefault(iteration, r) == r, f"round whose samples are number {iteration}",
                 f"{owner[iteration]} only", f"also {r}")
        if algorithm.client.solves:
            continue
        steps = algorithm.local_steps
        expected, found = set(range(r * steps, (r + 1) * steps)), set(used)
        true(expected <= found, f"samples of the local steps of round {r}", str(sorted(expected)), str(sorted(found)))
