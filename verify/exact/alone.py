"""Reads certificates and replays them by the stand-alone checker, whatever they state. Loads nothing else."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from verify.checker import limits
from verify.checker.formats import FORMATS, check_of
from verify.checker.operators import replayed
from verify.checker.schema import STATED, differing

__all__ = ["CheckResult", "against", "printed", "read", "replay_alone"]

_PRINTED_BITS = 12_000  # of a fraction that is printed in full


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
    """Replay a certificate with the stand-alone checker, whatever it states."""
    if not isinstance(data, Mapping):
        return CheckResult(False, f"a certificate is a JSON object; got {type(data).__name__!r}")
    accepted, reason, left, right = replayed(check_of(data), data)
    return CheckResult(accepted, reason, printed(left), printed(right))


def printed(side) -> str:
    """A side as text; of fractions of very many digits, decimals that enclose them."""
    if isinstance(side, Fraction) and max(abs(side.numerator), side.denominator).bit_length() > _PRINTED_BITS:
        from synthetic.numbers.decimals import enclosure

        return enclosure(side)
    return str(side)


def against(data: Mapping[str, Any], statement: Mapping[str, Any]) -> CheckResult:
    """Check a certificate against a statement read from a file. Raises ValueError for a malformed statement."""
    if {*statement} - {"exists", "printed"} != {*STATED}:
        raise ValueError(f"a statement has {', '.join(STATED)}; got {', '.join(statement)}")
    if data.get("format") not in FORMATS:
        return CheckResult(False, "a growth certificate is checked against its claim, not against a single statement")
    if other := differing(data, statement):
        return CheckResult(False, f"the certificate and the statement differ: {', '.join(other)}")
    return replay_alone(data)
