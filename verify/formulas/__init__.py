"""Treats a claim's bound as a function of numbers: values, rates, run lengths, the best step, comparison of two bounds.

Runs no method.
"""
