"""What a claim writes out of two rounds under two thresholds is what FedALIGN does."""

import numpy as np
import pytest

import fedtheory
from bounds.registry.claims import find_claim
from synthetic.numbers.arrays import NUMPY
from synthetic.quadratic.quadratic import Quadratic
from verify.instances.draw import draw_params, draw_shape
from verify.measure.simulate import simulate

CLAIM = find_claim("fedalign/claim-opposite@theta")


def runs(seed):
    """Random numbers of the claim, with what its conditions define: name -> array, one number or one per free client."""
    rng = np.random.default_rng(seed)
    shape = draw_shape(CLAIM, rng, 64, 64)
    environment = simulate(CLAIM, shape, draw_params(CLAIM, shape, 1, rng), NUMPY)
    return {name: bound.data.reshape(-1) for name, bound in environment.bound.items()}


@pytest.mark.parametrize("end", ["", "_larger"])
def test_two_rounds_written_out(end):
    some, moved = 0, 0
    for seed in range(40):
        w = runs(seed)
        curvature, center = np.append(w["own_curvature"], w["free_curvature"]), np.append(0, w["free_center"])
        losses = curvature / 2 * (w["w_start"] - center) ** 2
        offset = np.append(0, w["loss_gap"] + losses[0] - losses[1:])  # so that F_k - F is loss_gap at the start
        weights = np.append(1, np.broadcast_to(w["p"], w["free_curvature"].shape))
        federation = Quadratic(curvature[None, :, None], center[None, :, None], offset[None], weights[None],
                               priority=np.arange(len(curvature)) == 0)
        step = fedtheory.InverseTime(mu=float(w["mu"][0]), offset=float(w["step_offset"][0]))
        method = fedtheory.fedalign(eta_l=step, local_steps=1, epsilon=float(w[f"threshold{end}"][0]))
        run = fedtheory.run(method, federation, 2, start=w["w_start"]).dataset
        who = run.included.values[0][:, 1:]
        assert np.allclose(run.x.values[0, 1], w[f"w_next{end}"], rtol=1e-9)
        assert np.array_equal(who, np.round([w[f"matched_first{end}"], w[f"matched_next{end}"]]))
        some, moved = some + who.any(), moved + (who[0] != who[1]).any()
    assert some > 10 and moved > 2
