"""A proven rate for every number of rounds.

The least factor that a potential proves for FedAvg with one client, against the step; the dashed line is the rate of
the worst quadratic.
"""

from fractions import Fraction

from matplotlib import pyplot as plt

import fedtheory as ft

steps = [Fraction(i, 10) for i in range(1, 20, 2)]
figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
rates = [ft.potential("fedavg", clients=1, eta_l=step, mu=Fraction(1, 10)).proven.rate for step in steps]
axes.plot(steps, [float(rate) for rate in rates], "o", label="proven")
axes.plot(steps, [float(max((1 - s / 10) ** 2, (1 - s) ** 2)) for s in steps], "k--", label="on quadratics")
axes.set(xlabel="step, in units of $1/L$", ylabel=r"factor of a round")
axes.legend(fontsize="small")
figure.savefig("proven_rate_by_step.svg")
