"""Clients that do unequal work.

Where clients take 1 to 8 local steps, plain averaging weighs the diligent more. FedNova divides by the number of steps.
"""

import fedtheory as ft
from matplotlib import pyplot as plt

federation = ft.make_quadratic(clients=4, dim=4)
figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
steps = [1, 2, 4, 8]
equal = ft.fedavg(eta_l=0.02, local_steps=4)
axes.semilogy(ft.run(equal, federation, rounds=200).dataset.suboptimality[0], "k--", label="fedavg, 4 steps each")
method = ft.fednova(eta_l=0.02, local_steps=8, client_steps=steps)
axes.semilogy(ft.run(method, federation, rounds=200).dataset.suboptimality[0], label=f"fednova, steps {steps}")
axes.set(xlabel="round", ylabel=r"$F(x) - F_*$, mean of the runs")
axes.legend(fontsize="small")
figure.savefig("unequal_work.svg")
