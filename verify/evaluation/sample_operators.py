"""Evaluates the operators of :mod:`bounds.language.samples` on samples and coupled runs
(:mod:`verify.instances.data_sets`)."""

from functools import reduce

import numpy as np

from bounds.language import samples
from synthetic.numbers.arrays import largest, maximum, namespace, to_numpy
from verify.evaluation.environment import NoEntry, UnboundName
from verify.evaluation.evaluate import Value
from verify.evaluation.means import mean_over

__all__ = ["SAMPLE_WORDS", "gaps", "over_data"]


def over_data(evaluator, node, scope) -> Value:
    """Expectation over data sets and all chance of the runs on them."""
    value = evaluator.value(node.args[0], scope)
    data = mean_over(value.data, 2, evaluator.env.sampling_weight)
    return Value(mean_over(data, 1, evaluator.env.noise_weight), value.vector)


def of_client(evaluator, node, scope) -> Value:
    """Expectation over all chance, given the client whose sample is replaced."""
    client, value = evaluator.integer(node.args[0], scope), evaluator.value(node.args[1], scope)
    env = evaluator.env
    weights = env.noise_weight, env.sampling_weight
    return Value(evaluator.env.data_sets.mean_of_client(value.data, client, *weights, value.vector), value.vector)


def unused(evaluator, node, scope) -> Value:
    """Expectation over the chance of the runs, given that the differing sample is not used before a round."""
    rounds, value = evaluator.integer(node.args[0], scope), evaluator.value(node.args[1], scope)
    if len(np.unique(rounds)) > 1:
        raise UnboundName("E_unused takes one round; got several")
    return Value(evaluator.env.data_sets.mean_unused(value.data, int(rounds.flat[0])), value.vector)


def _of_terms(federation):
    """The federation whose losses are the sizes of the terms of these, if it is known."""
    return getattr(federation, "of_terms", federation)


def population(evaluator, node, scope) -> Value:
    """The mean over clients of the expected loss of a fresh sample."""
    data_sets = evaluator.env.data_sets

    def risk(federation, point, _):
        return namespace(point).stack([federation.objective(point[:, c]) for c in range(point.shape[1])], axis=1)

    point = evaluator.vector(node.args[0], scope)
    law = _of_terms(data_sets.law) if evaluator.of_sizes else data_sets.law
    return evaluator.on_federation(risk, point, np.zeros((1,) * scope.depth, dtype=int), scope, False, law)


def sample_gradient(evaluator, node, scope) -> Value:
    """The gradient of the loss of a numbered sample of the run's own data."""
    data_sets, point = evaluator.env.data_sets, evaluator.vector(node.args[2], scope)
    client = evaluator.client(node, scope)
    sample, count = to_numpy(evaluator.value(node.args[1], scope).data), evaluator.env.sizes["samples"]
    if ((outside := (sample < 0) | (sample >= count)) & scope.inside).any():
        raise NoEntry(f"samples have the numbers 0..{count - 1}; got others in {node}")
    sample = np.where(outside, 0, sample)
    world = np.repeat(np.arange(data_sets.count), data_sets.sample_draws).reshape(1, -1, 1, *(1,) * scope.depth)
    used = data_sets.data[world, client[None, None, None], np.vectorize(int)(sample)]
    total = 0
    for atom in range(data_sets.atoms):
        number = client * data_sets.atoms + atom
        gradient = evaluator.on_federation(lambda f, x, c: f.gradient(x, c), point, number, scope, True, data_sets.each)
        total = total + gradient.data * evaluator.env.backend.array((used == atom).astype(int)[..., None])
    return Value(total, True)


def gaps(evaluator, node, scope, each):
    """The loss at the first point minus that at the second, for each client of ``each``."""
    first, second = (evaluator.vector(a, scope) for a in node.args)
    each = _of_terms(each) if evaluator.of_sizes else each
    for atom in range(each.clients):
        number = np.full((1,) * scope.depth, atom, dtype=int)
        values = [evaluator.on_federation(lambda f, x, c: f.value(x, c), v, number, scope, False, each).data
                  for v in (first, second)]
        yield abs(values[0]) + abs(values[1]) if evaluator.of_sizes else values[0] - values[1]


def worst_of_all_chance(evaluator, node, scope) -> Value:
    """The supremum over samples of the expectation over data sets, the replaced sample and all chance.

    The support of the clients' distributions contains all samples of an instance.
    """
    env = evaluator.env
    means = (mean_over(mean_over(gap, 2, env.sampling_weight), 1, env.noise_weight)
             for gap in gaps(evaluator, node, scope, env.data_sets.each))
    return Value(reduce(maximum, means))


def _worst_pair(absolute):
    def worst(evaluator, node, scope) -> Value:
        data_sets = evaluator.env.data_sets
        each = (abs(gap) if absolute else gap for gap in gaps(evaluator, node, scope, data_sets.each))
        best = largest(reduce(maximum, map(data_sets.mean_given, each)), 1)
        return Value(namespace(best).expand_dims(best, axis=1))

    return worst


#: operator -> function(evaluator, node, scope)
SAMPLE_WORDS = {
    samples.E_data: over_data, samples.E_client: of_client, samples.E_unused: unused, samples.F_pop: population,
    samples.loss_grad: sample_gradient, samples.worst_sample_gap: worst_of_all_chance,
    samples.worst_pair_gap: _worst_pair(absolute=False), samples.worst_mean_gap: _worst_pair(absolute=True),
    samples.worst_mean_signed_gap: _worst_pair(absolute=False),
}
