"""Neighbours of an instance: one of its whole numbers changes, or which clients have noise."""

from dataclasses import replace
from math import prod

import numpy as np

from bounds.language.claim import DISTINCT, Claim
from verify.claims.sizes import allowed, integer_variables
from verify.instances.instance import outcomes
from verify.instances.parameters import Parameters
from verify.instances.resize import with_client_twice
from verify.instances.shape import RARE, Shape, with_participants, with_size, with_times

__all__ = ["neighbour", "with_another_integer", "with_other_noise", "with_other_participants"]

_MOST_CLIENTS = 24  # to which an instance grows


def neighbour(claim: Claim, shape: Shape, params: Parameters, rng: np.random.Generator, most_outcomes: int, longest: int):
    """Return the same instance, or now and then one with another client or sample, other run lengths (at most ``longest``
    iterations), another number of participants, another integer of the claim, or other noise."""
    coupled, most_outcomes = shape.family.coupled, shape.family.more_outcomes * most_outcomes
    if coupled and rng.random() < 0.2:
        other = replace(shape, family=shape.family.neighbour(rng))
        return (other if prod(outcomes(other)) <= most_outcomes and allowed(claim, other.as_sizes()) else shape), params
    if claim.setting != "algebra" and not coupled and rng.random() < 0.15:
        larger = with_client_twice(claim, shape, params, int(rng.integers(shape.clients)))
        few = larger[0].clients <= _MOST_CLIENTS and prod(outcomes(larger[0])) <= most_outcomes
        return larger if few and allowed(claim, larger[0].as_sizes()) else (shape, params)
    if claim.setting == "run" and not coupled and rng.random() < 0.2:
        other = _with_other_sizes(claim, shape, params, rng)
        few = prod(outcomes(other[0])) <= most_outcomes
        return other if few and allowed(claim, other[0].as_sizes()) else (shape, params)
    if claim.setting != "run" or rng.random() < 0.5:
        return shape, params
    if shape.priority_clients == 1 and shape.sampling == "with-replacement" and rng.random() < 0.5:
        factor = 10 ** rng.uniform(-1, 1)
        more = replace(shape, participants=max(1, min(10_000, round(shape.participants * factor))))
        return (more if allowed(claim, more.as_sizes()) else shape), params
    if shape.noisy and rng.random() < 0.3 and not shape.many_draws:
        return replace(shape, rare=RARE[rng.integers(len(RARE))]), params
    name = "local_steps" if rng.random() < 0.5 and "local_steps" not in dict(shape.sizes) else "rounds"
    length = max(1, round(getattr(shape, name) * 2 ** rng.uniform(-1.5, 2)))
    length = max(1, min(length, longest * getattr(shape, name) // shape.iterations))
    while length > 1 and prod(outcomes(replace(shape, **{name: length}))) > most_outcomes:
        length -= 1
    other = replace(shape, **{name: length})
    if not allowed(claim, other.as_sizes()):
        return shape, params
    return with_times(claim, shape, params, other.local_steps, other.rounds)


def _with_other_sizes(claim: Claim, shape: Shape, params: Parameters, rng: np.random.Generator) -> tuple[Shape, Parameters]:
    """The instance with another integer of the claim, other participants, or noise in other clients."""
    kind = int(rng.integers(3))
    if kind == 0:
        return with_other_noise(shape, params, rng)
    return (with_another_integer(claim, shape, rng) if kind == 1 else with_other_participants(shape, rng)), params


def with_another_integer(claim: Claim, shape: Shape, rng: np.random.Generator) -> Shape:
    """The shape with one of the claim's integer variables changed by one, but for those that size arrays or runs."""
    lengths = {"local_steps"}.union(*(v.sizes for v in claim.variables))
    own = [v for v in integer_variables(claim).values() if v.name not in lengths and v.name in dict(shape.sizes)]
    if not own:
        return shape
    chosen = own[int(rng.integers(len(own)))]
    value = dict(shape.sizes)[chosen.name] + int(rng.choice([-1, 1]))
    if value < chosen.low or (chosen.high is not None and value > chosen.high):
        return shape
    return with_size(shape, chosen.name, value)


def with_other_participants(shape: Shape, rng: np.random.Generator) -> Shape:
    """The shape with one participant more or less, where clients are sampled without replacement."""
    if shape.sampling not in DISTINCT:
        return shape
    return with_participants(shape, int(np.clip(shape.participants + rng.choice([-1, 1]), 1, shape.priority_clients)))


def with_other_noise(shape: Shape, params: Parameters, rng: np.random.Generator) -> tuple[Shape, Parameters]:
    """The instance with noise in a client that had none, or without the noise of one that had some."""
    client, noise = int(rng.integers(shape.clients)), params.get("noise", np.zeros((1, 0, shape.dim)))
    amplitude = dict(zip(shape.noisy, np.moveaxis(noise, 1, 0), strict=True))
    if client in amplitude:
        del amplitude[client]
    else:
        amplitude[client] = 10 ** rng.uniform(-2, 1) * rng.normal(size=(1, shape.dim))
    noisy, rest = tuple(sorted(amplitude)), {name: array for name, array in params.items() if name != "noise"}
    if noisy:
        rest["noise"] = np.stack([amplitude[k] for k in noisy], axis=1)
    return replace(shape, noisy=noisy), rest
