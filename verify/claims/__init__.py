"""Reads off a claim's formulas what it needs: sizes, hypotheses, method, clients. Runs and draws nothing."""
