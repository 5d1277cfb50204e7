"""FedALIGN's theorems, lemmas, prose and derived statements in plain Python, written from the paper."""

from tests.bounds.arithmetic import ALL, P
from tests.bounds.chance import E, Max, Min
from tests.bounds.claim_values import sq, total

R = range


def tau(w, t):
    return max(s for s in R(t + 1) if s % w.local_steps == 0)


def suboptimality(w, final=None):
    return E(w.objective(w.x_sampled[w.iterations] if final is None else final)) - w.F_star


def start(w):
    return sq(w.x_sampled[0] - w.x_star)


def c_1(w, sampling=0):
    """C_1, and C_1' with the sampling term's 8 E^2 G^2 / K."""
    noise = w.sigma_sq + 8 * (w.local_steps - 1) ** 2 * w.G_sq + sampling
    return 2 * w.L / w.mu**2 * noise + 4 * w.L**2 / w.mu * start(w)


def theorem_1(w, sampling=0):
    C2 = 12 * w.L**2 / w.mu**2
    return (c_1(w, sampling) + C2 * w.theta * w.Gamma) / (w.iterations + w.step_offset) + w.rho_bias


def corrected(w, sampling=0, initial=None):
    initial = w.L * w.step_offset / 2 if initial is None else initial
    noise = 2 * w.L / w.mu**2 * (w.sigma_sq + 8 * (w.local_steps - 1) ** 2 * w.G_sq + sampling)
    het = 12 * w.L**2 / w.mu**2 * w.theta_hat * w.Gamma
    return (noise + initial * start(w) + het) / (w.iterations + w.step_offset) + w.rho_hat


def per_round(w):
    """E^2 G^2 / K."""
    return w.local_steps**2 * w.G_sq / w.participants


def sharp(w, term):
    T, gam = w.iterations, w.step_offset
    q = (T + gam - 1) * (T + gam - 2)
    first = (gam - 1) * (gam - 2) / q * start(w)
    second = 4 / (w.mu**2 * q) * sum((i + gam - 1) / (i + gam) * term(i) for i in R(T))
    third = 2 / (w.mu * q) * sum((i + gam - 1) * w.bias_term[i] for i in R(T))
    return w.L / 2 * (first + second + third)


def refined(w, drift, variance):
    return sharp(w, lambda i: drift(i) + 6 * w.L * w.Gamma * E(w.chi[i]) + variance(i))


def averaged_variance(w, t):
    return E(sum(w.weight[t][k] ** 2 * w.included[t][k] * w.sigma_sq_client[k] for k in ALL))


def older(w, noise):
    return 2 * (w.L / w.mu) / (w.step_offset + w.iterations) * (noise / w.mu + 2 * w.L * start(w))


def later(w, noise, T, begin):
    return (w.L / w.mu) / (w.step_offset + T - 1) * (2 * noise / w.mu + w.mu * w.step_offset / 2 * begin)


def consistent(w, noise):
    return w.L / (2 * (w.step_offset + w.iterations)) * Max(4 * noise / w.mu**2, w.step_offset * start(w))


def li_noise_on_priority(w):
    variances = sum(w.client_weight[k] ** 2 * w.sigma_sq_client[k] for k in P)
    return variances + 6 * w.L * w.Gamma + 8 * (w.local_steps - 1) ** 2 * w.G_sq


def loss_difference(w, t, k):
    """F_k - F at the model that the round of time t began with."""
    start = w.x_sampled[tau(w, t)]
    return w.F(k, start) - w.objective(start)


def fewer(w, k):
    """The smaller pattern: some of the clients of the larger one."""
    return w.kept(k) * w.more(k)


def theta_of(w, pattern):
    T = w.iterations
    shares = [1 / (1 + sum(w.p(k) * pattern(i, k) for k in R(w.free_clients))) for i in R(1, T)]
    return sum(shares) / (T + w.step_offset - 2)


def share(w, pattern):
    """theta of two rounds of one local step, with the same step_offset: T + gamma - 2 is gamma."""
    return 1 / (w.step_offset * (1 + sum(w.p(k) * pattern(k) for k in R(w.free_clients))))


