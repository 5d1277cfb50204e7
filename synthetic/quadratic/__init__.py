"""Quadratic clients, and quadratics with cosines."""
