"""Adam's moments under heterogeneity.

Local Adam averages models whose moments saw different losses, and stops elsewhere. FAdamGC corrects gradients before
the moments, FA-NT the direction after them.
"""

from matplotlib import pyplot as plt

import fedtheory as ft

federation = ft.make_quadratic(clients=6, dim=4, L=5.0)
figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for name in ("local-adam", "fadamgc", "fa-nt"):
    method = ft.make_algorithm(name, eta_l=0.02, local_steps=4, eps=0.1)
    axes.semilogy(ft.run(method, federation, rounds=300).dataset.suboptimality[0], label=name)
axes.set(xlabel="round", ylabel=r"$F(x) - F_*$, mean of the runs")
axes.legend(fontsize="small")
figure.savefig("adam_under_heterogeneity.svg")
