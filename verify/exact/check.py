"""Checks certificate files: the stand-alone checker replays them, and what they state is compared with the claim."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bounds.language.claim import Claim
from verify.checker import limits, number_proof, rounds
from verify.checker.form import differing
from verify.checker.formats import check_of
from verify.checker.scope import scope
from verify.checker.words import replayed
from verify.exact.certificate import printed
from verify.exact.comparison import differences
from verify.exact.statement import statement_of

__all__ = ["CheckResult", "check", "proof_scope", "read", "replay_alone"]


@dataclass(frozen=True)
class CheckResult:
    """The checker's answer; ``left`` and ``right`` are the sides as text."""

    accepted: bool
    reason: str
    left: str = ""
    right: str = ""


def read(path: str | Path, what: str = "certificate") -> dict[str, Any]:
    """A certificate, or ``what`` else the checker reads, from a file. Raises ValueError, in one line, where it is none."""
    path = Path(path)
    try:
        return limits.read(limits.text_of(path))
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not a {what}: not valid JSON (truncated?): {error}") from error
    except (ArithmeticError, RecursionError, ValueError) as error:
        raise ValueError(f"{path} is not a {what}: {error}") from error


def replay_alone(data: Mapping[str, Any]) -> CheckResult:
    """What the stand-alone checker says of a certificate, whatever it states."""
    if not isinstance(data, Mapping):
        return CheckResult(False, f"a certificate is a JSON object; got {type(data).__name__!r}")
    accepted, reason, left, right = replayed(check_of(data), data)
    return CheckResult(accepted, reason, printed(left), printed(right))


def check(data: Mapping[str, Any], claim: Claim) -> CheckResult:
    """Whether the certificate refutes the claim, or proves it at its sizes and numbers, perhaps for all numbers of rounds.

    It must state what the claim states, and the stand-alone checker must accept it.

    What it must state is written anew from the claim; that writing is then compared with the claim by code of its own.
    """
    stated = statement_of(claim)
    if other := differing(data, stated):
        return CheckResult(False, f"the certificate does not state what {claim.id} states: {', '.join(other)}")
    for difference in differences(stated, claim):
        return CheckResult(False, f"what {claim.id} states is written in two ways: {difference}")
    return replay_alone(data)



def proof_scope(data: Mapping[str, Any]) -> tuple[str, bool]:
    """The sizes and numbers for which an accepted proof proves its statement, and whether these are all that it admits."""
    if data["format"] == number_proof.FORMAT:
        return number_proof.SCOPE_OF_RUNS if data["setting"] == "run" else number_proof.SCOPE, True
    return scope(data, every_round=data["format"] == rounds.FORMAT)
