"""The meanings of the arguments of methods: one each, with its type, for docstrings and for errors."""

import inspect
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cache, wraps
from textwrap import wrap
from typing import Any, ParamSpec, TypeVar

from fedtheory.traits import Traits

__all__ = ["ARGUMENTS", "UnknownArgument", "args_section", "checked_maker", "documented", "nearest_argument",
           "refuses_arguments_of_methods", "unit_text"]

P = ParamSpec("P")
T = TypeVar("T")

_WIDTH = 120  # of a line
_RATE = "number, (runs,) array or Schedule"
_FLAG, _COUNT, _ARRAY = "True or False", "integer >= 1", "array"

#: type and meaning of each argument, by name; a method may say more of it where it registers
ARGUMENTS: dict[str, tuple[str, str]] = {
    "eta_l": (_RATE, "local step size"),
    "eta_g": (_RATE, "server step size"),
    "local_steps": (_COUNT, "local steps of a client in a round"),
    "participants": ("integer >= 1, or None", "clients drawn in each round; None: all of them take part"),
    "sampling": ("word", "how participants are drawn and weighted: without-replacement, with-replacement, bernoulli, "
                         "bernoulli-expected or li2020-scheme-2, see fedavg"),
    "rho_prox": (_RATE, "strength of the proximal or augmented term rho_prox/2 |v - x|^2"),
    "rho_sam": (_RATE, "radius of the perturbation at which gradients are taken"),
    "rho_decay": (_RATE, "share of eta_l that the last local step of a round would have"),
    "beta": ("number in [0, 1]", "weight of the new gradient against the momentum"),
    "beta1": ("number in [0, 1)", "decay rate of the momentum or first moment"),
    "beta2": ("number in [0, 1]", "decay rate of the second moment"),
    "gamma": (_RATE, "server step size along the momentum"),
    "alpha": ("number", "weight of this method's own term, as the formulas say"),
    "eps": (_RATE, "what is added to, or bounds from below, the root of the second moment"),
    "v_init": ("number, array, or eps^2", "second moment before the first round"),
    "vhat": ("word", "running maximum at the start of a round: reset, carry, zero or none"),
    "store": ("word", "what a client keeps between rounds: v or vhat"),
    "norm": ("word", "second moments by coordinate (elem) or of norms (scalar)"),
    "moment_index": ("word", "whether a step uses the moments with its own gradient: immediate or delayed"),
    "moments": ("word", "averaged: the server averages second moments; local: clients keep theirs"),
    "trackers": ("integer >= 0, or None", "sampled clients that renew their tracking variables; None: all"),
    "y_init": ("word", "tracking variables before the first round: zero, gradient or normalised-gradient"),
    "epsilon": ("number, Schedule or None", "squared norm of the gradient at which solver tolerance stops"),
    "warmup": ("integer >= 0", "rounds before free clients may take part"),
    "strict": (_FLAG, "whether losses match below epsilon only, or also at it"),
    "indicator": ("word", "when losses are compared: broadcast, local-at-aggregation or local-every-step"),
    "free": ("None, probability, Bernoulli or Pattern", "availability of the free clients; None: always"),
    "fraction": ("number in (0, 1]", "share of each group of clients that is drawn in a round"),
    "normalisation": ("word", "weights of the drawn priority clients: participants or unbiased"),
    "solver": ("word", "local solver: gradient (local_steps steps), exact (the minimiser) or tolerance (until epsilon)"),
    "output": ("word", "the model that is returned: bar (the average) or server (the one that is sent)"),
    "order": ("word", "whether the server uses the dual of this round (next) or of the last (printed)"),
    "sam_eps": (_RATE, "what is added to the gradient's norm in the perturbation"),
    "nu": (_RATE, "what is added to |x_k| in the shape of the perturbation"),
    "swa_start": ("integer >= 0, or None", "round from which models are averaged; None: never"),
    "swa_cycle": (_COUNT, "rounds of a cycle, at whose end a model enters the average"),
    "swa_ratio": ("number in (0, 1]", "share of eta_l in the last round of a cycle"),
    "option": ("word", "rule of the clients' control variates, or variant of the server's rule, as the formulas say"),
    "start": ("word", "control variates before the first round: zero, gradient, gradient-clients-only, free or free-mean, "
                      "as far as the method has them; see scaffold"),
    "sign": ("word", "standard, or printed-eq3: the paper's equation with the opposite sign"),
    "client_variate": ("([runs,] clients, dim) array, or None", "control variates of the clients for start free"),
    "server_variate": ("([runs,] dim) array, or None", "control variate of the server for start free"),
    "variant": ("word", "which printed version of the server's rule, as the formulas say"),
    "batch": ("word", "samples of the clients' variates in variant fresh: independent or same"),
    "schedule": ("word", "local step sizes within a round: cyclic-linear or geometric-h1"),
    "lam": ("number in [0, 1)", "decay rate of the momentum"),
    "momentum": ("word", "broadcast: the server's momentum; heavy-ball: one of each client's own"),
    "l1": ("number >= 0", "weight of |v|_1 in the server's regulariser"),
    "l2": ("number >= 0", "weight of 1/2 |v|^2 in the server's regulariser"),
    "weight": ("word", "weight of the proximal step of the regulariser: printed or consistent"),
    "sent": ("word", "what a client sends of its perturbation: mu or s_hat"),
    "communication": ("number in (0, 1]", "probability that a round ends with communication"),
    "client_steps": ("integers by client, RandomSteps, or None", "local steps of each client; None: local_steps"),
    "fdr": ("number in [0, 1)", "probability that a coordinate is not sent"),
    "cdr": ("number in [0, 1)", "probability that a client sends nothing"),
    "period": (_COUNT, "rounds between two averages of all layers, or between two masks"),
    "density": ("number in (0, 1]", "share of the parameters that is kept"),
    "times": ("array by layer or parameter, or None", "relative time that a parameter costs; None: all the same"),
    "client": ("integer >= 0", "the client that finds the first mask"),
    "initial_steps": (_COUNT, "local steps by which that client finds the first mask"),
    "bits": ("integer >= 2", "bits of a coordinate that is sent"),
    "levels": ("integer >= 1, or None", "levels of the quantiser; None: 2^(bits - 1) - 1"),
    "scope": ("word", "what a norm is taken of: per-layer or whole-vector"),
    "quantiser": ("word", "qsgd or identity"),
    "threshold": ("number in [0, 1]", "largest squared sine of the angle to the last full upload at which a number is sent"),
    "mu_con": (_RATE, "weight of the contrastive term"),
    "temperature": ("number > 0", "temperature of the contrastive term"),
    "relative": ("word", "what upload filters take the change from: start (mutated) or broadcast"),
    "base": ("word", "name of the method whose uploads are filtered"),
    "recycled": ("integer >= 0", "layers that are not sent in a round"),
    "selector": ("word", "how these layers are drawn: see fedtheory.recycling.Recycling, as for the next ones"),
    "score": ("word", "how scores of recycled layers go on"),
    "R0": ("word or layers", "layers that are recycled in round 0"),
    "initial_update": ("(dim,) array, or None", "update before the first round; None: zero"),
    "score_floor": ("number >= 0", "least score of a layer"),
    "score_norm": ("word", "the model of which a score takes the norm"),
    "lr_decay": ("word", "what a recycled update means when eta_l falls"),
    "mode": ("word", "recycle the last update of a layer, or drop it"),
    "masks": ("truth values by round and layer, or None", "the recycled layers themselves, in place of drawing them"),
    "recycled_object": ("word", "what is recycled: before or after the base's server optimiser"),
    "local_momentum": ("number in [0, 1)", "momentum of local steps, in place of the base's client optimiser; 0: none"),
    "momentum_kept": (_FLAG, "whether that momentum goes on in a client's next round"),
    "arguments": ("by name", "arguments of the base"),
}

