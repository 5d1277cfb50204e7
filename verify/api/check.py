"""Checks the file of a certificate."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify.exact.alone import CheckResult, against, read, replay_alone
from verify.results.commands import CLAIM_FILES, file_and_id

if TYPE_CHECKING:
    from bounds.language.claim import Claim

__all__ = ["check", "stated_in"]


def check(certificate: str | Path, statement: "Claim | str | None" = None) -> CheckResult:
    """Replays a certificate in exact numbers by a checker that shares no code with the search.

    Args:
        certificate: its file.
        statement: what it must state: a claim, an id, ``FILE``, ``FILE:ID``, or a ``.json`` file that
            ``fedtheory show --statement`` printed. None: what the registered claim of its id states.

    Returns:
        Whether it is accepted, the reason, and both sides as text.

    Raises:
        LookupError: an unknown claim, or a certificate about another one.
        ValueError: what cannot be read as a certificate or a statement.
    """
    from verify.checker.formats import FORMATS
    from verify.exact.registered import states_its_claim

    data = read(certificate)
    single = data.get("format") in FORMATS
    if single and statement is None and states_its_claim(data):
        return replay_alone(data)  # without loading claims
    if single and isinstance(statement, str) and statement.endswith(".json"):
        return against(data, read(Path(statement), "statement"))
    return _compare_with_claim(Path(certificate), data, statement)


def _compare_with_claim(certificate: Path, data: dict[str, Any], statement) -> CheckResult:
    from verify.growth.check import check_file, claim_of
    from verify.worst import contraction

    claims, stated = stated_in(statement)
    if statement is None and str(data.get("claim")).startswith(contraction.PREFIX):
        return contraction.check_contraction(data)
    result = check_file(certificate, claims, stated)
    if not result.accepted and stated is None:
        claim_of(data, claims)  # bad input rather than a rejection where the claim is not here
    return result


def stated_in(statement: "Claim | str | None") -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Returns the claims that a statement names, by id, or the statement of a .json file; None for what is not given."""
    if statement is None:
        return None, None
    if not isinstance(statement, str):
        return {statement.id: statement}, None
    if statement.endswith(".json"):
        return None, read(Path(statement), "statement")
    from verify.claims.named import claim, claims_in

    file = file_and_id(statement)[0]
    if file.endswith(CLAIM_FILES):
        return {each.id: each for each in claims_in([statement])}, None
    if "/" not in statement or "." in file.rpartition("/")[2]:
        raise ValueError(f"--statement takes a file of claims ({', '.join(CLAIM_FILES)}), an id, or a statement (.json); "
                         f"got {statement}")
    found = claim(statement)
    return {found.id: found}, None
