"""A number that a statement says to exist: which hypotheses are conditions on it, and where in its interval they hold.

A condition on the number is a hypothesis about nothing but the number, sizes, and what is given by these. The value would
have to meet it and the statement. Any other hypothesis must hold for every value in the interval.
"""

from verify.checker.operators import JOINED, WORDS


class ExistentialConstant:
    """The constant that a certificate says to exist: ``names`` that depend on it, ``alone`` those that depend on nothing
    else, and ``growing`` those that are it times numbers that do not depend on it or on a run. An array is one name."""

    def __init__(self, certificate):
        self.sizes, self.open_at_zero = {*certificate["sizes"]}, False
        name, rules = None, {}
        if "exists" in certificate:
            name = certificate["exists"]["name"]
            self.open_at_zero = certificate["exists"]["low"] == 0 and certificate["exists"]["open"][:1] == [True]
            for defined, value in certificate["values"].items():
                if isinstance(value, dict):
                    rule = certificate["hypotheses"][value["hypothesis"]]
                    rules[defined] = rule["left"][1:] if isinstance(rule["left"], list) else [], rule["right"]
            rules |= {n: (rule["indices"], rule["formula"]) for n, rule in certificate["definitions"].items()}
        self.names = self.reached(name, rules, lambda indices, formula, known: mentions(formula, known))
        self.alone = self.reached(name, rules, lambda indices, formula, known: (
            mentions(formula, known) and only_of(formula, known | self.sizes | {*indices})))
        self.fixed = {*certificate["free"]} - self.names | self.sizes
        self.growing = self.reached(name, rules, lambda indices, formula, known: self.grows(formula, known, {*indices}))

    @staticmethod
    def reached(name, rules, belongs):
        """The number, and all that belongs to it by rules, pairs (indices, formula) by name."""
        found = set() if name is None else {name}
        while more := {n for n, (indices, formula) in rules.items() if n not in found and belongs(indices, formula, found)}:
            found |= more
        return found

    def grows(self, formula, growing, indices):
        """Whether a formula is one of ``growing`` times numbers that do not depend on the number or on a run."""
        word, *args = formula if isinstance(formula, list) else [formula]
        others = [arg for arg in args if not only_of(arg, self.fixed | indices)]
        return not others if word in growing else (
            word == "*" and len(others) == 1 and self.grows(others[0], growing, indices))

    def is_condition(self, rule):
        """Whether a hypothesis is a condition on the number."""
        names, sides = self.alone | self.sizes | {name for name, *_ in rule["over"]}, [rule["left"], rule["right"]]
        return mentions(sides, self.alone) and all(only_of(side, names) for side in sides)

    def is_sign(self, rule):
        """Whether a hypothesis only says c*x > 0 on an interval (0, b]. It then holds for all of it if it holds at b."""
        plain = all(only_of(limit, self.sizes) for _, *limits in rule["over"] for limit in limits)
        return (self.open_at_zero and plain and rule["relation"] in (">", ">=") and rule["right"] == 0
                and self.grows(rule["left"], self.growing, {name for name, *_ in rule["over"]}))


def mentions(node, names):
    """Whether a formula mentions one of the names."""
    return any(mentions(part, names) for part in node) if isinstance(node, list) else node in names


def only_of(node, names):
    """Whether a formula is made of these names and of words that need no instance."""
    if not isinstance(node, list):
        return isinstance(node, int) or node in names
    word, *args = node
    inside = names | {args[JOINED[word][1][1]]} if word in JOINED else names
    return (word in WORDS or word in JOINED or word in names) and all(only_of(part, inside) for part in args)
