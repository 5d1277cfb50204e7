#!/usr/bin/env python3
"""Replays a counterexample in exact fractions: python checker.py CERTIFICATE.json (standard library only).

Simulates the algorithm on the recorded instance for every outcome of chance, checks every hypothesis, and accepts only
if the statement is broken by the recorded values. Formulas: ["+", a, b], ["x", t], ["Sum", body, "k", low, high], ["E", a].
"""
import json
import operator
import sys
from fractions import Fraction
from functools import cache, reduce
from itertools import combinations, product
from math import isqrt, prod

COMPARE = {"<=": operator.le, ">=": operator.ge, "==": operator.eq, ">": operator.gt}
class Vector(tuple):
    def __add__(self, other): return Vector(a + b for a, b in zip(self, other, strict=True))
    def __mul__(self, number): return Vector(a * number for a in self)
    def __rmul__(self, number): return self * number
def dot(a, b): return sum(x * y for x, y in zip(a, b, strict=True))
def exact(data): return {list: lambda d: Vector(map(exact, d)), str: Fraction, int: Fraction}[type(data)](data)  # no floats
def mean(weights, vectors): return reduce(operator.add, (v * w for w, v in zip(weights, vectors, strict=True)))
def require(truth, message):
    if not truth:
        raise ValueError(message)
def root(number, degree):
    found = number if degree == 1 else Fraction(isqrt(number.numerator), isqrt(number.denominator))
    require(found**degree == number, f"a root of {number} is irrational")
    return found
