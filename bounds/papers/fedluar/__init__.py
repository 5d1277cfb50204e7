"""J. Kim et al., "Layer-wise update aggregation with recycling for communication-efficient federated learning" (FedLUAR)."""

#: modules with claims, in the order of the paper; each has a tuple CLAIMS
MODULES = ("algorithm", "theorems", "drift_steps", "noise_steps", "descent_steps", "final_steps")
