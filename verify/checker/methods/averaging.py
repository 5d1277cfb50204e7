"""Methods of the stand-alone checker: averages of local steps, control variates, sharpness-aware gradients.

Every method is a generator that reads like its pseudocode: it yields the state before a round and is sent the clients drawn.
"""

from fractions import Fraction

from verify.checker.intervals import along
from verify.checker.operators import require


def plain(k, y, g, step):
    """The direction of a plain local step."""
    return g


def fedavg(run):
    """FedAvg; who takes part, and FedALIGN's free clients (fedalign 3), are the selection's."""
    x = run.start
    while True:
        yield {"x_round": x}
        x = run.towards(x, run.aggregate(run.train(x, plain), x))


def rates(run):
    """The local step sizes of a round (fedmoswa 3.1), from the first one's row of step sizes."""
    K = run.local_steps
    if run.option("schedule", "cyclic-linear", "geometric-h1") == "geometric-h1":
        run.option("rho_decay")
        return run.scaled_steps(lambda j, eta: eta * Fraction(K - 2, K - 1) ** int(j))
    return run.scaled_steps(lambda j, eta: eta * (1 - (1 - run.number("rho_decay")) * (j / K)))


def fedswa(run):
    """fedmoswa 3.2."""
    x = run.start
    while True:
        yield {"x_round": x}
        ends = run.train(x, plain, rates(run))
        x = run.towards(x, run.aggregate(ends, x))


def variates(run, start):
    """The clients' variates and the server's before the first round (fedmoswa 3.4 e)."""
    c, m = [run.zero for _ in run.clients], run.zero
    given = run.initial(*{"free": VARIATES, "free-mean": VARIATES[:1]}.get(start, ()))
    for name in {"client_variate", "server_variate"} & run.how["options"].keys():
        run.option(name, None)
    if start.startswith("gradient"):
        c = [run.gradient(k, run.start, "start") for k in run.clients]
    c, m = given.get("client_variate", c), given.get("server_variate", m)
    return c, run.over_all(c) if start in ("gradient", "free-mean") else m


VARIATES = ("client_variate", "server_variate")
STARTS = ("zero", "gradient", "gradient-clients-only", "free", "free-mean")


def fedmoswa(run):
    """fedmoswa 3.3, with its variants MoSWA-fresh and MoSWA-allc."""
    if run.option("variant", "canonical", "all-clients", "fresh") == "fresh":
        yield from fedmoswa_fresh(run)
    everyone, x = run.option("variant", "canonical", "all-clients") == "all-clients", run.start
    c, m = (run.first(name, one) for name, one in zip(VARIATES, variates(run, run.option("start", *STARTS)), strict=True))
    gamma = run.number("gamma")
    run.option("batch")
    while True:
        yield {"x_round": x, "client_variate": c, "server_variate": m}
        ends = run.train(x, lambda k, y, g, step: g - c[k] + m, rates(run))
        if run.option("option", "I", "II") == "I":
            new = [run.gradient(k, x, "extra") for k in run.clients]
        else:
            new = [c[k] - m + (x - ends[k]) / run.added(rates(run)) for k in run.clients]
        c = run.of_drawn(new, c)
        m = m + (run.over_all(c) - m if everyone else run.mean([one - m for one in new])) * gamma
        x = run.towards(x, run.aggregate(ends, x))


def fedmoswa_fresh(run):
    """fedmoswa 3.3, MoSWA-fresh: every client's variate is its gradient at the model of the round."""
    x, same = run.start, run.option("batch", "independent", "same") == "same"
    m = run.first("server_variate", variates(run, run.option("start", "zero", "free"))[1])
    run.option("option")
    while True:
        yield {"x_round": x, "server_variate": m}
        c = [run.gradient(k, x, "extra") for k in run.clients]
        m = m * (1 - run.number("gamma")) + run.mean(c) * run.number("gamma")
        ends = run.train(
            x, lambda k, y, g, step: g - (run.gradient(k, x, step=step) if same else c[k]) + m, rates(run))
        x = run.towards(x, run.aggregate(ends, x))


