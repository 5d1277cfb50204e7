"""Synth(alpha, beta) of Li et al. 2018, and FedALIGN's free clients with noisy and irrelevant data."""

import numpy as np

from synthetic.base.checks import number, one_of, whole
from synthetic.data.federation import DataFederation
from synthetic.data.from_arrays import from_arrays
from synthetic.data.held_out import held_out_rows
from synthetic.numbers.arrays import TORCH, Backend

__all__ = ["CLASSES", "INPUTS", "noisy_copies", "synth", "synth_data", "synth_noisy"]

INPUTS, CLASSES = 60, 10
_SCALES = np.arange(1, INPUTS + 1) ** -0.6  # square roots of the covariance's diagonal j^-1.2


def synth_data(clients: int = 10, alpha: float = 1.0, beta: float = 1.0, *, sizes="lognormal",
               largest: int | None = None, convention: str = "variance", seed: int = 0):
    """Samples X (rows, 60), labels y (rows,) and client (rows,) of Synth(alpha, beta).

    Device k: u_k ~ N(0, alpha), B_k ~ N(0, beta); W_k (10, 60) and b_k (10,) with entries N(u_k, 1); v_k (60,) with
    entries N(B_k, 1); x ~ N(v_k, diag(j^-1.2)); y = argmax of W_k x + b_k.

    u_k adds one number to all ten scores of a sample, so alpha does not change the labels; the recipe is kept as it is.

    Args:
        sizes: ``lognormal``, floor(lognormal(4, 2)) + 50 as in the public generator; or numbers, one or one per client.
        largest: cap on the lognormal sizes (they are heavy-tailed); None for none.
        convention: ``variance``, alpha and beta are variances; ``standard-deviation``, as the public generator has it.
        seed: device k depends on (seed, k) only.

    Raises:
        ValueError: negative alpha or beta, sizes below 1.
    """
    clients, seed = whole("clients", clients), whole("seed", seed, low=0)
    one_of("convention", convention, ("variance", "standard-deviation"))
    alpha, beta = number("alpha", alpha), number("beta", beta)
    spread_u, spread_b = (alpha, beta) if convention == "standard-deviation" else (alpha**0.5, beta**0.5)
    parts = []
    for k, size in enumerate(_sizes(sizes, clients, largest, seed)):
        generator = np.random.default_rng([seed, 1, k])
        u, shift = spread_u * generator.standard_normal(), spread_b * generator.standard_normal()
        matrix, intercept = u + generator.standard_normal((CLASSES, INPUTS)), u + generator.standard_normal(CLASSES)
        x = _inputs(generator, shift, size)
        parts.append((x, np.argmax(x @ matrix.T + intercept, axis=1), np.full(size, k)))
    return tuple(np.concatenate(columns) for columns in zip(*parts, strict=True))


def synth(clients: int = 10, alpha: float = 1.0, beta: float = 1.0, *, sizes="lognormal", largest: int | None = None,
          convention: str = "variance", ridge: float = 1e-2, seed: int = 0, **options) -> DataFederation:
    """Softmax regression with intercept (dim 610) on Synth(alpha, beta); see :func:`synth_data`.

    ``options`` go to :func:`synthetic.from_arrays` (``batch_size``, ``priority``, ``weights``, ``backend``, ...).
    """
    X, y, client = synth_data(clients, alpha, beta, sizes=sizes, largest=largest, convention=convention, seed=seed)
    options.setdefault("name", f"Synth({alpha:g},{beta:g}), {clients} clients")
    options.setdefault("intercept", True)
    return from_arrays(X, y, client, task="softmax", classes=CLASSES, ridge=ridge, seed=seed, **options)


