"""What is known of expected norms, for every federation of a class: expressions that are never negative.

:func:`facts` has those of a statement by name; of :func:`triangle`, :func:`step` and :func:`hit` a proof chooses vectors and
numbers. Where a statement is about every outcome of chance (``pathwise``), nothing counts that holds in expectation alone.
"""

from fractions import Fraction

from verify.checker.length_clients import OWN, SHARED, TWIN
from verify.checker.norm_expressions import (
    ABSOLUTE,
    NORM,
    ORIGIN,
    SIGNED,
    SQUARE,
    NormExpression,
    SymbolicVector,
    number,
    root_above,
    total,
    upper,
)
from verify.checker.pieces import BOUNDS
from verify.checker.words import COMPARE, require

ONE_SAMPLE, EVERY_SAMPLE = ("worst_mean_gap", "worst_mean_signed_gap"), ("worst_pair_gap",)


def facts(statement):
    """What is never negative, by name."""
    for name in statement.everywhere:
        require(name in BOUNDS, f"{name} bounds nothing at all points")
    kinds = [assumed, slopes, near_their_mean]
    if not statement.pathwise:
        kinds += [noise, across, gaps, generalisation]
    found = {}
    for kind in kinds:
        found |= kind(statement)
    return found


def constant(number):
    """A number, as an expression."""
    return NormExpression({(): upper(number)})


def lipschitz(statement):
    require("G_lip" in statement.everywhere, "no hypothesis bounds all gradients")
    return number(statement.given["G_lip"])


def assumed(statement):
    """Each hypothesis that is linear in norms. What holds for every outcome holds in expectation. E|v| is at most the root of
    a bound on E|v|^2 (Jensen 1906). A hypothesis about numbers alone must hold."""
    found = {}
    for name, relation, text, smaller, larger in statement.assumed:
        gap = larger - smaller
        squares = [key for key in gap.terms if key and key[0] == SQUARE]
        if {*gap.terms} <= {()}:
            holds = COMPARE["<" if relation in ("<", ">") else "<="](0, number(gap))
            require(holds, f"a hypothesis fails at these numbers: {text}")
        elif not squares:
            found[name] = gap
        elif {*gap.terms} <= {(), squares[0]} and (factor := -gap.terms[squares[0]]) > 0:
            bound = constant(root_above(gap.terms.get((), Fraction(0)) / factor))
            found[name] = bound - NormExpression({(NORM, squares[0][1]): Fraction(1)})
    return found


def noise(statement):
    """E|n| <= sigma for the noise n of a draw, of variance at most sigma^2 (Jensen 1906)."""
    bounds, found = statement.federation.bounds["sigma_sq_client"], {}
    for draw, vector in statement.federation.basis.noises.items():
        if (square := bounds[draw[-1]]) is not None:
            found[f"noise {' '.join(map(str, draw))}"] = constant(root_above(square)) - statement.length(vector)
    return found


def slopes(statement):
    """|g| <= G for each gradient of a client's or a sample's loss, where G is assumed to bound all of them (a mean of vectors
    that are no longer than G is not either); where noise is added, G bounds the sum."""
    if "G_lip" not in statement.everywhere:
        return {}
    bound, found = constant(lipschitz(statement)), {}
    for function, seen in statement.points.items():
        for i, (_, g) in enumerate(seen):
            found[f"slope {' '.join(map(str, function))} {i}"] = bound - statement.length(g)
    for draw, vector in statement.federation.basis.noises.items():
        for i, (_, g) in enumerate(statement.points.get((SHARED, draw[-1]), [])):
            found[f"slope of {' '.join(map(str, draw))} {i}"] = bound - statement.length(g + vector)
    return found


def near_their_mean(statement):
    """|grad F_k(x) - grad F(x)| <= sigma_g,k at a point x, or sum_k p_k |grad F_k(x) - grad F(x)| <= sigma_g, where these are
    assumed to bound that over all x; the mean of lengths is at most the root of the mean of squares, which sigma_g_2 bounds
    (Jensen 1906)."""
    found, clients, p = {}, statement.federation.clients, statement.federation.weights
    for name in [name for name in statement.everywhere if name != "G_lip"]:
        bound = statement.given[name]
        for count, (x, _) in enumerate(statement.points.get((SHARED, 0), [])):
            rows = [[g for y, g in statement.points.get((SHARED, k), []) if y.key == x.key] for k in clients]
            if not all(rows):
                continue
            mean = statement.mean_of([g for g, *_ in rows])
            apart = [statement.length(g - mean) for g, *_ in rows]
            if name in ("sigma_g", "sigma_g_1", "sigma_g_2"):
                found[f"{name} {count}"] = constant(number(bound)) - total(*zip(apart, p, strict=True))
            else:
                for k in clients:
                    of_one = number(bound if name == "sigma_g_max" else bound[k])
                    found[f"{name} {count} {k}"] = constant(of_one) - apart[k]
    return found


def across(statement):
    """E|g - h| <= 2 G/n for the gradients g and h, at a model of the second run, of the sample that the first run draws and of
    the second run's: they differ where the draw takes the replaced one of n samples, which it does with probability 1/n
    whatever the model is, and each is at most G (Hardt, Recht, Singer 2016, proof of Theorem 3.8)."""
    found = {}
    for (*draw, i), (g, h) in statement.across.items():
        bound = constant(2 * upper(lipschitz(statement)) / Fraction(statement.size["samples"]))
        found[f"cross {' '.join(map(str, draw))} {i}"] = bound - statement.length(g - h)
    return found


