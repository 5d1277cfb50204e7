"""The method of a claim: from its name and options to an algorithm of ``fedtheory``."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import sympy as sp

from bounds.formulas.well_formed import Fault
from bounds.language.claim import HOLDS, INDEPENDENT, SAMPLING, Claim, Condition, Procedure, names_in
from bounds.language.on_samples import speaks_of_samples
from bounds.language.operators import local_steps
from fedtheory import Algorithm, FedAvg, find_algorithm, make_algorithm
from fedtheory.registry import ALGORITHMS
from fedtheory.selection import SCHEMES, Always, EveryPriority, LossMatching, PriorityOnly, Selection
from fedtheory.traits import Record
from synthetic.numbers.decimals import as_written

__all__ = [
    "PARAMETERS", "algorithm_of", "by_coordinate", "faults_of_method", "free_starts", "own_arguments",
    "recorded_by_methods", "selection_of", "solves_local_problems", "subset_left_open",
]

#: names of what an instance has besides the names of the language, in the search or in a certificate
PARAMETERS = frozenset({
    "atoms", "available", "center", "curvature", "factors", "half_tangent", "initial", "layer_sizes", "local_offset",
    "loss_inf", "noise", "offset", "piece_center", "piece_slope", "piece_width", "pieces", "sample_center",
    "sample_curvature", "sample_knot", "sample_offset", "sample_slope", "sample_width", "start_offset", "step_fraction",
    "step_scale", "tail", "tie", "weight"})

#: methods that say themselves which free clients take part -> which ones
_OTHER_CLIENTS = {
    "fedavg-priority": "no free clients", "fedprox-priority": "no free clients", "fedavg-all": "all free clients",
    "fedprox-all": "all free clients", "fedalign-fraction": "a random fraction of the free clients that match"}


def selection_of(procedure: Procedure | None, participants: int = 1, epsilon=None, free=None, participation=1) -> Selection:
    """The selection that a claim's procedure names.

    Args:
        participants: the number of sampled priority clients.
        epsilon: the matching threshold; None: free clients take no part.
        free: the availability of free clients.
        participation: the probability with which each priority client takes part, where they decide by themselves.
    """
    procedure = procedure or Procedure()
    sampling = EveryPriority() if procedure.sampling == "full" else SCHEMES[procedure.sampling](participants)
    if procedure.sampling in INDEPENDENT:
        sampling = replace(sampling, probability=participation, participants=None)
    if epsilon is None:
        return Selection(PriorityOnly(), sampling)
    matching = LossMatching(epsilon, strict=procedure.strict, indicator=procedure.indicator)
    return Selection(matching, sampling, free or Always())


def own_arguments(procedure: Procedure | None) -> tuple[str, ...]:
    """Names of the hyper-parameters of the procedure's method besides steps and selection."""
    arguments = find_algorithm((procedure or Procedure()).base).arguments
    return tuple(name for name in arguments if name not in ("eta_l", "local_steps", "participants", "sampling"))


@cache
def recorded_by_methods() -> dict[str, Record]:
    """The methods' declarations on arrays that their runs record, by the arrays' names in claims."""
    return {name: record for method in ALGORITHMS.values() for name, record in method.traits.records.items()}


def faults_of_method(claim: Claim) -> Iterator[Fault]:
    """Faults of a claim's procedure: an unknown method or sampling, options that the method does not take; and variables or
    constants whose name is that of a parameter of its instances."""
    procedure = claim.procedure
    if procedure is None:
        return
    variables = [variable.name for variable in claim.variables]
    chosen = [] if claim.exists is None else [claim.exists.name]
    for name in PARAMETERS.intersection([*variables, *claim.constants, *chosen] if claim.setting != "algebra" else ()):
        part = "variables" if name in variables else "exists" if name in chosen else "constants"
        yield Fault(part, 0, name, f"{name} is the name of a parameter of every instance; choose another name")
    if procedure.sampling not in SAMPLING:
        yield Fault("sampling", 0, procedure.sampling,
                    f"unknown sampling {procedure.sampling!r}; allowed: {', '.join(SAMPLING)}")
    own = procedure.sampling in INDEPENDENT
    if own and (procedure.free_clients or speaks_of_samples(claim)):
        yield Fault("sampling", 0, procedure.sampling, f"{procedure.sampling} sampling is defined for claims without free "
                    "clients and without samples; allowed: another sampling")
    if own and not {*claim.constants, *(v.name for v in claim.variables)} & {"participation"}:
        yield Fault("sampling", 0, "participation", f"{procedure.sampling} sampling needs the probability participation: a "
                    "condition 'participation == ...' or a variable")
    try:
        method = find_algorithm(procedure.base)
    except LookupError as error:
        yield Fault("method", 0, procedure.base, error.args[0])
        return
    if procedure.free_clients and procedure.base in _OTHER_CLIENTS:
        yield Fault("free_clients", 0, "true", f"{procedure.base} takes {_OTHER_CLIENTS[procedure.base]}, and a claim's "
                    "free clients take part while their loss matches; allowed: false, or another method")
    options = dict(procedure.options)
    for name in options:
        if name in ("eta_l", "local_steps", "participants", "replacement") and claim.setting == "run":
            given = "sampling" if name == "replacement" else "conditions"
            yield Fault("options", 0, name, f"{name} is no option; {given} say what it is; got {name} = {options[name]!r}")
            continue
        if name not in method.arguments and not method.passes_on:
            allowed = ", ".join(method.arguments)
            yield Fault("options", 0, name, f"{procedure.base} takes no option {name!r}; allowed: {allowed}")
            continue
        problem = _refused(procedure.base, options)
        if problem and not _refused(procedure.base, {other: value for other, value in options.items() if other != name}):
            yield Fault("options", 0, name, f"{name} = {options[name]!r}: {problem}")
    for variable in claim.variables if claim.setting == "run" else ():
        default = 1 if variable.name == "participation" else method.arguments.get(variable.name)  # None: perhaps an array
        text, number = isinstance(default, str | bool), default is not None
        if text or (number and (variable.indices or variable.domain in ("vector", "simplex"))):
            got = variable.domain + (f"[{', '.join(size for _, size in variable.indices)}]" if variable.indices else "")
            allowed = "a value under options" if text else "positive, nonnegative, real, integer"
            yield Fault("variables", 0, variable.name, f"{variable.name} is an argument of {procedure.base}, "
                        f"{'no number' if text else 'one number'}; got {got}, allowed: {allowed}")
    if solves_local_problems(procedure):
        for place, condition in enumerate(claim.conditions):
            if names_in(condition.left) | names_in(condition.right) == {"local_steps"} and not _holds_at_one(condition):
                text = f"{condition.left} {condition.sign} {condition.right}"
                yield Fault("conditions", place, "local_steps", (
                    f"{text}: the options of {procedure.base} have the local problem solved, so a round has one local step"))


