"""Checks certificate files: the stand-alone checker replays them, and what they state is compared with the claim."""

from collections.abc import Mapping
from typing import Any

from bounds.language.claim import Claim
from verify.checker import number_proof, rounds
from verify.checker.schema import differing
from verify.checker.scope import scope
from verify.exact.alone import CheckResult, read, replay_alone
from verify.exact.comparison import differences
from verify.exact.registered import remember
from verify.exact.statement import printed_of, statement_of

__all__ = ["CheckResult", "check", "proof_scope", "read", "replay_alone"]


def check(data: Mapping[str, Any], claim: Claim) -> CheckResult:
    """Whether the certificate refutes the claim, proves it at its sizes and numbers, or proves that it is ill-posed.

    It must state what the claim states, and the stand-alone checker must accept it.

    What it must state is written anew from the claim; that writing is then compared with the claim by code of its own.
    """
    stated = statement_of(claim) | (printed_of(claim) if "printed" in data else {})
    if other := differing(data, stated):
        return CheckResult(False, f"the certificate does not state what {claim.id} states: {', '.join(other)}")
    for difference in differences(stated, claim):
        return CheckResult(False, f"what {claim.id} states is written in two ways: {difference}")
    remember(data, claim)
    return replay_alone(data)


def proof_scope(data: Mapping[str, Any]) -> tuple[str, bool]:
    """The sizes and numbers for which an accepted proof proves its statement, and whether these are all that it admits."""
    if data["format"] == number_proof.FORMAT:
        return number_proof.SCOPE_OF_RUNS if data["setting"] == "run" else number_proof.SCOPE, True
    return scope(data, every_round=data["format"] == rounds.FORMAT)
