"""Writes probabilities in a text as expectations of indicators."""

import re

from bounds.registry.tokens import NoFormula, excerpt

__all__ = ["without_probabilities"]


def without_probabilities(text: str) -> str:
    """Returns the text with every ``P(a <= b)`` written as an expectation.

    Raises:
        NoFormula: a ``P`` around anything but one comparison.
    """
    while place := re.search(r"(?<!\w)P\(", text):
        depth, end = 1, place.end()
        while end < len(text) and depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        event = text[place.end():end - 1]
        relations = re.findall(r"[<>=!]+", event)
        if depth or len(relations) != 1 or relations[0] not in ("<=", ">=", "<", ">"):
            raise NoFormula("a probability is written P(a <= b), P(a >= b), P(a < b) or P(a > b); got "
                            f"{excerpt(text[place.start():end])}")
        left, right = event.split(relations[0])
        pair = f"{left}, {right}" if relations[0] in ("<=", ">") else f"{right}, {left}"
        chance = f"E(below({pair}))" if "=" in relations[0] else f"(1 - E(below({pair})))"
        text = text[:place.start()] + chance + text[end:]
    return text
