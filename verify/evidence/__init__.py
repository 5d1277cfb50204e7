"""Measures claims beside runs that nobody enumerates: real data, sampled runs, neighbouring data sets. Does not search."""
