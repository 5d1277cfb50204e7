"""The federation of proofs about losses at points: one time, clients with weights, and functions with curvatures.

A client's loss is differentiable on all of R^dim, with curvatures between ``mu_client`` and ``L_client``, which may be less
than 0, and at least -``L_client``. Lemmas have a client k, points as vectors, and numbers that bound the curvatures.
"""

from fractions import Fraction

from verify.checker.index_sums import combined, dot, frozen, new_index, scaled, sum_of, vector_sum
from verify.checker.number_facts import NONNEGATIVE, POSITIVE
from verify.checker.operators import require
from verify.checker.polynomials import ONE, ZERO, constant, of_atom

#: arrays by their sizes, and quantities that follow from others
ARRAYS = {"client_weight": ["clients"], "priority": ["clients"], "included": ["1", "clients"], "eta_l": ["1"],
          "x_local": ["1", "clients", "dim"], "x_star": ["dim"], "L_client": ["clients"], "mu_client": ["clients"],
          "F_star_client": ["clients"]}
SIGNS = {"client_weight": POSITIVE, "priority": NONNEGATIVE, "included": NONNEGATIVE, "L_client": NONNEGATIVE}
CLIENT = "the client"  # an index; no name has a space
EVERY = [CLIENT, 0, ["+", -1, "clients"]]
RULES = {"F_star": ([], ["objective", "x_star"]), "F_inf": ([], ["objective", "x_star"])}
#: the weights of priority clients sum to one; a client is one or not
GIVEN = ({"left": ["Sum", ["*", ["priority", CLIENT], ["client_weight", CLIENT]], *EVERY], "relation": "==", "right": 1,
          "over": []},
         {"left": ["*", ["priority", CLIENT], ["+", 1, ["*", -1, ["priority", CLIENT]]]], "relation": "==", "right": 0,
          "over": [EVERY]})


def symbolic_client(reader, known):
    """(a client k that stands for each, its weight in the objective, the number of the last client). The index is an atom,
    as an index of a proof may have any name."""
    k, last = new_index(), reader.number("clients", known, {}) - ONE
    weight = ["*", ["priority", CLIENT], ["client_weight", CLIENT]]
    return k, reader.number(weight, known.inside_sum(k, ZERO, last), {CLIENT: of_atom(k)}), last


def objective(reader, u, known):
    """The average of losses over priority clients."""
    k, weight, last = symbolic_client(reader, known)
    return sum_of(known, k, weight * loss(of_atom(k), u), ZERO, last)


def objective_slope(reader, u, known):
    """The average of gradients over priority clients."""
    k, weight, last = symbolic_client(reader, known)
    return vector_sum(known, k, scaled(slope(of_atom(k), u), weight), ZERO, last)


def loss(k, u): return of_atom(("F", k, frozen(u)))
def slope(k, u): return {("grad", k, frozen(u)): ONE}
def difference(u, v): return combined([u, scaled(v, constant(-1))])
def client_constant(name, k): return of_atom(("entry", name, k))


def gap(k, u, v):
    """F(u) - F(v) - <grad F(v), u - v>: the loss at u less its linearisation at v."""
    return loss(k, u) - loss(k, v) - dot(slope(k, v), difference(u, v))


def interpolation(k, u, v, high, low):
    """|g - h|^2 + m L |d|^2 - 2 m <g - h, d> <= 2 (L - m) gap for curvatures from m to L: F - m/2 |x|^2 is convex and has an
    (L - m)-Lipschitz gradient (Taylor, Hendrickx, Glineur 2017, Theorem 4)."""
    d, change = difference(u, v), difference(slope(k, u), slope(k, v))
    premises = [(">=", high - client_constant("L_client", k)), (">=", client_constant("mu_client", k) - low)]
    return premises, (">=", constant(2) * (high - low) * gap(k, u, v) - dot(change, change) - low * high * dot(d, d) +
                      constant(2) * low * dot(change, d))


def smoothness(k, u, v, high):
    """The interpolation condition with m = -L, which holds for every client."""
    premises, conclusion = interpolation(k, u, v, high, -high)
    return premises[:1], conclusion


def same_loss(k, u, v):
    """F(u) = F(v) where |u - v|^2 = 0."""
    return [("==", dot(difference(u, v), difference(u, v)))], ("==", loss(k, u) - loss(k, v))


def same_slope(k, u, v, w):
    """<grad F(u) - grad F(v), w> = 0 where |u - v|^2 = 0."""
    return [("==", dot(difference(u, v), difference(u, v)))], ("==", dot(difference(slope(k, u), slope(k, v)), w))


