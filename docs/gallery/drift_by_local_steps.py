"""Where FedAvg stops, by local steps.

The distance of FedAvg's limit from the minimiser, for heterogeneous quadratics without noise. One local step has no
drift.
"""

from matplotlib import pyplot as plt

import fedtheory as ft

federation, steps = ft.make_quadratic(clients=6, dim=4), [1, 2, 3, 4, 6, 8, 12, 16]
found = ft.sweep("fedavg", federation, rounds=600, grid={"eta_l": [0.01, 0.03, 0.1], "local_steps": steps}, seeds=1,
                 measure="distance_sq")
figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for step in found.eta_l.values:
    values = found["distance_sq"].sel(eta_l=step).isel(seed=0)
    axes.semilogy(steps, values.clip(min=1e-16), "o-", label=rf"$\eta_l = {step:g}$")
axes.set(xlabel="local steps $K$", ylabel=r"$|x - x_*|^2$ after 600 rounds")
axes.legend()
figure.savefig("drift_by_local_steps.svg")
