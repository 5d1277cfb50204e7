"""No run exceeds what is proven of lengths: instances of the search, of every registered claim that has such a form.

Each instance is compared with the factor that is proven at its very sizes and numbers, whether the claim is true or not.
"""

import pytest

from bounds.registry.claims import all_claims, find_claim
from bounds.registry.papers import PAPERS
from tests.verify.worst.against_lengths import seen
from verify.symbolic.length_rules import Rules
from verify.symbolic.norm_expressions import NormExpression
from verify.worst.worst_of_lengths import about_lengths

_LETTERS = 40
_FEW = {"classical": 5, "afedpd": 15, "fedmoswa": 120}  # comparisons with a finite factor that there must be
_SOLVER = 1e-5  # relative error of the solver, and of numbers that are rounded
_NO_RULE = 1e9  # a factor beyond which nothing is proven


def compared(paper):
    for claim in all_claims().values():
        free = claim.procedure is not None and claim.procedure.free_clients
        if claim.paper == paper and claim.explicit and about_lengths(claim) and not free:
            for one in seen(claim, 0, 1, _LETTERS):
                yield claim, one


@pytest.mark.parametrize("paper", PAPERS)
def test_no_run_exceeds_what_is_proven_of_lengths(paper):
    rows = [*compared(paper)]
    assert sum(one.factor < _NO_RULE for _, one in rows) >= _FEW.get(paper, 0)
    assert [(claim.id, one) for claim, one in rows if one.ratio > one.factor * (1 + _SOLVER)] == []


def _less(names):
    """What is known under these names, with a quarter of the bounds."""
    def known(rules, own=Rules.facts):
        return {name: NormExpression({key: c / 4 if c > 0 else c for key, c in amount.terms.items()})
                if name.startswith(names)
                else amount for name, amount in own(rules).items()}

    return "facts", known


def _rarer(rules, *arguments, own=Rules.hit):
    rules.size["samples"] *= 3
    try:
        return own(rules, *arguments)
    finally:
        rules.size["samples"] //= 3


#: faults in rules -> a claim whose runs come near what is proven
FAULTS = {
    "gradients of clients nearer to their mean": (_less("sigma_g_client"), "fedmoswa/lemma-e.4"),
    "a smaller hypothesis": (_less("hypothesis"), "fedmoswa/lemma-f.2@region"),
    "gradients of two samples nearer": (_less("cross"), "afedpd/rec-pi@at-most+stable"),
    "a smaller gap": (_less("worst_mean_gap"), "classical/local-sgd-stability-convex"),
    "a smaller generalisation error": (_less("generalisation"), "fedmoswa/theorem-5.1-nonconvex-fedswa"),
    "a smaller generalisation error than a gap": (_less("generalisation"), "afedpd/eq-9@signed"),
    "flatter steps": (("expansion", lambda rules, *a, own=Rules.expansion: own(rules, *a) / 2), "fedmoswa/lemma-d.1-smooth"),
    "steeper losses in the runs than in the rules": (
        ("lipschitz", lambda rules, own=Rules.lipschitz: own(rules) / 4), "classical/sgd-stability-distance"),
    "rarer hits": (("hit", _rarer), "classical/coupled-step-convex"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_in_rules_are_exceeded(fault, monkeypatch):
    (attribute, changed), name = FAULTS[fault]
    claim = find_claim(name)
    assert all(one.ratio <= one.factor * (1 + _SOLVER) for one in seen(claim, 0, 3, _LETTERS))
    monkeypatch.setattr(Rules, attribute, changed)
    assert any(one.ratio > one.factor * (1 + _SOLVER) for one in seen(claim, 0, 40, _LETTERS))
