"""Faults of optimisers on clients and server (sharpness-aware gradients, momentum, Adam), and of what is sent."""

from fedtheory.testing.faults.corrections import by_layer
from fedtheory.testing.faults.planting import Fault, Plant, change, edit, together
from synthetic.numbers.arrays import namespace

__all__ = ["FAULTS"]


def over_clients(v, radius):
    """``radius * v / |v|`` with the norm over all clients."""
    xp = namespace(v)
    return radius * v / (xp.sqrt(xp.sum(v**2, axis=(1, 2), keepdims=True)) + 1e-12)


def not_undone(self, original, local, gradient, context):
    """The step is taken from the perturbed model."""
    moved = []
    g, _ = original(local, lambda point: (moved.append(point), gradient(point))[1], context)
    return g, local._replace(x=moved[-1])


def on_clients_too(self, original, state):
    """The server's step is taken once more where the model is sent."""
    xp, m, v = namespace(state.x), state.server["server_moment1"], state.server["server_moment2"]
    return state.x + self.eta_g * m / (xp.sqrt(v) + self.eps + 1e-30)


def _kept_between_rounds(name: str) -> Plant:
    """A client's optimiser does not start its array ``name`` anew in every round."""
    return together(
        change("client.begin", lambda self, original, local, context: original(local, context).with_own(
            **{name: local.own[name]})),
        change("client.client_state", lambda self, original, federation, x, draws: original(federation, x, draws) | {
            name: 0 * federation.all_clients(x)}),
        change("client.finish", lambda self, original, local, context: original(local, context) | {name: local.own[name]}))


def _ascent(*fragments: str) -> Plant:
    return edit("oracle.gradient", *fragments, by_layer=by_layer, over_clients=over_clients)


RADIUS, DELTA = "context.algorithm.now(self.rho_sam, context)", "(average - context.x)"
ROOT, EPS = "namespace(v).sqrt(v)", "context.server_number(self.eps)"
ACT, LOSS, PARAMETER = "hyper-parameters act", "units of the loss", "units of the parameter"
ONE_ROUND, REPEAT = "v_init=0.0, one round: fedyogi", "law: recycled layers repeat"

