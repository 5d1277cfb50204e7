"""The stand-alone checker's methods: everything that a run records is what the engine records."""

from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest

from bounds.language.claim import DISTINCT, SAMPLING
from bounds.registry.claims import all_claims
from fedtheory import ALGORITHMS
from tests.bounds.each_claim import look_at_each
from tests.not_empty import not_empty
from tests.verify.checker.method_rows import FULL_ONLY, ROWS, TOSSING, names_of, noisy_client, replayed
from tests.verify.checker.records import compare_with_record
from verify.checker.formulas import At
from verify.checker.instance import Instance
from verify.checker.methods import (
    adaptive,
    averaging,
    duals,
    layers,
    models,
    momentum,
    selection,
    server,
    sharpness,
    uploads,
)
from verify.checker.run import METHODS, Run

BESIDE = {name: base for base, method in ALGORITHMS.items()
          for name, record in method.traits.records.items() if record.method}


#: the first row of every method; the others, of its variants, are slow all together
FIRST = {row[0]: name for name, row in reversed(ROWS.items())}.values()


#: rounds, local steps and seed of rows that need two steps
FEWER = dict.fromkeys(("fedswa h1", "fedmoswa h1", *(name for name in ROWS if name.startswith("fednova "))), (1, 2, 2))
#: rows of which exact arithmetic cannot tell all outcomes of noise and sampling apart
NOT_BOTH = {"local-adam delayed"}


@pytest.mark.parametrize("name", [name if name in FIRST else pytest.param(name, marks=pytest.mark.slow) for name in ROWS])
def test_a_run_is_the_engines(name):
    """With noise and all clients, with sampled clients, and, in fewer iterations, with both."""
    noisy = () if "exact" in name or "tracker" in name else noisy_client(name)
    kinds = [("full", noisy, 2, 2, None), ("without-replacement", (), 2, 2, None),
             ("without-replacement", noisy, *FEWER.get(name, (2, 1, None)))]
    for sampling, of_client, rounds, steps, seed in kinds[:1 if name in FULL_ONLY else 2 if name in NOT_BOTH else 3]:
        environment, replay = replayed(name, sampling, seed, of_client, rounds, steps)
        compare_with_record(replay, environment, names_of(environment, name))


#: methods of every kind whose runs with Bernoulli sampling `make test` compares
QUICKLY = ("fedavg", "scaffold", "fedalign", "feddyn", "fedadam")


@pytest.mark.parametrize("name", [name if name in QUICKLY else pytest.param(name, marks=pytest.mark.slow)
                                  for name in FIRST if name not in FULL_ONLY and ROWS[name][0] not in TOSSING])
def test_a_run_with_bernoulli_sampling_is_the_engines(name):
    """In two rounds, in some of which nobody takes part; in one with noise."""
    for noisy, rounds in (((), 2), (noisy_client(name), 1)):
        environment, replay = replayed(name, "bernoulli", None, noisy, rounds, 1)
        compare_with_record(replay, environment, names_of(environment, name))


#: methods that take the root of a change, which balls cannot tell to be zero in a round without anybody
ROOTS_OF_CHANGES = ("fedadagrad", "fedadam", "fedams")
#: methods whose rules differ in what they average: models, dual messages, variates, lengths, layers
WEIGHED = ("fedavg", "scaffold", "feddyn", "fedadmm", "fedmoswa I", "fednova", "fedluar", "fedalign")


@pytest.mark.parametrize("name", [name if name in WEIGHED else pytest.param(name, marks=pytest.mark.slow)
                                  for name in FIRST if name not in FULL_ONLY])
def test_a_run_of_unequal_clients_is_the_engines_under_every_scheme(name):
    schemes = DISTINCT if ROWS[name][0] in TOSSING else SAMPLING[1:-1] if name in ROOTS_OF_CHANGES else SAMPLING[1:]

    def check(scheme):
        environment, replay = replayed(name, scheme, rounds=2, steps=1, equal=False)
        assert len({*replay.given["client_weight"]}) > 1, "the weights are unequal"
        compare_with_record(replay, environment, names_of(environment, name))

    look_at_each(schemes, check)


again, draw_clients = Run.again, Run.draw_clients
#: what is changed in a run: its method, and another one
BERNOULLI_FAULTS = {
    "the weights of all": ("shares", lambda run: run.weights),
    "a round of nobody counts": ("again", lambda run, method, past: again(run, method, [*past, (run.round, [0])])),
    "one takes part at least": ("draw_clients", lambda run, count: draw_clients(run, count) or [0]),
}


@pytest.mark.parametrize("row", BERNOULLI_FAULTS)
def test_a_fault_in_bernoulli_sampling_is_noticed(row, monkeypatch):
    name, other = BERNOULLI_FAULTS[row]
    environment, replay = replayed("scaffold", "bernoulli")
    monkeypatch.setattr(Run, name, other)
    with pytest.raises(AssertionError):
        compare_with_record(replay, environment, names_of(environment, "scaffold"))


def test_the_checker_knows_every_method():
    assert METHODS.keys() == ALGORITHMS.keys() == {row[0] for row in ROWS.values()}


