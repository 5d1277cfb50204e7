"""Checks proofs that a claim is ill-posed: there is nothing of which it says anything.

Known are the hypotheses that can be read, what holds in every run (``always_true.py``), that the indices of the statement
lie in their ranges, and what both sides need for a value outside of sums. From these a proof by the steps of number_proof.py
shows that 0 > 0. So no numbers, sizes and functions meet the hypotheses and leave the statement an index at which it has a
value. Hypotheses may be left out, because what excludes some of them excludes all.
"""

from verify.checker import polynomials
from verify.checker.number_hypotheses import compared_sides, definition_of, enter_range, read_hypotheses
from verify.checker.number_proof import StepChecker
from verify.checker.operators import require
from verify.checker.polynomials import ZERO
from verify.checker.schema import STATED, keys, one_meaning, printed, stated

FORMAT = "fedtheory ill-posed 1"


def check(certificate):
    """(accepted, reason, "", "") of a proof that a claim is ill-posed."""
    keys(certificate, ("format", *STATED, "proof"), "a certificate", ("exists", "printed"))
    require(certificate["format"] == FORMAT, f"not a {FORMAT}")
    stated(certificate)
    printed(certificate)
    require(certificate["setting"] != "point" or certificate["procedure"]["base"] == "fedavg", "its losses are others")
    one_meaning({**certificate, "sizes": {}, "values": {}})
    polynomials.meter.spent = 0
    proof = keys(certificate["proof"], ("put", "steps"), "a proof", ("runs",))
    put = {name: definition_of(certificate, name, number) for name, number in proof["put"].items()}
    known, reader, names = premises(certificate, put, proof.get("runs") is True)
    known = StepChecker(reader).run(proof["steps"], known, names)
    require(known.implies(">", ZERO), "no step shows that 0 > 0")
    return True, "nothing meets the hypotheses and leaves the statement an index at which it has a value", "", ""


def premises(certificate, put, runs=False):
    """(what is known, the reader, the names of the statement's indices). ``runs``: whether the equations of the method are
    known too, instead of what holds in every run."""
    known, reader = read_hypotheses(with_choice(certificate), put, {}, runs)
    names, statement, needed = {}, certificate["statement"], []
    try:
        for name, low, high in statement["over"]:
            _, known, names = enter_range(reader, known, names, name, low, high)
        reader.assumed = needed if not statement["over"] else None  # an index may be missing only where it has no value
        reader.read_comparison(compared_sides(statement), known, names)
    except (ArithmeticError, LookupError, TypeError, ValueError):
        pass  # what it needs up to there is needed all the same
    reader.assumed = None
    for number, fact in enumerate(needed):
        known.add(f"the statement has a value {number}", fact)
    return known, reader, names


def with_choice(certificate):
    """The certificate with a number that is said to exist as any number of its interval."""
    if "exists" not in certificate:
        return certificate
    name, ends = certificate["exists"]["name"], zip(("low", "high"), certificate["exists"]["open"], strict=True)
    signs = {("low", False): ">=", ("low", True): ">", ("high", False): "<=", ("high", True): "<"}
    interval = [{"left": name, "relation": signs[end, without], "right": certificate["exists"][end], "over": []}
                for end, without in ends]
    return {**certificate, "free": {**certificate["free"], name: []},
            "hypotheses": [*certificate["hypotheses"], *interval]}
