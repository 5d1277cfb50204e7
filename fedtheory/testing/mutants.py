"""Plants every documented fault and counts those that some property detects: ``python -m fedtheory.testing.mutants``.

Exit status 0 if all are killed, 1 if one survives.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.table import Table

from fedtheory.registry import find_algorithm
from fedtheory.testing.check import first_failure, properties_of
from fedtheory.testing.faults import FAULTS, Fault
from fedtheory.testing.federations import CASES
from fedtheory.testing.outcome import Broken
from fedtheory.testing.report import show
from fedtheory.testing.subject import Subject, on_numpy_if_it_can

__all__ = ["LOOKED_AT", "Kill", "kill", "main", "mutant"]

LOOKED_AT = (*CASES[:3], CASES[4])  #: all cases but the one with minibatches


@dataclass(frozen=True)
class Kill:
    """The property that detected a fault and the difference that it saw; both empty if the fault survived."""

    fault: Fault
    property: str = ""
    noticed: str = ""


def mutant(fault: Fault) -> Subject:
    """The faulty method, with the traits of the correct one."""
    method = find_algorithm(fault.method)

    def make(**arguments):
        return fault.plant(method.make(**arguments))

    subject = Subject(
        fault.method, make, method.arguments, method.traits.with_arguments(fault.arguments), dict(fault.arguments))
    return on_numpy_if_it_can(subject)


def kill(fault: Fault, cases=LOOKED_AT) -> Kill:
    """Runs the properties, the expected ones first, until one fails."""
    subject = mutant(fault)
    properties = properties_of(subject)
    for name in dict.fromkeys([*(k for k in fault.killers if k in properties), *properties]):
        if name in subject.traits.exempt:
            continue
        found = first_failure(properties[name], subject, cases)
        if found is not None:
            error = found[1]
            numbers = f": expected {error.expected}, got {error.got}" if isinstance(error, Broken) else ""
            what = error.what if isinstance(error, Broken) else f"{type(error).__name__}: {error}"
            return Kill(fault, name, f"{what}{numbers}")
    return Kill(fault)


def main(names: Sequence[str] = ()) -> int:
    """Plants the faults (of the methods named), prints the property that detects each, and detected/total; returns 1 if one
    survives."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in ("method", "fault", "documented", "killed by"):
        table.add_column(title, overflow="fold")
    kills = [kill(fault) for fault in FAULTS if not names or fault.method in names]
    for one in kills:
        table.add_row(one.fault.method, one.fault.name, one.fault.source, one.property or "[bold red]survived")
    killed = sum(bool(one.property) for one in kills)
    show(table, f"killed {killed}/{len(kills)}", width=150)
    return int(killed < len(kills))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
