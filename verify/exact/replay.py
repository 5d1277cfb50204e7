"""Runs a counterexample again in float64, and compares its sides with the exact ones; both sides along its run."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

from bounds.language.claim import Claim, Condition
from synthetic.numbers.arrays import TORCH, Backend, namespace, to_numpy
from verify.checker.limits import LISTED
from verify.checker.schema import EACH_ROUND
from verify.claims.existential import position_of, with_position
from verify.claims.method import free_starts
from verify.claims.open_constants import constants_of_losses
from verify.evaluation.environment import Environment, NamedArray, UnboundName
from verify.evaluation.evaluate import sides
from verify.evaluation.judge import unmet
from verify.evaluation.term_sizes import sizes_of_sides
from verify.instances.chance import chance_of
from verify.instances.families import read_clients
from verify.instances.instance import outcomes
from verify.instances.parameters import START, Parameters
from verify.instances.shape import Shape, with_times
from verify.measure.simulate import simulate
from verify.results.verdict import Series

__all__ = ["Replayed", "instance_of", "replay", "rerun", "series_of", "tight_hypotheses", "worst_of", "worst_sides"]

CANNOT = (ArithmeticError, IndexError, LookupError, NotImplementedError, TypeError, UnboundName, ValueError)
LONGER = 12  # rounds of the longest run that is drawn for a counterexample without chance
_POINTS = 30  # runs of different lengths that are drawn for a counterexample
_DRAWN = {True: 2000, False: 60}  # rounds of the longest one, without chance and with it
_MOST_NUMBERS = 2**24  # models of clients, in all outcomes
_MOST_OUTCOMES = 4096  # of a run of another length than the counterexample's
_AGREEMENT = 1e-6  # relative difference from the exact sides that float64 may have
_ROUNDING = 1e-13  # the same, of the terms that cancel in the sides


@dataclass(frozen=True)
class Replayed:
    """Both sides of the statement in float64 and in the certificate; ``agrees``: whether they are equal up to rounding;
    ``series`` as in :func:`series_of`."""

    left: float
    right: float
    exact_left: float
    exact_right: float
    agrees: bool
    series: tuple[Series, ...]


def _is_symmetric(law) -> bool:
    """Whether noise is a vector or its opposite, with equal chances, or zero."""
    (p, up), (q, down), (_, none) = ((Fraction(chance), [*map(Fraction, vector)]) for chance, vector in law)
    return p == q and down == [-entry for entry in up] and not any(none)


def instance_of(data: Mapping[str, Any]) -> tuple[Shape, Parameters]:
    """The shape of a certificate's instance and its leaves, one row of fractions each."""
    sizes, instance = data["sizes"], data["instance"]
    known = set(Shape().as_sizes())
    own = tuple((name, value) for name, value in sizes.items() if name not in known)
    shape = Shape(rounds=sizes["rounds"], local_steps=sizes["local_steps"], dim=sizes["dim"], clients=sizes["clients"],
                  participants=sizes["participants"], sizes=own)
    if data["setting"] == "algebra":
        return replace(shape, sizes=tuple(sizes.items())), {}
    procedure = data["procedure"] if data["setting"] == "run" else {"sampling": "full"}
    family, params = read_clients(instance, sizes, _fractions)
    own = tuple((name, value) for name, value in own if name not in family.sizes())
    shape = replace(shape, sizes=own, sampling=procedure["sampling"], family=family)
    if family.coupled:
        weight = _fractions([1] * shape.clients)[None]
        return shape, params | {"start_offset": _fractions(instance["start_offset"])[None], "weight": weight}
    noisy = tuple(k for k, law in enumerate(instance["noise"]) if law)
    law = instance["noise"][noisy[0]] if noisy else [["1/2"], ["1/2"]]
    symmetric = len(law) > 2
    if symmetric and not all(_is_symmetric(instance["noise"][k]) for k in noisy):
        raise ValueError("noise of three outcomes is run again where two are opposite, of equal chance, and one is zero")
    shape = replace(shape, free=[*map(Fraction, instance["priority"])].count(0), noisy=noisy, symmetric=symmetric,
                    rare=1 - Fraction(law[-1][0]))
    if prod(outcomes(shape)) > LISTED and shape.rare == Fraction(1, 2) and not symmetric:
        shape = replace(shape, many_draws=True)
    given = {"center": "center", "weight": "client_weight", "offset": "offset"}
    given |= {name: name for name in ("start_offset", "epsilon", "available") if name in instance}
    params |= {leaf: _fractions(instance[name])[None] for leaf, name in given.items()}
    params |= {name: np.repeat(params[name], shape.rounds + 1, axis=1) for name in EACH_ROUND
               if name in params and params[name].shape[1] == 1}
    if "half_tangent" in instance:
        params["half_tangent"] = _fractions(np.atleast_1d(instance["half_tangent"])[None])
    noise = [[Fraction(v) / shape.noise_law[0][1] for v in instance["noise"][k][0][1]] for k in noisy]
    params["noise"] = _fractions(noise).reshape(1, len(noisy), shape.dim)
    if data["setting"] == "point":
        star = _fractions(instance["x_star"])
        params["local_offset"] = (_fractions(instance["x_local"])[0] - star)[None]
        params["included"] = _fractions(instance["included"]).reshape(1, -1)
    return shape, params