FAULTS = (
    # sharpness
    Fault("the perturbation is not undone before the step", "fedsam", "CharlieDinh/pFedMe#9",
          change("oracle.gradient", not_undone), ("no step, no move",)),
    Fault("the perturbation is not normalised", "fedsam", "general",
          _ascent(f"along(gradient(local.x), {RADIUS})", f"{RADIUS} * gradient(local.x)"), (LOSS,)),
    Fault("the perturbation is normalised layer by layer", "fedsam", "google-research/sam#13",
          _ascent("along(", "by_layer(context, "), ("orthogonal maps",)),
    Fault("the perturbation is normalised over all clients", "fedsam", "general", _ascent("along(", "over_clients("),
          ("own data only", "identical clients")),
    Fault("the two gradients are on different samples", "fedsam", "general",
          _ascent("along(gradient(local.x)", "along(context.gradient(local.x, context.iteration + 1)"), ("fresh samples",)),
    Fault("the second gradient is computed and not used", "fedsam", "general", _ascent("+ along", "+ 0 * along"), (ACT,)),
    Fault("the radius is squared", "fedsam", "general", _ascent(RADIUS, f"{RADIUS} * {RADIUS}"), (PARAMETER,)),
    Fault("one of two gradients per step is counted", "fedsam", "general", change("oracle.evaluations", 1),
          ("gradients counted",)),
    # momentum
    Fault("server momentum is an average, not a sum", "fedavgm", "APPFL/APPFL#129",
          edit("server.step", f"+ {DELTA}", f"+ (1 - context.server_number(self.beta1)) * {DELTA}"), ("one round: fedavg",)),
    Fault("server momentum is computed and not used", "fedavgm", "flwrlabs/flower#893",
          edit("server.step", "(self.eta_g) * u", f"(self.eta_g) * {DELTA}"), (ACT,)),
    Fault("server momentum is lost between rounds", "fedavgm", "fedbiomed/fedbiomed#169",
          edit("server.step", '{"server_momentum": u}', "{}"), (ACT,)),
    Fault("the broadcast direction is not divided by the round's length", "fedcm", "woodenchild95/FL-Simulator#5",
          change("server.mean_direction", lambda self, original, average, context: context.x - average), (LOSS,)),
    Fault("alpha and 1 - alpha are swapped", "fedcm", "LINs-lab/FedBR#2",
          edit("client.direction", "beta * g + (1 - beta) *", "(1 - beta) * g + beta *"), ("beta=1.0: fedavg",)),
    Fault("local momentum is not reset between rounds", "fedavg-m", "alibaba/FederatedScope#450",
          _kept_between_rounds("velocity"), ("declared memory",), {"momentum": "heavy-ball"}),
    # Adam
    Fault("the change is taken for the momentum", "fedadam", "flwrlabs/flower#893",
          edit("server.step", "quotient(m,", f"quotient({DELTA},"), (ACT, ONE_ROUND)),
    Fault("the second moment is of the momentum, not of the change", "fedadam", "1xbq1/FedMLLM#4",
          edit("server.moments", "beta2 * v + (1 - beta2) * d**2", "beta2 * v + (1 - beta2) * m**2"), (ONE_ROUND,)),
    Fault("the root of the second moment is missing", "fedadam", "general", edit("server.step", ROOT, "v"), (PARAMETER,)),
    Fault("eps is added under the root", "fedadam", "general",
          edit("server.step", f"{ROOT} + {EPS}", f"namespace(v).sqrt(v + {EPS})"), (PARAMETER,)),
    Fault("the pseudo-gradient has the wrong sign", "fedadam", "FedML-AI/FedML#138",
          edit("server.step", "context.x + ", "context.x - "), ("descends",)),
    Fault("the server's step is taken by the clients too", "fedadam", "SymbioticLab/FedScale#245",
          change("server.broadcast", on_clients_too), ("beta1=0.0, beta2=1.0, v_init=1.0, eps=0.0: fedavg",)),
    Fault("Yogi's second moment moves the wrong way", "fedyogi", "flwrlabs/flower#885",
          edit("server.moments", "v - pull, xp.where(v < d**2, v + pull, v)", "v + pull, v - pull"),
          ("stays finite", "law: the second moment is not negative")),
    Fault("the largest second moment is forgotten", "fedams", "general",
          edit("server.step", '"server_moment2_max": top', '"server_moment2_max": v'),
          ("law: the largest second moment never falls",)),
    Fault("the first moment is not reset between rounds", "local-adam", "alibaba/FederatedScope#450",
          _kept_between_rounds("moment1"), ("declared memory",)),
    Fault("the second moment is lost between rounds", "local-adam", "fedbiomed/fedbiomed#169",
          change("client.finish", lambda self, original, local, context: {}), ("no dead state",)),
    Fault("the root of the local second moment is missing", "local-adam", "general",
          edit("client.direction", 'namespace(g).sqrt(used["moment2_max"])', 'used["moment2_max"] + 0.1'), (LOSS,)),
    Fault("corrected gradients are tracked, not the client's own", "fadamgc", "fadamgc 3.1",
          change("correction.renewed", lambda self, original, local, context: original(local, context) + self.shift(
              local, context)), ("linear terms",)),
    # what is sent
    Fault("recycled layers are counted as sent", "fedluar", "fedluar 3.3, axis comm",
          edit("upload.send", "sent), floats", "sent), 0 * floats + change.shape[-1]"), ("declared costs",)),
    Fault("recycled layers do not move", "fedluar", "fedluar 3.2, drop variant",
          edit("upload.receive", "again, change)", "change, change)"), (REPEAT,)),
    Fault("recycled layers move twice", "fedluar", "general",
          edit("upload.receive", "return applied,", "return 2 * applied - change,"),
          ("law: the model moves by the applied update",)),
    Fault("what the next round recycles lacks this round's recycled layers", "fedluar", "general",
          edit("upload.receive", '"applied_update": applied', '"applied_update": change'), (REPEAT,)),
    Fault("nothing is counted as sent", "fedluar", "AdamWei-boop/Federated-Learning-with-Model-Quantization#1",
          edit("upload.send", "sent), floats", "sent), 0 * floats"), ("declared costs",)),
    Fault("dropped coordinates count as zeros in the mean", "feddropoutavg", "fedluar 8",
          change("upload.combine", lambda self, original, sent, context: context.weighted_sum(sent)),
          ("law: what arrives moves as in FedAvg",)),
    Fault("the look-back coefficient is lost", "lbgm", "fedluar 8",
          edit("upload.send", "inner / xp.where(last > 0, last, 1) * back", "back"),
          ("law: what is used is a projection of the change",)),
)
