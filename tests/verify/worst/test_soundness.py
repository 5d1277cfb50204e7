"""What is known of letters is true of random federations, and false statements that look alike are not proven."""

import json
from fractions import Fraction as Q

import numpy as np
import pytest

from bounds.controls.fedavg import control
from bounds.language.claim import Condition, Procedure
from bounds.language.names import symbol
from bounds.language.operators import E, E_round, norm2, rounds, sampling, x_round, x_star
from bounds.registry.claims import find_claim
from bounds.registry.user_claims import load_claims
from tests.changes import put
from tests.classical import EXACT, JUST_CONVEX, NOISE, SMOOTH
from tests.messages import contains_in_order
from tests.verify.worst.federations import Federation, Values
from verify.checker import limits
from verify.checker.limits import TooLarge, WorkLimit
from verify.checker.proof import FORMAT
from verify.checker.quadratic_forms import NotQuadratic, QuadraticForm, SymbolicVector, combined
from verify.exact.check import check, replay_alone
from verify.exact.statement import statement_of
from verify.symbolic import class_facts
from verify.symbolic.by_coordinate import ByCoordinate
from verify.symbolic.symbolic_run import SymbolicRun
from verify.worst.configurations import instantiate
from verify.worst.worst_case import worst_case

BOUNDED = sum((symbol(name) for name in ("sigma_g", "sigma_g_1", "sigma_g_2", "sigma_g_max", "G_lip")), start=symbol(
    "sigma_g_client")[0])
POINTS = norm2(x_round[rounds] - x_star)
SOLVED = Procedure("fedpd", equal_weights=True, options=(("solver", "exact"), ("rho_prox", 2)))

ADAM = {"rounds": 2, "clients": 1, "trackers": 1, "beta1": Q(1, 2), "beta2": Q(1, 3), "eps": Q(1, 4),
        "eta": Q(1, 3), "eta_g": 2}
#: claims whose runs ask for every kind of letter: their sizes and numbers
RUNS = {
    "classical/gd-distance": {}, "classical/sgd-value": {}, "classical/fedavg-round": {},
    "classical/scaffold-nonconvex": {"clients": 3}, "classical/scaffold-sampled-nonconvex": {"local_steps": 1},
    "fedmoswa/lemma-g.12@start-free": {"local_steps": 1}, "fedmoswa/lemma-g.12@start-gradient": {"rounds": 1},
    "li2020/theorem-2": {"local_steps": 1},
    "classical/scaffold-equal-curvature": {"local_steps": 1, "eta": Q(1, 2), "eta_g": 1},
    "classical/fedavg-equal-curvature": {"eta": Q(1, 2)},
    "fedluar/lemma-A.2-smooth": {"rounds": 2, "local_steps": 2, "clients": 1, "eta": Q(1, 4)},
    "fedluar/eq-14@forced": {"rounds": 3, "local_steps": 1, "clients": 1, "eta": Q(1, 4)},
    "fadamgc/eq-134@at-t": ADAM | {"G": 2}, "fadamgc/eq-37@in-mean+y-gradient": ADAM | {"clients": 2, "local_steps": 1},
    "fadamgc/eq-151@y-gradient": ADAM | {"G": 2, "eta": Q(1, 1000)}, "fadamgc/lemma-D.1@v-init": ADAM | {"local_steps": 1},
    "fedluar/eq-16": {"rounds": 2, "clients": 1, "local_steps": 1, "eta": Q(1, 4)},  # given the past, with the choices in it
}
OWN = {
    "bounds at all points": control(
        "bounds", "run", Condition(POINTS, "<=", BOUNDED), assumptions=(SMOOTH, JUST_CONVEX, EXACT)),
    "noise, and bounds": control("noise", "run", Condition(symbol("G_lip"), ">=", 0), assumptions=(SMOOTH, NOISE)),
    "noise given the past": control(
        "past", "run", Condition(E_round(norm2(x_round[2] - x_star), 1), "<=", norm2(x_round[1] - x_star)),
        assumptions=(SMOOTH, JUST_CONVEX, NOISE)),
    "means of models": control(
        "means", "run", Condition(norm2(E_round(x_round[2], 1) - x_star), "<=", norm2(x_round[1] - x_star)),
        assumptions=(SMOOTH, JUST_CONVEX, NOISE)),
    "local problems": control(
        "solved", "run", Condition(POINTS, "<=", 1), assumptions=(SMOOTH, EXACT), procedure=SOLVED),
}


