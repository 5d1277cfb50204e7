"""Values of formulas that are computed once: by what they depend on."""

from fractions import Fraction

from verify.checker.operators import JOINED, WORDS


class MemoisedEvaluator:
    """Memoises values of sub-formulas. A mixin; it follows the class of replays among the bases.

    ``kept`` has the values, by their keys; ``sure`` says whether a formula has a value everywhere, ``names`` which names it
    has; ``read`` has the formula, its word, its arguments, and both of these. Keys are id()s of nodes; ``read`` keeps the
    nodes referenced, so that ids are not reused."""

    numbering = ()  # words that number what they find, for each value of all indices anew
    notes = None  # ``sure``, ``names`` and ``read`` of another replay of the same formulas in memory, and the same class

    def clear_cache(self):
        self.kept, (self.sure, self.names, self.read) = {}, self.notes or ({}, {}, {})

    def reading(self, node, bound):
        """Store and return the entry of a formula in ``read``; ``bound``: the indices where it stands."""
        word, *args = node
        sure = bool(args) and word not in bound and self.is_sure(node, bound)
        self.read[id(node)] = node, word, args, sure, self.names_in(node)
        return self.read[id(node)]

    def state(self):
        """The part of a memo key besides indices and draws; None where only the values of sure formulas are memoised."""

    def key(self, node, sure, names, index, outcome):
        """The memo key of a formula: of the indices, those that it names; None where its value is not memoised."""
        if sure:
            if outcome is None and names is None:
                return None
            found = [id(node)]
        else:
            state = self.state()
            if outcome is None or state is None:
                return None
            found = [id(node), outcome, state]
        for name, i in index.items():
            if names is None or name in names:
                if type(i) is Fraction and i.denominator == 1:
                    i = i.numerator  # a fraction is slow to hash
                elif type(i).__hash__ is None or isinstance(i, tuple):  # no index, but an argument that is no number
                    return None
                found += name, i
        return (*found,)

    def names_in(self, node):
        """The names and words in a formula; None where its words number what they find."""
        if not isinstance(node, list):
            return {node} if isinstance(node, str) else set()
        if id(node) not in self.names:
            parts = [self.names_in(part) for part in node]
            numbers = None in parts or any(word in parts[0] for word in self.numbering)
            self.names[id(node)] = None if numbers else set().union(*parts)
        return self.names[id(node)]

    def is_sure(self, node, bound):
        """Whether a formula has one value whatever is drawn: of numbers, sizes, free names and the indices ``bound``."""
        if not isinstance(node, list):
            return isinstance(node, int) or node in bound or node in self.free or node in self.size
        if id(node) not in self.sure:
            word, *args = node
            inside = {*bound, args[JOINED[word][1][1]]} if word in JOINED else bound
            known = word in JOINED or word in WORDS or word in self.free
            self.sure[id(node)] = known and all(self.is_sure(a, inside) for a in args)
        return self.sure[id(node)]
