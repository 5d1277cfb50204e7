"""Forgeries with argmin, Bernoulli sampling, first states, numbers that exist, skipped communication and orders; and faults
planted in the checker, each of which lets one of them through."""

import json
import re
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from tests.changes import both, dropped, put
from tests.verify.attack.other_kinds import claims, honest, judged, restated
from tests.verify.attack.second_opinion import refutes
from verify import checker
from verify.exact.statement import statement_of
from verify.growth import check as growth
from verify.growth.order import with_constant

PAIRS = {  # a false claim -> the true one against which its instances are turned
    "best-round": "best-round", "worst-round": "worst-round", "last-of-several": "first-of-several",
    "nobody-takes-part": "nobody-takes-part", "mean-step": "mean-step", "number-of-participants": "number-of-participants",
    "variates-and-their-mean": "variates-and-their-mean", "better-step": "best-step", "least-value": "least-value",
    "for-every-value": "for-every-value",
    "for-every-value-by-definition": "for-every-value-by-definition", "some-value-is-allowed": "some-value-is-allowed",
    "steps-of-both-signs": "steps-of-both-signs", "next-to-the-end": "next-to-the-end", "at-the-end": "at-the-end",
    "coin": "coin", "shifts-vanish": "shifts-cancel",
    "sum-of-roots": "harmonic-sum",
    "order-worst-round": "order-worst-round", "order-bernoulli": "order-bernoulli", "order-coin": "order-coin",
    "order-free-mean": "order-free-mean",
}


def against(name):
    """The instances of a false claim's certificate, stated as the true one, and the true one."""
    claim = claims()[f"true/{PAIRS[name]}"]
    return restated(honest(f"false/{name}"), claim), claim


def test_every_false_claim_is_turned_against_a_true_one():
    assert claims().keys() == {*(f"false/{name}" for name in PAIRS), *(f"true/{name}" for name in PAIRS.values())}


@pytest.mark.parametrize("name", PAIRS)
def test_what_is_forged_is_honest_before(name):
    """Checker and engine accept the certificate of the false claim, and none of its instances for the true one."""
    data, claim = honest(f"false/{name}"), claims()[f"false/{name}"]
    assert judged(data, claim).accepted
    members = data.get("members", [{"certificate": data, "constant": None}])
    for member in members[:2]:
        assert refutes(member["certificate"], with_constant(claim, member["constant"]) if "members" in data else claim)
    forged, true = against(name)
    assert not judged(forged, true).accepted and ("members" in data or not refutes(forged, true))


INSTANCE, VALUES, OPTIONS = "instance", "values", ("procedure", "options")
CHANCE = {"indices": [], "formula": ["sampled", 0, 0]}
BACKWARDS = ["first_least", "r", 0, "rounds", ["*", -1, ["objective", ["x_round", "r"]]], ["x_round", "r"]]
LATER = ["first_least", "r", 1, "rounds", ["objective", ["x_round", "r"]], ["x_round", "r"]]