def noisy_copies(X, y, free_clients: int = 10, *, label_noise_factor: float = 2.5, label_noise_skew: float = 1.5,
                 random_data_factor: float = 1.0, random_data_skew: float = 1.5, label_noise: str = "flip",
                 levels: str = "grid", exponent: str = "1/skew", irrelevant: str = "appended", beta: float = 1.0,
                 seed: int = 0):
    """Free clients of FedALIGN's synthetic experiment: parts of the priority data with noise of growing strength.

    The paper leaves the recipe open; the arguments are its possible readings, the defaults the one adopted here. The pooled
    priority data are dealt evenly at random over the M = ``free_clients`` free clients. Free client j (from 1 to M) has the
    levels ``factor * u_j ** (1/skew)``, one for labels, one for irrelevant data.

    Args:
        X, y: pooled priority data, (rows, 60) and (rows,).
        label_noise_factor, random_data_factor: largest levels; the paper's are 2.5 and 1.
        label_noise_skew, random_data_skew: 0.5, 1.5, 5 are the paper's low, medium and high noise.
        label_noise: ``flip``, a label becomes uniform over the classes with probability min(1, level); ``additive``,
            it becomes clip(round(label + N(0, level^2)), 0, 9).
        levels: ``grid``, u_j = j / M; ``uniform``, u_j drawn uniformly, for labels and irrelevant data separately.
        exponent: ``1/skew``, more clients near the largest level for larger skew; ``skew``, the reverse.
        irrelevant: ``appended``, round(level * n_j) points are added; ``substituted``, they replace as many (level at
            most 1). Points are x ~ N(v, diag(j^-1.2)) with a fresh v per client, labels uniform.
        beta: variance of the mean of v's entries, as in :func:`synth_data`.

    Returns:
        X, y and client (numbers from 0) of the free clients.

    Raises:
        ValueError: more free clients than rows, levels out of range, unknown words.
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    clients = whole("free_clients", free_clients, 1, len(y))
    one_of("label_noise", label_noise, ("flip", "additive"))
    one_of("irrelevant", irrelevant, ("appended", "substituted"))
    start = np.random.default_rng([whole("seed", seed, low=0), 2])
    part = start.permutation(np.arange(len(y)) % clients)
    label_levels = _levels(levels, exponent, label_noise_factor, label_noise_skew, clients, start)
    data_levels = _levels(levels, exponent, random_data_factor, random_data_skew, clients, start)
    if irrelevant == "substituted" and data_levels.max() > 1:
        raise ValueError(f"random_data_factor must be at most 1 where points are substituted; got {random_data_factor}")
    parts = []
    for j in range(clients):
        generator = np.random.default_rng([seed, 3, j])
        rows = generator.permutation(np.flatnonzero(part == j))
        x, labels = X[rows], _noisy_labels(y[rows], label_levels[j], label_noise, generator)
        count = round(float(data_levels[j]) * len(labels))
        fresh = _inputs(generator, beta**0.5 * generator.standard_normal(), count)
        kept = len(labels) - count if irrelevant == "substituted" else len(labels)
        x = np.concatenate([x[:kept], fresh])
        labels = np.concatenate([labels[:kept], generator.integers(CLASSES, size=count)])
        parts.append((x, labels, np.full(len(labels), j)))
    return tuple(np.concatenate(columns) for columns in zip(*parts, strict=True))


def synth_noisy(priority_clients: int = 10, free_clients: int = 10, alpha: float = 1.0, beta: float = 1.0, *,
                skew: float = 1.5, sizes="lognormal", largest: int | None = None, convention: str = "variance",
                ridge: float = 1e-2, intercept: bool = True, batch_size: int | None = None, held_out=None, seed: int = 0,
                backend: Backend = TORCH, **readings) -> DataFederation:
    """FedALIGN's Figure 2: priority clients from Synth(alpha, beta), free clients from :func:`noisy_copies`.

    ``skew`` sets both skew factors; ``held_out`` is as in :func:`synthetic.from_arrays`, of the priority clients' samples;
    the free clients' copies are made of the others. ``readings`` are further arguments of :func:`noisy_copies`.
    """
    X, y, client = synth_data(priority_clients, alpha, beta, sizes=sizes, largest=largest, convention=convention, seed=seed)
    variance = beta**2 if convention == "standard-deviation" else beta
    readings = {"label_noise_skew": skew, "random_data_skew": skew, "beta": variance} | readings
    out = held_out_rows(held_out, client, y, seed=seed)
    X_free, y_free, free = noisy_copies(X[~out], y[~out], free_clients, seed=seed, **readings)
    return from_arrays(
        np.concatenate([X, X_free]), np.concatenate([y, y_free]), np.concatenate([client, priority_clients + free]),
        task="softmax", classes=CLASSES, ridge=ridge, batch_size=batch_size, priority=priority_clients,
        intercept=intercept, name=f"Synth({alpha:g},{beta:g}), {priority_clients} clients + {free_clients} noisy",
        held_out=np.append(out, np.zeros(len(free), dtype=bool)) if out.any() else None, backend=backend,
    )


def _inputs(generator, shift: float, size: int) -> np.ndarray:
    mean = shift + generator.standard_normal(INPUTS)
    return mean + _SCALES * generator.standard_normal((size, INPUTS))


def _sizes(sizes, clients: int, largest: int | None, seed: int) -> list[int]:
    if isinstance(sizes, str):
        one_of("sizes", sizes, ("lognormal",))
        drawn = [int(np.random.default_rng([seed, 0, k]).lognormal(4, 2)) + 50 for k in range(clients)]
        return drawn if largest is None else [min(size, whole("largest", largest)) for size in drawn]
    given = np.broadcast_to(sizes, (clients,)) if np.ndim(sizes) == 0 else np.asarray(sizes)
    if given.shape != (clients,):
        raise ValueError(f"sizes must be one number or one per client ({clients}); got shape {given.shape}")
    return [whole("sizes", size) for size in given.tolist()]


def _levels(levels: str, exponent: str, factor: float, skew: float, clients: int, generator) -> np.ndarray:
    one_of("levels", levels, ("grid", "uniform"))
    one_of("exponent", exponent, ("1/skew", "skew"))
    skew = number("skew", skew, strict=True)
    u = np.arange(1, clients + 1) / clients if levels == "grid" else generator.random(clients)
    return number("factor", factor) * u ** (1 / skew if exponent == "1/skew" else skew)


def _noisy_labels(labels, level: float, kind: str, generator) -> np.ndarray:
    if kind == "flip":
        flipped = generator.random(len(labels)) < level
        return np.where(flipped, generator.integers(CLASSES, size=len(labels)), labels)
    moved = np.round(labels + level * generator.standard_normal(len(labels)))
    return np.clip(moved, 0, CLASSES - 1).astype(labels.dtype)
