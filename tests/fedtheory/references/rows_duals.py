"""Rows of the comparison with slow references: primal-dual methods, sharpness-aware gradients, FedACG."""

from fractions import Fraction as Q

from tests.fedtheory.references.checked import checked
from tests.fedtheory.references.duals import afedpd_aligned, fedadmm_with_g, fedsmoo, fedspeed, solve_inexactly
from tests.fedtheory.references.sharpness import fedacg, fedasam, fedlesam
from tests.fedtheory.references.sides import FALLING, row

__all__ = ["DUALS", "SHARPNESS"]

RHO, TOLERANCE = Q(3, 4), 0.0625


def dual(method, arguments=None, solver="gradient", **options):
    """A row of a primal-dual method with one of the local solvers; the checker is told another way to solve exactly."""
    arguments = {"rho_prox": RHO, "solver": solver} | (arguments or {})
    if solver == "tolerance":
        arguments["epsilon"] = TOLERANCE
        options |= {"told": {"solver": "exact"}, "solver": solve_inexactly}
    if solver != "gradient":
        options["local_steps"] = 1
    if arguments.get("output") == "bar":
        options["state"] = "server_x_bar"
    return checked(method, arguments, **options)


def sam_dual(**arguments):
    """A row of A-FedPDSAM: A-FedPD with the sharpness-aware gradient."""
    return checked(
        "afedpdsam", {"rho_prox": RHO, "rho_sam": 0.1} | arguments, exact=False,
        state="x_round" if arguments["output"] == "server" else "server_x_bar")


DUALS = {
    **{f"{label}, {solver}": dual(method, arguments, solver, participants=participants)
       for solver in ("gradient", "exact", "tolerance") for label, method, arguments, participants in (
           ("fedpd", "fedpd", {}, (None,)),
           ("fedadmm, eq6", "fedadmm", {}, (None, 3)),
           ("fedadmm, stale", "fedadmm", {"variant": "stale"}, (None, 3)),
           ("feddyn, next", "feddyn", {}, (None, 3)),
           ("feddyn, printed", "feddyn", {"order": "printed"}, (None, 3)),
           ("afedpd, bar", "afedpd", {"output": "bar"}, (None, 3)),
           ("afedpd, server", "afedpd", {"output": "server"}, (1, 3)))},
    **{f"fedadmm, g, {label}": row("fedadmm", fedadmm_with_g, {"rho_prox": RHO} | arguments, {"rho": RHO} | told)
       for label, arguments, told in (
           ("ridge", {"l2": Q(1, 2)}, {"l2": Q(1, 2), "l1": 0, "w": 1 / (2 * RHO)}),
           ("both", {"l2": Q(1, 2), "l1": Q(1, 2)}, {"l2": Q(1, 2), "l1": Q(1, 2), "w": 1 / (2 * RHO)}),
           ("consistent", {"l1": Q(1, 4), "weight": "consistent"}, {"l2": 0, "l1": Q(1, 4), "w": RHO / 2}))},
    "feddyn, falling": dual("feddyn", step=FALLING),
    "afedpd, aligned": row("afedpd", lambda *a, **k: afedpd_aligned(*a, **k)[0], {"rho_prox": RHO}, {"rho": RHO},
                           weighted=False),  # its v is the mean dual where weights are equal
    "afedpd, aligned, server": row("afedpd", lambda *a, **k: afedpd_aligned(*a, **k)[1],
                                   {"rho_prox": RHO, "output": "server"}, {"rho": RHO}, participants=(None, 2),
                                   weighted=False),
    "afedpdsam, bar": sam_dual(output="bar"),
    "afedpdsam, server, eps": sam_dual(output="server", sam_eps=0.05),
    "fedspeed": row("fedspeed", fedspeed, {"rho_prox": RHO, "rho_sam": Q(1, 8)}, {"rho": RHO, "r": Q(1, 8)}, eta="eta",
                    common={"alpha": Q(1, 2)}),
    "fedspeed, uphill only": row("fedspeed", fedspeed, {"rho_prox": RHO, "rho_sam": Q(1, 8)}, {"rho": RHO, "r": Q(1, 8)},
                                 eta="eta", common={"alpha": Q(1)}),
    **{f"fedsmoo, {sent}, {order}": row(
        "fedsmoo", fedsmoo, {"rho_prox": 0.75, "rho_sam": 0.1, "sent": sent}, {"a": 4 / 3, "r": 0.1, "s_from": sent},
        eta="eta", common={"order": order}, exact=False) for sent in ("mu", "s_hat") for order in ("next", "printed")},
}
SHARPNESS = {
    "fedacg": row("fedacg", fedacg, {"rho_prox": Q(1, 2)}, {"beta": Q(1, 2)}, common={"lam": Q(3, 4)}),
    "fedsam": checked("fedsam", {"rho_sam": 0.1, "eta_g": 1.5}, exact=False),
    "mofedsam": checked("mofedsam", {"rho_sam": 0.1, "beta": 0.25, "eta_g": 0.75}, exact=False),
    "fedasam": row("fedasam", fedasam, {"rho_sam": 0.25}, {"r": 0.25}, common={"eta_g": 0.75, "nu": 0.125}, exact=False),
    "fedasam, averaged": row(
        "fedasam", fedasam, {"rho_sam": 0.25, "swa_start": 1, "swa_cycle": 2, "swa_ratio": 0.25},
        {"r": 0.25, "start": 1, "cycle": 2, "ratio": 0.25}, common={"nu": 0.125}, exact=False),
    "fedlesam": row("fedlesam", fedlesam, {"rho_sam": 0.1}, {"r": 0.1}, common={"eta_g": 1.5}, exact=False),
}