def gaps(statement):
    """E f(x; z) - E f(x'; z) <= E|f(x; z) - f(x'; z)| <= G E|x - x'| for every sample z and every two data sets, and so for the
    supremum, since losses have the Lipschitz constant G (Hardt, Recht, Singer 2016, Lemma 3.11). Only where the smaller side of
    the statement alone has such gaps, each stands for any sample and data."""
    if not statement.coupled or "G_lip" not in statement.everywhere or not statement.each_gap:
        return {}
    keys = {key for pair in statement.pairs for side in pair for key in side.terms if key and key[0] in (SIGNED, ABSOLUTE)}
    found = {}
    for _, word, *where in keys:
        if word in (("worst_sample_gap",) if not statement.given_data else (*ONE_SAMPLE, *EVERY_SAMPLE)):
            gap = NormExpression({(SIGNED, word, *where): Fraction(1)})
            found[" ".join(map(str, (word, *where)))] = statement.apart(*where) * lipschitz(statement) - gap
    return found


def generalisation(statement):
    """E(F_pop(x) - F(x)) = E(f(x; z) - f(x'; z)) over all data, where x' is the model after the sample z has replaced one of
    all samples: all have the same law, and all clients equal weight and number of samples (Bousquet, Elisseeff 2002, Lemma 7).
    So it, and its absolute value, are at most G E|x - x'|, and at most any supremum of such differences."""
    if not statement.coupled:
        return {}
    found, bounded = {}, "G_lip" in statement.everywhere
    suprema = () if statement.each_gap else ONE_SAMPLE if statement.given_data else EVERY_SAMPLE
    for r in range(statement.size["rounds"] + 1):
        for i, (kind, sign) in enumerate(((SIGNED, 1), (SIGNED, -1), (ABSOLUTE, 1))):
            error = NormExpression({(kind, "generalisation", r): Fraction(sign)})
            if bounded:
                found[f"generalisation {r} {i}"] = statement.apart(r) * lipschitz(statement) - error
            for word in suprema:
                found[f"generalisation {r} {i} {word}"] = NormExpression({(SIGNED, word, r): Fraction(1)}) - error
    return found


# for every vector and number -----------------------------------------------------------------------------------------------
def triangle(statement, vector, parts):
    """|v| <= sum of |c| |u| where v is the sum of the c u, pairs (u, c) (the triangle inequality)."""
    whole = sum((part * c for part, c in parts), SymbolicVector({}))
    require(whole.key == vector.key, "the parts of a triangle inequality sum to the whole")
    return total(*((statement.length(part), abs(c)) for part, c in parts), (statement.length(vector), -1))


def expansion(statement, function, a, s):
    """The Lipschitz constant of a - s grad f, f having curvatures from m to L: max(|a - s m|, |a - s L|). As f - m/2 |x|^2 and
    L/2 |x|^2 - f are convex, grad f is (L + m)/2 + (L - m)/2 N with a map N of Lipschitz constant 1 (Nesterov 2018, Theorem
    2.1.5), so the constant is |a - s (L + m)/2| + |s| (L - m)/2, which is that maximum."""
    curvatures = statement.federation.curvatures(function)
    require(curvatures is not None, f"nothing is known of the curvature of {function}")
    return max(abs(a - s * bend) for bend in curvatures)


def step(statement, function, i, j, a, s):
    """|a (x - y) - s (grad f(x) - grad f(y))| <= :func:`expansion` |x - y| for the points i and j of a function. It holds for
    each outcome of chance, and for means of such functions."""
    (x, g), (y, h) = (statement.federation.basis.points[function][n] for n in (i, j))
    moved = statement.length((x - y) * a - (g - h) * s)
    return total((statement.length(x - y), expansion(statement, function, a, s)), (moved, -1))


def hit(statement, draw, i, j, a, s, by):
    """E|a (x - y) - s (g - h)| <= ((1 - 1/n) rho + |a|/n) E|x - y| + |s|/n (E|g| + E|h|), for the gradients g and h of both runs
    in a step of the client whose sample is replaced, at models x and y that do not depend on its draw; rho is the
    :func:`expansion` (Hardt, Recht, Singer 2016, Lemma 2.5 and Theorem 3.8). The draw takes the replaced one of n samples
    with probability 1/n, whatever happened before; else both gradients are of one function.

    ``by`` the ``bound`` G of all gradients, E|g| + E|h| is at most 2 G where it takes it. By their ``length`` it is what it is
    in general, as any of the client's samples is replaced with equal chance, independently of either run alone; with the data
    given it is not."""
    require(statement.coupled and not statement.pathwise, "only expectations know how often a sample is drawn")
    points, n = statement.federation.basis.points, Fraction(statement.size["samples"])
    (x, g), (y, h) = points[OWN, *draw][i], points[TWIN, *draw][j]
    at_random = any(draw in statement.federation.basis.depends_on[i] for v in (x, y) for i in v.coefficients if i != ORIGIN)
    require(not at_random, "the models must not depend on the draw")
    if by == "bound":
        own = [constant(2 * upper(lipschitz(statement)))]
    else:
        require(by == "length" and not statement.given_data, "norms of gradients depend on a given sample")
        together = [tuple(v.key for call in pair for v in call[1:]) for run in statement.runs() for pair in run.pairs
                    if pair[0][0] == draw]
        require(tuple(v.key for v in (x, g, y, h)) in together, "the gradients are those of both runs at the same time")
        own = [statement.length(g), statement.length(h)]
    rho, moved = expansion(statement, (OWN, *draw), a, s), statement.length((x - y) * a - (g - h) * s)
    near = statement.length(x - y)
    return total((near, rho * (1 - 1 / n) + abs(a) / n), *((length, abs(s) / n) for length in own), (moved, -1))
