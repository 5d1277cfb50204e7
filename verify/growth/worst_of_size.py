"""The worst instances of every size, each searched by itself and from its neighbours."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, product
from math import prod

import numpy as np
import sympy as sp

from verify.claims.sizes import allowed
from verify.growth.growth_search import GrowthCurve, GrowthSearch, Member, growth_rank
from verify.growth.limits import TOGETHER, scalable, small_sizes, without_chance
from verify.instances.draw import draw_params, draw_shape
from verify.instances.instance import outcomes
from verify.instances.offspring import offspring
from verify.instances.parameters import SLACK, Parameters, take_rows
from verify.instances.resize import RUN_SIZES, Together, resized
from verify.instances.shape import Shape

__all__ = ["worst_in_proportion", "worst_of_each_size"]

_POOL = 3
_SMALL = slice(1, 4)  # places of the sizes from which single instances are followed
_STEEP = 4.0  # growth over two doublings that float64 may not follow for long
_SOON = 3  # sizes within which it is seen
_EXACT = 2  # such instances that are taken to exact arithmetic
_POWERS = (-2.0, -1.0, -0.5, 0.0, 0.0, 0.0, 0.5, 1.0, 2.0)
_LEAST = (1, 2, 3, 4, 6)  # of a size that grows with others, at the smallest instance
_PROPORTIONS = 3  # that are followed


class _Pools:
    """The worst instances found so far of every size 1, 2, 4, ... along ``name``, the worst first."""

    def __init__(self, trials: GrowthSearch, name: str | Together, doublings: int):
        self.trials, self.name, self.sizes = trials, name, [2**i for i in range(doublings)]
        self.pools: list[list[Member]] = [[] for _ in self.sizes]

    @property
    def curve(self) -> GrowthCurve:
        """The worst of every size. It ends where the outcomes of chance become too many to be listed, if the ratio grows
        until there, and all that is found beyond, without chance, is less."""
        curve = GrowthCurve(self.name, tuple(pool[0] for pool in self.pools if pool), own_instances=True)
        drawn = [number for number, member in enumerate(curve.members, 1) if prod(outcomes(member.shape)) > 1]
        listed = curve.until(max(drawn, default=0))
        beyond = curve.ratios[len(listed.members):]
        return listed if _grows_late(listed) and max(beyond, default=0.0) < listed.ratios[-1] else curve

    def turn(self, places: Iterable[int]) -> None:
        """Look once more at the sizes at these places."""
        for place in places:
            for shape, params in self.candidates(place):
                if prod(outcomes(shape)) > self.trials.effort.most_outcomes:
                    continue
                ratio = self.trials.ratios(shape, params)
                ratio = np.where(np.isinf(ratio), np.nan, ratio)  # below rounding; a right side of zero is sought elsewhere
                if np.isnan(ratio).all():
                    continue
                row = int(np.nanargmax(ratio))
                member = Member(self.sizes[place], float(ratio[row]), shape, take_rows(params, [row]))
                self.pools[place] = sorted([*self.pools[place], member], key=lambda m: -m.ratio)[:_POOL]

    def candidates(self, place: int) -> Iterator[tuple[Shape, Parameters]]:
        """Batches of instances of one size: random ones, drawn with few outcomes of chance and resized then; stretched
        neighbours; offspring of the worst."""
        claim, rng, name, size = self.trials.claim, self.trials.rng, self.name, self.sizes[place]
        together = isinstance(name, Together)
        shape = small_sizes(claim, draw_shape(claim, rng, 16, 4))
        if together:
            shape = without_chance(shape, quadratic=True)
        if together or name in RUN_SIZES or name in dict(shape.sizes):
            try:
                shape, params = resized(claim, shape, draw_params(claim, shape, self.rows(shape, size), rng), name, size)
                yield shape, self.trials.with_shared_numbers(params)
            except (ValueError, NotImplementedError):
                pass
        for near in (place - 1, place + 1):
            if 0 <= near < len(self.sizes) and self.pools[near]:
                parent = self.pools[near][int(rng.integers(len(self.pools[near])))]
                try:
                    shape, params = resized(claim, parent.shape, parent.params, name, size)
                except ValueError:
                    continue
                stretched = self.stretched(params, size / self.sizes[near], self.rows(shape))
                yield shape, self.trials.with_shared_numbers(stretched)
        for parent in self.pools[place][:2]:
            params = offspring(claim, parent.shape, parent.params, self.rows(parent.shape), rng)
            yield parent.shape, self.trials.with_shared_numbers(params)

    def rows(self, shape: Shape, times: int = 1) -> int:
        """The number of instances of a shape that the effort allows, fewer where each has many outcomes or steps."""
        work = prod(outcomes(shape)) * shape.clients * shape.iterations * shape.dim * times
        return int(np.clip(250_000 // work, 1, self.trials.effort.rows))

    def stretched(self, params: Parameters, factor: float, rows: int) -> Parameters:
        """Copies of one instance with numbers multiplied by powers of the factor: the first as it is."""
        rng, copies = self.trials.rng, {n: np.repeat(a, rows, axis=0) for n, a in params.items()}
        for name in scalable(self.trials.claim, params):
            array = copies[name]
            wide = (rows, *(1,) * (array.ndim - 1))
            powers = rng.choice(_POWERS, wide) * (rng.random(wide) < 0.4)
            if name not in ("step_fraction", "epsilon"):
                powers = powers + rng.choice(_POWERS, array.shape) * (rng.random(wide) < 0.25)
            copies[name] = array * factor ** np.where(np.arange(rows).reshape(wide) == 0, 0.0, powers)
            if name.startswith(SLACK):
                copies[name] = np.maximum(copies[name], 1.0)
        return copies

    def moved_on(self) -> list[GrowthCurve]:
        """Continues the worst small and large instances along the limit; the ratio of a single instance is smoother than
        the maximum over instances. Returns the steepest track that float64 resolves and the steepest that it loses."""
        grows, lost = [], []
        starts = [(pool[0], pool[0].size) for pool in self.pools[_SMALL] if pool]
        starts += [(pool[0], self.sizes[0]) for pool in self.pools[-1:] if pool]
        for start, first in starts:
            shape, params = replace(start.shape, noisy=()), {n: a for n, a in start.params.items() if n != "noise"}
            if prod(outcomes(shape)) > 1:
                continue
            members, last = self.trials.follow(self.name, shape, params, [s for s in self.sizes if s >= first])
            curve = GrowthCurve(self.name, members)
            if members and curve.fit.grows:
                grows.append(curve)
            elif members and ((len(members) < _SOON and last == np.inf)
                              or members[:_SOON][-1].ratio > _STEEP * members[0].ratio):
                lost.append(replace(curve.until(_SOON), lost=True))
        return [curve for curves in (grows, lost) for curve in sorted(curves, key=growth_rank, reverse=True)[:_EXACT]]


def worst_of_each_size(trials: GrowthSearch, name: str | Together) -> list[GrowthCurve]:
    """The worst instance found of every size 1, 2, 4, ... called ``name``, or of sizes that grow together.

    Every size is searched by itself, and from the worst of its neighbours in both directions, stretched and shrunk: a
    small size that was searched less well than a large one would feign growth.
    """
    effort = trials.effort
    if name in ("clients", "participants"):
        doublings = 5
    else:
        doublings = 6 if isinstance(name, Together) else 7 if trials.claim.setting == "run" else 11
    pools = _Pools(trials, name, doublings)
    for turn in range(effort.passes):
        pools.turn(range(doublings) if turn % 2 == 0 else reversed(range(doublings)))
    grown = []
    while name in ("rounds", "local_steps") and pools.sizes[-1] < effort.longest and _grows_late(pools.curve):
        grown = [pools.curve, *pools.moved_on(), *grown] if pools.curve.fit.grows else grown
        pools.sizes.append(2 * pools.sizes[-1])
        pools.pools.append([])
        for _ in range(-(-effort.passes // 2)):
            pools.turn((len(pools.sizes) - 1, len(pools.sizes) - 2))
    return [pools.curve, *pools.moved_on(), *grown]


def _grows_late(curve: GrowthCurve) -> bool:
    """Whether the ratio grows at the last sizes, so that larger ones tell more."""
    return len(curve.members) > 2 and all(low > 0 and high > 1.2 * low for low, high in pairwise(curve.ratios[-3:]))


def worst_in_proportion(trials: GrowthSearch, formulas: Sequence[sp.Expr], names: tuple[str, ...]) -> list[GrowthCurve]:
    """:func:`worst_of_each_size` where the sizes ``names`` are multiplied together and all others in the formulas are
    fixed, for the smallest proportions in which hypotheses can be met: the track that grows most first. All clients take
    part, are quadratic, and have no noise."""
    curves = [curve for motion in _proportions(trials, formulas, names) for curve in worst_of_each_size(trials, motion)]
    return sorted(curves, key=growth_rank, reverse=True)


def _proportions(trials: GrowthSearch, formulas: Sequence[sp.Expr], names: tuple[str, ...]) -> Iterator[Together]:
    claim, rng, found = trials.claim, trials.rng, 0
    mentioned = {symbol.name for formula in formulas for symbol in formula.free_symbols}.union(names)
    held = [size for size in TOGETHER if size in mentioned]
    for least in sorted(product(_LEAST, repeat=len(held)), key=lambda sizes: (prod(sizes), sizes)):
        motion = Together(names, tuple(zip(held, least, strict=True)))
        shape = without_chance(draw_shape(claim, rng, 16, 4), quadratic=True)
        try:
            shape, params = resized(claim, shape, draw_params(claim, shape, trials.effort.rows // 4, rng), motion, 2)
        except (ValueError, NotImplementedError):
            continue
        if allowed(claim, shape.as_sizes()) and np.isfinite(trials.ratios(shape, trials.with_shared_numbers(params))).any():
            yield motion
            found += 1
            if found == _PROPORTIONS:
                return
