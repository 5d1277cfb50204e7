"""Lemmas about runs in proofs for all numbers: the equations of a method, noise, and samples of clients.

Each is a function of the run, the facts and its arguments, and returns (premises, conclusion) like those of
``number_lemmas``. A conclusion without a mean holds for every outcome.
"""

from verify.checker.index_sums import (
    combined,
    dot,
    expected,
    expected_vector,
    frozen,
    is_fixed,
    of_vector,
    scaled,
    substitute,
    sum_of,
)
from verify.checker.number_federation import slope
from verify.checker.number_runs import CLIENT, ROUND, STEP, recorded_vector
from verify.checker.operators import require
from verify.checker.polynomials import ONE, ZERO, Poly, constant, inverse, of_atom


def equation(run, known, name, places, u):
    """<left - right, u> = 0 for an equation of the method, at a round, a step and a client, and any vector u."""
    indices, premises, left, right = run.equations[name]
    require(len(places) == len(indices), f"{name} has {len(indices)} indices")
    sizes = {ROUND: run.R - ONE, STEP: run.K - ONE, CLIENT: run.M - ONE}
    rest, held = combined([left, scaled(right, constant(-1))]), [*premises]
    own = [next(iter(index.terms))[0][0] for index in indices]
    held += [sizes[CLIENT] - run.k] * (CLIENT in own)
    for index, place in zip(own, places, strict=True):
        require(known.is_whole(place) and known.implies(">=", place), "a round, step or client is at least 0")
        held = [substitute(known, p, index, place) for p in held]
        rest = of_vector(known, rest, index, place)
    return [(">=", p) for p in held], ("==", dot(rest, u))


def divisor(run, known, number, r, j, k):
    """A factor of a divisor of the method is not 0 at any step: where a method divides by 0 there is no run."""
    p = run.divisors[int(number.number())]
    places = ((ROUND, r, run.R), (STEP, j, run.K), (CLIENT, k, run.M))
    require(all(known.is_whole(place) for _, place, _ in places), "a round, a step and a client")
    for index, place, _ in places:
        p = substitute(known, p, index, place)
    return [(">=", q) for _, place, size in places for q in (place, size - ONE - place)], ("!=", p)


def gradient_noise(run, t, k):
    """The noise of a stochastic gradient: its difference from the gradient."""
    require(run.noisy, "local problems are solved without stochastic gradients")
    return combined([recorded_vector("g", t, k), scaled(slope(k, recorded_vector("x_local", t, k)), constant(-1))])


def time_premises(run, known, t, k):
    require(known.is_whole(t) and known.is_whole(k), "a time and a client")
    return [(">=", t), (">=", run.R * run.K - ONE - t), (">=", k), (">=", run.M - ONE - k)]


def conditioning_premises(run, known, t, given):
    """The premise that a time does not lie before the round that a mean is conditioned on."""
    require(len(given) < 2 and all(map(known.is_whole, given)), "a round may be given")
    return [(">=", t - r * run.K) for r in given]


def unbiased(run, known, t, k, u, *given):
    """E<n, u> = 0 for the noise n of a gradient at time t and a vector u that is determined before it: n has mean zero given
    all earlier draws and who takes part. ``given``: a round on whose past the mean is conditioned."""
    require(is_determined_before(run, known, u, noise=t), "a vector that may depend on the noise")
    return time_premises(run, known, t, k) + conditioning_premises(run, known, t, given), (
        "==", expected(known, dot(gradient_noise(run, t, k), u), *given))


def variance(run, known, t, k, *given):
    """E|n|^2 <= sigma_k^2."""
    n = gradient_noise(run, t, k)
    return time_premises(run, known, t, k) + conditioning_premises(run, known, t, given), (
        ">=", of_atom(("entry", "sigma_sq_client", k)) - expected(known, dot(n, n), *given))


def without_noise(run, known, t, k, u):
    """<n, u> = 0 for every outcome where the variance is at most 0."""
    none = (">=", -of_atom(("entry", "sigma_sq_client", k)))
    return [*time_premises(run, known, t, k), none], ("==", dot(gradient_noise(run, t, k), u))


def round_premises(run, known, r, k):
    require(run.how["sampling"] == "without-replacement", "clients are not drawn")
    require(known.is_whole(r) and known.is_whole(k), "a round and a client")
    return [(">=", r), (">=", run.R - ONE - r), (">=", k), (">=", run.M - ONE - k)]


