"""A federation from any user's arrays: samples, targets and the client each sample belongs to."""

import numpy as np

from synthetic.base.checks import finite, one_of, whole
from synthetic.base.priority import priority_mask
from synthetic.data.federation import DataFederation, pad
from synthetic.data.generalised_linear import GeneralisedLinear
from synthetic.data.held_out import held_out_rows
from synthetic.data.least_squares import LeastSquares
from synthetic.data.logistic import BinaryLogistic, SoftmaxLogistic
from synthetic.data.perceptron import Perceptron
from synthetic.numbers.arrays import TORCH, Backend, one_place

__all__ = ["TASKS", "from_arrays"]

TASKS = {
    "least-squares": LeastSquares, "binary": BinaryLogistic, "softmax": SoftmaxLogistic,
    "perceptron": Perceptron, "generalised-linear": GeneralisedLinear,
}

_NUMBERS = ("least-squares", "generalised-linear")  #: tasks whose targets are numbers, and that need no ridge


def from_arrays(
    X, y, client, *, task: str = "least-squares", ridge: float | None = None, batch_size: int | None = None, noise=None,
    priority=None, weights=None, intercept: bool = False, clients: int | None = None, classes: int | None = None,
    layers=None, name: str | None = None, held_out=None, seed: int = 0, backend: Backend | None = None,
    device: str | None = None, dtype: str | None = None, **model,
) -> DataFederation:
    """A federation on given data.

    Args:
        X: samples, (rows, features) real numbers.
        y: targets, (rows,): numbers for ``least-squares``, two classes for ``binary`` (the smaller in order is -1), two
            classes or more for ``softmax``.
        client: the client of each row, (rows,): numbers from 0 with none left out, or names.
        task: ``least-squares``, ``binary``, ``softmax``, ``perceptron`` (a network with hidden layers, softmax at its end),
            or ``generalised-linear`` (targets are numbers).
        ridge: default 0 where targets are numbers, 1e-2 for classification, where it must be positive (but not for
            perceptrons).
        batch_size: minibatches drawn with replacement; None for full gradients. ``noise``: an additive law instead.
        priority: see :func:`synthetic.base.priority.priority_mask`.
        weights: p_k up to scale, (clients,); default the numbers of samples; ``"equal"``.
        intercept: append the feature 1 (its parameter is penalised too).
        clients: number of clients; default as many as occur.
        classes: for ``softmax``: the labels are numbers below this; default the classes that occur.
        layers: sizes of the layers, or a number of equal layers.
        held_out: samples on which no run trains, for the observables ``held_out_loss`` and ``held_out_accuracy``: a share
            of the priority clients' samples, a number of them, or truth values (rows,). The federation is the one of the
            other rows, with the same clients, classes and priority. See :func:`synthetic.data.held_out.held_out_rows`.
        seed: for ``priority="random:2"`` and the held-out samples.
        backend: where it is made, torch on the CPU in float64 if None; or ``device`` and ``dtype``: where it is moved, see
            :meth:`synthetic.base.federation.Federation.to`.
        model: further arguments of the task's class, such as ``loss`` of :class:`synthetic.GeneralisedLinear`.

    Raises:
        ValueError: data that are not finite, lengths that differ, a client without samples, fewer than two classes,
            ``ridge <= 0`` for classification, ``batch_size < 1``, ``held_out`` that leaves a client no sample, a backend and
            a device or a dtype, or a device that this machine does not have.

    Example:
        >>> federation = from_arrays([[1.0], [2.0], [3.0]], [1.0, 2.0, 6.0], [0, 0, 1])
        >>> federation.clients, federation.dim, federation.constants.value("samples").tolist()
        (2, 1, [[2, 1]])
        >>> federation = from_arrays([[1.0], [2.0], [3.0]], [1.0, 2.0, 6.0], [0, 0, 1], held_out=1)
        >>> federation.constants.value("samples").tolist(), federation.held_out_size
        ([[1, 1]], 1)
    """
    one_of("task", task, TASKS)
    one_place(backend, device, dtype)
    X, client, y = finite("X", X), np.asarray(client), np.asarray(y)
    if X.ndim != 2 or not X.size:
        raise ValueError(f"X must be (rows, features) with at least one of each; got shape {X.shape}")
    if not (y.shape == client.shape == X.shape[:1]):
        raise ValueError(f"X, y and client must have one entry per row; got {X.shape[0]} rows, y of shape {y.shape}, "
                         f"client of shape {client.shape}")
    numbers, clients = _client_numbers(client, clients)
    targets = finite("y", y)[:, None] if task in _NUMBERS else _class_targets(y, task, classes)
    if intercept:
        X = np.concatenate([X, np.ones((len(X), 1))], axis=1)
    mask = priority_mask(priority, clients, np.bincount(numbers), seed)
    out = held_out_rows(held_out, numbers, None if task in _NUMBERS else y, priority=np.atleast_2d(mask)[0], seed=seed)
    features, padded, counts = pad(X[~out], targets[~out], numbers[~out], clients)
    if isinstance(weights, str):
        one_of("weights", weights, ("equal",))
        weights = np.ones(clients)
    if weights is not None and finite("weights", weights).shape != (clients,):
        raise ValueError(f"weights must be one number per client, ({clients},); got shape {np.shape(weights)}")
    ridge = (0.0 if task in _NUMBERS else 1e-2) if ridge is None else ridge
    federation = TASKS[task](features, padded, counts, ridge=ridge, batch_size=batch_size, noise=noise, weights=weights,
                             priority=mask, layers=layers, name=name, held_out=(X[out], targets[out], numbers[out]),
                             backend=backend or TORCH, **model)
    return federation.to(device, dtype)


def _client_numbers(client, clients):
    if np.issubdtype(client.dtype, np.integer):
        if client.min() < 0:
            raise ValueError(f"client numbers must be at least 0; got {client.min()}")
        numbers, found = client, int(client.max()) + 1
    else:
        if client.dtype.kind == "f":
            raise ValueError(f"client must be integers or names; got numbers like {client.ravel()[0]!r}")
        names, numbers = np.unique(client, return_inverse=True)
        found = len(names)
    clients = found if clients is None else whole("clients", clients, low=found)
    empty = np.flatnonzero(np.bincount(numbers, minlength=clients) == 0)
    if len(empty):
        raise ValueError(f"every client needs at least one sample; got none for client {empty[0]}"
                         + (f" and {len(empty) - 1} others" if len(empty) > 1 else "") + f" of {clients}")
    return numbers, clients


def _class_targets(y, task, classes):
    if y.dtype.kind == "f":
        finite("y", y)
    found, index = np.unique(y, return_inverse=True)
    if len(found) < 2:
        raise ValueError(f"{task} classification needs at least 2 classes; got only {found.tolist()}")
    if task == "binary":
        if len(found) > 2:
            raise ValueError(f"binary classification needs 2 classes; got {len(found)}; allowed: task 'softmax'")
        return (2.0 * index - 1)[:, None]
    if classes is None:
        return np.eye(len(found))[index]
    if not np.issubdtype(y.dtype, np.integer) or y.min() < 0 or y.max() >= whole("classes", classes, 2):
        raise ValueError(f"labels must be integers from 0 to {classes - 1}; got {found[0]} to {found[-1]}")
    return np.eye(classes)[y]
