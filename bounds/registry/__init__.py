"""All claims by id: those of the papers and those of users."""
