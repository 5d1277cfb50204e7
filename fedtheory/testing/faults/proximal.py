"""Faults of pulls and duals: FedProx, FedDyn, FedADMM, A-FedPD."""

from __future__ import annotations

from fedtheory.testing.faults.planting import Fault, spoiled_part
from synthetic.numbers.arrays import namespace

__all__ = ["FAULTS"]


def _spoiled(**functions):
    return spoiled_part("correction", **functions)


def _pulled(change, shifted=lambda shift, moment, local: shift):
    """Plants ``rho * change(x_k, moment, local)`` in place of ``rho (x_k - x)`` in the gradient."""
    def correct(self, original, g, local, moment):
        shift = self.shift(local, moment)
        shift = None if shift is None else shifted(shift, moment, local)
        g = g if shift is None else g + shift
        return g + self.pull(moment) * change(local.x, moment, local), local

    return _spoiled(correct=correct)


def not_on_the_fast_path(algorithm):
    """The correction says that it is affine in the model, and adds something else besides."""
    def correct(self, original, g, local, moment):
        g, local = original(g, local, moment)
        return g + 0.1 * local.x**3, local

    return _spoiled(correct=correct, fixed_in_round=True)(algorithm)


def nowhere(x, moment, local):
    return 0 * x


def first_step_only(x, moment, local):
    return (x - moment.x[:, None, :]) if moment.step == 0 else 0 * x


def unit_vector(x, moment, local):
    away = x - moment.x[:, None, :]
    xp = namespace(x)
    norm = xp.sqrt(xp.sum(away**2, axis=-1, keepdims=True))
    return away / xp.where(norm > 0, norm, norm + 1)


def unit_layers(x, moment, local):
    away, xp = x - moment.x[:, None, :], namespace(x)
    parts = []
    for layer in moment.federation.layers():
        norm = xp.sqrt(xp.sum(away[..., layer]**2, axis=-1, keepdims=True))
        parts.append(away[..., layer] / xp.where(norm > 0, norm, norm + 1))
    return xp.concat(parts, axis=-1)


def to_the_origin(x, moment, local):
    return x


def model_only(x, moment, local):
    return -moment.x[:, None, :] + 0 * x


def to_the_mean(x, moment, local):
    return x - namespace(x).mean(x, axis=1, keepdims=True)


def pushed_away(x, moment, local):
    return moment.x[:, None, :] - x


def halved(x, moment, local):
    return (x - moment.x[:, None, :]) / 2


def remembered(self, original, local, moment):
    return original(local, moment).with_own(before=local.x)


def one_step_behind(self, original, g, local, moment):
    """The reference is set anew before each step: the pull is to where the client was a step ago."""
    g = g + self.pull(moment) * (local.x - local.own["before"])
    return g, local.with_own(before=local.x)


def _dual(change):
    """Plants ``change(models, moment)`` in place of the change of FedDyn's h divided by rho."""
    def aggregate(self, original, average, upload, moment):
        rho = self.server_pull(moment)
        new = moment.state.server["dual"] + rho * change(upload.model, moment)
        return average + new / rho, {"dual": new}

    return _spoiled(aggregate=aggregate)


def bracket(models, moment):
    """``sum of x_k - x`` for ``sum of (x_k - x)``."""
    return moment.over_all(models) - moment.x / moment.federation.clients


def dual_turned(models, moment):
    return -moment.over_all(models - moment.x[:, None, :])


def over_the_drawn(models, moment):
    return moment.average(models - moment.x[:, None, :])


def dual_subtracted(self, original, average, upload, moment):
    average_and_dual, server = original(average, upload, moment)
    return 2 * average - average_and_dual, server


def dual_unscaled(self, original, local, moment):
    return local.own["dual"] + local.x - moment.x[:, None, :]


def dual_renewed_backwards(self, original, local, moment):
    return local.own["dual"] - self.pull(moment) * (local.x - moment.x[:, None, :])


def shift_turned(self, original, local, moment):
    return -original(local, moment)


def dual_replaced(self, original, local, moment):
    return self.pull(moment) * (local.x - moment.x[:, None, :])


def dual_divided_wrongly(self, original, average, upload, moment):
    average_and_dual, server = original(average, upload, moment)
    rho = self.server_pull(moment)
    return average + rho * rho * (average_and_dual - average), server


def drawn_duals_only(self, original, average, upload, moment):
    """The mean of the drawn clients' duals in place of the mean over all."""
    old, rho = moment.rows(moment.state.clients["dual"]), self.server_pull(moment)
    _, server = original(average, upload, moment)
    new = old + self.pull(moment) * (upload.model - moment.x[:, None, :])
    return average + moment.average(new) / rho, server


def newcomers_elsewhere(self, original, local, moment):
    """A client that takes part for the first time starts from the plain mean of the last uploads."""
    new = namespace(local.x).all(local.own["dual"] == 0, axis=-1, keepdims=True)
    plain = (moment.x - moment.state.server["dual"] / self.server_pull(moment))[:, None, :]
    return original(local._replace(x=namespace(local.x).where(new, plain, local.x)), moment)


