"""The theorems and lemmas of Li et al. in plain Python, as FedALIGN's specification quotes them (Section 4.3)."""

from fractions import Fraction

from tests.bounds.arithmetic import ALL, sides_of, values, world
from tests.bounds.chance import E, Max
from tests.bounds.claim_values import norm, sq
from tests.bounds.papers.fedalign_hypotheses import ASSUMED, SCHEDULE, each_client, each_step
from tests.bounds.papers.fedalign_rows import MEANINGS, TIMES
from tests.bounds.rows import Relation, Row, but

__all__ = ["DOMAINS", "MEANINGS", "METHOD", "ROWS", "SUPPOSED", "TIMES", "WITHOUT_LETTER", "sides", "values", "world"]

WITHOUT_LETTER = {"C"}
#: FedAvg without free clients, everybody in every round
METHOD = "fedavg"
SCHEME_I, SCHEME_II = "fedavg sampling=with-replacement", "fedavg sampling=li2020-scheme-2"
DOMAINS = {
    "C": "hidden", **dict.fromkeys(("L", "mu", "step_offset"), "positive"),
    **dict.fromkeys(("iterations", "local_steps"), "integer from 1"),
    **dict.fromkeys(("G_sq", "variances", "Gamma", "start_sq"), "nonnegative"),
}


def squared_distance(w, t):
    return sq(w.x_sampled[t] - w.x_star)


def suboptimality(w):
    """E F(w_T) - F*."""
    return E(w.objective(w.x_sampled[w.iterations])) - w.F_star


# the three printings of Theorem 1, with this B
def older(w, B):
    kappa = w.L / w.mu
    return 2 * kappa / (w.step_offset + w.iterations) * (B / w.mu + 2 * w.L * squared_distance(w, 0))


def later(w, B, T, start):
    kappa = w.L / w.mu
    return kappa / (w.step_offset + T - 1) * (2 * B / w.mu + w.mu * w.step_offset / 2 * start)


def self_consistent(w, B):
    start = squared_distance(w, 0)
    return w.L / (2 * (w.step_offset + w.iterations)) * Max(4 * B / w.mu**2, w.step_offset * start)


def from_one(w, B):
    """The later printing, whose time starts at 1: its T is one more, its w_1 the start."""
    return later(w, B, w.iterations + 1, squared_distance(w, 0))


def variances(w):
    return sum(w.client_weight[k] ** 2 * w.sigma_sq_client[k] for k in ALL)


def B_of(w, variances, Gamma):
    return variances + 6 * w.L * Gamma + 8 * (w.local_steps - 1) ** 2 * w.G_sq


def expanded(w):
    """The older printing's second form."""
    first = 2 * w.L / w.mu**2 * (w.variances + 8 * (w.local_steps - 1) ** 2 * w.G_sq)
    return (first + 4 * w.L**2 / w.mu * w.start_sq + 12 * w.L**2 / w.mu**2 * w.Gamma) / (w.step_offset + w.iterations)


def compact(w):
    B = B_of(w, w.variances, w.Gamma)
    return 2 * w.L / w.mu / (w.step_offset + w.iterations) * (B / w.mu + 2 * w.L * w.start_sq)


# of one step
def noise(w, t):
    """E |g_t - gbar_t|^2."""
    return E(sq(w.average_stochastic_gradient[t] - w.average_gradient[t]))


def spread(w, t):
    return E(sum(w.client_weight[k] * sq(w.x_sampled[t] - w.x_local[t][k]) for k in ALL))


def sampling_variance(w, t):
    """E |wbar_{t+1} - vbar_{t+1}|^2."""
    return E(sq(w.x_sampled[t + 1] - w.x[t + 1]))


SUPPOSED = {f"fedalign/{name}": content for name, content in ASSUMED.items()} | SCHEDULE | {
    # eta_t = 2 / (mu (gamma + t)) with t from 1: our time and one
    "later-schedule": (SCHEDULE["offset"], Relation(
        lambda w, t: w.eta_l[t], "==", lambda w, t: 2 / (w.mu * (w.step_offset + (t + 1))), (each_step,))),
    # eta_t <= 2 eta_{t+E}; in the run's last round, whose eta_{t+E} are after it: its first step is at most twice its last
    "halving": (
        Relation(lambda w, t: w.eta_l[t], "<=", lambda w, t: 2 * w.eta_l[t + w.local_steps],
                 (lambda w: range(w.iterations - w.local_steps),)),
        Relation(lambda w: w.eta_l[w.iterations - w.local_steps], "<=", lambda w: 2 * w.eta_l[w.iterations - 1])),
    # scheme II: p_k = 1/N; its C has N - 1 in the denominator
    "equal-weights": Relation(lambda w, k: w.client_weight[k], "==", lambda w, k: Fraction(1, w.clients), (each_client,)),
    "two-clients": Relation(lambda w: w.clients, ">=", lambda w: 2),
    "constant-step": Relation(lambda w, t: w.eta_l[t], "==", lambda w, t: w.eta_l[0], (each_step,)),
    "local-steps": Relation(lambda w: w.local_steps, ">=", lambda w: 2),  # E > 1
}
IMPLICIT = " fedalign/implicit-nonanticipating fedalign/implicit-divisible"
SMOOTH_AND_CONVEX = "fedalign/assumption-1@as-used fedalign/assumption-2@as-used"
GRADIENTS = "fedalign/assumption-4@G-trajectory-weighted"
#: Assumption 3 with the clients' own variances, which stand in the formulas
ALL_FOUR = f"{SMOOTH_AND_CONVEX} {GRADIENTS} fedalign/implicit-independence{IMPLICIT}"


