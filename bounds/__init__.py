"""Claims: what papers state, as data and sympy expressions."""
