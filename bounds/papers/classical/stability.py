"""Uniform stability of stochastic gradient methods (Hardt, Recht, Singer 2016): gradient steps as maps."""

from bounds.language.claim import Assumption, Claim, Condition
from bounds.language.definitions import DEFINITIONS
from bounds.language.words import L, L_client, clients, eta_l, grad, k, mu, mu_client, norm2, x_local

__all__ = ["CLAIMS"]

ALL_CLIENTS = (k, 0, clients - 1)
SMOOTH = Assumption("classical/smooth", "every client is L-smooth", (Condition(L_client[k], "<=", L, (ALL_CLIENTS,)),))
JUST_CONVEX = Assumption(
    "classical/convex", "every client is convex", (Condition(mu_client[k], ">=", 0, (ALL_CLIENTS,)),))
CONVEX = Assumption(
    "classical/strongly-convex", "every client is mu-strongly convex", (Condition(mu_client[k], ">=", mu, (ALL_CLIENTS,)),))
one, two = x_local[0, k], x_local[0, 0]  # two points, taken from two clients, moved by the same client's gradient
step = eta_l[0]
apart = norm2(one - two)
moved_apart = norm2(one - two - step * (grad(k, one) - grad(k, two)))


def _claim(name: str, number: str, right, assumptions, *conditions) -> Claim:
    return Claim(
        f"classical/{name}", number, "control", "point", Condition(moved_apart, "<=", right, (ALL_CLIENTS,)), assumptions,
        conditions, "squared: both sides are non-negative", "Hardt, Recht, Singer 2016", definitions=DEFINITIONS)


CLAIMS = (
    _claim("sgd-expansive", "Lemma 3.6, 1", (1 + step * L) ** 2 * apart, (SMOOTH,)),
    _claim("sgd-nonexpansive", "Lemma 3.6, 2", apart, (SMOOTH, JUST_CONVEX), Condition(step, "<=", 2 / L)),
    _claim("sgd-contractive", "Lemma 3.6, 3", (1 - step * L * mu / (L + mu)) ** 2 * apart, (SMOOTH, CONVEX),
           Condition(step, "<=", 2 / (L + mu))),
)
