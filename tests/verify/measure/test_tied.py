"""Vectors that hypotheses tie, to each other or to minimisers, lie where the hypotheses say."""

from fractions import Fraction

import numpy as np
import pytest

from bounds.language import operators
from bounds.registry.user_claims import load_claims
from synthetic.numbers.arrays import EXACT, NUMPY
from verify.claims.ties import ties_of
from verify.exact.certificate import certificate
from verify.exact.check import check
from verify.instances.draw import draw_params
from verify.instances.shape import Shape
from verify.measure.simulate import simulate
from verify.measure.tied import _solution
from verify.search.budget import Budget
from verify.search.search import search

SMALL = Budget(1, 32, 0, small=8, small_rows=32)
CLAIM = '''
[[claim]]
id = "mine/tied"
setting = "{setting}"
variables = {variables}
assume = ["mu_client[k] >= mu for k in 0..clients-1", "L_client[k] <= L for k in 0..clients-1", {hypotheses}]
conditions = ["clients == 2"]
statement = "{statement}"
'''
MINIMISERS = '{w = "vector[clients]"}'
#: what is said -> variables, hypotheses, a statement that follows, and one that does not
POINTS = {
    "gradients": (MINIMISERS, '"norm2(grad(k, w[k])) <= 0 for k in 0..clients-1"',
                  "F(1, w[1]) <= F(1, w[0])", "norm2(w[0] - w[1]) <= 0"),
    "a sum": (MINIMISERS, '"0 >= Sum(client_weight[k]*norm(grad(k, w[k])), (k, 0, clients-1))"',
              "F(1, w[1]) <= F(1, w[0])", "norm2(w[0] - w[1]) <= 0"),
    "losses": (MINIMISERS, '"F(k, w[k]) <= F_star_client[k] for k in 0..clients-1"',
               "norm2(grad(0, w[0])) <= 0", "norm2(w[0] - x_star) <= 0"),
    "vectors": ('{w = "vector", eta = "positive"}', '"w == x_local[0,0] - eta*grad(0, x_local[0,0])"',
                "norm2(w - x_local[0,0]) <= eta**2*norm2(grad(0, x_local[0,0]))", "norm2(w - x_local[0,0]) <= 0"),
    "local models": ("{}", '"norm2(x_local[0,0] - x_local[0,1]) == 0"',
                     "norm2(grad(0, x_local[0,0])) == norm2(grad(0, x_local[0,1]))", "norm2(x_local[0,0] - x_star) <= 0"),
    "all of them": (MINIMISERS, '"w[k] == w[0] for k in 0..clients-1"', "norm2(w[0] - w[1]) <= 0", "norm2(w[0]) <= 0"),
}


@pytest.fixture
def claim_of(tmp_path):
    def read(setting, variables, hypotheses, statement):
        path, text = tmp_path / "mine.toml", CLAIM
        for name, value in (("setting", setting), ("variables", variables), ("hypotheses", hypotheses),
                            ("statement", statement)):
            text = text.replace(f"{{{name}}}", value)
        path.write_text(text)
        (claim,) = load_claims(path)
        return claim

    return read


@pytest.mark.parametrize("name", POINTS)
def test_tied_vectors_meet_their_hypotheses_and_nothing_more(claim_of, name):
    variables, hypotheses, true, false = POINTS[name]
    found = search(claim_of("point", variables, hypotheses, true), SMALL)
    assert found.violation is None and found.met > 0.4 * found.tried > 80
    claim = claim_of("point", variables, hypotheses, false)
    found = search(claim, SMALL).violation
    assert check(certificate(claim, found.environment, found.left, found.right), claim).accepted


def test_a_run_starts_where_a_hypothesis_says(claim_of):
    claim = claim_of(
        "run", "{}", '"sigma_sq_client[k] <= 0 for k in 0..clients-1", "objective(x_round[0]) <= F_star", '
        '"eta_l[t] == 1/L for t in 0..iterations-1", "local_steps == 1"', "objective(x_round[rounds]) <= F_star")
    found = search(claim, SMALL)
    assert found.violation is None and found.met > 0.4 * found.tried > 80


@pytest.mark.parametrize(("statement", "true"), [("norm2(x_round[rounds] - x_round[0]) <= 0", True),
                                                 ("norm2(x_round[0] - x_star) <= 0", False)])
