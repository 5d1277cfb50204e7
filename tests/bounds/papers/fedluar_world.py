"""A world of random fractions for FedLUAR, and the paper's quantities in it; ``chance`` has what expectations are.

Rounds, layers, local steps and clients count from 0. ``a`` has the names of a claim's reading.
"""

import random
from fractions import Fraction as Q
from math import isqrt, sqrt
from types import SimpleNamespace

from bounds.language import layers as on_layers
from bounds.language import operators
from tests.bounds.chance import CHANCE, E, Max, Min
from tests.bounds.claim_values import Values, Vec, dot, entry, power, reading_of, sq

M, TAU, T, SIZES = 2, 4, 5, (1, 1, 2)  # clients, local steps, rounds, layers: all different
DIM, LAYERS = sum(SIZES), len(SIZES)
PLACES = {0: [0], 1: [1], 2: [2, 3]}
#: layers recycled by round: of different ages in rounds 2 to 4; of one age in every round
MASKS = {"per-layer": [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 1], [1, 0, 1], [0, 1, 0]],
         "common": [[0, 0, 0], [0, 1, 1], [0, 1, 1], [1, 0, 0], [1, 0, 0], [0, 0, 1]]}
R = range


def root(q):
    """The square root, exact where it is rational."""
    q = Q(q)
    exact = Q(isqrt(q.numerator), isqrt(q.denominator))
    return exact if exact * exact == q else sqrt(q)


def length(v):
    return root(sq(v))


def one_age(a):
    """Whether (6) has one k: the layers kept by the hats of the main text have no age of their own."""
    return bool(a & {"common", "main"})


def part(layer, v):
    return Vec(x if i in PLACES[layer] else Q(0) for i, x in enumerate(v))


def world(seed: int, reading=frozenset()) -> SimpleNamespace:
    """Random values for every name; the layers recycled by round are given by the reading."""
    rng, masks = random.Random(seed), "common" if one_age(reading) else "per-layer"

    def number():
        return Q(rng.randint(1, 30), rng.randint(1, 9))

    def vector():
        return Vec(Q(rng.choice((-1, 1)) * rng.randint(1, 20), rng.randint(1, 5)) for _ in R(DIM))

    def table(make, *sizes):
        return make() if not sizes else [table(make, *sizes[1:]) for _ in R(sizes[0])]

    numbers = (
        "L sigma_sq sigma_g_sq sigma_g_max kappa C gradients drifts decrease length gradient_sq bracket W alpha "
        "score_floor gradient_floor")
    w = SimpleNamespace(**{n: number() for n in numbers.split()})
    w.kappa /= 1000
    w.eta, w.eta_other, w.excess, w.age = Q(1, 9), Q(1, 4), Q(1, 2), 11
    w.clients, w.local_steps, w.rounds, w.iterations, w.layers, w.participants, w.recycled = M, TAU, T, T * TAU, LAYERS, 7, 1
    w.outcomes = 3
    w.server_recycle_set, w.masks = MASKS[masks], MASKS[masks]
    w.x_round, w.server_applied_update = table(vector, T + 1), table(vector, T + 2)
    w.x_local, w.g = table(vector, (T + 1) * TAU, M), table(vector, (T + 1) * TAU, M)
    w.x_before = table(vector, (T + 1) * TAU + 1, M)
    w.server_score, w.server_age, w.layer_score = (table(number, *sizes, LAYERS) for sizes in ((T + 2,), (T + 2,), ()))
    w.sampled = [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 1]]
    w.sigma_sq_client, w.L_client, w.eta_l = table(number, M), table(number, M), table(number, T * TAU)
    w.first, w.second, w.v, w.a, w.b = vector(), vector(), vector(), table(vector, M, TAU), table(vector, LAYERS)
    w.mask, w.chance, w.other_chance = table(number, LAYERS), table(number, w.outcomes), table(number, w.outcomes)
    w.value, w.other_value = table(vector, w.outcomes), table(vector, w.outcomes)
    steep, centre = ({k: make() for k in R(M)} for make in (number, vector))  # no client has a negative number
    w.F = lambda k, v: steep[k] * sq(v - centre[k]) / 2 + k
    w.grad = lambda k, v: (v - centre[k]) * steep[k]
    w.objective = lambda v: 7 * sq(v) + dot(v, centre[0]) + 3
    w.objective_grad = lambda v: v * 14 + centre[0]
    return w


# the paper's quantities ------------------------------------------------------------------------------------------------
def over(w, a, r, term):
    """1/m sum_i sum_j of term(j, k); over the active clients where clients are sampled."""
    if "sampled" in a:
        return sum((term(j, k) for k in R(M) if w.sampled[r][k] for j in R(TAU)), 0) / Q(w.participants)
    return sum((term(j, k) for k in R(M) for j in R(TAU)), 0) / Q(M)


def D(w, a, r):
    return over(w, a, r, lambda j, k: w.g[r * TAU + j][k])


def G_bar(w, a, r):
    return over(w, a, r, lambda j, k: w.grad(k, w.x_local[r * TAU + j][k]))


def mean_over(w, a, r, term, mean=E):
    """1/m sum_i sum_j of the means of term(j, k), which is the mean of the sum."""
    return mean(over(w, a, r, term))


def V(w, a, r, mean=E):
    return mean_over(w, a, r, lambda j, k: sq(w.x_local[r * TAU + j][k] - w.x_round[r]), mean)


def noise(w, a, r):
    """n_t: hat Delta_t - Delta_t, the displacement applied being -eta hat Delta_t."""
    return w.server_applied_update[r + 1] / -w.eta - D(w, a, r)


