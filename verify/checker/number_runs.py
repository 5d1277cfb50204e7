"""Symbolic runs for proofs for all numbers: the vectors that a run records are atoms, and its method gives equations.

The method's own pseudocode (methods/) goes through one round r, with one local step j and one client k, whose numbers are
names. So each equation holds for every round, step and client of every run, whatever its sizes. Random numbers are atoms
too; facts about a run hold for every outcome, and means are taken by :func:`index_sums.expected`.
"""

from verify.checker.index_sums import frozen, of_vector, scaled, sum_of, vector_sum
from verify.checker.number_facts import NONNEGATIVE, Fact, KnownFacts
from verify.checker.number_federation import slope
from verify.checker.number_formulas import factors
from verify.checker.number_values import AnyLayers, Number, StepSizes, Vector
from verify.checker.operators import exact, require
from verify.checker.polynomials import ONE, ZERO, Poly, constant, has, inverse, of_atom
from verify.checker.run import METHODS
from verify.checker.scope import all_of, ends

#: methods whose equations are derived, with all clients and local steps alike: the options that are known, and the state
#: that starts at the start of the run
BASES = {"fedavg": ({}, "x_round"), "fedswa": ({}, "x_round"), "fedmoswa": ({}, "x_round"),
         "scaffold": ({"option": ("I", "II")}, "x_round"), "afedpd": ({}, "server_x_bar"),
         "fedluar": ({"lr_decay": ("displacement",), "local_momentum": ("0",), "momentum_kept": (False,),
                      "initial_update": (None,)}, "x_round")}
RECORDED = ("fadamgc", "fa-nt")  #: methods without equations, of which only the records of a run are known
#: states that are vectors: whether each client has one
STATES = {"client_variate": True, "server_variate": False, "server_x_bar": False, "server_duals": True,
          "server_applied_update": False}
SAMPLINGS = ("full", "without-replacement")
ROUND, STEP, CLIENT = ("index", "the round"), ("index", "the step"), ("index", "the client")
ALL_CLIENTS = ["k", 0, ["+", -1, "clients"]]
SIZES = ("clients", "participants", "rounds", "local_steps")
#: what a run records, by its sizes
ARRAYS = {"x_round": ["rounds + 1", "dim"], "x_broadcast": ["rounds", "dim"], "sampled": ["rounds", "clients"],
          "x": ["iterations + 1", "dim"], "x_sampled": ["iterations + 1", "dim"], "g": ["iterations", "clients", "dim"],
          "x_local": ["iterations + 1", "clients", "dim"], "x_before": ["iterations + 1", "clients", "dim"]}
#: gradients that are drawn beside local steps, whose names no statement has
BESIDE = {"extra gradient": ["rounds", "clients", "dim"], "start gradient": ["1", "clients", "dim"]}
CONSTANTS = {"client_weight": ["clients"], "priority": ["clients"], "x_star": ["dim"], "L_client": ["clients"],
             "mu_client": ["clients"], "F_star_client": ["clients"], "sigma_sq_client": ["clients"]}

def state_sizes(certificate):
    """The sizes of the states that a method keeps from round to round."""
    return {name: ["rounds + 1", *["clients"] * STATES[name], "dim"]
            for name in METHODS[certificate["procedure"]["base"]][1] if name in STATES}


def declare_recorded(certificate, reader):
    """Declares to a reader the arrays that a run records. Refuses methods and samplings without equations."""
    how = certificate["procedure"]
    require(how["base"] in (*BASES, *RECORDED) and "replaced" not in how, f"{how['base']} is not known for all numbers")
    require(how["sampling"] in SAMPLINGS, f"clients drawn {how['sampling']} are not known for all numbers")
    for name, values in BASES[how["base"]][0].items() if how["base"] in BASES else ():
        require(how["options"].get(name) in values, f"{name} of {how['base']} is one of {values}")
    require(all_of(certificate, "priority") == 1, "not all clients count")
    recorded = {**ARRAYS, **BESIDE, **state_sizes(certificate)}
    twice = {*recorded, *CONSTANTS} & {*certificate["free"], *certificate["definitions"]}
    require(not twice, f"{', '.join(sorted(twice))} would have two meanings")
    reader.recorded, reader.arrays = {*recorded}, {
        "eta_l": ["iterations"], **certificate["free"], **recorded, **CONSTANTS}
    one = {"right": 1}
    reader.entries |= {"priority": one | {"over": [ALL_CLIENTS]},
                       "included": one | {"over": [["t", 0, "iterations"], ALL_CLIENTS]}}
    # a number of clients stays a name, as sums over clients are read alike for one and for many
    fixed = {size: low for size in SIZES[1:] for low, high in [ends(certificate, size)] if low == high}
    reader.put = {**fixed, "iterations": ["*", "rounds", "local_steps"], **reader.put}
    if how["sampling"] == "full":
        reader.put["participants"] = "clients"
        reader.entries["sampled"] = one | {"over": [["r", 0, ["+", -1, "rounds"]], ALL_CLIENTS]}
    for rule in certificate["hypotheses"]:
        left, over = rule["left"], rule["over"]
        whole = {"eta_l": [[0, ["+", -1, "iterations"]]], "client_weight": [[0, ["+", -1, "clients"]]]}
        if rule["relation"] == "==" and isinstance(left, list) and left[1:] == [index for index, *_ in over] and (
                [ends for _, *ends in over] == whole.get(left[0])):
            reader.entries.setdefault(left[0], rule)


