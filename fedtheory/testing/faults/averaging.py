"""Faults of sampling, local steps and the average: FedAvg."""

from __future__ import annotations

from copy import copy

import numpy as np

from fedtheory.testing.faults.planting import Fault, spoiled, spoiled_part
from synthetic.numbers.arrays import namespace, to_numpy

__all__ = ["FAULTS"]


def _average(change):
    """Plants ``change(models, weight, moment)`` in place of the weighted mean of (runs, participants, dim)."""
    def aggregate(self, original, upload, moment):
        return change(upload.model, moment.weight[..., None], moment), {}

    return spoiled(aggregate=aggregate)


def plain_mean(models, weight, moment):
    xp = namespace(models)
    taking = 1.0 * (weight != 0)
    return xp.sum(taking * models, axis=1) / xp.sum(taking + 0 * weight, axis=1)


def over_everybody(models, weight, moment):
    share = namespace(models).sum(1.0 * (weight != 0), axis=1) / moment.federation.clients
    return moment.average(models) * share


def initial_sum(models, weight, moment):
    return moment.x + moment.average(models)


def stale_models_too(models, weight, moment):
    return moment.x + moment.over_all(models - moment.x[:, None, :])


def first_twice(models, weight, moment):
    total = moment.average(models) + weight[:, 0] * models[:, 0]
    return total / (1 + weight[:, 0])


def last_only(models, weight, moment):
    return models[:, -1] + 0 * moment.x


def weight_times_nan(models, weight, moment):
    return namespace(models).sum(weight * models, axis=1)


# local steps ---------------------------------------------------------------------------------------------------------------
def one_model_for_all(self, original, local, gradient, moment):
    """Every client's step moves the one model object that all of them hold."""
    moved = original(local, gradient, moment).x - local.x
    return local._replace(x=local.x + namespace(moved).sum(moved, axis=1, keepdims=True))


def in_turn(self, original, local, gradient, moment):
    """In the first step, client k starts where client k-1 has got to."""
    after = original(local, gradient, moment)
    if moment.step:
        return after
    moved = after.x - local.x
    return after._replace(x=after.x + namespace(moved).cumsum(moved, axis=1) - moved)


def last_step_lost(self, original, local, gradient, moment):
    after = original(local, gradient, moment)
    return local if moment.step == self.local_steps - 1 and self.local_steps > 1 else after


def gradient_at_the_start(self, original, local, gradient, moment):
    g = gradient(moment.x[:, None, :] + 0 * local.x)
    return local._replace(x=local.x - self.step_size(moment) * g)


def never_receives(self, original, state, x, federation):
    return state.clients["model"]


def with_own_models(self, original, federation, x, draws=None):
    state = original(federation, x, draws)
    return state._replace(clients=state.clients | {"model": federation.all_clients(x)})


def keeps_own_model(self, original, local, moment):
    upload, kept = original(local, moment)
    return upload, kept | {"model": local.x}


def shorter_and_shorter(self, original, moment):
    return original(moment) / (1 + moment.step)


# sampling ------------------------------------------------------------------------------------------------------------------
def same_round(self, original, federation, draws, *when):
    return original(federation, draws, *(0 for _ in when))


def frozen_sampling(algorithm):
    """Whom the first round draws, every round draws."""
    wrong = spoiled_part("selection", chosen=same_round)(algorithm)
    sampling = algorithm.selection.sampling
    if not hasattr(sampling, "participants"):
        return algorithm

    class Frozen(type(sampling)):
        def shares(self, federation, draws, round):
            return super().shares(federation, draws, 0)

    object.__setattr__(wrong.selection, "sampling", Frozen(sampling.participants))
    return wrong


def one_drawn(algorithm):
    """One client is drawn, whatever number is asked for."""
    sampling = algorithm.selection.sampling
    if not hasattr(sampling, "participants"):
        return algorithm
    wrong = spoiled_part("selection")(algorithm)
    object.__setattr__(wrong.selection, "sampling", type(sampling)(1))
    return wrong


def global_random_state(self, original, local, gradient, moment):
    after = original(local, gradient, moment)
    noise = moment.federation.backend.array(np.random.default_rng().normal(size=tuple(after.x.shape)))
    return after._replace(x=after.x + 1e-3 * noise)


def one_stream(self, original, local, gradient, moment):
    """Every run takes the first run's samples."""
    draws = copy(moment.draws)
    draws.seeds = 0 * draws.seeds + draws.seeds[0]
    return original(local, lambda point: moment._replace(draws=draws).gradient(point), moment)


def mean_over_the_batch(self, original, local, gradient, moment):
    after = original(local, gradient, moment)
    xp = namespace(after.x)
    return after._replace(x=after.x - 1e-3 * xp.mean(after.x, axis=0, keepdims=True))


def weighted_by_loss(models, weight, moment):
    """Clients count in proportion to their losses at the broadcast model."""
    loss = moment.federation.value(moment.federation.all_clients(moment.x))
    by_loss = weight * moment.rows(loss)[..., None]
    xp = namespace(models)
    return xp.sum(by_loss * models, axis=1) / xp.sum(by_loss, axis=1)


def everyone_is_charged(self, original, moment, upload):
    return tuple(0 * costs + moment.federation.dim for costs in original(moment, upload))


def per_computed_client(self, original, moment, upload):
    down, up = original(moment, upload)
    return down + upload.model.shape[1] * self.trains(moment), up


