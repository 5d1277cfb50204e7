"""What is known of lengths is true on random federations and their coupled runs; planted faults are seen; what is proven."""

import json
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from bounds.registry.claims import find_claim
from tests.verify.worst.coupled_federations import Chance, holds
from verify.checker.quadratic_forms import ORIGIN, NotQuadratic, SymbolicVector
from verify.exact.check import check
from verify.exact.statement import statement_of
from verify.symbolic import length_proof, length_rules
from verify.symbolic.length_rules import Rules
from verify.symbolic.lengths import Lengths
from verify.symbolic.norm_expressions import LENGTH, NormExpression, row_of, scaled
from verify.worst.configurations import Template
from verify.worst.length_columns import RunColumns
from verify.worst.lengths import _Program
from verify.worst.lengths_proven import lengths_at, lengths_proven
from verify.worst.worst_of_lengths import _settings

#: claims with letters of every kind: sizes (clients, rounds, local steps, samples), step, numbers
COUPLED = {
    "classical/sgd-stability-distance": (1, 1, 3, 2), "classical/coupled-step-smooth": (2, 1, 1, 2),
    "fedmoswa/eq-28": (1, 1, 2, 2), "fedmoswa/theorem-5.1-nonconvex-fedswa@parameters": (1, 1, 2, 2),
    "fedmoswa/eq-19": (1, 1, 2, 2), "fedmoswa/theorem-f.3-gap@region": (1, 1, 1, 2),
    "afedpd/rec-delta-local": (1, 1, 2, 2),
}
SINGLE = {"fedmoswa/lemma-e.4": (2, 1, 2), "fedmoswa/eq-14@region": (2, 2, 1), "fedmoswa/eq-34": (2, 2, 1)}


def rules_of(name, sizes):
    """(rules, a program with all its columns)."""
    claim = find_claim(name)
    numbers = (1,) if len(sizes) == 4 else (8, 2, 1, 1)
    template = Template(*sizes[:3], Fraction(1), Fraction(1, 10), (Fraction(1), Fraction(1, 2)), Fraction(1),
                  tuple(map(Fraction, numbers)))
    given = {"samples": Fraction(sizes[3])} if len(sizes) == 4 else {}
    stated, setting = statement_of(claim), next(iter(_settings(claim, given, template)))
    own = {**setting._asdict(), "vectors": [], "proofs": []}
    del own["unknown"]
    rules = length_proof.rules_of({**stated, **own})
    pairs, known = rules.compared(stated["statement"]), rules.facts()
    return rules, known, pairs


def amounts(rules, known, pairs):
    """All that a program may use, and triangles at random vectors."""
    found = {f"known {name}": amount for name, amount in known.items() if all(not k or k[0] == LENGTH for k in amount.terms)}
    for number, pair in enumerate(pairs[:3]):
        program = _Program(RunColumns(rules, known), *pair)
        found |= {f"{number} {c.kind} {c.entry}": c.amount for c in program.columns if c.kind != "known"}
    return found


def lines_of(rules, known, pair):
    """The vectors of a program."""
    return [row_of(items) for items in _Program(RunColumns(rules, known), *pair).lines]


def violations(name, sizes, seeds=6):
    rules, known, pairs = rules_of(name, sizes)
    used, seen = amounts(rules, known, pairs), set()
    bends = rules.curvatures(next(iter(rules.points)))
    steepest = rules.given["G_lip"] if "G_lip" in rules.stated["everywhere"] else None
    unmet = [number for number in used if number.startswith(("known hypothesis", "known sigma_g"))]
    for seed in range(seeds):
        low, high = bends or (-1, 1)
        chance = Chance(rules, np.random.default_rng(seed), 0 if steepest is not None and low > 0 else low, high, steepest)
        seen |= {what for what, amount in used.items() if what not in unmet and not holds(chance, amount)}
    return seen


@pytest.mark.parametrize("name", [*COUPLED, *SINGLE])
def test_what_is_known_holds_on_random_federations(name):
    assert violations(name, (COUPLED | SINGLE)[name]) == set()


