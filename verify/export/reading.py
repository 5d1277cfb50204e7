"""Reads a proof certificate as inequalities between linear forms: the one file here that knows how the checker reads it.

A form is ``{key: (c_0, c_1, ...)}`` with the coefficients of the powers of ``u``, where 1/u is the number of clients;
without a ``degree`` there is c_0 alone. Keys are pairs of vectors (their expected inner product), names of numbers, and
() for 1.
"""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import comb

from verify.checker import proof, rounds
from verify.checker.class_facts import class_facts
from verify.checker.exponential_sums import ExponentialSums
from verify.checker.formulas import At
from verify.checker.laurent_polynomials import LaurentForm, coefficients, ends
from verify.checker.limits import parse_number
from verify.checker.operators import FORMAT as COUNTEREXAMPLE
from verify.checker.operators import replayed, require
from verify.checker.quadratic_forms import QuadraticForm
from verify.checker.scope import scope
from verify.checker.starts import FirstRound
from verify.export.squares import squares

__all__ = ["FORMATS", "Inequality", "Reading", "Start", "read"]

FORMATS = (proof.FORMAT, rounds.FORMAT)
PARTS = ("one round from any state", "the last state", "the start")  # of an induction, the last one perhaps several times


@dataclass(frozen=True)
class Inequality:
    """``smaller <= larger``: ``larger - smaller`` is the sum of ``multipliers`` times facts, ``squares`` and a ``constant``.

    Attributes:
        smaller, larger: the two sides.
        facts: what is known, ``(form, is_zero)`` by the checker's name: the form is zero, or never negative.
        multipliers: quadruples (name, number, q, p): the fact is multiplied by ``number u^q (1 - least u)^p``.
        squares: quadruples (number, {vector: integer}, q, p): the squared length of this combination, multiplied so.
        constant: triples (number, q, p).
        least: the least number of clients, of a proof for every number of clients; else None.
        run: the checker's symbolic run, from which the meaning of vectors and points can be read.
        what: which part of an induction it is; empty where there is none.
    """

    smaller: dict
    larger: dict
    facts: dict
    multipliers: list
    squares: list
    constant: list
    least: int | None
    run: object = field(repr=False)
    what: str = ""


@dataclass(frozen=True)
class Reading:
    """The statement of a certificate, and at each of its settings the inequalities that prove it."""

    stated: dict
    scope: str
    settings: list
    starts: list


@dataclass(frozen=True)
class Start:
    """The base case of an induction: the potential and what each round adds, the right side for n rounds as ``{(p, j):
    form}`` of multiples of p^n n^j, and the p, in descending order, that the theorems use."""

    factor: Fraction
    first: dict
    cost: dict
    right: dict
    powers: list


def read(certificate) -> Reading:
    """Raises ValueError for a certificate that is no proof of these ``FORMATS``, or whose multipliers prove nothing."""
    kind = certificate.get("format") if isinstance(certificate, dict) else None
    what = "a counterexample" if kind == COUNTEREXAMPLE else f"a file of the format {kind!r}"
    require(kind in FORMATS, "export takes a proof about runs, as `fedtheory worst CLAIM --out FILE` or `fedtheory verify "
                             f"CLAIM --budget standard` write it (format {' or '.join(FORMATS)}); got {what}")
    accepted, reason, *_ = replayed((rounds if kind == rounds.FORMAT else proof).check, certificate)
    require(accepted, f"the checker rejects this proof: {reason}")
    stated = {name: certificate[name] for name in proof.STATED}
    settings, starts = zip(*(_of_setting(stated | setting) for setting in certificate["settings"]), strict=True)
    return Reading(certificate, scope(certificate, kind == rounds.FORMAT)[0], [*settings], [*starts])


def _of_setting(setting):
    """The inequalities of one setting, and the start of its induction, if it has one."""
    numbers, proofs = proof.parse_setting(setting)
    asked = (rounds if "potential" in setting else proof).obligations(setting, numbers)
    return [*_inequalities(setting, asked, proofs)], _start(setting, asked) if setting.get("potential") else None


