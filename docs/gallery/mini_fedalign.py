"""FedALIGN's comparison in miniature.

Not the paper's data sets, not its tables: a small draw in one reading of the recipe of its Figure 2, ten priority
clients with samples of Synth(1,1), at most 200 each, and ten free clients with copies of them, without noise or with
the recipe's high noise. Held out is every fifth sample of the priority clients, before copies are made. The
thresholds and the share of rounds before the free clients join are the paper's. Each method has the step, of five,
whose final training loss is least over four other seeds. FedALIGN lets all good clients in and no bad ones: it ends
with the better of the other two, as in the paper, but gains nothing over it.
"""

from matplotlib import pyplot as plt

import fedtheory as ft

rounds, steps = 100, (0.003, 0.01, 0.03, 0.1, 0.3)
free_clients = {"good free clients: no noise": ({"label_noise_factor": 0.0, "random_data_factor": 0.0}, 0.2),
                "bad free clients: high noise": ({"skew": 5.0}, 0.4)}
figure, row = plt.subplots(1, 2, figsize=(8.4, 3.8), sharey=True, layout="constrained")
for axes, (title, (noise, epsilon)) in zip(row, free_clients.items(), strict=True):
    federation = ft.make_problem("synth-noisy", largest=200, batch_size=16, held_out=0.2, **noise)
    methods = {"priority clients alone": ("fedavg", "-", {}), "all clients": ("fedavg-all", "-", {"warmup": 10}),
               "FedALIGN": ("fedalign", (0, (4, 4)), {"warmup": 10, "epsilon": epsilon})}
    for label, (name, dashes, own) in methods.items():
        tried = ft.sweep(name, federation, rounds, {"eta_l": steps}, seeds=range(100, 104), measure="objective",
                         arguments=own | {"local_steps": 5})
        eta = float(tried.objective.mean("seed", skipna=False).idxmin())
        method = ft.make_algorithm(name, eta_l=eta, local_steps=5, **own)
        runs = ft.run(method, federation, rounds, seeds=10, record=("held_out_loss",)).dataset
        ft.mean_with_band(axes, range(rounds + 1), runs.held_out_loss, linestyle=dashes,
                          label=rf"{label}, $\eta_l$ = {eta:g}")
    axes.set(xlabel="round", title=title)
    axes.legend(fontsize="small")
row[0].set(ylabel="held-out loss of the priority clients", yscale="log")
row[0].set_yticks([0.5, 0.7, 1, 1.5, 2], ["0.5", "0.7", "1", "1.5", "2"])
row[0].minorticks_off()
figure.suptitle("mean of 10 seeds, 95 % band of the mean", fontsize="medium")
figure.savefig("mini_fedalign.svg")
