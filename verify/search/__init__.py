"""Searches for violations of a claim by stages and transformations. Never sees which claim it is looking at."""
