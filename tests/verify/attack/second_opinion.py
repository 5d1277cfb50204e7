"""Whether an instance refutes its claim, by the engine on exact numbers, which shares no code with the checker; and whether
random federations refute what a proof says."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

from bounds.language.claim import Claim, Condition, names_in
from synthetic.numbers.arrays import BALLS, EXACT, NUMPY
from synthetic.numbers.balls import Undecided
from synthetic.numbers.roots import Irrational
from tests.verify.attack.table import NoOpinion
from verify.claims.needs import needs_lipschitz
from verify.evaluation.environment import Environment
from verify.evaluation.judge import exact_violation, judge
from verify.exact import balls, comparison
from verify.exact.replay import _values_of, rerun
from verify.instances.chance import chance_of
from verify.instances.draw import draw_params
from verify.instances.instance import outcomes
from verify.instances.parameters import Parameters
from verify.instances.piecewise import PiecewiseClients
from verify.instances.quadratic import QUADRATIC
from verify.instances.shape import Shape
from verify.measure.simulate import simulate

__all__ = ["disproves", "refutes", "restated"]

_BITS = 1024
_ROWS, _BATCHES, _OUTCOMES = 100, 8, 128
_MORE_CLIENTS = (0, 1, 3)  # than the least number of a proof for every number
_PLACES = 60  # between which a number that is said to exist is asked for
_LARGE = 1000  # ends of ranges that are looked at
_NOTHING = 1e-12  # of random federations, whose numbers are about 1: smaller sides are rounding
_SURE = 1e-6  # a violation, relative to both sides, that no rounding explains


def refutes(data: Mapping[str, Any], claim: Claim) -> bool:
    """Whether the engine finds that the certificate's instance, with its values, meets all hypotheses and breaks the
    statement, for sure; with a number that is said to exist, wherever it is asked and meets the conditions on it.

    Raises:
        Undecided: the engine cannot tell, as of a number that may be 0, by which another one that may be 0 is divided.
    """
    found = {_broken(data, claim, place, also=False) for place in _places(claim)}
    if "also" in data:
        found |= {_broken(data | {"values": data["also"]["values"]}, claim, place, also=True) for place in _places(claim)}
    if "undecided" in found:
        raise Undecided("balls overlap")
    counts = {v.name for v in claim.variables if v.domain == "integer"}
    alone = claim.exists and any(
        (names_in(c.left) | names_in(c.right)) - counts == {claim.exists.name} for c in claim.hypotheses)
    return "broken" in found and found <= {"broken", *(["unmet"] if alone else [])}


def _places(claim: Claim) -> list[str]:
    """Places of a number that is said to exist in its interval, whose open ends are left out."""
    if claim.exists is None:
        return ["1"]
    return [str(Fraction(place, _PLACES)) for place in range(claim.exists.open_low, _PLACES + 1 - claim.exists.open_high)]


def _broken(data: Mapping[str, Any], claim: Claim, place: str, also: bool) -> str:
    """``broken``, or why not."""
    def chosen(environment: Environment) -> Environment:
        found = environment.also if also else environment
        assert found is not None
        found.also = None
        return found

    try:
        found = exact_violation(claim, chosen(rerun(data, claim, EXACT, place=place)))
        return found if isinstance(found, str) else "broken"
    except (Irrational, TypeError, ValueError):
        pass
    from flint import ctx

    before, ctx.prec = ctx.prec, _BITS
    try:
        found = balls._certain(claim, chosen(rerun(data, claim, BALLS, place=place)), balls._NOTHING)
        return found if isinstance(found, str) else "broken"
    except Undecided:
        return "undecided"
    finally:
        ctx.prec = before


# proofs ------------------------------------------------------------------------------------------------------------------
def disproves(data: Mapping[str, Any], claim: Claim, seed: int) -> bool:
    """Whether a random federation, at a setting of a proof, meets all hypotheses of the claim and breaks its statement.
    Numbers without a value are the tightest that the hypotheses admit. Of every number of clients some are looked at."""
    return any(_broken_at(data | one, claim, seed) for setting in data["settings"] for one in _of_some_clients(setting))


def _of_some_clients(setting: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The setting, or where it has a degree those of its number of clients and of two larger ones, of which the checker
    looks at the first alone; weights that may be any are far apart."""
    if "degree" not in setting:
        yield setting
        return
    for more in _MORE_CLIENTS:
        count = setting["sizes"]["clients"] + more
        parts = [2**k if setting["weights"] == "any" else 1 for k in range(count)]
        yield {**setting, "sizes": setting["sizes"] | {"clients": count, "participants": count},
               "weights": [str(Fraction(part, sum(parts))) for part in parts]}


def _broken_at(data: Mapping[str, Any], claim: Claim, seed: int) -> bool:
    rng, values = np.random.default_rng(seed), _values_of(claim, data, NUMPY)
    bounds, looked_at = {name: values[name] for name in data["everywhere"] if name in values}, False
    for _ in range(_BATCHES):
        shape, params = _federations(data, claim, rng)
        open_ones = {name: array for name, array in params.items() if name not in values}
        verdict = judge(claim, simulate(claim, shape, open_ones, NUMPY, values=values), least=_NOTHING)
        met = verdict.met & _within(bounds, claim, shape, open_ones, values)
        looked_at |= bool(met.any())
        if (met & (verdict.score > _SURE)).any():
            return True
    if bounds and not looked_at:
        raise NoOpinion("no federation has constants over all points as small as the proof says")
    return False


