"""Methods of the stand-alone checker whose server sends the last round's mean direction, and relatives of SCAFFOLD."""

from verify.checker.intervals import Vector, each, extreme, quotient, root
from verify.checker.methods.averaging import STARTS, renewed_variates, uphill, variates


def fedcm(run):
    """afedpd 8: every local step mixes in M, the mean direction of the last round."""
    x, M, beta = run.start, run.first("server_momentum", run.zero), run.number("beta")
    while True:
        yield {"x_round": x, "server_momentum": M}
        change = run.aggregate(run.train(x, lambda k, y, g, step: g * beta + M * (1 - beta)), x) - x
        M = change / -sum(run.steps())
        x = x + change * run.number("eta_g")


def fedavg_m(run):
    """fadamgc 3.6: the server steps along M itself; or clients have a momentum of their own, anew in every round."""
    x, M, beta = run.start, run.zero, run.number("beta")
    own = run.option("momentum", "broadcast", "heavy-ball") == "heavy-ball"
    while True:
        yield {"x_round": x, "server_momentum": M}
        u = [run.zero for _ in run.clients]

        def direction(k, y, g, step):
            u[k] = u[k] * (1 - beta) + g
            return u[k] if own else g * beta + M * (1 - beta)

        M = (x - run.aggregate(run.train(x, direction), x)) / sum(run.steps())
        x = x - M * run.number("gamma")


def scaffold_m(run):
    """fadamgc 3.7: SCAFFOLD's corrected gradients, mixed with M as in FedAvg-M."""
    x, M, beta = run.start, run.zero, run.number("beta")
    c, m = variates(run, run.option("start", *STARTS[:3]))
    option = run.option("option", "I", "II", "average-gradient")
    while True:
        yield {"x_round": x, "client_variate": c, "server_variate": m, "server_momentum": M}
        total = [run.zero for _ in run.clients]

        def direction(k, y, g, step):
            total[k] = total[k] + g
            return (g - c[k] + m) * beta + M * (1 - beta)

        ends = run.train(x, direction)
        M = (x - run.aggregate(ends, x)) / sum(run.steps())
        c, m = renewed_variates(run, option, c, m, x, ends, total)
        x = x - M * run.number("gamma")


def fedgamma(run):
    """fedmoswa 8: SCAFFOLD, option II, with gradients after an ascent step."""
    x, (c, m) = run.start, variates(run, run.option("start", *STARTS[:3]))
    while True:
        yield {"x_round": x, "client_variate": c, "server_variate": m}
        ends = run.train(x, lambda k, y, g, step: uphill(run, k, y, g, step) - c[k] + m)
        c, m = renewed_variates(run, "II", c, m, x, ends)
        x = run.towards(x, run.aggregate(ends, x))


def fedmo(run):
    """fedmoswa 3.3, ablation: FedMoSWA with constant local rates, and the average is the model."""
    x, gamma, (c, m) = run.start, run.number("gamma"), variates(run, run.option("start", *STARTS[:3]))
    first = run.option("option", "I", "II") == "I"
    while True:
        yield {"x_round": x, "client_variate": c, "server_variate": m}
        ends = run.train(x, lambda k, y, g, step: g - c[k] + m)
        new = [run.gradient(k, x, "extra") if first else c[k] - m + (x - ends[k]) / sum(run.steps()) for k in run.clients]
        m = m + run.mean([one - m for one in new]) * gamma
        c, x = run.of_drawn(new, c), run.aggregate(ends, x)


def fedlada(run):
    """fadamgc 3.10: local AMSGrad, mixed with the mean direction of the last round."""
    x, last, alpha, start = run.start, run.zero, run.number("alpha"), run.number("eps") ** 2
    beta1, beta2 = run.number("beta1"), run.number("beta2")
    averaged = run.option("moments", "averaged", "local") == "averaged"
    v = Vector(start for _ in x)
    own = [v for _ in run.clients]
    while True:
        yield {"x_round": x, "server_last_direction": last} | (
            {"server_averaged_moment2": v} if averaged else {"client_moment2": own})
        m, now = [run.zero for _ in run.clients], [v for _ in run.clients] if averaged else [*own]
        top = [*now]

        def direction(k, y, g, step):
            m[k] = m[k] * beta1 + g * (1 - beta1)
            now[k] = each(lambda a, b: a * beta2 + b**2 * (1 - beta2), now[k], g)
            top[k] = each(lambda a, b: extreme([a, b]), top[k], now[k])
            return each(lambda a, b: quotient(a, root(b)), m[k], top[k]) * alpha + last * (1 - alpha)

        change = run.aggregate(run.train(x, direction), x) - x
        last, own = change / -sum(run.steps()), run.of_drawn(now, own)
        v = v + run.mean([one - v for one in top])
        x = x + change * run.number("eta_g")


VARIATES = ("client_variate", "server_variate")

#: name -> the method, and the names of its states
METHODS = {
    "fedcm": (fedcm, ("server_momentum",)),
    "fedavg-m": (fedavg_m, ("server_momentum",)),
    "scaffold-m": (scaffold_m, (*VARIATES, "server_momentum")),
    "fedgamma": (fedgamma, VARIATES),
    "fedmo": (fedmo, VARIATES),
    "fedlada": (fedlada, ("server_last_direction", "server_averaged_moment2", "client_moment2")),
}
