"""Bound, exact worst case and runs.

A theorem on gradient descent over its first rounds. What lies between the lines is what the theorem gives away.
"""

import fedtheory as ft
from verify.worst.claim_figure import course_figure

course = ft.course(ft.claim("classical/gd-convex"), rounds=4)
course_figure(course).savefig("bound_worst_and_runs.svg")