def chance(run, known, r, k, q, *given):
    """E(s q) = S/M E(q) where s is 1 if client k is drawn in round r, else 0, and q is determined by earlier draws and by
    noise: all sets of S of the M clients are equally probable. ``given``: a round up to r on whose past the mean is
    conditioned."""
    require(is_determined_before(run, known, q, sampling=r), "a number that may depend on who is drawn")
    s = of_atom(("drawn", "sampled", r, k))
    return round_premises(run, known, r, k) + conditioning_premises(run, known, r * run.K, given), (
        "==", expected(known, s * q, *given) - run.S * inverse(run.M) * expected(known, q, *given))


def drawn_or_not(run, known, r, k):
    """s (1 - s) = 0."""
    s = of_atom(("drawn", "sampled", r, k))
    return round_premises(run, known, r, k), ("==", s * (ONE - s))


def number_drawn(run, known, r):
    """The sum of s over all clients is S."""
    s = of_atom(("drawn", "sampled", r, run.k))
    return round_premises(run, known, r, ZERO)[:2], ("==", sum_of(known, CLIENT, s, ZERO, run.M - ONE) - run.S)


#: a noisy gradient is determined after the draws of its time, a model before; the clients drawn matter at a round's end
OF_TIME = {"x": 0, "x_sampled": 0, "x_local": 0, "x_before": 0, "g": 1}


def is_determined_before(run, known, part, noise=None, sampling=None):
    """Whether a part is surely determined by noise before the time ``noise``, or by samples of clients before the round
    ``sampling``."""
    if isinstance(part, dict):
        return all(is_determined_before(run, known, one, noise, sampling) for pair in part.items() for one in pair)
    if isinstance(part, Poly):
        return all(is_determined_before(run, known, a, noise, sampling) for m in part.terms for a, _ in m)
    if not isinstance(part, tuple) or (part[:1] == ("E",) and len(part) == 2):
        return True
    if part[:1] == ("E",):  # it follows from what is drawn before its round
        return known.implies(">=", sampling - part[2]) if noise is None else known.implies(">=", noise - part[2] * run.K)
    if part[:1] == ("drawn",):
        return noise is not None or known.implies(">=", sampling - part[2] - ONE)
    if part[:1] != ("run",):
        return all(is_determined_before(run, known, one, noise, sampling) for one in part)
    name, place = part[1:3]
    if noise is not None and name == "extra gradient":
        return known.implies(">=", noise - place * run.K - ONE)
    if noise is not None:
        return known.implies(">=", noise - (place + constant(OF_TIME[name]) if name in OF_TIME else place * run.K))
    last = (sampling if run.early else sampling + ONE) * run.K - (ZERO if run.early or name == "x_before" else ONE)
    return known.implies(">=", last - place if name in OF_TIME else sampling - place)


def is_determined_before_round(run, known, part, r):
    """Whether a part is surely determined by the draws before round r, or does not depend on the run."""
    return is_determined_before(run, known, part, noise=r * run.K) and is_determined_before(run, known, part, sampling=r)


def mean_vector(run, known, v, u, *given):
    """<E v, u> = E<v, u> for a vector u that is determined where the mean is taken."""
    require(is_fixed(known, frozen(u), given), "a vector that may depend on what the mean is over")
    return [], ("==", dot(expected_vector(known, v, *given), u) - expected(known, dot(v, u), *given))


#: lemmas about means, which may be conditioned on the past of a round, their last argument
OF_MEANS = ("unbiased", "variance", "chance", "mean vector")
#: name -> (lemma, how many numbers it is about, how many vectors)
LEMMAS = {"divisor": (divisor, 4, 0), "unbiased": (unbiased, 2, 1), "variance": (variance, 2, 0),
          "without noise": (without_noise, 2, 1), "mean vector": (mean_vector, 0, 2),
          "drawn or not": (drawn_or_not, 2, 0), "number drawn": (number_drawn, 1, 0), "chance": (chance, 3, 0)}


def run_lemma(name, args, reader, known, names):
    """(premises, conclusion) of a lemma about runs: an equation of the method by its name, or one of ``LEMMAS``."""
    run = reader.run
    if name in run.equations:
        return equation(run, known, name, [reader.number(a, known, names) for a in args[:-1]],
                        reader.vector(args[-1], known, names))
    lemma, numbers, vectors = LEMMAS[name]
    more = len(args) - numbers - vectors
    require(more == 0 or (more == 1 and name in OF_MEANS), f"{name} is about {numbers + vectors} things")
    return lemma(run, known, *(reader.number(a, known, names) for a in args[:numbers]),
                 *(reader.vector(a, known, names) for a in args[numbers : numbers + vectors]),
                 *(reader.round(a, known, names) for a in args[numbers + vectors :]))
