"""Runs a batch of instances on every data set and on its neighbours, and binds the names of both runs."""

from dataclasses import replace
from functools import cache, partial
from math import prod

from synthetic.numbers.arrays import largest, maximum, namespace
from verify.claims.needs import needs_lipschitz, uses_gradients
from verify.evaluation.environment import Environment, NamedArray
from verify.evaluation.sample_operators import SAMPLE_WORDS
from verify.instances.sample_federations import negated, with_federations
from verify.measure.constants import distance_of_clients, largest_slope, mean_distance, root_mean_square_distance

__all__ = ["simulate_coupled"]


def simulate_coupled(binder) -> Environment:
    """Bind every name of a claim about samples on a batch of instances; ``binder`` has the claim, shape and leaves.

    Constants hold for the samples' losses, for the clients' distributions and for every data set. Gradients of F are those
    of the training loss, and in the environment ``also`` those of the population risk: papers write F for both, and a
    verdict must hold for either.
    """
    claim, shape, env = binder.claim, binder.shape, binder.env
    fixed = claim.procedure.data_sets == "any"
    data_sets, runs = with_federations(shape, binder.params, env.backend, fixed)
    env.words, env.data_sets, env.federation = SAMPLE_WORDS, data_sets, runs.select(slice(0, runs.instances // 2))
    env.noise_weight, env.sampling_weight = data_sets.weights(env.backend)
    _bind_constants(binder, claim.names)
    for name, (array, indices) in data_sets.indicators().items():
        data = env.backend.array(array)
        env.bound[name] = NamedArray(data.reshape(1, data.shape[0], 1, *data.shape[1:]), indices)
    binder.bind_variables()
    binder.resolve()
    binder.bind_steps()
    binder.resolve()
    _bind_runs(binder, runs)
    if uses_gradients(claim):
        other = replace(env, bound=env.bound.copy(), sizes=dict(env.sizes), gradients=data_sets.law, constants={})
        replace(binder, env=other, settled=[]).resolve()
        env.also = other
    binder.resolve()
    return env


def _bind_constants(binder, names):
    """Bind the tightest constants that hold for every sample's loss, for the distributions and for every data set. Infinite
    or irrational ones raise ArithmeticError in exact arithmetic."""
    env = binder.env
    law, each, training = env.data_sets.law, env.data_sets.each, env.federation
    rows, clients = law.weights.shape
    one = law.weights * 0 + 1

    def of_atoms(values):
        return values.reshape(rows, clients, -1)

    binder.bind("client_weight", law.weights, 1)
    binder.bind("priority", one, 1)
    binder.bind("L_client", largest(of_atoms(each.smoothness().value), -1), 1)
    binder.bind("mu_client", -largest(-of_atoms(each.convexity().value), -1), 1)
    if needs_lipschitz(binder.claim):
        binder.bind("G_lip", largest_slope(each))
    if "H_loss" in names:
        binder.bind("H_loss", largest(-negated(each).F_star_client, -1))
    for name, measure in _OF_LAW_AND_DATA.items():
        if name in names and name not in binder.claim.constants:
            of_law, of_data = measure(law), measure(training)
            of_data = largest(of_data.reshape(rows, -1, *of_data.shape[1:]), 1)
            of_both = maximum(of_law, of_data)
            binder.bind(name, of_both, of_both.ndim - 1)


_OF_LAW_AND_DATA = {
    "sigma_sq_client": lambda federation: federation.variance + 0 * federation.weights,
    "sigma_g_client": distance_of_clients, "sigma_g": mean_distance, "sigma_g_2": root_mean_square_distance,
}


def _bind_runs(binder, federation):
    """Both runs of every world in one batch: instances nested as run, row, world."""
    env, data_sets, rows = binder.env, binder.env.data_sets, binder.rows
    drawn, paths = data_sets.sample_draws, len(data_sets.paths)
    arrays = binder.run(binder.claim.procedure, federation.repeat(drawn * paths), data_sets.draws(rows, env.backend),
                        data_sets.count * drawn * paths, binder.parameter("start_offset"), twice=True)
    for name, make in arrays.items():
        pair = cache(partial(_pair, make, (2, rows, data_sets.count * drawn, paths)))
        env.bound.later(name, lambda pair=pair: pair()[0])
        env.bound.later(f"twin_{name}", lambda pair=pair: pair()[1])


def _pair(make, shape) -> list[NamedArray]:
    """An array of both runs."""
    array, indices, vector = make()
    array = namespace(array).broadcast_to(array, (prod(shape), *array.shape[1:])).reshape(*shape, *array.shape[1:])
    return [NamedArray(run, indices, vector) for run in array]
