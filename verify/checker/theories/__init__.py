"""Theories that hold for every federation of a class: one per file, each fact with the theorem that proves it."""
