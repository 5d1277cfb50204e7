"""Facts about expected norms, for every federation of a class: numbers that are never negative.

:func:`facts` has those of a statement by name; of :func:`triangle`, :func:`step` and :func:`hit` a proof chooses vectors and
numbers. Where a statement is about every outcome of chance (``pathwise``), nothing counts that holds in expectation alone.
"""

from fractions import Fraction

from verify.checker.length_clients import OWN, SHARED, TWIN
from verify.checker.norm_expressions import NORM, SQUARE, Combination, number, root_above, total, unknown, upper
from verify.checker.operators import COMPARE, require
from verify.checker.piecewise_quadratic import BOUNDS


def facts(statement):
    """Nonnegative norm expressions, by name."""
    wrong = {*statement.everywhere} - {*BOUNDS}
    require(not wrong, f"{', '.join(wrong)} bounds nothing at all points")
    kinds = [assumed, slopes, near_their_mean] + ([] if statement.pathwise else [noise, across, gaps, generalisation])
    return {name: fact for kind in kinds for name, fact in kind(statement)}


def at_most(bound, length):
    """Says that a length is at most a number."""
    return Combination({(): upper(number(bound))}) - length


def lipschitz(statement):
    """The bound on all gradients."""
    require("G_lip" in statement.everywhere, "no hypothesis bounds all gradients")
    return number(statement.given["G_lip"])


def assumed(statement):
    """Each hypothesis that is linear in norms. What holds for every outcome holds in expectation, and E|v| is at most the
    root of a bound on E|v|^2 (Jensen 1906). A hypothesis about numbers alone must hold."""
    for name, relation, text, smaller, larger in statement.assumed:
        gap = larger - smaller
        squares = [key for key in gap.terms if key[:1] == (SQUARE,)]
        if {*gap.terms} <= {()}:
            holds = COMPARE["<" if relation in ("<", ">") else "<="](0, number(gap))
            require(holds, f"a hypothesis fails at these numbers: {text}")
        elif not squares:
            yield name, gap
        elif {*gap.terms} <= {(), squares[0]} and (factor := -gap.terms[squares[0]]) > 0:
            yield name, at_most(root_above(gap.terms.get((), Fraction(0)) / factor), unknown(squares[0][1], kind=NORM))


def noise(statement):
    """E|n| <= sigma for the noise n of a draw, of variance at most sigma^2 (Jensen 1906)."""
    for draw, vector in statement.clients.noises.items():
        if (square := statement.clients.bounds["sigma_sq_client"][draw[-1]]) is not None:
            yield f"noise {' '.join(map(str, draw))}", at_most(root_above(square), statement.length(vector))


def slopes(statement):
    """|g| <= G for each gradient of a client's or a sample's loss, where G is assumed to bound all of them (so it bounds
    their means); where noise is added, G bounds the sum."""
    calls = [(f"slope {' '.join(map(str, function))} {i}", g) for function, seen in statement.points.items()
             for i, (_, g) in enumerate(seen)]
    calls += [(f"slope of {' '.join(map(str, draw))} {i}", g + vector) for draw, vector in statement.clients.noises.items()
              for i, (_, g) in enumerate(statement.points.get((SHARED, draw[-1]), []))]
    for name, g in calls if "G_lip" in statement.everywhere else ():
        yield name, at_most(lipschitz(statement), statement.length(g))


def near_their_mean(statement):
    """|grad F_k(x) - grad F(x)| <= sigma_g,k at a point x, or sum_k p_k |grad F_k(x) - grad F(x)| <= sigma_g, where this is
    assumed at all x; so it is for sigma_g_2, which bounds the root of the mean of squares (Jensen 1906)."""
    clients, weights = statement.clients.clients, statement.clients.weights
    for name in [name for name in statement.everywhere if name != "G_lip"]:
        bound = statement.given[name]
        for count, (x, _) in enumerate(statement.points.get((SHARED, 0), [])):
            rows = [[g for y, g in statement.points.get((SHARED, k), []) if y.terms == x.terms] for k in clients]
            if all(rows):
                mean = statement.mean_of([g for g, *_ in rows])
                apart = [statement.length(g - mean) for g, *_ in rows]
                if name in ("sigma_g", "sigma_g_1", "sigma_g_2"):
                    yield f"{name} {count}", at_most(bound, total(*zip(apart, weights, strict=True)))
                else:
                    for k in clients:
                        yield f"{name} {count} {k}", at_most(bound if name == "sigma_g_max" else bound[k], apart[k])


def across(statement):
    """E|g - h| <= 2 G/n for the gradients g and h, at a model of the second run, of the sample that the first run draws and
    of the second run's: they differ where the draw takes the replaced one of n samples, which it does with probability 1/n
    whatever the model is, and each is at most G (Hardt, Recht, Singer 2016, proof of Theorem 3.8)."""
    for (*draw, i), (g, h) in statement.across.items():
        bound = 2 * upper(lipschitz(statement)) / Fraction(statement.size["samples"])
        yield f"cross {' '.join(map(str, draw))} {i}", at_most(bound, statement.length(g - h))


