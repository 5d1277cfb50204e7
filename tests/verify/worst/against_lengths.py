"""Instances of claims about lengths, drawn as the search draws them, beside what is proven at their very numbers."""

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from bounds.language.claim import Claim
from synthetic.numbers.arrays import NUMPY, to_numpy
from verify.checker.schema import SIZES
from verify.claims.needs import speaks_of_samples
from verify.evaluation.environment import UNMEASURED, Environment
from verify.evaluation.judge import judge
from verify.exact.statement import definition_of, statement_of
from verify.instances.draw import draw_params, draw_shape
from verify.instances.shape import Shape
from verify.measure.simulate import simulate
from verify.symbolic.length_proof import rules_of
from verify.worst.lengths import find_proofs

__all__ = ["Seen", "factor_at", "seen"]

ERRORS = (ArithmeticError, *UNMEASURED)
_ROWS, _OUTCOMES, _ITERATIONS = 40, 64, 4


class Seen(NamedTuple):
    """The largest ratio left/right of a batch, and the factor of the larger side that is proven at the numbers of that
    instance; infinite where none is."""

    ratio: float
    factor: float


def seen(claim: Claim, seed: int, batches: int, most: int) -> Iterator[Seen]:
    """What is seen in random batches, of their worst instances that have at most ``most`` letters."""
    rng = np.random.default_rng(seed)
    for _ in range(batches):
        try:
            shape = draw_shape(claim, rng, _OUTCOMES, _ITERATIONS)
            with np.errstate(all="ignore"):
                environment = simulate(claim, shape, draw_params(claim, shape, _ROWS, rng), NUMPY)
                verdict = judge(claim, environment)
        except ERRORS:
            continue
        ratio = np.where(verdict.met & np.isfinite(verdict.ratio), verdict.ratio, -1.0)
        row = int(ratio.argmax())
        if ratio[row] <= 0:
            continue
        try:
            with np.errstate(all="ignore"):
                factor = factor_at(claim, shape, environment, row, most)
        except ERRORS:
            continue
        yield Seen(float(ratio[row]), float(factor))


def factor_at(claim: Claim, shape: Shape, environment: Environment, row: int, most: int) -> float:
    """The factor that is proven at the sizes and numbers of one instance. Raises what the proof raises."""
    stated, sizes = statement_of(claim), shape.as_sizes()
    free, own = stated["free"], {*SIZES, *["samples"] * speaks_of_samples(claim)}
    vectors = [name for name, kind in free.items() if kind == ["dim"]]
    sizes = {name: int(size) for name, size in sizes.items() if name in own or name in free}
    values = {}
    for name in free:
        if name not in sizes and name not in vectors:
            values[name] = definition_of(claim, name) or _written(environment.bound[name].data, row)
    parts = [Fraction(float(part)) for part in _entry(environment.bound["client_weight"].data, row)]
    weights = [str(part / sum(parts)) for part in parts]
    rules = rules_of({**stated, "sizes": sizes, "values": values, "vectors": vectors, "weights": weights})
    if len(rules.upstream) > most:
        raise ValueError(f"{len(rules.upstream)} letters are too many")
    pairs, known = rules.compared(stated["statement"]), rules.facts()
    factors = [one.factor for one in find_proofs(rules, known, pairs, True, False)]
    return max((np.inf if factor is None else factor for factor in factors), default=np.inf)


def _entry(data, row: int) -> np.ndarray:
    array = to_numpy(data)
    return array[min(row, len(array) - 1), 0, 0]


def _written(data, row: int):
    def text(entry):
        return [text(each) for each in entry] if entry.ndim else str(Fraction(float(entry)))

    return text(_entry(data, row))
