"""The classical claims on local SGD, SCAFFOLD and stability as controls, each with false variants."""

from dataclasses import replace

import sympy as sp

from bounds.controls.fedavg import ALL_CLIENTS, FACTORS, Control
from bounds.language.claim import Claim, Condition
from bounds.language.samples import samples
from bounds.language.words import (
    G_sq,
    L,
    Sum,
    clients,
    eta_l,
    g,
    grad,
    i,
    k,
    local_steps,
    mu_client,
    norm2,
    r,
    sampled,
    sigma_sq,
    t,
    x,
    x_before,
    x_round,
)
from bounds.papers.classical import coupled, gradient_descent, local_sgd, rates, sampled_rates, scaffold, stability

__all__ = ["CONTROLS_CLASSICAL"]

CLASSICAL = {
    claim.id.split("/")[1]: claim
    for module in (gradient_descent, stability, scaffold, local_sgd, rates, sampled_rates, coupled)
    for claim in module.CLAIMS}


def _right(claim: Claim, right) -> Claim:
    return replace(claim, statement=replace(claim.statement, right=right))


def _control(name: str, divided=None, factors=FACTORS, **twins) -> Control:
    """A claim with its false variants: ``divided(claim, f)``, by default the right side over f, and those of ``twins``."""
    claim = CLASSICAL[name]
    divided = divided or (lambda c, f: _right(c, c.statement.right / f))
    found = {f"/{f}": divided(claim, f) for f in factors} | {label: make(claim) for label, make in twins.items()}
    return Control(claim, {label: replace(twin, id=f"control/{name}@{label}") for label, twin in found.items()})


def _in_right(old, new):
    return lambda claim: _right(claim, claim.statement.right.xreplace({old: sp.sympify(new)}))


def _in_left(old, new):
    return lambda claim: replace(
        claim, statement=replace(claim.statement, left=claim.statement.left.xreplace({old: sp.sympify(new)})))


def _any(*left_out):
    """Leaves out these assumptions and conditions."""
    return lambda claim: replace(claim, assumptions=tuple(a for a in claim.assumptions if a not in left_out),
                                 conditions=tuple(c for c in claim.conditions if c not in left_out))


def _any_step(claim: Claim) -> Claim:
    """The claim without its bounds on the step."""
    return replace(claim, conditions=tuple(c for c in claim.conditions if not (c.relation == "<=" and c.left in STEPS)))


STEPS = (local_sgd.eta, eta_l[t])
EQUAL_CURVATURE = Condition(mu_client[k], ">=", L, (ALL_CLIENTS,))
EXACT, JUST_CONVEX = gradient_descent.EXACT, gradient_descent.JUST_CONVEX
steps = local_sgd.noise_free_steps
shrunk = scaffold.shrunk
gradients = Sum(g[i, k], scaffold.local_times)


def _more_descent(claim: Claim, f) -> Claim:
    """The claim with f times the decrease along the gradient."""
    return _in_right(local_sgd.round_gradient, f * local_sgd.round_gradient)(claim)


