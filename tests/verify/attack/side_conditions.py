"""True lemmas about numbers, each with what it needs to be true; what is left of one without any of this is false.

Every variable's domain is widened and every condition is dropped in turn. Of what results, the statements count that the
stand-alone checker finds broken, or without a value, at numbers that all hypotheses admit. None of these may be proven.
"""

import json
import tempfile
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from random import Random

from bounds.language.claim import Claim
from bounds.registry.user_claims import load_claims
from tests.verify.attack.table import Table
from verify.checker.instance import Instance
from verify.checker.operators import COMPARE, FORMAT, breaks
from verify.checker.schema import SIZES
from verify.exact.statement import statement_of
from verify.prove.number_certificates import number_certificate

__all__ = ["DROPPED", "LEMMAS", "TRUE", "attack_side_conditions", "broken_at", "damaged", "lemma"]

TRUE, DROPPED = "true lemma about numbers", "side condition of a lemma dropped or widened"

POS, NON, REAL = "positive", "nonnegative", "real"
FROM_0, FROM_1 = "integer from 0", "integer from 1"

#: name -> variables, statement, conditions
LEMMAS: dict[str, tuple[dict[str, str], str, tuple[str, ...]]] = {
    # powers and roots
    "an even power": ({"b": POS, "x": REAL}, "0 <= b**(2*x)", ()),
    "an even power is added": ({"b": POS, "x": REAL, "c": POS}, "c <= c + b**(2*x)", ()),
    "a power of a power": ({"a": POS, "x": REAL, "y": REAL}, "(a**x)**y == a**(x*y)", ()),
    "a power of a product": ({"a": POS, "b": POS, "x": REAL}, "(a*b)**x == a**x*b**x", ()),
    "a power of a quotient": ({"a": POS, "b": POS, "x": REAL}, "(a/b)**x == a**x/b**x", ()),
    "a root of a square": ({"b": NON}, "sqrt(b**2) <= b", ()),
    "a root of a product": ({"a": NON, "b": NON}, "sqrt(a)*sqrt(b) == sqrt(a*b)", ()),
    "a root of a quotient": ({"a": NON, "b": POS}, "sqrt(a/b) == sqrt(a)/sqrt(b)", ()),
    "a root of a sum": ({"a": NON, "b": NON}, "sqrt(a + b) <= sqrt(a) + sqrt(b)", ()),
    "roots grow": ({"a": NON, "b": REAL}, "sqrt(a) <= sqrt(b)", ("a <= b",)),
    "a root of what is large": ({"a": REAL}, "sqrt(a) <= a", ("a >= 1",)),
    "a root of a reciprocal": ({"a": POS}, "sqrt(1/a)*a >= 0", ()),
    "means": ({"a": NON, "b": NON}, "2*sqrt(a*b) <= a + b", ()),
    "squares are compared": ({"a": REAL, "b": NON}, "a <= b", ("a**2 <= b**2",)),
    "powers of what is large": ({"a": REAL, "x": REAL}, "1 <= a**x", ("a >= 1", "x >= 0")),
    "powers of what is small": ({"a": NON, "x": REAL}, "a**x <= 1", ("a <= 1", "x >= 0")),
    "powers rise with the exponent": ({"a": REAL, "x": REAL, "y": REAL}, "a**x <= a**y", ("a >= 1", "x <= y")),
    "powers rise with the base": ({"a": NON, "b": REAL, "x": REAL}, "a**x <= b**x", ("a <= b", "x >= 0")),
    "powers of what is small fall": ({"a": NON, "n": FROM_1}, "a**n <= a", ("a <= 1",)),
    "Bernoulli": ({"a": REAL, "n": FROM_1}, "1 + n*a <= (1 + a)**n", ("a >= -1",)),
    "a power beside an exponential": ({"a": NON, "x": REAL}, "a**x <= exp(x*(a - 1))", ("x >= 0",)),
    "a power of what is not negative": ({"a": NON, "x": NON}, "0 <= a**x", ()),
    "an even whole power": ({"b": REAL, "n": FROM_0}, "0 <= b**(2*n)", ()),
    "a power is a product of powers": ({"b": NON, "x": NON}, "b**(x + 2) == b**2*b**x", ()),
    "a square of what is small": ({"x": REAL}, "x**2 <= x", ("x >= 0", "x <= 1")),
    "a whole square": ({"n": FROM_1}, "n <= n**2", ()),
    "powers of two": ({"n": FROM_1}, "1 + n <= 2**n", ()),
    # logarithms and exponentials
    "a tangent of the logarithm": ({"a": POS}, "log(a) <= a - 1", ()),
    "a logarithm from below": ({"a": POS}, "1 - 1/a <= log(a)", ()),
    "a logarithm of a product": ({"a": POS, "b": POS}, "log(a*b) == log(a) + log(b)", ()),
    "a logarithm of a power": ({"a": POS, "x": REAL}, "log(a**x) == x*log(a)", ()),
    "a logarithm of a square": ({"a": POS}, "log(a**2) == 2*log(a)", ()),
    "logarithms grow": ({"a": POS, "b": REAL}, "log(a) <= log(b)", ("a <= b",)),
    "a logarithm of what is large": ({"a": REAL}, "0 <= log(a)", ("a >= 1",)),
    "a logarithm next to one": ({"a": REAL}, "log(1 + a) <= a", ("a > -1",)),
    "an exponential of a quotient": ({"a": POS}, "1 + 1/a <= exp(1/a)", ()),
    "an exponential of what is negative": ({"a": REAL}, "exp(a) <= 1", ("a <= 0",)),
    "an exponential of a root": ({"a": NON}, "1 + sqrt(a) <= exp(sqrt(a))", ()),
    # quotients
    "a quotient at most one": ({"a": REAL, "b": POS}, "a/b <= 1", ("a <= b",)),
    "reciprocals fall": ({"a": POS, "b": REAL}, "1/b <= 1/a", ("a <= b",)),
    "a factor is cancelled": ({"x": REAL, "y": REAL, "a": POS}, "x <= y", ("x*a <= y*a",)),
    "a factor is multiplied": ({"x": REAL, "y": REAL, "a": NON}, "x*a <= y*a", ("x <= y",)),
    "both are divided": ({"x": REAL, "y": REAL, "a": POS}, "x/a <= y/a", ("x <= y",)),
    "a difference divides": ({"x": REAL}, "(x**2 - 1)/(x - 1) == x + 1", ("x > 1",)),
    "partial fractions": ({"n": FROM_1}, "1/(n*(n + 1)) == 1/n - 1/(n + 1)", ()),
    "a share": ({"a": NON, "b": POS}, "a/(a + b) <= 1", ()),
    "a share is less": ({"a": NON, "b": POS}, "a/(a + b) < 1", ()),
    "a geometric limit": ({"q": "nonnegative below 1"}, "1 <= 1/(1 - q)", ()),
    "a step of a chain": ({"n": FROM_1, "m": FROM_1, "y": REAL}, "1/(n**2 - 2*m**2 - 1) <= y/(n**2 - 2*m**2 - 1)",
                          ("n**2 - 2*m**2 - 1 <= (n**2 - 2*m**2 - 1)*y", "n**2 >= 2*m**2 + 2")),
    "the end of a chain": ({"n": FROM_1, "m": FROM_1, "y": REAL}, "1 <= y",
                           ("n**2 - 2*m**2 - 1 <= (n**2 - 2*m**2 - 1)*y", "n**2 >= 2*m**2 + 2")),
    "quotients are added": ({"a": REAL, "b": POS, "c": REAL, "d": POS}, "a/b + c/d == (a*d + b*c)/(b*d)", ()),
    "Young": ({"x": REAL, "y": REAL, "a": POS}, "2*x*y <= a*x**2 + y**2/a", ()),
    "Young of a sum": ({"x": REAL, "y": REAL, "a": POS}, "(x + y)**2 <= (1 + a)*x**2 + (1 + 1/a)*y**2", ()),
    "a number by its size": ({"x": REAL}, "x/Abs(x) <= 1", ("x > 0",)),
    "the larger by one": ({"a": POS, "b": REAL}, "1 <= Max(a, b)/a", ()),
    "by the smaller": ({"a": POS, "b": POS}, "1/a <= 1/Min(a, b)", ()),
    "a whole factor": ({"a": REAL, "n": FROM_1}, "1 <= n*a", ("a >= 1",)),
    "a square is positive": ({"x": POS}, "x**2 > 0", ()),
    "a quotient rounded": ({"a": NON, "b": POS}, "0 <= floor(a/b)", ()),
    # sums and products
    "a mean of one number": ({"n": FROM_1, "a": POS}, "a <= Sum(a/n, (i, 0, n-1))", ()),
    "a mean of any number": ({"n": FROM_1, "x": REAL}, "Sum(x/n, (i, 1, n)) == x", ()),
    "a mean of differences": ({"n": FROM_1, "m": FROM_1, "a": POS}, "a <= Sum(a/(n - 2*m - 3), (i, 1, n - 2*m - 3))",
                              ("n >= 2*m + 4",)),
    "a mean over a range": ({"n": FROM_1, "m": FROM_1, "a": POS}, "Sum(a/(n - m + 1), (i, m, n)) == a", ("m <= n",)),
    "a product of quotients": ({"a": POS, "b": POS, "n": FROM_0}, "Product(a/b, (i, 1, n)) == (a/b)**n", ()),
    "a product of one number": ({"a": POS, "n": FROM_0}, "Product(a, (i, 1, n)) == a**n", ()),
    "a product that telescopes": ({"n": FROM_1}, "Product(1 - 1/(i + 1), (i, 1, n)) == 1/(n + 1)", ()),
    "a product that telescopes from anywhere": ({"n": FROM_1, "a": POS},
                                                "Product(1 - 1/(i + a), (i, 1, n)) == a/(n + a)", ()),
    "a sum of one number": ({"a": POS, "m": FROM_0, "n": FROM_0}, "Sum(a, (i, m, n)) == (n - m + 1)*a", ("m <= n + 1",)),
    "the first numbers": ({"n": FROM_0}, "Sum(i, (i, 1, n)) == n*(n + 1)/2", ()),
    "a geometric sum": ({"a": POS, "n": FROM_0}, "Sum(a**i, (i, 0, n-1))*(1 - a) == 1 - a**n", ()),
    "a geometric sum below": ({"q": "nonnegative below 1", "n": FROM_0}, "Sum(q**i, (i, 0, n-1)) <= 1/(1 - q)", ()),
    "a geometric sum backwards": ({"a": POS, "n": FROM_1}, "Sum(a**(-i), (i, 0, n)) >= 0", ()),
    "a harmonic sum": ({"n": FROM_1, "m": FROM_1}, "Sum(1/i, (i, m, n)) >= 0", ()),
    "numbers that are not negative": ({"n": FROM_0, "s": "nonnegative[n]"}, "0 <= Sum(s[i], (i, 0, n-1))", ()),
    "the first of them": ({"n": FROM_1, "s": "nonnegative[n]"}, "0 <= s[0]", ()),
    "the last of them": ({"n": FROM_1, "s": "nonnegative[n]"}, "0 <= s[n-1]", ()),
    "factors of at least one": ({"n": FROM_0, "s": "nonnegative[n]"}, "1 <= Product(1 + s[i], (i, 0, n-1))", ()),
    "a product beside an exponential": ({"n": FROM_0, "s": "nonnegative[n]"},
                                        "Product(1 + s[i], (i, 0, n-1)) <= exp(Sum(s[i], (i, 0, n-1)))", ()),
    "bounded terms": ({"n": FROM_0, "a": NON, "s": "nonnegative[n]"}, "Sum(a*s[i], (i, 0, n-1)) <= n*a",
                      ("s[i] <= 1 for i in 0..n-1",)),
    "a mean of bounded terms": ({"n": FROM_1, "s": "real[n]"}, "1 <= Sum(s[i]/n, (i, 0, n-1))",
                                ("s[i] >= 1 for i in 0..n-1",)),
    "a recursion": ({"n": "integer from 2", "a": POS, "s": "nonnegative[n]"}, "s[n-1] <= n",
                    ("s[i+1] <= a*s[i] + 1 for i in 0..n-2", "a <= 1", "s[0] <= 1")),
    "a contraction": ({"n": FROM_1, "q": "nonnegative below 1", "c": NON, "s": "real[n]"},
                      "s[n-1] <= q**(n-1)*s[0] + c/(1 - q)", ("s[i+1] <= q*s[i] + c for i in 0..n-2",)),
    "an expansion": ({"n": FROM_1, "b": POS, "c": NON, "s": "nonnegative[n]"},
                     "s[n-1] <= (1 + b)**(n-1)*s[0] + c*((1 + b)**(n-1) - 1)/b",
                     ("s[i+1] <= (1 + b)*s[i] + c for i in 0..n-2",)),
    "a sum of decreases": ({"n": FROM_1, "e": POS, "s": "nonnegative[n]", "h": "nonnegative[n]"},
                           "e*Sum(h[i], (i, 0, n-2)) <= s[0]", ("s[i+1] <= s[i] - e*h[i] for i in 0..n-2",)),
    "reciprocals of squares": ({"n": FROM_1}, "Sum(1/i**2, (i, 1, n)) <= 2 - 1/n", ()),
    "the first squares": ({"n": FROM_0}, "Sum(i**2, (i, 1, n)) == n*(n + 1)*(2*n + 1)/6", ()),
    "a product above a sum": ({"n": FROM_0, "s": "nonnegative[n]"},
                              "1 + Sum(s[i], (i, 0, n-1)) <= Product(1 + s[i], (i, 0, n-1))", ()),
    "a product of what is left": ({"n": FROM_0, "s": "nonnegative[n]"},
                                  "Product(1 - s[i], (i, 0, n-1)) >= 1 - Sum(s[i], (i, 0, n-1))",
                                  ("s[i] <= 1 for i in 0..n-1",)),
    "squares of a sum": ({"n": FROM_0, "s": "nonnegative[n]"}, "Sum(s[i]**2, (i, 0, n-1)) <= Sum(s[i], (i, 0, n-1))**2", ()),
    "numbers that rise": ({"n": FROM_1, "s": "real[n]"}, "s[i] >= s[0] for i in 0..n-1",
                          ("s[i+1] >= s[i] for i in 0..n-2",)),
    "a logarithm of a root": ({"a": POS}, "log(sqrt(a)) == log(a)/2", ()),
    "a weighted mean": ({"n": FROM_1, "p": "simplex[n]", "s": "real[n]"}, "Sum(p[i]*s[i], (i, 0, n-1)) <= 1",
                        ("s[i] <= 1 for i in 0..n-1",)),
    "the largest of numbers": ({"n": FROM_1, "s": "nonnegative[n]"}, "0 <= Max(s[i], (i, 0, n-1))", ()),
    # lengths
    "a multiple of a vector": ({"a": NON, "v": "vector"}, "norm(a*v) == a*norm(v)", ()),
    "Young of vectors": ({"a": POS, "v": "vector", "w": "vector"},
                         "norm2(v + w) <= (1 + a)*norm2(v) + (1 + 1/a)*norm2(w)", ()),
    "a part of a vector": ({"a": POS, "v": "vector", "w": "vector"}, "norm(v) <= norm(v + w/a) + norm(w)/a", ()),
    "a vector by its length": ({"v": "vector"}, "norm(v)/norm2(v) >= 0", ("norm2(v) >= 1",)),
}

