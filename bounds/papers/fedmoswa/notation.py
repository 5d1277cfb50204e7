"""The letters of the FedSWA and FedMoSWA paper for the names in code, and the units of these names."""

from __future__ import annotations

from bounds.language.letters import Letter

__all__ = ["LETTERS", "UNITS"]

LETTERS: dict[str, Letter] = {
    # sizes
    "clients": Letter("m", "number of clients"),
    "participants": Letter("s", "clients drawn per round"),
    "local_steps": Letter("K", "local steps per round"),
    "rounds": Letter("T", "rounds"),
    "iterations": Letter("KT", "local iterations in all, rounds times local steps"),
    "samples": Letter("n", "samples per client"),
    # problem
    "L": Letter(r"\beta", "smoothness"),
    "L_client": Letter(r"\beta_{<0>}", "smoothness of client k", "k"),
    "L_objective": Letter(r"\beta_F", "smoothness of the objective"),
    "mu": Letter(r"\mu", "strong convexity"),
    "mu_client": Letter(r"\mu_{<0>}", "strong convexity of client k", "k"),
    "G_lip": Letter("L", "Lipschitz constant of every sample's loss"),
    "G_lip_sq": Letter("L^2", "square of the Lipschitz constant of every sample's loss"),
    "sigma": Letter(r"\sigma", "root of the bound on the variance of stochastic gradients"),
    "sigma_sq": Letter(r"\sigma^2", "bound on the variance of stochastic gradients"),
    "sigma_sq_client": Letter(r"\sigma_{<0>}^2", "variance of client k's stochastic gradients", "k"),
    "sigma_g": Letter(r"\sigma_g", "heterogeneity of the gradients, first moment"),
    "sigma_g_2": Letter(r"\sigma_{g,2}", "heterogeneity of the gradients, root of the second moment"),
    "sigma_g_client": Letter(r"\sigma_{g,<0>}", "heterogeneity of client k's gradient", "k"),
    "F_star": Letter("F^*", "minimum of the objective"),
    "F0_gap": Letter(r"\Delta_0", "gap of the objective at the start"),
    "x_star": Letter(r"\theta^*", "minimiser of the objective"),
    # hyper-parameters
    "eta": Letter(r"\eta_l", "initial local rate of every round"),
    "eta_l": Letter(r"\eta_{l,<0>}", "initial local rate of the round of iteration t", "t"),
    "eta_eff": Letter(r"\tilde\eta", "effective step of Appendix G, K eta_l alpha"),
    "eta_g": Letter(r"\alpha", "server step"),
    "gamma": Letter(r"\gamma", "momentum of the server's variate"),
    "rho_decay": Letter(r"\rho", "ratio of the rates at the end and at the start of a round"),
    "rho_sam": Letter(r"\rho_{\mathrm{sam}}", "radius of FedSAM"),
    "beta": Letter("b", "momentum of MoFedSAM"),
    "b": Letter("b", "factor of Lemmas E.1 and F.1"),
    "c": Letter("c", "factor of Lemmas E.4, F.4 and I.1"),
    "c_tilde": Letter(r"\tilde c", "factor of Theorem E.6"),
    "c_bar": Letter(r"\bar c", "factor of Theorem I.3"),
    "C": Letter("A", "constant that the print hides"),
    # run
    "x_round": Letter(r"\theta^{<0>}", "server's model before round r", "r"),
    "x_local": Letter(r"\theta_{<1>}^{<0>}", "model of client k from which iteration t starts", "tk"),
    "x_before": Letter(r"v_{<1>}^{<0>}", "model of client k at time t before any aggregation", "tk"),
    "g": Letter(r"g_{<1>}^{<0>}", "stochastic gradient of client k at iteration t", "tk"),
    "sampled": Letter(r"\mathbf{1}_{<1>\in S_{<0>}}", "whether client k takes part in round r", "rk"),
    "client_variate": Letter(r"c_{<1>}^{<0>}", "control variate of client k before round r", "rk"),
    "server_variate": Letter(r"\mathbf{m}^{<0>}", "the server's control variate before round r", "r"),
    "largest_gradient": Letter(r"g_{\max}", "largest expected gradient norm at the server's models of a run"),
    # coupled runs
    "twin_x_round": Letter(r"\theta'_{<0>}", "server's model of the coupled run before round r", "r"),
    "twin_x_local": Letter(r"\theta'_{<1>,<0>}", "local model of the coupled run", "tk"),
    "twin_x_before": Letter(r"v'_{<1>,<0>}", "local model of the coupled run before aggregation", "tk"),
    "twin_g": Letter(r"g'_{<1>,<0>}", "stochastic gradient of the coupled run", "tk"),
    "replaced": Letter(r"J_{<1>}^{<0>}", "whether the replaced sample is used by client k at iteration t", "tk"),
    "used_sample": Letter(r"\xi_{<1>}^{<0>}", "number of the sample that client k uses at iteration t", "tk"),
    "stability": Letter(r"\epsilon", "uniform stability"),
    # numbers, vectors and sequences of the steps
    "p1": Letter("x", "any point"),
    "p2": Letter("y", "any point"),
    "p3": Letter("z", "any point"),
    "shift": Letter("u", "any change of a point"),
    "v1": Letter("c_i", "any variate of a client"),
    "v2": Letter("w", "any variate of the server"),
    "variates": Letter("c_{<0>}", "any variates of the clients", "k"),
    "vectors": Letter("v_{<0>}", "any vectors", "i"),
    "terms": Letter(r"\tau", "number of vectors"),
    "chance": Letter("p_{<0>}", "probability of an outcome", "k"),
    "outcome": Letter("X_{<0>,<1>}", "value of the i-th random vector in an outcome", "ki"),
    "change": Letter("X_{<0>}", "change of the server's model in an outcome", "k"),
    "outcomes": Letter("O", "number of outcomes"),
    "factor": Letter(r"\lambda", "any positive number; the paper's a or b"),
    "power": Letter("a", "exponent between 1/2 and 1"),
    "d": Letter("d_{<0>}", "any sequence of numbers", "i"),
    "length": Letter("H", "number of entries of the sequence, R + 2"),
    "step": Letter(r"\eta", "constant step size"),
    "largest_step": Letter(r"\eta_{\max}", "largest step size"),
    "drop": Letter("c", "coefficient of the step size, Lemma G.5"),
    "first": Letter("c_1", "coefficient of the step size, Lemma G.6"),
    "second": Letter("c_2", "coefficient of its square, Lemma G.6"),
    "rates": Letter(r"\eta_{<0>}", "local rates of a round", "i"),
    "last_rate": Letter(r"\eta_{\mathrm{end}}", "the rate eta_K"),
    "excess": Letter("e_{<0>}", "how far a rate or a length is below its limit", "i"),
    "last_excess": Letter(r"e_{\mathrm{end}}", "how far the rate eta_K is below its limit"),
    "lengths": Letter(r"\tilde\eta_{<0>}", "lengths of the rounds, sums of their local rates", "i"),
    "Phi": Letter(r"\Phi_{<0>}", "gradient, heterogeneity and noise of a round", "i"),
    "largest_Phi": Letter(r"\Phi_{\max}", "the largest of these"),
    "gap": Letter("f", "expected gap before the round"),
    "lag": Letter(r"\mathcal{C}", "control lag of the clients before the round"),
    "server_gap": Letter(r"\mathcal{D}", "control lag of the server before the round"),
}

#: powers of the loss's and of the parameter's unit, of names besides the language's own
UNITS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(
        ("gamma", "rho_decay", "beta", "b", "c", "c_tilde", "c_bar", "C", "factor", "power", "chance", "excess",
         "last_excess", "terms", "outcomes", "length"), (0, 0)),
    **dict.fromkeys(("stability", "gap"), (1, 0)),
    **dict.fromkeys(("p1", "p2", "p3", "shift", "vectors", "change"), (0, 1)),
    **dict.fromkeys(
        ("client_variate", "server_variate", "largest_gradient", "largest_Phi", "Phi", "v1", "v2", "variates", "outcome"),
        (1, -1)),
    **dict.fromkeys(("G_lip_sq", "drop", "first", "lag", "server_gap"), (2, -2)),
    **dict.fromkeys(("eta", "eta_eff", "step", "largest_step", "rates", "last_rate", "lengths"), (-1, 2)),
    "d": (0, 2), "second": (3, -4),
}
