"""FedLUAR's hypotheses and the domains of its letters in plain Python, written from the paper's Section 3.3 and appendix."""

from tests.bounds.chance import E
from tests.bounds.claim_values import sq
from tests.bounds.papers.fedluar_world import LAYERS, TAU, G, H, R, T, dF, hat, length, part
from tests.bounds.ranges import each_client, each_round, each_step, later_rounds
from tests.bounds.rows import Assumed, Relation

__all__ = ["DOMAINS", "SUPPOSED", "each_layer"]


def each_layer(w, *_):
    return range(w.layers)


def _relation(left, sign, right, *over):
    return Relation(left, sign, right, over)


def _own_noise(w, t, k):
    return w.g[t][k] - w.grad(k, w.x_local[t][k])


ASSUMED = {
    # "there exists a constant L > 0 such that |grad F_i(x) - grad F_i(y)| <= L |x - y| for all x, y, i"
    "assumption-1": Assumed((_relation(lambda w, k: w.L_client[k], "<=", lambda w, k: w.L, each_client),)),
    # "the local gradient estimator is unbiased"
    "assumption-2": Assumed(),
    # "E[|grad f(x, xi_i) - grad F_i(x)|]^2 <= sigma_L^2": the second moment, as the proofs insert it; the squared mean
    "assumption-3@second-moment": Assumed((_relation(
        lambda w, k: w.sigma_sq_client[k], "<=", lambda w, k: w.sigma_sq, each_client),)),
    "assumption-3@squared-mean": Assumed((_relation(
        lambda w, t, k: E(length(_own_noise(w, t, k))) ** 2, "<=", lambda w, t, k: w.sigma_sq, each_step, each_client),)),
    # "E[|grad F_i(x) - grad F(x)|^2] <= sigma_G^2": at every point; at x_t, the expectation over the run
    "assumption-3@pointwise": Assumed((_relation(lambda w: w.sigma_g_max**2, "<=", lambda w: w.sigma_g_sq),)),
    "assumption-3@along-run": Assumed((_relation(
        lambda w, r, k: E(sq(w.grad(k, w.x_round[r]) - dF(w, r))), "<=", lambda w, r, k: w.sigma_g_sq,
        each_round, each_client),)),
    # (19): "if x_i are independent of each other with zero mean"
    "implicit-independence": Assumed(),
}


def _hat(w, r, v, *reading):
    return hat(w, set(reading), r, v)


def _recycles(w, r):
    """1, and 0 where R_t is empty, for which kappa_t = 0."""
    return int(any(w.server_recycle_set[r]))


def _share_of_gradient(w, r, *reading):
    return _recycles(w, r) * sq(_hat(w, r, dF(w, r), *reading)) / sq(dF(w, r))


def _largest_share(w, r):
    """That of the delta layers with the largest gradients."""
    return sum(sorted((sq(part(n, dF(w, r))) for n in R(LAYERS)), reverse=True)[: w.recycled]) / sq(dF(w, r))


def _share_of_update(w, r, size):
    update = w.server_applied_update[r + 1]
    return size(_hat(w, r, update)) / size(update)


def _largest_ratio(right, rounds=each_round):
    """kappa, printed without t, is at least the ratio of each round."""
    return _relation(lambda w, r: w.kappa, ">=", right, rounds)


KAPPA = {
    # "the ratio of |grad F-hat(x_t)|^2 to |grad F(x_t)|^2"
    "kappa": _largest_ratio(_share_of_gradient),
    # "g-hat ... has zero in the selected delta layers"
    "kappa@main": _largest_ratio(lambda w, r: _share_of_gradient(w, r, "main")),
    # of any layers that could be drawn
    "kappa@sure": _largest_ratio(_largest_share, later_rounds),
    # of the sums over the run
    "kappa@aggregate": _relation(
        lambda w: w.kappa, "==", lambda w: sum(H(w, frozenset(), r) for r in R(T)) / G(w)),
    # "the ratio of the recycled update to the full update"
    "kappa@update": _largest_ratio(lambda w, r: _share_of_update(w, r, length)),
    "kappa@update-squared": _largest_ratio(lambda w, r: _share_of_update(w, r, sq)),
}


