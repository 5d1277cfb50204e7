"""Rows of the comparison with slow references: control variates and momentum."""

from fractions import Fraction as Q

import numpy as np

from synthetic import Draws
from synthetic.numbers.draws import COMMUNICATION
from tests.fedtheory.references.checked import checked
from tests.fedtheory.references.drift import fedavg_m, fedcm, scaffnew, scaffold_m
from tests.fedtheory.references.sides import FALLING, row

__all__ = ["DRIFT"]

VARIATES = np.array([[Q((2 * i + 3 * j) % 5 - 2, 4) for j in range(3)] for i in range(5)])
VARIATE = np.array([Q(1, 8), Q(-1, 4), Q(1, 2)])
FREE = {"start": "free", "client_variate": VARIATES, "server_variate": VARIATE}
FREE_MEAN = {"start": "free-mean", "client_variate": VARIATES}
#: FedMO is FedMoSWA with constant local rates and the plain mean of the ends
CONSTANT = {"rho_decay": Q(1), "eta_g": Q(1)}


def swa(method, gamma=None, arguments=None, rho=Q(1, 4), alpha=Q(3, 2), **options):
    """A row of FedSWA's family: its own rates and its server step."""
    own = {"rho_decay": rho, "eta_g": alpha} | ({} if gamma is None else {"gamma": gamma})
    return checked(method, own | (arguments or {}), **options)


def fresh(arguments):
    """A row of MoSWA-fresh, where everybody takes part."""
    return swa("fedmoswa", Q(1, 4), {"variant": "fresh"} | arguments, participants=(None,))


def gamma_row(radius, **arguments):
    """A row of FedGAMMA: SCAFFOLD with the sharpness-aware gradient."""
    return checked("fedgamma", {"rho_sam": radius} | arguments, exact=False)


def coins(given, federation, algorithm, seed, rounds):
    """Which rounds communicate."""
    draws = Draws([seed], federation.backend)
    numbers = [draws.uniform(COMMUNICATION, t, np.array([[[0]]]), np.array([[[0]]]), ndim=3) for t in range(rounds)]
    return {"told": [bool(u.ravel()[0] < 0.5) for u in numbers]}


DRIFT = {
    **{f"scaffnew{', falling' * (step is FALLING)}": row(
        "scaffnew", scaffnew, {"communication": Q(1, 2)}, {"p": Q(1, 2)}, eta="eta", step=step, chance=coins,
        participants=(None,)) for step in (Q(1, 16), FALLING)},
    "scaffold": checked("scaffold"),
    "scaffold, falling": checked("scaffold", {"eta_g": Q(5, 4)}, step=FALLING),
    "scaffold, option I": checked("scaffold", {"option": "I", "eta_g": Q(3, 4)}),
    "scaffold, average gradient": checked("scaffold", {"option": "average-gradient", "start": "gradient"}),
    "scaffold, clients' gradients": checked("scaffold", {"start": "gradient-clients-only"}),
    "scaffold, free": checked("scaffold", FREE),
    "scaffold, free, mean": checked("scaffold", FREE_MEAN),
    "scaffold, sign": checked("scaffold", {"sign": "printed-eq3"}),
    "scaffold, sign, average gradient": checked("scaffold", {"sign": "printed-eq3", "option": "average-gradient"}),
    "scaffold, sign, option I": checked("scaffold", {"sign": "printed-eq3", "option": "I", "start": "gradient"}),
    "scaffold-m": row("scaffold-m", scaffold_m, eta="eta", common={"beta": Q(1, 4), "gamma": Q(1, 8)}),
    "scaffold-m, gradients": row(
        "scaffold-m", scaffold_m, {"start": "gradient"}, {"start": "grad"}, eta="eta",
        common={"beta": Q(3, 4), "gamma": Q(1, 8)}),
    "fedavg-m": row("fedavg-m", fedavg_m, eta="eta", common={"beta": Q(1, 4), "gamma": Q(1, 8)}),
    "fedavg-m, heavy ball": row(
        "fedavg-m", fedavg_m, {"momentum": "heavy-ball"}, {"heavy_ball": True}, eta="eta",
        common={"beta": Q(1, 4), "gamma": Q(1, 8)}),
    "fedcm": row("fedcm", fedcm, {"beta": Q(1, 4)}, {"alpha": Q(1, 4)}, eta="eta", common={"eta_g": Q(5, 4)}),
    "fedswa": swa("fedswa"),
    "fedswa, falling": swa("fedswa", step=FALLING, rho=Q(1), alpha=Q(1, 2)),
    "fedswa, geometric": swa("fedswa", arguments={"schedule": "geometric-h1"}),
    "fedmoswa": swa("fedmoswa", Q(1, 4)),
    "fedmoswa, falling": swa("fedmoswa", Q(3, 4), step=FALLING),
    "fedmoswa, geometric": swa("fedmoswa", Q(3, 4), {"schedule": "geometric-h1"}),
    "fedmoswa, option I": swa("fedmoswa", Q(1, 4), {"option": "I"}),
    "fedmoswa, gradients": swa("fedmoswa", Q(1, 4), {"start": "gradient"}),
    "fedmoswa, clients' gradients": swa("fedmoswa", Q(1, 4), {"start": "gradient-clients-only", "option": "I"}),
    "fedmoswa, free": swa("fedmoswa", Q(1, 4), FREE),
    "fedmoswa, free, mean": swa("fedmoswa", Q(1, 4), FREE_MEAN),
    "fedmoswa, all clients": swa("fedmoswa", Q(1, 4), {"variant": "all-clients"}),
    "fedmoswa, all clients, gradients": swa("fedmoswa", Q(3, 4), {"variant": "all-clients", "start": "gradient"}),
    "fedmoswa, all clients, free": swa("fedmoswa", Q(3, 4), FREE | {"variant": "all-clients", "option": "I"}),
    "fedmoswa, fresh": fresh({}),
    "fedmoswa, fresh, same samples": fresh({"batch": "same"}),
    "fedmoswa, fresh, free": fresh({"start": "free", "server_variate": VARIATE}),
    "fedmo": checked("fedmo", {"gamma": Q(1, 4)}, base="fedmoswa", told=CONSTANT),
    "fedmo, option I": checked("fedmo", {"gamma": Q(1, 4), "option": "I", "start": "gradient"}, base="fedmoswa",
                               told=CONSTANT),
    "fedgamma": gamma_row(0.1, eta_g=1.25),
    "fedgamma, gradients": gamma_row(0.2, start="gradient"),
}
