"""Searches for violations: stages, corners, evolution, local search. Never sees which claim it is looking at."""
