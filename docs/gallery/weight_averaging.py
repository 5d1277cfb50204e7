"""Rates that fall within a round.

FedSWA's local rates go down within each round, and the server goes further than the average. The federation has
noise.
"""

from matplotlib import pyplot as plt

import fedtheory as ft

federation = ft.make_quadratic(clients=8, dim=5, noise="sphere", sigma=2.0)
figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for name in ("fedavg", "fedswa", "fedmoswa"):
    method = ft.make_algorithm(name, eta_l=0.05, local_steps=8)
    axes.semilogy(ft.run(method, federation, rounds=80, seeds=64).dataset.suboptimality.mean("run"), label=name)
axes.set(xlabel="round", ylabel=r"$F(x) - F_*$, mean of the runs")
axes.legend(fontsize="small")
figure.savefig("weight_averaging.svg")