def absent_left_alone(self, original, average, upload, moment):
    average, server = original(average, upload, moment)
    old = moment.state.server["duals"]
    duals = moment.put(old, moment.rows(server["duals"]))
    mean = moment.mean_over_all(duals)
    return server["x_bar"] + mean / self.server_pull(moment), server | {"duals": duals}


def after_the_average(self, original, local, kept, moment):
    """The dual of before the round is sent with the model."""
    return local.x + local.own["dual"] / self.pull(moment)


ONE_ROUND = "one round: fedavg on other losses"
FAULTS = (
    Fault("the proximal term is always zero: both models are one object", "fedprox", "KarhouTam/FL-bench#165",
          _pulled(nowhere), ("hyper-parameters act", ONE_ROUND)),
    Fault("the proximal term is lost after the first local step", "fedprox", "docs/peers.md, fault 10 (Flower)",
          _pulled(first_step_only), (ONE_ROUND, "hyper-parameters act")),
    Fault("the reference model is set anew before each step", "fedprox", "securefederatedai/openfederatedlearning#1634",
          _spoiled(begin=remembered, correct=one_step_behind), (ONE_ROUND,)),
    Fault("the norm in the proximal term is not squared", "fedprox", "flwrlabs/flower#2210; docs/peers.md, fault 11",
          _pulled(unit_vector), ("units of the parameter",)),
    Fault("norms of layers, not squared, are summed", "fedprox", "ki-ljl/FedProx-PyTorch#1", _pulled(unit_layers),
          ("units of the parameter", "orthogonal maps")),
    Fault("the term's first half is overwritten by its second", "fedprox", "alpemreacar/FedDyn#1", _pulled(model_only),
          ("translation",)),
    Fault("the pull is to the origin", "fedprox", "litian96/FedProx#22", _pulled(to_the_origin), ("translation",)),
    Fault("the pull is to the mean of the local models", "fedprox", "general", _pulled(to_the_mean),
          ("own data only", ONE_ROUND)),
    Fault("the pull is away from the broadcast model", "fedprox", "general", _pulled(pushed_away), (ONE_ROUND,)),
    Fault("the half of rho/2 survives the derivative", "fedprox", "litian96/FedProx#22", _pulled(halved), (ONE_ROUND,)),
    Fault("a fast path leaves out part of the correction", "fedprox", "general", not_on_the_fast_path, ("run and loop",)),
    Fault("FedDyn's h: sum of x_k - x for sum of (x_k - x)", "feddyn", "SMILELab-FL/FedLab#319; docs/peers.md, fault 9",
          _dual(bracket), ("translation", "common optimum")),
    Fault("FedDyn's h has the wrong sign", "feddyn", "general", _dual(dual_turned),
          ("law: lam is the mean of the lam_k", "gets to the optimum")),
    Fault("h is added where it must be subtracted", "feddyn", "TsingZ0/PFLlib#29", _spoiled(aggregate=dual_subtracted),
          ("gets to the optimum", "all clients: fedpd")),
    Fault("h is divided by the clients drawn", "feddyn", "TsingZ0/PFLlib#29", _dual(over_the_drawn),
          ("law: lam is the mean of the lam_k",)),
    Fault("h is multiplied by rho where it must be divided", "feddyn", "general", _spoiled(aggregate=dual_divided_wrongly),
          ("units of the loss", "all clients: fedpd")),
    Fault("the dual enters the gradient with the wrong sign", "feddyn", "general",
          _spoiled(shift=shift_turned), ("optimum", "linear terms")),
    Fault("the dual's change has the wrong sign", "feddyn", "docs/peers.md, fault 4 (Fluke)",
          _spoiled(renewed=dual_renewed_backwards), ("law: lam is the mean of the lam_k", "gets to the optimum")),
    Fault("rho is missing in the dual's change", "feddyn", "alpemreacar/FedDyn#2", _spoiled(renewed=dual_unscaled),
          ("units of the loss", "law: lam is the mean of the lam_k")),
    Fault("the dual is replaced, not changed", "feddyn", "general", _spoiled(renewed=dual_replaced),
          ("law: lam is the mean of the lam_k", "linear terms")),
    Fault("FedDyn's penalty does not reach the gradient", "feddyn", "docs/peers.md, fault 8 (FedLab)",
          _pulled(nowhere, nowhere), ("all clients: fedpd", "optimum")),
    Fault("the norm in FedDyn's penalty is not squared", "feddyn", "unc-optimization/FedDR#1", _pulled(unit_vector),
          ("units of the parameter",)),
    Fault("with some clients a round only their duals are averaged", "feddyn", "docs/peers.md, fault 5 (Fluke)",
          _spoiled(aggregate=drawn_duals_only), ("optimum",)),
    Fault("a client's first round starts from another model", "feddyn", "docs/peers.md, fault 6 (Fluke)",
          _spoiled(begin=newcomers_elsewhere), ("linear terms",)),
    Fault("absent clients' duals are not updated", "afedpd", "afedpd 3.4, virtual dual update",
          _spoiled(aggregate=absent_left_alone), ("law: mean dual = rho_prox * step of x_bar",)),
    Fault("the model is sent with the dual of before the round", "fedadmm", "afedpd 3.2 against 3.3",
          _spoiled(sent_model=after_the_average), ("all clients: fedpd",)),
)