def changed_by_places(name, canonical=Lengths.canonical):
    """How many vectors stand for what the exchange of both runs makes of them, and those of another length than these."""
    rules, known, pairs = rules_of(name, COUPLED[name])
    chance, rows, wrong = Chance(rules, np.random.default_rng(1), 0, 1, 1), [], []
    for pair in pairs[:2]:
        rows += lines_of(rules, known, pair)
    changed = 0
    for row in rows:
        _, items = scaled(row)
        other = canonical(rules, items)
        changed += other != items
        if chance.length(items) != pytest.approx(chance.length(other)):
            wrong.append(items)
    return changed, wrong


@pytest.mark.parametrize("name", [name for name in COUPLED if name.startswith("fedmoswa")])
def test_a_vector_is_as_long_where_the_runs_change_places(name):
    changed, wrong = changed_by_places(name)
    assert changed and not wrong
    assert changed_by_places(name, lambda rules, items: items[:1])[1]  # a planted fault


def test_unlike_multiples_of_two_letters_are_as_long_as_what_stands_for_them():
    """Where the runs change templates, two letters may change their order."""
    rules, _, _ = rules_of("fedmoswa/eq-28", (2, 1, 1, 2))
    chance, changed = Chance(rules, np.random.default_rng(1), 0, 1, 1), 0
    for pair in permutations(range(len(rules.upstream)), 2):
        items = [*zip(pair, (1, 2), strict=True)]
        if chance.clients(items) != -1:
            ((_, others), factor), = rules.length(row_of(items)).terms.items()
            assert chance.length(items) == pytest.approx(float(factor) * chance.length(others))
            changed += {letter for letter, _ in others} != {*pair}
    assert changed


FAULTS = {
    "every sample is as rare as one of n + 8": (
        Rules, "hit", lambda own: lambda rules, *a: with_samples(own, rules, *a), "fedmoswa/eq-28"),
    "a step shrinks by a tenth more": (
        Rules, "expansion", lambda own: lambda rules, *a: own(rules, *a) * Fraction(9, 10), "fedmoswa/eq-14@region"),
    "slopes are a tenth smaller": (
        Rules, "lipschitz", lambda own: lambda rules: own(rules) * Fraction(9, 10), "classical/sgd-stability-distance"),
    "noise is a tenth smaller": (
        length_rules, "root_above", lambda own: lambda value: own(value) * Fraction(9, 10), "fedmoswa/lemma-e.4"),
}


def triangles_that_fail(name, sizes, times=lambda c: c):
    """How many of some random triangle inequalities do not hold on a random federation."""
    rules, known, pairs = rules_of(name, sizes)
    rows, rng = lines_of(rules, known, pairs[0]), np.random.default_rng(3)
    bends = rules.curvatures(next(iter(rules.points)))
    chance, failed = Chance(rules, rng, max(bends[0], 0), bends[1], None), 0
    for _ in range(40):
        parts = [(rows[i], times(Fraction(int(rng.integers(-3, 4))))) for i in rng.choice(len(rows), min(3, len(rows)))]
        whole = sum((row * c for row, c in parts), SymbolicVector({}))
        failed += bool(whole.terms) and not holds(chance, rules.triangle(whole, parts))
    return failed


def test_triangle_inequalities_hold_and_not_the_other_way_round(monkeypatch):
    name = "fedmoswa/eq-14@region"
    assert triangles_that_fail(name, SINGLE[name]) == 0
    monkeypatch.setattr(Rules, "triangle", lambda rules, row, parts, own=Rules.triangle: -own(rules, row, parts))
    assert triangles_that_fail(name, SINGLE[name])


