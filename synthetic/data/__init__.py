"""Clients given by samples: linear models, perceptrons, factors; constants proven from the data.

Loads no data and deals none to clients.
"""
