"""What claims are made of: names, operators, conditions, definitions. Imports sympy only."""
