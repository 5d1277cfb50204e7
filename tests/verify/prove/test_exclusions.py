"""Hypotheses about numbers that exclude each other have a certificate; neighbours that some instance meets have none."""

import pytest

from bounds.registry.user_claims import load_claims
from verify.checker import contradiction as checker
from verify.checker.operators import replayed
from verify.exact.statement import statement_of
from verify.prove.contradictions import contradiction, needed_parts
from verify.referee.decide import Settings, decide
from verify.search.budget import BUDGETS
from verify.search.search import search

BOUNDED = ["L_client[k] <= L for each k", "mu_client[k] >= mu for each k"]
OTHERS = ["L_client[k] <= 1 for k in 1..clients-1", "mu_client[k] >= 2 for k in 1..clients-1"]
GROWTH = ["a[i+1] >= a[i] + 1 for i in 0..n-1", "a[n] <= n/2"]
STEPS = ["eta_l[t] >= 2/mu for each t", "eta_l[t] <= 1/L for each t"]
DISTINCT, REPEATED = 'sampling = "without-replacement"', 'sampling = "with-replacement"'
FREE, UNEQUAL = "free_clients = true", "equal_weights = false"
POINT = 'setting = "point"\nvariables = {w = "vector"}'
COUPLED = 'data_sets = "any"'
SAMPLES = "norm2(x_round[0] - twin_x_round[0]) <= 1"


def algebra(**domains):
    """The fields of a claim about variables of these domains."""
    return 'setting = "algebra"\nvariables = {' + ", ".join(f'{name} = "{domain}"' for name, domain in domains.items()) + "}"


VECTORS = algebra(a="vector", b="vector", c="vector")
UNIT = ["norm2(a) == 1", "norm2(b) == 1", "norm2(c) == 1"]

