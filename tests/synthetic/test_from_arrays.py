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
    (([[1.0, float("nan")], [3.0, 4.0], [5.0, 6.5]], Y, CLIENT), {}, r"X must be finite; got 1 .* nan at \[0, 1\]"),
    (([["a", "b"]] * 3, Y, CLIENT), {}, "X must be numbers; got"),
    ((X, [0.0, float("inf"), 1.0], CLIENT), {}, r"y must be finite; got 1 .* first inf at \[1\]"),
    ((X, Y[:2], CLIENT), {}, r"one entry per row; got 3 rows, y of shape \(2,\), client of shape \(3,\)"),
    ((X[0], Y, CLIENT), {}, r"X must be \(rows, features\) .* got shape \(2,\)"),
    ((X, Y, [0, 0, 2]), {}, "every client needs at least one sample; got none for client 1 of 3"),
    ((X, Y, CLIENT), {"clients": 4}, "got none for client 2 and 1 others of 4"),
    ((X, Y, CLIENT), {"clients": 1}, "clients must be an integer of at least 2; got 1"),
    ((X, Y, [0, -1, 0]), {}, "client numbers must be at least 0; got -1"),
    ((X, Y, [0.0, 0.0, 1.5]), {}, "client must be integers or names"),
    ((X, [1, 1, 1], CLIENT), {"task": "binary"}, r"needs at least 2 classes; got only \[1\]"),
    ((X, [1, 1, 1], CLIENT), {"task": "softmax"}, r"needs at least 2 classes; got only \[1\]"),
    ((X, [0, 1, 2], CLIENT), {"task": "binary"}, "binary classification needs 2 classes; got 3"),
    ((X, [0, 1, 5], CLIENT), {"task": "softmax", "classes": 3}, "labels must be integers from 0 to 2; got 0 to 5"),
    ((X, Y, CLIENT), {"task": "binary", "ridge": 0.0}, "ridge must be above 0; got 0.0"),
    ((X, Y, CLIENT), {"task": "softmax", "ridge": -1.0}, "ridge must be above 0; got -1.0"),
    ((X, Y, CLIENT), {"ridge": -1.0}, "ridge must be at least 0; got -1.0"),
    ((X, Y, CLIENT), {"batch_size": 0}, "batch_size must be an integer of at least 1; got 0"),
    ((X, Y, CLIENT), {"task": "poisson"}, "unknown task 'poisson'; allowed: least-squares, binary, softmax"),
    ((X, Y, CLIENT), {"weights": [1.0]}, r"weights must be one number per client, \(2,\); got shape \(1,\)"),
    ((X, Y, CLIENT), {"weights": "size"}, "unknown weights 'size'; allowed: equal"),
    ((X, Y, CLIENT), {"weights": [1.0, -1.0]}, "client weights must be >= 0; got -1.0"),
    ((X, Y, CLIENT), {"priority": 3}, "number of priority clients must be an integer between 1 and 2; got 3"),
    ((X, Y, CLIENT), {"backend": Backend("exact")}, "got 'exact', allowed: torch, numpy"),
])
def test_bad_input_is_one_clear_line(arguments, options, message):
    with pytest.raises(ValueError, match=message) as caught:
        from_arrays(*arguments, **options)
    assert "\n" not in str(caught.value)


def test_an_optimum_out_of_reach_is_an_error():
    federation = from_arrays(np.random.default_rng(0).normal(size=(6, 2)) * 1e9, [0, 1] * 3, [0] * 6, task="binary",
                             ridge=1e-9)
    with pytest.raises(ValueError, match="could not be solved to 1e-12: reached"):
        federation.x_star  # noqa: B018
