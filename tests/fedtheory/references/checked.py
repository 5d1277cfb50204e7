"""The stand-alone checker's methods as slow references: one run with everything that it leaves to chance given.

They are written from the specifications and share no code with the engine. Here they run on fractions, and on intervals
where there are roots; gradients are asked of the federation at the point next to them in its own numbers.
"""

from collections.abc import Callable
from fractions import Fraction
from numbers import Number
from types import SimpleNamespace

import numpy as np

from fedtheory.registry import find_algorithm
from tests.fedtheory.references.common import EXTRA, START, Given, now
from tests.fedtheory.references.sides import ETA, Row
from verify.checker.intervals import Interval, Vector
from verify.checker.limits import WorkLimit
from verify.checker.operators import WORDS
from verify.checker.run import METHODS, Run

__all__ = ["CHECKED", "checked", "replayed"]

#: names of the methods that the checker knows
CHECKED = tuple(METHODS)
#: what a method's maker is told and the checker is not
NOT_OPTIONS = ("eta_l", "local_steps", "participants", "sampling")


def _number(value):
    """A number of the checker as the federation has it: as a fraction, or the float next to it."""
    return (value.low + value.high) / 2 if isinstance(value, Interval) else value


def _vector(array):
    return Vector(Fraction(value) for value in array)


def _exactly(value):
    """A hyper-parameter in fractions; names and truth values stay as they are."""
    if isinstance(value, np.ndarray):
        return _vector(value) if value.ndim == 1 else [_vector(row) for row in value]
    return Fraction(value) if isinstance(value, Number) and not isinstance(value, bool) else value


class _Replayed(Run):
    """A run of the checker's method whose clients, trackers and gradients are given."""

    def draw_clients(self, participants):
        return self.instance.active[self.round]

    def draw(self, kind, alternatives, step=0, client=0):
        assert kind == "trackers", f"nobody gives {kind}"
        return self.instance.tracked[self.round]


def checked(method: str, arguments=None, step=ETA, *, told=None, base=None, state="x_round",
            as_given: Callable | None = None, solver: Callable | None = None, **options) -> Row:
    """A row whose reference is the checker's method of that name, or of the name ``base``, with the same arguments.

    ``told`` has those that the checker is told instead. ``as_given(given, **told)`` is the run that the checker sees, and
    ``solver(given, **told)`` what solves a local problem.
    """
    def reference(given, eta_l, tracked=None, **numbers):
        seen = as_given(given, **numbers) if as_given else given
        solve = solver(given, eta_l=eta_l, **numbers) if solver else None
        return replayed(base or method, seen, numbers, eta_l=eta_l, tracked=tracked, solve=solve, state=state)

    arguments = {"eta_l": step} | (arguments or {})
    return Row(method, arguments, reference, arguments | (told or {}), weighted=False, **options)


def replayed(method: str, given: Given, options: dict, *, eta_l, tracked=None, solve: Callable | None = None,
             state: str = "x_round") -> list[np.ndarray]:
    """The path of a state of the checker's ``method``, from the same facts as any other reference.

    ``options``: those of the method's maker that are not its defaults. ``tracked[t]``: who renews what it tracks.
    ``solve(i, linear, rho, center)``: the local problem's answer, if another than the exact one.
    """
    exact = given.x.dtype == object
    known = {name: value for name, value in (find_algorithm(method).arguments | options).items() if name not in NOT_OPTIONS}

    def on_federation(gradient, *arguments):
        def asked(k, *vectors):
            entries = [np.array([_number(value) for value in vector], dtype=given.x.dtype if exact else float)
                       for vector in vectors]
            return _vector(gradient(k, *entries, *arguments))

        return asked

    rounds, equal = len(given.active), Fraction(1, given.clients)
    full = all(len(clients) == given.clients for clients in given.active)
    numbers = {name: _exactly(value) for name, value in known.items() if isinstance(value, Number)}
    sizes = {"clients": given.clients, "local_steps": given.local_steps, "rounds": rounds,
             "participants": len(given.active[0])}
    if known.get("trackers") is not None:
        sizes["trackers"] = int(numbers.pop("trackers"))
    first = {name: _exactly(known.pop(name)) for name in ("client_variate", "server_variate") if name in known}
    free = str(known.get("start")).startswith("free")
    initial = {name: value for name, value in first.items() if free and value is not None}
    options = {name: _exactly(value) for name, value in known.items()} | dict.fromkeys(first)
    if solve is not None and "epsilon" in options:  # it knows how exactly it solves
        options["epsilon"] = None
    instance = SimpleNamespace(
        size=sizes, active=given.active, tracked=tracked, parameter=numbers.__getitem__, meter=WorkLimit(), operators=WORDS,
        how={"options": options, "sampling": "full" if full else "without-replacement",
             "indicator": "broadcast"},
        step_size=[Fraction(now(eta_l, t)) for t in range(rounds) for _ in range(given.local_steps)])

    def stochastic(run, k, point, kind, step):
        time, number = {"noise": (run.round, step), "extra": (run.round, EXTRA), "start": (START, 0)}[kind]
        return on_federation(lambda i, x: given.grad(i, x, time, number))(k, point)

    federation = SimpleNamespace(
        weights=[equal] * given.clients, priority=[1] * given.clients, clients=range(given.clients),
        start=_vector(given.x), factored=False, average=None, begin=lambda run: None, first_states=lambda free: initial,
        first_state=lambda name, value: value, matching=lambda run, models, round: [1] * given.clients,
        grad=on_federation(given.full), stochastic=stochastic,
        solution=lambda k, linear, pull, x: on_federation(
            lambda i, l, c: (solve or given.minimise)(i, l, pull if exact else float(pull), c))(k, linear, x))
    path = _Replayed(instance, federation, METHODS[method][0], {}).record[state]
    return [np.array([_number(value) if exact else float(_number(value)) for value in vector], dtype=given.x.dtype)
            for vector in path]
