"""Loads or draws data and splits it over clients."""
