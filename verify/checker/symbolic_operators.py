"""Operators of formulas on symbolic runs."""

from fractions import Fraction
from itertools import combinations
from math import comb

from verify.checker.comparisons import Length, Ratio
from verify.checker.exchangeable_clients import CLIENT, factored, is_common
from verify.checker.intervals import extreme, quotient
from verify.checker.laurent_polynomials import CLIENTS, LaurentForm
from verify.checker.limits import OUTCOMES, bounded
from verify.checker.operators import JOINED, MEANS, WORDS, require
from verify.checker.quadratic_forms import LOSS, NotQuadratic, QuadraticForm, SymbolicVector, effort, pairing, plain
from verify.checker.scenarios import depends_on_scenario
from verify.checker.symbolic_run import NOTHING

#: words that mean the same of letters as of coordinates
SAME = {"+", "*", "exp", "log", "Exp1", "Mod", "Abs"}
NUMBERING = ("Max", "Min", "largest_sum", "share")


def refused(word):
    """An operator that raises NotQuadratic, for a word without a meaning on symbolic runs."""
    def refuse(*_):
        raise NotQuadratic(f"{word} is not a form")

    return refuse


class SymbolicOperators:
    """The words of a run on letters. ``extremes`` has what was asked of the largest and the least of several numbers."""

    def __init__(self, run):
        self.run, self.extremes = run, {}

    def operators(self):
        found = {word: refused(word) for word in WORDS if word not in SAME}
        return found | self.run.coordinates.words() | {
            "dot": self.dot, "norm2": lambda v: self.dot(v, v), "^": self.power, "layer_part": self.layer_part,
            "grad": lambda k, x: self.run.grad(self.run.people.number(k), x),
            "objective_grad": lambda x: self.run.people.objective_grad(self.run.letters, x)}

    def binders(self):
        value = self.run.instance.formulas.value
        found = {word: lambda args, at, word=word: self.mean(word, args, at) for word in MEANS}
        found |= {word: lambda args, at, word=word: self.extreme(word, args, at) for word in NUMBERING}
        found |= {"infimum": self.at_the_point, "highest": self.highest, "norm": self.norm}
        found |= {word: lambda args, at, word=word: self.noted(word, [value(a, at) for a in args], at)
                  for word in ("dot", "norm2", "F", "objective")}
        return found | ({"Sum": self.sum} if self.run.people.one else {})

    def noted(self, word, args, at):
        """A number that may be random; outside of means it is noted on what it depends."""
        if word == "F":
            k = self.run.people.number(args[0])
            found, rows = self.run.letters.evaluation_at(k, args[1])[2], args[1:]
        elif word == "objective":
            found, rows = self.run.objective(*args), args
        else:
            found, rows = self.dot(*(args if word == "dot" else args * 2)), args
        if at.notes:
            rows = [row for row in rows if isinstance(row, SymbolicVector)]
            at.notes.certain |= frozenset().union(*(self.run.letters.upstream(factored(row)[0]) for row in rows))
        return found

    def dot(self, u, v):
        if not isinstance(u, SymbolicVector) or not isinstance(v, SymbolicVector):
            if all(isinstance(w, SymbolicVector) or plain(w) == 0 for w in (u, v)):
                return Fraction(0)
            raise NotQuadratic("an inner product is one of vectors")
        (u, p), (v, q) = factored(u), factored(v)
        self.run.letters.meter.charge(effort(u, v))
        return pairing(u, v) * CLIENTS ** (p + q) if p + q else pairing(u, v)

    def norm(self, args, at):
        """The norm of a deterministic vector. Norms of random vectors are refused: E|v| is not sqrt(E|v|^2)."""
        v, = (self.run.instance.formulas.value(a, at) for a in args)
        square = self.noted("norm2", [v], at) + QuadraticForm({})
        if self.run.choices or (at.inside and self.run.letters.upstream(v)):
            raise NotQuadratic("a mean of lengths")
        return Length(square)

    def layer_part(self, l, v):
        require(l in range(self.run.instance.size["layers"]), f"{l} is no layer")
        return v if not isinstance(v, SymbolicVector) and plain(v) == 0 else self.run.letters.layer(int(l), v)

    def power(self, base, exponent):
        """A power; of a number without a value that is no matter of chance, its root, by the square of that."""
        if isinstance(base, LaurentForm):
            return base ** plain(exponent)
        sure = isinstance(base, QuadraticForm) and {*base.parts} - {()} and all(
            isinstance(key, str) and not key.startswith(LOSS) for key in {*base.parts} - {()})
        return Length(base) if sure and exponent == Fraction(1, 2) else WORDS["^"](base, exponent)

    def sum(self, args, at):
        """A sum; over all clients, of what names no other client."""
        value, (body, name, *ends) = self.run.instance.formulas.value, args
        low, high = (value(each, at) for each in ends)
        if not self.run.people.are_all(low, high):
            return self.run.instance.formulas.joined(*JOINED["Sum"], args, at)
        index = {n: v for n, v in at.index.items() if v is not CLIENT
                 and (not isinstance(v, SymbolicVector) or is_common(v))}
        return self.run.people.total(value(body, at._replace(index=index | {name: CLIENT})))

    def highest(self, args, at):
        name, low, high, body = args
        inner = [at._replace(index={**at.index, name: i}) for i in self.run.instance.formulas.span(low, high, at)]
        return self.run.coordinates.upper(*(self.run.instance.formulas.value(body, one) for one in inner))

    def at_the_point(self, args, at):
        """Evaluate the body of an infimum at the current point, which bounds the infimum from above."""
        point, body = args
        if at.point is None or not isinstance(point, str):
            raise NotQuadratic("the least value over all points")
        return self.run.instance.formulas.value(body, at._replace(index={**at.index, point: at.point}))

    def mean(self, word, args, at):
        """A mean over draws: given nothing, the past of a round, or all noise."""
        r = self.run.instance.formulas.value(args[1], at) if len(args) > 1 else None
        if word == "E_step" or (r is not None and r.denominator != 1):
            raise NotQuadratic(f"a mean given the past of {r}, which is no round")
        past = {"E_sampling": at.given, "E_round": r}.get(word, NOTHING)
        if self.run.letters.exact and self.run.begins.random_past:  # of sampling alone, whose past is random all the same
            require(word in ("E", "E_round"), f"{word} of every round")
        if not self.run.letters.exact or self.run.choices or self.run.begins.random_past:
            past = self.past_of(past, at)
        past = NOTHING if past is None else past
        inner = at._replace(given=past, inside=True, notes=None)
        if self.run.choices and word == "E_noise":
            raise NotQuadratic("a mean over noise, while choices depend on it")
        if self.run.choices and word != "E_sampling":
            found = self.run.choices.mean(args[0], inner, at.outcome, lambda draw: MEANS[word](draw, r))
        else:
            found = self.run.instance.mean(word, args[0], inner, lambda draw: MEANS[word](draw, r))
        return self.run.letters.mean(found, past) if isinstance(found, SymbolicVector) and word != "E_sampling" else found

    def past_of(self, past, at):
        """The round whose past a mean is given."""
        if past is None and self.run.choices:
            raise NotQuadratic("a mean over samples of clients outside of expectations, beside choices")
        past = self.run.instance.size["rounds"] if past is None else past  # outside of expectations all noise is given
        if at.given is not None and past < at.given:
            raise NotQuadratic("a mean inside of a mean that is given more")
        if at.notes:
            at.notes.asked.add(past)
        return past

    def extreme(self, word, args, at):
        """The largest or least of numbers, or a ratio: of forms a number that is at least, or at most, each of them."""
        formulas, found = self.run.instance.formulas, None
        if word == "share" and self.run.people.one:
            raise NotQuadratic("a ratio, for every number of clients")
        if word == "largest_sum":
            count, body, name, low, high = args
            count, inner = formulas.value(count, at), formulas.span(low, high, at)
            values = [formulas.value(body, at._replace(index={**at.index, name: i})) for i in inner]
            require(count.denominator == 1 and 0 <= count <= len(values), f"{count} is no number of values")
            bounded(comb(len(values), int(count)), OUTCOMES, "sums of values")
            found = [sum(each, Fraction(0)) for each in combinations(values, int(count))]
        else:
            found = values = [formulas.value(a, at) for a in args]
        if not any(isinstance(value, QuadraticForm) and {*value.parts} - {()} for value in values):
            found = [plain(value) if isinstance(value, QuadraticForm) else value for value in found]
            return quotient(*found) if word == "share" else extreme(found, word != "Min")
        if depends_on_scenario(*(value for value in values if isinstance(value, QuadraticForm))):
            raise NotQuadratic(f"{word} of means over choices")
        if word == "share":
            return Ratio(*found)
        said = (value.key if isinstance(value, QuadraticForm) else value for value in values)
        key = word, str(args), *at.index.items(), at.given, *said
        if key not in self.extremes:
            self.extremes[key] = self.run.letters.anything()
            for number, value in enumerate(found):
                above = self.extremes[key] - value if word != "Min" else value - self.extremes[key]
                self.run.letters.largest[f"{word} {self.run.letters.loose} {number}"] = above
        return self.extremes[key]
