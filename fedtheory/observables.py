"""The quantities that a run can record: name, dimensions, unit and formula."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from synthetic.base.checks import nearest
from synthetic.numbers.arrays import add_up, all_true, namespace

__all__ = ["DEFAULT", "OBSERVABLES", "Observable", "find_observable", "observables_of"]


@dataclass(frozen=True)
class Observable:
    """A recorded quantity.

    ``when``: ``state`` (at the start and after every round: function of federation and global model ``x`` (runs, dim)),
    ``round`` (at a round's start: function of its RoundContext and Participation), ``participation`` (the same, of the
    federation and the Participation only), ``aggregation`` (at the end, of the federation and the Participation by which
    models were averaged), ``upload`` (function of the last RoundContext and the Upload), ``step`` (at a local step,
    whatever the local models are: function of its RoundContext) or ``iteration`` (function of the RoundContext, the
    Participation, local models and stochastic gradients (runs, clients, dim): recording these, and only these, needs
    every local step of every client). ``dims``: dimensions after run and time. ``known``: whether runs on a federation
    have it.
    """

    name: str
    when: str
    dims: tuple[str, ...]
    unit: str
    meaning: str
    measure: Callable[..., Any]
    known: Callable[[Any], bool] = lambda federation: True


def _square(v):
    return namespace(v).sum(v**2, axis=-1)


def _average(weight, values):
    """Sum of weight (runs, clients) times values (runs, clients, ...) over the clients that count."""
    xp = namespace(values)
    weight = weight.reshape(*weight.shape, *(1,) * (values.ndim - 2))
    if not all_true(weight != 0):
        values = xp.where(weight != 0, values, 0)
    return (weight * values).sum(1)


def _psi(context, participation):
    """Sum over the free clients that count of p_k Gamma_k / (1 + S)."""
    federation = context.federation
    return add_up(participation.virtual_weight * ~federation.priority * federation.constants.value("Gamma_client"))


def _drift(context, participation, x_local, gradient):
    average = _average(participation.virtual_weight, x_local)
    return _average(participation.virtual_weight, _square(x_local - average[:, None, :]))


def _max_gradient_sq(context, participation, x_local, gradient):
    xp = namespace(gradient)
    return xp.max(xp.where(participation.virtual_weight > 0, _square(gradient), 0), axis=-1)


def _eta(context):
    eta, x = context.algorithm.step_size(context), context.x
    if isinstance(eta, float) and hasattr(x, "new_full"):
        return x.new_full((x.shape[0],), eta)
    return namespace(x).zeros_like(x[:, 0]) + (eta[:, 0, 0] if getattr(eta, "ndim", 0) else eta)


_TABLE = (
    Observable("x", "state", ("dim",), "parameter", "global model", lambda f, x: x),
    Observable("objective", "state", (), "loss", "F(x)", lambda f, x: f.objective(x)),
    Observable("suboptimality", "state", (), "loss", "F(x) - F*", lambda f, x: f.suboptimality(x)),
    Observable("distance_sq", "state", (), "parameter^2", "|x - x*|^2", lambda f, x: _square(x - f.x_star)),
    Observable("gradient_norm_sq", "state", (), "(loss/parameter)^2", "|grad F(x)|^2",
               lambda f, x: _square(f.objective_gradient(x))),
    Observable("held_out_loss", "state", (), "loss", "mean loss of the held-out samples", lambda f, x: f.held_out_loss(x),
               lambda f: f.held_out_size > 0),
    Observable("held_out_accuracy", "state", (), "1", "share of the held-out samples classified correctly",
               lambda f, x: f.held_out_accuracy(x), lambda f: f.has_classes and f.held_out_size > 0),
    Observable("loss_client", "state", ("client",), "loss", "F_k(x)", lambda f, x: f.value(f.all_clients(x))),
    Observable("included", "participation", ("client",), "1", "I_k: whether client k counts", lambda m, p: p.included),
    Observable("aggregate_weight", "participation", ("client",), "1", "weight in the virtual average",
               lambda m, p: p.virtual_weight),
    Observable("weight", "aggregation", ("client",), "1", "weight in the aggregation", lambda m, p: p.weight),
    Observable("chi", "participation", (), "1", "1/(1 + S), the priority clients' share",
               lambda m, p: add_up(p.virtual_weight * m.federation.priority)),
    Observable("psi", "participation", (), "loss", "sum over included free k of p_k Gamma_k/(1 + S)", _psi),
    Observable("participants", "aggregation", (), "1", "clients with positive weight",
               lambda m, p: add_up(1.0 * (p.weight > 0))),
    Observable("downlink_floats", "upload", ("client",), "floats", "sent to each client",
               lambda m, upload: m.algorithm.floats(m, upload)[0]),
    Observable("uplink_floats", "upload", ("client",), "floats", "sent by each client",
               lambda m, upload: m.algorithm.floats(m, upload)[1]),
    Observable("gradients", "round", ("client",), "1", "stochastic gradients that each client evaluates",
               lambda m, p: m.algorithm.gradient_evaluations(m)),
    Observable("eta_l", "step", (), "parameter^2/loss", "local step", _eta),
    Observable("drift", "iteration", (), "parameter^2", "sum of pi_k |x_k - average|^2", _drift),
    Observable("weighted_gradient_sq", "iteration", (), "(loss/parameter)^2", "sum of pi_k |g_k|^2",
               lambda m, p, x, g: _average(p.virtual_weight, _square(g))),
    Observable("max_gradient_sq", "iteration", (), "(loss/parameter)^2", "largest |g_k|^2 of those that count",
               _max_gradient_sq),
    Observable("x_local", "iteration", ("client", "dim"), "parameter", "local models", lambda m, p, x, g: x),
    Observable("g", "iteration", ("client", "dim"), "loss/parameter", "stochastic gradients", lambda m, p, x, g: g),
)

#: every observable by name
OBSERVABLES = {observable.name: observable for observable in _TABLE}

#: the default observables of a run; all are known between rounds, so that every path applies
DEFAULT = ("x", "suboptimality", "distance_sq", "included", "chi", "psi", "eta_l")


def find_observable(name: str) -> Observable:
    """The observable of that name; an unknown name raises LookupError and suggests the nearest."""
    if name not in OBSERVABLES:
        raise nearest("observable", name, OBSERVABLES)
    return OBSERVABLES[name]


def observables_of(federation) -> list[str]:
    """Names of all observables that runs on the federation can record.

    Example:
        >>> from synthetic import make_problem
        >>> sorted(set(observables_of(make_problem("digits", held_out=0.2))) - set(observables_of(make_problem("digits"))))
        ['held_out_accuracy', 'held_out_loss']
    """
    return [name for name, observable in OBSERVABLES.items() if observable.known(federation)]