def _holds_at_one(condition: Condition) -> bool:
    """Whether a condition on the number of local steps alone holds for one."""
    left, right = (sp.sympify(side).xreplace({local_steps: sp.S.One}) for side in (condition.left, condition.right))
    return bool(HOLDS[condition.sign](left, right))


@cache
def solves_local_problems(procedure: Procedure | None) -> bool:
    """Whether the procedure's clients solve their local problem, so that a round has one local step."""
    procedure = procedure or Procedure()
    try:
        starts = dict.fromkeys(free_starts(procedure), 0.0)
        return make_algorithm(procedure.base, **starts | dict(procedure.options)).client.solves
    except (ValueError, TypeError, LookupError):  # options that take more to be a method
        return False


def _refused(base: str, options: dict) -> str:
    """The error that a method raises for these options for every number of local steps; empty if it takes them for one."""
    said, starts = "", dict.fromkeys(free_starts(Procedure(base, options=tuple(options.items()))), 0.0)
    for steps in (1, 2, 720720):  # the last is more than any option asks for, and a multiple of every small number
        try:
            make_algorithm(base, **{"local_steps": steps} | starts | options)
        except (ValueError, TypeError, LookupError) as error:
            said = said or str(error.args[0] if error.args else error)
        else:
            return ""
    return said


def by_coordinate(procedure: Procedure | None) -> bool:
    """Whether the procedure's method treats every coordinate by itself, as Adam does."""
    procedure = procedure or Procedure()
    return (find_algorithm(procedure.base).traits.orthogonal == "signed permutations"
            and dict(procedure.options).get("norm") != "scalar")


def subset_left_open(claim: Claim) -> tuple[str, ...]:
    """The name of the second-stage sample size of the claim's method, if the claim mentions it and leaves it free."""
    procedure = claim.procedure or Procedure()
    name = find_algorithm(procedure.base).traits.subset
    return (name,) if claim.setting == "run" and name in claim.names and name not in dict(procedure.options) else ()


@cache
def free_starts(procedure: Procedure | None) -> dict[str, bool]:
    """Arguments for the method's arrays at the start, if these are free: name -> whether every client has one."""
    procedure = procedure or Procedure()
    if not str(dict(procedure.options).get("start")).startswith("free"):
        return {}
    arguments = find_algorithm(procedure.base).arguments
    names = {name: name.startswith("client_") for name, default in arguments.items()
             if default is None and name.startswith(("client_", "server_"))}
    for kept in (names, *({name: each for name, each in names.items() if each == by_client} for by_client in (False, True))):
        try:
            make_algorithm(procedure.base, **dict(procedure.options), **dict.fromkeys(kept, 0.0))
            return kept
        except ValueError:
            continue
    return {}


def algorithm_of(procedure: Procedure | None, eta_l, local_steps: int, selection: Selection, own: dict,
                 exact: bool = False) -> Algorithm:
    """The algorithm that a claim's procedure names, with its ``own`` hyper-parameters.

    ``exact``: decimals among the options and the method's defaults become the fractions that they write.
    """
    procedure = procedure or Procedure()
    if procedure.base == "fedavg" and not own and not procedure.options:
        return FedAvg(eta_l, local_steps, selection)
    options = dict(procedure.options)
    if exact:
        options = {name: value for name, value in find_algorithm(procedure.base).arguments.items()
                   if isinstance(value, float) and name != "eta_l"} | options
        options = {name: as_written(value) if isinstance(value, float) else value for name, value in options.items()}
    made = make_algorithm(procedure.base, eta_l=eta_l, local_steps=local_steps, **options | own)
    return made.having(selection=selection)
