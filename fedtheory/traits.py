"""The declared properties (traits) of a method, as data; ``fedtheory.testing`` checks each of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from fedtheory.round_context import mean_over_clients
from synthetic.base.checks import one_of

__all__ = [
    "CURVATURE", "EVERYONE", "GRADIENT_DESCENT", "ISOTROPIC", "LENGTH", "LOSS", "NUMBER", "ONE_CLIENT", "ONE_EXACT_STEP",
    "ONE_LOSS", "SLOPE", "STEP", "Costs", "FixedPoint", "Law", "Record", "Reduction", "Tilt", "Traits", "Variant",
    "as_descent", "kept_mean", "never_negative",
]

#: units of hyper-parameters, as powers of (loss, parameter)
LOSS, LENGTH, STEP, CURVATURE, SLOPE, NUMBER = (1, 0), (0, 1), (-1, 2), (1, -2), (1, -1), (0, 0)

#: the name, in a :class:`Reduction`, of ``x <- x - eta_l grad F(x)``, ``local_steps`` times per round
GRADIENT_DESCENT = "gradient descent"

#: traits of most methods: neither the origin nor the coordinates are special
ISOTROPIC: dict[str, Any] = {"translation": True, "orthogonal": "all"}
#: full participation; that with one local step and no noise; one client without noise; one loss for all without noise
EVERYONE: dict[str, Any] = {"participants": None}
ONE_EXACT_STEP: dict[str, Any] = {"participants": None, "local_steps": 1, "sigma": 0.0}
ONE_CLIENT: dict[str, Any] = {"clients": 1, "sigma": 0.0}
ONE_LOSS: dict[str, Any] = {"identical": True, "equal": True, "sigma": 0.0, "data": False}
ORTHOGONAL = ("", "all", "signed permutations", "within layers")


@dataclass(frozen=True)
class Reduction:
    """The fact that the method with these ``arguments`` is the method named ``to`` with the arguments ``given``.

    Arguments that both take keep their values on both sides. ``on(federation, x, algorithm)``: the other method runs on
    that federation, ``x`` (1, dim) being the start of a single run; default the same federation. ``where`` restricts the
    runs on which this holds: a mapping of fields of :class:`fedtheory.testing.Case`, for example ``{"local_steps": 1,
    "sigma": 0.0}``, or ``{"participants": None}`` for full participation.
    """

    to: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict)
    where: Mapping[str, Any] = field(default_factory=dict)
    on: Callable[[Any, Any, Any], Any] | None = None


def as_descent(**arguments) -> tuple[Reduction, ...]:
    """The reductions to gradient descent of a method that takes plain local steps with these ``arguments``."""
    return tuple(Reduction(GRADIENT_DESCENT, arguments, where=where) for where in (ONE_EXACT_STEP, ONE_CLIENT, ONE_LOSS))


@dataclass(frozen=True)
class FixedPoint:
    """The minimiser of F is a fixed point without noise, however different the clients are.

    ``arrays(federation, x)`` with the minimiser ``x`` (runs, dim) returns the server's and the clients' arrays of the
    fixed point by name, where they differ from those of a start at ``x``. ``where`` as in :class:`Reduction`.
    ``attracts``: with small steps and full participation the method converges to it.
    """

    arrays: Callable[[Any, Any], tuple[dict, dict]] = lambda federation, x: ({}, {})
    where: Mapping[str, Any] = field(default_factory=dict)
    attracts: bool = True


@dataclass(frozen=True)
class Tilt:
    """Linear terms <b_k, x> with sum p_k b_k = 0, added to the losses, do not change the model if ``sign * b_k`` is added
    to the clients' arrays named in ``arrays`` (name: sign; an array may be the server's if it has an axis of clients).
    ``where`` as in :class:`Reduction`."""

    arrays: Mapping[str, float]
    where: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Law:
    """A relation that holds after every round: ``sides(algorithm, federation, before, after)``, of the states before and
    after a round, returns two arrays that are equal, or whose first is at most the second (``relation`` ``<=``). ``where``
    as in :class:`Reduction`."""

    name: str
    sides: Callable[[Any, Any, Any, Any], tuple]
    relation: str = "=="
    where: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self):
        one_of("relation", self.relation, ("==", "<="))


def kept_mean(letter: str, array: str) -> Law:
    """The server's ``array``, the paper's ``letter``, is the mean of the clients' arrays of that name."""
    def sides(algorithm, federation, before, after):
        return after.server[array], mean_over_clients(federation, after.clients[array])

    return Law(f"{letter} is the mean of the {letter}_k", sides, where={"free": 0})


