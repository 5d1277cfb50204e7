"""Loss against floats sent.

FedLUAR repeats the change of layers that hardly moved, and sends the others. The axis counts what each client
uploads.
"""

from matplotlib import pyplot as plt

import fedtheory as ft

federation = ft.make_problem("quadratic-layered")
figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for recycled in (0, 1, 2):
    method = ft.fedluar(eta_l=0.02, local_steps=4, recycled=recycled)
    runs = ft.run(method, federation, 120, seeds=16, record=("suboptimality", "uplink_floats")).dataset
    sent = runs.uplink_floats.values.reshape(16, 120, -1)[..., 0].cumsum(-1).mean(0)
    axes.semilogy(sent, runs.suboptimality.values.mean(0)[1:], label=f"{recycled} of 3 layers recycled")
axes.set(xlabel="floats uploaded by a client", ylabel=r"$F(x) - F_*$, mean of the runs")
axes.legend(fontsize="small")
figure.savefig("recycled_communication.svg")
