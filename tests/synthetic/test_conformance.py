"""Every federation passes the checks of conformance.py, and every check finds a planted fault."""

from copy import copy
from dataclasses import replace
from functools import cache, partial

import pytest

from synthetic import NUMPY
from synthetic.base.constants import Constants
from tests.synthetic.conformance import CHECKS, FAMILIES, check_numpy
from tests.synthetic.conformance import check_clients as clients_
from tests.synthetic.conformance import check_curvature as curvature_
from tests.synthetic.conformance import check_gradient as gradient_
from tests.synthetic.conformance import check_heterogeneity as heterogeneity_
from tests.synthetic.conformance import check_instances as instances_
from tests.synthetic.conformance import check_lipschitz as lipschitz_
from tests.synthetic.conformance import check_minima as minima_
from tests.synthetic.conformance import check_samples as samples_
from tests.synthetic.conformance import check_smoothness as smoothness_
from tests.synthetic.families import each


@cache
def federation_of(family):
    return FAMILIES[family]()


@pytest.mark.parametrize("family", FAMILIES)
def test_every_federation_passes_every_check_and_is_the_same_on_numpy(family):
    federation = federation_of(family)
    for check in CHECKS:
        check(federation)
    check_numpy(federation, FAMILIES[family](NUMPY))


def scaled(*names, factor=0.5, provenance=None):
    """The federation with other values, or another provenance, of some constants."""

    def fault(federation):
        entries = dict(federation.constants)
        for name in names:
            entry = entries[name]
            entries[name] = replace(entry, value=entry.value * factor, provenance=provenance or entry.provenance)
        return _with(federation, constants=Constants(entries))

    return fault


def overriding(**functions):
    """The federation with methods replaced; each gets the original one first."""

    def fault(federation):
        return _with(federation, **{name: partial(new, getattr(federation, name)) for name, new in functions.items()})

    return fault


def _with(federation, **attributes):
    new = copy(federation)
    new.__dict__.update(attributes)
    return new


def moved(entries):
    return lambda federation: _with(federation, constants=Constants(
        dict(federation.constants) | {n: replace(federation.constants[n], value=federation.constants.value(n) + by)
                                      for n, by in entries.items()}))


def renamed(federation):
    """A federation that is not convex, and says that it is."""
    weak = federation.constants["weak_convexity_client"]
    entries = {n: c for n, c in federation.constants.items() if not n.startswith("weak")}
    zero = replace(weak, value=0 * weak.value)
    return _with(federation, constants=Constants(entries | {"mu": zero, "mu_client": zero}))


FAULTS = [
    (gradient_, "robust", overriding(gradient=lambda real, x, *a: 1.001 * real(x, *a))),
    (gradient_, "cosine-quadratic", lambda f: _with(f, phase=f.phase + 0.1, value=f.value)),
    (clients_, "flat-and-steep", overriding(gradient=lambda real, x, clients=None: real(x))),
    (clients_, "cosines, three instances", overriding(value=lambda real, x, clients=None: real(x.flip(0), clients))),
    (clients_, "perceptron", overriding(
        stochastic_gradient=lambda real, x, draws, t, clients=None: real(x, draws, t + x.shape[1], clients))),
    (instances_, "cosines, three instances", overriding(select=lambda real, rows: real([0]))),
    (instances_, "perceptron", overriding(select=lambda real, rows: real(rows).with_layers(1))),
    (smoothness_, "sigmoid", scaled("L_client", factor=0.05)),
    (smoothness_, "softplus", scaled("L_client", factor=2.0)),
    (smoothness_, "cosine-quadratic", scaled("L_client", factor=0.9)),
    (curvature_, "cosine-quadratic", scaled("weak_convexity_client", factor=0.5)),
    (curvature_, "geman-mcclure loss", renamed),
    (curvature_, "least-squares", scaled("mu_client", factor=4.0)),
    (heterogeneity_, "cosine-quadratic-equal", scaled("sigma_g_max", factor=1.01)),
    (heterogeneity_, "huber with tails", scaled("sigma_g_client", factor=0.8)),
    (heterogeneity_, "flat-and-steep", scaled("sigma_g_1", factor=0.9)),
    (heterogeneity_, "log-cosh loss", scaled("sigma_g_2", factor=0.1)),
    (lipschitz_, "log-cosh", scaled("G_lip_client", factor=0.9)),
    (lipschitz_, "log-cosh", scaled("G_lip_client", factor=1.3)),
    (lipschitz_, "flat-and-steep", scaled("G_client", factor=0.99)),
    (samples_, "welsch loss", scaled("L_sample_client", factor=0.3)),
    (samples_, "cosine-loss", scaled("H_loss", factor=0.8)),
    (samples_, "perceptron", overriding(sample_gradients=lambda real, x: real(x).flip(1))),
    (minima_, "cosine-quadratic", moved({"F_star_client": 0.05})),
    (minima_, "huber with tails", moved({"F_star": 0.3})),
    (minima_, "cosine-loss", moved({"F_inf": 0.5})),
]


@each("check, family, fault", FAULTS)
def test_every_check_finds_a_planted_fault(check, family, fault):
    check(federation_of(family))
    with pytest.raises(AssertionError):
        check(fault(federation_of(family)))


@each("fault", [
    scaled("L", factor=1.001), scaled("L", factor=1.0, provenance="lower"),
    overriding(value=lambda real, x, *a: real(x, *a) + 1e-6)])
def test_the_comparison_with_numpy_finds_a_planted_fault(fault):
    with pytest.raises(AssertionError):
        check_numpy(fault(federation_of("robust")), FAMILIES["robust"](NUMPY))


def test_every_check_has_a_fault():
    assert {check for check, *_ in FAULTS} == set(CHECKS)
