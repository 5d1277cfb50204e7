"""Takes claims to their verdicts, one or many, in processes that may die. Has no mathematics of its own."""
