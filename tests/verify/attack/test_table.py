"""The table of an attack counts what happens; each wrong acceptance is a fault."""

from fractions import Fraction
from types import SimpleNamespace

from bounds.registry.claims import find_claim
from synthetic.numbers.balls import Undecided
from tests.verify.attack import dropped_hypotheses, every_round
from tests.verify.attack.certificates import SAMPLE
from tests.verify.attack.dropped_hypotheses import PROVEN, attack_hypotheses, without_one
from tests.verify.attack.table import NoOpinion, Table
from verify.exact.check import CheckResult
from verify.exact.statement import statement_of
from verify.worst.worst_case import worst_case


def raising(error):
    def opinion():
        raise error
    return opinion


def test_every_mutant_is_counted():
    table = Table()
    assert table.judge("a", "one", lambda: 7) == 7
    assert table.judge("a", "two", raising(KeyError("x"))) is None
    table.accept("a", "one", lambda: True)
    table.accept("a", "two", raising(Undecided()))
    table.accept("b", "three", raising(NoOpinion()))
    table.accept("b", "four", lambda: False)
    table.accept("b", "five", raising(ValueError("odd")))
    row = table.rows["a"]
    assert (row.judged, row.accepted, row.agreed, row.no_opinion, row.wrong, row.raised) == (2, 2, 1, 1, 0, 1)
    assert [mutant for _, _, mutant in table.faults] == ["two", "four", "five"]
    assert table.markdown().endswith("| all | 2 | 5 | 1 | 2 | 2 | 1 | 0.0 | 0 |")


def test_the_sample_is_of_registered_claims():
    names = [f"{paper}/{name}" for paper, names in SAMPLE.items() for name in names.split()]
    assert len(names) > 30 and all(find_claim(name).statement is not None for name in names)


def test_the_attack_notices_proofs_that_do_not_need_their_hypotheses(monkeypatch):
    name = "classical/gd-distance"
    claim, given = find_claim(name), PROVEN[name]
    certificate = worst_case(claim, given, factors=False).certificate
    monkeypatch.setattr(dropped_hypotheses, "to_prove", lambda: [(claim, given, None)])
    monkeypatch.setattr(dropped_hypotheses, "worst_case",
                        lambda other, *_, **__: SimpleNamespace(certificate=certificate | statement_of(other)))
    monkeypatch.setattr(dropped_hypotheses, "every_round_at", lambda *_, **__: SimpleNamespace(certificate=None))
    monkeypatch.setattr(every_round, "replay_alone", lambda data: CheckResult(True, "yes"))
    table = attack_hypotheses()
    assert table.total("accepted") == 2 * len(claim.hypotheses) and table.faults


def test_each_hypothesis_is_dropped_once():
    claim = find_claim("classical/gd-distance")
    left = [set(claim.hypotheses) - set(other.hypotheses) for other in without_one(claim)]
    assert sorted(map(len, left)) == [1] * len(claim.hypotheses) and isinstance(PROVEN[claim.id]["mu"], Fraction)
