"""Claims of one's own: from TOML and Python files, refused with the line and the symbol, refereed like any other."""

import json

import pytest
import sympy as sp

from bounds.formulas.well_formed import faults
from bounds.language import operators
from bounds.language.claim import Claim
from bounds.registry import user_claims
from bounds.registry.claims import all_claims, find_claim, forget_files
from bounds.registry.user_claims import PATHS, WrongClaims, load_claims
from tests.messages import contains_in_order
from verify.claims.method import faults_of_method
from verify.cli import shared as command_line
from verify.cli.shared import choose_claims

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
    forget_files()


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
    ("a <= 1", "a != 1", "line 6: …<=, ==, >=, <, >; got 'a != 1'"),
    ("a <= 1", "a <= (1", "line 6: …'(1': '('…at '(1'"),
    ('method = "scaffold"', 'methods = "scaffold"', "line 4: unknown field 'methods', nearest: method; allowed: assume"),
    ('"mine/theorem-1"', '"theorem-1"', "line 3: …<paper>/<block>…got 'theorem-1'"),
    ('a = "positive"', 'a = "big"', "line 8: a: unknown domain 'big'; allowed: positive"),
    ('kind = "control"', 'kind = "truth"', "unknown kind 'truth'; allowed: theorem"),
    ('C = "positive"}', 'C = "hidden"}\nlimits = {rounds = 1}', "line 9: rounds …\"oo\" … 0; got 1"),
    ('C = "positive"}', 'C = "hidden"}\nlimits = {round = "oo"}', "line 9: unknown symbol 'round'"),
    ("[[claim]]", "[[claims]]", "[[claim]] …got claims"),
    ('id = "mine/theorem-1"', "id = mine", ", line 3: "),
])
def test_errors_name_the_line_and_the_symbol(written, old, new, message):
    with pytest.raises(ValueError, match=r"mine\.toml") as error:
        load_claims(written(GOOD.replace(old, new)))
    assert contains_in_order(str(error.value), message)


def test_every_wrong_claim_of_a_file_is_told(written, run):
    """One line for the first slip of each, with the nearest name."""
    names = {"theorem-1": "x_stra", "theorem-2": "x_star", "theorem-3": "x_start"}
    path = written("".join(f'[[claim]]\nid = "mine/{claim}"\nstatement = "norm2(x_round[rounds] - {name}) <= 1"\n'
                           for claim, name in names.items()))
    with pytest.raises(WrongClaims) as error:
        load_claims(path)
    assert [slip.split(" in '")[0].split(".toml, ")[1] for slip in error.value.slips] == [
        "line 3: unknown symbol 'x_stra'", "line 9: unknown symbol 'x_start'"]
    assert all(slip.endswith("nearest: x_star") for slip in error.value.slips)
    status, _, said = run("lint", str(path))
    assert status == 2 and [line.startswith("error: ") for line in said.strip().split("\n")] == [True, True]


@pytest.mark.parametrize(("old", "new", "message"), [
    ('conditions = ["eta_l[t] <= a/L for t in 0..iterations-1", "a <= 1"]', 'conditions = "a <= 1"',
     "line 6: 'conditions' …got 'a <= 1'"),
    ('method = "scaffold"', 'method = ["scaffold"]', "line 4: 'method' …got ['scaffold']"),
    ('method = "scaffold"', 'equal_weights = "yes"', "line 4: 'equal_weights' …got 'yes'"),
])
def test_fields_of_another_shape_are_refused(written, old, new, message):
    with pytest.raises(ValueError, match=r"mine\.toml") as error:
        load_claims(written(GOOD.replace(old, new)))
    assert contains_in_order(str(error.value), message)


def test_orders_say_along_what_they_are_meant(written):
    more = 'limits = {rounds = "oo", L = 0}\nsteps = ["mine/gradient-descent"]'
    text = GOOD.replace('C = "positive"}', 'C = "hidden"}\n' + more)
    order, *_ = load_claims(written(text))
    assert not order.explicit and order.limits == ((operators.rounds, sp.oo), (operators.L, 0))
    assert order.constants_may_use is None and order.steps == ("mine/gradient-descent",)
    order, *_ = load_claims(written(text.replace("\nsteps =", "\nconstants_may_use = []\nsteps =")))
    assert order.constants_may_use == ()


