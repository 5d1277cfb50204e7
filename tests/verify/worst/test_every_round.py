"""Proofs for every number of rounds: theorems that have one, false statements that look alike, forged certificates."""

import json
import re
from dataclasses import replace
from fractions import Fraction as Q

import pytest
import sympy as sp

from bounds.controls.fedavg import control
from bounds.language.claim import Claim, Condition, Procedure, Variable
from bounds.language.operators import (
    E,
    L,
    Sum,
    clients,
    eta_l,
    grad,
    iterations,
    k,
    local_steps,
    mu,
    norm2,
    r,
    rounds,
    sigma_sq,
    t,
    x,
    x_round,
    x_sampled,
    x_star,
)
from bounds.registry.claims import find_claim
from tests.changes import put
from tests.classical import CONVEX, EXACT, JUST_CONVEX, NOISE, SMOOTH
from verify.checker import rounds as checker
from verify.checker.operators import replayed
from verify.checker.run import METHODS
from verify.exact.check import check
from verify.exact.statement import statement_of
from verify.symbolic.rounds import FROM_ANY_STATE, AnyRun, AnyState
from verify.worst.configurations import Template, instantiate
from verify.worst.every_round import every_round, every_round_at

client_variate = sp.IndexedBase("client_variate", real=True)
ALL_CLIENTS = (k, 0, clients - 1)
D = sp.Symbol("D", positive=True)
DISTANCE = norm2(x_round[r] - x_star)
AFTER = norm2(x_round[r + 1] - x_star)
ALL = ((r, 0, rounds - 1),)
LAST, FIRST = norm2(x_round[rounds] - x_star), norm2(x_round[0] - x_star)
STEP = Condition(eta_l[t], "==", 1 / (2 * L), ((t, 0, iterations - 1),))
SCAFFOLD = Procedure("scaffold", equal_weights=True, options=(("eta_g", 1), ("start", "zero")))
NOT_ALL = Procedure(sampling="without-replacement", equal_weights=True)
SHRINK = 1 - mu / (2 * L)


def own(name, statement, *assumptions, steps=STEP, **more) -> Claim:
    return control(name, "run", statement, assumptions=assumptions, conditions=(steps, *more.pop("conditions", ())), **more)


UNROLLED = own("unrolled", Condition(E(LAST), "<=", SHRINK**(rounds * local_steps) * FIRST + sigma_sq / (2 * L * mu)),
               SMOOTH, CONVEX, NOISE, variables=(Variable("local_steps", "integer", high=1),))
THEOREMS = [find_claim(f"classical/{name}") for name in (
    "gd-nonconvex", "fedavg-dissimilar-nonconvex", "fedavg-dissimilar-convex", "scaffold-convex", "scaffold-nonconvex",
    "scaffold-merely-convex", "gd-value", "sgd-distance", "fedavg-round")] + [UNROLLED]


@pytest.mark.parametrize("claim", THEOREMS, ids=lambda claim: claim.id)
def test_theorems_are_proven_for_every_number_of_rounds(claim):
    found = every_round_at(claim, {}, Template())
    assert found.reason == ""
    assert check(json.loads(json.dumps(found.certificate)), claim).accepted
    assert found.setting.sizes["rounds"] == 1


def test_the_scope_says_so():
    found = every_round(find_claim("classical/gd-distance"))
    assert "every number of rounds" in found.scope.split("; ") and "rounds =" not in found.scope


@pytest.mark.parametrize("name", ["fedavg-equal-curvature", "scaffold-equal-curvature"])
def test_where_all_curvatures_are_the_same_gradients_are_linear(name):
    claim = find_claim(f"classical/{name}")
    found = every_round(claim)
    assert "curvature L in every direction" in found.scope
    assert check(json.loads(json.dumps(found.certificate)), claim).accepted
    flatter = replace(claim, id="flatter", conditions=tuple(
        replace(c, right=c.right * Q(99, 100)) if c.relation == ">=" else c for c in claim.conditions), assumptions=tuple(
        replace(a, conditions=tuple(replace(c, right=c.right * Q(99, 100)) if c.relation == ">=" else c
                                    for c in a.conditions)) for a in claim.assumptions))
    assert str(flatter.hypotheses) != str(claim.hypotheses) and every_round(flatter).certificate is None
    other = replace(claim.statement, left=claim.statement.left.subs(L, L * Q(99, 100)))
    assert every_round(replace(claim, id="other", statement=other)).certificate is None


def right(claim, change):
    return replace(claim, id=f"{claim.id}-changed", statement=replace(claim.statement, right=change(claim.statement.right)))


