"""The exact worst case, by rounds.

FedAvg and SCAFFOLD with two local steps where clients differ: FedAvg falls behind with every round.
"""

from matplotlib import pyplot as plt

import fedtheory as ft

rounds = [1, 2, 3, 4]
figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for name in ("fedavg", "scaffold"):
    ratios = [ft.worst(name, rounds=r, clients=2, eta_l=0.5, local_steps=2, mu=0.1).ratio for r in rounds]
    axes.semilogy(rounds, ratios, "o-", label=name)
axes.set_xticks(rounds)
axes.set(xlabel="rounds", ylabel=r"worst case of $|x - x_*|^2$")
axes.legend(fontsize="small")
figure.savefig("worst_case_by_rounds.svg")
