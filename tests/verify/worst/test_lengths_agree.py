"""The checker and the prover, which share no code about norms, know the same of them, and answer the same about proofs."""

import json
import random
from fractions import Fraction

import pytest

from bounds.registry.claims import find_claim
from tests.verify.attack.mutants import mutant
from verify.checker import length_certificate
from verify.checker.operators import replayed
from verify.checker.theories import lengths
from verify.exact.statement import statement_of
from verify.symbolic import length_proof
from verify.symbolic.loss_differences import GAPS
from verify.worst.configurations import Template
from verify.worst.lengths_proven import lengths_at
from verify.worst.worst_of_lengths import _settings

_NUMBERS = ("0", "1", "-1", "1/2", "9/10", "3")
_CHOSEN = 40  # steps and hits with random numbers
#: how keys of the prover begin, as those of the checker
_KINDS = {"length": "norm", "square": "square", "gap": "absolute", "signed": "signed"}
_REFUSED = (ArithmeticError, LookupError, TypeError, ValueError)

_ONE_ROUND = {"rounds": Fraction(1)}
#: claims with facts of every kind: what is fixed at a setting
CLAIMS = {
    "classical/sgd-stability-distance": {}, "classical/local-sgd-stability-convex": {}, "fedmoswa/lemma-e.4": {},
    "fedmoswa/eq-28": {"local_steps": Fraction(1)}, "fedmoswa/theorem-5.1-nonconvex-fedswa@parameters": _ONE_ROUND,
    "fedmoswa/theorem-f.3-gap@region": _ONE_ROUND, "fedmoswa/eq-14@region": {}, "fedmoswa/lemma-d.1-smooth": {},
    "afedpd/rec-pi@at-most+stable": _ONE_ROUND, "afedpd/eq-9@signed": _ONE_ROUND,
}


def key_of(key):
    """A key of the prover, as the checker has it."""
    kind, *rest = key or ("",)
    named = [frozenset((i, Fraction(c, part[0]), Fraction(c, part[0])) for i, c in part[1])
             if isinstance(part, tuple) and len(part) == 2 and isinstance(part[1], frozenset) else part for part in rest]
    return (_KINDS[kind], *named) if key else ()


def terms(number, key_of=key_of):
    return {key_of(key): (getattr(c, "low", c), getattr(c, "high", c)) for key, c in number.terms.items()}


def of_checker(number):
    return terms(number, lambda key: key)


def unless_refused(compute, *arguments):
    try:
        return compute(*arguments)
    except _REFUSED:
        return None


def setting_of(name):
    """The first setting of a claim whose numbers meet its hypotheses."""
    claim = find_claim(name)
    stated, place = statement_of(claim), Template(2, 2, 2, numbers=(Fraction(1), Fraction(1, 3)))
    for setting in _settings(claim, CLAIMS[name], place):
        own = {**setting._asdict(), "vectors": [name for name, kind in stated["free"].items() if kind == ["dim"]]}
        del own["unknown"]
        found = {**stated, **own, "proofs": []}
        if unless_refused(lambda data: length_proof.rules_of(data).facts(), found) is not None:
            return json.loads(json.dumps(found))  # a copy of its own
    raise LookupError(name)


def different(setting):
    """The names of facts that the two have not in common, and the steps and hits with random numbers that differ."""
    rules, statement = length_proof.rules_of(setting), length_certificate.statement_of(setting)
    pairs, known = rules.compared(setting["statement"]), rules.facts()
    facts = lengths.facts(statement)
    assert [[*map(terms, pair)] for pair in pairs] == [[*map(of_checker, pair)] for pair in statement.pairs]
    assert [*rules.points] == [*statement.clients.points]
    found = {name for name in {*known, *facts} if name not in known or name not in facts
             or terms(known[name]) != of_checker(facts[name])}
    rng, functions = random.Random(0), [*rules.points]
    both = {"step": (lambda *choice: terms(rules.step(*choice)),
                     lambda *choice: of_checker(lengths.step(statement, *choice))),
            "hit": (lambda function, *choice: terms(rules.hit(function[1:], *choice)),
                    lambda function, *choice: of_checker(lengths.hit(statement, function[1:], *choice)))}
    for _ in range(_CHOSEN if functions else 0):
        function = rng.choice(functions)
        choice = [function, *(rng.randrange(len(rules.points[function])) for _ in range(2))]
        choice += [Fraction(rng.choice(_NUMBERS)) for _ in range(2)]
        for kind, more in (("step", []), ("hit", [rng.choice(("bound", "length"))])):
            old, new = (unless_refused(make, *choice, *more) for make in both[kind])
            found |= {kind} if old != new else set()
    return found


@pytest.mark.parametrize("name", CLAIMS)
def test_both_know_the_same(name):
    assert different(setting_of(name)) == set()


_MODELS = [["x_round", "rounds"], ["twin_x_round", "rounds"]]
_ERROR = ["E_data", ["+", ["F_pop", _MODELS[0]], ["*", -1, ["objective", _MODELS[0]]]]]


@pytest.mark.parametrize("replaced", ["any", "random"])
@pytest.mark.parametrize("word", GAPS)
def test_both_know_the_same_of_gaps(word, replaced):
    """Of each gap that a statement bounds, and of the error that one bounds by the gap."""
    setting, gap = setting_of("classical/local-sgd-stability-convex"), [word, *_MODELS]
    setting["procedure"]["replaced"] = replaced
    length = ["E", ["norm", ["+", _MODELS[0], ["*", -1, _MODELS[1]]]]]
    for left, right in ((gap, ["*", "G_lip", length]), (_ERROR, gap), (["Abs", gap], length)):
        setting["statement"] |= {"left": left, "right": right, "relation": "<=", "over": []}
        assert different(setting) == set()


#: faults in the checker's theory -> a claim whose facts show them
FAULTS = {
    "steps that shrink more": (("expansion", lambda own: lambda *a: own(*a) * Fraction(9, 10)), "fedmoswa/eq-14@region"),
    "smaller roots": (("root_above", lambda own: lambda value: own(value) * Fraction(9, 10)), "fedmoswa/lemma-e.4"),
    "flatter samples": (("lipschitz", lambda own: lambda s: own(s) / 2), "classical/sgd-stability-distance"),
    "smaller bounds": (("at_most", lambda own: lambda *a: own(*a) - 1), "afedpd/rec-pi@at-most+stable"),
    "other suprema": (("suprema", lambda own: lambda s: (*own(s), "worst_sample_gap")), "afedpd/eq-9@signed"),
    "a hit by what it is not": (("hit", lambda own: lambda *a: own(*a[:-1], "length")), "fedmoswa/eq-28"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_in_the_theory_are_seen(fault, monkeypatch):
    (attribute, change), name = FAULTS[fault]
    monkeypatch.setattr(lengths, attribute, change(getattr(lengths, attribute)))
    assert different(setting_of(name))


@pytest.mark.parametrize("name", ["classical/local-sgd-stability-convex", "fedmoswa/lemma-e.4", "fedmoswa/lemma-d.1-smooth"])
def test_both_answer_the_same_about_proofs_and_their_mutants(name):
    proof = json.loads(json.dumps(lengths_at(find_claim(name), {}, factors=False).certificate))
    rng, accepted = random.Random(1), 0
    for each in (proof, *(mutant(proof, rng) for _ in range(60))):
        old, new = (replayed(check, each)[0] for check in (length_proof.check, length_certificate.check))
        assert old == new
        accepted += new
    assert 0 < accepted < 61