#: widened domains; of whole numbers see _wider
_WIDER = {POS: (NON, REAL), NON: (REAL,), "nonnegative below 1": (NON, "real below 1"), "simplex[n]": ("nonnegative[n]",),
          "nonnegative[n]": ("real[n]",)}
_GRID = [Fraction(n, 2) for n in (-6, -4, -2, -1, 0, 1, 2, 3, 4, 6)] + [Fraction(1, 4), Fraction(-1, 4)]
_MOST, _DRAWN = 1500, 40  # numbers at which a statement is looked at; entries for each of the other numbers


def _wider(domain: str) -> tuple[str, ...]:
    if domain.startswith("integer"):
        low = int(domain.rpartition(" ")[2])
        return (f"integer from {low - 1}", f"integer from {low - 3}", NON if low >= 0 else REAL)
    return _WIDER.get(domain, ())


@cache
def lemma(variables: tuple[tuple[str, str], ...], statement: str, conditions: tuple[str, ...]) -> Claim | None:
    """The claim of a lemma; None where its text is refused."""
    row = {"id": "mine/lemma", "setting": "algebra", "variables": dict(variables), "statement": statement,
           "conditions": [*conditions]}
    text = "[[claim]]\n" + "".join(f"{key} = {_toml(value)}\n" for key, value in row.items())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lemma.toml"
        path.write_text(text, encoding="utf-8")
        try:
            return load_claims(path)[0]
        except ValueError:
            return None