#: names that other libraries and papers have for arguments, with ours, the likeliest first
_CALLED = {
    "lr": "eta_l", "learning_rate": "eta_l", "client_lr": "eta_l", "local_lr": "eta_l", "step": "eta_l",
    "step_size": "eta_l", "stepsize": "eta_l", "eta": "eta_l", "server_lr": "eta_g", "global_lr": "eta_g",
    "server_learning_rate": "eta_g",
    "epochs": "local_steps", "local_epochs": "local_steps", "steps": "local_steps", "num_steps": "local_steps",
    "K": "local_steps", "E": "local_steps", "tau": "local_steps", "mu": "rho_prox", "proximal_mu": "rho_prox",
    "prox": "rho_prox", "rho": "rho_prox rho_sam", "radius": "rho_sam", "clients_per_round": "participants",
    "sample_clients": "participants", "fraction_fit": "participants", "C": "participants", "S": "participants",
    "momentum": "beta1 beta lam local_momentum", "beta_1": "beta1", "beta_2": "beta2", "weight_decay": "l2 rho_prox",
    "tol": "epsilon", "regularization": "rho_prox l2",
}


class UnknownArgument(TypeError):
    """An argument that a method does not take; the message has the nearest one and all that it takes."""


def nearest_argument(name: str, allowed: Mapping[str, Any]) -> str | None:
    """Returns the argument that is meant by a name: what the field calls so, or one that is spelt alike; None if unknown."""
    called = [own for own in _CALLED.get(name, "").split() if own in allowed]
    return next(iter(called or get_close_matches(name, allowed, n=1, cutoff=0.5)), None)


