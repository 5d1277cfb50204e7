"""Methods of the stand-alone checker that differ from FedAvg and FedProx in who takes part, and local training alone.

A claim's procedure says itself who takes part: how priority clients are sampled, and with which thresholds, at which models
and how strictly the losses of free clients are compared. That replaces the selection of the method, whose options on it
therefore make no difference to a run. So these methods are FedAvg and FedProx.
"""

from verify.checker.methods.averaging import fedavg, plain

#: options of methods on who takes part
OF_SELECTION = {"epsilon", "warmup", "strict", "indicator", "free", "fraction", "normalisation"}


def fedprox(run):
    """FedAvg with a pull to the model of the round."""
    x, rho = run.start, run.number("rho_prox")
    while True:
        yield {"x_round": x}
        x = run.aggregate(run.train(x, lambda k, y, g, step: g + (y - x) * rho), x)


def average(run):
    """FedAvg without a server step."""
    x = run.start
    while True:
        yield {"x_round": x}
        x = run.aggregate(run.train(x, plain), x)


def selecting(method):
    """``method`` with the selection of the claim's procedure."""
    def selected(run):
        for name in OF_SELECTION & run.how["options"].keys():
            run.option(name)
        return method(run)

    return selected


def local_only(run):
    """fedalign 3.2: every client trains alone, drawn or not; x is the mean of the models, which nobody receives."""
    x, own = run.start, [run.start for _ in run.clients]
    while True:
        yield {"x_round": x, "client_model": own}
        own = run.train(own, plain)
        x = run.aggregate(own, x)


#: name -> the method, and the names of its states
METHODS = {
    "fedavg-priority": (fedavg, ()),
    "fedavg-all": (selecting(average), ()),
    "fedalign": (selecting(average), ()),
    "fedalign-fraction": (selecting(average), ()),
    "fedprox": (fedprox, ()),
    "fedprox-priority": (fedprox, ()),
    "fedprox-all": (selecting(fedprox), ()),
    "fedalign-fedprox": (selecting(fedprox), ()),
    "local-only": (local_only, ("client_model",)),
}
