"""Primal-dual drift of absent clients.

With two of ten clients a round, duals of the others grow old. A-FedPD moves them along. Here FedDyn is ahead all the
same: one federation with one setting ranks nothing.
"""

from matplotlib import pyplot as plt

import fedtheory as ft

federation = ft.make_problem("quadratic")
figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for name in ("fedavg", "feddyn", "afedpd"):
    rho = {} if name == "fedavg" else {"rho_prox": 1.0}
    method = ft.make_algorithm(name, eta_l=0.02, local_steps=10, participants=2, **rho)
    axes.semilogy(ft.run(method, federation, rounds=200, seeds=16).dataset.suboptimality.mean("run"), label=name)
axes.set(xlabel="round", ylabel=r"$F(x) - F_*$, mean of the runs")
axes.legend(fontsize="small")
figure.savefig("absent_clients.svg")
