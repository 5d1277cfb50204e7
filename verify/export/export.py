"""Writes a proof certificate as theorems over the real numbers."""

import re

from verify.export import coq, lean
from verify.export.induction import Induction
from verify.export.reading import read
from verify.export.theorem import texts, theorem

__all__ = ["LANGUAGES", "export", "theorems"]

LANGUAGES = {"coq": coq.coq_file, "lean": lean.lean_file}

_NOT_CHECKED = (
    "What is proven here: the inequality follows from the named facts. What is not: that the facts hold for every run of",
    "the method on functions of the class, and that both sides are the claim's. `fedtheory check` checks that.",
    "p_i_j is the expected inner product of the vectors [i] and [j], where l is a layer, d a deviation from the mean of all",
    "clients, and w an outcome of the choices; F_k_n is the expected loss of client k at its point n.",
)


_INDUCTION = (
    "The statement for every number n of rounds: v r is the potential before round r, a r what the left side adds up in it,",
    "last r what it says of the state then, and right n the right side; all times n where the left side is a mean.",
    "Each round, each last state and the start are ones of which the theorems before speak.",
)


def export(certificate, language) -> str:
    """The text of a file in one of the ``LANGUAGES``.

    Raises ValueError for a certificate that is no proof, or one that the checker rejects."""
    reading, found = theorems(certificate)
    return LANGUAGES[language](found, [
        *_lines(reading.stated), f"Proven for {reading.scope}.", *_NOT_CHECKED])


def theorems(certificate, name=None):
    """The statement of a certificate, and its theorems; their names begin with ``name``, or with the claim's id."""
    reading, found = read(certificate), []
    name = re.sub(r"[^A-Za-z0-9]+", "_", name or f"claim {certificate['claim']}")
    for s, (setting, inequalities) in enumerate(zip(certificate["settings"], reading.settings, strict=True), 1):
        for i, one in enumerate(inequalities, 1):
            part = f"setting {s} of {len(reading.settings)}, inequality {i} of {len(inequalities)}"
            comment = [f"{certificate['claim']}, {part}{f': {one.what}' * bool(one.what)}.", _numbers(setting)]
            if one.least:
                comment.append(f"u is 1/m, m >= {one.least} the number of clients; sides are times a power of u.")
            found.append(theorem(f"{name}_{s}_{i}", one, comment))
        if start := reading.starts[s - 1]:
            one_round, the_end, *starts = found[-len(inequalities):]
            (first, cost, *right), variables = texts(start.first, start.cost, *start.right.values())
            found.append(Induction(
                f"{name}_{s}_every_round", _INDUCTION, start.factor, one_round, the_end, starts, first, cost,
                dict(zip(start.right, right, strict=True)), start.powers, variables))
    return reading, found


def _lines(stated):
    return [f"Claim {stated['claim']}; reading: {stated['reading']}.", f"Statement: {stated['statement']['text']}",
            *(f"Hypothesis {n}: {rule['text']}" for n, rule in enumerate(stated["hypotheses"]))]


def _numbers(setting):
    """The sizes and numbers of a setting in one line."""
    given = setting["sizes"] | {name: value for name, value in setting["values"].items() if not isinstance(value, dict)}
    said = [f"{name} = {', '.join(map(str, value)) if isinstance(value, list) else value}" for name, value in given.items()]
    weights = setting["weights"] if isinstance(setting["weights"], str) else ", ".join(setting["weights"])
    unknown = [f"every {', '.join(setting['unknown'])}"] if setting["unknown"] else []
    return f"At {'; '.join([*said, f'weights {weights}', *unknown])}."
