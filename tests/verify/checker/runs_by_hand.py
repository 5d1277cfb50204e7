"""Certificates about runs of quadratic clients, written by hand."""

from fractions import Fraction

__all__ = ["LAST_ROUND", "LAST_TIME", "condition", "law", "run_certificate"]

LAST_TIME, LAST_ROUND = (["+", -1, name] for name in ("iterations", "rounds"))


def condition(left, relation, right, *over): return dict(left=left, relation=relation, right=right, over=[*over], text="")


def law(chance, *vector):
    """Centred noise of two outcomes, of which the first has this chance and is this vector times the other's chance."""
    p = Fraction(chance)
    return [[str(c), [str(Fraction(a) * b) for a in vector]] for c, b in ((p, 1 - p), (1 - p, -p))]


def run_certificate(statement, *hypotheses, base="fedavg", options=None, sampling="full", participants=None, rounds=2,
                    steps=1, weights=("1",), curvature=None, center=None, noise=None, start=("1",), eta="1/4", free=None,
                    values=None, definitions=None, left="0", right="0", **instance):
    """A counterexample. The optimum of the clients, whose losses have no offsets, is computed; the rest is as given."""
    m, dim, count = len(weights), len(start), rounds * steps
    curvature, center = curvature or [["1"] * dim] * m, center or [["0"] * dim] * m
    share = [[Fraction(w) * Fraction(a) for a in row] for w, row in zip(weights, curvature, strict=True)]
    optimum = [sum(share[k][j] * Fraction(center[k][j]) for k in range(m)) / sum(row[j] for row in share)
               for j in range(dim)]
    return {
        "format": "fedtheory certificate 4", "claim": "mine", "reading": "", "setting": "run", "statement": statement,
        "hypotheses": [*hypotheses], "definitions": definitions or {}, "everywhere": [],
        "free": {"eta_l": ["iterations"], **(free or {})},
        "procedure": {"base": base, "sampling": sampling, "indicator": "broadcast", "strict": False,
                      "options": options or {"eta_g": "1"}},
        "sizes": dict(clients=m, rounds=rounds, local_steps=steps, layers=1, participants=participants or m, dim=dim,
                      iterations=count),
        "instance": {
            "center": center, "curvature": curvature, "x_star": [*map(str, optimum)], "offset": ["0"] * m,
            "client_weight": [*weights], "layer_sizes": [dim], "priority": [1] * m, "noise": noise or [[]] * m,
            "start_offset": [*start], "initial": {}, "epsilon": ["0"] * (rounds + 1),
            "available": [[1] * m] * (rounds + 1)} | instance,
        "values": {"eta_l": eta if isinstance(eta, (list, dict)) else [eta] * count, **(values or {})},
        "left": left, "right": right}
