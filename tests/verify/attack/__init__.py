"""Attacks on the checker of certificates: random mutants and targeted forgeries."""
