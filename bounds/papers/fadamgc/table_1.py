"""Table 1: rates of FedAdam, FedAMS, FA-NT and FAdamGC."""

from dataclasses import replace

import sympy as sp

from bounds.formulas.comparisons import comparison, right_side
from bounds.language.claim import Condition, Procedure, Variable
from bounds.language.words import L, clients, local_steps, rounds
from bounds.papers.fadamgc.assumptions import A51, A51_A53, A51_AC1
from bounds.papers.fadamgc.builders import (
    FA_NT,
    FADAMGC,
    average_norm,
    average_sq,
    constant_step,
    free_constants,
    order_claim,
)
from bounds.papers.fadamgc.quantities import DEFINITIONS, F0_gap
from bounds.papers.fadamgc.theorems import leading, theorem_52, theorem_54
from bounds.papers.fadamgc.theorems_fa_nt import theorem_C2, theorem_C3
from bounds.papers.fadamgc.words import B, C, G, beta1, eps, eta, eta_g, sigma

__all__ = ["CLAIMS"]

n, K, T, F, sqrt = clients, local_steps, rounds, F0_gap, sp.sqrt
NOT_SAID = "the left side is that of the theorem named"
SQUARE = "the left side, which the table leaves out, is the mean squared gradient; the steps are not said"


def entry(name, method, right, assumptions, left=average_sq, like=None, variables=(), **fields):
    """A row: ``like`` is the theorem that it names, whose conditions it takes over."""
    if like is not None:
        made = replace(like, id=f"fadamgc/table-1/{name}", number="Table 1", kind="table entry", steps=(like.id,), note="",
                       reading=f"{NOT_SAID}; {like.reading}",
                       statement=Condition(like.statement.left, "<=", C * right))
        return (made, *free_constants(made))
    made = order_claim(replace(
        theorem_54, id=f"fadamgc/table-1/{name}", number="Table 1", kind="table entry", procedure=method, steps=(),
        reading=SQUARE, explicit=True, limits=(), assumptions=assumptions, variables=variables, conditions=(),
        definitions=DEFINITIONS, statement=Condition(left, "<=", right), **fields))
    return (made, *free_constants(made))


def method(base):
    """A baseline with the same sampling."""
    return Procedure(base, sampling="without-replacement", equal_weights=True)


#: of the corollaries cited, with 1 for the constants of Theta: local and server step
CITED = (Condition(eta, "==", 1 / (K * L * sqrt(T))), Condition(eta_g, "==", sqrt(n * K)))


def cited(rows, *more):
    """A row with the steps of the work that it cites, and what else its rate needs there."""
    row = rows[0]
    return row.variant(
        "cited-steps", f"{SQUARE.rpartition(';')[0]}; the steps of the work cited, all clients take part",
        procedure=replace(row.procedure, sampling="full"), conditions=(constant_step, *CITED, *more),
        variables=tuple(v for v in row.variables if v.name not in {str(c.left) for c in more}))


fedadam = entry(
    "fedadam", method("fedadam"),
    sqrt(F**2 / (n * K * T)) + L * sigma**2 / (G**2 * sqrt(n * K * T)) + sigma**2 / (G * K * T)
    + L * sigma**2 * sqrt(n) / (G**2 * sqrt(K) * T ** sp.Rational(3, 2)), A51_A53)

fedams = entry(
    "fedams", method("fedams"),
    sqrt(F**2 / (n * K * T)) + L * sqrt(n * K) * G**2 / (sqrt(eps) * T) + L**2 * K * sigma**2 / T
    + G * sigma**2 / (sqrt(eps**2 * n * K) * T), A51_A53, variables=(Variable("eps", "positive"),))

ROWS = (
    *fedadam, cited(fedadam, Condition(beta1, "==", 0), Condition(eps, "==", G / L)), *fedams, cited(fedams),
    *entry("fa-nt-special", FA_NT, leading + L * F / T + K * (sigma + L + n * B) / T, A51_AC1, like=theorem_C3),
    *entry("fa-nt", FA_NT, theorem_C2.statement.right / C, A51_A53, like=theorem_C2),
    *entry("fadamgc-special", FADAMGC, leading + L * F / T + K * (sigma + L) / T, A51, left=average_norm, like=theorem_52),
    *entry("fadamgc", FADAMGC, theorem_54.statement.right / C, A51_A53, like=theorem_54),
)

_PREFIX = "fadamgc/table-1/"
_BOUNDS = {name: right_side(row) for row in ROWS
           if (name := row.id.removeprefix(_PREFIX)) in ("fadamgc", "fa-nt", "fadamgc-special", "fa-nt-special")}

#: the last terms of the rates, of FAdamGC and of FA-NT
COMPARED = tuple(
    comparison(f"fadamgc/q7-K{reading}", _BOUNDS[f"fadamgc{special}"], _BOUNDS[f"fa-nt{special}"],
               number="text on Table 1", note="printed as K against K^2 in the last term")
    for reading, special in (("", ""), ("@special", "-special"))
)

CLAIMS = (*ROWS, *COMPARED)
