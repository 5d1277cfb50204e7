"""The statement that a potential of a method shrinks by a factor in every round, as a claim, and the file that proves it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import sympy as sp

from bounds.language.claim import Assumption, Claim, Condition, Procedure, Variable
from bounds.language.operators import (
    F_star,
    L_client,
    Sum,
    client_weight,
    clients,
    dot,
    eta_l,
    grad,
    iterations,
    k,
    mu_client,
    norm2,
    objective,
    objective_grad,
    r,
    rounds,
    sigma_sq_client,
    t,
    x_round,
    x_star,
)
from bounds.printing.render import condition_text, letters_of
from fedtheory.registry import find_algorithm
from verify.checker.operators import SENSELESS, senseless
from verify.checker.run import METHODS
from verify.exact.check import CheckResult, check
from verify.exact.statement import formula
from verify.symbolic.rounds import FROM_ANY_STATE
from verify.worst.configurations import Setting, instantiate

__all__ = ["PREFIX", "Contraction", "check_contraction", "potential_terms", "zeta_sq"]

PREFIX = "potential/"  # of the ids of these statements
zeta_sq = sp.Symbol("zeta_sq", nonnegative=True)
_CLIENTS = (k, 0, clients - 1)
_SIGNS = {"client_variate": 1, "client_dual": -1, "server_duals": -1}  # at an optimum: so many times the client's gradient
_WORDS = {True: "true", False: "false", None: "null"}
_FORM = "NAME=VALUE words: method, clients, L, mu, the method's arguments, rate, cost, and weights V:TERM"


@dataclass(frozen=True)
class Contraction:
    """The statement that for all functions F_k of curvatures in [mu, L], in every dimension, every number R of rounds and
    any start

    ``|x_R - x_star|^2 <= rate^R V_0 + floor zeta_sq``, with ``floor = cost / (1 - rate)`` and zeta_sq at least the mean of
    ``|grad F_k(x_star)|^2``.

    Attributes:
        method, arguments: the method and its hyper-parameters, exact.
        weights: of the ``terms`` of the potential V.
        rate, cost: V after a round is at most ``rate`` V before it and ``cost`` times zeta_sq.
    """

    method: str
    arguments: tuple[tuple[str, Any], ...]
    clients: int
    L: Fraction
    mu: Fraction
    weights: tuple[tuple[str, Fraction], ...] = ()
    rate: Fraction = Fraction(1)
    cost: Fraction = Fraction(0)

    def __post_init__(self):
        if self.method not in FROM_ANY_STATE:
            raise ValueError(f"a potential is known of {', '.join(FROM_ANY_STATE)}; got {self.method!r}")
        own = find_algorithm(self.method).arguments
        if unknown := sorted({name for name, _ in self.arguments} - {*own}):
            raise ValueError(f"{self.method} takes no {', '.join(unknown)}; allowed: {', '.join(own)}")
        if (count := self._argument("participants")) not in (None, self.clients):
            raise ValueError(f"a potential is one of rounds with all clients; got participants = {count}")
        if not isinstance(step := self._argument("eta_l"), Fraction) or step <= 0:
            raise ValueError(f"eta_l must be a positive number; got {step!r}")
        if not 0 < self.mu < self.L:
            raise ValueError(f"mu must lie between 0 and L = {self.L}; got {self.mu}")
        if not 0 <= self.rate <= 1 or self.cost < 0 or (self.cost > 0 and self.rate == 1):
            raise ValueError(f"a rate is from 0 to 1, below 1 with a cost of at least 0; got {self.rate}, {self.cost}")
        if type(self.clients) is not int or self.clients < 1:
            raise ValueError(f"clients must be a whole number of at least 1; got {self.clients}")

    def _argument(self, name: str):
        """An argument of the method, exact where it is a number."""
        value = dict(self.arguments).get(name, find_algorithm(self.method).arguments.get(name))
        return Fraction(str(value)) if isinstance(value, int | float) and not isinstance(value, bool) else value

    @property
    def floor(self) -> Fraction:
        """The bound on |x_R - x_star|^2 as R goes to infinity, in units of zeta_sq."""
        return self.cost / (1 - self.rate) if self.cost else Fraction(0)

    def divided(self, curvature: Fraction) -> "Contraction":
        """The question without weights, with ``curvature`` as the unit of curvature."""
        units = find_algorithm(self.method).traits.units or {}

        def value_in_units(name: str) -> Any:
            value, (of_loss, of_length) = self._argument(name), units.get(name, (0, 0))
            if of_length + 2 * of_loss:
                raise ValueError(f"{name} has a unit of length, which a potential has not")
            return value / curvature**of_loss if of_loss and isinstance(value, Fraction) else dict(self.arguments)[name]

        names = dict.fromkeys([*(name for name, _ in self.arguments), *(name for name in units if units[name][0])])
        return replace(self, arguments=tuple(
            (name, value_in_units(name)) for name in names if self._argument(name) is not None),
            L=self.L / curvature, mu=self.mu / curvature)

    # words ---------------------------------------------------------------------------------------------------------------
    @property
    def text(self) -> str:
        """The statement in words that :meth:`read` parses."""
        said = {"method": self.method, "clients": self.clients, "L": self.L, "mu": self.mu, **dict(self.arguments),
                "rate": self.rate, "cost": self.cost, **{f"V:{name}": weight for name, weight in self.weights}}
        return " ".join(f"{name}={_WORDS.get(value, value) if isinstance(value, bool | None) else value}"
                        for name, value in said.items())

    @classmethod
    def read(cls, text: str) -> "Contraction":
        """Parses :attr:`text`. Raises ValueError for any other text."""
        said: dict[str, Any] = {}
        for word in text.split(" "):
            name, equals, value = word.partition("=")
            if not equals or name in said:
                raise ValueError(f"expected {_FORM}, each once; got {word[:60]!r}")
            said[name] = _read_value(value)
        try:
            fixed = {name: said.pop(name) for name in ("method", "clients", "L", "mu", "rate", "cost")}
        except KeyError as error:
            raise ValueError(f"expected {_FORM}; {error.args[0]} is missing") from None
        weights = tuple((name[2:], said.pop(name)) for name in [*said] if name.startswith("V:"))
        numbers = [fixed[name] for name in ("L", "mu", "rate", "cost")] + [weight for _, weight in weights]
        if not isinstance(fixed["method"], str) or not all(isinstance(number, Fraction) for number in numbers):
            raise ValueError(f"expected numbers but for the method; got {text[:200]!r}")
        count = fixed.pop("clients")
        if not isinstance(count, Fraction) or count.denominator != 1:
            raise ValueError(f"clients must be a whole number of at least 1; got {count}")
        found = cls(arguments=tuple(said.items()), weights=weights, clients=int(count), **fixed)
        if found.text != text:
            raise ValueError(f"expected {found.text!r}; got {text[:200]!r}")
        return found

    # mathematics ---------------------------------------------------------------------------------------------------------
    @cached_property
    def potential(self) -> sp.Expr:
        """V of the state before round r."""
        known = potential_terms(self.method)
        if unknown := [name for name, _ in self.weights if name not in known]:
            raise ValueError(f"a potential of {self.method} has no term {unknown[0]!r}; allowed: {', '.join(known)}")
        return sp.Add(*(_rational(weight) * known[name] for name, weight in self.weights))

    @cached_property
    def claim(self) -> Claim:
        """The statement."""
        options = tuple(pair for pair in self.arguments if pair[0] not in ("eta_l", "local_steps", "participants"))
        right = _rational(self.rate) ** rounds * self.potential.xreplace({r: sp.Integer(0)})
        near, variables = (), ()
        if self.cost:
            right += _rational(self.floor) * zeta_sq
            near = (Condition(Sum(client_weight[k] * norm2(grad(k, x_star)), _CLIENTS), "<=", zeta_sq),)
            variables = (Variable(zeta_sq.name, "nonnegative"),)
        class_ = Assumption(f"{PREFIX}class", f"curvatures of clients from {self.mu} to {self.L}, full gradients", (
            Condition(L_client[k], "<=", _rational(self.L), (_CLIENTS,)),
            Condition(mu_client[k], ">=", _rational(self.mu), (_CLIENTS,)),
            Condition(sigma_sq_client[k], "<=", 0, (_CLIENTS,))))
        step = Condition(eta_l[t], "==", _rational(self._argument("eta_l")), ((t, 0, iterations - 1),))
        return Claim(
            PREFIX + self.method, "rate", "control", "run", Condition(norm2(x_round[rounds] - x_star), "<=", right),
            (class_,), (step, *near), self.text, None, "a potential that shrinks in every round", variables=variables,
            procedure=Procedure(self.method, options=options, equal_weights=True))

    @cached_property
    def setting(self) -> Setting:
        """The sizes and numbers of a proof."""
        steps = self._argument("local_steps") or Fraction(1)
        return instantiate(self.claim, {"clients": Fraction(self.clients), "local_steps": steps, "rounds": Fraction(1)})

    @property
    def in_checker(self) -> dict[str, Any]:
        """The potential as the checker reads it."""
        return {"value": formula(self.potential), "factor": str(self.rate),
                "cost": formula(_rational(self.cost) * zeta_sq)}

    @property
    def scope(self) -> str:
        """The rounds, functions and numbers for which it is stated, in one line."""
        given = ", ".join(f"{name} = {value}" for name, value in (
            ("clients", self.clients), *((name, value) for name, value in self.arguments if name != "participants")))
        return (f"every number of rounds, all functions F_k with curvatures from {self.mu} to {self.L}, in every dimension, "
                f"full gradients, any start; {given}")


def potential_terms(method: str) -> dict[str, sp.Expr]:
    """The terms of a method's potential for the state before round r, by name, simple ones first: inner products of the
    server's states and of means of the clients' states, means of inner products of the clients' states, all less their
    values at an optimum, and the objective's value and gradient."""
    server, own = {"x": x_round[r] - x_star}, {}
    for name in METHODS[method][1]:
        array = sp.IndexedBase(name, real=True)
        if name in _SIGNS:
            own[name] = array[r, k] - _SIGNS[name] * grad(k, x_star)
            server[f"mean_{name}"] = Sum(client_weight[k] * own[name], _CLIENTS)
        else:
            server[name] = array[r] - (x_star if name == "server_x_bar" else 0)
    server["gradient"] = objective_grad(x_round[r])
    own["gradient"] = grad(k, x_round[r]) - grad(k, x_star)
    found = {f"{one}.{other}": product for one, other, product in _inner_products(server)}
    found |= {f"each.{one}.{other}": Sum(client_weight[k] * product, _CLIENTS)
              for one, other, product in _inner_products(own)}
    found["value"] = objective(x_round[r]) - F_star
    return dict(sorted(found.items(), key=lambda pair: "gradient" in pair[0] or pair[0] == "value"))


