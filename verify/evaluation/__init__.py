"""Evaluates a claim's formulas on a batch of instances, and judges hypotheses and statement. Makes and runs nothing."""
