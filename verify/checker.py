#!/usr/bin/env python3
"""Replays a counterexample in exact fractions: python checker.py CERTIFICATE.json

Standard library only, no code of the search. For every outcome of chance it simulates the algorithm on the recorded
instance; it checks every hypothesis, and accepts only if the recorded statement is broken by the recorded values.
A formula is nested lists: ["+", a, b], ["x_local", t, k], ["Sum", body, "k", low, high], ["E", a].
"""
import json
import operator
import sys
from fractions import Fraction
from functools import reduce
from itertools import combinations, product
from math import isqrt, prod

COMPARE = {"<=": operator.le, ">=": operator.ge, "==": operator.eq}

class Vector(tuple):
    def __add__(self, other): return Vector(a + b for a, b in zip(self, other, strict=True))
    def __mul__(self, number): return Vector(a * number for a in self)
    def __rmul__(self, number): return self * number

def dot(a, b): return sum(x * y for x, y in zip(a, b, strict=True))
def exact(data): return Vector(map(exact, data)) if isinstance(data, list) else Fraction(data)
def mean(weights, vectors): return reduce(operator.add, (v * w for w, v in zip(weights, vectors, strict=True)))
def count(low, high): return map(Fraction, range(int(low), int(high) + 1))

def root(a): return require((r := Fraction(isqrt(a.numerator), isqrt(a.denominator))) ** 2 == a, f"the root of {a} is not rational", r)

def require(truth, message, value=None):
    if not truth:
        raise ValueError(message)
    return value