def _speed(w):
    return w.L * w.eta * TAU


def _omega(w):
    return 1 - 16 * w.kappa


CONDITIONS = {
    # one eta for all steps, 0 <= delta <= L
    "constant-step": _relation(lambda w, t: w.eta_l[t], "==", lambda w, t: w.eta, each_step),
    "recycled-to-layers": _relation(lambda w: w.recycled, "<=", lambda w: w.layers),
    # (2) is the probability of one draw; delta draws
    "one-drawn": _relation(lambda w: w.recycled, "==", lambda w: 1),
    "two-drawn": _relation(lambda w: w.recycled, "==", lambda w: 2),
    "some-drawn": _relation(lambda w: 1, "<=", lambda w: w.recycled),
    "nothing-recycled": _relation(lambda w: w.recycled, "==", lambda w: 0),
    # "eta <= 1/(L tau)"; "eta <= 1/(2 sqrt 3 L tau)" and "eta <= (1 - 16 kappa)/(6 sqrt 30 L tau)", both sides squared
    "small-step": _relation(lambda w: w.eta, "<=", lambda w: 1 / (w.L * TAU)),
    "step-of-A1": _relation(lambda w: 12 * _speed(w) ** 2, "<=", lambda w: 1),
    "step-of-theorem": _relation(lambda w: 1080 * _speed(w) ** 2, "<=", lambda w: _omega(w) ** 2),
    # "which is <= 1"; "kappa < 1/16"; with no range of kappa printed, at most 1 and not 1/16
    "kappa-to-1": _relation(lambda w: 0, "<=", lambda w: 1 - w.kappa),
    "kappa-small": _relation(lambda w: 16 * w.kappa, "<", lambda w: 1),
    "kappa-literal": (_relation(lambda w: 0, "<=", lambda w: 1 - w.kappa),
                      _relation(lambda w: _omega(w) ** 2, ">", lambda w: 0)),
    # "0 < kappa < 1" is false
    "kappa-0": _relation(lambda w: 0, "<=", lambda w: -w.kappa),
    "kappa-from-1": _relation(lambda w: 0, "<=", lambda w: w.kappa - 1),
    # grad F(x_t) is not 0
    "ratios-exist": _relation(lambda w, r: sq(dF(w, r)), ">=", lambda w, r: w.gradient_floor, each_round),
    # any given sequence, R_0 empty, then of delta layers
    "forced": (_relation(lambda w: sum(w.masks[0]), "==", lambda w: 0),
               _relation(lambda w, r: sum(w.masks[r]), "==", lambda w, r: w.recycled, later_rounds)),
    # all layers of R_t have one age
    "common": _relation(
        lambda w, r, n, m: w.server_recycle_set[r][n] * w.server_recycle_set[r][m]
        * (w.server_age[r + 1][n] - w.server_age[r + 1][m]) ** 2, "==", lambda w, *_: 0, each_round, each_layer, each_layer),
    # tau - 1 is a denominator
    "two-steps": _relation(lambda w: w.local_steps, ">=", lambda w: 2),
    "one-round": _relation(lambda w: w.iterations, "==", lambda w: w.local_steps),
}
DOMAINS = {
    **dict.fromkeys(("eta", "eta_other", "L", "alpha", "bracket", "length", "excess", "gradient_floor", "score_floor"),
                    "positive"),
    **dict.fromkeys(("sigma_sq", "sigma_g_sq", "gradient_sq", "kappa", "gradients", "drifts", "W"), "nonnegative"),
    "decrease": "real", "C": "hidden",
    **dict.fromkeys(("local_steps", "clients", "rounds", "layers", "outcomes"), "integer from 1"),
    **dict.fromkeys(("recycled", "age"), "integer from 0"),
    **dict.fromkeys(("first", "second", "v", "initial_update"), "vector"), "a": "vector [clients, local_steps]",
    "b": "vector [layers]", "mask": "binary [layers]", "layer_score": "positive [layers]",
    "masks": "binary [rounds, layers]",
    **dict.fromkeys(("chance", "other_chance"), "simplex [outcomes]"),
    **dict.fromkeys(("value", "other_value"), "vector [outcomes]"),
}
SUPPOSED = ASSUMED | KAPPA | CONDITIONS
