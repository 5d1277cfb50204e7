"""A proximal term trades speed for drift.

FedProx with eight local steps: a strong pull towards the server's model is slower, and ends nearer to the minimiser.
"""

from matplotlib import pyplot as plt

import fedtheory as ft

federation = ft.make_quadratic(clients=6, dim=4)
figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for rho in (0.0, 1.0, 10.0, 50.0):
    method = ft.fedprox(eta_l=0.015, local_steps=8, rho_prox=rho)
    axes.semilogy(ft.run(method, federation, rounds=200).dataset.suboptimality[0], label=rf"$\rho$ = {rho:g}")
axes.set(xlabel="round", ylabel=r"$F(x) - F_*$, mean of the runs")
axes.legend(fontsize="small")
figure.savefig("proximal_term.svg")
