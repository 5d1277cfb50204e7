"""The suite on methods of one's own: what it reports, how small it makes what fails, and what it refuses."""

import re
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from fedtheory import Algorithm, ClientOptimiser, Correction, FedAvg, ServerOptimiser, fedavg
from fedtheory.algorithms.fedprox import Proximal, fedprox
from fedtheory.testing import CASES, Case, check_algorithm
from fedtheory.testing.property import PROPERTIES
from fedtheory.testing.report import FAILED, NOT_APPLICABLE, PASSED
from fedtheory.traits import LENGTH, STEP, Costs, FixedPoint, Law, Reduction, Tilt, Traits, Variant
from tests import ROOT


class Decayed(Correction):
    """Weight decay: a pull to the origin, which no translation leaves alone."""

    def shift(self, local, context):
        return 0.1 * local.x

    @property
    def fixed_in_round(self):
        return False


class Signs(ClientOptimiser):
    """Steps along the signs of the coordinates: turning does not commute with that."""

    def direction(self, g, local, context):
        return g / abs(g + (g == 0)), local


@dataclass(frozen=True)
class Idle(FedAvg):
    """FedAvg with a hyper-parameter that nothing depends on."""

    mass: float = 1.0


@dataclass(frozen=True)
class Twice(Correction):
    """Twice the gradient."""

    def correct(self, g, local, context):
        return 2 * g, local


def failing(method, *names, **options):
    report = check_algorithm(method, only=names, **options)
    assert [result.outcome for result in report.results] == [FAILED] * len(names), str(report)
    return report


# methods of any kind -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", [
    FedAvg(eta_l=0.2), FedAvg, fedavg, partial(fedavg, eta_g=0.5), "fedavg", Algorithm(correction=Proximal(0.3)),
], ids=["algorithm", "class", "maker", "partial", "name", "parts"])
def test_an_algorithm_its_class_a_maker_or_a_name(method):
    report = check_algorithm(method, quick=True).raise_if_failed()
    assert len(report.those(PASSED)) >= 30


def test_nothing_needs_to_be_declared():
    report = check_algorithm(FedAvg(), quick=True, only=["purity", "translation", "units of the loss", "declared costs"])
    assert [result.outcome for result in report.results] == [PASSED] + 3 * [NOT_APPLICABLE]
    assert {result.reason for result in report.those(NOT_APPLICABLE)} == {"not declared"}


def test_traits_may_stand_on_the_class_or_be_given():
    class Promising(FedAvg):
        traits = Traits(translation=True)

    for report in (check_algorithm(Promising(), quick=True), check_algorithm(FedAvg(), traits=Promising.traits, quick=True)):
        assert report["translation"].outcome == PASSED
    assert check_algorithm("fedprox", quick=True)["rho_prox=0.0: fedavg"].outcome == PASSED
    assert check_algorithm(fedprox, quick=True)["rho_prox=0.0: fedavg"].outcome == PASSED


def test_the_arguments_of_a_variant_have_its_traits():
    traits = Traits(translation=True, variants=(
        Variant({"a": 1}, {"translation": False}), Variant({"a": 1, "b": 2}, {"random": True})))
    assert traits.with_arguments({}) == traits and not traits.with_arguments({"a": 1, "c": 3}).translation
    assert traits.with_arguments({"a": 1, "b": 2}).random


