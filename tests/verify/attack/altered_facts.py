"""Attacks the theories: each constant, sign, index and side condition of each fact is altered in turn, and random members of
the class must break what is then said, or it is another true fact."""

from tests.verify.attack.table import Table
from tests.verify.checker.theories.facts import THEORIES
from tests.verify.checker.theories.judged import altered_facts, members_of, of_all

__all__ = ["EXPLAINED", "MEMBERS", "attack_facts"]

#: of each theory, how many members look at an altered fact
MEMBERS = {"interpolation": 45, "noise": 60, "coordinates": 30, "everywhere": 40}

#: what no member notices, because it is true -> why
EXPLAINED = {
    "two_points: True in place of a condition in '-L if m is None else m'": "the class with curvatures from -L is larger",
    "two_points: Is becomes IsNot in 'm is None'": "the class with curvatures from -L is larger",
    "one_curvature: 0 becomes 1 in '0' of 'run.letters.points[k][0]'": "it holds of any two points of a linear gradient",
    "one_curvature: 0 becomes -1 in '0' of 'run.letters.points[k][0]'": "it holds of any two points of a linear gradient",
    "one_curvature: v becomes rest in 'v' of 'pairing(rest, v)'": "what is 0 has the product 0 with anything",
    "uncorrelated: a part dropped in 'i + part'": "a mean and a deviation have the mean product 0",
    "uncorrelated: a part dropped in 'j + part'": "a mean and a deviation have the mean product 0",
    """facts: if False in "if name == 'G_lip':\\n    rows = [g for points in letters.poin\"""": (
        "gradients of length at most G are in the mean at most G from their mean"),
}


def attack_facts(theories=THEORIES) -> Table:
    """A row for each theory: accepted is what gives a name another form, or nothing less, and is not broken by a member."""
    table = Table()
    for theory in theories:
        kind, members = f"altered fact: {theory}", members_of(theory, MEMBERS[theory], 8)
        for what, altered in altered_facts(theory):
            verdict = table.judge(kind, what, lambda altered=altered, members=members: of_all(altered, members))
            if verdict not in ("broken", "refuses", None):
                table.accept(kind, what, lambda verdict=verdict, what=what: verdict != "unnoticed" or what in EXPLAINED)
    return table
