"""What claims are made of: words, conditions, definitions. Imports sympy only."""
