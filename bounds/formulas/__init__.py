"""Analyses formulas as data: closed forms, orders, units, comparisons. Knows no paper."""
