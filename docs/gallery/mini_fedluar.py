"""FedLUAR's comparison in miniature.

Not the paper's data sets, not its tables: handwritten digits over twenty clients of very unequal classes (a Dirichlet
law with 0.1), and a network of four layers. Every fifth image is held out. The numbers of the rivals are the paper's
where it prints them; PruneFL keeps half. Each method has the step, of four, whose final training loss is least over
three other seeds; the paper's momentum of the clients is left out. FedLUAR with one layer recycled saves a fifth of
the floats at FedAvg's loss. With two of four it loses. FedPAQ and FedDropoutAvg, which FedLUAR beats in the paper,
are cheaper here. FedPara has another model and is not compared.
"""

from matplotlib import pyplot as plt

import fedtheory as ft

federation = ft.make_problem("digits-perceptron", hidden=(16, 16, 16), clients=20, alpha=0.1, smallest=10, weights="equal",
                             batch_size=16, held_out=0.2)
setting, rounds, steps = {"local_steps": 10, "participants": 5}, 80, (0.03, 0.1, 0.3, 1.0)
methods = {"FedAvg": ("fedavg", {}), "FedLUAR, 1 of 4 layers": ("fedluar", {"recycled": 1}),
           "FedLUAR, 2 of 4 layers": ("fedluar", {"recycled": 2}), "LBGM": ("lbgm", {"threshold": 0.95}),
           "FedPAQ, 8 bits": ("fedpaq", {"bits": 8}), "PruneFL": ("prunefl", {"period": 50}),
           "FedDropoutAvg": ("feddropoutavg", {"fdr": 0.5})}
figure, axes = plt.subplots(figsize=(7.2, 4.4), layout="constrained")
for label, (name, own) in methods.items():
    tried = ft.sweep(name, federation, rounds, {"eta_l": steps}, seeds=range(100, 103), measure="objective",
                     arguments=setting | own)
    eta = float(tried.objective.mean("seed", skipna=False).idxmin())
    method = ft.make_algorithm(name, eta_l=eta, **setting, **own)
    runs = ft.run(method, federation, rounds, seeds=10, record=("held_out_loss", "uplink_floats")).dataset
    sent = runs.uplink_floats.sum("client").cumsum("step_round") / federation.dim
    ft.mean_with_band(axes, sent, runs.held_out_loss[:, 1:], label=rf"{label}, $\eta_l$ = {eta:g}",
                      linestyle="--" if name == "fedluar" else "-")
axes.set(xlabel="floats uploaded by all clients, in models", ylabel="held-out loss", yscale="log", xscale="log")
axes.set_yticks([0.2, 0.5, 1, 2], ["0.2", "0.5", "1", "2"])
axes.minorticks_off()
axes.legend(fontsize="small")
axes.set_title("label skew, 5 of 20 clients a round; mean of 10 seeds, 95 % band of the mean", fontsize="medium")
figure.savefig("mini_fedluar.svg")
