"""Proves symbolically: hypotheses that exclude each other, identities, inequalities of numbers. Runs nothing."""
