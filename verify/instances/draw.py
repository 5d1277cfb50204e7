"""Random instances of a claim: shapes, and parameters that mix generic and corner values. No hypothesis is checked yet.

Draws depend on the claim's setting, procedure, sizes and variables, never on its id.
"""

from dataclasses import replace
from math import prod

import numpy as np
import sympy as sp

from bounds.language.claim import BY_NUMBER, DISTINCT, Claim, length_of, names_in
from bounds.language.names import CONSTANT, row_of
from synthetic.numbers.arrays import NUMPY
from verify.claims.hypotheses import bounds_on_entries, bounds_on_numbers
from verify.claims.method import by_coordinate, free_starts, subset_left_open
from verify.claims.needs import always_available, speaks_of_samples
from verify.claims.open_constants import ASSUMED, assumed_constants
from verify.claims.sizes import first_possible, integer_variables, possible, within_bounds
from verify.instances.cardinality import with_counts
from verify.instances.chance import chance_of
from verify.instances.families import draw_family
from verify.instances.family import vectors
from verify.instances.fitted import fitted
from verify.instances.instance import federation_of, outcomes
from verify.instances.parameters import SLACK, START, Parameters
from verify.instances.samples import SampleClients, draw_data_shape
from verify.instances.shape import RARE, Shape, with_participants
from verify.instances.shapes import one_that_fits

__all__ = ["draw_params", "draw_shape"]

_STEPS = (1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 6, 10)
_LONGEST = 0.1  # share of the rounds that are as long as an instance may be
_DIMS = (1, 1, 2)
_DIMS_BY_COORDINATE = (1, 1, 1, 2, 2, 2, 5, 16)  # in which lengths grow with the dimension
_ROUNDS = (1, 1, 1, 2, 2, 3, 5, 10, 30)
_FEW = (1, 1, 2, 2, 3)

#: numbers of priority clients beyond these, where a factor of their number or of those not sampled shows, and how often
_MANY, _OFTEN_MANY = (4, 5, 6, 8, 12, 20), 0.2
_FAR, _AT_ALL_BOUNDS = 1e6, 0.3  # factor beyond all bounds of entries; share of the instances that are at all of them
_ALL_NOISY = 0.15  # share of the shapes in which all clients have noise, in runs that are as short as that asks


def draw_shape(claim: Claim, rng: np.random.Generator, most_outcomes: int, most_iterations: int, longer: int = 1) -> Shape:
    """A random shape with at most ``most_outcomes`` outcomes of chance, whose sizes meet the claim's conditions. Runs have
    at most ``longer * most_iterations`` iterations; numbers of rounds are ``longer`` times as large.
    """
    if speaks_of_samples(claim):
        most_outcomes *= SampleClients.more_outcomes
        shape = draw_data_shape(claim, rng, most_outcomes, most_iterations)
    else:
        def draw() -> Shape:
            shape = _draw_shape(claim, rng, most_outcomes, most_iterations * longer, longer)
            return _within_bounds(claim, shape, most_iterations * longer, rng) if integer_variables(claim) else shape

        shape = first_possible(claim, draw)
    if possible(claim, shape.as_sizes()):
        return shape
    found = fitted(claim, shape, rng)  # sizes that are hit by chance alone hardly ever
    if found is None or prod(outcomes(found)) > most_outcomes:
        found = one_that_fits(claim, rng, most_outcomes)
    return found or shape


