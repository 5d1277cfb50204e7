"""FAdamGC's comparison in miniature.

Not the paper's data sets, not its tables: handwritten digits over twenty clients of very unequal classes (a Dirichlet
law with 0.1), and a network with sixteen hidden values. Every fifth image is held out. The moments' numbers are the
paper's, like the share of clients in a round, half of which renew their correction. Each method has the step, of
four, whose final training loss is least over four other seeds. FAdamGC ends far ahead of LocalAdam, as in the paper;
FA-NT, which corrects the direction in place of the gradient, gains nothing here. A corrected round sends more: two
models to each client and one or two back.
"""

from matplotlib import pyplot as plt

import fedtheory as ft

federation = ft.make_problem("digits-perceptron", clients=20, alpha=0.1, smallest=10, weights="equal", batch_size=16,
                             held_out=0.2)
setting = {"local_steps": 10, "participants": 2, "beta1": 0.9, "beta2": 0.99, "eps": 1e-8}
rounds, steps = 100, (0.001, 0.003, 0.01, 0.03)
figure, panels = plt.subplots(1, 2, figsize=(8.4, 3.8), layout="constrained")
for name, own in {"local-adam": {}, "fa-nt": {"trackers": 1}, "fadamgc": {"trackers": 1}}.items():
    tried = ft.sweep(name, federation, rounds, {"eta_l": steps}, seeds=range(100, 104), measure="objective",
                     arguments=setting | own)
    eta = float(tried.objective.mean("seed", skipna=False).idxmin())
    method = ft.make_algorithm(name, eta_l=eta, **setting, **own)
    runs = ft.run(method, federation, rounds, seeds=10, record=("held_out_loss", "held_out_accuracy")).dataset
    for axes, measured in zip(panels, (runs.held_out_loss, runs.held_out_accuracy), strict=True):
        ft.mean_with_band(axes, range(rounds + 1), measured, label=rf"{method.name}, $\eta_l$ = {eta:g}")
panels[0].set(xlabel="round", ylabel="held-out loss", yscale="log")
panels[0].set_yticks([0.2, 0.5, 1, 2], ["0.2", "0.5", "1", "2"])
panels[0].minorticks_off()
panels[1].set(xlabel="round", ylabel="held-out accuracy")
panels[1].legend(fontsize="small")
figure.suptitle("label skew, 2 of 20 clients a round; mean of 10 seeds, 95 % band of the mean", fontsize="medium")
figure.savefig("mini_fadamgc.svg")
