"""Looks for proofs of inequalities of numbers, and for hypotheses that exclude each other. Runs no method."""
