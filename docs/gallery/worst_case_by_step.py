"""The exact worst case, by step.

The largest factor of $|x - x_*|^2$ after two rounds over all smooth strongly convex clients, in every dimension.
"""

from matplotlib import pyplot as plt

import fedtheory as ft

steps = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for local_steps in (1, 2, 3):
    ratios = [ft.worst("fedavg", rounds=2, clients=2, eta_l=step, local_steps=local_steps, mu=0.1, zeta=0.0).ratio
              for step in steps]
    axes.plot(steps, ratios, "o-", label=f"{local_steps} local steps")
axes.set(xlabel="local step, in units of $1/L$", ylabel=r"worst factor after 2 rounds")
axes.legend(fontsize="small")
figure.savefig("worst_case_by_step.svg")
