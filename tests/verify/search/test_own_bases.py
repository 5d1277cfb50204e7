"""Clients with a basis each: what fails only where Hessians do not commute is refuted at quick, and the true neighbours are
not; changes of instances keep the bases."""

from fractions import Fraction

import numpy as np
import pytest

from bounds.registry.claims import find_claim
from bounds.registry.user_claims import load_claims
from synthetic import NUMPY
from synthetic.numbers.arrays import each as each_number
from synthetic.quadratic.turned import Turned
from tests.not_empty import not_empty
from tests.synthetic.families import each
from verify.exact.confirm import violation_of
from verify.exact.shrink import shrink
from verify.growth.check import _other_clients
from verify.growth.growth_search import _around_zero
from verify.instances.draw import draw_params
from verify.instances.instance import federation_of
from verify.instances.piecewise import PiecewiseClients
from verify.instances.quadratic import QUADRATIC
from verify.instances.resize import resized, with_client_twice, without_client
from verify.instances.shape import Shape
from verify.referee.decide import Settings, decide
from verify.search.archive import Archive
from verify.search.budget import BUDGETS
from verify.search.own_bases import of_own_bases
from verify.search.search import search
from verify.search.stage import State
from verify.search.stages import switched_on

CLASS = 'assume = ["L_client[k] <= L for each k", "mu_client[k] >= 0 for each k", "sigma_sq_client[k] <= 0 for each k"%s]'
ONE_MINIMUM = CLASS % ', "norm2(grad(k, x_star)) <= 0 for each k"'
QUADRATICS = '"2*(F(k, u) - F(k, v)) == dot(grad(k, u) + grad(k, v), u - v) for all u, v for each k"'
BALL = """
setting = "point"
equal_weights = true
variables = {w = "vector[clients]"}
assume = ["mu_client[k] >= mu for each k"%s]
conditions = ["norm2(grad(k, w[k])) <= 0 for each k", "clients == 2"%s]
"""

#: fields of a false and of a true claim, and their statement
ROWS = {
    "the ball of two minima": (BALL % ("", ""), BALL % ("", ', "dim == 1"'), "norm(x_star - w[0]) <= norm(w[1] - w[0])"),
    "the ball of two minima of quadratics": (
        BALL % (", " + QUADRATICS, ""), BALL % (", " + QUADRATICS, ', "dim == 1"'),
        "norm(x_star - Mean(w[k], k)) <= 2*norm(w[1] - w[0])"),
    "descent to one minimum": (
        ONE_MINIMUM + '\nconditions = ["eta_l[t] <= 1/L for each t"]',
        ONE_MINIMUM + '\nconditions = ["eta_l[t] <= 1/L for each t", "dim == 1"]',
        "objective(x_round[1]) <= objective(x_round[0])"),
    "descent to one minimum of two quadratics": (
        CLASS % f', "norm2(grad(k, x_star)) <= 0 for each k", {QUADRATICS}'
        + '\nconditions = ["clients == 2", "local_steps == 20", "rounds == 1", "eta_l[t] == 1/L for each t"]',
        ONE_MINIMUM + '\nconditions = ["clients == 2", "local_steps == 20", "rounds == 1", "eta_l[t] == 1/L for each t"]',
        ("objective(x_round[1]) <= objective(x_round[0])", "norm(x_round[1] - x_star) <= norm(x_round[0] - x_star)")),
    "the largest entry of a gradient": (
        CLASS % "" + '\nconditions = ["local_steps == 1", "clients == 1", "eta_l[t] <= 1/L for each t"]',
        CLASS % "" + '\nconditions = ["local_steps == 1", "clients == 1", "eta_l[t] <= 1/L for each t", "dim == 1"]',
        "norm_inf(objective_grad(x_round[1])) <= norm_inf(objective_grad(x_round[0]))"),
    "the largest coordinate": (
        CLASS % "" + '\nconditions = ["local_steps == 1", "eta_l[t] <= 1/L for each t"]',
        CLASS % "" + '\nconditions = ["local_steps == 1", "eta_l[t] <= 1/L for each t", "dim == 1"]',
        "norm_inf(x_round[1] - x_star) <= 1.05*norm_inf(x_round[0] - x_star)"),
    "aligned gradients": (
        ONE_MINIMUM + '\nconditions = ["clients == 2"]', ONE_MINIMUM + '\nconditions = ["clients == 2", "dim == 1"]',
        "dot(grad(0, x_round[0]), grad(1, x_round[0])) >= 0"),
}


