"""What the text says of this paper's bounds beside others, and of how they move with their parameters."""

from dataclasses import replace

from bounds.formulas.comparisons import comparison, monotone, right_side
from bounds.language.claim import Condition, Variable
from bounds.language.samples import G_lip, samples
from bounds.language.words import L, clients, local_steps, mu, participants, rounds
from bounds.papers.fedmoswa.main_text import B_TILDE, C_TILDE
from bounds.papers.fedmoswa.main_text import CLAIMS as MAIN_TEXT
from bounds.papers.fedmoswa.setting import algebra_claim, c, eta, eta_g, large_server_step
from bounds.papers.fedmoswa.table_1 import CLAIMS as TABLE_1
from bounds.papers.fedmoswa.table_1 import sizes
from bounds.papers.fedmoswa.words import sigma_g

__all__ = ["CLAIMS"]

_COMPARED = {
    *(f"theorem-5.1-{case}-{name}" for case in ("strongly-convex", "nonconvex") for name in ("fedswa", "fedmoswa")),
    "theorem-5.2-strongly-convex", "theorem-5.2-nonconvex", "explicit-5.2-nonconvex-tuned", "table-1-gen-fedsam",
    "table-1-gen-fedswa", "table-1-gen-fedmoswa", "table-1-opt-fedmoswa", "text-opt-scaffold",
}


def _side(claim):
    """A right side in which D^2, the start's distance, is a number of its own, however many clients it is a mean over."""
    known = {name: d for name, d in claim.definitions.items() if name != "start_distance_sq"}
    return right_side(replace(claim, definitions=known), nonnegative=("start_distance_sq",))


_BOUNDS = {name: _side(claim) for claim in (*MAIN_TEXT, *TABLE_1)
           if (name := claim.id.removeprefix("fedmoswa/")) in _COMPARED}
_CASES = ("strongly-convex", "nonconvex")


# generalisation: FedMoSWA < FedSWA < FedSAM --------------------------------------------------------------------------
def _strict_and_not(block, name, first, second, note, **more):
    """The comparison with a strict sign, and its reading ``at-most``."""
    strict = comparison(f"fedmoswa/{block}{name}", first, second, strict=True, note=note, **more)
    at_most = Condition(strict.statement.left, "<=", strict.statement.right)
    return strict, replace(strict, id=f"{strict.id}{'+' if name else '@'}at-most", statement=at_most,
                           reading=f"{strict.reading}; at most, where the text says {note.partition(';')[0]}")


#: what Assumptions 2 and 5 print or need: with L = 0 both bounds are zero
POSITIVE = (Condition(G_lip, ">", 0), Condition(sigma_g, ">", 0))


def _order(block, first, second, put_in=None, **more):
    return _strict_and_not("claim-gen-order", block, _BOUNDS[first], _BOUNDS[second].with_values(put_in or {}),
                           "better; the heterogeneity is positive, as in Assumption 5, and so is the Lipschitz constant",
                           number="text on Theorem 5.1 and Table 1", conditions=POSITIVE, **more)


#: c is the least factor that the local steps admit
least = {c: 1 + L * eta}
largest = {c: 1 + 1 / (local_steps * rounds), eta: 1 / (L * local_steps * rounds)}

gen_order = (
    *_order("", "table-1-gen-fedmoswa", "table-1-gen-fedswa"),
    *(claim for case in _CASES for claim in _order(
        f"@theorem-5.1-{case}", f"theorem-5.1-{case}-fedmoswa", f"theorem-5.1-{case}-fedswa")),
    *_order("@fedswa-fedsam", "table-1-gen-fedswa", "table-1-gen-fedsam", least),
    *_order("@fedswa-fedsam-largest-step", "table-1-gen-fedswa", "table-1-gen-fedsam", largest,
            reading="as fedswa-fedsam, both at the largest step size of Appendix I, without hidden constants"),
)


def _moves(block, bound, symbol, **more):
    return monotone(f"fedmoswa/claim-{block}", _BOUNDS[bound], symbol, number="text on Theorems 5.1 and 5.2", **more)


#: symbol, and whether the bound is said to rise with it
GEN_MOVES = {"clients": (clients, False), "samples": (samples, False), "local-steps": (local_steps, True),
             "heterogeneity": (sigma_g, True)}

gen_monotone = tuple(
    _moves(f"gen-monotone@{name}-{case}-{move}", f"theorem-5.1-{case}-{name}", symbol, rises=rises)
    for name in ("fedswa", "fedmoswa") for case in _CASES for move, (symbol, rises) in GEN_MOVES.items()
)

constants_large = algebra_claim(
    id="fedmoswa/claim-constants-large", number="text on Theorem 5.1", kind="prose",
    reading="b_tilde is far above one, read as above ten", statement=Condition(B_TILDE, ">", 10),
    variables=(*sizes, Variable("mu", "positive")), conditions=(Condition(mu, "<=", L),),
)

far_above_one = Condition(sigma_g, ">", 0), Variable("sigma_g", "positive")

gen_factors_large = (
    constants_large.variant(
        "b-tilde-sigma-g", "b_tilde sigma_g is far above sigma_g, read as above ten times",
        statement=Condition(B_TILDE * sigma_g, ">", 10 * sigma_g),
        variables=(*constants_large.variables, far_above_one[1]),
        conditions=(*constants_large.conditions, far_above_one[0])),
    constants_large.variant(
        "c-tilde-sigma-g", "c_tilde sigma_g is far above sigma_g, read as above ten times",
        statement=Condition(C_TILDE * sigma_g, ">", 10 * sigma_g), variables=(*sizes[1:], far_above_one[1]),
        conditions=far_above_one[:1]),
)

# optimisation --------------------------------------------------------------------------------------------------------
opt_monotone = tuple(
    _moves(f"opt-monotone@{case}-{move}", f"theorem-5.2-{case}", symbol, rises=False, **more)
    for case in _CASES for move, (symbol, more) in {
        "local-steps": (local_steps, {}), "participants": (participants, {}),
        "all-clients": (clients, {"tied": {participants: clients}}), "server-step": (eta_g, {}),
    }.items()
)

alpha_optimum = tuple(
    _moves(f"alpha-optimum{block}", bound, eta_g, rises=False)
    for block, bound in {"": "table-1-opt-fedmoswa", "@tuned": "explicit-5.2-nonconvex-tuned"}.items()
)


def _beside_scaffold(block, first, **more):
    return _strict_and_not("claim-mo-vs-scaffold", block, _BOUNDS[first], _BOUNDS["text-opt-scaffold"], "faster",
                           number="text after Theorem 5.2", **more)


LARGE = {"conditions": (large_server_step,)}
LARGE_TEXT = "the right side of {} against that of fedmoswa/text-opt-scaffold, without hidden constants; alpha at least 1"

vs_scaffold = tuple(
    claim
    for readings, first in ((("", "@large-server-step"), "table-1-opt-fedmoswa"),
                            (("@theorem-5.2", "@theorem-5.2-large-server-step"), "theorem-5.2-nonconvex"))
    for reading, more in zip(readings, ({}, LARGE | {"reading": LARGE_TEXT.format(f"fedmoswa/{first}")}), strict=True)
    for claim in _beside_scaffold(reading, first, **more)
)

CLAIMS = (*gen_order, *gen_monotone, constants_large, *gen_factors_large, *opt_monotone, *alpha_optimum, *vs_scaffold)
