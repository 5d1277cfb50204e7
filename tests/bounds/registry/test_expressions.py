"""Formulas as text: read as Python's operators would, never run. What is no formula is refused at once, with its place."""

import os
import re
import time

import pytest
import sympy as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bounds.language import operators
from bounds.language.claim import Condition
from bounds.language.definitions import DEFINITIONS
from bounds.registry.expressions import Mean, NoFormula, expression
from bounds.registry.user_claims import load_claims
from tests.messages import contains_in_order

NAMES = {name: getattr(operators, name) for name in operators.__all__} | {d.name: d.symbol for d in DEFINITIONS.values()} | {
    name: getattr(sp, name) for name in ("sqrt", "exp", "log", "Abs")}
HEADS = (sp.Add, sp.Mul, sp.Pow, sp.exp, sp.log, sp.Abs, sp.Max, sp.Min, sp.Sum, sp.Product, sp.Tuple, sp.Symbol,
         sp.Rational, sp.Indexed, sp.IndexedBase, operators.Operator, type(sp.E))
SHELL = '''__import__('os').system('touch made')'''


def read(text: str):
    return expression(text, NAMES)


#: text -> what the error says
ATTACKS = {
    # text that would be run
    f'E("{SHELL}")': "quotes…(column 3)",
    f"E({SHELL!r})": "(column 3)", f"norm2(b{SHELL!r})": "(column 8)", "L + f'{L}'": "(column 6)",
    "E('''L''')": "quotes…(column 3)",
    "__import__(L)": "unknown symbol '__import__'", "exec(L)": "unknown symbol 'exec'", "eval": "unknown symbol 'eval'",
    "S(1)": "unknown symbol 'S'…nearest: participants", "inner(x_star, x_star)": "unknown symbol 'inner'…nearest: dot",
    "abs(L)": "unknown symbol 'abs'…nearest: Abs",
    "Symbol(1)": "unknown symbol 'Symbol'", "oo": "unknown symbol 'oo'", "I": "symbol 'I' in",
    "L.__class__": "Attribute…(column 2)", "L.name": "(column 2)", "norm2(x_star).func": "(column 14)",
    "...": "Attribute", "L; mu": "';'…(column 2)", "L # mu": "'#'", "L\\": "(column 2)", "L\x00": "U+0000",
    # numbers
    "1j": "': '1j'…2, 0.5…1e-3", "0x10": "': '0x10'…1e-3", "1_000": "': '1_000'…1e-3",
    "2L": "': '2L'…1e-3", "1.2.3": "': '1.2.3'…1e-3", "007": " 0; got '007'",
    "9" * 101: " 100 digits…(101 char", "9" * 5000: " 100 digits…(5000 char",
    "1e1000000000": " 100 digits", "1e-101": " 100 digits",
    # letters and digits that look like others
    "Ｌ": "'Ｌ' (U+FF2C, fullwidth latin capital letter l)", "L + １": "(column 5)", "ｌog(2)": "4C",
    "λ": "greek", "L²": "superscript two", "L − mu": "minus sign)", "L\u00a0+ mu": "no-break space", "“L”": "quotation",
    # words of Python
    **{word: f"': '{word}'" for word in ("True", "None", "False", "lambda", "yield", "not", "await")},
    "L if mu else 1": "'if'", "L for k in g": "'for'", "L and mu": "(column 3)", "L := 1": "':'", "L < mu": "relation",
    "E(L, sampling=1)": "relation…(column 14)", "L[0:1]": "':'", "{L}": "'{'", "~L": "'~'", "@L": "'@'",
    "L // 2": "FloorDiv", "L % 2": "'%'", "L^2": "'^'…**", "[L]": "a list",
    "(L, mu)": "a group", "()": "a group", "*L": "invalid syntax", "norm2(*g)": "a star", "": "its end",
    "eta_l[*g]": "a star", "L mu": "invalid syntax", "(L": "': '('…at '(L' (column 1)", "L)": "unmatched ')'",
    # calls and indices
    "norm2()": "norm2 …1 …got 0 in norm2()", "dot(x_star)": "dot …2 …got 1 in dot(", "E(1, 2, 3)": "E …1 …2 …got 3 in",
    "sqrt(2, 3)": "sqrt …1 …got 2 in sqrt(", "log(1, 2, 3)": "log …1 …2 …got 3 in", "Max()": "Max …1 …got 0 in Max()",
    "E(1)(2)": "name; got E(1)(2)", "(L)(2)": "function; got (L)(2)", "eta_l(0)": "eta_l[...]",
    "L[0]": "index; got L[0]", "eta_l[0][1]": "array; got eta_l[0][1]", "eta_l[()]": "index; got eta_l[()]",
    "E": "': E …E(...) (column 1)", "norm2(sqrt)": "': sqrt …sqrt(...) (column 7)", "E((1, 2))": "a group",
    "Sum(k)": "range…Sum(a, (k, 0, clients - 1)); got Sum(k)", "Sum(k, mu)": "range…(k, 0, clients - 1); got mu (column 8)",
    "Sum(k, (1, 0, 2))": "range…; got (1, 0, 2)",
    "Sum(k, (k, 0))": "range…; got (k, 0)", "Sum(k, (k, 0, 10**9))": " 10000; got 10**9",
    "Sum(k, (k, 0, 1/2))": " 10000; got 1/2", "Product(k, (k, 1, 9999))": "Product… 100 …10; got Product(k, (k, 1, 9999))",
    "Product(k**k**k, (k, 1, 9))": " 100 …10; got Product(k**k**k",
    # without a value
    "1/0": "zero (column 1)", "0*(1/(2-2))": "zero (column 4)", "0**-1": "zero (column 1)", "log(0)": "logarithm…(column 1)",
    "sqrt(-1)": "': sqrt(-1) …real", "(-8)**(1/3)": "': (-8)**(1/3) …real", "log(-2)": "': log(-2) …real",
    # resources
    "10**10**10": " 1000, …got 10**10 (column 5)",
    "3**3**3**3": "got 3**3**3 (column 4)", "2**1001": " 1000, …got 1001", "2**-1001": "got -1001",
    "(10**90)**112": " 10000 bits",
    "L**(mu - mu + 10**9)": " 1000, …got mu - mu + 10**9", "(L**1000)**1000": " 10000 bits", "exp(1001)": " 1000, …got 1001",
    "exp(exp(exp(exp(10))))": " 1000, …got exp(10)", "*".join(["9" * 99] * 99): " 10000 bits",
    "-" * 10**5 + "1": " 10000 characters; got…(100001 ", "1" + " + 1" * 10**5: " 10000 characters; got…(400001 ",
    "-" * 61 + "L": "60 deep (column 61)", "(" * 61 + "L" + ")" * 61: "60 deep (column 61)", "L**" * 61 + "L": "60 deep",
    "2**-" * 31 + "2": "60 deep", "E(" * 61 + "L" + ")" * 61: "60 deep", "eta_l[" * 61 + "0" + "]" * 61: "60 deep",
    "(" * 5000: " 1000 numbers, …got 5000 in", "L + " * 500 + "L": " 1000 numbers, …got 1001 in",
    "server_" + "x" * 1000: " 100 characters; got 1007",
}


