"""Defines instances: shape, parameters, clients, outcomes of chance; draws and changes them. Evaluates no formula."""