#: conditions that are not what they seem, and what is said
MALFORMED = [
    ("F_star + eta_l <= 3", "eta_l …1 index, …eta_l[t]"),
    ("norm2(x_local[t, k]) <= 3 for k in 0..9", "index t …'for t in a..b'"),
    ("F_star <= t for k in 0..t-1", "index t …'for t in a..b'"),
    ("F_star <= 3 for k in 0..clients-1", "index k …'for k in ...'"),
    ("norm2(x_round[0, 1]) <= 3", "x_round …1 index, …x_round[r]; got 2 in x_round[0, 1]"),
    ("F_star <= included[0]", "included …2 indices, …included[t, k]; got 1 in included[0]"),
    ("norm2(client_variate[0]) <= 3", "client_variate … 2 indices, …client_variate[r, k]; got 1"),
    ("norm2(x_round[L]) <= 3", "L …whole …x_round[L]"),
    ("F_star <= L <= 3", "one of <=, ==, >=, <, >; got 'F_star <= L <= 3'"),
    ("F_star == 3 = 4", "one of <=, ==, >=, <, >; got 'F_star == 3 = 4'"),
    ("F_star <= 1/0", "'1/0': …zero (column 1)"),
    ("F_star <= 0*(1/(2-2))", "'0*(1/(2-2))': …zero (column 4)"),
    ("F_star <= norm2(x_round[0]", "'norm2(x_round[0]': '(' …at '(x_round[0]'"),
    ("F_star <= 3)", "cannot read '3)': unmatched ')' at ')'"),
    ("F_star <= 3 *", "'3 *': …end (column 4)"),
    ("<= 3", "'<= 3' …empty"),
    ("F_star[0] <= 3", "F_star …index; got F_star[0]"),
    ("norm2(x_round(0)) <= 3", "x_round …function; got x_round(0); …x_round[...]"),
    ("x_round[0] <= 3", "vector …number …x_round[0] <= 3"),
    ("x_round[0] <= x_star", "vectors …norm2(a - b) == 0; got x_round[0] <= x_star"),
    ("norm2(x_round[0] - 1) <= 3", "x_round[0] - 1 …vectors …numbers"),
    ("norm2(L) <= 3", "norm2(L) …vector; got …number"),
    ("x_star*x_round[0] <= 3", "x_star*x_round[0] …dot(a, b)"),
    ("sqrt(x_star) <= 3", "sqrt(x_star) …numbers; got …vector"),
    ("F_star^2 <= 3", "'F_star^2': '^' …**"),
    ("0 <= F_star <= 3", "a condition has one relation; write each as a condition of its own"),
    ("<x_star, x_star> <= 3", "an inner product is written dot(a, b)"), ("ln(2) <= 3", "nearest: log"),
    ("E[F_star] <= 3", "E is called with round brackets"), ("kappa <= 3", "write L/mu"),
    ("L.name <= 3", "'L.name': Attribute …(column 2)"),
    ("E <= 3", "'E': E …E(...)"),
]


@pytest.mark.parametrize(("text", "message"), MALFORMED)
@pytest.mark.parametrize("part", ["assume", "conditions", "statement"])
def test_malformed_conditions_are_refused_with_their_line(written, part, text, message):
    line = f'statement = "{text}"' if part == "statement" else f'{part} = ["L <= 1", \n"{text}"]'
    rest = "" if part == "statement" else '\nstatement = "F_star <= 3"'
    with pytest.raises(ValueError, match=rf"mine\.toml, line {3 + (part != 'statement')}: ") as error:
        load_claims(written(f'[[claim]]\nid = "mine/theorem-1"\n{line}{rest}'))
    assert contains_in_order(str(error.value), message)


