"""Slow references: methods that send less. What is left to chance is given."""

import numpy as np

from tests.fedtheory.references.common import START, Given, average, mean, moved, norm, now

__all__ = [
    "feddropoutavg", "fedlama", "fedluar", "fedluar_acg", "fedluar_adam", "fedluar_mut", "fedluar_paq", "fedmut", "fedpaq",
    "lbgm", "luar_probabilities", "prunefl", "quantise", "rarely",
]


def _ends(given, eta_l, t, S, starts, pull=0, center=None):
    """Every participant's model after its local steps from its start."""
    ends = {}
    for i in S:
        x = starts[i]
        for k in range(given.local_steps):
            x = x - now(eta_l, t) * (given.grad(i, x, t, k) + (pull * (x - center) if center is not None else 0))
        ends[i] = x
    return ends


def _total(given, t):
    """The sum of the weights of the sampled clients."""
    return sum(given.weights[t].values())


def _updates(given, eta_l, t, S, x):
    """Delta_i of every participant."""
    return {i: end - x for i, end in _ends(given, eta_l, t, S, {i: x for i in S}).items()}


# recycled layers -----------------------------------------------------------------------------------------------------------
class _Luar:
    """fedluar 3.1: what the server applies of fresh updates, round after round."""

    def __init__(self, given, layers, recycle, mode="recycle", score="keep", by_norm=False, floor=0.0, R0=(), first=0):
        self.layers, self.recycle, self.mode, self.score = layers, recycle, mode, score
        self.by_norm, self.floor, self.R, self.applied = by_norm, floor, set(R0), first + 0 * given.x
        self.scores, self.history, self.sets = [floor] * len(layers), [], []

    def apply(self, fresh, x, t, factor=1):
        """The applied update of round t, from the mean update and the model at which local steps began."""
        fresh = fresh + 0 * x  # a vector, even where nobody takes part
        previous, self.applied = self.applied, fresh.copy()
        for l, layer in enumerate(self.layers):
            if l in self.R:
                self.applied[layer] = factor * previous[layer] if self.mode == "recycle" else 0 * x[layer]
        if self.score is not None:
            for l, layer in enumerate(self.layers):
                if l not in self.R or self.score != "keep":
                    source = fresh if self.score == "oracle" else self.applied
                    size = 1 if self.by_norm else norm(x[layer])
                    self.scores[l] = max(norm(source[layer]) / size, self.floor) if size > 0 else np.inf
        self.history.append(list(self.scores))
        self.sets.append(set(self.R))
        self.R = set(self.recycle(t + 1, self.scores))
        return self.applied


def fedluar(given: Given, eta_l, layers, recycle, mu=0, rescaled=False, **options):
    """fedluar 3.1, 3.2; ``mu`` for FedProx.

    ``layers``: slices. ``recycle(t, scores)``: the set R_t, from the scores of round t - 1. ``options``: ``mode`` recycle or
    drop; ``score`` of a recycled layer: keep, recompute or oracle, None for no scores; ``by_norm``: scores not divided by
    the model's norm; ``R0`` and the update ``first`` that it recycles. ``rescaled``: recycled blocks follow the step size.
    """
    x, luar = given.x, _Luar(given, layers, recycle, **options)
    path = [x]
    for t, S in enumerate(given.active):
        ends = _ends(given, eta_l, t, S, {i: x for i in S}, mu, x)
        fresh = mean(given, t, {i: ends[i] - x for i in S})
        factor = now(eta_l, t) / now(eta_l, t - 1) if rescaled and t else 1
        x = moved(given, t, x, luar.apply(fresh, x, t, factor))
        path.append(x)
    return path, luar


def fedluar_acg(given: Given, eta_l, layers, recycle, lam, beta, **options):
    """fedluar 3.4, +FedACG; scores divide by the norms of z."""
    x, M, luar = given.x, 0 * given.x, _Luar(given, layers, recycle, **options)
    path = [x]
    for t, S in enumerate(given.active):
        z = x + lam * M
        ends = _ends(given, eta_l, t, S, {i: z for i in S}, beta, z)
        fresh = mean(given, t, {i: ends[i] - z for i in S})
        M = lam * M + moved(given, t, z, luar.apply(fresh, z, t)) - z
        x = x + M
        path.append(x)
    return path, luar


