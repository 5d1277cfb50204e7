"""Words of the stand-alone checker's formulas that need no instance."""

import operator
from fractions import Fraction
from functools import reduce
from math import ceil, floor

from verify.checker.intervals import (
    Interval,
    Undecided,
    Vector,
    as_interval,
    dot,
    each,
    exp,
    extreme,
    log,
    norm,
    power,
    quotient,
    root,
)
from verify.checker.limits import BITS, bits, bounded, parse_number

FORMAT = "fedtheory certificate 4"
SETTINGS = ("run", "point", "algebra")
COMPARE = {"<=": operator.le, ">=": operator.ge, "==": operator.eq, ">": operator.gt, "<": operator.lt}

SUM = "a sum of inner products, losses and unknown numbers"
KINDS = {"QuadraticForm": SUM, "LaurentForm": SUM, "Interval": "a number of which the ends alone are known",
         "SymbolicVector": "a vector",
         "LaurentVector": "a vector", "Vector": "a vector"}


def kind(value):
    """The kind of a value, for messages."""
    name = type(value).__name__
    return KINDS.get(name, f"a {name}")


def breaks(relation, left, right, unless=True):
    """Whether both sides surely break the relation; ``unless`` False: whether they do not surely meet it."""
    try:
        return not COMPARE[relation](left, right)
    except Undecided:
        return not unless


def exact(data):
    """Numbers of a certificate as fractions and vectors; nothing is a float or a truth value."""
    if isinstance(data, dict):
        return {name: exact(value) for name, value in data.items()}
    if isinstance(data, (Fraction, Interval, Vector)):
        return data
    said = repr(data) if data is None or isinstance(data, (bool, float)) else "one without a value"
    require(type(data) in (list, str, int), f"a number is a text or a whole number; got {said}")
    return Vector(map(exact, data)) if isinstance(data, list) else parse_number(str(data))


def require(truth, message):
    if not truth:
        raise ValueError(message)


def place(number, count, what):
    """A whole number from 0 to below ``count``."""
    require(0 <= number < count and number == int(number), f"{number} is not the number of {what}")
    return int(number)


#: what may go wrong with a certificate that makes no sense
SENSELESS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def senseless(error):
    """Raises an error of :data:`SENSELESS` again where it is not the certificate's: no module of ours has a name."""
    if isinstance(error, AttributeError) and isinstance(error.obj, type(operator)):
        raise error


def replayed(check, certificate):
    """Runs ``check``; rejects a certificate that makes no sense."""
    try:
        return check(certificate)
    except SENSELESS as error:
        senseless(error)
        return False, f"cannot be replayed: {type(error).__name__}: {error}", "", ""


def mean(weights, vectors):
    return add(*(v * w for w, v in zip(weights, vectors, strict=True)))


def add(*parts):
    """A sum of numbers or of vectors; the number 0, a sum of nothing, adds nothing to vectors."""
    if any(isinstance(part, Vector) for part in parts):
        parts = [part for part in parts if isinstance(part, Vector) or part != 0]
    return reduce(operator.add, parts)


def multiply(*parts):
    return reduce(times, parts)


def times(a, b):
    """The product of two numbers, or of a number and a vector, unless it gets too long."""
    found = a * b
    if not isinstance(found, Vector):
        bounded(bits(found), BITS, "bits of a product")
    return found


def upper(*parts):
    """The largest of numbers, or of vectors by coordinates."""
    return each(lambda *entries: extreme(entries), *parts) if isinstance(parts[0], Vector) else extreme(parts)


def scaled(u, w, a):
    """u / (w + a) by coordinates, 0/0 = 0; w is a vector or a number."""
    return each(lambda above, below: quotient(above, below + a), u, w if isinstance(w, Vector) else [w] * len(u))


def largest_sum(values, count):
    """The sum of the ``count`` largest values."""
    require(count == int(count) and count >= 0, f"{count} is no number of values")
    low, high = (sum(sorted(ends)[max(len(values) - int(count), 0) :], Fraction(0)) for ends in (
        [as_interval(value).low for value in values], [as_interval(value).high for value in values]))
    return Interval(low, high) if any(isinstance(value, Interval) for value in values) else low


