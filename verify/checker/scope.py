"""The sizes and numbers for which an accepted proof proves its statement, and whether these are all that the statement
admits.

A proof is checked at settings. A setting fixes sizes and numbers, but for those that it proves for every value: numbers
without a value, and, by its form, the number of rounds or of clients. The functions are all that the hypotheses admit and
whose weighted mean has a minimum, in every dimension. A hypothesis that ties the number of rounds or clients to something
fixed would leave most of these numbers without an instance, so it must hold for each of them (:func:`ties`); otherwise the
proof is refused.
"""

from fractions import Fraction

from verify.checker.formulas import names
from verify.checker.operators import JOINED, MEANS, WORDS

LAYERED = ("fedluar", "feddrop")  #: methods whose runs depend on the layers of a model

#: what changes when the number of rounds, or of clients, does
ROUNDS, CLIENTS = ("rounds", "iterations"), ("clients", "participants", "client_weight")
#: ranges of indices over all clients, which say the same of every number of them
ALL_CLIENTS = (["+", -1, "clients"], ["+", "clients", -1])
PLAIN = {*WORDS, *JOINED, *MEANS}  #: words that are no names of numbers or vectors
LISTED = 4  # values of a number that are printed one by one


def ties(rule, rules, counts):
    """Whether a hypothesis compares one of the ``counts``, or an index whose range ends at one, with anything but whole
    numbers and counts; ``rules`` are definitions. An index of an array compares nothing."""
    ranges = [limits for limits in rule["over"] if limits[1:] not in [[0, end] for end in ALL_CLIENTS]]
    ends = {index: mentioned(low, rules, counts) | mentioned(high, rules, counts) for index, low, high in ranges}
    running = {index for index, found in ends.items() if found & {*counts}}
    found = mentioned(rule["left"], rules, counts) | mentioned(rule["right"], rules, counts)
    found = found.union(*(end for end in ends.values() if not end <= PLAIN | {*counts}))
    return bool(found & ({*counts} | running)) and not found <= PLAIN | {*counts} | {*ends}


def mentioned(node, rules, counts):
    """The names in a formula, with definitions put in, but for indices of arrays and ranges over all clients."""
    if not isinstance(node, list | str):
        return set()
    word, *args = [node] if isinstance(node, str) else node
    if isinstance(word, str):
        inside = args
        if word in JOINED:
            _, index, low, high, *_ = JOINED[word][1]
            whole = args[low] == 0 and args[high] in ALL_CLIENTS and counts is CLIENTS
            inside = [a for place, a in enumerate(args) if place != index and not (whole and place in (low, high))]
        elif word not in PLAIN:
            inside = [a for a in args if names(a) & {*counts}]
            if word in rules:
                inside.append(rules[word]["formula"])
                rules = {name: rule for name, rule in rules.items() if name != word}
        return {word}.union(*(mentioned(a, rules, counts) for a in inside))
    return set().union(*(mentioned(a, rules, counts) for a in node))


def ends(certificate, name):
    """The least and the largest whole number that hypotheses about nothing else leave a size; None for no largest one."""
    low, high = 1, None
    for rule in certificate["hypotheses"]:
        if rule["left"] == name and rule["over"] == [] and type(rule["right"]) is int:
            relation, number = rule["relation"], rule["right"]
            low = max(low, number) if relation in (">=", "==") else low
            high = min(number, number if high is None else high) if relation in ("<=", "==") else high
    return low, high


def all_of(certificate, name, *before):
    """The right side of a hypothesis that gives every client the same ``name``, at all values of the indices that come
    ``before`` the client's, which go from 0 to these; None if there is none."""
    for rule in certificate["hypotheses"]:
        indices, ranges = [index for index, *_ in rule["over"]], [limits for _, *limits in rule["over"]]
        whole = len(ranges) == len(before) + 1 and ranges[:-1] == [[0, end] for end in before] and (
            ranges[-1] in [[0, end] for end in ALL_CLIENTS])
        if whole and len({*indices}) == len(indices) and rule["relation"] == "==" and rule["left"] == [name, *indices]:
            return rule["right"]
    return None


