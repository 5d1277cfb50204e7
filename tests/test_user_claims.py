"""Claims of one's own: from TOML, YAML and Python files, refused with the line and the symbol, refereed like any other."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import pytest
import sympy as sp

from bounds import language as words
from bounds import user_claims
from bounds.claim import Claim
from bounds.registry import all_claims
from bounds.user_claims import PATHS, load_claims
from verify.command_line import choose_claims

GOOD = """
[[claim]]
id = "mine/theorem-1"
method = "scaffold"
assume = ["L_client[k] <= L for k in 0..clients-1", "mu_client[k] >= mu for k in 0..clients-1"]
conditions = ["eta_l[t] <= a/L for t in 0..iterations-1", "a <= 1"]
statement = "E(norm2(x_round[r] - x_star)) <= C*norm2(server_variate[r]) + L for r in 0..rounds"
variables = {a = "positive", C = "positive"}

[[claim]]
id = "mine/gradient-descent"
kind = "control"
assume = ["L_client[k] <= L for k in 0..clients-1", "mu_client[k] >= 0 for k in 0..clients-1",
          "sigma_sq_client[k] <= 0 for k in 0..clients-1"]
conditions = ["local_steps == 1", "eta_l[t] <= 1/L for t in 0..iterations-1"]
statement = "norm2(x_round[r + 1] - x_star) <= norm2(x_round[r] - x_star) for r in 0..rounds-1"

[[claim]]
id = "mine/gradient-descent@too-large"
kind = "control"
assume = ["L_client[k] <= L for k in 0..clients-1", "sigma_sq_client[k] <= 0 for k in 0..clients-1"]
conditions = ["eta_l[t] <= 3/L for t in 0..iterations-1"]
statement = "norm2(x_round[r + 1] - x_star) <= norm2(x_round[r] - x_star) for r in 0..rounds-1"
"""


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Writes a claim file; forgets it afterwards."""
    monkeypatch.setenv(PATHS, "")

    def write(text, name="mine.toml"):
        path = tmp_path / name
        path.write_text(text)
        return path

    yield write
    all_claims.cache_clear()


def test_formulas_are_read_as_written(written):
    first, *_ = load_claims(written(GOOD))
    assert first.procedure.base == "scaffold" and [v.name for v in first.variables] == ["a", "C"]
    assert str(first.statement.left) == "E(norm2(-x_star + x_round[r]))"
    assert str(first.statement.right) == "C*norm2(server_variate[r]) + L"
    assert str(first.statement.over) == "((r, 0, rounds),)"
    assert [str(c.right) for c in first.conditions] == ["a/L", "1"]
    assert [str(a.conditions[0].left) for a in first.assumptions] == ["L_client[k]", "mu_client[k]"]


@pytest.mark.parametrize(("old", "new", "message"), [
    ("x_star)", "x_start)", "line 7: unknown symbol 'x_start'"),
    ("a <= 1", "a < 1", "line 6: a condition needs <=, >= or ==; got 'a < 1'"),
    ("a <= 1", "a <= (1", "line 6: cannot read '(1'"),
    ('method = "scaffold"', 'methods = "scaffold"', "line 4: unknown field 'methods'; allowed: assume"),
    ('"mine/theorem-1"', '"theorem-1"', "line 3: an id is <paper>/<block>"),
    ('a = "positive"', 'a = "big"', "a: unknown domain 'big'; allowed: positive"),
    ('kind = "control"', 'kind = "truth"', "unknown kind 'truth'; allowed: theorem"),
    ('C = "positive"}', 'C = "hidden"}\nlimits = {rounds = 1}', "line 9: rounds goes to \"oo\" or to 0; got 1"),
    ('C = "positive"}', 'C = "hidden"}\nlimits = {round = "oo"}', "line 9: unknown symbol 'round'"),
    ("[[claim]]", "[[claims]]", "a claim file consists of [[claim]] tables; got claims"),
    ('id = "mine/theorem-1"', "id = mine", "at line 3"),
])
def test_errors_name_the_line_and_the_symbol(written, old, new, message):
    with pytest.raises(ValueError, match=r"mine\.toml") as error:
        load_claims(written(GOOD.replace(old, new)))
    assert message in str(error.value)


YAML = """
claim:
  - id: mine/theorem-1
    method: scaffold
    assume:
      - L_client[k] <= L for k in 0..clients-1
      - mu_client[k] >= mu for k in 0..clients-1
    conditions: [eta_l[t] <= a/L for t in 0..iterations-1, a <= 1]
    statement: >-
      E(norm2(x_round[r] - x_star)) <= C*norm2(server_variate[r]) + L for r in 0..rounds
    variables: {a: positive, C: positive}
""".replace("[eta_l[t]", "['eta_l[t]").replace("-1, a <= 1]", "-1', a <= 1]")


@pytest.mark.parametrize("name", ["mine.yaml", "mine.yml"])
def test_yaml_says_the_same_as_toml(written, name):
    first, *_ = load_claims(written(GOOD))
    (same,) = load_claims(written(YAML, name))
    assert replace(same, source=first.source) == first
    text = YAML.replace("C: positive}", "C: hidden}\n    limits: {rounds: oo, L: 0}\n    constants_may_use: []")
    (order,) = load_claims(written(text, name))
    assert order.limits == ((words.rounds, sp.oo), (words.L, 0)) and order.constants_may_use == ()


