"""What was found: for each fault the property that fails, the cause in words, and the runs that prove it.

Every number of ``docs/peers.md`` comes from a run; here stand only words and which runs to show.
"""

from dataclasses import dataclass

__all__ = ["FINDINGS", "Column", "Finding"]


@dataclass(frozen=True)
class Column:
    """Runs with these corrections (names in the adapter's ``CORRECTIONS``)."""

    says: str
    corrections: tuple[str, ...] = ()


@dataclass(frozen=True)
class Finding:
    """One fault. ``correction`` names the corrected line; with all of the last column the peer agrees with ours."""

    peer: str
    method: str
    correction: str
    headline: str
    property: str
    cause: str
    cases: tuple[str, ...]
    columns: tuple[Column, ...]


INSTALLED = Column("as installed")


def alone(name):
    return (INSTALLED, Column("this line corrected", (name,)))


def among(name, *others):
    """A fault beside others: all but this line corrected, then this one too."""
    return (INSTALLED, Column("only the other lines corrected", others), Column("this line too", (name, *others)))


FULL, HALF, LONG, LONG_HALF = "all clients", "2 of 4 clients", "long", "long with 2 of 4"
FINDINGS = (
    Finding(
        "pfl", "SCAFFOLD", "sign", "the control variate of option II has the opposite sign",
        "SCAFFOLD arrives at the optimum and its control variates at the clients' gradients there; here both leave. With "
        "one client, and with one local step under full participation, the variates cancel out of the model; all that shows "
        "there is rounding, which the growing variates amplify.",
        "The update of c_i adds (y_i - x) / (K eta_l), where the method adds (x - y_i) / (K eta_l): `model_diff` is the "
        "trained model less the broadcast one. So c_i grows along minus the gradient, while the local step still "
        "subtracts it.",
        (FULL, HALF, "server step", LONG, "one client", "one local step"),
        alone("sign"),
    ),
    Finding(
        "pfl", "SCAFFOLD", "sign-option-I", "the control variate of option I has the opposite sign",
        "After a round in which everyone takes part, c_i is the client's gradient at the broadcast model; here it is minus "
        "that.",
        "c_i is taken as the model's change over one step of length 1, which is minus the gradient.",
        ("option I",),
        among("sign-option-I", "shared-option-I"),
    ),
    Finding(
        "pfl", "SCAFFOLD", "shared-option-I", "with option I all clients share one control variate",
        "Clients with different gradients have different control variates; here all stored ones are equal, with the "
        "in-memory storage.",
        "The stored c_i is the model's reusable buffer for differences, not a copy, so the next client overwrites it.",
        ("option I",),
        among("shared-option-I", "sign-option-I"),
    ),
    Finding(
        "fluke", "FedDyn", "dual", "the dual variable has the opposite sign (and a factor alpha too many)",
        "FedDyn arrives at the optimum; here it leaves it geometrically, already with all clients in every round.",
        "`prev_grads` enters the penalty with a plus, so it has to collect y_i - x; it collects alpha (x - y_i). The "
        "penalty multiplies it by alpha once more. With the sign alone reversed it arrives, by another path.",
        (FULL, LONG),
        (INSTALLED, Column("sign alone", ("dual-sign",)), Column("this line corrected", ("dual",))),
    ),
    Finding(
        "fluke", "FedDyn", "mean-over-all", "with some clients a round the server averages only their duals",
        "The optimum is a fixed point for every choice of participants; here it is not, because the participants' duals "
        "do not add up to zero there.",
        "The server adds the mean of the participants' dual variables to their mean model; the method's server variable "
        "is the mean over all clients, with the absent ones' last values.",
        (HALF, LONG_HALF),
        among("mean-over-all", "dual", "first-model"),
    ),
    Finding(
        "fluke", "FedDyn", "first-model", "a client's first round starts from another model than everyone else's",
        "All participants of a round start from the same model; here one that takes part for the first time starts from "
        "the plain mean of the last uploads.",
        "At its first call `receive_model` keeps the first of the two models sent, later the second, corrected one.",
        (HALF, LONG_HALF),
        among("first-model", "dual", "mean-over-all"),
    ),
    Finding(
        "fluke", "SCAFFOLD", "server-step", "`global_step` multiplies the model instead of its change",
        "A server step x + eta_g (mean of y_i - x) keeps the optimum; here the mean model itself is multiplied by "
        "eta_g. The default 1 is not affected, and the server's other option `lr` is such a step.",
        "The clients' averaging weights are multiplied by `global_step`, so they no longer add up to one.",
        ("server step", "long with server step"),
        alone("server-step"),
    ),
    Finding(
        "fedlab", "FedDyn", "penalty", "the penalty has no gradient",
        "With K > 1 the dynamic regulariser changes local training; here local training is FedAvg's.",
        "Both terms of the penalty use `self.model_parameters`, a copy read from `.data`, so automatic differentiation "
        "does not see the parameters in it.",
        (FULL, HALF, LONG),
        among("penalty", "server-dual"),
    ),
    Finding(
        "fedlab", "FedDyn", "server-dual", "the server subtracts one model from the sum of the participants'",
        "The server's variable is the mean of the clients' dual variables; here it is not, and it grows with the model "
        "instead of its change.",
        "h moves by the sum of the uploaded models less the broadcast model once, where it is subtracted from each.",
        (FULL, HALF, LONG),
        among("server-dual", "penalty"),
    ),
    Finding(
        "flower", "FedProx", "list", "the documented proximal term is lost after the first local step",
        "A proximal weight changes FedProx when K > 1; the documented lines, used as written, give FedAvg to rounding.",
        "`global_params` is made once before local training, as an iterator. The first loss uses it up, at a point where "
        "the term is zero; every later loop over it is empty. (Flower's strategy leaves the term to the user's client; the "
        "lines are those of its docstring.)",
        (FULL, HALF),
        among("list", "square"),
    ),
    Finding(
        "flower", "FedProx", "square", "the documented proximal term is the norm, not its square",
        "The pull towards the broadcast model is proportional to the distance, as the docstring's formula says; the "
        "documented line pulls with constant strength mu / 2.",
        "The lines sum norms; the formula beside them has the squared norm.",
        (FULL, HALF),
        among("square", "list"),
    ),
)