def gap_below(k, u, v, high):
    """The gap is at most L/2 |d|^2."""
    d = difference(u, v)
    return [(">=", high - client_constant("L_client", k))], (
        ">=", high * constant(Fraction(1, 2)) * dot(d, d) - gap(k, u, v))


def gap_above(k, u, v, high):
    """The gap is at least -L/2 |d|^2."""
    d = difference(u, v)
    return [(">=", high - client_constant("L_client", k))], (
        ">=", high * constant(Fraction(1, 2)) * dot(d, d) + gap(k, u, v))


def curvature(k, u, v, low):
    """The gap is at least m/2 |d|^2."""
    d = difference(u, v)
    return [(">=", client_constant("mu_client", k) - low)], (">=", gap(k, u, v) - low * constant(Fraction(1, 2)) * dot(d, d))


def curvatures(k, high, low):
    """m <= L: the lower bound of the curvatures is at most the upper one."""
    return [(">=", high - client_constant("L_client", k)), (">=", client_constant("mu_client", k) - low)], (">=", high - low)


def infimum(k, u):
    """A loss is at least its infimum, where that is a number of the claim."""
    return [], (">=", loss(k, u) - client_constant("F_star_client", k))


def above_infimum(k, u, high):
    """|grad F|^2 <= 2 L (F - inf F): a gradient step with 1/L goes down by |grad F|^2 / (2 L)."""
    return [(">=", high - client_constant("L_client", k)), (">", high)], (
        ">=", constant(2) * high * (loss(k, u) - client_constant("F_star_client", k)) - dot(slope(k, u), slope(k, u)))


def near_infimum(k, u, low):
    """2 m (F - inf F) <= |grad F|^2 for curvatures of at least m > 0 (Polyak, Lojasiewicz)."""
    return [(">=", client_constant("mu_client", k) - low), (">", low)], (
        ">=", dot(slope(k, u), slope(k, u)) - constant(2) * low * (loss(k, u) - client_constant("F_star_client", k)))


#: lemmas, and how many vectors and numbers they have besides a client
FUNCTIONS = {"interpolation": (interpolation, 2, 2), "smoothness": (smoothness, 2, 1),
             "same loss": (same_loss, 2, 0), "same slope": (same_slope, 3, 0), "curvature": (curvature, 2, 1),
             "gap below": (gap_below, 2, 1), "gap above": (gap_above, 2, 1),
             "curvatures": (curvatures, 0, 2), "infimum": (infimum, 1, 0), "above infimum": (above_infimum, 1, 1),
             "near infimum": (near_infimum, 1, 1)}


def loss_lemma(name, args, reader, known, names):
    """(premises, conclusion) of a lemma about a client's loss."""
    lemma, vectors, numbers = FUNCTIONS[name]
    require(reader.federation and len(args) == 1 + vectors + numbers, f"{name} is about 1 + {vectors + numbers} things")
    require("infimum" not in name or reader.infima, "a loss may be unbounded, as the claim has no infima")
    k = reader.client(args[0], known, names)
    return lemma(k, *(reader.vector(a, known, names) for a in args[1 : 1 + vectors]),
                 *(reader.number(a, known, names) for a in args[1 + vectors :]))


def optimum_lemma(name, args, reader, known, names):
    """(premises, conclusion) of a lemma about the optimum, where the mean gradient is 0 and the mean loss is least."""
    require(reader.federation and len(args) == OPTIMUM[name], f"{name} is about {OPTIMUM[name]} things")
    if name == "optimal slope":
        steepest = reader.vector(["objective_grad", "x_star"], known, {})
        return [], ("==", dot(steepest, reader.vector(args[0], known, names)))
    gap_of_loss = reader.number(["objective", args[0]], known, names) - reader.number("F_star", known, {})
    if name == "optimal loss":
        return [], (">=", gap_of_loss)
    # |grad F|^2 <= 2 L (F - F*) for L of at least the mean of L_client: a gradient step with 1/L goes down so far
    (k, weight, last), high = symbolic_client(reader, known), reader.number(args[1], known, names)
    mean = sum_of(known, k, weight * client_constant("L_client", of_atom(k)), ZERO, last)
    steepest = reader.vector(["objective_grad", args[0]], known, names)
    return [(">=", high - mean), (">", high)], (">=", constant(2) * high * gap_of_loss - dot(steepest, steepest))


#: lemmas, and how many vectors and numbers they have
OPTIMUM = {"optimal slope": 1, "optimal loss": 1, "optimal descent": 2}
