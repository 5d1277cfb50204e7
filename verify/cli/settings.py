"""Reads ``key=value`` settings of the command line."""

import json
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

__all__ = [
    "exact_numbers", "grid_of", "parse_numbers", "parse_settings", "parse_texts", "settings_of", "share_out", "step_size",
]


def parse_settings(texts: Iterable[str]) -> dict[str, Any]:
    """Return values by key: numbers, ``true``, ``false``, ``null`` and lists as in JSON, anything else as text.

    Raises:
        ValueError: no ``=``, no key, a key given twice, or brackets nested too deeply.

    Example:
        >>> parse_settings(["dim=3", "noise=gaussian", "offsets=[0, 0.5]"])
        {'dim': 3, 'noise': 'gaussian', 'offsets': [0, 0.5]}
    """
    settings: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        key = key.strip().replace("-", "_")
        if not equals or not key:
            raise ValueError(f"--set must be key=value; got {text!r}")
        if key in settings:
            raise ValueError(f"--set gives {key!r} twice")
        try:
            settings[key] = json.loads(value)
        except RecursionError:
            raise ValueError(f"--set {key} has brackets that are nested too deeply") from None
        except ValueError:  # no JSON, or a number with more digits than Python converts
            settings[key] = value
    return settings


def parse_texts(texts: Iterable[str]) -> dict[str, str]:
    """Return values as text by key; ValueError as :func:`parse_settings`."""
    texts = [*texts]
    return {key: text.partition("=")[2].strip() for key, text in zip(parse_settings(texts), texts, strict=True)}


def parse_numbers(texts: Iterable[str], whole: Iterable[str] = (), most: int = 10**7) -> dict[str, Any]:
    """Return numbers by name, given as a number such as 0.1 or 1/3, a list, or a range ``first:last[:count][:log]``.

    ``count`` is 50 by default and at most ``most``. Ranges of the names in ``whole`` have whole numbers only, each once.

    Raises:
        ValueError: as :func:`parse_settings`, or a value that is none of these.

    Example:
        >>> {name: list(map(float, values)) for name, values in parse_numbers(["T=1:100:3:log"]).items()}
        {'T': [1.0, 10.0, 100.0]}
    """
    found, whole = {}, set(whole)
    for name, value in parse_settings(texts).items():
        try:
            found[name] = np.asarray(_numbers(value), dtype=float) if ":" not in str(value) else _range(
                value, name in whole, most)
        except (TypeError, ValueError, ZeroDivisionError, OverflowError) as error:
            why = f" ({error})" if isinstance(error, _BadRange) else ""
            raise ValueError(f"{name} must be a number, a list, or first:last[:count][:log]; "
                             f"got {repr(value)[:100]}{why}") from None
    return found


def grid_of(texts: Iterable[str], whole: Iterable[str] = ()) -> dict[str, list]:
    """Return lists of values by name, each given as a JSON list or as a range ``first:last[:count][:log]``.

    Ranges of the names in ``whole`` have whole numbers only, each once.

    Raises:
        ValueError: as :func:`parse_settings`, or a value that is neither.

    Example:
        >>> grid_of(["eta_l=0.01:1:3:log", "local_steps=[1, 4]"], {"local_steps"})
        {'eta_l': [0.01, 0.1, 1.0], 'local_steps': [1, 4]}
    """
    whole, found = {*whole}, {}
    for name, value in parse_settings(texts).items():
        if isinstance(value, list):
            found[name] = value
        elif isinstance(value, str) and ":" in value:
            numbers = parse_numbers([f"{name}={value}"], whole)[name].tolist()
            found[name] = [int(number) for number in numbers] if name in whole else numbers
        else:
            raise ValueError(f"--grid {name} must be a list such as [1,2,4], or first:last[:count][:log]; "
                             f"got {repr(value)[:100]}")
    return found


class _BadRange(ValueError):
    """A range without numbers, with the reason."""


def exact_numbers(texts: Iterable[str]) -> dict[str, Fraction]:
    """Return one number by name, as a fraction: 0.1 is a tenth.

    Raises:
        ValueError: as :func:`parse_settings`, or a value that is not a single number.
    """
    from verify.results.numerals import exact_number

    return {name: exact_number(name, value) for name, value in parse_settings(texts).items()}


def _exact(value) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError
    from verify.results.numerals import fraction_of

    return fraction_of(str(value))


def _numbers(value):
    if isinstance(value, str) and value.strip().startswith("[") and value.strip().endswith("]"):  # with fractions
        value = value.strip()[1:-1].split(",")
    if isinstance(value, list):
        if not value:
            raise ValueError
        return [float(_exact(one)) for one in value]
    return float(_exact(value))


