"""Changes of drawn instances that make violations likelier, one file each.

Each applies by what a claim mentions, never by its id.
"""
