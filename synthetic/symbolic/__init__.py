"""Federations of vectors without a value, to read off how a method's models depend on the gradients; and functions through
given points. Nothing here solves for a worst case."""
