"""Takes claims to their verdicts, one or many, in processes that may die. Holds no mathematics of its own."""
