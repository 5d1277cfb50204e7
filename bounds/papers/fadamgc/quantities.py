"""Measured quantities of FAdamGC and FA-NT, each defined once; those of FA-NT that differ end in ``_nt``.

Index r is the round (the paper's t - 1), j and i local steps (its k - 1 and k' - 1), k the client (its i). Moments are those
of the proofs: with index j they know the gradient of local step j.
"""

import sympy as sp

from bounds.language.claim import Definition
from bounds.language.coordinates import highest, root, scaled, square, upper
from bounds.language.words import (
    E,
    F_star,
    Max,
    Min,
    Product,
    Sum,
    clients,
    g,
    grad,
    i,
    j,
    k,
    local_steps,
    norm,
    norm2,
    objective,
    objective_grad,
    participants,
    r,
    sampled,
    x_before,
    x_local,
    x_round,
)
from bounds.papers.fadamgc.words import (
    beta1,
    beta2,
    client_moment2,
    client_moment2_max,
    client_scalar_moment2,
    client_variate,
    eps,
    eta,
    of_last_round,
    other,
    server_variate,
    tracked,
)

__all__ = [
    "DEFINITIONS",
    "GRADIENT",
    "F0_gap",
    "Gamma_nt",
    "Gamma_nt_vhat",
    "Xi",
    "alpha",
    "alpha_vhat",
    "at",
    "average",
    "corrected",
    "direction",
    "direction_nt",
    "drift_sum",
    "each_step",
    "ema",
    "every_client",
    "gamma_error",
    "gradient_mean",
    "gradient_norm",
    "gradient_sq",
    "mass",
    "mean_mass",
    "moment1",
    "moment1_nt",
    "now",
    "over_sampled",
    "second_moment",
    "second_moment_change",
    "second_moment_nt",
    "smoothed_error_nt",
    "smoothed_error_nt_prime",
    "step_sum",
    "stored_point",
    "tracked_mean",
    "tracked_mean_nt",
    "tracked_mean_nt_prime",
    "tracked_mean_prime",
    "vbar",
    "w_carry",
    "w_carry_nt",
    "w_norm",
    "w_norm_nt",
    "w_reset",
    "w_reset_nt",
]

DEFINITIONS: dict[str, Definition] = {}
GRADIENT, GRADIENT_SQ = "loss/parameter", "loss^2/parameter^2"
every_client, each_step = (k, 0, clients - 1), (j, 0, local_steps - 1)
now = r * local_steps + j


def at(j_, r_=r):
    """The iteration of local step ``j_`` in round ``r_``."""
    return r_ * local_steps + j_


def define(name, indices, formula, latex, unit, meaning):
    DEFINITIONS[name] = Definition(name, tuple(indices), formula, latex, unit, meaning, "FAdamGC")
    return DEFINITIONS[name].symbol


def average(term):
    """``1/(n K) sum_i sum_k`` of a term in k and j."""
    return Sum(term, each_step, every_client) / (clients * local_steps)


def over_sampled(term):
    """``1/S`` times the sum over the participants and the local steps of a term in k and j."""
    return Sum(sampled[r, k] * term, each_step, every_client) / participants


# weights of the first moment -----------------------------------------------------------------------------------------
def ema(j_, i_):
    """The paper's c^(k, k') for k = j_ + 1 and k' = i_ + 1."""
    return (1 - beta1) * beta1 ** (j_ - i_)


def mass(j_):
    """The paper's c^k for k = j_ + 1."""
    return 1 - beta1 ** (j_ + 1)


mean_mass = Sum(mass(j), each_step) / local_steps


def smoothed(term, j_=j):
    """``sum_{k' <= k} c^(k, k')`` of a term in i."""
    return Sum(ema(j_, i) * term, (i, 0, j_))


# the objective -------------------------------------------------------------------------------------------------------
define("F0_gap", [], E(objective(x_round[0])) - F_star, r"\mathcal{F}", "loss", "initial gap")

F0_gap = sp.Symbol("F0_gap", nonnegative=True)
gradient_sq = define("gradient_sq", [r], E(norm2(objective_grad(x_round[r]))), r"N_{r}", GRADIENT_SQ,
                     "mean squared gradient of the objective")
gradient_norm = define("gradient_norm", [r], E(norm(objective_grad(x_round[r]))), r"P_{r}", GRADIENT,
                       "mean norm of the gradient of the objective")

