"""A pair of statements: one true, one false, which differ in one number or one condition."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

__all__ = ["CONVEX", "NOISE", "NOISELESS", "QUADRATIC", "SMOOTH", "STRONGLY_CONVEX", "Pair", "descent", "huber", "step"]

SMOOTH = "L_client[k] <= L for each k"
CONVEX = "mu_client[k] >= 0 for each k"
STRONGLY_CONVEX = "mu_client[k] >= mu for each k"
NOISELESS = "sigma_sq_client[k] <= 0 for each k"
NOISE = "sigma_sq_client[k] <= sigma_sq for each k"
QUADRATIC = "2*(F(k, u) - F(k, v)) == dot(grad(k, u) + grad(k, v), u - v) for all u, v for each k"


class Pair(NamedTuple):
    """Two neighbours, made by a rule from a row of its table.

    Attributes:
        name: the rule with its row.
        true: the fields of the true claim, as in a claim file.
        false: the fields in which the false claim differs.
        reason: why the first is true, by a source or a derivation, and what breaks the second.
        witness: computes the left and the right side of the false statement on one instance, without the referee.
        relation: the relation that the witness breaks, ``<=``, ``<`` or ``==``.
        fails_from: computes the least number of rounds at which the witness breaks it, where that is large.
    """

    name: str
    true: Mapping[str, Any]
    false: Mapping[str, Any]
    reason: str
    witness: Callable[[], tuple[float, float]]
    relation: str = "<="
    fails_from: Callable[[], int] | None = None

    def texts(self) -> Iterator[str]:
        """Yields both claims as tables of a claim file, the true one first."""
        yield _table({"id": f"true/{self.name}", **self.true})
        yield _table({"id": f"false/{self.name}", **self.true, **self.false})


def _table(fields: Mapping[str, Any]) -> str:
    return "\n".join(["[[claim]]", *(f"{name} = {_value(value)}" for name, value in fields.items())]) + "\n"


def _value(value) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(name)} = {_value(entry)}" for name, entry in value.items()) + "}"
    return json.dumps(value)


def step(h) -> str:
    """The condition that every step size is h/L."""
    return f"eta_l[t] == {h}/L for each t"


def descent(gradient: Callable[[float], float], start: float, step_size: float, steps: int,
            momentum: float = 0) -> np.ndarray:
    """The models of gradient descent with momentum (heavy ball) in one dimension, from the start on."""
    models = [start, start - step_size * gradient(start)]
    while len(models) <= steps:
        models.append(models[-1] - step_size * gradient(models[-1]) + momentum * (models[-1] - models[-2]))
    return np.array(models[: steps + 1])


def huber(width: float, mu: float = 0) -> tuple[Callable, Callable]:
    """Value and gradient of a loss of curvature 1 within the width of 0, and of curvature mu beyond."""
    def value(x):
        inner = min(abs(x), width)
        return mu * x**2 / 2 + (1 - mu) * (inner**2 / 2 + width * (abs(x) - inner))

    def gradient(x):
        return mu * x + (1 - mu) * min(max(x, -width), width)

    return value, gradient
