"""A slow, independent reference: the paper's pseudocode with plain loops over runs, clients and local steps."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from synthetic.numbers.draws import CLIENTS, FREE, Draws

__all__ = ["Method", "reference_run"]


@dataclass(frozen=True)
class Method:
    """What the pseudocode needs to know.

    ``eta`` and ``epsilon`` are functions of (local iteration, round). ``match``: ``nobody``, ``everybody`` or ``loss``.
    ``sampling``: None, ``("with", s)``, ``("without", s)``, ``("scheme II", s)``, which averages models and not changes, or
    ``("fraction", f, normalisation)``. ``free``: None,
    ``("bernoulli", p)``, ``("pattern", table)`` or ``("fraction", f)``.
    """

    eta: Callable[[int, int], float]
    local_steps: int = 1
    match: str = "nobody"
    epsilon: Callable[[int, int], float] = lambda t, r: 0.0
    warmup: int = 0
    strict: bool = True
    indicator: str = "broadcast"
    sampling: Any = None
    free: Any = None
    rho_prox: float = 0.0
    communicates: bool = True


class _Problem:
    """One instance of a federation, asked at single points of single clients."""

    def __init__(self, federation, run: int):
        self.federation = federation if federation.instances == 1 else federation.select([run])
        self.p = [float(p) for p in self.federation.weights[0]]
        self.priority = [bool(q) for q in self.federation.priority[0]]
        self.clients = len(self.p)

    def loss(self, k, w):
        return float(self.federation.value(w[None, None, :], np.array([[k]]))[0, 0])

    def objective(self, w):
        return sum(self.p[k] * self.loss(k, w) for k in range(self.clients) if self.priority[k])

    def gradient(self, k, w, draws, t):
        return self.federation.stochastic_gradient(w[None, None, :], draws, t, np.array([[k]]))[0, 0]


def _uniform(draws, stream, round, number):
    return float(draws.uniform(stream, round, np.array([[number]]), ndim=2)[0, 0])


def _members_drawn(draws, stream, round, members, count):
    """``count`` of ``members``: those whose uniform numbers are smallest."""
    keyed = sorted((_uniform(draws, stream, round, i), k) for i, k in enumerate(members))
    return {k for _, k in keyed[:count]}


def _shares(method, problem, draws, r):
    """What stands in place of p_k for each priority client."""
    members = [k for k in range(problem.clients) if problem.priority[k]]
    share = {k: problem.p[k] for k in members}
    if method.sampling is None:
        return share
    law, size, *rest = method.sampling
    if law == "with":
        counts = dict.fromkeys(members, 0)
        for slot in range(size):
            u, reached = _uniform(draws, CLIENTS, r, slot), 0.0
            for k in members:
                reached += problem.p[k]
                if u < reached:
                    counts[k] += 1
                    break
        return {k: counts[k] / size for k in members}
    count = size if law in ("without", "scheme II") else max(1, int(size * len(members) + 0.5))
    drawn = _members_drawn(draws, CLIENTS, r, members, count)
    if law == "fraction" and rest[0] == "participants":
        total = sum(problem.p[k] for k in drawn)
        return {k: problem.p[k] / total if k in drawn else 0.0 for k in members}
    return {k: problem.p[k] * len(members) / count if k in drawn else 0.0 for k in members}


def _available(method, problem, draws, r, run):
    members = [k for k in range(problem.clients) if not problem.priority[k]]
    if method.free is None:
        return set(members)
    law, value = method.free
    if law == "bernoulli":
        return {k for k in members if _uniform(draws, FREE, r, k) < value}
    if law == "fraction":
        return _members_drawn(draws, FREE, r, members, int(value * len(members) + 0.5))
    table = value if np.ndim(value) == 2 else value[run]
    return {k for k in members if table[min(r, len(table) - 1)][k]}


def _matched(method, problem, models, tau, r):
    """Free clients whose loss is within epsilon of the objective, both at the client's entry of ``models``."""
    if method.match == "nobody":
        return set()
    free = {k for k in range(problem.clients) if not problem.priority[k]}
    if method.match == "everybody":
        return free
    limit = method.epsilon(tau, r)
    gaps = {k: abs(problem.loss(k, models[k]) - problem.objective(models[k])) for k in free}
    return {k for k in free if (gaps[k] < limit if method.strict else gaps[k] <= limit)}


def _one_run(method, problem, draws, start, rounds, run):
    K, w = method.local_steps, np.array(start, dtype=float)
    own = [w.copy() for _ in range(problem.clients)]
    path, chosen, weights = [w], [], []
    for r in range(rounds):
        tau = r * K
        begin = [w] * problem.clients if method.communicates else own
        counted = _matched(method, problem, begin, tau, r) & _available(method, problem, draws, r, run)
        local = [v.copy() for v in begin]
        for j in range(K):
            if j and method.indicator == "local-every-step":
                counted = _matched(method, problem, local, tau + j, r) & _available(method, problem, draws, r, run)
            for k in range(problem.clients):
                step = problem.gradient(k, local[k], draws, tau + j) + method.rho_prox * (local[k] - w)
                local[k] = local[k] - method.eta(tau + j, r) * step
        if method.indicator == "local-at-aggregation":  # the indicator of time (r + 1) K
            counted = _matched(method, problem, local, tau + K, r + 1) & _available(method, problem, draws, r + 1, run)
        if r < method.warmup:
            counted = set()
        share = _shares(method, problem, draws, r)
        S = sum(problem.p[k] for k in counted)
        weight = [(share[k] if problem.priority[k] else problem.p[k] * (k in counted)) / (1 + S)
                  for k in range(problem.clients)]
        kept = sum(weight) if method.sampling and method.sampling[0] == "scheme II" else 1
        w, own = kept * w + sum(weight[k] * (local[k] - w) for k in range(problem.clients)), local
        path.append(w)
        chosen.append([problem.priority[k] or k in counted for k in range(problem.clients)])
        weights.append(weight)
    return np.array(path), np.array(chosen), np.array(weights), np.array(own)


def reference_run(method: Method, federation, seeds, start, rounds: int) -> dict[str, np.ndarray]:
    """Run ``method`` from ``start`` (runs, dim) on a NumPy federation, one run after the other.

    Returns ``x`` (runs, rounds + 1, dim), ``included`` and ``weight`` of the aggregations (runs, rounds, clients), and
    the last local models ``local`` (runs, clients, dim).
    """
    results = [
        _one_run(method, _Problem(federation, run), Draws([seed], federation.backend), start[run], rounds, run)
        for run, seed in enumerate(seeds)
    ]
    return {name: np.stack(values) for name, values in zip(("x", "included", "weight", "local"), zip(*results, strict=True),
                                                           strict=True)}
