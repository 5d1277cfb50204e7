"""Finds what can be said against a claim without running it: units, symbols, hypotheses. Gives no verdict."""
