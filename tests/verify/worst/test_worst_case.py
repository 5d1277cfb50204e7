"""Worst cases on letters: tight statements are proven, and nothing is that is false."""

import json
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction as Q
from math import inf
from types import SimpleNamespace

import pytest

from benchmarks.ablation import FALSE
from bounds.controls.fedavg import control
from bounds.language.claim import Condition, Procedure
from bounds.language.operators import E, L, eta_l, iterations, norm2, sampling, sigma_sq, t, x, x_sampled, x_star
from bounds.registry.claims import find_claim
from bounds.registry.user_claims import load_claims
from tests.changes import both, dropped, put
from tests.classical import JUST_CONVEX, NOISE, SMOOTH
from tests.messages import contains_in_order
from tests.not_empty import not_empty
from verify.checker.quadratic_forms import QuadraticForm
from verify.checker.schema import STATED
from verify.exact.certificate import certificate
from verify.exact.check import check, replay_alone
from verify.search.budget import BUDGETS
from verify.search.search import search
from verify.symbolic.symbolic_run import SymbolicRun
from verify.worst import worst_case as module
from verify.worst.program import programs
from verify.worst.proof import proof
from verify.worst.proven import TEMPLATES
from verify.worst.worst_case import worst_case

#: statements that hold with equality for some function: their sizes and numbers, and at which pairs of sides
TIGHT = {
    "classical/gd-convex": ({}, [0]),
    "classical/gd-convex three": ({"rounds": 3}, [0]),
    "classical/gd-distance": ({"mu": Q(1, 10), "eta_l": Q(1, 2)}, [0, 1]),
    "classical/gd-distance long": ({"mu": Q(1, 10), "eta_l": Q(19, 10)}, [0, 1]),
    "classical/gd-value": ({"mu": Q(1, 4), "eta_l": Q(1, 2)}, [0, 1]),
    "classical/gd-gradient": ({"mu": Q(1, 4), "eta_l": Q(1, 2)}, [0, 1]),
    "classical/gd-descent": ({"eta_l": Q(1)}, [0, 1]),
    "classical/gd-nonconvex": ({}, [0]),
}
#: statements with noise, samples of clients or differing clients, that are proven at the default sizes and numbers
PROVEN = {
    "classical/sgd-distance": {}, "classical/sgd-value": {}, "classical/drift-convex": {"eta": Q(1, 4)},
    "classical/drift-smooth": {"eta": Q(1, 4)}, "classical/local-gd-spread": {"eta": Q(1, 4)}, "classical/fedavg-round": {},
    "classical/fedavg-round-dissimilar": {}, "classical/scaffold-nonconvex": {}, "li2020/theorem-1": {"rounds": 3},
    "li2020/lemma-2": {}, "classical/sampling-variance": {"clients": 3}, "li2020/lemma-4": {"clients": 3, "participants": 2},
}


def test_a_number_that_is_needed_is_asked_for():
    with pytest.raises(ValueError, match=r"classical/drift-smooth.* eta"):
        worst_case(find_claim("classical/drift-smooth"))


def claim_of(row):
    return find_claim(row.split()[0])


@pytest.fixture(scope="module")
def proven():
    """A proof of two steps of gradient descent."""
    return worst_case(find_claim("classical/gd-distance"), {"mu": Q(1, 10), "eta_l": Q(1, 2)}).certificate


@pytest.mark.parametrize("row", TIGHT)
def test_a_tight_statement_is_proven_and_not_with_a_hundredth_less(row):
    given, places = TIGHT[row]
    found = worst_case(claim_of(row), given)
    assert found.certificate and check(found.certificate, claim_of(row)).accepted
    setting = found.setting
    letters = SymbolicRun(found.certificate, *setting)
    asked = programs(letters, [letters.stated["statement"]])
    for place in places:
        program, smaller, larger = asked[place]
        assert found.factors[place] == pytest.approx(1, abs=1e-4)
        assert proof(program, smaller, larger * Q(99, 100)) is None


@pytest.mark.parametrize("name", PROVEN)
def test_a_true_statement_about_chance_or_several_clients_is_proven(name):
    found = worst_case(find_claim(name), PROVEN[name])
    assert found.certificate and check(json.loads(json.dumps(found.certificate)), find_claim(name)).accepted


def _of_sampling(name, **sides):
    claim = find_claim(name)
    return replace(claim, id="own/sampling", statement=replace(claim.statement, **sides))


VARIANCE = find_claim("classical/sampling-variance").statement
MEAN, START = E(x_sampled[iterations] - x_star, sampling), norm2(x_sampled[0] - x_star)
OF_NOISE = control(
    "noise", "run", Condition(norm2(MEAN), "<=", START + sigma_sq), assumptions=(SMOOTH, JUST_CONVEX, NOISE), conditions=(
        Condition(eta_l[t], "==", 1 / L, ((t, 0, iterations - 1),)),), procedure=Procedure(
            sampling="without-replacement", equal_weights=True))
