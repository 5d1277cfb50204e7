"""What is to be proven of a statement at a setting, on the prover's letters."""

from collections import namedtuple
from fractions import Fraction

from verify.checker.every_client import ANY
from verify.checker.words import require
from verify.letters.at_a_number import agree
from verify.letters.every_number import EveryNumber
from verify.letters.letters import Letters

#: what is to be proven: of letters, given the past of a round, ``smaller <= larger``
Duty = namedtuple("Duty", "letters past smaller larger")


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
