"""True statements with false variants, by which the search is measured."""
