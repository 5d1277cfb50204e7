"""Runs z3 in a separate process, so that a question can be abandoned at any time.

z3 counts its steps, and stops after the same number of them on every machine. Some of its polynomial arithmetic counts no
steps. The process therefore ends itself after more seconds of processor time than counted steps ever take, and the next
question starts another one.
"""

import atexit
import json
import os
import subprocess
import sys
import threading
import time

__all__ = ["STEPS", "ask"]

STEPS = 500_000  # about a second
SECONDS = 10  # of processor time, not of waiting
_lock = threading.Lock()
_running: dict[int, subprocess.Popen] = {}  # by the id of the asking process; a fork must not share that of its parent


def ask(names, constraints, always=(), steps=STEPS, seconds=SECONDS, core=True) -> dict:
    """Whether constraints on real numbers can hold together.

    Args:
        names: the names of the numbers.
        constraints: formulas in SMT-LIB, from which a core is chosen.
        always: further formulas, which always hold and are not named in a core.
        steps, seconds: after which the question is abandoned.
        core: whether a core is looked for; else it has all constraints.

    Returns:
        ``{"answer": "sat", "model": {name: number as text}}``, ``{"answer": "unsat", "core": [positions]}`` with a core
        from which no constraint can be left out, or ``{"answer": "unknown"}``.
    """
    question = {"names": sorted(names), "constraints": list(constraints), "always": list(always),
                "steps": steps, "seconds": seconds, "core": core}
    with _lock:
        process, answered = _process(), False
        try:
            process.stdin.write(json.dumps(question) + "\n")
            process.stdin.flush()
            found = _read(process) or {"answer": "unknown"}
            if found["answer"] == "unsat":
                found |= _read(process) or {"core": list(range(len(constraints)))}
            answered = True
        finally:
            if not answered:  # interrupted: what the process says later must not answer the next question
                _end()
    return found


def _process() -> subprocess.Popen:
    own = _running.get(os.getpid())
    if own is None or own.poll() is not None:
        _end()  # the pipes of one that has ended are open
        own = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                               start_new_session=True)  # so that Ctrl-C does not reach it
        atexit.register(_end)
        _running[os.getpid()] = own
    return own


def _end():
    own = _running.pop(os.getpid(), None)
    if own is not None:
        for pipe in (own.stdin, own.stdout):
            pipe.close()
        own.kill()
        own.wait()


def _read(process) -> dict | None:
    """The next line of the process; None where it has ended."""
    line = process.stdout.readline()
    if line:
        return json.loads(line)
    for pipe in (process.stdin, process.stdout):
        pipe.close()
    process.wait()
    return None


# in the process itself ---------------------------------------------------------------------------------------------------
def _answers() -> None:
    limits = [float("inf")]
    threading.Thread(target=_end_beyond, args=(limits,), daemon=True).start()
    for line in sys.stdin:
        question = json.loads(line)
        limits[0] = time.process_time() + question["seconds"]
        for part in _answer(question):
            print(json.dumps(part), flush=True)
        limits[0] = float("inf")


def _end_beyond(limits: list[float]) -> None:
    """End the process once it has used so many seconds; z3 lets other threads run while it computes."""
    while time.process_time() < limits[0]:
        time.sleep(0.05)
    os._exit(1)


def _answer(question):
    """The answer first, then the core if there is one."""
    import z3

    own = z3.Context()
    declared = {name: z3.Real(name, own) for name in question["names"]}
    both = [z3.parse_smt2_string(f"(assert {text})", decls=declared, ctx=own)[0]
            for text in (*question["constraints"], *question["always"])]
    count = len(question["constraints"])
    named, always = list(enumerate(both[:count])), both[count:]

    def decide(constraints):
        """z3's answer and the solver that gave it; where z3 gives up, it is asked again with the constraints reversed."""
        for each in (constraints, constraints[::-1]):
            solver = z3.Solver(ctx=own)
            solver.set("rlimit", question["steps"])
            solver.add(*each, *always)
            answer = solver.check()
            if answer != z3.unknown:
                break
        return answer, solver

    answer, solver = decide([constraint for _, constraint in named])
    model = {}
    if answer == z3.sat:
        values = solver.model()
        model = {name: str(values.eval(number, model_completion=True)) for name, number in declared.items()}
    yield {"answer": str(answer), "model": model}
    if answer == z3.unsat:
        for one in list(named) if question["core"] else ():
            fewer = [other for other in named if other is not one]
            if decide([constraint for _, constraint in fewer])[0] == z3.unsat:
                named = fewer
        yield {"core": [position for position, _ in named]}


if __name__ == "__main__":
    _answers()
