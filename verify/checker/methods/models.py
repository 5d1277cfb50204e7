"""Methods of the stand-alone checker in which a model is more than its parameters: its representations, or its factors.

The representation of a client's only sample is the model itself, the scores of a linear model on the feature 1.
"""

from verify.checker.intervals import along, dot, exp, norm, zero
from verify.checker.methods.averaging import fedavg
from verify.checker.operators import require


def fedpara(run):
    """FedAvg on clients with factors (:mod:`verify.checker.factors`)."""
    require(run.federation.factored, "fedpara trains factors of a model, which these clients do not have")
    yield from fedavg(run)


def contrast(z, z_global, z_previous, temperature):
    """The gradient in z of -log(e_global / (e_global + e_previous)), e = exp(cosine(z, .) / temperature)."""
    size = norm(z)
    if zero(size):
        return z
    own, apart = z / size, along(z_previous, 1) - along(z_global, 1)
    difference = dot(own, apart)  # of the cosines
    e = exp(difference / temperature)
    return (apart - own * difference) * (e / (1 + e) / temperature / size)


def moon(run):
    """FedAvg with mu_con times the contrastive loss between the local, the global and the client's last model."""
    x, last, mu, temperature = run.start, [run.start for _ in run.clients], run.number("mu_con"), run.number("temperature")
    while True:
        yield {"x_round": x, "last_local_model": last}
        ends = run.train(x, lambda k, y, g, step: g + contrast(y, x, last[k], temperature) * mu)
        last = run.of_drawn(ends, last)
        x = run.towards(x, run.aggregate(ends, x))


#: name -> the method, and the names of its states
METHODS = {"fedpara": (fedpara, ()), "moon": (moon, ("last_local_model",))}
