"""What a claim's method is made with, in words and formulas: options that the claim fixes, and the method's own values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sympy as sp

from bounds.language.claim import Claim, names_in
from bounds.language.words import eta_l, j, local_steps, r

__all__ = ["OWN_VALUES", "chosen", "in_words", "local_rate", "spoken_of"]

_ADAM = {"beta1": 0.9, "beta2": 0.99, "eps": 1e-8, "eta_g": 1.0, "vhat": "reset", "store": "v", "norm": "elem",
         "moment_index": "immediate", "v_init": 0.0}
_DUAL = {"rho_prox": 0.1, "solver": "gradient"}

#: method -> its arguments besides steps, participants and arrays, with the values that they have where nobody gives them
OWN_VALUES: dict[str, dict[str, Any]] = {
    "fedavg": {"eta_g": 1.0},
    "fedswa": {"rho_decay": 0.1, "eta_g": 1.5, "schedule": "cyclic-linear"},
    "fedmoswa": {"rho_decay": 0.1, "eta_g": 1.5, "gamma": 0.2, "option": "II", "start": "zero", "variant": "canonical",
                 "batch": "independent", "schedule": "cyclic-linear"},
    "fedsam": {"rho_sam": 0.05, "eta_g": 1.0},
    "mofedsam": {"rho_sam": 0.05, "beta": 0.1, "eta_g": 1.0},
    "scaffold": {"eta_g": 1.0, "option": "II", "start": "zero", "sign": "standard"},
    "afedpd": _DUAL | {"output": "bar"},
    "fedpd": _DUAL,
    "fedadmm": _DUAL | {"variant": "eq6", "l2": 0.0, "l1": 0.0, "weight": "printed"},
    "feddyn": _DUAL | {"order": "next"},
    "fedluar": {"base": "fedavg", "recycled": 1, "selector": "luar", "score": "keep", "R0": "empty", "score_floor": 1e-12,
                "score_norm": "broadcast", "lr_decay": "displacement", "mode": "recycle",
                "recycled_object": "pre-optimizer", "local_momentum": 0.0, "momentum_kept": False},
    "fadamgc": _ADAM | {"y_init": "zero"},
    "fa-nt": _ADAM | {"y_init": "zero"},
    "local-adam": _ADAM,
    "fedadam": {"eta_g": 0.1, "beta1": 0.9, "beta2": 0.99, "eps": 0.001, "v_init": "eps^2"},
    "fedams": {"eta_g": 0.1, "beta1": 0.9, "beta2": 0.99, "eps": 0.001, "v_init": 0.0, "option": "fedams"},
}

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
    ("selector", "luar"): "layers are recycled with probabilities in proportion to 1/score",
    ("selector", "uniform"): "layers are recycled with equal probabilities",
    ("score", "keep"): "a recycled layer keeps its score",
    ("score", "recompute"): "a recycled layer's score is made of what is applied",
    ("score", "oracle"): "a recycled layer's score is made of the update that was not sent",
    ("R0", "empty"): "round 0 recycles no layer",
    ("R0", "all"): "round 0 recycles any layers, from a given first update",
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
    ("v_init", "eps^2"): "second moments start at the square of what is added to their roots",
    ("option", "fedams"): "the running maximum is at least what is added to the root",
}

#: options that say nothing while another has this value
_MEANINGLESS = {"batch": ("variant", ("canonical", "all-clients")), "option": ("variant", ("fresh",)),
                "score": ("selector", ("uniform",)), "score_norm": ("selector", ("uniform",)),
                "score_floor": ("selector", ("uniform",)), "weight": ("variant", ("eq6",)),
                "rho_decay": ("schedule", ("geometric-h1",))}

#: their values at which they change nothing
_NOTHING = {"l2": 0, "l1": 0, "v_init": 0, "local_momentum": 0, "momentum_kept": False, "mode": "recycle",
            "recycled_object": "pre-optimizer", "lr_decay": "displacement", "score_norm": "broadcast"}


def spoken_of(claim: Claim) -> frozenset[str]:
    """Names that the claim gives a value to: its variables, and all that its hypotheses and its statement name."""
    sides = [e for c in (*claim.hypotheses, *([claim.statement] if claim.statement else ())) for e in (c.left, c.right)]
    formulas = [d.formula for d in claim.used_definitions().values()]
    return frozenset({v.name for v in claim.variables}.union(*map(names_in, [*sides, *formulas])))


def chosen(claim: Claim) -> dict[str, Any]:
    """The method's arguments that have a value of their own in the claim: fixed by it, or left at the method's.

    Those that the claim speaks of, as a variable or in a condition, are not among them.
    """
    if claim.procedure is None:
        return {}
    own, fixed = OWN_VALUES.get(claim.procedure.base, {}), dict(claim.procedure.options)
    spoken = spoken_of(claim)
    values = {name: value for name, value in own.items() if name not in spoken} | fixed
    return {
        name: value for name, value in values.items()
        if name in fixed or not (values.get(_MEANINGLESS.get(name, ("", ()))[0]) in _MEANINGLESS.get(name, ("", ()))[1]
                                 or (name in _NOTHING and value == _NOTHING[name]))
    }


def in_words(claim: Claim, letter, own_values: bool = True) -> Iterator[str]:
    """The options of a claim about runs, one by one; ``letter`` writes a name of the code. Without ``own_values`` only
    those that the claim fixes.

    Options without words (of methods that no paper's claim is about) are written as name = value.
    """
    fixed = dict(claim.procedure.options) if claim.procedure else {}
    for name, value in chosen(claim).items():
        if name not in fixed and not own_values:
            continue
        own = "" if name in fixed else ", the method's own"
        if name == "schedule":
            continue  # its formula says it: see local_rate
        if (name, value) in WORDS:
            yield f"{WORDS[name, value]} ({name} = {value}{own})"
        elif isinstance(value, str | bool):
            yield f"{name} = {value}{own}"
        else:
            yield f"{letter(name)} = {value:g}{own}"


def local_rate(claim: Claim):
    """The step size of local step j of round r as a formula, where an option makes it another one than eta_l; else None."""
    values = chosen(claim)
    if "schedule" not in values:
        return None
    first = eta_l[local_steps * r]
    if values["schedule"] == "geometric-h1":
        return first * ((local_steps - 2) / (local_steps - 1)) ** j
    rho = sp.nsimplify(values.get("rho_decay", sp.Symbol("rho_decay", nonnegative=True)))
    return first * (1 - (1 - rho) * j / local_steps)
