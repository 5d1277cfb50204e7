"""``python -m benchmarks.cuda``: every method on a card, in at most four minutes; writes ``benchmarks/cuda.md``.

* Right: each method, on each path that applies, against the processor in float64.
* Fast: milliseconds a round of each method and path, at 1, 64 and 1,024 runs, and JAX beside it on the reference workload.
* Without waiting: what recording costs, and how often the host waits for the card in a round.

Times are wall-clock times of ``fedtheory.run``: that of many rounds less that of few, over the difference.
"""

import argparse
import datetime
import os
import platform
import statistics
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import torch

import fedtheory
from benchmarks.workload import Workload
from fedtheory.registry import ALGORITHMS
from synthetic import LeastSquares, make_problem
from synthetic.numbers.arrays import Backend

__all__ = ["Campaign", "main", "why_not"]

PAGE = Path(__file__).with_name("cuda.md")
PARITY = ("quadratic", "least-squares", "logistic", "perceptron", "digits")
RUNS = (1, 64, 1024)
MANY = 4096
SPENT = 0.03  # seconds that a time is taken over
FASTER = ("affine", "compiled")  # paths besides ``steps`` and ``graph``


def why_not() -> str | None:
    """Why there is nothing to measure, or None."""
    return None if torch.cuda.is_available() else "there is no CUDA device"


def seconds(call: Callable[[], object], device: str) -> float:
    begin = time.perf_counter()
    call()
    if device != "cpu":
        torch.cuda.synchronize()
    return time.perf_counter() - begin


def a_round(call: Callable[[int], object], few: int, more: int, most: int, device: str) -> float:
    """Milliseconds a round of ``call(rounds)``: the difference of two lengths, of which the longer takes about ``SPENT``
    seconds more, and has at most ``most`` rounds."""
    seconds(partial(call, few), device)
    short = min(seconds(partial(call, few), device) for _ in range(2))
    guess = max(1e-6, (seconds(partial(call, few + more), device) - short) / more)
    more = int(np.clip(SPENT / guess, more, most))
    long = min(seconds(partial(call, few + more), device) for _ in range(2))
    return 1e3 * max(0.0, long - short) / more


def ceilings(dtype, size=8192) -> tuple[float, float]:
    """TFLOP/s of a large product and GB/s of a large copy."""
    a, b = (torch.randn(size, size, dtype=dtype, device="cuda") for _ in range(2))

    def rate(call):
        call()
        return min(seconds(call, "cuda") for _ in range(3))

    return 2 * size**3 / rate(lambda: a @ b) / 1e12, 2 * a.numel() * a.element_size() / rate(lambda: b.copy_(a)) / 1e9


def reference(dtype: str, device: str, workload: Workload):
    """The reference workload as a federation."""
    counts = np.full((1, workload.clients), workload.samples)
    return LeastSquares(workload.features[None], workload.targets[None, ..., None], counts,
                        backend=Backend("torch", device, dtype))


def method_with(name: str, **wanted):
    """A method with those of the ``wanted`` arguments that it has."""
    return fedtheory.make_algorithm(name, **{key: value for key, value in wanted.items()
                                             if key in ALGORITHMS[name].arguments})


