"""Client drift on two clients.

Contour lines of the mean loss, and the models of FedAvg and of SCAFFOLD round by round. FedAvg stops where the
clients' local steps cancel, which is not the minimiser.
"""

import numpy as np
from matplotlib import pyplot as plt

import fedtheory as ft
from synthetic import Quadratic

curvatures, centers = np.array([[1.0, 4.0], [6.0, 1.0]]), np.array([[1.0, 1.0], [-1.0, -1.0]])
federation = Quadratic(curvatures[None], centers[None])  # 1/2 sum_i a_i (x_i - c_i)^2 for each client

figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
x, y = np.meshgrid(np.linspace(-1.6, 1.6, 81), np.linspace(-1.4, 1.4, 71))
loss = sum(0.25 * (a[0] * (x - c[0]) ** 2 + a[1] * (y - c[1]) ** 2) for a, c in zip(curvatures, centers, strict=True))
axes.contour(x, y, loss, levels=14, colors="0.8", linewidths=0.8)
for method, colour in ((ft.fedavg, "C1"), (ft.scaffold, "C0")):
    path = ft.run(method(eta_l=0.1, local_steps=8), federation, rounds=40, start=[-1.4, 1.2]).dataset.x.values[0]
    axes.plot(*path.T, "o-", color=colour, markersize=3, linewidth=1, label=method.__name__)
axes.plot(*centers.T, "k^", label="clients' minimisers")
axes.plot(*federation.x_star[0].tolist(), "k*", markersize=12, label="minimiser of the mean")
axes.set(xlabel="$x_1$", ylabel="$x_2$", aspect="equal")
axes.legend(fontsize="small", loc="lower right")
figure.savefig("client_drift.svg")
