"""Attacks proofs about numbers: changed certificates, and what random exact numbers say of those that are accepted.

Shares no code with the checker.
"""

import copy
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import cache
from typing import Any

from bounds.registry.claims import find_claim
from tests.verify.attack.table import NoOpinion, Table
from verify.exact.check import replay_alone
from verify.prove.number_certificates import number_certificate

__all__ = ["KIND", "attack_numbers", "broken", "certificates_of_numbers", "mutant_of_numbers", "says_something", "value"]

KIND = "proof about numbers"
_TRIALS = 150  # random numbers for a statement
_LONG = 4  # entries of arrays at most
_RELATIONS = ("<=", ">=", "==", "<", ">")

#: claims of each paper with certificates that are found fast
CLAIMS = {
    "afedpd": (
        "alpha-condition@necessary lemma-6-mixture@limit multipliers multipliers@feasible q-choice q-choice@range "
        "q-equation q-range q-range@necessary rho-quadratic table-2-fedspeed@lenet table-2-heterogeneity "
        "table-2-primal table-2-sam table-4-fedavg table-4-fedavg@cifar-100 table-5-factors text-c-over-p "
        "text-partial-fedpd"),
    "fadamgc": (
        "app-C-communication app-C-communication@scaffold eq-111@second-coefficient eq-118@positive eq-131a@lower "
        "eq-183-exp@second eq-192 eq-81@numbers"),
    "fedalign": (
        "step-T15-shift step-T15-shift@first-step+SCHED8 step-T19 step-T19@difference "
        "step-eq35-as-printed@first-inequality"),
    "fedluar": (
        "eq-14-reason eq-14-reason@main eq-16-reason eq-2 eq-2@inverted lemma-A.1-coefficient lemma-A.1-young "
        "remark-2@T-fixed+average+floor remark-2@etaT-fixed+average+floor theorem-A.4-coefficient"),
    "fedmoswa": (
        "eq-102@drift eq-102@gradient eq-102@step-size eq-76@third eq-89-b eq-89-b@power g13-step-size "
        "g13-step-size@lag lemma-g.5-explicit@two-thirds lemma-g.7 lemma-g.7@jensen lemma-g.7@part-2"),
}


class NoValue(Exception):
    """A formula has no value."""


@cache
def certificates_of_numbers() -> list[dict[str, Any]]:
    """Certificates of the claims."""
    names = [f"{paper}/{name}" for paper, names in CLAIMS.items() for name in names.split()]
    found = [number_certificate(find_claim(name)) for name in names]
    assert None not in found, "a claim without a certificate"
    return [data for data in found if data is not None]


# what a statement is worth -----------------------------------------------------------------------------------------------
def value(node: Any, given: Mapping[str, Any]) -> Fraction | list[Fraction]:
    """The value of a formula, or of a vector, in exact numbers.

    Raises:
        NoValue: it has none.
        NoOpinion: it is not rational.
    """
    if isinstance(node, int):
        return Fraction(node)
    word, *args = node if isinstance(node, list) else [node]
    if word in ("Sum", "Product"):
        body, index, low, high = args
        parts = [value(body, {**given, index: Fraction(i)}) for i in _span(low, high, given)]
        return _joined(word == "Sum", parts)
    parts = [value(a, given) for a in args]
    if word in ("+", "*"):
        return _joined(word == "+", parts)
    if word in given:
        found = given[word]
        for i in parts:
            if not isinstance(found, list) or i.denominator != 1 or not 0 <= i < len(found):
                raise NoValue(f"there is no {word} at {i}")
            found = found[int(i)]
        return found
    if word == "^":
        return _power(*parts)
    if word == "Max" or word == "Min":
        return (max if word == "Max" else min)(parts)
    if word == "Abs":
        return abs(parts[0])
    if word in ("floor", "ceiling"):
        return Fraction(parts[0].__floor__() if word == "floor" else parts[0].__ceil__())
    if word == "Mod" and parts[1] != 0:
        return parts[0] % parts[1]
    if word in ("dot", "norm2"):
        return sum((a * b for a, b in zip(parts[0], parts[-1], strict=True)), Fraction(0))
    if word == "norm":
        return _power(sum((a * a for a in parts[0]), Fraction(0)), Fraction(1, 2))
    if word in ("exp", "log", "Exp1"):
        raise NoOpinion(word)
    raise NoValue(word)


def _span(low: Any, high: Any, given: Mapping[str, Any]) -> range:
    ends = [value(end, given) for end in (low, high)]
    if any(end.denominator != 1 for end in ends) or ends[1] - ends[0] > 500:
        raise NoValue("a range")
    return range(int(ends[0]), int(ends[1]) + 1)


