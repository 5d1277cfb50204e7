"""The letters of FAdamGC for the names in code, and their units: powers of the units of loss and parameter.

The paper's t is r + 1, its k and k' are j + 1 and i + 1, its i is k. The y's are gradients in FAdamGC and pure numbers in
FA-NT: their unit is left to each claim.
"""

from bounds.language.letters import Letter

__all__ = ["LETTERS", "UNITS"]

LETTERS: dict[str, Letter] = {
    # sizes
    "clients": Letter("n", "number of clients"),
    "participants": Letter("S", "clients that take part in a round"),
    "trackers": Letter("Y", "participants that renew their correction in a round"),
    "local_steps": Letter("K", "local steps per round"),
    "rounds": Letter("T", "rounds"),
    "iterations": Letter("KT", "local iterations in all, rounds times local steps"),
    # problem
    "client_weight": Letter("p_{<0>}", "weight of client k, 1/n", "k"),
    "priority": Letter(r"\mathbf{1}_{<0>}", "1: every client counts", "k"),
    "L": Letter("L", "smoothness of all clients"),
    "L_client": Letter("L_{<0>}", "smoothness of client k", "k"),
    "sigma": Letter(r"\sigma", "bound on the standard deviation of stochastic gradients"),
    "sigma_sq_client": Letter(r"\sigma_{<0>}^2", "variance of client k's stochastic gradients", "k"),
    "G": Letter("G", "bound on the norms of stochastic gradients"),
    "sigma_g_max": Letter("B", "bound on the distance of a client's gradient to the objective's, at every point"),
    "F_star": Letter("f^*", "least value of the objective"),
    "F0_gap": Letter(r"\mathcal{F}", "initial gap"),
    "x_star": Letter("x^*", "minimiser of the objective"),
    # hyper-parameters
    "eta_l": Letter(r"\eta_{l,<0>}", "local step at iteration t", "t"),
    "eta": Letter(r"\eta_l", "local step"),
    "sgd_step": Letter(r"\eta", "local step of SGD"),
    "eta_g": Letter(r"\eta_g", "server step"),
    "beta1": Letter(r"\beta_1", "decay rate of the first moment"),
    "beta2": Letter(r"\beta_2", "decay rate of the second moment"),
    "eps": Letter(r"\epsilon", "what is added to the root of the second moment"),
    "C": Letter("C", "hidden constant, a number"),
    "C_beta": Letter(r"C_\beta", "hidden constant made of the decay rates"),
    "C_all": Letter(r"C_+", "hidden constant made of anything but the number of rounds"),
    # run
    "x_round": Letter("x^{(<0>)}", "the server's model before round r", "r"),
    "x_local": Letter("x_{<1>}^{<0>}", "model of client k from which iteration t starts", "tk"),
    "x_before": Letter("x_{<1>}^{<0>-}", "model of client k at time t, before any aggregation", "tk"),
    "g": Letter("g_{<1>}^{<0>}", "stochastic gradient of client k at iteration t", "tk"),
    "sampled": Letter(r"\mathbf{1}_{<1> \in S^{<0>}}", "whether client k takes part in round r", "rk"),
    "tracked": Letter(r"\mathbf{1}_{<1> \in Y^{<0>}}", "whether client k renews its correction in round r", "rk"),
    "client_variate": Letter("y_{<1>}^{(<0>)}", "correction of client k before round r", "rk"),
    "server_variate": Letter("y^{(<0>)}", "correction of the server before round r", "r"),
    "client_moment2": Letter("v_{<1>}^{(<0>)}", "second moment that client k keeps before round r", "rk"),
    "client_moment2_max": Letter(r"\hat v_{<1>}^{(<0>)}", "running maximum that client k keeps before round r", "rk"),
    "client_scalar_moment2": Letter("v_{<1>}^{(<0>)}", "the same where moments are of norms, a number", "rk"),
    "z_x_round": Letter("x_z^{(<0>)}", "the server's model of the z-form", "r"),
    # numbers and vectors of the algebraic steps
    "factor": Letter("a", "any positive number; b in Appendix B"),
    "any_q": Letter("q", "any vector"),
    "any_u": Letter("u", "any vector of at most length one"),
    "any_grad": Letter(r"\nabla f", "any gradient"),
    "any_direction": Letter(r"\Delta", "any direction"),
    "gap_now": Letter(r"\Gamma", "the distance of the round before"),
    "f_now": Letter("f", "mean objective before the round"),
    "f_next": Letter("f_+", "mean objective after the round"),
    "error_now": Letter(r"\mathcal{E}", "distance of the stored points before the round"),
    "error_next": Letter(r"\mathcal{E}_+", "distance of the stored points after the round"),
    "gradient": Letter("P", "mean norm of the objective's gradient"),
    "total_drop": Letter(r"D_T", "decrease of the mean objective over all rounds"),
    "total_change": Letter("V_T", "change of the average root over all rounds"),
    "total_gap": Letter(r"\Gamma_T", "sum over rounds of the stored directions' distances"),
    "euler": Letter("e", "Euler's number to nine decimals"),
    "C_1": Letter("C_1", "any positive number"),
    "e_value": Letter("e_{<0>}", "what (79) bounds", "j"),
    "step_gradient": Letter("g_{<0>}", "stochastic gradient of a local step", "j"),
    "own_control": Letter("y_1", "correction of a client"),
    "own_controls": Letter("y_{<0>}", "corrections of the clients", "k"),
    "control": Letter("y", "correction of the server"),
    "model": Letter("x", "the server's model"),
    "local_end": Letter("x_{<0>}^+", "a client's model after its local steps", "k"),
}

#: units besides the language's own; local steps are lengths here
UNITS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("trackers", "tracked", "euler", "factor", "any_u", "any_direction"), (0, 0)),
    **dict.fromkeys(("eps", "any_q", "any_grad", "gradient", "step_gradient"), (1, -1)),
    **dict.fromkeys(("eta_l", "eta", "z_x_round", "error_now", "error_next", "model", "local_end"), (0, 1)),
    **dict.fromkeys(("f_now", "f_next", "total_drop"), (1, 0)), "sgd_step": (-1, 2), "e_value": (0, 2), "C_1": (0, 0),
    **dict.fromkeys(("client_moment2", "client_moment2_max", "client_scalar_moment2"), (2, -2)),
    **dict.fromkeys(("total_change", "total_gap", "gap_now"), (2, -2)),
}
