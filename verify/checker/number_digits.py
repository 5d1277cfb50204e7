"""Interval arithmetic for polynomials without names, in proofs about numbers."""

from verify.checker.intervals import Interval, as_interval, exp, extreme, log, power, root
from verify.checker.operators import require


def interval_of(p):
    """The interval of a polynomial without names."""
    found = Interval(0, 0)
    for m, c in p.terms.items():
        part = Interval(c, c)
        for a, n in m:
            part = part * as_interval(interval_of_atom(a)) ** n
        found = found + part
    return found


def interval_of_atom(a):
    kind, *args = a
    require(kind in VALUES, f"{kind} has no digits")
    return VALUES[kind](*(arg if isinstance(arg, int) else number_if_exact(interval_of(arg)) for arg in args))


def number_if_exact(number): return number.low if number.low == number.high else number


VALUES = {"exp": exp, "log": log, "root": root, "pow": power, "inv": lambda p: 1 / as_interval(p), "Abs": abs,
          "Max": lambda *a: extreme(a), "Min": lambda *a: extreme(a, largest=False)}
