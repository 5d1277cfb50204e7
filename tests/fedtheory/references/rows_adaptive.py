"""Rows of the comparison with slow references: adaptive steps, whose roots leave the fractions."""

from fractions import Fraction as Q

import numpy as np

from fedtheory.client_steps import RandomSteps
from synthetic import Draws
from synthetic.numbers.draws import STEPS, TRACKERS
from tests.fedtheory.references.adaptive import fedams, fedavgm, fedlada, fednova, fedopt
from tests.fedtheory.references.checked import checked
from tests.fedtheory.references.sides import FALLING, row

__all__ = ["ADAPTIVE"]

MOMENTS = {"beta1": 0.5, "beta2": 0.75, "eta_g": 0.2}
LOCAL = {"beta1": 0.5, "beta2": 0.75, "eta_g": 1.25, "eps": 0.01}


def opt(method, kind, arguments, told, **common):
    """A row of FedOpt's family."""
    return row(method, fedopt, {"eps": 0.1} | arguments, {"kind": kind, "tau": 0.1} | told, common=common, exact=False)


def adam(method, participants=(None, 3), chance=lambda *_: {}, **arguments):
    """A row of the methods with Adam on the clients."""
    return checked(method, LOCAL | arguments, exact=False, participants=participants, chance=chance)


def tracked(size):
    """The trackers of every round: the ``size`` participants with the smallest numbers of the stream for trackers."""
    def chance(given, federation, algorithm, seed, rounds):
        draws = Draws([seed], federation.backend)
        numbers = [draws.uniform(TRACKERS, t, draws.client_numbers(given.clients), ndim=2)[0] for t in range(rounds)]
        return {"tracked": [tuple(sorted(S, key=lambda i, t=t: numbers[t][i])[:size]) for t, S in enumerate(given.active)]}

    return chance


def nova(client_steps, **told):
    """Rows of FedNova: the same numbers of steps in every round, or random ones."""
    def chance(given, federation, algorithm, seed, rounds):
        if not callable(client_steps):
            return {"steps": [client_steps or [given.local_steps] * given.clients] * rounds}
        draws = Draws([seed], federation.backend)
        least = client_steps.least(given.local_steps)
        counts = np.full((1, given.clients), given.local_steps - least + 1)
        numbers = [draws.uniform(STEPS, t, draws.client_numbers(given.clients), ndim=2)[0] for t in range(rounds)]
        return {"steps": [[least + int(u * c) for u, c in zip(row, counts[0], strict=True)] for row in numbers]}

    return row("fednova", fednova, {"client_steps": client_steps} | told.pop("arguments", {}), chance=chance, **told)


ADAPTIVE = {
    "fedavgm": row("fedavgm", fedavgm, {"beta1": Q(1, 2)}, {"beta_u": Q(1, 2)}, common={"eta_g": Q(3, 4)}),
    "fedadagrad": opt("fedadagrad", "adagrad", {}, {"beta2": None, "v_init": 0.01}, beta1=0.0, eta_g=0.2),
    "fedadagrad, momentum": opt("fedadagrad", "adagrad", {}, {"beta2": None}, beta1=0.5, eta_g=0.2, v_init=0.3),
    "fedadam": opt("fedadam", "adam", {}, {"v_init": 0.01}, **MOMENTS),
    "fedadam, zero": opt("fedadam", "adam", {}, {}, **MOMENTS, v_init=0.0),
    "fedyogi": opt("fedyogi", "yogi", {}, {"v_init": 0.01}, **MOMENTS),
    "fedyogi, zero": opt("fedyogi", "yogi", {}, {}, **MOMENTS, v_init=0.0),
    "fedams": row("fedams", fedams, common=MOMENTS | {"eps": 0.02, "option": "fedams"}, exact=False),
    "fedams, start": row("fedams", fedams, common=MOMENTS | {"eps": 0.02, "option": "fedams", "v_init": 0.1}, exact=False),
    "fedamsgrad": row("fedams", fedams, common=MOMENTS | {"eps": 0.02, "option": "fedamsgrad"}, exact=False),
    **{f"local-adam, {vhat}, {store}, {norm}, {index}": adam(
        "local-adam", (3,), vhat=vhat, store=store, norm=norm, moment_index=index)
        for vhat in ("reset", "carry", "zero", "none") for store in ("v", "vhat") for norm in ("elem", "scalar")
        for index in ("immediate", "delayed")},
    "local-adam, start": adam("local-adam", v_init=0.5),
    "local-adam, beta2 = eps = 0": adam("local-adam", beta2=0.0, eps=0.0),
    "local-adam, beta2 = eps = 0, scalar, delayed": adam(
        "local-adam", beta2=0.0, eps=0.0, norm="scalar", moment_index="delayed"),
    **{f"{name}, {vhat}, {norm}, {index}": adam(name, y_init="gradient", vhat=vhat, norm=norm, moment_index=index)
        for name in ("fadamgc", "fa-nt") for vhat in ("reset", "carry", "zero", "none")
        for norm, index in (("elem", "immediate"), ("scalar", "delayed"))},
    **{f"{name}, {label}": adam(name, participants, tracked(2), trackers=2, **arguments)
       for name in ("fadamgc", "fa-nt") for label, participants, arguments in (
           ("trackers", (None, 3), {}), ("trackers, normalised", (3,), {"y_init": "normalised-gradient"}))},
    "fadamgc": adam("fadamgc"),
    "fadamgc, store": adam("fadamgc", store="vhat", vhat="carry"),
    "fa-nt": adam("fa-nt"),
    "fa-nt, store": adam("fa-nt", store="vhat", vhat="zero"),
    "fa-nt-z": adam("fa-nt-z", (None,)),
    "fa-nt-z, gradients": adam("fa-nt-z", (None,), y_init="gradient"),
    "fa-nt-z, scalar": adam("fa-nt-z", (None,), y_init="normalised-gradient", norm="scalar", vhat="carry",
                            store="vhat", moment_index="delayed"),
    "fednova": nova([3, 1, 2, 3, 1], common={"eta_g": Q(3, 4)}),
    "fednova, everybody": nova(None),
    "fednova, random": nova(RandomSteps(0.3), step=FALLING),
    "fednova, momentum": nova([3, 1, 2, 3, 1], arguments={"beta": Q(1, 4)}, told={"momentum": Q(3, 4)}),
    "fednova, pull": nova([3, 1, 2, 3, 1], arguments={"rho_prox": Q(1, 2)}, told={"mu": Q(1, 2)}),
    "fedlada": row("fedlada", fedlada, common=LOCAL | {"alpha": 0.25}, exact=False),
    "fedlada, local": row("fedlada", fedlada, common=LOCAL | {"alpha": 0.25, "moments": "local"}, exact=False),
}
