"""Checks proofs: sums of multiples of facts and of squares.

At each of its settings a certificate has multipliers of facts that hold for every federation of the class. Where the larger
side of the statement, less the smaller one and these multiples, is a sum of squares, the statement holds at these sizes and
numbers for every federation of the class in every dimension. A setting with a ``degree`` is one for every number of clients
from its own on.
"""

from fractions import Fraction

from verify.checker.agreement import agree
from verify.checker.class_facts import class_facts
from verify.checker.comparisons import ProofObligation, compared
from verify.checker.exchangeable_clients import ANY
from verify.checker.laurent_polynomials import on_ends
from verify.checker.limits import SETTINGS, bounded, parse_number
from verify.checker.operators import require
from verify.checker.quadratic_forms import QuadraticForm, combined, nonnegative
from verify.checker.schema import STATED, keys, one_meaning, shaped, sized, stated, texts, valued
from verify.checker.scope import scope
from verify.checker.starts import FromStart
from verify.checker.symbolic_federation import symbolic_instance

FORMAT = "fedtheory proof 2"
GIVEN, MORE = ("sizes", "values", "unknown", "weights", "proofs"), ("degree",)


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


def parse_setting(certificate):
    """Returns the sizes, values, names without a value and weights of a setting, and the multipliers."""
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
        positive = all(parse_number(p) > 0 for p in weights)
        require(sum(map(parse_number, weights)) == 1 and positive, "weights are positive and sum to one")
    require(isinstance(certificate["proofs"], list), "proofs must be a list")
    proofs = [{name: parse_number(number) for name, number in keys(proof, (), "a proof", proof).items()}
              for proof in certificate["proofs"]]
    one_meaning(certificate)
    return (certificate["sizes"], given, unknown, weights), proofs


def proven(certificate):
    """The reason why the proof at one setting fails; empty where it holds."""
    numbers, proofs = parse_setting(certificate)
    return check_proofs(obligations(certificate, numbers), proofs)


def obligations(certificate, numbers):
    """All that is to be proven at one setting."""
    def obligations_for(*numbers, degree=None):
        run = symbolic_instance(certificate, *numbers, FromStart(), degree).federation
        return [ProofObligation(run, *pair) for pair in compared(run, certificate["statement"])]

    if "degree" not in certificate:
        return obligations_for(*numbers)
    return obligations_for_every_count(obligations_for, numbers, certificate["degree"])


def obligations_for_every_count(of, numbers, degree):
    """Obligations for a symbolic client count, cross-checked against the two smallest counts."""
    every, (sizes, values, unknown, weights) = of(*numbers, degree=degree), numbers
    for count in (sizes["clients"], sizes["clients"] + 1):
        parts = [k + 1 if weights == ANY else 1 for k in range(count)]
        weighed = [str(Fraction(part, sum(parts))) for part in parts]
        some = of(sizes | {"clients": count, "participants": count}, values, unknown, weighed)
        same = len(every) == len(some) and all(map(agree, every, some))
        require(same, f"what is to be proven of {count} clients is something else than of every number of clients")
    return every


def check_proofs(asked, proofs):
    """The reason why the proofs of the obligations ``asked`` fail; empty where they hold."""
    require(asked, "the statement says nothing at this setting")
    require(len(proofs) == len(asked), f"{len(asked)} pairs of sides need as many proofs; got {len(proofs)}")
    runs = [*{id(obligation.run): obligation.run for obligation in asked}.values()]
    facts = {id(run): class_facts(run, [*dict.fromkeys(obligation.past for obligation in asked if obligation.run is run)])
             for run in runs}
    for number, (multipliers, obligation) in enumerate(zip(proofs, asked, strict=True)):
        if wrong := lacking(number, multipliers, facts[id(obligation.run)][obligation.past], obligation):
            return wrong
    return ""


def lacking(number, multipliers, class_facts, obligation):
    """The reason why multipliers of facts do not prove an obligation; empty where they do."""
    spend, people, forms = obligation.run.letters.meter.charge, obligation.run.people, {}
    for name, multiplier in multipliers.items():
        forms[name], zero = class_facts.fact(name)
        if multiplier < 0 and not zero:
            return f"multipliers of inequalities are negative in proof {number}: {name}"
    gap = obligation.larger - obligation.smaller
    if people.one:
        require(not (people.any_weights and gap.with_powers), "a weight outside of sums")
        found = on_ends(gap, people.least, people.degree)
        require(found, f"a side has a larger degree in 1/m than {people.degree}")
        gap = sum(found, QuadraticForm({}))
    if not nonnegative(gap - combined(forms, multipliers, spend), spend):
        return f"what is left in proof {number} is not a sum of squares"
    return ""
