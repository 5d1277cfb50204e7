"""The prover's replay of proofs about lengths; the checker has its own code for them.

At each of its settings a certificate has multipliers of amounts that are never negative for any federation of the class
(``Rules``). Where the larger side of the statement, less the smaller one and these multiples, has no negative coefficient,
the statement holds at these sizes and numbers for every federation of the class in every dimension.
"""

from verify.checker.limits import parse_number
from verify.checker.operators import require
from verify.checker.proof import checked
from verify.checker.schema import keys, one_meaning, shaped, sized, texts, valued
from verify.symbolic.length_rules import Rules, chosen_facts, nonnegative
from verify.symbolic.norm_expressions import total

FORMAT = "fedtheory proof of lengths 1"
GIVEN = ("sizes", "values", "vectors", "weights", "proofs")
PROOF = ("known", "steps", "hits", "triangles")


def check(certificate):
    """(accepted, reason, "", "")."""
    return checked(certificate, FORMAT, GIVEN, proven, "proven: the statement is a sum of what is known of lengths")


def rules_of(certificate):
    """The run on letters of a certificate's setting, if it has the form of one. Raises ValueError."""
    coupled = "replaced" in certificate["procedure"]
    sizes = sized(certificate, ["samples"] if coupled else [])
    require(not coupled or sizes.get("samples", 0) >= 1, "samples must be at least 1")
    free, vectors = certificate["free"], texts(certificate["vectors"], "vectors")
    given = valued(certificate["values"], free, sizes)
    for name in free:
        kinds = (name in sizes, name in given, name in vectors)
        require(sum(kinds) == 1, f"{name} must be a size, a value or a vector; it is {sum(kinds)} of these")
        require((name in vectors) == (free[name] == ["dim"]), f"only vectors have no value; {name} is none, or is one")
    require({*vectors} <= {*free} and len({*vectors}) == len(vectors), "vectors must be free names")
    weights = certificate["weights"]
    shaped(weights, [sizes["clients"]], "weights")
    require(sum(map(parse_number, weights)) == 1 and all(parse_number(p) > 0 for p in weights),
            "weights are positive and sum to one")
    one_meaning(certificate)
    return Rules(certificate, sizes, given, vectors, weights)


def proven(certificate):
    """The reason why the proof at one setting fails; empty where it holds."""
    rules = rules_of(certificate)
    pairs, proofs = rules.compared(certificate["statement"]), certificate["proofs"]
    require(pairs, "the statement says nothing at this setting")
    known = rules.facts()
    require(isinstance(proofs, list) and len(proofs) == len(pairs), f"{len(pairs)} pairs of sides need as many proofs")
    for number, (proof, (smaller, larger)) in enumerate(zip(proofs, pairs, strict=True)):
        keys(proof, PROOF, "a proof")
        used = chosen_facts(rules, known, proof)
        if any(times < 0 for _, times in used):
            return f"a multiplier is negative in proof {number}"
        if not nonnegative(total((larger, 1), (smaller, -1), *((amount, -times) for amount, times in used))):
            return f"what is left in proof {number} may be negative"
        rules.meter.charge(sum(1 + len(amount.terms) for amount, _ in used))
    return ""


