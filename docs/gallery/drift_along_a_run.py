"""Client drift along a run.

The mean squared distance of local models from their average, at every local step.
"""

from matplotlib import pyplot as plt

import fedtheory as ft

federation = ft.make_problem("quadratic")
figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for name in ("fedavg", "scaffold", "fedprox"):
    method = ft.make_algorithm(name, eta_l=0.03, local_steps=6)
    drift = ft.run(method, federation, rounds=15, record=("drift",)).dataset.drift[0]
    axes.plot(drift, label=name)
axes.set(xlabel="local iteration", ylabel=r"mean of $|x_k - \bar x|^2$")
axes.legend(fontsize="small")
figure.savefig("drift_along_a_run.svg")
