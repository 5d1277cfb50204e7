"""A verdict as data, on disk, as text and as a figure. Decides nothing."""
