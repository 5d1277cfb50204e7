"""Sampling of unequally weighted clients: the average over who is drawn."""

from collections.abc import Iterator
from itertools import combinations, product
from math import prod

import numpy as np

from fedtheory.engine import Observer
from fedtheory.testing.outcome import same
from fedtheory.testing.property import UNBIASED, needs, property_of_every_method
from fedtheory.testing.subject import play
from synthetic.numbers.arrays import to_numpy
from synthetic.numbers.draws import CLIENTS, Draws


class DrawnClients(Draws):
    """Draws in which run i has the sampled clients of row i of ``rows`` in every round, and all else from one seed.

    ``rows``: the numbers of those drawn, or, where each client takes part by itself, 1 for those that do and 0.
    """

    def __init__(self, seed: int, backend, rows):
        super().__init__(np.full(len(rows), seed), backend)
        self.rows = self.integer_backend.integers(np.array(rows))

    def subset(self, stream, time, population, size):
        return self.rows if stream == CLIENTS else super().subset(stream, time, population, size)

    def category(self, stream, cumulative, time, keys):
        return self.rows if stream == CLIENTS else super().category(stream, cumulative, time, keys)

    def bernoulli(self, stream, probability, time, keys, size):
        if stream == CLIENTS:
            return (self.rows == 1)[..., None]
        return super().bernoulli(stream, probability, time, keys, size)


def outcomes(scheme: str, drawn: int, shares) -> Iterator[tuple[float, tuple[int, ...]]]:
    """The probability and the row of :class:`DrawnClients` of everything that a scheme may draw; ``shares`` are the p_k."""
    clients = range(len(shares))
    if scheme == "with-replacement":
        yield from ((prod(shares[k] for k in row), row) for row in product(clients, repeat=drawn))
    elif scheme.startswith("bernoulli"):
        chance = drawn / len(shares)
        rows = product((1, 0), repeat=len(shares))
        yield from ((prod(chance if takes else 1 - chance for takes in row), row) for row in rows)
    else:
        distinct = [*combinations(clients, drawn)]
        yield from ((1 / len(distinct), row) for row in distinct)


class Average(Observer):
    """Keeps the average of the models that the server forms, (runs, dim), of the last round."""

    everyone = False

    def uploads(self, context, local, upload):
        self.model = to_numpy(context.algorithm.aggregate(upload, context)[0])


@property_of_every_method("unbiased average", schemes=UNBIASED, rounds=1, runs=1, free=0)
def unbiased_average(subject, case):
    """The average of the models, in the mean over who is drawn, is that with all clients, however much the clients weigh."""
    needs(case.participants, "all clients take part")
    federation, shares = case.federation(subject.backend), case.weights() / case.weights().sum()
    chances, rows = zip(*outcomes(case.sampling, case.participants, shares.tolist()), strict=True)
    everyone, some = Average(), Average()
    play(subject.build(case.but(participants=None)), federation, case, observers=(everyone,))
    draws = DrawnClients(int(case.seeds[0]), federation.backend, rows)
    play(subject.build(case), federation, case, draws=draws, observers=(some,))
    mean = (np.array(chances)[:, None] * some.model.astype(float)).sum(0, keepdims=True)
    same(everyone.model, mean, "the mean over who is drawn of the average of the models", axes=("run", "coordinate"))