#: false of means over the clients drawn alone, at every outcome of the noise
OF_SAMPLING = {
    "a hundredth less": _of_sampling("classical/sampling-variance", right=VARIANCE.right * Q(99, 100)),
    "of a length": _of_sampling("li2020/lemma-4", left=E(norm2(x_sampled[t] - x[t]), sampling)),
    "of two rounds": replace(find_claim("li2020/lemma-4"), id="own/rounds", conditions=()),
    "as if noise were averaged": OF_NOISE,
}


@pytest.mark.parametrize("name", OF_SAMPLING)
def test_what_is_false_of_the_clients_drawn_at_some_noise_is_not_proven(name):
    found = worst_case(OF_SAMPLING[name], {"clients": Q(2)})
    assert found.certificate is None and max(found.factors) > 1.001


def test_the_same_is_proven_of_the_mean_over_noise():
    """One step from a point, whoever is drawn."""
    mean = replace(OF_NOISE.statement, left=E(norm2(MEAN)))
    assert worst_case(replace(OF_NOISE, id="mean", statement=mean), {"rounds": 1, "local_steps": 1, "L": Q(1)}).certificate


NOISY = """
[[claim]]
id = "mine/noisy"
method = "fedavg"
assume = ["L_client[k] <= L for k in 0..clients-1", "mu_client[k] >= mu for k in 0..clients-1", "NOISE"]
conditions = ["eta_l[t] <= 1/L for t in 0..iterations-1"]
statement = "norm2(x_round[rounds] - x_star) <= norm2(x_round[0] - x_star)"
"""


@pytest.mark.parametrize(("noise", "exact"), [
    ("sigma_sq_client[k] <= 0 for k in 0..clients-1", True), ("sigma_sq_client[k] >= 0 for k in 0..clients-1", False),
    ("sigma_sq_client[k] <= sigma_sq for k in 0..clients-1", False), ("sigma_sq_client[k] <= 0 for k in 0..0", False)])
def test_gradients_are_full_only_where_a_hypothesis_says_so(noise, exact, tmp_path):
    """With noise the statement is false."""
    path = tmp_path / "mine.toml"
    path.write_text(NOISY.replace("NOISE", noise))
    claim, = load_claims(path)
    assert (worst_case(claim, {"local_steps": 1}).certificate is not None) == exact


def test_a_strict_statement_is_not_proven_by_a_weak_one(proven):
    """The same sides, turned round and compared by >: nothing says that they differ."""
    strict = deepcopy(proven)
    said = strict["statement"]
    said["relation"], said["left"], said["right"] = ">", said["right"], said["left"]
    assert not replay_alone(strict).accepted


@pytest.mark.parametrize(("rounds", "what"), [(300, "letters"), pytest.param(50, "steps", marks=pytest.mark.slow)])
def test_a_proof_that_is_too_large_is_refused_before_it_is_computed(rounds, what, proven):
    large = deepcopy(proven)
    setting, = large["settings"]
    setting["sizes"].update(rounds=rounds, iterations=rounds)
    setting["values"]["eta_l"] = ["1/2"] * rounds
    points = range(50)  # what no proof asks for is not computed
    asked = {f"client 0 {i} {j}": "1" for i in points for j in points if i != j}
    setting["proofs"] = [asked, *[{}] * (rounds - 1)]
    assert contains_in_order(replay_alone(large).reason, what)


@pytest.mark.parametrize("name", [
    "classical/scaffold-convex", "classical/gd-nonconvex", "fedluar/eq-15", "fedmoswa/eq-74", "fadamgc/eq-28@pathwise",
    "li2020/theorem-1"])
def test_few_letters_prove_no_less_than_all(name):
    """Their factors are upper bounds, whatever is left out."""
    for place in not_empty(TEMPLATES[:4]):
        try:
            few, whole = (worst_case(find_claim(name), {}, place, 24, proofs=False, enough=enough) for enough in (inf, 0.0))
        except ValueError:  # too large
            continue
        for bound, factor in not_empty(zip(few.factors, whole.factors, strict=True)):
            assert bound is None or factor is None or bound >= factor - 1e-5 * max(1, abs(factor))


@pytest.mark.parametrize(("few", "whole", "enough", "expected"), [
    (0.9, 0.5, 1.0, 0.9), (1.5, 1.2, 1.0, 1.2), (1.5, inf, 1.0, 1.5), (inf, 1.2, 1.0, 1.2), (1.5, None, 1.0, None),
    (None, 1.2, 1.0, 1.2), (0.9, 0.5, 0.0, 0.5)])
def test_all_letters_decide_where_few_are_not_enough(few, whole, enough, expected, monkeypatch):
    """A solver that says that all letters prove less than few is wrong, and what few prove is still above one."""
    given = SimpleNamespace(for_points_of=lambda *sides: few or "none", whole=whole or "nothing")

    def solved(factor, *sides):
        return SimpleNamespace(factor=factor) if isinstance(factor, float) else None

    monkeypatch.setattr(module, "_solve_pair", solved)
    found = module._factor(given, None, None, None, False, enough)
    assert (found and found.factor) == expected