def claims_of(tmp_path, *rows):
    file = tmp_path / "own.toml"
    file.write_text("".join(f'[[claim]]\nid = "own/{number}"\n{fields}\nstatement = "{statement}"\n'
                            for number, (fields, statement) in enumerate(rows)))
    return load_claims(file)


@pytest.mark.parametrize("false, true, statement", ROWS.values(), ids=ROWS)
def test_what_fails_where_hessians_do_not_commute_is_refuted_and_its_neighbour_is_not(false, true, statement, tmp_path):
    statements = (statement, statement) if isinstance(statement, str) else statement
    claims = claims_of(tmp_path, (false, statements[0]), (true, statements[1]))
    verdicts = [decide(claim, Settings(federations=False, out=tmp_path)).verdict for claim in claims]
    assert verdicts[0] == "refuted" and verdicts[1] in ("consistent", "certified")
    assert search(claims[0], BUDGETS["quick"], without=("own-bases",)).violation is None


def batches_of(claim):
    return [*of_own_bases(State(claim, BUDGETS["quick"], Archive(), switched_on(())[1], NUMPY, [0]))]


@each("fields, statement, bases", [
    (ONE_MINIMUM, "norm(x_round[1]) <= 1", {True}),
    (CLASS % ', "L_objective <= 1"', "norm(x_round[1]) <= 1", set()),
    (ONE_MINIMUM, "norm(x_round[1] - x_star) <= mu_objective", set()),
    (ONE_MINIMUM, "norm1(x_round[1] - x_star) <= L_objective", {False}),
    (ONE_MINIMUM, "norm1(x_round[1] - x_star) <= 1", {True, False}),
    (ONE_MINIMUM + '\nconditions = ["dim == 1"]', "norm1(x_round[1] - x_star) <= 1", set()),
    (ONE_MINIMUM, "norm(x_round[1]) <= G_lip", set()), (ONE_MINIMUM, "norm(x_round[1]) <= sigma_g", set()),
    ('setting = "algebra"\nvariables = {a = "vector"}', "norm1(a) <= 1", set()),
])
def test_clients_have_a_basis_each_where_the_claim_needs_none_in_common(fields, statement, bases, tmp_path):
    (claim,) = claims_of(tmp_path, (fields, statement))
    found = batches_of(claim)
    assert {params["half_tangent"].shape[1] == shape.clients > 1 for shape, params in found} == bases
    assert all(shape.dim >= 2 and shape.family == QUADRATIC and not shape.free for shape, _ in found)


def test_batches_are_in_the_class_that_they_are_said_to_be_in(tmp_path):
    """Hessians from gradients at the unit vectors: their eigenvalues are the constants, and the optimum has no gradient."""
    (claim,) = claims_of(tmp_path, (ONE_MINIMUM, "norm(x_round[1]) <= 1"))
    for shape, params in not_empty(batches_of(claim)):
        federation = federation_of(shape, params, NUMPY)
        at = [federation.gradient(federation.all_clients(np.tile(row, (len(params["center"]), 1))))
              for row in (np.zeros(shape.dim), *np.eye(shape.dim))]
        spectrum = np.linalg.eigvalsh(np.stack([column - at[0] for column in at[1:]], axis=-1))
        largest = spectrum.max(axis=-1)
        np.testing.assert_allclose(federation.constants.value("L_client"), largest, rtol=1e-9)
        assert np.all(abs(federation.constants.value("mu_client") - spectrum.min(axis=-1)) <= 1e-9 * largest)
        scale = (abs(federation.gradient(federation.all_clients(federation.x_star)))).max(axis=(1, 2)) + largest.max(axis=1)
        assert np.all(abs(federation.objective_gradient(federation.x_star)).max(axis=1) <= 1e-6 * scale)