class Campaign:
    """Measures part after part until the time is spent, and keeps the lines of the page."""

    def __init__(self, device="cuda", limit=235.0, workload=None, methods=None, runs=RUNS, many=MANY, jax=True):
        self.device, self.end, self.jax = device, time.perf_counter() + limit, jax
        self.workload, self.methods = workload or Workload("float32", rounds=1), list(methods or ALGORITHMS)
        self.runs, self.many, self.lines, self.faults = runs, many, [], []

    def say(self, *lines: str) -> None:
        self.lines += lines
        print(*lines, sep="\n", flush=True)

    def over(self) -> bool:
        """Whether the time is spent."""
        return time.perf_counter() > self.end

    def attempt(self, what: str, call: Callable[[], object]):
        """The value of a call, or None: what went wrong is listed."""
        try:
            return call()
        except Exception as error:
            self.faults.append(f"{what}: {type(error).__name__}: {' '.join(str(error).split())[:300]}")
            print("FAULT", self.faults[-1], traceback.format_exc(limit=-2).replace("\n", " | "), flush=True)
            return None

    def all(self) -> None:
        for part in (self.parity, self.workloads, self.waits, self.records, self.tables):
            begin = time.perf_counter()
            self.attempt(part.__name__, part)
            print(f"({part.__name__}: {time.perf_counter() - begin:.0f} s)", flush=True)
            if self.device != "cpu":
                torch.cuda.empty_cache()
        if self.faults:
            self.say("", "## What went wrong", "", *(f"* {fault}" for fault in self.faults))

    # right -------------------------------------------------------------------------------------------------------------
    def parity(self, rounds=9) -> None:
        """Each method on each problem and path, noise and samples included, against step by step on the processor."""
        worst: dict[str, tuple[float, str]] = {}
        bits = differ = 0
        compared = set()
        for problem in PARITY:
            here = make_problem(problem)
            there = here.to(Backend("torch", self.device, "float64"))
            for name in self.methods:
                method = method_with(name, local_steps=3, participants=max(1, here.clients // 2))
                if method.refuses(here):
                    continue
                start = here.default_start(seed=1).numpy()
                options = {"seeds": 3, "record": ("x",), "start": start}
                want = fedtheory.run(method, here, rounds, path="steps", **options).dataset["x"].values
                found = {}
                for path in ("steps", "graph", *FASTER):
                    what = f"{name} on {problem}, {path}"
                    one = self._on(path, method, there, rounds, options, what)
                    if one is not None:
                        compared.add(name)
                        found[path] = one
                        error = np.abs(one - want).max() / np.abs(want).max()
                        worst[path] = max(worst.get(path, (0.0, "")), (float(error), f"{name} on {problem}"))
                if "steps" in found and "graph" in found:
                    equal = np.array_equal(found["steps"], found["graph"], equal_nan=True)
                    bits, differ = bits + equal, differ + (not equal)
                    if not equal:
                        self.faults.append(f"{name} on {problem}: a captured round has other bits, by "
                                           f"{np.abs(found['steps'] - found['graph']).max():.1e}")
        self.say("", "## Equal to the processor", "",
                 f"Each of {len(compared)} methods on {', '.join(PARITY)}: {rounds} rounds of 3 seeds in float64, the "
                 "largest difference of a model from the processor's, step by step, relative to the largest entry.", "",
                 "| path | largest difference | of |", "|---|---:|---|",
                 *(f"| `{path}` | {error:.1e} | {of} |" for path, (error, of) in worst.items()),
                 "", f"A captured round has the same bits as one that is not in {bits} of {bits + differ} pairs.")

    def _on(self, path, method, federation, rounds, options, what):
        """The models on a path; None where it does not apply, or after a fault that is listed."""
        try:
            return fedtheory.run(method, federation, rounds, path=path, **options).dataset["x"].values
        except ValueError as reason:
            if path in FASTER and "cannot be taken" in str(reason):
                return None
            return self.attempt(what, partial(_again, reason))
        except Exception as error:
            return self.attempt(what, partial(_again, error))

    # fast --------------------------------------------------------------------------------------------------------------
    def ms(self, method, federation, runs: int, path: str, record=fedtheory.observables.DEFAULT) -> float | None:
        """Milliseconds a round; None where the path does not apply."""
        starts = np.random.default_rng(1).standard_normal((runs, federation.dim)) / 10

        def call(rounds):
            return fedtheory.run(method, federation, rounds, seeds=runs, start=starts, path=path, record=record)

        try:
            return a_round(call, *((3, 4) if path == "steps" else (40, 20)), 1000, self.device)  # 40: of every kind
        except ValueError as reason:
            if "cannot be taken" not in str(reason):
                raise
            if path == "graph":
                self.faults.append(f"{method.name}: {reason}")
            return None

    def workloads(self) -> None:
        """FedAvg on the reference workload: every path, both precisions, JAX beside."""
        w = self.workload
        self.say("", "## The reference workload", "",
                 f"FedAvg on least squares: {w.clients} clients, {w.samples} samples, dimension {w.dim}, {w.local_steps} "
                 "full gradient steps a round. Milliseconds a round of `fedtheory.run` that records the models (at "
                 f"{self.many} runs: nothing); JAX: one `jit(scan(vmap(grad)))` that records the models, "
                 "products in full precision.", "")
        sizes = (*self.runs[:2], self.many)
        head = [f"{_runs(runs)}, {dtype}" for dtype in ("float32", "float64") for runs in sizes]
        self.say(f"| | {' | '.join(head)} |", "|---|" + "---:|" * len(head))
        for path in ("steps", "graph", *FASTER):
            row = []
            for dtype in ("float32", "float64"):
                federation = reference(dtype, self.device, w)
                method = method_with("fedavg", eta_l=w.eta, local_steps=w.local_steps)
                for runs in sizes:
                    record = ("x",) if runs < self.many else ()
                    row.append(self.attempt(f"reference, {path}", lambda a=(method, federation, runs, path, record):
                                            self.ms(*a)))
            self.say(f"| `{path}` | {' | '.join(map(_ms, row))} |")
        if self.jax:
            row = [None if self.over() else self.attempt("JAX", partial(in_jax, w, dtype, runs, runs < self.many))
                   for dtype in ("float32", "float64") for runs in sizes]
            self.say(f"| JAX | {' | '.join(map(_ms, row))} |")
        if self.device == "cuda":
            flop = w.flop / w.rounds * self.many
            for dtype in ("float32", "float64"):
                torch.backends.cuda.matmul.allow_tf32 = False
                flops, copy = ceilings(getattr(torch, dtype))
                self.say("", f"{dtype}: one large product runs at {flops:.1f} TFLOP/s, a large copy at {copy:.0f} GB/s; the "
                         f"products of a round of {self.many} runs take {flop / flops / 1e9:.2f} ms at this rate.")

    def tables(self) -> None:
        """Every method: step by step, captured, and on the other paths, on three problems; the middle size first."""
        w, there = self.workload, Backend("torch", self.device, "float32")
        problems = {
            "the quadratic problem": (make_problem("quadratic").to(there), 4, {}),
            "the reference workload": (reference("float32", self.device, w), w.local_steps, {"eta_l": w.eta}),
            "digits": (make_problem("digits").to(there), 4, {}),
        }
        first, *others = self.runs[1], self.runs[0], *self.runs[2:]
        cells = {}
        for runs, title in (*((first, title) for title in problems),
                            *((runs, title) for runs in others for title in list(problems)[1:])):
            federation, steps, options = problems[title]
            for name in self.methods:
                method = method_with(name, local_steps=steps, **options)
                if not self.over() and not method.refuses(federation):
                    cells[title, runs, name] = {
                        path: self.attempt(f"{name} on {title}", partial(self.ms, method, federation, runs, path))
                        for path in ("steps", "graph", *FASTER)}
        for title, (federation, steps, _) in problems.items():
            self._table(title, federation, steps, cells)

    def _table(self, title, federation, steps, cells) -> None:
        sizes = [runs for runs in self.runs if any(cell[:2] == (title, runs) for cell in cells)]
        ratios = []
        for runs in sizes:
            both = [cell for (one, size, _), cell in cells.items() if (one, size) == (title, runs)]
            faster = [cell["steps"] / cell["graph"] for cell in both if cell["steps"] and cell["graph"]]
            if faster:
                ratios.append(f"{_runs(runs)}: {len(faster)} methods, median {statistics.median(faster):.1f}, "
                              f"least {min(faster):.1f}")
        self.say("", f"## Every method on {title}", "",
                 f"{federation.clients} clients, dimension {federation.dim}, {steps} local steps, float32, default record: "
                 "milliseconds a round step by step, captured, and on other paths that apply. Step by step over captured: "
                 f"{'; '.join(ratios)}.", "", f"| | {' | '.join(map(_runs, sizes))} |", "|---|" + "---:|" * len(sizes))
        for name in self.methods:
            row = [_cell(cells.get((title, runs, name))) for runs in sizes]
            if any(row):
                self.say(f"| {name} | {' | '.join(row)} |")

    # without waiting -----------------------------------------------------------------------------------------------------
    def waits(self) -> None:
        """How often the host waits for the card in a round, beyond what it does once in a run."""
        if self.device != "cuda":
            return
        found = []
        for path in ("steps", "graph"):
            counts = {}
            for name in self.methods:
                federation = make_problem("quadratic").to(Backend("torch", "cuda", "float64"))
                method = method_with(name, local_steps=2)
                if method.refuses(federation):
                    continue
                counts[name] = self.attempt(f"waits of {name}", lambda a=(method, federation, path):
                                            [_waits(*a, rounds) for rounds in (9, 10, 20)][1:])
            waiting = {name: (two[1] - two[0]) / 10 for name, two in counts.items() if two and two[1] != two[0]}
            found.append(f"`{path}`: {len(counts) - len(waiting)} of {len(counts)} methods never wait in a round"
                         + "".join(f"; {name} {count:g} times" for name, count in waiting.items()))
        self.say("", "## Without waiting", "", *(f"* {line}." for line in found))

    def records(self) -> None:
        """What the default record costs."""
        w = self.workload
        problems = {"the reference workload": (reference("float32", self.device, w), w.local_steps),
                    "digits": (make_problem("digits").to(Backend("torch", self.device, "float32")), 4)}
        for title, (federation, steps) in problems.items():
            rows = []
            for name, runs in product(("fedavg", "scaffold", "fadamgc"), self.runs[1:]):
                method = method_with(name, local_steps=steps, eta_l=w.eta)
                pair = [self.attempt(f"record of {name}", partial(self.ms, method, federation, runs, "graph", record))
                        for record in (fedtheory.observables.DEFAULT, ())]
                if all(pair):
                    rows.append(f"{name}, {runs} runs: {pair[0]:.3f} against {pair[1]:.3f} ({pair[0] / pair[1] - 1:+.0%})")
            self.say(f"* The default record against none, captured, on {title}, {steps} steps, milliseconds a round: "
                     f"{'; '.join(rows)}.")


def _again(error: Exception):
    raise error


def _cell(times: dict | None) -> str:
    if times is None:
        return ""
    others = [f", {path} {_ms(times[path])}" for path in FASTER if times[path] is not None]
    return f"{_ms(times['steps'])}, {_ms(times['graph'])}{''.join(others)}"


def _runs(count: int) -> str:
    return f"{count} run{'s' * (count > 1)}"


def _ms(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}" if value < 1 else f"{value:.2f}"


def _waits(method, federation, path: str, rounds: int) -> int:
    """How often a run waits for the card, as torch warns."""
    torch.cuda.set_sync_debug_mode("warn")
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fedtheory.run(method, federation, rounds, seeds=8, path=path)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    return sum("synchroniz" in str(one.message) for one in caught)


def in_jax(workload: Workload, dtype: str, runs: int, record: bool) -> float:
    """Milliseconds a round of the workload in JAX, all rounds in one program."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_default_matmul_precision", "highest")
    features, targets = (jnp.asarray(array, dtype=dtype) for array in (workload.features, workload.targets))
    eta, rounds = features.dtype.type(workload.eta), 200 if record else 20

    def local(model, a, b):
        def step(x, _):
            return x - eta * jax.grad(lambda v: 0.5 * jnp.mean((a @ v - b) ** 2))(x), None

        return jax.lax.scan(step, model, None, length=workload.local_steps)[0]

    def whole(model):
        def one(x, _):
            x = jax.vmap(local, (None, 0, 0))(x, features, targets).mean(0)
            return x, x if record else None

        return jax.lax.scan(one, model, None, length=rounds)[int(record)]

    compiled = jax.jit(jax.vmap(whole))
    models = jnp.asarray(np.random.default_rng(1).standard_normal((runs, workload.dim)).astype(dtype))
    jax.block_until_ready(compiled(models))
    return min(seconds(lambda: np.asarray(compiled(models)), "cpu") for _ in range(3)) * 1e3 / rounds


def heading(device: str) -> Iterable[str]:
    name = torch.cuda.get_device_name() if device == "cuda" else platform.processor() or "a processor"
    packages = [f"torch {torch.__version__}"]
    for module in ("triton", "jax"):
        try:
            packages.append(f"{module} {__import__(module).__version__}")
        except ImportError:
            packages.append(f"no {module}")
    yield from ("# On a card", "", f"{name}, {', '.join(packages)}, {datetime.date.today()}; `python -m benchmarks.cuda`.")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=PAGE)
    parser.add_argument("--seconds", type=float, default=235.0, help="time after which nothing more is begun")
    given = parser.parse_args([] if arguments is None else arguments)
    if reason := why_not():
        print(f"left out: {reason}")
        return 0
    campaign = Campaign(limit=given.seconds)
    campaign.say(*heading("cuda"))
    with torch.no_grad():
        campaign.all()
    given.out.write_text("\n".join(campaign.lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
