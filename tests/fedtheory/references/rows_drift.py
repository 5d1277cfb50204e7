"""Rows of the comparison with slow references: control variates and momentum."""

from __future__ import annotations

from fractions import Fraction as Q

import numpy as np

from tests.fedtheory.references.drift import (
    fedavg_m,
    fedcm,
    fedgamma,
    fedmo,
    fedmoswa,
    fedmoswa_fresh,
    fedswa,
    scaffold,
    scaffold_m,
)
from tests.fedtheory.references.sides import FALLING, row

__all__ = ["DRIFT"]

VARIATES = np.array([[Q((2 * i + 3 * j) % 5 - 2, 4) for j in range(3)] for i in range(5)])
VARIATE = np.array([Q(1, 8), Q(-1, 4), Q(1, 2)])
FREE = {"start": "free", "client_variate": VARIATES, "server_variate": VARIATE}


def swa(method, reference, arguments=None, told=None, rho=Q(1, 4), alpha=Q(3, 2), **options):
    """A row of FedSWA's family: its own rates and its server step."""
    return row(method, reference, {"rho_decay": rho, "eta_g": alpha} | (arguments or {}),
               {"rho": rho, "alpha": alpha} | (told or {}), **options)


DRIFT = {
    "scaffold": row("scaffold", scaffold),
    "scaffold, falling": row("scaffold", scaffold, step=FALLING, common={"eta_g": Q(5, 4)}),
    "scaffold, option I": row("scaffold", scaffold, {"option": "I"}, {"refresh": "gradient"}, common={"eta_g": Q(3, 4)}),
    "scaffold, average gradient": row(
        "scaffold", scaffold, {"option": "average-gradient", "start": "gradient"},
        {"refresh": "average_gradient", "start": "grad"}),
    "scaffold, clients' gradients": row(
        "scaffold", scaffold, {"start": "gradient-clients-only"}, {"start": "grad-c"}),
    "scaffold, free": row("scaffold", scaffold, FREE, {"start": (VARIATES, VARIATE)}),
    "scaffold, sign": row("scaffold", scaffold, {"sign": "printed-eq3"}, {"sign": "printed_eq3"}),
    "scaffold, sign, average gradient": row(
        "scaffold", scaffold, {"sign": "printed-eq3", "option": "average-gradient"},
        {"sign": "printed_eq3", "refresh": "average_gradient"}),
    "scaffold, sign, option I": row(
        "scaffold", scaffold, {"sign": "printed-eq3", "option": "I", "start": "gradient"},
        {"sign": "printed_eq3", "refresh": "gradient", "start": "grad"}),
    "scaffold-m": row("scaffold-m", scaffold_m, eta="eta", common={"beta": Q(1, 4), "gamma": Q(1, 8)}),
    "scaffold-m, gradients": row(
        "scaffold-m", scaffold_m, {"start": "gradient"}, {"start": "grad"}, eta="eta",
        common={"beta": Q(3, 4), "gamma": Q(1, 8)}),
    "fedavg-m": row("fedavg-m", fedavg_m, eta="eta", common={"beta": Q(1, 4), "gamma": Q(1, 8)}),
    "fedavg-m, heavy ball": row(
        "fedavg-m", fedavg_m, {"momentum": "heavy-ball"}, {"heavy_ball": True}, eta="eta",
        common={"beta": Q(1, 4), "gamma": Q(1, 8)}),
    "fedcm": row("fedcm", fedcm, {"beta": Q(1, 4)}, {"alpha": Q(1, 4)}, eta="eta", common={"eta_g": Q(5, 4)}),
    "fedswa": swa("fedswa", fedswa),
    "fedswa, falling": swa("fedswa", fedswa, step=FALLING, rho=Q(1), alpha=Q(1, 2)),
    "fedswa, geometric": swa("fedswa", fedswa, {"schedule": "geometric-h1"}, {"rho": None}),
    "fedmoswa": swa("fedmoswa", fedmoswa, common={"gamma": Q(1, 4)}),
    "fedmoswa, falling": swa("fedmoswa", fedmoswa, common={"gamma": Q(3, 4)}, step=FALLING),
    "fedmoswa, geometric": swa(
        "fedmoswa", fedmoswa, {"schedule": "geometric-h1"}, {"rho": None}, common={"gamma": Q(3, 4)}),
    "fedmoswa, option I": swa("fedmoswa", fedmoswa, common={"gamma": Q(1, 4), "option": "I"}),
    "fedmoswa, gradients": swa("fedmoswa", fedmoswa, {"start": "gradient"}, {"start": "grad"}, common={"gamma": Q(1, 4)}),
    "fedmoswa, clients' gradients": swa(
        "fedmoswa", fedmoswa, {"start": "gradient-clients-only"}, {"start": "grad-c"},
        common={"gamma": Q(1, 4), "option": "I"}),
    "fedmoswa, free": swa("fedmoswa", fedmoswa, FREE, {"start": (VARIATES, VARIATE)}, common={"gamma": Q(1, 4)}),
    "fedmoswa, all clients": swa(
        "fedmoswa", fedmoswa, {"variant": "all-clients"}, {"average": "all"}, common={"gamma": Q(1, 4)}),
    "fedmoswa, all clients, gradients": swa(
        "fedmoswa", fedmoswa, {"variant": "all-clients", "start": "gradient"}, {"average": "all", "start": "grad"},
        common={"gamma": Q(3, 4)}),
    "fedmoswa, all clients, free": swa(
        "fedmoswa", fedmoswa, FREE | {"variant": "all-clients"}, {"average": "all", "start": (VARIATES, VARIATE)},
        common={"gamma": Q(3, 4), "option": "I"}),
    "fedmoswa, fresh": swa(
        "fedmoswa", fedmoswa_fresh, {"variant": "fresh"}, common={"gamma": Q(1, 4)}, participants=(None,)),
    "fedmoswa, fresh, same samples": swa(
        "fedmoswa", fedmoswa_fresh, {"variant": "fresh"}, common={"gamma": Q(1, 4), "batch": "same"}, participants=(None,)),
    "fedmoswa, fresh, free": swa(
        "fedmoswa", fedmoswa_fresh, {"variant": "fresh", "start": "free", "server_variate": VARIATE}, {"m": VARIATE},
        common={"gamma": Q(1, 4)}, participants=(None,)),
    "fedmo": row("fedmo", fedmo, common={"gamma": Q(1, 4)}),
    "fedmo, option I": row(
        "fedmo", fedmo, {"start": "gradient"}, {"start": "grad"}, common={"gamma": Q(1, 4), "option": "I"}),
    "fedgamma": row("fedgamma", fedgamma, {"rho_sam": 0.1}, {"r": 0.1}, common={"eta_g": 1.25}, exact=False),
    "fedgamma, gradients": row("fedgamma", fedgamma, {"rho_sam": 0.2, "start": "gradient"}, {"r": 0.2, "start": "grad"},
                               exact=False),
}
