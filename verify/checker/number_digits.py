"""The digits of numbers without names, by intervals, for proofs about numbers."""

from verify.checker.intervals import Interval, as_interval, exp, extreme, log, power, root
from verify.checker.operators import require


def value(p):
    """The interval of a polynomial without names."""
    found = Interval(0, 0)
    for m, c in p.terms.items():
        part = Interval(c, c)
        for a, n in m:
            part = part * as_interval(of_constant(a)) ** n
        found = found + part
    return found


def of_constant(a):
    kind, *args = a
    require(kind in VALUES, f"{kind} has no digits")
    return VALUES[kind](*(arg if isinstance(arg, int) else simple(value(arg)) for arg in args))


def simple(number): return number.low if number.low == number.high else number


VALUES = {"exp": exp, "log": log, "root": root, "pow": power, "inv": lambda p: 1 / as_interval(p), "Abs": abs,
          "Max": lambda *a: extreme(a), "Min": lambda *a: extreme(a, largest=False)}
