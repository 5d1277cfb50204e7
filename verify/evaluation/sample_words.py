"""Evaluates the words of claims that speak of samples and of coupled runs, see :mod:`verify.worlds`."""

from __future__ import annotations

from functools import reduce

import numpy as np

from bounds.papers.afedpd import words as afedpd
from bounds.papers.fedmoswa import words as fedmoswa
from synthetic.numbers.arrays import largest, maximum, namespace, to_numpy
from verify.evaluation.environment import UnboundName
from verify.evaluation.evaluate import Value
from verify.evaluation.means import mean_over

__all__ = ["SAMPLE_WORDS"]


def over_data(evaluator, node, scope) -> Value:
    """Over data sets and all chance of the runs on them."""
    value = evaluator.value(node.args[0], scope)
    data = mean_over(value.data, 2, evaluator.env.sampling_weight)
    return Value(mean_over(data, 1, evaluator.env.noise_weight), value.vector)


def of_client(evaluator, node, scope) -> Value:
    """Over all chance, given whose sample is replaced."""
    client, value = evaluator.integer(node.args[0], scope), evaluator.value(node.args[1], scope)
    env = evaluator.env
    weights = env.noise_weight, env.sampling_weight
    return Value(evaluator.env.worlds.mean_of_client(value.data, client, *weights, value.vector), value.vector)


def unused(evaluator, node, scope) -> Value:
    """Over the chance of the runs, given that the differing sample is not used before a round."""
    rounds, value = evaluator.integer(node.args[0], scope), evaluator.value(node.args[1], scope)
    if len(np.unique(rounds)) > 1:
        raise UnboundName("E_unused speaks of one round; got several")
    return Value(evaluator.env.worlds.mean_unused(value.data, int(rounds.flat[0])), value.vector)


def population(evaluator, node, scope) -> Value:
    """Mean over the clients of the expected loss of a fresh sample."""
    worlds = evaluator.env.worlds

    def risk(federation, point, _):
        return namespace(point).stack([federation.objective(point[:, c]) for c in range(point.shape[1])], axis=1)

    point = evaluator.vector(node.args[0], scope)
    law = worlds.law.of_terms if evaluator.of_sizes else worlds.law
    return evaluator.on_federation(risk, point, np.zeros((1,) * scope.depth, dtype=int), scope, False, law)


def sample_gradient(evaluator, node, scope) -> Value:
    """Gradient of the loss of a numbered sample of the run's own data."""
    worlds, point = evaluator.env.worlds, evaluator.vector(node.args[2], scope)
    client = evaluator.integer(node.args[0], scope)
    sample = to_numpy(evaluator.value(node.args[1], scope).data)
    world = np.repeat(np.arange(worlds.count), worlds.drawn).reshape(1, -1, 1, *(1,) * scope.depth)
    used = worlds.data[world, client[None, None, None], np.vectorize(int)(sample)]
    total = 0
    for atom in range(worlds.atoms):
        number = client * worlds.atoms + atom
        gradient = evaluator.on_federation(lambda f, x, c: f.gradient(x, c), point, number, scope, True, worlds.each)
        total = total + gradient.data * evaluator.env.backend.array((used == atom).astype(int)[..., None])
    return Value(total, True)


def _gaps(evaluator, node, scope, worlds):
    """Loss at the first point less loss at the second, of every atom in turn."""
    first, second = (evaluator.vector(a, scope) for a in node.args)
    each = worlds.each.of_terms if evaluator.of_sizes else worlds.each
    for atom in range(worlds.each.clients):
        number = np.full((1,) * scope.depth, atom, dtype=int)
        values = [evaluator.on_federation(lambda f, x, c: f.value(x, c), v, number, scope, False, each).data
                  for v in (first, second)]
        yield values[0] + values[1] if evaluator.of_sizes else values[0] - values[1]


def worst_of_all_chance(evaluator, node, scope) -> Value:
    """Supremum over the atoms, the expectation over data sets, the replaced sample and all chance inside.

    The law's atoms are the admissible samples of an instance, so this is the supremum over all samples.
    """
    env, worlds = evaluator.env, evaluator.env.worlds
    gaps = _gaps(evaluator, node, scope, worlds)
    means = (mean_over(mean_over(gap, 2, env.sampling_weight), 1, env.noise_weight) for gap in gaps)
    return Value(reduce(maximum, means))


def _worst_pair(absolute):
    def worst(evaluator, node, scope) -> Value:
        worlds = evaluator.env.worlds
        gaps = (abs(gap) if absolute else gap for gap in _gaps(evaluator, node, scope, worlds))
        best = largest(reduce(maximum, map(worlds.mean_given, gaps)), 1)
        return Value(namespace(best).expand_dims(best, axis=1))

    return worst


#: word -> function(evaluator, node, scope)
SAMPLE_WORDS = {
    afedpd.E_data: over_data, fedmoswa.E_data: over_data, fedmoswa.E_client: of_client, afedpd.E_unused: unused,
    afedpd.F_pop: population, fedmoswa.F_pop: population, fedmoswa.loss_grad: sample_gradient,
    fedmoswa.worst_mean_gap: worst_of_all_chance, fedmoswa.worst_pair_gap: _worst_pair(absolute=False),
    afedpd.worst_mean_gap: _worst_pair(absolute=True), afedpd.worst_mean_signed_gap: _worst_pair(absolute=False),
}
