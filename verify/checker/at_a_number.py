"""Whether a run of every number of clients says at some numbers what a run of that many clients says."""

from fractions import Fraction

from verify.checker.forms import LAYER, LOSS, ORIGIN, Form, Row, pairing
from verify.checker.powers import FormOfClients
from verify.checker.words import require


class AtANumber:
    """A run of ``every`` number of clients at that of ``some``, an ordinary run of the same claim, of which the same was
    asked in the same order. ``rows`` has of each letter what it is of each client."""

    def __init__(self, every, some):
        self.some, self.clients, self.rows = some, some.all, {}
        self.pair([every.given["start_offset"]], [[some.given["start_offset"]] for _ in some.all])
        self.pair([g for _, g, _ in every.points[0]], [[g for _, g, _ in points] for points in some.points])
        self.pair([row for seen in every.noises.values() for row, *_ in seen],
                  [[row for (j, *_), seen in some.noises.items() if j == k for row, *_ in seen] for k in some.all])
        states = some.given["initial"] | getattr(some, "states", {})
        for name, state in (every.given["initial"] | getattr(every, "states", {})).items():
            mine = states[name]
            many = isinstance(mine, list)
            self.pair(state if many else [state], [[mine[k] if many else mine] for k in some.all])
        for (letter, past), mean in every.conditional.items():
            of = [next(iter(row.terms)) for row in self.rows[letter]]
            self.pair([mean], [[some.conditional[i, past]] for i in of])

    def pair(self, letters, by_client):
        require(all(len(rows) == len(letters) for rows in by_client), "runs of some clients ask for other letters")
        for number, row in enumerate(letters):
            if found := {key % LAYER for key in row.parts if key != ORIGIN}:
                (i,) = found
                self.rows[i] = [from_the_optimum(rows[number]) for rows in by_client]

    def form(self, form):
        """What a form says."""
        count, found = len(self.clients), Form({})
        for (power, key), c in FormOfClients.lifted(form).terms.items():
            found = found + self.value(key) * (c * Fraction(count) ** power)
        return found

    def value(self, key):
        if isinstance(key, str):
            return self.number(key)
        if not key:
            return Form({(): Fraction(1)})
        sides, apart = [self.rows[i % LAYER] for i in key], key[0] >= LAYER
        means = [self.mean(rows) for rows in sides]
        if not apart:
            return pairing(*means)
        return self.mean([pairing(one - means[0], other - means[1]) for one, other in zip(*sides, strict=True)])

    def number(self, name):
        if name == f"{LOSS}clients":
            return Form({(): Fraction(len(self.clients))})
        if not name.startswith(LOSS) or name.startswith(f"{LOSS}any "):
            return Form({name: Fraction(1)})
        if name.startswith(f"{LOSS}of "):
            said = [f"{name.removeprefix(f'{LOSS}of ')} {k}" for k in self.clients]
        else:
            said = [f"{LOSS}{k} {name.split()[-1]}" for k in self.clients]
        return self.mean([Form({one: Fraction(1)}) for one in said])

    def mean(self, parts):
        parts = [part * weight for part, weight in zip(parts, self.some.p, strict=True)]
        return sum(parts[1:], parts[0])


def from_the_optimum(row):
    """A vector, or a point as it lies from the optimum."""
    return Row({i: c for i, c in row.terms.items() if i != ORIGIN})


def agree(of_every, of_some):
    """Whether what is to be proven for every number of clients is, at some number, what is to be proven there."""
    form = AtANumber(of_every.letters, of_some.letters).form(of_every.larger - of_every.smaller)
    return of_every.past == of_some.past and form.terms == (of_some.larger - of_some.smaller).terms
