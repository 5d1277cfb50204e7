"""Kinds of numbers on which the same lines run (floats, fractions, balls), and random draws. Knows no federation."""
