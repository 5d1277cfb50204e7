"""Runs an instance and binds every name of a claim to an array. Decides nothing."""