def scaffold(run):
    """fadamgc 3.5."""
    x, sign = run.start, 1 if run.option("sign", "standard", "printed-eq3") == "standard" else -1
    start = run.option("start", *STARTS)
    c, m = variates(run, start)
    c = run.first("client_variate", c)  # the mean of the clients' ever after where it is so at first
    m = run.over_all(c) if start in ("zero", "gradient", "free-mean") else run.first("server_variate", m)
    option = run.option("option", "I", "II", "average-gradient")
    while True:
        yield {"x_round": x, "client_variate": c, "server_variate": m}
        total = [run.zero for _ in run.clients]

        def direction(k, y, g, step):
            total[k] = total[k] + g
            return g + (m - c[k]) * sign

        ends = run.train(x, direction)
        c, m = renewed_variates(run, option, c, m, x, ends, total)
        x = run.towards(x, run.aggregate(ends, x))


def renewed_variates(run, option, c, m, x, ends, total=None):
    """SCAFFOLD's variates after a round from x to ``ends``; ``total`` is the sum of a client's gradients."""
    if option == "I":
        new = [run.gradient(k, x, "extra") for k in run.clients]
    elif option == "II":
        new = [c[k] - m + (x - ends[k]) / run.added(run.steps()) for k in run.clients]
    else:
        new = [g / run.local_steps for g in total]
    after = run.of_drawn(new, c)
    return after, m + run.over_all([after[k] - c[k] for k in run.clients])


def scaffnew(run):
    """Mishchenko et al. 2022, Algorithm 2: a coin for all decides whether models are averaged; shifts h_k cancel."""
    h, p = [run.zero for _ in run.clients], run.number("communication")
    h = run.initial(*VARIATES[: run.option("start", "zero", "free") == "free"]).get("client_variate", h)
    run.option("client_variate", None)
    require(0 < p <= 1 and run.how["sampling"] == "full", "all clients take part, and communication is a probability")
    require(not any(run.over_all(h)), "the mean of the shifts is zero")
    models = [run.start for _ in run.clients]
    while True:
        yield {"x_round": run.over_all(models), "client_model": models, "client_variate": h}
        models = run.train(models, lambda k, y, g, step: g - h[k])
        if run.draw("communication", [(p, True), (1 - p, False)]):
            mean, scale = run.over_all(models), p / sum(run.steps())
            h = [h[k] + (mean - models[k]) * scale for k in run.clients]
            models = [mean for _ in run.clients]


def uphill(run, k, y, g, step):
    """The gradient, on the same samples, at y + rho_sam * g/|g|."""
    return run.gradient(k, y + along(g, run.number("rho_sam")), step=step)


def fedsam(run):
    """fedmoswa 8."""
    x = run.start
    while True:
        yield {"x_round": x}
        ends = run.train(x, lambda k, y, g, step: uphill(run, k, y, g, step))
        x = run.towards(x, run.aggregate(ends, x))


def mofedsam(run):
    """fedmoswa 8, with the mean direction M of the last round."""
    x, M, beta = run.start, run.zero, run.number("beta")
    while True:
        yield {"x_round": x, "server_momentum": M}
        ends = run.train(x, lambda k, y, g, step: uphill(run, k, y, g, step) * beta + M * (1 - beta))
        change = run.aggregate(ends, x) - x
        M = change / -sum(run.steps())
        x = x + change * run.number("eta_g")


#: name -> the method, and the names of its states
METHODS = {
    "fedavg": (fedavg, ()),
    "fedswa": (fedswa, ()),
    "fedmoswa": (fedmoswa, ("client_variate", "server_variate")),
    "scaffold": (scaffold, ("client_variate", "server_variate")),
    "scaffnew": (scaffnew, ("client_model", "client_variate")),
    "fedsam": (fedsam, ()),
    "mofedsam": (mofedsam, ("server_momentum",)),
}
