"""Whether a run of every number of clients says at some numbers what a run of that many clients says."""

from fractions import Fraction

from verify.checker.laurent_polynomials import LaurentForm
from verify.checker.operators import require
from verify.checker.quadratic_forms import APART, LAYER, LOSS, ORIGIN, SCENARIO, QuadraticForm, pairing
from verify.checker.scenarios import whole


class Specialisation:
    """A run of ``every`` number of clients at that of ``some``, an ordinary run of the same claim, of which the same was
    asked in the same order. ``rows`` has of each letter what it is of each client."""

    def __init__(self, every, some):
        self.some, self.clients, self.rows = some, some.clients, {}
        here, there = every.letters, some.letters
        self.pair([every.given["start_offset"]], [[some.given["start_offset"]] for _ in self.clients])
        self.pair([g for _, g, _ in here.points[0]], [[g for _, g, _ in points] for points in there.points])
        self.pair([row for seen in here.noises.values() for row, *_ in seen],
                  [[row for (j, *_), seen in there.noises.items() if j == k for row, *_ in seen] for k in self.clients])
        mine_by_name = some.initial | some.states
        for name, state in (every.initial | every.states).items():
            mine = mine_by_name[name]
            many = isinstance(mine, list)
            self.pair(state if many else [state], [[mine[k] if many else mine] for k in self.clients])
        for (letter, past), mean in here.conditional.items():
            of = [next(iter(row.parts)) for row in self.rows[letter]]
            self.pair([mean], [[there.conditional[i, past]] for i in of])

    def pair(self, letters, by_client):
        require(all(len(rows) == len(letters) for rows in by_client), "runs of some clients ask for other letters")
        for number, row in enumerate(letters):
            if found := {key % LAYER for key in row.parts if key != ORIGIN}:
                (i,) = found
                self.rows[i] = [from_the_optimum(rows[number]) for rows in by_client]

    def form(self, form):
        """The value of a form."""
        count, found = len(self.clients), QuadraticForm({})
        for (power, key), c in LaurentForm.lifted(form).terms.items():
            found = found + self.value(key) * (c * Fraction(count) ** power)
        return found

    def value(self, key):
        """The value of a key of a form."""
        if isinstance(key, str):
            name, _, scenario = key.partition(" @")
            return whole(self.number(name), [int(scenario)]) if scenario else self.number(name)
        if not key:
            return QuadraticForm.basis(())
        (i, j), scenario = (n % SCENARIO for n in key), key[0] // SCENARIO
        one, other = (self.rows[n % LAYER] for n in (i, j))
        layer, means = i % APART // LAYER, [self.mean(one), self.mean(other)]
        pairs = zip(one, other, strict=True)
        found = self.in_layer(layer, *means) if i < APART else self.mean([
            self.in_layer(layer, u - means[0], v - means[1]) for u, v in pairs])
        return whole(found, [scenario]) if scenario else found

    def in_layer(self, l, u, v):
        return pairing(self.some.letters.part(l, u), self.some.letters.part(l, v))

    def number(self, name):
        kind, *of = name.removeprefix(LOSS).split() if name.startswith(LOSS) else [""]
        if kind == "clients":
            return QuadraticForm({(): Fraction(len(self.clients))})
        if kind == "of":
            said = [f"{' '.join(of)} {k}" for k in self.clients]
        elif kind == "0" and of:
            said = [f"{LOSS}{k} {of[0]}" for k in self.clients]
        else:  # the same of all clients
            said = [name for _ in self.clients]
        return self.mean([*map(QuadraticForm.basis, said)])

    def mean(self, parts):
        parts = [part * weight for part, weight in zip(parts, self.some.weights, strict=True)]
        return sum(parts[1:], parts[0])


def from_the_optimum(row):
    """A vector, or a point as it lies from the optimum."""
    return row.reduced({i: c for i, c in row.parts.items() if i != ORIGIN}, row.over)


def agree(of_every, of_some):
    """Whether what is to be proven for every number of clients is, at some number, what is to be proven there."""
    form = Specialisation(of_every.run, of_some.run).form(of_every.larger - of_every.smaller)
    return of_every.past == of_some.past and form.equals(of_some.larger - of_some.smaller)
