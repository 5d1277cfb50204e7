"""Momentum on the server.

FedAvgM on an ill-conditioned problem. More momentum is faster at first and swings.
"""

from matplotlib import pyplot as plt

import fedtheory as ft

federation = ft.make_quadratic(clients=6, dim=5, L=20.0, mu=0.2)
figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for beta in (0.0, 0.5, 0.9):
    method = ft.fedavgm(eta_l=0.01, local_steps=2, beta1=beta)
    axes.semilogy(ft.run(method, federation, rounds=200).dataset.suboptimality[0], label=rf"$\beta$ = {beta:g}")
axes.set(xlabel="round", ylabel=r"$F(x) - F_*$, mean of the runs")
axes.legend(fontsize="small")
figure.savefig("server_momentum.svg")
