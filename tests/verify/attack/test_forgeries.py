"""Forgeries against true statements, each made to look like a counterexample; all are refused, for the right reason."""

import copy
import json
import re
import time
from functools import cache

import numpy as np
import pytest

from bounds.registry.claims import find_claim
from synthetic.numbers.arrays import EXACT
from tests.changes import put
from verify.checker import limits
from verify.checker.limits import read
from verify.exact.certificate import certificate
from verify.exact.check import check
from verify.growth.check import check as check_growth
from verify.growth.check import check_file
from verify.instances.draw import draw_params
from verify.instances.parameters import map_params
from verify.instances.shape import Shape
from verify.instances.shapes import small_shapes
from verify.measure.simulate import simulate
from verify.referee.decide import Settings, decide

CONVEX, DISTANCE, MASKED = "classical/gd-convex", "classical/sgd-stability-distance", "fedluar/lemma-A.2-shift@forced"
OTHER, GROWING = "fedalign/theorem-1", "fadamgc/theorem-5.4"


@cache
def _honest(claim_id: str) -> str:
    """An honest certificate of an instance of a claim: one that refutes it, or of a true claim any instance."""
    claim = find_claim(claim_id)
    verdict = decide(claim, Settings(federations=False))
    if verdict.verdict == "refuted":
        return json.dumps(verdict.details["instance"])
    rng = np.random.default_rng(0)
    shape = next(iter(small_shapes(claim, rng, 64, 4))) if claim_id == DISTANCE else Shape()
    params = map_params(draw_params(claim, shape, 1, rng), _simple)
    return json.dumps(certificate(claim, simulate(claim, shape, params, EXACT), 1, 0))


def _simple(name, array):
    from fractions import Fraction

    out = np.empty(array.shape, dtype=object)
    for index, value in np.ndenumerate(array):
        out[index] = Fraction(float(value)).limit_denominator(4)
    return out


def honest(claim_id):
    return json.loads(_honest(claim_id))


STEPS = {"indices": ["t"], "formula": ["sampled", 0, 0]}
CHANCE = {"indices": [], "formula": ["norm2", ["g", 0, 0]]}

