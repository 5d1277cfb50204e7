"""Hard instances from the literature: functions on which the guarantees of gradient methods are attained or nearly so."""

from functools import cached_property

import numpy as np

from synthetic.base.checks import finite, number, whole
from synthetic.base.priority import priority_mask
from synthetic.data.federation import pad
from synthetic.data.generalised_linear import GeneralisedLinear
from synthetic.data.least_squares import LeastSquares
from synthetic.numbers.arrays import TORCH, Backend, namespace
from synthetic.piecewise.piecewise import Huber

__all__ = ["flat_and_steep", "huber_worst_case", "linear_samples", "nesterov_chain"]


def huber_worst_case(steps: int = 10, L: float = 1.0, distance: float = 1.0, step: float = 1.0, clients: int = 2,
                     priority=None, layers=None, backend: Backend = TORCH) -> Huber:
    """The function on which ``steps`` gradient steps of size ``step/L`` from ``distance`` make the least progress.

    Every client has the Huber loss of curvature L and radius distance/(2 N h + 1) in one dimension, with N steps and
    h = ``step``. From x_0 = distance the last value is exactly L distance^2 / (2 (2 N h + 1)), the worst possible over all
    convex L-smooth functions while h is at most about 1.5 (Drori and Teboulle 2014, section 3). Local steps of
    identical clients count like any others: N = rounds * local_steps.

    Raises:
        ValueError: steps below 1; L, distance or step not positive.

    Example:
        >>> federation = huber_worst_case(steps=2, distance=1.0, clients=1)
        >>> x = federation.backend.array([[1.0]])
        >>> for _ in range(2):
        ...     x = x - federation.objective_gradient(x)
        >>> round(float(federation.objective(x)), 12), 1 / (2 * 5)
        (0.1, 0.1)
    """
    steps, clients = whole("steps", steps), whole("clients", clients)
    L, distance = number("L", L, strict=True), number("distance", distance, strict=True)
    radius = distance / (2 * steps * number("step", step, strict=True) + 1)
    mask = priority_mask(priority, clients)[None]
    federation = Huber(L, radius, np.zeros((1, clients, 1)), priority=mask, layers=layers, backend=backend)
    federation.name = f"worst case of {steps} gradient steps"
    return federation


def flat_and_steep(curvatures=(0.25, 4.0), centers=(4.0, -1.0), G_lip=(1.0, 2.0), tail: float = 0.0, weights=None,
                   priority=None, layers=None, backend: Backend = TORCH) -> Huber:
    """One client flat, another steep: Lipschitz losses, linear far out and quadratic near their minima, in one dimension.

    After several local steps the steep client is at its minimum while the flat one has hardly moved, so that methods which
    average models settle far from the optimum of the objective.

    Args:
        curvatures, centers, G_lip: of each client; its loss is quadratic within G_lip / curvature of its minimum.
        tail: curvature of the ends, at most the least curvature; above 0 it makes clients strongly convex, and G_lip is
            then the slope at which the ends begin.

    Raises:
        ValueError: numbers that are not one per client, or not positive.
    """
    parts = [finite(name, values).reshape(1, -1, 1) for name, values in (
        ("curvatures", curvatures), ("centers", centers), ("G_lip", G_lip))]
    clients = parts[0].shape[1]
    if any(part.shape != parts[0].shape for part in parts):
        raise ValueError(f"curvatures, centers and G_lip must have one number per client; got "
                         f"{', '.join(str(part.size) for part in parts)}")
    if not (parts[0] > 0).all():
        raise ValueError(f"every curvature must be positive; got {parts[0].min():g}")
    given = None if weights is None else finite("weights", weights)
    federation = Huber(parts[0], parts[2] / parts[0], parts[1], tail, weights=given,
                       priority=priority_mask(priority, clients)[None], layers=layers, backend=backend)
    federation.name = "flat and steep clients, dim 1"
    return federation


