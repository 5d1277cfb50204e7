"""Coupled runs of the stand-alone checker: clients with samples, on every data set and on its neighbours.

Client k's law is uniform on its atoms: losses sum_j a_j/2 (v_j - c_j)^2 + sum_p s_pj h(v_j - d_pj) + offset, where h(u) is
u^2/2 for |u| <= w_pj and w_pj |u| - w_pj^2/2 beyond. Data, the sample that is replaced (any one of all, uniformly) and the
fresh one are draws before the first round; every local step uses one sample of the client, drawn uniformly, in both runs.
"""

from fractions import Fraction
from itertools import product

from verify.checker.form import ATOM, keys
from verify.checker.intervals import Vector, extreme
from verify.checker.limits import OUTCOMES, bounded
from verify.checker.old_run import Run
from verify.checker.pieces import moved_into
from verify.checker.sample_constants import bounds
from verify.checker.words import add, mean, place, require

WORLD = ("data", "replaced", "fresh")

#: names that only claims about samples have
SAMPLE_NAMES = ("samples", "used_sample", "replaced", "differing", "G_lip", "sigma_g", "sigma_g_2", "sigma_g_client")

#: words with a supremum over neighbouring data sets, where data are given
SUPREMA = ("worst_mean_gap", "worst_mean_signed_gap")


class SampleRun(Run):
    """One of two coupled runs."""

    def __init__(self, replay, method, outcome, twin):
        self.twin, self.used = twin, {}
        super().__init__(replay, method, outcome)

    def begin(self):
        n, atoms = int(self.instance.size["samples"]), self.instance.atoms
        self.data = [[self.any_of("data", range(len(atoms[k])), j, k) for j in range(n)] for k in self.clients]
        self.replaced = self.any_of("replaced", [*product(self.clients, range(n))])
        client, sample = self.replaced
        fresh = self.any_of("fresh", range(len(atoms[client])))
        if self.twin:
            self.data[client][sample] = fresh

    def any_of(self, kind, values, step=0, client=0):
        return self.draw(kind, [(Fraction(1, len(values)), value) for value in values], step, client)

    def gradient(self, k, point, kind="noise", step=0):
        sample = self.any_of(kind, range(len(self.data[k])), step, k)
        if kind == "noise":
            self.used[self.round * self.local_steps + step, k] = sample
        return self.instance.atom_grad(k, self.data[k][sample], point)

    def matching(self, models, round):
        return [1 for _ in self.clients]

    def solve(self, x, linear, pull):
        raise ValueError("local problems of clients with samples are not replayed")


class CoupledRun:
    """Both runs of one outcome; the names of the second one's record begin with twin_."""

    def __init__(self, replay, method, outcome):
        own, twin = (SampleRun(replay, method, outcome, second) for second in (False, True))
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


