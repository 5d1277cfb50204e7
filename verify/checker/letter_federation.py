"""What a run on letters asks of its clients, and what the words of formulas mean on letters."""

from fractions import Fraction
from itertools import combinations
from math import comb

from verify.checker.by_coordinate import ByCoordinate
from verify.checker.choices import Choices, told_apart
from verify.checker.comparisons import Length, Ratio
from verify.checker.every_client import ALIKE, ANY, CLIENT, DEGREE, LAYERS, OneForAll, factored, is_common
from verify.checker.form import STATED
from verify.checker.forms import LAYER, LOSS, ORIGIN, Form, NoForm, Row, effort, loss, pairing, plain
from verify.checker.formulas import At
from verify.checker.instance import Instance
from verify.checker.intervals import extreme, quotient
from verify.checker.letters import NOTHING, Letters, OneByOne
from verify.checker.limits import OUTCOMES, bounded
from verify.checker.methods.adaptive import BESIDE
from verify.checker.powers import CLIENTS, FormOfClients
from verify.checker.run import INDEPENDENT, Run
from verify.checker.words import JOINED, MEANS, WORDS, require

#: words that mean the same of letters as of coordinates
SAME = {"+", "*", "exp", "log", "Exp1", "Mod", "Abs", "upper", "scaled", "root", "square", "raised"}
NUMBERING = ("Max", "Min", "largest_sum", "share")
#: constants of clients that a class bounds: how the relation of a hypothesis that bounds them begins
CLASS = {"L_client": "<", "mu_client": ">"}
ALL_CLIENTS = (["+", -1, "clients"], ["+", "clients", -1])


def on_letters(stated, sizes, values, unknown, weights, start, degree=None):
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
    people = OneForAll(weights == ANY, least, degree) if degree is not None else OneByOne(weights)
    certificate = {name: stated[name] for name in STATED} | {"sizes": sizes, "values": values, "instance": {}}
    found = Instance(certificate, clients=lambda instance: LetterFederation(instance, people, unknown, start),
                     numbering=NUMBERING, simplified=simplified, end=end)
    start.prepare(found.federation)
    if found.federation.letters.chosen:
        found.federation.choices = Choices(found)
    return found


def bounded_constant(rule):
    """The constant of all clients that a hypothesis bounds; None if it is of another kind."""
    left, over = rule["left"], rule["over"]
    if not (isinstance(left, list) and len(left) == 2 and left[0] in (*CLASS, "sigma_sq_client")):
        return None
    return left[0] if over in [[[left[1], 0, end]] for end in ALL_CLIENTS] else None


def simplified(value):
    """A form without letters as the number that it is."""
    return plain(value) if isinstance(value, Form) and {*value.parts} <= {()} and not value.with_powers else value


def end(number):
    """The end of a range."""
    if isinstance(number, Form):
        raise NoForm("a range that ends at a client")
    require(number.denominator == 1, "a range goes from a whole number to one")
    return int(number)


