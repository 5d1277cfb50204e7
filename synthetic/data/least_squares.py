"""Least-squares federations: all constants from eigenvalues, the optimum in closed form."""

from functools import cached_property

import numpy as np

from synthetic.base.checks import nonnegative
from synthetic.base.constants import Constant, of_quadratics
from synthetic.data.federation import AT_OPTIMUM, DataFederation
from synthetic.numbers.arrays import namespace, take_clients
from synthetic.quadratic.products import solve_shared
from synthetic.quadratic.quadratic import QuadraticObjective

__all__ = ["LeastSquares"]


class LeastSquares(QuadraticObjective, DataFederation):
    """F_k(x) = 1/(2 n_k) |A_k x - b_k|^2 + ridge/2 |x|^2; arguments as in :class:`DataFederation`.

    ``L_client`` and ``mu_client`` are eigenvalues of A_k^T A_k / n_k + ridge. ``mu`` is 0 where a client has too few
    samples and there is no ridge; minimisers are then those of least norm. The variance of minibatch gradients has no
    bound over all of R^d: its value at the optimum is given, as an estimate.
    """

    name = "least squares"
    optimum_provenance = ("exact", "normal equations")
    steepest = 1.0
    _minibatches_known = AT_OPTIMUM

    def loss(self, scores, targets):
        return namespace(scores).sum((scores - targets) ** 2, axis=-1) / 2

    def slope(self, scores, targets):
        return scores - targets

    def bend(self, scores, targets):
        return lambda direction: direction

    def hessians(self):
        """A_k^T A_k / n_k + ridge, (instances, clients, inputs, inputs), the same for every output."""
        return self.gram() + self.ridge * self._eye

    def _objective_hessian(self):
        return namespace(self.features).sum((self.weights * self.priority)[..., None, None] * self.hessians(), axis=1)

    @property
    def _eye(self):
        return self.backend.array(np.eye(self.inputs))[None, None]

    def _right(self):
        """A_k^T b_k / n_k, (instances, clients, inputs, outputs)."""
        xp = namespace(self.features)
        weighted = xp.permute_dims(self.features * self.share[..., None], (0, 1, 3, 2))
        return xp.matmul(weighted, self.targets)

    def _solve(self, hessian, right):
        """Solution of least norm, flattened by outputs, (..., dim); one step of refinement."""
        xp = namespace(right)
        values, vectors = xp.linalg.eigh(hessian)
        small = values <= self._rank_tolerance(values)
        inverse = xp.where(small, 0 * values, 1 / xp.where(small, values + 1, values))
        across = xp.linalg.matrix_transpose

        def apply(v):
            return xp.matmul(vectors, inverse[..., None] * xp.matmul(across(vectors), v))

        solution = apply(right)
        solution = solution + apply(right - xp.matmul(hessian, solution))
        return across(solution).reshape(*right.shape[:-2], self.dim)

    def minimiser(self, weights):
        """Minimiser of sum_k weights[:, k] F_k, (instances, dim), for any ``weights`` (instances, clients) >= 0."""
        xp = namespace(self.features)
        p = weights[..., None, None]
        return self._solve(xp.sum(p * self.hessians(), axis=1), xp.sum(p * self._right(), axis=1))

    @cached_property
    def x_star(self):
        return self.minimiser(self.weights * self.priority)

    def prox(self, linear, rho, center, clients=None):
        """argmin over v of F_k(v) + <linear_k, v> + rho/2 |v - center_k|^2, solved exactly, (runs, participants, dim).

        Arguments and errors as in :meth:`synthetic.Quadratic.prox`; needs ``rho > 0`` where F_k is not strongly convex.
        """
        nonnegative("rho", rho)
        across, xp = namespace(self.features).linalg.matrix_transpose, namespace(self.features)
        hessians, right = (take_clients(array, clients) for array in self._normal_equations)
        pull = rho * center - linear
        pull = xp.broadcast_to(pull, (pull.shape[0], right.shape[1], self.dim))
        right = right + across(pull.reshape(*pull.shape[:2], self.outputs, self.inputs))
        shift = rho[..., None] if getattr(rho, "ndim", 0) else rho
        solved = solve_shared(hessians + shift * self._eye, right)
        return across(solved).reshape(pull.shape)

    @cached_property
    def _normal_equations(self):
        return self.hessians(), self._right()

    @cached_property
    def client_minimisers(self):
        """Minimiser of each F_k, (instances, clients, dim)."""
        return self._solve(self.hessians(), self._right())

    @cached_property
    def F_star_client(self):
        return self.value(self.client_minimisers)

    def smoothness(self):
        return Constant(self._largest() + self.ridge, "exact", "largest eigenvalue of A^T A / n + ridge")

    def convexity(self):
        return Constant(self._least() + self.ridge, "exact", "smallest eigenvalue of A^T A / n + ridge")

    def _sample_noise(self):
        return self._noise_at_optimum()

    def extra_constants(self):
        return super().extra_constants() | self._sample_smoothness() | of_quadratics(self, self.hessians())