class Beside(NamedTuple):
    """What a replay has beside its own runs, as :func:`compare_with_record` asks for it."""

    replay: Instance
    name: str

    def outcomes(self):
        return self.replay.outcomes()

    def run(self, outcome):
        rounds = range(self.replay.size["rounds"] + 1)
        return SimpleNamespace(record={self.name: [self.replay.named(self.name, [r], At({}, outcome)) for r in rounds]})


@pytest.mark.parametrize("noisy", [(), (1,)])
@pytest.mark.parametrize("name, base", [*BESIDE.items()])
def test_what_another_method_does_beside_a_run_is_its_own_run(name, base, noisy):
    """With the same noise, from the same start; also where nothing is left to chance."""
    there = ALGORITHMS[base].traits.records[name].array
    assert adaptive.BESIDE[name] == (ALGORITHMS[base].traits.records[name].method, there)
    environment, replay = replayed(base, "full", 3, noisy)
    compare_with_record(Beside(replay, name), environment, [name])
    apart = environment.bound[name].data - environment.bound[there].data
    assert (abs(apart.astype(float)) > 1e-3).any()


def test_all_states_are_compared():
    seen = {}
    for name in ROWS:
        environment, _ = replayed(name, "full")
        seen.setdefault(ROWS[name][0], set()).update(names_of(environment, name))
    for base, states in not_empty(seen.items()):
        left_out = {*METHODS[base][1]} - states - {*BESIDE}
        assert left_out <= {"local-adam": {"client_scalar_moment2"}, "moon": {"last_local_model"}}.get(base, set())


def test_every_procedure_of_a_claim_is_replayed_or_about_growth():
    """The methods and options of all explicit claims about runs are known, and each has a row above."""
    for claim in not_empty(all_claims().values()):
        if claim.setting == "run" and claim.explicit and claim.statement is not None:
            assert claim.procedure.base in METHODS, claim.id


