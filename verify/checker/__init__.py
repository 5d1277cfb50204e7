"""Replays certificates with the standard library alone.

Imports nothing else of this project, so that it shares no error with it.
"""
