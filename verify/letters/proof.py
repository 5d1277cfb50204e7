"""Checks proofs on letters with the standard library and the files of this folder alone.

At each of its settings a certificate has multipliers of inequalities that hold for every federation of the class
(``Letters``). Where the larger side of the statement, less the smaller one and these multiples, is a sum of squares, the
statement holds at these sizes and numbers for every federation of the class in every dimension. A setting with a ``degree``
is one for every number of clients from its own on (``EveryNumber``).
"""

from collections import namedtuple
from fractions import Fraction

from verify.checker.form import STATED, keys, one_meaning, shaped, sized, stated, texts, valued
from verify.checker.forms import combined, nonnegative
from verify.checker.limits import SETTINGS, bounded, written
from verify.checker.scope import scope
from verify.checker.words import require
from verify.letters.at_a_number import agree
from verify.letters.every_number import ANY, EveryNumber
from verify.letters.letters import Letters

FORMAT = "fedtheory proof 2"
GIVEN, MORE = ("sizes", "values", "unknown", "weights", "proofs"), ("degree",)

#: what is to be proven: of letters, given the past of a round, ``smaller <= larger``
Duty = namedtuple("Duty", "letters past smaller larger")


def check(certificate):
    """(accepted, reason, "", "")."""
    said = "proven: the statement is a sum of what is known and of squares"
    return checked(certificate, FORMAT, GIVEN, proven, said, MORE)


def checked(certificate, form, given, proven, accepted, more=(), every_round=False):
    """(accepted, reason, "", "") of a proof at several settings, each with the keys ``given``, and perhaps those of
    ``more``; ``proven`` says what is wrong with one of them. ``every_round``: it is a proof for every number of rounds."""
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
    return not refused, "; ".join(refused) or f"{accepted}; for {scope(certificate, every_round)[0]}", "", ""


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
    asked = duties(certificate, numbers)
    require(asked, "the statement says nothing at this setting")
    known = asked[0].letters.known({duty.past for duty in asked})
    require(len(proofs) == len(asked), f"{len(asked)} pairs of sides need as many proofs; got {len(proofs)}")
    for number, (multipliers, duty) in enumerate(zip(proofs, asked, strict=True)):
        if wrong := lacking(number, multipliers, known[duty.past], duty):
            return wrong
    return ""


def duties(certificate, numbers):
    """All that is to be proven at one setting."""
    def of(kind, *numbers, **more):
        letters = kind(certificate, *numbers, **more)
        return [Duty(letters, *pair) for pair in letters.compared(certificate["statement"])]

    return of(Letters, *numbers) if "degree" not in certificate else same_as_of_some(
        of(EveryNumber, *numbers, degree=certificate["degree"]), numbers, lambda *some: of(Letters, *some))


def same_as_of_some(every, numbers, of_some):
    """What is to be proven for every number of clients, if it is the same as ``of_some`` numbers: the first two."""
    sizes, values, unknown, weights = numbers
    for count in (sizes["clients"], sizes["clients"] + 1):
        parts = [k + 1 if weights == ANY else 1 for k in range(count)]
        weighed = [str(Fraction(part, sum(parts))) for part in parts]
        some = of_some(sizes | {"clients": count, "participants": count}, values, unknown, weighed)
        same = len(every) == len(some) and all(map(agree, every, some))
        require(same, f"what is to be proven of {count} clients is something else than of every number of clients")
    return every


def lacking(number, multipliers, known, duty):
    """What keeps multipliers of what is known from proving a duty; empty where nothing does."""
    inequalities, equalities = known
    forms, spend = inequalities | equalities, duty.letters.meter.spend
    smaller, larger = duty.letters.as_proven(duty.smaller, duty.larger)
    require({*multipliers} <= {*forms}, f"nothing known is called {', '.join({*multipliers} - {*forms})}")
    if negative := [n for n in inequalities if multipliers.get(n, 0) < 0]:
        return f"multipliers of inequalities are negative in proof {number}: {', '.join(negative)}"
    if not nonnegative(larger - smaller - combined(forms, multipliers, spend), spend):
        return f"what is left in proof {number} is not a sum of squares"
    return ""