@pytest.mark.parametrize(("more", "line", "message"), [
    ('method = "foo"', 4, "'foo'…: afedpd, "),
    ("[claim.options]\noption = 1", 5, "fedavg …'option'; allowed: eta_l"),
    ('method = "scaffold"\n[claim.options]\noption = "III"', 6, "option = 'III': unknown option 'III'; allowed: I, II"),
    ('sampling = "without"', 4, "unknown sampling 'without'; allowed: full, with-replacement, without-replacement"),
    ('setting = "runs"', 4, "unknown setting 'runs'; allowed: run, point, algebra"),
    ('[claim.variables]\na = "positive"\nb = 3', 6, "b: …positive, nonnegative, …got 3"),
    ('variables = {"a b" = "positive"}', 4, "'a b' …name"),
])
def test_methods_and_fields_are_refused_with_their_line(written, more, line, message):
    path = written(f'[[claim]]\nid = "mine/theorem-1"\nstatement = "F_star <= 3"\n{more}')
    with pytest.raises(ValueError, match=rf"mine\.toml, line {line}: ") as error:
        choose_claims([str(path)], None)
    assert contains_in_order(str(error.value), message)


def test_ids_that_are_taken_are_refused(written):
    text = '[[claim]]\nid = "mine/a"\nstatement = "F_star <= 3"\n'
    with pytest.raises(ValueError, match=r"mine\.toml, line 2: li2020/theorem-1: .*already"):
        load_claims(written(text.replace("mine/a", "li2020/theorem-1")))
    with pytest.raises(ValueError, match=r"mine\.toml, line 5: mine/a: .*two .*'mine/a'"):
        load_claims(written(text * 2))
    python = """
from bounds.language.claim import Claim, Condition
from bounds.language.operators import F_star, eta_l
CLAIMS = (
    Claim("mine/a", "1", "lemma", "run", Condition(F_star, "<=", 3), source="me"),
    Claim("mine/b", "1", "lemma", "run", Condition(F_star, "<=", 3), (), (Condition(F_star, "<=", eta_l),), source="me"),
)
"""
    with pytest.raises(ValueError, match=r"mine\.py, line 6: mine/b, conditions 1: eta_l .*1 index.*eta_l\[t\]"):
        load_claims(written(python, "mine.py"))
    with pytest.raises(ValueError, match=r"mine\.py, line 5: li2020/theorem-1, id: .*already"):
        load_claims(written(python.replace("mine/a", "li2020/theorem-1"), "mine.py"))


def test_the_line_is_that_of_the_claim_at_fault(written):
    """The same words stand earlier, where they are right."""
    form = '[[claim]]\nid = "mine/{}"\nstatement = "F_star <= a"\nconditions = [\n "a <= 1",\n "a >= 0",\n]\n{}\n'
    text = form.format("one", 'variables = {a = "positive"}') + form.format("two", "")
    with pytest.raises(ValueError, match=r"line 13: unknown symbol 'a' in 'a'"):
        load_claims(written(text))


def test_long_formulas_name_the_line_of_the_symbol(written):
    text = '[[claim]]\nid = "mine/a"\nstatement = """F_star\n  <= L +\n  L_wrong + L"""\n'
    with pytest.raises(ValueError, match=r"line 5: unknown symbol 'L_wrong'"):
        load_claims(written(text))
    (claim,) = load_claims(written(text.replace("L_wrong", "mu")))
    assert claim.statement.right == 2 * operators.L + operators.mu


def test_every_claim_of_a_paper_is_well_formed():
    found = {c.id: [f for f in (*faults(c), *faults_of_method(c)) if not f.harmless] for c in all_claims().values()}
    assert {name: fault for name, fault in found.items() if fault} == {}


@pytest.mark.parametrize("name", ["claim.txt", "claim.json", "claims"])
def test_files_of_other_kinds_are_named(written, run, name):
    path = written("x", name)
    status, _, error = run("lint", path)
    assert status == 2 and f"read from .py and .toml files; got '{name}'" in error
    if "." in name:
        status, _, error = run("lint", name)
        assert status == 2 and f"read from .py and .toml files; got '{name}'" in error


