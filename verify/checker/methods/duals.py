"""Primal-dual methods of the stand-alone checker: the local problem is F_k(v) + <lam_k, v - x> + rho_prox/2 |v - x|^2."""




def local(run, x, lam):
    """Every client's answer to its local problem, by gradient steps or exactly."""
    rho = run.number("rho_prox")
    if run.option("solver", "gradient", "exact") == "exact":
        return run.solve(x, lam, rho)
    return run.train(x, lambda k, y, g, step: g + lam[k] + (y - x) * rho)


def fedpd(run):
    """afedpd 3.1."""
    return fedadmm_as_printed(run)


def fedadmm(run):
    """afedpd 3.2 with g = 0."""
    stale = run.option("variant", "eq6", "stale") == "stale"
    return fedadmm_stale(run) if stale else fedadmm_as_printed(run)


def fedadmm_as_printed(run):
    x, lam, rho = run.start, [run.zero for _ in run.clients], run.number("rho_prox")
    while True:
        yield {"x_round": x, "client_dual": lam}
        ends = local(run, x, lam)
        new = [lam[k] + (ends[k] - x) * rho for k in run.clients]
        lam = run.of_drawn(new, lam)
        x = run.mean([ends[k] + new[k] / rho for k in run.clients])


def fedadmm_stale(run):
    """The server averages the last theta_k + lam_k / rho of all clients."""
    x, lam, rho = run.start, [run.zero for _ in run.clients], run.number("rho_prox")
    sent = [x for _ in run.clients]
    while True:
        yield {"x_round": x, "client_dual": lam, "client_primal_dual": sent}
        ends = local(run, x, lam)
        lam = run.of_drawn([lam[k] + (ends[k] - x) * rho for k in run.clients], lam)
        old, sent = sent, run.of_drawn([ends[k] + lam[k] / rho for k in run.clients], sent)
        x = x + run.over_all([sent[k] - old[k] for k in run.clients])


def feddyn(run):
    """afedpd 3.3."""
    x, lam, rho = run.start, [run.zero for _ in run.clients], run.number("rho_prox")
    server, next_one = run.zero, run.option("order", "next", "printed") == "next"
    while True:
        yield {"x_round": x, "client_dual": lam, "server_dual": server}
        ends = local(run, x, lam)
        old, lam = lam, run.of_drawn([lam[k] + (ends[k] - x) * rho for k in run.clients], lam)
        before, server = server, server + run.over_all([lam[k] - old[k] for k in run.clients])
        x = run.mean(ends) + (server if next_one else before) / rho


def afedpd(run):
    """afedpd 3.4, Algorithm 1: duals of clients that were not drawn move by the average model."""
    x, bar, lam, rho = run.start, run.start, [run.zero for _ in run.clients], run.number("rho_prox")
    while True:
        yield {"x_round": x, "server_x_bar": bar, "server_duals": lam}
        ends = local(run, x, lam)
        bar = run.mean(ends)
        lam = [lam[k] + ((ends[k] if k in run.drawn else bar) - x) * rho for k in run.clients]
        x = bar + run.over_all(lam) / rho


#: name -> the method, and the names of its states
METHODS = {
    "fedpd": (fedpd, ("client_dual",)),
    "fedadmm": (fedadmm, ("client_dual", "client_primal_dual")),
    "feddyn": (feddyn, ("client_dual", "server_dual")),
    "afedpd": (afedpd, ("server_x_bar", "server_duals")),
}