def _values_of(claim: Claim, data: Mapping[str, Any], backend: Backend) -> dict[str, NamedArray]:
    """The values in the certificate; values given by a formula follow from the claim's conditions."""
    vectors = {v.name for v in claim.variables if v.domain == "vector"}
    bound = {}
    for name, value in data["values"].items():
        if isinstance(value, Mapping):
            continue
        array = backend.array(_floats(_fractions(value), backend))
        vector = name in vectors
        bound[name] = NamedArray(array.reshape(1, 1, 1, *array.shape), array.ndim - vector, vector)
    return bound


def rerun(data: Mapping[str, Any], claim: Claim, backend: Backend = TORCH, rounds: int | None = None,
          place: str = "1", most: int | None = None, local_steps: int | None = None) -> Environment:
    """Run the instance of a certificate again, with every name of the claim bound; with other ``rounds`` or ``local_steps``
    than the certificate's, the last thresholds are repeated, and steps and constants of the run are derived again. A number
    that is said to exist lies at this ``place`` of its interval, from 0 to 1. ``most``: entries of an array; TooManyTerms
    for more.

    Raises:
        UnboundName, ValueError, ...: the claim is not the one that the certificate was made for, or leaves its steps free.
    """
    claim, (shape, params) = with_position(claim), instance_of(data)
    layers = tuple(int(size) for size in data["instance"].get("layer_sizes", []))
    shape = replace(shape, layers=layers if len(layers) > 1 else (), chance=chance_of(claim.procedure, claim.variables))
    initial = data["instance"].get("initial", {})
    params |= {f"{START}{n}": _fractions(initial[n])[None] for n in free_starts(claim.procedure) if n in initial}
    if claim.exists is not None:
        params[position_of(claim)] = _fractions([place])
    values = _values_of(claim, data, backend)
    lengths = (local_steps or shape.local_steps, rounds or shape.rounds)
    if lengths != (shape.local_steps, shape.rounds):
        shape, params = with_times(claim, shape, params, *lengths)
        if prod(outcomes(shape)) > _MOST_OUTCOMES:
            raise ValueError(f"at most {_MOST_OUTCOMES} outcomes of chance are drawn; {lengths[1]} rounds of {lengths[0]} "
                             "local steps have more")
        kept = {v.name for v in claim.variables} | constants_of_losses(claim)
        values = {name: bound for name, bound in values.items() if name in kept}
    numbers = prod(outcomes(shape)) * shape.iterations * shape.clients * shape.dim
    if numbers > _MOST_NUMBERS:
        raise ValueError(f"all outcomes of {shape.rounds} rounds have more than {_MOST_NUMBERS} numbers, and are not run "
                         "again in float64; fedtheory check replays the certificate")
    params = {name: _floats(array, backend) for name, array in params.items()}
    return simulate(claim, shape, params, backend, values=values, most=most)


def worst_sides(claim: Claim, environment: Environment) -> tuple[np.ndarray, np.ndarray]:
    """Both sides where they are worst, for each value of the statement's first index (one value if it has none)."""
    return worst_of(claim.statement, *sides(claim.statement, environment))


