"""Methods of the stand-alone checker whose server keeps momentum or moments of the mean change, or a look-ahead."""

from verify.checker.intervals import Vector, each, extreme, quotient, root, zero
from verify.checker.methods.averaging import plain
from verify.checker.operators import exact


def fedavgm(run):
    """fedmoswa 8: heavy-ball momentum on the server."""
    x, u = run.start, run.first("server_momentum", run.zero)
    while True:
        yield {"x_round": x, "server_momentum": u}
        u = u * run.number("beta1") + (run.aggregate(run.train(x, plain), x) - x)
        x = x + u * run.number("eta_g")


def fedacg(run):
    """fedmoswa 8 and fedluar 8: clients start from the look-ahead z, to which they are pulled."""
    x, u, rho = run.start, run.zero, run.number("rho_prox")
    while True:
        yield {"x_round": x, "server_momentum": u}
        ahead = u * run.number("lam")
        z = run.record["x_broadcast"][-1] = x + ahead
        u = ahead + (run.aggregate(run.train(z, lambda k, y, g, step: g + (y - z) * rho), z) - z)
        x = x + u


# adaptive steps -----------------------------------------------------------------------------------------------------------
def first_moment(run):
    """v before the first round: a number for every coordinate, a vector, or eps^2."""
    start = run.argument("v_init")
    start = run.number("eps") ** 2 if start == "eps^2" else exact(start)
    return start if isinstance(start, Vector) else Vector(start for _ in run.zero)


def square(d):
    return each(lambda a: a**2, d)


def sign(number):
    return 0 if zero(number) else 1 if number > 0 else -1


def fedopt(renewal):
    """fedluar 8 and fadamgc 3.8: x <- x + eta_g m / (sqrt(v) + eps) without bias correction, 0/0 = 0. ``renewal(run)`` is
    the rule of v."""
    def method(run):
        x, m, v = run.start, run.zero, first_moment(run)
        renewed, beta, eps = renewal(run), run.number("beta1"), run.number("eps")
        while True:
            yield {"x_round": x, "server_moment1": m, "server_moment2": v}
            d = run.aggregate(run.train(x, plain), x) - x
            m, v = m * beta + d * (1 - beta), each(renewed, v, square(d))
            x = x + each(lambda a, b: quotient(a, root(b) + eps), m, v) * run.number("eta_g")

    return method


def adagrad(run):
    return lambda v, dd: v + dd


def adam(run):
    beta = run.number("beta2")
    return lambda v, dd: v * beta + dd * (1 - beta)


def yogi(run):
    beta = run.number("beta2")
    return lambda v, dd: v - dd * (1 - beta) * sign(v - dd)


def fedams(run):
    """fadamgc 3.9: the largest v so far divides."""
    x, m, v, top = run.start, run.zero, first_moment(run), run.zero
    renewed, beta, eps = adam(run), run.number("beta1"), run.number("eps")
    at_least = run.option("option", "fedams", "fedamsgrad") == "fedams"
    while True:
        yield {"x_round": x, "server_moment1": m, "server_moment2": v, "server_moment2_max": top}
        d = run.aggregate(run.train(x, plain), x) - x
        m, v = m * beta + d * (1 - beta), each(renewed, v, square(d))
        top = each(lambda a, b: extreme([a, b, eps] if at_least else [a, b]), top, v)
        added = 0 if at_least else eps
        x = x + each(lambda a, b: quotient(a, root(b) + added), m, top) * run.number("eta_g")


# unequal numbers of local steps -------------------------------------------------------------------------------------------
def fednova(run):
    """Wang et al. 2020: changes per length of the client's path are averaged, times the mean length. The length is how far
    the client's local steps would carry it along a constant gradient of one."""
    x, rho, keep = run.start, run.number("rho_prox"), 1 - run.number("beta")
    counts = run.array("client_steps") or [run.local_steps for _ in run.clients]
    if len(counts) != len(run.clients) or any(not 1 <= n <= run.local_steps or n.denominator != 1 for n in counts):
        raise ValueError(f"client_steps are whole numbers from 1 to {run.local_steps}, one for each client")
    while True:
        yield {"x_round": x}
        momentum = [run.zero for _ in run.clients]

        def direction(k, y, g, step):
            if step >= counts[k]:
                return run.zero
            momentum[k] = momentum[k] * keep + g + (y - x) * rho
            return momentum[k]

        ends, lengths = run.train(x, direction), [length(run.steps()[: int(n)], keep, rho) for n in counts]
        change = run.mean([(ends[k] - x) / lengths[k] for k in run.clients]) * (run.mean(lengths) / (run.total() or 1))
        x = run.towards(x, run.next_model(x, change))


def length(sizes, keep, rho):
    """The way of a client along a constant gradient of one, in steps of these sizes."""
    way, momentum = 0, 0
    for size in sizes:
        momentum = momentum * keep + 1 - way * rho
        way = way + size * momentum
    return way


MOMENTS = ("server_moment1", "server_moment2")

#: name -> the method, and the names of its states
METHODS = {
    "fedavgm": (fedavgm, ("server_momentum",)),
    "fedacg": (fedacg, ("server_momentum",)),
    "fedadagrad": (fedopt(adagrad), MOMENTS),
    "fedadam": (fedopt(adam), MOMENTS),
    "fedyogi": (fedopt(yogi), MOMENTS),
    "fedams": (fedams, (*MOMENTS, "server_moment2_max")),
    "fednova": (fednova, ()),
}
