"""The function on which gradient descent is slowest.

The Huber function of Drori and Teboulle's bound $L |x_0 - x_*|^2 / (4 R + 2)$ touches it at round 10, for which it is
made.
"""

import numpy as np
from matplotlib import pyplot as plt

import fedtheory as ft

rounds = np.arange(1, 21)
figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
gap = ft.run(ft.fedavg(eta_l=1.0), ft.make_problem("huber-worst-case"), rounds=20, start=[1.0]).dataset
axes.semilogy(rounds, gap.suboptimality[0].values[1:], label="huber-worst-case, step 1")
axes.semilogy(rounds, float(gap.distance_sq[0, 0]) / (4 * rounds + 2), "k--", label="$L |x_0 - x_*|^2 / (4 R + 2)$")
axes.set(xlabel="round", ylabel=r"$F(x) - F_*$")
axes.legend(fontsize="small")
figure.savefig("slowest_convex_function.svg")
