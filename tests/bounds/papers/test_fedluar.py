"""FedLUAR's claims: complete, each the paper's formula, written in its letters and units, true to the method's runs."""

from __future__ import annotations

import math
from fractions import Fraction as Q
from types import SimpleNamespace

import numpy as np
import pytest
import sympy as sp

from bounds.formulas.units import BASE, check_units
from bounds.language import words
from bounds.language.claim import names_in
from bounds.papers.fedluar import quantities as own_quantities
from bounds.papers.fedluar import words as own_words
from bounds.papers.fedluar.assumptions import ASSUMPTIONS
from bounds.papers.fedluar.notation import LETTERS, UNITS
from bounds.printing.render import condition_latex, condition_text, letters_of, show
from bounds.registry.claims import all_claims
from fedtheory import make_algorithm
from fedtheory.engine import rounds_of, starting_points
from synthetic import Quadratic
from synthetic.numbers.arrays import TORCH, to_numpy
from synthetic.numbers.draws import Draws
from tests import ROOT
from tests.bounds.claim_values import Values, dot, entry, power, same, sq
from tests.bounds.each_claim import each_claim
from tests.bounds.papers.fedluar_rows import MASKS, ROWS, TAU, T, kappa, length, part, root, world
from verify.evaluation.environment import Bound, Environment
from verify.evaluation.evaluate import Evaluator, Value, sides_by
from verify.measure.record import FullRecord

CLAIMS = [c for c in all_claims().values() if c.paper == "fedluar"]
STATED = [c for c in CLAIMS if c.statement is not None]
COVERAGE = ROOT / "docs" / "coverage.md"

#: block ids of the specification's sections 4 and 5
BLOCKS = """
    eq-8 eq-1 eq-2 eq-3-5 eq-6 def-kappa lemma-3.1 theorem-3.2 remark-1 remark-2 lemma-A.1 lemma-A.2 lemma-A.3 theorem-A.4
    eq-9 lemma-A.1-variance lemma-A.1-young eq-10 lemma-A.1-split lemma-A.1-onestep lemma-A.1-coefficient lemma-A.1-recursion
    lemma-A.1-unroll lemma-A.1-geometric lemma-A.1-exponent eq-11 eq-11-maximum
    lemma-A.2-two-terms lemma-A.2-jensen eq-13 lemma-A.2-variance lemma-A.2-drift-split lemma-A.2-smooth
    lemma-A.2-heterogeneity lemma-A.2-global-variance eq-14 eq-14-reason lemma-A.2-sum lemma-A.2-shift lemma-A.2-unweighted
    lemma-A.2-kappa lemma-A.2-kappa-range
    eq-15 eq-16 lemma-A.3-T1-split eq-17 eq-18 lemma-A.3-T2-split eq-19 eq-20 lemma-A.3-collect lemma-A.3-omit eq-21
    lemma-A.3-sum lemma-A.3-insert-noise lemma-A.3-rearrange
    theorem-A.4-insert-drift theorem-A.4-simplify theorem-A.4-coefficient eq-22"""