def _toml(value) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name} = {json.dumps(one)}" for name, one in value.items()) + "}"
    return json.dumps(value)


def damaged(name: str) -> Iterator[tuple[str, Claim, dict]]:
    """What is left of a lemma without one of its side conditions, in words and as a claim, and numbers at which it fails."""
    variables, statement, conditions = LEMMAS[name]
    cases = [(f"{v} is {wide}", variables | {v: wide}, conditions) for v, domain in variables.items()
             for wide in _wider(domain)]
    cases += [(f"without {c}", variables, tuple(other for other in conditions if other is not c)) for c in conditions]
    for said, own, kept in cases:
        claim = lemma(tuple(own.items()), statement, kept)
        if claim is not None and (numbers := broken_at(claim)) is not None:
            yield f"{name}: {said}", claim, numbers


def broken_at(claim: Claim) -> dict | None:
    """Numbers that all hypotheses admit, and at which the statement is broken or has no value; None if none are found."""
    stated, rng = statement_of(claim), Random(0)
    sizes = [v.name for v in claim.variables if v.domain == "integer"]
    ranges = [range(v.low, v.low + 8) if v.name in sizes else [None] if v.indices or v.domain == "vector" else _GRID
              for v in claim.variables]
    arrays = any(v.indices or v.domain == "vector" for v in claim.variables)
    points = [*product(*ranges)] * (_DRAWN if arrays else 1)
    for point in points if len(points) <= _MOST else rng.sample(points, _MOST):
        given = {v.name: value for v, value in zip(claim.variables, point, strict=True)}
        for v in claim.variables:
            if v.domain == "vector":
                given[v.name] = [rng.choice(_GRID)]
            elif v.indices:
                own = [rng.choice(_GRID) for _ in range(max(given["n"], 0))]
                total = sum(map(abs, own))
                given[v.name] = [abs(c) / total for c in own] if v.domain == "simplex" and total else own
        if given.get("n", 0) < 0 and any(v.indices for v in claim.variables):
            continue
        if _fails(stated, {n: given[n] for n in sizes}, {n: given[n] for n in given if n not in sizes}):
            return given
    return None