def dF(w, r):
    return w.objective_grad(w.x_round[r])


def keeps(w, a, r):
    """The layers that a hat of round r keeps."""
    return [layer for layer in R(LAYERS) if (w.server_recycle_set[r][layer] == 1) != ("main" in a)]


def hat(w, a, r, v):
    return sum((part(layer, v) for layer in keeps(w, a, r)), Vec([Q(0)] * DIM))


def source(w, r, layer):
    """r - k: the last round up to r in which the layer was fresh."""
    return max(s for s in R(r + 1) if w.server_recycle_set[s][layer] == 0)


def stale(w, a, r, v):
    """v(t - k) under a hat of round t."""
    if one_age(a):
        return hat(w, a, r, v(common_source(w, r)))
    return sum((part(layer, v(source(w, r, layer))) for layer in keeps(w, a, r)), Vec([Q(0)] * DIM))


def common_source(w, r):
    ages = {r - source(w, r, layer) for layer in R(LAYERS) if w.server_recycle_set[r][layer]}
    assert len(ages) <= 1
    return r - ages.pop() if ages else r


def stale_V(w, a, r):
    """V(t - k): the largest V(r_{t,l}) over the layers l of R_t, which is V(r_t) for one age; k = 0 when R_t is empty."""
    recycled = [layer for layer in R(LAYERS) if w.server_recycle_set[r][layer]]
    return max(V(w, a, source(w, r, layer)) for layer in recycled) if recycled else V(w, a, r)


def H(w, a, r):
    """N[grad F-hat(x_t)]."""
    return E(sq(hat(w, a, r, dF(w, r))))


def stale_H(w, a, r):
    return E(sq(stale(w, a, r, lambda s: dF(w, s))))


def G(w):
    return sum(E(sq(dF(w, r))) for r in R(T))


def kappa_t(w, a, r):
    """The ratio of one round: 0 if R_t is empty."""
    return sq(hat(w, a, r, dF(w, r))) / sq(dF(w, r)) if any(w.server_recycle_set[r]) else 0


def kappa(w, a):
    """The printed kappa in each reading."""
    rounds = R(T)
    if "aggregate" in a:
        return sum(H(w, a, r) for r in rounds) / G(w)
    if "sure" in a:
        return max(sum(sorted((sq(part(layer, dF(w, r))) for layer in R(LAYERS)), reverse=True)[:w.recycled]) / sq(dF(w, r))
                   for r in R(1, T))
    if "update" in a or "update-squared" in a:
        ratios = [sq(hat(w, a, r, w.server_applied_update[r + 1])) / sq(w.server_applied_update[r + 1]) for r in rounds]
        return max(ratios) if "update-squared" in a else max(root(q) for q in ratios)
    return max(kappa_t(w, a, r) for r in rounds)


def fall(w, a):
    """F(x_0) - F(x_T); F_T: the mean of F(x_T), or that of the run."""
    last = w.objective(w.x_round[T])
    return w.objective(w.x_round[0]) - (last if "pathwise" in a else E(last))


def risen(w, a):
    """The sum of F(x_{t+1}) - F(x_t); F_T as in ``fall``."""
    steps = [w.objective(w.x_round[r + 1]) - w.objective(w.x_round[r]) for r in R(T)]
    return sum(steps if "pathwise" in a else map(E, steps))


def X(w, decrease):
    """The bound before (22), but for the multiple of the sum of the gradients."""
    o = 1 - 16 * w.kappa
    return (2 * decrease / (o * w.eta * TAU) + 2 * T / o * (w.L * w.eta / M + 4 + 9 * w.L**2) * w.sigma_sq
            + 540 * T * w.L**2 * w.eta**2 * TAU**2 / o * w.sigma_g_sq)


def with_noise(w, gradients, drifts):
    """The right side after (21), with Lemma 3.1 put in."""
    return ((8 * w.kappa * TAU * w.eta - w.eta * TAU / 2) * gradients + w.L * w.eta**2 * TAU * T / M * w.sigma_sq
            + 4 * w.eta * TAU * T * w.sigma_sq + 8 * w.eta * TAU * T * w.sigma_g_sq + 9 * w.eta * w.L**2 * drifts)


def values(w, definitions) -> Values:
    """Values in a world; definitions are put in. Expectations, maxima and minima are some functions: see ``chance``."""
    def largest_sum(e, of):
        number, body, name, low, high = e.args
        found = [of(body, {name.name: n}) for n in range(int(of(low)), int(of(high)) + 1)]
        return sum(sorted(found, reverse=True)[: int(of(number))])

    return Values(lambda name, places: entry(getattr(w, name), places), {
        operators.norm2: lambda v: sq(v) if v != 0 else 0, operators.norm: length, operators.dot: dot,
        operators.F: lambda k, v: w.F(int(k), v), operators.grad: lambda k, v: w.grad(int(k), v),
        operators.objective: w.objective,
        operators.objective_grad: w.objective_grad, on_layers.layer_part: lambda n, v: part(int(n), v),
        on_layers.share: lambda a, b: a / b if b else a,
    } | CHANCE, binding={on_layers.largest_sum: largest_sum}, definitions=definitions, power=exact_power, largest=Max,
        smallest=Min)


def exact_power(base, exponent):
    if abs(exponent) != Q(1, 2):
        return power(base, exponent)
    return root(base) if exponent > 0 else 1 / root(base)


def names_of(claim):
    """The names of a claim's reading, and those of the first reading where it is a listed one."""
    return reading_of(claim) or ({"T-fixed"} if claim.block == "fedluar/remark-2" else frozenset())