MASK = "forced exogenous"
NOISE = f"{MASK} common sampled main"
KAPPAS = "sure aggregate update update-squared"
ROUND = f"{MASK} sampled total"
#: readings of each block by the axes that the specification names for it
READINGS = {
    "eq-6": "common sampled main displacement displacement-as-printed",
    "def-kappa": f"{KAPPAS} main",
    "lemma-3.1": f"{NOISE} {KAPPAS} squared-mean along-run ratios-exist",
    "theorem-3.2": f"{NOISE} {KAPPAS} pathwise squared-mean along-run",
    "remark-1": "uniform",
    "lemma-A.1": "proof-display per-client proof-display+per-client literal",
    "lemma-A.2": f"{NOISE} {KAPPAS} ratios-exist",
    "lemma-A.3": f"{NOISE} {KAPPAS} pathwise literal-domain ratios-exist",
    "theorem-A.4": f"{NOISE} {KAPPAS} pathwise",
    "eq-9": "index-k",
    **dict.fromkeys(("lemma-A.2-two-terms", "eq-13", "lemma-A.2-variance", "eq-14", "lemma-A.2-sum", "lemma-A.2-unweighted"),
                    NOISE),
    **dict.fromkeys(("lemma-A.2-drift-split", "lemma-A.2-smooth", "lemma-A.2-heterogeneity"), f"{NOISE} now"),
    **dict.fromkeys(("eq-17", "eq-18", "lemma-A.3-T1-split"), ROUND),
    **dict.fromkeys(("eq-19", "eq-20", "lemma-A.3-T2-split", "lemma-A.3-collect"), f"{ROUND} literal"),
    "eq-15": f"{ROUND} first-line",
    "eq-16": f"{ROUND} literal roots-taken-out",
    "eq-21": f"{ROUND} any-noise",
    "lemma-A.3-sum": f"{MASK} sampled pathwise",
    "lemma-A.3-omit": "run",
    "lemma-A.3-rearrange": "literal-domain",
}


# what is there -----------------------------------------------------------------------------------------------------------
def test_blocks_are_those_of_the_specification():
    blocks = {f"fedluar/{b}" for b in BLOCKS.split()}
    assert {c.block for c in CLAIMS} == blocks and blocks <= {c.id for c in CLAIMS}


@pytest.mark.parametrize("block", READINGS)
def test_every_listed_reading_is_there(block):
    block_id = f"fedluar/{block}"
    assert {c.id for c in CLAIMS if c.block == block_id} == {
        block_id, *(f"{block_id}@{r}" for r in READINGS[block].split())}


def test_steps_and_assumptions_are_registered():
    ids = {c.id for c in CLAIMS}
    assert [s for c in CLAIMS for s in c.steps if s not in ids] == []
    assert {a.id for c in CLAIMS for a in c.assumptions} <= set(ASSUMPTIONS)


def test_coverage_explains_what_is_left_open():
    text = COVERAGE.read_text(encoding="utf-8")
    assert [c.id for c in CLAIMS if c.undefined and f"`{c.id}`" not in text] == []
    assert [c.id for c in CLAIMS if not c.explicit and f"`{c.block}`" not in text] == []


# formulas ----------------------------------------------------------------------------------------------------------------
def values(w, definitions) -> Values:
    """Values in a world; definitions are put in, and nothing is random."""
    def largest_sum(e, of):
        number, body, name, low, high = e.args
        found = [of(body, {name.name: n}) for n in range(int(of(low)), int(of(high)) + 1)]
        return sum(sorted(found, reverse=True)[: int(of(number))])

    return Values(lambda name, places: entry(getattr(w, name), places), {
        words.norm2: sq, words.norm: length, words.dot: dot, words.F: lambda k, v: w.F(int(k), v), words.E: lambda a: a,
        words.E_round: lambda a, r: a, words.grad: lambda k, v: w.grad(int(k), v), words.objective: w.objective,
        words.objective_grad: w.objective_grad, own_words.layer_part: lambda n, v: part(int(n), v),
        own_words.share: lambda a, b: a / b if b else a,
    }, binding={own_words.largest_sum: largest_sum}, definitions=definitions, power=exact_power)


def exact_power(base, exponent):
    if exponent == int(exponent):
        return power(base, exponent)
    return root(base) if exponent == Q(1, 2) else 1 / root(base)


def reading_of(claim):
    """The names that follow the block in a claim's id, and those of the first reading where it is a listed one."""
    names = set(claim.id.partition("@")[2].split("+")) - {""}
    return names or ({"T-fixed"} if claim.block == "fedluar/remark-2" else set())


