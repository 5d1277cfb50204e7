"""A map of step and local steps.

SCAFFOLD's loss after 30 rounds on a grid. Points that differ in the step run as one batch.
"""


import fedtheory as ft

federation = ft.make_problem("quadratic")
grid = {"eta_l": [0.003, 0.01, 0.03, 0.1, 0.2], "local_steps": [1, 2, 4, 8, 16]}
axes = ft.heat_map(ft.sweep("scaffold", federation, rounds=30, grid=grid), "suboptimality")
axes.figure.savefig("tuning_map.svg")
