"""Numbers that depend on how many rounds there are: sums of multiples of R^j q^R."""

from fractions import Fraction

from verify.checker.formulas import At, names
from verify.checker.operators import require
from verify.checker.quadratic_forms import NotQuadratic, QuadraticForm, plain
from verify.checker.round_invariance import COUNTS

NEVER = (Fraction(1), 0)  # the key of what does not depend on R
MOST = 1000  # powers of a number that are computed


class ExponentialSums:
    """Reads formulas as {(q, j): coefficient of R^j q^R}, for whole numbers R from 1 on; coefficients are numbers or forms
    of what is known at the start. ``instance`` has a run of one round; ``at``: where other formulas are evaluated."""

    def __init__(self, instance, at):
        self.instance, self.at = instance, at

    def depends(self, node, seen=()):
        """Whether a formula mentions how many rounds there are, definitions put in."""
        found = names(node)
        if found & {*COUNTS}:
            return True
        for name in found - {*seen}:
            rule = self.instance.rules.get(name) or self.instance.defined.get(name)
            if rule and self.depends(rule["formula"], (*seen, name)):
                return True
        return False

    def expand(self, node, free=None):
        """``free``: an index of a sum, of which the node is a multiple of a power; then keys are of this index."""
        instance = self.instance
        instance.meter.charge(1)
        if not (free in names(node) if free else self.depends(node)):
            require(free is None or not self.depends(node), "a sum whose terms depend on the number of rounds")
            return {NEVER: instance.formulas.value(node, self.at)}
        word, *args = [node] if isinstance(node, str) else node
        if word == (free or "rounds"):
            return {(Fraction(1), 1): Fraction(1)}
        if word == "iterations" and not free:
            return {(Fraction(1), 1): Fraction(instance.size["local_steps"])}
        if word == "+":
            return added(*(self.expand(a, free) for a in args))
        if word == "*":
            found = {NEVER: Fraction(1)}
            for a in args:
                found = product(found, self.expand(a, free))
            return found
        if word == "^":
            return self.power(*args, free)
        require(word == "Sum" and free is None, f"{word} of a number that depends on the rounds")
        return self.sum(*args)

    def power(self, base, exponent, free):
        mine = self.expand(base, free)
        if {*mine} == {(Fraction(1), 1)} and type(exponent) is int:  # a multiple of R itself
            (coefficient,) = mine.values()
            return {(Fraction(1), exponent): plain(coefficient) ** exponent}
        require({*mine} <= {NEVER}, "a power of a number that depends on the rounds")
        q, raised = plain(mine.get(NEVER, Fraction(0))), self.expand(exponent, free)
        require({*raised} <= {NEVER, (Fraction(1), 1)}, "an exponent is a whole number and a multiple of the rounds")
        a, b = (plain(raised.get(key, Fraction(0))) for key in ((Fraction(1), 1), NEVER))
        require(a.denominator == b.denominator == 1 and 0 < a <= MOST and abs(b) <= MOST, "an exponent that is too large")
        require(q > 0, "a power of a number that is not positive")
        return {(q**a, 0): q**b}

    def sum(self, body, name, low, high):
        """The sum over an index from a number to the last round or one near it, of multiples of a power."""
        require(type(low) is int and name not in COUNTS, "a sum begins at a number")
        end = self.expand(high)
        require(set(end) <= {NEVER, (Fraction(1), 1)} and plain(end.get((Fraction(1), 1), Fraction(0))) == 1,
                "a sum ends at a round")
        last = plain(end.get(NEVER, Fraction(0)))  # the last index is R + last
        require(last.denominator == 1 and abs(last) <= MOST and 1 + last + 1 >= low >= -MOST, "a sum of too few terms")
        total = {}
        for (q, j), c in self.expand(body, name).items():
            require(j == 0, "a sum of powers")
            if q == 1:
                total = added(total, {(Fraction(1), 1): c, NEVER: c * (last + 1 - low)})
            else:
                total = added(total, {NEVER: c * (q**low / (1 - q)), (q, 0): c * (-(q ** int(last + 1)) / (1 - q))})
        return total


def holds_for_all_rounds(instance, rule):
    """Whether an inequality between numbers surely holds for R = 1, 2, ..."""
    if rule["relation"] not in ("<=", ">=") or rule["over"]:
        return False
    smaller, larger = (rule[side] for side in (("left", "right") if rule["relation"] == "<=" else ("right", "left")))
    try:
        course = ExponentialSums(instance, At({}, None)).expand(["+", larger, ["*", -1, smaller]])
        return all(plain(bound) >= 0 for bound in least(course))
    except (NotQuadratic, LookupError, ValueError):
        return False


def added(*courses):
    found = {}
    for course in courses:
        for key, c in course.items():
            found[key] = found[key] + c if key in found else c
    return found


def product(one, other):
    found = {}
    for (p, i), a in one.items():
        for (q, j), b in other.items():
            found = added(found, {(p * q, i + j): a * b})
    return found


def least(course):
    """Numbers that together are a bound from below: the course is not negative, for R = 1, 2, ..., if none of these is.

    With B of R and C_q of q^R for 0 < q < 1, in order of size: 0 <= q_1^R <= q_2^R <= ... <= 1, a simplex whose corners are
    0 ... 0 1 ... 1, and the course is linear there; and it grows with R where B is not negative.
    """
    forms = {key: c if isinstance(c, QuadraticForm) else QuadraticForm({(): plain(c)}) for key, c in course.items()}
    zero = QuadraticForm({})
    forms = {key: c for key, c in forms.items() if c.terms}
    slope, level = forms.pop((Fraction(1), 1), zero), forms.pop(NEVER, zero)
    require(all(j == 0 and 0 < q < 1 for q, j in forms), "more than multiples of R and of q^R with 0 < q < 1")
    corners = [level + slope]
    for _, c in sorted(forms.items(), reverse=True):
        corners.append(corners[-1] + c)
    return [slope, *corners]