CONTROLS_CLASSICAL = [
    *(_control(name) for name in (
        "gd-convex", "gd-distance", "gd-value", "gd-gradient", "sgd-expansive", "sgd-contractive", "sgd-stability-distance",
        "sgd-stability-convex")),
    _control("sgd-nonexpansive", **{"any: step": lambda c: replace(c, conditions=()), "any: convexity": _any(JUST_CONVEX)}),
    # drift and steps
    _control("drift-smooth", **{"as if convex": lambda c: _right(c, CLASSICAL["drift-convex"].statement.right * L**2),
                                "one step late": _in_right(steps, steps - 1)}),
    _control("drift-convex", **{"any: step": _any_step, "any: convexity": _any(JUST_CONVEX),
                                "exponent: of the steps": _in_right(steps**2, steps)}),
    _control("local-sgd-step", lambda c, f: _in_right(local_sgd.noise_of_mean, local_sgd.noise_of_mean / f)(c), **{
        "no spread": _in_right(local_sgd.spread, 0), "no noise": _in_right(local_sgd.noise_of_mean, 0)}),
    _control("local-gd-spread", **{"any: step": _any_step, "exponent: of the time": _in_right(
        local_sgd.past**2, local_sgd.past)}),
    _control("local-gd-step", **{"no drift": _in_right(local_sgd.start_gradients, 0)}),
    _control("local-sgd-one-optimum", **{
        "any: optima": _any(local_sgd.ONE_OPTIMUM), "no noise": _in_right(sigma_sq, 0), "any: step": _any_step}),
    # rounds
    _control("fedavg-round", _more_descent, **{"no drift": _in_right(local_sgd.local_drift, 0), "any: step": _any_step}),
    _control("fedavg-round-noise", _more_descent, factors=FACTORS[1:], **{
        "no drift": _in_right(local_sgd.local_drift, 0), "no noise": _in_right(local_sgd.noise_of_mean, 0)}),
    _control("fedavg-round-dissimilar", _more_descent, **{"no drift": _in_right(G_sq, 0), "any: step": _any_step}),
    _control("fedavg-equal-curvature", lambda c, f: _in_left(shrunk, shrunk / f)(c), **{
        "any: curvature": _any(EQUAL_CURVATURE), "any: noise": _any(EXACT),
        "exponent: of the factor": _in_left(shrunk, shrunk * (1 - local_sgd.eta * L))}),
    _control("sampling-variance", **{
        "no finite population": lambda c: _right(c, (clients - 1) / clients * Sum(
            norm2(x_before[t, k] - x[t]), ALL_CLIENTS)),
        "with replacement": lambda c: replace(c, procedure=replace(c.procedure, sampling="with-replacement"))}),
    # control variates
    _control("scaffold-new-variate", lambda c, f: _in_left(gradients, gradients / f)(c), **{
        "any: clients": _in_left(sampled[r, k], 1), "any: step": _any(local_sgd.CONSTANT_STEP),
        "option I": _in_left(gradients, local_steps * grad(k, x_round[r]))}),
    _control("scaffold-old-variate", factors=(), **{"any: clients": _in_left(sampled[r, k], 0)}),
    _control("scaffold-variate-lag", **{"any: clients": _in_left(sampled[r, k], 1), "any: noise": _any(EXACT)}),
    _control("scaffold-mean-step", lambda c, f: _in_left(gradients, gradients / f)(c), **{
        "any: sampling": lambda c: replace(c, procedure=replace(c.procedure, sampling="without-replacement"))}),
    _control("scaffold-drift-smooth", **{
        "as if convex": lambda c: _right(c, CLASSICAL["scaffold-drift-convex"].statement.right * L**2),
        "no correction": _in_right(scaffold.first_step, norm2(grad(k, x_round[r])))}),
    _control("scaffold-drift-convex", **{
        "any: step": _any_step, "any: convexity": _any(JUST_CONVEX), "any: noise": _any(EXACT)}),
    _control("scaffold-equal-curvature", lambda c, f: _in_left(shrunk, shrunk / f)(c), **{
        "any: curvature": _any(EQUAL_CURVATURE), "any: noise": _any(EXACT)}),
    # rates
    _control("fedavg-dissimilar-round", _more_descent, factors=FACTORS[1:], **{
        "no drift": _in_right(G_sq, 0), "any: step": _any_step}),
    _control("fedavg-dissimilar-nonconvex", factors=FACTORS[1:], **{
        "no drift": _in_right(G_sq, 0), "any: step": _any_step}),
    _control("fedavg-dissimilar-convex", **{"no drift": _in_right(G_sq, 0), "any: step": _any_step}),
    _control("scaffold-nonconvex", factors=FACTORS[2:], **{
        "no lag": _in_right(rates.lag_at_start, 0), "any: step": _any_step}),
    _control("scaffold-convex", **{"no lag": _in_right(rates.lag_at_start, 0), "any: noise": _any(EXACT)}),
    # rates with noise and sampled clients, whose constants leave room: only variants without a term
    *(_control(f"fedavg-sampled-{kind}", factors=(), **{
        "no noise": _in_right(sigma_sq, 0), "no dissimilarity": _in_right(G_sq, 0), "any: step": _any_step})
      for kind in ("round", "nonconvex", "strongly-convex", "convex")),
    _control("scaffold-sampled-nonconvex", factors=(), **{"no noise": _in_right(sigma_sq, 0), "any: step": _any_step}),
    _control("scaffold-merely-convex", factors=(), **{
        "no lag": _in_right(rates.lag_at_start, 0), "any: noise": _any(EXACT), "any: step": _any_step}),
    # neighbouring data
    _control("coupled-step-convex", **{
        "no growth": _in_right(coupled.G_lip, 0), "any: step": _any_step, "any: convexity": _any(JUST_CONVEX)}),
    _control("coupled-step-smooth", **{
        "as if convex": lambda c: _right(c, CLASSICAL["coupled-step-convex"].statement.right),
        "no growth": _in_right(coupled.G_lip, 0)}),
    _control("sgd-stability-first-use", **{"no use": _in_right(coupled.H_loss, 0)}),
    _control("local-sgd-stability-distance", **{"exponent: of the clients": _in_right(clients, clients**2)}),
    _control("local-sgd-stability-convex", **{
        "exponent: of the samples": _in_right(samples, samples**2), "any: convexity": _any(JUST_CONVEX)}),
]
