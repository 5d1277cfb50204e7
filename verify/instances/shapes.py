"""The smallest shapes of a claim, where most false statements fail, and shapes that are large in one way."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, cycle, islice, product
from math import inf, isqrt, prod

import numpy as np
import sympy as sp

from bounds.language import operators
from bounds.language.claim import BY_NUMBER, DISTINCT, Claim
from verify.claims.method import by_coordinate, subset_left_open
from verify.claims.needs import needs, needs_convex, speaks_of_samples
from verify.claims.sizes import (
    ABOVE,
    allowed,
    conditions_on_sizes,
    entries_of,
    integer_variables,
    largest_sizes,
    named_sizes,
    once_by_claim,
    possible,
    says_something,
    within_sizes,
)
from verify.instances.chance import NOTHING_MORE, chance_of
from verify.instances.families import draw_family
from verify.instances.fitted import fitted
from verify.instances.instance import outcomes
from verify.instances.piecewise import PiecewiseClients
from verify.instances.quadratic import QUADRATIC
from verify.instances.samples import SampleClients, extreme_data_shapes, small_data_shapes
from verify.instances.shape import RARE, Shape, with_participants

__all__ = ["extreme_shapes", "one_that_fits", "outcomes_beyond", "shapes_of_many_draws", "small_shapes"]

_CLIENTS = ((1, 0), (2, 0), (3, 0), (1, 1), (2, 1))  # priority clients, free clients
_ROUNDS, _STEPS, _PARTICIPANTS = (1, 2, 3, 5), (1, 2, 4), (1, 2)
_FARTHEST = 100  # up to which a size that conditions ask for is looked for
_LAYERS = ((1,), (1, 1), (1, 1, 1))
_SEVERAL = {False: (1, 2), True: (2, 16)}  # half of the dimensions, of methods that act by coordinate or not; others are 1
_MANY, _CROWD, _COORDINATES, _FEW = (6, 12), 50, 16, 3
_MANY_TWICE = {"clients": 6, "local_steps": 2, "rounds": 20}
_DRAWN_AGAIN = 4  # clients, all of which may be drawn as often
_TIED = (2, 3, 5)  # clients, where a condition ties draws to them
_MOST_KNOTS = 400  # of all clients, whose losses are quadratic beyond
_MORE_OUTCOMES = 4  # times as many outcomes as other shapes have, at most, of sizes that are as large as conditions admit
_MOST_OF_TIED = 4096  # outcomes, where a condition ties draws to clients
#: by how much integers of claims about numbers exceed their lowest values
_FORCED = 16  # times as many outcomes, where a claim admits no sizes with fewer
_LARGE = (0, 1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000)
_VERY_LARGE = (10**4, 10**5, 10**6)  # of claims without arrays, sums and ranges, whose evaluation takes no longer for it
_OF_SUMS = (3000, 10**4, 3 * 10**4)  # of claims with sums, and without arrays and ranges
_SMALL_INTEGERS, _TRIED_INTEGERS = 400, 5000  # shapes of claims about integers alone, and what their conditions are tried on
_PASSES = 8  # of drawing kinds of clients and dimensions, where the sizes are few
_FOLLOWING = 12  # shapes among which the next one is chosen
_FITTED = 60  # of the smallest shapes whose sizes are moved to what conditions ask for, where none meets them
_SMALLEST = 0.6  # share of the shapes that are taken by size
_ONE_OF = 17  # rarer outcomes have at least one of so many of the chances, in claims about probabilities


def small_shapes(claim: Claim, rng: np.random.Generator, most_outcomes: int, count: int) -> list[Shape]:
    """Up to ``count`` different shapes of one to three clients, few rounds and steps, with noise in no client, one or all:
    first the smallest ones, then such that every number of clients, rounds and so on has its turn.

    For claims about numbers: their smallest integers, if they have no other variables; else none."""
    if claim.setting == "algebra":
        return [*islice(_small_integers(claim), _SMALL_INTEGERS)]
    of_samples = speaks_of_samples(claim)
    all_of_them = _small_shapes(claim)
    most_outcomes *= all_of_them[0].family.more_outcomes
    chosen: dict[Shape, None] = {}
    anyone = rng.permutation(len(all_of_them))
    smallest = sorted(anyone, key=lambda number: _size(all_of_them[number]))
    for numbers, enough in ((smallest, round(_SMALLEST * count)), (_in_turn(all_of_them, anyone, most_outcomes), count)):
        for number in numbers:
            if len(chosen) >= enough:
                break
            shape = within_sizes(claim, all_of_them[number], rng)
            if possible(claim, shape.as_sizes()) and prod(outcomes(shape)) <= most_outcomes:
                chosen[shape] = None
    for times in (1, _FORCED):  # sizes that are unusual, or that go together, or that have many outcomes
        if not chosen:
            moved = _moved_to_fit(claim, [all_of_them[number] for number in smallest[:_FITTED]], rng, times * most_outcomes)
            chosen |= dict.fromkeys(islice(moved, count))
    if of_samples:
        return list(chosen)
    drawn = [_with_family(claim, shape, rng) for shape in chosen]
    for shape in islice(cycle(chosen), _PASSES * len(chosen)):  # of few sizes, several kinds of clients and dimensions
        if len(drawn) < count and (another := _with_family(claim, shape, rng)) not in drawn:
            drawn.append(another)
    turns = cycle(rng.permutation(len(RARE)))
    drawn = [replace(shape, rare=RARE[next(turns)]) if shape.noisy else shape for shape in drawn]
    return drawn + _with_other_probabilities(claim, drawn)


def _with_other_probabilities(claim: Claim, drawn: Sequence[Shape]) -> list[Shape]:
    """The first shape with noise, with rarer outcomes of each probability on which a bound on a probability may hang, or on
    the mean of a maximum."""
    noisy = next((shape for shape in drawn if shape.noisy), None)
    means = set().union(*(formula.atoms(operators.E) for formula in claim.formulas))
    if noisy is None or not any(mean.has(operators.below, sp.Max, sp.Min) for mean in means):
        return []
    return [replace(noisy, rare=Fraction(1, one_of), symmetric=symmetric)
            for one_of in range(2, _ONE_OF + 1) for symmetric in (False, True)]


def outcomes_beyond(claim: Claim, most_outcomes: int) -> int:
    """The outcomes of the smallest shapes that a claim admits, where these are too many to be listed; else 0."""
    smallest = sorted(_small_shapes(claim), key=_size)[:_FITTED] if claim.setting == "run" else []
    fewest = min((prod(outcomes(shape)) for shape in _moved_to_fit(
        claim, smallest, np.random.default_rng(0), inf)), default=0)
    return fewest if fewest > _FORCED * most_outcomes else 0


def _moved_to_fit(claim: Claim, shapes: Sequence[Shape], rng: np.random.Generator, most_outcomes: float) -> Iterator[Shape]:
    """Moves the sizes of each shape to what conditions ask for; leaves out shapes of too many outcomes."""
    for shape in shapes:
        shape = fitted(claim, shape, rng)
        if shape is not None and prod(outcomes(shape)) <= most_outcomes:
            yield shape


def _in_turn(shapes: Sequence[Shape], numbers: np.ndarray, most_outcomes: int) -> Iterator[int]:
    """Reorders the ``numbers``: next comes, of the following ones, the one whose shape has the numbers of clients, rounds,
    steps and so on that came least often so far. Where there are free clients, with chance in several rounds, on which their
    inclusion rests, or without comes first."""
    left, seen = list(numbers), Counter()
    if with_free := any(shape.free for shape in shapes):
        left = [number for number in left if prod(outcomes(shapes[number])) <= most_outcomes]

    def inclusion(shape: Shape) -> tuple:
        return (bool(shape.free), bool(shape.noisy), shape.rounds > 1) if with_free else ()

    while left:
        following = [(seen[inclusion(shape)] * with_free, sum(seen[part] for part in _parts(shape)), place)
                     for place, shape in enumerate(shapes[number] for number in left[:_FOLLOWING])]
        number = left.pop(min(following)[-1])
        seen.update((inclusion(shapes[number]), *_parts(shapes[number])))
        yield number


def _parts(shape: Shape) -> tuple:
    return (("clients", shape.clients, shape.free), ("rounds", shape.rounds), ("steps", shape.local_steps),
            ("participants", shape.participants), ("noisy", shape.noisy), ("layers", shape.layers), *shape.sizes,
            *shape.family.parts())


def _size(shape: Shape) -> int:
    samples = shape.family.sizes().get("samples", 1)
    return shape.clients * shape.iterations * shape.dim * shape.participants * samples * (1 + len(shape.noisy))


def extreme_shapes(claim: Claim, rng: np.random.Generator, most_outcomes: int, most_iterations: int,
                   most_rounds: tuple[int, ...]) -> list[Shape]:
    """Shapes that are large in one way and small in all others: in local steps, in rounds, in both, in clients, and in
    coordinates, with a few clients and rounds, for methods that act by coordinate; in a size that a condition bounds, and
    as large as that admits; or of the sizes that the statement names. Without noise.

    For claims about numbers: shapes with one or all of their integers large.
    """
    if claim.setting == "algebra":
        return [*_large_integers(claim, rng)]
    if speaks_of_samples(claim):
        most_outcomes *= SampleClients.more_outcomes * (_MORE_OUTCOMES if largest_sizes(claim) else 1)
        return [*extreme_data_shapes(claim, rng, most_outcomes, most_iterations, most_rounds)]
    largest = largest_sizes(claim)
    drawn_again = claim.procedure is not None and claim.procedure.sampling in {*BY_NUMBER} - {*DISTINCT}
    tied = drawn_again and any({"clients", "participants"} <= {*names} for _, names, _ in conditions_on_sizes(claim))
    ways = [{name: size} for name, size in largest.items()] * 2  # with two kinds of clients, say
    if named := named_sizes(claim):
        ways += [named, *({name: size} for name, size in named.items())]
    if claim.setting == "run":
        both = round(most_iterations**0.5)
        ways += [{"local_steps": most_iterations}, {"local_steps": both, "rounds": both}]
        ways += [{"rounds": rounds} for rounds in most_rounds]
        ways += [{"clients": clients} for clients in _MANY]
        ways += [{"clients": _CROWD, "participants": _CROWD}, _MANY_TWICE]
        ways += [dict.fromkeys(("clients", "participants"), _DRAWN_AGAIN)] * drawn_again
        ways += [dict.fromkeys(names, clients) for clients in _TIED for names in (("clients",), ("clients", "participants"))
                 if tied]
        if by_coordinate(claim.procedure) and "layers" not in claim.names:
            ways += [{"dim": _COORDINATES, "clients": _FEW, "rounds": _FEW}]
    longest = max(most_iterations, *most_rounds, *largest.values(), *named.values())
    most = max(most_outcomes * (_MORE_OUTCOMES if largest or drawn_again else 1), _MOST_OF_TIED * tied)
    shapes = [*_grown(claim, rng, ways, lambda shape: shape.iterations <= longest and prod(outcomes(shape)) <= most)]
    if claim.setting == "run" and not needs_convex(claim):  # of clients that are concave somewhere, too
        shapes += [PiecewiseClients().fitting(shape) for shape in shapes
                   if shape.family is QUADRATIC and shape.local_steps > max(_STEPS)]
    return shapes


_DRAWING = ("rounds", "local_steps", "clients")  # sizes by which draws grow in number


def shapes_of_many_draws(claim: Claim, rng: np.random.Generator, most_outcomes: int, draws: Sequence[int]) -> list[Shape]:
    """Shapes of quadratic clients with noise in all of them, that are large in local steps, in rounds, in clients or in
    two of these and small in all others: of about each number of ``draws``, or more where the claim asks for more, and at
    most ``most_outcomes`` outcomes. None where gradients are bounded, which those of quadratics are not."""
    if needs(claim).lipschitz:
        return []
    ways = [{name: count} for count in draws for name in _DRAWING]
    ways += [dict.fromkeys(pair, isqrt(count)) for pair in combinations(_DRAWING, 2) for count in draws
             if count > max(_STEPS)]
    ways.append({})

    def noisy(shape: Shape) -> Shape:
        return QUADRATIC.fitting(replace(shape, noisy=tuple(range(shape.clients)), many_draws=True))

    return [shape for shape in map(noisy, _grown(claim, rng, ways))
            if 2 * shape.clients * shape.iterations >= min(draws) and prod(outcomes(shape)) <= most_outcomes]


def _grown(claim: Claim, rng: np.random.Generator, ways: Sequence[dict[str, int]],
           admits: Callable[[Shape], bool] = lambda shape: True) -> Iterator[Shape]:
    """One of the shortest shapes with each of the sizes that a way gives, where the claim's conditions and ``admits`` allow
    one."""
    short = _shortest(claim)
    for way in ways:
        for number in rng.permutation(len(short)):
            own = {name: size for name, size in way.items() if name not in dict(short[number].sizes)}
            if short[number].sampling not in BY_NUMBER:
                own.pop("participants", None)
            if "dim" in own and short[number].sampling in DISTINCT:  # all of them, and no chance
                own["participants"] = _FEW
            shape = replace(_with_family(claim, short[number], rng), **own)
            if shape.sampling in DISTINCT:  # free clients are not sampled
                shape = with_participants(shape, min(shape.participants, shape.priority_clients))
            shape = within_sizes(claim, shape, rng)
            if not allowed(claim, shape.as_sizes()):
                shape = fitted(claim, shape, rng, way) or shape
            if shape.clients * shape.family.knots > _MOST_KNOTS:
                shape = QUADRATIC.fitting(shape)
            if allowed(claim, shape.as_sizes()) and admits(shape):
                yield shape
                break


def _small_integers(claim: Claim) -> Iterator[Shape]:
    """Shapes with all small integers of a claim without other variables, by the largest difference from a lowest value."""
    own = [*integer_variables(claim).values()]
    if not own or len(own) < len(claim.variables):
        return
    most = round(_TRIED_INTEGERS ** (1 / len(own)))
    for above in sorted(product(range(most), repeat=len(own)), key=max):
        shape = Shape(dim=1, sizes=tuple((v.name, v.low + a) for v, a in zip(own, above, strict=True)))
        if possible(claim, shape.as_sizes()):
            yield shape


def _large_integers(claim: Claim, rng: np.random.Generator) -> Iterator[Shape]:
    own, named = integer_variables(claim), named_sizes(claim)
    if named:
        yield Shape(dim=1, sizes=tuple((name, named.get(name, variable.low)) for name, variable in own.items()))
    ways = [{name} for name in own] + [{*own}] * (len(own) > 1)
    sums = any(formula.has(sp.Sum, sp.Product) for formula in claim.formulas)
    more = () if entries_of(claim) or any(rule.over for rule in (claim.statement, *claim.hypotheses)) else (
        _OF_SUMS if sums else _VERY_LARGE)
    for large, way in product(_LARGE + more, ways):
        sizes = {name: variable.low + large * (name in way) for name, variable in own.items()}
        sizes = {name: size if own[name].high is None else min(size, own[name].high) for name, size in sizes.items()}
        shape = within_sizes(claim, Shape(dim=1, sizes=tuple(sizes.items())), rng)
        if possible(claim, shape.as_sizes()):
            yield shape


def _shortest(claim: Claim) -> list[Shape]:
    """The smallest shapes without noise of the fewest iterations at which the claim says something."""
    quiet = [s for s in _small_shapes(claim) if not s.noisy and says_something(claim, s.as_sizes())]
    fewest = min((s.iterations for s in quiet), default=1)
    return [s for s in quiet if s.iterations == fewest]


@once_by_claim
def _small_shapes(claim: Claim) -> tuple[Shape, ...]:
    """The smallest shapes of a claim, before their integers meet the claim's conditions."""
    return tuple(small_data_shapes(claim) if speaks_of_samples(claim) else _each_small_shape(claim))


