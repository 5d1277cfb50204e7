"""Reads the hypotheses of a claim about numbers as facts of a proof."""

from verify.checker import always_true, number_run_lemmas, number_runs
from verify.checker import number_federation as federation
from verify.checker.index_sums import new_index
from verify.checker.number_classes import POINTS
from verify.checker.number_facts import SIGNS, Fact, KnownFacts
from verify.checker.number_formulas import SIZES, Reader
from verify.checker.operators import require
from verify.checker.polynomials import ONE, constant, of_atom, random


def definition_of(certificate, name, number):
    """The right side of hypothesis ``number``, which must read 'name == formula'."""
    rule = certificate["hypotheses"][number]
    require(type(number) is int and rule["relation"] == "==" and rule["left"] == name and not rule["over"] and
            isinstance(name, str), f"hypothesis {number} does not say what {name} is")
    return rule["right"]


def compared_sides(rule): return [rule["left"], rule["relation"], rule["right"]]


def read_hypotheses(certificate, put, least, runs=True):
    """(facts, reader) of the hypotheses. A hypothesis that cannot be read is left out. ``runs``: whether the equations of a
    method hold for what its run records; else the facts of ``always_true`` are added."""
    alone, runs = not runs and certificate["setting"] != "algebra", runs and certificate["setting"] == "run"
    rules = {name: (rule["indices"], rule["formula"]) for name, rule in certificate["definitions"].items()}
    reader = Reader(certificate["free"], rules, put, federation=runs or certificate["setting"] == "point")
    for rule in certificate["hypotheses"]:
        if defines_entries(rule, certificate["free"]):
            reader.entries.setdefault(rule["left"][0], rule)
    if certificate["setting"] != "algebra":  # there the names of clients are those of the claim
        reader.classes, reader.everywhere, reader.printed = True, certificate["everywhere"], certificate.get("printed", ())
        constants = {name: [] for rule in reader.printed for name in names_in(["+", rule["left"], rule["right"]])
                     if name not in POINTS}
        reader.arrays = {**constants, **reader.arrays, "mu_client": ["clients"]}
    known, waiting, always = KnownFacts(), [*enumerate(certificate["hypotheses"])], ()
    if runs:
        number_runs.declare_recorded(certificate, reader)
        known.families.update(number_runs.SIGNS)
    elif reader.federation:  # there is one time
        reader.put = {**put, "iterations": 1}
    if reader.federation:
        reader.infima = "F_star_client" in str([certificate[part] for part in ("statement", "definitions")])
        known.families.update(federation.SIGNS)
        waiting += enumerate(federation.GIVEN, len(waiting))
    waiting += enumerate(reader.printed, len(waiting))  # signs; what has points cannot be read
    if alone:
        reader.arrays = {**always_true.CONSTANTS, **reader.arrays}
        reader.entries |= always_true.constant_entries(certificate) if certificate["setting"] == "run" else {}
        known.families.update(always_true.SIGNS)
        always = enumerate(always_true.rules_of_every_instance(certificate))
    waiting = [(f"h{number}", rule) for number, rule in waiting] + [(f"always {number}", rule) for number, rule in always]
    for size in SIZES:
        known.whole.add(("name", size))
        known.add(f"{size} from 1", Fact(">=", of_atom(("name", size)) - ONE, ()))
    for name, low in least.items():
        known.add(f"{name} from {low}", Fact(">=", of_atom(("name", name)) - constant(low), ()))
    for assuming in (False, False, False, True, True):
        left = []
        for name, rule in waiting:
            reader.assumed = [] if assuming and not rule["over"] else None
            try:
                add_hypothesis(known, reader, name, rule)
            except (ArithmeticError, LookupError, TypeError, ValueError):
                left.append((name, rule))
                continue
            for count, fact in enumerate(reader.assumed or ()):
                known.add(f"{name} has a value {count}", fact)
        waiting = left
    reader.assumed = None
    if reader.recorded:
        reader.run = number_runs.OneRound(certificate, reader, known)
        known.is_past = lambda known, part, r: number_run_lemmas.is_determined_before_round(reader.run, known, part, r)
    return known, reader


def names_in(node):
    """The names in a formula, without those of operators and arrays."""
    if not isinstance(node, list):
        return {node} if isinstance(node, str) else set()
    return set().union(*map(names_in, node[1:]))


def defines_entries(rule, free):
    """Whether a hypothesis defines the entries of an array without sizes."""
    left = rule["left"]
    named = isinstance(left, list) and rule["relation"] == "==" and left[0] in free and free[left[0]] is None
    return named and left[1:] == [index for index, *_ in rule["over"]] and len({*left[1:]}) == len(left[1:]) > 0


def add_hypothesis(known, reader, name, rule):
    """Adds a hypothesis to the facts."""
    left = rule["left"]
    whole = isinstance(left, list) and (left[0], *left[2:]) == ("Mod", 1) and (rule["relation"], rule["right"]) == ("==", 0)
    left = left[1] if whole else left
    array = left[0] if isinstance(left, list) and left[0] in reader.arrays and covers_array(
        reader, left, rule["over"]) else None
    if whole:
        require(array or (isinstance(left, str) and not rule["over"]), "not all entries are whole numbers")
        known.whole.add(array or ("name", left))
        return
    inside, names, ranges = known, {}, []
    for index, low, high in rule["over"]:
        low, high, atom = reader.number(low, inside, names), reader.number(high, inside, names), new_index()
        if low == high:
            names = {**names, index: low}
            continue
        require(inside.is_whole(low) and inside.is_whole(high), "a range goes from a whole number to one")
        require(not random(low) and not random(high), "a range whose end is drawn")
        inside, names = inside.inside_sum(atom, low, high), {**names, index: of_atom(atom)}
        ranges.append((atom, low, high))
    relation, p = reader.read_comparison(compared_sides(rule), inside, names)
    known.add(name, Fact(relation, p, tuple(ranges)))
    if array and rule["right"] == 0 and rule["relation"] in SIGNS:
        known.families[array] = max(known.families.get(array, 0), SIGNS[rule["relation"]])


def covers_array(reader, entry, over):
    """Whether ranges cover all entries of an array."""
    sizes, indices = reader.arrays[entry[0]], entry[1:]
    ends = {}
    for size in sizes or ():
        name, _, more = size.partition(" + ")
        ends[size] = [["+", name, int(more or 0) - 1], ["+", int(more or 0) - 1, name], *([name] * (more == "1"))]
    same = sizes is not None and len(sizes) == len(indices) == len(over) and indices == [index for index, *_ in over]
    return same and all(
        low == 0 and high in ends[size] for (_, low, high), size in zip(over, sizes, strict=True))


def enter_range(reader, known, names, name, low, high):
    """((index, low, high), facts, names) within a range; ``high`` is None for a range without an end."""
    require(isinstance(name, str), "an index has a name")
    low, high = (end if end is None else reader.number(end, known, names) for end in (low, high))
    require(known.is_whole(low) and (high is None or known.is_whole(high)), "a range goes from a whole number to one")
    require(not random(low) and not (high and random(high)), "a range whose end is drawn")
    fresh = new_index()
    if low == high:
        return (fresh, low, high), KnownFacts(known), {**names, name: low}
    return (fresh, low, high), known.with_index(fresh, low, high, name), {**names, name: of_atom(fresh)}