@pytest.mark.parametrize(("text", "message"), ATTACKS.items(), ids=[text[:20] for text in ATTACKS])
def test_what_is_no_formula_is_refused_at_once_in_one_line(text, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    start = time.process_time()
    with pytest.raises(NoFormula) as error:
        read(text)
    said = str(error.value)
    assert contains_in_order(said, message) and time.process_time() - start < 0.5 and os.listdir(tmp_path) == []
    assert "\n" not in said and len(said) < 1000 and ("column" in said or "at most" in said)


@pytest.mark.parametrize(("text", "value"), [
    ("0.5", sp.Rational(1, 2)), ("0.1", sp.Rational(1, 10)), (".25", sp.Rational(1, 4)), ("5.", sp.Integer(5)), ("00", 0),
    ("1e-3", sp.Rational(1, 1000)), ("2.5E+2", sp.Integer(250)), ("0.1 + 0.2", sp.Rational(3, 10)), ("-2**2", -4),
    ("2**-1", sp.Rational(1, 2)), ("2**3**2", sp.Integer(512)), ("1/3", sp.Rational(1, 3)), ("0**0", sp.S.One),
])
def test_numbers_are_exact(text, value):
    assert read(text) == value and read(text).is_Rational


@pytest.mark.parametrize("text", [
    "E(norm2(x_round[rounds] - x_star))", "(1 - mu/(2*L))**rounds*norm2(x_round[0] - x_star)", "Max(L, mu, 1)",
    "Sum(client_weight[k]*norm2(x_local[t, k] - x_sampled[t]), (k, 0, clients - 1))", "sqrt(2)*exp(4/3)*log(8, 2)",
    "Product(1 - eta_l[t]*mu, (t, 0, iterations - 1))", "Sum(eta_l[i]*included[i, k], (i, 0, t), (k, 0, clients - 1))",
    "server_variate[r] + client_variate[r, k]", "L**(3/2)*2**(1 - 1/sqrt(2))", "Sum(1/k, (k, 1, 10))", "(-1)**t",
    "-x_star*2*(L + mu) + Abs(L - mu)",
])
def test_formulas_are_what_pythons_operators_give(text):
    arrays = {name: sp.IndexedBase(name, real=True) for name in ("server_variate", "client_variate")}
    exact = re.sub(r"(?<![\w.])(\d+)", r"Integer(\1)", text)
    assert sp.srepr(read(text)) == sp.srepr(eval(exact, {**NAMES, **arrays, "Integer": sp.Integer}))
    assert read(str(read(text))) == read(text)


X, B, P, N, Q = (sp.Symbol("x", real=True), sp.Symbol("b", real=True), sp.Symbol("p", positive=True),
                 sp.Symbol("n", integer=True, nonnegative=True), sp.Symbol("q", nonnegative=True))
SIGNS = NAMES | {s.name: s for s in (X, B, P, N, Q)}

#: texts with a part that has no value at some numbers, where the formula has one: what they need
CANCELLED = {
    "x/x": "x != 0", "x**2/x": "x != 0", "b/x*x": "x != 0", "1/x - 1/x": "x != 0", "0*log(x)": "x > 0", "1/(1/x)": "x != 0",
    "sqrt(x)**2": "x >= 0", "x/sqrt(x)": "sqrt(x) != 0", "q/sqrt(q)": "sqrt(q) != 0", "(b**x)**2": "b**x to be real",
    "exp(log(x))": "x > 0", "(x + b)/(x + b)": "x + b != 0", "b**(-n)*b**n": "b != 0", "x**0.5*x**0.5": "x >= 0",
    "p/(1 - x)*(1 - x)": "1 - x != 0", "n*(Mean(x, (i, 0, n - 1)) - Mean(x, (i, 0, n - 1)))": "Mean(x, (i, 0, n - 1)) != 0",
    "(x*p)/(x*p)": "x*p != 0",
}


@pytest.mark.parametrize("text", CANCELLED)
def test_what_has_no_value_somewhere_does_not_cancel(text):
    with pytest.raises(NoFormula, match=f"needs .*{re.escape(CANCELLED[text])}.*, and cancels"):
        expression(text, SIGNS | {"Mean": Mean, "i": sp.Symbol("i", integer=True)})


@pytest.mark.parametrize("text", [
    "p/p", "sqrt(p)**2", "sqrt(q)**2", "exp(log(p))", "(p**x)**2", "p**x*p**b", "b**n*b**n", "(x**2 - 1)/(x - 1)", "1/(x*b)",
    "sqrt(4*x)", "sqrt(p*x)", "sqrt(x**2*b)", "1/(x - b) + 1/(b - x)", "2/(4*x + 4*b)", "log(x, p)", "x**3/b**2", "Abs(x)/x",
    "Abs(1/(x - 4))", "1/sqrt(x)/x", "n*p/(n + p)"])
def test_what_has_a_value_wherever_its_parts_do_is_read(text):
    exact = re.sub(r"(?<![\w.])(\d+)", r"Integer(\1)", text)
    assert expression(text, SIGNS) == eval(exact, {**SIGNS, "Integer": sp.Integer})


# random texts -------------------------------------------------------------------------------------------------------------
LEAVES = st.sampled_from([("L", operators.L), ("mu", operators.mu), ("eta_l[t]", operators.eta_l[operators.t]),
                          ("rounds", operators.rounds),
                          ("F_star", operators.F_star)]) | st.integers(0, 99).map(lambda n: (str(n), sp.Integer(n)))


def _joined(parts):
    (left, a), sign, (right, b) = parts
    made = {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a / b}[sign]()
    return f"({left}) {sign} ({right})", made


def _larger(smaller):
    return (st.tuples(smaller, st.sampled_from("+-*/"), smaller).map(_joined)
            | smaller.map(lambda one: (f"-({one[0]})", -one[1]))
            | st.tuples(smaller, st.integers(-3, 3)).map(lambda one: (f"({one[0][0]})**{one[1]}", one[0][1] ** one[1]))
            | smaller.map(lambda one: (f"E({one[0]})", operators.E(one[1]))))


@settings(max_examples=150, deadline=None)
@given(st.recursive(LEAVES, _larger, max_leaves=12))
def test_random_formulas_are_what_pythons_operators_give(pair):
    text, value = pair
    if value.has(sp.zoo, sp.nan):
        with pytest.raises(NoFormula, match="zero"):
            read(text)
        return
    try:
        found = read(text)
    except NoFormula as error:  # what has no value somewhere is gone
        assert "and cancels, so that" in str(error) or "divides by zero" in str(error)
    else:
        assert sp.srepr(found) == sp.srepr(value)
        assert read(str(value)) == read(str(read(str(value))))


PIECES = [*"+-*/(),[]. ", "**", "2", "0", "0.5", "1e9", "10", "L", "mu", "x_star", "eta_l[t]", "E(", "sqrt(", "exp(", "log(",
          "Abs(", "norm2(", "Sum(", "Product(", "Max(", "(k, 0, 3)", "k", "server_x[r]", "'", '"', "^", "1j", "lambda", "=",
          ":", "\\", "é", "Ｌ", "__import__", "\n", "\x00", "1/0", "-1", "clients"]


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(PIECES) | st.characters(), max_size=40).map("".join))
def test_random_texts_give_a_formula_or_an_error_within_a_second(tmp_path, text):
    os.chdir(tmp_path)
    start = time.process_time()
    try:
        found = read(text)
    except NoFormula as error:
        assert "\n" not in str(error)
    else:
        assert all(isinstance(part, HEADS) for part in sp.preorder_traversal(found))
    assert time.process_time() - start < 1 and os.listdir(tmp_path) == []


# what else takes formulas -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("make", [
    lambda text: Condition(text, "<=", 1), lambda text: Condition(operators.L, "<=", text),
    lambda text: operators.norm2(text),
    lambda text: Condition(operators.L, "<=", 1, ((operators.t, 0, text),)), lambda text: operators.E(operators.L, text),
])
def test_operators_and_conditions_take_no_text(make, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((TypeError, sp.SympifyError)):
        make(SHELL)
    assert os.listdir(tmp_path) == []


def test_ranges_may_follow_each_other(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('[[claim]]\nid = "mine/a"\nstatement = "norm2(x_local[t, k]) <= 0.1 for t in 0..9 for k in 0..t"\n')
    (claim,) = load_claims(path)
    t, k = operators.t, operators.k
    assert claim.statement.over == ((t, 0, 9), (k, 0, t)) and claim.statement.right == sp.Rational(1, 10)
