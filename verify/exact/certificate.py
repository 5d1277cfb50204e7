"""Counterexamples as JSON: written from an exact instance, for the stand-alone checker."""

from fractions import Fraction
from typing import Any

import numpy as np

from bounds.language.claim import Claim
from synthetic.numbers.arrays import EXACT, to_numpy
from synthetic.numbers.balls import Ball
from synthetic.numbers.decimals import beyond_balls, certain, enclosure, rational_in
from verify.checker.limits import MANY_ROUNDS
from verify.checker.operators import FORMAT
from verify.checker.piecewise_quadratic import BOUNDS
from verify.checker.schema import EACH_ROUND, SIZES
from verify.claims.existential import with_position, without_position
from verify.claims.method import free_starts
from verify.claims.needs import speaks_of_samples
from verify.evaluation.environment import Environment
from verify.evaluation.judge import exact_violation
from verify.exact.alone import printed
from verify.exact.statement import definition_of, free_names, statement_of
from verify.instances.instance import federation_of
from verify.instances.parameters import Parameters
from verify.instances.shape import Shape

__all__ = ["certificate", "printed"]


def certificate(claim: Claim, environment: Environment, left, right) -> dict[str, Any]:
    """The certificate of the one exact instance of an environment with the sides it breaks. Of a number that is said to
    exist it has no subdivision of the interval yet."""
    claim, also, (shape, params) = without_position(claim), {}, environment.instance
    if environment.also is not None:  # both readings of the gradients of clients with samples
        sides = exact_violation(with_position(claim), environment.also)
        also = {"also": {"values": _values(claim, environment.also), "left": _side(sides[0]), "right": _side(sides[1])}}
    return {
        "format": FORMAT,
        **statement_of(claim),
        "sizes": _sizes(claim, shape),
        "instance": {} if claim.setting == "algebra" else _instance(claim, shape, params, environment),
        "values": _values(claim, environment),
        "left": _side(left),
        "right": _side(right),
    } | also


def _sizes(claim: Claim, shape: Shape) -> dict[str, int]:
    free = {*SIZES, *free_names(claim), *(["samples"] if speaks_of_samples(claim) else [])}
    return {name: size for name, size in shape.as_sizes().items() if name in free}


def _values(claim: Claim, environment: Environment) -> dict[str, Any]:
    """Values of the names that the claim leaves free."""
    sizes, arrays = environment.sizes, environment.bound
    found = {name: arrays[name].data for name in free_names(claim) if name in arrays and name not in sizes}
    return {name: _value(claim, name, a[0, 0, 0]) for name, a in found.items() if a.shape[1] == a.shape[2] == 1}


def _value(claim: Claim, name: str, value):
    """A value as text. If it is irrational, or only known to be near a simple fraction: the place of the hypothesis that
    defines it; or, for a bound on something, a fraction just beyond it."""
    definition = definition_of(claim, name)
    if definition is None or (claim.exists is None and certain(value)):
        try:
            return _text(value)
        except ArithmeticError:
            pass
    if definition is not None:
        return definition
    beyond = ">=" if name in BOUNDS else None
    for condition in claim.hypotheses:
        for side, relation in ((condition.left, condition.relation), (condition.right, _TURNED[condition.relation])):
            if side.is_Symbol and side.name == name and relation != "==":
                beyond = relation
    if beyond is None:
        raise ArithmeticError(f"{name} is irrational, and no condition gives it by one formula, or bounds it")
    return beyond_balls(value, upwards=beyond == ">=")


_TURNED = {"<=": ">=", ">=": "<=", "==": "=="}


def _side(value) -> str:
    """A side of the statement: a fraction, or decimals that enclose it."""
    return printed(value) if isinstance(value, Fraction) else enclosure(value) if isinstance(value, Ball) else _text(value)


def _instance(claim: Claim, shape: Shape, params: Parameters, environment: Environment) -> dict[str, Any]:
    losses = shape.family.write(params, _text)
    if shape.family.coupled:
        return losses | {"start_offset": _text(params["start_offset"][0]), "initial": _initial(claim, environment)}
    federation = federation_of(shape, params, EXACT)
    data = {"center": _text(params["center"][0]), "x_star": _text(federation.x_star[0])}
    if "half_tangent" in params and shape.dim > 1:
        tangent, federation = params["half_tangent"][0], federation.given
        data["half_tangent"] = _text(tangent[0] if len(tangent) == 1 else tangent)
    data |= losses
    data["offset"], data["client_weight"] = _text(federation.offset[0].reshape(shape.clients)), _text(federation.weights[0])
    data["layer_sizes"] = [layer.stop - layer.start for layer in environment.federation.layers()]
    data["priority"] = shape.is_priority.astype(int).tolist()
    data["noise"] = [[] for _ in range(shape.clients)]
    for slot, client in enumerate(shape.noisy):
        a = params["noise"][0, slot]
        data["noise"][client] = [[str(chance), _text(a * factor)] for chance, factor in shape.noise_law]
    if claim.setting == "point":
        data["included"] = _text(params["included"])
        data["x_local"] = _text(to_numpy(environment.bound["x_local"].data)[0, 0, 0])
        return data
    data["start_offset"] = _text(params["start_offset"][0])
    data["initial"] = _initial(claim, environment)
    for name in EACH_ROUND:
        array = params[name][0]
        same = shape.rounds > MANY_ROUNDS and (array == array[:1]).all()
        data[name] = _text(array[:1] if same else array)
    return data


def _initial(claim: Claim, environment: Environment) -> dict[str, Any]:
    """The first values of the method's own arrays, if these are free."""
    return {name: _text(to_numpy(environment.bound[name].data)[0, 0, 0, 0]) for name in free_starts(claim.procedure)}


def _text(value):
    if isinstance(value, np.ndarray) and value.ndim:
        return [_text(v) for v in value]
    value = value.item() if isinstance(value, np.ndarray) else value
    if isinstance(value, float):
        raise TypeError(f"a certificate holds exact numbers; got the float {value!r}")
    found = rational_in(value) if isinstance(value, Ball) else Fraction(value)
    if found is None:
        raise ArithmeticError(f"{value!r} is irrational")
    return str(found)