def rho_of(w, pattern):
    T, who = w.iterations, R(w.free_clients)
    psi = [
        sum(w.p(k) * pattern(i, k) * w.gap(k) for k in who) / (1 + sum(w.p(k) * pattern(i, k) for k in who))
        for i in R(1, T)
    ]
    return 2 * w.L / (w.mu * (T + w.step_offset - 2)) * sum(psi)


def step_cost(w, mass, bias):
    return (6 * w.L * w.Gamma * w.eta**2 + 2 * w.eta * bias) / (1 + mass)


def printed_cost(w, included):
    T, gam = w.iterations, w.step_offset
    mass = w.p_in if included else 0
    theta = (T - 1) / (T + gam - 2) / (1 + mass)
    rho = 2 * w.L / (w.mu * (T + gam - 2)) * (T - 1) * mass * w.gap_in / (1 + mass)
    return 12 * w.L**2 / w.mu**2 * theta * w.Gamma / (T + gam) + rho


def noise_of_average(w, t):
    return E(sq(w.average_gradient[t] - w.average_stochastic_gradient[t]))


def drift_bound(w, t):
    return 4 * w.eta_l[t] ** 2 * (w.local_steps - 1) ** 2 * w.G_sq


def sampling_error(w, t, *over):
    """E |w'_t - w_t|^2, over the sampling alone or over everything."""
    return E(sq(w.x_sampled[t] - w.x[t]), *over)


def sampling_bias(w, t, sampled):
    """|E_S w'_t - w_t|^2."""
    return sq(E(sampled[t], "sampling") - w.x[t])


def spread_on_priority(w, t):
    return sum(w.client_weight[k] * sq(w.x_before[t][k] - w.priority_models[t]) for k in P)


def li_spread(w, t):
    return sum(w.client_weight[k] * sq(w.x_sampled[t] - w.x_local[t][k]) for k in ALL)


def threshold_sums(w):
    below = [(w.p_below[k], w.gap_below[k]) for k in R(w.below)]
    above = [(w.p_above[k], w.gap_above[k]) for k in R(w.above)]
    return below, below + above


def cost_of(w, clients):
    return step_cost(w, sum(p for p, _ in clients), sum(p * gap for p, gap in clients))


def expanded(w):
    first = 2 * w.L / w.mu**2 * (w.variances + 8 * (w.local_steps - 1) ** 2 * w.G_sq)
    rest = 4 * w.L**2 / w.mu * w.start_sq + 12 * w.L**2 / w.mu**2 * w.Gamma
    return (first + rest) / (w.step_offset + w.iterations)


def compact(w):
    B = w.variances + 6 * w.L * w.Gamma + 8 * (w.local_steps - 1) ** 2 * w.G_sq
    return 2 * w.L / w.mu / (w.step_offset + w.iterations) * (B / w.mu + 2 * w.L * w.start_sq)


def both_in_minus(w, mass, bias):
    return step_cost(w, w.mass + w.p_in, w.bias + w.p_in * w.gap_in) - step_cost(w, mass, bias)


READINGS_OF_G = ("G-trajectory-max", "G-trajectory-all", "G-a-priori")
#: readings of the hypotheses and of the algorithm alone
WARM_UP = " ".join(f"derived-theorem-1-warmup{g}" for g in ("", *(f"@{name}" for name in READINGS_OF_G)))
THEOREM_1 = "theorem-1 theorem-1@assumptions-as-printed theorem-1@G-everywhere " + " ".join(
    f"theorem-1@{name}" for name in (
        *READINGS_OF_G, *(f"{where}{g}" for where in ("local-at-aggregation", "local-every-step")
                          for g in ("", *(f"+{name}" for name in READINGS_OF_G)))))
