"""The letters of FedLUAR for the names in code, and their units."""

from bounds.language.letters import Letter

__all__ = ["LETTERS", "UNITS"]

LETTERS: dict[str, Letter] = {
    # sizes
    "clients": Letter("m", "number of clients"),
    "participants": Letter("a", "active clients per round"),
    "local_steps": Letter(r"\tau", "local steps per round"),
    "rounds": Letter("T", "rounds"),
    "iterations": Letter(r"T\tau", "local iterations in all, rounds times local steps"),
    "layers": Letter(r"L_{\mathrm{l}}", "number of layers, L in the print"),
    "recycled": Letter(r"\delta", "layers recycled per round"),
    # problem
    "client_weight": Letter("w_{<0>}", "weight of client k, 1/m", "k"),
    "L": Letter(r"\mathcal{L}", "Lipschitz constant of all clients' gradients"),
    "L_client": Letter(r"\mathcal{L}_{<0>}", "the same for client k", "k"),
    "sigma_sq": Letter(r"\sigma_L^2", "bound on the variance of stochastic gradients"),
    "sigma_sq_client": Letter(r"\sigma_{L,<0>}^2", "variance of client k's stochastic gradients", "k"),
    "sigma_g_sq": Letter(r"\sigma_G^2", "bound on the squared deviation of the clients' gradients"),
    "sigma_g_max": Letter(r"\bar\sigma_G", "largest deviation of a client's gradient from the objective's, at any point"),
    # hyper-parameters
    "eta": Letter(r"\eta", "local step size"),
    "eta_l": Letter(r"\eta_{<0>}", "local step size at iteration t", "t"),
    "masks": Letter(r"\mathcal{M}_{<0>,<1>}", "the layers recycled in round r, where they are given", "rl"),
    "score_floor": Letter(r"s_{\min}", "least score of a layer"),
    "initial_update": Letter(r"\hat\Delta_{-1}", "what is recycled in round 0, where anything is"),
    # run
    "x_round": Letter(r"\mathbf{x}_{<0>}", "server's model before round r", "r"),
    "x_local": Letter(r"\mathbf{x}_{<0>}^{<1>}", "model of client k from which local iteration t starts", "tk"),
    "x_before": Letter(r"\mathbf{v}_{<0>}^{<1>}", "model of client k after t iterations, before any aggregation", "tk"),
    "g": Letter("g_{<0>}^{<1>}", "stochastic gradient of client k at iteration t", "tk"),
    "sampled": Letter(r"\mathbf{1}_{<1>\in\mathcal{A}_{<0>}}", "whether client k is active in round r", "rk"),
    "server_recycle_set": Letter(r"\mathbf{1}_{<1>\in\mathcal{R}_{<0>}}", "whether layer l is recycled in round r", "rl"),
    "server_age": Letter(r"K_{<0>,<1>}", "age of layer l's update after r rounds, k of round r - 1", "rl"),
    "server_score": Letter(r"S_{<0>,<1>}", "score of layer l after r rounds, s of round r - 1", "rl"),
    "server_applied_update": Letter(r"\hat U_{<0>}", "update applied by the r-th round, hat Delta of round r - 1", "r"),
    # measured
    "fresh": Letter("D_{<0>}", "averaged sum of a round's stochastic gradients", "r"),
    "fresh_active": Letter("D_{<0>}", "the same over the round's active clients", "r"),
    "true_mean": Letter(r"\bar G_{<0>}", "averaged sum of a round's gradients", "r"),
    "true_mean_active": Letter(r"\bar G_{<0>}", "the same over the round's active clients", "r"),
    "round_drift": Letter("v_{<0>}", "averaged squared distances of a round's local models to its start", "r"),
    "round_drift_active": Letter("v_{<0>}", "the same over the round's active clients", "r"),
    "recycle_noise": Letter("n_{<0>}", "what recycling adds to the round's update", "r"),
    "recycle_noise_active": Letter("n_{<0>}", "the same over the round's active clients", "r"),
    "last_fresh": Letter(r"\mathbf{1}_{r_{<0>,<2>}=<1>}", "whether layer l of round r was last fresh in round s", "rsl"),
    "shared_source": Letter(r"\mathbf{1}_{<0>-k_{<0>}=<1>}", "whether a recycled layer of round r is of round s", "rs"),
    "none_recycled": Letter(r"\mathbf{1}_{\mathcal{R}_{<0>}=\emptyset}", "whether round r recycles no layer", "r"),
    "kappa": Letter(r"\kappa", "share of the recycled layers in the gradient"),
    # numbers and vectors of the algebraic steps
    "alpha": Letter(r"\alpha", "any positive number"),
    "first": Letter(r"\mathbf{a}", "any vector"),
    "second": Letter(r"\mathbf{b}", "any vector"),
    "a": Letter("a_{<*>}", "any vectors", "kj"),
    "b": Letter("b_{<*>}", "a gradient's part in layer l", "l"),
    "mask": Letter(r"\mathbf{1}_{<0>}", "whether a layer is chosen", "l"),
    "s": Letter("s_{<*>}", "score of a layer", "l"),
    "W": Letter("W", "any number of at least 0"),
    "age": Letter("k", "age of a recycled update"),
    "bracket": Letter("B", "the bracket of (11), or any positive number"),
    "gradient_sq": Letter("g^2", "mean squared norm of the gradient at the start of the round"),
    "gradient_floor": Letter("g_0^2", "any positive number"),
    "gradients": Letter("G", "sum of the mean squared gradients over the run"),
    "drifts": Letter("V", "sum of the drifts over the run"),
    "decrease": Letter(r"F_{0T}", "F(x_0) - F(x_T)"),
    "fallen": Letter(r"F_{T0}", "F(x_T) - F(x_0)"),
    "length": Letter("S", "the number T, or eta T, or a power more, that is held fixed"),
    "excess": Letter("e", "by how much T grows faster than 1/eta, as a power"),
    "eta_other": Letter(r"\eta'", "another step size"),
    "C": Letter("C", "a constant that is not printed"),
}

_ONE, _PARAMETER, _GRADIENT, _GRADIENT_SQ = (0, 0), (0, 1), (1, -1), (2, -2)

#: powers of the loss's and of the parameter's unit, beyond the language's own names
UNITS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("recycled", "kappa", "masks", "mask", "score_floor", "server_recycle_set", "server_age",
                     "server_score", "last_fresh", "shared_source", "none_recycled", "alpha", "age", "excess", "s"),
                    _ONE),
    "eta": (-1, 2), "eta_other": (-1, 2),
    **dict.fromkeys(("server_applied_update", "initial_update"), _PARAMETER),
    **dict.fromkeys(("fresh", "fresh_active", "true_mean", "true_mean_active", "recycle_noise", "recycle_noise_active", "b"),
                    _GRADIENT),
    **dict.fromkeys(("gradient_floor", "gradient_sq", "gradients", "W"), _GRADIENT_SQ),
    **dict.fromkeys(("round_drift", "round_drift_active", "drifts", "bracket"), (0, 2)),
    **dict.fromkeys(("decrease", "fallen"), (1, 0)),
}
