"""Clients whose parameters are factors of a model, as FedPara trains them."""

from dataclasses import dataclass, replace
from functools import cached_property

from synthetic.base.constants import Constants
from synthetic.data.factored import Factored
from synthetic.numbers.arrays import namespace
from verify.instances.quadratic import QuadraticClients

__all__ = ["FactoredClients"]


class _OneRowFactored(Factored):
    """Factors of rank 1 of a model with one row, which may be any vector: the optimum is (1, W, 1, 1), with that over W."""

    @cached_property
    def x_star(self):
        best = self.inner.x_star
        ones = 0 * best + 1
        return namespace(best).concat([ones[:, :1], best, ones[:, :1], ones], axis=-1)

    @property
    def F_star_client(self):
        return self.inner.F_star_client

    @property
    def offset(self):
        return self.inner.offset

    @cached_property
    def constants(self):
        """Constants that do not depend on a point: no number bounds the curvature of a loss of factors."""
        inner = self.inner.constants
        return Constants({name: inner[name] for name in ("F_star", "F_inf", "F_star_client", "sigma_sq_client")
                          if name in inner})


@dataclass(frozen=True)
class FactoredClients(QuadraticClients):
    """F_k(v) = b_k + sum_j a_kj/2 (W_j - c_kj)^2 with ``entries`` W_j = a b y_j z_j of v = (a, y, b, z), without noise."""

    entries: int = 1
    name = "factored"
    written_as = "factors"
    any_coordinates = False

    def fitting(self, shape):
        layers = (1, self.entries) * 2
        return replace(shape, dim=sum(layers), noisy=(), layers=layers if shape.layers else (), family=self)

    def draw(self, claim, shape, count, rng):
        return super().draw(claim, replace(shape, dim=self.entries), count, rng)

    def federation(self, shape, params, backend, **common):
        inner = super().federation(replace(shape, layers=()), params, backend, **common)
        return _OneRowFactored(inner, rank=1, shape=(1, self.entries), layers=shape.layers or (shape.dim,))

    def translated(self, params, by):
        raise NotImplementedError("factors are not translated")

    def write(self, params, text):
        return super().write(params, text) | {"factors": self.entries}

    @classmethod
    def read(cls, instance, sizes, numbers):
        return cls(instance["factors"]), {"curvature": numbers(instance["curvature"])[None]}
