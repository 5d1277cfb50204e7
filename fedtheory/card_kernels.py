"""The kernels of :mod:`fedtheory.card_steps`, in Triton: all local steps of a round without leaving the chip.

They compile when they are first called; where TRITON_INTERPRET=1 is set when Triton is imported, they are interpreted on the
processor. The arguments of all of them are the same.

* ``X`` and ``OUT``: the models before and after, of ``runs`` and ``participants``. ``X``, ``SHIFTS`` (like it), ``ANCHOR``
  (the runs' broadcast models) and ``CHOSEN`` (the participants' client numbers) have strides; coordinates are side by side.
* ``A``: features (instances, clients, N, D), or curvatures (.., D, D) or (.., D). ``Y``: targets (.., N) or centres (.., D).
  ``SHARE``: the samples' shares (.., N). ``own``: the number of clients if every run has data of its own, else 0.
* ``ETA`` and ``PULLS``: (runs | 1, STEPS). ``NUMBERS``: the ridge, twice alpha, 1 / width and scale / width of the loss.
  They are arrays because Triton takes Python's floats in single precision.
* ``BR``, ``BN``, ``BD``: runs, samples and coordinates at a time, powers of two. What is more than there are is zero: the
  coordinates of models and data, and the shares of samples.
"""

import triton
import triton.language as tl

__all__ = ["INTERPRETED", "alone_kernel", "diagonal_kernel", "rows_kernel"]


@triton.jit
def _slopes(scores, y, share, into, out, LOSS: tl.constexpr):
    """Shares times the derivative of the loss at the scores."""
    u = (scores - y) * into
    if LOSS == "logistic":  # of labels y
        s = -y / (1 + tl.exp(y * scores))
    elif LOSS == "square":
        s = u
    elif LOSS == "log-cosh":
        s = 1 - 2 / (1 + tl.exp(2 * u))
    elif LOSS == "pseudo-huber":
        s = u / tl.sqrt(1 + u * u)
    elif LOSS == "huber":
        s = tl.where(u < -1, u * 0 - 1, tl.where(u > 1, u * 0 + 1, u))
    elif LOSS == "softplus":
        s = 1 / (1 + tl.exp(-u))
    elif LOSS == "sigmoid":
        s = 1 / ((1 + tl.exp(-u)) * (1 + tl.exp(u)))
    elif LOSS == "geman-mcclure":
        s = u / ((1 + u * u) * (1 + u * u))
    elif LOSS == "tanh-squared":
        t = 1 - 2 / (1 + tl.exp(2 * u))
        s = t * (1 - t * t)
    elif LOSS == "welsch":
        s = u * tl.exp(-u * u / 2)
    elif LOSS == "cauchy":
        s = u / (1 + u * u)
    elif LOSS == "cosine":
        s = -tl.sin(u)
    else:
        tl.static_assert(LOSS == "linear")
        s = 1 + 0 * u
    return share * (out * s)


@triton.jit
def _stepped(x, slope, shift, anchor, eta, pull, ridge, alpha,
             RIDGE: tl.constexpr, ALPHA: tl.constexpr, SHIFT: tl.constexpr, PULL: tl.constexpr):
    """The models after one step."""
    if RIDGE:
        slope += ridge * x
    if ALPHA:
        slope += alpha * x / ((1 + x * x) * (1 + x * x))
    if SHIFT:
        slope += shift
    if PULL:
        slope += pull * (x - anchor)
    return x - eta * slope


@triton.jit
def _samples(A, Y, SHARE, at, n, d, N: tl.constexpr, D: tl.constexpr, DATA: tl.constexpr):
    """Rows ``n`` of a client's matrix, with the targets and shares of data."""
    a = tl.load(A + at * N * D + n[:, None] * D + d[None, :], mask=(n[:, None] < N) & (d[None, :] < D), other=0.0)
    y, share = a, a
    if DATA:
        y = tl.load(Y + at * N + n, mask=n < N, other=0.0)
        share = tl.load(SHARE + at * N + n, mask=n < N, other=0.0)
    return a, y, share


@triton.jit
def _product(left, right, PRECISION: tl.constexpr):
    return tl.dot(left, right, input_precision=PRECISION, out_dtype=left.dtype)


