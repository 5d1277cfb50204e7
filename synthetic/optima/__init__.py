"""Finds optima of batches of functions, and proves what it says of them. Knows no family of clients."""