OF_A_FILE = {  # what each command about one claim says of one's own
    ("show",): "mine/gradient-descent   (control)", ("bound", "--side", "left"): "left side",
    ("compare", "classical/gd-distance"): "mine/gradient-descent", ("explain",): "mine/gradient-descent (none, control, ",
    ("chain",): "error: mine/gradient-descent …steps", ("looseness",): "error: mine/gradient-descent …steps",
}


@pytest.mark.parametrize("command", OF_A_FILE, ids=lambda command: command[0])
def test_every_command_takes_a_claim_of_a_file(written, run, command):
    path, said = written(GOOD), OF_A_FILE[command]
    status, out, error = run(command[0], f"{path}:mine/gradient-descent", *command[1:])
    assert contains_in_order(out + error, said) and status == (2 if said.startswith("error: ") else 0)


def test_a_file_of_several_claims_needs_a_name(written, run):
    path = written(GOOD)
    status, _, error = run("show", path)
    assert status == 2 and contains_in_order(error, f"mine.toml … 3 claims; …: {path}:mine/theorem-1, {path}:mine/grad")
    status, _, error = run("show", f"{path}:mine/x")
    assert status == 2 and "no claim 'mine/x' in " in error and f"allowed: {path}:mine/theorem-1" in error
    one = GOOD[: GOOD.index("[[claim]]", 10)].replace("mine/theorem-1", "mine/lone")
    status, out, _ = run("show", written(one, "one.toml"))
    assert status == 0 and out.startswith("mine/lone")


@pytest.mark.parametrize("end", ["", ":li2020/theorem-1"])
def test_a_file_may_be_on_a_drive_that_has_a_letter(end, monkeypatch):
    asked = []
    monkeypatch.setattr(command_line, "choose_claims", lambda files, papers: asked.extend(files) or [claim])
    claim = find_claim("li2020/theorem-1")
    assert command_line.choose_claim(rf"C:\mine.toml{end}") is claim and asked == [rf"C:\mine.toml{end}"]


def test_python_files(written):
    text = """
from bounds.language.claim import Claim, Condition
from bounds.language.operators import L, mu
CLAIMS = (Claim("mine/order", "1", "lemma", "algebra", Condition(mu, "<=", L), source="me"),)
"""
    (claim,) = load_claims(written(text, "mine.py"))
    assert isinstance(claim, Claim) and claim.id == "mine/order"
    with pytest.raises(ValueError, match=r"mine\.py, line 3: ImportError"):
        load_claims(written(text.replace("L, mu", "L, nu"), "mine.py"))
    with pytest.raises(ValueError, match=r"CLAIMS.*got NoneType"):
        load_claims(written("x = 1", "mine.py"))
    with pytest.raises(ValueError, match=r"read from \.py and \.toml files; got 'mine\.txt'"):
        load_claims(written("x", "mine.txt"))
    with pytest.raises(ValueError, match=r"read from \.py and \.toml files; got 'mine\.json'"):
        choose_claims([str(written("x", "mine.json"))], None)
    with pytest.raises(ValueError, match="cannot read"):
        load_claims("nowhere.toml")


def test_all_claims_are_those_of_the_files_that_the_environment_names_now(written, monkeypatch):
    with monkeypatch.context() as for_a_while:
        for_a_while.setenv(PATHS, str(written(GOOD)))
        assert {"mine/theorem-1", "li2020/theorem-1"} <= {*all_claims()}
    assert "mine/theorem-1" not in all_claims()


def test_a_changed_python_file_is_read_anew(written, monkeypatch):
    monkeypatch.setattr("sys.dont_write_bytecode", False)  # compiled files tell apart neither seconds nor equal lengths
    text = """
from bounds.language.claim import Claim, Condition
from bounds.language.operators import L, mu
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
    forget_files()
    assert "mine/theorem-1" in all_claims()
