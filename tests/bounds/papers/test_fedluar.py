"""FedLUAR's claims: kappa, conditions on the step, units, and definitions beside the method's runs."""

import math
from fractions import Fraction as Q

import numpy as np
import pytest
import sympy as sp

from bounds.formulas.units import check_units
from bounds.language import layers as on_layers
from bounds.language import operators
from bounds.language.claim import names_in
from bounds.registry.papers import claims_of_paper, files_of
from fedtheory import make_algorithm
from fedtheory.engine import rounds_of, starting_points
from synthetic import Quadratic
from synthetic.numbers.arrays import TORCH, to_numpy
from synthetic.numbers.draws import Draws
from tests.bounds.claim_values import reading_of, same
from tests.bounds.each_claim import look_at_each
from tests.bounds.papers.fedluar_world import MASKS, TAU, T, kappa, names_of, values, world
from verify.evaluation.environment import Environment, NamedArray
from verify.evaluation.evaluate import Evaluator, Value, sides_by
from verify.measure.record import FullRecord

KAPPA = sp.Symbol("kappa", nonnegative=True)


def stated():
    return [claim for claim in claims_of_paper("fedluar").values() if claim.statement is not None]


def test_kappa_is_the_reading_s():
    def check(claim):
        (condition,) = [c for c in claim.conditions if c.left == KAPPA]
        for seed in range(6):  # the largest ratio falls into different rounds
            w = world(seed, reading_of(claim))
            in_world = values(w, claim.definitions)
            found = max(in_world.of(condition.right, index) for index in in_world.cases(condition.over))
            assert same(found, kappa(w, names_of(claim)), rel_tol=1e-12)

    with_kappa = [claim for claim in stated() if any(c.left == KAPPA for c in claim.conditions)]
    assert len(with_kappa) > 50
    look_at_each(with_kappa, check, lambda claim: claim.id)


STEPS = {  # condition on the step size, as printed
    "lemma-A.1": lambda w: w.eta * w.L * TAU * 2 * math.sqrt(3) <= 1,
    "theorem-3.2": lambda w: w.eta <= (1 - 16 * w.kappa) / (6 * math.sqrt(30) * w.L * TAU),
    "lemma-3.1": lambda w: w.eta <= 1 / (w.L * TAU),
}


@pytest.mark.parametrize("block", STEPS)
def test_conditions_on_the_step_are_the_printed_ones(block):
    claim = claims_of_paper("fedluar")[f"fedluar/{block}"]
    (condition,) = [c for c in claim.conditions if "eta" in names_in(c.left) and "L" in names_in(c.left) | names_in(c.right)]
    answers = set()
    for scale in (Q(1, 100), Q(1, 50), Q(3, 100), Q(4, 100), Q(28, 100), Q(29, 100), Q(1, 2), Q(1), Q(101, 100)):
        w = world(3)
        w.eta, w.kappa = scale / (w.L * TAU), Q(1, 100)
        holds = values(w, {}).of(condition.left) <= values(w, {}).of(condition.right)
        assert holds == STEPS[block](w), scale
        answers.add(holds)
    assert answers == {True, False}


def test_units_clash_only_where_the_paper_adds_a_number_to_a_squared_curvature():
    def check(claim):
        clashes = {tuple(terms[-1] for _, terms in c.groups) for c in check_units(claim)[0]}
        if claim.id.startswith("fedluar/eq-6@displacement-as-printed"):
            assert clashes
        elif 9 * operators.L**2 in sp.preorder_traversal(claim.statement.right):
            assert clashes == {("L*eta/clients", "9*L**2")}
        else:
            assert clashes <= {("L*eta/clients", "9*L**2")}

    look_at_each([claim for claim in stated() if "floor" not in claim.id], check, lambda claim: claim.id)


# runs of the method ------------------------------------------------------------------------------------------------------
class _WithLayers(Evaluator):
    """Knows the words of layers."""

    def __init__(self, environment, layers):
        super().__init__(environment)
        self.layers = layers
        environment.words = {on_layers.layer_part: _WithLayers.layer_part}

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
    bound = {name: NamedArray(array[:, None, None] * 1.0, indices, vector)
             for name, (array, indices, vector) in record.arrays(federation, state, TAU).items()}
    bound["eta"] = NamedArray(TORCH.array([[[step]]]))
    bound["L"] = NamedArray(TORCH.array([[[float(to_numpy(federation.constants.value("L_client")).max())]]]))
    definitions = files_of("fedluar").vocabulary.quantities
    one = TORCH.array([[1.0]])
    environment = Environment(TORCH, sizes, bound, one, one, federation=federation, definitions=definitions)
    return request.param, _WithLayers(environment, federation.layers())


@pytest.mark.parametrize("name", ["eq-3-5", "eq-6", "eq-6@displacement", "eq-6@common", "eq-15@first-line"])
def test_definitions_agree_with_the_method(ran, name):
    """What Algorithms 1 and 2 and (6) define is what the method's arrays contain."""
    masks, evaluator = ran
    claim = claims_of_paper("fedluar")[f"fedluar/{name}"]
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
    claim = claims_of_paper("fedluar")["fedluar/lemma-A.2-two-terms"]
    left, _, _ = sides_by(evaluator, claim.statement)
    recycles = [any(row) for row in MASKS[masks][:T]]
    assert ((to_numpy(left).ravel() > 1e-12) == recycles).all()
