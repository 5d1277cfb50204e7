"""The form of a certificate: its keys, the names that it may give, and the kinds of what stands under them.

Which names may have values follows from the statement: ``free`` lists them. The rest of an instance has fixed names.
Any other name is refused, and so is a name with two meanings.
"""

from itertools import pairwise

from verify.checker.formulas import bound
from verify.checker.limits import PIECES, SIZE, WHOLE, bounded, parse_number
from verify.checker.operators import COMPARE, FORMAT, JOINED, MEANS, OF_INSTANCE, SETTINGS, WORDS, fitting, require

STATED = ("claim", "reading", "setting", "statement", "hypotheses", "definitions", "procedure", "everywhere", "free")
#: a number that the statement says to exist: its interval from ``low`` to ``high``, and which ends are not in it
EXISTS = ("name", "low", "high", "open")
GIVEN = ("sizes", "instance", "values", "left", "right")
CONDITION = ("left", "relation", "right", "over", "text")
PROCEDURE = ("base", "sampling", "indicator", "strict", "options")

#: sizes that every certificate gives, all at least 1
SIZES = ("clients", "iterations", "local_steps", "participants", "rounds", "dim", "layers")

#: what an instance has: of clients without samples, at a fixed time or in a run; of clients with samples
FEDERATION = ("center", "curvature", "x_star", "offset", "client_weight", "layer_sizes", "priority", "noise")
INSTANCE = {"algebra": (), "point": (*FEDERATION, "included", "x_local"),
            "run": (*FEDERATION, "start_offset", "initial", "epsilon", "available")}
MAY_HAVE = ("pieces", "half_tangent", "factors")
OF_SAMPLES = ("atoms", "start_offset", "initial")
ATOM = ("curvature", "center", "pieces", "offset")

#: the lengths of what an instance has, by sizes; entries of pieces, noise and atoms are checked where they are used
LENGTHS = {
    "center": ("clients", "model"), "curvature": ("clients", "model"), "pieces": ("clients", "model"), "x_star": ("dim",),
    "start_offset": ("dim",), "half_tangent": (), "offset": ("clients",), "client_weight": ("clients",),
    "noise": ("clients",), "priority": ("clients",), "layer_sizes": ("layers",), "included": (1, "clients"),
    "x_local": (1, "clients", "dim"),
    "epsilon": ("rounds + 1",), "available": ("rounds + 1", "clients"), "atoms": ("clients",),
}

#: numbers in place of which there may be a list, with one for each client
ONE_OR_EACH = ("half_tangent",)

#: arrays by round that may have one entry, for all rounds
EACH_ROUND = ("epsilon", "available")

#: names that the checker computes from an instance
COMPUTED = ("F_star", "F_inf", "F_star_client", "L_client", "mu_client", "sigma_sq_client", "L_objective",
            "mu_objective", "loss_inf")

#: what every run measures
MEASURED = ("x", "x_sampled", "x_local", "x_before", "g", "included", "sampled_weight", "x_round", "x_broadcast", "sampled")
OF_COUPLED_RUNS = ("used_sample", "replaced", "differing")

#: words that only claims about samples have, and all words of formulas
SAMPLE_WORDS = ("E_data", "E_client", "E_unused", "F_pop", "loss_grad", "worst_mean_gap", "worst_mean_signed_gap",
                "worst_pair_gap", "worst_sample_gap")
FUNCTIONS = {*WORDS, *JOINED, *MEANS, *OF_INSTANCE, "infimum"}


def keys(data, names, what, more=()):
    """``data``, an object with just these keys, and perhaps those of ``more``."""
    require(isinstance(data, dict), f"{what} must be an object; got {type(data).__name__}")
    missing, unknown = [n for n in names if n not in data], [n for n in data if n not in {*names, *more}]
    require(not missing, f"{what} lacks {', '.join(missing)}")
    require(not unknown, f"{what} may not give {', '.join(map(repr, unknown))}")
    return data


def texts(data, what):
    """``data``, a list of texts."""
    require(isinstance(data, list) and all(isinstance(name, str) for name in data), f"{what} must be a list of names")
    return data


def differing(certificate, statement):
    """Names of the parts in which a certificate and a statement differ, or which one of them lacks."""
    if not isinstance(certificate, dict) or not isinstance(statement, dict):
        return [*STATED]
    differ = [n for n in STATED if n not in certificate or n not in statement or certificate[n] != statement[n]]
    differ += ["exists"] * (certificate.get("exists") != statement.get("exists"))
    return differ + ["printed"] * ("printed" in certificate and certificate["printed"] != statement.get("printed"))


def coupled(certificate):
    """Whether the statement is about clients with samples."""
    return certificate["setting"] == "run" and "replaced" in certificate["procedure"]


def factored(certificate):
    """Whether the parameters of clients are factors of a model."""
    return "factors" in certificate["instance"]


