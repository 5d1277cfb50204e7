"""Formulas, and what evaluates them.

A formula is a whole number, a name, or a list: ["+", a, b], ["x", t], ["Sum", body, "k", low, high], ["E", a].
"""

from collections import namedtuple
from fractions import Fraction

from verify.checker.limits import TERMS, bounded
from verify.checker.operators import JOINED, WORDS, require

#: where a formula is evaluated: the values of indices by name, and the outcome of chance, None before anything is drawn.
#: In proofs also: the round on whose past is conditioned, None outside of expectations; whether it is inside of one; the
#: point that stands for all points; and the notes on what was evaluated, outside of expectations
At = namedtuple("At", "index outcome given inside point notes", defaults=(None, False, None, None))


class Formulas:
    """Evaluates formulas.

    ``operators`` are words that take values. ``binders`` are words that read their own arguments: functions of (arguments,
    at). ``named(name, indices, at)`` is the value of a name. ``fixed`` are the names whose values no draw changes. A value
    is kept by its formula, the indices that the formula names, and the outcome where a draw may change it. Words that are
    ``numbering`` give what they find a number, for each value of all indices another one. ``simplified`` is what becomes of
    a value, ``end`` of one that ends a range.
    """

    def __init__(self, operators, binders, named, fixed, meter, numbering=(), simplified=lambda value: value, end=None):
        self.operators, self.binders, self.named, self.meter = operators, binders, named, meter
        self.simplified, self.end = simplified, end or whole
        self.fixed, self.numbering, self.kept, self.read = {*fixed, *WORDS, *JOINED}, {*numbering}, {}, {}

    def value(self, node, at):
        self.meter.charge(1)
        if type(node) is int:
            return Fraction(node)
        word, *args = node if isinstance(node, list) else [node]
        if word in at.index:
            require(not args, f"{word} is an index")
            return at.index[word]
        at, key = self.key(node, at)
        if key is None or key not in self.kept:
            found = self.simplified(self.meaning(word, args, at))
            self.meter.record(found)
            if key is None:
                return found
            self.kept[key] = found
        return self.kept[key]

    def meaning(self, word, args, at):
        if word in self.binders:
            return self.binders[word](args, at)
        if word in JOINED:
            return self.joined(*JOINED[word], args, at)
        args = [self.value(a, at) for a in args]
        return self.operators[word](*args) if word in self.operators else self.named(word, args, at)

    def joined(self, join, places, args, at):
        """A sum, a product, a largest value: the values of the body for each value of the index, joined."""
        bodies, name, low, high, *more = places
        inner = [at._replace(index={**at.index, args[name]: i}) for i in self.span(args[low], args[high], at)]
        values = [tuple(self.value(args[b], one) for b in bodies) if isinstance(bodies, tuple) else
                  self.value(args[bodies], one) for one in inner]
        return join(values, *(self.value(args[m], at) for m in more))

    def span(self, low, high, at):
        """The whole numbers of a range."""
        low, high = self.end(self.value(low, at)), self.end(self.value(high, at))
        bounded(high - low, TERMS, "terms of a range")
        return map(Fraction, range(low, high + 1))

    def cases(self, rule):
        """The values of a condition's indices, all of them."""
        found = [{}]
        for name, low, high in rule["over"]:
            before, found = found, []
            for index in before:
                more = [{**index, name: i} for i in self.span(low, high, At(index, None))]
                self.meter.charge(len(more))
                found += more
        return found

    def sides(self, rule, at):
        return self.value(rule["left"], at), self.value(rule["right"], at)

    def sure(self, node, indices):
        """Whether a formula has one value whatever is drawn."""
        return unbound(node) <= self.fixed | indices

    def key(self, node, at):
        """The position at which the formula is evaluated, without the outcome if that changes nothing; and the key of its
        memoised value."""
        if not isinstance(node, list):
            return at, None
        if id(node) not in self.read:  # while a formula is kept here, no other lies at its place in memory
            self.read[id(node)] = node, names(node), self.sure(node, {*at.index})
        _, used, sure = self.read[id(node)]
        numbers = bool(self.numbering & used)
        if sure:
            at = At(at.index, None)
        if at.notes or at.point is not None or (at.outcome is None and (numbers or not sure)):
            return at, None
        index = tuple((name, i) for name, i in at.index.items() if numbers or name in used)
        plain = all(type(i).__hash__ and not isinstance(i, tuple) for _, i in index)  # an argument may be a vector
        return at, (id(node), at.outcome, at.given, at.inside, index) if plain else None


def whole(number):
    """The end of a range."""
    require(number.denominator == 1, "a range goes from a whole number to one")
    return int(number)


def names(node):
    """All names and words in a formula."""
    if isinstance(node, list):
        return set().union(*map(names, node))
    return {node} if isinstance(node, str) else set()


def unbound(node):
    """All names and words in a formula, but for an index where a sum or the like binds it."""
    if not isinstance(node, list):
        return {node} if isinstance(node, str) else set()
    word, *args = node
    if word not in JOINED:
        return set().union(*map(unbound, node))
    bodies, index, low, high, *more = JOINED[word][1]
    bodies = bodies if isinstance(bodies, tuple) else (bodies,)
    inside = set().union(*(unbound(args[b]) for b in bodies)) - {args[index]}
    return {word}.union(inside, *(unbound(args[place]) for place in (low, high, *more)))


def bound(node):
    """The indices that sums and the like in a formula bind."""
    if not isinstance(node, list):
        return set()
    own = {node[1:][JOINED[node[0]][1][1]]} if isinstance(node[0], str) and node[0] in JOINED else set()
    return own.union(*map(bound, node))


def acyclic(rules):
    """Refuse names that rest on themselves: ``rules`` has the indices and the formula of each name."""
    rests_on = {name: names(rule["formula"]) & {*rules} for name, rule in rules.items()}
    while free := {name for name, others in rests_on.items() if not others & {*rests_on}}:
        rests_on = {name: others for name, others in rests_on.items() if name not in free}
    require(not rests_on, f"{', '.join(sorted(rests_on))} would be defined by itself")


def definition(name, rule, lengths):
    """The indices and the formula of a hypothesis ``name == formula``, which says what every entry of the name is; of an
    array without sizes, what those ``over`` its ranges are."""
    left, *indices = rule["left"] if isinstance(rule["left"], list) else [rule["left"]]
    plain = all(isinstance(index, str) for index in indices) and len({*indices}) == len(indices)
    require(rule["relation"] == "==" and left == name and plain, f"no hypothesis says what {name} is")
    ranges = {index: (low, high) for index, low, high in rule["over"]}
    every = {*ranges} == {*indices} and (lengths is None or (len(lengths) == len(indices) and all(
        ranges[index][0] == 0 and has_all(ranges[index][1], size) for index, size in zip(indices, lengths, strict=True))))
    require(every, f"a hypothesis says what some entries of {name} are, and not what the others are")
    return {"indices": indices, "formula": rule["right"], "over": rule["over"] if lengths is None else []}


def has_all(high, size):
    """Whether an axis of this size, such as ``rounds`` or ``rounds + 1``, has no entry behind ``high``."""
    name, _, more = size.partition(" + ")
    parts = high[1:] if isinstance(high, list) and high[0] == "+" else [high]
    others = [part for part in parts if part != name]
    return len(others) == len(parts) - 1 and all(type(part) is int for part in others) and sum(others) >= int(more or 0) - 1
