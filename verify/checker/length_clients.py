"""Clients of whose losses only inequalities are known: what runs on symbolic vectors ask of a federation.

A basis vector is the gradient of a function at a point, the noise of a draw, a first state, or a free vector. Functions are
the clients' losses; of clients with samples, the loss of the sample that a local step draws. These make two runs: on the
data, and on the data with one sample replaced.
"""

from fractions import Fraction

from verify.checker.limits import LETTERS, bounded
from verify.checker.norm_expressions import ORIGIN, NotLinear, SymbolicVector, number
from verify.checker.run import Run
from verify.checker.words import require

REPLACED = ("replaced", -1, 0, 0)  # the draw of the client whose sample is replaced
DATA = ("data",)  # the draw of all data
SHARED, OWN, TWIN = "F", "f", "f'"  # whose function: a client's loss, that of a draw's sample, and of the second run's


class Basis:
    """The basis vectors. ``depends_on`` has for each the draws on which it depends, ``points`` for each function what was
    asked of it: pairs (point, gradient), and ``noises`` the noise of each draw."""

    def __init__(self):
        self.depends_on, self.points, self.noises, self.states = [], {}, {}, {}

    def vector(self, draws=frozenset()):
        bounded(len(self.depends_on) + 1, 2 * LETTERS, "basis vectors")
        self.depends_on.append(frozenset(draws))
        return SymbolicVector({len(self.depends_on) - 1: 1})

    def draws(self, vector):
        """The draws on which a vector depends."""
        return frozenset().union(*(self.depends_on[i] for i in vector.coefficients if i != ORIGIN))

    def gradient(self, function, point, draws=frozenset()):
        """The gradient of a function, which depends on ``draws``, at a point; one point has one gradient."""
        seen, key = self.points.setdefault(function, []), point.key
        for other, found in seen:
            if other.key == key:
                return found
        seen.append((point, self.vector(self.draws(point) | draws)))
        return seen[-1][1]


class SymbolicClients:
    """The clients of a run; ``basis`` is common to both runs on samples, of which ``second`` is the one on the other data.

    ``bounds`` has by name the bound on each client's constant, None where there is none.
    """

    layer_sizes, constants = (), {}

    def __init__(self, statement, basis, weights, bounds, second=False):
        self.statement, self.basis, self.bounds, self.second = statement, basis, bounds, second
        self.weights, self.clients, self.count = weights, range(len(weights)), len(weights)
        self.priority, self.start = [1 for _ in weights], SymbolicVector({ORIGIN: 1})
        self.of_data = {DATA} if statement.coupled and not statement.given_data else frozenset()
        self.twin = SymbolicClients(statement, basis, weights, bounds, True) if statement.coupled and not second else None

    def operators(self, instance): return {}
    def binders(self, instance): return {}
    def sides(self, instance, rule, at): return instance.formulas.sides(rule, at)

    def grad(self, k, point):
        require(k in self.clients, f"{k} is no client")
        require(isinstance(point, SymbolicVector), "a gradient is one at a point")
        return self.basis.gradient((SHARED, int(k)), point, self.of_data)

    def curvatures(self, function):
        """The least and the largest curvature of a function; None where there is no bound."""
        L, m = (self.bounds[name][function[-1]] for name in ("L_client", "mu_client"))
        require(L is None or m is None or m <= L, "curvatures must lie in an interval")
        return None if L is None else (-L if m is None else m, L)

    # what runs ask ---------------------------------------------------------------------------------------------------------
    def run(self, instance, method, outcome):
        if self.twin is None:
            return Run(instance, self, method, outcome)
        return CoupledRun(*(Run(instance, clients, method, outcome) for clients in (self, self.twin)))

    def begin(self, run):
        """Draw the client whose sample is replaced."""
        run.calls = []
        if self.statement.coupled:
            run.where = run.draw("replaced", [(Fraction(1, self.count), k) for k in self.clients])

    def stochastic(self, run, k, point, kind, step):
        """A client's gradient with the noise of the draw, which is the same wherever its gradient is taken; of clients with
        samples the gradient of the sample that is drawn."""
        draw = kind, run.round, step, k
        if not self.statement.coupled:
            return self.grad(k, point) + self.noise(draw)
        found = self.sample_gradient(draw, point, TWIN if self.second and k == run.where else OWN)
        run.calls.append((draw, point, found))
        return found

    def sample_gradient(self, draw, point, whose=OWN): return self.basis.gradient((whose, *draw), point, {draw})

    def noise(self, draw):
        if self.bounds["sigma_sq_client"][draw[-1]] == 0:
            return SymbolicVector({})
        if draw not in self.basis.noises:
            self.basis.noises[draw] = self.basis.vector({draw})
        return self.basis.noises[draw]

    def solution(self, k, linear, pull, x):
        """The point v where the gradient of client k, plus linear + pull (v - x), is 0."""
        if self.statement.coupled:
            raise NotLinear("local problems of clients with samples, whose losses are not those of one draw")
        gradient = self.basis.vector(self.basis.draws(x) | self.basis.draws(linear))
        point = x - (linear + gradient) / number(pull)
        self.basis.points.setdefault((SHARED, k), []).append((point, gradient))
        return point

    def first_states(self, free):
        basis = self.basis
        for name in free:
            if name not in basis.states:
                basis.states[name] = [basis.vector() for _ in self.clients] if name.startswith("client_") else basis.vector()
        return basis.states

    def first_state(self, name, value): return value
    def matching(self, run, models, round): return [1 for _ in self.clients]
    def choose(self, run, kind, values, chances): return run.draw(kind, [*zip(chances(), values, strict=True)])
    def split(self, run, layers): return layers(run)


class CoupledRun:
    """Both runs of one outcome; the names of the second one's record begin with twin_. ``pairs`` has of each call for a
    stochastic gradient (draw, point, gradient) in both."""

    def __init__(self, own, twin):
        require(own.alternatives == twin.alternatives, "coupled runs must make the same draws")
        self.chances, self.alternatives, self.where = own.chances, own.alternatives, own.where
        self.pairs = [*zip(own.calls, twin.calls, strict=True)]
        self.record = own.record | {f"twin_{name}": value for name, value in twin.record.items()}
        self.record["differing"] = [int(k == self.where) for k in own.clients]
