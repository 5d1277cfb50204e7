"""Random changes of certificates: of numbers, names, operators, types and sizes, of what is there and of the text itself."""

import copy
import json
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

__all__ = ["changed_part", "damaged", "mutant", "of_clients", "scaled"]

Place = tuple[Any, Any]  # an object or a list, and a key of it

_NUMBERS = ("0", "1", "-1", "1/1000", "1000", "7/3", "1/2", "10", "-3")
_ODD: tuple[Any, ...] = (
    None, True, 1.5, 10**30, -1, 0, "", "nan", "1/0", "1e9", "\u0663", [], {}, [[]], "0x10", "9" * 6000,
    {"formula": ["norm2", ["g", 0, 0]], "indices": []}, {"hypothesis": 0}, {"hypothesis": -1}, {"symbol": "L"})
_WORDS = ("+", "*", "^", "E", "norm2", "dot", "Sum", "Max", "Abs", "<=", ">=", "==", ">", "full", "x_round", "g", "sampled")
_NAMES = (
    "eta_g", "eta_l", "masks", "initial_update", "sampled", "x_round", "twin_x_round", "G_lip", "sigma_g", "L", "mu_client",
    "F_star", "included", "statement", "hypotheses", "samples", "atoms", "pieces", "half_tangent", "also", "epsilon",
    "participation", "communication", "client_variate", "server_variate", "participants", "x_best", "gamma", "subdivision")
_LOOK_ALIKES = {"-": "\u2010", "a": "\u0430", "e": "\u0435", "/": "\u2215", "1": "\u0661", "o": "\u03bf"}


def _places(data: Any) -> Iterator[Place]:
    keys = data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
    for key in keys:
        yield data, key
        yield from _places(data[key])


def _number(value: str, rng: random.Random) -> str:
    if rng.random() < 0.3:
        return rng.choice(_NUMBERS)
    number = Fraction(value.split(" to ")[0])
    return str(rng.choice((number + 1, number - 1, number * 2, number / 2, -number, number * Fraction(101, 100),
                           number + Fraction(1, 10**6), number * 1000)))


def _is_number(value: Any) -> bool:
    try:
        Fraction(value.split(" to ")[0])
    except (AttributeError, ValueError, ZeroDivisionError):
        return False
    return True


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _changed(data: dict[str, Any], rng: random.Random) -> None:
    """One change somewhere in place, more often of the instance than of the statement."""
    parts = [name for name in ("instance", "values", "sizes", "also", "members", "settings", "subdivision", "statement",
                                 "hypotheses")
             if name in data and (name not in ("statement", "hypotheses") or "settings" in data)]
    root = data[rng.choice(parts)] if parts and rng.random() < 0.7 else data
    places = list(_places(root)) or list(_places(data))
    holder, key = rng.choice(places)
    value = holder[key]
    numbers = [place for place in places if _is_number(place[0][place[1]])]
    kind = rng.random()
    if kind < 0.5 and numbers:
        holder, key = rng.choice(numbers)
        holder[key] = _number(holder[key], rng)
    elif kind < 0.58 and isinstance(value, int):
        holder[key] = value + rng.choice((-1, 1, 1, 2, -value, 10**6, 10**12))
    elif kind < 0.64:
        holder[key] = copy.deepcopy(rng.choice(_ODD))
    elif kind < 0.70:
        del holder[key]
    elif kind < 0.75 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(value))
    elif kind < 0.80 and isinstance(holder, list) and len(holder) > 1:
        other = rng.randrange(len(holder))
        holder[key], holder[other] = holder[other], holder[key]
    elif kind < 0.86 and isinstance(value, str):
        holder[key] = rng.choice((*_WORDS, *_NAMES))
    elif kind < 0.90 and isinstance(value, str) and value:
        holder[key] = "".join(_LOOK_ALIKES.get(letter, letter) if rng.random() < 0.3 else letter for letter in value)
    elif kind < 0.96:
        holders = [data, *(each for each in _listed(data.get("settings")) if isinstance(each, dict))]
        where = [each[name] for each in holders for name in ("values", "sizes", "instance", "procedure")
                 if isinstance(each.get(name), dict)]
        rng.choice(where or [data])[rng.choice(_NAMES)] = copy.deepcopy(rng.choice((*_NUMBERS, [["5"]], 3, *_ODD)))
    else:
        source, target = rng.choice(places), rng.choice(places)
        target[0][target[1]] = copy.deepcopy(source[0][source[1]])


def scaled(data: dict[str, Any], rng: random.Random) -> None:
    """Another multiple of a side of the statement, or of a hypothesis."""
    condition, side = rng.choice([data["statement"], rng.choice(data["hypotheses"])]), rng.choice(("left", "right"))
    factor = rng.choice((["*", 9, ["^", 10, -1]], ["*", 11, ["^", 10, -1]], 2, ["^", 2, -1], -1))
    condition[side] = ["*", factor, condition[side]]


def of_clients(data: dict[str, Any], rng: random.Random) -> None:
    """Another number of clients in a setting, other weights, or another degree, or none."""
    setting = rng.choice(data["settings"])
    if rng.random() < 0.5:
        setting["degree"] = rng.choice((0, 1, 2, 3, 4, 5, -1, True, "1"))
    elif rng.random() < 0.3:
        setting.pop("degree", None)
    if rng.random() < 0.6:
        count = rng.choice((1, 2, 2, 3, 4))
        setting["sizes"] |= {"clients": count, "participants": count - (rng.random() < 0.1)}
        parts = [1 + k * (rng.random() < 0.2) for k in range(count)]
        setting["weights"] = "any" if rng.random() < 0.4 else [str(Fraction(part, sum(parts))) for part in parts]
    elif rng.random() < 0.5:
        setting["weights"] = "any"


def changed_part(data: dict[str, Any], rng: random.Random) -> None:
    """One change of the statement or of a hypothesis."""
    part = rng.choice(("statement", "hypotheses"))
    _changed({part: data[part]}, rng)


def mutant(certificate: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """The certificate with one to three changes."""
    data = copy.deepcopy(certificate)
    if "settings" in data and rng.random() < 0.4:
        (scaled if rng.random() < 0.75 else of_clients)(data, rng)
        return data
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        try:
            _changed(data, rng)
        except (IndexError, KeyError, TypeError, ZeroDivisionError):  # an earlier change took away what this one is about
            continue
    return data


#: changes of the text of a file
_DAMAGES: tuple[Callable[[str, random.Random], str], ...] = (
    lambda text, rng: text[: rng.randrange(len(text))],
    lambda text, rng: text.replace('"left"', '"right": "1", "left"', 1),
    lambda text, rng: text.replace('": "', '": 1e400, "x": "', 1),
    lambda text, rng: "[" * 10**6,
    lambda text, rng: text.replace('"1"', '"' + "9" * 10**6 + '"', 1),
    lambda text, rng: text.replace('"1"', "9" * 10**5, 1),
    lambda text, rng: text.replace('"', "'"),
    lambda text, rng: text.replace("1", "NaN", 1),
    lambda text, rng: "\ufeff" + text,
    lambda text, rng: text + text,
    lambda text, rng: json.dumps(text),
)


def damaged(text: str, rng: random.Random) -> str:
    """The text of a certificate file, damaged."""
    return rng.choice(_DAMAGES)(text, rng)
