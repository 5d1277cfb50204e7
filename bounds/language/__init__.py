"""The parts of claims: names, operators, conditions, definitions. Imports sympy only."""
