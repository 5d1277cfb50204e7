"""Functions by coordinates: the matrix D of the quotients u / (w + a) is diagonal, with entries from 0 to 1/a, as w has no
negative entry: w is made of squares, roots and largest entries."""

from verify.checker.quadratic_forms import QuadraticForm, effort, pairing


def quotient_pairs(run, number):
    """The number a, and the pairs (u, D u) that were asked for."""
    (_, a), pairs = [*run.coordinates.quotients.items()][number]
    return a, [*pairs.values()]


def quotient(run, past, number, i, j=None):
    """<D u, u> - a |D u|^2 >= 0, of a vector u that was asked for, or of the difference of two."""
    a, pairs = quotient_pairs(run, number)
    u, found = pairs[i] if j is None else (pairs[i][0] - pairs[j][0], pairs[i][1] - pairs[j][1])
    run.letters.meter.charge(effort(u, found) + effort(found, found))
    return pairing(found, u) - pairing(found, found) * a


def diagonal(run, past, number, i, j):
    """<D u, v> - <u, D v> = 0."""
    _, pairs = quotient_pairs(run, number)
    (u, of_u), (v, of_v) = pairs[i], pairs[j]
    run.letters.meter.charge(effort(u, of_v) + effort(v, of_u))
    return pairing(of_u, v) - pairing(of_v, u) + QuadraticForm({})
