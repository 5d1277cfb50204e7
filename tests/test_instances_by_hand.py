"""Counterexamples found with pencil and paper, to statements on which the search needs luck."""

import numpy as np

from bounds.registry import find_claim
from synthetic.arrays import NUMPY
from verify.instances import Shape, federation_of
from verify.outcomes import chance_of
from verify.sampling import draw_leaves
from verify.shrink import Violation, confirm_or_why


def instance(claim, start, shape, **values):
    """The instance of piecewise quadratic clients around 0 with these leaves, started at ``start``."""
    shape = Shape(**shape, chance=chance_of(claim.procedure, claim.variables), family="piecewise", pieces=1)
    leaves = draw_leaves(claim, shape, 1, np.random.default_rng(0))
    plain = {"center": 0, "offset": 0, "piece_center": 0, **{name: 1 for name in leaves if name.startswith("slack:")}}
    for name, value in (plain | values).items():
        leaves[name] = np.broadcast_to(np.array(value, dtype=float), leaves[name].shape).copy()
    leaves["start_offset"] = np.array([start], dtype=float) - federation_of(shape, leaves, NUMPY).x_star
    return shape, leaves


def test_layers_of_different_ages_drift_by_more_than_any_one_round():
    claim = find_claim("fedluar/lemma-A.2-smooth@forced")  # one layer comes to rest, the other runs away from a maximum
    shape = {"dim": 3, "local_steps": 2, "rounds": 3, "sizes": (("recycled", 2),), "layers": (1, 1, 1)}
    found = confirm_or_why(claim, *instance(
        claim, [1, 9 / 20, 0], shape, tail=[1, 1, 1 / 1024], piece_slope=[0, -2, 0], piece_width=100, eta=1 / 2,
        masks=[[0, 0, 0], [1, 0, 1], [1, 1, 0]]))
    assert isinstance(found, Violation) and found.left > 1.6 * found.right


def test_gradients_may_turn_round_between_two_models():
    claim = find_claim("fadamgc/eq-190")  # which allows for a change of G, where it may be 2 G
    shape = {"clients": 2, "rounds": 3, "participants": 2, "sampling": "without-replacement", "sizes": (("trackers", 1),)}
    found = confirm_or_why(claim, *instance(
        claim, [1.5 / 0.11], shape, tail=0, piece_slope=100, piece_width=0.01, beta1=0, beta2=0.9999, eps=0.1, eta=1,
        eta_g=1))
    assert isinstance(found, Violation) and float(found.left) > 1.03 * float(found.right)