@pytest.mark.parametrize(("old", "new", "message"), [
    ("x_star)", "x_start)", "line 10: unknown symbol 'x_start'"),
    ("a <= 1]", "a < 1]", "line 8: a condition needs <=, >= or ==; got 'a < 1'"),
    ("method:", "methods:", "line 4: unknown field 'methods'; allowed: assume"),
    ("mine/theorem-1", "theorem-1", "line 3: an id is <paper>/<block>"),
    ("a: positive", "a: big", "a: unknown domain 'big'; allowed: positive"),
    ("{a: positive, C: positive}", "[a, C]", "line 11: 'variables' is a table; got ['a', 'C']"),
    ("    statement: >-\n      ", "    statement: ", "line 9: mapping values are not allowed here"),
    ("claim:", "claims:", "a claim file consists of a list under 'claim:'; got claims"),
    ("    method: scaffold", "    method: scaffold\n    method: fedavg", "line 5: 'method' stands twice in one table"),
    (YAML, "- 1", "a claim file consists of a list under 'claim:'; got list"),
    (YAML, "", "a claim file consists of a list under 'claim:'; got nothing"),
    ("  - id", "\t- id", "line 3: found character '\\t' that cannot start any token"),
])
def test_errors_in_yaml_name_the_line_and_the_symbol(written, old, new, message):
    text = YAML.replace(old, new).replace("statement: E(norm2", "statement: E: (norm2")
    with pytest.raises(ValueError, match=r"mine\.yaml") as error:
        load_claims(written(text, "mine.yaml"))
    assert message in str(error.value)


@pytest.mark.parametrize(("old", "new", "message"), [
    ('conditions = ["eta_l[t] <= a/L for t in 0..iterations-1", "a <= 1"]', 'conditions = "a <= 1"',
     "line 6: 'conditions' is a list of texts; got 'a <= 1'"),
    ('method = "scaffold"', 'method = ["scaffold"]', "line 4: 'method' is text; got ['scaffold']"),
    ('method = "scaffold"', 'equal_weights = "yes"', "line 4: 'equal_weights' is true or false; got 'yes'"),
])
def test_fields_of_another_shape_are_refused(written, old, new, message):
    with pytest.raises(ValueError, match=r"mine\.toml") as error:
        load_claims(written(GOOD.replace(old, new)))
    assert message in str(error.value)


def test_yaml_without_its_reader_says_what_to_install(written, monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(ValueError, match=r"mine\.yaml: YAML needs PyYAML \(pip install 'fedtheory\[yaml\]'\)"):
        load_claims(written(YAML, "mine.yaml"))


def test_orders_say_along_what_they_are_meant(written):
    more = 'limits = {rounds = "oo", L = 0}\nsteps = ["mine/gradient-descent"]'
    text = GOOD.replace('C = "positive"}', 'C = "hidden"}\n' + more)
    order, *_ = load_claims(written(text))
    assert not order.explicit and order.limits == ((words.rounds, sp.oo), (words.L, 0))
    assert order.constants_may_use is None and order.steps == ("mine/gradient-descent",)
    order, *_ = load_claims(written(text.replace("\nsteps =", "\nconstants_may_use = []\nsteps =")))
    assert order.constants_may_use == ()


def test_python_files(written):
    text = """
from bounds.claim import Claim, Condition
from bounds.language import L, mu
CLAIMS = (Claim("mine/order", "1", "lemma", "algebra", Condition(mu, "<=", L), source="me"),)
"""
    (claim,) = load_claims(written(text, "mine.py"))
    assert isinstance(claim, Claim) and claim.id == "mine/order"
    with pytest.raises(ValueError, match=r"mine\.py, line 3: ImportError"):
        load_claims(written(text.replace("L, mu", "L, nu"), "mine.py"))
    with pytest.raises(ValueError, match="must define CLAIMS, a tuple of Claim; got NoneType"):
        load_claims(written("x = 1", "mine.py"))
    with pytest.raises(ValueError, match=r"read from \.py, \.toml, \.yaml and \.yml files; got 'mine\.txt'"):
        load_claims(written("x", "mine.txt"))
    with pytest.raises(ValueError, match=r"read from \.py, \.toml, \.yaml and \.yml files; got 'mine\.json'"):
        choose_claims([str(written("x", "mine.json"))], None)
    with pytest.raises(ValueError, match="cannot read"):
        load_claims("nowhere.toml")


def test_a_changed_python_file_is_read_anew(written, monkeypatch):
    monkeypatch.setattr("sys.dont_write_bytecode", False)  # compiled files tell apart neither seconds nor equal lengths
    text = """
from bounds.claim import Claim, Condition
from bounds.language import L, mu
CLAIMS = (Claim("mine/order", "1", "lemma", "algebra", Condition(mu, "<=", L), source="me"),)
"""
    for name in ("order", "other"):
        (claim,) = load_claims(written(text.replace("order", name), "mine.py"))
        assert claim.id == f"mine/{name}"


def test_the_referee_decides_them_like_any_other(written, run, tmp_path):
    path = written(GOOD.partition("[[claim]]\n")[0] + "[[claim]]" + GOOD.split("[[claim]]", 2)[2])
    status, said, _ = run("verify", path, "--out", tmp_path / "report")
    records = {r["id"]: r for r in json.loads((tmp_path / "report" / "verdicts.json").read_text())}
    assert status == 1 and len(records) == 2
    assert records["mine/gradient-descent"]["verdict"] == "consistent"
    assert records["mine/gradient-descent@too-large"]["verdict"] == "refuted" and "mine/gradient" in said


def test_packages_may_bring_claims(monkeypatch, written):
    class Point:
        @staticmethod
        def load():
            return load_claims(written(GOOD))

    monkeypatch.setattr(user_claims, "entry_points", lambda group: [Point] if group == "fedtheory.claims" else [])
    all_claims.cache_clear()
    assert "mine/theorem-1" in all_claims()
