"""Few bits for each number.

FedPAQ rounds the clients' changes at random to a few levels. The variance of rounding shrinks with the change.
"""

from matplotlib import pyplot as plt

import fedtheory as ft

federation = ft.make_problem("quadratic")
figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for bits in (2, 4, 8):
    method = ft.fedpaq(eta_l=0.05, local_steps=2, bits=bits)
    axes.semilogy(ft.run(method, federation, rounds=80, seeds=32).dataset.suboptimality.mean("run"), label=f"{bits} bits")
axes.semilogy(ft.run(ft.fedavg(eta_l=0.05, local_steps=2), federation, 80).dataset.suboptimality[0], "k--", label="exact")
axes.set(xlabel="round", ylabel=r"$F(x) - F_*$, mean of the runs")
axes.legend(fontsize="small")
figure.savefig("quantised_uploads.svg")
