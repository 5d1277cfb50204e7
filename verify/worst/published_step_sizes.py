"""The largest local steps that theorems allow a method, at the numbers of a worst case, and how bad these steps are."""

from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from typing import NamedTuple

from bounds.language.claim import Claim
from bounds.language.operators import eta_l
from bounds.registry.claims import all_claims
from fedtheory.schedules import Tabulated
from synthetic.base.checks import whole
from verify.checker.quadratic_forms import plain
from verify.claims.needs import speaks_of_samples
from verify.exact.statement import formula, free_names, statement_of
from verify.symbolic.symbolic_run import SymbolicRun
from verify.worst.configurations import Template, instantiate
from verify.worst.coordinate_ascent import ERRORS
from verify.worst.feasibility import feasible
from verify.worst.method_worst_case import worst
from verify.worst.program import NotSolved

__all__ = ["PublishedStepSizes", "published_step_sizes"]

_KINDS = ("theorem", "corollary", "control")
_PLACES = (Template(), Template(step=Fraction(1, 3)))  # a step at both is bounded


class PublishedStepSizes(NamedTuple):
    """Local steps (iterations,), the claims that allow them and none larger, and the worst ratio of the method with them."""

    steps: tuple[float, ...]
    claims: tuple[str, ...]
    ratio: float

    def row(self) -> tuple[str, str]:
        """The claims that allow the steps, and the steps with their worst ratio, in words."""
        first, last = self.steps[0], self.steps[-1]
        steps = f"{first:.4g}" if first == last else f"{first:.4g}, ..., {last:.4g}"
        more = f" and {len(self.claims) - 1} more" * (len(self.claims) > 1)
        return f"{self.claims[0]}{more}", f"eta_l = {steps}: worst ratio {self.ratio:#.6g}"


def published_step_sizes(method: str, **question) -> list[PublishedStepSizes]:
    """The largest local steps that registered theorems and controls about a method allow, the best ones first. Leaves out
    claims whose conditions depend on numbers of their own that nothing bounds, and steps whose worst case is not solved
    reliably. ``question``: as in :func:`verify.worst.method_worst_case.worst`, of a method by its name.

    Raises:
        ValueError, LookupError: as :func:`worst`.
    """
    L = Fraction(str(question.get("L", 1)))
    mu = question.get("mu")
    given = {"rounds": whole("rounds", question.get("rounds", 1)), "clients": whole("clients", question.get("clients", 2)),
             "local_steps": whole("local_steps", question.get("local_steps", 1)),
             "L": L, "mu": L / 10 if mu is None else Fraction(str(mu))}
    allowed: dict[tuple[Fraction, ...], list[str]] = {}
    for claim in all_claims().values():
        about_runs = claim.kind in _KINDS and claim.setting == "run" and claim.procedure is not None
        if about_runs and claim.procedure.base == method:
            for steps in _steps_of_claim(claim, {name: Fraction(number) for name, number in given.items()}):
                allowed.setdefault(steps, []).append(claim.id)
    found = []
    for steps, claims in allowed.items():
        numbers = tuple(map(float, steps))
        alike = numbers[0] if len({*numbers}) == 1 else Tabulated(numbers)
        with suppress(NotSolved):
            found.append(PublishedStepSizes(numbers, (*claims,), worst(method, **question, eta_l=alike).ratio))
    return sorted(found, key=lambda one: one.ratio)


def _steps_of_claim(claim: Claim, given: dict[str, Fraction]) -> Iterator[tuple[Fraction, ...]]:
    """The steps of all iterations, where the conditions of a claim bound them and have no other fault at these numbers."""
    if claim.statement is None or not claim.explicit or speaks_of_samples(claim):
        return
    free, seen = free_names(claim), set()
    given = {name: number for name, number in given.items() if name in ("rounds", "clients", "local_steps") or name in free}
    for template in _PLACES:
        try:
            setting = feasible(claim, instantiate(claim, given, template))
            if any(setting.sizes[name] != given[name] for name in ("rounds", "clients", "local_steps")):
                return
            letters = SymbolicRun(statement_of(claim), *setting)
            steps = [letters.value(formula(eta_l[t]), {}, None) for t in range(setting.sizes["iterations"])]
            seen.add(tuple(map(plain, steps)))
        except ERRORS:
            return
    steps, *others = seen
    if not others and min(steps) > 0:
        yield steps