# FAdamGC -------------------------------------------------------------------------------------------------------------
corrected = define("corrected", [r, j, k], g[now, k] + server_variate[r] - client_variate[r, k], r"\hat g_{r,j,k}", GRADIENT,
                   "corrected gradient, which the moments are made of")
moment1 = define("moment1", [r, j, k], smoothed(corrected[r, i, k]), "m_{r,j,k}", GRADIENT, "first moment")
gradient_mean = define("gradient_mean", [r, j, k], smoothed(grad(k, x_local[at(i), k])), "M_{r,j,k}", GRADIENT,
                       "the first moment's average of gradients")
direction = define("direction", [r, j, k], (x_local[now, k] - x_before[now + 1, k]) / eta, r"\Delta_{r,j,k}", "1",
                   "the direction m/(sqrt(vhat) + eps), as the local step shows it")


def second_moments(suffix, fed, words):
    """v, and sqrt(vhat) when the maximum starts anew or is carried on, for moments of ``fed`` by coordinate."""
    v = define(f"second_moment{suffix}", [r, j, k],
               beta2 ** (j + 1) * client_moment2[r, k] + Sum((1 - beta2) * beta2 ** (j - i) * square(fed(i)), (i, 0, j)),
               "v_{r,j,k}", GRADIENT_SQ, f"second moment of the {words}; at j = -1 what the round starts from")
    reset = define(f"w_reset{suffix}", [r, j, k], root(highest(i, -1, j, v[r, i, k])), "w_{r,j,k}", GRADIENT,
                   "root of the running maximum of second moments, which starts a round at the second moment")
    carry = define(f"w_carry{suffix}", [r, j, k], root(upper(client_moment2_max[r, k], highest(i, -1, j, v[r, i, k]))),
                   "w_{r,j,k}", GRADIENT, "root of the running maximum of second moments of the client's rounds")
    return v, reset, carry


def norm_moments(suffix, fed, words):
    """sqrt(vhat) for moments of norms, a number."""
    v = define(f"norm_moment{suffix}", [r, j, k],
               beta2 ** (j + 1) * client_scalar_moment2[r, k]
               + Sum((1 - beta2) * beta2 ** (j - i) * norm2(fed(i)), (i, 0, j)),
               "v_{r,j,k}", GRADIENT_SQ, f"moment of squared norms of the {words}")
    return define(f"w_norm{suffix}", [r, j, k], highest(i, -1, j, v[r, i, k]) ** HALF, "w_{r,j,k}", GRADIENT,
                  "root of the running maximum of moments of squared norms, a number")


HALF = sp.Rational(1, 2)
second_moment, w_reset, w_carry = second_moments("", lambda i_: corrected[r, i_, k], "corrected gradients")
w_norm = norm_moments("", lambda i_: corrected[r, i_, k], "corrected gradients")
vbar = define("vbar", [r], Sum(root(client_moment2[r, k]), every_client) / clients, r"\bar v_{r}", GRADIENT,
              "average root of the second moments before the round")
second_moment_change = define("second_moment_change", [r], E(norm2(vbar[r + 1] - vbar[r])), "V_{r}", GRADIENT_SQ,
                              "mean squared change of the average root")


def last_tracked(value, first):
    """``value(s)`` of the last round s before r in which client k renewed y_k; ``first`` if there is none."""
    s = of_last_round
    never_since = Product(1 - tracked[other, k], (other, s + 1, r - 1))
    never = Product(1 - tracked[other, k], (other, 0, r - 1))
    # at r = 0 the sum is not empty, which would not be a vector, but counts nothing
    return Min(r, 1) * Sum(tracked[s, k] * never_since * value(s), (s, 0, Max(r - 1, 0))) + never * first


stored_point = define("stored_point", [r, j, k], last_tracked(lambda s: x_local[at(j, s), k], x_round[0]),
                      r"\gamma_{r,j,k}", "parameter", "where the gradient of the stored y_k was taken; x^1 if never")
stored_gradient = define(
    "stored_gradient", [r, j, k], last_tracked(lambda s: grad(k, x_local[at(j, s), k]), client_variate[0, k]),
    r"\nabla f^{\gamma}_{r,j,k}", GRADIENT, "gradient where the stored y_k was taken; the first y_k if never")
gamma_error = define("gamma_error", [r], average(E(norm(stored_point[r, j, k] - x_round[r]))), r"\mathcal{E}_{r}",
                     "parameter", "mean distance of the stored points to the model")

#: the mean over clients of the stored gradients
stored_mean = Sum(stored_gradient[r, j, other], (other, 0, clients - 1)) / clients

