"""Ranges of measured quantities: what a run can make of a sum of probabilities, weights or squares."""

from collections.abc import Iterable, Iterator, Mapping

import sympy as sp

from bounds.language import operators
from bounds.language.claim import Claim, Condition
from bounds.language.names import NAMES

__all__ = ["number_of_terms", "range_conditions"]

#: names whose entries lie between 0 and 1
_SHARES = {"client_weight", "differing", "included", "priority", "replaced", "sampled", "sampled_weight"}
_ANY, _SIZE = (-sp.oo, sp.oo), (sp.Integer(0), sp.oo)


def range_conditions(claim: Claim, measured: Mapping[sp.Symbol, sp.Expr], names: Iterable[str]) -> Iterator[Condition]:
    """The bounds that the formula of each measured quantity puts on it, in terms of the parameters ``names``."""
    for symbol, e in measured.items():
        low, high = _interval(claim, e.function if isinstance(e, sp.Sum) else e)
        terms = number_of_terms(e, names)
        if terms is None:
            continue
        if low > 0:
            yield Condition(symbol, ">=", low * terms)
        if high < sp.oo:
            yield Condition(symbol, "<=", high * terms)


def number_of_terms(e, names: Iterable[str]):
    """The number of terms of a sum, a formula in the parameters ``names``, or None where it depends on more; 1 for no
    sum."""
    if not isinstance(e, sp.Sum):
        return sp.Integer(1)
    terms = sp.Mul(*(sp.Max(0, high - low + 1) for _, low, high in e.limits))
    return terms if {s.name for s in terms.free_symbols} <= {*names} else None


def _interval(claim: Claim, e) -> tuple:
    """The least and the largest value of an expression, as far as its parts tell."""
    if e.is_number:
        return (e, e) if e.is_real else _ANY
    if isinstance(e, sp.Indexed | sp.Symbol):
        name = str(e.base.label) if isinstance(e, sp.Indexed) else e.name
        if name in claim.definitions:
            return _interval(claim, claim.definitions[name].formula)
        if name in _SHARES:
            return sp.Integer(0), sp.Integer(1)
        return _SIZE if e.is_nonnegative or (name in NAMES and NAMES[name].sign != "real") else _ANY
    if isinstance(e, operators.E | operators.E_round | operators.E_noise):
        return _interval(claim, e.args[0])
    if isinstance(e, operators.norm2 | operators.norm | sp.Abs | sp.exp):
        return _SIZE
    parts = [_interval(claim, part) for part in (e.args if e.is_Add or e.is_Mul else (e.args[0],) if e.args else ())]
    if e.is_Add:
        return sp.Add(*(low for low, _ in parts)), sp.Add(*(high for _, high in parts))
    if e.is_Mul and all(low >= 0 for low, _ in parts):
        high = sp.oo if any(high == sp.oo for _, high in parts) else sp.Mul(*(high for _, high in parts))
        return sp.Mul(*(low for low, _ in parts)), high
    if e.is_Pow and e.exp.is_Rational and parts[0][0] >= 0:
        return _power(*parts[0], e.exp)
    if isinstance(e, sp.Sum):
        return _SIZE if parts[0][0] >= 0 else _ANY
    return _ANY


def _power(low, high, exponent) -> tuple:
    """The range of a power of a number of at least 0."""
    if exponent > 0:
        return low**exponent, high**exponent
    return (sp.Integer(0) if high == sp.oo else high**exponent), (sp.oo if low == 0 else low**exponent)
