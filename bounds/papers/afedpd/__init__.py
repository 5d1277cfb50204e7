"""Y. Sun, L. Shen, D. Tao, "A-FedPD: Aligning Dual-Drift is All Federated Primal-Dual Learning Needs"."""

#: modules with claims, in the order of the paper; each has a tuple CLAIMS
MODULES = (
    "optimisation", "descent", "combination", "generalisation", "local_steps", "multipliers", "unrolling", "prose",
    "tables",
)