def letters_of(name):
    claim = OWN[name] if name in OWN else find_claim(name)
    given = RUNS.get(name, {"local_steps": 1} if name == "local problems" else {})
    setting = instantiate(claim, given)
    letters = SymbolicRun(statement_of(claim), *setting)
    return letters, {past for past, *_ in letters.compared(letters.stated["statement"])}


def false_of_a_federation(letters, pasts, seeds):
    """Names of what is known of the letters and does not hold on one of some random federations."""
    return {name for past, class_facts in letters.facts_by_past(pasts).items()
            for name in false_given(letters, past, *class_facts, seeds)}


def false_given(letters, past, inequalities, equalities, seeds):
    high, low = letters.bounds["L_client"][0], letters.bounds["mu_client"][0]
    found = set()
    for seed in seeds:
        rng = np.random.default_rng(seed)
        federation = Federation(rng, float(-high if low is None else low), float(high), letters.size["clients"],
                                bool(letters.stated["everywhere"]), len(letters.layers))
        values = Values(letters, federation, rng, rng.choice([0.5, 0.1]), past)
        for name, form in (inequalities | equalities).items():
            if not name.startswith("hypothesis"):
                number, size = values.number(form)
                if number < -1e-7 * (1 + size) or (name in equalities and abs(number) > 1e-7 * (1 + size)):
                    found.add(name)
    return found


@pytest.mark.parametrize("name", [*RUNS, *OWN])
def test_what_is_known_holds_on_random_federations(name):
    assert not false_of_a_federation(*letters_of(name), range(6))


def _steep(one, other, L, m):
    return KNOWN["between"](one, other, L * Q(2, 3), m)