# promises that are not kept ------------------------------------------------------------------------------------------------
BROKEN = {
    "translation": (Algorithm(correction=Decayed()), Traits(translation=True), "translation"),
    "orthogonal": (Algorithm(client=Signs()), Traits(orthogonal="all"), "orthogonal maps"),
    "units": (FedAvg(), Traits(units={"eta_l": LENGTH}), "units of the loss"),
    "idle": (Idle(), Traits(units={"eta_l": STEP, "mass": STEP}), "hyper-parameters act"),
    "tilt": (Algorithm(correction=Proximal(0.5)), Traits(tilt=Tilt({"dual": 1.0})), "linear terms"),
    "fixed point": (FedAvg(), Traits(fixed_point=FixedPoint()), "optimum"),
    "unknown array": (FedAvg(), Traits(fixed_point=FixedPoint(lambda f, x: ({"c": x}, {}))), "optimum"),
    "not attracted": (Algorithm(correction=Decayed()), Traits(fixed_point=FixedPoint()), "gets to the optimum"),
    "reduction": (Algorithm(correction=Decayed()), Traits(reductions=(Reduction("fedavg"),)), "always: fedavg"),
    "descent": (FedAvg(), Traits(reductions=(Reduction("gradient descent"),)), "always: gradient descent"),
    "law": (FedAvg(), Traits(laws=(Law("x rests", lambda a, f, old, new: (old.x, new.x)),)), "law: x rests"),
    "inequality": (FedAvg(), Traits(laws=(Law("x grows", lambda a, f, old, new: (old.x, new.x), "<="),)), "law: x grows"),
    "costs": (FedAvg(), Traits(costs=Costs(2, 1)), "declared costs"),
    "memory": (FedAvg(), Traits(costs=Costs(kept=1)), "declared memory"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_promise_that_is_not_kept_fails(case):
    method, traits, name = BROKEN[case]
    failing(method, name, traits=traits)


def test_a_promise_about_an_argument_that_it_lacks_does_not_apply():
    report = check_algorithm(fedavg, traits=Traits(units={"eta_l": STEP, "mass": STEP}), only=["units of the loss"])
    assert report.results[0].outcome == NOT_APPLICABLE and "mass" in report.results[0].reason


# what is reported ----------------------------------------------------------------------------------------------------------
def test_a_failure_names_the_smallest_federation():
    """Gradients at the broadcast model need two local steps to differ, one client, one dimension, one round."""
    class Stuck(FedAvg):
        def client_step(self, local, gradient, context):
            g = gradient(context.x[:, None, :] + 0 * local.x)
            return local._replace(x=local.x - self.step_size(context) * g)

    traits = Traits(reductions=(Reduction("fedavg"),))
    (result,) = failing(Stuck(), "always: fedavg", traits=traits).results
    case = result.case
    assert (case.clients, case.dim, case.rounds, case.local_steps, case.runs, case.sigma) == (1, 1, 1, 2, 1, 0.0)
    assert re.search(r"1 client, dim 1, 1 round .*2 local steps", str(result))
    start, curvature = case.start()[0, 0], case.federation().curvature.item()
    offset = start - case.federation().center.item()
    assert float(result.expected) == pytest.approx(start - offset + offset * (1 - 0.1 * curvature) ** 2, abs=1e-7)
    assert float(result.got) == pytest.approx(start - 2 * 0.1 * curvature * offset, abs=1e-7)


def test_a_failure_that_needs_two_clients_keeps_two():
    class Plain(FedAvg):
        def aggregate(self, upload, context):
            return upload.model.mean(1), {}

    (result,) = failing(Plain(), "split client").results
    assert result.case.clients == 2 and result.case.dim == result.case.rounds == result.case.local_steps == 1


def test_an_exception_is_a_failure_too():
    class Raising(ServerOptimiser):
        def step(self, average, context):
            if context.x.shape[0] > 1:
                raise RuntimeError("only one run\nat a time")
            return average, {}

    report = check_algorithm(Algorithm(server=Raising()), only=["batch", "descends"], quick=True)
    assert report["batch"].outcome == FAILED and "RuntimeError: only one run at a time" in report["batch"].reason
    assert report["descends"].outcome == PASSED


def test_the_report_prints_and_raises(capsys):
    report = check_algorithm(Algorithm(correction=Decayed(), name="decayed"), traits=Traits(translation=True),
                             only=["purity", "translation", "declared costs"])
    assert not report.ok and report.summary == "1 passed, 1 failed, 1 not applicable"
    with pytest.raises(AssertionError, match=r"decayed: 1 passed, 1 failed.*\ntranslation: failed"):
        report.raise_if_failed()
    report.print()
    printed = capsys.readouterr().out
    for text in (printed, str(report)):
        assert "decayed: 1 passed, 1 failed, 1 not applicable" in text and "expected" in text and "not declared" in text
    with pytest.raises(KeyError, match="'purty'; known: purity, translation"):
        report["purty"]


def test_an_exemption_is_shown_with_its_reason():
    traits = Traits(exempt={"descends": "it climbs"})
    (result,) = check_algorithm(FedAvg(), traits=traits, only=["descends"]).results
    assert str(result) == "descends: not applicable (declared: it climbs)"


@pytest.mark.parametrize(("action", "error", "message"), [
    (lambda: check_algorithm(3), TypeError, "Algorithm.*got 3"),
    (lambda: check_algorithm("fedavgg"), LookupError, "'fedavgg'.*'fedavg'"),
    (lambda: check_algorithm("fedavg", only=["purty"]), LookupError, "unknown property 'purty'; known: shapes"),
    (lambda: check_algorithm("fedavg", traits=Traits(exempt={"puri": "no"})), LookupError, "unknown property 'puri'"),
    (lambda: Traits(orthogonal="some"), ValueError, "unknown maps 'some'; allowed: '', 'all'"),
    (lambda: Law("x", lambda *states: states, "<"), ValueError, "unknown relation '<'; allowed: ==, <="),
])
def test_bad_input_is_one_clear_line(action, error, message):
    with pytest.raises(error, match=message) as caught:
        action()
    assert "\n" not in str(caught.value)


# the federations -----------------------------------------------------------------------------------------------------------
def test_cases_end_in_the_smallest_and_keep_what_is_left():
    for case in CASES:
        path = [case]
        while smaller := list(path[-1].smaller()):
            path.append(smaller[0])
        last = path[-1]
        assert (last.clients, last.dim, last.rounds, last.local_steps, last.runs, last.sigma) == (1, 1, 1, 1, 1, 0.0)
        assert all(before != after for before, after in pairwise(path))
    larger, smaller = Case(clients=5, dim=3, runs=2), Case(clients=2, dim=2, runs=1)
    for name in ("curvature", "center"):
        a, b = (getattr(case.federation(), name).numpy() for case in (larger, smaller))
        np.testing.assert_array_equal(a[:, :2, :2], b)
    np.testing.assert_array_equal(larger.start()[:1, :2], smaller.start())


def test_more_participants_than_clients_are_never_asked_for():
    case = Case(clients=6, participants=4).but(clients=2)
    assert case.participants == 2 and Case(clients=5, free=3).but(clients=2).free == 1


def test_own_federations_may_be_given():
    cases = [Case(clients=2, dim=1, rounds=2, local_steps=1, sigma=0.0, seed=9)]
    traits = Traits(reductions=(Reduction("fedavg"),))
    (result,) = failing(Algorithm(correction=Twice()), "always: fedavg", traits=traits, federations=cases).results
    assert result.case.seed == 9


def test_the_page_lists_every_property_with_its_meaning():
    page = (ROOT / "docs" / "conformance.md").read_text(encoding="utf-8")
    rows = [f"| {property.name} | {property.meaning} |" for property in PROPERTIES.values()]
    assert [line for line in page.splitlines() if line in rows] == rows