def _start(setting, asked):
    """The start of an induction; None where its parts are more than one of each kind."""
    potential, q = setting["potential"], parse_number(setting["potential"]["factor"])
    starts = [obligation for obligation in asked if isinstance(obligation.run.begins, FirstRound)]
    outcomes = starts[0].run.outcomes
    if "degree" in setting or len(asked) - len(starts) != 2 or len(outcomes) != 1 or q == 0:
        return None
    instance, at, (smaller, right) = starts[0].run.instance, At({}, *outcomes), rounds.sides(setting["statement"])
    right = ["*", "rounds", right] if rounds.LeftSide(instance, smaller).averaged else right
    before = rounds.substituted(potential["value"], {"r": 0})
    course = {key: QuadraticForm({}) + c for key, c in ExponentialSums(instance, at).expand(right).items()}
    first, cost = (QuadraticForm({}) + instance.formulas.value(node, at) for node in (before, potential["cost"]))
    gaps = {p: c for (p, _), c in course.items() if p < 1}
    if q < 1:
        gaps[q] = gaps.get(q, QuadraticForm({})) - first + cost / (1 - q)
    powers = sorted((p for p, c in gaps.items() if c.parts), reverse=True)
    require(len(powers) + 2 == len(starts), "the start of the induction has other parts")
    return Start(q, _constant(first), _constant(cost), {key: _constant(c) for key, c in course.items()}, powers)


def _inequalities(setting, asked, proofs):
    facts, first = {}, [isinstance(obligation.run.begins, FirstRound) for obligation in asked]
    whats = [PARTS[2] if start else PARTS[0] if 2 * number < first.index(True) else PARTS[1]
             for number, start in enumerate(first)] if any(first) else [""] * len(asked)
    for obligation, given, what in zip(asked, proofs, whats, strict=True):
        run = obligation.run
        if id(run) not in facts:
            facts[id(run)] = class_facts(run, [*dict.fromkeys(one.past for one in asked if one.run is run)])
        if "degree" in setting:
            found = _for_every_number(obligation, facts[id(run)][obligation.past], given, run.people.least,
                                      run.people.degree)
        else:
            found = _at_a_number(obligation, facts[id(run)][obligation.past], given)
        yield replace(found, what=what)


def _at_a_number(obligation, facts, given):
    forms = {name: facts.whole(name) for name in given}
    rest = obligation.larger - obligation.smaller
    for name, number in given.items():
        rest = rest - forms[name][0] * number
    return Inequality(
        _constant(obligation.smaller), _constant(obligation.larger),
        {name: (_constant(form), zero) for name, (form, zero) in forms.items()},
        [(name, number, 0, 0) for name, number in given.items() if number],
        [(number, row, 0, 0) for number, row in squares(rest.terms)],
        [(rest.coefficient(()), 0, 0)], None, obligation.run)


def _for_every_number(obligation, class_facts, given, least, degree):
    """All in the Bernstein basis on [0, 1/least]: the coefficient at end e stands before u^e (1 - least u)^(degree - e)."""
    names = dict.fromkeys(name.partition(" part ")[0] for name in given)
    high = max([p for form in (obligation.smaller, obligation.larger) for p, _ in LaurentForm.lifted(form).parts], default=0)
    facts, multipliers, left = {}, [], [dict() for _ in range(degree + 1)]

    def add(form, shift, power, sign):
        """Adds ``sign u^shift (1 - least u)^power`` times a form to what is left, end by end."""
        found = ends(form, least)
        for e, b in enumerate(found):
            for key, c in b.terms.items():
                share = comb(len(found) - 1, e) * least**e
                left[shift + e][key] = left[shift + e].get(key, 0) + c * share * sign

    gap = obligation.larger - obligation.smaller
    own = len(ends(gap, least)) - 1
    for q in range(degree - own + 1):
        add(gap, q, degree - own - q, Fraction(comb(degree - own, q) * least**q))
    for name, (form, zero) in {name: class_facts.whole(name) for name in names}.items():
        d = len(ends(form, least)) - 1
        for q in range(degree - d + 1):
            number = given.get(f"{name} part {q}" if d < degree else name, 0) * comb(degree - d, q) * least**q
            if number:
                facts[name] = _in_u(form), zero
                multipliers.append((name, number, q, degree - d - q))
                add(form, q, degree - d - q, -number)
    shift = high - max([p for p, _ in LaurentForm.lifted(gap).parts], default=high)  # where the largest power cancels
    return Inequality(
        _in_u(obligation.smaller, high), _in_u(obligation.larger, high), facts,
        [(name, number, q + shift, p) for name, number, q, p in multipliers],
        [(number, row, e + shift, degree - e) for e, form in enumerate(left) for number, row in squares(form)],
        [(form.get((), Fraction(0)), e + shift, degree - e) for e, form in enumerate(left)], least, obligation.run)


def _constant(form):
    return {key: (c,) for key, c in form.terms.items()}


def _in_u(form, high=None):
    """A form times u to its largest power of the number of clients, or to the power ``high``."""
    found, shift = {}, 0 if high is None else high - max([p for p, _ in LaurentForm.lifted(form).parts], default=high)
    for j, part in enumerate(coefficients(form)):
        for key, c in part.terms.items():
            row = found.setdefault(key, [])
            row += [Fraction(0)] * (shift + j + 1 - len(row))
            row[shift + j] = c
    return {key: tuple(row) for key, row in found.items()}
