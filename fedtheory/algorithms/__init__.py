"""One file per method."""
