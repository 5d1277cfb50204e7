"""Why sampling adds variance.

FedAvg with all clients, and with a few of them a round. The clients differ, so that each round's mean is another one.
"""

import numpy as np
from matplotlib import pyplot as plt

import fedtheory as ft

federation = ft.make_quadratic(clients=12, dim=5)
figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for participants in (None, 6, 3, 1):
    method = ft.fedavg(eta_l=0.05, participants=participants)
    gap = ft.run(method, federation, rounds=120, seeds=64).dataset.suboptimality.values
    line, = axes.semilogy(gap.mean(0).clip(1e-12), label=f"{participants or 'all'} of 12 clients")
    if participants:
        axes.fill_between(range(121), *np.quantile(gap, [0.1, 0.9], axis=0), color=line.get_color(), alpha=0.15)
axes.set(xlabel="round", ylabel=r"$F(x) - F_*$, mean of the runs")
axes.legend(fontsize="small")
figure.savefig("sampling_adds_variance.svg")
