"""Writes claims as mathematics in a paper's letters: LaTeX, text, pages."""
