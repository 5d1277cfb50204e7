"""Hypotheses of the textbooks' statements in plain Python, written from the books, and the domains of their letters."""


from tests.bounds.arithmetic import ALL
from tests.bounds.claim_values import sq
from tests.bounds.rows import Assumed, Relation

__all__ = ["DOMAINS", "SUPPOSED", "each_client", "each_round", "each_step", "steps_of"]

DOMAINS = {"eta": "positive", "eta_g": "positive", "B": "positive", "cut": "integer from 1"}


def each_step(w):
    return range(w.iterations)


def each_round(w):
    return range(w.rounds)


def each_client(w, *_):
    return range(w.clients)


def steps_of(w, r):
    """The local steps of round r, which has three."""
    return range(3 * r, 3 * r + 3)


def _at_every_client(left, sign, right):
    return Assumed((Relation(left, sign, right, (each_client,)),))


def _steps_up_to(bound):
    return Relation(lambda w, t: w.eta_l[t], "<=", lambda w, t: bound(w), (each_step,))


def _eta_up_to(bound):
    return Relation(lambda w: w.eta, "<=", bound)


def _mean_gradient(w, r):
    return sum(w.client_weight[k] * sq(w.grad(k, w.x_round[r])) for k in ALL)


NO_NOISE = Relation(lambda w, k: w.sigma_sq_client[k], "<=", lambda w, k: 0, (each_client,))
SUPPOSED = {
    "smooth": _at_every_client(lambda w, k: w.L_client[k], "<=", lambda w, k: w.L),
    "convex": _at_every_client(lambda w, k: w.mu_client[k], ">=", lambda w, k: 0),
    "strongly-convex": _at_every_client(lambda w, k: w.mu_client[k], ">=", lambda w, k: w.mu),
    "full-gradients": Assumed((NO_NOISE,)),
    "no-noise": NO_NOISE,
    "bounded-variance": _at_every_client(lambda w, k: w.sigma_sq_client[k], "<=", lambda w, k: w.sigma_sq),
    # |f(u; z) - f(v; z)| <= G |u - v|: gradients of length at most G
    "lipschitz": Assumed(everywhere=Relation(lambda w: sq(w.f_grad(w.u)), "<=", lambda w: w.G_lip**2)),
    "bounded": Assumed(),
    # steps
    "unit-step": Relation(lambda w, t: w.eta_l[t], "==", lambda w, t: 1 / w.L, (each_step,)),
    "step-to-2/L": _steps_up_to(lambda w: 2 / w.L),
    "step-to-1/L": _steps_up_to(lambda w: 1 / w.L),
    "one-step-to-2/L": Relation(lambda w: w.eta_l[0], "<=", lambda w: 2 / w.L),
    "one-step-to-2/(L+mu)": Relation(lambda w: w.eta_l[0], "<=", lambda w: 2 / (w.L + w.mu)),
    "constant-step": Relation(lambda w, t: w.eta_l[t], "==", lambda w, t: w.eta, (each_step,)),
    "eta-to-2/L": _eta_up_to(lambda w: 2 / w.L),
    "eta-to-2/(L+mu)": _eta_up_to(lambda w: 2 / (w.L + w.mu)),
    "step-to-1/LK": _eta_up_to(lambda w: 1 / (w.L * 3)),
    "step-to-1/2LK": _eta_up_to(lambda w: 1 / (2 * w.L * 3)),
    "step-to-1/4LK": _eta_up_to(lambda w: 1 / (4 * w.L * 3)),
    "step-to-1/2LKB": _eta_up_to(lambda w: 1 / (2 * w.L * 3 * w.B)),
    "step-to-1/16LKBB": _eta_up_to(lambda w: 1 / (16 * w.L * 3 * w.B**2)),
    "step-to-s/24LKm": _eta_up_to(lambda w: w.participants / (24 * w.L * 3 * w.clients)),
    "falling-steps": Relation(lambda w, t: w.eta_l[t] * (t + 1), "<=", lambda w, t: w.c_step, (each_step,)),
    # clients: (1/N) sum |grad f_i|^2 <= G^2 + B^2 |grad f|^2 with B >= 1, at the models of the rounds
    "dissimilar": (
        Relation(lambda w: w.B, ">=", lambda w: 1),
        Relation(lambda w, r: _mean_gradient(w, r) - w.B**2 * sq(w.objective_grad(w.x_round[r])), "<=",
                 lambda w, r: w.G_sq, (each_round,))),
    "bounded-gradients": Relation(_mean_gradient, "<=", lambda w, r: w.G_sq, (each_round,)),
    "one-optimum": Relation(lambda w, k: sq(w.grad(k, w.x_star)), "<=", lambda w, k: 0, (each_client,)),
    "curvature-L": Relation(lambda w, k: w.mu_client[k], ">=", lambda w, k: w.L, (each_client,)),
    # sizes
    "one-client": Relation(lambda w: w.clients, "<=", lambda w: 1),
    "one-round": Relation(lambda w: w.iterations, "==", lambda w: w.local_steps),
    "sgd": Relation(lambda w: w.local_steps, "==", lambda w: 1),
    "two-samples": Relation(lambda w: w.samples, ">=", lambda w: 2),
    "t0-to-rounds": Relation(lambda w: w.cut, "<=", lambda w: w.rounds),
    "t0-to-steps": Relation(lambda w: w.cut, "<=", lambda w: w.iterations),
}