def _inner_products(vectors: Mapping[str, sp.Expr]) -> Iterator[tuple[str, str, sp.Expr]]:
    names = [*vectors]
    for place, one in enumerate(names):
        for other in names[place:]:
            yield one, other, norm2(vectors[one]) if one == other else dot(vectors[one], vectors[other])


def _rational(value: Fraction) -> sp.Rational:
    return sp.Rational(value.numerator, value.denominator)


def _read_value(text: str) -> Any:
    for value, word in _WORDS.items():
        if text == word:
            return value
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        return text


# the file ----------------------------------------------------------------------------------------------------------------
def check_contraction(data: Mapping[str, Any]) -> CheckResult:
    """Whether a file proves, for every number of rounds, just what its ``reading`` spells out, at just these sizes and
    numbers; the reason says what this is."""
    try:
        said = Contraction.read(str(data.get("reading")))
        expected = said.setting._asdict() | {"potential": said.in_checker}
        if [{name: value for name, value in one.items() if name != "proofs"} for one in data["settings"]] != [expected]:
            return CheckResult(False, f"the proof is of other sizes, numbers or potentials than {said.text}")
        result = check(data, said.claim)
    except SENSELESS as error:
        senseless(error)
        return CheckResult(False, f"it cannot be read as a potential: {error}")
    statement = condition_text(said.claim.statement, letters_of(said.claim))
    return replace(result, reason=f"{said.method}: {statement}, for {said.scope}") if result.accepted else result
