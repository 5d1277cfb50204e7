"""The stand-alone checker: accepts what the search found, replays as the engine runs, and rejects what was tampered with."""

import ast
import copy
import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from bounds.controls.fedavg import CLASS, TWINS, control
from bounds.language.claim import Condition, Procedure
from bounds.language.operators import E, F_star, iterations, norm, objective, x_sampled, x_star
from bounds.registry.claims import find_claim
from synthetic.numbers.arrays import EXACT
from tests.changes import both, put
from tests.verify.checker.records import compare_with_record
from verify.checker import counterexample as checker
from verify.checker.instance import Instance
from verify.checker.operators import FORMAT
from verify.exact.certificate import certificate
from verify.exact.check import read
from verify.exact.check import replay_alone as check
from verify.exact.comparison import differences
from verify.exact.statement import formula, statement_of
from verify.growth.check import check_file
from verify.instances.draw import draw_params
from verify.instances.parameters import map_params
from verify.instances.shape import Shape
from verify.measure.simulate import simulate
from verify.search.budget import BUDGETS
from verify.search.search import search

CHECKER = Path(checker.__file__).parent

#: claims whose refutation the search finds at once: (id, seed), over settings, readings of the indicator and samplings
REFUTED = [
    ("fedalign/theorem-1", 0),
    ("fedalign/theorem-1@local-at-aggregation", 0),
    ("fedalign/theorem-1@local-every-step", 1),
    ("fedalign/lemma-A4@as-printed", 0),
    ("fedalign/lemma-A7@56-literal", 0),
    ("fedalign/step-update-identity@local-at-aggregation", 0),
    ("fedalign/step-eq47-as-printed", 0),
    ("fedalign/step-eq44-as-printed", 0),
    ("fedalign/step-T3-as-printed", 0),
    ("fedalign/step-T15@SCHED8", 0),
    ("fedalign/step-T17", 0),
    ("fedalign/claim-zero-epsilon-algorithm@non-strict", 0),
    ("control/scheme-1-is-unbiased@every draw", 0),
    ("control/scheme-2-is-unbiased@every draw", 0),
    ("control/contraction@no noise", 0),
    ("control/stochastic-recursion@/10", 3),
    ("control/loss-recursion@/2", 0),
    ("control/noise-adds-up@weights once", 0),
    ("control/who-matches-counts@stays away", 0),
    ("control/who-matches-counts@own model", 0),
    ("control/descent@/2", 0),
    ("control/jensen@/3/2", 0),
    ("control/geometric-sum@one more", 0),
]
SAMPLED = ["control/scheme-1-is-unbiased@every draw", "control/scheme-2-is-unbiased@every draw"]


def named(claim_id):
    return TWINS.get(claim_id) or find_claim(claim_id)


@cache
def _written(claim_id, seed=0):
    claim = named(claim_id)
    found = search(claim, BUDGETS["standard"], seed).violation
    assert found is not None, f"the search with seed {seed} does not refute {claim_id}"
    return json.dumps(certificate(claim, found.environment, found.left, found.right))


def refutation(claim_id, seed=0):
    return json.loads(_written(claim_id, seed))


# acceptance --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("claim_id, seed", REFUTED)
def test_what_the_search_finds_is_accepted(claim_id, seed):
    data = refutation(claim_id, seed)
    result = check(data)
    assert result.accepted, result.reason
    assert (result.left, result.right) == (data["left"], data["right"])
    assert not [*differences(data, named(claim_id))]


