"""Free vectors that are multiples of one."""

import numpy as np
import pytest

from bounds.registry.user_claims import load_claims
from verify.instances.draw import draw_params
from verify.instances.shape import Shape
from verify.search.budget import BUDGETS
from verify.search.search import search
from verify.search.transformations.parallel import PARALLEL

TIGHT = '"norm2(y) <= 1", "norm(z) <= 2", "dot(y, z) >= 2"'
ROWS = {  # conditions, statement, whether it is true
    "where an inner product is largest": (TIGHT, "norm2(y - z) < 1", False),
    "the same with equality": (TIGHT, "norm2(y - z) <= 1", True),
    "three that add up to nothing": ('"norm2(y + z + q) <= 0"', "norm(y) <= Max(norm(z), norm(q))", False),
    "the same twice as large": ('"norm2(y + z + q) <= 0"', "norm(y) <= 2*Max(norm(z), norm(q))", True),
}


def claim_of(folder, conditions, statement):
    file = folder / "own.toml"
    file.write_text('[[claim]]\nid = "own/vectors"\nsetting = "algebra"\n'
                    'variables = {y = "vector", z = "vector", q = "vector"}\n'
                    f'conditions = [{conditions}]\nstatement = "{statement}"\n')
    return load_claims(file)[0]


@pytest.mark.parametrize("conditions, statement, true", ROWS.values(), ids=ROWS)
def test_what_fails_for_multiples_of_one_vector_is_refuted(conditions, statement, true, tmp_path):
    found = search(claim_of(tmp_path, conditions, statement), BUDGETS["quick"], 0)
    assert found.met and (found.violation is None) == true


def test_some_instances_are_parallel_and_as_long_as_hypotheses_admit(tmp_path):
    claim, shape, rng = claim_of(tmp_path, TIGHT, "norm2(y) <= 1"), Shape(dim=2), np.random.default_rng(0)
    before = draw_params(claim, shape, 400, rng)
    after = PARALLEL(claim, shape, before, rng)
    y, z = after["y"], after["z"]
    moved = (before["y"] != y).any(axis=1)
    assert 60 < moved.sum() < 180
    assert abs(y[:, 0] * z[:, 1] - y[:, 1] * z[:, 0])[moved].max() < 1e-9
    lengths = np.linalg.norm(y[moved], axis=1), np.linalg.norm(z[moved], axis=1)
    for length, most in zip(lengths, (1, 2), strict=True):
        assert length.max() <= most + 1e-9 and (abs(length - most) < 1e-9).mean() > 0.3
