"""Finds what would be true instead of a refuted claim: the nearest statements that survive a search."""
