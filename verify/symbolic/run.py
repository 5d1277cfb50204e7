"""One replayed run of the stand-alone checker: what a method asks of it, and everything that happens, by name."""

from collections import defaultdict
from fractions import Fraction
from functools import reduce
from itertools import combinations, product
from math import comb, prod
from operator import add, le, lt

from verify.checker.intervals import Vector
from verify.checker.limits import OUTCOMES, bounded
from verify.checker.operators import exact, require

#: samplings of distinct clients, of which the second averages models; and of clients that each decide by themselves, of
#: which the second divides by their expected number
DISTINCT = (_, SCHEME_2) = ("without-replacement", "li2020-scheme-2")
INDEPENDENT = (_, EXPECTED) = ("bernoulli", "bernoulli-expected")


class Run:
    """One outcome of chance on an instance.

    A method is a generator: it yields its state before a round, by name, and is sent the clients drawn for the round.
    ``record`` has everything that claims can name. ``chances`` and ``alternatives`` have, by the coordinates (kind, round,
    step, client) of each draw, the chance of what was drawn and how many things could have been.
    """

    def __init__(self, instance, method, outcome):
        self.instance, self.outcome, self.chances, self.alternatives = instance, outcome, {}, {}
        self.record, given, sizes, self.options_read = defaultdict(list), instance.given, instance.size, set()
        self.federation, self.layer_sizes = instance, [*map(int, given.get("layer_sizes", []))]
        self.weights, self.priority, self.how = given["client_weight"], given["priority"], instance.how
        self.clients, self.local_steps, self.step_size = instance.all, sizes["local_steps"], instance.step_size
        self.start = instance.start()
        self.zero, self.included, self.round = self.start * 0, [1 for _ in self.clients], -1
        self.begin()
        steps, past = method(self), []
        state = next(steps)
        self.keep(state)
        for self.round in range(sizes["rounds"]):
            drawn = self.draw_clients(sizes["participants"])
            self.record["x_broadcast"].append(self.model)
            self.record["sampled"].append([int(k in drawn) for k in self.clients])
            goes_on = bool(drawn) or self.how["sampling"] == EXPECTED
            self.drawn = drawn if goes_on else [k for k in self.clients if self.priority[k]]
            after = steps.send(self.drawn)
            if goes_on:
                state, past = after, [*past, (self.round, drawn)]
            else:  # clients run along, and nothing comes of it
                steps = self.again(method, past)
            self.drawn = drawn
            self.keep(state)
            self.mean_before, self.shares_before = self.over_all(self.before), self.shares()
        self.record_time(self.local_steps * sizes["rounds"], state.get("client_model", [self.model for _ in self.clients]))
        self.record, unread = dict(self.record), self.how["options"].keys() - self.options_read
        require(not unread, f"the method does not read its options {', '.join(sorted(unread))}")

    def begin(self):
        """Chance before the first round."""

    def again(self, method, past):
        """The method after the rounds ``past`` alone, pairs (round, clients drawn), from its start; nothing is recorded."""
        record, now, before, included = self.record, self.round, self.before, self.included
        self.record, self.round, steps = defaultdict(list), -1, method(self)
        next(steps)
        for self.round, self.drawn in past:
            self.record["x_broadcast"].append(self.start)
            steps.send(self.drawn)
        self.record, self.round, self.before, self.included = record, now, before, included
        return steps

    def argument(self, name):
        """An argument of the method: what the claim calls it, if the procedure says so, else the procedure's own value."""
        self.options_read.add(name)
        value = self.how["options"][name]
        return self.instance.parameter(value["symbol"]) if isinstance(value, dict) else value

    def number(self, name):
        """A hyper-parameter."""
        value = exact(self.argument(name))
        require(not isinstance(value, Vector), f"{name} is a number")
        return value

    def option(self, name, *allowed):
        """A choice of the procedure, one of those ``allowed``; of none, any, which makes no difference to the run."""
        value = self.argument(name)
        if allowed and not any(type(value) is type(choice) and value == choice for choice in allowed):
            raise ValueError(f"{name} = {value!r} is not replayed; replayed: {allowed}")
        return value

    def array(self, name):
        """A list of numbers or of vectors; None where the procedure has none."""
        value = self.argument(name)
        return None if value is None else exact(value)

    def initial(self, *free):
        """The first values of the method's states that are ``free``, by name; the instance may give no others."""
        given = self.instance.given["initial"]
        require({*given} <= {*free}, f"first states that are free: {', '.join(free) or 'none'}; got {', '.join(given)}")
        return given

    def first(self, name, value):
        """A state of the method before the first round, by name: the ``value`` that the method gives it."""
        return value

    def by_coordinates(self, word, *vectors):
        """A function of vectors, coordinate by coordinate: a word of formulas."""
        return self.instance.words[word](*vectors)

    # what is recorded -----------------------------------------------------------------------------------------------------
    def keep(self, state):
        """Record a method's state between two rounds; ``x_round`` is the server's model."""
        self.model = state["x_round"]
        self.instance.meter.record([*state.values()])
        for name, value in state.items():
            self.record[name].append(value)

    def record_time(self, t, models, gradients=None):
        """Record time t: the models from which its step starts, and the stochastic gradients there."""
        self.instance.meter.record(models)
        aggregated = t > 0 and t % self.local_steps == 0
        average = self.mean_before if aggregated else self.over_all(models)
        for name, value in {
            "x_local": models, "x_before": self.before if aggregated else models, "x": average, "g": gradients,
            "x_sampled": self.model if aggregated else average, "included": self.included,
            "sampled_weight": self.shares_before if aggregated else self.weights,
        }.items():
            self.record[name].append(value)

    # chance ---------------------------------------------------------------------------------------------------------------
    def draw(self, kind, alternatives, step=0, client=0, chance=None):
        """One of the ``alternatives``, pairs (chance, value) or values with a ``chance(value)``, by this run's outcome."""
        key = (kind, self.round, step, client)
        self.alternatives[key], chosen = len(alternatives), alternatives[self.outcome.get(key, 0)]
        self.chances[key], value = chosen if chance is None else (chance(chosen), chosen)
        return value

    def choose(self, kind, values, chances):
        """One of the ``values``, with ``chances()``, which depend on the run."""
        return self.draw(kind, [*zip(chances(), values, strict=True)])

    def split(self, layers):
        """The layers of the model: ``layers`` of this run."""
        return layers(self)

    def draw_clients(self, participants):
        """Numbers of the priority clients of a round, as often as they are drawn; none where nobody takes part."""
        members = [k for k in self.clients if self.priority[k]]
        if self.how["sampling"] == "full":
            return members
        if self.how["sampling"] in INDEPENDENT:
            chance = self.instance.parameter("participation")
            require(0 < chance <= 1 and len(members) == len(self.clients), "a chance, and priority for all")
            bounded(2 ** min(len(members), 64), OUTCOMES, "outcomes of sampling")
            return [k for k in members if self.draw("sampling", [(chance, 1), (1 - chance, 0)], client=k)]
        if self.how["sampling"] == "with-replacement":
            bounded(len(members) ** min(participants, 64), OUTCOMES, "outcomes of sampling")
            paths = [*product(members, repeat=participants)]
            return self.draw("sampling", paths, chance=lambda path: prod(self.weights[k] for k in path))
        if self.how["sampling"] not in DISTINCT or participants > len(members):
            raise ValueError(f"{participants} of {len(members)} clients cannot be drawn {self.how['sampling']}")
        bounded(comb(len(members), participants), OUTCOMES, "outcomes of sampling")
        paths = [*combinations(members, participants)]
        return self.draw("sampling", [(Fraction(1, len(paths)), path) for path in paths])

    def gradient(self, k, point, kind="noise", step=0):
        """A stochastic gradient, on samples of a local step, ``extra`` ones of the round, or those at the ``start``."""
        law = self.instance.laws[k]
        return self.instance.grad(k, point) + (self.draw(kind, law, step, k) if len(law) > 1 else law[0][1])

    # what methods are made of ----------------------------------------------------------------------------------------------
    def matching(self, models, round):
        """1 on priority clients, and on free clients that are there and whose loss matches the objective, else 0."""
        given, close = self.instance.given, lt if self.how["strict"] else le
        limit, there = (given[name][min(round, len(given[name]) - 1)] for name in ("epsilon", "available"))

        def meets(k):
            gap = abs(self.instance.F(k, models[k]) - self.instance.objective(models[k]))
            return there[k] == 1 and close(gap, limit)

        return [int(self.priority[k] or meets(k)) for k in self.clients]

    def shares(self):
        """Weight of each client in the mean over those drawn: p_k of a free client, else what the sampling makes of it."""
        drawn, law = self.drawn, self.how["sampling"]
        if law == "full":
            return self.weights
        if law == "bernoulli":
            total = sum(self.weights[k] for k in drawn)
            return [self.weights[k] / total if k in drawn else self.weights[k] * 0 for k in self.clients]
        if law == EXPECTED:
            chance = self.instance.parameter("participation")
            return [w / chance if k in drawn else w * 0 for k, w in enumerate(self.weights)]
        if law in DISTINCT:
            share = Fraction(sum(self.priority), len(drawn))
            sampled = [w * share if k in drawn else w * 0 for k, w in enumerate(self.weights)]
        else:
            sampled = [Fraction(drawn.count(k), len(drawn)) for k in self.clients]
        return [s if q else w for s, w, q in zip(sampled, self.weights, self.priority, strict=True)]

    def mean(self, vectors):
        """The clients' vectors times the weights of those drawn and included, added up. The weights of a round sum to
        :meth:`total`, so this is for changes; models have :meth:`aggregate`."""
        return self._weighted(self.shares(), vectors)

    def total(self):
        """The sum of the weights of :meth:`mean`."""
        if self.how["sampling"] not in (*DISTINCT, EXPECTED):
            return Fraction(1)
        return sum(self._counted(self.shares()), Fraction(0)) / sum(self._counted(self.weights), Fraction(0))

    def next_model(self, x, change):
        """The model x of the round after the mean ``change`` of the clients' models; where models are averaged, x counts by
        the sum of the weights."""
        return x * self.total() + change if self.how["sampling"] == SCHEME_2 else x + change

    def aggregate(self, models, x):
        """The mean of the clients' models: x plus the mean of what each differs from x; scheme II of Li et al. 2020 has the
        sum of the weighted models. Where weights sum to one both are the same."""
        if self.how["sampling"] in ("without-replacement", EXPECTED):
            rest, mean = 1 - self.total(), self.mean(models)
            return mean + x * rest if rest else mean
        return self.mean(models)

    def towards(self, x, end):
        """The server's model on the way from x to ``end``, of which it goes the share eta_g."""
        return x + (end - x) * self.number("eta_g")

    def over_all(self, vectors):
        """Mean of the clients' vectors over all included."""
        return self._weighted(self.weights, vectors)

    def _weighted(self, weights, vectors):
        own = self._counted(self.weights)
        counted = own if weights is self.weights else self._counted(weights)
        total, whole = reduce(add, (vectors[k] * w for k, w in enumerate(counted))), sum(own, Fraction(0))
        return total if whole == 1 else total / whole

    def _counted(self, weights):
        """The weights of clients that are included, 0 of the others."""
        return [w if q == 1 else w * q for w, q in zip(weights, self.included, strict=True)]

    def of_drawn(self, new, old):
        """``new`` of the clients drawn, ``old`` of the others."""
        return [new[k] if k in self.drawn else old[k] for k in self.clients]

    def steps(self):
        """Sizes of the local steps of the round."""
        return self.step_size[self.round * self.local_steps : (self.round + 1) * self.local_steps]

    def scaled_steps(self, scale):
        """Other sizes of the local steps: what ``scale`` makes of the number of a step and its size."""
        return [scale(Fraction(j), eta) for j, eta in enumerate(self.steps())]

    def added(self, steps):
        """The sum of the sizes of steps."""
        return sum(steps)

    def train(self, x, direction, steps=None):
        """Every client's model after its local steps y <- y - step_size * direction(k, y, g, step) from ``x``, a vector or a
        list of one for each client, with g a stochastic gradient at y. Clients that were not drawn run along."""
        models, first = x if isinstance(x, list) else [x for _ in self.clients], self.round * self.local_steps
        self.meet(models)
        for step, size in enumerate(steps or self.steps()):
            if step and self.how["indicator"] == "local-every-step":
                self.included = self.matching(models, self.round)
            gradients = [self.gradient(k, y, step=step) for k, y in enumerate(models)]
            self.record_time(first + step, models, gradients)
            pairs = enumerate(zip(models, gradients, strict=True))
            models = [y - direction(k, y, g, step) * size for k, (y, g) in pairs]
        self.part(models)
        return models

    def meet(self, models):
        """Decide at the beginning of a round who counts in it, at the ``models`` from which clients start."""
        if self.how["indicator"] != "local-at-aggregation" or self.round == 0:
            self.included = self.matching(models, self.round)

    def part(self, ends):
        """The local models before they are averaged; by some rule they decide who counts."""
        self.before = ends
        if self.how["indicator"] == "local-at-aggregation":
            self.included = self.matching(ends, self.round + 1)

    def solve(self, x, linear, pull):
        """Every client's minimiser over v of F_k(v) + <linear_k, v> + pull/2 |v - x|^2, instead of local steps."""
        if self.local_steps != 1:
            raise ValueError("a local problem that is solved has one local step")
        self.meet([x for _ in self.clients])
        self.record_time(self.round, [x for _ in self.clients], [self.zero for _ in self.clients])
        self.part([self.instance.solve(k, linear[k], pull, x) for k in self.clients])
        return self.before