class Replay:
    def __init__(self, certificate):
        self.size, self.how, self.rules = (certificate[n] for n in ("sizes", "procedure", "definitions"))
        self.given = {n: exact(v) for part in ("instance", "values", "sizes") for n, v in certificate[part].items()}
        self.run, self.measured, self.noises, self.draws = cache(self.run), (), [((), Fraction(1))], [((), Fraction(1))]
        self.words = {
            "+": lambda *a: reduce(operator.add, a), "*": lambda *a: reduce(operator.mul, a), "Max": max, "Min": min,
            "^": lambda a, b: root(a, b.denominator) ** b.numerator, "Mod": operator.mod, "F": self.F, "grad": self.grad,
            "tau": lambda t: t - t % self.size["local_steps"], "dot": dot, "norm2": lambda v: dot(v, v), "Abs": abs,
            "norm": lambda v: root(dot(v, v), 2), "objective": lambda v: dot(self.main, [self.F(k, v) for k in self.all]),
            "objective_grad": lambda v: mean(self.main, [self.grad(k, v) for k in self.all])}
        for prepare in {"point": [self.federation], "run": [self.federation, self.chances]}.get(certificate["setting"], []):
            prepare()
    def grad(self, k, v):
        curvature, center = (self.given[name][int(k)] for name in ("curvature", "center"))
        return Vector(a * (y - c) for a, y, c in zip(curvature, v, center, strict=True))
    def F(self, k, v):
        return dot(self.grad(k, v), v + self.given["center"][int(k)] * -1) / 2 + self.given["F_star_client"][int(k)]
    def federation(self):
        """Quadratic clients F_k(v) = 1/2 sum_j curvature_kj (v_j - center_kj)^2 + F_star_client_k, and their noise."""
        given, self.P, self.p, star = self.given, *(self.given[n] for n in ("priority", "client_weight", "x_star"))
        self.main, self.all = Vector(w * q for w, q in zip(self.p, self.P, strict=True)), range(len(self.p))
        require(sum(self.main) == 1 and {*self.P} <= {0, 1} and min(self.p) > 0, "priority weights must sum to one")
        require(min(map(min, given["curvature"])) > 0 and len(star) == self.size["dim"], "no such quadratic clients")
        require(len(self.p) == len(given["noise"]) == self.size["clients"], "every client has one weight and one noise law")
        require(not any(self.words["objective_grad"](star)), "x_star must be the optimum")
        self.laws = [law or [(Fraction(1), star * 0)] for law in given["noise"]]  # per client: pairs (chance, vector)
        for chances, vectors in (zip(*law, strict=True) for law in self.laws):
            require(sum(chances) == 1 and min(chances) > 0 and not any(mean(chances, vectors)), "noise must be centred")
        given.update(F_star=self.words["objective"](star), L_client=[*map(max, given["curvature"])], mu_client=[
            *map(min, given["curvature"])], sigma_sq_client=[sum(q * dot(v, v) for q, v in law) for law in self.laws])
    def chances(self):
        """All outcomes with their chances: noise vectors step by step and client by client; clients drawn by round."""
        s, rounds, steps, last = (self.size[n] for n in ("participants", "rounds", "local_steps", "iterations"))
        members, replaced = [k for k in self.all if self.P[k]], self.how["sampling"] == "with-replacement"
        require(last == rounds * steps > 0 < min(rounds, s), "iterations must be rounds * local_steps, all positive")
        require(self.how["indicator"] in ("broadcast", "local-at-aggregation", "local-every-step"), "unknown indicator")
        laws = {"full": combinations((), 0), "without-replacement": combinations(members, s)}
        sets = [*(product(members, repeat=s) if replaced else laws[self.how["sampling"]])]
        odds = {S: prod(self.p[k] for k in S) if replaced else Fraction(1, len(sets)) for S in sets}
        self.draws = [(path, prod(odds[S] for S in path)) for path in product(sets, repeat=rounds)]
        self.noises = [([v for _, v in row], prod(q for q, _ in row)) for row in product(*self.laws * last)]
        self.measured = ("x", "x_sampled", "x_local", "x_before", "sampled_weight", "included", "g")
    def average(self, shares, included, vectors):
        return mean(shares, [v * i for v, i in zip(vectors, included, strict=True)]) * (1 / dot(self.p, included))
    def include(self, models, round):
        """1 on priority clients, and on free clients that are there and whose loss matches the objective."""
        limit, there = (self.given[n][min(round, len(self.given[n]) - 1)] for n in ("epsilon", "available"))
        matches = operator.lt if self.how["strict"] else operator.le
        gaps = [abs(self.F(k, v) - self.words["objective"](v)) for k, v in enumerate(models)]
        return [Fraction(bool(self.P[k] or (there[k] and matches(gaps[k], limit)))) for k in self.all]
    def run(self, a, b):
        """Every quantity of one run: selection, local steps, aggregation, for one outcome of noise and sampling."""
        K, when, last, out = self.size["local_steps"], self.how["indicator"], self.size["iterations"], []
        noise, path = self.noises[a][0], self.draws[b][0]
        now = [self.given["x_star"] + self.given["start_offset"]] * len(self.p)
        I, g = self.include(now, 0), None
        for t in range(last + 1):
            before, shares, aggregates = now, self.p, t > 0 and t % K == 0
            if (t % K and when == "local-every-step") or (aggregates and when == "local-at-aggregation"):
                I = self.include(now, t // K)
            average = sampled = self.average(self.p, I, now)
            if aggregates and self.how["sampling"] != "full":
                S, one = path[t // K - 1], self.how["sampling"] == "with-replacement"
                drawn = [Fraction(S.count(k), len(S)) * (1 if one else self.p[k] * sum(self.P)) for k in self.all]
                shares = [d if q else w for d, q, w in zip(drawn, self.P, self.p, strict=True)]
                sampled = self.average(shares, I, now)
            now = [sampled] * len(self.p) if aggregates else now
            if aggregates and when != "local-at-aggregation":
                I = self.include(now, t // K)
            if t < last:
                g = [self.grad(k, now[k]) + noise[t * len(self.p) + k] for k in self.all]
            out.append((average, sampled, now, before, shares, I, g))
            now = now if t == last else [v + u * -self.given["eta_l"][t] for v, u in zip(now, g, strict=True)]
        return dict(zip(self.measured, zip(*out, strict=True), strict=True))
    def name(self, name, indices, outcome):
        if name in self.rules:
            rule = self.rules[name]
            return self.value(rule["formula"], dict(zip(rule["indices"], indices, strict=True)), outcome)
        data = (self.run(*outcome) if name in self.measured else self.given)[name]
        for i in [indices[0] // self.size["local_steps"]] if name == "epsilon" else indices:
            require(i >= 0, f"negative index of {name}")
            data = data[int(i)]
        return data
    def value(self, node, index, outcome):
        if isinstance(node, int):
            return Fraction(node)
        word, *args = [node] if isinstance(node, str) else node
        if word in index:
            return index[word]
        if word in ("Sum", "Product"):
            values = [self.value(args[0], {**index, args[1]: i}, outcome) for i in self.span(args[2:], index, outcome)]
            return reduce(self.words["+" if word == "Sum" else "*"], values) if values else Fraction(word == "Product")
        if word in ("E", "E_sampling"):
            noises = [(outcome[0], 1)] if word == "E_sampling" else [(a, n[1]) for a, n in enumerate(self.noises)]
            cases = [((a, b), chance * draw[1]) for a, chance in noises for b, draw in enumerate(self.draws)]
            return reduce(operator.add, (self.value(args[0], index, case) * chance for case, chance in cases))
        args = [self.value(a, index, outcome) for a in args]
        return self.words[word](*args) if word in self.words else self.name(word, args, outcome)
    def span(self, limits, index, outcome=(0, 0)):
        low, high = (int(self.value(limit, index, outcome)) for limit in limits)
        return map(Fraction, range(low, high + 1))
def check(certificate):
    """(accepted, reason, left, right)"""
    replay, statement, sides = Replay(certificate), certificate["statement"], (None, None)
    outcomes = [*product(range(len(replay.noises)), range(len(replay.draws)))]
    for rule in [*certificate["hypotheses"], statement]:
        cases = [{}]
        for name, *limits in rule["over"]:
            cases = [{**i, name: n} for i in cases for n in replay.span(limits, i)]
        for index, outcome in product(cases, outcomes):
            sides = tuple(replay.value(rule[side], index, outcome) for side in ("left", "right"))
            if not COMPARE[rule["relation"]](*sides) and rule is not statement:
                return False, f"a hypothesis fails at {index}: {rule['text']}", *sides
            if not COMPARE[rule["relation"]](*sides) and [*map(str, sides)] == [certificate["left"], certificate["right"]]:
                return True, "every hypothesis holds and the statement is violated", *sides
    return False, "nothing violates the statement by the recorded values", *sides
if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as certificate_file:
        accepted, *said = check(json.load(certificate_file))
    sys.exit(print("accepted:" if accepted else "rejected:", *said) or not accepted)
