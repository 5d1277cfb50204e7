"""Clients with samples: two coupled runs, on every data set and on its neighbour, and the words that speak of both.

Client k's law is uniform on its atoms: losses sum_j a_j/2 (v_j - c_j)^2 + sum_p s_pj h(v_j - d_pj) + offset, where h(u) is
u^2/2 for |u| <= w_pj and w_pj |u| - w_pj^2/2 beyond. Data, the sample that is replaced (any one of all, uniformly) and the
fresh one are draws before the first round; every local step uses one sample of the client, drawn uniformly, in both runs.
"""

from fractions import Fraction
from itertools import product

from verify.checker.intervals import Vector, extreme
from verify.checker.limits import OUTCOMES, bounded
from verify.checker.operators import add, mean, place, require
from verify.checker.piecewise_quadratic import moved_into
from verify.checker.run import Run
from verify.checker.sample_constants import bounds
from verify.checker.schema import ATOM, keys

#: names that only claims about samples have
SAMPLE_NAMES = ("samples", "used_sample", "replaced", "differing", "G_lip", "sigma_g", "sigma_g_2", "sigma_g_client")

DATA = ("data", "replaced", "fresh")  # the draws before the first round

#: words with a supremum over neighbouring data sets, where data are given
SUPREMA = ("worst_mean_gap", "worst_mean_signed_gap")


class Samples:
    """The clients of an instance with samples; the ``twin`` of the ``first`` has those of the second run,
    whose data have the fresh sample."""

    factored, average = False, None

    def __init__(self, given, sizes, free, everywhere, meter, first=None):
        self.atoms, self.meter, self.samples = given["atoms"], meter, int(sizes["samples"])
        self.clients, self.initial = range(sizes["clients"]), given["initial"]
        self.weights = Vector([Fraction(1, len(self.clients))] * len(self.clients))
        self.priority, self.start, self.second = [Fraction(1)] * len(self.clients), given["start_offset"], first is not None
        if first is None:
            self.is_one(sizes["dim"])
            found, ends = self.constants_of_class(given, everywhere), range(sizes["rounds"] + 1)
            self.found = {name: value for name, value in found.items() if name not in free}
            self.found |= {"priority": self.priority, "client_weight": self.weights}
            self.found |= {"epsilon": [Fraction(0) for _ in ends], "available": [self.priority for _ in ends]}
            self.twin = Samples(given, sizes, free, everywhere, meter, self)

    @property
    def layer_sizes(self): raise ValueError("layers of clients with samples are not replayed")

    def is_one(self, dim):
        """Refuse what are no clients with samples."""
        counts, m = {len(row) for row in self.atoms}, len(self.clients)
        require(len(self.atoms) == m and len(counts) == 1 and min(counts) > 0, "every client has as many atoms")
        require(len(self.start) == dim and self.samples >= 1, "start and samples")
        count = len(self.atoms[0])
        bounded(count ** min(self.samples * m, 64) * m * self.samples * count, OUTCOMES, "outcomes of the data")
        for atom in (atom for row in self.atoms for atom in row):
            keys(atom, ATOM, "an atom")
            vectors = [atom["curvature"], atom["center"], *(v for piece in atom["pieces"] for v in piece)]
            require({len(v) for v in vectors} == {dim} and min(atom["curvature"]) >= 0, "no such atom")
            require(all(min(width) >= 0 for _, _, width in atom["pieces"]), "widths of pieces must not be negative")

    def constants_of_class(self, given, everywhere):
        """The least constants that hold for every atom and data set. Refuses a bound ``everywhere`` that is none."""
        found = bounds(self.atoms, self.samples)
        for name in everywhere:
            require(name in found, f"{name} is infinite, or not found for clients with samples")
            pairs = zip(found[name], given[name], strict=True) if name.endswith("_client") else [(found[name], given[name])]
            require(all(least <= bound for least, bound in pairs), f"{name} must be a bound over all points and data")
        return found

    def atom_grad(self, k, a, v):
        self.meter.charge(len(v))
        atom, entries = self.atoms[k][a], []
        for j, y in enumerate(v):
            pieces = [s[j] * moved_into(y - d[j], w[j]) for s, d, w in atom["pieces"]]
            entries.append(atom["curvature"][j] * (y - atom["center"][j]) + sum(pieces))
        return Vector(entries)

    def atom_loss(self, k, a, v):
        self.meter.charge(len(v))
        atom, total = self.atoms[k][a], self.atoms[k][a]["offset"]
        for j, y in enumerate(v):
            total += atom["curvature"][j] * (y - atom["center"][j]) ** 2 / 2
            for s, d, w in atom["pieces"]:
                inner = moved_into(y - d[j], w[j])
                total += s[j] * ((y - d[j]) * inner - inner * inner / 2)
        return total

    def mean_loss(self, k, atoms, v):
        return sum(self.atom_loss(k, a, v) for a in atoms) / len(atoms)

    def constants(self, instance): return self.found
    def operators(self, instance): return {}

    def binders(self, instance):
        self.words = Words(instance, self)
        return self.words.binders()

    def may_name(self, instance, name, indices): """Refuse a name that has no value here: none."""
    def are_all(self, participants): return participants == len(self.clients)
    def sides(self, instance, rule, at): return self.words.sides(rule, at)

    # what runs ask ---------------------------------------------------------------------------------------------------------
    def run(self, instance, method, outcome):
        return CoupledRun(*(Run(instance, clients, method, outcome) for clients in (self, self.twin)))

    def begin(self, run):
        """Draw the data."""
        def any_of(kind, values, step=0, client=0):
            return run.draw(kind, [(Fraction(1, len(values)), value) for value in values], step, client)

        run.data = [[any_of("data", range(len(self.atoms[k])), j, k) for j in range(self.samples)] for k in self.clients]
        run.replaced, run.used = any_of("replaced", [*product(self.clients, range(self.samples))]), {}
        client, sample = run.replaced
        fresh = any_of("fresh", range(len(self.atoms[client])))
        if self.second:
            run.data[client][sample] = fresh

    def stochastic(self, run, k, point, kind, step):
        count = len(run.data[k])
        sample = run.draw(kind, [(Fraction(1, count), value) for value in range(count)], step, k)
        if kind == "noise":
            run.used[run.round * run.local_steps + step, k] = sample
        return self.atom_grad(k, run.data[k][sample], point)

    def first_states(self, free):
        require({*self.initial} <= {*free}, f"first states that are free: {', '.join(free) or 'none'}")
        return self.initial

    def first_state(self, name, value): return value
    def matching(self, run, models, round): return [1 for _ in self.clients]
    def choose(self, run, kind, values, chances): return run.draw(kind, [*zip(chances(), values, strict=True)])
    def split(self, run, layers): raise ValueError("layers of clients with samples are not replayed")
    def solution(self, *_): raise ValueError("local problems of clients with samples are not replayed")
    def grad(self, *_): raise ValueError("full gradients of clients with samples are not replayed in runs")


