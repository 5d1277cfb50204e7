"""Rows of the comparison with slow references: primal-dual methods, sharpness-aware gradients, FedACG."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as Q

from tests.fedtheory.references.duals import (
    afedpd,
    afedpd_aligned,
    fedadmm_eq6,
    fedadmm_stale,
    fedadmm_with_g,
    feddyn,
    fedpd,
    fedsmoo,
    fedspeed,
    solve_exactly,
    solve_inexactly,
    take_steps,
)
from tests.fedtheory.references.sharpness import fedacg, fedasam, fedlesam, fedsam, mofedsam
from tests.fedtheory.references.sides import FALLING, row

__all__ = ["DUALS", "SHARPNESS"]

RHO = Q(3, 4)


def dual(method, reference, arguments=None, told=None, solver="gradient", **options):
    """A row of a primal-dual method with one of the local solvers."""
    arguments = {"rho_prox": RHO, "solver": solver} | (arguments or {})
    if solver == "tolerance":
        arguments["epsilon"] = 0.0625
    if solver != "gradient":
        options["local_steps"] = 1

    def reference_with_solver(given, eta_l, rho, r=None, sam_eps=0, **rest):
        local = {
            "gradient": lambda: take_steps(given, rho, eta_l, r, sam_eps), "exact": lambda: solve_exactly(given, rho),
            "tolerance": lambda: solve_inexactly(given, rho, eta_l, 0.0625),
        }[solver]()
        return reference(given, rho, local, **rest)

    return row(method, reference_with_solver, arguments, {"rho": RHO} | (told or {}), **options)


def bars(*arguments, **options):
    """The averages of A-FedPD."""
    return afedpd(*arguments, **options)[0]


def servers(*arguments, **options):
    """The server's models of A-FedPD."""
    return afedpd(*arguments, **options)[1]


def sam_dual(reference, arguments, told, **options):
    """A row of A-FedPDSAM."""
    made = dual("afedpdsam", reference, {"rho_sam": 0.1} | arguments, {"r": 0.1} | told, exact=False, **options)
    return replace(made, arguments={name: value for name, value in made.arguments.items() if name != "solver"})


DUALS = {
    **{f"{label}, {solver}": dual(method, reference, arguments, told, solver, participants=participants)
       for solver in ("gradient", "exact", "tolerance") for label, method, reference, arguments, told, participants in (
           ("fedpd", "fedpd", fedpd, {}, {}, (None,)),
           ("fedadmm, eq6", "fedadmm", fedadmm_eq6, {}, {}, (None, 3)),
           ("fedadmm, stale", "fedadmm", fedadmm_stale, {"variant": "stale"}, {}, (None, 3)),
           ("feddyn, next", "feddyn", feddyn, {}, {}, (None, 3)),
           ("feddyn, printed", "feddyn", feddyn, {"order": "printed"}, {"order": "printed"}, (None, 3)),
           ("afedpd, bar", "afedpd", bars, {}, {}, (None, 3)),
           ("afedpd, server", "afedpd", servers, {"output": "server"}, {}, (1, 3)))},
    **{f"fedadmm, g, {label}": dual("fedadmm", fedadmm_with_g, arguments, told) for label, arguments, told in (
        ("ridge", {"l2": Q(1, 2)}, {"l2": Q(1, 2), "l1": 0, "w": 1 / (2 * RHO)}),
        ("both", {"l2": Q(1, 2), "l1": Q(1, 2)}, {"l2": Q(1, 2), "l1": Q(1, 2), "w": 1 / (2 * RHO)}),
        ("consistent", {"l1": Q(1, 4), "weight": "consistent"}, {"l2": 0, "l1": Q(1, 4), "w": RHO / 2}))},
    "feddyn, falling": dual("feddyn", feddyn, step=FALLING),
    "afedpd, aligned": row("afedpd", lambda *a, **k: afedpd_aligned(*a, **k)[0], {"rho_prox": RHO}, {"rho": RHO}),
    "afedpd, aligned, server": row("afedpd", lambda *a, **k: afedpd_aligned(*a, **k)[1],
                                   {"rho_prox": RHO, "output": "server"}, {"rho": RHO}, participants=(None, 2)),
    "afedpdsam, bar": sam_dual(bars, {}, {}),
    "afedpdsam, server, eps": sam_dual(servers, {"output": "server", "sam_eps": 0.05}, {"sam_eps": 0.05}),
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
    "fedsam": row("fedsam", fedsam, {"rho_sam": 0.1}, {"r": 0.1}, common={"eta_g": 1.5}, exact=False),
    "mofedsam": row("mofedsam", mofedsam, {"rho_sam": 0.1, "beta": 0.25}, {"r": 0.1, "b": 0.25}, eta="eta",
                    common={"eta_g": 0.75}, exact=False),
    "fedasam": row("fedasam", fedasam, {"rho_sam": 0.25}, {"r": 0.25}, common={"eta_g": 0.75, "nu": 0.125}, exact=False),
    "fedasam, averaged": row(
        "fedasam", fedasam, {"rho_sam": 0.25, "swa_start": 1, "swa_cycle": 2, "swa_ratio": 0.25},
        {"r": 0.25, "start": 1, "cycle": 2, "ratio": 0.25}, common={"nu": 0.125}, exact=False),
    "fedlesam": row("fedlesam", fedlesam, {"rho_sam": 0.1}, {"r": 0.1}, common={"eta_g": 1.5}, exact=False),
}
