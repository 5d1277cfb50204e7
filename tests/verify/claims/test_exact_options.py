"""Decimals among a method's options are the fractions they write; simplified instances of methods stay whole."""

from fractions import Fraction

import numpy as np
import pytest

from bounds.controls.fedavg import control
from bounds.language.claim import Condition, Procedure
from bounds.language.operators import local_steps, norm2, r, rounds, x_round, x_star
from bounds.registry.claims import find_claim
from fedtheory.schedules import Tabulated
from synthetic.base.checks import number
from synthetic.numbers.arrays import NUMPY
from synthetic.numbers.decimals import as_written
from verify.claims.method import algorithm_of, selection_of
from verify.exact.certificate import certificate
from verify.exact.check import replay_alone as check
from verify.instances.draw import draw_params, draw_shape
from verify.instances.parameters import take_rows
from verify.instances.resize import without_client
from verify.measure.simulate import simulate
from verify.search import candidates
from verify.search.budget import BUDGETS
from verify.search.search import search


@pytest.mark.parametrize("value, expected", [
    (0.1, Fraction(1, 10)), (1e-8, Fraction(1, 10**8)), (1.5, Fraction(3, 2)), (3.0, Fraction(3)), (1 / 3, Fraction(
        "0.3333333333333333")), (np.float64(0.2), Fraction(1, 5)),
])
def test_a_decimal_is_the_fraction_it_writes(value, expected):
    assert as_written(value) == expected


@pytest.mark.parametrize("options", [(), (("rho_decay", 0.3),), (("rho_decay", Fraction(3, 10)),)])
def test_exact_runs_have_fractions_where_others_have_floats(options):
    procedure = Procedure("fedswa", options=options)
    made = {exact: algorithm_of(procedure, Tabulated(np.array([[1]])), 2, selection_of(procedure), {}, exact=exact)
            for exact in (True, False)}
    rho = Fraction(3, 10) if options else Fraction(1, 10)
    assert made[True].eta_l.rho_decay == rho and made[True].server.eta_g == Fraction(3, 2)
    assert float(made[False].eta_l.rho_decay) == float(rho) and made[False].server.eta_g == 1.5


@pytest.mark.parametrize("method, options", [
    ("fedswa", (("rho_decay", 0.1), ("eta_g", 1.3))), ("fedmoswa", ()), ("fedavg", (("eta_g", 0.7),)),
])
def test_the_checker_replays_what_decimals_say(method, options):
    shorter = Condition(norm2(x_round[r + 1] - x_star), "<=", norm2(x_round[r] - x_star), ((r, 0, rounds - 1),))
    claim = control("decimals", "run", shorter, conditions=(Condition(local_steps, "==", 2),),
                    procedure=Procedure(method, options=options, equal_weights=True))
    found = search(claim, BUDGETS["quick"], 1).violation
    data = certificate(claim, found.environment, found.left, found.right)
    assert check(data).accepted


@pytest.mark.parametrize("value", [Fraction(1, 3), 0.25, 1])
def test_numbers_may_be_fractions(value):
    assert number("share", value, 0, 1) == value
    with pytest.raises(ValueError, match=r"share .* 2; got"):
        number("share", value, 2, strict=True)


# instances that are made simpler ---------------------------------------------------------------------------------------
def piecewise_instance(claim, clients=2):
    """A large instance of piecewise clients that float64 can run, and its leaves."""
    rng = np.random.default_rng(0)
    shape = next(s for s in (draw_shape(claim, rng, 16, 10) for _ in range(500))
                 if s.family.knots and s.clients >= clients and s.participants < max(s.clients, 2)
                 and candidates._size(s) > candidates._LARGE)
    return shape, take_rows(draw_params(claim, shape, 2, rng), [0])


def test_clients_with_curvatures_of_their_own_can_be_left_out():
    """Clients of a claim about clients that differ by a bounded gradient, once they are quadratics in place of pieces."""
    claim = find_claim("fadamgc/eq-209@second")
    shape, params = piecewise_instance(claim, clients=3)
    flat_shape, flat = next(shape.family.simpler(claim, shape, params))
    flat["curvature"] = np.broadcast_to(flat["curvature"], flat["center"].shape).copy()
    fewer, left = without_client(claim, flat_shape, flat, 0)
    assert left["curvature"].shape[1] == left["center"].shape[1] == fewer.clients
    with np.errstate(all="ignore"):
        simulate(claim, fewer, left, NUMPY)


def test_a_simpler_family_without_the_claims_constant_is_passed_over(monkeypatch):
    """Quadratics have no Lipschitz constant, of which the claim speaks."""
    claim = find_claim("fedmoswa/eq-34@second+theta-l")
    shape, params = piecewise_instance(claim, clients=1)
    tried = []
    monkeypatch.setattr(candidates, "simpler", lambda *given: tried.append(given) or list(given[1].family.simpler(*given)))
    monkeypatch.setattr(candidates, "CANDIDATE", -2.0)
    candidates._smaller(claim, shape, params, NUMPY)
    assert tried
