"""Runs on letters, fast: what the prover computes with when it looks for a proof. The checker has its own code for them."""