# states --------------------------------------------------------------------------------------------------------------------
def in_place(self, original, upload, moment):
    after = original(upload, moment)
    state = moment.state
    if state.x.dtype != object:
        state.x[...] = after.x
    return after._replace(x=state.x)


def in_double(self, original, upload, moment):
    after = original(upload, moment)
    return after._replace(x=after.x.double() if hasattr(after.x, "double") else after.x)


def rounded_by_a_float(self, original, upload, moment):
    after = original(upload, moment)
    return after._replace(x=1.0 * after.x)


def on_numpy(self, original, upload, moment):
    after = original(upload, moment)
    return after._replace(x=to_numpy(after.x))


def hidden_counter(algorithm):
    """The step size shrinks with a counter that no state holds."""
    count = [0]

    def server_step(self, original, upload, moment):
        count[0] += 1
        after = original(upload, moment)
        return after._replace(x=moment.x + (after.x - moment.x) / (1 + count[0] % 7))

    return spoiled(server_step=server_step)(algorithm)


FAULTS = (
    Fault("clients weigh the same whatever their data", "fedavg", "SMILELab-FL/FedLab#305", _average(plain_mean),
          ("split client",)),
    Fault("the sum over drawn clients is divided by the number of all", "fedavg", "ssg-research/WAFFLE#6",
          _average(over_everybody), ("common optimum",)),
    Fault("the old model stays in the sum of the new ones", "fedavg", "cisco-open/flame#95", _average(initial_sum),
          ("common optimum", "no step, no move")),
    Fault("clients that were not drawn are averaged in with their old models", "fedavg", "omarfoq/FedEM#3",
          _average(stale_models_too), ("eta_g=1.0, one loss: gradient descent",)),
    Fault("the first client counts twice", "fedavg", "OpenMined/PySyft#3828", _average(first_twice),
          ("client order", "split client", "everyone twice")),
    Fault("the last client's model becomes everyone's", "fedavg", "OpenMined/PySyft#3613", _average(last_only),
          ("client order", "weight zero", "free clients that never count")),
    Fault("clients count in proportion to their losses", "fedavg", "general", _average(weighted_by_loss),
          ("loss offset",)),
    Fault("messages are counted for clients that were not drawn", "fedavg", "MMorafah/FLIS#8",
          spoiled(floats=everyone_is_charged), ("who sits out costs nothing", "declared costs")),
    Fault("messages are counted by who happens to be simulated", "fedavg", "general", spoiled(floats=per_computed_client),
          ("communication totals", "declared costs")),
    Fault("a weight of zero does not stop a not-a-number", "fedavg", "general", _average(weight_times_nan),
          ("who is not drawn has no influence",)),
    Fault("all clients train one shared model object", "fedavg", "alibaba/FederatedScope#664",
          spoiled(client_step=one_model_for_all),
          ("own data only", "identical clients", "only participants are computed")),
    Fault("each client starts from the one before", "fedavg", "litian96/FedProx#36", spoiled(client_step=in_turn),
          ("client order", "identical clients")),
    Fault("the last local step is lost", "fedavg", "general", spoiled(client_step=last_step_lost),
          ("eta_g=1.0, one client, no noise: gradient descent",)),
    Fault("all local gradients are taken at the broadcast model", "fedavg", "general",
          spoiled(client_step=gradient_at_the_start), ("eta_g=1.0, one client, no noise: gradient descent",)),
    Fault("clients never take over the new global model", "fedavg", "epfml/disco#222",
          spoiled(client_models=never_receives, init=with_own_models, client_final=keeps_own_model),
          ("eta_g=1.0, all clients, one local step, no noise: gradient descent",)),
    Fault("the local step size decays within each round", "fedavg", "FedML-AI/FedNLP#5",
          spoiled(step_size=shorter_and_shorter), ("eta_g=1.0, one client, no noise: gradient descent",)),
    Fault("the same clients are drawn in every round", "fedavg", "FedML-AI/FedML#611", frozen_sampling,
          ("number of participants",)),
    Fault("one client is drawn whatever number is asked for", "fedavg", "SMILELab-FL/FedLab#320", one_drawn,
          ("number of participants", "sampling everybody")),
    Fault("a random state outside the run's own seed", "fedavg", "flwrlabs/flower#1845",
          spoiled(client_step=global_random_state), ("determinism", "seeds", "run and loop")),
    Fault("all runs share the first one's samples", "fedavg", "general", spoiled(client_step=one_stream),
          ("one seed per run", "batch", "instances", "one step size per run")),
    Fault("statistics of the whole batch of runs enter each run", "fedavg", "general",
          spoiled(client_step=mean_over_the_batch), ("batch", "divergence")),
    Fault("the aggregation overwrites the state that it was given", "fedavg", "OpenMined/PySyft#3613",
          spoiled(server_step=in_place), ("purity",)),
    Fault("the average comes back in double precision", "fedavg", "secretflow/secretflow#1056",
          spoiled(server_step=in_double), ("dtype and device",)),
    Fault("a floating-point constant enters exact arithmetic", "fedavg", "general", spoiled(server_step=rounded_by_a_float),
          ("exact fractions",)),
    Fault("the average comes back as a NumPy array", "fedavg", "OpenMined/PySyft#4595", spoiled(server_step=on_numpy),
          ("dtype and device", "NumPy and torch")),
    Fault("a counter outside the state", "fedavg", "fedbiomed/fedbiomed#169", hidden_counter, ("resume", "run and loop")),
)
