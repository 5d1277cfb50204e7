"""The names of the language: what each stands for, with its indices, kind, sign, unit and source. One row per name."""

from fractions import Fraction
from typing import NamedTuple

import sympy as sp

__all__ = [
    "ARGUMENT", "CONSTANT", "COUPLED", "CURVATURE", "DATA", "FEDERATION", "GRADIENT", "GRADIENT_SQ", "LOSS", "METHOD",
    "NAMES", "ONE", "PARAMETER", "RUN", "SIZE", "STEP", "Name", "Unit", "meaning_of", "names_from", "row_of", "symbol",
]

Unit = tuple[Fraction, Fraction]  # powers of the loss's and of the parameter's unit

ONE, LOSS, PARAMETER, GRADIENT, GRADIENT_SQ, STEP, CURVATURE, PARAMETER_SQ = (
    (Fraction(loss), Fraction(parameter))
    for loss, parameter in ((0, 0), (1, 0), (0, 1), (1, -1), (2, -2), (-1, 2), (1, -2), (0, 2)))

#: sources, that is, what gives a name its value
ARGUMENT = "argument"  # an index, a point of R^dim, a source of chance: it has no value of its own
SIZE = "size"  # a size of the instance
FEDERATION = "federation"  # known exactly from the clients' losses and weights
CONSTANT = "constant"  # a constant that hypotheses bound, or that holds over all of R^dim
METHOD = "method"  # a hyper-parameter
DATA = "data"  # drawn with the clients' samples
RUN = "run"  # recorded during the run
COUPLED = "coupled run"  # recorded during the run on the neighbouring data set


class Name(NamedTuple):
    """One row of the table.

    Attributes:
        source: one of the sources above.
        indices: the usual letters of its indices; empty for a symbol.
        kind: ``index`` (an integer that a range or a sum binds), ``integer``, ``number`` or ``vector``.
        sign: ``positive``, ``nonnegative`` or ``real``. Of an array sympy is told that its entries are real, nothing more.
        unit: powers of loss and parameter; None where the unit depends on the claim.
        origin: where the value comes from, in words; empty where the claim decides it.
    """

    name: str
    source: str
    indices: str = ""
    kind: str = "number"
    sign: str = "real"
    unit: Unit | None = None
    origin: str = ""