def stated(certificate):
    """The part of a certificate that states the claim, if it has that form. Raises ValueError."""
    require(certificate["setting"] in SETTINGS, f"the setting is one of {', '.join(SETTINGS)}")
    require(isinstance(certificate["reading"], str) and isinstance(certificate["claim"], str), "claim and reading are texts")
    keys(certificate["procedure"], PROCEDURE, "the procedure", ("replaced", "gradients"))
    require(isinstance(certificate["procedure"]["options"], dict), "options must be an object")
    require(isinstance(certificate["hypotheses"], list), "hypotheses must be a list")
    for condition in (certificate["statement"], *certificate["hypotheses"]):
        _condition(condition)
    for name, rule in keys(certificate["definitions"], (), "definitions", certificate["definitions"]).items():
        texts(keys(rule, ("indices", "formula"), f"the definition of {name}")["indices"], "indices")
        formula(rule["formula"])
    texts(certificate["everywhere"], "everywhere")
    if "exists" in certificate:
        exists = keys(certificate["exists"], EXISTS, "exists")
        require(isinstance(exists["name"], str) and isinstance(exists["open"], list), "exists has a name, and open ends")
    for name, lengths in keys(certificate["free"], (), "free", certificate["free"]).items():
        require(lengths is None or texts(lengths, f"the sizes of {name}") is not None, "sizes are a list of names")


def printed(certificate):
    """Refuse what is no list of inequalities that are printed for a function f at all points u and v."""
    require(isinstance(certificate.get("printed", []), list), "what is printed for all functions must be a list")
    for condition in certificate.get("printed", []):
        _condition(condition)


def sized(certificate, more=()):
    """The sizes of a certificate, whole numbers by name. Raises ValueError."""
    sizes = keys(certificate["sizes"], (), "sizes", (*SIZES, *certificate["free"], *more))
    for name, size in sizes.items():
        require(type(size) is int, f"the size {name} must be a whole number; got {size!r}")
        bounded(abs(size), SIZE if name in SIZES else WHOLE, f"the size {name}")
    require(all(sizes.get(name, 0) >= 1 for name in SIZES), f"at least 1 must be {', '.join(SIZES)}")
    require(certificate["setting"] != "point" or sizes["iterations"] == 1, "points are looked at one time")
    whole_rounds = certificate["setting"] == "algebra" or sizes["iterations"] == sizes["rounds"] * sizes["local_steps"]
    require(whole_rounds, "iterations must be rounds * local_steps")
    return sizes


def checked(certificate):
    """The certificate, if it has the form of one. Raises ValueError."""
    require(isinstance(certificate, dict) and certificate.get("format") == FORMAT, f"not a {FORMAT}")
    keys(certificate, ("format", *STATED, *GIVEN), "a certificate", ("also", "exists", "subdivision"))
    require(("exists" in certificate) == ("subdivision" in certificate), "a number that exists needs a subdivision")
    if "subdivision" in certificate:
        pieces(certificate["subdivision"])
    stated(certificate)
    free, of_samples = certificate["free"], coupled(certificate)
    sizes = sized(certificate, ["samples"] if of_samples else [])
    names = OF_SAMPLES if of_samples else INSTANCE[certificate["setting"]]
    keys(certificate["instance"], names, "the instance", MAY_HAVE if "center" in names else ())
    known = sizes | {1: 1, "model": sizes["dim"]}
    if factored(certificate):
        known["model"] = certificate["instance"]["factors"]
        require(type(known["model"]) is int and 2 * (1 + known["model"]) == sizes["dim"], "factors is n where dim = 2 + 2 n")
    for name in {*LENGTHS} & {*certificate["instance"]}:
        lengths = [entries(size, known) for size in LENGTHS[name]]
        value = certificate["instance"][name]
        if name in ONE_OR_EACH and isinstance(value, list):
            lengths = [sizes["clients"]]
        if name in EACH_ROUND and isinstance(value, list) and len(value) == 1:
            lengths[0] = 1
        shaped(value, lengths, name, more=name in ("pieces", "noise", "atoms"))
    first = certificate["instance"].get("initial", {})
    for name, state in keys(first, (), "initial", first).items():
        shaped(state, [sizes["clients"]] * name.startswith("client_") + [sizes["dim"]], name)
    for values in (certificate["values"], certificate.get("also", {}).get("values", {})):
        valued(values, free, sizes)
    one_meaning(certificate)
    require({*certificate["everywhere"]} <= {*free}, "constants over all points must be among the free names")
    sides = [certificate[side] for side in ("left", "right")]
    if "also" in certificate:
        also = keys(certificate["also"], ("values", "left", "right"), "also")
        sides += [also["left"], also["right"]]
    require(all(isinstance(side, str) for side in sides), "left and right must be texts")
    return certificate