def _within(bounds: Mapping[str, Any], claim: Claim, shape: Shape, params: Parameters,
            values: Mapping[str, Any]) -> np.ndarray:
    """Which federations have constants over all points that are no larger than the values of a proof, (rows,)."""
    found = np.ones(_ROWS, dtype=bool)
    if bounds:
        others = {name: value for name, value in values.items() if name not in bounds}
        measured = simulate(claim, shape, params, NUMPY, values=others).bound
        for name, bound in bounds.items():
            if name not in measured:
                return np.zeros(_ROWS, dtype=bool)
            found &= (measured[name].data <= bound.data).reshape(len(measured[name].data), -1).all(axis=1)
    return found


def restated(data: Mapping[str, Any], claim: Claim) -> Claim:
    """The claim with the statement and the hypotheses of a changed proof, which must state nothing else that is changed.

    Raises:
        ValueError: something else is changed, or a range may be too long to look at.
    """
    if any(abs(number) > _LARGE for number in _integers([data["statement"], data["hypotheses"]])):
        raise ValueError("a range may be too long to look at")
    if any(not other.startswith(("the statement", "hypothesis ")) for other in comparison.differences(data, claim)):
        raise ValueError("more is changed than the statement and the hypotheses")
    read = comparison._Reader(comparison._of_claim(claim))

    def condition(line: Mapping[str, Any]) -> Condition:
        left, relation, right, over = read.line(line)
        return Condition(left, relation, right, tuple((read.names(index, False), low, high) for index, low, high in over))

    kept = tuple(map(condition, data["hypotheses"][: len(claim.hypotheses)]))
    bare = tuple(replace(assumption, conditions=()) for assumption in claim.assumptions)  # what is said of all points stays
    return replace(claim, statement=condition(data["statement"]), assumptions=bare, conditions=kept)


def _integers(node: Any) -> Iterator[int]:
    if isinstance(node, int):
        yield node
    elif isinstance(node, dict | list):
        for part in node.values() if isinstance(node, dict) else node:
            yield from _integers(part)


def _constant(data: Mapping[str, Any], name: str, otherwise: float) -> float:
    """The number by which a hypothesis bounds the clients' constant."""
    for rule in data["hypotheses"]:
        if isinstance(rule["left"], list) and rule["left"][0] == name:
            right = data["values"].get(rule["right"]) if isinstance(rule["right"], str) else rule["right"]
            return float(Fraction(right)) if isinstance(right, str | int) else otherwise
    return otherwise


def _federations(data: Mapping[str, Any], claim: Claim, rng: np.random.Generator) -> tuple[Shape, Parameters]:
    """Random federations of the sizes of a proof, mostly near the ends of the classes of functions that it is about."""
    sizes = data["sizes"]
    high = _constant(data, "L_client", 1.0)
    low, variance = _constant(data, "mu_client", -high), _constant(data, "sigma_sq_client", 1.0)
    families = (PiecewiseClients(int(rng.integers(1, 4))), QUADRATIC)
    shape = Shape(
        clients=sizes["clients"], rounds=sizes["rounds"], local_steps=sizes["local_steps"], dim=int(rng.integers(1, 3)),
        participants=sizes["participants"], sampling=claim.procedure.sampling if claim.procedure else "full",
        sizes=tuple((name, size) for name, size in sizes.items() if name not in Shape().as_sizes()),
        noisy=tuple(k for k in range(sizes["clients"]) if variance and rng.random() < 0.7),
        family=families[not needs_lipschitz(claim) and rng.random() < 0.5],
        chance=chance_of(claim.procedure, claim.variables))
    while prod(outcomes(shape)) > _OUTCOMES and shape.noisy:
        shape = replace(shape, noisy=shape.noisy[1:])
    params = draw_params(claim, shape, _ROWS, rng) | {
        "weight": np.broadcast_to([float(Fraction(p)) for p in data["weights"]], (_ROWS, shape.clients))}
    each, row = (_ROWS, shape.clients, shape.dim), (_ROWS, 1, 1)
    bottom = np.where(rng.random(row) < 0.5, max(low, high / 1000), rng.uniform(max(low, 0), high, row))
    if shape.family is QUADRATIC:
        share = np.where(rng.random(row) < 0.6, rng.integers(0, 2, each), rng.random(each))
        params["curvature"] = bottom + (high - bottom) * share
    else:
        slope = params["piece_slope"] if low < 0 else abs(params["piece_slope"])
        scale = (high - max(low, 0)) / (params["tail"] + abs(slope).sum(axis=2)).max(axis=(1, 2), keepdims=True)
        params |= {"tail": params["tail"] * scale + max(low, 0), "piece_slope": slope * scale[..., None]}
    params["start_offset"] = params["start_offset"] * 10 ** rng.uniform(-2, 1.5, (_ROWS, 1))
    params["center"] = params["center"] * 10 ** rng.uniform(-3, 1, row) * (rng.random(row) < 0.8)
    if shape.noisy:
        length = np.linalg.norm(params["noise"], axis=-1, keepdims=True).clip(1e-9)
        params["noise"] = params["noise"] / length * 2 * variance**0.5 * np.where(rng.random(row) < 0.7, 1, rng.random(row))
    return shape, params
