"""FedMoSWA's comparison in miniature.

Held-out loss and accuracy under label skew.
"""

from matplotlib import pyplot as plt

import fedtheory as ft

federation = ft.make_problem("digits-perceptron", clients=20, alpha=0.1, smallest=10, weights="equal", batch_size=16,
                             held_out=0.2)
setting, rounds, steps = {"local_steps": 10, "participants": 2, "replacement": False}, 100, (0.03, 0.1, 0.3, 1.0)
printed = {"fedavg": {}, "scaffold": {}, "fedsam": {}, "fedswa": {"rho_decay": 0.1, "eta_g": 1.5},
           "fedmoswa": {"rho_decay": 0.1, "eta_g": 1.5, "gamma": 0.2}}
figure, panels = plt.subplots(1, 2, figsize=(8.4, 3.8), layout="constrained")
for name, own in printed.items():
    tried = ft.sweep(name, federation, rounds, {"eta_l": steps}, seeds=range(100, 104), measure="objective",
                     arguments=setting | own)
    eta = float(tried.objective.mean("seed", skipna=False).idxmin())
    method = ft.make_algorithm(name, eta_l=eta, **setting, **own)
    runs = ft.run(method, federation, rounds, seeds=10, record=("held_out_loss", "held_out_accuracy")).dataset
    for axes, measured in zip(panels, runs.data_vars.values(), strict=False):
        ft.mean_with_band(axes, range(rounds + 1), measured, label=rf"{method.name}, $\eta_l$ = {eta:g}")
panels[0].set(xlabel="round", ylabel="held-out loss", yscale="log")
panels[1].set(xlabel="round", ylabel="held-out accuracy")
panels[1].legend(fontsize="small")
figure.suptitle("mean of 10 seeds, 95 % band of the mean", fontsize="medium")
figure.savefig("mini_fedmoswa.svg")