#: ids that state the same -> both sides as functions of (world, t, k)
ROWS = {
    f"{THEOREM_1} claim-arbitrary-participation {WARM_UP}": (
        lambda w, t, k: suboptimality(w), lambda w, t, k: theorem_1(w)),
    "theorem-A9 theorem-A9@G-trajectory-max theorem-A9@G-trajectory-all theorem-A9@G-a-priori": (
        lambda w, t, k: suboptimality(w), lambda w, t, k: theorem_1(w, 8 * per_round(w))),
    "theorem-A9@G-where-used": (
        lambda w, t, k: suboptimality(w),
        lambda w, t, k: theorem_1(w, 8 * w.local_steps**2 * w.G_priority_sq / w.participants)),
    "theorem-A9@virtual-average": (
        lambda w, t, k: suboptimality(w, w.x[w.iterations]), lambda w, t, k: theorem_1(w, 8 * per_round(w))),
    "theorem-A9@every-free-client": (
        lambda w, t, k: suboptimality(w, w.x_every_free[w.iterations]), lambda w, t, k: theorem_1(w, 8 * per_round(w))),
    "theorem-A9@56-literal": (
        lambda w, t, k: suboptimality(w, w.x_eq_56[w.iterations]), lambda w, t, k: theorem_1(w, 8 * per_round(w))),
    "eq-4": (
        lambda w, t, k: suboptimality(w), lambda w, t, k: (w.C + w.theta * w.Gamma) / w.iterations + w.rho_bias),
    "eq-4@eq-3": (lambda w, t, k: suboptimality(w), lambda w, t, k: (w.C + w.Gamma) / w.iterations),
    "lemma-A2 step-T1": (
        lambda w, t, k: sq(w.grad(k, w.x_local[t][k])),
        lambda w, t, k: 2 * w.L * (w.F(k, w.x_local[t][k]) - w.F_star_client[k])),
    "lemma-A3": (
        lambda w, t, k: E(sq(w.x[t] - w.x_star)),
        lambda w, t, k: E(sum(w.aggregate_weight[t][m] * sq(w.x_local[t][m] - w.x_star) for m in ALL))),
    "lemma-A4 lemma-A4@as-printed": (lambda w, t, k: E(w.drift[t]), lambda w, t, k: drift_bound(w, t)),
    "lemma-A5": (lambda w, t, k: noise_of_average(w, t), lambda w, t, k: w.sigma_sq),
    "lemma-A5-per-client": (
        lambda w, t, k: noise_of_average(w, t),
        lambda w, t, k: E(sum(w.weight[t][m] ** 2 * w.sigma_sq_client[m] for m in ALL))),
    "lemma-A5-per-client@tight": (
        lambda w, t, k: noise_of_average(w, t), lambda w, t, k: averaged_variance(w, t)),
    "lemma-A6 lemma-A6@as-printed": (
        lambda w, t, k: E(sq(w.x[t + 1] - w.x_star)),
        lambda w, t, k: (1 - w.eta_l[t] * w.mu) * E(sq(w.x[t] - w.x_star)) + w.eta_l[t] ** 2 * w.noise_term[t]
        + w.eta_l[t] * w.bias_term[t]),
    "lemma-A7 step-T21": (lambda w, t, k: sampling_bias(w, t, w.x_sampled), lambda w, t, k: 0),
    "lemma-A7@every-free-client": (lambda w, t, k: sampling_bias(w, t, w.x_every_free), lambda w, t, k: 0),
    "lemma-A7@56-literal": (lambda w, t, k: sampling_bias(w, t, w.x_eq_56), lambda w, t, k: 0),
    "lemma-A8 lemma-A8@schedule": (
        lambda w, t, k: sampling_error(w, t, "sampling"), lambda w, t, k: 4 * w.eta_next**2 * per_round(w)),
    "lemma-A8@step-before lemma-A8@step-before+schedule": (
        lambda w, t, k: sampling_error(w, t, "sampling"), lambda w, t, k: 4 * w.eta_l[t - 1] ** 2 * per_round(w)),
    "lemma-A8@noise-averaged lemma-A8@noise-averaged+schedule step-T21@variance": (
        lambda w, t, k: sampling_error(w, t), lambda w, t, k: 4 * w.eta_next**2 * per_round(w)),
    "lemma-A8@noise-averaged+step-before lemma-A8@noise-averaged+step-before+schedule": (
        lambda w, t, k: sampling_error(w, t), lambda w, t, k: 4 * w.eta_l[t - 1] ** 2 * per_round(w)),
    "claim-theta-range": (lambda w, t, k: w.theta, lambda w, t, k: 1),
    "claim-theta-range@lower-end": (lambda w, t, k: w.theta, lambda w, t, k: 0),
    "claim-theta-decreases": (
        lambda w, t, k: theta_of(w, w.more), lambda w, t, k: theta_of(w, lambda i, m: w.kept(i, m) * w.more(i, m))),
    "claim-matching-rule claim-matching-rule@non-strict": (
        lambda w, t, k: (k not in P) * w.included[t][k] * (abs(loss_difference(w, t, k)) - w.epsilon[t]),
        lambda w, t, k: 0),
    "claim-matching-rule@willing claim-matching-rule@willing+non-strict": (
        lambda w, t, k: (k not in P) * w.included[t][k] * (loss_difference(w, t, k) - w.epsilon[t]), lambda w, t, k: 0),
    "claim-matching-rule@left-out claim-matching-rule@left-out+non-strict": (
        lambda w, t, k: (k not in P) * (1 - w.included[t][k]) * (w.epsilon[t] - abs(loss_difference(w, t, k))),
        lambda w, t, k: 0),
    "claim-opposite": (
        lambda w, t, k: Max(
            (theta_of(w, lambda i, m: w.more(m)) - theta_of(w, lambda i, m: fewer(w, m)))
            * sum(w.p(m) * w.gap(m) for m in range(w.free_clients)),
            rho_of(w, lambda i, m: fewer(w, m)) - rho_of(w, lambda i, m: w.more(m))),
        lambda w, t, k: 0),
    "claim-opposite@theta": (
        lambda w, t, k: share(w, w.matched_next_larger), lambda w, t, k: share(w, w.matched_next)),
    "claim-opposite@theta-one-round": (
        lambda w, t, k: theta_of(w, lambda i, m: w.more(m)), lambda w, t, k: theta_of(w, lambda i, m: fewer(w, m))),
    "claim-opposite@bias": (
        lambda w, t, k: rho_of(w, lambda i, m: fewer(w, m)), lambda w, t, k: rho_of(w, lambda i, m: w.more(m))),
    "claim-zero-epsilon-algorithm claim-zero-epsilon-algorithm@non-strict": (
        lambda w, t, k: sq(w.x[t] - total([w.client_weight[m] * w.x_before[t][m] for m in P])), lambda w, t, k: 0),
    "claim-zero-epsilon-theta claim-zero-epsilon-theta@non-strict": (
        lambda w, t, k: w.theta, lambda w, t, k: 1),
    "claim-zero-epsilon-rho claim-zero-epsilon-rho@non-strict": (
        lambda w, t, k: w.rho_bias, lambda w, t, k: 0),
    "claim-recovers-li2020": (
        lambda w, t, k: theorem_1(w), lambda w, t, k: older(w, li_noise_on_priority(w))),
    "claim-recovers-li2020@later": (
        lambda w, t, k: theorem_1(w), lambda w, t, k: later(w, li_noise_on_priority(w), w.iterations + 1, start(w))),
    "claim-rate": (
        lambda w, t, k: suboptimality(w) - w.rho_bias, lambda w, t, k: w.C * w.theta / w.iterations),
    "claim-rate@constants-of-theorem-1": (
        lambda w, t, k: suboptimality(w) - w.rho_bias,
        lambda w, t, k: (c_1(w) + 12 * w.L**2 / w.mu**2 * w.Gamma) * w.theta / (w.iterations + w.step_offset)),
    "claim-decay-epsilon": (lambda w, t, k: w.rho_bias, lambda w, t, k: w.C / w.iterations),
    "derived-theorem-1": (lambda w, t, k: suboptimality(w), lambda w, t, k: corrected(w)),
    "derived-theorem-A9": (
        lambda w, t, k: suboptimality(w), lambda w, t, k: corrected(w, 4 * per_round(w))),
    "derived-initial-term": (
        lambda w, t, k: suboptimality(w), lambda w, t, k: corrected(w, initial=4 * w.L**2 / w.mu)),
    "derived-sharp": (
        lambda w, t, k: suboptimality(w), lambda w, t, k: sharp(w, lambda i: w.noise_term[i])),
    "derived-sharp-refined": (
        lambda w, t, k: suboptimality(w),
        lambda w, t, k: refined(w, lambda i: 8 * (i - tau(w, i)) ** 2 * w.G_sq, lambda i: averaged_variance(w, i))),
    "derived-sharp-refined@variance-only": (
        lambda w, t, k: suboptimality(w),
        lambda w, t, k: refined(
            w, lambda i: 8 * (w.local_steps - 1) ** 2 * w.G_sq, lambda i: averaged_variance(w, i))),
    "derived-sharp-refined@drift-only": (
        lambda w, t, k: suboptimality(w),
        lambda w, t, k: refined(w, lambda i: 8 * (i - tau(w, i)) ** 2 * w.G_sq, lambda i: w.sigma_sq)),
    "derived-sampling-variance": (
        lambda w, t, k: sampling_error(w, t, "sampling"),
        lambda w, t, k: spread_on_priority(w, t) / (w.participants * (1 + w.free_mass[t - 1]) ** 2)),
    "derived-sampling-variance@without-replacement": (
        lambda w, t, k: sampling_error(w, t, "sampling"),
        lambda w, t, k: spread_on_priority(w, t) / (w.participants * (1 + w.free_mass[t - 1]) ** 2)
        * (w.priority_clients - w.participants) / (w.priority_clients - 1)),
    "derived-static-bias": (
        lambda w, t, k: w.objective(w.x_mixture) - w.F_star,
        lambda w, t, k: Min((1 + w.free_mass[t]) * w.psi[t], w.L / w.mu * w.psi[t])),
    "derived-stop-inclusion": (
        lambda w, t, k: w.rho_bias,
        lambda w, t, k: 2 * w.L / w.mu * (w.rounds_open * w.local_steps) / (w.iterations + w.step_offset - 2)
        * w.Gamma_max),
    "derived-ball": (lambda w, t, k: sq(w.x_local[t][k] - w.x_star), lambda w, t, k: w.ball_radius**2),
    "derived-ball@gradients": (lambda w, t, k: sq(w.g[t][k]), lambda w, t, k: w.G_sq),
    "derived-initial-term@slack": (
        lambda w, t, k: w.L * (w.step_offset - 1) * (w.step_offset - 2) * w.D0_sq / 2
        / ((w.iterations + w.step_offset - 1) * (w.iterations + w.step_offset - 2)),
        lambda w, t, k: 16 * w.L / w.mu**2 * (w.local_steps - 1) ** 2 * (w.step_offset - 3) * w.G_sq
        / ((w.iterations + w.step_offset - 1) * (w.iterations + w.step_offset - 2))),
    "derived-inclusion-rule": (
        lambda w, t, k: cost_of(w, threshold_sums(w)[0]), lambda w, t, k: cost_of(w, threshold_sums(w)[1])),
    "derived-inclusion-rule@prefix": (
        lambda w, t, k: Max(
            both_in_minus(w, w.mass, w.bias),
            both_in_minus(w, w.mass + w.p_in + w.p_out, w.bias + w.p_in * w.gap_in + w.p_out * w.gap_out)),
        lambda w, t, k: 0),
    "derived-inclusion-rule@printed-bound": (
        lambda w, t, k: printed_cost(w, True) - printed_cost(w, False),
        lambda w, t, k: (w.iterations - 1) / (w.iterations + w.step_offset - 2) * w.p_in / (1 + w.p_in)
        * 2 * w.L / w.mu * (w.gap_in - 6 * w.L * w.Gamma / (w.mu * (w.iterations + w.step_offset)))),
}
