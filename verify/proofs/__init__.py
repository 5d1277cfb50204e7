"""Checks a paper's own proof: whether a claim follows from its steps, and which factor each step loses.

Gives no verdict.
"""
