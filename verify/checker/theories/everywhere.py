"""Bounds that a hypothesis states at all points: what they say at the points of a run."""

from fractions import Fraction

from verify.checker.exchangeable_clients import is_common
from verify.checker.laurent_polynomials import CLIENTS
from verify.checker.operators import require
from verify.checker.piecewise_quadratic import BOUNDS
from verify.checker.quadratic_forms import NotQuadratic, SymbolicVector, effort, pairing


def facts(run):
    """Nonnegative forms by name: G^2 - |g|^2 of every gradient and stochastic gradient g, of a bound G_lip of the slopes of
    all samples' losses; s^2 - |grad F_k(x) - grad F(x)|^2 at every point x, of a bound s of clients' distances, and the same
    of a mean of these."""
    found, letters = {}, run.letters
    for name in run.instance.certificate["everywhere"]:
        require(name in BOUNDS, f"{name} bounds nothing at all points")
        bound = run.given[name]
        if name == "G_lip":
            rows = [g for points in letters.points for _, g, _ in points]
            rows += [g for seen in letters.noises.values() for _, g, _ in seen]
            found |= {f"{name} {number}": bound**2 - pairing(g, g) for number, g in enumerate(rows)}
        else:
            found |= (of_one if run.people.one else of_each)(run, name, bound)
    return found


def of_each(run, name, bound):
    """Returns the facts for clients one by one.

    sigma_g and sigma_g_1 bound a mean of lengths, whose square is at least the sum of squares of p_k times the lengths.
    """
    found = {}
    for number, x in enumerate(run.letters.places()):
        gradients = [run.letters.evaluation_at(k, x)[1] for k in run.clients]
        mean = sum((g * p for g, p in zip(gradients, run.weights, strict=True)), SymbolicVector({}))
        run.letters.meter.charge(sum(effort(g - mean, g - mean) for g in gradients))
        apart = [pairing(g - mean, g - mean) for g in gradients]
        if name in ("sigma_g_client", "sigma_g_max"):
            each = [bound if name == "sigma_g_max" else bound[k] for k in run.clients]
            found |= {f"{name} {number} {k}": each[k] ** 2 - apart[k] for k in run.clients}
        else:
            weights = run.weights if name == "sigma_g_2" else [p * p for p in run.weights]
            total = sum((w * a for w, a in zip(weights, apart, strict=True)), Fraction(0))
            found[f"{name} {number}"] = bound**2 - total
    return found


def of_one(run, name, bound):
    """Returns the facts for the client that stands for each, at the points that all have in common."""
    if name == "sigma_g_client" or (run.people.any_weights and name not in ("sigma_g_max", "sigma_g_2")):
        raise NotQuadratic(f"{name}, for every number of clients")
    found = {}
    for number, x in enumerate(filter(is_common, run.letters.places())):
        gradient = run.letters.evaluation_at(0, x)[1]
        apart = gradient - run.people.common(gradient)
        share = 1 if name in ("sigma_g_max", "sigma_g_2") else CLIENTS**-1
        found[f"{name} {number}"] = bound**2 - pairing(apart, apart) * share
    return found
