"""J. Liu, Y. Liu, F. Shang, H. Liu, J. Liu, W. Feng, "Improving Generalization in Federated Learning with Highly
Heterogeneous Data via Momentum-Based Stochastic Controlled Weight Averaging" (FedSWA and FedMoSWA)."""

#: modules with claims, in the order of the paper; each has a tuple CLAIMS
MODULES = (
    "main_text", "table_1", "comparisons", "lemmas_generalisation", "theorems_generalisation", "lemmas_tools",
    "lemmas_optimisation", "steps_points", "steps_numbers", "steps_swa", "steps_moswa", "steps_convex",
    "steps_nonconvex",
)