#: (fields, conditions that exclude each other, fields of the neighbour, conditions that do not)
ROWS = {
    # curvatures
    "bounds": ("", [*BOUNDED, "L < mu"], "", [*BOUNDED, "L <= mu"]),
    "bounds the other way": ("", [*BOUNDED, "L <= mu/2"], "", [
        "L_client[k] >= L for each k", "mu_client[k] <= mu for each k", "L <= mu/2"]),
    "bounds exchanged": ("", [*BOUNDED, "L <= mu/2"], "", [
        "L_client[k] <= mu for each k", "mu_client[k] >= L for each k", "L <= mu/2"]),
    "bounds of points": (POINT, [*BOUNDED, "L <= mu/2"], POINT, [*BOUNDED, "L <= mu"]),
    "bounds of samples": (COUPLED, [*BOUNDED, "L < mu"], COUPLED, [*BOUNDED, "L <= mu"]),
    "one client": ("", ["L_client[0] <= 1", "mu_client[0] >= 2", "clients >= 2"], "", [
        "L_client[1] <= 1", "mu_client[0] >= 2", "clients >= 2"]),
    "other clients": ("", [*OTHERS, "clients >= 2"], "", [*OTHERS, "clients >= 1"]),
    "the objective": ("", ["mu_objective >= 2", "L_objective <= 1"], FREE, [
        "mu_client[clients-1] >= 2", "L_objective <= 1"]),
    "below 0": ("", ["L_client[k] <= -1 for each k"], "", ["mu_client[k] <= -1 for each k"]),
    # steps
    "steps": ("", [*BOUNDED, *STEPS], "", [*BOUNDED, "eta_l[t] >= 1/mu for each t", STEPS[1]]),
    "steps from the second on": ("", [*BOUNDED, *STEPS], "", [
        *BOUNDED, "eta_l[t] >= 2/mu for t in 1..iterations-1", STEPS[1]]),
    "other steps": ("", [*BOUNDED, *STEPS, "iterations >= 2"], "", [
        *BOUNDED, "eta_l[0] >= 2/mu", "eta_l[t] <= 1/L for t in 1..iterations-1", "iterations >= 2"]),
    # sizes, weights and noise
    "participants": (DISTINCT, ["participants >= clients + 1"], REPEATED, ["participants >= clients + 1"]),
    "all participants": (DISTINCT, ["participants >= clients + 1/2"], DISTINCT, ["participants >= clients"]),
    "full participation": ("", ["participants <= clients - 1"], FREE, ["participants <= clients - 1"]),
    "iterations": ("", ["iterations <= rounds - 1"], "", ["iterations <= rounds"]),
    "an odd number of iterations": ("", ["local_steps == 2", "iterations == 7"], "", [
        "local_steps == 2", "iterations == 6"]),
    "small weights": (UNEQUAL, ["client_weight[k] <= 1/(2*clients) for each k"], UNEQUAL, [
        "client_weight[k] <= 1/clients for each k"]),
    "large weights": (UNEQUAL, ["client_weight[k] >= 2/clients for each k"], f"{FREE}\n{UNEQUAL}", [
        "client_weight[k] >= 2/clients for each k"]),
    "equal weights": ("", ["client_weight[0] >= 1/2", "clients >= 3"], UNEQUAL, ["client_weight[0] >= 1/2", "clients >= 3"]),
    "noise": ("", ["sigma_sq_client[k] >= 1 for each k", "sigma_sq_client[k] <= 1/2 for k in 0..0"], "", [
        "sigma_sq_client[k] >= 1 for k in 1..clients-1", "sigma_sq_client[k] <= 1/2 for k in 0..0"]),
    # whole numbers
    "a gap": (algebra(n="integer"), ["n >= 3.2", "n <= 3.8"], algebra(n="integer"), ["n >= 3.2", "n <= 4"]),
    "a gap of reals": (algebra(n="integer"), ["n >= 3.2", "n <= 3.8"], algebra(n="positive"), ["n >= 3.2", "n <= 3.8"]),
    "in between": (algebra(n="integer", m="integer"), ["m < n", "n < m + 1"], algebra(n="real", m="integer"), [
        "m < n", "n < m + 1"]),
    "odd and even": (algebra(n="integer", m="integer"), ["4*n == 6*m + 3"], algebra(n="integer", m="integer"), [
        "4*n == 6*m + 2"]),
    # vectors
    "a large inner product": (VECTORS, ["norm2(a) <= 1", "norm2(b) <= 4", "dot(a, b) >= 21/10"], VECTORS, [
        "norm2(a) <= 1", "norm2(b) <= 4", "dot(a, b) >= 0"]),
    "a very negative one": (VECTORS, ["norm2(a) == 1", "norm2(b) <= 2", "dot(a, b) <= -3/2"], VECTORS, [
        "norm2(a) == 1", "norm2(b) <= 3", "dot(a, b) <= -3/2"]),
    "three obtuse ones": (VECTORS, [*UNIT, "dot(a, b) <= -3/5", "dot(a, c) <= -3/5", "dot(b, c) <= -3/5"], VECTORS, [
        *UNIT, "dot(a, b) <= -3/5", "dot(a, c) <= -3/5", "dot(b, c) >= -3/5"]),
    # entries
    "a simplex": (algebra(n="integer", p="simplex[n]"), ["p[i] <= 1/(n + 1) for i in 0..n-1"],
                  algebra(n="integer", p="simplex[n]"), ["p[i] <= 1/n for i in 0..n-1"]),
    "most of a simplex": (algebra(n="integer", p="simplex[n]"), ["p[i] <= 1/(n + 1) for i in 0..n-1"],
                          algebra(n="integer", p="simplex[n]"), ["p[i] <= 1/(n + 1) for i in 1..n-1"]),
    "growth": (algebra(n="integer", a="nonnegative[n+1]"), GROWTH,
               algebra(n="integer", a="nonnegative[n+1]"), [GROWTH[0], "a[n] <= n"]),
    "growth of nothing": (algebra(n="integer", a="nonnegative[n+1]"), GROWTH,
                          algebra(n="integer from 0", a="nonnegative[n+1]"), GROWTH),
    "growth from below 0": (algebra(n="integer", a="nonnegative[n+1]"), GROWTH, algebra(n="integer", a="real[n+1]"), GROWTH),
    "halves": (algebra(n="integer from 3", a="nonnegative[n]"), [
        "a[i+1] <= a[i]/2 for i in 0..n-2", "a[0] <= 1", "a[n-1] >= 1/2"], algebra(n="integer from 2", a="nonnegative[n]"), [
        "a[i+1] <= a[i]/2 for i in 0..n-2", "a[0] <= 1", "a[n-1] >= 1/2"]),
    "a fixed point": (algebra(n="integer", a="real[n+1]"), [
        "a[i+1] <= a[i]/2 + 1 for i in 0..n-1", "a[0] <= 2", "a[n] >= 3"], algebra(n="integer", a="real[n+1]"), [
        "a[i+1] <= a[i]/2 + 1 for i in 0..n-1", "a[0] <= 2", "a[n] >= 2"]),
    "turned signs": (algebra(n="integer from 2", a="nonnegative[n+1]"), [
        "a[i+1] <= a[i]/2 for i in 0..n-1", "a[0] <= 1", "a[n] >= 2"], algebra(n="integer from 2", a="real[n+1]"), [
        "a[i+1] <= 0 - a[i]/2 for i in 0..n-1", "a[0] <= 1", "a[n] >= 2"]),
    # functions
    "a logarithm": (algebra(q="nonnegative"), ["log(q) >= 1", "q <= 2"], algebra(q="nonnegative"), [
        "log(q) >= 1", "q <= 3"]),
    "an exponential": (algebra(q="real"), ["exp(q) <= q"], algebra(q="real"), ["exp(q) <= q + 2"]),
    "a root": (algebra(q="real"), ["sqrt(q) <= 1", "q >= 2"], algebra(q="real"), ["sqrt(q) <= 2", "q >= 2"]),
    "lengths": (algebra(a="vector", b="vector"), ["norm(a + b) > norm(a) + norm(b)"], algebra(a="vector", b="vector"), [
        "norm(a + b) >= norm(a) + norm(b)"]),
    "products": (algebra(a="vector", b="vector"), ["norm(a) <= 1", "norm(b) <= 1", "dot(a, b) >= 2"],
                 algebra(a="vector", b="vector"), ["norm(a) <= 1", "norm(b) <= 3", "dot(a, b) >= 1/4"]),
}


