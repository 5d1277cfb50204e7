"""Runs on letters of every number of clients m at once, where all clients take part and are alike but for their weights.

One client stands for each. Means are those by weight. A letter i of clients is the sum of its mean over all clients, the
letter i, and of what a client's one deviates from it, i + APART. So the mean of a vector over all clients is what is left of
it without deviations, and the mean of an inner product over all clients is that of means and that of deviations: products
of a mean with a deviation have mean zero. Every form here stands for its mean over all clients, which is the form itself
where no client's index occurs in it. What holds for each client holds for the mean.

Equal weights are 1/m, and numbers may be polynomials in m and 1/m. With weights that may be any, a sum over clients is one
of multiples of the weight, and m is a number without a value. Whatever would ask for one client by its number, for two
clients at once, or for m otherwise, has no form.
"""

from fractions import Fraction

from verify.checker.laurent_polynomials import CLIENTS, LaurentForm
from verify.checker.methods import adaptive
from verify.checker.operators import require
from verify.checker.quadratic_forms import (
    APART,
    LAYER,
    LOSS,
    ORIGIN,
    LinearCombination,
    NotQuadratic,
    QuadraticForm,
    SymbolicVector,
    plain,
    unknown,
)
from verify.symbolic.comparisons import Ratio
from verify.symbolic.exchangeable_facts import ExchangeableFacts, common, factored, is_common
from verify.symbolic.symbolic_outcome import SymbolicOutcome
from verify.symbolic.symbolic_run import SymbolicRun

#: methods that treat all clients alike, and speak of their number nowhere
ALIKE = ("fedavg", "fedswa", "fedmoswa", "scaffold", "fedprox", "fedpd", "feddyn", "afedpd", "fedadmm", "fedcm", "fedavg-m",
         "fedavgm", "scaffold-m", "fedmo", "fedacg", "fedluar", "feddrop")
#: what runs record of each client, beside what has a name with ``client_``; other lists are those of layers
BY_CLIENT = ("x_local", "x_before", "g", "included", "sampled_weight", "sampled", "server_duals")
LAYERS = 20  # of a model at most
DEGREE = 4  # the largest one in 1/m
ANY = "any"  # in place of weights


class RepresentativeClient:
    """The one client that stands for each, as formulas name it: an index, and no number."""

    def __repr__(self): return "a client"


CLIENT = RepresentativeClient()


class ClientArray(list):
    """An array with an entry of each client: the one of the client that stands for each."""


class RepresentativeRun(SymbolicOutcome):
    """A run of the client that stands for each."""

    def __init__(self, letters, method, outcome):
        super().__init__(letters, method, outcome)
        for name in self.record:
            if name in BY_CLIENT or name.startswith("client_"):
                self.record[name] = [entry if entry is None else ClientArray(entry) for entry in self.record[name]]
            else:
                layered = all(len(entry) == letters.size["layers"] for entry in self.record[name] if isinstance(entry, list))
                require(layered, f"{name} is a list of neither clients nor layers")

    def gradient_at(self, k, point):
        return self.instance.known_at(k, point)[1]

    def _weighted(self, weights, vectors):
        require(weights is self.weights and [*self.included] == [1] and len(vectors) == 1, "a mean over some clients")
        return common(vectors[0])