#: forgery -> (claim, change, words of the refusal)
FORGERIES = {
    "a value overrides an option": (CONVEX, put("values", "eta_g", "10"), "values .*'eta_g'"),
    "a size overrides an option": (CONVEX, put("sizes", "eta_g", 10), "sizes .*'eta_g'"),
    "an option becomes a symbol": (CONVEX, put("procedure", "options", "eta_g", {"symbol": "eta_l"}), "states: procedure"),
    "an option becomes another number": (CONVEX, put("procedure", "options", "eta_g", "10"), "states: procedure"),
    "masks as a value": (CONVEX, put("values", "masks", [["1"]]), "values .*'masks'"),
    "a first update": (MASKED, put("values", "initial_update", ["9"]), "values .*'initial_update'"),
    "a free name more": (CONVEX, lambda d: (d["free"].update(eta_g=[]), d["values"].update(eta_g="10")), "states: free"),
    "first states that are not free": (CONVEX, put("instance", "initial", {"client_variate": [["1"]]}), "."),
    "a relation made strict": (CONVEX, put("statement", "relation", "<"), "states: statement"),
    "a name with two meanings": (CONVEX, put("values", "sampled", [["5"]]), "values .*'sampled'"),
    "steps by a formula of chance": (CONVEX, put("values", "eta_l", STEPS), "lacks hypothesis"),
    "both": (CONVEX, lambda d: d["values"].update(sampled=[["5"]], eta_l=STEPS), "values .*'sampled'|lacks hypothesis"),
    "a constant by a formula of chance": (OTHER, put("values", "G_sq", CHANCE), "lacks hypothesis"),
    "a constant by another hypothesis": (OTHER, put("values", "G_sq", {"hypothesis": 0}), "hypothesis .*G_sq"),
    "a constant by no hypothesis": (OTHER, put("values", "G_sq", {"hypothesis": 99}), "IndexError"),
    "a constant of the clients": (OTHER, put("values", "L_client", ["1"]), "values .*'L_client'"),
    "F_star": (OTHER, put("values", "F_star", "-100"), "values .*'F_star'"),
    "a Lipschitz constant that is none": (DISTANCE, lambda d: (
        [a.update(curvature=["1"]) for row in d["instance"]["atoms"] for a in row],
        d["values"].update(G_lip="1/1000")), "G_lip"),
    "no atoms": (DISTANCE, lambda d: d.update(instance=honest(CONVEX)["instance"]), "instance .*atoms"),
    "twin_x_round": (DISTANCE, put("values", "twin_x_round", [["5"], ["5"]]), "values .*'twin_x_round'"),
    "another statement in also": (DISTANCE, put("also", {"values": {}, "left": "1", "right": "0", "statement": {}}), "."),
    "also where there is one reading": (CONVEX, put("also", {"values": {}, "left": "1", "right": "0"}), "two readings"),
    "no claim": (CONVEX, lambda d: d.pop("claim"), "states: claim"),
    "another claim": (CONVEX, put("claim", "classical/gd-strongly-convex"), "states: claim"),
    "a hypothesis less": (CONVEX, lambda d: d["hypotheses"].pop(0), "states: hypotheses"),
    "a sign less": (CONVEX, lambda d: d["hypotheses"].pop(), "states: hypotheses"),
    "a hypothesis more": (CONVEX, lambda d: d["hypotheses"].append(copy.deepcopy(d["hypotheses"][-1]) | {
        "left": "eta_l", "relation": "=="}), "states: hypotheses"),
    "a setting without runs": (CONVEX, put("setting", "algebra"), "setting"),
    "gradients of the population": (DISTANCE, put("procedure", "gradients", "population"), "procedure"),
    "a sampling": (CONVEX, put("procedure", "sampling", "with-replacement"), "procedure"),
    "a number as a law of noise": (OTHER, put("instance", "noise", 0, "0"), "noise .*number"),
    "a text as a number": (CONVEX, put("instance", "start_offset", "x_star"), "."),
    "sums of 10^10 terms": (CONVEX, put("statement", "left", ["Sum", 1, "k", 0, 10**10]), "statement"),
    "10^9 clients": (CONVEX, put("sizes", "clients", 10**9), "size .*: 1000000000; .* 100000 "),
    "10^9 rounds": (CONVEX, lambda d: d["sizes"].update(rounds=10**9, iterations=10**9), "size .*: 1000000000; .* 100000 "),
    "5,000 digits more": (CONVEX, put("left", "9" * 50_000), "."),
    "a list for an object": (CONVEX, put("values", []), "values .*object; got list"),
    "an object for a list": (CONVEX, put("hypotheses", {}), "."),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_refused(name):
    claim_id, change, words = FORGERIES[name]
    data = honest(claim_id)
    change(data)
    result = check(data, find_claim(claim_id))
    assert not result.accepted and re.search(words, result.reason), result.reason


@pytest.mark.parametrize("claim_id", [CONVEX, DISTANCE, OTHER, MASKED])
def test_what_is_forged_is_honest_before(claim_id):
    """Of a true claim the checker says that nothing violates the statement: the forgeries change nothing else."""
    result = check(honest(claim_id), find_claim(claim_id))
    assert result.accepted == (claim_id in (OTHER, MASKED))
    assert result.accepted or "nothing violates" in result.reason


# growth ----------------------------------------------------------------------------------------------------------------
def _every(*path):
    """Change the member's number at a path, of the second member alone."""
    def change(data):
        place = data["members"][1]["certificate"]
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = "7"
    return change


GROWTH_FORGERIES = {
    "sizes": (lambda d: [m.update(size=str(4**n)) for n, m in enumerate(d["members"])], "in proportion"),
    "along something else": (put("along", "clients"), "in proportion"),
    "along nothing": (put("along", "magic"), "in proportion"),
    "smaller constants": (lambda d: d["members"][0].update(constant="1/10000000000000"),
                          rf"size \d+: .*{GROWING} .*statement"),
    "no members": (put("members", []), " 1 .*64 members"),
    "few members": (lambda d: d.update(members=d["members"][:2]), "^2 members .* 5 "),
    "one member again": (lambda d: d.update(members=[d["members"][0]] * 6), "do not grow"),
    "what constants may depend on": (put("constants_may_use", ["L"]), f"^[^:]*{GROWING} [^:]*$"),
    "another key": (put("also", {}), "got"),
    "the claim": (put("claim", "fadamgc/theorem-5.2"), f"^[^:]*{GROWING} [^:]*$"),
    "a member's noise": (_every("instance", "start_offset", 0), "."),
}


@pytest.mark.parametrize("name", GROWTH_FORGERIES)
def test_a_forged_growth_is_refused(name):
    change, words = GROWTH_FORGERIES[name]
    data, claim = json.loads(_grown()), find_claim(GROWING)
    change(data)
    result = check_growth(data, claim)
    assert not result.accepted and re.search(words, result.reason), result.reason


@cache
def _grown() -> str:
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        verdict = decide(find_claim(GROWING), Settings(federations=False, out=Path(folder)))
        text = (Path(folder) / verdict.certificate).read_text(encoding="utf-8")
    assert check_growth(json.loads(text), find_claim(GROWING)).accepted
    return text


# files ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("claim_id", ["nobody/nothing", "fedalign/theorem\u20101", "FEDALIGN/theorem-1", "", None, ["x"], 7])
def test_an_unknown_claim_is_refuted_by_nothing(claim_id, tmp_path):
    data = honest(OTHER) | {"claim": claim_id}
    data["hypotheses"] = []
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    assert not check_file(path).accepted


@pytest.mark.parametrize("text", [
    "[" * 10**6, '{"a": ' * 10**5, "{}", "[]", "null", "\ufeff{}", "9" * 10**6, '{"members": [{"certificate": 1}]}',
    '{"format": "fedtheory certificate 4", "format": "fedtheory certificate 4"}',
    '{"format": "fedtheory growth certificate 2", "members": []}',
])
def test_no_text_is_a_traceback_or_a_hang(text, tmp_path):
    path, began = tmp_path / "certificate.json", time.perf_counter()
    path.write_text(text, encoding="utf-8")
    try:
        assert not check_file(path).accepted
    except ValueError as error:
        assert "\n" not in str(error) and str(path) in str(error)
    assert time.perf_counter() - began < 20


#: work that is refused before it begins -> what is changed of a claim's own formulas, as if the claim said so
HEAVY = {
    "a power of a power": ["^", 10, ["^", 10, ["^", 10, 10]]],
    "a power": ["^", 3, 10**15],
    "an exponential": ["exp", 10**15],
    "many terms": ["Sum", 1, "k", 0, 10**9],
    "sums in sums": [
        "Sum", ["Sum", ["Sum", ["Sum", ["+", "b", "c", "d"], "a", 0, 9999], "b", 0, 9999], "c", 0, 9999], "d", 0, 9999],
    "a product": ["Product", 10**900, "k", 0, 999],
    "squares of squares": ["^", ["^", ["^", ["^", ["^", ["^", 7, 99], 99], 99], 99], 99], 99],
}


@pytest.mark.parametrize("name", HEAVY)
def test_heavy_work_is_refused(name, monkeypatch):
    from verify.exact.check import replay_alone

    monkeypatch.setattr(limits, "WORK", 50_000)
    data, began = honest(OTHER), time.perf_counter()
    data["statement"]["left"] = HEAVY[name]
    result = replay_alone(data)
    assert not result.accepted and "TooLarge" in result.reason and time.perf_counter() - began < 20, result.reason


def test_numbers_are_read_as_they_are_written():
    assert read('{"a": 1, "b": "1/3"}') == {"a": 1, "b": "1/3"}
    for text in ('{"a": 1.0}', '{"a": Infinity}', '{"a": 1e5}', '{"a": -NaN}'):
        with pytest.raises(ValueError):
            read(text)