#: statements that are false for some number of rounds, or that one round from any state does not give
FALSE = {
    "too fast": right(UNROLLED, lambda e: e.subs(SHRINK, 1 - mu / L)),
    "no floor": right(UNROLLED, lambda e: e.subs(sigma_sq, 0)),
    "a floor of one round": right(UNROLLED, lambda e: SHRINK**rounds * FIRST + sigma_sq / (4 * L**2)),
    "faster than all rates": own("hyperbola", Condition(LAST, "<=", FIRST / rounds), SMOOTH, JUST_CONVEX, EXACT),
    "tight, times 0.99": right(find_claim("classical/gd-nonconvex"), lambda e: e * sp.Rational(99, 100)),
    "a rate, times 0.9": right(find_claim("classical/gd-distance"), lambda e: e * sp.Rational(9, 10)),
    "true of the start alone": own("zero", Condition(norm2(client_variate[r, k]), "<=", 0, (*ALL, ALL_CLIENTS)), SMOOTH,
                                   EXACT, procedure=SCAFFOLD),
    "a mean of the next, less than what came": own(
        "past", Condition(E(AFTER), "<=", DISTANCE + sigma_sq), SMOOTH, JUST_CONVEX, NOISE),
    "the same of sampled clients": own("sampled", Condition(
        E(AFTER), "<=", 2 * DISTANCE + 2 * Sum(norm2(grad(k, x_star)), ALL_CLIENTS) / L**2), SMOOTH, JUST_CONVEX, EXACT,
        procedure=NOT_ALL),
    "from what the start meets": own(
        "start", Condition(AFTER, "<=", D), SMOOTH, JUST_CONVEX, EXACT, variables=(Variable("D", "positive"),), conditions=(
            Condition(FIRST, "<=", D),)),
    "steps that shrink": own("steps", Condition(AFTER, "<=", DISTANCE, ALL), SMOOTH, JUST_CONVEX, EXACT, steps=Condition(
        eta_l[t], "==", 1 / (L * (t + 1)), ((t, 0, iterations - 1),))),
    "steps that know the rounds": own("known", Condition(AFTER, "<=", DISTANCE, ALL), SMOOTH, JUST_CONVEX, EXACT,
                                      steps=Condition(eta_l[t], "==", 1 / (L * rounds), ((t, 0, iterations - 1),))),
    "a number that grows": own("grows", Condition(AFTER, "<=", DISTANCE * (1 + r), ALL), SMOOTH, EXACT),
    "the first round alone": own("first", Condition(norm2(x_round[1] - x_star), "<=", FIRST), SMOOTH, JUST_CONVEX, EXACT),
    "the mean before, of sampled clients": own(
        "mean", Condition(norm2(x[t] - x_sampled[t]), "<=", 0, ((t, 0, 0),)), SMOOTH, EXACT, procedure=NOT_ALL),
    "of the mean before, at all times": own(
        "means", Condition(norm2(x[t] - x_sampled[t]), "<=", 0, ((t, 0, iterations - 1),)), SMOOTH, EXACT,
        procedure=NOT_ALL, variables=(Variable("local_steps", "integer", high=1),)),
}
FALSE["from what the start meets"] = replace(
    FALSE["from what the start meets"], statement=Condition(2 * AFTER, "<=", D + DISTANCE, ALL))


@pytest.mark.parametrize("name", FALSE)
def test_what_no_round_from_any_state_gives_is_not_proven(name):
    try:
        found = every_round_at(FALSE[name], {}, Template())
    except (LookupError, TypeError, ValueError) as error:
        assert str(error)
    else:
        assert found.certificate is None and found.reason


DEEPER = "classical/scaffold-convex"
NEVER_LESS = ["norm2", ["+", ["x_round", 0], ["*", -1, "x_star"]]]
VALUE = ("settings", 0, "potential", "value")
FORGERIES = {
    "a smaller factor": (DEEPER, put("settings", 0, "potential", "factor", "1/2"), "as many"),
    "a factor above one": (DEEPER, put("settings", 0, "potential", "factor", "3/2"), "factor is at most 1"),
    "a negative factor": (DEEPER, put("settings", 0, "potential", "factor", "-1/2"), "factor is at most 1"),
    "a negative cost": (DEEPER, put("settings", 0, "potential", "cost", -1), "as many|sum of squares"),
    "a cost that chance decides": (DEEPER, put("settings", 0, "potential", "cost", ["objective", ["x_round", 0]]), "round"),
    "a cost by round": (DEEPER, put("settings", 0, "potential", "cost", ["^", "rounds", -1]), "number of rounds"),
    "a potential of the start": (DEEPER, put(*VALUE, NEVER_LESS), "by its number"),
    "a potential that knows the round": (DEEPER, put(*VALUE, ["*", "r", ["objective", ["x_round", "r"]]]), "."),
    "no potential at all": (DEEPER, put("settings", 0, "potential", None), "range of rounds"),
    "a potential of nothing": (DEEPER, put(*VALUE, 0), "as many"),
    "a potential of another index": (DEEPER, put(*VALUE, ["Sum", ["objective", ["x_round", "r"]], "r", 0, 0]), "."),
    "two rounds": (DEEPER, lambda d: d["settings"][0]["sizes"].update(rounds=2, iterations=4), "."),
    "a proof less": (DEEPER, lambda d: d["settings"][0]["proofs"].pop(), "need as many"),
    "an empty proof": (DEEPER, put("settings", 0, "proofs", 0, {}), "sum of squares"),
    "a negative multiplier": (DEEPER, lambda d: d["settings"][0]["proofs"][0].update({"client 0 1 2": "-1"}), "negative"),
    "an unknown name": (DEEPER, lambda d: d["settings"][0]["proofs"][0].update({"x": "1"}), "nothing known"),
    "a larger step": (DEEPER, put("settings", 0, "values", "eta", "2"), "."),
    "other options": (DEEPER, put("procedure", "options", "option", "average-gradient"), "states"),
    "another method": (DEEPER, put("procedure", "base", "fedavg"), "states"),
}


