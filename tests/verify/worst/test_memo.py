"""What is kept of formulas is what they come to: in each row one thing differs, which some faulty key does not see."""

from fractions import Fraction as Q

import pytest

from bounds.registry.claims import find_claim
from verify.exact.statement import statement_of
from verify.symbolic.comparisons import Length
from verify.symbolic.exchangeable_clients import CLIENT, EveryClientCount
from verify.symbolic.memo import MemoisedEvaluator
from verify.symbolic.symbolic_run import NOTHING, SymbolicRun
from verify.worst.configurations import instantiate

NOISE, LAYERS, EACH = "classical/sgd-value", "fedluar/lemma-A.2-kappa", "every number of clients"
GIVEN = {NOISE: {}, LAYERS: {"rounds": Q(2), "local_steps": Q(1), "clients": Q(1), "eta": Q(1, 4), "kappa": Q(1, 2)}}
MOVED = ["+", ["x_round", 1], ["*", -1, "x_star"]]
LARGER = ["Max", ["norm2", MOVED], ["F", 0, ["x_round", 1]]]

key, reading = MemoisedEvaluator.key, MemoisedEvaluator.reading


def keyed(change):
    """A key of other indices and another outcome."""
    def of(self, node, sure, names, index, outcome):
        return key(self, node, sure, *change(names, index, outcome))

    return MemoisedEvaluator, "key", of


def let_go(self, node, bound):
    found = reading(self, node, bound)
    self.read[id(node)] = (None, *found[1:])  # nothing holds the formula
    return found


#: danger -> (claim, formula, steps: indices, number of the outcome and what letters have noted), what a key without it is
ROWS = {
    "what is given": (NOISE, ["E_round", ["norm2", MOVED], 1], [({}, 0, {"given_past": past}) for past in (NOTHING, 2)], (
        SymbolicRun, "state", lambda self: (self.inside > 0,))),
    "inside of a mean": (NOISE, ["norm", MOVED], [({}, 0, {"given_past": 2, "inside": inside}) for inside in (0, 1)], (
        SymbolicRun, "state", lambda self: (self.given_past,))),
    "outside of means": (NOISE, ["norm2", MOVED], [({}, 0, {"given_past": past}) for past in (NOTHING, None)], (
        SymbolicRun, "state", lambda self: ())),
    "the point": (NOISE, ["infimum", "u", ["F", 0, "u"]], [({}, 0, {"given_past": 2, "point": t}) for t in (0, 1)], (
        SymbolicRun, "state", lambda self: (self.given_past, self.inside > 0))),
    "the outcome": (LAYERS, ["server_recycle_set", 1, 0], [({}, number, {"given_past": 2}) for number in (0, 1)], keyed(
        lambda names, index, outcome: (names, index, outcome and 0))),
    "an index": (NOISE, ["x_round", "t"], [({"t": Q(t)}, 0, {"given_past": 2}) for t in (0, 1)], keyed(
        lambda names, index, outcome: (names, {}, outcome))),
    "an index that is no whole number": (NOISE, ["*", "t", 2], [({"t": t}, 0, {}) for t in (Q(1), Q(1, 2))], keyed(
        lambda names, index, outcome: (names, {n: i.numerator for n, i in index.items()}, outcome))),
    "whose value it is": (EACH, ["grad", "k", ["x_round", 1]], [({n: CLIENT}, 0, {"given_past": 2}) for n in "kj"], keyed(
        lambda names, index, outcome: ({"0"}, dict(zip("0", index.values(), strict=True)), outcome))),
    "an index that is not named": (NOISE, LARGER, [({"t": Q(t)}, 0, {"given_past": 2}) for t in (0, 1)], (
        SymbolicRun, "numbering", ())),
    "where another formula lay": (NOISE, None, [({}, 0, {})] * 9, (MemoisedEvaluator, "reading", let_go)),
}


def letters_of(name):
    claim = find_claim(NOISE if name == EACH else name)
    setting = instantiate(claim, GIVEN.get(name, {}))
    return EveryClientCount(statement_of(claim), *setting, degree=1) if name == EACH else SymbolicRun(
        statement_of(claim), *setting)


