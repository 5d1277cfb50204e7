"""A coin decides who talks.

Scaffnew averages in a round with some probability only. The axis counts the rounds that communicate, in the mean.
"""

import numpy as np
from matplotlib import pyplot as plt

import fedtheory as ft

federation = ft.make_quadratic(clients=6, dim=5, L=20.0, mu=0.2)
figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for p in (1.0, 0.5, 0.2):
    gap = ft.run(ft.scaffnew(eta_l=0.05, communication=p), federation, rounds=600, seeds=32).dataset.suboptimality
    axes.semilogy(p * np.arange(601), gap.mean("run"), label=f"probability {p:g}")
axes.set_xlim(0, 120)
axes.set(xlabel="communications", ylabel=r"$F(x) - F_*$, mean of the runs")
axes.legend(fontsize="small")
figure.savefig("skipped_communication.svg")