@each_claim(STATED)
def test_statement_is_the_paper_s(claim):
    axes = reading_of(claim)
    w = world(len(claim.id), "common" if "common" in axes else "per-layer")
    in_world, checked = values(w, claim.definitions), 0
    for index in in_world.cases(claim.statement.over):
        wanted = ROWS[claim.block.split("/")[1]](w, axes, SimpleNamespace(**index))
        sides = [in_world.of(side, index) for side in (claim.statement.left, claim.statement.right)]
        assert all(same(*pair, rel_tol=1e-12) for pair in zip(sides, wanted, strict=True)), (index, sides, wanted)
        checked += 1
    assert checked


@pytest.mark.parametrize("claim", [c for c in STATED if any(s.name == "kappa" for k in c.conditions for s in (
    k.left.free_symbols if k.left.is_Symbol else ()))], ids=lambda c: c.id)
def test_kappa_is_the_reading_s(claim):
    axes = reading_of(claim)
    (condition,) = [c for c in claim.conditions if c.left == own_words.kappa]
    for seed in range(6):  # the largest ratio falls into different rounds
        w = world(seed, "common" if "common" in axes else "per-layer")
        in_world = values(w, claim.definitions)
        found = max(in_world.of(condition.right, index) for index in in_world.cases(condition.over))
        assert same(found, kappa(w, axes), rel_tol=1e-12)


STEPS = {  # condition on the step size, as printed
    "lemma-A.1": lambda w: w.eta * w.L * TAU * 2 * math.sqrt(3) <= 1,
    "theorem-3.2": lambda w: w.eta <= (1 - 16 * w.kappa) / (6 * math.sqrt(30) * w.L * TAU),
    "lemma-3.1": lambda w: w.eta <= 1 / (w.L * TAU),
}


@pytest.mark.parametrize("block", STEPS)
def test_conditions_on_the_step_are_the_printed_ones(block):
    claim = next(c for c in CLAIMS if c.id == f"fedluar/{block}")
    (condition,) = [c for c in claim.conditions if "eta" in names_in(c.left) and "L" in names_in(c.left) | names_in(c.right)]
    answers = set()
    for scale in (Q(1, 100), Q(1, 50), Q(3, 100), Q(4, 100), Q(28, 100), Q(29, 100), Q(1, 2), Q(1), Q(101, 100)):
        w = world(3)
        w.eta, w.kappa = scale / (w.L * TAU), Q(1, 100)
        holds = values(w, {}).of(condition.left) <= values(w, {}).of(condition.right)
        assert holds == STEPS[block](w), scale
        answers.add(holds)
    assert answers == {True, False}


# how they are written ----------------------------------------------------------------------------------------------------
@each_claim(CLAIMS)
def test_every_claim_can_be_written(claim):
    assert claim.id in show(claim) and claim.id in show(claim, "code")
    for condition in (*claim.hypotheses, *([claim.statement] if claim.statement else [])):
        assert condition_latex(condition, letters_of(claim)) and "<" not in condition_text(condition, letters_of(claim))


INDICES = {"r", "t", "j", "k", "i", "l", "s"}
ANY_UNIT = {"a", "first", "second", "C", "length"}


def _names(claim):
    conditions = (*claim.hypotheses, *([claim.statement] if claim.statement else []))
    expressions = [e for c in conditions for e in (c.left, c.right)] + [d.formula for d in claim.used_definitions().values()]
    return {n for e in expressions for n in names_in(e)} | set(claim.used_definitions())


def test_letters_and_units_exist_for_every_name():
    names = set().union(*map(_names, CLAIMS))
    assert names - INDICES - set(LETTERS) == set()
    assert names - INDICES - set(UNITS) - set(BASE) - ANY_UNIT == set()


