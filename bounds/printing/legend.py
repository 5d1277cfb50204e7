"""Where every symbol of a claim comes from: sizes, constants of the federation, hyper-parameters, what a run records."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import sympy as sp

from bounds.language.claim import Claim, names_in
from bounds.language.definitions import DEFINITIONS
from bounds.language.words import PaperWord
from bounds.printing.options import OWN_VALUES

__all__ = ["Symbol", "measured", "origin", "symbols", "words"]

SIZES = {"clients", "participants", "local_steps", "rounds", "iterations", "samples", "layers", "trackers", "dim"}

#: measured on the federation itself, over all of R^dim
FEDERATION = {
    "client_weight": "given with the federation", "priority": "given with the federation",
    "x_star": "the federation's optimum", "F_star": "the objective's value at the optimum",
    "F_star_client": "the minimum of the client's loss", "L_client": "the client's largest curvature",
    "mu_client": "the client's least curvature", "sigma_sq_client": "the variance of the client's gradient noise",
    "L_objective": "the objective's largest curvature",
    **dict.fromkeys(("sigma_g", "sigma_g_1", "sigma_g_2", "sigma_g_max", "sigma_g_client"),
                    "the federation's, over all points"),
    **dict.fromkeys(("G_lip", "H_loss", "noise_bound"), "the federation's, over all points and samples"),
}

#: recorded at every local iteration or every round of a run
_RECORDED = re.compile(r"(twin_)?(x|x_sampled|x_local|x_before|g|x_round|x_broadcast|sampled|sampled_weight|included"
                       r"|(server|client|local)_\w+|tracked|z_x_round)$")
_ANY = {"positive": "any positive number", "nonnegative": "any number of at least 0", "real": "any number",
        "integer": "any integer", "vector": "any vector", "binary": "any pattern of 0 and 1",
        "simplex": "any shares that sum to one", "hidden": "a constant that the statement hides"}
_CHANCE = {"used_sample", "replaced", "differing"}


class Symbol(NamedTuple):
    """One symbol: its name in code, the indices that it stands with, what it is, and where its value comes from."""

    name: str
    indices: tuple[str, ...]
    meaning: str
    origin: str


def measured(name: str) -> str | None:
    """How a name of the common language is measured, whatever the claim; None for what a claim itself gives."""
    if name in SIZES:
        return "a size of the instance"
    if name in FEDERATION:
        return FEDERATION[name]
    if name in _CHANCE:
        return "drawn with the samples"
    recorded = _RECORDED.match(name)
    return f"recorded in the {'coupled ' if recorded[1] else ''}run" if recorded else None


def origin(claim: Claim, name: str) -> str:
    """Where the value of a name comes from in a claim, in words."""
    if name in claim.definitions:
        return "measured by its formula"
    for condition in claim.hypotheses:
        left = condition.left.base.label if isinstance(condition.left, sp.Indexed) else condition.left
        if condition.relation == "==" and left.is_Symbol and left.name == name:
            return "given by a condition"
    variable = next((v for v in claim.variables if v.name == name), None)
    own = claim.procedure is not None and name in OWN_VALUES.get(claim.procedure.base, {})
    if variable is not None:
        return f"hyper-parameter of the method, {_ANY[variable.domain]}" if own else _ANY[variable.domain]
    if claim.setting == "point" and (known := measured(name)) and known.startswith("recorded"):
        return "any, at the fixed time"
    if (known := measured(name)) is not None:
        return known
    if name in claim.constants:
        return "the tightest value that the conditions admit"
    if name in ("eta_l", "epsilon"):
        return "any step sizes that the conditions admit" if name == "eta_l" else "any thresholds"
    if own:
        return "hyper-parameter of the method"
    return "given by the instance"


def symbols(claim: Claim, letters) -> Iterator[Symbol]:
    """The symbols that the statement, the hypotheses and the definitions print, but for indices and defined quantities."""
    sides = [e for c in (*claim.hypotheses, *([claim.statement] if claim.statement else ())) for e in (c.left, c.right)]
    ranges = [e for c in (*claim.hypotheses, *([claim.statement] if claim.statement else ())) for o in c.over for e in o[1:]]
    formulas = [d.formula for d in claim.used_definitions().values()]
    names = {v.name for v in claim.variables}.union(*map(names_in, [*sides, *ranges, *formulas]))
    known = [name for name in letters if name in names]
    for name in [*known, *sorted(names - {*known})]:
        if name in claim.used_definitions() or name in _INDICES:
            continue
        letter = letters.get(name)
        variable = next((v for v in claim.variables if v.name == name), None)
        indices = tuple(letter.indices) if letter else tuple(index for index, _ in variable.indices) if variable else ()
        yield Symbol(name, indices, letter.meaning if letter else _meaning(name), origin(claim, name))


def _meaning(name: str) -> str:
    return DEFINITIONS[name].meaning if name in DEFINITIONS else ""


#: indices, points of R^dim and the name of a source of chance: no symbols with a value
_INDICES = {"t", "i", "j", "k", "r", "l", "s", "u", "v", "sampling"}


def words(claim: Claim) -> Iterator[tuple[type[PaperWord], tuple[str, ...], str]]:
    """The paper's own words in a claim: the word, names for its arguments, and what it means."""
    sides = [e for c in (*claim.hypotheses, *([claim.statement] if claim.statement else ())) for e in (c.left, c.right)]
    used = {type(a) for e in [*sides, *(d.formula for d in claim.used_definitions().values())] for a in e.atoms(PaperWord)}
    for word in sorted(used, key=lambda kind: kind.__name__):
        call, _, meaning = " ".join(word.__doc__.split()).partition("``: ")
        yield word, tuple(call.partition("(")[2].rstrip(")").split(", ")), meaning.rstrip(".")
