"""The stand-alone checker on piecewise quadratic clients: it agrees with the federation, and rejects what is not so."""

import copy
import json
import re
from fractions import Fraction
from functools import cache
from unittest import mock

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds.language.claim import Condition
from bounds.language.operators import L, clients, eta_l, k, mu, mu_client
from synthetic import EXACT, FiniteNoise
from tests.synthetic.conformance import random_piecewise
from tests.verify.instances.test_piecewise import BUDGET, claim, contracts, is_alike, is_lipschitz
from verify.checker.intervals import Interval
from verify.checker.piecewise_quadratic import Bounds, Line, moved_into
from verify.exact.certificate import certificate
from verify.exact.check import replay_alone as check
from verify.exact.shrink import shrink
from verify.search.search import search

NOISE = FiniteNoise(EXACT.array([[[[3, 1], [-1, Fraction(-1, 3)]]] + [[[0, 0], [0, 0]]] * 2]),
                    EXACT.array([Fraction(1, 4), Fraction(3, 4)]))


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.booleans())
def test_two_implementations_agree(seed, lipschitz, noisy):
    federation = random_piecewise(seed, lipschitz=lipschitz, noise=NOISE if noisy else None, backend=EXACT)
    arrays = [getattr(federation, name)[0, :, 0] for name in ("curvature", "center", "slope", "knot", "width")]
    lines = [[Line([(a, c)], zip(s, d, w, strict=True)) for a, c, s, d, w in zip(*client, strict=True)]
             for client in zip(*arrays, strict=True)]
    offset, weights, constants = federation.offset[0, :, 0], federation.weights[0], federation.constants
    bends = [[bend for line in client for bend in line.bends()] for client in lines]
    assert [max(map(abs, b)) for b in bends] == list(constants.value("L_client")[0])
    assert [min(b) for b in bends] == list(federation.convexity().value[0])
    main = [sum((lines[k][j] * weights[k] for k in (1, 2)), lines[0][j] * weights[0]) for j in range(2)]
    assert max(abs(bend) for line in main for bend in line.bends()) == constants.value("L_objective")[0]
    assert sum(line.least() for line in main) + (weights * offset).sum() == constants.value("F_star")[0]
    least = [sum(line.least() for line in client) + b for client, b in zip(lines, offset, strict=True)]
    assert least == list(constants.value("F_star_client")[0])
    laws = [[(1, atom) for atom in row] for row in NOISE.atoms[0]] if noisy else [[(1, (0, 0))]] * 3
    bounds = Bounds(lines, weights, laws)
    for name in ("G_lip", "sigma_g_1", "sigma_g_2", "sigma_g_max"):
        if name in constants:
            assert 0 <= constants.value(name)[0] ** 2 - bounds.square(name) <= bounds.square(name) / 10**11
        else:
            with pytest.raises(ValueError, match=r"Lipschitz|within"):
                bounds.square(name)
    x = EXACT.array(np.random.default_rng(seed).integers(-9, 9, (1, 3, 2)) / 4)
    solved = federation.prox(x, 9, x / 2)
    for number, client in enumerate(lines):
        value = sum(line.value(y) for line, y in zip(client, x[0, number], strict=True)) + offset[number]
        assert value == federation.value(x)[0, number]
        slopes = [line.slope(y) for line, y in zip(client, x[0, number], strict=True)]
        assert slopes == list(federation.gradient(x)[0, number])
        found = [line.solution(y, Fraction(9), y / 2) for line, y in zip(client, x[0, number], strict=True)]
        assert found == list(solved[0, number])


def test_intervals_are_moved_as_a_whole():
    moved = moved_into(Interval(Fraction(-3), Fraction(1, 2)), Fraction(1))
    assert (moved.low, moved.high) == (-1, Fraction(1, 2))


def test_what_has_no_minimum_is_refused():
    with pytest.raises(ValueError, match="bounded"):
        Line([(Fraction(0), Fraction(0))], [(Fraction(-1), Fraction(0), Fraction(1))]).least()
    with pytest.raises(ValueError, match="strictly"):
        Line([(Fraction(0), Fraction(0))], [(Fraction(-1), Fraction(0), Fraction(1))]).solution(0, Fraction(1, 2), 0)
    with pytest.raises(ValueError, match=r"curvatures .* 0$"):
        Line([(Fraction(-1), Fraction(0))])


# certificates --------------------------------------------------------------------------------------------------------
CLAIMS = {
    "lipschitz": is_lipschitz(sp.Rational(1, 2)),
    "alike": is_alike(sp.Rational(1, 3)),
    "convexity": claim(contracts(), Condition(eta_l[0], "<=", 1 / L), setting="point"),
}


@cache
def refutation(name):
    """The certificate of the first counterexample that has pieces; not made simpler where it could do without."""
    simpler = shrink if name != "alike" else lambda claim, violation: violation
    with mock.patch("verify.search.search.shrink", simpler):
        found = next(v for v in (search(CLAIMS[name], BUDGET, seed).violation for seed in range(50))
                     if v is not None and v.shape.family.knots)
    data = certificate(CLAIMS[name], found.environment, found.left, found.right)
    return json.loads(json.dumps(data))


@pytest.mark.parametrize("name", CLAIMS)
def test_counterexamples_with_pieces_are_replayed(name):
    data = refutation(name)
    assert data["instance"]["pieces"] and check(data).accepted


def changed(data, path, value):
    data = copy.deepcopy(data)
    *way, last = path
    place = data
    for step in way:
        place = place[step]
    place[last] = value
    return data


@pytest.mark.parametrize(("name", "path", "value", "said"), [
    ("lipschitz", ("values", "G_lip"), "1/1000", "G_lip .*bound"),
    ("lipschitz", ("values", "G_lip"), "-100", "G_lip .*bound"),
    ("lipschitz", ("values", "L"), "1/1000", "hypothesis .*L_client.*<= L$"),
    ("lipschitz", ("instance", "curvature", 0, 0), "1", "Lipschitz"),
    ("lipschitz", ("instance", "curvature", 0, 0), "-1", "widths .* 0$"),
    ("lipschitz", ("instance", "pieces", 0, 0, 0, 2), "-1", "widths .* 0$"),
    ("lipschitz", ("instance", "pieces", 0, 0, 0, 0), "-1", "bounded"),
    ("lipschitz", ("instance", "x_star", 0), "100", "x_star .*optimum"),
    ("alike", ("values", "sigma_g_max"), "1/1000", "sigma_g_max .*bound"),
    ("alike", ("instance", "curvature", 0, 0), "3", "within|x_star .*optimum"),
])
def test_tampered_certificates_are_rejected(name, path, value, said):
    result = check(changed(refutation(name), path, value))
    assert not result.accepted and re.search(said, result.reason)


def test_a_negative_mu_is_no_mu():
    strong = claim(contracts(), Condition(eta_l[0], "<=", 1 / L), Condition(mu_client[k], ">=", mu, ((k, 0, clients - 1),)),
                   setting="point")
    data = refutation("convexity")
    found = search(CLAIMS["convexity"], BUDGET).violation
    data = certificate(strong, found.environment, found.left, found.right)
    data = json.loads(json.dumps(data | {"values": data["values"] | {"mu": "-100"}}))
    assert not check(data).accepted and "mu > 0" in check(data).reason