@each_claim([c for c in STATED if "floor" not in c.id])
def test_units_clash_only_where_the_paper_adds_a_number_to_a_squared_curvature(claim):
    clashes = {tuple(terms[-1] for _, terms in c.groups) for c in check_units(claim)[0]}
    if claim.id.startswith("fedluar/eq-6@displacement-as-printed"):
        assert clashes
    elif 9 * words.L**2 in sp.preorder_traversal(claim.statement.right):
        assert clashes == {("L*eta/clients", "9*L**2")}
    else:
        assert clashes <= {("L*eta/clients", "9*L**2")}


# runs of the method ------------------------------------------------------------------------------------------------------
class _WithLayers(Evaluator):
    """Knows the words of layers."""

    def __init__(self, environment, layers):
        super().__init__(environment)
        self.layers = layers
        environment.words = {own_words.layer_part: _WithLayers.layer_part}

    def layer_part(self, node, scope):
        """A vector with zeros outside a layer."""
        number, vector = self.integer(node.args[0], scope), self.vector(node.args[1], scope)
        keep = np.zeros((len(self.layers), vector.shape[-1]))
        for row, place in zip(keep, self.layers, strict=True):
            row[place] = 1
        return Value(vector * self.env.backend.array(keep[number][None, None, None]), True)


@pytest.fixture(scope="module", params=["per-layer", "common"])
def ran(request):
    """An environment of one noise-free run with given layers, and an evaluator that knows layers."""
    rng = np.random.default_rng(1)
    federation = Quadratic(rng.uniform(1, 2, (1, 3, 4)), rng.normal(size=(1, 3, 4)), layers=(1, 1, 2))
    step = 0.05
    algorithm = make_algorithm("fedluar", eta_l=step, local_steps=TAU, recycled=1, masks=MASKS[request.param])
    start = federation.x_star + 1
    draws = Draws(0)
    record = FullRecord()
    first = algorithm.init(federation, starting_points(federation, start, 1), draws)
    *_, state = rounds_of(algorithm, federation, first, draws, 0, T, (record,))
    sizes = {"clients": 3, "local_steps": TAU, "rounds": T, "iterations": T * TAU, "dim": 4, "layers": 3}
    bound = {name: Bound(array[:, None, None] * 1.0, indices, vector)
             for name, (array, indices, vector) in record.arrays(federation, state, TAU).items()}
    bound["eta"] = Bound(TORCH.array([[[step]]]))
    bound["L"] = Bound(TORCH.array([[[float(to_numpy(federation.constants.value("L_client")).max())]]]))
    definitions = own_quantities.DEFINITIONS
    one = TORCH.array([[1.0]])
    environment = Environment(TORCH, sizes, bound, one, one, federation=federation, definitions=definitions)
    return request.param, _WithLayers(environment, federation.layers())


@pytest.mark.parametrize("name", ["eq-3-5", "eq-6", "eq-6@displacement", "eq-6@common", "eq-15@first-line"])
def test_definitions_agree_with_the_method(ran, name):
    """What Algorithms 1 and 2 and (6) define is what the method's arrays contain."""
    masks, evaluator = ran
    claim = next(c for c in CLAIMS if c.id == f"fedluar/{name}")
    if "common" in name:
        ages = next(c for c in claim.conditions if "server_age" in names_in(c.left))
        assert (to_numpy(sides_by(evaluator, ages)[0]) == 0).all() == (masks == "common")
        if masks != "common":
            return
    left, right, _ = sides_by(evaluator, claim.statement)
    left, right = to_numpy(left), to_numpy(right)
    if claim.statement.relation == "==":
        assert np.abs(left - right).max() < 1e-20
    else:
        assert (left <= right + 1e-12).all()


def test_noise_is_nothing_where_no_layer_is_recycled_and_something_elsewhere(ran):
    masks, evaluator = ran
    claim = next(c for c in CLAIMS if c.id == "fedluar/lemma-A.2-two-terms")
    left, _, _ = sides_by(evaluator, claim.statement)
    recycles = [any(row) for row in MASKS[masks][:T]]
    assert ((to_numpy(left).ravel() > 1e-12) == recycles).all()
