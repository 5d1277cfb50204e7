"""Forgeries against claims of users: instances by hand that break what is true only if a word means something else."""

import json
import re
from fractions import Fraction

import pytest

from bounds.registry.user_claims import load_claims
from tests.verify.attack.second_opinion import refutes
from verify.claims.method import faults_of_method
from verify.exact.check import check, replay_alone
from verify.exact.statement import statement_of
from verify.growth.certificate import FORMAT as GROWTH
from verify.growth.check import check as check_growth
from verify.growth.order import with_constant

FORMAT = "fedtheory certificate 4"
AT_Y = 'setting = "point"\nvariables = {y = "vector"}\n'
DOMINATED = AT_Y + 'assume = ["norm2(objective_grad(v)) >= 2*mu*(objective(v) - F_star) for all v"]\n'


def claims_of(text, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(f'[[claim]]\nid = "mine/one"\n{text}\n', encoding="utf-8")
    return load_claims(path, faults_of_method)[0]


def written(claim, sizes=(), values=(), left="0", right="0", subdivision=None, **instance):
    """A certificate of clients 1/2 |x|^2, as the claim writes it, with changes."""
    sizes = {"clients": 1, "rounds": 1, "local_steps": 1, "participants": 1, "dim": 1, "layers": 1} | dict(sizes)
    sizes["iterations"] = sizes["rounds"] * sizes["local_steps"]
    n, dim = sizes["clients"], sizes["dim"]
    given = {"center": [["0"] * dim] * n, "curvature": [["1"] * dim] * n, "x_star": ["0"] * dim, "offset": ["0"] * n,
             "client_weight": [f"1/{n}"] * n, "layer_sizes": [str(dim)], "priority": ["1"] * n, "noise": [[]] * n}
    if claim.setting == "run":
        given |= {"start_offset": ["1"] * dim, "initial": {}, "epsilon": ["0"] * (sizes["rounds"] + 1),
                  "available": [["1"] * n] * (sizes["rounds"] + 1)}
    elif claim.setting == "point":
        given |= {"included": [["1"] * n], "x_local": [[["0"] * dim] * n]}
    else:
        given = {}
    given |= instance
    steps = {"eta_l": ["1/2"] * sizes["iterations"]} if claim.setting == "run" else {}
    return json.loads(json.dumps({
        "format": FORMAT, **statement_of(claim), "sizes": sizes, "instance": given, "values": steps | dict(values),
        "left": left, "right": right} | ({} if subdivision is None else {"subdivision": subdivision})))


TWO = {"clients": 2, "participants": 2}
#: wells at 0 and 4 with a top at 2, by a piece of negative curvature
WELLS = {"center": [["2"]], "pieces": [[[["-2", "2", "1"]]]]}

#: Hessians diag(1, 2) and [[21, -12], [-12, 14]]/5, whose mean has the eigenvalues 2.5 -+ 1.204; one minimum is (3, 4)
OWN_BASES = {"sizes": TWO | {"dim": 2}, "curvature": [["1", "2"], ["1", "6"]], "center": [["0", "0"], ["5", "0"]],
             "half_tangent": ["0", "1/2"], "x_star": ["5/4", "35/24"]}
OFF = AT_Y + 'statement = "norm2(y - x_star) <= 3"'  # 2125/576 at y = 0
AT_0 = {"values": {"y": ["0", "0"]}, "left": "2125/576", "right": "3"}
STEEP = AT_Y + ('assume = ["norm2(%s) <= mu**2*norm2(u - v) for all u, v"]\n'
                'statement = "mu <= 1"')
CONVEX = STEEP.replace(" <= mu**2", " >= mu**2")
SLOPES, OF_ONE = "objective_grad(u) - objective_grad(v)", "grad(k, u) - grad(k, v)"
EACH = STEEP.replace("for all u, v", "for all u, v for each k") % OF_ONE

A_NUMBER = 'setting = "algebra"\nvariables = {a = "positive", n = "integer"}\nexists = {c = "[0, 1]"}\n'
#: steps by a number c that exists, of one client 1/2 |x|^2
STEPS = """
assume = ["L_client[k] <= L for k in 0..clients-1", "mu_client[k] >= 0 for k in 0..clients-1",
          "sigma_sq_client[k] <= 0 for k in 0..clients-1"]
variables = {a = "nonnegative"}
exists = {c = "%s"}
conditions = ["local_steps == 1", "eta_l[t] == %s for t in 0..iterations-1"]
statement = "norm2(x_round[1] - x_star) <= %snorm2(x_round[0] - x_star)"
"""
BY_STEPS = {"a": "5", "L": "1", "eta_l": {"hypothesis": 4}}

#: forgery -> (fields of a true claim, the certificate's changes, words of the refusal)
FORGERIES = {
    "a number that exists: a hypothesis for every value": (
        A_NUMBER + 'conditions = ["a + c <= 2"]\nstatement = "a <= 1"',
        {"values": {"a": "5", "n": "1"}, "left": "5", "right": "1", "subdivision": ["0", "1"]}, "hypothesis fails"),
    "a number that exists: such a hypothesis by a definition": (
        A_NUMBER + 'definitions = {z = "a + c"}\nconditions = ["z <= 2"]\nstatement = "a <= 1"',
        {"values": {"a": "5", "n": "1"}, "left": "5", "right": "1", "subdivision": ["0", "1"]}, "hypothesis fails"),
    "a number that exists: no value is allowed": (
        A_NUMBER + 'conditions = ["n*c >= 5"]\nstatement = "n >= 5"',
        {"sizes": {"n": 2}, "values": {"a": "1"}, "left": "2", "right": "5", "subdivision": ["0", "1"]},
        "conditions on the number"),
    "a number that exists: steps below zero": (
        STEPS % ("[0, 1]", "(1 + c)/L - a", ""),
        {"values": BY_STEPS, "left": "16", "right": "1", "subdivision": ["0", "1"]}, "hypothesis fails"),
    "a number that exists: steps below zero by a factor": (
        STEPS % ("(0, 1]", "c*(1 - a)/L", ""),
        {"values": BY_STEPS, "left": "25", "right": "1", "subdivision": ["0", "1/4", "1/2", "3/4", "1"]},
        "hypothesis fails"),
    "fewer participants than take part": (
        'sampling = "full"\nstatement = "Sum(sampled[r, k], (k, 0, clients-1))/2 == participants/2 for r in 0..rounds-1"',
        {"sizes": {"clients": 2, "participants": 1}, "left": "1", "right": "1/2"}, "participants is their number"),
    "a client before the first": (
        AT_Y + 'statement = "F(k-1, y) <= F(k, y) for k in 0..clients-1"',
        {"sizes": TWO, "values": {"y": ["0"]}, "offset": ["0", "1"], "left": "1", "right": "0"},
        "-1 is not the number of a client"),
    "a Lipschitz constant below the losses'": (
        'conditions = ["G_lip <= 10"]\nstatement = "norm(grad(0, x_round[0])) <= G_lip"',
        {"values": {"G_lip": "1/1000"}, "left": "1", "right": "1/1000"}, "not Lipschitz"),
    "a distance of gradients below theirs": (
        'conditions = ["sigma_g_2 > 0"]\n'
        'statement = "norm2(grad(0, x_round[0]) - objective_grad(x_round[0])) <= clients*sigma_g_2**2"',
        {"sizes": TWO, "values": {"sigma_g_2": "1/1000"}, "center": [["1"], ["-1"]], "left": "1", "right": "1/500000"},
        "sigma_g_2"),
    "a smoothness below the objective's": (
        'conditions = ["L_objective <= 10"]\n'
        'statement = "norm(objective_grad(x_round[0])) <= L_objective*norm(x_round[0] - x_star)"',
        {"values": {"L_objective": "1/1000"}, "left": "1", "right": "1/1000"}, "L_objective"),
    "a curvature above the objective's least": (
        'conditions = ["mu_objective <= 10"]\n'
        'statement = "norm(objective_grad(x_round[0])) >= mu_objective*norm(x_round[0] - x_star)"',
        {"values": {"mu_objective": "2"}, "left": "1", "right": "2"}, "mu_objective"),
    "a hypothesis at all pairs of points that fails far away": (
        AT_Y + 'assume = ["norm2(grad(k, u) - grad(k, v)) <= mu**2*norm2(u - v) for all u, v for each k"]\n'
        'statement = "mu >= 1"',
        {"values": {"y": ["0"], "mu": "1/2"}, "left": "1/2", "right": "1"}, "not bounded below over all p"),
    "a hypothesis at all pairs of points that fails between wells": (
        AT_Y + 'assume = ["2*(objective(u) - objective(v)) <= dot(objective_grad(u) + objective_grad(v), u - v) '
        'for all u, v"]\nstatement = "norm2(y) <= 0"',
        {"values": {"y": ["1"]}, "left": "1", "right": "0", **WELLS}, "hypothesis|not bounded below"),
    "a hypothesis at all points that fails far away": (
        DOMINATED + 'statement = "objective(y) - F_star <= norm2(objective_grad(y))/(2*mu)"',
        {"values": {"y": ["1"], "mu": "2"}, "left": "1/2", "right": "1/4"}, "not bounded below"),
    "a hypothesis at all points that fails in a well": (
        DOMINATED + 'statement = "objective(y) - F_star <= norm2(objective_grad(y))/(2*mu)"',
        {"values": {"y": ["2"], "mu": "1/2"}, "left": "1", "right": "0", **WELLS}, "hypothesis"),
    "a hypothesis at all points of turned clients": (
        AT_Y + 'assume = ["norm2(v - x_star) >= mu*norm2(objective_grad(v)) for all v"]\nstatement = "mu <= 1"',
        {"sizes": {"dim": 2}, "values": {"y": ["0", "0"], "mu": "2"}, "left": "2", "right": "1", "half_tangent": "1/2"},
        "not bounded below"),
    "a basis each: an optimum by coordinate": (
        OFF, OWN_BASES | AT_0 | {"x_star": ["5/2", "0"], "left": "25/4"}, "optimum"),
    "a basis each: an optimum of clients turned the other way": (
        OFF, OWN_BASES | AT_0 | {"half_tangent": ["0", "-1/2"]}, "optimum"),
    "a basis each: of some clients only": (OFF, OWN_BASES | AT_0 | {"half_tangent": ["1/2"]}, "must have 2 entries"),
    "a basis each: of one client none": (OFF, OWN_BASES | AT_0 | {"half_tangent": [None, "1/2"]}, "a number is a text"),
    "a basis each: of one client several": (OFF, OWN_BASES | AT_0 | {"half_tangent": ["0", ["1/2"]]}, "must be a number"),
    "a basis each: with pieces": (OFF, OWN_BASES | AT_0 | {"pieces": [[[], []]] * 2}, "are quadratic"),
    "a basis each: in one dimension": (
        AT_Y + 'statement = "norm2(y) <= 0"',
        {"sizes": TWO, "values": {"y": ["1"]}, "half_tangent": ["0", "1/2"], "left": "1"}, "."),
    "a basis each: a curvature that one client has not": (
        AT_Y + 'assume = ["mu_client[k] >= mu for each k"]\nstatement = "mu <= 1"',
        OWN_BASES | AT_0 | {"values": {"y": ["0", "0"], "mu": "2"}, "left": "2", "right": "1"}, "hypothesis"),
    "a basis each: a smoothness of the objective by coordinate": (
        STEEP % SLOPES, OWN_BASES | {"values": {"y": ["0", "0"], "mu": "3703/1000"}, "left": "3703/1000", "right": "1"},
        "not bounded below"),
    "a basis each: a convexity of the objective": (
        CONVEX % SLOPES, OWN_BASES | {"values": {"y": ["0", "0"], "mu": "1297/1000"}, "left": "1297/1000", "right": "1"},
        "not bounded below"),
    "a basis each: a smoothness of each client": (
        EACH, OWN_BASES | {"values": {"y": ["0", "0"], "mu": "5"}, "left": "5", "right": "1"}, "not bounded below"),
    "a basis each: a smoothness of the objective by name": (
        AT_Y + 'assume = ["L_objective <= mu"]\nstatement = "mu <= 1"',
        OWN_BASES | {"values": {"y": ["0", "0"], "mu": "4"}, "left": "4", "right": "1"}, "no L_objective is known"),
    "a basis each: a distance at all points": (
        AT_Y + 'assume = ["sigma_g <= mu"]\nstatement = "mu <= 1"',
        OWN_BASES | {"values": {"y": ["0", "0"], "mu": "4", "sigma_g": "4"}, "left": "4", "right": "1"}, "no bound"),
    "half a layer": (
        AT_Y + 'statement = "norm2(layer_part(0, y)) + norm2(layer_part(1, y)) >= 1 - clients"',
        {"values": {"y": ["1"]}, "sizes": {"layers": 2}, "layer_sizes": ["1/2", "1/2"], "left": "0", "right": "0"},
        "whole numbers"),
    "a hypothesis at all points without its points": (
        DOMINATED + 'statement = "objective(y) - F_star <= norm2(objective_grad(y))/(2*mu)"',
        {"values": {"y": ["1"], "mu": "2", "v": ["0"]}, "left": "1/2", "right": "1/4"}, "values .*'v'"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_refused(name, tmp_path):
    text, changes, words = FORGERIES[name]
    claim = claims_of(text, tmp_path)
    result = check(written(claim, **changes), claim)
    assert not result.accepted and re.search(words, result.reason), result.reason


def test_no_free_number_and_no_definition_has_the_name_of_a_word(tmp_path):
    """An index that depends on chance would be read as an argument: E[sampled[0, 0]] is a number of two, not a mean."""
    claim = claims_of('setting = "run"\nvariables = {y = "real"}\nstatement = "y <= 0"', tmp_path)
    for part, entry in (("free", []), ("definitions", {"indices": [], "formula": 0})):
        for name in ("E", "F", "root", "infimum", "E_unused", "x_round", "sampled"):
            data = written(claim, values={"y": "1"}, left="1")
            assert replay_alone(data).accepted
            data[part][name] = entry
            assert f"{name} may not be" in replay_alone(data).reason


#: false claim -> (its fields, a counterexample): what the forgeries change is accepted where it is honest
HONEST = {
    "a number that exists: its own condition": (
        A_NUMBER + 'conditions = ["2*c >= 1"]\nstatement = "a + c <= 1"',
        {"values": {"a": "5", "n": "1"}, "left": "6", "right": "1", "subdivision": ["0", "1"]}),
    "a number that exists: steps that are in proportion to it": (
        STEPS % ("(0, 1]", "c/L", "1/4*"),
        {"values": BY_STEPS | {"a": "0", "L": "10"}, "left": "81/100", "right": "1/4", "subdivision": ["0", "1"]}),
    "the second client": (
        AT_Y + 'statement = "F(k, y) <= F(0, y) for k in 0..clients-1"',
        {"sizes": TWO, "values": {"y": ["0"]}, "offset": ["0", "1"], "left": "1", "right": "0"}),
    "all participants": (
        'statement = "Sum(sampled[r, k], (k, 0, clients-1)) <= participants/2 for r in 0..rounds-1"',
        {"sizes": TWO, "left": "2", "right": "1"}),
    "a domination": (
        DOMINATED + 'statement = "objective(y) - F_star <= norm2(objective_grad(y))/(3*mu)"',
        {"values": {"y": ["1"], "mu": "1"}, "left": "1/2", "right": "1/3"}),
    "clients with pieces of different numbers": (
        AT_Y + 'statement = "F(k, y) <= F(0, y) for k in 0..clients-1"',
        {"sizes": TWO, "values": {"y": ["0"]}, "offset": ["0", "1"], "left": "1", "right": "0",
         "pieces": [[[]], [[["1", "0", "1"], ["1", "0", "2"]]]]}),
    "a free client, as text": (
        'free_clients = true\nequal_weights = false\nstatement = "client_weight[0] <= client_weight[1]"',
        {"sizes": {"clients": 2}, "left": "1", "right": "1/2", "client_weight": ["1", "1/2"], "priority": [1, "0"]}),
    "a basis each": (OFF, OWN_BASES | AT_0),
    "a basis each: noise": (
        'statement = "E(dot(x_round[1] - E(x_round[1]), x_star)**2) <= 0"',  # noise along (3, 4)/5
        OWN_BASES | {"start_offset": ["0", "0"], "noise": [[], [["1/2", ["1", "0"]], ["1/2", ["-1", "0"]]]],
                     "left": "529/2304", "right": "0"}),
    "a basis each: a smoothness of the objective": (
        STEEP % SLOPES, OWN_BASES | {"values": {"y": ["0", "0"], "mu": "3705/1000"}, "left": "741/200", "right": "1"}),
    "a basis each: a convexity of the objective": (
        CONVEX % SLOPES, OWN_BASES | {"values": {"y": ["0", "0"], "mu": "1295/1000"}, "left": "259/200", "right": "1"}),
    "a basis each: a smoothness of each client": (
        EACH, OWN_BASES | {"values": {"y": ["0", "0"], "mu": "6"}, "left": "6", "right": "1"}),
    "a turned domination": (
        AT_Y + 'assume = ["norm2(v - x_star) >= mu*norm2(objective_grad(v)) for all v"]\nstatement = "mu <= 1/2"',
        {"sizes": {"dim": 2}, "values": {"y": ["0", "0"], "mu": "1"}, "left": "1", "right": "1/2", "half_tangent": "1/2"}),
}


@pytest.mark.parametrize("name", HONEST)
def test_what_is_forged_is_honest_elsewhere(name, tmp_path):
    """The engine reads the same instance."""
    text, changes = HONEST[name]
    claim = claims_of(text, tmp_path)
    data = written(claim, **changes)
    result = check(data, claim)
    assert result.accepted, result.reason
    assert refutes(data, claim)


# growth ----------------------------------------------------------------------------------------------------------------
def grown(claim, along, sizes, ratio, values):
    members = []
    for size in map(Fraction, sizes):
        left = ratio(size)
        constant = left * Fraction(999, 1000)
        given = {name: str(value) for name, value in values(size).items()}
        members.append({"size": str(size), "constant": str(constant), "certificate": written(
            with_constant(claim, constant), values=given, left=str(left), right=str(constant))})
    uses = claim.constants_may_use
    return {"format": GROWTH, "claim": claim.id, "reading": claim.reading, "along": along, "members": members,
            "constants_may_use": None if uses is None else list(uses)}


NUMBERS = 'setting = "algebra"\nvariables = {a = "positive", b = "positive", C = "hidden"}\n'
#: forgery -> (fields of a true claim, along, sizes, left side by size, values by size, words of the refusal)
GROWTHS = {
    "it saturates beyond what the members show": (
        NUMBERS + 'limits = {a = "oo"}\nstatement = "a/(1 + a/1000000) <= C"', "a", [2**n for n in range(6)],
        lambda s: s / (1 + s / 10**6), lambda s: {"a": s, "b": 1}, "at least 1073741824"),
    "it saturates where the members begin": (
        NUMBERS + 'limits = {a = "oo"}\nstatement = "a/(1 + a) <= C"', "a", [Fraction(1, 2**n) for n in range(12, 6, -1)],
        lambda s: s / (1 + s), lambda s: {"a": s, "b": 1}, "."),
    "along a number that has no limit": (
        NUMBERS + 'limits = {a = "oo"}\nstatement = "b <= C"', "b", [2**n for n in range(6)],
        lambda s: s, lambda s: {"a": 1, "b": s}, "limit"),
    "against the limit": (
        NUMBERS + 'limits = {a = 0}\nstatement = "a/b <= C"', "a", [2**n for n in range(6)],
        lambda s: s, lambda s: {"a": s, "b": 1}, "."),
}


@pytest.mark.parametrize("name", GROWTHS)
def test_a_forged_growth_is_refused(name, tmp_path):
    text, along, sizes, ratio, values, words = GROWTHS[name]
    claim = claims_of(text, tmp_path)
    result = check_growth(grown(claim, along, sizes, ratio, values), claim)
    assert not result.accepted and re.search(words, result.reason), result.reason


def test_an_honest_growth_is_accepted(tmp_path):
    claim = claims_of(NUMBERS + 'limits = {a = "oo"}\nstatement = "a/b <= C"', tmp_path)
    data = grown(claim, "a", [4**n for n in range(20)], lambda s: s, lambda s: {"a": s, "b": 1})
    result = check_growth(data, claim)
    assert result.accepted, result.reason
