"""The usual letters of textbooks."""

import sympy as sp

from bounds.language.letters import Letter
from bounds.papers.fedalign import notation as fedalign

__all__ = ["LETTERS", "ONE_AVERAGE", "UNITS", "eta"]

eta = sp.Symbol("eta", positive=True)  # a constant step

#: both averages, where no client is sampled
ONE_AVERAGE = Letter("x_{<0>}", "average at time t; the global model at communication", "t")

LETTERS = fedalign.LETTERS | {
    "one_average": ONE_AVERAGE,
    "clients": Letter("m", "number of clients"),
    "participants": Letter("s", "clients that take part in a round"),
    "local_steps": Letter("K", "local steps per round"),
    "rounds": Letter("T", "rounds"),
    "iterations": Letter("N", "steps in all"),
    "x": Letter(r"\bar x_{<0>}", "average of the local models at time t", "t"),
    "x_sampled": Letter("x_{<0>}", "the model at time t", "t"),
    "x_local": Letter("x_{<0>}^{<1>}", "model of client k at time t", "tk"),
    "x_round": Letter("x^{(<0>)}", "the server's model before round r", "r"),
    "x_star": Letter("x^*", "minimiser of the objective"),
    "sampled": Letter(r"\mathbf{1}_{<1>\in S_{<0>}}", "whether client k takes part in round r", "rk"),
    "eta_g": Letter(r"\eta_g", "server step"),
    "eta": Letter(r"\eta", "constant step"),
    "B": Letter("B", "how many times the gradient the clients' gradients are"),
    "samples": Letter("n", "samples per client"),
    "G_lip": Letter("G", "Lipschitz constant of every sample's loss"),
    "H_loss": Letter("H", "largest value of the loss of a sample"),
    "c_step": Letter("c", "constant of falling steps"),
    "cut": Letter("t_0", "first step that may use the differing sample"),
    "differing": Letter("d_{<0>}", "1 for the client that has the differing sample, else 0", "k"),
    "twin_x_round": Letter(r"\tilde x^{(<0>)}", "the server's model before round r in the coupled run", "r"),
    "twin_x_local": Letter(r"\tilde x_{<0>}^{<1>}", "model of client k at time t in the coupled run", "tk"),
    "twin_x_before": Letter(r"\tilde x_{<0>}^{\prime <1>}", "the same before any averaging", "tk"),
    "client_variate": Letter("c_{<1>}^{(<0>)}", "control variate of client k before round r", "rk"),
    "server_variate": Letter("c^{(<0>)}", "control variate of the server before round r", "r"),
}

#: powers of the units of loss and parameter
UNITS = {
    "client_variate": (1, -1), "server_variate": (1, -1), "eta": (-1, 2), "c_step": (-1, 2), "B": (0, 0),
    "cut": (0, 0),
}
