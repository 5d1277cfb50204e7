"""Clients of symbolic runs, and the values of the names of formulas there."""

from fractions import Fraction

from verify.checker.by_coordinate import ByCoordinate
from verify.checker.exchangeable_clients import ALIKE, ANY, CLIENT, DEGREE, LAYERS, ExchangeableClients
from verify.checker.formulas import At
from verify.checker.instance import Instance
from verify.checker.methods.adaptive import BESIDE
from verify.checker.operators import require
from verify.checker.quadratic_forms import LAYER, ORIGIN, NotQuadratic, QuadraticForm, SymbolicVector, loss, plain
from verify.checker.run import INDEPENDENT, Run
from verify.checker.scenarios import Scenarios
from verify.checker.schema import STATED
from verify.checker.symbolic_operators import NUMBERING, SymbolicOperators
from verify.checker.symbolic_run import SeparateClients, SymbolicRun

#: constants of clients that a class bounds: how the relation of a hypothesis that bounds them begins
CLASS = {"L_client": "<", "mu_client": ">"}
ALL_CLIENTS = (["+", -1, "clients"], ["+", "clients", -1])


def symbolic_instance(stated, sizes, values, unknown, weights, start, degree=None):
    """The instance of a statement whose clients are letters: at these sizes, numbers and weights, with numbers that are
    ``unknown``. ``start`` is where its run begins. With a ``degree`` it is one of every number of clients from
    ``sizes["clients"]`` on, whose sides are polynomials of at most that degree in 1/m."""
    how, least = stated["procedure"], sizes["clients"]
    require(stated["setting"] == "run" and "replaced" not in how, "only runs of clients without samples")
    require(how["sampling"] not in INDEPENDENT, "nobody may take part in a round, which letters do not know")
    if degree is not None:
        require(type(degree) is int and 0 <= degree <= DEGREE, f"the degree is a whole number up to {DEGREE}")
        require(weights != ANY or degree == 0, "clients of any weight have no degree")
        require(how["sampling"] == "full" and sizes["participants"] == least, "all take part")
        require(how["base"] in ALIKE, f"{how['base']} is not known of every number of clients")
        require(sizes["layers"] <= LAYERS, f"more than {LAYERS} layers")
        require(weights == ANY or len({*map(Fraction, weights)}) == 1, "clients of equal weight, or of any")
        for name, value in values.items():
            by_client = any("clients" in size for size in stated["free"][name] or ())
            require(isinstance(value, dict) or not by_client, f"{name} by client")
        sizes = sizes | {"clients": 1, "participants": 1}
    people = ExchangeableClients(weights == ANY, least, degree) if degree is not None else SeparateClients(weights)
    certificate = {name: stated[name] for name in STATED} | {"sizes": sizes, "values": values, "instance": {}}
    found = Instance(certificate, clients=lambda instance: SymbolicFederation(instance, people, unknown, start),
                     numbering=NUMBERING, simplified=simplified, end=end)
    start.prepare(found.federation)
    if found.federation.letters.chosen:
        found.federation.choices = Scenarios(found)
    return found


def bounded_constant(rule):
    """The constant of all clients that a hypothesis bounds; None if it is of another kind."""
    left, over = rule["left"], rule["over"]
    if not (isinstance(left, list) and len(left) == 2 and left[0] in (*CLASS, "sigma_sq_client")):
        return None
    return left[0] if over in [[[left[1], 0, end]] for end in ALL_CLIENTS] else None


def simplified(value):
    """A form without letters as the number that it is."""
    return plain(value) if isinstance(value, QuadraticForm) and {*value.parts} <= {()} and not value.with_powers else value


def end(number):
    """The end of a range."""
    if isinstance(number, QuadraticForm):
        raise NotQuadratic("a range that ends at a client")
    require(number.denominator == 1, "a range goes from a whole number to one")
    return int(number)


