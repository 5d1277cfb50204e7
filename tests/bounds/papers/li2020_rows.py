"""The theorems and lemmas of Li et al. in plain Python, written from the paper."""

from tests.bounds.arithmetic import ALL, sides_of, values, world
from tests.bounds.claim_values import sq
from tests.bounds.papers.fedalign_rows import MEANINGS, TIMES
from tests.bounds.papers.fedalign_theorem_rows import (
    compact,
    consistent,
    drift_bound,
    expanded,
    later,
    li_spread,
    noise_of_average,
    older,
    sampling_error,
    start,
    suboptimality,
)

__all__ = ["MEANINGS", "ROWS", "TIMES", "WITHOUT_LETTER", "sides", "values", "world"]

WITHOUT_LETTER = {"C"}
#: ids that state the same -> both sides as functions of (world, t, k)
ROWS = {
    "theorem-1": (lambda w, t, k: suboptimality(w), lambda w, t, k: older(w, w.base_noise)),
    "theorem-1@expanded": (lambda w, t, k: compact(w), lambda w, t, k: expanded(w)),
    "theorem-1-later": (
        lambda w, t, k: suboptimality(w), lambda w, t, k: later(w, w.base_noise, w.iterations + 1, start(w))),
    "theorem-1-later@start-at-0": (
        lambda w, t, k: suboptimality(w), lambda w, t, k: later(w, w.base_noise, w.iterations, w.D_sq[1])),
    "theorem-1-self-consistent": (
        lambda w, t, k: suboptimality(w), lambda w, t, k: consistent(w, w.base_noise)),
    "theorem-1-self-consistent@second-inequality": (
        lambda w, t, k: consistent(w, w.base_noise),
        lambda w, t, k: later(w, w.base_noise, w.iterations + 1, start(w))),
    **{
        f"theorem-{n}{reading}": (lambda w, t, k: suboptimality(w), right)
        for n, extra in ((2, "scheme_1_noise"), (3, "scheme_2_noise"))
        for reading, right in (
            ("", lambda w, t, k, c=extra: older(w, w.base_noise + getattr(w, c))),
            ("@later", lambda w, t, k, c=extra: later(
                w, w.base_noise + getattr(w, c), w.iterations + 1, start(w))),
            ("@self-consistent", lambda w, t, k, c=extra: consistent(w, w.base_noise + getattr(w, c))),
        )
    },
    "theorem-4": (
        lambda w, t, k: float(sq(w.x_sampled[w.iterations] - w.x_star)) ** 0.5,
        lambda w, t, k: w.C * (w.local_steps - 1) * w.eta_l[0]),
    "lemma-1": (
        lambda w, t, k: sq(w.x[t + 1] - w.x_star),
        lambda w, t, k: (1 - w.eta_l[t] * w.mu) * sq(w.x_sampled[t] - w.x_star)
        + w.eta_l[t] ** 2 * noise_of_average(w, t) + 6 * w.L * w.eta_l[t] ** 2 * w.Gamma + 2 * li_spread(w, t)),
    "lemma-2": (
        lambda w, t, k: noise_of_average(w, t),
        lambda w, t, k: sum(w.client_weight[m] ** 2 * w.sigma_sq_client[m] for m in ALL)),
    "lemma-3": (lambda w, t, k: li_spread(w, t), lambda w, t, k: drift_bound(w, t)),
    "lemma-4 lemma-4@scheme-2": (lambda w, t, k: sampling_error(w, t), lambda w, t, k: 0),
    "lemma-5-scheme-1": (
        lambda w, t, k: sampling_error(w, t + 1), lambda w, t, k: w.scheme_1_noise * w.eta_l[t] ** 2),
    "lemma-5-scheme-2": (
        lambda w, t, k: sampling_error(w, t + 1), lambda w, t, k: w.scheme_2_noise * w.eta_l[t] ** 2),
}
sides = sides_of(ROWS)
