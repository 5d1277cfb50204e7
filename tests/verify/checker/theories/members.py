"""Random federations in exact numbers, beside letters: every letter that a run may ask for has a value for every outcome.

Of the checker it uses the letters themselves, which say what was asked for, and the names under which forms have their
terms. What these are worth is computed here.
"""

from fractions import Fraction as Q
from itertools import product
from math import isqrt, prod
from types import SimpleNamespace

from tests.verify.checker.theories.losses import clients
from verify.checker.by_coordinate import ByCoordinate
from verify.checker.exchangeable_clients import ExchangeableClients
from verify.checker.limits import WorkLimit
from verify.checker.quadratic_forms import APART, LAYER, ORIGIN, QuadraticForm, SymbolicVector, loss
from verify.checker.symbolic_run import SeparateClients, SymbolicRun

__all__ = ["KINDS", "Member"]

#: kinds of losses
KINDS = ("quadratic", "convex", "strongly convex", "weakly convex", "Huber")
BOUNDED = ("G_lip", "sigma_g", "sigma_g_1", "sigma_g_2", "sigma_g_max", "sigma_g_client")


class Member:
    """A federation of one kind of losses, and a random run on it. ``one``: one client stands for each of them.

    ``values[letter][client][outcome]`` is a vector; where clients are one by one, letters are those of the whole run, and
    have an entry for one client alone.
    """

    def __init__(self, rng, kind, one=False, coordinates=False, draws=2):
        self.rng, self.one, self.kind = rng, one, kind
        self.count = rng.choice([2, 3, 3]) if one else rng.choice([1, 2, 3])
        self.layers = 1 if coordinates else rng.choice([1, 1, 2])
        self.dim = self.layers + (rng.random() < 0.3 or coordinates)
        if one and kind == "Huber" and rng.random() < 0.6:
            # the mean distance from the mean is less than its root mean square
            self.count, self.layers, self.dim = 3, 1, 1
        parts = [1] * self.count if one else [rng.randint(1, 3) for _ in range(self.count)]
        self.weights = [Q(part, sum(parts)) for part in parts]
        kinds = [kind if kind in ("Huber", "quadratic") or rng.random() < 0.7 else "convex" for _ in range(self.count)]
        if kind == "quadratic" and rng.random() < 0.6:  # one curvature in all coordinates
            kinds = [Q(rng.randint(1, 4), 4) for _ in kinds]
        self.unit = rng.choice([Q(1), Q(1), Q(1, 2), Q(6)])  # of curvatures
        lines = [clients(rng, kinds, self.weights, self.unit) for _ in range(self.dim)]
        self.lines = [[line[k] for line in lines] for k in range(self.count)]  # of each client, by coordinate
        self.exact = coordinates or rng.random() < 0.1
        rounds = [step if rng.random() < 0.7 else rng.choice([0, 1]) for step in range(rng.randint(1, draws))]
        self.draws = [] if self.exact else [("noise", round, step) for step, round in enumerate(rounds)]
        self.laws = [self.law() for _ in range(self.count)]
        if prod(len(law) for law in self.laws) > 6:
            self.draws = self.draws[:1]
        axes = [range(len(self.laws[k])) for _ in self.draws for k in range(self.count)]
        self.cases = [*product(*axes)]
        owners = [k for _ in self.draws for k in range(self.count)]
        self.chances = [prod((self.laws[k][i][0] for k, i in zip(owners, case, strict=True)), start=Q(1))
                        for case in self.cases]
        people = ExchangeableClients(False, self.count, 4) if one else SeparateClients(self.weights)
        self.letters, self.values, self.kept = SymbolicRun(people, self.layers, WorkLimit(10**9)), {}, {}
        self.letters.exact = self.exact
        self.run = self.stated(people)
        self.ask()

    def law(self):
        """The outcomes of a client's noise, two or three: (chance, vector), of mean 0."""
        if self.rng.random() < 0.15:
            return [(Q(1), [Q(0)] * self.dim)]
        if self.rng.random() < 0.5 or self.one:
            chance = self.rng.choice([Q(1, 2), Q(1, 3), Q(1, 5)])
            one = [Q(self.rng.randint(-2, 2)) for _ in range(self.dim)]
            return [(chance, one), (1 - chance, [-chance / (1 - chance) * z for z in one])]
        first, other = ([Q(self.rng.randint(-2, 2)) for _ in range(self.dim)] for _ in range(2))
        return [(Q(1, 4), first), (Q(1, 2), other), (Q(1, 4), [-a - 2 * b for a, b in zip(first, other, strict=True)])]

    def stated(self, people):
        """What a run on letters has beside letters: bounds of the class, sometimes larger than they need be, or none."""
        rng, largest, least = self.rng, [], []
        for lines in self.lines:
            bends = [bend for line in lines for bend in line.bends]
            largest.append(max(max(bends), -min(bends), self.unit / 8) * rng.choice([1, 1, 1, 2]))
            least.append(min(bends) - rng.choice([0, 0, 0, Q(1, 2)]))
        if self.one:
            largest, least = [max(largest)], [min(least)]
        bounds = {"L_client": [None if rng.random() < 0.05 else L for L in largest],
                  "mu_client": [None if rng.random() < 0.15 and L is not None else max(m, -L) for m, L in zip(
                      least, largest, strict=True)]}
        everywhere = self.kind == "Huber"
        given = {"sigma_sq_client": people.numbers("sigma_sq_client"), "F_star_client": people.numbers("least F")}
        self.numbers = self.constants()
        if everywhere:
            given |= {name: QuadraticForm.basis(name) for name in BOUNDED} | {
                "sigma_g_client": [QuadraticForm.basis(f"sigma_g_client {k}") for k in range(self.count)]}
        names = [name for name in BOUNDED if not (self.one and name == "sigma_g_client")]
        instance = SimpleNamespace(certificate={"everywhere": names if everywhere else []})
        coordinates = ByCoordinate(self.letters)
        run = SimpleNamespace(letters=self.letters, people=people, bounds=bounds, given=given, weights=people.weights,
                              clients=people.all, coordinates=coordinates, instance=instance)
        run.objective = lambda x: people.objective(self.letters, x)
        return run

    def constants(self):
        """Numbers by the names that forms have for them."""
        variances = [sum(chance * sum(z * z for z in vector) for chance, vector in law) for law in self.laws]
        least = [None if None in (found := [line.infimum() for line in lines]) else sum(found) for lines in self.lines]
        if self.one:
            found = {"loss of sigma_sq_client": sum(variances) / self.count,
                     "loss of least F": None if None in least else sum(least) / self.count}
        else:
            found = {f"sigma_sq_client {k}": one for k, one in enumerate(variances)}
            found |= {f"least F {k}": one for k, one in enumerate(least)}
        return found | (self.at_all_points() if self.kind == "Huber" else {})

    def at_all_points(self):
        """Squares of what bounds gradients, and their distances from their mean, at all points."""
        apart, steepest, total = [Q(0)] * self.count, [Q(0)] * self.count, Q(0)
        both, alone = Q(0), Q(0)
        for place in range(self.dim):
            lines = [lines[place] for lines in self.lines]
            rows = []
            for y in {knot for line in lines for knot in line.knots}:
                slopes = [line.slope(y) for line in lines]
                middle = sum(p * slope for p, slope in zip(self.weights, slopes, strict=True))
                rows.append([abs(slope - middle) for slope in slopes])
            for k, line in enumerate(lines):
                apart[k] += max(row[k] for row in rows) ** 2
                noise = max(abs(vector[place]) for _, vector in self.laws[k]) if not self.exact else 0
                steepest[k] += (line.steepest() + noise) ** 2
            both += max(sum(p * gap * gap for p, gap in zip(self.weights, row, strict=True)) for row in rows)
            alone = max(sum(p * gap for p, gap in zip(self.weights, row, strict=True)) for row in rows)
        total = alone**2 if self.dim == 1 else both  # of one coordinate the mean distance, else no less
        squares = {"G_lip": max(steepest), "sigma_g": total, "sigma_g_1": total, "sigma_g_2": both}
        squares["sigma_g_max"] = max(apart)
        squares |= {f"sigma_g_client {k}": one for k, one in enumerate(apart)}
        return {f"{name}^2": one for name, one in squares.items()} | {
            name: Q(isqrt(int(one * 10**20)) + 1, 10**10) for name, one in squares.items()}  # which facts have no use for

    # letters ----------------------------------------------------------------------------------------------------------
    @property
    def entries(self): return range(self.count if self.one else 1)

    def assign_new_letter(self, before, value):
        """Give the new letter, if there is one, a value for each client and outcome."""
        new = range(before, len(self.letters.depends))
        assert len(new) <= 1
        for letter in new:
            self.values[letter] = [[value(entry, case) for case in range(len(self.cases))] for entry in self.entries]

    def letter(self, letter, entry, case):
        """A letter's vector: of all clients its mean, or what one deviates by; of one layer its part."""
        number, part = letter % LAYER, letter // LAYER
        if number not in self.values:
            self.values[number] = self.asked_by_a_fact(number)
        found = self.values[number]
        vector = found[entry][case]
        if self.one:
            middle = [sum(found[k][case][c] for k in self.entries) / self.count for c in range(self.dim)]
            vector = [v - z for v, z in zip(vector, middle, strict=True)] if letter >= APART else middle
            part = part - APART // LAYER if letter >= APART else part
        if not 0 <= part < self.layers:
            raise AssertionError(f"there is no layer {part}")
        return [v if c % self.layers == part else Q(0) for c, v in enumerate(vector)]

    def asked_by_a_fact(self, number):
        """The gradient at a point that no run asked for."""
        k, x = {next(iter(g.terms)): (k, x) for k, seen in enumerate(self.letters.points)
                for x, g, _ in seen if g.terms}[number]
        return [[self.grad(self.owner(k, entry), self.vector(x, entry, case)) for case in range(len(self.cases))]
                for entry in self.entries]

    def vector(self, row, entry, case):
        """The vector that a row is, measured from the optimum, which is 0."""
        found = [Q(0)] * self.dim
        for letter, c in row.terms.items():
            if letter != ORIGIN:
                found = [a + c * b for a, b in zip(found, self.letter(letter, entry, case), strict=True)]
        return found

    def grad(self, k, x): return [line.slope(y) for line, y in zip(self.lines[k], x, strict=True)]

    def drawn(self, draw, k, x, case):
        """A client's noise in a draw at a point: sometimes less than its law says, or turned round."""
        place = self.draws.index(draw) * self.count + k
        by = 1 if sum(x) >= 0 else -1 if x[0] > -1 else Q(1, 2)
        return [by * z for z in self.laws[k][self.cases[case][place]][1]]

    def owner(self, k, entry): return entry if self.one else k

    # a random run -----------------------------------------------------------------------------------------------------
    def ask(self):
        rng, letters, people = self.rng, self.letters, self.run.people
        offset = [Q(rng.choice([0, 1, -1, 2, -3, 6])) for _ in range(self.dim)]
        before = len(letters.depends)
        start = letters.basis_vector(shared=True)
        self.assign_new_letter(before, lambda entry, case: offset)
        star, places = SymbolicVector.basis(ORIGIN), []
        before = len(letters.depends)
        at_rest = people.at_rest(letters)
        for number, letter in enumerate(range(before, len(letters.depends))):
            self.values[letter] = [[self.grad(self.owner(number, entry), [Q(0)] * self.dim) for _ in self.cases]
                                   for entry in self.entries]
        for k, gradient in enumerate(at_rest):
            letters.points[k].append((star, gradient, loss(k, 0)))
        self.run.given["F_star"] = self.run.objective(star)
        x = star + start
        shared = [x]
        for step in range(rng.randint(1, 3)):
            for k in people.all:
                y = x if rng.random() < 0.7 or not places else rng.choice(places)
                gradient = self.gradient(k, y)
                noise = self.noise(k, y, gradient, step)
                places.append(y - (gradient + noise) * rng.choice([1, Q(1, 2), 2]))
                if rng.random() < 0.3:
                    places.append(self.solved(k, y))
            if rng.random() < 0.6:
                mean = people.common(places[-1]) if self.one else sum(
                    (v * p for v, p in zip(places[-len(self.weights):], self.weights, strict=True)), SymbolicVector({}))
                x = mean if rng.random() < 0.8 or not self.exact else x
                shared.append(x)
            if rng.random() < 0.8 and not self.exact:
                self.averaged(rng.choice(places), rng.choice([-1, 0, 1, 2]))
        for x in shared[:2] if rng.random() < 0.7 else ():
            for k in people.all:
                self.gradient(k, x)
        if self.dim > self.layers == 1 and self.exact and not self.one:
            self.by_coordinate(start, [at_rest[0], *(g for _, g, _ in letters.points[0][1:])])

    def gradient(self, k, x):
        before = len(self.letters.depends)
        _, found, _ = self.letters.evaluation_at(k, x)
        self.assign_new_letter(before, lambda entry, case: self.grad(self.owner(k, entry), self.vector(x, entry, case)))
        return found

    def noise(self, k, x, gradient, step):
        if step >= len(self.draws):
            return SymbolicVector({})
        before, draw = len(self.letters.depends), self.draws[step]
        found = self.letters.noise(k, x, gradient, draw)
        self.assign_new_letter(before, lambda entry, case: self.drawn(
            draw, self.owner(k, entry), self.vector(x, entry, case), case))
        return found

    def solved(self, k, x):
        before, pull = len(self.letters.depends), 3 * self.unit
        found = self.letters.solution(k, SymbolicVector({}), pull, x)
        self.assign_new_letter(before, lambda entry, case: self.grad(self.owner(k, entry), [
            line.solution(pull, -pull * y) for line, y in zip(
                self.lines[self.owner(k, entry)], self.vector(x, entry, case), strict=True)]))
        return found

    def averaged(self, row, past):
        """The mean of a vector given the past of a round."""
        before = len(self.letters.depends)
        self.letters.mean(row, past)
        for (of, r), mean in self.letters.conditional.items():
            letter = min(i for i in mean.parts) % LAYER
            if letter >= before:
                groups = self.groups(r)
                self.values[letter] = [[None for _ in self.cases] for _ in self.entries]
                for group in groups:
                    total = sum(self.chances[case] for case in group)
                    for entry in self.entries:
                        vector = [sum(self.chances[case] * self.values[of][entry][case][c] for case in group) / total
                                  for c in range(self.dim)]
                        for case in group:
                            self.values[letter][entry][case] = vector

    def groups(self, past):
        """The outcomes that have what is drawn before a round in common."""
        known = [place for place, (_, round, _) in enumerate(self.draws) for _ in range(self.count) if round < past]
        places = [place * self.count + k for place in dict.fromkeys(known) for k in range(self.count)]
        found = {}
        for number, case in enumerate(self.cases):
            found.setdefault(tuple(case[place] for place in places), []).append(number)
        return [*found.values()]

    def by_coordinate(self, start, rows):
        """Quotients by squares, their roots, largest entries and sums of these."""
        coordinates, rng = self.run.coordinates, self.rng
        asked = [row for row in (start, *rows) if row.terms]
        for a in (Q(rng.choice([1, 2]), 2), Q(0)):
            one, other = rng.choice(asked), rng.choice(asked)
            by = self.function("square", [one], lambda v: v * v)
            if rng.random() < 0.6:
                more = self.function("square", [other], lambda v: v * v)
                by = self.function("upper", [by, more], max) if rng.random() < 0.5 else by + more * 4
            elif rng.random() < 0.5:
                by = self.function("root", [by], lambda v: self.root_of(v))
            over = [one] if a == 0 else [*asked, asked[0] * 2 - asked[-1]]
            for u in over:
                before = len(self.letters.depends)
                coordinates.scaled(u, by, a)
                self.assign_new_letter(before, lambda entry, case, u=u, by=by, a=a: [
                    Q(0) if above == 0 else above / (below + a) for above, below in zip(
                        self.vector(u, entry, case), self.vector(by, entry, case), strict=True)])

    @staticmethod
    def root_of(v):
        """The root of a square."""
        above, below = (round(part**0.5) for part in (v.numerator, v.denominator))
        assert Q(above, below) ** 2 == v
        return Q(above, below)

    def function(self, word, rows, of):
        """A function of vectors by coordinates."""
        before = len(self.letters.depends)
        found = getattr(self.run.coordinates, word)(*rows)
        unit = rows[0].coefficient(min(rows[0].parts)) if word == "square" else 1
        self.assign_new_letter(before, lambda entry, case: [of(*entries) / unit**2 for entries in zip(
            *(self.vector(row, entry, case) for row in rows), strict=True)])
        return found

    # what forms are worth ---------------------------------------------------------------------------------------------
    def remember(self):
        """Note what is asked for by now."""
        self.known = len(self.letters.depends), [len(seen) for seen in self.letters.points]

    def forget(self):
        """Forget what was asked for since, as by an altered fact."""
        count, points = self.known
        if len(self.letters.depends) > count:
            del self.letters.depends[count:]
            self.values = {letter: value for letter, value in self.values.items() if letter < count}
            self.kept = {}
        for seen, number in zip(self.letters.points, points, strict=True):
            del seen[number:]

    def worth(self, form, past):
        """The value of a form given the past of a round, one for each way in which that may have come out; None where it
        has no value, as of a loss without a least value."""
        form = form if hasattr(form, "terms") else QuadraticForm({(): Q(form)})
        groups = self.groups(past)
        found = [Q(0) for _ in groups]
        for key, c in form.terms.items():
            power, key = key if form.with_powers else (0, key)
            for number, group in enumerate(groups):
                term = self.term(key, past, number, group)
                if term is None:
                    return None
                found[number] += c * term * Q(self.count) ** power
        return found

    def term(self, key, past, number, group):
        at = key, past, number
        if at not in self.kept:
            self.kept[at] = self.of_key(key, group)
        return self.kept[at]

    def of_key(self, key, group):
        if key == ():
            return Q(1)
        if isinstance(key, str) and key in self.numbers:
            return self.numbers[key]
        total = sum(self.chances[case] for case in group)
        value = self.inner if isinstance(key, tuple) else self.loss_of
        return sum(self.chances[case] * sum(value(key, entry, case) for entry in self.entries) for case in group) / (
            total * len(self.entries))

    def inner(self, key, entry, case):
        return sum(a * b for a, b in zip(*(self.letter(letter, entry, case) for letter in key), strict=True))

    def loss_of(self, key, entry, case):
        word, *numbers = key.split()
        if word != "loss" or len(numbers) != 2:
            raise LookupError(f"nothing is called {key}")
        k, number = map(int, numbers)
        x = self.vector(self.letters.points[k][number][0], entry, case)
        return sum(line.value(y) for line, y in zip(self.lines[self.owner(k, entry)], x, strict=True))
