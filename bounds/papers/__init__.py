"""One folder a paper: its words, letters, assumptions and claims. Holds no machinery."""
