"""Users' claims: from a Python file with ``CLAIMS``, or from TOML with formulas as text.

::

    [[claim]]
    id = "mine/theorem-1"
    kind = "theorem"
    method = "scaffold"
    assume = ["L_client[k] <= L for k in 0..clients-1", "mu_client[k] >= mu for k in 0..clients-1"]
    conditions = ["eta_l[t] <= 1/(2*L) for t in 0..iterations-1"]
    statement = "E(norm2(x_round[rounds] - x_star)) <= norm2(x_round[0] - x_star)"

docs/claims.md has the language in full. A Python file is run, and has the claims in ``CLAIMS``.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path

from bounds.formulas.well_formed import Fault, faults, with_norms
from bounds.language.claim import Claim
from bounds.language.witness import with_witnesses
from bounds.registry.claim_files import SUFFIX, Places, tables, text_of
from bounds.registry.collection import HEAD_FILE, Collection, WrongClaims, each
from bounds.registry.papers import FOLDERS, PAPERS, add_paper, claims_of_paper, files_of, forget_papers, note_file
from bounds.registry.python_files import module_from

__all__ = ["PATHS", "WrongClaims", "claims_of_user", "load_claims"]

PATHS = "FEDTHEORY_CLAIMS"  #: environment variable with paths of claim files, as in PATH


def claims_of_user() -> Iterator[Claim]:
    """Claims of the files named by the environment variable ``FEDTHEORY_CLAIMS``, and of installed packages that have an
    entry point in the group ``fedtheory.claims`` (a sequence of claims)."""
    for path in filter(None, os.environ.get(PATHS, "").split(os.pathsep)):
        yield from load_claims(path)
    for point in entry_points(group="fedtheory.claims"):
        yield from (claim for _, claim in with_witnesses(point.load()))


def load_claims(path: str | Path, more: Callable[[Claim], Iterable[Fault]] = lambda claim: ()) -> tuple[Claim, ...]:
    """The claims of a ``.py`` or ``.toml`` file, or of a paper's folder, which its ``paper.toml`` stands for; behind each
    that names a witness the claim with it put in. A ``.py`` file is run; a ``.toml`` file is data.

    ``more`` finds faults besides those of ``bounds.formulas.well_formed``.

    Raises:
        ValueError: an unreadable file.
        WrongClaims: wrong claims, with the first slip of each: its line of the file and the symbol.
    """
    path = Path(path)
    if path.is_dir() or (path.name == HEAD_FILE and "paper" in tables(path, text_of(path), without_claims=True)[1]):
        return _of_folder(path if path.is_dir() else path.parent, more)
    if path.suffix not in (".py", SUFFIX):
        raise ValueError(f"claims are read from .py and {SUFFIX} files; got {path.name!r}")
    text = text_of(path)
    if path.suffix == ".py":
        claims, fail = _from_python(path), partial(_fail_in_python, path, text)
    else:
        file = Collection.read(path, text)
        if file.vocabulary.paper is not None and (name := file.vocabulary.paper.name) in FOLDERS:
            raise ValueError(f"{path}: there is a paper {name!r} already; give [paper] another name")
        claims = [claim for _, claim in file.claims]
        fail = partial(_fail_in_table, path, file.places, [(number, file.rows[number]) for number, _ in file.claims])
    found = _checked(claims, fail, more)
    if path.suffix == SUFFIX:
        tables_of = (file.claims[number][0] for number, _ in with_witnesses(claims))
        note_file(path, file.places, file.vocabulary, zip(tables_of, found, strict=True))
    return found


def _of_folder(folder: Path, more: Callable) -> tuple[Claim, ...]:
    """The claims of a paper's folder."""
    name = add_paper(folder)
    forget_papers()
    read = files_of(name)
    claims = [(path, number, claim) for path, (_, claims) in zip(read.files, read.sections, strict=True)
              for number, claim in claims]

    def fail(number: int, claim: Claim, fault: Fault):
        path, table, _ = claims[number]
        text = text_of(path)
        rows, _ = tables(path, text, without_claims=True)
        _fail_in_table(path, Places(text), {number: (table, rows[table])}, number, claim, fault)

    return _checked([claim for _, _, claim in claims], fail, more)


def _checked(claims: Sequence[Claim], fail: Callable, more: Callable) -> tuple[Claim, ...]:
    """The claims, and behind each that names a witness the claim with it put in; ``fail`` refuses a fault."""
    numbered = with_witnesses(claims)
    _refuse_taken_ids(numbered, fail)

    faulty = set()

    def checked(one):
        number, claim = one
        derived = claims[number] is not claim
        for fault in () if derived and number in faulty else (*faults(claim), *more(claim)):
            faulty.add(number)
            fail(number, claim, replace(fault, part="witness", place=0) if derived else fault)

    each(checked, numbered)
    return tuple(with_norms(claim) for _, claim in numbered)


def _refuse_taken_ids(numbered, fail) -> None:
    """Fail on an id that another claim of the file, or one of a paper, has."""
    seen = set()
    for number, claim in numbered:
        if claim.paper in PAPERS and claim.id in claims_of_paper(claim.paper):
            fail(number, claim, Fault("id", 0, "", f"there is a claim {claim.id!r} already, of the paper {claim.paper}"))
        if claim.id in seen:
            fail(number, claim, Fault("id", 0, "", f"two claims have the id {claim.id!r}"))
        seen.add(claim.id)


def _fail_in_table(path: Path, places: Places, rows: list, number: int, claim: Claim, fault: Fault):
    table, row = rows[number]
    value = row.get(fault.part, "")
    entry = value[fault.place] if isinstance(value, list) and fault.place < len(value) else ""
    raise ValueError(f"{path}, line {places.line(table, fault.part, entry, fault.symbol)}: {claim.id}: {fault.text}")


def _fail_in_python(path: Path, text: str, number: int, claim: Claim, fault: Fault):
    """Name the line of the id, if the file has it in full."""
    position = text.find(claim.id)
    line = text.count("\n", 0, position) + 1 if position >= 0 else "?"
    raise ValueError(f"{path}, line {line}: {claim.id}, {fault.where}: {fault.text}")


def _from_python(path: Path) -> tuple[Claim, ...]:
    try:
        module = module_from(path, f"fedtheory_claims_{path.stem}")
    except Exception as error:
        line = getattr(error, "lineno", None) or _line_of(error.__traceback__, path)
        raise ValueError(f"{path}, line {line}: {type(error).__name__}: {error}") from error
    claims = getattr(module, "CLAIMS", None)
    if not isinstance(claims, tuple | list) or not all(isinstance(c, Claim) for c in claims):
        raise ValueError(f"{path} must define CLAIMS, a tuple of Claim; got {type(claims).__name__}")
    return tuple(claims)


def _line_of(traceback, path: Path):
    line = "?"
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == str(path):
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line
