"""Pages about verdicts: the claim, the evidence, and how to check it again. Decides nothing."""