def _fails(stated: dict, sizes: dict[str, int], values: dict) -> bool:
    texts = {name: [*map(str, value)] if isinstance(value, list) else str(value) for name, value in values.items()}
    given = {"sizes": {**dict.fromkeys(SIZES, 1), **sizes}, "instance": {}, "values": texts}
    instance = Instance({"format": FORMAT, **stated, **given})
    try:
        for rule in stated["hypotheses"]:
            cases = instance.formulas.cases(rule)
            if not all(COMPARE[rule["relation"]](*instance.sides(rule, index, ())) for index in cases):
                return False
    except (ArithmeticError, LookupError, ValueError):
        return False
    rule = stated["statement"]
    try:
        return any(breaks(rule["relation"], *instance.sides(rule, index, ())) for index in instance.formulas.cases(rule))
    except (ArithmeticError, LookupError, ValueError):
        return True


def attack_side_conditions() -> Table:
    """Lets the prover try every lemma, and what is left of each without a side condition, which is false."""
    table = Table()
    for name, (variables, statement, conditions) in LEMMAS.items():
        claim = lemma(tuple(variables.items()), statement, conditions)
        if table.judge(TRUE, name, lambda claim=claim: number_certificate(claim)):
            table.accept(TRUE, name, lambda claim=claim: broken_at(claim) is None)
        for text, other, numbers in damaged(name):
            if table.judge(DROPPED, text, lambda other=other: number_certificate(other)):
                table.accept(DROPPED, text, lambda: False, f"fails at {numbers}")
    return table
