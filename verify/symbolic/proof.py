"""The obligations of a statement at a setting, on the prover's symbolic runs."""

from collections import namedtuple
from fractions import Fraction

from verify.checker.exchangeable_clients import ANY
from verify.checker.operators import require
from verify.symbolic.exchangeable_clients import EveryClientCount
from verify.symbolic.specialisation import agree
from verify.symbolic.symbolic_run import SymbolicRun

#: what is to be proven: of letters, given the past of a round, ``smaller <= larger``
ProofObligation = namedtuple("ProofObligation", "letters past smaller larger")


def obligations(certificate, numbers):
    """All that is to be proven at one setting."""
    def obligations_of(kind, *numbers, **more):
        letters = kind(certificate, *numbers, **more)
        return [ProofObligation(letters, *pair) for pair in letters.compared(certificate["statement"])]

    if "degree" not in certificate:
        return obligations_of(SymbolicRun, *numbers)
    return obligations_for_every_count(obligations_of(EveryClientCount, *numbers, degree=certificate["degree"]), numbers,
                                       lambda *some: obligations_of(SymbolicRun, *some))


def obligations_for_every_count(every, numbers, of_some):
    """Obligations for a symbolic client count, cross-checked against the two smallest counts."""
    sizes, values, unknown, weights = numbers
    for count in (sizes["clients"], sizes["clients"] + 1):
        parts = [k + 1 if weights == ANY else 1 for k in range(count)]
        weighed = [str(Fraction(part, sum(parts))) for part in parts]
        some = of_some(sizes | {"clients": count, "participants": count}, values, unknown, weighed)
        same = len(every) == len(some) and all(map(agree, every, some))
        require(same, f"what is to be proven of {count} clients is something else than of every number of clients")
    return every
