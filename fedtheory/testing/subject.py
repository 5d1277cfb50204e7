"""The method under test: its maker, arguments and traits, and functions that run it."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, Self

import numpy as np

from fedtheory.algorithm import PARTS, Algorithm
from fedtheory.engine import rounds_of, starting_points
from fedtheory.method import Method, sampled
from fedtheory.registry import ALGORITHMS, find_algorithm
from fedtheory.testing.federations import Case
from fedtheory.testing.outcome import NotApplicable
from fedtheory.traits import Traits
from synthetic.numbers.arrays import NUMPY, TORCH, Backend, backend_of, to_numpy
from synthetic.numbers.draws import Draws

__all__ = ["Subject", "arrays_of", "models", "outputs", "play", "subject_of"]


@dataclass(frozen=True)
class Subject:
    """A method under test. ``make`` takes any of ``parameters`` by name; ``arguments`` are the values to use."""

    name: str
    make: Callable[..., Algorithm]
    parameters: Mapping[str, Any]
    traits: Traits = field(default_factory=Traits)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    backend: Backend = TORCH  #: the backend of symmetries and special cases

    @property
    def samples(self) -> bool:
        """Whether the number of participants is an argument."""
        return "participants" in self.parameters

    def build(self, case: Case, **changes) -> Algorithm:
        """The method for a case, with some arguments changed. Raises NotApplicable if it refuses them."""
        given = {"local_steps": case.local_steps, "participants": case.participants, "sampling": case.sampling}
        if case.participants is not None and not self.samples:
            raise NotApplicable("the method does not sample clients")
        if case.sampling != "without-replacement" and "sampling" not in self.parameters:
            raise NotApplicable("the method samples clients by one scheme only")
        chosen = {name: value for name, value in given.items() if name in self.parameters} | dict(self.arguments) | changes
        try:
            made = self.make(**chosen)
        except ValueError as error:
            raise NotApplicable(f"it cannot be made with {chosen}: {error}") from error
        if not isinstance(made, Algorithm):
            raise TypeError(f"{self.name} must make an Algorithm; got {made!r}")
        return made

    def value(self, name: str):
        """The value of the argument ``name``."""
        return self.arguments.get(name, self.parameters[name])

    def with_arguments(self, arguments) -> Self:
        """The same method with further arguments."""
        return replace(self, arguments=dict(self.arguments) | dict(arguments or {}))


def subject_of(method, arguments=None, traits: Traits | None = None) -> Subject:
    """The subject for an algorithm, its class, a maker of algorithms, or the name of a registered method.

    Raises TypeError for anything else, and LookupError for an unknown name.
    """
    if isinstance(method, str):
        method = find_algorithm(method)
    if isinstance(method, Method):
        name = next((n for n, other in ALGORITHMS.items() if other is method), method.make.__name__)
        subject = _of_maker(name, method.make, traits or method.traits)
    elif isinstance(method, type) and issubclass(method, Algorithm):
        subject = _of_algorithm(method(), traits)
    elif isinstance(method, Algorithm):
        subject = _of_algorithm(method, traits)
    elif callable(method):
        core = method.func if isinstance(method, partial) else method
        core = inspect.unwrap(core)
        registered = next((other.traits for other in ALGORITHMS.values() if inspect.unwrap(other.make) is core), Traits())
        subject = _of_maker(getattr(core, "__name__", "method"), method, traits or registered)
    else:
        raise TypeError(f"expected an Algorithm, a maker or a method's name; got {method!r}")
    given = {*(arguments or {}), "local_steps", "participants", "sampling"}
    missing = [name for name, value in subject.parameters.items() if value is inspect.Parameter.empty and name not in given]
    if missing:
        raise TypeError(f"{subject.name} needs {', '.join(missing)}; give arguments={{{missing[0]!r}: ...}}")
    subject = replace(subject.with_arguments(arguments), traits=subject.traits.with_arguments(arguments or {}))
    return on_numpy_if_it_can(subject)


def _of_maker(name: str, make, traits: Traits) -> Subject:
    try:
        signature = inspect.signature(make)
    except ValueError:  # of a builtin
        raise TypeError(f"expected an Algorithm, a maker or a method's name; got {make!r}") from None
    parameters = {n: p.default for n, p in signature.parameters.items() if p.kind is not p.VAR_KEYWORD}
    return Subject(name, make, parameters, traits)


def _of_algorithm(algorithm: Algorithm, traits: Traits | None) -> Subject:
    """Arguments are the fields of the algorithm and of its parts, ``participants`` and ``sampling``."""
    parameters = {f.name: getattr(algorithm, f.name) for f in fields(algorithm)}
    for part in algorithm.parts:
        parameters |= {f.name: getattr(part, f.name) for f in fields(part)}

    def make(participants=None, sampling="without-replacement", **changes):
        new, own = algorithm, {f.name for f in fields(algorithm)}
        for name in PARTS:
            part = getattr(new, name)
            inner = {f.name: changes[f.name] for f in fields(part) if f.name in changes and f.name not in own}
            new = new.having(**{name: replace(part, **inner)}) if inner else new
        outer = {name: value for name, value in changes.items() if name in own}
        scheme = sampled(participants, sampling).sampling
        selection = outer.pop("selection", None) or replace(new.selection, sampling=scheme)
        return new.having(selection=selection, **outer)

    traits = traits or getattr(type(algorithm), "traits", None) or Traits()
    return Subject(algorithm.name, make, parameters | {"participants": None, "sampling": "without-replacement"}, traits)


def on_numpy_if_it_can(subject: Subject) -> Subject:
    """The subject on NumPy, which is faster on small arrays; on torch if the method needs torch."""
    case = Case(clients=2, dim=2, rounds=1, local_steps=1)
    try:
        play(subject.build(case), case.federation(NUMPY), case)
    except Exception:  # the property "NumPy and torch" reports it
        return subject
    return replace(subject, backend=NUMPY)


# running -------------------------------------------------------------------------------------------------------------------
def play(algorithm, federation, case: Case, *, start=None, seeds=None, draws=None, state=None, first=0, rounds=None,
         everyone=False, observers=()) -> list:
    """The states before the first and after each round; with ``first`` and ``state`` from a later round on."""
    backend = federation.backend
    draws = Draws(case.seeds if seeds is None else seeds, backend) if draws is None else draws
    if state is None:
        state = begin(algorithm, federation, case, start, draws)
    rounds = case.rounds - first if rounds is None else rounds
    with np.errstate(all="ignore"):
        return [state, *rounds_of(algorithm, federation, state, draws, first, rounds, observers, everyone)]


def begin(algorithm, federation, case: Case, start=None, draws=None):
    """The state before the first round."""
    if reason := algorithm.refuses(federation):
        raise NotApplicable(f"it refuses such a federation: {reason}")
    draws = Draws(case.seeds, federation.backend) if draws is None else draws
    x = starting_points(federation, case.start() if start is None else to_numpy(start), draws.runs)
    return algorithm.init(federation, x, draws)


def outputs(algorithm, states) -> np.ndarray:
    """The models that the method returns, (runs, rounds + 1, dim)."""
    return np.stack([to_numpy(algorithm.output(state)) for state in states], axis=1)


def models(subject: Subject, case: Case, federation=None, **how) -> np.ndarray:
    """The models that a method returns on a case, (runs, rounds + 1, dim); ``how`` as in :func:`play`."""
    algorithm = subject.build(case)
    federation = case.federation(subject.backend) if federation is None else federation
    return outputs(algorithm, play(algorithm, federation, case, **how))


def arrays_of(state) -> dict[str, Any]:
    """Every array of a state by name."""
    found = {"x": state.x}
    for owner in ("server", "clients"):
        found |= {f"{owner}' {name}": value for name, value in getattr(state, owner).items()}
    if state.participation is not None:
        found |= {f"participation {name}": getattr(state.participation, name) for name in ("included", "weight")}
    return found


def describe(array) -> str:
    """Library, device and dtype of an array."""
    backend = backend_of(array)
    return f"{backend.library} {backend.device if backend.library == 'torch' else ''} {array.dtype}".replace("  ", " ")
