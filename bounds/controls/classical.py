"""The classical claims on local SGD, SCAFFOLD and stability as controls, each with false variants."""

from dataclasses import replace

import sympy as sp

from bounds.controls.fedavg import ALL_CLIENTS, FACTORS, Control
from bounds.language.claim import Claim, Condition
from bounds.language.operators import (
    G_sq,
    L,
    Sum,
    clients,
    eta_l,
    grad,
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
from bounds.language.samples import G_lip, H_loss, samples
from bounds.registry.papers import claims_of_paper, formula_of

__all__ = ["CONTROLS_CLASSICAL"]

CLASSICAL = {name.split("/")[1]: claim for name, claim in claims_of_paper("classical").items()}


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


_, JUST_CONVEX, EXACT = CLASSICAL["drift-convex"].assumptions
CONSTANT_STEP, _, ONE_OPTIMUM = CLASSICAL["local-sgd-one-optimum"].conditions
EQUAL_CURVATURE = Condition(mu_client[k], ">=", L, (ALL_CLIENTS,))

# the parts of the claims that the false variants change
eta, steps, past, spread, start_gradients, noise_of_mean, local_drift, round_gradient = (
    formula_of("classical", "local_sgd", name) for name in (
        "eta", "noise_free_steps", "past", "spread", "start_gradients", "noise_of_mean", "local_drift", "round_gradient"))
lag_at_start = formula_of("classical", "rates", "lag_at_start")
shrunk, gradients, first_step = (
    formula_of("classical", "scaffold", text) for text in ("shrunk", "in_round(g[i, k])", "first_step"))
STEPS = (eta, eta_l[t])


def _more_descent(claim: Claim, f) -> Claim:
    """The claim with f times the decrease along the gradient."""
    return _in_right(round_gradient, f * round_gradient)(claim)


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
    _control("local-sgd-step", lambda c, f: _in_right(noise_of_mean, noise_of_mean / f)(c), **{
        "no spread": _in_right(spread, 0), "no noise": _in_right(noise_of_mean, 0)}),
    _control("local-gd-spread", **{"any: step": _any_step, "exponent: of the time": _in_right(
        past**2, past)}),
    _control("local-gd-step", **{"no drift": _in_right(start_gradients, 0)}),
    _control("local-sgd-one-optimum", **{
        "any: optima": _any(ONE_OPTIMUM), "no noise": _in_right(sigma_sq, 0), "any: step": _any_step}),
    # rounds
    _control("fedavg-round", _more_descent, **{"no drift": _in_right(local_drift, 0), "any: step": _any_step}),
    _control("fedavg-round-noise", _more_descent, factors=FACTORS[1:], **{
        "no drift": _in_right(local_drift, 0), "no noise": _in_right(noise_of_mean, 0)}),
    _control("fedavg-round-dissimilar", _more_descent, **{"no drift": _in_right(G_sq, 0), "any: step": _any_step}),
    _control("fedavg-equal-curvature", lambda c, f: _in_left(shrunk, shrunk / f)(c), **{
        "any: curvature": _any(EQUAL_CURVATURE), "any: noise": _any(EXACT),
        "exponent: of the factor": _in_left(shrunk, shrunk * (1 - eta * L))}),
    _control("sampling-variance", **{
        "no finite population": lambda c: _right(c, (clients - 1) / clients * Sum(
            norm2(x_before[t, k] - x[t]), ALL_CLIENTS)),
        "with replacement": lambda c: replace(c, procedure=replace(c.procedure, sampling="with-replacement"))}),
    # control variates
    _control("scaffold-new-variate", lambda c, f: _in_left(gradients, gradients / f)(c), **{
        "any: clients": _in_left(sampled[r, k], 1), "any: step": _any(CONSTANT_STEP),
        "option I": _in_left(gradients, local_steps * grad(k, x_round[r]))}),
    _control("scaffold-old-variate", factors=(), **{"any: clients": _in_left(sampled[r, k], 0)}),
    _control("scaffold-variate-lag", **{"any: clients": _in_left(sampled[r, k], 1), "any: noise": _any(EXACT)}),
    _control("scaffold-mean-step", lambda c, f: _in_left(gradients, gradients / f)(c), **{
        "any: sampling": lambda c: replace(c, procedure=replace(c.procedure, sampling="without-replacement"))}),
    _control("scaffold-drift-smooth", **{
        "as if convex": lambda c: _right(c, CLASSICAL["scaffold-drift-convex"].statement.right * L**2),
        "no correction": _in_right(first_step, norm2(grad(k, x_round[r])))}),
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
        "no lag": _in_right(lag_at_start, 0), "any: step": _any_step}),
    _control("scaffold-convex", **{"no lag": _in_right(lag_at_start, 0), "any: noise": _any(EXACT)}),
    # rates with noise and sampled clients, whose constants leave room: only variants without a term
    *(_control(f"fedavg-sampled-{kind}", factors=(), **{
        "no noise": _in_right(sigma_sq, 0), "no dissimilarity": _in_right(G_sq, 0), "any: step": _any_step})
      for kind in ("round", "nonconvex", "strongly-convex", "convex")),
    _control("scaffold-sampled-nonconvex", factors=(), **{"no noise": _in_right(sigma_sq, 0), "any: step": _any_step}),
    _control("scaffold-merely-convex", factors=(), **{
        "no lag": _in_right(lag_at_start, 0), "any: noise": _any(EXACT), "any: step": _any_step}),
    # neighbouring data
    _control("coupled-step-convex", **{
        "no growth": _in_right(G_lip, 0), "any: step": _any_step, "any: convexity": _any(JUST_CONVEX)}),
    _control("coupled-step-smooth", **{
        "as if convex": lambda c: _right(c, CLASSICAL["coupled-step-convex"].statement.right),
        "no growth": _in_right(G_lip, 0)}),
    _control("sgd-stability-first-use", **{"no use": _in_right(H_loss, 0)}),
    _control("local-sgd-stability-distance", **{"exponent: of the clients": _in_right(clients, clients**2)}),
    _control("local-sgd-stability-convex", **{
        "exponent: of the samples": _in_right(samples, samples**2), "any: convexity": _any(JUST_CONVEX)}),
]
