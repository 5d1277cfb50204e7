"""Random statements about a few numbers: what the prover proves holds at all numbers at which the checker looks."""

import re
from random import Random

from tests.verify.attack.side_conditions import FROM_0, FROM_1, NON, POS, REAL, broken_at, lemma
from tests.verify.attack.table import Table
from verify.prove.number_certificates import number_certificate

__all__ = ["KIND", "attack_statements", "random_formula"]

KIND = "random statement about numbers"

_DOMAINS = {"a": (POS, NON, REAL), "b": (NON, REAL), "n": ("integer from -1", FROM_0, FROM_1), "m": (FROM_0, FROM_1),
            "x": (REAL, NON, "nonnegative below 1")}
_CONDITIONS = ("a <= b", "n >= m", "n >= m + 1", "x <= 1", "b >= 1", "a*b >= 1")
_EXPONENTS = ("x", "n", "m", "2*x", "2*n", "n - 1", "n + m", "x + 1")
_RANGES = ("(i, 1, n)", "(i, 0, n - 1)", "(i, 0, n)", "(i, m, n)", "(i, 1, n - m)", "(i, m, n - 1)")
_SHAPES = ("({0} + {1})", "({0} - {1})", "{0}*{1}", "({0})/({1})", "({0})/({1})", "({0})**2", "({0})**({2})", "({0})**({2})",
           "sqrt({0})", "log({0})", "Abs({0})", "Max({0}, {1})", "Sum({3}, {4})", "Product({3}, {4})")
_STATEMENTS = ("0 <= {0}", "{0} <= {0} + {1}", "{0}*({2}) <= ({0} + {3})*({2})", "{0} == {1}", "({0})/({2}) <= {1}")


def random_formula(rng: Random, depth: int, index: str = "") -> str:
    """A formula in the names of a few numbers, and of an index if one is given."""
    if depth == 0:
        return rng.choice([*_DOMAINS, "1", "2", *[index] * 3 * bool(index)])
    shape = rng.choice(_SHAPES[:-2] if index else _SHAPES)
    return shape.format(random_formula(rng, depth - 1, index), random_formula(rng, depth - 1, index), rng.choice(_EXPONENTS),
                        random_formula(rng, depth - 1, "i"), rng.choice(_RANGES))


def attack_statements(count: int, seed: int) -> Table:
    """Lets the prover try ``count`` random statements; what it proves must not fail at any numbers of a grid."""
    rng, table = Random(seed), Table()
    for _ in range(count):
        statement = rng.choice(_STATEMENTS).format(*(random_formula(rng, depth) for depth in (2, 2, 1, 1)))
        names = {*re.findall(r"\b[abnmx]\b", statement)}
        variables = tuple((name, rng.choice(domains)) for name, domains in _DOMAINS.items() if name in names)
        conditions = tuple(c for c in _CONDITIONS if rng.random() < 0.2 and {*re.findall("[a-z]", c)} <= names)
        claim = lemma(variables, statement, conditions) if names else None
        if claim is None:  # its text is refused, for one since something cancels
            continue
        text = f"{dict(variables)}, {conditions}: {statement}"
        if table.judge(KIND, text, lambda claim=claim: number_certificate(claim)):
            table.accept(KIND, text, lambda claim=claim: broken_at(claim) is None)
    return table
