"""Treats a claim's bound as a function of numbers: values, rates, lengths, where one bound is below another.

Runs no method.
"""