_EVERYWHERE, _FROM_RUN = "the federation's, over all points", "recorded in the run"
_EVERY_SAMPLE = f"{_EVERYWHERE} and samples"
_ROWS = (
    *(Name(name, ARGUMENT, kind="index") for name in "tijkrls"),
    *(Name(name, ARGUMENT, kind="vector") for name in "uv"),
    Name("sampling", ARGUMENT),
    *(Name(name, SIZE, kind="integer", sign="positive", unit=ONE, origin="a size of the instance") for name in (
        "clients", "participants", "priority_clients", "local_steps", "iterations", "rounds", "samples", "layers", "dim")),
    # the federation
    Name("client_weight", FEDERATION, "k", "number", "nonnegative", ONE, "given with the federation"),
    Name("priority", FEDERATION, "k", "number", "nonnegative", ONE, "given with the federation"),
    Name("x_star", FEDERATION, "", "vector", "real", PARAMETER, "the federation's optimum"),
    Name("F_star", FEDERATION, "", "number", "real", LOSS, "the objective's value at the optimum"),
    Name("F_star_client", FEDERATION, "k", "number", "real", LOSS, "the minimum of the client's loss"),
    Name("L_client", FEDERATION, "k", "number", "nonnegative", CURVATURE, "the client's largest curvature"),
    Name("mu_client", FEDERATION, "k", "number", "real", CURVATURE, "the client's least curvature"),  # negative: not convex
    Name("mu_objective", FEDERATION, "", "number", "real", CURVATURE, "the objective's least curvature"),
    Name("sigma_sq_client", FEDERATION, "k", "number", "nonnegative", GRADIENT_SQ,
         "the variance of the client's gradient noise"),
    # constants
    Name("L", CONSTANT, "", "number", "positive", CURVATURE),
    Name("mu", CONSTANT, "", "number", "positive", CURVATURE),
    Name("sigma", CONSTANT, "", "number", "nonnegative", GRADIENT),
    Name("sigma_sq", CONSTANT, "", "number", "nonnegative", GRADIENT_SQ),
    Name("G", CONSTANT, "", "number", "nonnegative", GRADIENT),
    Name("G_sq", CONSTANT, "", "number", "nonnegative", GRADIENT_SQ),
    Name("sigma_g_sq", CONSTANT, "", "number", "nonnegative", GRADIENT_SQ),
    *(Name(name, CONSTANT, "", "number", "nonnegative", GRADIENT, _EVERYWHERE)
      for name in ("sigma_g", "sigma_g_1", "sigma_g_2", "sigma_g_max")),
    Name("sigma_g_client", CONSTANT, "k", "number", "nonnegative", GRADIENT, _EVERYWHERE),
    Name("G_lip", CONSTANT, "", "number", "nonnegative", GRADIENT, _EVERY_SAMPLE),
    Name("G_lip_client", CONSTANT, "k", "number", "nonnegative", GRADIENT, _EVERY_SAMPLE),
    Name("noise_bound", CONSTANT, "", "number", "nonnegative", GRADIENT, _EVERY_SAMPLE),
    Name("H_loss", CONSTANT, "", "number", "positive", LOSS, _EVERY_SAMPLE),
    Name("L_objective", CONSTANT, "", "number", "nonnegative", CURVATURE, "the objective's largest curvature"),
    Name("F_inf", CONSTANT, "", "number", "real", LOSS, "the infimum of the objective"),
    Name("F0_gap", CONSTANT, "", "number", "nonnegative", LOSS),
    Name("D0_sq", CONSTANT, "", "number", "nonnegative", PARAMETER_SQ),
    Name("Gamma", CONSTANT, "", "number", "nonnegative", LOSS),
    # hyper-parameters
    Name("eta_l", METHOD, "t", "number", "positive", STEP, "any step sizes that the conditions admit"),
    Name("epsilon", METHOD, "t", "number", "nonnegative", LOSS, "any thresholds"),
    Name("step_offset", METHOD, "", "number", "positive", ONE),
    *(Name(name, METHOD, unit=ONE) for name in ("eta_g", "beta1", "beta2")),
    Name("participation", METHOD, "", "number", "positive", ONE),  # probability with which a client takes part
    Name("communication", METHOD, "", "number", "positive", ONE),  # probability with which a round communicates
    Name("rho_sam", METHOD, unit=PARAMETER),
    Name("rho_prox", METHOD, unit=CURVATURE),
    # clients with samples
    Name("used_sample", DATA, "tk", "number", "nonnegative", ONE, "drawn with the samples"),
    Name("replaced", DATA, "tk", "number", "nonnegative", ONE, "drawn with the samples"),
    Name("differing", DATA, "k", "number", "nonnegative", ONE, "drawn with the samples"),
    # a run
    *(Name(name, RUN, indices, "vector", "real", PARAMETER, _FROM_RUN) for name, indices in (
        ("x", "t"), ("x_sampled", "t"), ("x_local", "tk"), ("x_before", "tk"), ("x_round", "r"), ("x_broadcast", "r"))),
    Name("g", RUN, "tk", "vector", "real", GRADIENT, _FROM_RUN),
    *(Name(name, RUN, indices, "number", "nonnegative", ONE, _FROM_RUN)
      for name, indices in (("included", "tk"), ("sampled", "rk"), ("sampled_weight", "tk"))),
)

NAMES: dict[str, Name] = {row.name: row for row in _ROWS}
NAMES |= {f"twin_{row.name}": row._replace(name=f"twin_{row.name}", source=COUPLED, origin="recorded in the coupled run")
          for row in _ROWS if row.source == RUN}

#: how names of a method's own arrays begin, and their first indices; further ones are layers or stored samples
_STATES = {"server_": "r", "client_": "rk", "local_": "tk"}


def row_of(name: str) -> Name | None:
    """The row of a name, also of an array of a method's state; None for what only a claim explains."""
    if name in NAMES:
        return NAMES[name]
    of_twin, own = name.startswith("twin_"), name.removeprefix("twin_")
    indices = next((indices for start, indices in _STATES.items() if own.startswith(start)), None)
    if indices is None:
        return None
    twin = NAMES["twin_x_round" if of_twin else "x_round"]
    return Name(name, twin.source, indices, "state", origin=twin.origin)


def meaning_of(name: str) -> str:
    """Describe in brackets what a name of the language stands for; empty for another name."""
    row = NAMES.get(name)
    if row is None:
        return ""
    argument = {"index": "an index", "vector": "any point, in a bound at all points"}.get(row.kind, "an argument")
    said = argument if row.source == ARGUMENT else row.origin
    return f" ({said})" if said else ""


def names_from(source: str) -> tuple[str, ...]:
    """The names of one source, in the order of the table."""
    return tuple(row.name for row in NAMES.values() if row.source == source)


def symbol(name: str):
    """The sympy symbol of a name, or of an array of a method's state: an IndexedBase if it has indices."""
    row = row_of(name)
    if row is None:
        raise LookupError(f"{name!r} is no name of the language; see bounds.language.names")
    if row.indices:
        return sp.IndexedBase(name, real=True)
    if row.kind == "index":
        return sp.Symbol(name, integer=True)
    if row.kind == "integer":
        return sp.Symbol(name, integer=True, positive=True)
    return sp.Symbol(name, **({"real": True} | ({row.sign: True} if row.sign != "real" else {})))
