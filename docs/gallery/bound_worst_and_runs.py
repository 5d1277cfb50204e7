"""Bound, exact worst case and runs.

A theorem on gradient descent over its first rounds. What lies between the lines is what the theorem gives away.
"""

import fedtheory as ft
from verify.worst.claim_figure import bound_over_rounds_figure

curve = ft.bound_over_rounds("classical/gd-convex", rounds=4)
bound_over_rounds_figure(curve).savefig("bound_worst_and_runs.svg")