@triton.jit(do_not_specialize=["runs", "participants", "own"])
def rows_kernel(X, OUT, A, Y, SHARE, SHIFTS, ANCHOR, ETA, PULLS, CHOSEN, NUMBERS, runs, participants, own,
                x_run, x_part, shift_run, shift_part, anchor_run, eta_run, pull_run, chosen_run, chosen_part,
                STEPS: tl.constexpr, N: tl.constexpr, D: tl.constexpr, KIND: tl.constexpr, LOSS: tl.constexpr,
                RIDGE: tl.constexpr, ALPHA: tl.constexpr, SHIFT: tl.constexpr, PULL: tl.constexpr, PICKED: tl.constexpr,
                BR: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr, PRECISION: tl.constexpr):
    """A program takes ``BR`` runs of one participant, who is the same client with the same data in all of them."""
    tiles = (runs + BR - 1) // BR
    k = (tl.program_id(0) // tiles).to(tl.int64)
    rows = ((tl.program_id(0) % tiles) * BR + tl.arange(0, BR)).to(tl.int64)
    d, n, real = tl.arange(0, BD), tl.arange(0, BN), rows < runs
    inside = real[:, None] & (d[None, :] < D)
    at = k
    if PICKED:
        at = tl.load(CHOSEN + k * chosen_part)
    ridge, alpha, into, out = tl.load(NUMBERS), tl.load(NUMBERS + 1), tl.load(NUMBERS + 2), tl.load(NUMBERS + 3)
    x = tl.load(X + rows[:, None] * x_run + k * x_part + d[None, :], mask=inside, other=0.0)
    shift, anchor = x, x
    if SHIFT:
        shift = tl.load(SHIFTS + rows[:, None] * shift_run + k * shift_part + d[None, :], mask=inside, other=0.0)
    if PULL:
        anchor = tl.load(ANCHOR + rows[:, None] * anchor_run + d[None, :], mask=inside, other=0.0)
    if KIND == "dense":
        centre = tl.load(Y + at * D + d, mask=d < D, other=0.0)
        a, _, _ = _samples(A, Y, SHARE, at, n, d, D, D, False)
    elif N <= BN:  # the data stay on the chip
        a, y, share = _samples(A, Y, SHARE, at, n, d, N, D, True)
    for j in range(STEPS):
        eta = tl.load(ETA + rows * eta_run + j, mask=real, other=0.0)[:, None]
        pull = eta
        if PULL:
            pull = tl.load(PULLS + rows * pull_run + j, mask=real, other=0.0)[:, None]
        if KIND == "dense":
            slope = _product(x - centre[None, :], tl.trans(a), PRECISION)
        elif N <= BN:
            scores = _product(x, tl.trans(a), PRECISION)
            slope = _product(_slopes(scores, y[None, :], share[None, :], into, out, LOSS), a, PRECISION)
        else:
            slope = tl.zeros_like(x)
            for first in range(0, N, BN):
                part, targets, shares = _samples(A, Y, SHARE, at, first + n, d, N, D, True)
                scores = _product(x, tl.trans(part), PRECISION)
                slope += _product(_slopes(scores, targets[None, :], shares[None, :], into, out, LOSS), part, PRECISION)
        x = _stepped(x, slope, shift, anchor, eta, pull, ridge, alpha, RIDGE, ALPHA, SHIFT, PULL)
    tl.store(OUT + (rows[:, None] * participants + k) * D + d[None, :], x, mask=inside)


@triton.jit(do_not_specialize=["runs", "participants", "own"])
def alone_kernel(X, OUT, A, Y, SHARE, SHIFTS, ANCHOR, ETA, PULLS, CHOSEN, NUMBERS, runs, participants, own,
                 x_run, x_part, shift_run, shift_part, anchor_run, eta_run, pull_run, chosen_run, chosen_part,
                 STEPS: tl.constexpr, N: tl.constexpr, D: tl.constexpr, KIND: tl.constexpr, LOSS: tl.constexpr,
                 RIDGE: tl.constexpr, ALPHA: tl.constexpr, SHIFT: tl.constexpr, PULL: tl.constexpr, PICKED: tl.constexpr,
                 BR: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr, PRECISION: tl.constexpr):
    """A program takes one participant of one run, whose data may be nobody else's; sums instead of matrix products."""
    run, k = (tl.program_id(0) // participants).to(tl.int64), (tl.program_id(0) % participants).to(tl.int64)
    d, n = tl.arange(0, BD), tl.arange(0, BN)
    inside = d < D
    at = k
    if PICKED:
        at = tl.load(CHOSEN + run * chosen_run + k * chosen_part)
    at += run * own
    ridge, alpha, into, out = tl.load(NUMBERS), tl.load(NUMBERS + 1), tl.load(NUMBERS + 2), tl.load(NUMBERS + 3)
    x = tl.load(X + run * x_run + k * x_part + d, mask=inside, other=0.0)
    shift, anchor = x, x
    if SHIFT:
        shift = tl.load(SHIFTS + run * shift_run + k * shift_part + d, mask=inside, other=0.0)
    if PULL:
        anchor = tl.load(ANCHOR + run * anchor_run + d, mask=inside, other=0.0)
    if KIND == "dense":
        centre = tl.load(Y + at * D + d, mask=inside, other=0.0)
        a, _, _ = _samples(A, Y, SHARE, at, n, d, D, D, False)
    elif N <= BN:  # the data stay in registers
        a, y, share = _samples(A, Y, SHARE, at, n, d, N, D, True)
    for j in range(STEPS):
        eta = tl.load(ETA + run * eta_run + j)
        pull = eta
        if PULL:
            pull = tl.load(PULLS + run * pull_run + j)
        if KIND == "dense":
            slope = tl.sum(a * (x - centre)[None, :], axis=1)
        elif N <= BN:
            scores = tl.sum(a * x[None, :], axis=1)
            slope = tl.sum(a * _slopes(scores, y, share, into, out, LOSS)[:, None], axis=0)
        else:
            slope = tl.zeros_like(x)
            for first in range(0, N, BN):
                part, targets, shares = _samples(A, Y, SHARE, at, first + n, d, N, D, True)
                scores = tl.sum(part * x[None, :], axis=1)
                slope += tl.sum(part * _slopes(scores, targets, shares, into, out, LOSS)[:, None], axis=0)
        x = _stepped(x, slope, shift, anchor, eta, pull, ridge, alpha, RIDGE, ALPHA, SHIFT, PULL)
    tl.store(OUT + (run * participants + k) * D + d, x, mask=inside)


@triton.jit(do_not_specialize=["runs", "participants", "own"])
def diagonal_kernel(X, OUT, A, Y, SHARE, SHIFTS, ANCHOR, ETA, PULLS, CHOSEN, NUMBERS, runs, participants, own,
                    x_run, x_part, shift_run, shift_part, anchor_run, eta_run, pull_run, chosen_run, chosen_part,
                    STEPS: tl.constexpr, N: tl.constexpr, D: tl.constexpr, KIND: tl.constexpr, LOSS: tl.constexpr,
                    RIDGE: tl.constexpr, ALPHA: tl.constexpr, SHIFT: tl.constexpr, PULL: tl.constexpr, PICKED: tl.constexpr,
                    BR: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr, PRECISION: tl.constexpr):
    """A program takes ``BD`` coordinates of ``BR`` participants of any runs: quadratics with diagonal curvature."""
    blocks = (D + BD - 1) // BD
    pair = (tl.program_id(0) // blocks).to(tl.int64) * BR + tl.arange(0, BR)
    d = (tl.program_id(0) % blocks) * BD + tl.arange(0, BD)
    run, k, real = pair // participants, pair % participants, pair < runs.to(tl.int64) * participants
    inside = real[:, None] & (d[None, :] < D)
    at = k
    if PICKED:
        at = tl.load(CHOSEN + run * chosen_run + k * chosen_part, mask=real, other=0)
    at += run * own
    x = tl.load(X + (run * x_run + k * x_part)[:, None] + d[None, :], mask=inside, other=0.0)
    a = tl.load(A + at[:, None] * D + d[None, :], mask=inside, other=0.0)
    centre = tl.load(Y + at[:, None] * D + d[None, :], mask=inside, other=0.0)
    shift, anchor = x, x
    if SHIFT:
        shift = tl.load(SHIFTS + (run * shift_run + k * shift_part)[:, None] + d[None, :], mask=inside, other=0.0)
    if PULL:
        anchor = tl.load(ANCHOR + (run * anchor_run)[:, None] + d[None, :], mask=inside, other=0.0)
    for j in range(STEPS):
        eta = tl.load(ETA + run * eta_run + j, mask=real, other=0.0)[:, None]
        pull = eta
        if PULL:
            pull = tl.load(PULLS + run * pull_run + j, mask=real, other=0.0)[:, None]
        x = _stepped(x, a * (x - centre), shift, anchor, eta, pull, pull, pull, False, False, SHIFT, PULL)
    tl.store(OUT + pair[:, None] * D + d[None, :], x, mask=inside)


#: whether the kernels run in Triton's interpreter, on the processor (the environment has TRITON_INTERPRET=1)
INTERPRETED = not isinstance(rows_kernel, triton.JITFunction)
