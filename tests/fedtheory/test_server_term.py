"""FedADMM's term g on the server: where it leads, and where it is refused."""

import numpy as np
import pytest

from fedtheory import make_algorithm, run
from fedtheory.algorithms.fedadmm import ServerProximal
from synthetic import Quadratic

PAIR = {"curvature": [[[1.0, 2.0], [3.0, 1.0]]], "center": [[[2.0, -1.0], [-1.0, 0.25]]]}


@pytest.mark.parametrize(("l2", "l1"), [(0.0, 0.0), (0.5, 0.0), (0.0, 0.6), (0.25, 0.6)])
def test_with_the_weight_of_the_lagrangian_it_minimises_the_sum(l2, l1):
    """F = 1/2 <x, H x> - <b, x> + const with H = diag(2, 3/2), b = (-1/2, -7/8); l1 = 0.6 makes the first coordinate 0."""
    federation = Quadratic(**PAIR)
    method = make_algorithm("fedadmm", rho_prox=1.0, solver="exact", l2=l2, l1=l1, weight="consistent")
    x = run(method, federation, 400, start=[1.0, 1.0]).dataset["x"].values[0, -1]
    H, b = np.array([2.0, 1.5]), np.array([-0.5, -0.875])
    expected = np.sign(b) * np.maximum(np.abs(b) - l1, 0) / (H + l2)
    np.testing.assert_allclose(x, expected, atol=1e-9)


def test_the_printed_weight_leads_elsewhere_unless_rho_is_one():
    federation, options = Quadratic(**PAIR), {"solver": "exact", "l2": 0.5}
    ends = {(rho, weight): run(make_algorithm("fedadmm", rho_prox=rho, weight=weight, **options), federation, 400)
            .dataset["x"].values[0, -1] for rho in (1.0, 2.0) for weight in ("printed", "consistent")}
    np.testing.assert_allclose(ends[1.0, "printed"], ends[1.0, "consistent"], atol=1e-12)
    np.testing.assert_allclose(ends[2.0, "consistent"], ends[1.0, "consistent"], atol=1e-9)
    assert abs(ends[2.0, "printed"] - ends[2.0, "consistent"]).max() > 0.01


@pytest.mark.parametrize(("make", "message"), [
    (lambda: make_algorithm("fedadmm", variant="stale", l1=0.1), "variant 'stale'.*allowed: variant 'eq6'"),
    (lambda: make_algorithm("fedadmm", weight="half"), "unknown weight 'half'; allowed: printed, consistent"),
    (lambda: make_algorithm("fedadmm", l2=-1.0), "l2 .* 0.*got -1.0"),
    (lambda: make_algorithm("fedavg").having(server=ServerProximal(l1=0.1)),
     "rho_prox.*Correction, allowed: .*fedpd .*fedadmm"),
])
def test_refusals(make, message):
    with pytest.raises(ValueError, match=message):
        make()
