"""The noise floor falls with the step.

SGD with constant steps: fast and far, or slow and near. The step that falls like 1/t gets both in the end.
"""

from matplotlib import pyplot as plt

import fedtheory as ft

federation = ft.make_quadratic(clients=6, dim=4, L=8.0, noise="sphere", sigma=2.0)
figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for label, step in (("0.1", 0.1), ("0.03", 0.03), ("0.01", 0.01), ("2 / (t + 64)", ft.InverseTime(mu=1.0, offset=64.0))):
    runs = ft.run(ft.fedavg(eta_l=step), federation, rounds=600, seeds=64)
    axes.loglog(runs.dataset.suboptimality.mean("run"), label=rf"$\eta_l$ = {label}")
axes.set(xlabel="round", ylabel=r"$F(x) - F_*$, mean of the runs")
axes.legend(fontsize="small")
figure.savefig("noise_floor.svg")
