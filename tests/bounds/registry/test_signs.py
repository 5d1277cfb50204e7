"""A symbol has no sign that its value need not have, and a domain stays a hypothesis where a formula defines the number."""

import pytest

from bounds.registry.user_claims import load_claims
from tests.messages import contains_in_order
from verify.referee.decide import Settings, decide

HEAD = """[names]
eta_g = ["g", "server step", "positive"]
sigma = ["s", "noise", "{sign}"]
rho_prox = ["r", "penalty", "nonnegative"]
[[claim]]
id = "mine/a"
setting = "{setting}"
variables = {{p = "real", q = "real"{variables}}}
conditions = [{conditions}]
statement = "{statement}"
"""


def written(tmp_path, setting="algebra", variables="", conditions="", statement="p <= q", sign="real"):
    path = tmp_path / "mine.toml"
    text = HEAD.format(setting=setting, variables=variables and f", {variables}", conditions=conditions,
                       statement=statement, sign=sign)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(("said", "message"), [
    ({"statement": "p*eta_g/eta_g <= p"}, "eta_g is positive in [names] and real in this claim; …under variables"),
    ({"statement": "sqrt(rho_prox**2) <= rho_prox"}, "rho_prox is nonnegative in [names] and real in this claim"),
    ({"statement": "1 <= sigma/sigma", "sign": "positive"}, "sigma is positive in [names] and nonnegative in this claim"),
    ({"conditions": "'eta_g == p - q'", "statement": "p >= q"}, "eta_g is positive in [names] and real in this claim"),
])
def test_a_name_of_the_language_has_no_stronger_sign_in_a_file(said, message, tmp_path):
    with pytest.raises(ValueError, match=r"mine\.toml") as error:
        load_claims(written(tmp_path, **said))
    assert contains_in_order(str(error.value), message)


@pytest.mark.parametrize("said", [
    {"variables": "eta_g = 'positive'", "statement": "p*eta_g/eta_g <= q"},
    {"conditions": "'eta_g == 2'", "statement": "p*eta_g <= q"}, {"statement": "sigma*p <= q"},
    {"statement": "sigma*p <= q", "sign": "nonnegative"}])
def test_a_sign_that_the_claim_declares_is_its_own(said, tmp_path):
    assert load_claims(written(tmp_path, **said))


#: domain of y -> the hypothesis that it is beside y == p - q, and what therefore holds
DOMAINS = {
    "positive": ("y > 0", "p - q >= 0"), "nonnegative": ("y >= 0", "p - q >= 0"), "real below 1": ("y < 1", "p - q <= 1"),
    "positive below 2": ("y < 2", "p - q <= 2"), "binary": ("y*(1 - y) == 0", "(p - q)**2 <= 1")}


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_domain_of_a_number_that_a_formula_defines_is_a_hypothesis(domain, tmp_path):
    hypothesis, holds = DOMAINS[domain]
    (claim,) = load_claims(written(tmp_path, variables=f"y = '{domain}'", conditions="'y == p - q'", statement=holds))
    assert hypothesis in {f"{c.left} {c.sign} {c.right}" for c in claim.conditions}
    assert decide(claim, Settings()).verdict != "refuted"  # p - q <= 1 was: the end was lost
    (without,) = load_claims(written(tmp_path, variables="y = 'real'", conditions="'y == p - q'", statement=holds))
    assert decide(without, Settings()).verdict == "refuted"


@pytest.mark.parametrize("name", ["rho_prox", "own_name"])
def test_a_variable_of_a_paper_has_no_stronger_sign_than_its_domain(name, tmp_path):
    path = tmp_path / "mine.toml"
    text = f"""[paper]
name = "kim"
[names]
{name} = ["r", "penalty", "positive"]
[quantities]
"share[r]" = ["s_{{r}}", "a share", "1", "x_round[r]*{name}/{name}"]
[[claim]]
id = "one"
variables = {{{name} = "nonnegative"}}
statement = "STATEMENT"
"""
    refused = {f"{name}/{name} <= 1": f"needs {name} != 0, and cancels",
               "norm2(share[0]) <= 1": f"{name} is positive in [names], and nonnegative in a claim that uses share"}
    for statement, message in refused.items():
        path.write_text(text.replace("STATEMENT", statement), encoding="utf-8")
        with pytest.raises(ValueError, match=r"mine\.toml") as error:
            load_claims(path)
        assert contains_in_order(str(error.value), f"…{message}")
    path.write_text(text.replace("STATEMENT", f"{name}*mu <= L"), encoding="utf-8")
    assert load_claims(path)[0].statement.left.free_symbols


def test_what_the_formula_has_already_is_not_said_again(tmp_path):
    (claim,) = load_claims(written(tmp_path, variables="y = 'positive'", conditions="'y == 1 + p**2'"))
    assert len(claim.conditions) == 1


def test_a_paper_may_be_one_file(tmp_path):
    path = tmp_path / "mine.toml"
    text = """[paper]
name = "{name}"
[assumptions.smooth]
id = "A1"
name = "clients are smooth"
conditions = ["L_client[k] <= L for each k"]
[[claim]]
id = "{id}"
assume = ["smooth"]
statement = "E(objective(x_round[rounds])) <= F_star + L"
"""
    path.write_text(text.format(name="kim", id="theorem-1"), encoding="utf-8")
    (claim,) = load_claims(path)
    assert (claim.id, claim.number, claim.assumptions[0].id) == ("kim/theorem-1", "Theorem 1", "kim/A1")
    for name, message in (("li2020", "…there is a paper 'li2020' already; give [paper] another name"),
                          ("../x", "…the name of a paper has ASCII letters, digits, _ and -, at most 100; got '../x'")):
        path.write_text(text.format(name=name, id="theorem-1"), encoding="utf-8")
        with pytest.raises(ValueError, match="paper") as error:
            load_claims(path)
        assert contains_in_order(str(error.value), message)
    path.write_text(text.replace('[paper]\nname = "{name}"\n', "").format(id="one/a"), encoding="utf-8")
    assert load_claims(path)[0].assumptions[0].id == "one/A1"