def drawn(family, clients, tangents):
    """Five instances of a claim about runs, each of whose bases has one of as many tangents."""
    claim, rng = find_claim("fadamgc/eq-21@at-most"), np.random.default_rng(1)
    shape = Shape(clients=clients, dim=2, local_steps=2, rounds=2, family=family)
    return claim, shape, draw_params(claim, shape, 5, rng) | {"half_tangent": rng.integers(1, 8, (5, tangents)) / 8}


@each("family, clients, tangents, kept", [
    (QUADRATIC, 2, 2, [0, 0, 1]), (QUADRATIC, 2, 1, [0]), (QUADRATIC, 1, 1, [0]), (PiecewiseClients(1), 1, 1, [0])])
def test_clients_take_their_bases_along(family, clients, tangents, kept):
    claim, shape, params = drawn(family, clients, tangents)
    tangent = params["half_tangent"]
    larger, twice = with_client_twice(claim, shape, params, 0)
    assert np.array_equal(twice["half_tangent"], tangent[:, kept])
    assert np.array_equal(without_client(claim, larger, twice, 0)[1]["half_tangent"], tangent)
    copies, several = resized(claim, shape, params, "clients", 3)
    assert np.array_equal(several["half_tangent"], tangent[:, [0, 1, 0] if tangents == 2 else [0]])
    for other, changed in ((larger, twice), (copies, several)):
        values = federation_of(other, changed, NUMPY).value(np.ones((5, other.clients, 2)))
        np.testing.assert_allclose(values[:, 0], federation_of(shape, params, NUMPY).value(np.ones((5, clients, 2)))[:, 0])


@each("family, clients, tangents", [
    (QUADRATIC, 2, 2), (QUADRATIC, 2, 1), (PiecewiseClients(1), 2, 1)])
def test_instances_that_are_moved_to_zero_are_the_same_elsewhere(family, clients, tangents):
    _, shape, params = drawn(family, clients, tangents)
    moved = _around_zero(shape, params)
    before, after = federation_of(shape, params, NUMPY), federation_of(shape, moved, NUMPY)
    assert isinstance(before, Turned) and np.allclose(after.x_star, 0, atol=1e-6) and abs(before.x_star).max() > 1e-3
    x = np.random.default_rng(0).normal(size=(5, clients, 2))
    np.testing.assert_allclose(after.gradient(x), before.gradient(x + before.x_star[:, None]), atol=1e-6)


def test_a_growth_of_clients_is_one_of_copies_with_their_bases():
    def member(clients, tangents):
        same = {name: [["1", "2"]] * clients for name in ("center", "curvature", "noise")}
        return {"sizes": {"clients": clients}, "instance": same | {
            "client_weight": [f"1/{clients}"] * clients, "half_tangent": tangents, "initial": {}}}

    own = ["1/2", "1/8"]
    for tangents, more, alike in ((own, own * 2, True), (own, [*own, "1/2", "1/4"], False), (own, [*own[::-1], *own], False),
                                  (own, "1/2", False), ("1/2", "1/2", True), ("1/2", "1/4", False)):
        members = [*[member(2, tangents)] * 3, member(4, more)]
        assert (not [*_other_clients(members)]) == alike, more


def test_a_counterexample_gets_rid_of_bases_that_it_does_not_need(tmp_path):
    (claim,) = claims_of(tmp_path, (ONE_MINIMUM, "norm(x_round[1]) < 0"))
    shape, params = next((shape, params) for shape, params in batches_of(claim) if shape.clients == 2)
    for row in range(len(params["center"])):
        exact = {name: each_number(array[[row]], Fraction) for name, array in params.items()}
        if not isinstance(found := violation_of(claim, shape, exact), str):
            break
    assert found.params["half_tangent"].shape == (1, 2) and "half_tangent" not in shrink(claim, found).params