def gaps(statement):
    """E f(x; z) - E f(x'; z) <= E|f(x; z) - f(x'; z)| <= G E|x - x'| for every sample z and any two data sets, since losses
    have the Lipschitz constant G (Hardt, Recht, Singer 2016, Lemma 3.11). Where the smaller side of the statement alone has
    such gaps, each stands for any sample and data, and so for the supremum."""
    words = (*suprema(statement), "worst_pair_gap") if statement.given_data else ("worst_sample_gap",)
    keys = {key[1:] for pair in statement.pairs for side in pair for key in side.terms if key[1:2] and key[1] in words}
    for word, *where in keys if statement.coupled and statement.each_gap and "G_lip" in statement.everywhere else ():
        gap = statement.apart(*where) * lipschitz(statement) - unknown(word, *where)
        yield " ".join(map(str, (word, *where))), gap


def generalisation(statement):
    """E(F_pop(x) - F(x)) = E(f(x; z) - f(x'; z)) over all data, x' being the model after the sample z has replaced one of
    all samples: all have the same law, and all clients equal weight and number of samples (Bousquet, Elisseeff 2002, Lemma
    7). So it, and its absolute value, are at most G E|x - x'|, and at most any supremum of such differences."""
    for r in range(statement.size["rounds"] + 1) if statement.coupled else ():
        error = unknown("generalisation", r)
        for i, one in enumerate((error, -error, abs(error))):
            if "G_lip" in statement.everywhere:
                yield f"generalisation {r} {i}", statement.apart(r) * lipschitz(statement) - one
            for word in suprema(statement) if not statement.each_gap else ():
                yield f"generalisation {r} {i} {word}", unknown(word, r) - one


def suprema(statement):
    """The words for a supremum over data: of differences of means given the data, or of means of differences."""
    return ("worst_mean_gap", "worst_mean_signed_gap") if statement.given_data else ("worst_pair_gap",)


# for every vector and number -----------------------------------------------------------------------------------------------
def triangle(statement, vector, parts):
    """|v| <= sum of |c| |u| where v is the sum of the c u, pairs (u, c) (the triangle inequality)."""
    require(total(*parts).terms == vector.terms, "the parts of a triangle inequality sum to the whole")
    return total(*((statement.length(part), abs(c)) for part, c in parts), (statement.length(vector), -1))


def expansion(statement, function, a, s):
    """The Lipschitz constant of a - s grad f, f having curvatures from m to L: max(|a - s m|, |a - s L|). As f - m/2 |x|^2
    and L/2 |x|^2 - f are convex, grad f is (L + m)/2 + (L - m)/2 N with a map N of Lipschitz constant 1 (Nesterov 2018,
    Theorem 2.1.5), so the constant is |a - s (L + m)/2| + |s| (L - m)/2, which is that maximum."""
    return max(abs(a - s * bend) for bend in statement.clients.curvatures(function))


def step(statement, function, i, j, a, s):
    """|a (x - y) - s (grad f(x) - grad f(y))| <= :func:`expansion` |x - y| for the points i and j of a function. It holds
    for each outcome of chance, and for means of such functions."""
    (x, g), (y, h) = (statement.clients.points[function][n] for n in (i, j))
    moved = statement.length((x - y) * a - (g - h) * s)
    return total((statement.length(x - y), expansion(statement, function, a, s)), (moved, -1))


def hit(statement, draw, i, j, a, s, by):
    """E|a (x - y) - s (g - h)| <= ((1 - 1/n) rho + |a|/n) E|x - y| + |s|/n (E|g| + E|h|), for the gradients g and h of both
    runs in a step of the client whose sample is replaced, at models x and y that do not depend on its draw; rho is the
    :func:`expansion` (Hardt, Recht, Singer 2016, Lemma 2.5 and Theorem 3.8). The draw takes the replaced one of n samples
    with probability 1/n, whatever happened before; else both gradients are of one function.

    ``by`` the ``bound`` on all gradients, E|g| + E|h| is replaced by 2 G. By their ``length`` it stands as it is, for any of
    the client's samples is replaced with equal chance, independently of either run alone; with the data given it is not."""
    require(statement.coupled and not statement.pathwise, "only expectations know how often a sample is drawn")
    clients, n = statement.clients, Fraction(statement.size["samples"])
    (x, g), (y, h) = clients.points[OWN, *draw][i], clients.points[TWIN, *draw][j]
    require(draw not in clients.draws(x) | clients.draws(y), "the models must not depend on the draw")
    if by == "bound":
        own = [Combination({(): 2 * upper(lipschitz(statement))})]
    else:
        require(by == "length" and not statement.given_data, "norms of gradients depend on a given sample")
        call = (draw, *(v.key for v in (x, g, y, h)))
        require(call in statement.together, "the gradients are those of both runs at the same time")
        own = [statement.length(g), statement.length(h)]
    rho, moved = expansion(statement, (OWN, *draw), a, s), statement.length((x - y) * a - (g - h) * s)
    apart = statement.length(x - y), rho * (1 - 1 / n) + abs(a) / n
    return total(apart, *((length, abs(s) / n) for length in own), (moved, -1))
