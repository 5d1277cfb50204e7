"""Lemmas about runs in proofs for all numbers: what a method's equations say, noise, and samples of clients.

Each is a function of the run, of what is known and of what it is about, and gives (premises, conclusion) as those of
``number_lemmas`` do. A conclusion without a mean holds whatever is drawn.
"""

from verify.checker.index_sums import combined, dot, expected, of_vector, scaled, substitute, sum_of
from verify.checker.number_federation import slope
from verify.checker.number_runs import CLIENT, ROUND, STEP, record
from verify.checker.operators import require
from verify.checker.polynomials import ONE, ZERO, Poly, constant, inverse, of_atom


def equation(run, known, name, places, u):
    """<one side less the other, u> = 0 for an equation of the method, at a round, a step and a client, and any vector u."""
    indices, premises, left, right = run.equations[name]
    require(len(places) == len(indices), f"{name} has {len(indices)} indices")
    sizes = {ROUND: run.R - ONE, STEP: run.K - ONE, CLIENT: run.M - ONE}
    rest, held = combined([left, scaled(right, constant(-1))]), [*premises]
    own = [next(iter(index.terms))[0][0] for index in indices]
    held += [sizes[CLIENT] - run.k] * (CLIENT in own)
    for index, place in zip(own, places, strict=True):
        require(known.is_whole(place) and known.shown(">=", place), "a round, step or client is at least 0")
        held = [substitute(known, p, index, place) for p in held]
        rest = of_vector(known, rest, index, place)
    return [(">=", p) for p in held], ("==", dot(rest, u))


def divisor(run, known, number, r, j, k):
    """A factor of a divisor of the method is not 0, at any step: a run whose method divides by 0 is none."""
    p = run.divisors[int(number.number())]
    places = ((ROUND, r, run.R), (STEP, j, run.K), (CLIENT, k, run.M))
    require(all(known.is_whole(place) for _, place, _ in places), "a round, a step and a client")
    for index, place, _ in places:
        p = substitute(known, p, index, place)
    return [(">=", q) for _, place, size in places for q in (place, size - ONE - place)], ("!=", p)


def noise_of(run, t, k):
    """What a stochastic gradient differs from the gradient by."""
    return combined([record("g", t, k), scaled(slope(k, record("x_local", t, k)), constant(-1))])


def of_time(run, known, t, k):
    require(known.is_whole(t) and known.is_whole(k), "a time and a client")
    return [(">=", t), (">=", run.R * run.K - ONE - t), (">=", k), (">=", run.M - ONE - k)]


def unbiased(run, known, t, k, u):
    """E<n, u> = 0 for the noise n of a gradient at time t, and a vector u that follows from what was drawn before: n has
    mean zero given all that was drawn before it and who takes part."""
    require(before(run, known, u, noise=t), "a vector that may depend on the noise")
    return of_time(run, known, t, k), ("==", expected(known, dot(noise_of(run, t, k), u)))


def variance(run, known, t, k):
    """E|n|^2 <= sigma_k^2."""
    n = noise_of(run, t, k)
    return of_time(run, known, t, k), (">=", of_atom(("entry", "sigma_sq_client", k)) - expected(known, dot(n, n)))


def without_noise(run, known, t, k, u):
    """<n, u> = 0 where the variance is at most 0, whatever is drawn."""
    none = (">=", -of_atom(("entry", "sigma_sq_client", k)))
    return [*of_time(run, known, t, k), none], ("==", dot(noise_of(run, t, k), u))


def of_round(run, known, r, k):
    require(run.how["sampling"] == "without-replacement", "clients are not drawn")
    require(known.is_whole(r) and known.is_whole(k), "a round and a client")
    return [(">=", r), (">=", run.R - ONE - r), (">=", k), (">=", run.M - ONE - k)]


def chance(run, known, r, k, q):
    """E(s q) = S/M E(q) where s is 1 if client k is drawn in round r, else 0, and q follows from what was drawn before, and
    from noise: of M clients each set of S is as probable."""
    require(before(run, known, q, sampling=r), "a number that may depend on who is drawn")
    s = of_atom(("drawn", "sampled", r, k))
    return of_round(run, known, r, k), ("==", expected(known, s * q) - run.S * inverse(run.M) * expected(known, q))


def drawn_or_not(run, known, r, k):
    """s (1 - s) = 0."""
    s = of_atom(("drawn", "sampled", r, k))
    return of_round(run, known, r, k), ("==", s * (ONE - s))


def number_drawn(run, known, r):
    """The sum of s over all clients is S."""
    s = of_atom(("drawn", "sampled", r, run.k))
    return of_round(run, known, r, ZERO)[:2], ("==", sum_of(known, CLIENT, s, ZERO, run.M - ONE) - run.S)


#: a noisy gradient is known after the draws of its time; a model before; who is drawn counts at the end of a round
OF_TIME = {"x": 0, "x_sampled": 0, "x_local": 0, "x_before": 0, "g": 1}


def before(run, known, part, noise=None, sampling=None):
    """Whether what is recorded in a part surely follows from noise before the time ``noise``, or from samples of clients
    before the round ``sampling``."""
    if isinstance(part, dict):
        return all(before(run, known, one, noise, sampling) for pair in part.items() for one in pair)
    if isinstance(part, Poly):
        return all(before(run, known, a, noise, sampling) for m in part.terms for a, _ in m)
    if not isinstance(part, tuple) or part[:1] == ("E",):
        return True
    if part[:1] == ("drawn",):
        return noise is not None or known.shown(">=", sampling - part[2] - ONE)
    if part[:1] != ("run",):
        return all(before(run, known, one, noise, sampling) for one in part)
    name, place = part[1:3]
    if noise is not None and name == "extra gradient":
        return known.shown(">=", noise - place * run.K - ONE)
    if noise is not None:
        return known.shown(">=", noise - (place + constant(OF_TIME[name]) if name in OF_TIME else place * run.K))
    last = (sampling if run.early else sampling + ONE) * run.K - (ZERO if run.early or name == "x_before" else ONE)
    return known.shown(">=", last - place if name in OF_TIME else sampling - place)


#: name -> (lemma, how many numbers it is about, how many vectors)
LEMMAS = {"divisor": (divisor, 4, 0), "unbiased": (unbiased, 2, 1), "variance": (variance, 2, 0),
          "without noise": (without_noise, 2, 1),
          "drawn or not": (drawn_or_not, 2, 0), "number drawn": (number_drawn, 1, 0), "chance": (chance, 3, 0)}


def instance(name, args, reader, known, names):
    """A lemma about runs: an equation of the method by its name, or one of ``LEMMAS``."""
    run = reader.run
    if name in run.equations:
        return equation(run, known, name, [reader.number(a, known, names) for a in args[:-1]],
                        reader.vector(args[-1], known, names))
    lemma, numbers, vectors = LEMMAS[name]
    require(len(args) == numbers + vectors, f"{name} is about {numbers + vectors} things")
    return lemma(run, known, *(reader.number(a, known, names) for a in args[:numbers]),
                 *(reader.vector(a, known, names) for a in args[numbers:]))