def nesterov_chain(dim: int = 20, clients: int = 2, L: float = 1.0, mu: float = 0.0, *, batch_size: int | None = None,
                   priority=None, layers=None, backend: Backend = TORCH) -> LeastSquares:
    """Nesterov's quadratic that is worst for every first-order method, its links dealt to the clients in turn.

    F(x) = (L - mu)/8 [(x_1 - 1)^2 + sum_i (x_i - x_{i+1})^2 + x_d^2] + mu/2 |x|^2: the function of Nesterov (2004),
    (2.1.4), plus (L - mu)/8. Hessians lie between ``mu`` and ``L``. From the origin t gradient steps of any kind reach
    t coordinates, so that with mu = 0 the gap is at least L/8 (1/(t + 1) - 1/(dim + 1)), and for dim = 2 t + 1 at least
    3 L |x_0 - x*|^2 / (32 (t + 1)^2) (Theorem 2.1.7). With two clients or more neighbouring links lie at different ones: a
    client alone learns nothing about the coordinates beyond its own, which slows federated methods further. As for all
    data federations L_client is that of the client's own rows: of two clients about L, of more about clients/2 times that.

    Raises:
        ValueError: more clients than links (dim + 1), ``mu`` negative or not below ``L``.
    """
    dim = whole("dim", dim)
    clients = whole("clients", clients, 1, dim + 1)
    L, mu = number("L", L, strict=True), number("mu", mu)
    if mu >= L:
        raise ValueError(f"mu must be below L = {L:g}; got {mu:g}")
    links = np.eye(dim + 1, dim) - np.eye(dim + 1, dim, -1)
    targets = np.zeros((dim + 1, 1))
    targets[0] = 1.0
    scale = ((L - mu) * (dim + 1) / 4) ** 0.5
    features, padded, counts = pad(scale * links, scale * targets, np.arange(dim + 1) % clients, clients)
    return LeastSquares(features, padded, counts, ridge=mu, batch_size=batch_size, layers=layers, backend=backend,
                        priority=priority_mask(priority, clients, counts[0]), name=f"Nesterov's chain, dim {dim}")


class LinearSamples(GeneralisedLinear):
    """Huber's loss of a x - b in one dimension, where all samples have one zero: the optimum, which is known."""

    def _everywhere(self, *shape):
        """The common zero (*shape, 1), the loss there (*shape,) and its error, both 0; None if the zeros differ."""
        xp, points = namespace(self.targets), self.targets / self.features
        point = points.reshape(-1)[0]
        if not bool(xp.all(points == point)):
            return None
        nothing = self.backend.array(np.zeros(shape))
        return nothing[..., None] + point, nothing, nothing

    @cached_property
    def _solved_objective(self):
        return self._everywhere(self.instances) or super()._solved_objective

    @cached_property
    def _solved_clients(self):
        return self._everywhere(self.instances, self.clients) or super()._solved_clients


def linear_samples(clients: int = 4, samples: int = 5, slope: float = 1.0, reach: float = 1e6, *,
                   batch_size: int | None = None, priority=None, layers=None, backend: Backend = TORCH) -> LinearSamples:
    """The data set on which gradient methods are as unstable as convex ``slope``-Lipschitz losses allow, in one dimension.

    Every sample's loss is linear, -slope x, wherever a run goes (Huber's loss of slope x - ``reach``). A sample whose slope
    has the other sign, in place of one of ``samples`` of one of ``clients``, takes runs of T local steps of size eta apart
    by 2 eta slope T / (clients samples): the stability bound of Hardt, Recht, Singer 2016, and its federated analogue.

    Raises:
        ValueError: clients or samples below 1; slope or reach not positive.

    Example:
        >>> linear_samples(2, 3).gradient(linear_samples(2, 3).backend.array([[[0.0], [5.0]]])).flatten().tolist()
        [-1.0, -1.0]
    """
    clients, samples = whole("clients", clients), whole("samples", samples)
    slope, reach = number("slope", slope, strict=True), number("reach", reach, strict=True)
    features, targets, counts = (slope * np.ones((1, clients, samples, 1)), reach * np.ones((1, clients, samples, 1)),
                                 np.full((1, clients), samples))
    return LinearSamples(features, targets, counts, loss="huber", batch_size=batch_size, layers=layers, backend=backend,
                         priority=priority_mask(priority, clients, counts[0]), name="linear samples, dim 1")