def _each_small_shape(claim: Claim) -> Iterator[Shape]:
    """The shapes of claims without samples, before their integers meet the claim's conditions."""
    procedure, running = claim.procedure, claim.setting == "run"
    sampling = procedure.sampling if procedure and running else "full"
    chance = chance_of(procedure, claim.variables) if procedure and running else NOTHING_MORE
    own = list(integer_variables(claim).values())
    above = list(product(ABOVE, repeat=len(own)))
    clients = _admitted(claim, "clients", [priority + free for priority, free in _CLIENTS])
    lengths = [_admitted(claim, name, usual) or usual for name, usual in (("rounds", _ROUNDS), ("local_steps", _STEPS))]
    for (priority, free), layers, rounds, steps, participants, noise, more in product(
            _CLIENTS if clients is None else [(number, 0) for number in clients],
            _LAYERS if "layers" in claim.names else ((),), *(lengths if running else ((1,), (1,))),
            _PARTICIPANTS if sampling in BY_NUMBER else (1,),
            ("none", "first", "all") if running else ("none",), above):
        if noise == "all" and priority + free == 1:
            continue
        if free and procedure is not None and not procedure.free_clients:
            continue
        if sampling in DISTINCT and participants > priority:
            continue
        sizes = tuple((v.name, v.low + a) for v, a in zip(own, more, strict=True))
        sizes += tuple((name, 1) for name in subset_left_open(claim))
        noisy = {"none": (), "first": (0,), "all": tuple(range(priority + free))}[noise]
        yield Shape(priority + free, free, len(layers) or 1, steps, rounds, participants, sampling, noisy, sizes=sizes,
                    layers=layers, chance=chance)