def fedluar_mut(given: Given, eta_l, layers, recycle, alpha, signs, relative="start", **options):
    """fedluar 3.4, +FedMut; ``relative``: updates are taken from the mutated start or from x_t (broadcast)."""
    x, g, luar = given.x, 0 * given.x, _Luar(given, layers, recycle, **options)
    path = [x]
    for t, S in enumerate(given.active):
        starts = {i: x + alpha * signs(i, t) * g for i in S}
        ends = _ends(given, eta_l, t, S, starts)
        changes = {i: ends[i] - (starts[i] if relative == "start" else x) for i in S}
        new = moved(given, t, x, luar.apply(mean(given, t, changes), x, t))
        x, g = new, new - x
        path.append(x)
    return path, luar


def fedluar_paq(given: Given, eta_l, layers, recycle, s, uniform, **options):
    """fedluar 3.4, +FedPAQ, layer by layer."""
    x, luar = given.x, _Luar(given, layers, recycle, **options)
    path = [x]
    for t, S in enumerate(given.active):
        sent = {i: change.copy() for i, change in _updates(given, eta_l, t, S, x).items()}
        for i, change in sent.items():
            u = uniform(i, t)
            for layer in layers:
                change[layer] = quantise(change[layer], s, u[layer])
        x = moved(given, t, x, luar.apply(mean(given, t, sent), x, t))
        path.append(x)
    return path, luar


def fedluar_adam(given: Given, eta_l, layers, recycle, eta_s, beta1, beta2, tau, recycled="pre", **options):
    """fedluar 3.4, +FedOpt with Adam. ``recycled``: the average before the optimiser (pre), or its step (post), while what
    the optimiser keeps of a recycled layer rests."""
    x, luar = given.x, _Luar(given, layers, recycle, **options)
    m, v, path = 0 * x, tau**2 + 0 * x, [x]
    for t, S in enumerate(given.active):
        change = mean(given, t, _updates(given, eta_l, t, S, x))
        if recycled == "pre":
            change = luar.apply(change, x, t)
        change = moved(given, t, x, change) - x
        m_new, v_new = beta1 * m + (1 - beta1) * change, beta2 * v + (1 - beta2) * change**2
        step = eta_s * m_new / (np.sqrt(v_new) + tau)
        if recycled == "post":
            for l in luar.R:
                m_new[layers[l]], v_new[layers[l]] = m[layers[l]], v[layers[l]]
            step = luar.apply(step, x, t)
        m, v, x = m_new, v_new, x + step
        path.append(x)
    return path, luar


def luar_probabilities(scores):
    """(2): p_l is proportional to 1/s_l."""
    inverse = [1 / s for s in scores]
    return [w / sum(inverse) for w in inverse]


# fewer floats --------------------------------------------------------------------------------------------------------------
def quantise(v, s, uniform):
    """fedluar 8, QSGD: B_j is one where the uniform number lies below the fractional part."""
    size = norm(v)
    if size == 0:
        return v
    position = s * np.abs(v) / size
    whole = np.floor(position)
    return size * np.sign(v) * (whole + (uniform < position - whole)) / s


def fedpaq(given: Given, eta_l, s, uniform, layers, eta_g=1):
    """fedluar 8. ``uniform(i, t)`` gives (d,) uniform numbers; each of the ``layers`` is quantised by itself."""
    x, path = given.x, [given.x]
    for t, S in enumerate(given.active):
        sent = {}
        for i, change in _updates(given, eta_l, t, S, x).items():
            u = uniform(i, t)
            sent[i] = x + np.concatenate([quantise(change[layer], s, u[layer]) for layer in layers])
        x = x + eta_g * (average(given, t, x, sent) - x)
        path.append(x)
    return path


def lbgm(given: Given, eta_l, theta, eta_g=1):
    """fedluar 8: a scalar is sent where the change is nearly parallel to the last one sent in full."""
    x, look_back, path = given.x, {}, [given.x]
    for t, S in enumerate(given.active):
        received = {}
        for i, g in _updates(given, eta_l, t, S, x).items():
            lb = look_back.get(i, 0 * g)
            inner, gg, ll = np.sum(g * lb), np.sum(g * g), np.sum(lb * lb)
            if ll != 0 and gg * ll - inner * inner <= theta * gg * ll:
                received[i] = x + inner / ll * lb
            else:
                look_back[i] = g
                received[i] = x + g
        x = x + eta_g * (average(given, t, x, received) - x)
        path.append(x)
    return path