class SymbolicFederation:
    """The clients of a run on letters: all of them priority clients, whose objective has a minimum. ``bounds`` are those
    that hypotheses give to the constants of clients; ``initial`` and ``states`` the states of the method that are letters:
    those that a claim leaves free, and those of a run from any state."""

    factored, layer_sizes = False, ()

    def __init__(self, instance, clients, unknown, start):
        require(instance.size["layers"] < LAYER, "too many layers")
        self.instance, self.hypotheses, self.begins = instance, instance.certificate["hypotheses"], start
        values = instance.certificate["values"].values()
        self.defining = {value["hypothesis"] for value in values if isinstance(value, dict)}
        self.others = [(place, rule) for place, rule in enumerate(self.hypotheses)
                       if bounded_constant(rule) not in CLASS and place not in self.defining]
        self.people, self.clients, self.weights = clients, clients.all, clients.weights
        self.average = clients.mean if clients.one else None
        self.priority, self.initial, self.states = clients.listed([1 for _ in clients.all]), {}, {}
        self.choices = None
        self.letters, self.words = SymbolicRun(clients, instance.size["layers"], instance.meter), SymbolicOperators(self)
        self.coordinates, self.given, self.unknown = ByCoordinate(self.letters), instance.given, unknown

    def constants(self, instance):
        """Binds the given quantities: symbolic numbers, the optimum, the start, and the clients at the optimum."""
        given, letters, clients = self.given, self.letters, self.people
        instance.size = instance.size | clients.counts()
        given |= clients.counts() | {"client_weight": self.weights, "priority": self.priority}
        for name in self.unknown:
            given[name] = clients.numbers(name) if name.endswith("_client") else QuadraticForm.basis(name)
        letters.exact = any(bounded_constant(rule) == "sigma_sq_client" and rule["relation"] in ("<=", "==")
                            and rule["right"] == 0 for rule in self.hypotheses)
        none = clients.listed([Fraction(0) for _ in clients.all])
        given["sigma_sq_client"] = none if letters.exact else clients.numbers("sigma_sq_client")
        self.bounds = {name: [self.bound(name, k) for k in clients.all] for name in CLASS}
        given["x_star"], given["start_offset"] = SymbolicVector.basis(ORIGIN), letters.basis_vector(shared=True)
        self.start = given["x_star"] + given["start_offset"]
        for k, gradient in enumerate(clients.at_rest(letters)):
            letters.points[k].append((given["x_star"], gradient, loss(k, 0)))
        given["F_star"] = given["F_inf"] = self.objective(given["x_star"])
        given["F_star_client"] = clients.numbers("least F")
        self.begins.begin(self)
        return {}

    def bounds_constants(self, place):
        """Whether a hypothesis bounds a constant of the clients, or defines a name."""
        return place in self.defining or bounded_constant(self.hypotheses[place]) is not None

    def bound(self, name, k):
        """The bound that the hypotheses give to a client's constant; None where there is none."""
        found = [plain(self.instance.formulas.value(rule["right"], At({rule["left"][1]: self.people.index(k)}, None)))
                 for rule in self.hypotheses
                 if bounded_constant(rule) == name and rule["relation"].startswith(CLASS[name])]
        return (max if name == "mu_client" else min)(found, default=None)

    @property
    def outcomes(self): return [outcome for _, outcome in self.instance.outcomes()]

    def leave_out(self, rule):
        """Refuse to do without a hypothesis where a proof would then say more than it shows; at fixed sizes never, as
        without it less is assumed."""
        self.people.leave_out(self, rule)
        self.begins.leave_out(self, rule)

    def cases(self, rule):
        """The values of a condition's indices; of a hypothesis about each client the one that stands for all."""
        formulas, cases = self.instance.formulas, [{}]
        if not self.people.one:
            return formulas.cases(rule)
        hypothesis = any(rule is each for each in self.hypotheses)
        for name, low, high in rule["over"]:
            found = []
            for index in cases:
                at = At(index, None)
                each = hypothesis and not any(v is CLIENT for v in index.values())
                each = each and self.people.are_all(formulas.value(low, at), formulas.value(high, at))
                found += [{**index, name: i} for i in ([CLIENT] if each else formulas.span(low, high, at))]
            cases = found
            self.letters.meter.charge(len(cases))
        return cases

    def are_all(self, participants): return self.people.all_take_part(participants)
    def sides(self, instance, rule, at): return instance.formulas.sides(rule, at)

    def may_name(self, instance, name, indices):
        """Refuse a name that has no value on letters."""
        if name == "dim" or (name in BESIDE and self.people.one):
            raise NotQuadratic(f"{name} is no number here")
        self.begins.may_name(self, name, indices)

    # what runs ask ---------------------------------------------------------------------------------------------------------
    def run(self, instance, method, outcome):
        run = Run(instance, self, method, outcome)
        self.people.recorded(run.record, instance.size["layers"])
        return run

    def begin(self, run):
        """Draws nothing before the first round."""

    def grad(self, k, x): return self.letters.evaluation_at(k, x)[1]
    def solution(self, k, linear, pull, x): return self.letters.solution(k, linear, pull, x)
    def matching(self, run, models, round): return [1 for _ in run.clients]
    def first_state(self, name, value): return self.begins.first_state(self, name, value)
    def split(self, run, layers): return SymbolicLayers(self.letters)

    def stochastic(self, run, k, point, kind, step):
        gradient, before = self.grad(k, point), sum(draw in self.letters.chosen for draw in run.chances)
        return gradient + self.letters.noise(k, point, gradient, (kind, run.round, step), before)

    def first_states(self, free):
        """A letter for each first state of a method that is ``free``; the same in all runs."""
        for name in free:
            if name not in self.initial:
                many = name.startswith("client_")
                self.initial[name] = self.people.listed([self.letters.basis_vector() for _ in self.clients]) if many else (
                    self.letters.basis_vector(shared=True))
        return self.initial

    def choose(self, run, kind, values, chances):
        """A choice with unknown chances; in the last round nobody asks what it is."""
        if len(values) == 1 or run.round == self.instance.size["rounds"] - 1:
            return values[0] if len(values) == 1 else None
        require((kind, run.round, 0, 0) not in run.chances, f"two choices of {kind} in one round")
        self.letters.chosen.add((kind, run.round, 0, 0))
        return run.draw(kind, [(Fraction(1), value) for value in values])

    def operators(self, instance): return self.words.operators()
    def binders(self, instance): return self.words.binders()
    def objective(self, x): return self.people.objective(self.letters, x)


class SymbolicLayers:
    """The layers of vectors of letters. Scores are numbers of which nothing is known."""

    def __init__(self, letters):
        self.letters, self.all = letters, range(letters.layers)

    def select(self, layers, new, old):
        """``new`` in these layers, ``old`` in the others."""
        return sum((self.letters.layer(l, new if l in layers else old) for l in self.all), SymbolicVector({}))

    def marks(self, layers):
        return [self.letters.anything() if layers is None else int(l in layers) for l in self.all]

    def score(self, *_): return self.letters.anything()
