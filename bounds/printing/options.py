"""Hyper-parameters of a claim's method, in words and formulas: those that the claim fixes, and defaults."""

from collections.abc import Iterator
from typing import Any

import sympy as sp

from bounds.language.claim import Claim
from bounds.language.operators import eta_l, j, local_steps, r

__all__ = ["in_words", "local_rate", "option_values", "own_arguments"]

#: arguments of every method, which claims mention in formulas
_COMMON = {"eta_l", "local_steps", "participants", "sampling"}

#: (option, value) -> in words
WORDS: dict[tuple[str, str], str] = {
    ("option", "I"): "a client's new variate is its gradient at the received model, on new samples",
    ("option", "II"): "a client's new variate is its old one, less the server's, plus (received model - end model)/(sum of "
                      "its local rates)",
    ("option", "average-gradient"): "a client's new variate is the mean of its gradients of the round",
    ("start", "zero"): "all variates start at zero",
    ("start", "gradient"): "clients' variates start as stochastic gradients at the first model, the server's as their mean",
    ("start", "gradient-clients-only"): "clients' variates start as stochastic gradients at the first model, the server's "
                                        "at zero",
    ("start", "free"): "variates start anywhere",
    ("start", "free-mean"): "clients' variates start anywhere, the server's as their mean",
    ("sign", "standard"): "local steps along g - (client's variate) + (server's variate)",
    ("variant", "canonical"): "the server's variate moves towards the mean of the sampled clients' new ones",
    ("variant", "all-clients"): "the server's variate moves towards the mean of all clients' stored ones",
    ("variant", "fresh"): "before its local steps every client renews its variate as a gradient at the received model",
    ("batch", "independent"): "variates and local steps use independent samples",
    ("batch", "same"): "variates use the samples of the local steps",
    ("solver", "gradient"): "local problems are approached by gradient steps",
    ("solver", "exact"): "local problems are solved exactly",
    ("output", "bar"): "the method's output is the mean of the active clients' models",
    ("variant", "eq6"): "the server averages the active clients of the round",
    ("order", "next"): "the server uses the mean dual after its update",
    ("order", "printed"): "the server uses the mean dual before its update, as printed",
    ("selector", "luar"): "layers are recycled with probabilities in proportion to 1/score",
    ("selector", "inverted"): "layers are recycled with probabilities in proportion to the score",
    ("selector", "uniform"): "layers are recycled with equal probabilities",
    ("score", "keep"): "a recycled layer keeps its score",
    ("score", "recompute"): "a recycled layer's score is made of what is applied",
    ("score", "oracle"): "a recycled layer's score is made of the update that was not sent",
    ("R0", "empty"): "round 0 recycles no layer",
    ("R0", "all"): "round 0 recycles layers: all of them, or those given, from a first update that is 0 or given",
    ("base", "fedavg"): "on FedAvg",
    ("y_init", "zero"): "corrections start at zero",
    ("y_init", "gradient"): "corrections start as full gradients at the first model",
    ("y_init", "normalised-gradient"): "corrections start as full gradients at the first model, divided by their norms",
    ("vhat", "reset"): "the running maximum starts a round at the second moment",
    ("vhat", "carry"): "the running maximum is carried from round to round",
    ("store", "v"): "the second moment is kept for the next round",
    ("store", "vhat"): "the running maximum is kept for the next round as second moment",
    ("norm", "elem"): "second moments by coordinate",
    ("norm", "scalar"): "second moments of norms, one number per client",
    ("moment_index", "immediate"): "a step uses the moments that know its gradient",
    ("v_init", 1.0): "second moments start at 1",
    ("v_init", "eps^2"): "second moments start at the square of what is added to their roots",
    ("option", "fedams"): "the running maximum is at least what is added to the root",
}

#: options without effect while another one has one of these values
_MEANINGLESS = {"batch": ("variant", ("canonical", "all-clients")), "option": ("variant", ("fresh",)),
                "score": ("selector", ("uniform",)), "score_norm": ("selector", ("uniform",)),
                "score_floor": ("selector", ("uniform",)), "weight": ("variant", ("eq6",)),
                "rho_decay": ("schedule", ("geometric-h1",))}

#: values at which an option changes nothing
_NOTHING = {"l2": 0, "l1": 0, "v_init": 0, "local_momentum": 0, "momentum_kept": False, "mode": "recycle",
            "recycled_object": "pre-optimizer", "lr_decay": "displacement", "score_norm": "broadcast"}


def own_arguments(method) -> dict[str, Any]:
    """The arguments of a method besides those that every method has, with their defaults; none if it is not given."""
    return {} if method is None else {name: value for name, value in method.arguments.items() if name not in _COMMON}


def option_values(claim: Claim, method=None) -> dict[str, Any]:
    """The method's arguments that have a value in the claim: one that the claim fixes, or else the default.

    Arguments that the claim mentions, as a variable or in a condition, are not among them.
    """
    if claim.procedure is None:
        return {}
    fixed, mentioned = dict(claim.procedure.options), claim.names.union(v.name for v in claim.variables)
    values = {name: value for name, value in own_arguments(method).items()
              if value is not None and name not in mentioned} | fixed
    return {
        name: value for name, value in values.items()
        if name in fixed or not (values.get(_MEANINGLESS.get(name, ("", ()))[0]) in _MEANINGLESS.get(name, ("", ()))[1]
                                 or (name in _NOTHING and value == _NOTHING[name]))
    }


def in_words(claim: Claim, letter, method=None) -> Iterator[str]:
    """The options of a claim about runs, one by one: those that the claim fixes, and the defaults of ``method``.

    ``letter`` writes a name of the code. An option without words is written as name = value.
    """
    fixed = dict(claim.procedure.options) if claim.procedure else {}
    for name, value in option_values(claim, method).items():
        own = "" if name in fixed else ", the method's own"
        if name == "schedule":
            continue  # its formula says it: see local_rate
        if (name, value) in WORDS:
            yield f"{WORDS[name, value]} ({name} = {value}{own})"
        elif isinstance(value, str | bool):
            yield f"{name} = {value}{own}"
        else:
            yield f"{letter(name)} = {value:g}{own}"


def local_rate(claim: Claim, method=None):
    """The step size of local step j of round r as a formula, if an option makes it differ from eta_l; else None."""
    values = option_values(claim, method)
    if "schedule" not in values:
        return None
    first = eta_l[local_steps * r]
    if values["schedule"] == "geometric-h1":
        return first * ((local_steps - 2) / (local_steps - 1)) ** j
    rho = sp.nsimplify(values.get("rho_decay", sp.Symbol("rho_decay", nonnegative=True)))
    return first * (1 - (1 - rho) * j / local_steps)