def _within_bounds(claim, shape, most_iterations, rng) -> Shape:
    """The shape with integer variables that the claim's conditions allow."""
    if claim.setting != "run" or "local_steps" not in dict(shape.sizes):
        return replace(shape, sizes=tuple(within_bounds(claim, shape.as_sizes(), rng).items()))
    own = within_bounds(claim, shape.as_sizes() | {"local_steps": shape.local_steps}, rng)
    own["local_steps"] = min(own["local_steps"], most_iterations // shape.rounds)
    return replace(shape, sizes=tuple((dict(shape.sizes) | own).items()), local_steps=own["local_steps"])


def _layers(claim, dim, rng) -> tuple[int, ...]:
    """Sizes of the layers, for claims that mention them: at most three, of ``dim`` coordinates or one each."""
    if "layers" not in claim.names:
        return ()
    count = int(rng.choice([1, 2, 2, 2, 3]))
    cuts = np.sort(rng.permutation(max(dim, count) - 1)[: count - 1]) + 1
    return tuple(np.diff([0, *cuts, max(dim, count)]).tolist())


def _draw_shape(claim, rng, most_outcomes, most_iterations, longer) -> Shape:
    sizes = _sizes(claim, rng)
    if claim.setting == "algebra":
        return Shape(dim=int(rng.integers(1, 3)), sizes=sizes)
    procedure = claim.procedure
    with_free = procedure is None or procedure.free_clients
    tiny = rng.random() < 0.3  # the smallest instances are where lower-order terms have nothing to hide behind
    free = int(rng.choice([1] if tiny else [0, 1, 1, 2])) if with_free else 0
    priority = int(rng.choice([1, 1, 2] if tiny else _FEW))
    if not tiny and rng.random() < _OFTEN_MANY:
        priority = int(rng.choice(_MANY))
    dim = 1 if tiny else int(rng.choice(_DIMS_BY_COORDINATE if by_coordinate(procedure) else _DIMS))
    layers = _layers(claim, dim, rng)
    dim = sum(layers) or dim
    if claim.setting == "point":
        return Shape(priority + free, free, dim, sizes=sizes, layers=layers, family=draw_family(claim, rng))
    steps = dict(sizes).get("local_steps") or (1 if tiny else int(rng.choice(_STEPS)))
    rounds = longer * (int(rng.integers(1, 3)) if tiny else int(rng.choice(_ROUNDS)))
    if "local_steps" not in dict(sizes) and rng.random() < _LONGEST:
        steps, rounds = most_iterations, 1
    if longer > 1 and rng.random() < 0.5:
        rounds = max(1, most_iterations // (steps * int(rng.choice([1, 2, 4]))))
    while steps * rounds > most_iterations:
        rounds = max(1, rounds // 2)
        steps = min(steps, most_iterations)
    sampling = procedure.sampling if procedure else "full"
    participants = 1
    if sampling in BY_NUMBER:
        participants = int(10 ** rng.uniform(0, 3)) if priority == 1 else int(rng.integers(1, 4))
    if sampling in DISTINCT:
        participants = priority - 1 if priority > max(_FEW) and participants == 3 else min(participants, priority)
    shape = Shape(priority + free, free, dim, steps, rounds, participants, sampling, (), RARE[rng.integers(len(RARE))],
                  sizes, layers=layers, chance=chance_of(procedure, claim.variables))
    for name in subset_left_open(claim):
        shape = replace(shape, sizes=(*shape.sizes, (name, int(rng.integers(1, shape.taking_part + 1)))))
    while shape.priority_clients > max(_FEW) and prod(outcomes(replace(shape, rounds=1))) > most_outcomes:
        shape = with_participants(replace(shape, clients=shape.clients - 1), min(participants, shape.priority_clients - 2))
    while prod(outcomes(shape)) > most_outcomes and shape.rounds > 1:  # too much to enumerate
        shape = replace(shape, rounds=shape.rounds // 2)
    if prod(outcomes(shape)) > most_outcomes:
        shape = with_participants(shape, 1)
    while len(shape.layers) > 1 and prod(outcomes(shape)) > most_outcomes:
        shape = replace(shape, layers=(sum(shape.layers[:2]), *shape.layers[2:]))
    shape = draw_family(claim, rng).fitting(shape)
    noisy = tuple(sorted(rng.permutation(shape.clients)[: 0 if tiny else rng.integers(0, 3)].tolist()))
    if rng.random() < _ALL_NOISY:
        noisy = tuple(range(shape.clients))
        shape = _short_enough(shape, noisy, most_outcomes)
    elif noisy and rng.random() < 0.5:
        shape = _short_enough(shape, noisy[:1], most_outcomes)
    while noisy and prod(outcomes(replace(shape, noisy=noisy))) > most_outcomes:
        noisy = noisy[:-1]
    return shape.family.fitting(replace(shape, noisy=noisy))


def _short_enough(shape, noisy, most_outcomes) -> Shape:
    """Reduces the rounds, and then the local steps, until the outcomes of this noise can be enumerated."""
    while shape.iterations > 1 and prod(outcomes(replace(shape, noisy=noisy))) > most_outcomes:
        if shape.rounds > 1:
            shape = replace(shape, rounds=shape.rounds - 1)
        elif "local_steps" not in dict(shape.sizes):
            shape = replace(shape, local_steps=shape.local_steps - 1)
        else:
            break
    return shape


def _sizes(claim, rng):
    found = []
    for name, variable in integer_variables(claim).items():
        high = variable.high or variable.low + int(rng.choice([0, 1, 2, 3, 5, 10, 30, 100]))
        found.append((name, int(rng.integers(variable.low, high + 1))))
    return tuple(found)


def draw_params(claim: Claim, shape: Shape, count: int, rng: np.random.Generator) -> Parameters:
    """``count`` random instances of the shape: every parameter that the claim's setting needs."""
    params: Parameters = {}
    if claim.setting != "algebra":
        params |= shape.family.draw(claim, shape, count, rng)
        if claim.procedure is not None and claim.procedure.equal_weights:
            params["weight"] = np.ones((count, shape.clients))
        if not (shape.family.coupled and "eta_l" in claim.defining):
            params["step_fraction"] = _fractions((count, shape.iterations), rng)
            params["step_scale"] = 10.0 ** rng.uniform(-3, 1, (count, 1))
    if claim.setting == "point":
        params["included"] = np.where(shape.is_priority, 1.0, rng.integers(0, 2, (count, shape.clients)))
        params["local_offset"] = vectors((count, shape.clients, shape.dim), rng)
    if claim.setting == "run" and not shape.family.coupled:
        params["start_offset"] = vectors((count, shape.dim), rng)
        params["epsilon"] = _thresholds((count, shape.rounds + 1), rng)
        there = 1 if always_available(claim) else rng.integers(0, 2, (count, shape.rounds + 1, shape.clients))
        params["available"] = np.ones((count, shape.rounds + 1, shape.clients)) * there
        if shape.free:
            params["tie"] = 1.0 * (rng.random((count, shape.clients)) < 0.5) * (rng.random((count, 1)) < 0.2)
        if shape.noisy:
            params["noise"] = vectors((count, len(shape.noisy), shape.dim), rng)
        for name, by_client in free_starts(claim.procedure).items():
            params[f"{START}{name}"] = vectors((count, *[shape.clients] * by_client, shape.dim), rng)
        params["start_offset"] = shape.family.starts(lambda: federation_of(shape, params, NUMPY), params, rng)
    for variable in claim.variables:
        if variable.domain != "integer" or variable.indices:
            params[variable.name] = _variable(variable, shape, count, rng)
    for condition in bounds_on_entries(claim):
        bounding = names_in(condition.right) - {v.name for v in claim.variables}
        if any((row := row_of(name)) is not None and row.source == CONSTANT for name in bounding):
            continue  # these constants are the tightest that the entries allow
        name = condition.left.base.label.name
        params[name] = _beyond(condition, params[name], shape.as_sizes(), rng)
    for name, bound in _upper_bounds_of_arrays(claim).items():
        params[name] = _entries_up_to(bound, params[name], rng)
    for name, bound in _upper_bounds(claim).items():
        free, strict = params[name].reshape(count, 1), any(v.name == name and v.below is not None for v in claim.variables)
        kept = (rng.random((count, 1)) < 0.4) & ((free < bound) | (not strict))
        params[name] = np.where(kept, free, bound * _shares(count, rng)).reshape(params[name].shape)
    if claim.setting == "run" and "rho_prox" in params and "curvature" in params:
        _solve_at_once(params, rng)
    for name in assumed_constants(claim):
        params[f"{ASSUMED}{name}"] = 10.0 ** rng.uniform(-1, 2.5, (count, 1))
    for name in _constants_with_slack(claim):
        params[f"{SLACK}{name}"] = np.where(rng.random((count, 1)) < 0.8, 1.0, 1 + 10.0 ** rng.uniform(-1, 2, (count, 1)))
    return with_counts(claim, shape, params, rng)


def _upper_bounds(claim) -> dict[str, float]:
    """Upper bounds that domains and conditions put on the claim's free numbers without index, if these are at least 0."""
    free = {v.name: v.below for v in claim.variables if v.domain in ("positive", "nonnegative") and not v.indices}
    found = {name: float(below) for name, below in free.items() if below is not None}
    for c in claim.conditions:
        if c.relation == "<=" and c.left.is_Symbol and c.left.name in free and c.right.is_number and not c.over:
            found[c.left.name] = min(float(c.right), found.get(c.left.name, np.inf))
    return found


def _upper_bounds_of_arrays(claim) -> dict[str, float]:
    """Upper bounds that conditions with ranges put on the entries of the claim's free arrays of nonnegative numbers."""
    free = {v.name for v in claim.variables if v.domain in ("positive", "nonnegative") and v.indices}
    return {c.left.base.label.name: float(c.right) for c in claim.conditions if c.relation == "<=" and c.right.is_number
            and c.over and isinstance(c.left, sp.Indexed) and c.left.base.label.name in free and c.right > 0}


def _entries_up_to(bound, array, rng):
    """Entries up to a bound: of some instances any, of others all of them at the ends, as far as the domain has its end."""
    row = (len(array), *(1,) * (array.ndim - 1))
    shares, kind = rng.random(array.shape), rng.random(row)
    ends = bound * np.where(shares < rng.random(row), 1.0, np.where((array == 0).any(), 0.0, 1e-6))
    return np.where(kind < 0.4, ends, np.where(kind < 0.8, bound * shares, np.minimum(array, bound)))


def _beyond(condition, array, sizes, rng):
    """Entries of which some instances have all that a condition bounds beyond its bounds, into which they are moved."""
    (index, *ends), = condition.over
    position, low, high = (of.subs({s: sizes[s.name] for s in of.free_symbols if s.name in sizes})
                           for of in (condition.left.indices[0], *ends))
    places = [int(position.subs(index, i)) for i in range(int(low), int(high) + 1)]
    places = [place for place in places if 0 <= place < array.shape[1]]
    largest = array.max(axis=1, keepdims=True, initial=1.0)
    found = array.copy()
    found[:, places] = _FAR * largest if condition.relation == "<=" else np.minimum(array, 0.0)[:, places]
    return np.where(rng.random((len(array), 1)) < _AT_ALL_BOUNDS, found, array)


def _shares(count, rng):
    """Shares of a whole, (count, 1): anything, a little, or nearly all."""
    share = rng.random((count, 1))
    least = np.where(rng.random((count, 1)) < 0.7, -3.0, -8.0)
    little = 10.0 ** rng.uniform(least, -0.3)
    return np.choose(rng.integers(0, 3, (count, 1)), [share, little, 1 - little])


def _solve_at_once(params: Parameters, rng: np.random.Generator) -> None:
    """Give some instances the step 1/(L + rho), by which a client of curvature L solves its penalised problem at once."""
    largest = params["curvature"].max(axis=(1, 2))[:, None]
    at_once = rng.random(largest.shape) < 0.1
    params["step_scale"] = np.where(at_once, largest / (largest + params["rho_prox"].reshape(-1, 1)), params["step_scale"])
    params["step_fraction"] = np.where(at_once, 1.0, params["step_fraction"])


def _constants_with_slack(claim):
    """Constants of the problem class, of which any value beyond the tightest is admissible too. A number that the claim's
    own conditions bound by what a run does is measured instead: it takes the tightest value."""
    bounded = bounds_on_numbers(claim)
    measured = {name for name, bounds in bounded.items()
                if any(b.condition in claim.conditions and not _of_clients(b.other) for b in bounds)}
    return sorted(bounded.keys() - measured - {v.name for v in claim.variables} - {*assumed_constants(claim)})


def _of_clients(bound) -> bool:
    """Whether an expression is a constant of single clients."""
    return any(str(entry.base.label).endswith("_client") for entry in sp.sympify(bound).atoms(sp.Indexed))


def _fractions(shape, rng):
    """Fractions of a bound over time: at the bound, constant, falling, rising, with a single change, or free."""
    count, times = shape
    t = np.arange(times)[None, :]
    rate = 10 ** rng.uniform(-1.5, 0, (count, 1))
    first = 10 ** rng.uniform(-4, 0, (count, 1))
    change = rng.integers(0, max(times, 1), (count, 1))
    patterns = [
        np.ones((count, times)), first * np.ones((count, times)), rate**t, rate ** (times - 1 - t),
        1 / (1 + t * rate), np.where(t < change, 1.0, first), np.where(t < change, first, 1.0),
        10 ** rng.uniform(-3, 0, (count, times)),
    ]
    return np.maximum(np.choose(rng.integers(0, len(patterns), (count, 1)), patterns), 1e-6)


def _thresholds(shape, rng):
    """Matching thresholds by round: none, all, the first round only, all but the first, constant, falling, free."""
    count, times = shape
    t = np.arange(times)[None, :]
    level = 10 ** rng.uniform(-2, 3, (count, 1))
    all_of_them = np.full((count, times), 1e9)
    patterns = [
        np.zeros((count, times)), all_of_them, np.where(t == 0, all_of_them, 0.0), np.where(t == 0, 0.0, all_of_them),
        level * np.ones((count, times)), level / (1 + t) ** 2, level * rng.random((count, times)),
    ]
    return np.choose(rng.integers(0, len(patterns), (count, 1)), patterns)


def _variable(variable, shape, count, rng):
    sizes = shape.as_sizes()
    lead = tuple(length_of(size, sizes) for _, size in variable.indices)
    full = (count, *lead)
    if variable.domain == "vector":
        return vectors((*full, shape.dim), rng)
    if variable.domain == "binary":
        return rng.integers(0, 2, full).astype(float)
    if variable.domain == "simplex":
        raw = np.where(rng.random(full) < 0.3, 0.0, 10 ** rng.uniform(-2, 2, full))
        raw[..., 0] = np.where(raw.sum(-1) == 0, 1.0, raw[..., 0])
        return raw
    row = (count, *(1,) * len(lead))
    if variable.domain == "integer":
        most = np.minimum(variable.low + 4 ** rng.integers(0, 6, row), variable.high or np.inf)
        return np.floor(variable.low + (most - variable.low + 1) * rng.random(full))
    size = np.where(rng.random(row) < 0.5, 10 ** rng.uniform(-1, 1, row), 10 ** rng.uniform(-4, 4, row))
    value = size * np.where(rng.random(row) < 0.3, 1.0, 10 ** rng.uniform(-1, 1, full))
    if variable.domain == "positive":
        return value
    if variable.domain == "nonnegative":
        return np.where(rng.random(full) < 0.35, 0.0, value) * (rng.random(row) < 0.8)
    if variable.domain == "real":
        return np.where(rng.random(full) < 0.2, 0.0, value) * rng.choice([-1.0, 1.0], full)
    raise ValueError(f"unknown domain {variable.domain!r} of {variable.name}; allowed: positive, nonnegative, real, "
                     "integer, vector, binary, simplex")