class ExchangeableClients(ExchangeableFacts):
    """Mixin; must precede the class of symbolic runs in the bases. A run for every number of clients from
    ``sizes["clients"]`` on. Sides are polynomials of at most a ``degree`` in 1/m. The parts of basis vectors are means and
    deviations in each layer."""

    of_each = RepresentativeRun

    def __init__(self, stated, sizes, values, without, weights, degree=0, **limits):
        require(stated["procedure"]["sampling"] == "full" and sizes["participants"] == sizes["clients"], "all take part")
        base = stated["procedure"]["base"]
        require(base in ALIKE, f"{base} is not known of every number of clients")
        require(type(degree) is int and 0 <= degree <= DEGREE, f"the degree is a whole number up to {DEGREE}")
        require(sizes["layers"] <= LAYERS, f"more than {LAYERS} layers")
        require(weights == ANY or len({*map(Fraction, weights)}) == 1, "clients of equal weight, or of any")
        require(weights != ANY or degree == 0, "clients of any weight have no degree")
        for name, value in values.items():
            lengths = stated["free"][name]
            require(isinstance(value, dict) or not any("clients" in size for size in lengths or ()), f"{name} by client")
        self.least, self.degree, self.any_weights = sizes["clients"], degree, weights == ANY
        super().__init__(stated, sizes | {"clients": 1, "participants": 1}, values, without, ["1"], **limits)

    def federation(self):
        self.layers, self.shared = [l + apart for apart in (0, APART // LAYER) for l in self.layers], set()
        self.count = unknown(f"{LOSS}clients") if self.any_weights else CLIENTS
        counts = {"clients": self.count, "participants": self.count}
        self.size, self.given = self.size | counts, self.given | counts
        self.given["client_weight"] = ClientArray([CLIENTS**-1])
        self.given["priority"] = ClientArray([1])
        super().federation()
        self.given["sigma_sq_client"] = ClientArray(self.given["sigma_sq_client"])

    def by_client(self, name):
        return ClientArray([unknown(f"{LOSS}of {name}")])  # the mean of all, so that it has no square

    def at_rest(self):
        gradient = self.basis_vector()
        return [gradient - common(gradient)]

    def participants_fit(self): return True
    def make_run(self, method, outcome): return self.of_each(self, method, outcome)

    @staticmethod
    def numbered(k): return CLIENT

    # letters ---------------------------------------------------------------------------------------------------------------
    def basis_vector(self, depends=frozenset(), shared=False):
        row = super().basis_vector(depends)
        if shared:
            self.shared.add(len(self.depends) - 1)
        return common(row) if shared else row

    def upstream(self, row):
        """The draws of noise on which a client's vector depends: draw n of its own, and of all others where it depends on
        n + LAYER too."""
        found = set()
        for i in {key % APART for key in row.parts if key != ORIGIN}:
            depends = self.depends[i % LAYER]
            found |= depends
            if row.parts.get(i, 0) != row.parts.get(i + APART, 0):  # more than the client's own letter
                found |= {draw + LAYER for draw in depends if 0 <= draw < LAYER}
        return frozenset(found)

    def noise(self, k, x, gradient, draw, before=0):
        row = super().noise(k, x, gradient, draw, before)
        self.drawn |= {n + LAYER: at for n, at in self.drawn.items() if 0 <= n < LAYER}
        return row

    def first_states(self, free):
        found = super().first_states(free)
        for name, state in found.items():
            found[name] = ClientArray(state) if isinstance(state, list) else state
        return found

    # words -----------------------------------------------------------------------------------------------------------------
    def meaning(self, word, args, index, outcome):
        if word == "Sum":
            ends = [self.value(end, index, outcome) for end in args[2:]]
            if any(isinstance(end, QuadraticForm) for end in ends):
                return self.over_clients(args[0], args[1], *ends, index, outcome)
        if word == "share":
            raise NotQuadratic("a ratio, for every number of clients")
        found = super().meaning(word, args, index, outcome)
        return plain(found) if isinstance(found, QuadraticForm) and {*found.parts} <= {()} else found

    def over_clients(self, body, name, low, high, index, outcome):
        """A sum over all clients, of what names no other client."""
        require(self.are_all(low, high), "a sum over some clients")
        inner = {n: v for n, v in index.items() if v is not CLIENT and (not isinstance(v, SymbolicVector) or is_common(v))}
        value = self.value(body, {**inner, name: CLIENT}, outcome)
        if isinstance(value, Ratio) or not isinstance(value, (int, Fraction, LinearCombination)):
            raise NotQuadratic("a sum over clients of what is no form")
        total = CLIENTS * common(value)
        if self.any_weights and getattr(total, "with_powers", False):
            raise NotQuadratic("a sum over clients that is none of multiples of their weights")
        return total

    def are_all(self, low, high):
        """Whether a range is that of all clients."""
        gap = high - self.count + 1
        return plain(low) == 0 and not gap.parts

    def span(self, limits, index, outcome=None, each=False):
        """A range of numbers; where ``each`` client may be meant, the one that stands for all."""
        ends = [self.value(limit, index, outcome) for limit in limits]
        if not any(isinstance(end, QuadraticForm) for end in ends):
            return super().span(limits, index, outcome)
        if not each or not self.are_all(*ends):
            raise NotQuadratic("a range that ends at a client")
        return [CLIENT]

    def cases(self, rule):
        """The values of a condition's indices; of a hypothesis about each client the one that stands for all."""
        cases, hypothesis = [{}], any(rule is each for each in self.hypotheses)
        for name, *limits in rule["over"]:
            cases = [{**i, name: n} for i in cases for n in self.span(
                limits, i, each=hypothesis and not any(v is CLIENT for v in i.values()))]
            self.meter.charge(len(cases))
        return cases

    def name(self, name, indices, outcome):
        if name in adaptive.BESIDE:
            raise NotQuadratic("another run beside")
        return super().name(name, indices, outcome)

    @classmethod
    def entry(cls, array, i, name):
        if isinstance(array, ClientArray):
            require(i is CLIENT, f"{name} of one client by its number")
            return array[0]
        require(i is not CLIENT, f"{name} has no index of clients here")
        return super().entry(array, i, name)

    def client(self, k):
        if k is not CLIENT:
            raise NotQuadratic("one client by its number")
        return 0

    def of_all(self, x):
        """The gradient and value of the representative client, at a point that all clients share."""
        if not isinstance(x, SymbolicVector) or not is_common(x):
            raise NotQuadratic("the objective at a point of one client")
        return self.known_at(0, x)

    def dot(self, u, v):
        (u, p), (v, q) = factored(u), factored(v)
        found = super().dot(u, v)
        return found * CLIENTS ** (p + q) if p + q else found

    def objective(self, x):
        value = self.of_all(x)[2]
        self.random(x)
        return value

    def objective_grad(self, x): return common(self.of_all(x)[1])

    def whole_part(self, l, v):
        return v if self.size["layers"] == 1 else self.part(l, v) + self.part(l + APART // LAYER, v)

    def power(self, base, exponent):
        if isinstance(base, LaurentForm):
            return base ** plain(exponent)
        return super().power(base, exponent)


class EveryClientCount(ExchangeableClients, SymbolicRun):
    """A run on letters for every number of clients."""
