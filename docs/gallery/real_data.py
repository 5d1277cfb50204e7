"""Methods on handwritten digits.

Softmax regression on the data that scikit-learn ships, dealt to ten clients by a Dirichlet law. FedDyn swings with
its default weight; nothing is tuned.
"""

from matplotlib import pyplot as plt

import fedtheory as ft

federation = ft.make_problem("digits")
figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for name in ("fedavg", "scaffold", "fedprox", "feddyn"):
    method = ft.make_algorithm(name, eta_l=0.1, local_steps=5)
    axes.semilogy(ft.run(method, federation, rounds=60, seeds=2).dataset.suboptimality.mean("run"), label=name)
axes.set(xlabel="round", ylabel=r"$F(x) - F_*$, mean of the runs")
axes.legend(fontsize="small")
figure.savefig("real_data.svg")