# planted faults ------------------------------------------------------------------------------------------------------------
#: what is changed in a method of the checker: (row, module, text, other text)
FAULTS = {
    "server step": ("fedswa", averaging, "run.towards(x, run.aggregate(ends, x))", "run.aggregate(ends, x)"),
    "rates": ("fedswa", averaging, "(j / K)", "((j + 1) / K)"),
    "variate sign": ("fedmoswa II", averaging, "g - c[k] + m", "g + c[k] - m"),
    "everybody renews": ("fedmoswa II", averaging, "c = run.of_drawn(new, c)", "c = new"),
    "mean of all": ("fedmoswa II", averaging,
                    "if everyone else run.mean([one - m for one in new])", "if everyone else run.over_all(c) - m"),
    "old server variate": ("fedmoswa II", averaging, "c[k] - m + (x", "c[k] + (x"),
    "start": ("fedmoswa gradient", averaging, 'if start in ("gradient", "free-mean") else m', 'if start == "none" else m'),
    "fresh m after": ("fedmoswa fresh", averaging, "m * (1 -", "m * (2 -"),
    "sam radius": ("fedsam", averaging, "y + along(", "y - along("),
    "momentum": ("mofedsam", averaging, "M * (1 - beta)", "M * beta"),
    "virtual dual": ("afedpd", duals, "[bar for _ in run.clients]", "[x for _ in run.clients]"),
    "server model": ("afedpd", duals, "bar + run.over_all(lam) / rho", "bar"),
    "dual enters": ("fedadmm", duals, "ends[k] + new[k] / rho", "ends[k] - new[k] / rho"),
    "stale": ("fedadmm stale", duals, "x + run.over_all([sent", "x + run.mean([sent"),
    "order": ("feddyn", duals, "(server if next_one", "(before if next_one"),
    "moment order": ("fadamgc", adaptive, "m, top = (m, top) if self.delayed", "m, top = (m, top) if True"),
    "carry": ("fadamgc carry", adaptive, '{"carry": self.largest', '{"carry": self.v'),
    "correction": ("fadamgc", adaptive, "g + y - y_k[k]", "g"),
    "after": ("fa-nt", adaptive, "adam.direction(k, g) + y - y_k[k]", "adam.direction(k, g)"),
    "z-form": ("fa-nt-z", adaptive, "(ends[k] - x) / (sum(run.steps()) * run.number(\"eta_g\"))",
               "(ends[k] - x) / sum(run.steps())"),
    "recycled": ("fedluar", layers, "layers.select(recycled, again, change)", "layers.select(recycled, change, change)"),
    "kept score": ("fedluar", layers, 'if source == "keep" and', 'if source == "none" and'),
    "age": ("fedluar", layers, "age[l] + 1", "age[l]"),
    "pull": ("fedprox", selection, "(y - x) * rho", "(x - y) * rho"),
    "own model": ("local-only", selection, "run.train(own, plain)", "run.train(x, plain)"),
    "heavy ball": ("fedavgm", server, "u * run.number(\"beta1\") + (run", "u * run.number(\"beta1\") - (run"),
    "look-ahead": ("fedacg", server, "(y - z) * rho", "(y - x) * rho"),
    "sum of squares": ("fedadagrad", server, "lambda v, dd: v + dd", "lambda v, dd: v * 2 + dd"),
    "second moment": ("fedadam", server, "v * beta + dd * (1 - beta)", "v * (1 - beta) + dd * beta"),
    "sign": ("fedyogi", server, "sign(v - dd)", "sign(dd - v)"),
    "no maximum": ("fedams", server, "extreme([a, b, eps] if at_least", "extreme([b, eps] if at_least"),
    "floor": ("fedamsgrad", server, "added = 0 if at_least else eps", "added = 0"),
    "mean length": ("fednova steps", server, "run.mean(lengths) / (run.total() or 1)", "lengths[0]"),
    "length": ("fednova pull", server, "keep + 1 - way * rho", "keep + 1"),
    "mean direction": ("fedcm", momentum, "g * beta + M * (1 - beta)), x)", "g + M * (1 - beta)), x)"),
    "along M": ("fedavg-m", momentum, "x = x - M * run.number", "x = x + M * run.number"),
    "own momentum": ("fedavg-m heavy ball", momentum, "return u[k] if own", "return g if own"),
    "mixed variates": ("scaffold-m", momentum, "(g - c[k] + m) * beta", "(g - c[k]) * beta"),
    "uphill variates": ("fedgamma", momentum, "uphill(run, k, y, g, step) - c[k]", "g - c[k]"),
    "ablation": ("fedmo", momentum, "run.mean([one - m for one in new]) * gamma", "run.mean([one - m for one in new])"),
    "averaged moments": ("fedlada", momentum, "run.mean([one - v for one in top])", "run.mean([one - v for one in now])"),
    "own moments": ("fedlada local", momentum, "run.of_drawn(now, own)", "now"),
    "adaptive radius": ("fedasam", sharpness, "lambda a: abs(a) + nu", "lambda a: a + nu"),
    "cycle": ("fedasam average", sharpness, "since % cycle + 1, cycle", "since % cycle, cycle"),
    "old minus new": ("fedlesam", sharpness, "along(old[k] - x", "along(x - old[k]"),
    "not normalised": ("fedspeed", sharpness, "y + g * run.number", "y - g * run.number"),
    "tied": ("fedsmoo", sharpness, "now[k] + last[k] - s", "now[k] + last[k]"),
    "common": ("fedsmoo s_hat", sharpness, "now if of_duals else last", "now"),
    "added": ("afedpdsam eps", sharpness, "(norm(g) + added)", "norm(g)"),
    "pushed away": ("moon", models, "along(z_previous, 1) - along(z_global, 1)", "along(z_global, 1) - z_previous"),
    "last model": ("moon", models, "run.of_drawn(ends, last)", "ends"),
    "tangential": ("moon", models, "apart - own * difference", "apart"),
    "shrinkage": ("fedadmm g", duals, "x * twice_w - l1 * side", "x * twice_w + l1 * side"),
    "weight": ("fedadmm g consistent", duals, '== "printed" else rho', '== "printed" else 1 / rho'),
    "projection": ("lbgm always", uploads, "b * (inner / dot(b, b)) if near", "b if near"),
    "rounded": ("fedpaq whole", uploads, "above / levels", "above / (levels + 1)"),
    "lost": ("feddropoutavg both", uploads, "each and not gone", "each"),
    "senders": ("feddropoutavg", uploads, "change / total", "change"),
    "importance": ("prunefl times", uploads, "a / b for a, b in zip(sums", "a for a, b in zip(sums"),
    "returns": ("prunefl", uploads, "x, sums = only(kept, x), ", "sums = "),
    "chances": ("fedluar drawn", layers, "weights[l] / total", "Fraction(1, len(weights))"),
    "dropped": ("feddrop", layers, "0 if mode == \"drop\"", "1 if mode == \"drop\""),
    "rare": ("fedlama", layers, "now = {*layers.all} if last", "now = {*layers.all} if True"),
    "discrepancy": ("fedlama every round", layers, "(steps[l] * layers.sizes[l])", "steps[l] ** 2"),
    "halves": ("fedmut", layers, "a + b * signs[l]", "a + 2 * b * signs[l]"),
}
#: rows whose fault shows only where all clients take part
FULL = {*FULL_ONLY, "fedmut", "feddropoutavg"}
#: rows whose fault shows only later
LATE = {"fadamgc carry", "fedams", "prunefl", "fedlama"}


@pytest.mark.parametrize("row", FAULTS)
def test_a_fault_in_a_method_is_noticed(row, monkeypatch):
    name, module, text, other = FAULTS[row]
    source = Path(module.__file__).read_text(encoding="utf-8")
    assert text in source
    changed = {"__name__": "changed"}
    exec(compile(source.replace(text, other), "changed", "exec"), changed)
    base = ROWS[name][0]
    monkeypatch.setitem(METHODS, base, changed["METHODS"][base])
    with pytest.raises((AssertionError, ValueError)):
        for seed in range(4, 12):  # a maximum may agree by chance
            sampling, rounds = "full" if name in FULL else "without-replacement", 3 if name in LATE else 2
            environment, replay = replayed(name, sampling, seed, rounds=rounds)
            compare_with_record(replay, environment, names_of(environment, name))
