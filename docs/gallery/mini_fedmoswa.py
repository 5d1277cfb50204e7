"""FedMoSWA's comparison in miniature.

Not the paper's data sets, not its tables: handwritten digits over twenty clients of very unequal classes (a Dirichlet
law with 0.1), and a network with sixteen hidden values. Every fifth image is held out. The decay, the server's step
and the momentum are the paper's, like the share of clients in a round. Each method has the step, of four, whose final
training loss is least over four other seeds. Here SCAFFOLD ends first, unlike in the paper. FedMoSWA is second;
FedSAM ends with FedAvg; FedSWA, which the paper finds better than both, is not.
"""

from matplotlib import pyplot as plt

import fedtheory as ft

federation = ft.make_problem("digits-perceptron", clients=20, alpha=0.1, smallest=10, weights="equal", batch_size=16,
                             held_out=0.2)
setting, rounds, steps = {"local_steps": 10, "participants": 2}, 80, (0.03, 0.1, 0.3, 1.0)
methods = {"fedavg": {}, "scaffold": {}, "fedsam": {}, "fedswa": {"rho_decay": 0.1, "eta_g": 1.5},
           "fedmoswa": {"rho_decay": 0.1, "eta_g": 1.5, "gamma": 0.2}}
figure, panels = plt.subplots(1, 2, figsize=(8.4, 3.8), layout="constrained")
for (name, own), dashes in zip(methods.items(), ("-", "-", "--", "-", "-"), strict=True):
    tried = ft.sweep(name, federation, rounds, {"eta_l": steps}, seeds=range(100, 104), measure="objective",
                     arguments=setting | own)
    eta = float(tried.objective.mean("seed", skipna=False).idxmin())
    method = ft.make_algorithm(name, eta_l=eta, **setting, **own)
    runs = ft.run(method, federation, rounds, seeds=16, record=("held_out_loss", "held_out_accuracy")).dataset
    for axes, measured in zip(panels, (runs.held_out_loss, runs.held_out_accuracy), strict=True):
        ft.mean_with_band(axes, range(rounds + 1), measured, linestyle=dashes, label=rf"{method.name}, $\eta_l$ = {eta:g}")
panels[0].set(xlabel="round", ylabel="held-out loss", yscale="log")
panels[0].set_yticks([0.2, 0.5, 1, 2], ["0.2", "0.5", "1", "2"])
panels[0].minorticks_off()
panels[1].set(xlabel="round", ylabel="held-out accuracy")
panels[1].legend(fontsize="small")
figure.suptitle("label skew, 2 of 20 clients a round; mean of 16 seeds, 95 % band of the mean", fontsize="medium")
figure.savefig("mini_fedmoswa.svg")
