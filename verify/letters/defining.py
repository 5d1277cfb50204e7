"""Hypotheses that define names: whether one says what every entry is, and whether none leads back to itself."""

from verify.checker.words import require


def has_all(high, size):
    """Whether an array along an axis of this size, such as ``rounds`` or ``rounds + 1``, has no entry behind ``high``."""
    name, _, more = size.partition(" + ")
    parts = high[1:] if isinstance(high, list) and high[0] == "+" else [high]
    others = [part for part in parts if part != name]
    return len(others) == len(parts) - 1 and all(type(part) is int for part in others) and sum(others) >= int(more or 0) - 1


def acyclic(rules):
    """Refuse names that rest on themselves by formulas, a name's own or those of others."""
    rests_on = {name: names(rule["formula"]) & {*rules} for name, rule in rules.items()}
    while free := {name for name, others in rests_on.items() if not others & {*rests_on}}:
        rests_on = {name: others for name, others in rests_on.items() if name not in free}
    require(not rests_on, f"{', '.join(sorted(rests_on))} would be defined by itself")


def names(node):
    """All names and words in a formula."""
    if isinstance(node, str):
        return {node}
    return set().union(*map(names, node)) if isinstance(node, list) else set()
