"""Limits on the size of a certificate and of its replay; larger ones are refused before anything is computed."""

import json
import re
from fractions import Fraction
from pathlib import Path

TEXT = 4 * 10**6  # characters of a file
DEPTH = 60  # brackets within each other
DIGITS = 5_000  # of a written number
SIZE = 10**5  # of a whole number that counts something
WHOLE = 10**9  # of any other
BITS = 2**18  # of a computed fraction
EXPONENT = 10**9  # of a power
TERMS = 10**5  # of a sum or of a range
OUTCOMES = 2**16  # of chance
FEW, LISTED = 2**6, 2**13  # of noise and the rest of chance together, beyond which noise need not be, and is not, listed
BASIS_VECTORS = 120  # vectors of a run on letters
SETTINGS = 16  # of a proof
PIECES = 256  # of the interval of a number that is said to exist
MANY_ROUNDS = 100  # of which the last state is a power of a matrix, if it can be
WORK = 10**6  # steps of a replay: nodes of formulas, terms of losses and gradients, and 64 bits of recorded numbers


class TooLarge(ArithmeticError):
    """A certificate asks for more than the checker computes."""


def bounded(found, most, what):
    """``found``, unless it exceeds ``most``."""
    if found > most:
        raise TooLarge(f"{what}: {found if found < 10**18 else 'more than 10^18'}; at most {most} is replayed")
    return found


def bits(number):
    """The length of a fraction's numerator and denominator together; of an interval, of its longer end."""
    if not hasattr(type(number), "numerator"):
        if hasattr(number, "coefficients"):  # random
            return max(map(bits, number.coefficients.values()))
        if hasattr(number, "factor"):  # next to an end
            return bits(number.factor)
        if hasattr(number, "low"):
            return max(bits(number.low), bits(number.high))
    return number.numerator.bit_length() + number.denominator.bit_length()


class WorkLimit:
    """Counts the steps of a replay, or of several."""

    def __init__(self, most=None):
        self.spent, self.most = 0, most

    def charge(self, steps):
        self.spent += steps
        most = WORK if self.most is None else self.most
        if self.spent > most:
            raise TooLarge(f"the replay takes more than {most} steps")

    def evaluate(self, lines, point):
        """Count the evaluation of functions of one coordinate each at the coordinates of a point, by their terms."""
        for line, y in zip(lines, point, strict=True):
            self.charge((len(line.squares) + len(line.pieces)) * (1 + bits(y) // 512))

    def record(self, value):
        """Count what is kept of a run: numbers in lists of any depth."""
        if isinstance(value, (list, tuple)):
            for entry in value:
                self.record(entry)
        elif hasattr(value, "coefficients"):
            self.record([*value.coefficients.values()])
        elif value is not None:
            self.charge(1 + bounded(bits(value), BITS, "bits of a number") // 64)


#: a fraction, and a decimal as it stands in recorded sides
FRACTION, DECIMAL = re.compile(r"-?[0-9]+(/[0-9]+)?"), re.compile(r"-?[0-9]+(\.[0-9]+)?(E[-+]?[0-9]{1,4})?")


def parse_number(text, form=FRACTION):
    """The number that a text writes."""
    if not isinstance(text, str) or not form.fullmatch(text[: 3 * DIGITS]) or len(text) > 2 * DIGITS + 2:
        raise ValueError(f"a number is written as a fraction of at most {DIGITS} digits; got {str(text)[:60]!r}")
    for part in text.split("/"):
        bounded(len(part.lstrip("-")), DIGITS if form is FRACTION else 2 * DIGITS, "digits of a number")
    above, _, below = text.partition("/")
    if form is DECIMAL:
        return Fraction(text)
    return Fraction(whole(above), whole(below or "1"))


def whole(digits):
    """The whole number that many digits write; Python reads at most some thousands of them at once."""
    sign, digits = (-1, digits[1:]) if digits.startswith("-") else (1, digits)
    found = 0
    for start in range(0, len(digits), 1000):
        part = digits[start : start + 1000]
        found = found * 10 ** len(part) + int(part)
    return sign * found


def text_of(path):
    """The text of an ordinary file. Raises OSError, TooLarge, or ValueError for a pipe, a device and what is no text."""
    path = Path(path)
    if path.exists() and not path.is_file():
        raise ValueError("it is no ordinary file")
    with path.open(encoding="utf-8") as file:
        text = file.read(TEXT + 1)
    bounded(len(text), TEXT, "characters of the file, or more")
    return text


def read(text):
    """The JSON object that a text writes: without repeated keys, without floats, and not too large.

    Raises ValueError, also for a text that is no JSON.
    """
    bounded(len(text), TEXT, "characters of the file")
    depth, quoted, skipped = 0, False, -1
    for mark in re.finditer(r'[\[\]{}"\\]', text):
        if mark.start() == skipped:  # after a backslash
            continue
        if mark[0] == "\\":
            skipped = mark.end()
        elif mark[0] == '"':
            quoted = not quoted
        elif not quoted:
            depth += 1 if mark[0] in "[{" else -1
        if depth > DEPTH:
            raise ValueError(f"brackets stand within each other at most {DEPTH} times")
    found = json.loads(
        text, object_pairs_hook=_without_repeats, parse_float=_refused, parse_constant=_refused, parse_int=_int)
    if not isinstance(found, dict):
        raise ValueError(f"a certificate is a JSON object; got {type(found).__name__!r}")
    return found


def _without_repeats(pairs):
    names = [name for name, _ in pairs]
    if len({*names}) < len(names):
        raise ValueError(f"a key stands twice: {next(name for name in names if names.count(name) > 1)!r}")
    return dict(pairs)


def _refused(text):
    raise ValueError(f"numbers are fractions in quotation marks, or whole numbers; got {text[:60]}")


def _int(digits):
    if len(digits) > 1000:
        raise ValueError(f"a whole number has at most 1000 digits; got {len(digits)}")
    return int(digits)