def first_least(pairs):
    """The second of the first pair whose first is least."""
    return min(pairs, key=lambda pair: pair[0])[1]


def whole(rounding):
    """A number made whole; Undecided where an interval has several such numbers."""
    def of_one(number):
        low, high = as_interval(number).low, as_interval(number).high
        if rounding(low) != rounding(high):
            raise Undecided(f"a whole number between {rounding(low)} and {rounding(high)}")
        return Fraction(rounding(low))

    return of_one


WORDS = {
    "+": add, "*": multiply, "^": power, "exp": exp, "log": log, "Exp1": lambda: exp(Fraction(1)), "Mod": operator.mod,
    "Max": lambda *a: extreme(a), "Min": lambda *a: extreme(a, largest=False), "Abs": abs, "dot": dot, "norm": norm,
    "floor": whole(floor), "ceiling": whole(ceil), "below": lambda a, b: Fraction(int(a <= b)),
    "share": quotient, "norm2": lambda v: dot(v, v), "upper": upper, "scaled": scaled, "root": lambda v: each(root, v),
    "square": lambda v: each(lambda entry: entry**2, v), "least": lambda v: extreme(v, largest=False),
    "norm1": lambda v: add(*map(abs, v)), "norm_inf": lambda v: extreme([*map(abs, v)]),
    "raised": lambda v, a: each(lambda entry: entry + a, v), "reciprocal": lambda w, a: each(lambda b: 1 / (b + a), w),
}

#: words that bind an index: how they join the values, and at which places value (or pair of values), index, low and high
#: stand, then the rest
JOINED = {
    "Sum": (lambda values: add(*values) if values else Fraction(0), (0, 1, 2, 3)),
    "Product": (lambda values: multiply(*values) if values else Fraction(1), (0, 1, 2, 3)),
    "highest": (lambda values: upper(*values), (3, 0, 1, 2)),
    "largest_sum": (largest_sum, (1, 2, 3, 4, 0)),
    "first_least": (first_least, ((3, 4), 0, 1, 2)),
}

#: words whose meaning depends on the instance
OF_INSTANCE = ("F", "grad", "objective", "objective_grad", "tau", "layer_part")

#: how many arguments a word has; those of ``ANY_NUMBER`` have one or more
ANY_NUMBER = ("+", "*", "Max", "Min", "upper")
ARGUMENTS = {"Exp1": 0, "scaled": 3, "loss_grad": 3, "largest_sum": 5, "first_least": 5} | dict.fromkeys(
    ("exp", "log", "Abs", "norm", "floor", "ceiling", "norm2", "root", "square", "least", "norm1", "norm_inf", "objective",
     "objective_grad", "tau", "E", "E_sampling", "E_noise", "E_data", "F_pop"), 1) | dict.fromkeys(
    ("^", "Mod", "dot", "below", "share", "raised", "reciprocal", "F", "grad", "layer_part", "E_round", "E_step", "E_client",
     "E_unused", "infimum", "worst_mean_gap", "worst_mean_signed_gap", "worst_pair_gap", "worst_sample_gap"), 2) | (
    dict.fromkeys(("Sum", "Product", "highest"), 4))


def fitting(word, count):
    """Refuse a word with another number of arguments than it has."""
    fits = count == ARGUMENTS[word] if word in ARGUMENTS else count or word not in ANY_NUMBER
    require(fits, f"{word} has another number of arguments than {count}")

#: which draws a mean is over, by (kind, round, ...) of a draw and the round that is given
MEANS = {
    "E": lambda draw, r: True,
    "E_sampling": lambda draw, r: draw[0] in ("sampling", "trackers", "communication"),
    "E_noise": lambda draw, r: draw[0] in ("noise", "extra", "start"),
    "E_round": lambda draw, r: draw[1] >= r,
    "E_step": lambda draw, at: draw[1] > at[0] or (draw[0] == "noise" and draw[1:3] >= at),  # at a round and a step
}
