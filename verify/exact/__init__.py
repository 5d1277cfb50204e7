"""Confirms a violation in exact arithmetic, shrinks it, writes it as a certificate and replays it. Does not search."""
