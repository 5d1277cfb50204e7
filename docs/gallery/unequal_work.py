"""Clients that do unequal work.

Clients take 1, 2, 4 and 8 local steps. FedNova divides each change by its number of steps. What remains is drift,
which goes with the step.
"""

from matplotlib import pyplot as plt

import fedtheory as ft

federation = ft.make_quadratic(clients=4, dim=4)
figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for step in (0.02, 0.005, 0.001):
    method = ft.fednova(eta_l=step, local_steps=8, client_steps=[1, 2, 4, 8])
    axes.loglog(ft.run(method, federation, rounds=2000).dataset.suboptimality[0], label=rf"$\eta_l$ = {step:g}")
axes.set(xlabel="round", ylabel=r"$F(x) - F_*$, mean of the runs")
axes.legend(fontsize="small")
figure.savefig("unequal_work.svg")
