"""Implementations that are not of this package, as black boxes in the conformance suite, beside a method of ours.

An implementation is a function of a :class:`Job` (the clients' gradients or losses, weights, start, who takes part in each
round) that returns its models. A round of :class:`BlackBox` runs it again from the recorded start with the recorded
participants, one round further than before, and takes over its last model.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from math import lcm
from typing import Any, Self

import numpy as np

from fedtheory.algorithm import Algorithm, State
from fedtheory.fingerprint import digest_of, fingerprint
from fedtheory.method import sampled
from fedtheory.registry import find_algorithm
from fedtheory.selection import EveryPriority
from fedtheory.testing.check import check_algorithm
from fedtheory.testing.federations import Case
from fedtheory.testing.report import Report
from fedtheory.testing.subject import Subject, models
from fedtheory.traits import FixedPoint, Reduction, Traits
from synthetic.base.checks import nearest, whole
from synthetic.numbers.arrays import NUMPY, TORCH, to_numpy

__all__ = [
    "CASES_OF_BLACK_BOXES", "DIVIDES", "EXEMPT", "OPTIMUM", "REASONS", "BlackBox", "Job", "check_foreign", "maker",
    "random_cases", "reference_models",
]

#: properties of every method that a black box cannot have, by reason
REASONS = {
    "the numbers come from the implementation itself, in its own precision": (
        "dtype and device", "NumPy and torch", "exact fractions"),
    "it is run again from the start for every round, each run and each start by itself": (
        "purity", "batch", "instances", "resume", "run and loop", "divergence", "one step size per run"),
    "equal questions have one answer, which is kept": ("determinism", "seeds"),
    "the suite draws the participants": ("number of participants", "one seed per run"),
    "local steps and uploads stay inside the implementation": (
        "own data only", "only participants are computed", "gradients counted", "fresh samples", "declared costs",
        "communication totals", "who sits out costs nothing", "everything sent is counted",
        "everything received is counted", "unbiased average"),
    "the state holds the start": ("no dead state", "shapes"),
    "it may see gradients alone, and no constant in a loss": ("loss offset",),
}
EXEMPT = {name: reason for reason, names in REASONS.items() for name in names}
OPTIMUM = {"optimum": "what the implementation keeps cannot be set"}
DIVIDES = {"no step, no move": "the method divides by the length of the steps"}
#: unequal weights; a sample of the clients; one client
CASES_OF_BLACK_BOXES = (
    Case(clients=3, dim=2, local_steps=2, runs=1, sigma=0.0),
    Case(clients=4, dim=2, rounds=4, local_steps=2, participants=2, equal=True, runs=1, sigma=0.0, seed=1),
    Case(clients=1, dim=1, rounds=2, local_steps=1, runs=1, sigma=0.0, seed=4),
)
WHERE = {"sigma": 0.0, "data": False, "free": 0}
_ANY = Algorithm()
_OWN = ("eta_l", "local_steps", "participants", "sampling")  # arguments that a job has by itself


@dataclass(frozen=True)
class Job:
    """One run that an implementation is asked for, in plain NumPy and torch.

    Attributes:
        gradients: of the clients' losses, from (dim,) to (dim,), float64.
        losses: the same clients as functions of a torch tensor (dim,), which autograd can differentiate.
        weights: of the clients, their sum is 1. ``num_examples`` are whole numbers in these proportions.
        start: the first model, (dim,).
        rounds, local_steps, eta_l: how many rounds, and gradient steps of which length in each.
        taking_part: for each round the clients that take part, in increasing order.
        hyper: further arguments by name.
    """

    gradients: tuple[Callable, ...]
    losses: tuple[Callable, ...]
    weights: np.ndarray
    start: np.ndarray
    rounds: int
    local_steps: int
    eta_l: float
    taking_part: tuple[tuple[int, ...], ...]
    hyper: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def num_examples(self) -> tuple[int, ...]:
        """The fewest samples of each client that give these weights. Raises ValueError if ten thousand are not enough."""
        shares = [Fraction(float(weight)).limit_denominator(10**4) for weight in self.weights]
        if not np.allclose([float(share) for share in shares], self.weights, 0, 1e-14):
            raise ValueError(f"weights must be shares of at most 10000 samples; got {self.weights.tolist()}")
        whole_of_all = lcm(*(share.denominator for share in shares))
        return tuple(int(share * whole_of_all) for share in shares)

    @classmethod
    def from_federation(cls, federation, start, taken, local_steps: int, eta_l: float,
                        hyper: Mapping[str, Any] | None = None) -> Self:
        """The job of a run from ``start`` (dim,) with the clients ``taken``, truth values (rounds, clients), on a federation
        of one instance without noise."""
        plain, differentiable = federation.to(NUMPY), federation.to(TORCH)

        def gradient(k, x):
            at = np.asarray(x, dtype=float).reshape(1, 1, -1)
            return np.array(plain.gradient(at, np.array([[k]]))[0, 0])

        def loss(k, x):
            return differentiable.value(x.reshape(1, 1, -1), TORCH.integers([[k]]))[0, 0]

        both = [tuple(partial(function, k) for k in range(federation.clients)) for function in (gradient, loss)]
        rows = tuple(tuple(map(int, np.flatnonzero(row))) for row in taken)
        return cls(*both, to_numpy(plain.weights)[0].copy(), np.array(start, dtype=float), len(rows), local_steps,
                   float(eta_l), rows, dict(hyper or {}))


@dataclass(frozen=True)
class BlackBox(Algorithm):
    """A foreign implementation as an algorithm. ``hyper`` are its further arguments; ``keeps`` the names of arrays that it
    shows besides the model: ``server_...`` (dim,) and ``client_...`` (clients, dim), zero before the first round."""

    implementation: Callable[[Job], Any] | None = None
    hyper: Mapping[str, Any] = field(default_factory=dict)
    keeps: tuple[str, ...] = ()
    kept: dict = field(default_factory=dict, compare=False, repr=False)  #: longest answers by question

    def refuses(self, federation):
        if np.any(to_numpy(federation.noise.variance)):
            return "a black box takes full gradients"
        if not isinstance(self.selection.sampling, EveryPriority) and np.ptp(to_numpy(federation.weights)) > 1e-12:
            return "a black box samples clients of equal weights only"
        return super().refuses(federation)

    def init(self, federation, x, draws=None) -> State:
        state, backend = super().init(federation, x, draws), federation.backend
        taken = backend.booleans(np.zeros((x.shape[0], 0, federation.clients), dtype=bool))
        zeros = {"server": 0 * x, "client": 0 * federation.all_clients(x)}
        server, clients = ({n: zeros[owner] for n in self.keeps if n.startswith(owner)} for owner in zeros)
        return state._replace(server={"start": x, "taken": taken} | server, clients=clients)

    def client_step(self, local, gradient, context):
        """The implementation takes the local steps."""
        return local

    def server_step(self, upload, context):
        state, federation, backend = context.state, context.federation, context.federation.backend
        runs, clients = context.x.shape[0], federation.clients
        active = np.broadcast_to(to_numpy(context.participation.weight) != 0, (runs, clients))
        taken = np.concatenate([to_numpy(state.server["taken"]), active[:, None]], axis=1)
        rounds = taken.shape[1]
        results = self.results(federation, to_numpy(state.server["start"]), taken)
        arrays = {name: backend.array(np.stack([result[name][rounds] for result in results])) for name in ("x", *self.keeps)}
        mine = {owner: {n: arrays[n] for n in self.keeps if n.startswith(owner)} for owner in ("server", "client")}
        server = state.server | {"taken": backend.booleans(taken)} | mine["server"]
        return state._replace(x=arrays["x"], server=server, clients=state.clients | mine["client"])

    def results(self, federation, starts, taken) -> list[dict[str, np.ndarray]]:
        """Returns for every run, from ``starts`` (runs, dim) with the clients ``taken`` (runs, rounds, clients), arrays of
        at least so many rounds: ``x`` (rounds + 1, dim) and those that it keeps."""
        alone = [federation] if federation.instances == 1 else [federation.select([i]) for i in range(federation.instances)]
        return [{"x": self._models(alone[i % len(alone)], start, rows, self.step(i))}
                for i, (start, rows) in enumerate(zip(starts, taken, strict=True))]

    def step(self, run: int) -> float:
        """The local step of a run."""
        return float(np.broadcast_to(np.asarray(self.eta_l, dtype=float), (run + 1,))[run])

    def _models(self, federation, start, rows, eta_l) -> np.ndarray:
        """The models of one run; with all clients longer than asked, and kept."""
        everybody, rounds = bool(rows.all()), len(rows)
        asked = digest_of(self.local_steps, eta_l, sorted(self.hyper.items()), start, None if everybody else rows)
        key = asked, fingerprint(_ANY, federation)
        before = self.kept.get(key, np.zeros((0, len(start))))
        if len(before) > rounds:
            return before
        if everybody:
            rounds = next(longer for k in range(99) if (longer := 5 * 4**k) >= rounds)
            rows = np.ones((rounds, federation.clients), dtype=bool)
        job = Job.from_federation(federation, start, rows, self.local_steps, eta_l, self.hyper)
        with np.errstate(all="ignore"):
            found = np.array([to_numpy(model) for model in self.implementation(job)], dtype=float)
        if found.shape != (rounds + 1, len(start)):
            raise TypeError(f"{self.name} must return the start and the model after each round, {(rounds + 1, len(start))}; "
                            f"got {found.shape}")
        if not np.allclose(before, found[:len(before)], 1e-6, 1e-6, equal_nan=True):
            raise RuntimeError("models of the first rounds depend on how many rounds follow, or on earlier calls")
        self.kept[key] = found
        return found


def maker(implementation: Callable, hyper: Mapping[str, Any], samples: bool = True, name: str | None = None, make=BlackBox,
          **more) -> Callable[..., BlackBox]:
    """A maker of black boxes whose plain arguments are eta_l, local_steps, participants (if it ``samples``) and those of
    ``hyper``."""
    kept: dict = {}
    title = name or getattr(implementation, "__name__", type(implementation).__name__)

    def make_black_box(eta_l=0.1, local_steps=1, participants=None, **given):
        return make(eta_l, local_steps, sampled(participants), implementation=implementation, hyper=dict(hyper) | given,
                    kept=kept, name=title, **more)

    kind = inspect.Parameter.KEYWORD_ONLY
    defaults = {"eta_l": 0.1, "local_steps": 1} | ({"participants": None} if samples else {}) | dict(hyper)
    make_black_box.__signature__ = inspect.Signature([inspect.Parameter(n, kind, default=v) for n, v in defaults.items()])
    make_black_box.__name__ = title
    return make_black_box


def promised(like: str, hyper: Mapping[str, Any]) -> Traits:
    """The traits of a black box that should be the method ``like`` with the arguments ``hyper``."""
    known = find_algorithm(like).traits
    units = {n: unit for n, unit in (known.units or {}).items() if n == "eta_l" or n in hyper} or None
    special = tuple(one for one in known.reductions if {*one.arguments} <= {*hyper} and one.on is None)
    point = known.fixed_point and FixedPoint(where=known.fixed_point.where, attracts=known.fixed_point.attracts)
    divides = DIVIDES if like == "scaffold" or "scaffold" in {one.to for one in known.reductions} else {}
    return Traits(translation=known.translation, orthogonal=known.orthogonal, units=units, where=WHERE | dict(known.where),
                  exempt=EXEMPT | OPTIMUM | divides, fixed_point=point, reductions=(Reduction(like), *special))


def check_foreign(
    implementation: Callable[[Job], Iterable], like: str = "fedavg", *, arguments: Mapping[str, Any] | None = None,
    samples: bool = True, federations=None, quick: bool = False, only: Iterable[str] | None = None,
) -> Report:
    """Check an implementation that is not of this package: against a registered method, and by the properties of both.

    Args:
        implementation: of a :class:`Job`; it returns the start and the model after each round, (rounds + 1, dim) or a list
            of arrays or tensors (dim,). It is called many times, and every call begins anew.
        like: the registered method that it should be.
        arguments: of that method besides the local step and the numbers of local steps and participants; the job has them
            as ``hyper``.
        samples: whether it respects who takes part in a round.
        federations: cases; default one with unequal weights, one with sampled clients, one with a single client.
        quick: only the first two, and failing federations are not shrunk.

    Returns:
        A report; the property ``always: <like>`` is the comparison of all models with the method's, to rounding.

    Raises:
        LookupError: unknown method, or argument of it. TypeError: it does not run, or returns something else.

    Example:
        >>> def descent(job):
        ...     x, models = job.start, [job.start]
        ...     for _ in range(job.rounds):
        ...         x = x - job.eta_l * sum(w * g(x) for w, g in zip(job.weights, job.gradients))
        ...         models.append(x)
        ...     return models
        >>> [result.name for result in check_foreign(descent, samples=False, quick=True).failed]
        ['always: fedavg']
    """
    hyper, known = dict(arguments or {}), find_algorithm(like).arguments
    for name in hyper:
        if name not in known or name in _OWN:
            raise nearest(f"argument of {like}", name, sorted({*known} - {*_OWN}))
    make = maker(implementation, hyper, samples)
    return check_algorithm(make, traits=promised(like, hyper), federations=federations or CASES_OF_BLACK_BOXES, quick=quick,
                           only=only)


def reference_models(like: str, case: Case, **arguments) -> np.ndarray:
    """The models of a registered method on a case, its first run, (rounds + 1, dim): exact up to rounding."""
    entry = find_algorithm(like)
    return models(Subject(like, entry.make, entry.arguments, entry.traits, arguments, NUMPY), case)[0]


def random_cases(count: int, seed: int = 0) -> tuple[Case, ...]:
    """``count`` further cases for black boxes: quadratics of up to six clients in up to four dimensions.

    Raises ValueError for a count that is not a whole number of at least 0.
    """
    rng, cases = np.random.default_rng(seed), []
    for number in range(whole("count", count, 0)):
        clients, dim, rounds, steps = (int(rng.integers(1, most + 1)) for most in (6, 4, 4, 4))
        some = clients > 1 and bool(rng.integers(2))
        cases.append(Case(clients, dim, rounds, steps, int(rng.integers(1, clients)) if some else None, 0.0, 1,
                          equal=some or bool(rng.integers(2)), common=bool(rng.integers(4) == 0), seed=seed + number))
    return tuple(cases)
