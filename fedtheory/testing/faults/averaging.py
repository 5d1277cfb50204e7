"""Faults of sampling, local steps and the average: FedAvg."""

from itertools import count

from fedtheory.testing.faults.planting import Fault, Plant, change, edit, together
from synthetic.numbers.arrays import to_numpy
from synthetic.numbers.draws import Draws

__all__ = ["FAULTS"]


def _average(changed) -> Plant:
    """Plants ``changed(models, weight, context)`` in place of the weighted mean of (runs, participants, dim)."""
    return change("aggregate", lambda self, original, upload, context: (
        changed(upload.model, context.weight[..., None], context), {}))


def _weighted(models, weight, context=None):
    return (weight * models).sum(1) / weight.sum(1)


def _loss(context):
    """The clients' losses at the broadcast model, (runs, participants, 1)."""
    return context.rows(context.federation.value(context.federation.all_clients(context.x)))[..., None]


def _change_model(where: str, changed) -> Plant:
    """Plants ``changed(x)`` in place of the model ``x`` that a function returns."""
    def function(self, original, *arguments):
        found = original(*arguments)
        return found._replace(x=changed(found.x))

    return change(where, function)


def _if_sampled(plant: Plant) -> Plant:
    return lambda algorithm: plant(algorithm) if hasattr(algorithm.selection.sampling, "participants") else algorithm


def with_own_models(self, original, federation, x, draws=None):
    state = original(federation, x, draws)
    return state._replace(clients=state.clients | {"model": federation.all_clients(x)})


def one_stream(self, original, local, gradient, context):
    """Every run takes the first run's samples."""
    seeds, backend = to_numpy(context.draws.seeds), context.draws.backend
    draws = Draws(0 * seeds + seeds[0], backend)
    return original(local, lambda point: context._replace(draws=draws).gradient(point), context)


def in_place(self, original, upload, context):
    after, state = original(upload, context), context.state
    if state.x.dtype != object:
        state.x[...] = after.x
    return after._replace(x=state.x)


def hidden_counter(algorithm):
    """The step size shrinks with a counter that no state holds."""
    shrunk = "x=context.x + (x - context.x) / (1 + next(counter) % 7),"
    return edit("server_step", "x=x,", shrunk, counter=count(1))(algorithm)


