"""A-FedPD's hypotheses and the domains of its letters in plain Python, written from the paper's Section 4 and Appendix B."""

from math import sqrt

from tests.bounds.papers.afedpd_descent_rows import larger_zero
from tests.bounds.papers.afedpd_world import C, K, S, error, norm, sq
from tests.bounds.ranges import each_client, each_round, each_step
from tests.bounds.rows import Assumed, Relation

__all__ = ["DOMAINS", "SUPPOSED"]


def _relation(left, sign, right, *over):
    return Relation(left, sign, right, over)


ASSUMED = {
    # "the local function f_i satisfies the L-smoothness property"; for f_i(., xi), as the proofs of Lemmas 5 and 6 use it
    **dict.fromkeys(("assumption-1", "assumption-1@sample"), Assumed((
        _relation(lambda w, k: w.L_client[k], "<=", lambda w, k: w.L, each_client),))),
    # "satisfies the Lipschitz-continuity", for every f_i(., xi)
    "assumption-2@sample": Assumed(everywhere=_relation(lambda w: sq(w.f_grad(w.u)), "<=", lambda w: w.G_lip**2)),
    # "|grad L_i|^2 <= eps" "during each local training process", of the clients that train virtually too
    "assumption-inexact": Assumed((_relation(
        lambda w, r, k: sq(error(w, r, k)), "<=", lambda w, r, k: w.eps_inexact, each_round, each_client),)),
    # "randomly select active clients set"; "at most one different data sample"
    "assumption-sampling": Assumed(), "assumption-neighbours": Assumed(),
    # "H = sup f(theta, xi) < infinity", of losses that are not negative
    "assumption-bounded@nonneg": Assumed(),
    # eta^t, one step for the K local steps of a round
    "step-constant-in-round": Assumed((_relation(
        lambda w, t: w.eta_l[t] - w.eta_l[t // K * K], "==", lambda w, t: 0, each_step),)),
}


# optimisation ----------------------------------------------------------------------------------------------------------
def b(w):
    """L^2/rho^2."""
    return w.L**2 / w.rho_prox**2


def quadratic_in_rho(w):
    return w.rho_prox**2 - 4 * w.L**3 * w.rho_prox - 36 * w.L**2 - 4 * w.L**4


def _descended(w):
    """f + (L/2) (1 + L/rho) R_t - |grad f|^2/(2 rho)."""
    return w.f_now + w.L / 2 * (1 + w.L / w.rho_prox) * w.R_now - w.h_sq / (2 * w.rho_prox)


def _one_step(w, f, before, now, h_sq):
    """f + R_{t-1}/rho - |grad f|^2/rho + eps/(8 L^2 rho) - R_t/rho."""
    rho = w.rho_prox
    return f + before / rho - h_sq / rho + w.eps_inexact / (8 * w.L**2 * rho) - now / rho


OPTIMISATION = {
    # the same inexact solutions, of the duals that clients keep
    "inexact-by-clients": _relation(lambda w, r, k: sq(error(w, r, k, w.client_dual)), "<=", lambda w, r, k: w.eps_inexact,
                                    each_round, each_client),
    # "rho^2 - 4 L^3 rho - 36 L^2 - 4 L^4 > 0"
    "rho-appendix": _relation(quadratic_in_rho, ">", lambda w: 0),
    # theta-bar^{T+1} needs a round more than the T of the sum; t - 1 is a round
    "two-rounds": _relation(lambda w: w.rounds, ">=", lambda w: 2),
    # the inequality above (14)
    "lemma-2-step-2": _relation(
        lambda w: 4 * b(w) * (w.R_now + 2 * w.J_now + w.h_sq) + 4 * w.eps_inexact / w.rho_prox**2 - w.R_now,
        ">=", lambda w: 0),
    # (14) and (15)
    "14": _relation(lambda w: (1 - 4 * b(w)) * w.R_now, "<=",
                    lambda w: 8 * b(w) * w.J_now + 4 * b(w) * w.h_sq + 4 * w.eps_inexact / w.rho_prox**2),
    "15": _relation(lambda w: w.J_now, "<=", lambda w: 4 * w.R_before),
    # both lines of the system
    "descent": _relation(lambda w: w.f_next, "==", lambda w: _descended(w) - w.s_1),
    "r-recursion": _relation(lambda w: (1 - 4 * b(w)) * w.R_now, "<=",
                             lambda w: 32 * b(w) * w.R_before + 4 * b(w) * w.h_sq + 4 * w.eps_inexact / w.rho_prox**2),
    "q-range": _relation(lambda w: w.q_mult, "<", lambda w: w.rho_prox / (8 * w.L**2)),
    "q-coefficient": _relation(lambda w: 1 / (2 * w.rho_prox) - 4 * w.q_mult * b(w), ">", lambda w: 0),
    # "2q = L (rho^2 + rho L)/(rho^2 - 36 L^2)"
    "q-equation": _relation(lambda w: w.q_mult, "==",
                            lambda w: w.L * (w.rho_prox**2 + w.rho_prox * w.L) / (2 * (w.rho_prox**2 - 36 * w.L**2))),
    # "q = rho/(32 L^2)"
    "q-choice": _relation(lambda w: w.q_mult, "==", lambda w: w.rho_prox / (32 * w.L**2)),
    # 2q > 0
    "q-positive": _relation(lambda w: w.rho_prox**2 - 36 * w.L**2, ">", lambda w: 0),
    "rho-quadratic": _relation(lambda w: w.L * (w.rho_prox**2 + w.rho_prox * w.L) / (w.rho_prox**2 - 36 * w.L**2), "<",
                               lambda w: w.rho_prox / (4 * w.L**2)),
    # "rho > O(L^3)", above the larger zero
    "rho-above-zero": _relation(lambda w: w.rho_prox, ">", larger_zero),
    "q-combined": _relation(
        lambda w: w.f_next, "==",
        lambda w: w.f_now + w.q_mult * 32 * b(w) * w.R_before - (1 / (2 * w.rho_prox) - 4 * w.q_mult * b(w)) * w.h_sq
        + 4 * w.q_mult * w.eps_inexact / w.rho_prox**2
        - (w.q_mult * (1 - 4 * b(w)) - w.L / 2 * (1 + w.L / w.rho_prox)) * w.R_now - w.s_1),
    # the one-step inequality in two rounds
    "one-step-twice": (
        _relation(lambda w: w.f_2, "==", lambda w: _one_step(w, w.f_1, w.R_start, w.R_1, w.h_sq_1) - w.s_1),
        _relation(lambda w: w.f_3, "==", lambda w: _one_step(w, w.f_2, w.R_1, w.R_2, w.h_sq_2) - w.s_2)),
    # f* is no more than the values of f, the last no less than it
    "f-low": (_relation(lambda w: w.f_first, "==", lambda w: w.f_low + w.s_1),
              _relation(lambda w: w.f_last, "==", lambda w: w.f_low + w.s_2)),
}


# generalisation --------------------------------------------------------------------------------------------------------
def root(w, eta):
    """x^+ of a step."""
    return (w.rho_prox + sqrt((w.rho_prox + 2 * w.L) ** 2 + 4 * w.L / (eta * K))) / (2 * w.L)


def _serves(eta, *over):
    """alpha rho >= x^+ of a step."""
    return _relation(lambda w, *at: w.alpha_mult * w.rho_prox, ">=", lambda w, *at: root(w, eta(w, *at)), *over)


def _serves_quadratic(eta):
    """The same as the quadratic inequality of which x^+ is the larger zero."""
    def left(w):
        x = w.alpha_mult * w.rho_prox
        return w.L * x**2 - w.rho_prox * x - (w.L + w.rho_prox + 1 / (eta(w) * K))

    return _relation(left, ">=", lambda w: 0)


def Delta_of_system(w, j):
    """Delta at tau_0 + j: it grows by pi and by sigma/rho, the sum of the pi, in every round."""
    return 2 * w.W[j] + sum(w.W[i] for i in range(1, j))


def rho_L(w):
    return w.rho_prox - w.L


def _gaps_to(w):
    return range(w.length - 1)


def _contracts(extra):
    """a_{k+1} <= (1 - eta rho_L) a_k + eta (L D_theta + D_lambda + extra), with its slack."""
    return _relation(lambda w, k: w.a[k + 1], "==", lambda w, k: (
        (1 - w.eta * rho_L(w)) * w.a[k] + w.eta * (w.L * w.D_theta + w.D_lambda + extra(w)) - w.slack[k]), _gaps_to)


def _rises(growth, new):
    """V_{t+1} <= (1 + growth) V_t + new from t = tau_0 on, with its slack."""
    return _relation(lambda w, i: w.V[i + 1], "==",
                     lambda w, i: (1 + growth(w, w.tau0 + i)) * w.V[i] + new(w, w.tau0 + i) - w.slack[i], _gaps_to)


def _g(w):
    return w.gamma_mult * w.eta_0 * K


GENERALISATION = {
    # "eta^t = eta_0/(t+1)", "eta_0 <= mu/(gamma K)", "gamma = 1 + alpha rho", "alpha rho >= x^+"
    "decayed": _relation(lambda w, t: w.eta_l[t], "==", lambda w, t: w.eta_0 / (t // K + 1), each_step),
    "gamma": _relation(lambda w: w.gamma_mult, "==", lambda w: 1 + w.alpha_mult * w.rho_prox),
    "eta-0": _relation(lambda w: w.eta_0, "<=", lambda w: w.mu_lr / (w.gamma_mult * K)),
    # the same, as a bound of mu
    "mu-from-eta-0": _relation(lambda w: w.mu_lr, ">=", lambda w: w.gamma_mult * w.eta_0 * K),
    "gamma-first": _serves(lambda w: w.eta_0), "gamma-first-eta1": _serves(lambda w: w.eta_0 / 2),
    "gamma-all": _serves(lambda w, r: w.eta_0 / (r + 1), each_round),
    # "a stable decayed sequence with 1 - eta rho": eta rho <= 1; rho_L >= 0, with which x >= -1
    "stable": (_relation(lambda w, t: w.eta_l[t] * w.rho_prox, "<=", lambda w, t: 1, each_step),
               _relation(lambda w: w.L, "<=", lambda w: w.rho_prox)),
    "stable-number": (_relation(lambda w: w.eta * w.rho_prox, "<=", lambda w: 1),
                      _relation(lambda w: w.L, "<=", lambda w: w.rho_prox)),
    "decays": _relation(lambda w: w.eta * w.rho_prox, "<=", lambda w: 1),
    "cited-step": _relation(lambda w, t: w.eta_l[t], "==", lambda w, t: w.eta_0 / (t + 1), each_step),
    "eta-0-to-mu": _relation(lambda w: w.eta_0, "<=", lambda w: w.mu_lr),
    "one-step": _relation(lambda w, t: w.eta_l[t], "==", lambda w, t: w.eta, each_step),
    "some-step": _relation(lambda w, t: w.eta_l[t], "==", lambda w, t: w.some_step, each_step),
    # Lemma 4: P(zeta) = p; equal data until tau_0, so that f is G-Lipschitz on the event; losses up to H
    "probability": _relation(lambda w: w.p - 1, "<=", lambda w: 0),
    "lipschitz": _relation(lambda w: abs(w.loss_1 - w.twin_loss_1) - w.G_lip * w.distance, "<=", lambda w: 0),
    "to-H": tuple(_relation(lambda w, n=n: getattr(w, n) - w.H_loss, "<=", lambda w: 0)
                  for n in ("loss_1", "twin_loss_1", "loss_2", "twin_loss_2")),
    "in-margin": _relation(lambda w: w.samples, ">=", lambda w: 1 / w.margin),
    "P-to-C": _relation(lambda w: w.participants, "<=", lambda w: w.clients),
    # Lemmas 5 and 6: of one local step
    "smooth": _relation(lambda w: sq(w.g_gap), "<=", lambda w: w.L**2 * sq(w.w_gap + w.x_gap)),
    # of f_i, the mean of S samples' losses
    "smooth-mean": _relation(lambda w: sq((w.g_gap + w.rest_gap) / S), "<=", lambda w: w.L**2 * sq(w.w_gap + w.x_gap)),
    "gradients-to-G": (_relation(lambda w: norm(w.g_one), "<=", lambda w: w.G_lip),
                       _relation(lambda w: norm(w.g_two), "<=", lambda w: w.G_lip)),
    "mean-gradients-to-G": (
        _relation(lambda w: norm((w.g_one + w.rest_one) / (C * S)), "<=", lambda w: w.G_lip),
        _relation(lambda w: norm((w.g_two + w.rest_two) / (C * S)), "<=", lambda w: w.G_lip)),
    "a-mean": _relation(lambda w, k: w.a[k], ">=", lambda w, k: 0, lambda w: range(w.length)),
    "V-mean": _relation(lambda w, k: w.V[k], ">=", lambda w, k: 0, lambda w: range(w.length)),
    "lemma-5-contraction": _contracts(lambda w: 0), "lemma-6-mixture": _contracts(lambda w: 2 * w.G_lip / S),
    "from-0": _relation(lambda w: w.a[0], "<=", lambda w: 0),
    # "x >= -1", "with x = -eta rho_L"
    "x-condition": _relation(lambda w: w.eta * rho_L(w), "<=", lambda w: 1),
    "curvature": _relation(lambda w: w.curvature**2, "<=", lambda w: w.L**2),
    # the system of four lines, between mean distances
    "system": (
        *(_relation(lambda w, n=f"{name}_next": -getattr(w, n), "<=", lambda w: 0)
          for name in ("Delta", "sigma", "delta", "pi")),
        _relation(lambda w: w.Delta_next, "==", lambda w: w.delta_next + w.sigma_next / w.rho_prox - w.s_1),
        _relation(lambda w: w.sigma_next, "==", lambda w: w.sigma_dual + w.rho_prox * w.pi_next - w.s_2),
        _relation(lambda w: w.delta_next, "==", lambda w: w.pi_next + w.Delta - w.s_3),
        _relation(lambda w: w.pi_next, "==", lambda w: w.eta * K * w.L * w.Delta + w.eta * K * w.sigma_dual
                  + 2 * w.eta * K * w.G_lip / (C * S) - w.s_4)),
    # "beta - 1 >= 0", "gamma - alpha rho - beta >= 0"; "the minimal values of beta = 1 and gamma = 1 + alpha rho"
    "multipliers-feasible": (_relation(lambda w: w.beta_mult, ">=", lambda w: 1),
                             _relation(lambda w: w.gamma_mult - w.alpha_mult * w.rho_prox - w.beta_mult, ">=", lambda w: 0)),
    "multipliers": (_relation(lambda w: w.beta_mult, "==", lambda w: 1),
                    _relation(lambda w: w.gamma_mult, "==", lambda w: 1 + w.alpha_mult * w.rho_prox)),
    "alpha-condition": _relation(
        lambda w: w.alpha_mult - 1 / w.rho_prox, ">=",
        lambda w: (w.alpha_mult + (1 + w.alpha_mult * w.rho_prox) * w.eta * K)
        / (1 + (1 + w.alpha_mult * w.rho_prox) * w.eta * K * w.L)),
    "alpha-quadratic": _serves_quadratic(lambda w: w.eta),
    "alpha-from-x-plus": _relation(lambda w: w.alpha_mult * w.rho_prox, ">=", lambda w: root(w, w.eta)),
    # unrolled from Delta = sigma = 0 at tau_0; "eta_0 <= 1/(K L)"
    "constant-step": _relation(lambda w: w.eta_0, "<=", lambda w: 1 / (K * w.L)),
    "rises-by-constant": _rises(lambda w, t: _g(w) * w.L, lambda w, t: 2 * _g(w) * w.G_lip / (C * S)),
    "rises-by-decayed": _rises(lambda w, t: _g(w) * w.L / (t + 1), lambda w, t: 2 * _g(w) * w.G_lip / (C * S * (t + 1))),
    "V-from-0": _relation(lambda w: w.V[0], "<=", lambda w: 0),
    "c-to-mu-L": _relation(lambda w: w.c, "<=", lambda w: w.mu_lr * w.L),
    "tau0-to-T": _relation(lambda w: w.tau0, "<=", lambda w: w.rounds),
    # a sum from tau_0 to T - 1
    "tau0-before-T": _relation(lambda w: w.tau0, "<=", lambda w: w.rounds - 1),
    "unrolled-decayed": _relation(
        lambda w: w.Delta - 2 * w.G_lip / (w.L * C * S) * (w.rounds / w.tau0) ** (w.mu_lr * w.L), "<=", lambda w: 0),
    # the same four lines with equality from tau_0 on: W_j is sigma/rho at t = tau_0 + j
    "system-with-equality": (
        _relation(lambda w, j: w.W[j + 1], "==", lambda w, j: w.W[j] + w.eta_0 / (w.tau0 + j + 1) * K * (
            w.L * Delta_of_system(w, j) + w.rho_prox * w.W[j] + 2 * w.G_lip / (C * S)), _gaps_to),
        _relation(lambda w: w.W[0], "<=", lambda w: 0)),
    "mu-L-whole": _relation(lambda w: w.mu_lr, "==", lambda w: w.p_lr / w.L),
    "serves-first": _serves_quadratic(lambda w: w.eta_0),
    "serves-last": _serves_quadratic(lambda w: w.eta_0 / (w.tau0 + w.length - 1)),
    # every positive rho, L and eta K: z is sqrt(L/(eta K)), and z (m + 1/m) the root
    "rational-roots": (
        _relation(lambda w: w.rho_prox, "==", lambda w: w.z * (w.m - 1 / w.m) - 2 * w.L),
        _relation(lambda w: w.eta, "==", lambda w: w.L / (K * w.z**2)),
        _relation(lambda w: w.z * (w.m - 1 / w.m) - 2 * w.L, ">", lambda w: 0)),
    # "tau_0 = (2 G^2/(H P L))^(1/(1 + mu L)) T^(mu L/(1 + mu L))": root_1 is (2 G^2/L)^(1/(1 + mu L)), root_2 that of H P T
    "choice": (
        _relation(lambda w: w.L, "==", lambda w: 2 * w.G_lip**2 / w.root_1 ** (1 + w.p_lr)),
        _relation(lambda w: w.H_loss, "==", lambda w: w.root_2 ** (1 + w.p_lr) / (w.participants * w.rounds)),
        _relation(lambda w: w.tau_real, "==", lambda w: w.root_1 * w.rounds / w.root_2)),
    # "O(1/epsilon)" local steps and rounds
    "K-is-T": (_relation(lambda w: w.local_steps, "<=", lambda w: w.rounds),
               _relation(lambda w: w.rounds, "<=", lambda w: w.local_steps)),
    "one-client": _relation(lambda w: w.clients, "==", lambda w: 1),
}
DOMAINS = {
    **dict.fromkeys(("L", "rho_prox", "eta", "eta_0", "H_loss", "alpha_mult", "beta_mult", "gamma_mult", "q_mult",
                     "mu_lr", "D", "z", "m", "margin", "root_1", "root_2", "tau_other"), "positive"),
    **dict.fromkeys(("eps_inexact", "R_now", "R_before", "J_now", "h_sq", "R_start", "R_end", "R_1", "R_2", "h_sq_1",
                     "h_sq_2", "s_1", "s_2", "s_3", "s_4", "p", "distance", "a_now", "D_theta", "D_lambda", "D_last",
                     "Delta", "sigma_dual", "G_lip", "excess", "x_plus_1"), "nonnegative"),
    **dict.fromkeys(("loss_1", "loss_2", "twin_loss_1", "twin_loss_2", "f_now", "f_1", "f_low", "x_1", "lam_1",
                     "curvature"), "real"),
    **dict.fromkeys(("w_gap", "x_gap", "lam_gap", "g_gap", "rest_gap", "g_one", "g_two", "rest_one", "rest_two",
                     "at_point", "sent_mean"), "vector"),
    **dict.fromkeys(("lam_gaps", "update_gap"), "vector [count]"),
    **dict.fromkeys(("a", "slack", "V", "W"), "nonnegative [length]"), "constant": "hidden", "c": "positive",
    **dict.fromkeys(("clients", "participants", "samples", "local_steps", "rounds", "length", "count", "p_lr", "tau0"),
                    "integer from 1"),
}
SUPPOSED = ASSUMED | OPTIMISATION | GENERALISATION
