"""Sweeps: a method at every point of a grid of its arguments, each with the same seeds, as one labelled data set."""

from __future__ import annotations

import inspect
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import partial
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory.algorithm import Algorithm
from fedtheory.arguments import unit_text
from fedtheory.blocks import Question, blocks_of, computed, devices_of, name_of
from fedtheory.observables import OBSERVABLES, find_observable
from fedtheory.registry import ALGORITHMS, arguments_of, as_federation, made_by, make_algorithm
from fedtheory.run import DIVERGED, MOST_RUNS, seed_numbers
from fedtheory.sweep_files import read_block, write_block
from synthetic.base.checks import finite, nearest, whole

if TYPE_CHECKING:  # imported where a data set is made
    import xarray as xr

__all__ = ["MOST_POINTS", "sweep"]

MOST_POINTS = 10**6  #: of a grid


def sweep(
    method, federation, rounds: int, grid: Mapping[str, Iterable], *, seeds: int | Sequence[int] = 8,
    measure: str | Callable | Sequence[str | Callable] = "suboptimality", arguments: Mapping[str, Any] | None = None,
    start=None, path: str | Path | None = None, workers: int = 1, client=None,
    progress: Callable[[int, int], None] | None = None, device: str | Sequence[str] | None = None, dtype: str | None = None,
) -> xr.Dataset:
    """Run a method at every point of a grid, and measure it after the last round.

    Every point gives what :func:`fedtheory.run` gives for it alone with the same seeds. Points that differ only in numbers
    that may be arrays (step sizes and other rates) run as one batch, split so that a part needs about
    ``fedtheory.blocks.MEMORY`` bytes, or on a card fits it; points that differ in local steps, participants or options run
    in separate batches.

    Args:
        method: a registered name, a maker of algorithms, an Algorithm class, or an Algorithm, whose fields are replaced.
        grid: values by name of the method's arguments; the first name is the first dimension.
        seeds: how many runs at each point (seeds 0, 1, ...), or the seeds themselves: the same at all points.
        measure: names of observables (``fedtheory.observables``), taken after the last round, or in the last round or step;
            or functions of the point's :class:`fedtheory.Trajectory`, as ``run`` records it by default, that return one
            number per run, (seeds,), or one number.
        arguments: further arguments of the method, the same at all points.
        start: starting model, (dim,) or (seeds, dim); if None the federation's ``default_start()``.
        path: a folder that keeps every finished batch. A second call computes what is missing there. A batch counts while
            method, federation, points, seeds, rounds, measure and the code are the same.
        workers: processes that compute batches. They import the calling script, which must not sweep when imported.
        client: a ``distributed.Client``, or the address of a scheduler of dask, on whose workers batches are computed.
        progress: called with (points done, points).
        device, dtype: where and in which numbers the federation runs, as for :func:`fedtheory.run`. ``cuda`` on a machine
            with several cards, or a list of devices: a process computes batches on each, as with ``workers``.

    Returns:
        One variable per measure with the dimensions of the grid and ``seed``, with unit and meaning as attributes, and
        ``diverged``: the first round after which the model or another array of the state was not finite, -1 if there
        is none. Coordinates are the values of the grid, or their texts where these are no numbers.

    Raises:
        LookupError: an unknown method, argument or observable, with the nearest known name.
            ValueError: a value that the method does not take, an empty grid, more than 10^6 points or 10^8 runs, no seeds,
            rounds below 1, or a device that this machine does not have. ImportError: ``client`` without the extra
            ``sweeps``. RuntimeError: a worker process died.

    Example:
        FedAvg on 1/2 (x - 1)^2 from 0: after two rounds F - F* is 1/2 (1 - eta)^(4 K) for K local steps.

        >>> from synthetic import Quadratic
        >>> grid = {"eta_l": [0.5, 1.0], "local_steps": [1, 2]}
        >>> found = sweep("fedavg", Quadratic([[[1.0]]], [[[1.0]]]), rounds=2, grid=grid, seeds=1)
        >>> found["suboptimality"].sel(seed=0).values.tolist()
        [[0.03125, 0.001953125], [0.0, 0.0]]
    """
    rounds, numbers, devices = whole("rounds", rounds), seed_numbers(seeds), devices_of(device, client is None)
    federation = as_federation(federation, devices[0] if devices else None, dtype)
    workers, measures = whole("workers", workers), _measures(measure)
    start = None if start is None else finite("start", start)
    values = _values(grid, len(numbers))
    name, make = _maker(method, {*values, *(arguments or {})})
    if both := sorted({*values} & {*(arguments or {})}):
        raise ValueError(f"{both[0]} is given twice, in grid and in arguments")
    points = [make(**(arguments or {}), **dict(zip(values, point, strict=True))) for point in product(*values.values())]
    question = Question(federation, rounds, numbers, start, measures)
    blocks = {tuple(block): [points[number] for number in block]
              for block in blocks_of(question, points, max(workers, len(devices)))}
    if reason := next((why for block in blocks.values() if (why := block[0].refuses(federation))), None):
        raise ValueError(reason)
    files = {block: Path(path) / f"{question.digest(own)}.npz" for block, own in blocks.items()} if path is not None else {}
    found = {block: stored for block, file in files.items() if (stored := read_block(file)) is not None}
    done = sum(map(len, found))
    for block, answer in computed(question, {b: own for b, own in blocks.items() if b not in found}, workers, client,
                                  devices):
        if files:
            write_block(files[block], answer)
        found[block], done = answer, done + len(block)
        if progress:
            progress(done, len(points))
    return _dataset(values, numbers, measures, found, {
        "method": points[0].name if name is None else name, "rounds": rounds, "runs": len(numbers),
        "federation": getattr(federation, "name", type(federation).__name__)})