def _joined(added: bool, parts: Sequence[Any]) -> Any:
    vectors = [part for part in parts if isinstance(part, list)]
    if added and vectors:
        rows = [part for part in parts if isinstance(part, list) or part != 0]
        return [sum(entries, Fraction(0)) for entries in zip(*rows, strict=True)]
    found = Fraction(0 if added else 1)
    for part in parts:
        if not isinstance(part, list):
            found = found + part if added else found * part
    return [found * entry for entry in vectors[0]] if vectors else found


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if (base == 0 and exponent < 0) or (base < 0 and exponent.denominator != 1) or abs(exponent) > 400:
        raise NoValue("a power")
    if exponent.denominator == 1:
        return base ** int(exponent)
    root = [_root(part, exponent.denominator) for part in (base.numerator, base.denominator)]
    if None in root:
        raise NoOpinion("a root")
    return Fraction(*root) ** exponent.numerator


def _root(number: int, degree: int) -> int | None:
    guess = round(number ** (1 / degree)) if number < 2**52 else 0
    return next((one for one in (guess - 1, guess, guess + 1) if one >= 0 and one**degree == number), None)


# random numbers that meet hypotheses ---------------------------------------------------------------------------------------
def _numbers(data: Mapping[str, Any], rng: random.Random) -> dict[str, Any] | None:
    """Random values of all names; None where hypotheses that define a name cannot be followed."""
    sizes = {name: Fraction(rng.randint(1, 3)) for name in (
        "clients", "iterations", "local_steps", "participants", "rounds", "dim", "layers")}
    whole = {rule["left"][1] if isinstance(rule["left"][1], str) else rule["left"][1][0] for rule in data["hypotheses"]
             if isinstance(rule["left"], list) and rule["left"][0] == "Mod"}
    given: dict[str, Any] = dict(sizes)
    used = {size.partition(" + ")[0] for lengths in data["free"].values() for size in lengths or ()}
    for name, lengths in sorted(data["free"].items(), key=lambda pair: len(pair[1] or ())):
        if name in given:
            continue
        if lengths is None:
            return None
        if not lengths:
            given[name] = Fraction(rng.randint(0, _LONG)) if name in whole | used else _one(rng)
            continue
        counts = []
        for size in lengths:
            base, _, more = size.partition(" + ")
            length = given.get(base, Fraction(base) if base.isdigit() else None)
            if not isinstance(length, Fraction) or length.denominator != 1:
                return None
            counts.append(int(length) + int(more or 0))
        given[name] = _array(counts, lambda name=name: Fraction(rng.randint(-2, 4)) if name in whole else _one(rng))
    return _following(data, given)


def _one(rng: random.Random) -> Fraction:
    """A number of a random kind: small, large, a square, below 0."""
    found = rng.choice([Fraction(rng.randint(0, 3)), Fraction(rng.randint(1, 9), rng.randint(1, 9)), Fraction(1, 4),
                        Fraction(rng.randint(1, 5)) ** 2, Fraction(1, rng.randint(1, 6)) ** 2, Fraction(100), Fraction(0)])
    return -found if rng.random() < 0.15 else found


def _array(counts: Sequence[int], entry) -> Any:
    return [_array(counts[1:], entry) for _ in range(counts[0])] if counts else entry()


