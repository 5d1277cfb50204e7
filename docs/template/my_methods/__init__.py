"""Federated methods of mine."""
