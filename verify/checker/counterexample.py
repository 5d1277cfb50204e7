"""Replays a counterexample with the standard library and the files of this folder alone.

Runs the method on the recorded instance for every outcome of chance, in fractions or in intervals that surely contain the
numbers; checks every hypothesis; accepts only if the statement is surely broken, by the recorded values.
"""

import json
from itertools import product

from verify.checker.existential import ExistentialConstant
from verify.checker.instance import Instance
from verify.checker.intervals import agrees
from verify.checker.limits import FEW, MANY_ROUNDS, WorkLimit
from verify.checker.operators import COMPARE, FORMAT, breaks, replayed, require
from verify.checker.schema import checked, coupled, pieces

__all__ = ["FORMAT", "allowed", "check", "holds", "on_piece"]


def check(certificate):
    """(accepted, reason, left, right). Of clients with samples, whatever is said of gradients must be violated for those of
    the training loss and, with the values in ``also``, for those of the population risk."""
    checked(certificate)
    text = json.dumps([certificate[n] for n in ("statement", "hypotheses", "definitions")])
    twice = coupled(certificate) and ('"grad"' in text or '"objective_grad"' in text)
    require(("also" in certificate) == twice, "of clients with samples, claims on gradients have two readings")
    said = check_reading(certificate)
    if not said[0] or not twice:
        return said
    how = certificate["procedure"] | {"gradients": "population"}
    return check_reading(certificate | certificate["also"] | {"procedure": how})


def check_reading(certificate):
    """One reading. Of a number that is said to exist, the statement must be broken on every piece of its interval, and at
    the upper end by the recorded sides. The interval is taken with both ends, which asks for more, but see on_piece."""
    if "exists" not in certificate:
        for reading in shortcuts(certificate):
            said = replayed(lambda c, reading=reading: judge_instance(c, Instance(c, **reading)), certificate)
            if said[0]:
                return said
        return judge_instance(certificate, Instance(certificate))
    meter, found = WorkLimit(), pieces(certificate["subdivision"])
    for piece in found:
        said = on_piece(certificate, piece, meter)
        if not said[0]:
            return False, f"{said[1]}, with the number from {piece[0]} to {piece[1]} of its interval", *said[2:]
    if not any(allowed(certificate, place, meter) for place in (1, *(low for low, _ in found))):
        return False, "no place of the subdivision meets the conditions on the number", "", ""
    return judge_instance(certificate, Instance(certificate, (1, 1), meter))


def shortcuts(certificate):
    """The ways to read an instance of one chance that take less time than a run for each outcome, and may not suffice."""
    if certificate["setting"] == "run" and not coupled(certificate):
        if certificate["sizes"]["rounds"] > MANY_ROUNDS:
            yield {"long": True}
        if any(certificate["instance"]["noise"]):
            yield {"listed": FEW}


def on_piece(certificate, piece, meter):
    """(accepted, reason, left, right) where a number that is said to exist lies in a piece of its interval. Of numbers
    alone, the first piece of an interval from 0 on is looked at without 0 too, if that is left out."""
    low, high = piece
    if low == 0 < high and certificate["setting"] == "algebra" and ExistentialConstant(certificate).open_at_zero:
        said = replayed(lambda c: judge_instance(c, Instance(c, piece, meter, near=True), recorded=False), certificate)
        if said[0]:
            return said
    at_high = Instance(certificate, (high, high), meter) if low == 0 < high else None
    return judge_instance(certificate, Instance(certificate, piece, meter), recorded=False, at_high=at_high)


def allowed(certificate, place, meter):
    """Whether a number that is said to exist surely meets the conditions on it at a place of its interval."""
    instance, chosen = Instance(certificate, (place, place), meter), ExistentialConstant(certificate)
    rules = [rule for rule in certificate["hypotheses"] if chosen.is_condition(rule)]
    return not any(breaks(rule["relation"], *instance.sides(rule, index, None), unless=False)
                   for rule in rules for index in instance.formulas.cases(rule))


def judge_instance(certificate, instance, recorded=True, at_high=None):
    """(accepted, reason, left, right) of an instance; ``recorded``: whether the sides must be those recorded. ``at_high``:
    the instance at the upper end of the first piece of an interval."""
    statement, sides, chosen = certificate["statement"], ("", ""), ExistentialConstant(certificate)
    outcomes = [outcome for _, outcome in instance.outcomes()]
    defining = {value["hypothesis"] for value in certificate["values"].values() if isinstance(value, dict)}
    for place, rule in enumerate(certificate["hypotheses"]):
        if place in defining or chosen.is_condition(rule):
            continue
        where = at_high if at_high and chosen.is_sign(rule) else instance
        for index, outcome in product(where.long.cases(rule) if where.long else where.formulas.cases(rule), outcomes):
            sides = where.sides(rule, index, outcome)
            if not COMPARE[rule["relation"]](*sides):
                return False, f"a hypothesis fails at {index}: {rule['text']}", *sides
    for index, outcome in product(instance.formulas.cases(statement), outcomes):
        sides = instance.sides(statement, index, outcome)
        if breaks(statement["relation"], *sides) and (not recorded or all(
                map(agrees, sides, (certificate["left"], certificate["right"])))):
            return True, "every hypothesis holds and the statement is violated", *sides
    return False, "nothing violates the statement by the recorded values", *sides


def holds(certificate, piece, meter):
    """Whether the statement surely holds on an instance."""
    statement, instance = certificate["statement"], Instance(certificate, piece, meter)
    outcomes = [outcome for _, outcome in instance.outcomes()]
    return all(COMPARE[statement["relation"]](*instance.sides(statement, index, outcome))
               for index, outcome in product(instance.formulas.cases(statement), outcomes))
