"""The order in which a paper prints terms and factors."""

from __future__ import annotations

import sympy as sp

from bounds.language import words

__all__ = ["HEAVY", "factor_place", "ordered_terms"]


def ordered_terms(e):
    """The terms of a sum as (coefficient, rest): positive before negative, long before short; 1 + S, but t + 1."""
    terms = e.as_ordered_terms()
    lengths = {term: len(str(term)) for term in terms}
    if max(lengths.values()) > 20:
        terms = sorted(terms, key=lambda t: (t.is_Symbol, -lengths[t]))
    if e.has(sp.Indexed, sp.Sum):
        terms = sorted(terms, key=lambda t: not t.is_number)
    split = [term.as_coeff_Mul() for term in terms]
    return [t for t in split if t[0] > 0] + [t for t in split if t[0] < 0]


_EARLY = (
    "L", "mu", "eta", "eta_l", "eta_next", "client_weight", "p", "omega", "weight", "aggregate_weight", "proof_gamma",
    "participants", "local_steps",
)

#: factors from this place on are printed behind a fraction, not in its numerator
HEAVY = 4


def factor_place(factor) -> float:
    """Place of a factor in a product: numbers, steps and weights, plain sums, letters, norms, long sums, sum signs."""
    if factor.is_number:
        return 0
    if isinstance(factor, sp.Sum | sp.Product):
        return 6
    base = factor.as_base_exp()[0]
    if base.is_Add:
        return 5 if _stacks(base) else 2
    if isinstance(base, sp.Function | sp.Max | sp.Min):
        return 4
    name = str(base.base.label) if isinstance(base, sp.Indexed) else str(base)
    return 1 + _EARLY.index(name) / 100 if name in _EARLY else 3


def _stacks(e) -> bool:
    """Whether a sum is too large for a numerator: it has fractions, inner sums, sum signs or operators but ``tau``."""
    operators_within = any(not isinstance(word, words.tau) for word in e.atoms(sp.Function))
    nested = e.has(sp.Sum, sp.Product) or any(term.has(sp.Add) for term in e.args)
    return operators_within or nested or any(power.exp.is_negative for power in e.atoms(sp.Pow))
