"""A solver that breaks down is no answer, and ends nothing else."""

import os
import subprocess
import sys
from contextlib import nullcontext, suppress

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


@pytest.mark.parametrize("error", [PanicException("Eigval error"), KeyboardInterrupt()], ids=["panic", "interrupt"])
def test_what_a_solver_that_breaks_down_writes_is_not_shown(error, monkeypatch, capfd):
    """Also where another thread is inside for longer; what is written later is shown."""
    class Loud(Solver):
        def DefaultSolver(self, *given):
            os.write(2, b"thread '<unnamed>' panicked at src/solver/core/cones/psdtrianglecone.rs")
            raise self.error

    monkeypatch.setattr(program, "solver", lambda: Loud(error))
    for inside in (False, True):
        with program._SILENCE if inside else nullcontext(), suppress(KeyboardInterrupt):
            assert solved(np.zeros(2), None, None, None, None) is None
            os.write(2, b"shown" if not inside else b"not yet")
    os.write(2, b"shown")
    assert capfd.readouterr() == ("", "shown" * (1 if error.args == () else 2))


def test_a_process_without_standard_error_solves_all_the_same():
    code = ("import os; os.close(2); from verify.worst.chart import worst; "
            "print(round(worst('fedavg', 1, 1, eta_l=1.0).ratio, 6))")
    assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True).stdout.strip() == "0.81"
