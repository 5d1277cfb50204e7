"""Clients of whose losses only inequalities are known: what runs on symbolic vectors ask of a federation.

A basis vector is the gradient of a function at a point, the noise of a draw, a first state, or a free vector. Functions are
the clients' losses; of clients with samples, the loss of the sample that a local step draws. These make two runs: on the
data, and on the data with one sample replaced.
"""

from fractions import Fraction

from verify.checker.limits import BASIS_VECTORS, bounded
from verify.checker.norm_expressions import ORIGIN, Combination, NotLinear, number
from verify.checker.operators import require
from verify.checker.run import Run

REPLACED = ("replaced", -1, 0, 0)  # the draw of the client whose sample is replaced
DATA = ("data",)  # the draw of all data
SHARED, OWN, TWIN = "F", "f", "f'"  # whose function: a client's loss, that of a draw's sample, and of the second run's


class SymbolicClients:
    """The clients of a run; of clients with samples a ``twin`` answers the second run, on the other data.

    ``bounds`` has by name the bound on each client's constant, None where there is none. Both runs share ``depends_on``, the
    draws on which each basis vector depends, ``points``, of each function the pairs (point, gradient) that were asked for,
    ``noises``, the noise of each draw, and ``states``. ``coupled``: clients have samples; ``given_data``: these are given.
    """

    layer_sizes, average = (), None

    def __init__(self, weights, bounds, coupled, given_data, first=None):
        self.weights, self.bounds, self.coupled, self.second = weights, bounds, coupled, first is not None
        self.clients, self.priority = range(len(weights)), [1 for _ in weights]
        self.of_data, self.start = {DATA} if coupled and not given_data else set(), Combination({ORIGIN: Fraction(1)})
        shared = (first.depends_on, first.points, first.noises, first.states) if first else ([], {}, {}, {})
        self.depends_on, self.points, self.noises, self.states = shared
        self.twin = SymbolicClients(weights, bounds, coupled, given_data, self) if coupled and not first else None

    def constants(self, instance): return {}
    def operators(self, instance): return {}
    def binders(self, instance): return {}
    def are_all(self, participants): return participants == len(self.clients)
    def sides(self, instance, rule, at): return instance.formulas.sides(rule, at)

    def may_name(self, instance, name, indices):
        if name in ("dim", "layers"):
            raise NotLinear(f"{name} may be any number")

    # basis vectors ---------------------------------------------------------------------------------------------------------
    def basis_vector(self, draws=()):
        bounded(len(self.depends_on) + 1, 2 * BASIS_VECTORS, "basis vectors")
        self.depends_on.append(frozenset(draws))
        return Combination({len(self.depends_on) - 1: Fraction(1)})

    def draws(self, vector):
        """The draws on which a vector depends."""
        return frozenset().union(*(self.depends_on[i] for i in vector.terms if i != ORIGIN))

    def gradient_at(self, function, point, draws):
        """The gradient of a function, which depends on ``draws``, at a point; one point has one gradient."""
        require(isinstance(point, Combination) and (point.is_vector or not point.terms), "a gradient is one at a point")
        seen = self.points.setdefault(function, [])
        found = next((gradient for other, gradient in seen if other.terms == point.terms), None)
        if found is None:
            found = self.basis_vector(self.draws(point) | draws)
            seen.append((point, found))
        return found

    def grad(self, k, point):
        require(k in self.clients, f"{k} is no client")
        return self.gradient_at((SHARED, int(k)), point, self.of_data)

    def sample_grad(self, draw, point, whose=OWN): return self.gradient_at((whose, *draw), point, {draw})

    def noise(self, draw):
        if self.bounds["sigma_sq_client"][draw[-1]] == 0:
            return Combination({})
        if draw not in self.noises:
            self.noises[draw] = self.basis_vector({draw})
        return self.noises[draw]

    def curvatures(self, function):
        """The least and the largest curvature of a function."""
        L, m = (self.bounds[name][function[-1]] for name in ("L_client", "mu_client"))
        require(L is not None, f"nothing is known of the curvature of {function}")
        require(m is None or m <= L, "curvatures must lie in an interval")
        return -L if m is None else m, L

    # what runs ask ---------------------------------------------------------------------------------------------------------
    def run(self, instance, method, outcome):
        runs = [Run(instance, clients, method, outcome) for clients in (self, self.twin) if clients]
        return CoupledRun(*runs) if self.coupled else runs[0]

    def begin(self, run):
        """Draw the client whose sample is replaced."""
        run.calls = []
        if self.coupled:
            run.where = run.draw("replaced", [(Fraction(1, len(self.clients)), k) for k in self.clients])

    def stochastic(self, run, k, point, kind, step):
        """A client's gradient with the noise of the draw, which is the same wherever its gradient is taken; of clients with
        samples the gradient of the sample that is drawn."""
        draw = kind, run.round, step, k
        if not self.coupled:
            return self.grad(k, point) + self.noise(draw)
        found = self.sample_grad(draw, point, TWIN if self.second and k == run.where else OWN)
        run.calls.append((draw, point, found))
        return found

    def solution(self, k, linear, pull, x):
        """The point v where the gradient of client k, plus linear + pull (v - x), is 0."""
        if self.coupled:
            raise NotLinear("local problems of clients with samples, whose losses are not those of one draw")
        gradient = self.basis_vector(self.draws(x) | self.draws(linear))
        point = x - (linear + gradient) / number(pull)
        self.points.setdefault((SHARED, k), []).append((point, gradient))
        return point

    def first_states(self, free):
        for name in free:
            if name not in self.states:
                states = [self.basis_vector() for _ in (self.clients if name.startswith("client_") else "1")]
                self.states[name] = states if name.startswith("client_") else states[0]
        return self.states

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
