"""Pages that show verdicts: what is claimed, what was found, and how to check it again."""