def fixed(certificate, setting, every_round):
    """The sizes and numbers that a setting fixes although the statement does not, by name."""
    sizes, how = setting["sizes"], certificate["procedure"]
    every_client = "degree" in setting
    rules = (certificate["statement"], *certificate["hypotheses"], *certificate["definitions"].values())
    stated = names([rule[part] for rule in rules for part in ("left", "right", "over", "formula") if part in rule])
    implied = {"dim", "iterations"} | ({"participants"} if how["sampling"] == "full" else set())
    implied |= {*ROUNDS} if every_round else set()
    implied |= {"clients"} if every_client else set()
    if not stated & {"layers", "layer_part"} and how["base"] not in LAYERED:
        implied.add("layers")
    found = {name: str(size) for name, size in sizes.items()
             if name not in implied and ends(certificate, name) != (size, size)}
    for name, value in setting["values"].items():
        if not isinstance(value, dict):
            entries = [*dict.fromkeys(map(str, value))] if isinstance(value, list) else [str(value)]
            found[name] = ", ".join(entries)
    weights = setting["weights"]
    equal = weights != "any" and len({*map(Fraction, weights)}) == 1
    if weights != "any" and not (equal and all_of(certificate, "client_weight") == ["^", "clients", -1]) and (
            every_client or sizes["clients"] > 1):
        found["client_weight"] = "equal" if equal else ", ".join(weights)
    if all_of(certificate, "priority") != 1:
        found["priority"] = "1 of each client"
    if all_of(certificate, "available", "rounds") != 1:
        found["available"] = "1 of each client"
    return found


def scope(certificate, every_round=False):
    """(text, complete): the sizes and numbers for which the settings of an accepted certificate prove the statement, and
    whether they are all that the statement admits."""
    settings = certificate["settings"]
    each = [fixed(certificate, setting, every_round) for setting in settings]
    least_of = [s["sizes"]["clients"] if "degree" in s else None for s in settings]
    parts = ["every function that the hypotheses admit and whose mean has a minimum", "every dimension"]
    parts += ["every number of rounds"] * every_round
    several = [n for n, s in zip(least_of, settings, strict=True) if n is not None or s["sizes"]["clients"] > 1]
    if several and None not in several:
        parts.append(f"every number of clients from {max(several)} on{' and one client' * (len(several) < len(settings))}")
    if all(s["weights"] == "any" or s["sizes"]["clients"] == 1 for s in settings) and several:
        parts.append("any weights")
    if unknown := [name for name in settings[0].get("unknown", settings[0].get("vectors", ()))
                   if all(name in s.get("unknown", s.get("vectors", ())) for s in settings)]:
        parts.append(f"every {', '.join(unknown)}")
    by_name = {name: [*dict.fromkeys(one[name] for one in each if name in one)] for one in each for name in one}
    if several and None not in several:
        by_name.pop("clients", None)
    if by_name:
        parts.append(f"at {len(settings)} setting{'s' * (len(settings) > 1)}")
        parts += [f"{name} = {values_of(values)}" for name, values in sorted(by_name.items())]
    return "; ".join(parts), complete(certificate, each, least_of)


def complete(certificate, each, least_of):
    """Whether settings that fix nothing but the number of clients have every number of clients that is admitted."""
    alone = [int(one["clients"]) for one in each if {*one} == {"clients"}]
    whole = [n for one, n in zip(each, least_of, strict=True) if not one]
    if None in whole:  # the statement itself says how many clients there are
        return True
    return bool(whole) and {*range(ends(certificate, "clients")[0], min(whole))} <= {*alone}


def values_of(texts):
    """A few values one by one, many numbers by the least and the largest."""
    if len(texts) <= LISTED:
        return " or ".join(texts) if any("," in text for text in texts) else ", ".join(texts)
    try:
        ordered = sorted(texts, key=Fraction)
    except ValueError:
        return f"{len(texts)} choices"
    return f"{len(texts)} values from {ordered[0]} to {ordered[-1]}"
