"""Evaluates a claim's formulas on a batch of instances, and judges hypotheses and statement.

Makes no instance and runs no method.
"""
