"""What a claim file may say beyond plain conditions, and what is refused with its line."""

import pytest
import sympy as sp

from bounds.language import operators
from bounds.language.claim import Condition, Variable
from bounds.language.coordinates import highest
from bounds.registry.user_claims import load_claims

k, t, r = operators.k, operators.t, operators.r
y = sp.Symbol("a", positive=True)


def read(tmp_path, text, name="mine.toml"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return load_claims(path)


def claim(fields):
    return f"[[claim]]\nid = 'mine/one'\n{fields}\n"


STATED = {  # a statement as it is written -> as it is read
    "objective(x_round[1]) < F_star": Condition(operators.objective(operators.x_round[1]), "<", operators.F_star),
    "0.1 <= 1/3": Condition(sp.Rational(1, 10), "<=", sp.Rational(1, 3)),
    "mu_client[k] <= included[t, k] for t in 0..iterations-1 for k in 0..clients-1": Condition(
        operators.mu_client[k], "<=", operators.included[t, k],
        ((t, 0, operators.iterations - 1), (k, 0, operators.clients - 1))),
    "eta_l[t] <= 1 for t in 2..iterations step local_steps": Condition(
        operators.eta_l[2 + t * operators.local_steps], "<=", 1,
        ((t, 0, sp.floor((operators.iterations - 2) / operators.local_steps)),)),
    "Max(mu_client[k], (k, 0, clients-1)) >= 0": Condition(
        highest(k, 0, operators.clients - 1, operators.mu_client[k]), ">=", 0),
    "Min(mu_client[k], (k, 0, clients-1)) >= 0": Condition(
        -highest(k, 0, operators.clients - 1, -operators.mu_client[k]), ">=", 0),
    "Mean(mu_client[k], (k, 0, clients-1)) >= 0": Condition(
        operators.Sum(operators.mu_client[k], (k, 0, operators.clients - 1)) / operators.clients, ">=", 0),
    "P(F_star <= 1) >= 1/2": Condition(operators.E(operators.below(operators.F_star, 1)), ">=", sp.Rational(1, 2)),
    "P(F_star >= 1) >= 1/2": Condition(operators.E(operators.below(1, operators.F_star)), ">=", sp.Rational(1, 2)),
    "P(F_star < 1) >= 1/2": Condition(1 - operators.E(operators.below(1, operators.F_star)), ">=", sp.Rational(1, 2)),
    "P(F_star > 1) >= 1/2": Condition(1 - operators.E(operators.below(operators.F_star, 1)), ">=", sp.Rational(1, 2)),
    "floor(t/local_steps) <= dim for t in 0..3": Condition(
        sp.floor(t / operators.local_steps), "<=", operators.symbol("dim"), ((t, 0, 3),)),
}


@pytest.mark.parametrize("text", STATED)
def test_statements_are_read_as_they_are_meant(text, tmp_path):
    (found,) = read(tmp_path, claim(f"statement = '{text}'"))
    assert found.statement == STATED[text]


@pytest.mark.parametrize("domain, variable", [
    ("real[n]", Variable("a", "real", (("i", "n"),))),
    ("vector[clients, n]", Variable("a", "vector", (("i", "clients"), ("j", "n")))),
    ("positive below 2", Variable("a", "positive", below=2)),
    ("integer from 2 to 9", Variable("a", "integer", low=2, high=9)),
])
def test_domains_have_sizes_and_ends(domain, variable, tmp_path):
    text = f"variables = {{n = 'integer', a = '{domain}'}}\nstatement = 'n*L >= mu'"
    assert read(tmp_path, claim(text))[0].variables[1] == variable


def test_shared_assumptions_constants_definitions_and_extends(tmp_path):
    first, second = read(tmp_path, """
[assumptions]
smooth = ["L_client[k] <= L for k in 0..clients-1", "L <= 2"]
[[claim]]
id = "mine/one"
assume = ["smooth", "mu_client[k] >= mu for k in 0..clients-1"]
constants = {zeta = "norm(grad(k, x_star)) for k in 0..clients-1"}
definitions = {"gap[r]" = "objective(x_round[r]) - F_star", twice = "2*gap[rounds]"}
statement = "twice <= zeta"
[[claim]]
id = "mine/one@other"
extends = "mine/one"
statement = "twice < zeta"
""")
    zeta = sp.Symbol("zeta", real=True)
    assert [c for a in first.assumptions for c in a.conditions][1:] == [
        Condition(operators.L, "<=", 2),
        Condition(operators.mu_client[k], ">=", operators.mu, ((k, 0, operators.clients - 1),)),
        Condition(zeta, "==", highest(k, 0, operators.clients - 1, operators.norm(operators.grad(k, operators.x_star))))]
    assert {*first.used_definitions()} == {"gap", "twice"}
    assert second.statement.strict and second.hypotheses == first.hypotheses and second.procedure == first.procedure


def test_a_list_of_assumptions_may_have_a_hyphen_and_reads_as_no_condition(tmp_path):
    text = claim("assume = ['strongly-convex']\nstatement = 'F_star <= 1'")
    (found,) = read(tmp_path, f'[assumptions]\nstrongly-convex = ["L <= 2"]\n{text}')
    assert [a.conditions for a in found.assumptions] == [(Condition(operators.L, "<=", 2),)]
    for name in ("mu >= 0", "a b", "", "x" * 101):
        with pytest.raises(ValueError, match="a list of assumptions is called by"):
            read(tmp_path, f'[assumptions]\n"{name}" = ["L <= 2"]\n{text}')


def test_an_array_may_have_more_entries_than_a_size_says(tmp_path):
    fields = "variables = {n = 'integer', a = 'real[rounds+1, n + 2]'}\nstatement = 'a[0, n] <= 1'"
    array = read(tmp_path, claim(fields))[0].variables[1]
    assert array.indices == (("i", "rounds + 1"), ("j", "n + 2")) and array.sizes == {"rounds", "n"}


def test_an_equation_at_all_points_is_two_hypotheses(tmp_path):
    text = "norm2(grad(k, v)) {} mu*norm2(v - x_star) for all v for k in 0..clients-1"
    both, *others = (read(tmp_path, claim(f"conditions = ['{text.format(sign)}']\nstatement = 'F_star <= 1'"))[0]
                     for sign in ("==", "<=", ">="))
    assert both.conditions == tuple(c for other in others for c in other.conditions) and len(both.conditions) == 2


def test_what_a_condition_defines_is_not_drawn_and_points_have_no_free_clients(tmp_path):
    (defined,) = read(tmp_path, claim("method = 'fedprox'\nvariables = {rho_prox = 'positive'}\n"
                                      "conditions = ['rho_prox == 2*mu']\nstatement = 'rho_prox >= mu'"))
    assert defined.variables == () and "rho_prox" in defined.constants
    (point,) = read(tmp_path, claim("setting = 'point'\nvariables = {y = 'vector'}\nstatement = 'objective(y) >= F_star'"))
    assert not point.procedure.free_clients and not point.procedure.equal_weights


BLOWN = "\n".join(f'd{n} = "d{n - 1}*(d{n - 1} + {n})"' for n in range(1, 40))
REFUSED = {
    "constants = {L = 'F_star'}\nstatement = 'F_star <= L'": "L has a meaning already",
    "definitions = {t = 'F_star'}\nstatement = 'F_star <= 1'": "t has a meaning already",
    "definitions = {a = 'b', b = '1'}\nstatement = 'a <= 1'": "unknown symbol 'b'",
    "definitions = {'a[t' = '1'}\nstatement = 'F_star <= 1'": "a definition is",
    "definitions = {'a[t]' = 'mu_client[k]'}\nstatement = 'a[0] <= 1'": "the index k is bound by nothing",
    "assume = ['smoth']\nstatement = 'F_star <= 1'": "no assumption 'smoth'",
    "extends = 'mine/none'\nstatement = 'F_star <= 1'": "extends the id of a claim above it",
    "variables = {a = 'real[m]'}\nstatement = 'F_star <= 1'": "unknown size 'm'",
    "variables = {a = 'real[clients+1]'}\nstatement = 'F_star <= 1'": "unknown size 'clients+1'; allowed: clients, ",
    "variables = {n = 'integer', a = 'real[n+0]'}\nstatement = 'F_star <= 1'":
        "with a whole number added as in n+1, iterations, local_steps, n, rounds",
    "variables = {n = 'integer', a = 'real[n+1, 2+n]'}\nstatement = 'F_star <= 1'": "unknown size '2+n'",
    "variables = {a = 'real from 2'}\nstatement = 'F_star <= 1'": "are for an integer",
    "statement = 'P(F_star) <= 1'": "a probability is written",
    "statement = 'P(P(F_star <= 1) <= 1) <= 1'": "a probability is written",
    "statement = 'P(F_star <= 1'": "a probability is written",
    "statement = 'x_round[0] == x_star'": "vectors are compared by norm2(a - b) == 0",
    "statement = 'F_star <= 1 for t in 0..9 step'": "invalid syntax at 'step'",
    "assume = ['norm(f_grad(u)) <= L for all u']\nstatement = 'F_star <= 1'": "norm(f_grad(u)) <= G_lip for all u",
    "assume = ['norm(objective_grad(u)) <= 1 for all u']\nstatement = 'F_star <= 1'":
        "of norm(objective_grad(u)) the least value over all u is not known",
    "assume = ['grad(k, u) == objective_grad(u) for all u for each k']\nstatement = 'F_star <= 1'":
        "equal is written norm2(grad(k, u) - objective_grad(u)) <= 0 for all u for each k",
    "assume = ['objective_grad(u) - objective_grad(v) == u - v for all u, v']\nstatement = 'F_star <= 1'":
        " <= 0 for all u, v",
    "setting = 'point'\nmethod = 'fedpara'\nstatement = 'F_star <= 1'":
        "only a claim about runs has a method; got 'fedpara'",
    f"statement = '({'+'.join(f'L**{n}' for n in range(90))})**2 <= 1'": "a sum of at most 50 terms; got 90",
    "assume = ['norm2(v) >= mu for all u for all v']\nstatement = 'F_star <= 1'": "'for all v' or 'for all u, v'",
    "assume = ['norm2(v) > mu for all v']\nstatement = 'F_star <= 1'":
        "has the relation <=, >= or, as a hypothesis, ==; got >",
    "assume = ['norm2(x_star) >= mu for all v']\nstatement = 'F_star <= 1'": "v of 'for all v' is never used",
    "assume = ['norm2(v)**2 >= mu for all v']\nstatement = 'F_star <= 1'": "of norm2(v)**2 the least value over all v",
    "assume = ['norm2(layer_part(0, v)) >= mu for all v']\nstatement = 'F_star <= 1'": "of layer_part(0, v) the least value",
    "assume = ['objective(2*v) >= mu for all v']\nstatement = 'F_star <= 1'": "of objective(2*v) the least value",
    "variables = {v = 'vector'}\nassume = ['norm2(v) >= mu for all v']\nstatement = 'F_star <= 1'": "has a meaning already",
    "conditions = ['mu == -1']\nstatement = 'F_star <= 1'": "mu is positive; got mu == -1",
    "variables = {a = 'nonnegative'}\nconditions = ['a == -1/2']\nstatement = 'a <= 1'": "a is nonnegative; got a == -1/2",
    "conditions = ['rounds == 3/2']\nstatement = 'F_star <= 1'": "rounds is integer; got rounds == 3/2",
    "assume = ['G_lip == 1']\nstatement = 'F_star <= 1'": "no condition gives it a value",
    "conditions = ['2*L == L_objective']\nstatement = 'F_star <= 1'": "no condition gives it a value",
    "conditions = ['G_lip > norm(grad(k, x_star)) for k in 0..clients-1']\nstatement = 'F_star <= 1'":
        "no condition gives it a value",
    "variables = {x_star = 'vector'}\nstatement = 'F_star <= 1'": "x_star has a meaning already",
    "variables = {clients = 'integer'}\nstatement = 'F_star <= 1'": "clients has a meaning already",
    "variables = {epsilon = 'positive'}\nstatement = 'F_star <= 1'": "epsilon has a meaning already",
    "setting = 'algebra'\nvariables = {norm = 'positive'}\nstatement = 'norm <= 1'": "norm has a meaning already",
    f"statement = 'd39 <= 1'\nvariables = {{d0 = 'real'}}\n[claim.definitions]\n{BLOWN}": "a formula has at most 5000 parts",
}


@pytest.mark.parametrize("fields", REFUSED)
def test_what_makes_no_sense_is_refused_with_its_line(fields, tmp_path):
    with pytest.raises(ValueError, match=r"mine\.toml, line \d+") as refused:
        read(tmp_path, claim(fields))
    assert REFUSED[fields] in str(refused.value)


#: fields -> a name of the claim, and what sympy may assume of it
ASSUMED = {
    "variables = {a = 'integer from 0'}": {"integer": True, "nonnegative": True, "positive": None},
    "variables = {a = 'integer'}": {"integer": True, "positive": True},
    "variables = {a = 'real below 1'}": {"integer": None, "nonnegative": None},
    "variables = {a = 'nonnegative'}": {"nonnegative": True, "positive": None},
    "definitions = {a = 'L - mu'}": {"real": True, "nonnegative": None},
    "constants = {a = 'L - mu'}": {"real": True, "nonnegative": None},
}


@pytest.mark.parametrize("fields", ASSUMED)
def test_formulas_are_simplified_by_no_more_than_the_domain_says(fields, tmp_path):
    (found,) = read(tmp_path, claim(f"{fields}\nstatement = 'Abs(a - 1) <= a'"))
    (a,) = found.statement.right.free_symbols
    assert {name: getattr(a, f"is_{name}") for name in ASSUMED[fields]} == ASSUMED[fields]
    assert found.statement.left.has(sp.Abs) == (a.is_positive is not True)


@pytest.mark.parametrize("name", ["G_lip", "L_objective", "sigma_g_2"])
def test_a_constant_over_all_points_is_compared(name, tmp_path):
    (found,) = read(tmp_path, claim(f"conditions = ['{name} <= 1', '{name} - L <= 0']\nstatement = 'F_star <= {name}'"))
    assert len(found.conditions) == 2


#: claims about their own numbers alone, in which nothing sets the setting
OF_NUMBERS = [
    "variables = {n = 'integer', C = 'hidden'}\nlimits = {n = 'oo'}\nstatement = 'n <= C*n**2'",
    "variables = {n = 'integer', a = 'positive', C = 'hidden'}\nconstants_may_use = ['a']\nstatement = 'a*n <= C*n**2'",
    "variables = {n = 'integer'}\nlet = {'power_sum(p)' = 'Sum(i**p, (i, 0, n))'}\nstatement = 'power_sum(1) <= n'",
    "variables = {n = 'integer'}\nrelation = '>='\nstatement = 'n**2 <= n'",
]


#: claims whose abbreviations have arguments with names of the language, of which they speak elsewhere too
OF_LOSSES = [
    "variables = {a = 'positive'}\nlet = {'gap(F_star, F_inf)' = 'F_star - F_inf'}\nstatement = 'a*gap(F_star, F_inf) <= a'",
    "variables = {a = 'positive'}\nlet = {'twice(L)' = '2*L'}\nstatement = 'L <= twice(L) + a'",
]


@pytest.mark.parametrize("fields", OF_LOSSES)
def test_arguments_of_abbreviations_hide_no_names_of_the_language(fields, tmp_path):
    assert read(tmp_path, claim(fields))[0].setting == "run"


@pytest.mark.parametrize("fields", OF_NUMBERS)
def test_a_claim_about_its_own_numbers_alone_is_about_no_run(fields, tmp_path):
    (found,) = read(tmp_path, claim(fields))
    assert found.setting == "algebra"
    (found,) = read(tmp_path, claim(fields.replace("n <= C", "n*L/mu <= C").replace("n**2 <= n", "n*L <= n*mu").replace(
        "power_sum(1) <=", "L/mu*power_sum(1) <=")))
    assert found.setting == "run"
