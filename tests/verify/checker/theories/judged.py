"""What becomes of altered facts: a member breaks them, or they are other facts that are true."""

import random
from collections import Counter, defaultdict
from fractions import Fraction as Q

from tests.verify.checker.theories.altered import alterations, loaded
from tests.verify.checker.theories.facts import FACTS, PASTS, THEORIES, arguments_to_try, broken, evaluate_fact
from tests.verify.checker.theories.members import KINDS, Member
from verify.checker.laurent_polynomials import on_ends
from verify.checker.quadratic_forms import nonnegative

__all__ = ["NOTICED", "altered_facts", "drawn", "judged", "members_of", "of_all"]

#: broken by a member; refused as a name of nothing, where it was a fact before; nothing else; another fact of the theory;
#: less than a fact says, and so implied by it
NOTICED = ("broken", "refuses", "the same", "another fact", "implied")


def drawn(seed, theory):
    """A random member of the class of which a theory says something."""
    rng, by_coordinate = random.Random(seed), theory == "coordinates"
    kind, one = "Huber" if theory == "everywhere" else KINDS[seed % len(KINDS)], rng.random() < 0.4
    return Member(rng, kind, one and not by_coordinate, by_coordinate)


def members_of(theory, count, each):
    """Members, each with what its facts of a theory are asked for: {fact: (past, arguments, what it says)}, so many of each
    fact, and all that the theory says of it."""
    found, facts = [], [fact for fact in FACTS if fact.startswith(theory + ".")]
    for seed in range(count):
        member, rng = drawn(seed, theory), random.Random(seed)
        for fact in facts:  # what a fact asks of clients is asked before
            for past in PASTS:
                for args in FACTS[fact][0](member):
                    evaluate_fact(fact, member, past, args)
        tasks = {fact: [(past, args, evaluate_fact(fact, member, past, args))
                        for past, args in arguments_to_try(fact, member, rng, each)]
                 for fact in facts}
        member.remember()
        found.append((member, tasks, {}))
    return found


def plain(form):
    """A form's terms, with the letters of each product in one order."""
    found = defaultdict(Q)
    for key, c in form.terms.items():
        power, key = key if form.with_powers else (0, key)
        found[power, tuple(sorted(key)) if isinstance(key, tuple) else key] += c
    return frozenset((key, c) for key, c in found.items() if c)


def all_said(fact, member, kept, past):
    """All that a fact says of a member given a past."""
    if (fact, past) not in kept:
        found = (evaluate_fact(fact, member, past, args) for args in FACTS[fact][0](member))
        kept[fact, past] = {plain(form) for forms in found if forms for form in forms.values()}
    return kept[fact, past]


def implied(fact, form, old):
    """Whether a form follows from the fact, or from nothing: less a multiple of it, it is 0, or a sum of squares."""
    multiples = [form] + [form - old * times for times in (Q(1), Q(2), Q(1, 2), Q(1, 3)) if old is not None]
    if FACTS[fact][1]:
        return any(not plain(one) for one in multiples)
    return any(all(map(nonnegative, on_ends(one, 2, 4))) if one.with_powers else nonnegative(one) for one in multiples)


def altered_facts(theory):
    """Pairs (what was altered, the altered theory)."""
    module = THEORIES[theory]
    for name in sorted(vars(module)):
        if getattr(vars(module)[name], "__module__", "") == module.__name__:
            for what, tree in alterations(vars(module)[name]):
                yield what, loaded(module, tree)


def judged(theory, members):
    """Counts of altered facts of a theory by what became of them, and the alterations that nothing noticed."""
    counts, unnoticed = Counter(), []
    for what, altered in altered_facts(theory):
        counts[verdict := of_all(altered, members)] += 1
        unnoticed += [what] * (verdict == "unnoticed")
    return counts, unnoticed


def of_all(altered, members):
    """What becomes of an altered theory on all members."""
    worst = "the same"
    for member, tasks, kept in members:
        member.forget()
        for fact, asked_for in tasks.items():
            for past, args, old in asked_for:
                verdict = of_one(fact, altered, member, kept, past, args, old)
                if verdict == "broken":
                    return verdict
                worst = max(worst, verdict, key=("the same", "refuses", "another fact", "implied", "unnoticed").index)
    return worst


def of_one(fact, altered, member, kept, past, args, old):
    new = evaluate_fact(fact, member, past, args, altered)
    if new is None:
        return "the same" if old is None else "refuses"
    old = old or evaluate_fact(fact, member, past, args)  # an altered fact may have asked for more
    forms = {name: form for name, form in new.items() if old is None or name not in old or plain(form) != plain(old[name])}
    if not forms:
        return "the same"
    if broken(fact, member, past, forms):
        return "broken"
    forms = {name: form for name, form in forms.items() if plain(form) not in all_said(fact, member, kept, past)}
    if not forms:
        return "another fact"
    follows = all(implied(fact, form, (old or {}).get(name)) for name, form in forms.items())
    return "implied" if follows else "unnoticed"