def test_a_run_starts_where_a_round_leaves_it(claim_of, statement, true):
    claim = claim_of("run", "{}", '"sigma_sq_client[k] <= 0 for k in 0..clients-1", "norm2(x_round[1] - x_round[0]) <= 0", '
                     '"eta_l[t] == 1/(3*L) for t in 0..iterations-1", "local_steps == 2"', statement)
    found = search(claim, SMALL)
    assert (found.violation is None) == true and (found.met > 0.5 * found.tried > 60 or not true)
    if not true:
        worst = found.violation
        assert check(certificate(claim, worst.environment, worst.left, worst.right), claim).accepted


@pytest.mark.parametrize(("statement", "true"), [("norm(y) <= norm(z) + norm(q)", True),
                                                 ("norm(y) <= Max(norm(z), norm(q))", False)])
def test_free_vectors_lie_where_an_equation_says(tmp_path, statement, true):
    path = tmp_path / "mine.toml"
    path.write_text(f"""[[claim]]
id = "mine/vectors"
setting = "algebra"
variables = {{y = "vector", z = "vector", q = "vector"}}
conditions = ["norm2(y + z + q) <= 0"]
statement = "{statement}"
""")
    (claim,) = load_claims(path)
    found = search(claim, SMALL)
    assert (found.violation is None) == true and (found.met > 0.5 * found.tried > 60 or not true)
    if not true:
        worst = found.violation
        assert check(certificate(claim, worst.environment, worst.left, worst.right), claim).accepted


def test_an_exact_instance_stays_exact_and_losses_of_pieces_are_solved_too(claim_of):
    claim, rng = claim_of("point", MINIMISERS, POINTS["gradients"][1], POINTS["gradients"][3]), np.random.default_rng(0)
    exact = np.frompyfunc(Fraction, 1, 1)
    for dim in (1, 3):
        shape = Shape(clients=2, dim=dim)
        params = draw_params(claim, shape, 5, rng)
        slopes = simulate(claim, shape, params, NUMPY)
        assert np.allclose(slopes.bound["w"].data[:, 0, 0], params["center"], rtol=1e-9)
        one = {name: exact(array[:1]) for name, array in params.items()}
        found = simulate(claim, shape, one, EXACT)
        assert (found.bound["w"].data[0, 0, 0] == one["center"][0]).all()


def test_what_no_vector_can_meet_stays_unmet(claim_of):
    claim = claim_of("point", '{w = "vector"}', '"norm2(w) <= 0", "norm2(w - x_local[0,0]) <= 0", '
                     '"norm2(x_local[0,0]) >= 1"', "norm2(w) <= 0")
    assert search(claim, SMALL).met == 0


def test_lengths_that_are_subtracted_or_bounded_by_something_tie_nothing(claim_of):
    for hypothesis in ("norm2(w) <= 1", "norm2(w) - norm2(x_star) <= 0", "0 <= norm2(w)", "F(0, w) <= F_star"):
        assert ties_of(claim_of("point", '{w = "vector"}', f'"{hypothesis}"', "norm2(w) <= 1")) == ()


def test_elimination_moves_the_last_unknowns_and_leaves_free_ones():
    slopes = np.array([[[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]], [[0.0, 2.0, 1.0], [0.0, 0.0, 4.0]], [[0.0] * 3, [0.0] * 3]])
    right = np.array([[3.0, 0.0], [5.0, 4.0], [1.0, 1.0]])
    assert _solution(slopes, right).tolist() == [[0, 3, 0], [0, 2, 1], [0, 0, 0]]
    exact = np.frompyfunc(Fraction, 1, 1)
    assert _solution(exact(slopes), exact(right)).tolist() == [[0, 3, 0], [0, 2, 1], [0, 0, 0]]


def test_an_equation_of_vectors_is_read_as_one_of_a_length(claim_of):
    claim = claim_of("point", '{w = "vector"}', '"w == x_star"', "norm2(w) <= 1")
    assert any(isinstance(c.left, operators.norm2) and c.relation == "==" and c.right == 0 for c in claim.hypotheses)
    assert [v.name for v in claim.variables] == ["w"]