@pytest.mark.parametrize("claim_id", ["fedalign/theorem-1", "fedalign/step-T17", "fedalign/step-eq47-as-printed", *SAMPLED])
def test_the_file_alone_decides(claim_id, tmp_path):
    """The checker runs isolated from this environment: no site packages, no current directory, nothing else of ours."""
    folder, path = tmp_path / "verify" / "checker", tmp_path / "certificate.json"
    shutil.copytree(CHECKER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    data, statement = refutation(claim_id), tmp_path / "statement.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    statement.write_text(json.dumps(statement_of(named(claim_id))), encoding="utf-8")

    def run(*paths):
        command = [sys.executable, "-I", "-S", str(folder), *map(str, paths)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        assert done.stderr == ""
        return done.returncode, done.stdout

    status, accepted = run(path, statement)
    sides = rf" {re.escape(data['left'])} {re.escape(data['right'])}"
    assert status == 0 and re.fullmatch(rf"accepted: .*{sides}\n", accepted)
    status, said = run(path)
    assert status == 3 and said.startswith(accepted)
    path.write_text(json.dumps(data | {"left": data["left"] + "1"}), encoding="utf-8")
    status, said = run(path, statement)
    assert status == 1 and said.startswith("rejected: ")
    path.write_text(json.dumps(data | {"reading": "another"}), encoding="utf-8")
    assert run(path, statement)[0] == 1 and run(path)[0] == 3 and run(tmp_path)[0] == 2


@pytest.mark.parametrize("path", sorted(CHECKER.rglob("*.py")), ids=lambda path: path.stem)
def test_the_checker_is_short_and_runs_nothing_else(path):
    source = path.read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 290
    imported = {name.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import) for name in node.names}
    imported |= {node.module for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in imported} <= {"verify", *sys.stdlib_module_names}
    assert all(name.startswith("verify.checker") for name in imported if name.startswith("verify"))
    finds_methods = {"importlib"} if path.stem == "run" else set()  # the files of methods/, by no name of a certificate
    assert not imported & {"importlib", "subprocess", "os", "runpy", "ctypes"} - finds_methods
    assert "__import__" not in source and "eval(" not in source and "exec(" not in source


# tampering ---------------------------------------------------------------------------------------------------------------
def scaled(factor):
    return lambda text: str(Fraction(text) * Fraction(factor))


def moved(by):
    return lambda text: str(Fraction(text) + Fraction(by))


THEOREM = "fedalign/theorem-1"
NOISY, CONVEX = "control/loss-recursion@/2", "control/contraction@no noise"
STEPS, EVERY = "fedalign/lemma-A4@as-printed", "control/who-matches-counts@own model"

#: row -> (claim, what is changed, words of the reason)
TAMPERED = {
    "format": (THEOREM, put("format", "fedtheory certificate 3"), "fedtheory certificate 4$"),
    "no format": (THEOREM, lambda d: d.pop("format"), "fedtheory certificate 4$"),
    "left": (THEOREM, put("left", scaled(2)), "nothing violates"),
    "right": (THEOREM, put("right", "-1"), "nothing violates"),
    "left as a float": (THEOREM, put("left", lambda text: float(Fraction(text))), "left .*right .*text"),
    "sides exchanged": (THEOREM, lambda d: d.update(left=d["right"], right=d["left"]), "nothing violates"),
    "curvature": (THEOREM, put("instance", "curvature", 1, 0, "1/2"), "hypothesis .*mu_client"),
    "curvature, the other way": (THEOREM, put("instance", "curvature", 1, 0, "3"), "hypothesis .*L_client.*<= L$"),
    "curvature zero": (
        THEOREM, put("instance", "curvature", lambda rows: [["0"] for _ in rows]), "positive curvature|mu_client"),
    "curvature of too few": (THEOREM, put("instance", "curvature", lambda rows: rows[:1]), "IndexError|ValueError"),
    "weight of a priority client": (THEOREM, put("instance", "client_weight", 0, "1/2"), "priority weights .*sum"),
    "weight of a free client": (THEOREM, put("instance", "client_weight", 1, "2"), "."),
    "negative weight": (THEOREM, put("instance", "client_weight", 1, "-1/2"), "priority weights .*sum"),
    "priority of all": (THEOREM, put("instance", "priority", 1, 1), "priority weights .*sum"),
    "priority in part": (THEOREM, put("instance", "priority", 1, "1/2"), "priority weights .*sum"),
    "x_star": (THEOREM, put("instance", "x_star", 0, moved(1)), "x_star .*optimum"),
    "centre": (THEOREM, put("instance", "center", 0, 0, moved("1/3")), "x_star .*optimum"),
    "start": (THEOREM, put("instance", "start_offset", 0, moved(100)), "."),
    "mu too large": (THEOREM, put("values", "mu", scaled("3/2")), "mu_client"),
    "mu negative": (THEOREM, put("values", "mu", "-1"), "hypothesis .*mu"),
    "L too small": (THEOREM, put("values", "L", scaled("1/2")), "L_client"),
    "sigma_sq too small": (NOISY, put("values", "sigma_sq", scaled("1/2")), "sigma_sq"),
    "G_sq too small": (THEOREM, put("values", "G_sq", "1/1000"), "G_sq"),
    "eta_l": (THEOREM, put("values", "eta_l", 0, "1/5"), "eta_l"),
    "eta_l beyond its limit": (NOISY, put("values", "eta_l", 0, "1000"), "eta_l"),
    "eta_l negative": (NOISY, put("values", "eta_l", 0, "-1"), "eta_l"),
    "eta_l gone": (THEOREM, lambda d: d["values"].pop("eta_l"), "KeyError"),
    "step_offset": (THEOREM, put("values", "step_offset", "9"), "step_offset"),
    "epsilon": (THEOREM, put("instance", "epsilon", ["0", "0"]), "nothing violates"),
    "epsilon negative": (THEOREM, put("instance", "epsilon", 1, "-1"), "epsilon"),
    "availability": (THEOREM, put("instance", "available", [["1", "0"], ["1", "0"]]), "available"),
    "more iterations": (THEOREM, put("sizes", "iterations", 2), "iterations .*rounds .*local_steps"),
    "more rounds": (THEOREM, put("sizes", "rounds", 2), "iterations .*rounds .*local_steps"),
    "no rounds": (THEOREM, both(put("sizes", "rounds", 0), put("sizes", "iterations", 0)), "at least 1"),
    "negative run lengths": (THEOREM, both(put("sizes", "rounds", -1), put("sizes", "local_steps", -1)), "at least 1"),
    "run lengths of a half": (THEOREM, both(put("sizes", "rounds", 2), put("sizes", "local_steps", 0.5)), "whole number"),
    "more clients": (THEOREM, put("sizes", "clients", 3), " 3 entries .*got 2"),
    "fewer clients": (THEOREM, put("sizes", "clients", 1), " 1 entries .*got 2"),
    "dimension": (THEOREM, put("sizes", "dim", 2), " 2 entries .*got 1"),
    "noise for nobody": (THEOREM, put("instance", "noise", lambda laws: [*laws, []]), "noise .* 2 entries .*got 3"),
    "noise not centred": (NOISY, lambda d: _law(d)[0].__setitem__(1, [scaled(2)(v) for v in _law(d)[0][1]]), "centred"),
    "chances not summing to one": (NOISY, lambda d: _law(d)[0].__setitem__(0, "1/3"), "centred"),
    "chance zero": (NOISY, lambda d: _law(d).append(["0", ["0"] * d["sizes"]["dim"]]), "centred"),
    "noise scaled": (NOISY, lambda d: [row.__setitem__(1, [scaled(3)(v) for v in row[1]]) for row in _law(d)], "sigma_sq"),
    "sampling scheme unknown": (THEOREM, put("procedure", "sampling", "fraction"), "1 of 1 clients .*fraction$"),
    "sampling scheme": (SAMPLED[0], put("procedure", "sampling", "full"), "participants is their number"),
    "nobody sampled": (SAMPLED[0], put("sizes", "participants", 0), "at least 1"),
    "more sampled than there are": (SAMPLED[1], put("sizes", "participants", 7), "7 of . clients .*without-replacement$"),
    "indicator": (EVERY, put("procedure", "indicator", "broadcast"), "."),
    "indicator unknown": (THEOREM, put("procedure", "indicator", "sometimes"), "unknown indicator"),
    "a float": (THEOREM, put("instance", "epsilon", 0, 1.5), "number .*; got 1.5"),
    "a boolean": (THEOREM, put("instance", "epsilon", 0, True), "number .*; got True"),
    "a size as text": (THEOREM, put("sizes", "local_steps", "1"), "whole number"),
    "no number": (THEOREM, put("instance", "epsilon", 0, "nan"), "ValueError"),
    "x_sampled given": (
        STEPS, both(put("values", lambda v: v | {"x_sampled": [["9"]] * 9, "drift": ["9"] * 9}), put("left", "9")),
        "values .*'x_sampled', 'drift'",
    ),
    "constants of clients given": (
        THEOREM, put("values", lambda v: v | {"mu_client": ["9", "9"], "mu": "9", "L": "9"}), "values .*'mu_client'",
    ),
    "a size called mu_client": (
        THEOREM, both(put("sizes", lambda s: s | {"mu_client": 9}), put("values", "mu", "9")), "sizes .*'mu_client'",
    ),
    "a size called included": (
        STEPS, put("sizes", lambda s: s | {"included": 0, "drift": 0, "clients": 9}), "sizes .*'included', 'drift'",
    ),
    "too many indices": (THEOREM, put("statement", "left", ["x_sampled", 0, 0, 0]), "TypeError"),
    "index out of range": (THEOREM, put("statement", "left", ["eta_l", 5]), "IndexError"),
    "negative index": (THEOREM, put("statement", "left", ["eta_l", -1]), "-1 .*index .*eta_l"),
    "unknown word": (THEOREM, put("statement", "left", ["magic", 0]), "magic"),
    "unknown relation": (THEOREM, put("statement", "relation", "!="), "relation .*got '!='"),
    "relation turned": (THEOREM, put("statement", "relation", ">="), "nothing violates"),
    "a root that is not real": (THEOREM, put("statement", "left", ["^", -2, ["*", 1, ["^", 2, -1]]]), "not real"),
    "method": (THEOREM, put("procedure", "base", "fedswa"), "KeyError"),
    "method unknown": (THEOREM, put("procedure", "base", "magic"), "KeyError"),
    "option": (NOISY, put("procedure", "options", "eta_g", "2"), "."),
    "layers": (THEOREM, put("instance", "layer_sizes", ["1", "1"]), "layer_sizes .* 1 entries .*got 2"),
    "integer variable that is none": ("fedalign/step-T17", put("sizes", "length", "5/2"), "."),
    "negative simplex": ("fedalign/step-T3-as-printed", put("values", "omega", lambda w: _negated(w)), "omega.*>= 0"),
    "endless definition": (THEOREM, put("definitions", "Gamma", {"indices": [], "formula": "Gamma"}), "defined by itself"),
}


def _negated(weights):
    """Weights that still sum to one, one of them negative."""
    return ["-1", "2", *("0" for _ in weights[2:])]


def _law(data):
    return next(law for law in data["instance"]["noise"] if law)


@pytest.mark.parametrize("row", TAMPERED)
def test_a_changed_instance_is_rejected(row):
    claim_id, change, words = TAMPERED[row]
    data = refutation(claim_id)
    assert check(copy.deepcopy(data)).accepted
    change(data)
    result = check(data)
    assert not result.accepted
    assert re.search(words, result.reason), result.reason


#: a change of what is claimed, after which the checker may well accept: the claim of that id says something else
REWORDED = {
    "a hypothesis less": put("hypotheses", lambda rows: rows[1:]),
    "no hypotheses": put("hypotheses", []),
    "another definition": put("definitions", "theta", "formula", 0),
    "another statement": put("statement", "right", ["*", 2, 0]),
    "relation": put("statement", "relation", ">="),
    "a narrower range": put("statement", "over", [["t", 0, 0]]),
    "setting": put("setting", "algebra"),
    "reading": put("reading", lambda text: text + "; otherwise as printed"),
    "procedure": put("procedure", "indicator", "local-every-step"),
    "strictness": put("procedure", "strict", False),
    "a definition that overrides a measured name": put(
        "definitions", lambda d: d | {"included": {"indices": ["t", "k"], "formula": 1}}
    ),
}


@pytest.mark.parametrize("row", REWORDED)
def test_a_changed_statement_is_rejected(row, tmp_path):
    path = tmp_path / "certificate.json"
    data = refutation(THEOREM)
    path.write_text(json.dumps(data), encoding="utf-8")
    assert check_file(path).accepted
    REWORDED[row](data)
    changed = [part for part, honest in refutation(THEOREM).items() if data[part] != honest]
    path.write_text(json.dumps(data), encoding="utf-8")
    result = check_file(path)
    assert not result.accepted
    assert THEOREM in result.reason and result.reason.rpartition(": ")[2].split(", ") == changed


def test_a_claim_that_is_not_here_is_not_refuted(tmp_path):
    path, name = tmp_path / "certificate.json", "control/jensen@/3/2"
    path.write_text(json.dumps(refutation(name)), encoding="utf-8")
    result = check_file(path)
    assert not result.accepted and name in result.reason
    assert check_file(path, {name: named(name)}).accepted
    assert not check_file(path, {"control/descent": named("control/descent@/2")}).accepted


#: text of the file -> words of the error
NOT_CERTIFICATES = {
    "empty": ("", "JSON .*: line 1 column 1 "),
    "truncated": (None, r"JSON .*: line 1 column \d{3}"),
    "a list": ("[1, 2]", "object; got 'list'"),
    "foreign": ('{"format": "another 1"}', "got 'another 1'"),
    "no format": ("{}", "got 'None'"),
    "a key twice": ('{"format": "x", "format": "y"}', "twice: 'format'"),
    "a float": ('{"format": 0.5}', "fractions .*; got 0.5"),
    "not a number": ('{"format": NaN}', "fractions .*; got NaN"),
    "deep": ("[" * 10**5, "brackets .* 60 "),
    "long": ('{"format": ' + "9" * 5000 + "}", " 1000 digits; got 5000"),
}


@pytest.mark.parametrize("row", NOT_CERTIFICATES)
def test_what_is_no_certificate_is_one_clear_error(row, tmp_path):
    text, words = NOT_CERTIFICATES[row]
    path = tmp_path / "file.json"
    path.write_text(_written(THEOREM)[:-40] if text is None else text, encoding="utf-8")
    with pytest.raises(ValueError, match=words) as error:
        check_file(path)
    assert "\n" not in str(error.value)


def test_what_is_incomplete_is_rejected():
    assert "lacks" in check({"format": FORMAT, "claim": "x"}).reason


def test_no_file_and_no_text(tmp_path):
    with pytest.raises(ValueError, match="cannot read"):
        read(tmp_path / "none.json")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe{")
    with pytest.raises(ValueError, match=r"bytes\.json .*JSON"):
        read(tmp_path / "bytes.json")


# replay ------------------------------------------------------------------------------------------------------------------
#: indicator, sampling, participants, noisy clients, local steps, rounds, strict
REPLAYS = [
    ("broadcast", "full", 1, (), 2, 2, True),
    ("broadcast", "full", 1, (0, 2), 1, 2, True),
    ("broadcast", "with-replacement", 2, (), 2, 2, True),
    ("broadcast", "without-replacement", 1, (2,), 2, 1, False),
    ("local-at-aggregation", "full", 1, (1,), 2, 2, True),
    ("local-at-aggregation", "with-replacement", 2, (2,), 1, 2, True),
    ("local-at-aggregation", "without-replacement", 2, (), 2, 2, False),
    ("local-every-step", "full", 1, (2,), 3, 1, True),
    ("local-every-step", "with-replacement", 1, (0,), 2, 2, True),
    ("local-every-step", "without-replacement", 1, (), 2, 3, True),
]
MEASURED = ("x", "x_sampled", "x_local", "x_before", "g", "included", "sampled_weight")


@pytest.mark.parametrize("indicator, sampling, participants, noisy, steps, rounds, strict", REPLAYS)
def test_the_checker_runs_as_the_engine_does(indicator, sampling, participants, noisy, steps, rounds, strict):
    procedure = Procedure(free_clients=True, indicator=indicator, sampling=sampling, free="arbitrary", strict=strict)
    statement = Condition(E(objective(x_sampled[iterations])) - F_star, "<=", 0)
    claim = control("replay", "run", statement, procedure=procedure)
    shape = Shape(4, 2, 2, steps, rounds, participants, sampling, noisy, Fraction(1, 4))
    rng = np.random.default_rng([steps, rounds, len(noisy), participants])
    included = set()
    for number in range(4):
        params = map_params(draw_params(claim, shape, 1, rng), _simple)
        params["epsilon"] = np.array([[Fraction(int(rng.integers(0, 7)), 2) for _ in range(rounds + 1)]])
        if number < 2:  # everybody there: with a threshold that all meet, and one that nobody meets
            params["available"] = params["available"] * 0 + 1
            params["epsilon"] = params["epsilon"] * 0 + (10**9 if number else Fraction(1, 10**9))
        environment = simulate(claim, shape, params, EXACT)
        data = json.loads(json.dumps(certificate(claim, environment, 1, 0)))
        compare_with_record(Instance(data), environment, MEASURED)
        included |= {tuple(row) for row in environment.bound["included"].data.reshape(-1, 4)}
    assert len(included) > 1, "free clients are always, or never, included: this compares too little"


def _simple(name, array):
    out = np.empty(array.shape, dtype=object)
    for index, value in np.ndenumerate(array):
        out[index] = Fraction(value).limit_denominator(4) or Fraction(1, 4)
    return np.where(out > 8, Fraction(8), out) if name != "available" else array.astype(int).astype(object)


# formulas ----------------------------------------------------------------------------------------------------------------
#: formulas, and whether they have one value whatever is drawn
FORMULAS = [
    (["*", 2, ["^", "mu", -1]], True), (["+", "L", "sigma_sq"], True), (["Sum", ["*", "k", "mu"], "k", 0, "clients"], True),
    (["eta_l", 0], True), (["exp", ["*", "mu", "rounds"]], True), (["+", "mu", ["norm2", ["x_sampled", 0]]], False),
    (["Sum", ["g", 0, "k"], "k", 0, 1], False), (["F", 0, "x_star"], False), (["E", "mu"], False), (["+", "k", 1], False),
    (["priority", 0], False), (["unheard", "mu"], False),
]


@pytest.mark.parametrize(("node", "sure"), FORMULAS, ids=str)
def test_formulas_of_given_numbers_alone_are_known_before_anything_is_drawn(node, sure):
    assert Instance(refutation("control/contraction@no noise")).formulas.sure(node, set()) is sure


def test_what_chance_does_not_touch_is_computed_once():
    """A sum of 1000 terms of five nodes, on both sides of which one stands, at more than one outcome of chance."""
    replay = Instance(refutation("control/stochastic-recursion@/10", 3))
    spent, number = replay.meter.spent, ["Sum", ["*", "k", "clients"], "k", 1, 1000]
    rule = {"left": number, "right": ["+", 1, number]}
    outcomes = [outcome for _, outcome in replay.outcomes()]
    assert len(outcomes) > 1
    for outcome in outcomes:
        left, right = replay.sides(rule, {}, outcome)
        assert right - left == 1
    assert 5_000 < replay.meter.spent - spent < 5_500


def test_rational_norms_are_replayed_in_every_dimension():
    """(3, 4) has norm 5: the statement |x_0 - x*| <= 4 is refuted in two dimensions."""
    claim = control("norm", "run", Condition(norm(x_sampled[0] - x_star), "<=", 4), assumptions=CLASS)
    shape = Shape(dim=2)
    params = map_params(draw_params(claim, shape, 1, np.random.default_rng(0)), _simple)
    params["start_offset"] = np.array([[Fraction(3), Fraction(4)]])
    environment = simulate(claim, shape, params, EXACT)
    data = json.loads(json.dumps(certificate(claim, environment, 5, 4)))
    assert check(data).accepted
    data["instance"]["start_offset"] = ["4", "4"]  # |(4, 4)| lies between 5.65 and 5.66
    assert not check(data | {"left": "5"}).accepted
    assert not check(data | {"left": "5.66 to 5.67"}).accepted
    assert check(data | {"left": "5.65 to 5.66"}).accepted


@pytest.mark.parametrize("claim_id", [THEOREM, "fedalign/step-T3-as-printed", "fedalign/step-eq47-as-printed"])
def test_formulas_are_plain_data(claim_id):
    claim = named(claim_id)
    data = json.loads(json.dumps(formula(claim.statement.right)))
    assert data == refutation(claim_id)["statement"]["right"]
    assert [*differences(refutation(claim_id), replace(claim, statement=replace(claim.statement, relation="==")))]


@pytest.mark.parametrize("relation", ["<=", "=="])
def test_a_hypothesis_may_begin_with_a_number(relation):
    """``1 <= a`` defines nothing, and is checked like any other hypothesis."""
    data = json.loads(_written("control/jensen@/3/2"))
    limit = {"left": 0, "relation": relation, "right": ["*", 0, "L"], "over": [], "text": ""}
    data["hypotheses"] = [*data["hypotheses"], limit]
    assert check(data).accepted
    data["hypotheses"][-1] = {**limit, "left": 1}
    assert not check(data).accepted and "hypothesis" in check(data).reason and "Error" not in check(data).reason
