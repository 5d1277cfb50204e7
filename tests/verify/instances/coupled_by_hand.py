"""Runs of FedAvg on all data sets and their neighbours by plain loops: what claims about samples are compared with."""

from itertools import combinations, product

import numpy as np

__all__ = ["Loops"]


class Loops:
    """One instance in one dimension: ``curvature[k]``, ``center[k][a]`` and Huber pieces of atom a of client k."""

    def __init__(self, params, samples, local_steps, rounds, eta, participants=None):
        self.params = {name: array[0] for name, array in params.items()}
        self.m, self.atoms = self.params["sample_center"].shape[:2]
        self.n, self.K, self.T, self.eta = samples, local_steps, rounds, eta
        self.participants = participants or self.m

    def gradient(self, k, a, v):
        parts = self.params
        slope = parts["sample_curvature"][k, 0, 0] * (v - parts["sample_center"][k, a, 0])
        for s, d, w in zip(*(parts[f"sample_{n}"][k, a, :, 0] for n in ("slope", "knot", "width")), strict=True):
            slope += s * min(max(v - d, -w), w)
        return slope

    def loss(self, k, a, v):
        parts = self.params
        value = parts["sample_curvature"][k, 0, 0] * (v - parts["sample_center"][k, a, 0]) ** 2 / 2
        for s, d, w in zip(*(parts[f"sample_{n}"][k, a, :, 0] for n in ("slope", "knot", "width")), strict=True):
            u = abs(v - d)
            value += s * (u * u / 2 if u <= w else w * u - w * w / 2)
        return value + parts["sample_offset"][k, a]

    def population(self, v):
        return np.mean([self.loss(k, a, v) for k in range(self.m) for a in range(self.atoms)])

    def training(self, data, v):
        return np.mean([self.loss(k, data[k][j], v) for k in range(self.m) for j in range(self.n)])

    def run(self, data, used, drawn):
        """Server models by round; ``used[t][k]`` sample numbers, ``drawn[r]`` clients."""
        x = float(self.params["start_offset"][0])
        models = [x]
        for r in range(self.T):
            ends = []
            for k in drawn[r]:
                y = x
                for j in range(self.K):
                    t = r * self.K + j
                    y -= self.eta[t] * self.gradient(k, data[k][used[t][k]], y)
                ends.append(y)
            x = float(np.mean(ends))
            models.append(x)
        return models

    def cases(self):
        """(data, twin's data, (client, sample) replaced, sample numbers, clients drawn), all equally likely."""
        for rows in product(product(range(self.atoms), repeat=self.n), repeat=self.m):
            for k, j, fresh in product(range(self.m), range(self.n), range(self.atoms)):
                twin = [list(row) for row in rows]
                twin[k][j] = fresh
                for case in self.chance():
                    yield rows, twin, (k, j), *case

    def chance(self):
        steps = self.K * self.T
        for used in product(product(range(self.n), repeat=self.m), repeat=steps):
            for drawn in product(list(combinations(range(self.m), self.participants)), repeat=self.T):
                yield used, drawn

    def mean(self, function, given=lambda *case: True):
        """Mean of ``function(run, twin's run, *case)`` over the cases."""
        values = [function(self.run(case[0], *case[3:]), self.run(case[1], *case[3:]), *case)
                  for case in self.cases() if given(*case)]
        return float(np.mean(values))

    def worst_pair(self, absolute):
        """Over atoms, data sets and replaced samples, the largest mean difference of losses at the last models."""
        sums = {}
        for data, twin, where, used, drawn in self.cases():
            ends = self.run(data, used, drawn)[-1], self.run(twin, used, drawn)[-1]
            for k, a in product(range(self.m), range(self.atoms)):
                gap = self.loss(k, a, ends[0]) - self.loss(k, a, ends[1])
                key = (data, tuple(map(tuple, twin)), where, k, a)
                sums.setdefault(key, []).append(abs(gap) if absolute else gap)
        return max(float(np.mean(values)) for values in sums.values())
