"""Any two parts of any two methods make a method that runs, or one that is refused in words."""

from itertools import combinations

import numpy as np
import pytest

from fedtheory import ALGORITHMS, Algorithm, make_algorithm, run
from fedtheory.algorithm import PARTS
from fedtheory.algorithms.fedluar import recycle
from fedtheory.algorithms.lbgm import LookBack
from fedtheory.chain import Chain
from synthetic import make_quadratic

FEDERATION = make_quadratic(clients=4, dim=4, sigma=0.1, seed=1).with_layers(2)
#: every kind of part among the registered methods, by its place
KINDS = {place: {} for place in PARTS}
for name in ALGORITHMS:
    method = make_algorithm(name, local_steps=2)
    for place in PARTS:
        KINDS[place].setdefault(type(getattr(method, place)).__name__, getattr(method, place))


@pytest.mark.parametrize("places", list(combinations(PARTS, 2)), ids=" and ".join)
def test_every_pair_of_parts_runs_or_is_refused(places):
    outcomes = []
    for first in KINDS[places[0]].values():
        for second in KINDS[places[1]].values():
            try:
                made = Algorithm(0.01, 2, **dict(zip(places, (first, second), strict=True)))
                x = run(made, FEDERATION, 2, start=np.ones(4), record=["x", "uplink_floats"]).dataset["x"].values
            except ValueError as reason:
                assert len(str(reason)) > 40
                outcomes.append(False)
            else:
                assert np.isfinite(x).all() and (x[0, 1] != x[0, 0]).any()
                outcomes.append(True)
    assert any(outcomes)


@pytest.mark.parametrize(("make", "message"), [
    (lambda: recycle(recycle(make_algorithm("fedavg"), recycled=1), recycled=1), "Recycling .*Recycling .*'applied_update'"),
    (lambda: make_algorithm("fedavg").having(upload=Chain((LookBack(), LookBack()))), "LBGM"),
    (lambda: make_algorithm("fedavg").having(server=make_algorithm("afedpd").server), "allowed: VirtualDuals.*afedpd"),
    (lambda: make_algorithm("fedavg").having(upload=make_algorithm("prunefl").upload), "allowed: Pruning.*prunefl"),
])
def test_what_cannot_go_together_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        run(make(), FEDERATION, 1)
