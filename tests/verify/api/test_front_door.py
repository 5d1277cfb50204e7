"""What users call from Python: claims and methods by name or by value, and what a wrong one is told."""

from fractions import Fraction

import numpy as np
import pytest

import fedtheory as ft
from bounds.registry.claims import find_claim
from synthetic import Quadratic
from tests.messages import contains_in_order as tells
from tests.not_empty import not_empty
from verify.api.attained import attained
from verify.worst.worst_case import WorstCase

FALSE = """
[[claim]]
id = "mine/half"
method = "fedavg"
assume = ["L_client[k] <= L for k in 0..clients-1", "mu_client[k] >= 0 for k in 0..clients-1",
          "sigma_sq_client[k] == 0 for k in 0..clients-1"]
conditions = ["local_steps == 1", "eta_l[t] == 1/L for t in 0..iterations-1"]
statement = "objective(x_round[rounds]) - F_star <= L*norm2(x_round[0] - x_star)/(4*rounds + 3)"
"""


@pytest.fixture
def false(tmp_path):
    """A file with one claim: gradient descent with a constant that is too small by 15/14 at three rounds."""
    path = tmp_path / "mine.toml"
    path.write_text(FALSE)
    return path


def test_a_claim_is_given_by_its_id_its_file_or_itself(false):
    own = find_claim("classical/gd-convex")
    assert ft.claim("classical/gd-convex") is own and ft.claim(own) is own
    assert ft.claim(str(false)).id == ft.claim(f"{false}:mine/half").id == ft.claim(f"{false}:half").id == "mine/half"
    for call in not_empty((ft.verify, ft.worst, ft.bound, ft.lint, ft.bound_over_rounds)):
        with pytest.raises(LookupError, match="classical/gd-convex"):
            call("classical/gd-convx")


@pytest.mark.parametrize(("method", "words"), [
    ("fa-nt", "ft.run(ft.fa_nt(eta_l=...), ...)"), (ft.fedavg(0.1), "ft.run(ft.METHOD(eta_l=...), ...)")])
def test_an_argument_of_a_method_belongs_to_the_method(method, words):
    with pytest.raises(TypeError, match="run takes no argument 'eta_l'") as told:
        ft.run(method, "quadratic", 50, eta_l=0.1)
    assert words in str(told.value)


@pytest.mark.parametrize("method", ["fedavg", ft.fedavg, ft.FedAvg])
def test_a_method_is_given_by_its_name_its_maker_or_itself(method):
    asked = {"clients": 1, "eta_l": 0.5}
    assert ft.worst(method, **asked).ratio == ft.worst(ft.fedavg(eta_l=0.5), clients=1).ratio == pytest.approx(0.9025)


#: calls of ft.worst of a claim, and what it says in words
ANSWERS = {
    "tight": ("classical/gd-convex", {"rounds": 3}, "holds and is tight at clients = 2, rounds = 3, "),
    "formula": ("classical/gd-distance", {"eta_l": "1/(2*L)", "mu": "L/10"}, "holds and is tight at "),
    "arithmetic": ("classical/gd-distance", {"eta_l": "5e-1*(1 + 0)", "mu": "1/(5*2)"}, "holds and is tight at "),
    "loose": ("classical/scaffold-convex", {"rounds": 2}, "holds at clients = 2, rounds = 2, "),
}


@pytest.mark.parametrize("name, numbers, words", ANSWERS.values(), ids=ANSWERS)
def test_the_worst_case_of_a_claim_in_words(name, numbers, words):
    found = ft.worst(name, **numbers)
    assert found.holds and found.answer.startswith(words) and words in repr(found)


def test_a_false_claim_is_told_with_a_function_that_attains_the_worst_case(false):
    found = ft.worst(str(false), rounds=3)
    assert found.holds is False and found.ratio == pytest.approx(15 / 14, rel=1e-5)
    assert tells(found.answer, "is false in the worst case at clients = 2, rounds = 3, …: 1.0714 of the bound")
    assert tells(repr(found), "a function that attains it: one variable, x_0 - x_* = 3.87, F' = 0.553 at 3.87, …; 0 at 0")


def test_no_function_is_named_that_a_run_does_not_confirm(false):
    claim, given = ft.claim(str(false)), {"rounds": Fraction(3)}
    found = ft.worst(claim, rounds=3)
    worse = WorstCase(**{**vars(found), "factors": (2 * found.ratio,), "function": ""})
    assert attained(claim, given, found) and not attained(claim, given, worse)


@pytest.mark.parametrize("text", [
    "1/Q", "__import__('os')", "L**L", "L**1000000", "1/(L - L)", "(L", "sqrt(2*L)", "1e99999999"])
