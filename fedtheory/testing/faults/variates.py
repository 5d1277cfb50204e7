"""Faults of control variates: SCAFFOLD and FedMoSWA."""

from __future__ import annotations

from fedtheory.testing.faults.planting import Fault, spoiled, spoiled_part
from synthetic.numbers.arrays import namespace

__all__ = ["FAULTS"]


def _spoiled(**functions):
    return spoiled_part("correction", **functions)


def whole_variate_sent(self, original, local, moment):
    kept = original(local, moment)[0]
    return kept, {"variate_change": kept["variate"]}


def divided_by(length):
    """Option II with ``length(moment)`` in place of the sum of the local steps."""
    def renewed(self, original, local, moment):
        return (moment.x[:, None, :] - local.x) / length(moment) - self.ahead(local, moment)

    return _spoiled(renewed=renewed)


def own_variate_missing(self, original, local, moment):
    return original(local, moment) - local.own["variate"]


def server_variate_missing(self, original, local, moment):
    return original(local, moment) + moment.server("variate")


def absent_reset(self, original, upload, moment):
    """Clients that were not drawn lose their control variates."""
    after = original(upload, moment)
    return after._replace(clients={"variate": 0 * moment.state.clients["variate"]})


def one_for_all_runs(self, original, federation, x, draws):
    """The server keeps one array, whatever the number of runs."""
    return {name: array[:1] for name, array in original(federation, x, draws).items()}


def sign_turned(self, original, local, moment):
    return -original(local, moment)


def difference_turned(self, original, local, moment):
    ahead = self.ahead(local, moment)
    return -(original(local, moment) + ahead) - ahead


def one_for_all(self, original, local, moment):
    """All stored variates are one buffer, which the last client has written."""
    return namespace(local.x).broadcast_to(original(local, moment)[:, -1:], tuple(local.x.shape))


def multiplied_model(self, original, upload, moment):
    average, server = original(upload, moment)
    return 1.5 * average, server


def never_corrected(self, original, g, local, moment):
    return original(g, local, moment)[0] - self.shift(local, moment), original(g, local, moment)[1]


def only_server_variate(self, original, g, local, moment):
    g, local = original(g, local, moment)
    return g + local.own["variate"], local


def random_start(self, original, federation, x, draws):
    start = original(federation, x, draws)["variate"]
    numbers = draws.client_numbers(federation.clients)[..., None]
    coordinates = draws.client_numbers(federation.dim)[None]
    random = federation.backend.array(draws.normal(99, 0, numbers, coordinates, ndim=3))
    return {"variate": start + 0.1 * random}


def over_the_drawn(self, original, average, upload, moment):
    change = moment.average(upload.others["variate_change"])
    return average, {"variate": moment.state.server["variate"] + change}


def forgotten(self, original, local, moment):
    return {}, original(local, moment)[1]


def in_wrong_rows(self, original, local, moment):
    kept, others = original(local, moment)
    return {name: namespace(array).flip(array, axis=1) for name, array in kept.items()}, others


def all_overwritten(self, original, average, upload, moment):
    """The server also writes the mean into its own copy twice: c moves before and after."""
    average, server = original(average, upload, moment)
    change = server["variate"] - moment.state.server["variate"]
    return average, {"variate": server["variate"] + change}


def at_the_end(self, original, local, moment):
    return moment.extra_gradient(local.x)


def stale_samples(self, original, local, moment):
    return moment.gradient(moment.x[:, None, :] + 0 * local.x, 0)


def in_place(self, original, local, moment):
    kept, others = original(local, moment)
    array = local.own["variate"]
    if str(array.dtype) != "object":
        array[...] = kept["variate"]
    return {"variate": array}, others


def not_reset(self, original, average, upload, moment):
    average, server = original(average, upload, moment)
    return average, {"variate": server["variate"] + 0.5 * moment.state.server["variate"]}


