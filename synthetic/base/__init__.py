"""Defines a federation: constants with provenance, weights, noise, layers, heterogeneity. Holds no loss of its own."""
