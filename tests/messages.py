"""What a message tells, in whatever words: its names, values and places, in their order."""

__all__ = ["contains_in_order"]


def contains_in_order(text: str, data: str) -> bool:
    """Whether the parts of ``data``, which "…" parts, stand in ``text`` in this order; the words between them are free."""
    place = 0
    for part in data.split("…"):
        place = text.find(part, place)
        if place < 0:
            return False
        place += len(part)
    return True