def never_negative(name: str, owner: str, array: str) -> Law:
    """The numbers of an ``array`` of the ``owner``, server or clients, are at least 0."""
    def sides(algorithm, federation, before, after):
        values = getattr(after, owner)[array]
        return 0 * values, values

    return Law(name, sides, "<=")


@dataclass(frozen=True)
class Costs:
    """Communication of a participant in a round, in models, and its number of stochastic gradients.

    ``down`` and ``up``: numbers, functions of (round, state before it, federation) that return a number or (runs, 1), or
    None if not declared; ``gradients`` is a function of the number of local steps. ``kept``: the size of the arrays that
    every client keeps between rounds, in models.
    """

    down: Any = 1
    up: Any = 1
    gradients: Callable[[int], int] | None = lambda local_steps: local_steps
    kept: Any = None


@dataclass(frozen=True)
class Variant:
    """Further arguments with which the suite runs a method, and the traits that differ then."""

    arguments: Mapping[str, Any]
    changes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Record:
    """Known properties of an array that runs of the method record.

    ``nonnegative``: its entries are at least 0. ``starts_at_model``: before the first round it is the first model.
    ``method``: it is the ``array`` of another method's run, from the same start with the same draws.
    """

    nonnegative: bool = False
    starts_at_model: bool = False
    method: str = ""
    array: str = ""


@dataclass(frozen=True)
class Traits:
    """The declared properties of a method. Only these are checked, besides the properties of every method.

    Args:
        translation: moving the losses and the start by a vector moves the trajectory by it.
        orthogonal: maps that commute with the method: ``all`` orthogonal ones, ``signed permutations`` of the
            coordinates, or orthogonal ones ``within layers``; empty: none declared.
        units: powers of (loss, parameter) of the numeric hyper-parameters, by argument, all that have a unit among them;
            then rescaling the losses or the parameters rescales the trajectory, and each of them has an effect. None: not
            declared.
        tilt: invariance under linear terms that cancel between the clients.
        fixed_point: the fixed point of the method.
        reductions: special cases that are other methods.
        laws: relations that hold after every round.
        costs: communication, gradients and memory of a round.
        random: the method draws random numbers besides the sampling of clients and the gradient noise.
        exempt: properties of every method that this one does not have, with the reason.
        variants: further arguments to run the method with.
        where: the only federations on which it makes sense, as in :class:`Reduction`.
        records: arrays of its runs of which more is known than that they are recorded, by their name in claims.
        subset: the hyper-parameter that says how many of a round's participants the method draws once more; empty: none.
    """

    translation: bool = False
    orthogonal: str = ""
    units: Mapping[str, tuple[int, int]] | None = None
    tilt: Tilt | None = None
    fixed_point: FixedPoint | None = None
    reductions: tuple[Reduction, ...] = ()
    laws: tuple[Law, ...] = ()
    costs: Costs | None = None
    random: bool = False
    exempt: Mapping[str, str] = field(default_factory=dict)
    variants: tuple[Variant, ...] = ()
    where: Mapping[str, Any] = field(default_factory=dict)
    records: Mapping[str, Record] = field(default_factory=dict)
    subset: str = ""

    def __post_init__(self):
        if self.orthogonal not in ORTHOGONAL:
            allowed = ", ".join(repr(name) for name in ORTHOGONAL)
            raise ValueError(f"unknown maps {self.orthogonal!r}; allowed: {allowed}")

    def with_arguments(self, arguments: Mapping[str, Any]) -> Self:
        """The traits of the method with these arguments: those of the variant that has most of them in common, if any."""
        fitting = [v for v in self.variants if v.arguments.items() <= dict(arguments).items()]
        return replace(self, **max(fitting, key=lambda v: len(v.arguments)).changes) if fitting else self