STEP, GRADIENT_DESCENT = "self.step_size(context) * direction", "eta_g=1.0, one client, no noise: gradient descent"
FAULTS = (
    Fault("clients weigh the same whatever their data", "fedavg", "SMILELab-FL/FedLab#305",
          _average(lambda models, weight, context: _weighted(models, (weight != 0) + 0 * weight)), ("split client",)),
    Fault("models are averaged by weights that sum to one on average only", "fedavg", "general",
          _average(lambda models, weight, context: context.weighted_sum(models)),
          ("translation", "common optimum, sampled", "no step, no move")),
    Fault("the weights of unequal clients are divided by the sum of those drawn", "fedavg", "general",
          _average(_weighted), ("unbiased average",)),
    Fault("the sum over drawn clients is divided by the number of all", "fedavg", "ssg-research/WAFFLE#6",
          _average(lambda models, weight, context: context.weighted_sum(models) * (1.0 * (weight != 0)).sum(1)
                   / context.federation.clients), ("common optimum",)),
    Fault("the old model stays in the sum of the new ones", "fedavg", "cisco-open/flame#95",
          _average(lambda models, weight, context: context.x + context.weighted_sum(models)),
          ("common optimum", "no step, no move")),
    Fault("clients that were not drawn are averaged in with their old models", "fedavg", "omarfoq/FedEM#3",
          _average(lambda models, weight, context: context.x + context.over_all(models - context.x[:, None, :])),
          ("eta_g=1.0, one loss: gradient descent",)),
    Fault("the first client counts twice", "fedavg", "OpenMined/PySyft#3828",
          _average(lambda models, weight, context: (
              context.weighted_sum(models) + weight[:, 0] * models[:, 0]) / (1 + weight[:, 0])),
          ("client order", "split client", "everyone twice")),
    Fault("the last client's model becomes everyone's", "fedavg", "OpenMined/PySyft#3613",
          _average(lambda models, weight, context: models[:, -1] + 0 * context.x),
          ("client order", "weight zero", "free clients that never count")),
    Fault("clients count in proportion to their losses", "fedavg", "general",
          _average(lambda models, weight, context: _weighted(models, weight * _loss(context))), ("loss offset",)),
    Fault("messages are counted for clients that were not drawn", "fedavg", "MMorafah/FLIS#8",
          change("floats", lambda self, original, context, upload: tuple(
              0 * costs + context.federation.dim for costs in original(context, upload))),
          ("who sits out costs nothing", "declared costs")),
    Fault("messages are counted by who happens to be simulated", "fedavg", "general",
          edit("floats", "return down,", "return down + upload.model.shape[1] * trains,"),
          ("communication totals", "declared costs")),
    Fault("a weight of zero does not stop a not-a-number", "fedavg", "general",
          _average(lambda models, weight, context: (weight * models).sum(1)), ("who is not drawn has no influence",)),
    Fault("all clients train one shared model object", "fedavg", "alibaba/FederatedScope#664",
          edit("client_step", STEP, f"({STEP}).sum(1)[:, None]"),
          ("own data only", "identical clients", "only participants are computed")),
    Fault("each client starts from the one before", "fedavg", "litian96/FedProx#36",
          edit("client_step", STEP, f"({STEP} if context.step else ({STEP}).cumsum(1))"),
          ("client order", "identical clients")),
    Fault("the last local step is lost", "fedavg", "general",
          edit("client_step", STEP, f"(context.step < self.local_steps - 1 or self.local_steps == 1) * {STEP}"),
          (GRADIENT_DESCENT,)),
    Fault("all local gradients are taken at the broadcast model", "fedavg", "general",
          edit("client_step", "oracle.gradient(local, gradient, context)",
               "(gradient(context.x[:, None, :] + 0 * local.x), local)"), (GRADIENT_DESCENT,)),
    Fault("clients never take over the new global model", "fedavg", "epfml/disco#222",
          together(edit("client_models", "federation.all_clients(x)", 'state.clients["model"]'),
                   change("init", with_own_models), edit("client_final", "kept |= ", 'kept |= {"model": local.x} | ')),
          ("eta_g=1.0, all clients, one local step, no noise: gradient descent",)),
    Fault("the local step size decays within each round", "fedavg", "FedML-AI/FedNLP#5",
          change("step_size", lambda self, original, context: original(context) / (1 + context.step)), (GRADIENT_DESCENT,)),
    Fault("the same clients are drawn in every round", "fedavg", "FedML-AI/FedML#611",
          _if_sampled(together(edit("selection.possible_participants", "round // self.sampling.held", "0"),
                               edit("selection.sampling.shares", "round // self.held", "0"))), ("number of participants",)),
    Fault("one client is drawn whatever number is asked for", "fedavg", "SMILELab-FL/FedLab#320",
          _if_sampled(change("selection.sampling.participants", 1)), ("number of participants", "sampling everybody")),
    Fault("a random state outside the run's own seed", "fedavg", "flwrlabs/flower#1845",
          edit("client_step", "x=local.x", "x=local.x + 1e-3 * context.federation.backend.array("
               "np.random.default_rng().normal(size=tuple(local.x.shape)))"), ("determinism", "seeds", "run and loop")),
    Fault("all runs share the first one's samples", "fedavg", "general", change("client_step", one_stream),
          ("one seed per run", "batch", "instances", "one step size per run")),
    Fault("statistics of the whole batch of runs enter each run", "fedavg", "general",
          _change_model("client_step", lambda x: x - 1e-3 * x.mean(0)), ("batch", "divergence")),
    Fault("the aggregation overwrites the state that it was given", "fedavg", "OpenMined/PySyft#3613",
          change("server_step", in_place), ("purity",)),
    Fault("the average comes back in double precision", "fedavg", "secretflow/secretflow#1056",
          _change_model("server_step", lambda x: x.double() if hasattr(x, "double") else x), ("dtype and device",)),
    Fault("a floating-point constant enters exact arithmetic", "fedavg", "general",
          _change_model("server_step", lambda x: 1.0 * x), ("exact fractions",)),
    Fault("the average comes back as a NumPy array", "fedavg", "OpenMined/PySyft#4595",
          _change_model("server_step", to_numpy), ("dtype and device", "NumPy and torch")),
    Fault("a counter outside the state", "fedavg", "fedbiomed/fedbiomed#169", hidden_counter, ("resume", "run and loop")),
)
