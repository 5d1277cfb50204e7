"""A solver that breaks down is no answer, and ends nothing else; a factor alone needs no more than groups of letters."""

import os
import subprocess
import sys
from contextlib import nullcontext, suppress
from fractions import Fraction
from math import cos, pi
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.strategies import integers, sampled_from, tuples
from pytest import approx

from verify.checker.quadratic_forms import QuadraticForm
from verify.worst import program
from verify.worst.program import Program, solve_cone_program


class PanicException(BaseException):
    """As Rust code raises it."""


class Solver:
    def __init__(self, error):
        self.error = error

    def DefaultSolver(self, *given):
        raise self.error


def test_a_panic_of_the_solver_is_no_answer(monkeypatch):
    monkeypatch.setattr(program, "solver", lambda: Solver(PanicException("Eigval error")))
    assert solve_cone_program(np.zeros(2), None, None, None, None) is None
    monkeypatch.setattr(program, "solver", lambda: Solver(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        solve_cone_program(np.zeros(2), None, None, None, None)


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
            assert solve_cone_program(np.zeros(2), None, None, None, None) is None
            os.write(2, b"shown" if not inside else b"not yet")
    os.write(2, b"shown")
    assert capfd.readouterr() == ("", "shown" * (1 if error.args == () else 2))


def test_a_process_without_standard_error_solves_all_the_same():
    code = ("import os; os.close(2); from verify.worst.method_worst_case import worst; "
            "print(round(worst('fedavg', 1, 1, eta_l=1.0).ratio, 6))")
    assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True).stdout.strip() == "0.81"


# what a factor alone needs -----------------------------------------------------------------------------------------------
def uncorrelated(count, edges):
    """A program of so many letters, of which those without an edge between them are known to be uncorrelated."""
    apart = {f"{i} {j}": QuadraticForm({(i, j): Fraction(1)}) for j in range(count) for i in range(j) if (i, j) not in edges}
    return Program(None, ({}, apart), {*range(count)})


def squares(count):
    return QuadraticForm({(i, i): Fraction(1) for i in range(count)})


def test_letters_apart_in_a_line():
    """Of x0 x1 + x1 x2 + x2 x3 over the sum of squares, where no others are correlated, the largest ratio is that of a
    pair, 1/2; where all may be it is half the largest eigenvalue of a line, cos(pi / 5)."""
    line = {(0, 1), (1, 2), (2, 3)}
    smaller = QuadraticForm({pair: Fraction(1) for pair in line})
    program = uncorrelated(4, line)
    assert program.groups[0] == [2, 2, 2] and len(program.groups[2]) == 0
    assert program.solve(smaller, squares(4), rough=True).factor == approx(0.5, abs=1e-5)
    together = uncorrelated(4, {(i, j) for j in range(4) for i in range(j)})
    assert together.solve(smaller, squares(4), rough=True).factor == approx(cos(pi / 5), abs=1e-5)


@given(sampled_from((4, 5, 6)).flatmap(lambda count: tuples(*[integers(-3, 3)] * (count * (count - 1) // 2))),
       integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_groups_of_letters_tell_the_factor_of_all(numbers, seed):
    """Coefficients of all pairs, and any of them uncorrelated: cycles, whose entries in between count, among them."""
    count = next(n for n in (4, 5, 6) if n * (n - 1) // 2 == len(numbers))
    pairs = [(i, j) for j in range(count) for i in range(j)]
    rng = Random(seed)
    program = uncorrelated(count, {pair for pair in pairs if rng.random() < 0.6})
    smaller = QuadraticForm({(0, 0): Fraction(1),
                             **{pair: Fraction(c) for pair, c in zip(pairs, numbers, strict=True) if c}})
    rough, fine = (program.solve(smaller, squares(count), rough=rough).factor for rough in (True, False))
    assert rough == approx(fine, abs=1e-4)
