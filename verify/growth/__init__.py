"""Decides claims whose constants hide in O(.): does the ratio of the sides grow without bound?

Explicit claims go to the search.
"""
