"""Slow NumPy references, client by client and step by step, written from the papers' formulas alone.

``g_i`` is the gradient of F_i, S the participants of a round, m the number of clients, x the broadcast model.

FedAvg (McMahan et al. 2017), with a server step::

    y <- y - eta_l g_i(y), K times from x;   x <- x + eta_g mean_S(y_i - x)

FedProx (Li et al. 2018): the same with ``g_i(y) + rho_prox (y - x)``.

SCAFFOLD (Karimireddy et al. 2020, Algorithm 1, option II)::

    y <- y - eta_l (g_i(y) - c_i + c), K times from x;   c_i+ = c_i - c + (x - y_i) / (K eta_l)
    x <- x + eta_g mean_S(y_i - x);   c <- c + 1/m sum_S (c_i+ - c_i);   c_i <- c_i+

FedDyn (Acar et al. 2021), whose exact local minimisation is replaced by K gradient steps::

    y <- y - eta_l (g_i(y) - h_i + alpha (y - x)), K times from x;   h_i <- h_i - alpha (y_i - x)
    h <- h - alpha/m sum_S (y_i - x);   x <- mean_S(y_i) - h / alpha

All control state starts at zero. ``order="before"`` lets FedDyn's last line use h from before its update.
"""

import numpy as np

__all__ = ["METHODS", "optimum", "run"]

METHODS = ("FedAvg", "FedProx", "SCAFFOLD", "FedDyn")


def optimum(curvature, center):
    """The minimiser of the mean of the F_i."""
    return np.linalg.solve(curvature.sum(0), np.einsum("mij,mj->i", curvature, center))


def run(method, curvature, center, start, rounds, local_steps, eta_l, participants=None, eta_g=1.0, rho_prox=0.0, alpha=1.0,
        option="II", order="after"):
    """The trajectory ``x`` (rounds + 1, d) and, where the method has them, the control states of every round.

    ``curvature`` (m, d, d), ``center`` (m, d), ``start`` (d,); ``participants`` is None or a list of clients for every
    round. SCAFFOLD adds ``client_variate`` (rounds + 1, m, d) and ``server_variate`` (rounds + 1, d), FedDyn
    ``client_dual`` h_i and ``server_dual`` h likewise.
    """
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}; known: {', '.join(METHODS)}")
    clients, dim = center.shape
    x, own, common = np.array(start, dtype=float), np.zeros((clients, dim)), np.zeros(dim)
    record = [(x.copy(), own.copy(), common.copy())]
    for t in range(rounds):
        chosen = range(clients) if participants is None else participants[t]
        before, ends, fresh = common.copy(), [], own.copy()
        for i in chosen:
            y = x.copy()
            for _ in range(local_steps):
                gradient = curvature[i] @ (y - center[i])
                if method == "FedProx":
                    gradient = gradient + rho_prox * (y - x)
                elif method == "SCAFFOLD":
                    gradient = gradient - own[i] + common
                elif method == "FedDyn":
                    gradient = gradient - own[i] + alpha * (y - x)
                y = y - eta_l * gradient
            if method == "SCAFFOLD":
                mean_gradient = own[i] - common + (x - y) / (local_steps * eta_l)
                fresh[i] = mean_gradient if option == "II" else curvature[i] @ (x - center[i])
            elif method == "FedDyn":
                fresh[i] = own[i] - alpha * (y - x)
            ends.append(y)
        mean = sum(ends) / len(ends)
        common = common + sum(fresh[i] - own[i] for i in chosen) / clients
        own = fresh
        if method == "FedDyn":
            x = mean - (common if order == "after" else before) / alpha
        else:
            x = x + eta_g * (mean - x)
        record.append((x.copy(), own.copy(), common.copy()))
    x, own, common = (np.array(column) for column in zip(*record, strict=True))
    kind = {"SCAFFOLD": "variate", "FedDyn": "dual"}.get(method)
    return {"x": x} if kind is None else {"x": x, f"client_{kind}": own, f"server_{kind}": common}