def test_a_number_that_is_none_is_one_line(text):
    with pytest.raises(ValueError, match="eta_l") as told:
        ft.worst("classical/gd-distance", eta_l=text)
    assert "\n" not in str(told.value) and len(str(told.value)) < 300


def test_compare_takes_runs_or_another_claim():
    runs = ft.run(ft.fedavg(0.1), "quadratic", 3, seeds=2)
    assert ft.compare("classical/gd-distance", runs).claim == "classical/gd-distance"
    assert ft.compare("li2020/theorem-1", "fedalign/theorem-1").answer == "depends"
    with pytest.raises(TypeError, match=r"runs .* or with another claim; got 3"):
        ft.compare("classical/gd-distance", 3)


def test_check_takes_the_claim_that_a_certificate_must_state(false, tmp_path):
    verdict = ft.verify(str(false), out=tmp_path, federations=False)
    assert verdict.verdict == "refuted"
    certificate = tmp_path / verdict.certificate
    assert ft.check(certificate, str(false)).accepted and ft.check(certificate, ft.claim(str(false))).accepted
    with pytest.raises(LookupError, match="about 'mine/half'; given are classical/gd-convex"):
        ft.check(certificate, "classical/gd-convex")


def test_what_is_shown_is_what_users_need():
    names = dir(ft)
    assert {"worst", "verify", "check", "compare", "bound", "lint", "run", "scaffold", "make_problem"} <= {*names}
    assert not {"affine", "engine", "import_module", "Any", "METHODS", "ABOVE", "native"} & {*names}
    assert all(getattr(ft, name) is not None for name in not_empty(names))


class _Nothing(ft.Algorithm):
    def server_step(self, upload, context):
        context.state._replace(x=context.x)


class _ByClient(ft.Algorithm):
    def server_step(self, upload, context):
        return context.state._replace(x=upload.model)


class _Array(ft.Algorithm):
    def client_step(self, local, gradient, context):
        return local.x


class _Message(ft.Algorithm):
    def client_final(self, local, context):
        return local.x


class _Start(ft.Algorithm):
    def init(self, federation, x, draws=None):
        return x


class _Server(ft.ServerOptimiser):
    def step(self, average, context):
        return average


class _Drift(ft.Correction):
    def correct(self, g, local, context):
        return g


#: what is run, and what it is told
WRONG = {
    "nothing": (_Nothing(), "_Nothing.server_step must return a State; got None: is a return missing?"),
    "all clients": (_ByClient(), "_ByClient.server_step … (runs, dim) = (2, 5); got an array of shape (2, 10, 5)"),
    "array": (_Array(), "_Array.client_step must return a ClientState; got an array of shape (2, 10, 5)"),
    "message": (_Message(), "_Message.client_final must return two values, an Upload and a dict of arrays"),
    "start": (_Start(), "_Start.init must return a State; got an array of shape (2, 5)"),
    "server": (ft.Algorithm(server=_Server()), "_Server.step must return two values, a model and a dict"),
    "correction": (ft.Algorithm(correction=_Drift()), "_Drift.correct must return two values, a gradient and a ClientState"),
    "class": (_Nothing, "must be an Algorithm such as …; got the class _Nothing; call it: _Nothing(...)"),
    "maker": (ft.fedavg, "must be an Algorithm such as …; got the function fedavg; call it: fedavg(...)"),
    "none": (None, "must be an Algorithm such as …; got None"),
}


@pytest.mark.parametrize("method, words", WRONG.values(), ids=WRONG)
def test_a_method_of_ones_own_that_returns_something_else_is_one_line(method, words):
    with pytest.raises(TypeError) as told:
        ft.run(method, "quadratic", 1, seeds=2)
    assert tells(str(told.value), words) and "\n" not in str(told.value)


@pytest.mark.parametrize("problem", [Quadratic, ft.make_quadratic, None])
def test_a_problem_that_is_none_is_one_line(problem):
    with pytest.raises(TypeError, match=r"a problem must be a federation such as ft.make_quadratic"):
        ft.run("fedavg", problem, 1)


def test_no_path_leaves_out_what_a_method_does_itself():
    class Sevens(ft.Algorithm):
        def client_final(self, local, context):
            return super().client_final(local._replace(x=0 * local.x + 7.0), context)

    ends = [ft.run(Sevens(), "quadratic", 2, path=path).dataset.x.values[0, -1] for path in ("steps", "auto")]
    assert np.array_equal(*ends) and ends[0][0] == pytest.approx(7.0)