KNOWN = {"between": class_facts.between}
FAULTS = {
    "curvature": ("classical/gd-distance", lambda patch: patch.setattr(class_facts, "between", _steep)),
    "least value": ("classical/gd-nonconvex", lambda patch: patch.setattr(
        class_facts.ClassFacts, "above",
        staticmethod(lambda point, L: point[2] - class_facts.pairing(point[1], point[1]) / L))),
    "noise of earlier draws": ("classical/sgd-value", lambda patch: patch.setattr(
        SymbolicRun, "upstream", lambda self, row: frozenset())),
    "mean length": ("bounds at all points", lambda patch: patch.setattr(
        class_facts, "pairing", lambda u, v, old=class_facts.pairing: old(u, v) * 9)),
    "noise without variance": ("noise, and bounds", lambda patch: patch.setattr(
        SymbolicRun, "equalities", lambda self, past: {
            "variance": class_facts.pairing(*[next(iter(self.noises.values()))[0][0]] * 2)})),
    "noise of the past": ("noise given the past", lambda patch: patch.setattr(
        SymbolicRun, "equalities", lambda self, past, old=SymbolicRun.equalities: old(self, -1))),
    "noise in what is chosen by it": ("fedluar/lemma-A.2-smooth", lambda patch: patch.setattr(
        SymbolicRun, "drawn_as", lambda self, name: len(self.choices))),
    "a largest number that is less": ("fedluar/lemma-A.2-smooth", lambda patch: patch.setattr(
        SymbolicRun, "always", lambda self, past, old=SymbolicRun.always: old(self, past) | {
            f"-{name}": -form for name, form in self.largest.items()})),
    "quotients by less": ("fadamgc/eq-37@in-mean+y-gradient", lambda patch: patch.setattr(
        ByCoordinate, "single_and_apart", lambda self, old=ByCoordinate.single_and_apart: (
            (name, u, quotient, 100 * a) for name, u, quotient, a in old(self)))),
    "quotients that are not diagonal": ("fadamgc/eq-134@at-t", lambda patch: patch.setattr(
        ByCoordinate, "equalities", lambda self, past, old=ByCoordinate.equalities: old(self, past) | {
            "diagonal": class_facts.pairing(*[next(iter(asked.values()))[1] for asked in [*self.quotients.values()][:2]])})),
    "a mean beside what is random": ("means of models", lambda patch: patch.setattr(
        SymbolicRun, "equalities", lambda self, past, old=SymbolicRun.equalities: (
            self.drawn.update(dict.fromkeys(self.drawn, -2)), old(self, past))[1])),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_in_what_is_known_are_noticed(name, monkeypatch):
    claim, fault = FAULTS[name]
    fault(monkeypatch)
    assert false_of_a_federation(*letters_of(claim), range(6))


def test_functions_by_coordinates_are_the_vectors_that_they_say():
    letters, _ = letters_of("classical/sgd-value")
    u, v = SymbolicVector({2: Q(1), 4: Q(-2)}), SymbolicVector({1: Q(3), 2: Q(1, 2)})
    square, other = letters.square(u * -2), letters.square(v)
    top = letters.upper(letters.upper(square, other * 3), other, SymbolicVector({}))
    root = letters.root(top + square * Q(1, 2)) * 2
    found = [square, top, root, letters.raised(u, Q(2)), *(letters.scaled(w, root, Q(1, 3)) for w in (u, v, u * 2 - v, v)),
             letters.scaled(v, letters.root(other), Q(0)), letters.scaled(u, Q(2), Q(1)), letters.root(SymbolicVector({}))]
    rng = np.random.default_rng(0)
    values = Values(letters, Federation(rng, -1.0, 1.0, letters.size["clients"], False), rng, 0.5)
    a, b = values.vector(u), values.vector(v)
    largest = np.maximum(np.maximum(4 * a**2, 3 * b**2), b**2)
    by = 2 * np.sqrt(largest + 2 * a**2)
    said = [4 * a**2, largest, by, a + 2, *(w / (by + 1 / 3) for w in (a, b, 2 * a - b, b)), np.sign(b), a / 3, 0 * a]
    for row, vector in zip(found, said, strict=True):
        np.testing.assert_allclose(*np.broadcast_arrays(values.vector(row), vector), atol=1e-9)
    assert len(letters.quotients[next(iter(letters.quotients))]) == 3 and len(letters.bases[next(iter(letters.bases))]) == 2
    for made in (lambda: letters.root(u), lambda: letters.scaled(u, v, Q(1)), lambda: letters.root(letters.upper(square, u)
                 * -1), lambda: letters.square(SymbolicVector({-1: Q(1)}))):
        with pytest.raises(NotQuadratic):
            made()


# false statements ------------------------------------------------------------------------------------------------------
CLAIM = """
[[claim]]
id = "mine/false"
method = "fedavg"
assume = ["L_client[k] <= L for k in 0..clients-1", "mu_client[k] >= mu for k in 0..clients-1",
          "sigma_sq_client[k] <= sigma_sq for k in 0..clients-1"]
conditions = ["eta_l[t] <= 1/L for t in 0..iterations-1"]
statement = "STATEMENT"
variables = {c = "real"}
"""


def without_multipliers(statement, tmp_path, count=1):
    """A claim, and the certificate that says that it follows from nothing."""
    path = tmp_path / "mine.toml"
    path.write_text(CLAIM.replace("STATEMENT", statement))
    claim, = load_claims(path)
    setting = instantiate(claim, {"local_steps": Q(1), "rounds": Q(1), "clients": Q(1)})
    return claim, {"format": FORMAT, **statement_of(claim), "settings": [
        {**setting._asdict(), "proofs": [{}] * count}]}


@pytest.mark.parametrize(("statement", "words"), [
    ("E(F(0, x_round[1])**2) <= E(F(0, x_round[1]))**2", "NotQuadratic"),  # the mean square exceeds the square of the mean
    ("E(objective(x_round[1])**2) <= E(objective(x_round[1]))**2", "NotQuadratic"),
    ("F(0 - 1, x_round[0]) <= F(clients - 1, x_round[0])", "-1"),  # there is no client before the first one
    ("F(clients, x_round[0]) <= F(clients, x_round[0])", "IndexError"),
    ("norm2(x_star) <= 0", "NotQuadratic"),  # the optimum may lie anywhere
    ("dot(x_round[1] - x_star, x_star) == 0", "NotQuadratic"),
    ("norm2(x_round[0] - x_star) <= norm2(x_round[0])", "NotQuadratic"),
])
def test_what_looks_like_nothing_to_prove_is_not_proven(statement, words, tmp_path):
    claim, data = without_multipliers(statement, tmp_path)
    found = check(data, claim)
    assert not found.accepted and contains_in_order(found.reason, words)


@pytest.mark.parametrize(("statement", "name"), [
    ("c == F(0, x_round[0])", "loss 0 1"), ("c <= F_star_client[0]", "least F 0"), ("c <= mu", "c \u0441"), ("c <= L", "")])
def test_a_number_without_a_value_has_a_name_of_its_own(statement, name, tmp_path):
    """Else it would be what the checker calls so."""
    _, data = without_multipliers(statement, tmp_path, 2 if "==" in statement else 1)
    data = json.loads(json.dumps(data).replace('"c"', json.dumps(name)))
    assert contains_in_order(replay_alone(data).reason, "names")


@pytest.mark.parametrize("change", [
    put("settings", 0, "values", "eta_l", ["1/2", "1/2"]), put("settings", 0, "values", "eta_l", []),
    put("settings", 0, "values", "eta_l", "1/2"), put("settings", 0, "values", "L", ["1"])])
def test_values_have_the_lengths_of_their_arrays(change, tmp_path):
    _, data = without_multipliers("mu <= mu + 0*c", tmp_path)
    assert replay_alone(data).accepted
    change(data)
    assert not replay_alone(data).accepted


FINAL = norm2(x_round[2] - x_star)


@pytest.mark.parametrize("left", [
    E_round(E(E(FINAL), sampling), 1), norm2(x_round[2] - E(x_round[2])), E_round(FINAL, 1) - E(norm2(x_round[1] - x_star))])
def test_means_that_are_given_different_things_have_no_form(left):
    claim = control("means", "run", Condition(left, "<=", norm2(x_round[0] - x_star)),
                    assumptions=(SMOOTH, JUST_CONVEX, NOISE), procedure=Procedure(
                        sampling="without-replacement", equal_weights=True))
    with pytest.raises(ValueError, match="no worst case of this kind"):
        worst_case(claim, {"clients": Q(3), "participants": Q(2), "local_steps": Q(1), "rounds": Q(2)}, factors=False)


def test_constants_are_multiplied():
    two, inner = QuadraticForm({(): Q(2)}), QuadraticForm({(0, 1): Q(3)})
    assert (two * two).terms == {(): 4} and (two * inner).terms == (inner * two).terms == {(0, 1): 6}
    assert (two * SymbolicVector({0: Q(1)})).terms == (SymbolicVector({0: Q(1)}) * two).terms == {0: 2}


def test_long_multipliers_are_refused_before_they_are_added(monkeypatch):
    monkeypatch.setattr(limits, "WORK", 10_000)
    forms = {str(n): QuadraticForm({(i, i): Q(1) for i in range(20)}) for n in range(100)}
    with pytest.raises(TooLarge):
        combined(forms, {str(n): Q(1, 10**1000 + n) for n in range(100)}, WorkLimit().charge)
    assert combined(forms, {str(n): Q(1, n + 1) for n in range(100)},
                    WorkLimit().charge).terms.keys() == forms["0"].terms.keys()
