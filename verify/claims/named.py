"""Claims by name: an id, ``FILE:ID``, or a file with one claim."""

import os
from collections.abc import Collection, Iterable
from itertools import islice

from bounds.language.claim import Claim
from bounds.registry.claims import find_claim
from bounds.registry.user_claims import load_claims
from verify.claims.method import faults_of_method
from verify.results.commands import CLAIM_FILES, command, file_and_id

__all__ = ["claim", "claims_in", "is_file", "several"]

_MOST_NAMED = 5  # claims in a message


def is_file(name: str) -> bool:
    """Whether a name is that of a file of claims; an id has a / and no such ending."""
    return os.path.isfile(name) or name.endswith(CLAIM_FILES) or ("/" not in name and "." in name)


def claim(name: Claim | str) -> Claim:
    """Returns the claim of that id, of ``FILE:ID``, or of a file that has one claim; a claim is returned as it is.

    Raises:
        LookupError: there is none, or a file has several; the message names the nearest ids.
        TypeError: neither a claim nor a name.
        ValueError: a file that cannot be read, or wrong claims.

    Example:
        >>> claim("classical/gd-convex").kind
        'control'
    """
    if isinstance(name, Claim):
        return name
    if not isinstance(name, str):
        raise TypeError(f"a claim is given by its id, FILE:ID, or itself; got {name!r}")
    if not is_file(file_and_id(name)[0]):
        return find_claim(name)
    claims = claims_in([name])
    if len(claims) != 1:
        raise several(name, claims)
    return claims[0]


def several(name: str, claims: Collection[Claim]) -> LookupError:
    """The error where one claim is meant, and a name, of a paper or a file, has several: with a few that are allowed."""
    in_file = is_file(file_and_id(name)[0])
    allowed = ", ".join(f"{name}:{each.id}" if in_file else each.id for each in islice(claims, _MOST_NAMED))
    says = f"{name} has {len(claims)} claims; name one of them"
    if len(claims) <= _MOST_NAMED:
        return LookupError(f"{says}: {allowed}")
    rest = f"the file has {len(claims) - _MOST_NAMED} more" if in_file else f"`{command('claims', paper=name)}` lists all"
    return LookupError(f"{says}, such as {allowed}; {rest}")


def claims_in(names: Iterable[str]) -> list[Claim]:
    """Returns the claims of files, all (``FILE``) or one (``FILE:ID``). Reads every file once.

    Raises LookupError for an unknown id, and ValueError as :func:`claim` does.
    """
    wanted: dict[tuple[str, str], None] = dict.fromkeys(map(file_and_id, names))
    own = {file: {each.id: each for each in load_claims(file, faults_of_method)}
           for file in dict.fromkeys(file for file, _ in wanted)}
    claims: list[Claim] = []
    for file, one in wanted:
        named = [own[file][one]] if one in own[file] else [
            each for name, each in own[file].items() if name.partition("/")[2] == one]  # without the paper
        if one and len(named) != 1:
            raise LookupError(f"{f'{len(named)} claims' if named else 'no claim'} {one!r} in {file}; allowed: "
                              f"{', '.join(f'{file}:{name}' for name in own[file])}")
        claims += named if one else own[file].values()
    return claims
