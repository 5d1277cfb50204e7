"""Every fact of the theories about letters, with all arguments that a certificate may give it, on a member of its class."""

import inspect
from itertools import product

from verify.checker.quadratic_forms import QuadraticForm
from verify.checker.theories import coordinates, everywhere, interpolation, noise

__all__ = [
    "FACTS", "HELPERS", "PASTS", "REFUSED", "THEORIES", "arguments_to_try", "broken", "evaluate_fact", "theory_functions"]

#: by name
THEORIES = {"interpolation": interpolation, "noise": noise, "coordinates": coordinates, "everywhere": everywhere}
#: what a fact may raise: the checker then refuses the certificate
REFUSED = (ArithmeticError, AttributeError, LookupError, NameError, RecursionError, TypeError, ValueError)
PASTS = (-1, 1)


def points(member): return [(k, i) for k, seen in enumerate(member.letters.points) for i in range(len(seen) + 1)]
def letters(member): return range(len(member.letters.depends))
def layers(member): return [*member.letters.parts, member.layers]


def two_points(member):
    return [(k, i, j) for k, i in points(member) for j in range(len(member.letters.points[k]))]


def pairs(member): return [*product(letters(member), letters(member))]
def letters_by_layer(member): return product(letters(member), letters(member), layers(member))


def uncorrelated(member):
    return [(*one, *apart) for one in letters_by_layer(member) for apart in ((), ("apart",), ("other",))] + pairs(member)


def one_curvature(member):
    return [(k, i, j, *layer) for k, i in points(member) for j in (*letters(member), len(letters(member)))
            for layer in ((), *((layer,) for layer in layers(member)))]


def draws(member):
    return [(*draw, number) for draw, seen in member.letters.noises.items() for number in range(-1, len(seen))]


def conditional(member):
    return [(letter, r, j, *layer) for letter, r in member.letters.conditional for j in (*letters(member), -1)
            for layer in ((), *((layer,) for layer in layers(member)))]


def quotients(member):
    return [(number, i, j) for number, asked in enumerate(member.run.coordinates.quotients.values())
            for i in range(len(asked)) for j in (None, *range(len(asked)))]


def at_all_points(member): return [()] if member.run.instance.certificate["everywhere"] else []


#: fact -> (its arguments, whether it is equal to 0)
FACTS = {
    "interpolation.two_points": (two_points, False),
    "interpolation.least": (points, False),
    "interpolation.least_of_all": (lambda member: [(i,) for k, i in points(member) if k == 0], False),
    "interpolation.one_curvature": (one_curvature, True),
    "noise.variance": (draws, False),
    "noise.uncorrelated": (uncorrelated, True),
    "noise.across": (letters_by_layer, True),
    "noise.conditional": (conditional, True),
    "coordinates.quotient": (quotients, False),
    "coordinates.diagonal": (lambda member: [one for one in quotients(member) if one[2] is not None], True),
    "everywhere.facts": (at_all_points, False),
}
#: functions of theories that are parts of others
HELPERS = {"interpolation.curvatures", "coordinates.quotient_pairs", "everywhere.of_each", "everywhere.of_one"}


def theory_functions():
    """The functions of all theories about letters."""
    return {f"{name}.{function}" for name, theory in THEORIES.items()
            for function, made in inspect.getmembers(theory, inspect.isfunction) if made.__module__ == theory.__name__}


def evaluate_fact(fact, member, past, args, theory=None):
    """Return the forms of a fact by name; None where it is refused. ``theory``: an altered one."""
    name, function = fact.split(".")
    made = getattr(theory or THEORIES[name], function)
    try:
        found = made(member.run) if name == "everywhere" else made(member.run, past, *args)
    except REFUSED:
        return None
    forms = found if name == "everywhere" else {"": found}
    return {name: form if hasattr(form, "terms") else QuadraticForm({(): form}) for name, form in forms.items()}


def arguments_to_try(fact, member, rng, most=10**9):
    """Pairs (past, arguments) that a certificate may ask for, so many at most of those that are said and of the others."""
    every, kinds = [*product(PASTS if member.draws else PASTS[:1], FACTS[fact][0](member))], ([], [])
    rng.shuffle(every)
    for past, args in every[: 12 * most]:
        kind = kinds[evaluate_fact(fact, member, past, args) is None]
        if len(kind) < most:
            kind.append((past, args))
    return kinds[0] + kinds[1]


def broken(fact, member, past, forms):
    """The names of forms that do not hold of the member."""
    wrong = []
    for name, form in forms.items():
        try:
            found = member.worth(form, past)
        except (AssertionError, LookupError):  # it speaks of what there is not
            wrong.append(name)
            continue
        if found is not None and any(number != 0 if FACTS[fact][1] else number < 0 for number in found):
            wrong.append(name)
    return wrong