class LetterFederation:
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
        self.letters, self.extremes = Letters(clients, instance.size["layers"], instance.meter), {}
        self.coordinates, self.given, self.unknown = ByCoordinate(self.letters), instance.given, unknown

    def constants(self, instance):
        """What is given: numbers without a value, the optimum, the start, and the clients at the optimum."""
        given, letters, clients = self.given, self.letters, self.people
        instance.size = instance.size | clients.counts()
        given |= clients.counts() | {"client_weight": self.weights, "priority": self.priority}
        for name in self.unknown:
            given[name] = clients.numbers(name) if name.endswith("_client") else Form.one(name)
        letters.exact = any(bounded_constant(rule) == "sigma_sq_client" and rule["relation"] in ("<=", "==")
                            and rule["right"] == 0 for rule in self.hypotheses)
        none = clients.listed([Fraction(0) for _ in clients.all])
        given["sigma_sq_client"] = none if letters.exact else clients.numbers("sigma_sq_client")
        self.bounds = {name: [self.bound(name, k) for k in clients.all] for name in CLASS}
        given["x_star"], given["start_offset"] = Row.one(ORIGIN), letters.letter(shared=True)
        self.start = given["x_star"] + given["start_offset"]
        for k, gradient in enumerate(clients.at_rest(letters)):
            letters.points[k].append((given["x_star"], gradient, loss(k, 0)))
        given["F_star"] = given["F_inf"] = self.objective(given["x_star"])
        given["F_star_client"] = clients.numbers("least F")
        self.begins.begin(self)
        return {}

    @staticmethod
    def bounded_constant(rule): return bounded_constant(rule)

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
            self.letters.meter.spend(len(cases))
        return cases

    def are_all(self, participants): return self.people.all_take_part(participants)
    def sides(self, instance, rule, at): return instance.formulas.sides(rule, at)

    def may_name(self, instance, name, indices):
        """Refuse a name that has no value on letters."""
        if name == "dim" or (name in BESIDE and self.people.one):
            raise NoForm(f"{name} is no number here")
        self.begins.may_name(self, name, indices)

    # what runs ask ---------------------------------------------------------------------------------------------------------
    def run(self, instance, method, outcome):
        run = Run(instance, self, method, outcome)
        self.people.recorded(run.record, instance.size["layers"])
        return run

    def begin(self, run):
        """What is drawn before the first round: nothing."""

    def grad(self, k, x): return self.letters.asked(k, x)[1]
    def solution(self, k, linear, pull, x): return self.letters.solution(k, linear, pull, x)
    def matching(self, run, models, round): return [1 for _ in run.clients]
    def first_state(self, name, value): return self.begins.first_state(self, name, value)
    def split(self, run, layers): return LetterLayers(self.letters)

    def stochastic(self, run, k, point, kind, step):
        gradient, before = self.grad(k, point), sum(draw in self.letters.chosen for draw in run.chances)
        return gradient + self.letters.noise(k, point, gradient, (kind, run.round, step), before)

    def first_states(self, free):
        """A letter for each first state of a method that is ``free``; the same in all runs."""
        for name in free:
            if name not in self.initial:
                many = name.startswith("client_")
                self.initial[name] = self.people.listed([self.letters.letter() for _ in self.clients]) if many else (
                    self.letters.letter(shared=True))
        return self.initial

    def choose(self, run, kind, values, chances):
        """A choice with unknown chances; in the last round nobody asks what it is."""
        if len(values) == 1 or run.round == self.instance.size["rounds"] - 1:
            return values[0] if len(values) == 1 else None
        require((kind, run.round, 0, 0) not in run.chances, f"two choices of {kind} in one round")
        self.letters.chosen.add((kind, run.round, 0, 0))
        return run.draw(kind, [(Fraction(1), value) for value in values])

    # words of formulas -----------------------------------------------------------------------------------------------------
    def operators(self, instance):
        found = {word: refused(word) for word in WORDS if word not in SAME}
        return found | self.coordinates.words() | {
            "dot": self.dot, "norm2": lambda v: self.dot(v, v), "^": self.power, "layer_part": self.layer_part,
            "grad": lambda k, x: self.grad(self.people.number(k), x),
            "objective_grad": lambda x: self.people.objective_grad(self.letters, x)}

    def binders(self, instance):
        value = instance.formulas.value
        found = {word: lambda args, at, word=word: self.mean(word, args, at) for word in MEANS}
        found |= {word: lambda args, at, word=word: self.extreme(word, args, at) for word in NUMBERING}
        found |= {"infimum": self.at_the_point, "highest": self.highest, "norm": self.norm}
        found |= {word: lambda args, at, word=word: self.noted(word, [value(a, at) for a in args], at)
                  for word in ("dot", "norm2", "F", "objective")}
        return found | ({"Sum": self.sum} if self.people.one else {})

    def noted(self, word, args, at):
        """A number that may be random; outside of means it is noted on what it depends."""
        if word == "F":
            k = self.people.number(args[0])
            found, rows = self.letters.asked(k, args[1])[2], args[1:]
        elif word == "objective":
            found, rows = self.objective(*args), args
        else:
            found, rows = self.dot(*(args if word == "dot" else args * 2)), args
        if at.notes:
            rows = [row for row in rows if isinstance(row, Row)]
            at.notes.certain |= frozenset().union(*(self.letters.upstream(factored(row)[0]) for row in rows))
        return found

    def objective(self, x): return self.people.objective(self.letters, x)

    def dot(self, u, v):
        if not isinstance(u, Row) or not isinstance(v, Row):
            if all(isinstance(w, Row) or plain(w) == 0 for w in (u, v)):
                return Fraction(0)
            raise NoForm("an inner product is one of vectors")
        (u, p), (v, q) = factored(u), factored(v)
        self.letters.meter.spend(effort(u, v))
        return pairing(u, v) * CLIENTS ** (p + q) if p + q else pairing(u, v)

    def norm(self, args, at):
        """A length, where it is no matter of chance: the mean of lengths is no root of a mean of squares."""
        v, = (self.instance.formulas.value(a, at) for a in args)
        square = self.noted("norm2", [v], at) + Form({})
        if self.choices or (at.inside and self.letters.upstream(v)):
            raise NoForm("a mean of lengths")
        return Length(square)

    def layer_part(self, l, v):
        require(l in range(self.instance.size["layers"]), f"{l} is no layer")
        return v if not isinstance(v, Row) and plain(v) == 0 else self.letters.layer(int(l), v)

    def power(self, base, exponent):
        """A power; of a number without a value that is no matter of chance, its root, by the square of that."""
        if isinstance(base, FormOfClients):
            return base ** plain(exponent)
        sure = isinstance(base, Form) and {*base.parts} - {()} and all(
            isinstance(key, str) and not key.startswith(LOSS) for key in {*base.parts} - {()})
        return Length(base) if sure and exponent == Fraction(1, 2) else WORDS["^"](base, exponent)

    def sum(self, args, at):
        """A sum; over all clients, of what names no other client."""
        value, (body, name, *ends) = self.instance.formulas.value, args
        low, high = (value(each, at) for each in ends)
        if not self.people.are_all(low, high):
            return self.instance.formulas.joined(*JOINED["Sum"], args, at)
        index = {n: v for n, v in at.index.items() if v is not CLIENT and (not isinstance(v, Row) or is_common(v))}
        return self.people.total(value(body, at._replace(index=index | {name: CLIENT})))

    def highest(self, args, at):
        name, low, high, body = args
        inner = [at._replace(index={**at.index, name: i}) for i in self.instance.formulas.span(low, high, at)]
        return self.coordinates.upper(*(self.instance.formulas.value(body, one) for one in inner))

    def at_the_point(self, args, at):
        """In place of the least value of a formula over all points the one at the point that is looked at."""
        point, body = args
        if at.point is None or not isinstance(point, str):
            raise NoForm("the least value over all points")
        return self.instance.formulas.value(body, at._replace(index={**at.index, point: at.point}))

    def mean(self, word, args, at):
        """A mean over draws: given nothing, the past of a round, or all noise."""
        r = self.instance.formulas.value(args[1], at) if len(args) > 1 else None
        require(r is None or r.denominator == 1, f"{r} is no round")
        past = {"E_sampling": at.given, "E_round": r}.get(word, NOTHING)
        if self.letters.exact and self.begins.random_past:  # of sampling alone, whose past is random all the same
            require(word in ("E", "E_round"), f"{word} of every round")
        if not self.letters.exact or self.choices or self.begins.random_past:
            past = self.past_of(past, at)
        past = NOTHING if past is None else past
        inner = at._replace(given=past, inside=True, notes=None)
        if self.choices and word == "E_noise":
            raise NoForm("a mean over noise, while choices depend on it")
        if self.choices and word != "E_sampling":
            found = self.choices.mean(args[0], inner, at.outcome, lambda draw: MEANS[word](draw, r))
        else:
            found = self.instance.mean(word, args[0], inner, lambda draw: MEANS[word](draw, r))
        return self.letters.mean(found, past) if isinstance(found, Row) and word != "E_sampling" else found

    def past_of(self, past, at):
        """The round whose past a mean is given."""
        if past is None and self.choices:
            raise NoForm("a mean over samples of clients outside of expectations, beside choices")
        past = self.instance.size["rounds"] if past is None else past  # outside of expectations all noise is given
        if at.given is not None and past < at.given:
            raise NoForm("a mean inside of a mean that is given more")
        if at.notes:
            at.notes.asked.add(past)
        return past

    def extreme(self, word, args, at):
        """The largest or least of numbers, or a ratio: of forms a number that is at least, or at most, each of them."""
        formulas, found = self.instance.formulas, None
        if word == "share" and self.people.one:
            raise NoForm("a ratio, for every number of clients")
        if word == "largest_sum":
            count, body, name, low, high = args
            count, inner = formulas.value(count, at), formulas.span(low, high, at)
            values = [formulas.value(body, at._replace(index={**at.index, name: i})) for i in inner]
            require(count.denominator == 1 and 0 <= count <= len(values), f"{count} is no number of values")
            bounded(comb(len(values), int(count)), OUTCOMES, "sums of values")
            found = [sum(each, Fraction(0)) for each in combinations(values, int(count))]
        else:
            found = values = [formulas.value(a, at) for a in args]
        if not any(isinstance(value, Form) and {*value.parts} - {()} for value in values):
            found = [plain(value) if isinstance(value, Form) else value for value in found]
            return quotient(*found) if word == "share" else extreme(found, word != "Min")
        if told_apart(*(value for value in values if isinstance(value, Form))):
            raise NoForm(f"{word} of means over choices")
        if word == "share":
            return Ratio(*found)
        said = (value.said if isinstance(value, Form) else value for value in values)
        key = word, str(args), *at.index.items(), at.given, *said
        if key not in self.extremes:
            self.extremes[key] = self.letters.anything()
            for number, value in enumerate(found):
                above = self.extremes[key] - value if word != "Min" else value - self.extremes[key]
                self.letters.largest[f"{word} {self.letters.loose} {number}"] = above
        return self.extremes[key]


def refused(word):
    """In place of a word that has no meaning on letters."""
    def refuse(*_):
        raise NoForm(f"{word} is not a form")

    return refuse


class LetterLayers:
    """The layers of vectors of letters. Scores are numbers of which nothing is known."""

    def __init__(self, letters):
        self.letters, self.all = letters, range(letters.layers)

    def chosen(self, layers, new, old):
        """``new`` in these layers, ``old`` in the others."""
        return sum((self.letters.layer(l, new if l in layers else old) for l in self.all), Row({}))

    def marks(self, layers):
        return [self.letters.anything() if layers is None else int(l in layers) for l in self.all]

    def score(self, *_): return self.letters.anything()
