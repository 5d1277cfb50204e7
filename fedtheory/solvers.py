"""Solvers of a client's local problem ``F_k(v) + <shift_k, v> + pull/2 |v - x|^2``: exact, or to a tolerance."""

from dataclasses import MISSING, dataclass
from functools import partial

from fedtheory.fields import checked, size
from fedtheory.parts import ClientOptimiser, GradientOracle
from synthetic.base.checks import number, one_of
from synthetic.numbers.arrays import namespace

__all__ = ["ExactSolve", "Solver", "ToTolerance", "local_solver"]

SOLVERS = ("gradient", "exact", "tolerance")


def local_solver(solver: str, epsilon=None) -> ClientOptimiser:
    """``gradient``: ``local_steps`` gradient steps; ``exact``: :class:`ExactSolve`; ``tolerance``: :class:`ToTolerance`."""
    one_of("solver", solver, SOLVERS)
    if (epsilon is None) == (solver == "tolerance"):
        raise ValueError(f"epsilon goes with solver 'tolerance', and only there; got epsilon {epsilon!r} with {solver!r}")
    return {"gradient": ClientOptimiser, "exact": ExactSolve}[solver]() if epsilon is None else ToTolerance(epsilon)


@dataclass(frozen=True)
class Solver(ClientOptimiser):
    """Solves the local problem in place of local steps, with full gradients of F_k."""

    solves = True

    def solve(self, local, correction, context):
        """``local`` with the solution as its model."""
        raise NotImplementedError

    def check(self, algorithm):
        if algorithm.local_steps != 1:
            raise ValueError("a local problem that is solved has no local steps; got local_steps "
                             f"{algorithm.local_steps}, allowed: 1")
        if type(algorithm.oracle) is not GradientOracle:
            raise ValueError(f"{type(algorithm.oracle).__name__} changes gradients, so there is no local problem to solve; "
                             "allowed: solver 'gradient'")
        if not algorithm.correction.fixed_in_round:
            raise ValueError(f"{type(algorithm.correction).__name__} adds no fixed linear term and pull, so there is no "
                             "local problem to solve; allowed: solver 'gradient'")


@dataclass(frozen=True)
class ExactSolve(Solver):
    """The minimiser itself, on federations with ``prox`` (quadratics, least squares, piecewise quadratics).

    Example:
        On 1/2 (v - 1)^2 + 1/2 v^2 the minimiser is 1/2.

        >>> from fedtheory import make_algorithm, run
        >>> from synthetic import Quadratic
        >>> method = make_algorithm("fedprox").having(client=ExactSolve())
        >>> run(method, Quadratic([[[1.0]]], [[[1.0]]]), 1).dataset.x.values.ravel().tolist()
        [0.0, 0.5]
    """

    def refuses(self, federation):
        known = hasattr(federation, "prox")
        return None if known else (f"no closed form is known for the local problems of {federation.name}; allowed: "
                                   "quadratic and least-squares federations, or solver 'tolerance'")

    def solve(self, local, correction, context):
        shift, pull = correction.shift(local, context), correction.pull(context)
        linear, pull = 0 * local.x if shift is None else shift, 0 if pull is None else pull
        return local._replace(x=context.federation.prox(linear, pull, context.x[:, None, :], context.clients))


@dataclass(frozen=True)
class ToTolerance(Solver):
    """Gradient steps of size ``eta_l`` until the squared gradient norm of the local problem is at most ``epsilon``.

    Every client of every run stops by itself, so that results do not depend on the batch. Gradients are full ones, and are
    not counted. A client that diverges stops too.

    Raises:
        ValueError: a client needs more than ``limit`` steps.

    Example:
        Steps of 1/2 on 1/2 (v - 1)^2: the gradients are -1, -1/2, -1/4, and 1/16 is small enough.

        >>> from fedtheory import fedavg, run
        >>> from synthetic import Quadratic
        >>> method = fedavg(0.5).having(client=ToTolerance(1 / 16))
        >>> run(method, Quadratic([[[1.0]]], [[[1.0]]]), 1).dataset.x.values.ravel().tolist()
        [0.0, 0.75]
    """

    epsilon: float = checked(MISSING, partial(number, strict=True))
    limit: int = size(10_000)

    def solve(self, local, correction, context):
        xp, eta, start = namespace(local.x), context.algorithm.step_size(context), context.x[:, None, :]
        shift, pull = correction.shift(local, context), correction.pull(context)
        x = local.x
        for _ in range(self.limit + 1):
            g = context.federation.gradient(x, context.clients)
            g = g if shift is None else g + shift
            g = g if pull is None else g + pull * (x - start)
            size = xp.sum(g**2, axis=-1, keepdims=True)
            going = size > self.epsilon
            if size.dtype != object:  # a point that is not finite stays as it is, so that the run counts as diverged
                going = ~(size <= self.epsilon) & xp.all(xp.isfinite(x), axis=-1, keepdims=True)
            if not bool(xp.any(going)):
                return local._replace(x=x)
            x = xp.where(going, x - eta * g, x)
        worst = float(xp.max(xp.where(going, size, 0 * size)))
        raise ValueError(f"after {self.limit} gradient steps of eta_l some local problem has a squared gradient norm of "
                         f"{worst:.3g}; allowed: epsilon {self.epsilon:g}. Choose another eta_l, or a larger limit")