tracked_mean = define(
    "tracked_mean", [r, j, k],
    smoothed(grad(k, x_local[now, k]) - stored_gradient[r, j, k] + stored_mean),
    r"\tilde m_{r,j,k}", GRADIENT, "first moment without noise, as (8) prints it: the point does not follow the sum")

shift_of_stored = define(
    "shift_of_stored", [r, k],
    Sum(stored_mean - stored_gradient[r, j, k], each_step) / local_steps,
    "q_{r,k}", GRADIENT, "average over local steps of the gradients at stored points, of all clients less the client's own")

tracked_mean_prime = define(
    "tracked_mean_prime", [r, j, k], smoothed(grad(k, x_local[at(i), k]) + shift_of_stored[r, k]),
    r"\tilde m_{r,j,k}", GRADIENT, "first moment without noise, as (18)-(19) use it: the point follows the sum")
Xi = define("Xi", [r], Sum(E(norm2(gradient_mean[r, j, k] - mass(j) * grad(k, x_round[r]))), each_step, every_client)
            / clients, r"\Xi_{r}", GRADIENT_SQ, "drift of the first moments")

drift_sum = define("drift_sum", [r, j],
                   Sum(ema(j, i) * E(norm2(x_local[at(i), k] - x_round[r])), (i, 0, j), every_client), "e_{r,j}",
                   "parameter^2",
                   "weighted squared distances of the local models to the round's start, of all clients")

step_sum = define("step_sum", [r, j], Sum(ema(j, i) * E(norm2(direction[r, i, k])), (i, 0, j), every_client), "s_{r,j}", "1",
                  "weighted squared directions of the local steps, of all clients")

# FA-NT ---------------------------------------------------------------------------------------------------------------
moment1_nt = define("moment1_nt", [r, j, k], smoothed(g[at(i), k]), "m_{r,j,k}", GRADIENT, "first moment")
second_moment_nt, w_reset_nt, w_carry_nt = second_moments("_nt", lambda i_: g[at(i_), k], "gradients")
w_norm_nt = norm_moments("_nt", lambda i_: g[at(i_), k], "gradients")

direction_nt = define(
    "direction_nt", [r, j, k],
    (x_local[now, k] - x_before[now + 1, k]) / eta - server_variate[r] + client_variate[r, k], r"\Delta_{r,j,k}", "1",
    "the direction m/(sqrt(vhat) + eps), as the local step shows it")

tracked_mean_nt = define("tracked_mean_nt", [r, j, k], smoothed(grad(k, x_local[now, k])), r"\tilde m_{r,j,k}", GRADIENT,
                         "first moment without noise, as (119) prints it: the point does not follow the sum")
tracked_mean_nt_prime = define("tracked_mean_nt_prime", [r, j, k], smoothed(grad(k, x_local[at(i), k])),
                               r"\tilde m_{r,j,k}", GRADIENT,
                               "first moment without noise, as (175) uses it: the point follows the sum")


def _smoothed_error(name, mean, words):
    return define(name, [r], Sum(E(norm2(mean[r, j, k] - mass(j) * grad(k, x_round[r]))), each_step, every_client) / clients,
                  r"\mathcal{E}_{r}", GRADIENT_SQ, f"drift of the first moments without noise, {words}")


smoothed_error_nt = _smoothed_error("smoothed_error_nt", tracked_mean_nt, "as (119) prints them")
smoothed_error_nt_prime = _smoothed_error("smoothed_error_nt_prime", tracked_mean_nt_prime, "as (175) uses them")


def _alpha(suffix, value, words):
    stored = define(f"alpha{suffix}", [r, j, k], last_tracked(value, client_variate[0, k]), r"\alpha_{r,j,k}", "1",
                    f"the stored direction, {words}; the first y_k if there is none")
    gap = define(f"Gamma_nt{suffix}", [r], average(E(norm2(stored[r, j, k] - grad(k, x_round[r])))), r"\Gamma_{r}",
                 GRADIENT_SQ, f"mean squared distance of the stored directions to the gradients, {words}")
    return stored, gap


alpha, Gamma_nt = _alpha("", lambda s: scaled(moment1_nt[s, j, k], root(second_moment_nt[s, j, k]), eps),
                         "m/(sqrt(v) + eps)")
alpha_vhat, Gamma_nt_vhat = _alpha("_vhat", lambda s: direction_nt[s, j, k], "m/(sqrt(vhat) + eps)")
