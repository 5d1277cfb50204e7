"""Explains the checker's names of facts, vectors and points, for comments."""

from verify.checker.quadratic_forms import APART, LAYER, ORIGIN

__all__ = ["meaning", "where"]

#: how names begin, and the theory that gives the fact
_THEORIES = {
    "client": "interpolation: two points of a function of the class",
    "least": "the objective exceeds its minimum by at least |its gradient|^2 / (2 L)",
    "noise": "the variance of a draw of noise is at most that of its client",
    "uncorrelated": "noise is uncorrelated with what does not depend on its draw",
    "across": "noise of a client is uncorrelated with the vectors of the other clients",
    "mean": "a conditional mean has the inner products of its vector with all that is given",
    "curvature": "all curvatures of the client are the same number",
    "chance": "the probability of an outcome of the choices is not negative",
    "Max": "the largest of several numbers is at least each of them",
    "Min": "the least of several numbers is at most each of them",
    "largest_sum": "the largest sum is at least each of the sums",
    "G_lip": "hypothesis: a bound on all gradients",
    "sigma_g": "hypothesis: gradients of clients are near to their mean",
}


def meaning(name, run):
    """The theory that gives a fact, and which one it is."""
    kind, *of = name.split()
    if kind == "hypothesis":
        return f"hypothesis of the claim: {run.hypotheses[int(of[0])]['text']}"
    if kind == "client" and of[1] == "least":
        return f"the loss of client {of[0]} at its point {of[2]} exceeds its infimum by at least |gradient|^2 / (2 L)"
    if kind == "client":
        return f"interpolation: points {of[1]} and {of[2]} of client {of[0]}"
    return next((text for start, text in _THEORIES.items() if kind.startswith(start)), kind)


def where(run, used, losses):
    """Lines that say which vectors the numbers of ``used`` mean, and where the points of these and of ``losses`` lie."""
    found = {}

    def name(row, text):
        parts = {i % APART for i in row.parts if i != ORIGIN} if not row.with_powers else ()
        if len({i % LAYER for i in parts}) == 1:
            found.setdefault(min(parts) % LAYER, text)

    name(run.given["start_offset"], "the first model less the optimum")
    for (k, what, *draw), seen in run.letters.noises.items():
        for row, *_ in seen:
            name(row, f"a noise of client {k} ({what}, round {draw[0]}, step {draw[1]})")
    points = [(k, n, *point) for k, known in enumerate(run.letters.points) for n, point in enumerate(known)]
    for k, n, _, gradient, _ in points:
        name(gradient, f"the gradient of client {k} at its point {n}" + " (the optimum)" * (n == 0))
    for (i, past), mean in run.letters.conditional.items():
        name(mean, f"the mean of [{i}] given all before round {past}")
    for state, value in (run.initial | run.states).items():
        for k, row in enumerate(value if isinstance(value, list) else [value]):
            name(row, f"{state}{f' of client {k}' * isinstance(value, list)} at the start")
    yield from (f"[{i}] is {found.get(i, 'a vector of the run')}" for i in sorted(used))
    for k, n, x, gradient, value in points:
        if n and ({i % LAYER for i in gradient.of_what} & used or {*value.of_what} & losses):
            yield f"point {n} of client {k} is the optimum {_combination(x)}"


def _combination(row):
    """A point as it lies from the optimum."""
    terms = row.terms if row.with_powers else {(0, i): c for i, c in row.terms.items()}
    return " ".join(f"{'-' if c < 0 else '+'} {abs(c)} [{i}]" + f" m^{p}" * bool(p)
                    for (p, i), c in terms.items() if i != ORIGIN and i < LAYER)