def test_a_claim_at_sizes_that_are_too_large_says_so():
    with pytest.raises(ValueError, match="letters"):
        worst_case(find_claim("classical/gd-distance"), {"rounds": 300})


@pytest.mark.parametrize("name", [name for name, claim in FALSE.items() if claim.setting == "run"])
@pytest.mark.slow
def test_what_is_false_is_not_proven_at_the_numbers_of_its_counterexample(name):
    found = search(FALSE[name], BUDGETS["quick"])
    if found.violation is None:
        pytest.skip("quick does not refute it")
    refuted = json.loads(json.dumps(certificate(FALSE[name], *found.violation[2:])))
    same = {*refuted["instance"].get("client_weight", [])}
    if len(same) != 1 or not all(refuted["instance"]["priority"]):
        pytest.skip("its clients differ in weight")
    sizes = refuted["sizes"] | {"dim": 1, "layers": 1}
    try:
        weights = refuted["instance"]["client_weight"]
        letters = SymbolicRun({part: refuted[part] for part in STATED}, sizes, refuted["values"], [], weights)
        asked = programs(letters, [refuted["statement"]])
    except (ArithmeticError, LookupError, TypeError, ValueError) as reason:
        pytest.skip(f"not of this kind: {reason}")
    assert not all(proof(program, *pair) for program, *pair in asked)


# forgeries ------------------------------------------------------------------------------------------------------------
def _halved(certificate):
    certificate["statement"]["right"] = ["*", ["^", 2, -1], certificate["statement"]["right"]]


def _more(certificate):
    name = next(iter(certificate["settings"][0]["proofs"][0]))
    certificate["settings"][0]["proofs"][0][name] = str(Q(certificate["settings"][0]["proofs"][0][name]) + Q(1, 10**9))


FORGERIES = {
    "half the right side": _halved,
    "a multiplier a little larger": _more,
    "a negative multiplier": put("settings", 0, "proofs", 0, "client 0 0 1", "-1"),
    "an inequality that nobody knows": put("settings", 0, "proofs", 0, "client 0 0 9", "0"),
    "a number that is no text": put("settings", 0, "proofs", 0, "client 0 0 1", 1.5),
    "a proof less": dropped("settings", 0, "proofs", 1),
    "no proofs": put("settings", 0, "proofs", []),
    "a longer step": put("settings", 0, "values", "eta_l", ["3/2", "3/2"]),
    "steps beyond the conditions": put("settings", 0, "values", "eta_l", ["5/2", "5/2"]),
    "less curvature": put("settings", 0, "values", "mu", "1/20"),
    "a constant without a value": both(dropped("settings", 0, "values", "L"), put("settings", 0, "unknown", ["L"])),
    "a number twice": put("settings", 0, "unknown", ["mu"]),
    "steps without values": both(
        dropped("settings", 0, "values", "eta_l"), put("settings", 0, "unknown", ["eta_l"])),
    "a name that is not free": put("settings", 0, "values", "x_star", "0"),
    "no hypotheses": put("hypotheses", []),
    "another round": lambda data: data["settings"][0]["sizes"].update(rounds=3, iterations=3),
    "another format": put("format", "fedtheory certificate 4"),
    "a part more": put("instance", {}),
    "no settings": put("settings", []),
    "a setting beside one that is not proven": lambda data: data["settings"].append(
        data["settings"][0] | {"values": data["settings"][0]["values"] | {"eta_l": ["5/2", "5/2"]}}),
    "settings without end": lambda data: data.update(settings=data["settings"] * 1000),
    "sizes for all settings": lambda data: data.update(sizes=data["settings"][0]["sizes"]),
    "no sizes": dropped("settings", 0, "sizes"),
}


@pytest.mark.parametrize("change", FORGERIES.values(), ids=FORGERIES)
def test_a_forged_proof_is_rejected(change, proven):
    forged = deepcopy(proven)
    change(forged)
    assert not check(forged, find_claim("classical/gd-distance")).accepted
    if forged["hypotheses"]:
        assert not replay_alone(forged).accepted


def test_the_proof_itself_is_accepted_and_of_another_claim_it_is_none(proven):
    assert check(proven, find_claim("classical/gd-distance")).accepted
    assert not check(proven, find_claim("classical/gd-value")).accepted


def test_an_odd_number_remains(proven):
    """Losses that do not cancel, and a constant below zero, are no sums of squares."""
    from verify.checker.quadratic_forms import nonnegative

    assert nonnegative(QuadraticForm({(0, 0): Q(1), (): Q(2)})) and not nonnegative(QuadraticForm({(): Q(-1)}))
    assert not nonnegative(QuadraticForm({"F0(0)": Q(1)})) and not nonnegative(QuadraticForm({(0, 1): Q(1)}))


@pytest.mark.parametrize("name", ["classical/gd-distance", "classical/fedavg-dissimilar-convex", "li2020/theorem-1"])
def test_a_rough_factor_has_four_digits(name):
    fine, rough = (worst_case(find_claim(name), proofs=False, rough=each).factors for each in (False, True))
    assert rough == pytest.approx(fine, rel=1e-4)
