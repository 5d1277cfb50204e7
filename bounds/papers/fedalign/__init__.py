"""Ravi and Shomorony, "Utilizing Free Clients in Federated Learning for Focused Model Enhancement" (FedALIGN)."""

#: modules with claims, in the order of the paper; each has a tuple CLAIMS
MODULES = ("theorems", "lemmas", "proof_steps", "run_steps", "algebra_steps", "prose", "derived", "derived_algebra")
