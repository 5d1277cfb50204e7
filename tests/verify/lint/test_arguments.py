"""Every operator of the language with every kind of argument is evaluated, or refused in one line before anything runs."""

import itertools
from contextlib import suppress

import numpy as np
import pytest
import sympy as sp

from bounds.language import operators
from bounds.printing.render import show
from bounds.registry.known_names import known_names
from bounds.registry.user_claims import load_claims
from synthetic import NUMPY
from verify.claims.method import faults_of_method
from verify.evaluation.environment import NoEntry
from verify.evaluation.judge import judge
from verify.instances.draw import draw_params, draw_shape
from verify.lint.lint import lint
from verify.measure.simulate import simulate

V, W, L_K, OF_K = "x_round[0]", "x_round[1]", "L_client[k]", "(k, 0, clients-1)"
#: operator -> arguments of the right kinds
RIGHT = {
    **dict.fromkeys(("norm2", "norm", "root", "square", "least", "norm1", "norm_inf", "objective", "objective_grad",
                     "F_pop"), (V,)),
    **dict.fromkeys(("dot", "upper", "worst_sample_gap", "worst_pair_gap", "worst_mean_gap", "worst_mean_signed_gap"),
                    (V, W)),
    **dict.fromkeys(("E", "E_noise", "E_data", "sqrt", "exp", "log", "Abs", "floor", "ceiling"), ("L",)),
    **dict.fromkeys(("below", "share", "Max", "Min"), ("L", "mu")),
    **dict.fromkeys(("F", "grad", "layer_part"), ("0", V)),
    **dict.fromkeys(("Sum", "Product", "Mean"), (L_K, OF_K)), **dict.fromkeys(("argmin", "argmax"), (L_K, V, OF_K)),
    "E_step": ("L", "0"),
    "E_round": ("L", "0"), "E_client": ("0", "L"), "E_unused": ("0", "L"), "tau": ("0",), "loss_grad": ("0", "0", V),
    "scaled": (V, V, "L"), "reciprocal": (V, "L"), "raised": (V, "L"), "highest": ("k", "0", "clients-1", L_K),
    "first_least": ("k", "0", "clients-1", L_K, V), "largest_sum": ("1", L_K, "k", "0", "clients-1"),
}
GIVE_VECTORS = {"root", "square", "objective_grad", "upper", "grad", "layer_part", "argmin", "argmax", "loss_grad", "scaled",
                "reciprocal", "raised", "first_least"}
KINDS = {
    "number": "L", "zero": "0", "fraction": "1/2", "negative": "-1", "vector": "x_round[0]",
    "array of numbers": "eta_l", "entry": "eta_l[0]",
    "array of vectors": "x_round", "function": "norm", "sum": "Sum", "size": "rounds", "free index": "k",
    "truth value": "True", "nothing": "mu - mu", "range": "(k, 0, 2)", "list": "[0, 1]", "array of a method": "server_x",
    "too many indices": "x_round[0, 1]", "index of a number": "L[0]", "index of a vector": "x_star[0]",
    "too few indices": "x_local[0]", "vector as an index": "x_round[x_round[0]]", "number as an index": "x_round[L]",
    "array as an index": "x_round[eta_l]", "text": "'a'", "empty": "",
}
OPERANDS = ("number", "zero", "fraction", "vector", "array of numbers", "entry", "array of vectors", "function", "size",
            "range", "nothing", "text")
DUMPS = ("sympy", "<class", "IndexedBase", "NoneType", "Tuple", "object at", "Traceback", "broadcast", "operand")


def called(name, arguments):
    text = f"{name}({', '.join(arguments)})"
    return f"norm2({text})" if name in GIVE_VECTORS else text


def outcome(statement, tmp_path, fields=""):
    """``evaluated``, or the line in which the statement is refused."""
    path = tmp_path / "mine.toml"
    path.write_text('[[claim]]\nid = "mine/one"\nassume = ["L_client[k] <= L for k in 0..clients-1", '
                    f'"mu_client[k] >= mu for k in 0..clients-1"]\n{fields}\nstatement = "{statement}"\n')
    try:
        (claim,) = load_claims(path, faults_of_method)
    except ValueError as error:
        refused = str(error)
        assert "mine.toml, line " in refused and "\n" not in refused and len(refused) < 1000, refused
        assert not any(dump in refused for dump in DUMPS), refused
        return refused
    assert not any(finding.severity == "error" and finding.check == "symbols" for finding in lint(claim))
    assert show(claim)
    rng = np.random.default_rng(0)
    shape = draw_shape(claim, rng, 300, 40)
    with suppress(NoEntry):  # an index that this instance does not have, which the verdict says in one line
        judge(claim, simulate(claim, shape, draw_params(claim, shape, 4, rng), NUMPY))
    return "evaluated"


