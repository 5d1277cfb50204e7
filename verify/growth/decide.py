"""The verdict on a claim whose constants are hidden in O(.), from its growth along its limits."""

import math

from bounds.language.claim import Claim
from synthetic.numbers.arrays import Backend
from verify.claims.existential import runs_for_every_value
from verify.evaluation.environment import UNMEASURED
from verify.exact.certify import Refused, certify
from verify.exact.confirm import Violation, violation_of
from verify.exact.statement import not_replayed
from verify.growth.certificate import growth_certificate
from verify.growth.check import check, growth_ends
from verify.growth.growth import Growth, growth_of
from verify.growth.growth_search import EFFORTS, LARGE, GrowthCurve
from verify.growth.order import hides_logarithms, leaves_the_step_open, with_constant
from verify.instances.instance import outcomes
from verify.instances.parameters import Parameters
from verify.instances.resize import RUN_SIZES
from verify.instances.shape import Shape
from verify.results.verdict import Series, Verdict

__all__ = ["order_verdict"]

_LIKE_A_LOGARITHM = 0.2  # last exponent of a growth that hidden logarithms explain
_NONE = "no constant is large enough"


def order_verdict(case) -> Verdict:
    """The verdict on the claim of a case of the referee, which gets what is found on the way."""
    claim, settings = case.claim, case.settings
    if not claim.limits and claim.constants_may_use is None:
        text = "the statement hides its constants, and the claim names no limit (`limits`) along which it is meant"
        return case.undecided("limit", None, text)
    try:
        growth = _growth_within(claim, settings.budget, settings.seed, settings.backend)
    except UNMEASURED as reason:
        return case.unmeasured(reason)
    case.details |= {"instances": {"tried": growth.seen.tried, "met": growth.seen.met},
                     "growth": [str(curve) for curve in growth.curves], "not_followed": growth.reasons}
    case.series = tuple(_series(claim, curve) for curve in growth.curves if all(0 < r < math.inf for r in curve.ratios))
    if growth.members:
        return _refuted(case, growth)
    missing, text = _unrefuted(claim, growth)
    ratio = growth.seen.ratio if growth.seen.met else None
    return case.undecided(missing, ratio, text) if missing else case.verdict("consistent", ratio, text)


def _growth_within(claim: Claim, budget: str, seed: int, backend: Backend) -> Growth:
    """The result of the smallest budget that refutes the claim, else of the given one: a larger budget first repeats the
    search of the smaller one."""
    def accepts(along, members) -> bool | None:
        try:
            data = growth_certificate(claim, along, members)
            accepted = check(data, claim).accepted
            return None if not accepted and growth_ends(data, claim) else accepted
        except (ArithmeticError, ValueError):
            return False

    names, asked = list(EFFORTS), not leaves_the_step_open(claim) and not not_replayed(claim)
    for name in names[: names.index(budget) + 1]:
        growth = growth_of(claim, name, seed, backend, accepts if asked else None)
        if growth.confirmed:
            break
    return growth


def _refuted(case, growth: Growth) -> Verdict:
    claim, seen = case.claim, _growth_text(growth)
    if leaves_the_step_open(claim):
        return case.undecided("step", None, f"no step size is prescribed, and with one of our choice {_NONE}: {seen}")
    outcome = certify(claim, lambda: growth_certificate(claim, growth.limit, growth.members),
                       lambda data: check(data, claim), case.settings.out)
    if isinstance(outcome, Refused):
        case.details |= outcome.details
        return case.undecided("checker", None, f"{seen}; {outcome.why}")
    case.details["instance"] = outcome.data["members"][-1]["certificate"]
    worst = math.inf if growth.vanishing else float(growth.members[-1].constant)
    return case.verdict("refuted", worst, f"{_NONE}: {seen} ({_dependence(claim)})", outcome)


def _growth_text(growth: Growth) -> str:
    if growth.vanishing:
        more = f", and at {len(growth.members)} sizes of {growth.limit}" if len(growth.members) > 1 else ""
        return f"the right side is not positive, the left is, on an exact instance{more}"
    curve = next(t for t in reversed(growth.curves) if str(t.limit) == growth.limit)
    constants = ", ".join(f"{float(m.constant):.4g}" for m in growth.members)
    return f"exact counterexamples with the constants {constants}; {curve}"


