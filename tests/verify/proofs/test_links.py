"""Links that do not hold are not said to follow, and correct ones are not accused: small files of claims."""

import pytest

from bounds.registry.user_claims import load_claims
from verify.proofs.follows import link

STEP = """
[[claim]]
id = "mine/step"
{shared}
statement = "{step}"

[[claim]]
id = "mine/end"
{shared}
{own}
steps = ["mine/step"]
statement = "{end}"
"""
ALGEBRA = 'setting = "algebra"\n'


def answer(tmp_path, shared, step, end, own="", step_own=""):
    text = STEP.format(shared=shared, step=step, end=end, own=own)
    if step_own:
        text = text.replace("[[claim]]", f"[[claim]]\n{step_own}", 1)
    (tmp_path / "two.toml").write_text(text, encoding="utf-8")
    step, end = load_claims(tmp_path / "two.toml")
    return link(end, [step])


PELL = "(p**2 - 61*m**2 - 1)**2"  # 0 at numbers of nine digits alone
FALSE = {  # what both share, the step, and a conclusion that does not follow
    "a divisor that is 0 once": (
        ALGEBRA + 'variables = {n = "integer", x = "real", y = "vector"}\nconditions = ["(n - 4999)**2*x <= 0"]',
        "(n - 4999)**2*x*norm2(y) <= 0", "x*norm2(y) <= 0"),
    "a divisor that may be 0": (
        ALGEBRA + 'variables = {q = "nonnegative", A = "positive", y = "vector"}', "q*norm2(y) <= q*A", "norm2(y) <= A"),
    "numbers called mu and L": (
        ALGEBRA + 'variables = {mu = "positive", L = "positive"}', "mu + L >= 0", "mu <= L"),
    "numbers called participants and clients": (
        ALGEBRA + 'variables = {a = "positive"}', "a*participants >= 0", "participants <= clients"),
    "participants that are drawn twice": (
        'method = "fedavg"\nsampling = "with-replacement"\nvariables = {a = "positive"}', "a*participants >= 0",
        "participants <= clients"),
    "a range that depends on another index": (
        ALGEBRA + 'variables = {n = "integer", a = "real[n]", b = "real[n]"}',
        "a[j] <= b[i] for i in 0..n-1 for j in 0..i", "a[j] <= b[0] for i in 0..n-2 for j in 0..i"),
    "an index below 0 in an empty sum": (
        ALGEBRA + 'variables = {n = "integer"}', "n >= 1", "Sum(1, (j, 0, i)) <= i + 1 for i in -n..n"),
    "an index below 0 in a maximum": (
        ALGEBRA + 'variables = {n = "integer"}', "n >= 1", "Max(i, 0) <= i for i in -n..n"),
}


@pytest.mark.parametrize("name", FALSE)
def test_what_is_false_is_not_said_to_follow(name, tmp_path):
    assert answer(tmp_path, *FALSE[name]).answer != "follows"


def test_the_loss_at_the_start_has_a_mean_over_random_data(tmp_path):
    found = answer(tmp_path, 'data_sets = "random"\nconditions = ["samples == 2"]', "1 >= 0",
                   "E(F(k, x_round[0])) <= F(k, x_round[0]) for each k")
    assert found.answer == "not checkable" and "about samples" in found.text


@pytest.mark.parametrize(("step_own", "own", "reason"), [
    ('variables = {a = "positive"}', 'variables = {a = "real"}', "admits fewer values of a"),
    ('variables = {a = "real", local_steps = "integer to 1"}', 'variables = {a = "real"}',
     "admits fewer values of local_steps"),
])
def test_a_step_about_fewer_numbers_is_not_used(step_own, own, reason, tmp_path):
    found = answer(tmp_path, 'method = "fedavg"', "a >= 0", "a >= -1", own, step_own)
    assert reason in found.text and found.answer != "follows"


TRUE = {  # what both share, a step, and what follows from it by the meaning of its words
    "a norm": (ALGEBRA + 'variables = {A = "positive", y = "vector"}', "norm1(y) <= A", "norm1(y)**2 <= A**2"),
    "zeros and ones": (ALGEBRA + 'variables = {A = "positive", B = "positive", b = "binary"}', "b*A <= B", "b**2*A <= B"),
    "whole numbers": (ALGEBRA + 'variables = {n = "integer", a = "integer[n]"}', "a[i] <= 3/2 for each i",
                      "a[i] <= 1 for each i"),
    "a floor": (ALGEBRA + 'variables = {n = "integer", a = "real[n]"}', "floor(a[i]) <= 3/2 for each i",
                "floor(a[i]) <= 1 for each i"),
    "the largest entry": (ALGEBRA + 'variables = {n = "integer", A = "positive", a = "nonnegative[n]"}', "Max(a[i], i) <= A",
                          "Max(a[i], i)**2 <= A**2"),
    "the gradient at the optimum": ('method = "fedavg"\nvariables = {A = "positive"}', "A >= norm2(objective_grad(x_star))",
                                    "norm2(objective_grad(x_star)) <= A/2"),
    "the objective's curvature": ('method = "fedavg"\nassume = ["mu_client[k] >= mu for each k"]', "mu >= 0",
                                  "mu <= mu_objective"),
}


@pytest.mark.parametrize("name", TRUE)
def test_what_is_true_by_the_meaning_of_its_words_is_not_accused(name, tmp_path):
    assert answer(tmp_path, *TRUE[name]).answer != "does not follow"
