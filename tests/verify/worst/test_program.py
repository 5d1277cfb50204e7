"""A solver that breaks down is no answer, and ends nothing else."""

import os

import numpy as np
import pytest

from verify.worst import program
from verify.worst.program import solved


class PanicException(BaseException):
    """As Rust code raises it."""


class Solver:
    def __init__(self, error):
        self.error = error

    def DefaultSolver(self, *given):
        raise self.error


def test_a_panic_of_the_solver_is_no_answer(monkeypatch):
    monkeypatch.setattr(program, "solver", lambda: Solver(PanicException("Eigval error")))
    assert solved(np.zeros(2), None, None, None, None) is None
    monkeypatch.setattr(program, "solver", lambda: Solver(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        solved(np.zeros(2), None, None, None, None)


def test_what_a_solver_that_breaks_down_writes_is_not_shown(monkeypatch, capfd):
    class Loud(Solver):
        def DefaultSolver(self, *given):
            os.write(2, b"thread '<unnamed>' panicked at src/solver/core/cones/psdtrianglecone.rs")
            raise self.error

    monkeypatch.setattr(program, "solver", lambda: Loud(PanicException("Eigval error")))
    assert solved(np.zeros(2), None, None, None, None) is None
    os.write(2, b"shown")
    assert capfd.readouterr() == ("", "shown")
