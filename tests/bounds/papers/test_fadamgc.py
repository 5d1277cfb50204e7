"""FAdamGC's claims: complete, each the paper's formula, written in its letters and units."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy as sp

from bounds.formulas.closed_form import closed_form
from bounds.formulas.units import BASE
from bounds.language import words
from bounds.language.claim import names_in
from bounds.papers.fadamgc import words as own
from bounds.papers.fadamgc.assumptions import ASSUMPTIONS
from bounds.papers.fadamgc.notation import LETTERS, UNITS
from bounds.printing.render import condition_latex, condition_text, show
from bounds.registry.claims import all_claims
from fedtheory import find_algorithm
from tests import ROOT
from tests.bounds.claim_values import Values, entry
from tests.bounds.each_claim import each_claim
from tests.bounds.papers.fadamgc_late_rows import GC, NT
from tests.bounds.papers.fadamgc_rows import K, N, P, T, length, sq, world

CLAIMS = [c for c in all_claims().values() if c.paper == "fadamgc" and not c.compares]
COVERAGE = ROOT / "docs" / "coverage.md"

#: block ids of the specification's sections 4 and 5
BLOCKS = """
    theorem-5.2 theorem-5.2/eq-102-103 theorem-5.2/eq-104 theorem-5.4 theorem-5.4/eq-48-51 theorem-5.4/eq-54-57 lemma-A.1
    lemma-B.1 theorem-C.2 theorem-C.2/eq-158-163 theorem-C.2/eq-167-171 theorem-C.3 theorem-C.3/eq-210 theorem-C.3/eq-211
    lemma-D.1 lemma-D.2 table-1/fedadam table-1/fedams table-1/fa-nt-special table-1/fa-nt table-1/fadamgc-special
    table-1/fadamgc eq-4 sec-4.1-adam sec-4.1-fa-nt sec-4.1-sgd eq-113-114 app-C-communication
    eq-12 eq-13 eq-17 eq-19 eq-21-zero eq-21 eq-118 eq-131a eq-23 eq-28 eq-31 eq-34 eq-37 eq-39 eq-42 eq-51-division eq-61
    eq-64 eq-65 eq-69 eq-71 eq-73 eq-75 eq-76 eq-78 eq-79 eq-81
    app-B-unit sec-5-unit-step eq-83 eq-85 eq-87 eq-89 eq-90 eq-91 eq-93 eq-94 eq-95 eq-96 eq-98 eq-101 eq-107 eq-109 eq-110
    eq-111
    eq-124 eq-126 eq-129 eq-130 eq-132 eq-134 eq-136 eq-138 eq-139 eq-142 eq-144 eq-146 eq-151 eq-157 eq-163-division eq-164
    eq-165 eq-176 eq-179 eq-180 eq-182 eq-183-exp eq-188 eq-190 eq-191 eq-192 eq-194
    app-E-buffer eq-196 eq-198 eq-200 eq-204 eq-206 eq-207 eq-208 eq-209"""
#: blocks that are no checkable statement, with an entry in docs/coverage.md
NOT_CLAIMS = {"sec-4.1-fa-nt"}
#: readings that the specification lists, by block
READINGS = {
    "theorem-5.2": "norm-scalar big-o-betas big-o-all-but-rounds vhat-carry",
    "theorem-5.4": "appendix y-gradient vhat-carry big-o-betas big-o-all-but-rounds",
    "theorem-5.4/eq-54-57": "appendix y-gradient vhat-carry",
    "theorem-5.4/eq-48-51": "condition-78 y-gradient vhat-carry",
    "lemma-A.1": "condition-78 y-gradient vhat-carry",
    "lemma-B.1": "norm-scalar vhat-carry",
    "theorem-C.2": "appendix y-gradient vhat-carry big-o-betas big-o-all-but-rounds",
    "theorem-C.2/eq-158-163": "gamma-bound alpha-vhat y-gradient vhat-carry",
    "theorem-C.3": "appendix norm-scalar big-o-betas big-o-all-but-rounds",
    "theorem-C.3/eq-210": "big-o norm-scalar",
    "lemma-D.1": "left-m k-prime alpha-vhat",
    "lemma-D.2": "alpha-vhat",
    "sec-4.1-sgd": "standard",
    "app-C-communication": "scaffold",
    **dict.fromkeys(("eq-13", "eq-23", "eq-28", "eq-31", "eq-61", "eq-64", "eq-69", "eq-71", "eq-73", "eq-126", "eq-136",
                     "eq-176", "eq-179", "eq-83", "eq-196"), "pathwise"),
    **dict.fromkeys(("eq-17", "eq-129", "eq-130", "eq-139"), "k-prime at-most"),
    **dict.fromkeys(("eq-134", "eq-142", "eq-144", "eq-146"), "k-prime"),
    **dict.fromkeys(("eq-124", "eq-126"), "full"),
    **dict.fromkeys(("theorem-5.2/eq-104", "theorem-C.3/eq-211"), "beta1-to-K"), "eq-109": "chosen-b norm-scalar+chosen-b",
    "eq-131a": "lower", "eq-34": "pathwise vhat-carry store-vhat", "eq-138": "pathwise vhat-carry store-vhat",
    "eq-37": "noise-over-n", "eq-75": "as-printed", "eq-78": "product", "eq-79": "second", "eq-132": "t-plus-1 k-prime",
    "app-B-unit": "vhat norm-scalar", "eq-85": "at-most", "eq-90": "lengths", "eq-101": "numbers", "eq-110": "at-most",
    "eq-165": "both at-most", "eq-183-exp": "second", "eq-194": "second", "eq-209": "second", "eq-198": "at-most",
    **dict.fromkeys(("eq-151", "eq-157", "eq-164", "eq-180", "eq-182", "eq-188", "eq-190", "eq-191"), "alpha-vhat"),
}
#: readings that are equalities or, where the block is one, are not
EQUALITIES = {"eq-12", "eq-124", "eq-17", "eq-19", "eq-21-zero", "eq-21", "eq-65", "eq-85", "eq-198", "eq-110", "eq-129",
              "eq-130", "eq-139", "eq-165", "eq-4", "sec-4.1-adam", "sec-4.1-sgd", "eq-113-114", "app-C-communication"}


def flags_of(claim):
    return set(claim.id.partition("@")[2].split("+")) - {""}


def name_of(claim):
    return claim.block.removeprefix("fadamgc/")


# what is there -------------------------------------------------------------------------------------------------------
def test_every_block_has_a_claim_or_an_entry_of_coverage():
    assert len({c.id for c in CLAIMS}) == len(CLAIMS)
    blocks = set(BLOCKS.split()) - NOT_CLAIMS
    assert {name_of(c) for c in CLAIMS} == blocks
    assert {f"fadamgc/{b}" for b in blocks} <= {c.id for c in CLAIMS}
    text = COVERAGE.read_text(encoding="utf-8")
    assert [b for b in NOT_CLAIMS if f"`fadamgc/{b}`" not in text] == []
    assert [c.id for c in CLAIMS if not c.explicit and f"`{c.block}`" not in text] == []


@pytest.mark.parametrize("block", READINGS)
def test_every_listed_reading_is_there(block):
    ids = {c.id for c in CLAIMS}
    assert [r for r in READINGS[block].split() if f"fadamgc/{block}@{r}" not in ids] == []


def test_steps_assumptions_and_options_exist():
    ids = {c.id for c in CLAIMS}
    assert [s for c in CLAIMS for s in c.steps if s not in ids] == []
    assert {a.id for c in CLAIMS for a in c.assumptions} <= {*ASSUMPTIONS, "fadamgc/implicit-independence"}
    for c in CLAIMS:
        if c.setting == "run":
            allowed = find_algorithm(c.procedure.base).arguments
            assert {n for n, _ in c.procedure.options} <= set(allowed), c.id


# formulas ------------------------------------------------------------------------------------------------------------
def values(w, definitions) -> Values:
    """Values in a world, as numbers or vectors; definitions are put in but where the world has a value, and nothing is
    random."""
    def highest(e, of):
        name, low, high, body = e.args
        return np.max(np.array([of(body, {str(name): i}) for i in range(round(of(low)), round(of(high)) + 1)]), axis=0)

    return Values(lambda name, places: entry(getattr(w, name), places), {
        words.norm2: sq, words.norm: length, words.dot: lambda x, y: x @ y, words.E: lambda x: x,
        words.E_round: lambda x, _: x, words.grad: lambda k, v: w.grad(round(k), v), words.objective: w.objective,
        words.objective_grad: w.objective_grad, own.scaled: lambda u, v, b: u / (v + b),
        own.reciprocal: lambda v, b: 1 / (v + b), own.root: np.sqrt, own.square: lambda v: v * v, own.upper: np.maximum,
        own.raised: lambda v, b: v + b, own.least: min,
    }, binding={own.highest: highest}, number=float,
        definitions={name: d for name, d in definitions.items() if d.indices or not hasattr(w, name)})


def symbols_conditions(claim, w):
    """What the all-tracked readings define: the trackers are the participants."""
    if "all-tracked" in flags_of(claim):
        w.tracked = w.sampled
    return w


@each_claim(CLAIMS)
def test_statement_is_the_papers(claim):
    w = symbols_conditions(claim, world(7))
    nt = (claim.procedure is not None and claim.procedure.base == "fa-nt") or name_of(claim) not in GC
    row = (NT if nt and name_of(claim) in NT else GC)[name_of(claim)]
    p, s = P(w, nt, flags_of(claim)), claim.statement
    w.clients, w.local_steps, w.rounds = N, K, T
    in_world = values(w, claim.definitions)
    for at in in_world.cases(s.over):
        wanted = row(p, *at.values())
        for side, right in ((s.left, wanted[0]), (s.right, wanted[1])):
            assert in_world.of(side, at) == pytest.approx(right, rel=1e-8, abs=1e-9), (at, side)
    equal = name_of(claim) in EQUALITIES and "at-most" not in flags_of(claim)
    equal = (equal and "both" not in flags_of(claim)) or claim.id == "fadamgc/eq-118@sum"
    reverse = name_of(claim) == "eq-79" and not {"second", "both"} & flags_of(claim)
    assert s.relation == ("==" if equal else ">=" if reverse else "<=")


# conditions ----------------------------------------------------------------------------------------------------------
def condition_values(p):
    """Right sides of the printed conditions, by claim and left side."""
    w, lam = p.w, p.lam
    first = math.sqrt(p.F * N) / (lam * p.sigma * math.sqrt(T * K * p.L))
    small = lam / (8 * K * p.L), lam / (12 * T * p.L)
    special = min(math.sqrt(p.F * N) / math.sqrt(p.sigma**2 * K * T * p.L), p.F / T)
    beta = ((K * N - 2 * T) / (2 * K * N)) ** (1 / K)
    return {
        "theorem-5.2": (special, 1 / T, beta),
        "theorem-5.4": (min(*small, first), lam * w.eps / (40 * T * p.L)),
        "theorem-5.4@appendix": (min(*small, math.sqrt(N) / (lam * p.sigma * math.sqrt(T * K * p.L))),
                                 lam * w.eps / (40 * math.sqrt(T) * p.L)),
        "theorem-5.4/eq-48-51": (small[0],),
        "theorem-C.2": (min(*small, lam * math.sqrt(N) / (30 * math.sqrt(T) * p.L)),
                        min(lam * w.eps / (40 * T**1.5 * p.L), lam * w.eps / (30 * K * p.L))),
        "theorem-C.2@appendix": (min(*small, first), lam * w.eps / (12 * T**1.5 * p.L)),
        "theorem-C.2/eq-158-163": (small[0], w.eps * lam / (30 * K * p.L)),
        "theorem-C.3": (math.sqrt(N * K / T), 1 / T, beta),
        "theorem-C.3@appendix": (special, 1 / T, beta),
        "theorem-C.3/eq-211": (special, 1 / T, beta),
        "eq-39": (small[0],), "eq-157": (small[0], w.eps * lam / (30 * K * p.L)),
        "eq-79": (None, w.eps / (4 * math.sqrt(1 - p.b1) * K * p.L), None),
    }


@pytest.mark.parametrize("name", condition_values(P(world(3), False, set())))
def test_conditions_are_those_printed(name):
    (claim,) = (c for c in CLAIMS if c.id == f"fadamgc/{name}")
    w = world(3)
    wanted = [v for v in condition_values(P(w, False, set()))[name] if v is not None]
    eta, both = own.eta, own.eta * own.eta_g
    found = {c.left: values(w, claim.definitions).of(c.right) for c in claim.conditions if c.left in (eta, both, own.beta1)}
    for condition in claim.conditions:
        if condition.left == own.eta_g:
            found[both] = values(w, claim.definitions).of(condition.right * eta)
    order = [found[s] for s in (both, eta, own.beta1) if s in found and not (s == own.beta1 and found[s] == 1)]
    assert order == pytest.approx(wanted, rel=1e-9)


def test_conditions_before_78():
    (claim,) = (c for c in CLAIMS if c.id == "fadamgc/lemma-A.1@condition-78")
    w = world(5)
    (first,) = (c for c in claim.conditions if c.left.has(own.beta1) and c.right == own.eps**2)
    bound = values(w, {}).of(first.right / sp.cancel(first.left / (1 - own.beta1)))
    assert bound == pytest.approx(w.eps**2 / (16 * K * w.L**2))


def _models_of_gradients(claim):
    """The rounds, at the last value of the statement's index, of the server's models at which gradients are taken."""
    statement, seen = claim.statement, []
    last = {name: high for name, _, high in statement.over}
    waiting = [statement.left, statement.right]
    while waiting:
        formula = waiting.pop()
        for atom in formula.atoms(sp.Indexed):
            definition = claim.definitions.get(str(atom.base.label))
            if definition and atom not in seen:
                seen.append(atom)
                waiting.append(definition.formula.xreplace(dict(zip(definition.indices, atom.indices, strict=True))))
        for gradient in formula.atoms(words.grad, words.objective_grad):
            for model in gradient.args[-1].atoms(sp.Indexed):
                if model.base == words.x_round:
                    yield model.indices[0].subs(last)


@pytest.mark.parametrize("name", [c.id for c in CLAIMS if any(a.id.endswith("assumption-5.3") for a in c.assumptions)
                                  and c.statement is not None and c.statement.over])
def test_gradients_are_taken_only_where_assumption_53_bounds_them(name):
    """G is about the run's gradients, of which the last model of the server has none."""
    (claim,) = (c for c in CLAIMS if c.id == name)
    for when in _models_of_gradients(claim):
        assert (words.rounds - 1 - when).subs(words.rounds, 7) >= 0 if when.free_symbols <= {words.rounds} else True


# how it is written ---------------------------------------------------------------------------------------------------
@each_claim(CLAIMS)
def test_every_claim_is_written(claim):
    assert condition_text(claim.statement, LETTERS) and condition_latex(claim.statement, LETTERS)
    assert claim.id in show(claim, "code")
    closed_form(claim)


def test_letters_and_units_exist_for_every_name():
    defined = {name for c in CLAIMS for name in c.definitions}
    indices = {"t", "r", "j", "i", "k", "l", "s"}
    used = set()
    for c in CLAIMS:
        expressions = [side for condition in (*c.hypotheses, c.statement) for side in (condition.left, condition.right)]
        expressions += [d.formula for d in c.used_definitions().values()]
        used |= set().union(*map(names_in, expressions)) | {v.name for v in c.variables}
    used -= defined | indices
    assert used <= set(LETTERS)
    #: gradients in FAdamGC and pure numbers in FA-NT; hidden constants; the corrections of SCAFFOLD and of FA-NT
    open_units = {"client_variate", "server_variate", "C", "C_beta", "C_all", "own_control", "own_controls", "control"}
    assert used - open_units <= {*UNITS, *BASE}