def _admitted(claim: Claim, name: str, usual: Sequence[int]) -> list[int] | None:
    """The least values of a size that conditions on it alone admit, where they admit none of the usual ones; else None."""
    def admits(number: int) -> bool:
        return allowed(claim, {name: number})

    if any(map(admits, usual)):
        return None
    return [*islice(filter(admits, range(1, _FARTHEST)), 2)] or None


def one_that_fits(claim: Claim, rng: np.random.Generator, most_outcomes: int) -> Shape | None:
    """One of the smallest shapes whose sizes meet the claim's conditions, or are moved until they do; None where there is
    none of at most ``most_outcomes`` outcomes."""
    if claim.setting == "algebra":
        return None
    shapes = _small_shapes(claim)
    fitting = [shape for shape in shapes if possible(claim, shape.as_sizes()) and prod(outcomes(shape)) <= most_outcomes]
    if fitting:
        found = fitting[int(rng.integers(len(fitting)))]
    else:
        smallest = sorted(shapes, key=_size)[:_FITTED]
        anyone = [smallest[number] for number in rng.permutation(len(smallest))]
        found = next(_moved_to_fit(claim, anyone, rng, most_outcomes), None)
    return found if found is None or speaks_of_samples(claim) else _with_family(claim, found, rng)


def _with_family(claim: Claim, shape: Shape, rng: np.random.Generator) -> Shape:
    """The shape with a family of clients and a dimension."""
    family = draw_family(claim, rng)
    several = _SEVERAL[by_coordinate(claim.procedure)]
    dim = shape.dim if shape.layers else (1, 1, *several)[int(rng.random() * (2 + len(several)))]
    drawn = family.fitting(replace(shape, dim=dim))
    return drawn if allowed(claim, drawn.as_sizes()) else fitted(claim, drawn, rng) or drawn
