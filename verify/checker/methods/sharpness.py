"""Methods of the stand-alone checker with sharpness-aware gradients, beside FedSAM and its relatives."""

from fractions import Fraction

from verify.checker.intervals import along, each, norm, zero


def fedasam(run):
    """fedmoswa 8: gradients at y + rho_sam T^2 g / |T g| with T = diag(|y| + nu); and 3.6, in cycles of rounds."""
    x, radius, nu, after = run.start, run.number("rho_sam"), run.number("nu"), run.option("swa_start")
    cycle, ratio, mean, count = int(run.number("swa_cycle")), run.number("swa_ratio"), run.start, 1

    def ascended(k, y, g, step):
        T = each(lambda a: abs(a) + nu, y)
        scaled = each(lambda a, b: a * b, T, g)
        size = norm(scaled)
        there = y if zero(size) else y + each(lambda a, b: a * b, T, scaled) * (radius / size)
        return run.gradient(k, there, step=step)

    while True:
        yield {"x_round": x} | ({} if after is None else {"server_mean_model": mean})
        since = -1 if after is None else run.round - after
        if since == 0:
            mean = x
        slower = 1
        if since >= 0 and cycle > 1:
            slower = 1 - (1 - ratio) * Fraction(since % cycle + 1, cycle)
        x = run.towards(x, run.aggregate(run.train(x, ascended, [size * slower for size in run.steps()]), x))
        if since >= 0 and (since + 1) % cycle == 0:
            mean, count = (mean * count + x) / (count + 1), count + 1
        elif since < 0:
            mean = x


def fedlesam(run):
    """fedmoswa 8: the ascent step of a round leads to where client k received the model of its last participation."""
    x, old, before, radius = run.start, [run.start for _ in run.clients], [0 for _ in run.clients], run.number("rho_sam")
    while True:
        yield {"x_round": x, "client_last_received": old}
        ascent = [along(old[k] - x, radius) if before[k] else run.zero for k in run.clients]
        ends = run.train(x, lambda k, y, g, step: run.gradient(k, y + ascent[k], step=step))
        old, before = run.of_drawn([x for _ in old], old), run.of_drawn([1 for _ in old], before)
        x = run.towards(x, run.aggregate(ends, x))


def fedspeed(run):
    """afedpd 8 and fedmoswa 8, with the dual -h_k: gradients mixed with those after an ascent step of fixed ratio."""
    x, lam, rho, alpha = run.start, [run.zero for _ in run.clients], run.number("rho_prox"), run.number("alpha")
    while True:
        yield {"x_round": x, "client_dual": lam}

        def direction(k, y, g, step):
            mixed = g * (1 - alpha) + run.gradient(k, y + g * run.number("rho_sam"), step=step) * alpha
            return mixed + lam[k] + (y - x) * rho

        ends = run.train(x, direction)
        new = [lam[k] + (ends[k] - x) * rho for k in run.clients]
        lam, x = run.of_drawn(new, lam), run.aggregate([ends[k] + new[k] / rho for k in run.clients], x)


def fedsmoo(run):
    """fedmoswa 8: FedDyn, with perturbations s_k that duals mu_k tie to the server's s."""
    x, s, server, rho, radius = run.start, run.zero, run.zero, run.number("rho_prox"), run.number("rho_sam")
    mu = lam = [run.zero for _ in run.clients]
    of_duals, next_one = run.option("sent", "mu", "s_hat") == "mu", run.option("order", "next", "printed") == "next"
    while True:
        yield {"x_round": x, "client_dual": lam, "client_perturbation_dual": mu, "server_dual": server,
               "server_perturbation": s}
        now, last = [*mu], [run.zero for _ in run.clients]

        def direction(k, y, g, step):
            last[k] = along(g - now[k] - s, radius)
            now[k] = now[k] + last[k] - s
            return run.gradient(k, y + last[k], step=step) + lam[k] + (y - x) * rho

        ends = run.train(x, direction)
        s, mu = along(run.mean(now if of_duals else last), radius), run.of_drawn(now, mu)
        old, lam = lam, run.of_drawn([lam[k] + (ends[k] - x) * rho for k in run.clients], lam)
        before, server = server, server + run.over_all([lam[k] - old[k] for k in run.clients])
        x = run.aggregate(ends, x) + (server if next_one else before) / rho


def afedpdsam(run):
    """afedpd 3.5: A-FedPD with gradients at y + rho_sam g / (|g| + sam_eps)."""
    run.option("output", "bar", "server")
    x, bar, lam, rho = run.start, run.start, [run.zero for _ in run.clients], run.number("rho_prox")
    radius, added = run.number("rho_sam"), run.number("sam_eps")
    while True:
        yield {"x_round": x, "server_x_bar": bar, "server_duals": lam}

        def direction(k, y, g, step):
            there = y + (g if zero(norm(g)) else g * (radius / (norm(g) + added)))
            return run.gradient(k, there, step=step) + lam[k] + (y - x) * rho

        ends = run.train(x, direction)
        bar = run.aggregate(ends, x)
        lam = [lam[k] + ((ends[k] if k in run.drawn else bar) - x) * rho for k in run.clients]
        x = bar + run.over_all(lam) / rho


#: name -> the method, and the names of its states
METHODS = {
    "fedasam": (fedasam, ("server_mean_model",)),
    "fedlesam": (fedlesam, ("client_last_received",)),
    "fedspeed": (fedspeed, ("client_dual",)),
    "fedsmoo": (fedsmoo, ("client_dual", "client_perturbation_dual", "server_dual", "server_perturbation")),
    "afedpdsam": (afedpdsam, ("server_x_bar", "server_duals")),
}
