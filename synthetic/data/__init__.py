"""Clients given by samples: linear models, perceptrons, factors; constants proven from the data.

Loads and splits no data.
"""
