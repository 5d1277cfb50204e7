"""Finds optima of batches of functions, with proofs where there are any. Knows no family of clients."""