def depends_on_sampling(part):
    """Whether a part of a vector depends on which clients are drawn."""
    if isinstance(part, Poly):
        return any(depends_on_sampling(a) for m in part.terms for a, _ in m)
    return isinstance(part, tuple) and (part[:1] == ("drawn",) or any(map(depends_on_sampling, part)))


def recorded_vector(name, *places): return {("run", name, *places): ONE}


class OneRound:
    """One round of a method, with the interface of :class:`run.Run`. ``equations``: by name (indices, premises, one side,
    the other side): where all premises are at least 0, both vectors are equal. ``divisors``: factors of what the method
    divides by. ``early``: whether local steps may depend on the clients drawn for their round; ``noisy``: whether they use
    stochastic gradients."""

    def __init__(self, certificate, reader, known):
        self.reader, self.how, self.sizes = reader, certificate["procedure"], state_sizes(certificate)
        self.K, self.R, self.M, self.S = (reader.number(name, known, {}) for name in (
            "local_steps", "rounds", "clients", "participants"))
        self.r, self.j, self.k = (of_atom(index) for index in (ROUND, STEP, CLIENT))
        self.known = inside = KnownFacts(known)
        for index, high in ((ROUND, self.R), (STEP, self.K), (CLIENT, self.M)):
            inside = self.known = inside.with_index(index, ZERO, high - ONE, index[1])
        t = self.r * self.K + self.j  # at most (R - 1) K + K - 1
        inside.add("a time", Fact(">=", self.R * self.K - ONE - t, ()))
        self.time, self.after = t, (self.r + ONE) * self.K
        self.clients, self.local_steps, self.equations, self.starts = [0], Number(self.K, self), {}, None
        self.divisors, self.early, self.noisy, self.round = [], True, True, 0
        self.weight = reader.number(["client_weight", "k"], inside, {"k": self.k})
        self.zero = Vector({}, self)
        self.add_common_equations()
        if self.how["base"] in BASES:
            self.start = Vector(recorded_vector(BASES[self.how["base"]][1], self.r), self)
            self.add_method_equations(METHODS[self.how["base"]][0](self))

    # the round -------------------------------------------------------------------------------------------------------------
    def add_common_equations(self):
        """Adds the equations that hold for every method."""
        r, j, k, t = self.r, self.j, self.k, self.time
        inside, later = [self.R - ONE - r], [self.R - ONE - r, self.K - ONE - j, j - ONE]
        own = [Vector(recorded_vector(name, t, k), self) for name in ("x_local", "x_before")]
        x, last = (Vector(recorded_vector("x_round", place), self) for place in (r, self.R))
        self.add_equation("within", [r, j, k], later, own[1].v, own[0])
        self.add_equation("end", [k], [], recorded_vector("x_local", self.R * self.K, k), last)
        self.add_equation("broadcast", [r], inside, recorded_vector("x_broadcast", r), x)
        for name in ("x", "x_sampled"):
            self.add_equation(f"average {name}", [r, j], later, recorded_vector(name, t), self.over_all([own[0]]))
        self.add_equation("mean", [r], inside, recorded_vector("x", self.after), self.over_all(self.ends()))
        self.add_equation("model", [r], inside, recorded_vector("x_sampled", self.after),
                          Vector(recorded_vector("x_round", r + ONE), self))

    def add_method_equations(self, steps):
        """Adds the equations of one round of the method."""
        r, j, k = self.r, self.j, self.k
        before, after = next(steps), steps.send(self.clients)
        inside, start = [self.R - ONE - r], Vector(recorded_vector("x_round", r), self)
        for name in {*self.sizes} - {*before}:  # a state of other variants of the method
            del self.reader.arrays[name]
        before, after = ({name: value for name, value in state.items() if name == "x_round" or name in STATES}
                         for state in (before, after))
        for name, value in before.items():
            self.add_equation(f"kept {name}", self.with_client_index(name, [r]), [self.R - r], self.state(name, r), value)
        for name, value in after.items():
            self.add_equation(f"next {name}", self.with_client_index(name, [r]), inside, self.state(name, r + ONE), value)
        require(self.starts is not None and self.starts.v == before["x_round"].v, "clients start from another model")
        self.early = depends_on_sampling(frozen(self.moved_to.v))
        self.add_equation("start", [r, k], inside, recorded_vector("x_local", r * self.K, k), start)
        if self.noisy:
            ends = recorded_vector("x_before", self.time + ONE, k)
            self.add_equation("step", [r, j, k], [*inside, self.K - ONE - j], ends, self.moved_to)
        self.add_equation("model", [r], [self.R - r], recorded_vector("x_sampled", r * self.K), start)
        self.add_equation("first mean", [], [], recorded_vector("x", ZERO), Vector(recorded_vector("x_round", ZERO), self))

    def add_equation(self, name, indices, premises, left, right):
        (right,) = right if isinstance(right, list) else [right]
        require(self.k in indices or not has(frozen(right.v), CLIENT), f"{name} is not the same for all clients")
        self.equations[name] = indices, premises, left, right.v

    def with_client_index(self, name, indices): return [*indices, self.k] if STATES.get(name) else indices

    def state(self, name, place): return recorded_vector(name, *self.with_client_index(name, [place]))

    def ends(self): return [Vector(recorded_vector("x_before", self.after, self.k), self)]

    def one_over(self, p):
        """1 / p for a divisor p of the method; records its factors, none of which is 0 in a run."""
        self.divisors += [q for q in factors(p) if q.number() is None]
        return inverse(p)

    # the interface that methods use ----------------------------------------------------------------------------------------
    def option(self, name, *allowed):
        value = self.how["options"][name]
        require(not allowed or value in allowed, f"{name} = {value!r} is not replayed")
        return value

    def number(self, name):
        value = self.how["options"][name]
        if isinstance(value, dict):
            return Number(self.reader.number(value["symbol"], self.known, {}), self)
        return Number(constant(exact(value)), self)

    def array(self, name): return [()] if name == "masks" else None  # a row without layers
    def split(self, layers): return AnyLayers(self)
    def next_model(self, x, change): return x + change

    def initial(self, *free):
        """Free initial states."""
        found = {name: Vector(recorded_vector(name, ZERO, *[self.k] * STATES[name]), self) for name in free}
        return {name: [v] if STATES[name] else v for name, v in found.items()}

    def first(self, name, value):
        """A state before the round; in the first round it has the value that the method gives it."""
        listed = isinstance(value, list)
        own = value[0] if listed else value
        self.add_equation(f"first {name}", [self.k] if listed else [], [], recorded_vector(name, ZERO, *[self.k] * listed),
                      Vector(of_vector(self.known, own.v, ROUND, ZERO), self))
        found = Vector(self.state(name, self.r), self)
        return [found] if listed else found

    def gradient(self, k, point, kind="noise", step=0):
        """A stochastic gradient at the round's model, drawn at the start or in addition to the local steps of a round."""
        require(kind in ("start", "extra") and [*point.v] == [("run", "x_round", self.r)], f"a gradient of {kind}")
        return Vector(recorded_vector(f"{kind} gradient", self.r if kind == "extra" else ZERO, self.k), self)

    def steps(self):
        return StepSizes(Number(self.reader.number(["eta_l", "t"], self.known, {"t": self.time}), self))

    def scaled_steps(self, scale): return StepSizes(scale(Number(self.j, self), self.steps().size))
    def added(self, steps): return Number(sum_of(self.known, STEP, steps.size.p, ZERO, self.K - ONE), self)

    def train(self, x, direction, steps=None):
        """The models after local training. One local step stands for all: from ``x_local`` to the next ``x_before``."""
        require(self.starts is None, "the method trains once in a round")
        self.starts = x[0] if isinstance(x, list) else x
        y, g = (Vector(recorded_vector(name, self.time, self.k), self) for name in ("x_local", "g"))
        self.moved_to = y - direction(0, y, g, None) * (steps or self.steps()).size
        return self.ends()

    def solve(self, x, linear, pull):
        """The solutions v of local problems, at which the gradient of F_k(v) + <linear_k, v> + pull/2 |v - x|^2 is 0; there
        is one local step."""
        self.starts, (end,) = x, self.ends()
        rest = (x - end) * pull - linear[0]
        self.add_equation("solved", [self.r, self.k], [self.R - ONE - self.r], slope(self.k, end.v), rest)
        self.moved_to, self.noisy = end, False
        return [end]

    def over_all(self, vectors): return self.summed(vectors, self.weight)
    def mean(self, vectors): return self.summed(vectors, self.client_share())

    def summed(self, vectors, weight):
        """The sum of the clients' vectors with weights."""
        (one,) = vectors
        return Vector(vector_sum(self.known, CLIENT, scaled(one.v, weight), ZERO, self.M - ONE), self)

    def inclusion(self): return self.reader.number(["sampled", "r", "k"], self.known, {"r": self.r, "k": self.k})

    def client_share(self):
        """The weight of a client in a mean over those drawn; each is drawn with probability S / M."""
        return self.weight * self.inclusion() * (ONE if self.how["sampling"] == "full" else self.M * self.one_over(self.S))

    def aggregate(self, models, x):
        """x plus the mean of the clients' differences from x; the mean of the models where the weights sum to one."""
        if self.how["sampling"] == "full" or self.weight == inverse(self.M):
            return self.mean(models)
        return x + self.mean([models[0] - x])

    def towards(self, x, end): return x + (end - x) * self.number("eta_g")

    def of_drawn(self, new, old):
        drawn = Number(self.inclusion(), self)
        return [new[0] * drawn + old[0] * (1 - drawn)]


#: signs of random numbers
SIGNS = {"sampled": NONNEGATIVE}
