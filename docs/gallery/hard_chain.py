"""A chain that no local work shortens.

Nesterov's worst quadratic with its links dealt to the clients: news travels one link a round, whatever clients compute.
"""

import fedtheory as ft
from matplotlib import pyplot as plt

federation = ft.make_problem("nesterov-chain")
figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for name, steps in (("fedavg", 1), ("fedavg", 8), ("scaffold", 8), ("fedavgm", 1)):
    method = ft.make_algorithm(name, eta_l=0.1, local_steps=steps)
    axes.semilogy(ft.run(method, federation, rounds=200).dataset.suboptimality[0], label=f"{name}, {steps} local steps")
axes.set(xlabel="round", ylabel=r"$F(x) - F_*$, mean of the runs")
axes.legend(fontsize="small")
figure.savefig("hard_chain.svg")
