"""Claims of textbooks and of the papers on which the refereed ones build: the referee's own controls."""
