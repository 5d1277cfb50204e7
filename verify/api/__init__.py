"""Functions for users of Python: the work of the commands, with a claim or a method given by name or by value."""
