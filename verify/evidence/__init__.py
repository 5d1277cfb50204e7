"""Measures claims beside runs that cannot be enumerated: real data, sampled runs, neighbouring data sets.

Does not search.
"""
