"""The letters of FedALIGN, and of Li et al. 2020, for the names in code."""

from __future__ import annotations

from bounds.language.letters import Letter

__all__ = ["LETTERS", "ONE_AVERAGE"]

#: both averages, where no client is sampled
ONE_AVERAGE = Letter("w_{<0>}", "average at time t; the global model at communication", "t")

LETTERS: dict[str, Letter] = {
    # sizes
    "clients": Letter("N", "number of clients"),
    "participants": Letter("K", "priority clients drawn per round"),
    "local_steps": Letter("E", "local steps per round"),
    "iterations": Letter("T", "local iterations in all, rounds times local steps"),
    # problem
    "client_weight": Letter("p_{<0>}", "weight of client k; the priority clients' sum to one", "k"),
    "priority": Letter(r"\mathbf{1}_{<0>\in\mathcal{P}}", "1 for priority clients, 0 for the others", "k"),
    "L": Letter("L", "smoothness of all clients"),
    "mu": Letter(r"\mu", "strong convexity of all clients"),
    "L_client": Letter("L_{<0>}", "smoothness of client k", "k"),
    "mu_client": Letter(r"\mu_{<0>}", "strong convexity of client k", "k"),
    "sigma_sq": Letter(r"\sigma^2", "bound on the variance of stochastic gradients"),
    "sigma_sq_client": Letter(r"\sigma_{<0>}^2", "variance of client k's stochastic gradients", "k"),
    "G_sq": Letter("G^2", "bound on the second moment of stochastic gradients"),
    "G_priority_sq": Letter(r"G_{\mathcal{P}}^2", "the same over the priority clients, drawn or not"),
    "noise_bound": Letter("s_0", "bound on the norm of the gradient noise"),
    "optimum_gradient_bound": Letter("G_*", "largest norm of a client's gradient at the optimum"),
    "ball_radius": Letter("r", "radius of the ball that no iterate leaves"),
    "F_star": Letter("F^*", "minimum of the objective"),
    "x_star": Letter("w^*", "minimiser of the objective"),
    "F_star_client": Letter("F_{<0>}^*", "minimum of client k's loss", "k"),
    "Gamma_max": Letter(r"\Gamma_{\max}", "largest gap of a free client"),
    "x_mixture": Letter(r"\tilde{w}", "minimiser of the aggregate-weighted loss"),
    # hyper-parameters
    "eta_l": Letter(r"\eta_{<0>}", "local step size at iteration t", "t"),
    "eta_next": Letter(r"\eta_{+}", "local step size after the last aggregation"),
    "epsilon": Letter(r"\epsilon_{<0>}", "matching threshold of the round of iteration t", "t"),
    "step_offset": Letter(r"\gamma", "offset of the decaying step size"),
    "rounds_before": Letter("R", "rounds before the one observed"),
    "rounds_open": Letter("R_0", "rounds after which no free client counts"),
    # run
    "x": Letter("w_{<0>}", "virtual average at time t, of all priority clients", "t"),
    "x_sampled": Letter("w'_{<0>}", "average with the sampled priority clients; global model at communication", "t"),
    "x_local": Letter("w_{<0>}^{<1>}", "model of client k from which iteration t starts", "tk"),
    "x_before": Letter("v_{<0>}^{<1>}", "model of client k at time t before any aggregation", "tk"),
    "g": Letter("g_{<0>}^{<1>}", "stochastic gradient of client k at iteration t", "tk"),
    "included": Letter(r"I_{<1>,\tau(<0>)}", "whether client k counts in the round of iteration t", "tk"),
    "sampled_weight": Letter(r"\hat p_{<0>,<1>}", "weight in place of client_weight after sampling", "tk"),
    # numbers, vectors and sequences of the algebraic steps
    "terms": Letter("n", "number of vectors"),
    "length": Letter("H", "number of entries of a sequence, or of times or rounds"),
    "factor": Letter("a", "any positive number"),
    "start": Letter("a", "first factor of the product"),
    "excess": Letter("e", "how far the step offset exceeds 2"),
    "slack": Letter("s_{<0>}", "what the recursion falls short of equality", "t"),
    "free_clients": Letter("M", "number of free clients"),
    "more": Letter("I^{+}_{<*>}", "the larger pattern of inclusion", "k"),
    "kept": Letter("J_{<*>}", "which of the larger pattern's clients are in the smaller one", "k"),
    "fewer": Letter("I^{-}_{<*>}", "the smaller pattern of inclusion", "k"),
    "gap": Letter(r"\Gamma_{<*>}", "gap of a free client", "k"),
    "own_curvature": Letter("a", "curvature of the priority client"),
    "free_curvature": Letter("a_{<0>}", "curvature of free client k", "k"),
    "free_center": Letter("c_{<0>}", "optimum of free client k", "k"),
    "loss_gap": Letter("d_{<0>}", "loss of free client k at the start, less the objective", "k"),
    "loss_gap_next": Letter("d_{<0>,1}", "the same after the first round, under the smaller threshold", "k"),
    "loss_gap_next_larger": Letter("d^{+}_{<0>,1}", "the same after the first round, under the larger threshold", "k"),
    "w_start": Letter("w_0", "model at the start"),
    "w_next": Letter("w_1", "model after the first round, under the smaller threshold"),
    "w_next_larger": Letter("w^{+}_1", "model after the first round, under the larger threshold"),
    "threshold": Letter(r"\epsilon", "the smaller threshold"),
    "threshold_larger": Letter(r"\epsilon^{+}", "the larger threshold"),
    "matched_first": Letter("I_{<0>,0}", "whether free client k counts in the first round, smaller threshold", "k"),
    "matched_next": Letter("I_{<0>,1}", "whether free client k counts in the second round, smaller threshold", "k"),
    "matched_first_larger": Letter("I^{+}_{<0>,0}", "the same in the first round, larger threshold", "k"),
    "matched_next_larger": Letter("I^{+}_{<0>,1}", "the same in the second round, larger threshold", "k"),
    "below": Letter("m", "number of included clients with small gaps"),
    "above": Letter("n", "number of included clients with large gaps"),
    "p_below": Letter("p_{<0>}", "their weights", "k"),
    "p_above": Letter("q_{<0>}", "their weights", "k"),
    "gap_below": Letter(r"\Gamma_{<0>}", "the small gaps", "k"),
    "gap_above": Letter(r"\Gamma'_{<0>}", "the large gaps", "k"),
    "mass": Letter("S", "weight of the other included clients"),
    "bias": Letter("M", "their weighted gaps"),
    "p_in": Letter("p_1", "weight of a client that is included"),
    "p_out": Letter("p_2", "weight of a client that is left out"),
    "gap_in": Letter(r"\Gamma_1", "gap of the client that is included"),
    "gap_out": Letter(r"\Gamma_2", "gap of the client that is left out"),
    "variances": Letter(r"V", "the sum of p_k^2 sigma_k^2"),
    "D0_sq": Letter(r"\Delta_0", "squared distance of the start to the optimum"),
    "start_sq": Letter(r"\Delta_0", "squared distance of the start to the optimum"),
}