#: forgery -> (false claim, change of its instance as one of the true claim, words of the refusal)
FORGERIES = {
    "argmin: the largest": ("best-round", put("definitions", "x_best", "formula", BACKWARDS), "states: definitions"),
    "argmin: without the first": ("best-round", put("definitions", "x_best", "formula", LATER), "states: definitions"),
    "argmin: no definition": ("best-round", dropped("definitions", "x_best"), "states: definitions"),
    "argmin: a value": ("best-round", put(VALUES, "x_best", ["5"]), "values .*'x_best'"),
    "argmin: a value that is free": (
        "best-round", both(put("free", "x_best", ["dim"]), put(VALUES, "x_best", ["5"])), "states: free"),
    "argmin: other models": ("best-round", put(VALUES, "x_round", [["0"], ["5"]]), "values .*'x_round'"),
    "argmax: the least": ("worst-round", put("definitions", "x_worst", "formula", LATER), "states: definitions"),
    "argmin: no tie": ("last-of-several", put(VALUES, "a", ["0", "1"]), "hypothesis fails"),
    "argmin: a near tie": ("last-of-several", put(VALUES, "a", [f"1/{10**40}", "0"]), "hypothesis fails"),
    "argmin: one entry": ("last-of-several", put("sizes", "n", 1), "2 entries|1 entries"),
    "argmin: of one": ("last-of-several", both(put("sizes", "n", 1), put(VALUES, "a", ["0"]), put(VALUES, "b", ["1"])),
                       "hypothesis fails"),
    "argmin: intervals for numbers": ("last-of-several", put(VALUES, "a", ["0 to 1", "0"]), "written as a fraction"),
    "bernoulli: twice": ("nobody-takes-part", put(VALUES, "participation", "2"), "hypothesis|a chance"),
    "bernoulli: never": ("nobody-takes-part", put(VALUES, "participation", "0"), "hypothesis|a chance"),
    "bernoulli: less than never": ("nobody-takes-part", put(VALUES, "participation", "-1"), "hypothesis|a chance"),
    "bernoulli: no chance": ("nobody-takes-part", dropped(VALUES, "participation"), "KeyError"),
    "bernoulli: a chance each": ("nobody-takes-part", put(VALUES, "participation", ["1/2", "1/3"]), "must be a number"),
    "bernoulli: a chance that is drawn": ("nobody-takes-part", put(VALUES, "participation", CHANCE), "lacks hypothesis"),
    "bernoulli: a chance by a bound": (
        "nobody-takes-part", put(VALUES, "participation", {"hypothesis": 0}), "no hypothesis says"),
    "bernoulli: as a size": ("nobody-takes-part", both(
        dropped(VALUES, "participation"), put("sizes", "participation", 1)), "."),
    "bernoulli: all of them": ("nobody-takes-part", put("procedure", "sampling", "full"), "states: procedure"),
    "bernoulli: who takes part": ("nobody-takes-part", put(VALUES, "sampled", [["0", "1"]]), "values .*'sampled'"),
    "bernoulli: a client outside": ("nobody-takes-part", put(INSTANCE, "priority", [1, 0]), "sum to one"),
    "bernoulli: a client outside, weights that fit": ("nobody-takes-part", both(
        put(INSTANCE, "priority", [1, 0]), put(INSTANCE, "client_weight", ["1", "1"])), "participants is"),
    "bernoulli: fewer than there are": (
        "number-of-participants", put("sizes", "participants", 1), "participants is their number"),
    "bernoulli: more than there are": (
        "number-of-participants", put("sizes", "participants", 9), "participants is their number"),
    "bernoulli: noise": ("mean-step", put(INSTANCE, "noise", [[["1/2", ["1"]], ["1/2", ["-1"]]], []]), "hypothesis fails"),
    "bernoulli: noise off centre": (
        "mean-step", put(INSTANCE, "noise", [[["1/2", ["1"]], ["1/2", ["0"]]], []]), "centred"),
    "bernoulli: an outcome less": ("mean-step", put(INSTANCE, "noise", [[["1/2", ["0"]]], []]), "two outcomes"),
    "bernoulli: more than one in all": (
        "mean-step", put(INSTANCE, "noise", [[["1/2", ["0"]], ["2/3", ["0"]]], []]), "centred"),
    "free-mean: a server's": ("variates-and-their-mean", put(INSTANCE, "initial", "server_variate", ["5"]), "first states"),
    "free-mean: another name": ("variates-and-their-mean", put(INSTANCE, "initial", "x_round", ["5"]), "first states"),
    "free-mean: one client more": (
        "variates-and-their-mean", put(INSTANCE, "initial", "client_variate", [["1"]] * 9), "entries in a list; got 9"),
    "free-mean: a coordinate more": (
        "variates-and-their-mean", put(INSTANCE, "initial", "client_variate", [["1", "2"]]), "1 entries in a list; got 2"),
    "free-mean: numbers": ("variates-and-their-mean", put(INSTANCE, "initial", "client_variate", "1"), "must be a list"),
    "free-mean: anywhere": ("variates-and-their-mean", put(*OPTIONS, "start", "free"), "states: procedure"),
    "free-mean: as option": ("variates-and-their-mean", put(*OPTIONS, "client_variate", [["5"]]), "states: procedure"),
    "free-mean: a value": ("variates-and-their-mean", put(VALUES, "server_variate", [["5"]]), "values .*'server_variate'"),
    "exists: not to the end": ("better-step", put("subdivision", ["0", "1/2", "5/8"]), "from 0 to 1"),
    "exists: not from the beginning": ("better-step", put("subdivision", ["1/2", "1"]), "from 0 to 1"),
    "exists: over the good one": ("better-step", put("subdivision", ["0", "1"]), "Undecided|nothing violates"),
    "exists: a value": ("better-step", put(VALUES, "gamma", "1/100"), "values .*'gamma'"),
    "exists: steps": ("better-step", put(VALUES, "eta_l", ["1/100"]), "hypothesis fails|Undecided"),
    "exists: backwards": ("least-value", put(VALUES, "a", "-1"), "hypothesis fails"),
    "exists: an empty interval": ("least-value", put(VALUES, "a", "0"), "hypothesis fails"),
    "exists: another interval": ("least-value", put("exists", "high", 0), "states: exists"),
    "exists: open ends": ("least-value", put("exists", "open", [True, True]), "states: exists"),
    "exists: a free name": ("least-value", both(put("free", "c", []), put(VALUES, "c", "1")), "states: free"),
    "exists: nothing": ("least-value", both(dropped("exists"), dropped("subdivision")), "states: exists"),
    "exists: where a hypothesis fails": (
        "for-every-value", both(put(VALUES, "a", "2"), put(VALUES, "b", "2")), "hypothesis fails|Undecided"),
    "exists: where a defined hypothesis fails": ("for-every-value-by-definition", put(VALUES, "a", "5"), "hypothesis fails"),
    "exists: where no value is allowed": ("some-value-is-allowed", put("sizes", "n", 2), "conditions on the number"),
    "exists: steps below zero": ("steps-of-both-signs", put("subdivision", ["0", "1"]), "Undecided|hypothesis fails"),
    "coin: twice": ("shifts-vanish", put(VALUES, "communication", "2"), "hypothesis|a probability"),
    "coin: never": ("shifts-vanish", put(VALUES, "communication", "0"), "hypothesis|a probability"),
    "coin: a number of the procedure": ("shifts-vanish", put(*OPTIONS, "communication", "1/3"), "states: procedure"),
    "coin: another symbol": ("coin", put(*OPTIONS, "communication", {"symbol": "gamma"}), "states: procedure"),
    "coin: shifts that add up": (
        "shifts-vanish", put(INSTANCE, "initial", "client_variate", [["1"], ["1"]]), "mean of the shifts"),
    "coin: a shift more": (
        "shifts-vanish", put(INSTANCE, "initial", "client_variate", [["1"], ["-1"], ["7"]]), "entries in a list; got 3"),
    "coin: models": ("shifts-vanish", put(INSTANCE, "initial", "client_model", [["1"], ["2"]]), "first states"),
    "coin: an option that is none": ("shifts-vanish", put(*OPTIONS, "start", "zero"), "states: procedure"),
    "coin: sampled": ("shifts-vanish", put("procedure", "sampling", "bernoulli"), "states: procedure"),
    "coin: longer steps": ("coin", put(VALUES, "gamma", "1000"), "hypothesis fails"),
    "coin: steps of their own": ("coin", put(VALUES, "eta_l", ["1000"]), "hypothesis fails"),
    "coin: a smaller constant": ("coin", put(VALUES, "L", "1/1000"), "hypothesis fails"),
    "orders: members of another size": ("sum-of-roots", put("along", "C"), "."),
    "orders: no logarithm": ("sum-of-roots", put("members", 0, "certificate", "free", "C", []), "states: free"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_refused(name):
    false, change, words = FORGERIES[name]
    data, claim = against(false)
    change(data)
    result = judged(data, claim)
    assert not result.accepted and re.search(words, result.reason), result.reason


# orders ----------------------------------------------------------------------------------------------------------------
def members_of(name, sizes, ratio, certificate=None):
    """A certificate of an order over numbers, each member with nearly the largest constant that it refutes."""
    data, claim = against(name)
    first, members = certificate or data["members"][0]["certificate"], []
    for size in sizes:
        constant = ratio(size) * Fraction(999, 1000)
        stated = first | statement_of(with_constant(claim, constant))
        stated |= {"sizes": first["sizes"] | {"n": size}, "left": str(ratio(size)), "right": str(constant)}
        members.append({"size": str(size), "constant": str(constant), "certificate": stated})
    return data | {"members": members}, claim


def harmonic(size):
    return sum(Fraction(1, i) for i in range(1, size + 1))


#: honest members of the harmonic sum, which grows like a logarithm: sizes
HARMONIC = {"doubled": [2**i for i in range(1, 9)], "squared": [2, 4, 16, 64, 256], "far": [4 * 2**i for i in range(9)]}


@pytest.mark.parametrize("sizes", HARMONIC)
def test_a_logarithm_is_no_growth_where_logarithms_are_hidden(sizes):
    data, claim = members_of("sum-of-roots", HARMONIC[sizes], harmonic)
    result = judged(data, claim)
    assert not result.accepted and re.search("logarithms|the growth ends|do not grow", result.reason), result.reason


def test_the_attack_notices_a_checker_to_which_a_logarithm_is_a_power(monkeypatch):
    monkeypatch.setattr(growth, "like_a_logarithm", lambda *sizes_and_ratios: "")
    assert not any(judged(*members_of("sum-of-roots", sizes, harmonic)).accepted for sizes in HARMONIC.values())
    monkeypatch.setattr(growth, "exponent_beyond", lambda *member: None)
    assert any(judged(*members_of("sum-of-roots", sizes, harmonic)).accepted for sizes in HARMONIC.values())


# planted faults ----------------------------------------------------------------------------------------------------------
TIE = ("last-of-several", put(VALUES, "b", ["0", "1"]))

#: fault -> (file of the checker, text, other text, a false claim, change of its instance as one of the true claim); with the
#: fault the checker accepts it, and without it refuses
FAULTS = {
    "argmin takes the largest": ("operators.py", "return min(pairs,", "return max(pairs,", "best-round", None),
    "argmin takes the last of several": ("operators.py", "return min(pairs,", "return min(pairs[::-1],", *TIE),
    "any tie is decided": ("operators.py", "return min(pairs, key=lambda pair: pair[0])[1]", "return pairs[-1][1]", *TIE),
    "wrong chances": ("run.py", "(1 - chance, 0)", "(chance, 0)", "nobody-takes-part", None),
    "an outcome less": ("run.py", "[(chance, 1), (1 - chance, 0)]", "[(chance, 1)]", "nobody-takes-part", None),
    "nobody is everybody": ("run.py", "goes_on = bool(drawn) or", "goes_on = True or", "mean-step", None),
    "fewer participants": ("instance.py", 'not in ("full", *INDEPENDENT)', '!= "full"', "number-of-participants",
                           put("sizes", "participants", 1)),
    "the server's variate is zero": (
        "methods/averaging.py", 'run.over_all(c) if start in ("zero",', 'run.zero if start in ("zero",',
        "variates-and-their-mean", None),
    "an end is left out": ("schema.py", "(places[0], places[-1]) == (0, 1)", "places[0] == 0", "better-step",
                           put("subdivision", ["0", "1/4"])),
    "a piece is its lower end": ("instance.py", "Interval(low, high) if low < high else Fraction(low)", "Fraction(low)",
                                 "better-step", put("subdivision", ["0", "1"])),
    "any hypothesis is a condition on the number": (
        "existential.py", "return mentions(sides, self.alone) and all(only_of(side, names) for side in sides)",
        "return mentions(sides, self.alone)", "for-every-value", both(put(VALUES, "a", "2"), put(VALUES, "b", "2"))),
    "what defines a name is not looked at": (
        "existential.py", "mentions(formula, known) and only_of(formula, known | self.sizes | {*indices})",
        "mentions(formula, known)", "for-every-value-by-definition", put(VALUES, "a", "3/2")),
    "conditions that no value meets": (
        "counterexample.py", "if not any(allowed(", "if certificate is None and any(allowed(", "some-value-is-allowed",
        put("sizes", "n", 2)),
    "steps of both signs": ("existential.py", "len(others) == 1 and", "others and", "steps-of-both-signs",
                            put("subdivision", ["0", "1"])),
    "a power of what is small is not": (
        "one_sided_limit.py", "Interval(0, self.top**apart) if apart else 1", "self.top**apart if apart else 1",
        "next-to-the-end",
        put(VALUES, "a", "1/2")),
    "an end that counts is left out": (
        "existential.py", 'certificate["exists"]["open"][:1] == [True]', "True", "at-the-end", None),
    "the coin falls half as often": (
        "methods/averaging.py", "[(p, True), (1 - p, False)]", "[(p / 2, True), (1 - p / 2, False)]", "coin", None),
    "shifts move away": ("methods/averaging.py", "(mean - models[k]) * scale", "(models[k] - mean) * scale", "coin", None),
    "shifts with any mean": ("methods/averaging.py", "require(not any(run.over_all(h))", "require(True",
                             "shifts-vanish", put(INSTANCE, "initial", "client_variate", [["1"], ["1"]])),
}


def status(folder, data, claim):
    """The exit status of the checker in a folder, by itself, of a certificate with the right sides."""
    files = [folder / "certificate.json", folder / "statement.json"]
    files[1].write_text(json.dumps(statement_of(claim)), encoding="utf-8")
    for _ in range(2):
        files[0].write_text(json.dumps(data), encoding="utf-8")
        done = subprocess.run([sys.executable, "-I", str(folder / "verify" / "checker"), *map(str, files)],
                              capture_output=True, text=True, check=False)
        assert done.stderr == ""
        if "recorded values" not in done.stdout:
            break
        data = data | dict(zip(("left", "right"), done.stdout.split()[-2:], strict=True))
    return done.returncode


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_the_checker_is_noticed(name, tmp_path):
    file, text, other, false, change = FAULTS[name]
    source = Path(checker.__file__).parent
    shutil.copytree(source, tmp_path / "verify" / "checker", ignore=shutil.ignore_patterns("__pycache__"))
    data, claim = against(false)
    (change or (lambda data: None))(data)
    assert status(tmp_path, data, claim) == 1
    planted = tmp_path / "verify" / "checker" / file
    assert text in planted.read_text(encoding="utf-8")
    planted.write_text(planted.read_text(encoding="utf-8").replace(text, other), encoding="utf-8")
    assert status(tmp_path, data, claim) == 0
