"""Constants of clients with samples that hold for every atom, for the law and for every data set, worked out by knots.

The derivative of an atom's loss is linear between neighbouring knots d - w, d + w of its pieces, by coordinates.
"""

from fractions import Fraction
from itertools import pairwise, product

from verify.checker.intervals import extreme, root


def slope(atom, j, y):
    inner = [s[j] * max(-w[j], min(y - d[j], w[j])) for s, d, w in atom["pieces"]]
    return atom["curvature"][j] * (y - atom["center"][j]) + sum(inner)


def knots(atoms, j):
    found = {y for atom in atoms for _, d, w in atom["pieces"] for y in (d[j] - w[j], d[j] + w[j])}
    return sorted(found) or [Fraction(0)]


def bends(atom, j):
    """All values of the second derivative along a coordinate."""
    points = knots([atom], j)
    middles = [(low + high) / 2 for low, high in pairwise(points)]
    inner = [atom["curvature"][j] + sum(s[j] for s, d, w in atom["pieces"] if abs(y - d[j]) < w[j]) for y in middles]
    return [atom["curvature"][j], *inner]


def extremes(atom):
    """Infimum and supremum of a bounded loss: at knots, where it is flat, or beyond all knots, where it is constant."""
    low = high = atom["offset"]
    for j in range(len(atom["curvature"])):
        points = knots([atom], j)
        slopes = [slope(atom, j, y) for y in points]
        if atom["curvature"][j] or slopes[0] or slopes[-1]:
            return None
        for (a, b), (p, q) in zip(pairwise(points[:]), pairwise(slopes), strict=True):
            points.append(a if p * q >= 0 else a + (b - a) * p / (p - q))
        values = [height(atom, j, y) for y in points]
        low, high = low + min(values), high + max(values)
    return low, high


def height(atom, j, y):
    total = atom["curvature"][j] * (y - atom["center"][j]) ** 2 / 2
    for s, d, w in atom["pieces"]:
        inner = max(-w[j], min(y - d[j], w[j]))
        total += s[j] * ((y - d[j]) * inner - inner * inner / 2)
    return total


def mean_slope(atoms, j, y):
    return sum(slope(atom, j, y) for atom in atoms) / len(atoms)


def variance(atoms):
    """sup of the mean of |grad l - mean gradient|^2, None where it is infinite."""
    if len({atom["curvature"] for atom in atoms}) > 1:
        return None
    return sum(max(sum((slope(atom, j, y) - mean_slope(atoms, j, y)) ** 2 for atom in atoms) / len(atoms)
                   for y in knots(atoms, j)) for j in range(len(atoms[0]["curvature"])))


def distances(clients):
    """sup of |grad F_k - grad F| by client, of its mean and of the root of its mean square; None where infinite."""
    m, dim, everybody = len(clients), len(clients[0][0]["curvature"]), [atom for atoms in clients for atom in atoms]
    outer = {tuple(sum(a["curvature"][j] for a in atoms) / len(atoms) for j in range(dim)) for atoms in clients}
    if len(outer) > 1:
        return None
    apart = []  # by coordinate and knot, one number per client
    for j in range(dim):
        rows = [[mean_slope(atoms, j, y) for atoms in clients] for y in knots(everybody, j)]
        apart.append([[value - sum(row) / m for value in row] for row in rows])
    of_client = [root(sum(max(row[k] ** 2 for row in rows) for rows in apart)) for k in range(m)]
    mean = max(sum(map(abs, row)) / m for row in apart[0]) if dim == 1 else sum(of_client[1:], of_client[0]) / m
    return of_client, mean, root(sum(max(sum(v * v for v in row) / m for row in rows) for rows in apart))


def bounds(atoms, samples):
    """L, mu, sigma^2 by client, and where they are finite G_lip and sigma_g by name."""
    dim = range(len(atoms[0][0]["curvature"]))
    every = [[[b for j in dim for b in bends(atom, j)] for atom in row] for row in atoms]
    found = {
        "L_client": [max(abs(b) for values in row for b in values) for row in every],
        "mu_client": [min(b for values in row for b in values) for row in every],
    }
    of_data = [[[row[i] for i in chosen] for chosen in product(range(len(row)), repeat=samples)] for row in atoms]
    variances = [[variance(data) for data in [row, *sets]] for row, sets in zip(atoms, of_data, strict=True)]
    if all(v is not None for row in variances for v in row):
        found["sigma_sq_client"] = [max(row) for row in variances]
    if not any(any(atom["curvature"]) for row in atoms for atom in row):
        steepest = [sum(max(slope(atom, j, y) ** 2 for y in knots([atom], j)) for j in dim) for row in atoms for atom in row]
        found["G_lip"] = root(max(steepest))
    ranges = [extremes(atom) for row in atoms for atom in row]
    if None not in ranges:
        found |= {"loss_inf": min(low for low, _ in ranges), "H_loss": max(high for _, high in ranges)}
    cases = [distances(clients) for clients in [atoms, *product(*of_data)]]
    if all(case is not None for case in cases):
        clients, means, roots = zip(*cases, strict=True)
        found |= {"sigma_g_client": [extreme(column) for column in zip(*clients, strict=True)],
                  "sigma_g": extreme(means), "sigma_g_2": extreme(roots)}
    return found