C_MEAN, TERMS, OPTIMUM = "law: c is the mean of the c_k", "linear terms", "optimum"
ONE_STEP = "law: after one local step c_k is the gradient at x"
FAULTS = (
    Fault("the whole control variate is sent, not its change", "scaffold", "TL-System/plato#382",
          _spoiled(finish=whole_variate_sent), (C_MEAN,)),
    Fault("1/local_steps in place of 1/(local_steps eta_l)", "scaffold", "TL-System/plato#386",
          divided_by(lambda moment: moment.algorithm.local_steps), ("units of the loss", ONE_STEP)),
    Fault("the steps of one epoch are counted for those of all", "scaffold", "TsingZ0/PFLlib#160",
          divided_by(lambda moment: moment.algorithm.step_size(moment)), ("gets to the optimum",)),
    Fault("samples are counted for steps", "scaffold", "VectorInstitute/FL4Health#64",
          divided_by(lambda moment: 4 * moment.algorithm.round_length(moment)), (ONE_STEP,)),
    Fault("c_k is missing in its own renewal", "scaffold", "TL-System/plato#386", _spoiled(renewed=own_variate_missing),
          (TERMS, OPTIMUM)),
    Fault("c is missing in the renewal of c_k", "scaffold", "ki-ljl/Scaffold-Federated-Learning#1",
          _spoiled(renewed=server_variate_missing), (ONE_STEP,)),
    Fault("the difference of models in the renewal has the wrong sign", "scaffold", "docs/peers.md, fault 1 (pfl)",
          _spoiled(renewed=difference_turned), ("gets to the optimum", ONE_STEP)),
    Fault("the correction is added with the wrong sign", "scaffold", "fedbiomed/fedbiomed#734", _spoiled(shift=sign_turned),
          (OPTIMUM, TERMS)),
    Fault("the correction never reaches the gradient", "scaffold", "general",
          _spoiled(correct=never_corrected), (OPTIMUM, "gets to the optimum")),
    Fault("c is added, c_k not subtracted", "scaffold", "general", _spoiled(correct=only_server_variate),
          ("gets to the optimum", OPTIMUM, "one client, no noise: fedavg")),
    Fault("control variates start at random", "scaffold", "Xtra-Computing/NIID-Bench#8", _spoiled(client_state=random_start),
          ("common optimum", C_MEAN, "seeds")),
    Fault("the change of c is divided by the clients drawn", "scaffold", "Xtra-Computing/NIID-Bench#12",
          _spoiled(aggregate=over_the_drawn), (C_MEAN,)),
    Fault("clients forget their control variates", "scaffold", "flwrlabs/flower#1910", _spoiled(finish=forgotten),
          (C_MEAN, "no dead state")),
    Fault("control variates land at other clients", "scaffold", "FedML-AI/FedML#45", _spoiled(finish=in_wrong_rows),
          (TERMS, "client order")),
    Fault("clients that were not drawn lose their control variates", "scaffold", "flwrlabs/flower#2216",
          spoiled(server_step=absent_reset), ("who is not drawn keeps", C_MEAN)),
    Fault("one server variate is kept for all runs", "scaffold", "general", _spoiled(server_state=one_for_all_runs),
          ("shapes",)),
    Fault("the change of c is applied twice", "scaffold", "general", _spoiled(aggregate=all_overwritten), (C_MEAN,)),
    Fault("the old c stays in the sum of the changes", "scaffold", "general", _spoiled(aggregate=not_reset), (C_MEAN,)),
    Fault("the new control variate overwrites the old state", "scaffold", "general", _spoiled(finish=in_place),
          ("purity", C_MEAN)),
    Fault("option I takes its gradient at the client's last model", "scaffold", "fedmoswa 3.4 c, a reading of the print",
          _spoiled(renewed=at_the_end), ("law: c_k is the gradient at the model of the round",), {"option": "I"}),
    Fault("option I's gradient has the wrong sign", "scaffold", "docs/peers.md, fault 2 (pfl)",
          _spoiled(renewed=sign_turned), ("law: c_k is the gradient at the model of the round",), {"option": "I"}),
    Fault("all clients share one stored control variate", "scaffold", "docs/peers.md, fault 3 (pfl)",
          _spoiled(renewed=one_for_all), ("law: c_k is the gradient at the model of the round",), {"option": "I"}),
    Fault("the server step multiplies the model, not its change", "scaffold", "docs/peers.md, fault 7 (Fluke)",
          spoiled(aggregate=multiplied_model), ("common optimum",)),
    Fault("option I uses the first round's samples for ever", "scaffold", "general", _spoiled(renewed=stale_samples),
          ("fresh samples",), {"option": "I"}),
    Fault("option I's gradient is not counted", "scaffold", "general", _spoiled(extra_evaluations=0),
          ("gradients counted",), {"option": "I"}),
    Fault("the control variate sent up is not counted", "scaffold", "MMorafah/FLIS#8", _spoiled(up=0),
          ("everything sent is counted",)),
    Fault("the control variate sent down is not counted", "scaffold", "MMorafah/FLIS#8", _spoiled(down=0),
          ("everything received is counted",)),
    Fault("the printed sign of (3): g + c_k - c", "scaffold", "fadamgc 3.5, eq. (3) as printed", _spoiled(shift=sign_turned),
          (OPTIMUM,), {"option": "average-gradient"}),
    Fault("the whole variate is sent, not its change from m", "fedmoswa", "fedmoswa 3.4 d, a reading of the print",
          _spoiled(finish=whole_variate_sent), ("descends",)),
)
