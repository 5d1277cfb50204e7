"""Whether formulas say the same of every round: what becomes of a number when all happens one round later.

Every number has a shift, by which it grows when all happens one round later: a round by 1, a time by the local steps of a
round, a number that is the same in every round by 0. Arrays that a run records have the right index only if it shifts as
they do, and only indices may shift. A formula that passes names no round by its number and does not know how many there are.
"""

from fractions import Fraction

from verify.checker.formulas import names
from verify.checker.methods import adaptive
from verify.checker.operators import JOINED, MEANS, OF_INSTANCE, WORDS, require
from verify.checker.schema import COMPUTED

BY_ROUND, BY_TIME = ("x_round", "x_broadcast", "sampled"), ("x", "x_sampled", "x_local", "x_before", "g", "included",
                                                         "sampled_weight")
OF_FEDERATION = (*COMPUTED, "x_star", "client_weight", "priority")
COUNTS = ("rounds", "iterations")  # what grows with the number of rounds


def substituted(node, values):
    """A formula with others in place of some names; none of its indices may have a name that occurs in these."""
    if not isinstance(node, list):
        return values.get(node, node) if isinstance(node, str) else node
    word, *args = node
    if word in JOINED:
        bound = args[JOINED[word][1][1]]
        require(bound not in {*values, *names(list(values.values()))}, f"the index {bound} has two meanings")
    require(word not in values, f"{word} is an array")
    return [word, *(substituted(a, values) for a in args)]


class RoundInvariance:
    """The shifts of formulas of an instance, whose method has these states; ``value(node)`` is the value of a formula before
    anything is drawn."""

    def __init__(self, instance, states, value):
        self.instance, self.value, self.steps, self.open = instance, value, instance.size["local_steps"], ()
        self.arrays = dict.fromkeys((*BY_ROUND, *states), 1) | dict.fromkeys(BY_TIME, self.steps)

    def is_round_invariant(self, rule, timed):
        """Whether a condition says the same of every round; ``timed``: whether it must be about all of them.

        One of its indices may go from a number to the last round or time; the ends of others must shift alike.
        """
        index, time, counts = {}, False, {"rounds": 1, "iterations": self.steps}
        for name, low, high in rule["over"]:
            ends = [self.shift(low, index), self.shift(high, index | counts)]
            if ends[0] != ends[1]:
                require(not time and type(low) is int and ends[1] == self.shift(high, counts)
                        and ends[1] in (1, self.steps), f"the range of {name} is not that of all rounds")
                time = True
            else:
                require(not names(high) & {*COUNTS}, f"the range of {name} depends on the number of rounds")
            require(name not in self.instance.free and name not in self.instance.size, f"{name} has two meanings")
            index[name] = ends[1]
        require(time or not timed, "it is about no range of rounds")
        for side in ("left", "right"):
            self.same(rule[side], index)

    def is_the_same(self, rule):
        """Whether a hypothesis says the same of every round."""
        try:
            self.is_round_invariant(rule, timed=False)
        except (LookupError, TypeError, ValueError):
            return False
        return True

    def period(self, rule):
        """The growth in one round of the index over all rounds, and the number of its values here."""
        for _, low, high in rule["over"]:
            if names(high) & {*COUNTS}:
                first, last = (self.value(end) for end in (low, high))
                return self.shift(high, {"rounds": 1, "iterations": self.steps}), last - first + 1
        raise ValueError("it is about no range of rounds")

    def same(self, node, index):
        require(self.shift(node, index) == 0, "a number that grows with the rounds is no index")

    def shift(self, node, index):
        """The amount by which a number grows when all happens one round later; 0 for a vector."""
        self.instance.meter.charge(1)
        if type(node) is int:
            return 0
        word, *args = [node] if isinstance(node, str) else node
        require(isinstance(word, str), "a word is a text")
        if word in index:
            require(not args, f"{word} is an index")
            return index[word]
        require(word not in COUNTS, "it depends on the number of rounds")
        if word in JOINED:
            return self.joined(JOINED[word][1], args, index)
        if word in MEANS:
            require(word in ("E", "E_round"), f"{word} is not known of every round")
            require(all(self.shift(a, index) == 1 for a in args[1:]), "a mean given the past of a round is given no other")
            return self.same(args[0], index) or 0
        shifts = [self.shift(a, index) for a in args]
        if word == "+":
            return sum(shifts)
        if word == "*" and any(shifts):
            (place,) = [i for i, s in enumerate(shifts) if s]
            rest = [a for i, a in enumerate(args) if i != place]
            require(all(type(a) is int or a == "local_steps" for a in rest), "a multiple of an index")
            factor = Fraction(1)
            for a in rest:
                factor *= self.steps if a == "local_steps" else a
            return shifts[place] * factor
        if word == "tau":
            require(shifts[0] % self.steps == 0, "a time grows by whole rounds")
            return shifts[0]
        if word == "Mod" and shifts[0]:
            require(args[1] == "local_steps" or (type(args[1]) is int and args[1] > 0), "a remainder of an index")
            by = self.steps if args[1] == "local_steps" else args[1]
            require(shifts[0] % by == 0 and shifts[1] == 0, "a remainder that changes with the rounds")
            return 0
        return self.of_name(word, args, shifts)

    def joined(self, places, args, index):
        body, name, low, high, *more = places
        ends = [self.shift(args[end], index) for end in (low, high)]
        require(ends[0] == ends[1], "a range that grows with the rounds")
        require(isinstance(args[name], str) and args[name] not in index, f"{args[name]} has two meanings")
        self.same(args[body], index | {args[name]: ends[0]})
        for m in more:
            self.same(args[m], index)
        return 0

    def of_name(self, word, args, shifts):
        instance = self.instance
        if word in self.arrays and word not in instance.rules:
            own = bool(args) and shifts[0] == self.arrays[word] and not any(shifts[1:])
            require(own, f"{word} of a round by its number")
            return 0
        if word in instance.rules or word in instance.defined:
            rule = instance.rules.get(word) or instance.defined[word]
            require(word not in self.open and len(rule["indices"]) == len(args), f"{word} is defined by itself")
            self.open = (*self.open, word)
            try:
                self.same(rule["formula"], dict(zip(rule["indices"], shifts, strict=True)))
            finally:
                self.open = self.open[:-1]
            return 0
        if word == "eta_l":
            require(len(args) == 1 and shifts[0] % self.steps == 0, "a step size of another time")
            return 0
        require(not any(shifts), f"{word} of a number that grows with the rounds")
        require(word not in adaptive.BESIDE and word not in instance.measured, f"{word} is not known of every round")
        sizes = instance.free.get(word)
        known = any(word in names for names in (WORDS, OF_INSTANCE, instance.size, OF_FEDERATION, instance.free))
        require(known and not {*(sizes or ())} & {*COUNTS}, f"{word} is not known of every round")
        return 0