class Samples:
    """What differs from other instances; in front of the class of these."""

    def made(self, method, outcome):
        return CoupledRun(self, method, outcome)

    def start(self):
        return self.given["start_offset"]

    def federation(self):
        """Clients' atoms, and the constants that follow from them."""
        given, m = self.given, int(self.size["clients"])
        self.atoms, self.all = given["atoms"], range(m)
        dim, counts = int(self.size["dim"]), {len(row) for row in self.atoms}
        require(len(self.atoms) == m and len(counts) == 1 and min(counts) > 0, "every client has as many atoms")
        require(len(self.start()) == dim and self.size["samples"] >= 1, "start and samples")
        counts, samples = len(self.atoms[0]), self.size["samples"]
        bounded(counts ** min(samples * m, 64) * m * samples * counts, OUTCOMES, "outcomes of the data")
        for atom in (atom for row in self.atoms for atom in row):
            keys(atom, ATOM, "an atom")
            vectors = [atom["curvature"], atom["center"], *(v for piece in atom["pieces"] for v in piece)]
            require({len(v) for v in vectors} == {dim} and min(atom["curvature"]) >= 0, "no such atom")
            require(all(min(width) >= 0 for _, _, width in atom["pieces"]), "widths of pieces must not be negative")
        found = bounds(self.atoms, samples)
        for name in self.everywhere:
            require(name in found, f"{name} is infinite, or not found for clients with samples")
            pairs = zip(found[name], given[name], strict=True) if name.endswith("_client") else [(found[name], given[name])]
            require(all(least <= bound for least, bound in pairs), f"{name} must be a bound over all points and data")
        given.update({name: value for name, value in found.items() if name not in self.free})
        given.update(priority=[Fraction(1)] * m, client_weight=Vector([Fraction(1, m)] * m))
        given["epsilon"] = [Fraction(0)] * int(self.size["rounds"] + 1)
        given["available"] = [[Fraction(1)] * m] * int(self.size["rounds"] + 1)

    def atom_grad(self, k, a, v):
        self.meter.spend(len(v))
        atom = self.atoms[k][a]
        entries = []
        for j, y in enumerate(v):
            pieces = [s[j] * moved_into(y - d[j], w[j]) for s, d, w in atom["pieces"]]
            entries.append(atom["curvature"][j] * (y - atom["center"][j]) + sum(pieces))
        return Vector(entries)

    def atom_loss(self, k, a, v):
        self.meter.spend(len(v))
        atom, total = self.atoms[k][a], self.atoms[k][a]["offset"]
        for j, y in enumerate(v):
            total += atom["curvature"][j] * (y - atom["center"][j]) ** 2 / 2
            for s, d, w in atom["pieces"]:
                inner = moved_into(y - d[j], w[j])
                total += s[j] * ((y - d[j]) * inner - inner * inner / 2)
        return total

    # formulas -------------------------------------------------------------------------------------------------------------
    def value(self, node, index, outcome):
        word, *args = node if isinstance(node, list) else [node]
        if word == "E" and self.how["replaced"] == "any":
            return self.mean(word, args[0], lambda draw: draw[0] not in WORLD, index, outcome)
        if word == "E_data":
            return self.mean(word, args[0], lambda draw: True, index, outcome)
        if word == "E_client":
            client = self.value(args[0], index, outcome)
            return self.once((word, id(node), client, *index.items()), lambda: self.mean_where(
                args[1], index, self.everything(), lambda run: run.where[0] == client))
        if word == "E_unused":
            before = int(self.value(args[0], index, outcome))
            return self.once((word, id(node), before, *index.items(), *self.world(outcome)), lambda: self.mean_where(
                args[1], index, self.in_world(outcome), lambda run: run.unused(before)))
        if word in ("worst_mean_gap", "worst_mean_signed_gap", "worst_pair_gap", "worst_sample_gap"):
            return self.once((word, id(node), *index.items()), lambda: self.worst(
                args, index, self.everything(), signed=word != "worst_mean_gap", over_pairs=word != "worst_sample_gap"))
        if word == "F_pop":
            v = self.value(args[0], index, outcome)
            return mean(self.given["client_weight"], [self.mean_loss(k, range(len(self.atoms[k])), v) for k in self.all])
        if word == "loss_grad":
            k, j, v = (self.value(a, index, outcome) for a in args)
            k, j = place(k, len(self.atoms), "a client"), place(j, self.size["samples"], "a sample")
            return self.atom_grad(k, self.run(outcome).data[k][j], v)
        if word in ("F", "objective"):
            *k, v = (self.value(a, index, outcome) for a in args)
            losses = [self.mean_loss(i, self.run(outcome).data[i], v) for i in self.asked(k)]
            return losses[0] if k else mean(self.given["client_weight"], losses)
        if word in ("grad", "objective_grad"):
            *k, v = (self.value(a, index, outcome) for a in args)
            slopes = [self.mean_grad(i, outcome, v) for i in self.asked(k)]
            return slopes[0] if k else mean(self.given["client_weight"], slopes)
        return super().value(node, index, outcome)

    def asked(self, k):
        """The client of a loss, or all of them."""
        return [place(number, len(self.atoms), "a client") for number in k] or self.all

    def mean_loss(self, k, atoms, v):
        return sum(self.atom_loss(k, a, v) for a in atoms) / len(atoms)

    def mean_grad(self, k, outcome, v):
        """Gradient of the client's training loss, or in the other reading of its population risk."""
        atoms = range(len(self.atoms[k])) if self.how["gradients"] == "population" else self.run(outcome).data[k]
        return add(*(self.atom_grad(k, a, v) for a in atoms)) / len(atoms)

    def once(self, key, compute):
        if key not in self.means:
            self.means[key] = compute()
        return self.means[key]

    def world(self, outcome):
        return [i for i, (draw, _) in zip(outcome, self.draws, strict=True) if draw[0] in WORLD]

    def everything(self):
        return [*self.outcomes()]

    def in_world(self, outcome):
        return [*self.outcomes(outcome, lambda draw: draw[0] not in WORLD)]

    def mean_where(self, body, index, cases, holds):
        """Mean over the cases in which something holds of the runs."""
        chosen = [(chance, case) for chance, case in cases if holds(self.run(case))]
        total = sum(chance for chance, _ in chosen)
        return add(*(self.value(body, index, case) * (chance / total) for chance, case in chosen))

    def worst(self, points, index, cases, signed, over_pairs):
        """Largest mean difference of an atom's losses at two points; over all cases, or the largest over all worlds."""
        groups = {}
        for chance, case in cases:
            world = tuple(self.world(case)) if over_pairs else ()
            groups.setdefault(world, []).append((chance, [self.value(p, index, case) for p in points]))
        means = []
        for group in groups.values():
            total = sum(chance for chance, _ in group)
            for k in self.all:
                for a in range(len(self.atoms[k])):
                    gaps = [self.atom_loss(k, a, v) - self.atom_loss(k, a, w) for _, (v, w) in group]
                    weighted = zip(gaps, group, strict=True)
                    means.append(add(*((gap if signed else abs(gap)) * (chance / total) for gap, (chance, _) in weighted)))
        return extreme(means)

    def sides(self, rule, index, outcome):
        """Both sides; where one has a supremum over neighbouring data sets, both have."""
        formulas = str([rule["left"], rule["right"]])
        if self.how["replaced"] != "any" or not any(word in formulas for word in SUPREMA):
            return super().sides(rule, index, outcome)
        own = super().sides
        return self.once((id(rule), *index.items()), lambda: tuple(map(extreme, zip(*(
            own(rule, index, case) for _, case in self.everything()), strict=True))))
