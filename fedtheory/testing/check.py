"""Runs every property on a method; shrinks the federation on which a property fails while it still fails."""

from collections.abc import Iterable, Sequence
from os.path import basename
from traceback import extract_tb

from fedtheory.testing import (  # noqa: F401  (they enter their properties)
    properties_basic,
    properties_costs,
    properties_declared,
    properties_participation,
    properties_sampling,
    properties_symmetry,
)
from fedtheory.testing.federations import CASES, Case
from fedtheory.testing.outcome import Broken, NotApplicable
from fedtheory.testing.property import PROPERTIES, Property
from fedtheory.testing.report import FAILED, NOT_APPLICABLE, PASSED, Report, Result
from fedtheory.testing.subject import Subject, play, subject_of
from fedtheory.traits import Traits

__all__ = ["check_algorithm", "first_failure", "properties_of"]

QUICK = 2  #: number of cases of a quick check


def check_algorithm(
    method, *, arguments=None, traits: Traits | None = None, federations: Sequence[Case] | None = None,
    quick: bool = False, only: Iterable[str] | None = None,
) -> Report:
    """Check a federated method against every property that applies to it.

    Args:
        method: an algorithm, its class, a maker of algorithms (a function of plain arguments), or a registered name. The
            suite chooses the participants: all clients, or uniform draws. It replaces an algorithm's own sampling, and
            passes ``participants`` to a maker that has this argument.
        arguments: for the maker, or for the fields of the algorithm and of its parts.
        traits: the declared traits; default its registered traits, or the attribute ``traits`` of its class.
        federations: the cases to check; default :data:`fedtheory.testing.CASES`.
        quick: only the first two cases, and failing federations are not shrunk.
        only: names of properties; default all.

    Returns:
        A :class:`Report` with one result per property. It prints as a table; ``raise_if_failed()`` is for tests.

    Raises:
        TypeError: not a method, or one that stops with an error in a round on two clients in the plane.
        LookupError: an unknown name of a method or property, or traits that name one.
    """
    subject = subject_of(method, arguments, traits)
    cases = tuple(CASES if federations is None else federations)
    properties = properties_of(subject)
    names = list(properties) if only is None else list(only)
    for name in [*names, *subject.traits.exempt]:
        if name not in properties:
            raise LookupError(f"unknown property {name!r}; known: {', '.join(properties)}")
    cases = cases[:QUICK] if quick else cases
    _check_that_it_runs(subject)
    return Report(subject.name, tuple(result_of(properties[name], subject, cases, not quick) for name in names))


def _check_that_it_runs(subject: Subject) -> None:
    """Raise TypeError, with the line at fault, if one round on two clients raises what no refusal of a federation does."""
    case = Case(clients=2, dim=2, rounds=1, local_steps=1, runs=1, sigma=0.0)
    try:
        play(subject.build(case), case.federation(subject.backend), case)
    except (NotApplicable, ValueError):  # properties say on which federations
        return
    except Exception as error:
        last = extract_tb(error.__traceback__)[-1]
        said = " ".join(str(error).split())
        raise TypeError(f"{subject.name} does not run: {type(error).__name__}: {said} ({basename(last.filename)}, line "
                        f"{last.lineno}, in {last.name}), on {case}") from error


def properties_of(subject: Subject) -> dict[str, Property]:
    """Every property of every method, and those that this one declares, by name."""
    return PROPERTIES | {property.name: property for property in properties_declared.declared(subject)}


def outcome_of(property: Property, subject: Subject, case: Case) -> tuple[str, Exception | None]:
    """Whether the property holds on one case. Any other exception of a method is a failure too."""
    try:
        property.check(subject, case)
    except NotApplicable as error:
        return NOT_APPLICABLE, error
    except Exception as error:
        return FAILED, error
    return PASSED, None


def first_failure(property: Property, subject: Subject, cases) -> tuple[Case, Exception] | None:
    """The first case on which a property fails, with the exception; None if there is none."""
    for case in property.cases(cases, subject):
        outcome, error = outcome_of(property, subject, case)
        if outcome == FAILED:
            return case, error
    return None


def result_of(property: Property, subject: Subject, cases, shrink: bool) -> Result:
    """The property's result over all cases."""
    if property.name in subject.traits.exempt:
        return Result(property.name, property.meaning, NOT_APPLICABLE, f"declared: {subject.traits.exempt[property.name]}")
    reasons, passed = [], False
    for case in property.cases(cases, subject):
        outcome, error = outcome_of(property, subject, case)
        if outcome == FAILED:
            return _failure(property, subject, case, error, shrink)
        passed = passed or outcome == PASSED
        reasons += [str(error)] if outcome == NOT_APPLICABLE else []
    if passed:
        return Result(property.name, property.meaning, PASSED)
    return Result(property.name, property.meaning, NOT_APPLICABLE, reasons[0] if reasons else "no case for it")


def _failure(property, subject, case, error, shrink) -> Result:
    """The failure on the smallest case found by greedy simplification."""
    smaller = True
    while shrink and smaller:
        smaller = False
        for candidate in case.smaller():
            candidate = candidate.but(**(property.where | dict(subject.traits.where)))
            if candidate == case:
                continue
            outcome, found = outcome_of(property, subject, candidate)
            if outcome == FAILED and isinstance(found, Broken) == isinstance(error, Broken):
                case, error, smaller = candidate, found, True
                break
    if isinstance(error, Broken):
        return Result(property.name, property.meaning, FAILED, error.what, error.expected, error.got, case)
    raised = f"it raised {type(error).__name__}: {' '.join(str(error).split())}"
    return Result(property.name, property.meaning, FAILED, raised, case=case)