def pieces(places):
    """The pieces of an interval between its ``places``, from its lower end, 0, to its upper one, 1. Raises ValueError unless
    they cover it, each once."""
    places = [parse_number(place) for place in texts(places, "the subdivision")]
    bounded(len(places), PIECES + 1, "places of a subdivision")
    require(len(places) > 1 and (places[0], places[-1]) == (0, 1), "a subdivision goes from 0 to 1")
    found = [*pairwise(places)]
    require(all(low < high for low, high in found), "the places of a subdivision must ascend")
    return found


def valued(values, free, sizes):
    """The values of free names, if they have the lengths that the sizes say. Raises ValueError."""
    for name, value in keys(values, (), "values", free).items():
        if isinstance(value, dict):
            keys(value, ("hypothesis",), f"a value of {name}, unless it is a number,")
        else:
            shaped(value, free[name] and [entries(size, sizes) for size in free[name]], name)
    return values


def entries(size, sizes):
    """The number of entries of an axis of this size: the size itself, or, as in ``rounds + 1``, some more."""
    if size in sizes:
        return sizes[size]
    name, _, more = size.partition(" + ")
    require(name in sizes and more.isdigit() and len(more) <= 3, f"there is no size {size!r}")
    return sizes[name] + int(more)


def shaped(value, lengths, name, more=False):
    """Refuse an array without these lengths; if ``lengths`` is None, one with rows of different lengths. ``more``: entries
    are lists, which others check."""
    if lengths == [] or not isinstance(value, list):
        fits = not lengths and isinstance(value, list) == more
        require(fits, f"{name} must be {'a list' if lengths else 'a number'}")
        return 0
    if lengths is None:
        shapes = {shaped(entry, None, name) for entry in value}
        require(len(shapes) <= 1, f"{name} has rows of different lengths")
        return (len(value), *shapes)
    require(len(value) == lengths[0], f"{name} must have {lengths[0]} entries in a list; got {len(value)}")
    for entry in value:
        shaped(entry, lengths[1:], name, more)
    return 0


def _condition(condition):
    keys(condition, CONDITION, "a condition")
    require(condition["relation"] in COMPARE, f"the relation is one of {' '.join(COMPARE)}; got {condition['relation']!r}")
    require(isinstance(condition["over"], list), "over must be a list")
    for triple in condition["over"]:
        named = isinstance(triple, list) and len(triple) == 3 and isinstance(triple[0], str)
        require(named, "over holds [index, low, high]")
    for node in (condition["left"], condition["right"], *(end for _, *ends in condition["over"] for end in ends)):
        formula(node)


def formula(node):
    """Refuse what is no formula: a whole number, a name, or a list of a word and its arguments, as many as it has."""
    listed = isinstance(node, list) and node and isinstance(node[0], str)
    require(listed or type(node) in (int, str), f"a formula is a whole number, a name, or a list; got {str(node)[:60]}")
    if listed:
        fitting(node[0], len(node) - 1)
    for part in node[1:] if listed else ():
        formula(part)


def one_meaning(certificate):
    """Every name is of the instance, a size, a value or a definition, and of nothing else that the checker knows."""
    fixed = {*SIZES, *FUNCTIONS, *SAMPLE_WORDS}
    if certificate["setting"] != "algebra":
        fixed |= {*COMPUTED, *OF_COUPLED_RUNS, *FEDERATION, *MAY_HAVE, *OF_SAMPLES, *INSTANCE["point"], *INSTANCE["run"],
                  *MEASURED, *(f"twin_{name}" for name in MEASURED), "samples"}
    chosen = [certificate["exists"]["name"]] if "exists" in certificate else []
    require(not {*chosen} & {*certificate["free"]}, "a number that is said to exist is not free")
    for name in (*certificate["free"], *chosen):
        require(name not in fixed and name not in certificate["definitions"], f"{name} may not be free")
        require(not (name in certificate["sizes"] and name in certificate["values"]), f"{name} is a size and a value")
    for name in certificate["definitions"]:
        allowed = certificate["setting"] == "point" and name in ("x", "x_sampled")
        require(allowed or name not in fixed, f"{name} may not be defined")
    others = {*fixed, *certificate["free"], *chosen, *certificate["definitions"]}
    for name in indices(certificate):
        require(isinstance(name, str) and name not in others and " " not in name, f"{name} may not be an index")


def indices(certificate):
    """All indices of a statement. Raises ValueError where two indices of one condition or definition have one name."""
    conditions, rules = [certificate["statement"], *certificate["hypotheses"]], [*certificate["definitions"].values()]
    own = [[name for name, *_ in condition["over"]] for condition in conditions] + [rule["indices"] for rule in rules]
    require(all(len({*each}) == len(each) for each in own), "two indices have one name")
    formulas = [rule["formula"] for rule in rules]
    formulas += [part for part in (certificate.get("potential") or {}).values() if isinstance(part, list)]
    for condition in conditions:
        formulas += [condition["left"], condition["right"], *(end for _, *ends in condition["over"] for end in ends)]
    return set().union(*own, *map(bound, formulas))
