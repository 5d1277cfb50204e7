"""from_arrays: names of clients and classes, and one clear line for bad input."""

import numpy as np
import pytest
import torch

from synthetic import Backend, from_arrays
from tests.synthetic.families import each


def test_accuracy_and_names_of_classes():
    X = np.array([[-1.0], [-2.0], [1.0], [3.0]])
    for task, point in (("binary", [[1.0]]), ("softmax", [[-1.0, 1.0]])):
        federation = from_arrays(X, ["cat", "cat", "dog", "cat"], ["b", "a", "b", "a"], task=task)
        assert federation.clients == 2
        accuracy = federation.accuracy(torch.tensor(point, dtype=torch.float64)[None].expand(1, 2, -1))
        assert accuracy.tolist() == [[0.5, 1.0]]


X, Y, CLIENT = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.5]], [0, 1, 1], [0, 0, 1]


@each("arguments, options, message", [
    (([[1.0, float("nan")], [3.0, 4.0], [5.0, 6.5]], Y, CLIENT), {}, r"^X .*got 1 .*nan.*\[0, 1\]"),
    (([["a", "b"]] * 3, Y, CLIENT), {}, r"^X .*got \['a', 'b'"),
    ((X, [0.0, float("inf"), 1.0], CLIENT), {}, r"^y .*got 1 .*inf.*\[1\]"),
    ((X, Y[:2], CLIENT), {}, r"got 3 rows, y.*\(2,\), client.*\(3,\)"),
    ((X[0], Y, CLIENT), {}, r"^X .*\(rows, features\).*got.*\(2,\)"),
    ((X, Y, [0, 0, 2]), {}, "sample.*got none.*client 1 .*3"),
    ((X, Y, CLIENT), {"clients": 4}, "sample.*got none.*client 2 .*1 .*4"),
    ((X, Y, CLIENT), {"clients": 1}, "clients.* 2.*got 1"),
    ((X, Y, [0, -1, 0]), {}, "client.* 0.*got -1$"),
    ((X, Y, [0.0, 0.0, 1.5]), {}, r"client.*got.*\(0\.0\)"),
    ((X, [1, 1, 1], CLIENT), {"task": "binary"}, r"binary.* 2 classes.*got.*\[1\]"),
    ((X, [1, 1, 1], CLIENT), {"task": "softmax"}, r"softmax.* 2 classes.*got.*\[1\]"),
    ((X, [0, 1, 2], CLIENT), {"task": "binary"}, "binary.* 2 classes.*got 3.*'softmax'"),
    ((X, [0, 1, 5], CLIENT), {"task": "softmax", "classes": 3}, "labels.* 0 .*2.*got 0 .*5"),
    ((X, Y, CLIENT), {"task": "binary", "ridge": 0.0}, "ridge.* 0.*got 0.0"),
    ((X, Y, CLIENT), {"task": "softmax", "ridge": -1.0}, "ridge.* 0.*got -1.0"),
    ((X, Y, CLIENT), {"ridge": -1.0}, "ridge.* 0.*got -1.0"),
    ((X, Y, CLIENT), {"batch_size": 0}, "batch_size.* 1.*got 0"),
    ((X, Y, CLIENT), {"task": "poisson"}, "unknown task 'poisson'; allowed: least-squares, binary, softmax"),
    ((X, Y, CLIENT), {"weights": [1.0]}, r"weights.*\(2,\).*got.*\(1,\)"),
    ((X, Y, CLIENT), {"weights": "size"}, "unknown weights 'size'; allowed: equal"),
    ((X, Y, CLIENT), {"weights": [1.0, -1.0]}, "weights.*>= 0.*got -1.0"),
    ((X, Y, CLIENT), {"priority": 3}, "priority.* 1 .*2.*got 3"),
    ((X, Y, CLIENT), {"backend": Backend("exact")}, "got 'exact', allowed: torch, numpy"),
])
def test_bad_input_is_one_clear_line(arguments, options, message):
    with pytest.raises(ValueError, match=message) as caught:
        from_arrays(*arguments, **options)
    assert "\n" not in str(caught.value)


def test_an_optimum_out_of_reach_is_an_error():
    federation = from_arrays(np.random.default_rng(0).normal(size=(6, 2)) * 1e9, [0, 1] * 3, [0] * 6, task="binary",
                             ridge=1e-9)
    with pytest.raises(ValueError, match=r"1e-12.*\de-\d+.*ridge"):
        federation.x_star  # noqa: B018
