"""Worst cases over whole classes of functions, and their proofs. Decides nothing by instances, and trusts no solver."""