def _following(data: Mapping[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """With names as hypotheses ``name == formula`` say, and arrays by entries; ends of inequalities now and then."""
    for _ in range(2):
        for rule in data["hypotheses"]:
            left = rule["left"]
            try:
                if isinstance(left, str) and left in data["free"] and not rule["over"] and rule["relation"] == "==":
                    given[left] = value(rule["right"], given)
            except (NoOpinion, NoValue):
                continue
    return given


def _meets(rule: Mapping[str, Any], given: Mapping[str, Any], definitions: Mapping[str, Any]) -> bool:
    """Whether a condition holds at all of its indices."""
    cases: list[dict[str, Any]] = [dict(given)]
    for index, low, high in rule["over"]:
        cases = [{**case, index: Fraction(i)} for case in cases for i in _span(low, high, case)]
    return all(_compared(rule["relation"], value(rule["left"], case), value(rule["right"], case)) for case in cases)


def _compared(relation: str, left: Any, right: Any) -> bool:
    return {"<=": left <= right, ">=": left >= right, "==": left == right, "<": left < right, ">": left > right}[relation]


def _put_in(node: Any, definitions: Mapping[str, Any]) -> Any:
    """A formula with definitions put in."""
    if not isinstance(node, list):
        rule = definitions.get(node) if isinstance(node, str) else None
        return _put_in(rule["formula"], definitions) if rule and not rule["indices"] else node
    word, *args = node
    args = [_put_in(a, definitions) for a in args]
    if word in definitions:
        rule = definitions[word]
        return _named(_put_in(rule["formula"], definitions), dict(zip(rule["indices"], args, strict=True)))
    return [word, *args]


def _named(node: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(node, str):
        return values.get(node, node)
    return [node[0], *(_named(a, values) for a in node[1:])] if isinstance(node, list) else node


def _rules(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The statement and the hypotheses, with definitions put in."""
    return [{**rule, **{side: _put_in(rule[side], data["definitions"]) for side in ("left", "right")}}
            for rule in (data["statement"], *data["hypotheses"])]


def says_something(data: Mapping[str, Any], seed: int, trials: int = _TRIALS) -> tuple[bool, int]:
    """Whether random numbers meet all hypotheses and give the statement a value at an index; and at how many of them the
    hypotheses have values."""
    rng, looked_at = random.Random(seed), 0
    statement, *hypotheses = _rules(data)
    for _ in range(trials):
        given = _numbers(data, rng)
        if given is None:
            break
        try:
            met = all([_meets(rule, given, {}) for rule in hypotheses])
            looked_at += 1
            if met and _has_value(statement, given):
                return True, looked_at
        except (NoOpinion, NoValue, TypeError):
            continue
    return False, looked_at


def _has_value(rule: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    cases: list[dict[str, Any]] = [dict(given)]
    for index, low, high in rule["over"]:
        cases = [{**case, index: Fraction(i)} for case in cases for i in _span(low, high, case)]
    for case in cases:
        with suppress(NoValue):
            value(rule["left"], case), value(rule["right"], case)
            return True
    return False


def broken(data: Mapping[str, Any], seed: int, trials: int = _TRIALS) -> tuple[bool, int]:
    """Whether random numbers meet all hypotheses and break the statement, or leave it without a value; and how many met
    them."""
    rng, met = random.Random(seed), 0
    rules = _rules(data)
    for _ in range(trials):
        given = _numbers(data, rng)
        if given is None:
            break
        try:
            if not all(_meets(rule, given, {}) for rule in rules[1:]):
                continue
        except (NoOpinion, NoValue, TypeError):
            continue
        try:
            met += 1
            if not _meets(rules[0], given, {}):
                return True, met
        except NoValue:
            return True, met
        except NoOpinion:
            met -= 1
    return False, met


# mutants -------------------------------------------------------------------------------------------------------------------
def _places(node: Any) -> Iterator[tuple[Any, Any]]:
    for key in [*(node if isinstance(node, dict) else range(len(node) if isinstance(node, list) else 0))]:
        yield node, key
        yield from _places(node[key])


def mutant_of_numbers(certificate: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
    """The certificate with one or two changes: of numbers, signs, relations, indices, names, facts, ranges; of a step or a
    hypothesis that is dropped; of the statement."""
    data = copy.deepcopy(dict(certificate))
    for _ in range(rng.choice((1, 1, 2))):
        part = rng.choice(("statement", "statement", "hypotheses", "proof", "proof", "definitions", "free"))
        places = [(holder, key) for holder, key in _places(data[part]) if key != "text"]
        if not places:
            continue
        holder, key = rng.choice(places)
        kept, names = holder[key], [*data["free"], "rounds", "clients"]
        if type(kept) is int:
            holder[key] = rng.choice((kept + 1, kept - 1, -kept, 2 * kept, 0))
        elif kept in _RELATIONS:
            holder[key] = rng.choice(_RELATIONS)
        elif isinstance(kept, str):
            texts = [one for part in ("proof", "statement", "hypotheses") for _, one in (
                (h, h[k]) for h, k in _places(data[part])) if isinstance(one, str) and len(one) < 30]
            holder[key] = rng.choice(names if rng.random() < 0.5 else texts)
        elif isinstance(kept, list) and isinstance(holder, list) and key > 0 and rng.random() < 0.4:
            others = ["*", -1, kept], ["*", 2, kept], ["+", kept, 1], ["^", kept, -1], ["^", kept, 2], 0, 1
            holder[key] = rng.choice(others)
        elif isinstance(holder, list) and rng.random() < 0.7:
            if rng.random() < 0.6:
                del holder[key]
            else:
                other = rng.randrange(len(holder))
                holder[key], holder[other] = holder[other], holder[key]
        else:
            other, place = rng.choice(places)
            other[place] = copy.deepcopy(kept)
    return data


def attack_numbers(count: int, seed: int) -> Table:
    """Judges ``count`` mutants of certificates about numbers."""
    rng, table, given = random.Random(seed), Table(), certificates_of_numbers()
    for number in range(count):
        certificate = rng.choice(given)
        data = mutant_of_numbers(certificate, rng)
        if data == certificate:
            continue
        result = table.judge(KIND, data, lambda data=data: replay_alone(data))
        if result is not None and result.accepted:
            table.accept(KIND, data, lambda data=data, number=number: _agreed(data, number))
    return table


def _agreed(data: Mapping[str, Any], seed: int) -> bool:
    """Raises NoOpinion where no numbers meet the hypotheses."""
    wrong, met = broken(data, seed)
    if not wrong and not met:
        raise NoOpinion
    return not wrong
