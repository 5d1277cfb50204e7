"""Checks claims without running them: units, symbols, hypotheses. Gives no verdict."""
