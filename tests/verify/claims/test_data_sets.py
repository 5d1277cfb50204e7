"""A file says whether a claim about samples is meant for every data set or in the mean over them; all read it alike."""

import pytest

from bounds.printing.render import show
from bounds.registry.user_claims import WrongClaims, load_claims
from verify.exact.statement import statement_of
from verify.lint.lint import lint
from verify.referee.decide import Settings, decide

GAP = "norm(x_round[rounds] - twin_x_round[rounds])"
FIELDS = """
assume = ["L_client[k] <= L for k in 0..clients-1", "mu_client[k] >= 0 for k in 0..clients-1",
  "norm(f_grad(u)) <= G_lip for all u"]
conditions = ["clients == 1", "eta_l[t] <= 2/L for t in 0..iterations-1"]
"""
ANY, RANDOM = 'data_sets = "any"\n', 'data_sets = "random"\n'


def read(tmp_path, statement, more=""):
    path = tmp_path / "mine.toml"
    path.write_text(f"[[claim]]\nid = 'mine/stability'\nstatement = '{statement}'\n{more}{FIELDS}")
    (claim,) = load_claims(path)
    return claim


def stability(mean, factor):
    return f"{mean}({GAP}) <= {factor}*G_lip/samples*Sum(eta_l[t], (t, 0, iterations-1))"


#: the mean, the field, the factor -> the verdict. Gradients of two independent samples are at most 2 G apart, in the mean
#: sqrt(2) G: uniform stability (Hardt, Recht, Singer 2016, Theorem 3.8) needs 2.
VERDICTS = {
    ("E", ANY, "2"): "consistent", ("E", ANY, "sqrt(2)"): "refuted", ("E_data", ANY, "sqrt(2)"): "consistent",
    ("E", RANDOM, "sqrt(2)"): "consistent", ("E", "", "sqrt(2)"): "consistent", ("E_data", "", "sqrt(2)"): "consistent",
    ("E_data", ANY, "1/3"): "refuted", ("E", RANDOM, "1/3"): "refuted", ("E", "", "1/3"): "refuted",
}


@pytest.mark.parametrize("row", VERDICTS, ids=str)
def test_the_search_and_the_checker_judge_what_is_meant(row, tmp_path):
    mean, field, factor = row
    claim = read(tmp_path, stability(mean, factor), field)
    verdict = decide(claim, Settings(federations=False))
    assert verdict.verdict == VERDICTS[row], verdict.evidence
    assert statement_of(claim)["procedure"]["replaced"] == ("any" if field == ANY else "random")


@pytest.mark.parametrize(("mean", "field", "open_"), [
    ("E", "", True), ("E", ANY, False), ("E", RANDOM, False), ("E_data", "", False), ("", "", False)])
def test_lint_says_what_a_mean_is_over_where_the_claim_does_not(mean, field, open_, tmp_path):
    found = [f for f in lint(read(tmp_path, stability(mean, 2), field)) if f.check == "expectations"]
    assert len(found) == open_ and all('data_sets = "any"' in f.text and 'data_sets = "random"' in f.text for f in found)


def test_verify_says_it_too(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    read(tmp_path, stability("E", 2))
    _, _, noted = run("verify", "mine.toml", "--budget", "quick")
    assert "E averages over the data sets too in mine/stability" in noted


@pytest.mark.parametrize(("field", "words"), [(ANY, "on every data set and each of its neighbours"),
                                              (RANDOM, "𝔼 over the data sets and the replaced sample too"),
                                              ("", "𝔼 over the data sets and the replaced sample too")])
def test_show_says_which(field, words, tmp_path):
    assert words in " ".join(str(show(read(tmp_path, stability("E", 2), field))).split())


@pytest.mark.parametrize(("statement", "more", "message"), [
    ("objective(x_round[1]) >= F_star", ANY, "line 4: only a claim about samples or neighbouring runs has data_sets"),
    (stability("E", 2), 'data_sets = "every"\n', "line 4: unknown data_sets 'every'; allowed: random, any"),
    (stability("E", 2), "data_sets = 1\n", "line 4: 'data_sets' is text; got 1"),
    (f"E_round({GAP}, 0) <= G_lip", "", "line 3: mine/stability: E_round has no meaning in a claim about samples"),
    (f"E_noise({GAP}) <= G_lip", ANY, "line 3: mine/stability: E_noise has no meaning in a claim about samples"),
])
def test_what_has_no_meaning_is_refused_in_one_line(statement, more, message, tmp_path):
    with pytest.raises((ValueError, WrongClaims), match=r"mine\.toml") as error:
        read(tmp_path, statement, more)
    assert message in str(error.value) and "\n" not in str(error.value)