def theorem(bound, given="schedule", method=""):
    return Row(lambda w, t, k: suboptimality(w), lambda w, t, k: bound(w), given=f"{ALL_FOUR} {given}", method=method)


def B(w):
    return w.base_noise


def B_with_sampling(name):
    return lambda w: w.base_noise + getattr(w, name)


def sampled(number, of, given, method):
    return {
        f"theorem-{number}": theorem(lambda w: older(w, of(w)), f"schedule{given}", method),
        f"theorem-{number}@later": theorem(lambda w: from_one(w, of(w)), f"later-schedule{given}", method),
        f"theorem-{number}@self-consistent": theorem(lambda w: self_consistent(w, of(w)), f"schedule{given}", method),
    }


LEMMA_3 = Row(
    lambda w, t, k: spread(w, t), lambda w, t, k: 4 * w.eta_l[t] ** 2 * (w.local_steps - 1) ** 2 * w.G_sq,
    over=(each_step,), given=f"{GRADIENTS}{IMPLICIT} non-increasing halving")
LEMMA_4 = Row(
    lambda w, t, k: sq(E(w.x_sampled[t], "sampling") - w.x[t]), lambda w, t, k: 0, "==",
    over=(lambda w: [w.iterations],), given="one-round", method=SCHEME_I)
LEMMA_5 = but(LEMMA_3, left=lambda w, t, k: sampling_variance(w, t),
              right=lambda w, t, k: w.scheme_1_noise * w.eta_l[t] ** 2, method=SCHEME_I)
#: E_S |wbar_{t+1} - vbar_{t+1}|^2 <= C eta_t^2 at the end of a round
LEMMA_5_SAMPLING = Row(
    lambda w, t, k: E(sq(w.x_sampled[t] - w.x[t]), "sampling"), lambda w, t, k: w.scheme_1_noise * w.eta_l[t - 1] ** 2,
    over=(lambda w: [w.iterations],), given=f"{LEMMA_3.given} one-round", method=SCHEME_I)
SELF_CONSISTENT = theorem(lambda w: self_consistent(w, B(w)))
#: rows by ids that state the same
ROWS = {
    "theorem-1": theorem(lambda w: older(w, B(w))),
    "theorem-1@expanded": Row(
        lambda w, t, k: compact(w), lambda w, t, k: expanded(w), "==", method="algebra",
        variables="L; mu; step_offset; iterations; local_steps; G_sq; variances; Gamma; start_sq"),
    "theorem-1-later": theorem(lambda w: from_one(w, B(w)), "later-schedule"),
    # its time read as ours: E |w_1 - w*|^2 is after one step, and the steps are those of the older printing
    "theorem-1-later@start-at-0": theorem(lambda w: later(w, B(w), w.iterations, w.D_sq[1])),
    "theorem-1-self-consistent": SELF_CONSISTENT,
    "theorem-1-self-consistent@second-inequality": but(
        SELF_CONSISTENT, left=lambda w, t, k: self_consistent(w, B(w)), right=lambda w, t, k: from_one(w, B(w))),
    **sampled(2, B_with_sampling("scheme_1_noise"), "", SCHEME_I),
    **sampled(3, B_with_sampling("scheme_2_noise"), " equal-weights two-clients", SCHEME_II),
    # "distance of FedAvg's limit to w*", of order (E - 1) eta |w*|
    "theorem-4": Row(
        lambda w, t, k: norm(w.x_sampled[w.iterations] - w.x_star),
        lambda w, t, k: w.C * (w.local_steps - 1) * w.eta_l[0] * norm(w.x_star), ">=",
        given="constant-step local-steps", variables="C"),
    "lemma-1": Row(
        lambda w, t, k: E(sq(w.x[t + 1] - w.x_star)),
        lambda w, t, k: (1 - w.eta_l[t] * w.mu) * E(squared_distance(w, t)) + w.eta_l[t] ** 2 * noise(w, t)
        + 6 * w.L * w.eta_l[t] ** 2 * w.Gamma + 2 * spread(w, t),
        over=(each_step,), given=f"{SMOOTH_AND_CONVEX}{IMPLICIT} small-step"),
    "lemma-2": Row(lambda w, t, k: noise(w, t), lambda w, t, k: variances(w), over=(each_step,),
                   given=f"fedalign/implicit-independence{IMPLICIT}"),
    "lemma-3": LEMMA_3,
    "lemma-4": LEMMA_4,
    "lemma-4@scheme-2": but(LEMMA_4, given="one-round equal-weights", method=SCHEME_II),
    "lemma-5-scheme-1": LEMMA_5,
    "lemma-5-scheme-1@sampling-only": LEMMA_5_SAMPLING,
    "lemma-5-scheme-2@sampling-only": but(
        LEMMA_5_SAMPLING, right=lambda w, t, k: w.scheme_2_noise * w.eta_l[t - 1] ** 2, method=SCHEME_II,
        given=f"{LEMMA_5_SAMPLING.given} equal-weights two-clients"),
    "lemma-5-scheme-2": but(LEMMA_5, right=lambda w, t, k: w.scheme_2_noise * w.eta_l[t] ** 2, method=SCHEME_II,
                            given=f"{LEMMA_3.given} equal-weights two-clients"),
}
sides = sides_of(ROWS)