def test_gradients_of_a_draw_on_which_the_models_depend_tell_nothing():
    rules, known, pairs = rules_of("classical/sgd-stability-distance", COUPLED["classical/sgd-stability-distance"])
    column = next(c for c in _Program(RunColumns(rules, known), *pairs[0]).columns if c.kind == "hits" and rules.points[
        [*rules.points][c.entry[0]]][c.entry[1]][0].terms.keys() - {ORIGIN})
    function = [*rules.points][column.entry[0]]
    arguments = function[1:], *column.entry[1:3], Fraction(1), Fraction(1), "bound"
    rules.hit(*arguments)
    letter = next(i for i in rules.points[function][column.entry[1]][0].terms if i != ORIGIN)
    rules.upstream[letter] |= {function[1:]}
    with pytest.raises(ValueError, match="depend on the draw"):
        rules.hit(*arguments)


def with_samples(own, rules, *arguments):
    rules.size["samples"] += 8
    try:
        return own(rules, *arguments)
    finally:
        rules.size["samples"] -= 8


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_seen(monkeypatch, fault):
    template, attribute, change, name = FAULTS[fault]
    monkeypatch.setattr(template, attribute, change(getattr(template, attribute)))
    assert violations(name, (COUPLED | SINGLE)[name], 12)


#: statements that hold with equality for some federation: what they are multiplied with
TIGHT = {"classical/sgd-stability-distance": {}, "classical/coupled-step-convex": {"rounds": Fraction(1)},
         "fedmoswa/lemma-d.1-smooth": {}, "fedmoswa/eq-23": {"local_steps": Fraction(1)}}


@pytest.mark.parametrize("name", TIGHT)
def test_proofs_are_accepted_and_bounds_are_no_better(name):
    claim = find_claim(name)
    found = lengths_at(claim, TIGHT[name])
    assert check(json.loads(json.dumps(found.certificate)), claim).accepted
    assert max(lengths_at(claim, TIGHT[name], proofs=False).factors) == pytest.approx(1)


@pytest.mark.parametrize("name", [
    "fedmoswa/eq-18", "fedmoswa/eq-19", "afedpd/lemma-6", "afedpd/rec-pi", "afedpd/rec-sigma@text", "afedpd/eq-9"])
def test_what_is_refuted_is_not_proven(name):
    claim = find_claim(name)
    template = Template(L=Fraction(16), mu=Fraction(1), numbers=(Fraction(1, 3),))
    try:
        found = lengths_at(claim, {}, template, factors=False)
    except ValueError:
        return
    assert found.certificate is None


def test_local_problems_on_samples_have_no_form():
    claim = find_claim("afedpd/rec-delta-local")
    stated, setting = statement_of(claim), next(iter(_settings(claim, {}, Template(local_steps=1, numbers=(Fraction(1),)))))
    own = {**setting._asdict(), "vectors": [], "proofs": []}
    del own["unknown"]
    length_proof.rules_of({**stated, **own})
    stated["procedure"]["options"]["solver"] = "exact"
    with pytest.raises(NotQuadratic):
        length_proof.rules_of({**stated, **own})


def test_signed_numbers_are_no_lengths():
    assert not length_rules.nonnegative(NormExpression({("signed", "generalisation", 1): Fraction(1)}))
    assert length_rules.nonnegative(NormExpression({(LENGTH, ((0, Fraction(1)),)): Fraction(1)}))


@pytest.mark.parametrize("name", ["classical/sgd-stability-distance", "classical/sgd-stability-convex"])
def test_theorems_about_coupled_runs_are_proven_at_several_sizes(name):
    claim = find_claim(name)
    found = lengths_proven(claim)
    assert check(json.loads(json.dumps(found.certificate)), claim).accepted and "losses of samples" in found.scope
    assert len({(one["sizes"]["rounds"], one["sizes"]["local_steps"], one["sizes"]["samples"])
                for one in found.certificate["settings"]}) > 2


@pytest.mark.parametrize("name", [
    "classical/sgd-stability-smooth",  # nothing is known of losses that are bounded
    "fedmoswa/eq-18", "afedpd/lemma-5"])  # false
def test_what_is_false_somewhere_is_not_proven(name):
    found = lengths_proven(find_claim(name))
    assert found.certificate is None and found.reason
