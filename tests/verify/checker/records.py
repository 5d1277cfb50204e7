"""Compares everything that a replayed run records with what a run of the engine records."""

import numpy as np

from synthetic.numbers.balls import Ball
from verify.checker.intervals import as_interval

__all__ = ["compare_with_record"]


def compare_with_record(replay, environment, names):
    """Assert that ``names`` are the same, up to the order of outcomes, with the same chances; balls must overlap."""
    outcomes = [*replay.outcomes()]
    noise, sampling = environment.noise_weight[0], environment.sampling_weight[0]
    given = sampling if sampling.ndim == 2 else [sampling] * len(noise)
    ours = [(a * b, n, s) for n, a in enumerate(noise) for s, b in enumerate(given[n])]
    ours = [outcome for outcome in ours if isinstance(outcome[0], Ball) or outcome[0] != 0]
    assert _same(1, sum(chance for chance, _ in outcomes))
    engine = [
        (chance, {name: _plain(_entry(environment.bound[name].data, n, s)) for name in names}) for chance, n, s in ours]
    for chance, outcome in outcomes:
        record = replay.run(outcome).record
        wanted = {name: _plain(record[name]) for name in names}
        wanted |= {"g": wanted["g"][:-1]} if "g" in names else {}  # at the end nothing starts
        match = next((row for row in engine if _same(row[0], chance) and _all_same(row[1], wanted)), None)
        assert match is not None, _difference(engine[0][1], wanted)
        engine.remove(match)
    assert all(_same(chance, 0) for chance, _ in engine)


def _entry(data, n, s):
    return data[0, min(n, data.shape[1] - 1), min(s, data.shape[2] - 1)]


def _difference(row, wanted):
    return {name: (row[name], wanted[name]) for name in wanted if not _same(row[name], wanted[name])}


def _all_same(row, wanted):
    return all(_same(row[name], wanted[name]) for name in sorted(wanted, key="g".__ne__))


def _plain(value):
    return [_plain(v) for v in value] if isinstance(value, np.ndarray | tuple | list) else value


def _same(a, b):
    if isinstance(a, list) or isinstance(b, list):
        return isinstance(a, list) and isinstance(b, list) and len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, Ball):
        low, high = a.ends
        return high - low < 1e-9 and as_interval(b).low <= high and low <= as_interval(b).high
    return as_interval(b).low <= a <= as_interval(b).high
