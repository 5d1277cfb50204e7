"""A chain that is slow for everybody.

Nesterov's worst quadratic, its links dealt to the clients in turn. Local work helps, momentum helps more; no curve is
straight on this logarithmic axis, as it would be at a linear rate.
"""

from matplotlib import pyplot as plt

import fedtheory as ft

federation = ft.make_problem("nesterov-chain")
figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for name, steps in (("fedavg", 1), ("fedavg", 8), ("scaffold", 8), ("fedavgm", 1)):
    method = ft.make_algorithm(name, eta_l=0.1, local_steps=steps)
    axes.semilogy(ft.run(method, federation, rounds=200).dataset.suboptimality[0], label=f"{name}, {steps} local steps")
axes.set(xlabel="round", ylabel=r"$F(x) - F_*$, mean of the runs")
axes.legend(fontsize="small")
figure.savefig("hard_chain.svg")
