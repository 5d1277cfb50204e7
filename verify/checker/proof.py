"""Checks proofs on letters with the standard library and the files of this folder alone.

At each of its settings a certificate has multipliers of inequalities that hold for every federation of the class
(``Letters``). Where the larger side of the statement, less the smaller one and these multiples, is a sum of squares, the
statement holds at these sizes and numbers for every federation of the class in every dimension. A setting with a ``degree``
is one for every number of clients from its own on (``EveryNumber``).
"""

from fractions import Fraction

from verify.checker.at_a_number import agrees
from verify.checker.every_number import ANY, EveryNumber
from verify.checker.form import STATED, keys, one_meaning, shaped, sized, stated, texts, valued
from verify.checker.forms import combined, nonnegative
from verify.checker.letters import Letters
from verify.checker.limits import SETTINGS, bounded, written
from verify.checker.words import require

FORMAT = "fedtheory proof 2"
GIVEN, MORE = ("sizes", "values", "unknown", "weights", "proofs"), ("degree",)


def check(certificate):
    """(accepted, reason, "", "")."""
    return checked(certificate, FORMAT, GIVEN, proven, "proven: the statement is a sum of what is known and of squares", MORE)


def checked(certificate, form, given, proven, accepted, more=()):
    """(accepted, reason, "", "") of a proof at several settings, each with the keys ``given``, and perhaps those of ``more``;
    ``proven`` says what is wrong with one of them."""
    require(isinstance(certificate, dict) and certificate.get("format") == form, f"not a {form}")
    keys(certificate, ("format", *STATED, "settings"), "a proof")
    stated(certificate)
    require(certificate["statement"]["relation"] not in ("<", ">"), "a sum proves no strict inequality")
    settings = certificate["settings"]
    require(isinstance(settings, list) and settings, "settings must be a list of at least one")
    bounded(len(settings), SETTINGS, "settings")
    stating = {name: certificate[name] for name in STATED}
    said = [proven(stating | keys(setting, given, "a setting", more)) for setting in settings]
    refused = [f"setting {number}: {reason}" for number, reason in enumerate(said) if reason]
    return not refused, "; ".join(refused) or accepted, "", ""


def numbers_of(certificate):
    """Of a setting sizes, values, names without a value and weights, as ``Letters`` takes them, and the multipliers."""
    sized(certificate)
    free, unknown = certificate["free"], texts(certificate["unknown"], "unknown")
    given = valued(certificate["values"], free, certificate["sizes"])
    require({*unknown} <= {*free} and len({*unknown}) == len(unknown), "numbers without a value must be free names")
    require(all(name.isidentifier() for name in unknown), "numbers without a value have names of letters, digits and _")
    for name in free:
        kinds = (name in certificate["sizes"], name in given, name in unknown)
        require(sum(kinds) == 1, f"{name} must be a size, a value or a number without one; it is {sum(kinds)} of these")
        require(name not in unknown or free[name] in ([], ["clients"]), f"{name} is no number")
    weights = certificate["weights"]
    if weights != ANY or "degree" not in certificate:
        shaped(weights, [certificate["sizes"]["clients"]], "weights")
        positive = all(written(p) > 0 for p in weights)
        require(sum(map(written, weights)) == 1 and positive, "weights are positive and sum to one")
    require(isinstance(certificate["proofs"], list), "proofs must be a list")
    proofs = [{name: written(number) for name, number in keys(proof, (), "a proof", proof).items()}
              for proof in certificate["proofs"]]
    one_meaning(certificate)
    return (certificate["sizes"], given, unknown, weights), proofs


def proven(certificate):
    """What is wrong with the proof at one setting; empty where nothing is."""
    numbers, proofs = numbers_of(certificate)
    letters = run(certificate, numbers)
    pairs, spend = [*letters.to_prove(certificate["statement"])], letters.meter.spend
    known = letters.known({past for past, *_ in pairs})
    require(len(proofs) == len(pairs), f"{len(pairs)} pairs of sides need as many proofs; got {len(proofs)}")
    for number, (multipliers, (past, smaller, larger)) in enumerate(zip(proofs, pairs, strict=True)):
        if wrong := lacking(number, multipliers, known[past], larger - smaller, spend):
            return wrong
    return ""


def run(certificate, numbers):
    """The run on letters of a setting. One for every number of clients must say the same as those of the first two numbers."""
    if "degree" not in certificate:
        return Letters(certificate, *numbers)
    letters = EveryNumber(certificate, *numbers, degree=certificate["degree"])
    sizes, values, unknown, weights = numbers
    for count in (letters.least, letters.least + 1):
        parts = [k + 1 if weights == ANY else 1 for k in range(count)]
        weighed = [str(Fraction(part, sum(parts))) for part in parts]
        some = Letters(certificate, sizes | {"clients": count, "participants": count}, values, unknown, weighed)
        same = agrees(letters, some, certificate["statement"])
        require(same, f"a run of {count} clients says something else than that of every number of clients")
    return letters


def lacking(number, multipliers, known, gap, spend):
    """What keeps multipliers of what is known from proving that ``gap`` is not negative; empty where nothing does."""
    inequalities, equalities = known
    forms = inequalities | equalities
    require({*multipliers} <= {*forms}, f"nothing known is called {', '.join({*multipliers} - {*forms})}")
    if negative := [n for n in inequalities if multipliers.get(n, 0) < 0]:
        return f"multipliers of inequalities are negative in proof {number}: {', '.join(negative)}"
    if not nonnegative(gap - combined(forms, multipliers, spend), spend):
        return f"what is left in proof {number} is not a sum of squares"
    return ""
