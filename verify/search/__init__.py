"""Searches for violations of a claim by stages and corners. Never sees which claim it is looking at."""
