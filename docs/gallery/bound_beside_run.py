"""A theorem's bound beside its run.

The corrected Theorem 1 of FedALIGN and the mean of 64 runs with its confidence band.
"""

from matplotlib import pyplot as plt

import fedtheory as ft

federation = ft.make_quadratic(clients=8, dim=4, L=8.0, mu=1.0, priority=4, noise="sphere", sigma=1.0)
method = ft.fedalign(eta_l=ft.InverseTime(mu=1.0, offset=64.0), epsilon=0.2)
comparison = ft.compare("fedalign/derived-theorem-1", ft.run(method, federation, rounds=100, seeds=64))
figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
comparison.plot(ax=axes)
figure.savefig("bound_beside_run.svg")
