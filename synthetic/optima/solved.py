"""Federations whose optima are computed once; selected and repeated instances keep the solutions."""

from __future__ import annotations

from functools import cached_property

from synthetic.base.federation import Federation
from synthetic.numbers.arrays import to_numpy
from synthetic.optima.local_search import best_points, estimated_smoothness

__all__ = ["LocalMinima", "Solved"]


class Solved(Federation):
    """A family defines ``_solved_objective`` and ``_solved_clients``: tuples that begin with the points found."""

    _solved = ("_solved_objective", "_solved_clients")

    @property
    def x_star(self):
        return self._solved_objective[0]

    @property
    def client_minimisers(self):
        """Minimiser of each F_k, (instances, clients, dim), or the best point found."""
        return self._solved_clients[0]

    @cached_property
    def F_star_client(self):
        return self.value(self.client_minimisers)


class LocalMinima(Solved):
    """A family without proofs: optima are local minima found from the default start, L is an estimate."""

    _solved = ("_found",)
    optimum_provenance = ("estimate", "local minima found from the default start; nothing is proven about them")

    @cached_property
    def _found(self):
        double = self._double
        found = best_points(double, to_numpy(double.default_start())[None], iterations=150, tolerance=1e-8)
        return tuple(map(self.backend.array, found))

    _solved_objective = property(lambda self: self._found[:1])
    _solved_clients = property(lambda self: self._found[1:])

    def smoothness(self):
        return estimated_smoothness(self, (self.default_start()[None], self.x_star))

    def convexity(self):
        return None