def test_every_operator_has_a_row():
    first, last = known_names()
    names = {name for name, value in (first | last).items() if not isinstance(value, sp.Symbol | sp.IndexedBase)}
    assert names == {*RIGHT}
    assert all(issubclass(kind, operators.Operator) for name in RIGHT
               if isinstance(kind := (first | last)[name], type) and kind.__module__.startswith("bounds"))


@pytest.mark.parametrize("name", RIGHT)
def test_right_arguments_are_evaluated(name, tmp_path):
    assert outcome(f"{called(name, RIGHT[name])} <= 1", tmp_path) == "evaluated"


@pytest.mark.parametrize("name", RIGHT)
def test_other_arguments_are_evaluated_or_refused_in_one_line(name, tmp_path):
    right = RIGHT[name]
    for place, kind in itertools.product(range(len(right)), KINDS.values()):
        outcome(f"{called(name, (*right[:place], kind, *right[place + 1:]))} <= 1", tmp_path)
    for text in (called(name, right[:-1]), called(name, (*right, "L", "L", "L")), name, f"{name}[0]", f"{name}()"):
        if text != "Max(L)" and text != "Min(L)":
            assert outcome(f"{text} <= 1", tmp_path) != "evaluated" or name in ("E", "log", "Max", "Min", "Sum"), text


@pytest.mark.parametrize("operation", ["{} + {}", "{} - {}", "{} * {}", "{} / {}", "({})**({})", "{} <= {}", "{}"])
def test_arithmetic_and_comparisons_are_evaluated_or_refused_in_one_line(operation, tmp_path):
    for pair in itertools.product(map(KINDS.get, OPERANDS), repeat=operation.count("{}")):
        text = operation.format(*pair)
        outcome(text if "<=" in text else f"{text} <= 1", tmp_path)


REFUSED = {
    "E(x_round) <= 1": "x_round is an array and needs 1 index",
    "norm2(eta_l) <= 1": "eta_l is an array and needs 1 index", "norm2(L) <= 1": "norm2(L) needs a vector; got the number L",
    "Sum(eta_l, (t, 0, iterations-1)) <= 1": "eta_l is an array and needs 1 index",
    "client_weight + 1 <= 1": "client_weight is an array and needs 1 index",
    "x_local[0] == x_star": "x_local has 2 indices, as in x_local[t, k]; got 1",
    "x_star <= L": "a vector stands beside a number",
    "norm <= 1": "norm is no formula of numbers or vectors", "least(L) <= 1": "least(L) needs a vector; got the number L",
    "share(x_star, L) <= 1": "share(x_star, L) needs a number; got the vector x_star",
    "norm2(upper(x_star, L)) <= 1": "needs a vector; got the number L", "F(L, x_star) <= 1": "L is no whole number",
    "F(1/2, x_star) <= 1": "1/2 is no whole number", "Sum(eta_l[t], (t, 0, L)) <= 1": "L is no whole number",
    "eta_l[t/2] <= 1 for t in 0..iterations-1": "1/2 is no whole number",
    "eta_l[t] <= 1 for t in 0..L": "L is no whole number", "x_star*x_star <= 1": "write norm2(a) or dot(a, b)",
    "x_star*x_round[0] <= 1": "multiplies two vectors",
    "below(x_star, L) <= 1": "needs a number; got the vector x_star", "norm2((k, 0, 2)) <= 1": "a group such as (k, 0, 2)",
    "norm2([x_star]) <= 1": "a list such as [0, 1]",
}


@pytest.mark.parametrize("statement", REFUSED)
def test_the_line_says_what_is_wrong(statement, tmp_path):
    assert REFUSED[statement] in outcome(statement, tmp_path)


@pytest.mark.parametrize(("fields", "message"), [
    ("variables = {eta_g = 'positive[rounds]'}", "eta_g is an argument of fedavg, one number; got positive[rounds]"),
    ("method = 'fedprox'\nvariables = {rho_prox = 'vector'}", "rho_prox is an argument of fedprox, one number; got vector"),
    ("method = 'fedmoswa'\nvariables = {option = 'positive'}", "option is an argument of fedmoswa, no number; got positive"),
])
def test_an_argument_of_a_method_is_one_number(fields, message, tmp_path):
    assert message in outcome("F_star <= objective(x_round[0])", tmp_path, fields)


@pytest.mark.parametrize("command", ["lint", "show", "verify"])
def test_commands_refuse_it_in_one_line(command, tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    outcome("norm2(eta_l) <= 1", tmp_path)
    status, out, error = run(command, "mine.toml")
    assert status == 2 and out == "" and "mine.toml, line 5: mine/one: eta_l is an array" in error.replace("\n", " ")
