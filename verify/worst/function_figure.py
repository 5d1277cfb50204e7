"""The worst functions, and the method's run on them, in a figure."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from verify.results.drawing import GREY, colours, curve, direct_labels, in_style, ink, measured, opened, write_below
from verify.worst.function import WorstFunction, models_on

__all__ = ["function_figure"]

_POINTS, _SIDE, _LEVELS = 201, 41, 14  # of a curve, of a side of a grid, and lines of height
_ROOM = 0.25  # around what is drawn, in units of its extent
_CLIENTS = 2  # whose own functions are drawn


@in_style
def function_figure(function: WorstFunction, *, ax: Axes | None = None) -> Figure | Axes:
    """Draw the objective, the functions of the first clients, and the models of the run; of more than two dimensions the
    plane through the optimum along which models and clients' gradients differ most. Returns the figure; or ``ax``, if these
    axes are given."""
    models, worst, dim = [np.ravel(model) for model in models_on(function)], function.worst, function.federation.dim
    models = np.array(models)
    if dim == 1:
        axes = opened(ax, 6.0, 3.7)
        _line(function, models, axes)
    else:
        gradients = np.asarray(function.federation.gradient(np.broadcast_to(
            models[:, None], (len(models), worst.clients, dim)))).reshape(-1, dim)
        plane = np.linalg.svd(np.concatenate([models, gradients]))[2][:2] if dim > 2 else np.eye(2)
        axes = opened(ax, 5.4, 5.0)
        _plane(function, models, plane, axes)
    said = [f"{worst.algorithm.name} on the worst of all {worst.functions} functions",
            f"rounds = {worst.rounds}, clients = {worst.clients}",
            f"{worst.question.measure} in units of the {worst.question.given} at the start: {function.ratio:.6g}",
            *["lines of equal height"] * (dim > 1), *[f"the main plane of {dim} dimensions"] * (dim > 2)]
    write_below(axes, "; ".join(said))
    return axes.figure if ax is None else ax


def _line(function: WorstFunction, models: np.ndarray, axes: Axes) -> None:
    low, high = _extent(models[:, 0])
    x = np.linspace(low, high, _POINTS)
    own = _values(function, x[:, None])
    objective, shown = own.mean(axis=1), own[:, :_CLIENTS] if function.federation.clients > 1 else own[:, :0]
    heights = _values(function, models).mean(axis=1)
    axes.set_xlim(low, high)
    axes.set_ylim(*_extent(np.concatenate([objective, shown.ravel(), heights])))
    for number, values in enumerate(shown.T):
        curve(axes, x, values, _client(number), "", "-")
    curve(axes, x, objective, ink(), "", "-")
    axes.plot(models[:, 0], heights, color=measured(), marker="o", markersize=5, linestyle=(0, (2, 2)), linewidth=1.0)
    _name_ends(axes, np.column_stack([models[:, 0], heights]))
    direct_labels(axes, [(objective, "$F$", ink()), *(
        (values, f"$F_{number + 1}$", _client(number)) for number, values in enumerate(shown.T))])
    axes.set_xlabel("$x$, the optimum is at 0")
    axes.set_ylabel("value")


def _plane(function: WorstFunction, models: np.ndarray, plane: np.ndarray, axes: Axes) -> None:
    models, count = models @ plane.T, min(_CLIENTS, function.federation.clients)
    places = np.concatenate([models, [[0.0, 0.0]]])
    middle, half = (places.max(0) + places.min(0)) / 2, max(np.ptp(places, axis=0).max(), 1e-9) * (0.5 + _ROOM / 2)
    sides = [np.linspace(centre - half, centre + half, _SIDE) for centre in middle]
    own = _values(function, np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2) @ plane)
    drawn = [("$F$", own.mean(axis=1), GREY)]
    drawn += [(f"$F_{number + 1}$", own[:, number], _client(number)) for number in range(count)] * (own.shape[1] > 1)
    for place, (name, values, colour) in enumerate(drawn):
        axes.contour(*sides, values.reshape(_SIDE, _SIDE), levels=_LEVELS, colors=colour, linestyles="-",
                     linewidths=0.5 + 0.3 * (place == 0))
        axes.annotate(name, (1.0, 0.95 - 0.07 * place), xycoords="axes fraction", textcoords="offset points", xytext=(6, 0),
                      color=colour)
    axes.plot(*models.T, color=measured(), marker="o")
    axes.plot(0, 0, color=ink(), marker="*", markersize=10, linestyle="none")
    axes.annotate("$x_\\star$", (0, 0), textcoords="offset points", xytext=(6, 7))
    _name_ends(axes, models)
    axes.set_aspect("equal")


def _client(number: int) -> str:
    """The colour of a client; the first one is that of the run."""
    several = colours()
    return several[(number + 1) % len(several)]


def _extent(values: np.ndarray) -> tuple[float, float]:
    """The ends of an axis, which shows 0."""
    low, high = min(values.min(), 0.0), max(values.max(), 0.0)
    room = _ROOM * max(high - low, 1e-9)
    return low - room, high + room


def _values(function: WorstFunction, x: np.ndarray) -> np.ndarray:
    """Every client's value at places (places, dim): (places, clients)."""
    clients = function.federation.clients
    return np.asarray(function.federation.value(np.broadcast_to(x[:, None], (len(x), clients, x.shape[1]))))


def _name_ends(axes: Axes, places: np.ndarray) -> None:
    for name, place in (("$x_0$", places[0]), (f"$x_{{{len(places) - 1}}}$", places[-1])):
        axes.annotate(name, place, textcoords="offset points", xytext=(5, 7), color=measured())