def _dependence(claim: Claim) -> str:
    if claim.constants_may_use is None:
        moving = ", ".join(str(s) for s, _ in claim.limits)
        return f"the same instance throughout: constants may depend on all but {moving}"
    return f"constants may depend on {', '.join(claim.constants_may_use) or 'nothing'}"


def _unrefuted(claim: Claim, growth: Growth) -> tuple[str, str]:
    """A word for what is missing, empty where the claim is consistent, and the evidence."""
    followed = "; ".join(map(str, growth.curves))
    if growth.unconfirmed and claim.exists is not None:
        return "growth", (f"float64 sees growth along {growth.unconfirmed} at the best {claim.exists.name}, and exact "
                          f"arithmetic follows no growth of an order of a number that exists; {followed}")
    if growth.unconfirmed:
        return "growth", (
            f"float64 sees growth along {growth.unconfirmed} that exact arithmetic does not confirm, or that shows nothing: "
            f"runs have hardly begun, or a term of the right side is not outgrown; {followed}")
    if growth.with_chance:
        return "growth", (f"the ratio grows for as long as all outcomes of chance can be enumerated, which shows nothing of "
                          f"longer runs: {growth.with_chance}; {followed}")
    if not growth.curves:
        return "path", "no limit could be followed: " + "; ".join(growth.reasons)
    if not any(map(any, (curve.ratios for curve in growth.curves))) and not any(growth.chance_until.values()):
        return "growth", f"the left side is 0 on every instance that was followed, which shows nothing: {followed}"
    open_limits = [r for r in growth.reasons if _matters(claim, r)]
    if open_limits:
        return "path", f"not followed along {'; '.join(open_limits)}; {followed}"
    if claim.constants_may_use is not None and any(_is_beyond(claim, *instance) for instance in growth.seen.beyond):
        return "growth", f"ratios beyond {LARGE:g} exist, and no steady growth was found; {followed}"
    def open_still(curve: GrowthCurve) -> bool:
        if hides_logarithms(claim) and curve.fit.last < _LIKE_A_LOGARITHM:
            return False
        return curve.fit.rising if curve.lost else not curve.fit.level

    if any(open_still(curve) for curve in growth.curves if not curve.along_scales):
        return "growth", f"the ratio grows, but by too little or too unsteadily to decide: {followed}"
    return "", (f"the ratio does not grow along its limits, largest {growth.seen.ratio:.3g} in {growth.seen.met} instances "
                f"that meet the hypotheses; {followed}; {_dependence(claim)}; {_rests_on(claim, growth)}")


def _is_beyond(claim: Claim, shape: Shape, params: Parameters) -> bool:
    """Whether a ratio beyond ``LARGE`` is none of rounding; of runs with a number that exists that would take too long."""
    if runs_for_every_value(claim):
        return True
    return isinstance(violation_of(with_constant(claim, int(LARGE)), shape, params), Violation)


def _rests_on(claim: Claim, growth: Growth) -> str:
    """Describe the evidence for a verdict of no growth, and its limits."""
    chance = claim.constants_may_use is not None or any(math.prod(outcomes(t.members[-1].shape)) > 1 for t in growth.curves)
    runs = "runs with few outcomes of chance" if chance else "runs without noise"
    kind = runs if claim.setting == "run" else "numbers"
    reached = ", ".join(f"{curve.limit} {'up' if curve.sizes[-1] >= curve.sizes[0] else 'down'} to {curve.sizes[-1]:g}"
                        for curve in growth.curves)
    short = "".join(f", on runs with chance with {name} up to {size}" for name, size in growth.chance_until.items() if size)
    return f"this rests on {kind} with {reached}{short}, and says nothing beyond"


def _matters(claim: Claim, reason: str) -> bool:
    """Whether a limit that was not followed leaves the claim open: scales do only where a limit is none of a size; a size
    that the claim names as no limit does not."""
    if not claim.limits:
        return False
    sizes = {*RUN_SIZES, *(v.name for v in claim.variables if v.domain == "integer")}
    return not reason.startswith("scale:") or any(str(symbol) not in sizes for symbol, _ in claim.limits)


def _series(claim: Claim, curve: GrowthCurve) -> Series:
    """The ratio of both sides against the size along a limit, beside its value at the smallest."""
    return Series(f"{claim.id}: growth along {curve.limit}", str(curve.limit), "left side over right side", curve.sizes,
                  curve.ratios, [curve.ratios[0]] * len(curve.ratios), decides=False,
                  note=f"exponent {curve.fit.slope:.2f} over the last octaves")
