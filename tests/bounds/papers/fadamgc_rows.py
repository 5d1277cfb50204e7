"""Both sides of FAdamGC's claims from the paper, and what its specification lists."""

import numpy as np

from bounds.language import coordinates, operators
from tests.bounds.chance import CHANCE, Max, Min
from tests.bounds.claim_values import Values, entry, name_of, reading_of
from tests.bounds.papers import fadamgc_world
from tests.bounds.papers.fadamgc_hypotheses import DOMAINS, METHOD, SUPPOSED, setting_of
from tests.bounds.papers.fadamgc_late_rows import GC, NT
from tests.bounds.papers.fadamgc_world import P, length, sq

__all__ = [
    "BLOCKS", "DOMAINS", "METHOD", "READINGS", "ROWS", "SUPPOSED", "WITHOUT_UNIT", "row", "sides", "values",
    "world",
]

#: block ids of the specification's sections 4 and 5
BLOCKS = """
    theorem-5.2 theorem-5.2/eq-102-103 theorem-5.2/eq-104 theorem-5.4 theorem-5.4/eq-48-51 theorem-5.4/eq-54-57 lemma-A.1
    lemma-B.1 theorem-C.2 theorem-C.2/eq-158-163 theorem-C.2/eq-167-171 theorem-C.3 theorem-C.3/eq-210 theorem-C.3/eq-211
    lemma-D.1 lemma-D.2 table-1/fedadam table-1/fedams table-1/fa-nt-special table-1/fa-nt table-1/fadamgc-special
    table-1/fadamgc eq-4 sec-4.1-adam sec-4.1-fa-nt sec-4.1-average sec-4.1-sgd eq-113-114 app-C-communication
    table-1/fedadam/order table-1/fedams/order table-1/fa-nt-special/order table-1/fa-nt/order table-1/fadamgc-special/order
    table-1/fadamgc/order table-1/fedadam/sigma theorem-5.4/speed-up theorem-C.2/stricter-steps
    eq-12 eq-13 eq-17 eq-19 eq-21-zero eq-21 eq-118 eq-131a eq-23 eq-28 eq-31 eq-34 eq-37 eq-39 eq-42 eq-51-division eq-61
    eq-64 eq-65 eq-69 eq-71 eq-73 eq-75 eq-76 eq-78 eq-79 eq-81
    app-B-unit sec-5-unit-step eq-83 eq-85 eq-87 eq-89 eq-90 eq-91 eq-93 eq-94 eq-95 eq-96 eq-98 eq-101 eq-107 eq-109 eq-110
    eq-111
    eq-124 eq-126 eq-129 eq-130 eq-132 eq-134 eq-136 eq-138 eq-139 eq-142 eq-144 eq-146 eq-151 eq-157 eq-163-division eq-164
    eq-165 eq-176 eq-179 eq-180 eq-182 eq-183-exp eq-188 eq-190 eq-191 eq-192 eq-194
    app-E-buffer eq-196 eq-198 eq-200 eq-204 eq-206 eq-207 eq-208 eq-209"""
