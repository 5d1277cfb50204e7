"""Piecewise quadratic clients, exact on fractions."""
