"""Primal-dual methods of the stand-alone checker: the local problem is F_k(v) + <lam_k, v - x> + rho_prox/2 |v - x|^2."""

from verify.checker.intervals import each, extreme


def local(run, x, lam):
    """Every client's answer to its local problem, by gradient steps or exactly."""
    rho = run.number("rho_prox")
    run.option("epsilon", None)
    if run.option("solver", "gradient", "exact") == "exact":
        return run.solve(x, lam, rho)
    return run.train(x, lambda k, y, g, step: g + lam[k] + (y - x) * rho)


def fedpd(run):
    """afedpd 3.1."""
    return fedadmm_as_printed(run, lambda x: x)


def fedadmm(run):
    """afedpd 3.2."""
    l1, l2, rho = (run.number(name) for name in ("l1", "l2", "rho_prox"))
    twice_w = 1 / rho if run.option("weight", "printed", "consistent") == "printed" else rho

    def minimiser(x):
        """argmin over v of l2/2 |v|^2 + l1 |v|_1 + w |v - x|^2: its slope l2 v + l1 sign(v) + 2 w (v - x) changes sign."""
        right, left = ((x * twice_w - l1 * side) / (twice_w + l2) for side in (1, -1))
        return extreme([right, 0]) + extreme([left, 0], largest=False)

    if run.option("variant", "eq6", "stale") == "eq6":
        return fedadmm_as_printed(run, lambda x: each(minimiser, x) if (l1, l2) != (0, 0) else x)
    if (l1, l2) != (0, 0):
        raise ValueError("the stale variant of fedadmm has no g")
    return fedadmm_stale(run)


def fedadmm_as_printed(run, server):
    """``server`` maps the mean of what is sent to the model."""
    x, rho = run.start, run.number("rho_prox")
    lam = run.first("client_dual", [run.zero for _ in run.clients])
    while True:
        yield {"x_round": x, "client_dual": lam}
        ends = local(run, x, lam)
        new = [lam[k] + (ends[k] - x) * rho for k in run.clients]
        lam = run.of_drawn(new, lam)
        x = server(run.aggregate([ends[k] + new[k] / rho for k in run.clients], x))


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
    x, rho = run.start, run.number("rho_prox")
    lam = run.first("client_dual", [run.zero for _ in run.clients])
    server, next_one = run.over_all(lam), run.option("order", "next", "printed") == "next"
    while True:
        yield {"x_round": x, "client_dual": lam, "server_dual": server}
        ends = local(run, x, lam)
        old, lam = lam, run.of_drawn([lam[k] + (ends[k] - x) * rho for k in run.clients], lam)
        before, server = server, server + run.over_all([lam[k] - old[k] for k in run.clients])
        x = run.aggregate(ends, x) + (server if next_one else before) / rho


def afedpd(run):
    """afedpd 3.4, Algorithm 1: duals of clients that were not drawn move by the average model."""
    run.option("output", "bar", "server")
    bar, rho = run.start, run.number("rho_prox")
    lam = run.first("server_duals", [run.zero for _ in run.clients])
    x = bar + run.over_all(lam) / rho  # the start; in every round the same of what is kept
    while True:
        yield {"x_round": x, "server_x_bar": bar, "server_duals": lam}
        ends = local(run, x, lam)
        bar = run.aggregate(ends, x)
        last = run.of_drawn(ends, [bar for _ in run.clients])
        lam = [lam[k] + (last[k] - x) * rho for k in run.clients]
        x = bar + run.over_all(lam) / rho


#: name -> the method, and the names of its states
METHODS = {
    "fedpd": (fedpd, ("client_dual",)),
    "fedadmm": (fedadmm, ("client_dual", "client_primal_dual")),
    "feddyn": (feddyn, ("client_dual", "server_dual")),
    "afedpd": (afedpd, ("server_x_bar", "server_duals")),
}
