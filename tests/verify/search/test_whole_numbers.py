"""Claims about whole numbers: which of them are looked at, and what is refuted."""

import pytest

from bounds.registry.user_claims import load_claims
from tests.not_empty import not_empty
from verify.referee.decide import Settings, decide

#: conditions and a statement about whole numbers m and n, and whether it is true
ROWS = {
    "only for n in the thousands": (["n >= 1"], "(1 + 1/n)**n <= 2.7182", False),
    "for every n": (["n >= 1"], "(1 + 1/n)**n <= 2.7183", True),
    "a sum, only for n beyond 8,000": (["n >= 1"], "Sum(1/sqrt(t), (t, 1, n)) >= 2*sqrt(n) - 1.455", False),
    "a sum, for every n": (["n >= 1"], "Sum(1/sqrt(t), (t, 1, n)) >= 2*sqrt(n) - 1.461", True),
    "only at 7 and 5": (["n >= 4", "m >= 1"], "(n**2 - 2*m**2)**2 >= 2", False),
    "an odd number and an even one": (["n >= 4", "m >= 1"], "(2*n + 1 - 2*m)**2 >= 1", True),
    "a root that has no value at 1 and 2": (["n >= 1", "(n - 3)**(1/2) >= 0"], "n >= 4", False),
    "a root of what is positive": (["n >= 1", "(n - 5/2)**(1/2) >= 0"], "n >= 3", True),
    "Pell's equation": (["n >= 1", "m >= 1"], "Abs(n**2 - 13*m**2 - 1) >= 1", False),
    "a product": (["n >= 2", "m >= 2"], "Abs(n*m - 391) > 0", False),
    "a product that is prime": (["n >= 2", "m >= 2"], "Abs(n*m - 389) > 0", True),
    "a sum at one n": (["n >= 1"], "Sum(1/i, (i, 1, n)) + (n - 157)**2 > 6", False),
    "the end of Euler's primes": (["n >= 1", "m >= 2", "m <= n"], "(n**2 + n + 41 - m*(n + 2))**2 >= 0", True),
}


def claim_of(folder, conditions, statement):
    variables = ", ".join(f'{name} = "integer"' for name in "mn" if name in statement)
    file = folder / "own.toml"
    file.write_text(f'[[claim]]\nid = "own/whole"\nvariables = {{{variables}}}\nconditions = {conditions}\n'
                    f'statement = "{statement}"\n')
    return load_claims(file)[0]


@pytest.mark.parametrize("conditions, statement, true", ROWS.values(), ids=ROWS)
def test_what_fails_at_few_whole_numbers_is_refuted(conditions, statement, true, tmp_path):
    found = decide(claim_of(tmp_path, conditions, statement), Settings(federations=False, out=tmp_path))
    assert (found.verdict == "refuted") != true, found.evidence


def test_what_exact_arithmetic_cannot_tell_of_whole_numbers_is_undecided(tmp_path):
    """log(n^3)/log(n) is 3: float64 is below, and no interval tells it from 3."""
    found = decide(claim_of(tmp_path, ["n >= 2"], "floor(log(n**3)/log(n)) >= 3"), Settings(federations=False, out=tmp_path))
    assert found.verdict == "undecided" and "failed" not in found.details
    assert "a whole number between 2 and 3" in found.evidence


#: fields of a claim without a setting, and the setting that it has
SETTINGS = {
    "own numbers": ('variables = {n = "integer", a = "real"}\nstatement = "a**n <= 1 + Abs(a)**n"', "algebra"),
    "an array": ('variables = {n = "integer", a = "positive[n]"}\nstatement = "Sum(a[i], (i, 0, n-1)) >= 0"', "algebra"),
    "a range": ('variables = {n = "integer", a = "real[n]"}\nconditions = ["a[s] <= 1 for s in 0..n-1"]\n'
                'statement = "a[q] <= 2 for q in 0..n-1"', "algebra"),
    "a number that exists": ('variables = {r = "positive"}\nexists = {eta = "(0, 1/r]"}\nwitness = {eta = "1/r"}\n'
                             'statement = "eta*r <= 1"', "algebra"),
    "a definition": ('variables = {a = "real"}\ndefinitions = {b = "a**2"}\nstatement = "b >= 0"', "algebra"),
    "a letter of points": ('variables = {v = "real"}\nstatement = "v**2 >= 0"\n'
                           '[[claim]]\nid = "own/two"\nextends = "own/one"\nstatement = "v**4 >= 0"', "algebra"),
    "a definition of a run": ('variables = {a = "real"}\ndefinitions = {b = "a**2*L"}\nstatement = "b >= 0"', "run"),
    "a number of a run": ('variables = {a = "positive"}\nstatement = "a*L >= 0"', "run"),
    "a size of a run": ('variables = {a = "positive[clients]"}\nstatement = "a[k] >= 0 for k in 0..clients-1"', "run"),
    "a mean": ('variables = {a = "positive"}\nstatement = "E(a) >= 0"', "run"),
    "a name that is both": ('variables = {sigma_sq = "positive"}\nstatement = "sigma_sq >= 0"', "run"),
    "a method": ('variables = {a = "positive"}\nmethod = "scaffold"\nstatement = "a >= 0"', "run"),
    "an assumption": ('variables = {a = "positive"}\nassume = ["L_client[k] <= L for k in 0..clients-1"]\n'
                      'statement = "a >= 0"', "run"),
}


@pytest.mark.parametrize("fields, setting", SETTINGS.values(), ids=SETTINGS)
def test_a_claim_about_its_own_numbers_needs_no_setting(fields, setting, tmp_path):
    file = tmp_path / "own.toml"
    file.write_text(f'[[claim]]\nid = "own/one"\n{fields}\n')
    for claim in not_empty(load_claims(file)):
        assert claim.setting == setting


SIZES = """
[[claim]]
id = "own/sizes"
assume = ["L_client[k] <= L for each k", "mu_client[k] >= 0 for each k", "sigma_sq_client[k] <= 0 for each k"]
conditions = ["eta_l[t] == 1/L for each t"]
variables = {{{}}}
statement = "norm2(x_round[r+1] - x_star) <= norm2(x_round[r] - x_star) for each r"
"""


@pytest.mark.parametrize("sizes, conditions, verdict", [
    ('clients = "integer to 1"', ["clients <= 1"], "consistent"),
    ('clients = "integer to 2"', ["clients <= 2"], "refuted"),
    ('clients = "integer from 2 to 2", local_steps = "integer to 1"', ["clients >= 2", "clients <= 2"], "consistent"),
    ('rounds = "integer from 2", dim = "integer to 1"', ["rounds >= 2", "dim <= 1"], "refuted")])
def test_the_bounds_of_sizes_are_conditions(sizes, conditions, verdict, tmp_path):
    file = tmp_path / "own.toml"
    file.write_text(SIZES.format(sizes))
    claim = load_claims(file)[0]
    assert [f"{c.left} {c.relation} {c.right}" for c in claim.conditions[1:]] == conditions
    assert {v.name for v in claim.variables} <= {"local_steps"}
    assert decide(claim, Settings(federations=False, out=tmp_path)).verdict == verdict


def test_sizes_without_a_number_are_refused(tmp_path):
    file = tmp_path / "own.toml"
    file.write_text(SIZES.format('clients = "integer from 3 to 2"'))
    with pytest.raises(ValueError, match="line 6: clients: no number lies in the domain 'integer from 3 to 2'"):
        load_claims(file)
