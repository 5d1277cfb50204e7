"""Who may join: FedALIGN's threshold.

Free clients near the priority optimum help against noise; those far away draw the model off. The threshold lets in
losses that match.
"""

from matplotlib import pyplot as plt

import fedtheory as ft

federations = [(name, ft.make_problem(f"quadratic-{name}")) for name in ("aligned", "misaligned")]
figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for style, (name, federation) in zip(("-", "--"), federations, strict=True):
    for colour, epsilon in (("C0", 0.0), ("C1", 0.5), ("C2", 100.0)):
        method = ft.fedalign(eta_l=0.05, local_steps=2, epsilon=epsilon)
        gap = ft.run(method, federation, rounds=60, seeds=8).dataset.suboptimality.mean("run")
        axes.semilogy(gap.clip(min=1e-12), style, color=colour, label=rf"{name}, $\epsilon$ = {epsilon:g}")
axes.set(xlabel="round", ylabel=r"$F(x) - F_*$, mean of the runs")
axes.legend(fontsize="small")
figure.savefig("free_clients.svg")