def _measures(measure) -> tuple[str | Callable, ...]:
    """The measures; LookupError for an unknown observable, ValueError for none, one twice, or what is neither."""
    measures = (measure,) if isinstance(measure, str) or callable(measure) else tuple(measure)
    for one in measures:
        if isinstance(one, str):
            find_observable(one)
        elif not callable(one):
            raise ValueError(f"measure must be a name of an observable or a function of a trajectory; got {one!r}")
    names = [*map(name_of, measures)]
    if not names or len({*names, "diverged"}) <= len(names):
        raise ValueError(f"measure must be one or more, each with a name of its own; got {', '.join(names) or 'none'}")
    return measures


def _values(grid, seeds: int) -> dict[str, list]:
    """The values of the grid by name."""
    if not isinstance(grid, Mapping) or not grid:
        raise ValueError(f"grid must have values by name of an argument; got {grid!r}")
    values, sizes = {}, {}
    given: Any
    for name, given in grid.items():
        if isinstance(given, str | bytes) or not isinstance(given, Iterable) or getattr(given, "ndim", 1) != 1:
            raise ValueError(f"{name} must be a list of values; got {given!r}")
        given = given.tolist() if hasattr(given, "tolist") else given
        values[name] = list(islice(given, MOST_POINTS + 1))
        sizes[name] = len(given) if hasattr(given, "__len__") else len(values[name])
        if not sizes[name]:
            raise ValueError(f"{name} must have at least one value; got none")
    points = math.prod(sizes.values())
    if points > MOST_POINTS:
        said = " x ".join(f"{size} of {name}" for name, size in sizes.items())
        raise ValueError(f"a grid has at most {MOST_POINTS} points; got {points} ({said})")
    if points * seeds > MOST_RUNS:
        raise ValueError(f"a sweep has at most {MOST_RUNS} runs; got {points} points of {seeds}; allowed: at most "
                         f"{MOST_RUNS // points} seeds")
    for name, own in values.items():
        text, times = Counter(map(repr, own)).most_common(1)[0]
        if times > 1:
            raise ValueError(f"{name} must have different values; got {text} {times} times")
    return values


def _maker(method, names: set[str]) -> tuple[str | None, Callable[..., Algorithm]]:
    """The method's name, if it is registered, and its maker; LookupError for an argument that it does not have."""
    name: str | None = None
    known: set[str] | None = None
    make: Callable[..., Algorithm]
    if isinstance(method, str):
        name, known, make = method, arguments_of(method), partial(make_algorithm, method)
    elif isinstance(method, Algorithm):
        name, known, make = method.name, {field.name for field in fields(method)}, method.having
    elif callable(method):
        make, parameters = partial(made_by, method), inspect.signature(method).parameters.values()
        if not any(one.kind is one.VAR_KEYWORD for one in parameters):
            known = {one.name for one in parameters}
    else:
        raise ValueError(f"method must be a name, a maker of algorithms, a class or an Algorithm; got {method!r}")
    for argument in sorted(names if known is not None else ()):
        if known is not None and argument not in known:
            raise nearest(f"argument of {name or getattr(method, '__name__', 'the method')}", argument, known)
    return name, make


def _dataset(values, seeds, measures, found, attrs) -> xr.Dataset:
    """The answers of all blocks, by point, as one data set."""
    import xarray as xr

    order, shape = np.argsort(np.concatenate([*map(np.asarray, found)])), [*map(len, values.values())]
    about = {name_of(one): OBSERVABLES.get(one) if isinstance(one, str) else None for one in measures}
    variables = {}
    for name, observable in (about | {"diverged": None}).items():
        numbers = np.concatenate([np.broadcast_to(answer[name], answer[name].shape) for answer in found.values()])[order]
        dims = ("seed", *(observable.dims if observable else ()))[: numbers.ndim - 1]
        said = {"units": observable.unit, "long_name": observable.meaning} if observable else {
            "long_name": DIVERGED if name == "diverged" else name}
        variables[name] = (*values, *dims), numbers.reshape(*shape, *numbers.shape[1:]), said
    coordinates = {name: (name, own if all(isinstance(one, int | float) for one in own) else [*map(str, own)], _about(
        name, attrs["method"])) for name, own in values.items()}
    return xr.Dataset(variables, coordinates | {"seed": ("seed", seeds, {"long_name": "seed"})}, attrs)


def _about(argument: str, method: str) -> dict[str, str]:
    """The name of an argument, and its unit where a registered method declares one."""
    units = (ALGORITHMS[method].traits.units or {}) if method in ALGORITHMS else {}
    unit = unit_text(units.get(argument, (0, 0)))
    return {"long_name": argument} | ({"units": unit} if argument in units and unit != "1" else {})