def feddropoutavg(given: Given, eta_l, kept, eta_g=1):
    """fedluar 8. ``kept(i, t)``: truth values (d,), which parameters client i sends; one that nobody sends stays."""
    x, path = given.x, [given.x]
    for t, S in enumerate(given.active):
        changes, masks, d = _updates(given, eta_l, t, S, x), {i: kept(i, t) for i in S}, 0 * x
        w, total = given.weights[t], _total(given, t)
        for j in range(len(x)):
            senders = [i for i in S if masks[i][j]]
            arrived = sum(w[i] * changes[i][j] for i in senders) / sum(w[i] for i in senders) if senders else 0
            d[j] = total * arrived
        x = x + eta_g * (moved(given, t, x, d) - x)
        path.append(x)
    return path


def prunefl(given: Given, eta_l, count, period, times, client=0, initial_steps=1):
    """fedluar 8: ``count`` parameters are kept, those of the largest g_j^2/t_j.

    First client ``client`` alone decides, on its gradients along ``initial_steps`` steps from the start; later, every
    ``period`` rounds, the mean over the participants of what they summed up since they last sent their sums.
    """
    def largest(importance):
        return set(sorted(range(len(x)), key=lambda j: -importance[j] / times[j])[:count])

    def only(kept, v):
        return np.array([value if j in kept else 0 * value for j, value in enumerate(v)], dtype=v.dtype)

    x, y, total = given.x, given.x, 0 * given.x
    for k in range(initial_steps):
        g = given.grad(client, y, START, k)
        total, y = total + g * g, y - now(eta_l, 0) * g
    kept, sums, path = largest(total), {i: 0 * x for i in range(given.clients)}, [x]
    for t, S in enumerate(given.active):
        ends = {}
        for i in S:
            y = only(kept, x)
            for k in range(given.local_steps):
                g = given.grad(i, y, t, k)
                sums[i] = sums[i] + g * g
                y = y - now(eta_l, t) * only(kept, g)
            ends[i] = y
        x = only(kept, average(given, t, x, ends))
        if (t + 1) % period == 0:
            kept = largest(mean(given, t, sums)) if S else kept
            x = only(kept, x)
            sums |= {i: 0 * x for i in S}
        path.append(x)
    return path


# averages of their own kind ------------------------------------------------------------------------------------------------
def rarely(discrepancy, sizes):
    """The layers that FedLAMA averages rarely: those of small discrepancy, up to where the curves cross."""
    order, chosen = sorted(range(len(sizes)), key=lambda l: discrepancy[l]), set()
    total, below, passed = sum(d * n for d, n in zip(discrepancy, sizes, strict=True)), 0, 0
    for l in order:
        below, passed = below + discrepancy[l] * sizes[l], passed + sizes[l]
        if below * sum(sizes) < (sum(sizes) - passed) * total:
            chosen.add(l)
    return chosen


def fedlama(given: Given, eta_l, layers, period):
    """fedluar 8; the path has every layer's last average."""
    x, seldom, own, path = given.x, set(), {}, [given.x]
    sizes = [len(x[layer]) for layer in layers]
    for t, S in enumerate(given.active):
        last = (t + 1) % period == 0
        starts = {i: own.get(i, x) for i in S} if t % period else {i: x for i in S}
        ends, new = _ends(given, eta_l, t, S, starts), moved(given, t, x, 0 * x)
        own = {i: ends[i].copy() for i in S}
        for l, layer in enumerate(layers):
            if last or l not in seldom:
                new[layer] = average(given, t, x[layer], {i: ends[i][layer] for i in S})
                for i in S:
                    own[i][layer] = new[layer]
        before, x = x, new
        if last:
            steps = [given.local_steps * (period if l in seldom else 1) for l in range(len(layers))]
            shift = mean(given, t, {i: ends[i] - before for i in S})
            spread = [mean(given, t, {i: np.sum((ends[i] - before - shift)[layer] ** 2) for i in S}) for layer in layers]
            seldom = rarely([d / (n * k) for d, n, k in zip(spread, sizes, steps, strict=True)], sizes)
        path.append(x)
    return path


def fedmut(given: Given, eta_l, alpha, signs, eta_g=1):
    """fedluar 8. ``signs(i, t)``: (d,) numbers, plus or minus one for each layer, or zero."""
    x, g, path = given.x, 0 * given.x, [given.x]
    for t, S in enumerate(given.active):
        ends = _ends(given, eta_l, t, S, {i: x + alpha * signs(i, t) * g for i in S})
        new = x + eta_g * (average(given, t, x, ends) - x)
        x, g = new, new - x
        path.append(x)
    return path