@pytest.fixture(scope="module")
def honest():
    names = {forgery[0] for forgery in FORGERIES.values()}
    return {name: json.dumps(every_round_at(find_claim(name), {}, Template()).certificate) for name in names}


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_are_refused(name, honest):
    claim, change, words = FORGERIES[name]
    forged = json.loads(honest[claim])
    assert check(forged, find_claim(claim)).accepted
    change(forged)
    said = check(forged, find_claim(claim))
    assert not said.accepted
    assert re.search(words, said.reason), said.reason


def test_a_statement_with_too_few_rounds_is_not_one_of_all():
    claim = own("late", Condition(AFTER, "<=", DISTANCE, ((r, 1, rounds - 1),)), SMOOTH, JUST_CONVEX, EXACT,
                variables=(Variable("local_steps", "integer", high=1),))
    found = every_round_at(claim, {}, Template())
    assert found.certificate and found.setting.sizes["rounds"] == 2
    found.certificate["settings"][0]["sizes"] |= {"rounds": 1, "iterations": 1}
    found.certificate["settings"][0]["proofs"] = []
    said = replayed(checker.check, found.certificate)
    assert not said[0] and "more rounds" in said[1]


# the table of methods --------------------------------------------------------------------------------------------------
VARIANTS = [(base, ()) for base in FROM_ANY_STATE] + [
    ("scaffold", (("start", start), ("option", option)))
    for start in ("zero", "gradient", "free", "free-mean", "gradient-clients-only")
    for option in ("I", "II", "average-gradient")] + [
    ("fedmoswa", (("variant", variant), ("option", option))) for variant in ("canonical", "all-clients", "fresh")
    for option in ("I", "II")] + [("fedswa", (("schedule", "geometric-h1"),))]


class Again(AnyRun):
    """A run of one round that begins with what another run kept before its second."""

    def __init__(self, letters, kept):
        self.kept, start = kept, letters.start
        letters.start, letters.size["rounds"] = lambda: kept.get("server_x_bar", kept["x_round"]), 1
        super().__init__(letters, METHODS[letters.how["base"]][0], {})
        letters.start = start

    def first(self, name, value):
        return self.kept[name]


def restarted(base, options):
    """What two rounds from any state keep at their end, and what the second keeps that begins anew."""
    claim = control("any", "run", Condition(AFTER, "<=", DISTANCE, ALL), assumptions=(SMOOTH, EXACT), procedure=Procedure(
        base, equal_weights=True, options=options))
    setting = instantiate(claim, {"rounds": Q(2), "local_steps": Q(3)}, Template(numbers=(Q(1, 2), Q(1, 3))))
    letters = AnyState(statement_of(claim), *setting)
    long = letters.run(())
    names = [name for name in ("x_round", *METHODS[base][1]) if name in long.record]
    short = Again(letters, {name: long.record[name][1] for name in names})
    return ([plain(run.record[name][place]) for name in names] for run, place in ((long, 2), (short, 1)))


def plain(state):
    return [plain(one) for one in state] if isinstance(state, list) else state.terms


@pytest.mark.parametrize(("base", "options"), VARIANTS)
def test_a_round_depends_on_the_state_alone(base, options):
    one, other = restarted(base, options)
    assert one == other


def test_a_state_that_is_not_kept_is_noticed(monkeypatch):
    def hidden(run):
        x, total = run.start, run.zero
        while True:
            yield {"x_round": x}
            total = total + run.mean(run.train(x, lambda k, y, g, step: g)) - x
            x = x + total

    monkeypatch.setitem(METHODS, "fedavg", (lambda run: (run.number("eta_g"), (yield from hidden(run)))[1], ()))
    one, other = restarted("fedavg", ())
    assert one != other


