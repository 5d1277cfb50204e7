"""The usual letters of textbooks."""

from __future__ import annotations

from bounds.fedalign import notation as fedalign
from bounds.notation import Letter

__all__ = ["LETTERS", "UNITS"]

LETTERS = fedalign.LETTERS | {
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
    "eta_g": Letter(r"\eta_g", "server step"),
    "client_variate": Letter("c_{<1>}^{(<0>)}", "control variate of client k before round r", "rk"),
    "server_variate": Letter("c^{(<0>)}", "control variate of the server before round r", "r"),
}
#: powers of the units of loss and parameter
UNITS = {"client_variate": (1, -1), "server_variate": (1, -1)}