def _range(text: str, whole: bool, most: int):
    parts = text.split(":")
    logarithmic = parts[-1] == "log"
    first, last, *count = (_exact(part) for part in parts[: -1 if logarithmic else None])
    number = count[0] if count else Fraction(50)
    if len(count) > 1 or number.denominator != 1 or not 1 <= number <= most:
        raise _BadRange(f"the count must be a whole number from 1 to {most}; got {':'.join(map(str, count))}")
    if whole and (first.denominator != 1 or last.denominator != 1):
        raise _BadRange("it counts, so first and last must be whole numbers")
    if logarithmic and not (first > 0 and last > 0):
        raise _BadRange("on a logarithmic scale first and last must be positive")
    values = (np.geomspace if logarithmic else np.linspace)(float(first), float(last), int(number))
    if not whole:
        return values
    values = np.unique(np.round(values))
    return values if first <= last else values[::-1]


def share_out(settings: Mapping[str, Any], **takers: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Give each setting to the one of the ``takers`` (``problem``, ``algorithm``) that has its key.

    A key that both have must be written ``problem.key`` or ``algorithm.key``.

    Raises:
        LookupError: no taker has the key, or more than one has.
    """
    from fedtheory.arguments import nearest_argument

    known = {taker: set(keys) for taker, keys in takers.items()}
    shares: dict[str, dict[str, Any]] = {taker: {} for taker in known}
    for key, value in settings.items():
        prefix, dot, bare = key.rpartition(".")
        owners = [taker for taker, keys in known.items() if bare in keys and (not dot or taker == prefix)]
        if len(owners) > 1:
            raise LookupError(f"setting {key!r} is known to {' and '.join(owners)}; write {owners[0]}.{key}=...")
        if not owners:
            everything = sorted(set().union(*known.values()))
            near = nearest_argument(bare, dict.fromkeys(everything))
            hint = f"; nearest: {near}" if near else ""
            raise LookupError(f"unknown setting {key!r}{hint}; known: {', '.join(everything)}")
        shares[owners[0]][bare] = value
    return shares


def settings_of(texts: Iterable[str] | None, algorithm: str, problem: str,
                own: Iterable[str] | None = None) -> dict[str, dict[str, Any]]:
    """Give each setting to the ``algorithm`` or the ``problem`` of that name; step size and steps have their own options.
    ``own``: the arguments of an algorithm that is not registered."""
    from fedtheory.registry import arguments_of
    from synthetic.registry import problem_options

    given = parse_settings(texts or [])
    arguments = arguments_of(algorithm, given.get("base")) if own is None else {*own}
    _refuse_own_options(given, arguments | {*problem_options(problem)})
    return share_out(given, algorithm=arguments - {"eta_l", "local_steps"},
                     problem=set(problem_options(problem)) - {"backend"})


def _refuse_own_options(given: Mapping[str, Any], known: set[str]) -> None:
    """Raises LookupError for a setting that has an option of its own, by our name or another library's."""
    from fedtheory.arguments import nearest_argument

    options = {"eta_l": "--eta", "local_steps": "--local-steps"}
    for key in given:
        bare = key.rpartition(".")[2]
        name = bare if bare in options else None if bare in known else nearest_argument(bare, dict.fromkeys(known))
        if name in options:
            raise LookupError(f"unknown setting {key!r}; {options[name]} sets {name}")


def step_size(text: str, federation, local_steps: int):
    """Read a positive number; a formula such as ``1/L`` of the federation's constants, ``clients`` and ``local_steps``; or
    ``theory``: 2/(mu (t + max(8 L/mu, local_steps))).

    Raises:
        ValueError: none of these, or ``theory`` without strong convexity.
    """
    from fedtheory.schedules import InverseTime
    from synthetic.numbers.arrays import to_numpy
    from verify.claims.number_texts import formula_value, is_formula_of

    if text == "theory":
        constants = federation.constants
        if "mu" not in constants or not float(to_numpy(constants.value("mu")).min()) > 0:
            raise ValueError(f"--eta 'theory' needs strong convexity, which {federation.name} does not have; give a number")
        L, mu = (float(to_numpy(federation.constants.value(name)).reshape(-1)[0]) for name in ("L", "mu"))
        return InverseTime(mu, max(8 * L / mu, local_steps))
    known = _scalars(federation) | {"local_steps": Fraction(local_steps), "clients": Fraction(federation.clients)}
    if is_formula_of(text, known):
        eta = float(formula_value("--eta", text, known, exact=False))
    else:
        try:
            eta = float(_exact(text))
        except (ValueError, ZeroDivisionError):
            eta = float("nan")
    if not 0 < eta < float("inf"):
        raise ValueError(f"--eta must be a positive number, a formula of {', '.join(known)} such as 1/L, or 'theory'; "
                         f"got {text!r}")
    return eta


def _scalars(federation) -> dict[str, Fraction]:
    """The constants of a federation that are single finite numbers."""
    from synthetic.numbers.arrays import to_numpy

    found = {}
    for name in ("L", "mu", "sigma", "G"):
        if name in federation.constants:
            value = np.asarray(to_numpy(federation.constants.value(name)), dtype=float).reshape(-1)
            if len(value) == 1 and np.isfinite(value[0]):
                found[name] = Fraction(float(value[0]))
    return found
