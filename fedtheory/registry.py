"""Every method by name: plain arguments in, an algorithm out."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedavg import FedAvg
from fedtheory.algorithms.fedprox import FedProx
from fedtheory.algorithms.local_only import LocalOnly
from fedtheory.selection import (
    AllClients,
    Always,
    Bernoulli,
    EveryPriority,
    FractionOfBoth,
    LossMatching,
    Matching,
    PriorityOnly,
    Selection,
    WithoutReplacement,
    WithReplacement,
)
from synthetic.checks import flag

__all__ = ["ALGORITHMS", "Method", "algorithm_names", "fedalign", "fedavg", "find_algorithm", "make_algorithm"]


def _sampling(participants: int | None, replacement: bool):
    law = WithReplacement if flag("replacement", replacement) else WithoutReplacement
    return EveryPriority() if participants is None else law(participants)


def _availability(free):
    if free is None:
        return Always()
    return free if hasattr(free, "available") else Bernoulli(free)


def _method(cls: type[Algorithm], eta_l, local_steps, matching: Matching, participants, replacement, free=None, **more):
    selection = Selection(matching, _sampling(participants, replacement), _availability(free))
    return cls(eta_l=eta_l, local_steps=local_steps, selection=selection, **more)


def fedavg(eta_l=0.1, local_steps=1, participants=None, replacement=True) -> FedAvg:
    """FedAvg on the priority clients; ``participants`` per round by scheme I (``replacement``) or II of Li et al. 2020.

    Example:
        >>> fedavg(eta_l=0.5, local_steps=4).local_steps
        4
    """
    return _method(FedAvg, eta_l, local_steps, PriorityOnly(), participants, replacement)


def fedprox(eta_l=0.1, local_steps=1, rho_prox=1.0, participants=None, replacement=True) -> FedProx:
    """FedProx on the priority clients."""
    return _method(FedProx, eta_l, local_steps, PriorityOnly(), participants, replacement, rho_prox=rho_prox)


def fedalign(
    eta_l=0.1, local_steps=1, epsilon=0.0, warmup=0, strict=True, indicator="broadcast", participants=None,
    replacement=True, free=None,
) -> FedAvg:
    """FedALIGN on FedAvg: free clients whose loss is within ``epsilon`` of the objective take part.

    ``free``: availability of free clients, ``Always()`` (default), ``Bernoulli(p)`` or just p, or ``Pattern(table)``;
    see :class:`fedtheory.LossMatching` for ``epsilon``, ``warmup``, ``strict`` and ``indicator``. With ``participants``
    it is the paper's partial participation, eq. (56).

    Example:
        At 0 the free client's loss is 2, the objective 1/2: they match below 1.6, and the steps to 1/4 and -1 average.

        >>> from synthetic import Quadratic
        >>> pair = Quadratic([[[1.0], [4.0]]], [[[1.0], [-1.0]]], priority=[[True, False]])
        >>> from fedtheory import run
        >>> [run(fedalign(0.25, epsilon=e), pair, 1).dataset.x.values[0, 1, 0].item() for e in (1.5, 1.6)]
        [0.25, -0.375]
    """
    matching = LossMatching(epsilon, warmup, strict, indicator)
    return _method(FedAvg, eta_l, local_steps, matching, participants, replacement, free)


def fedalign_fedprox(
    eta_l=0.1, local_steps=1, epsilon=0.0, warmup=0, strict=True, indicator="broadcast", rho_prox=1.0, participants=None,
    replacement=True, free=None,
) -> FedProx:
    """FedALIGN on FedProx; losses are compared without the proximal term."""
    matching = LossMatching(epsilon, warmup, strict, indicator)
    return _method(FedProx, eta_l, local_steps, matching, participants, replacement, free, rho_prox=rho_prox)


def fedavg_all(eta_l=0.1, local_steps=1, warmup=0) -> FedAvg:
    """FedAvg on all clients, weights p_k / (1 + P_N)."""
    return _method(FedAvg, eta_l, local_steps, AllClients(warmup), None, True)


def fedprox_all(eta_l=0.1, local_steps=1, warmup=0, rho_prox=1.0) -> FedProx:
    """FedProx on all clients, weights p_k / (1 + P_N)."""
    return _method(FedProx, eta_l, local_steps, AllClients(warmup), None, True, rho_prox=rho_prox)


def fedalign_fraction(
    eta_l=0.1, local_steps=1, epsilon=0.0, warmup=0, strict=True, fraction=0.3, normalisation="participants"
) -> FedAvg:
    """FedALIGN with a random fraction of the priority clients and of the free clients in each round."""
    drawn = FractionOfBoth(fraction, normalisation)
    return FedAvg(eta_l, local_steps, Selection(LossMatching(epsilon, warmup, strict), drawn, drawn))


def local_only(eta_l=0.1, local_steps=1) -> LocalOnly:
    """Local training without communication."""
    return LocalOnly(eta_l=eta_l, local_steps=local_steps)


@dataclass(frozen=True)
class Method:
    """A named method: its maker, one line about it, where it comes from, and the ids that specifications give it."""

    make: Callable[..., Algorithm]
    description: str
    source: str
    ids: tuple[str, ...] = ()

    @property
    def arguments(self) -> dict[str, Any]:
        """Names and defaults of the plain arguments."""
        return {name: p.default for name, p in inspect.signature(self.make).parameters.items()}


_FEDALIGN = "Ravi, Shomorony: FedALIGN"
ALGORITHMS = {
    "fedavg": Method(fedavg, "FedAvg, full participation or Li et al.'s schemes I and II", "McMahan et al. 2017; Li et "
                     "al. 2020"),
    "fedprox": Method(fedprox, "FedAvg with a proximal term", "Li et al. 2018"),
    "fedalign": Method(fedalign, "FedAvg with free clients of matching loss", _FEDALIGN + ", Section 3",
                       ("fedalign/alg-fedavg", "fedalign/alg-arbitrary", "fedalign/alg-partial",
                        "fedalign/alg-partial-without-replacement")),
    "fedalign-fedprox": Method(fedalign_fedprox, "FedProx with free clients of matching loss", _FEDALIGN + ", C.2",
                               ("fedalign/alg-fedprox",)),
    "fedalign-fraction": Method(fedalign_fraction, "FedALIGN on a random fraction of both groups", _FEDALIGN + ", C.3",
                                ("fedalign/alg-fraction",)),
    "fedavg-priority": Method(fedavg, "baseline: FedAvg on the priority clients", _FEDALIGN + ", Section 4",
                              ("fedalign/fedavg-priority",)),
    "fedavg-all": Method(fedavg_all, "baseline: FedAvg on all clients", _FEDALIGN + ", Section 4",
                         ("fedalign/fedavg-all",)),
    "fedprox-priority": Method(fedprox, "baseline: FedProx on the priority clients", _FEDALIGN + ", C.2",
                               ("fedalign/fedprox-priority",)),
    "fedprox-all": Method(fedprox_all, "baseline: FedProx on all clients", _FEDALIGN + ", C.2",
                          ("fedalign/fedprox-all",)),
    "local-only": Method(local_only, "baseline: every client alone", _FEDALIGN + ", C.1",
                         ("fedalign/local-only",)),
}


def algorithm_names() -> dict[str, str]:
    """Every method's name, with one line about it."""
    return {name: method.description for name, method in ALGORITHMS.items()}


def find_algorithm(name: str) -> Method:
    """The method of that name or specification id; an unknown one raises LookupError and suggests the nearest."""
    name = next((own for own, method in ALGORITHMS.items() if name in method.ids), name)
    if name not in ALGORITHMS:
        near = get_close_matches(name, ALGORITHMS, n=3, cutoff=0.4)
        hint = f"nearest: {', '.join(near)}" if near else f"known: {', '.join(ALGORITHMS)}"
        raise LookupError(f"unknown algorithm {name!r}; {hint}")
    return ALGORITHMS[name]


def make_algorithm(name: str, **arguments) -> Algorithm:
    """An algorithm by name; an unknown argument raises ValueError that lists the allowed ones.

    Example:
        >>> make_algorithm("fedprox", eta_l=0.5, local_steps=2).rho_prox
        1.0
    """
    method = find_algorithm(name)
    unknown = sorted(set(arguments) - set(method.arguments))
    if unknown:
        raise ValueError(f"{name} takes no argument {unknown[0]!r}; allowed: {', '.join(method.arguments)}")
    return method.make(**arguments)
