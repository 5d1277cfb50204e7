"""One client that stands for each, for runs of every number of clients m. All take part, with equal weights or any.

A letter i of clients is the sum of its mean over all clients, the letter i, and of what a client's one deviates from it,
i + APART. So the mean of a vector over all clients is what is left of it without deviations, and the mean of an inner
product is that of means and that of deviations, as a mean and a deviation have the mean product 0. Every form stands for its
mean over all clients, which is the form itself where no client's index occurs in it. What holds for each client holds for
the mean.

Equal weights are 1/m, and numbers may be polynomials in m and 1/m. With weights that may be any, a sum over clients is one
of multiples of the weight, and m is a number without a value. Whatever would ask for one client by its number, for two
clients at once, or for m otherwise, has no form.
"""

from fractions import Fraction

from verify.checker.laurent_polynomials import CLIENTS, LaurentForm, holds, polynomial
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
    unknown,
)
from verify.checker.scope import CLIENTS as CLIENT_COUNTS
from verify.checker.scope import ties

#: methods that treat all clients alike, and speak of their number nowhere
ALIKE = ("fedavg", "fedswa", "fedmoswa", "scaffold", "fedprox", "fedpd", "feddyn", "afedpd", "fedadmm", "fedcm", "fedavg-m",
         "fedavgm", "scaffold-m", "fedmo", "fedacg", "fedluar", "feddrop")
#: what runs record of each client, beside what has a name with ``client_``; other lists are those of layers
BY_CLIENT = ("x_local", "x_before", "g", "included", "sampled_weight", "sampled", "server_duals")
LAYERS = 20  # of a model at most
DEGREE = 4  # the largest one in 1/m
ANY = "any"  # in place of weights


class RepresentativeClient:
    """The client that stands for each, as formulas name it: an index, and no number."""

    def __repr__(self): return "a client"


CLIENT = RepresentativeClient()


class ClientArray(list):
    """An array with an entry of each client: the one of the client that stands for each."""

    def entry(self, i, name):
        require(i is CLIENT, f"{name} of one client by its number")
        return self[0]


class ExchangeableClients:
    """The client that stands for each. ``any_weights``: weights may be any; ``least``: the least number of clients;
    ``degree``: the largest one of sides in 1/m."""

    one, all = True, range(1)

    def __init__(self, any_weights, least, degree):
        self.any_weights, self.least, self.degree = any_weights, least, degree
        self.count = unknown(f"{LOSS}clients") if any_weights else CLIENTS
        self.weights = ClientArray([CLIENTS**-1])

    def counts(self): return {"clients": self.count, "participants": self.count}
    def all_take_part(self, participants): return True
    def parts(self, layers): return [l + apart for apart in (0, APART // LAYER) for l in layers]
    def draws(self, first): return [first, first + LAYER]  # a client's own, and all others'
    def numbers(self, name): return ClientArray([unknown(f"{LOSS}of {name}")])  # the mean of all, so that it has no square
    def index(self, k): return CLIENT
    def listed(self, entries): return ClientArray(entries)

    def number(self, k):
        """The number of a client that a formula names."""
        if k is not CLIENT:
            raise NotQuadratic("one client by its number")
        return 0

    def common(self, value):
        """The mean over all clients: of a vector what is left without deviations; a number stands for its mean."""
        if not isinstance(value, SymbolicVector):
            return value
        if value.with_powers:
            return value.reduced({(p, i): c for (p, i), c in value.parts.items() if i < APART}, value.over)
        return value.reduced({i: c for i, c in value.parts.items() if i < APART}, value.over)

    def upstream(self, depends, row):
        """The draws of noise on which a client's vector depends: draw n of its own, and of all others where it depends on
        n + LAYER too."""
        found = set()
        for i in {key % APART for key in row.parts if key != ORIGIN}:
            found |= depends[i % LAYER]
            if row.parts.get(i, 0) != row.parts.get(i + APART, 0):  # more than the client's own letter
                found |= {draw + LAYER for draw in depends[i % LAYER] if 0 <= draw < LAYER}
        return frozenset(found)

    def at_rest(self, letters):
        gradient = letters.basis_vector()
        return [gradient - self.common(gradient)]

    def of_all(self, letters, x):
        """The gradient and value of the representative client, at a point that all clients share."""
        if not isinstance(x, SymbolicVector) or not is_common(x):
            raise NotQuadratic("the objective at a point of one client")
        return letters.evaluation_at(0, x)

    def objective(self, letters, x): return self.of_all(letters, x)[2]
    def objective_grad(self, letters, x): return self.common(self.of_all(letters, x)[1])

    def are_all(self, low, high):
        """Whether a range is that of all clients."""
        return isinstance(high, QuadraticForm) and low == 0 and not (high - self.count + 1).parts

    def total(self, value):
        """The sum over all clients of what stands for each."""
        if not isinstance(value, (int, Fraction, LinearCombination)):
            raise NotQuadratic("a sum over clients of what is no form")
        total = CLIENTS * self.common(value)
        if self.any_weights and getattr(total, "with_powers", False):
            raise NotQuadratic("a sum over clients that is none of multiples of their weights")
        return total

    def mean(self, run, weights, vectors):
        """The mean of the clients' vectors in a run."""
        require(weights is run.weights and [*run.included] == [1] and len(vectors) == 1, "a mean over some clients")
        return self.common(vectors[0])

    def recorded(self, record, layers):
        """Tags the lists of clients in a run's record, to tell them apart from those of layers."""
        for name in record:
            if name in BY_CLIENT or name.startswith("client_"):
                record[name] = [entry if entry is None else ClientArray(entry) for entry in record[name]]
            else:
                layered = all(len(entry) == layers for entry in record[name] if isinstance(entry, list))
                require(layered, f"{name} is a list of neither clients nor layers")

    def leave_out(self, run, rule):
        rules = run.instance.rules | run.instance.defined
        require(not ties(rule, rules, CLIENT_COUNTS), f"not shown for every number of clients: {rule['text']}")

    def says(self, run, rule, gap):
        """Whether what a hypothesis says not to be negative is more than a number, which must meet it for every number of
        clients; None where it is as for some clients."""
        counted, strict = {*self.count.parts}, rule["relation"] in ("<", ">")
        if self.any_weights and {*gap.parts} == counted | ({*gap.parts} & {()}):
            slope, level = (gap.coefficient(key) for key in (*counted, ()))
            value = slope * self.least + level
            meets = slope >= 0 and (value > 0 if strict else value >= 0)
            require(meets, f"a hypothesis fails for some number of clients: {rule['text']}")
            return False
        if self.any_weights and (isinstance(gap, LaurentForm) or counted & {*gap.parts}):
            run.leave_out(rule)  # it is about weights, or their number and something else
            return False
        if any(isinstance(key, str) and key.startswith(f"{LOSS}any ") for key in gap.of_what):
            run.leave_out(rule)  # the largest of several numbers, one of which may be the number of clients
        if isinstance(gap, LaurentForm) and polynomial(gap) is not None:
            meets = holds(rule["relation"], gap, self.least)
            require(meets, f"a hypothesis fails for some number of clients: {rule['text']}")
            return False
        return None


def factored(row):
    """A vector without a power of the number of clients, and that power."""
    if not isinstance(row, SymbolicVector) or not row.with_powers:
        return row, 0
    powers = {p for p, _ in row.parts}
    if len(powers) > 1:
        raise NotQuadratic("a vector with several powers of the number of clients")
    return SymbolicVector({i: c for (_, i), c in row.terms.items()}), *powers


def is_common(row):
    """Whether a vector is the same for all clients."""
    return all(i < APART for i in row.of_what)