def worst_of(condition: Condition, left, right, mask, largest: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """The sides of a condition (... , one axis per index) where they are worst, for each value of its first index (one value
    if it has none). Of equally bad places the first one, or the one with the ``largest`` left side."""
    left, right, mask = (_numbers(a) for a in _together(left, right, mask))
    kept = left.ndim - len(condition.over) if condition.over else None
    count = left.shape[kept] if kept is not None else 1
    left, right, mask = (np.moveaxis(a, kept, 0).reshape(count, -1) if kept is not None else a.reshape(1, -1)
                         for a in (left, right, mask))
    gap = {"<=": left - right, ">=": right - left, "==": abs(left - right)}[condition.relation]
    place = np.argmax(np.where(mask > 0, gap, -np.inf), axis=1)
    rows = np.arange(count)
    if largest:
        tied = (gap == gap[rows, place][:, None]) & (mask > 0)
        place = np.where(tied.any(axis=1), np.argmax(np.where(tied, abs(left), -np.inf), axis=1), place)
    there = mask[rows, place] > 0
    return tuple(np.where(there, side[rows, place], np.nan) for side in (left, right))


def replay(data: Mapping[str, Any], claim: Claim) -> Replayed:
    """Run a certificate's instance by the ordinary algorithm in float64, and compare its sides with the exact ones.

    Raises:
        ValueError: the instance cannot be made again in float64.
    """
    try:
        environment = rerun(data, claim)
        left, right = worst_sides(claim, environment)
        terms = _terms(claim, environment)
    except CANNOT as problem:
        raise ValueError(f"the instance of {claim.id} cannot be run again: {problem}") from problem
    gap = {"<=": left - right, ">=": right - left, "==": abs(left - right)}[claim.statement.relation]
    worst = int(np.nanargmax(gap))
    exact = tuple(float(_middle(data[side])) for side in ("left", "right"))
    slack = max(_AGREEMENT * (abs(exact[0]) + abs(exact[1])), _ROUNDING * terms)
    agrees = all(abs(a[worst] - b) <= slack for a, b in zip((left, right), exact, strict=True))
    return Replayed(float(left[worst]), float(right[worst]), *exact, agrees, series_of(data, claim))


def _terms(claim: Claim, environment: Environment) -> float:
    """The largest sum of absolute values of the terms of both sides."""
    left, right, mask = (_numbers(a) for a in _together(*sizes_of_sides(claim.statement, environment)))
    terms = (left + right)[mask > 0]
    return float(terms[np.isfinite(terms)].max(initial=0.0))


def _lengths(data: Mapping[str, Any]) -> np.ndarray:
    """Numbers of rounds to look at: all if they are few, else a geometric sequence and the certificate's own."""
    own, instance = data["sizes"]["rounds"], data["instance"]
    certain = data["procedure"]["sampling"] == "full" and "atoms" not in instance and not any(instance["noise"])
    longest = max(own, LONGER if certain else 0)  # without chance longer runs are as cheap
    few = np.arange(1, longest + 1) if longest <= _POINTS else np.geomspace(1, longest, _POINTS).round().astype(int)
    lengths = np.union1d(few, own)
    return lengths[lengths <= _DRAWN[certain]]


def _after(data: Mapping[str, Any], claim: Claim, rounds: int, backend: Backend) -> tuple[np.ndarray, np.ndarray]:
    """Both sides for a run of that many rounds; NaN where a hypothesis is not met."""
    nothing = np.full(1, np.nan)
    try:
        environment = rerun(data, claim, backend, rounds)
        if rounds != data["sizes"]["rounds"] and unmet(claim.hypotheses, environment):
            return nothing, nothing
        return worst_sides(claim, environment)
    except CANNOT:
        return nothing, nothing


def tight_hypotheses(data: Mapping[str, Any], claim: Claim) -> list[Condition]:
    """The inequalities among a claim's hypotheses that the counterexample meets with equality somewhere.

    Those that bound a constant are left out: a constant takes the tightest value that they admit.
    """
    try:
        environment, found = rerun(data, claim), []
        for condition in claim.hypotheses:
            left, right, mask = (_numbers(a) for a in _together(*sides(condition, environment)))
            equal = (mask > 0) & (abs(left - right) <= 1e-9 * (abs(left) + abs(right)))
            constant = condition.left.is_Symbol or condition.right.is_Symbol
            if condition.relation != "==" and not constant and equal.any():
                found.append(condition)
    except CANNOT:
        return []
    return found


@np.errstate(all="ignore")  # shorter runs may divide by zero; where they do, both sides are not drawn
def series_of(data: Mapping[str, Any], claim: Claim, backend: Backend = TORCH) -> tuple[Series, ...]:
    """Both sides along the counterexample, over the first index of the statement or the number of rounds; empty if there is
    neither, or if the instance cannot be run again."""
    try:
        if claim.statement.over:
            index, low, _ = claim.statement.over[0]
            environment = rerun(data, claim, backend)
            left, right = worst_sides(claim, environment)
            start = int(low.subs({s: environment.sizes[s.name] for s in low.free_symbols}))
            x, label, note = start + np.arange(len(left)), str(index), ""
        elif claim.setting == "run":
            x = _lengths(data)
            sides_after = (_after(data, claim, int(rounds), backend) for rounds in x)
            left, right = (np.concatenate(side) for side in zip(*sides_after, strict=True))
            label, note = "rounds", "the federation of the counterexample, where every hypothesis is met"
        else:
            return ()
    except CANNOT:
        return ()
    known = ~(np.isnan(left) | np.isnan(right))
    if known.sum() < 2:
        return ()
    x, left, right = (a[known].tolist() for a in (x, left, right))
    title = f"{claim.id}: both sides on the counterexample"
    return (Series(title, label, "sides of the statement", [float(v) for v in x], left, right, note=note,
                   relation=claim.statement.relation),)


def _together(left, right, mask):
    xp = namespace(left)
    return xp.broadcast_arrays(left, right, mask)


def _numbers(array) -> np.ndarray:
    return np.asarray(to_numpy(array), dtype=float)


def _fractions(value) -> np.ndarray:
    """Nested lists of text as an array of fractions."""
    return np.vectorize(Fraction, otypes=[object])(np.array(value, dtype=object)) if np.size(value) else np.zeros((0,))


def _floats(array: np.ndarray, backend: Backend) -> np.ndarray:
    return array if backend.library in ("exact", "balls") else array.astype(float)


def _middle(text: str) -> Fraction:
    """The number of a side: a fraction, or the middle of what encloses it."""
    ends = [Fraction(end) for end in text.split(" to ")]
    return sum(ends) / len(ends)