def claim_of(folder, fields, conditions):
    statement = "norm(a) >= -1" if "vector" in fields and "algebra" in fields else (
        "1 <= 2" if "algebra" in fields else SAMPLES if fields == COUPLED else "norm2(w) >= 0" if fields == POINT else
        "E(norm2(x_round[1])) >= 0")
    text = f'[[claim]]\nid = "mine/one"\n{fields}\nconditions = {conditions!r}\nstatement = "{statement}"\n'
    (folder / "one.toml").write_text(text, encoding="utf-8")
    (claim,) = load_claims(folder / "one.toml")
    return claim


@pytest.mark.parametrize("row", ROWS)
def test_a_proof_of_hypotheses_that_exclude_each_other_is_none_of_neighbours(row, tmp_path):
    fields, conditions, *neighbour = ROWS[row]
    data = contradiction(claim_of(tmp_path, fields, conditions))
    assert data is not None and needed_parts(data).hypotheses and not needed_parts(data).statement
    near = claim_of(tmp_path, *neighbour)
    assert search(near, BUDGETS["quick"]).met > 0
    accepted, reason, *_ = replayed(checker.check, data | statement_of(near))
    assert not accepted, reason


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS)
def test_neighbours_have_no_certificate(row, tmp_path):
    assert contradiction(claim_of(tmp_path, *ROWS[row][2:])) is None


def test_the_evidence_names_the_hypotheses_that_are_needed(tmp_path):
    claim = claim_of(tmp_path, algebra(n="integer", q="real"), ["q <= 1", "n >= 3.2", "n <= 3.8"])
    verdict = decide(claim, Settings())
    assert verdict.verdict == "ill-posed"
    assert verdict.details["conflict"] == ["n ≥ 16/5", "n ≤ 19/5", "n is a whole number"]
