"""Checks proofs on letters with the standard library and the files of this folder alone.

A certificate has multipliers of inequalities that hold for every federation of the class (``Letters``). Where the larger
side of the statement, less the smaller one and these multiples, is a sum of squares, the statement holds at its sizes and
numbers for every federation of the class in every dimension.
"""

from verify.checker.form import STATED, keys, one_meaning, sized, stated, texts, valued
from verify.checker.forms import combined, nonnegative
from verify.checker.letters import Letters
from verify.checker.limits import written
from verify.checker.words import require

FORMAT = "fedtheory proof 1"
GIVEN = ("sizes", "values", "unknown", "proofs")


def check(certificate):
    """(accepted, reason, "", "")."""
    require(isinstance(certificate, dict) and certificate.get("format") == FORMAT, f"not a {FORMAT}")
    keys(certificate, ("format", *STATED, *GIVEN), "a proof")
    stated(certificate)
    sized(certificate)
    free, unknown = certificate["free"], texts(certificate["unknown"], "unknown")
    given = valued(certificate["values"], free, certificate["sizes"])
    require({*unknown} <= {*free} and len({*unknown}) == len(unknown), "numbers without a value must be free names")
    require(all(name.isidentifier() for name in unknown), "numbers without a value have names of letters, digits and _")
    for name in free:
        kinds = (name in certificate["sizes"], name in given, name in unknown)
        require(sum(kinds) == 1, f"{name} must be a size, a value or a number without one; it is {sum(kinds)} of these")
        require(name not in unknown or free[name] in ([], ["clients"]), f"{name} is no number")
    require(isinstance(certificate["proofs"], list), "proofs must be a list")
    proofs = [{name: written(number) for name, number in keys(proof, (), "a proof", proof).items()}
              for proof in certificate["proofs"]]
    one_meaning(certificate)
    require(certificate["statement"]["relation"] != ">", "a sum of squares proves no strict inequality")
    letters = Letters(certificate, certificate["sizes"], given, unknown)
    pairs, inequalities = [*letters.compared(certificate["statement"])], letters.inequalities()
    known, spend = inequalities | letters.equalities(), letters.meter.spend
    require(len(proofs) == len(pairs), f"{len(pairs)} pairs of sides need as many proofs; got {len(proofs)}")
    for number, (multipliers, (smaller, larger)) in enumerate(zip(proofs, pairs, strict=True)):
        require({*multipliers} <= {*known}, f"nothing known is called {', '.join({*multipliers} - {*known})}")
        if negative := [n for n in inequalities if multipliers.get(n, 0) < 0]:
            return False, f"multipliers of inequalities are negative in proof {number}: {', '.join(negative)}", "", ""
        if not nonnegative(larger - smaller - combined(known, multipliers, spend), spend):
            return False, f"what is left in proof {number} is not a sum of squares", "", ""
    return True, "proven: the statement is a sum of what is known and of squares", "", ""
