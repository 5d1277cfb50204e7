"""How fast fedtheory is, beside other ways to compute the same: ``python -m benchmarks``."""
