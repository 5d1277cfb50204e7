"""Different numbers of local steps per client."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from fedtheory.fields import check_fields, checked
from synthetic.base.checks import number
from synthetic.numbers.arrays import namespace, to_numpy
from synthetic.numbers.draws import STEPS

__all__ = ["RandomSteps", "check_client_steps", "client_steps_now", "unless_done", "working"]


@dataclass(frozen=True)
class RandomSteps:
    """An independent number of steps of every client in each round, uniform between a least number and ``local_steps``.

    ``fraction`` in (0, 1]: the least number is this share of ``local_steps``, rounded, at least 1.

    Example:
        >>> RandomSteps(0.5).least(local_steps=8)
        4
    """

    fraction: float = checked(0.5, partial(number, high=1.0, strict=True))

    def __post_init__(self):
        check_fields(self)

    def least(self, local_steps: int) -> int:
        """The smallest number of steps."""
        return max(1, int(self.fraction * local_steps + 0.5))

    def __call__(self, context):
        draws, least = context.draws, self.least(context.algorithm.local_steps)
        clients = draws.client_numbers(context.federation.clients)
        counts = clients[:, :1] * 0 + context.algorithm.local_steps - least + 1
        return least + draws.integer(STEPS, counts, context.round, clients)


def check_client_steps(client_steps, local_steps: int):
    """``client_steps`` as a law or an integer array (clients,) or (runs, clients). Raises ValueError otherwise."""
    if client_steps is None or callable(client_steps):
        return client_steps
    steps = np.asarray(to_numpy(client_steps))
    fits = steps.ndim in (1, 2) and steps.size and np.issubdtype(steps.dtype, np.integer)
    if not fits or steps.min() < 1 or steps.max() > local_steps:
        raise ValueError("client_steps must be a law, or (clients,) or (runs, clients) integers between 1 and local_steps, "
                         f"{local_steps}; got {client_steps!r}")
    return steps


def client_steps_now(context):
    """Local steps of every client in the round of ``context``, integers (runs | 1, clients)."""
    given = context.algorithm.client_steps
    if callable(given):
        return given(context)
    steps = context.federation.backend.integers(given.reshape(-1, given.shape[-1]))
    if steps.shape[1] != context.federation.clients or steps.shape[0] not in (1, context.x.shape[0]):
        raise ValueError(f"client_steps must be ({context.federation.clients},) or ({context.x.shape[0]}, "
                         f"{context.federation.clients}); got {tuple(given.shape)}")
    return steps


def working(context):
    """Truth values (runs | 1, participants): which participants take the local step of this iteration."""
    return context.step < context.rows(client_steps_now(context))


def unless_done(before, after, context):
    """``after`` a local step for the participants that take it, ``before`` it for the others."""
    goes_on = working(context)

    def select_working(name, new):
        old = before.own.get(name)
        if old is None or old is new:
            return new
        return namespace(new).where(goes_on.reshape(*goes_on.shape, *(1,) * (new.ndim - 2)), new, old)

    x = namespace(after.x).where(goes_on[..., None], after.x, before.x)
    return after._replace(x=x, own={name: select_working(name, new) for name, new in after.own.items()})
