"""Runs in proofs for all numbers: the equations and the lemmas hold on runs, and forged proofs are refused."""

from itertools import product

import pytest

from tests.not_empty import not_empty
from tests.verify.checker.method_rows import FULL_ONLY, replayed
from tests.verify.checker.numbers_of_runs import Values
from verify.checker import number_runs as runs
from verify.checker import polynomials
from verify.checker.form import STATED
from verify.checker.index_sums import of_vector, substitute
from verify.checker.number_hypotheses import begin
from verify.checker.polynomials import constant

#: rows of ``method_rows`` whose methods are followed
ROWS = ("fedavg", "fedswa", "fedmoswa I", "fedmoswa II", "fedmoswa II free", "fedmoswa II free-mean",
        "fedmoswa gradient", "fedmoswa gradient-clients-only", "fedmoswa all-clients", "fedmoswa all-clients gradient",
        "fedmoswa fresh", "scaffold I", "afedpd")


def round_of(name, sampling, **more):
    """(instance, what is known, the round of its method)."""
    polynomials.meter.spent = 0
    _, instance = replayed(name, sampling, **more)
    known, reader = begin({name: instance.certificate[name] for name in STATED}, {}, {})
    return instance, known, reader.run


def places(run, instance, indices):
    """The values of a round, a step and a client at which an equation is looked at."""
    ends = {runs.ROUND: "rounds", runs.STEP: "local_steps", runs.CLIENT: "clients"}
    own = [next(iter(index.terms))[0][0] for index in indices]
    return own, product(*(range(instance.size[ends[index]] + 1) for index in own))


def put(known, p, pairs):
    for index, place in pairs:
        p = (substitute if not isinstance(p, dict) else of_vector)(known, p, index, constant(place))
    return p


@pytest.mark.parametrize("equal", [True, False])
@pytest.mark.parametrize("sampling", runs.SAMPLINGS)
@pytest.mark.parametrize("name", ROWS)
def test_equations_of_methods_hold_on_runs(name, sampling, equal):
    if name in FULL_ONLY and sampling != "full":
        pytest.skip("all take part")
    instance, known, run = round_of(name, sampling, noisy=(1,), equal=equal)
    looked_at, outcomes = 0, [*instance.outcomes()]
    for _, outcome in (outcomes[0], outcomes[-2]):
        polynomials.meter.spent = 0
        values = Values(instance, outcome)
        for equation, (indices, premises, left, right) in not_empty([*run.equations.items()]):
            own, cases = places(run, instance, indices)
            for case in cases:
                pairs = [*zip(own, case, strict=True)]
                clients = [place < instance.size["clients"] for index, place in pairs if index == runs.CLIENT]
                if all(clients) and all(values.number(put(known, p, pairs)) >= 0 for p in premises):
                    sides = [values.vector(put(known, side, pairs)) for side in (left, right)]
                    assert [*sides[0]] == [*sides[1]], (equation, case)
                    looked_at += 1
    assert looked_at > 50