def seen(name, node, steps):
    """What a formula comes to, step after step, on the same letters; without one what formulas come to that none keeps."""
    letters, found = letters_of(name), []
    outcomes = [outcome for _, outcome in letters.outcomes()]
    for step, (index, number, noted) in enumerate(steps):
        letters.certain, letters.given_past, letters.inside, letters.point = set(), None, 0, None
        for what, value in noted.items():
            setattr(letters, what, letters.run(outcomes[0]).record["x_round"][value] if what == "point" else value)
        try:
            value = letters.value(node or ["+", "clients", step], index, outcomes[number])
            value = value.square if isinstance(value, Length) else value
            found.append((getattr(value, "key", value), letters.certain))
        except (LookupError, TypeError) as error:
            found.append(f"{type(error).__name__}: {error}")
    return found


@pytest.mark.parametrize("danger", ROWS)
def test_what_is_kept_is_what_a_formula_comes_to(danger, monkeypatch):
    name, node, steps, fault = ROWS[danger]
    kept = seen(name, node, steps)
    with monkeypatch.context() as patch:
        patch.setattr(*fault)
        faulty = seen(name, node, steps)
    monkeypatch.setattr(MemoisedEvaluator, "key", lambda *_: None)
    assert kept == seen(name, node, steps) != faulty


def test_nothing_is_kept_from_before_it_was_known_which_choices_are_possible():
    claim = find_claim("fedluar/eq-6@common")
    setting = instantiate(claim, {"rounds": Q(4), "local_steps": Q(1), "clients": Q(1), "eta": Q(1, 4), "recycled": Q(2)})
    assert not SymbolicRun(statement_of(claim), *setting._replace(sizes=setting.sizes | {"layers": 3})).kept


def test_each_run_is_made_once(monkeypatch):
    made, of = [], SymbolicRun.make_run
    monkeypatch.setattr(
        SymbolicRun, "make_run", lambda self, method, outcome: made.append(outcome) or of(self, method, outcome))
    claim = find_claim("fedluar/eq-22@exogenous")
    letters = SymbolicRun(statement_of(claim), *instantiate(claim, {"rounds": Q(2), "local_steps": Q(1), "clients": Q(1)}))
    pasts = {past for past, *_ in letters.compared(letters.stated["statement"])}
    letters.facts_by_past(pasts)
    assert len(made) == len(letters.all_outcomes) > 2


def test_what_is_sure_is_compared_once_whatever_is_drawn(monkeypatch):
    claim = find_claim("fedluar/eq-22@exogenous")
    letters = SymbolicRun(statement_of(claim), *instantiate(claim, {"rounds": Q(2), "local_steps": Q(1), "clients": Q(1)}))
    sure = {"left": ["eta_l", "t"], "relation": "<=", "right": 9, "over": [["t", 0, 1]], "text": ""}
    drawn = sure | {"left": ["norm2", ["+", ["x_round", ["+", "t", 1]], ["*", -1, ["x_round", 0]]]]}
    counts = []
    for rule in (sure, drawn):
        counts.append(0)
        for index, outcome in letters.all_cases(rule):
            letters.sides(rule, index, outcome)
            counts[-1] += 1
    assert counts == [2, 2 * len(letters.all_outcomes)]


@pytest.mark.parametrize("name", [NOISE, LAYERS])
def test_what_a_run_notes_of_formulas_serves_runs_of_other_sizes(name):
    claim = find_claim(name)
    stated, notes = statement_of(claim), ({}, {}, {})
    for rounds in (2, 1, 3):
        setting = instantiate(claim, GIVEN[name] | {"rounds": Q(rounds)})
        said = [[(past, smaller.key, larger.key) for past, smaller, larger in SymbolicRun(
            stated, *setting, notes=known).compared(stated["statement"])] for known in (notes, None)]
        assert said[0] == said[1] != []
    assert all(notes)