#: readings that the specification lists, by block
READINGS = {
    "theorem-5.2": "substitution norm-scalar big-o-betas big-o-all-but-rounds vhat-carry v-init",
    "theorem-5.4": "appendix condition-78 appendix+condition-78 y-gradient vhat-carry v-init big-o-betas "
                   "big-o-all-but-rounds",
    "theorem-5.4/eq-54-57": "appendix condition-78 appendix+condition-78 y-gradient vhat-carry",
    "theorem-5.4/eq-48-51": "condition-78 y-gradient vhat-carry",
    "lemma-A.1": "condition-78 y-gradient vhat-carry v-init",
    "lemma-B.1": "norm-scalar vhat-carry v-init",
    "theorem-C.2": "appendix appendix+condition-152 v-init y-gradient vhat-carry big-o-betas big-o-all-but-rounds",
    "theorem-C.2/eq-158-163": "gamma-bound alpha-vhat y-gradient vhat-carry",
    "theorem-C.3": "appendix v-init norm-scalar big-o-betas big-o-all-but-rounds",
    "theorem-C.3/eq-210": "big-o norm-scalar",
    "lemma-D.1": "left-m k-prime alpha-vhat v-init",
    "lemma-D.2": "alpha-vhat v-init",
    **dict.fromkeys(("table-1/fedadam", "table-1/fedams"), "cited-steps"),
    "sec-4.1-sgd": "standard", "sec-4.1-adam": "leaves", "eq-113-114": "one-round unit-server-step",
    "eq-37": "in-mean noise-over-n in-mean+noise-over-n", "eq-87": "in-mean norms",
    **dict.fromkeys(("eq-98", "eq-107", "eq-111", "eq-200"), "in-mean"),
    **dict.fromkeys(("eq-83", "eq-196"), "in-mean pathwise conditional"),
    "app-C-communication": "scaffold",
    **dict.fromkeys(("eq-13", "eq-23", "eq-28", "eq-31", "eq-61", "eq-64", "eq-69", "eq-71", "eq-73", "eq-126", "eq-136",
                     "eq-179"), "pathwise"),
    **dict.fromkeys(("eq-17", "eq-129", "eq-130", "eq-139"), "k-prime at-most"),
    **dict.fromkeys(("eq-142", "eq-144"), "in-mean k-prime"), "eq-146": "k-prime", "eq-182": "in-mean alpha-vhat",
    **dict.fromkeys(("eq-124", "eq-126"), "full"),
    **dict.fromkeys(("theorem-5.2/eq-104", "theorem-C.3/eq-211"), "beta1-to-K"),
    "eq-109": "in-mean chosen-b in-mean+chosen-b",
    "eq-131a": "lower", "eq-34": "pathwise vhat-carry store-vhat", "eq-138": "pathwise vhat-carry store-vhat",
    "eq-176": "pathwise definition identity", "eq-75": "all-clients", "eq-95": "k-prime",
    "eq-78": "product", "eq-79": "second", **dict.fromkeys(("eq-132", "eq-134"), "at-t k-prime"),
    "app-B-unit": "vhat by-coordinate by-coordinate+vhat norm-scalar", "eq-85": "at-most",
    "eq-90": "lengths", "eq-101": "numbers",
    "eq-110": "in-mean at-most in-mean+at-most",
    "eq-165": "both at-most", "eq-183-exp": "second", "eq-194": "second",
    "eq-209": "k-prime second second-k-prime both", "eq-198": "at-most",
    **dict.fromkeys(("eq-151", "eq-157", "eq-164", "eq-180", "eq-188", "eq-190", "eq-191"), "alpha-vhat"),
}
#: gradients in FAdamGC and pure numbers in FA-NT; hidden constants; the corrections of SCAFFOLD and of FA-NT
WITHOUT_UNIT = {"client_variate", "server_variate", "C", "C_beta", "C_all", "own_control", "own_controls", "control"}
ROWS = GC | NT


def world(seed, reading=frozenset()):
    """Random values; where all are tracked, the trackers are the participants."""
    w = fadamgc_world.world(seed)
    if "all-tracked" in reading:
        w.tracked = w.sampled
    return w


def values(w, definitions) -> Values:
    """Values in a world, as numbers or vectors; definitions are put in but where the world has a value. Expectations, maxima
    and minima are some functions of numbers: see ``chance``."""
    def client(k):
        assert k >= 0, f"client {k}"
        return round(k)

    def highest(e, of):
        name, low, high, body = e.args
        return np.max(np.array([of(body, {str(name): i}) for i in range(round(of(low)), round(of(high)) + 1)]), axis=0)

    return Values(lambda name, places: entry(getattr(w, name), places), {
        operators.norm2: sq, operators.norm: length, operators.dot: lambda x, y: x @ y,
        operators.grad: lambda k, v: w.grad(client(k), v), operators.objective: w.objective,
        operators.objective_grad: w.objective_grad, coordinates.scaled: lambda u, v, b: u / (v + b),
        coordinates.reciprocal: lambda v, b: 1 / (v + b), coordinates.root: np.sqrt,
        coordinates.square: lambda v: v * v, coordinates.upper: np.maximum,
        coordinates.raised: lambda v, b: v + b, coordinates.least: min,
    } | CHANCE, largest=Max, smallest=Min, binding={coordinates.highest: highest}, number=float,
        definitions={name: d for name, d in definitions.items() if d.indices or not hasattr(w, name)})


def sides(claim, w, at):
    """Both sides from the paper, in FA-NT's words where the claim is about FA-NT."""
    name = name_of(claim)
    nt = (claim.procedure is not None and claim.procedure.base == "fa-nt") or name not in GC
    row = (NT if nt and name in NT else GC)[name]
    return row(P(w, nt, reading_of(claim)), *at.values())


def row(claim):
    """The claim's row; its sides are in ``sides``."""
    return setting_of(name_of(claim), reading_of(claim))