class Replay:
    def __init__(self, certificate):
        self.size, self.how, self.rules = certificate["sizes"], certificate["procedure"], certificate["definitions"]
        self.given = {n: exact(v) for n, v in {**certificate["instance"], **certificate["values"]}.items()}
        self.runs, self.measured, self.noises, self.draws = {}, (), [((), Fraction(1))], [((), Fraction(1))]
        self.words = {
            "+": lambda *a: reduce(operator.add, a), "*": lambda *a: reduce(operator.mul, a), "norm2": lambda v: dot(v, v),
            "^": lambda a, e: a ** int(e) if e.denominator == 1 else root(a) ** int(2 * e), "norm": lambda v: root(dot(v, v)),
            "dot": dot, "Max": max, "Min": min, "Abs": abs, "Mod": operator.mod, "F": self.F, "grad": self.grad,
            "objective": self.objective, "objective_grad": lambda v: mean(self.main, [self.grad(k, v) for k in self.everyone]),
            "tau": lambda t: t - t % self.size["local_steps"]}
        if certificate["setting"] != "algebra":
            self.federation(self.given, certificate["setting"] == "point")

    def F(self, k, v): return dot(self.A[int(k)], [(y - c) ** 2 for y, c in zip(v, self.center[int(k)], strict=True)]) / 2 + self.b[int(k)]
    def grad(self, k, v): return Vector(a * (y - c) for a, y, c in zip(self.A[int(k)], v, self.center[int(k)], strict=True))
    def objective(self, v): return dot(self.main, [self.F(k, v) for k in self.everyone])

    def federation(self, given, point):
        """Quadratic clients F_k(v) = 1/2 sum_j A_kj (v_j - center_kj)^2 + b_k; the priority clients come first."""
        self.A, self.center, self.b, P = (given[n] for n in ("curvature", "center", "offset", "priority"))
        self.everyone, self.p = range(self.size["clients"]), given["weight"] * (1 / dot(given["weight"], P))
        self.main = Vector(w * q for w, q in zip(self.p, P, strict=True))
        require(min(map(min, self.A)) > 0 and min(self.p) >= 0 and [*P] == sorted(P)[::-1] and {*P} <= {0, 1}, "bad federation")
        star = Vector(mean(self.main, [self.grad(k, Vector(c * 0 for c in v)) for k, v in enumerate(self.center)])) * -1
        star = Vector(s / a for s, a in zip(star, mean(self.main, self.A), strict=True))
        self.laws = [law or [(Fraction(1), star * 0)] for law in given["noise"]]  # per client: pairs (chance, vector)
        require(all(sum(a[0] for a in law) == 1 and min(a[0] for a in law) >= 0 and not any(mean(*zip(*law, strict=True)))
                    for law in self.laws), "noise needs chances that sum to one, and mean zero")
        given |= {"client_weight": self.p, "x_star": star, "F_star": self.objective(star), "F_star_client": self.b,
                  "L_client": [*map(max, self.A)], "mu_client": [*map(min, self.A)],
                  "sigma_sq_client": [sum(q * dot(v, v) for q, v in law) for law in self.laws]}
        if point:
            require(all(1 >= i >= q for i, q in zip(given["included"], P, strict=True)), "priority clients must be included")
            given["x"] = given["x_sampled"] = [self.average(given["included"], given["x_local"])]
            given |= {name: [given[name]] for name in ("included", "x_local")}
            return
        self.measured = ("x", "x_sampled", "x_local", "x_before", "sampled_weight", "included", "g")
        s, members, sampling, rounds = self.size["participants"], range(int(sum(P))), self.how["sampling"], self.size["rounds"]
        require(self.size["iterations"] == rounds * self.size["local_steps"], "iterations must be rounds * local_steps")
        sets = {"full": [()], "with-replacement": [*product(members, repeat=s)], "without-replacement": [*combinations(members, s)]}[sampling]
        odds = {S: prod(self.p[k] for k in S) if sampling == "with-replacement" else Fraction(1, len(sets)) for S in sets}
        self.draws = [(path, prod(odds[S] for S in path)) for path in product(sets, repeat=rounds)]
        self.noises = [([a[1] for a in row], prod(a[0] for a in row)) for row in product(*self.laws * self.size["iterations"])]

    def average(self, included, vectors):
        shares = Vector(w * i for w, i in zip(self.p, included, strict=True))
        return mean(shares, vectors) * (1 / sum(shares))

    def include(self, models, round):
        """1 on priority clients, and on free clients that are there and whose loss matches the objective."""
        limit, there = (self.given[n][min(round, len(self.given[n]) - 1)] for n in ("epsilon", "available"))
        gaps = [abs(self.F(k, v) - self.objective(v)) for k, v in enumerate(models)]
        return [Fraction(bool(q or there[k] and (gaps[k] < limit or gaps[k] == limit and not self.how["strict"])))
                for k, q in enumerate(self.given["priority"])]

    def run(self, noise, path):
        """Every quantity of one run: selection, local steps, aggregation, for one outcome of noise and sampling."""
        K, P, when, m = self.size["local_steps"], self.given["priority"], self.how["indicator"], len(self.p)
        now = [self.given["x_star"] + self.given["start_offset"]] * m
        I, out = self.include(now, 0), {name: [] for name in self.measured}
        for t in range(self.size["iterations"] + 1):
            before, shares, aggregates = now, self.p, t > 0 and t % K == 0
            if t % K and when == "local-every-step" or aggregates and when == "local-at-aggregation":
                I = self.include(now, t // K)
            average = sampled = self.average(I, now)
            if aggregates:
                S, weigh = path[t // K - 1], {"full": lambda k, S: self.p[k], "with-replacement": lambda k, S: Fraction(S.count(k), len(S)),
                                              "without-replacement": lambda k, S: self.p[k] * sum(P) / len(S) * (k in S)}
                shares = [weigh[self.how["sampling"]](k, S) if q else self.p[k] for k, q in enumerate(P)]
                sampled = mean(shares, [v * i for v, i in zip(now, I, strict=True)]) * (1 / dot(self.p, I))
                now = [sampled] * m
            if aggregates and when != "local-at-aggregation":
                I = self.include(now, t // K)
            g = [self.grad(k, now[k]) + (noise[t * m + k] if t < self.size["iterations"] else now[k] * 0) for k in self.everyone]
            for name, entry in zip(out, (average, sampled, now, before, shares, I, g), strict=True):
                out[name].append(entry)
            if t == self.size["iterations"]:
                return out
            now = [v + g * -self.given["eta_l"][t] for v, g in zip(now, out["g"][t], strict=True)]

    def name(self, name, indices, outcome):
        if name in self.size:
            return Fraction(self.size[name])
        if name in self.rules:
            return self.value(self.rules[name]["formula"], dict(zip(self.rules[name]["indices"], indices, strict=True)), outcome)
        if name in self.measured and outcome not in self.runs:
            self.runs[outcome] = self.run(self.noises[outcome[0]][0], self.draws[outcome[1]][0])
        indices = [indices[0] // self.size["local_steps"]] if name == "epsilon" else indices
        data = self.runs[outcome][name] if name in self.measured else self.given[name]
        return reduce(lambda entry, i: entry[require(i >= 0, f"negative index of {name}", int(i))], indices, data)

    def value(self, node, index, outcome):
        if isinstance(node, int):
            return Fraction(node)
        word, *args = [node] if isinstance(node, str) else node
        if word in index:
            return index[word]
        if word in ("Sum", "Product"):
            limits = [self.value(a, index, outcome) for a in args[2:]]
            terms = [self.value(args[0], {**index, args[1]: i}, outcome) for i in count(*limits)]
            return reduce(operator.add if word == "Sum" else operator.mul, terms) if terms else Fraction(word == "Product")
        if word in ("E", "E_sampling"):
            noises = range(len(self.noises)) if word == "E" else [outcome[0]]
            pairs = [(a, b, self.draws[b][1] * (self.noises[a][1] if word == "E" else 1)) for a in noises for b in range(len(self.draws))]
            return reduce(operator.add, (self.value(args[0], index, (a, b)) * chance for a, b, chance in pairs))
        args = [self.value(a, index, outcome) for a in args]
        return self.words[word](*args) if word in self.words else self.name(word, args, outcome)

    def cases(self, over):
        def extend(found, limit):
            return [{**i, limit[0]: n} for i in found for n in count(*(self.value(e, i, (0, 0)) for e in limit[1:]))]
        return reduce(extend, over, [{}])

def check(certificate):
    """(accepted, reason, left, right)"""
    replay, statement, sides = Replay(certificate), certificate["statement"], (None, None)
    recorded = tuple(Fraction(certificate[side]) for side in ("left", "right"))
    outcomes = [*product(range(len(replay.noises)), range(len(replay.draws)))]
    for rule in [*certificate["hypotheses"], statement]:
        for index, outcome in product(replay.cases(rule["over"]), outcomes):
            sides = tuple(replay.value(rule[side], index, outcome) for side in ("left", "right"))
            if not COMPARE[rule["relation"]](*sides) and rule is not statement:
                return False, f"a hypothesis fails at {index}: {rule['left']} {rule['relation']} {rule['right']}", *sides
            if not COMPARE[rule["relation"]](*sides) and sides == recorded:
                return True, "every hypothesis holds and the statement is violated", *sides
    return False, "nothing violates the statement by the recorded values", *sides

if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        accepted, *said = check(json.load(file))
    print("accepted:" if accepted else "rejected:", *said)
    sys.exit(not accepted)