@cache
def checked_maker(make: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the maker, which raises UnknownArgument for a name that it does not take.

    A maker that passes further arguments on is left to the one to which it passes them.
    """
    parameters = inspect.signature(make).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return make

    @wraps(make)
    def checked_make(*positional, **named):
        for name in named:
            if name not in parameters:
                near = nearest_argument(name, parameters)
                hint = f"; did you mean {near}?" if near else ";"
                raise UnknownArgument(
                    f"{make.__name__} takes no argument {name!r}{hint} allowed: {', '.join(parameters)}")
        return make(*positional, **named)

    return checked_make


def refuses_arguments_of_methods(call: Callable[P, T]) -> Callable[P, T]:
    """Returns a function that takes a method first; it raises UnknownArgument, which says that methods take it, for an
    argument that the ``call`` does not take."""
    parameters = inspect.signature(call).parameters

    @wraps(call)
    def checked_call(*positional: P.args, **named: P.kwargs) -> T:
        if unknown := next((name for name in named if name not in parameters), None):
            method = positional[0] if positional else named.get("algorithm")
            maker = method.replace("-", "_") if isinstance(method, str) else "METHOD"
            raise UnknownArgument(f"{call.__name__} takes no argument {unknown!r}; a method does, as in "
                                  f"ft.{call.__name__}(ft.{maker}({unknown}=...), ...); allowed: {', '.join(parameters)}")
        return call(*positional, **named)

    return checked_call


def args_section(make: Callable[..., Any], traits: Traits, own: Mapping[str, str]) -> str:
    """Returns the section ``Args:`` of a maker's docstring: name, type, unit, default and meaning of each parameter.

    ``own``: meanings in this method, by name, where ARGUMENTS has none or a more general one.
    """
    lines = ["Args:"]
    for name, parameter in inspect.signature(make).parameters.items():
        kind, meaning = ARGUMENTS.get(name, ("value", "see above"))
        unit = unit_text((traits.units or {}).get(name, (0, 0)))
        unit = "" if unit == "1" else f", in {unit}"
        default = "" if parameter.default is parameter.empty else f", default {parameter.default!r}"
        text = f"{name} ({kind}{unit}{default}): {own.get(name, meaning)}."
        lines += wrap(text, _WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 8, break_long_words=False,
                      break_on_hyphens=False)
    return "\n".join(lines)


def unit_text(powers: tuple[int, int]) -> str:
    """Returns the unit with these powers of (loss, parameter) in words, such as ``parameter^2/loss``; ``1`` for a number."""
    texts = [(name if abs(power) == 1 else f"{name}^{abs(power)}", power) for name, power in zip(
        ("loss", "parameter"), powers, strict=True) if power]
    above, below = ([text for text, power in texts if (power > 0) is up] for up in (True, False))
    under = f"({'*'.join(below)})" if len(below) > 1 else "".join(below)
    return f"{'*'.join(above) or '1'}{'/' * bool(below)}{under}"


def documented(make: Callable[..., Any], traits: Traits, own: Mapping[str, str]) -> str:
    """Returns a maker's docstring with the section ``Args:`` before its example."""
    text = inspect.cleandoc(make.__doc__ or "")
    if "\nArgs:\n" in text:
        return text
    before, example, after = text.partition("Example:\n")
    section = args_section(make, traits, own)
    return f"{before.rstrip()}\n\n{section}\n" + (f"\n{example}{after}\n" if example else "")
