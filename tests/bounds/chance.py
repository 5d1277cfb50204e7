"""Expectations, maxima and minima in the rows of the papers: some function of a number for each, the same in claim and row.

A row that leaves an expectation out, or has it around another formula, differs from the claim; so does one that has another
kind of expectation, or one given another round. Where the arguments of a maximum lie is of no matter either: every argument
counts at any numbers.
"""

from fractions import Fraction

from bounds.language import operators, samples
from tests.bounds.claim_values import Vec

__all__ = ["CHANCE", "E", "E_client", "E_data", "E_noise", "E_round", "E_unused", "Max", "Min"]


def _some_function(a, number):
    """A function for each ``number``, of numbers and, by entry, of vectors; none of them is linear."""
    if isinstance(a, Vec):
        return Vec(_some_function(entry, number) for entry in a)
    inexact = not isinstance(a, int | Fraction)
    number = float(number) if inexact else Fraction(number)
    return a + a * a / (16 + number) + 1 / number


def E(a, *over):
    """``E(a)``, and ``E(a, "sampling")``."""
    return _some_function(a, 5 if over else 3)


def E_round(a, r):
    return _some_function(a, 7 + Fraction(int(r), 2))


def E_noise(a):
    return _some_function(a, 11)


def E_data(a):
    return _some_function(a, 13)


def E_unused(r, a):
    return _some_function(a, 17 + Fraction(int(r), 2))


def E_client(k, a):
    return _some_function(a, 23 + Fraction(int(k), 2))


def _sum(arguments, factor, offset):
    """Some positive function in which all arguments are alike."""
    return sum(a * a + (factor if isinstance(a, int | Fraction) else float(factor)) * a + offset for a in arguments)


def Max(*arguments):
    return _sum(arguments, Fraction(1, 3), 2)


def Min(*arguments):
    return _sum(arguments, Fraction(-1, 4), 3)


CHANCE = {
    operators.E: E, operators.E_round: E_round, operators.E_noise: E_noise, samples.E_data: E_data,
    samples.E_unused: E_unused,
    samples.E_client: E_client,
}
