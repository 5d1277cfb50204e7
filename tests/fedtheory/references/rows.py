"""Every method of the registry with its variants, beside the slow reference of the same update rule."""

from dataclasses import replace

from fedtheory import ALGORITHMS
from tests.fedtheory.references import duals, written
from tests.fedtheory.references.checked import CHECKED, checked
from tests.fedtheory.references.rows_adaptive import ADAPTIVE
from tests.fedtheory.references.rows_communication import COMMUNICATION
from tests.fedtheory.references.rows_drift import DRIFT
from tests.fedtheory.references.rows_duals import DUALS, SHARPNESS

__all__ = ["DOCUMENTED", "ROWS", "by_method"]

LISTED = DRIFT | ADAPTIVE | DUALS | SHARPNESS | COMMUNICATION
#: methods with references elsewhere, as they are about models or losses; and those of which no row samples free clients
ELSEWHERE, OF_ALL = ("fedpara", "moon", "fedalign-fraction"), ("fedalign", "fedalign-fedprox")
#: methods of the checker without a row above, with the arguments of their variants
OTHERS = {
    " ".join([name, *map(str, arguments.values())]): checked(
        name, arguments, exact=False, participants=(None,) if name in OF_ALL else (None, 3))
    for name in CHECKED if name not in {*ELSEWHERE, *(row.method for row in LISTED.values())}
    for arguments in ({}, *(variant.arguments for variant in ALGORITHMS[name].traits.variants))
}
#: references written from the docstrings alone of the methods whose other reference is the checker's
WRITTEN = {name.replace("_", "-"): getattr(written, name) for name in written.__all__} | {
    "fedpd": duals.fedpd, "fedadmm": duals.fedadmm, "feddyn": duals.feddyn, "afedpd": duals.afedpd,
    "afedpdsam": duals.afedpd}
#: the rows of the checker's methods once more, also with unequal weights; what is told are the maker's arguments
DOCUMENTED = {
    f"{name}, written": replace(row, reference=WRITTEN[row.method], told=row.arguments, weighted=True)
    for name, row in (LISTED | OTHERS).items() if row.method in WRITTEN and not row.weighted and "aligned" not in name}
ROWS = LISTED | OTHERS | DOCUMENTED


def by_method(chosen=lambda row: True) -> dict[str, dict]:
    """The rows of every method, by its name, as far as they are chosen."""
    found: dict[str, dict] = {}
    for name, row in ROWS.items():
        if chosen(row):
            found.setdefault(row.method, {})[name] = row
    return found
