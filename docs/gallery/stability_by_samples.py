"""How far runs on neighbouring data sets are apart, by the number of samples.

The bound for local SGD, after Hardt, Recht and Singer 2016, and the gap between FedAvg's runs, for the worst of 16 replaced
samples.
"""

from matplotlib import pyplot as plt

import fedtheory as ft

claim, method = "classical/local-sgd-stability-distance", ft.fedavg(eta_l=0.05, local_steps=4)
problems = {n: ft.make_problem("log-cosh", clients=4, dim=4, samples=n, batch_size=1) for n in (4, 8, 16, 32, 64)}
each = {n: ft.compare(claim, ft.run(method, problem, rounds=20, seeds=32), points=1) for n, problem in problems.items()}
figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
ft.along("samples", each).plot(ax=axes)
figure.savefig("stability_by_samples.svg")
