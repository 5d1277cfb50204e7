"""Symbolic proofs: hypotheses that exclude each other, identities, inequalities of numbers. Runs no method."""
