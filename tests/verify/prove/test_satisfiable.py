"""Questions to z3: an effort that is counted, so that answers do not depend on the machine; processes that may end."""

import os
import subprocess
import sys

import pytest
import sympy as sp

from bounds.language.claim import Condition
from bounds.language.operators import k, mu_client
from verify.proofs.abstraction import Abstraction
from verify.prove.satisfiable import satisfiable
from verify.prove.z3_process import _running, ask

a, b = sp.symbols("a b", positive=True)
COUNT = 9
NAMES = [f"x{i}" for i in range(COUNT)]


def _cycle(i):
    x, y, z = (f"x{(i + n) % COUNT}" for n in range(3))
    return f"(= (+ (* {x} {x} {x}) (* {y} {y})) (+ 1.0 (* {z} {z} {z} {x} {x})))"


HARD = [*map(_cycle, range(COUNT)), "(> x0 2.0)"]


def test_a_question_is_given_up_after_so_many_steps_whatever_was_asked_before():
    answers = []
    for before in (0, 3):
        for _ in range(before):
            ask(["a"], ["(> a 0.0)"])
        answers.append(ask(NAMES, HARD, steps=20_000))
    assert answers[0] == answers[1] and answers[0]["answer"] == "unknown"


def test_a_question_that_counts_no_steps_ends_with_its_process_and_the_next_one_is_answered():
    assert ask(["a"], ["(> a 0.0)"])["answer"] == "sat"
    first = _running[os.getpid()].pid
    assert ask(NAMES, HARD, steps=10**12, seconds=1)["answer"] == "unknown"
    assert ask(["a"], ["(< a 0.0)", "(> a 1.0)"]) == {"answer": "unsat", "model": {}, "core": [0, 1]}
    assert _running[os.getpid()].pid != first


def test_z3_answers_where_the_system_has_no_module_resource(tmp_path):
    """As on Windows; before, every question was unknown there."""
    (tmp_path / "resource.py").write_text("raise ImportError")
    code = ("from verify.prove.z3_process import ask\n"
            f"print(ask(['a'], ['(> a 0.0)'])['answer'], ask({NAMES}, {HARD}, steps=10**12, seconds=1)['answer'])")
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])})
    assert said.stdout.split() == ["sat", "unknown"]


def test_a_core_has_nothing_that_can_be_left_out():
    found = ask(["a", "b"], ["(> a 0.0)", "(< a 5.0)", "(> (* a a) 2.0)", "(< a b)", "(< b 1.0)"])
    assert found["answer"] == "unsat" and found["core"] in ([0, 2, 3, 4], [2, 3, 4, 0])


@pytest.mark.parametrize(("e", "low", "high"), [
    (sp.Max(a, b, evaluate=False), 3, 4), (sp.Min(a, b, evaluate=False), 3, 4), (sp.Abs(a - 5), 3, 4), (sp.sqrt(a), 3, 4),
    (a ** sp.Rational(-2, 3), 3, 4), (sp.Max(a, sp.Min(b, a / 2, evaluate=False), evaluate=False), 3, 4),
    (-sp.Rational(7, 2) * a**2, -4, -3)])
def test_a_witness_meets_what_was_asked(e, low, high):
    found = satisfiable([Condition(e, ">=", low), Condition(e, "<=", high), Condition(b, "<=", 10)])
    assert found.answer == "yes" and set(found.witness) <= {"a", "b"}
    try:
        point = {s: sp.Rational(found.witness[s.name]) for s in e.free_symbols}
    except (TypeError, ValueError):
        return  # a number that is no fraction
    assert low - sp.Rational(1, 10**9) <= e.subs(point) <= high + sp.Rational(1, 10**9)


def test_a_client_may_be_less_than_convex():
    from bounds.registry.claims import find_claim

    assert not Abstraction(find_claim("li2020/theorem-1")).never_negative(mu_client[k])


def test_the_answer_to_an_interrupted_question_is_not_that_to_the_next(monkeypatch):
    """Else a false statement is proven by what z3 said of another one."""
    from verify.prove import z3_process

    def interrupted(process):
        raise KeyboardInterrupt

    with monkeypatch.context() as context:
        context.setattr(z3_process, "_read", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ask(["x"], ["(> x x)"])
    assert ask(["x"], ["(> x 0.0)"])["answer"] == "sat"


def test_a_process_that_ends_between_two_questions_leaves_no_open_pipe():
    assert ask(["x"], ["(> x 0.0)"])["answer"] == "sat"
    ended = _running[os.getpid()]
    ended.kill()
    ended.wait()
    assert ask(["x"], ["(> x 0.0)"])["answer"] == "sat" and ended.stdin.closed and ended.stdout.closed
