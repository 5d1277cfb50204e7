"""Checks proofs about norms with the standard library and the files of this folder alone.

At each of its settings a certificate has multipliers of facts, expressions that are never negative for any federation of the
class (theories/lengths.py has all that are admitted). Where the larger side of the statement, less the smaller one and these
multiples, has no negative coefficient, the statement holds at these sizes and numbers for every federation of the class in
every dimension.
"""

from verify.checker.length_clients import OWN
from verify.checker.length_statement import LengthStatement
from verify.checker.limits import parse_number
from verify.checker.norm_expressions import Combination, nonnegative, total
from verify.checker.operators import require
from verify.checker.proof import checked
from verify.checker.schema import STATED, keys, one_meaning, shaped, sized, texts, valued
from verify.checker.theories import lengths

FORMAT = "fedtheory proof of lengths 1"
SETTING = ("sizes", "values", "vectors", "weights", "proofs")
PROOF = ("known", "steps", "hits", "triangles")


def check(certificate):
    """(accepted, reason, "", "")."""
    return checked(certificate, FORMAT, SETTING, lacking, "proven: the statement is a sum of what is known of lengths")


def statement_of(setting):
    """The statement at a setting of a certificate, if it has the form of one. Raises ValueError."""
    coupled, free, vectors = "replaced" in setting["procedure"], setting["free"], texts(setting["vectors"], "vectors")
    sizes, weights = sized(setting, ["samples"] * coupled), setting["weights"]
    require(not coupled or sizes.get("samples", 0) >= 1, "samples must be at least 1")
    values = valued(setting["values"], free, sizes)
    for name in free:
        kinds = (name in sizes, name in values, name in vectors)
        require(sum(kinds) == 1, f"{name} must be a size, a value or a vector; it is {sum(kinds)} of these")
        require((name in vectors) == (free[name] == ["dim"]), f"only vectors have no value; {name} is none, or is one")
    require({*vectors} <= {*free} and len({*vectors}) == len(vectors), "vectors must be free names")
    shaped(weights, [sizes["clients"]], "weights")
    require(sum(map(parse_number, weights)) == 1 and all(parse_number(p) > 0 for p in weights),
            "weights are positive and sum to one")
    one_meaning(setting)
    return LengthStatement({name: setting[name] for name in STATED}, sizes, values, vectors, weights)


def lacking(setting):
    """The reason why the proofs of a setting fail; empty where none does."""
    statement, proofs = statement_of(setting), setting["proofs"]
    require(statement.pairs, "the statement says nothing at this setting")
    known, count = lengths.facts(statement), len(statement.pairs)
    require(isinstance(proofs, list) and len(proofs) == count, f"{count} pairs of sides need as many proofs")
    for number, (proof, (smaller, larger)) in enumerate(zip(proofs, statement.pairs, strict=True)):
        used = facts_of(statement, known, keys(proof, PROOF, "a proof"))
        if any(times < 0 for _, times in used):
            return f"a multiplier is negative in proof {number}"
        if not nonnegative(total((larger, 1), (smaller, -1), *((fact, -times) for fact, times in used))):
            return f"what is left in proof {number} may be negative"
    return ""


def facts_of(statement, known, proof):
    """Pairs (fact, multiplier) of all that a proof uses: what is ``known`` by name, and what it chooses."""
    names, functions = proof["known"], [*statement.clients.points]
    require({*names} <= {*known}, f"nothing known is called {', '.join({*names} - {*known})}")
    found = [(known[name], parse_number(times)) for name, times in names.items()]
    for function, i, j, a, s, times in proof["steps"]:
        fact = lengths.step(statement, functions[function], i, j, parse_number(a), parse_number(s))
        found.append((fact, parse_number(times)))
    for function, i, j, a, s, by, times in proof["hits"]:
        whose, *draw = functions[function]
        require(whose == OWN, "a draw is named by the function of the run itself")
        found.append((lengths.hit(statement, tuple(draw), i, j, parse_number(a), parse_number(s), by), parse_number(times)))
    for whole, parts, times in proof["triangles"]:
        made = [(vector(statement, part), parse_number(c)) for part, c in parts]
        found.append((lengths.triangle(statement, vector(statement, whole), made), parse_number(times)))
    return found


def vector(statement, data):
    """The vector that a list of pairs (number of a basis vector, coefficient) writes."""
    basis = range(len(statement.clients.depends_on))
    require(isinstance(data, list) and all(type(i) is int and i in basis for i, _ in data),
            "a vector is a list of basis vectors with coefficients")
    return Combination({i: parse_number(c) for i, c in data})