class CoupledRun:
    """Both runs of one outcome; the names of the second one's record begin with twin_."""

    def __init__(self, own, twin):
        require(own.alternatives == twin.alternatives, "coupled runs must make the same draws")
        self.chances, self.alternatives, self.data, self.where = own.chances, own.alternatives, own.data, own.replaced
        times, clients = range(len(own.record["g"]) - 1), own.clients
        used = [[own.used.get((t, k), 0) for k in clients] for t in times]
        self.record = own.record | {f"twin_{name}": value for name, value in twin.record.items()} | {
            "used_sample": used, "differing": [int(k == own.replaced[0]) for k in clients],
            "replaced": [[int((k, used[t][k]) == own.replaced) for k in clients] for t in times]}
        self.taking_part = own.record["sampled"]

    def unused(self, before):
        """Whether the replaced sample is used in no round before this one."""
        used, client = self.record["replaced"], self.where[0]
        steps = len(used) // len(self.taking_part)
        return not any(row[client] and self.taking_part[t // steps][client] for t, row in enumerate(used[: before * steps]))


class Words:
    """The words of claims about samples, on the coupled runs of an instance."""

    def __init__(self, instance, clients):
        self.instance, self.clients, self.given_data = instance, clients, instance.how["replaced"] == "any"
        self.value, self.kept = instance.formulas.value, {}

    def binders(self):
        found = {name: getattr(self, name) for name in ("E_client", "E_unused", "F_pop", "loss_grad")}
        found |= {name: self.loss for name in ("F", "objective")} | {name: self.slope for name in ("grad", "objective_grad")}
        found |= {word: lambda args, at, word=word: self.once((word, *map(id, args), *at.index.items()), lambda: self.worst(
            args, at, word != "worst_mean_gap", word != "worst_sample_gap"))
            for word in ("worst_mean_gap", "worst_mean_signed_gap", "worst_pair_gap", "worst_sample_gap")}
        found["E_data"] = lambda args, at: self.instance.mean("E_data", args[0], at, lambda draw: True)
        if self.given_data:
            found["E"] = lambda args, at: self.instance.mean("E", args[0], at, lambda draw: draw[0] not in DATA)
        return found

    def once(self, key, compute):
        if key not in self.kept:
            self.kept[key] = compute()
        return self.kept[key]

    def E_client(self, args, at):
        """The mean where the replaced sample is one of a client."""
        client = self.value(args[0], at)
        return self.once(("E_client", id(args[1]), client, *at.index.items()), lambda: self.mean_where(
            args[1], at, self.instance.outcomes(), lambda run: run.where[0] == client))

    def E_unused(self, args, at):
        """The mean, given the data, where the replaced sample is used in no round before one."""
        before, outcomes = int(self.value(args[0], at)), self.instance.outcomes
        data = [i for i, (draw, _) in zip(at.outcome, self.instance.draws, strict=True) if draw[0] in DATA]
        return self.once(("E_unused", id(args[1]), before, *at.index.items(), *data), lambda: self.mean_where(
            args[1], at, outcomes(at.outcome, lambda draw: draw[0] not in DATA), lambda run: run.unused(before)))

    def mean_where(self, body, at, cases, holds):
        """The mean over the outcomes in which something holds of the runs."""
        chosen = [(chance, case) for chance, case in cases if holds(self.instance.run(case))]
        total = sum(chance for chance, _ in chosen)
        return add(*(self.value(body, at._replace(outcome=case)) * (chance / total) for chance, case in chosen))

    def worst(self, points, at, signed, over_pairs):
        """The largest mean difference of an atom's losses at two points: over all outcomes, or the largest over all data."""
        groups, clients, means = {}, self.clients, []
        for chance, case in self.instance.outcomes():
            data = tuple(i for i, (draw, _) in zip(case, self.instance.draws, strict=True) if draw[0] in DATA)
            values = [self.value(point, at._replace(outcome=case)) for point in points]
            groups.setdefault(data if over_pairs else (), []).append((chance, values))
        for group in groups.values():
            total = sum(chance for chance, _ in group)
            for k in clients.clients:
                for a in range(len(clients.atoms[k])):
                    gaps = [clients.atom_loss(k, a, v) - clients.atom_loss(k, a, w) for _, (v, w) in group]
                    weighted = zip(gaps, group, strict=True)
                    means.append(add(*((gap if signed else abs(gap)) * (chance / total) for gap, (chance, _) in weighted)))
        return extreme(means)

    def F_pop(self, args, at):
        v = self.value(args[0], at)
        return mean(self.clients.weights, [self.clients.mean_loss(k, range(len(self.clients.atoms[k])), v)
                                           for k in self.clients.clients])

    def loss_grad(self, args, at):
        k, j, v = (self.value(a, at) for a in args)
        k, j = place(k, len(self.clients.atoms), "a client"), place(j, self.clients.samples, "a sample")
        return self.clients.atom_grad(k, self.instance.run(at.outcome).data[k][j], v)

    def loss(self, args, at):
        """The training loss of a client, or of all of them."""
        *k, v = (self.value(a, at) for a in args)
        losses = [self.clients.mean_loss(i, self.instance.run(at.outcome).data[i], v) for i in self.client_indices(k)]
        return losses[0] if k else mean(self.clients.weights, losses)

    def slope(self, args, at):
        """The gradient of that, or in the other reading of the population risk."""
        *k, v = (self.value(a, at) for a in args)
        population, slopes = self.instance.how["gradients"] == "population", []
        for i in self.client_indices(k):
            atoms = range(len(self.clients.atoms[i])) if population else self.instance.run(at.outcome).data[i]
            slopes.append(add(*(self.clients.atom_grad(i, a, v) for a in atoms)) / len(atoms))
        return slopes[0] if k else mean(self.clients.weights, slopes)

    def client_indices(self, k):
        return [place(number, len(self.clients.atoms), "a client") for number in k] or self.clients.clients

    def sides(self, rule, at):
        """Both sides; where one has a supremum over neighbouring data sets, both have."""
        formulas, own = str([rule["left"], rule["right"]]), self.instance.formulas.sides
        if not self.given_data or not any(word in formulas for word in SUPREMA):
            return own(rule, at)
        return self.once((id(rule), *at.index.items()), lambda: tuple(map(extreme, zip(*(
            own(rule, at._replace(outcome=case)) for _, case in self.instance.outcomes()), strict=True))))
