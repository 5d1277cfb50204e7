"""Sharpness-aware steps stop beside the minimiser.

FedSAM's gradient is taken a little uphill. On a quadratic that moves the place where it stops.
"""

from matplotlib import pyplot as plt

import fedtheory as ft

federation = ft.make_quadratic(clients=4, dim=4)
figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for rho in (0.0, 0.01, 0.05, 0.2):
    method = ft.fedsam(eta_l=0.03, local_steps=1, rho_sam=rho)
    axes.semilogy(ft.run(method, federation, rounds=150).dataset.suboptimality[0], label=rf"$\rho$ = {rho:g}")
axes.set(xlabel="round", ylabel=r"$F(x) - F_*$, mean of the runs")
axes.legend(fontsize="small")
figure.savefig("sharpness.svg")
