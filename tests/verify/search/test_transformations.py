"""Corners in general, and runs in other units."""

from dataclasses import replace

import numpy as np
import pytest

from bounds.registry.claims import find_claim
from synthetic.numbers.arrays import NUMPY
from verify.instances.chance import chance_of
from verify.instances.draw import draw_params
from verify.instances.samples import draw_data_shape
from verify.instances.shape import Shape
from verify.measure.simulate import simulate
from verify.search.transformations import TRANSFORMATIONS, units
from verify.search.transformations.units import UNITS


@pytest.mark.parametrize("claim_id", ["fadamgc/eq-164", "fedmoswa/lemma-g.9", "fedalign/theorem-1", "classical/gd-value"])
def test_runs_in_other_units_are_the_same_runs(claim_id, monkeypatch):
    """Models, seen from the optimum, are multiplied by the unit of length, losses by that of loss."""
    claim, rng = find_claim(claim_id), np.random.default_rng(3)
    shape = Shape(clients=2, dim=2, local_steps=2, rounds=2, sampling=claim.procedure.sampling, noisy=(0,),
                  sizes=(("trackers", 1),) if claim_id.startswith("fadamgc") else (),
                  chance=chance_of(claim.procedure, claim.variables))
    before = draw_params(claim, shape, 12, rng)
    if "eps" in before:
        before["eps"] = before["eps"] + 0.01
    monkeypatch.setattr(units, "_SHARE", 1.0)
    after = UNITS(claim, shape, before, rng)
    assert (after["curvature"] != before["curvature"]).all()
    first, second = (simulate(claim, shape, params, NUMPY).bound for params in (before, after))
    nonzero = before["center"][:, 0, 0] != 0
    length = after["center"][nonzero, 0, 0] / before["center"][nonzero, 0, 0]
    loss = after["curvature"][nonzero, 0, 0] / before["curvature"][nonzero, 0, 0] * length**2
    assert nonzero.sum() > 1
    for name, factor in {"x_local": length, "x_round": length, "g": loss / length, "L_client": loss / length**2}.items():
        one, other = first[name].data[nonzero], second[name].data[nonzero]
        wanted = one * factor.reshape(-1, *(1,) * (one.ndim - 1))
        near = 1e-9 * abs(wanted).max(axis=tuple(range(1, one.ndim)), keepdims=True)
        assert (abs(other - wanted) <= near).all(), name


@pytest.mark.parametrize("corner", TRANSFORMATIONS, ids=lambda corner: corner.name)
@pytest.mark.parametrize("name", ["fedmoswa/eq-19", "classical/sgd-stability-smooth"])
def test_points_and_samples_stay_as_they_are(corner, name):
    claim, rng = find_claim(name), np.random.default_rng(0)
    shape = draw_data_shape(claim, rng, 1024, 40)
    params = draw_params(claim, shape, 3, rng)
    assert replace(corner, share=1.0)(claim, shape, params, rng) is params
