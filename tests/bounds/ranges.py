"""Ranges of the indices of statements and hypotheses in the rows of the papers, all counted from 0."""

__all__ = ["each_client", "each_round", "each_step", "later_rounds"]


def each_step(w):
    """Every local step of every round."""
    return range(w.iterations)


def each_round(w):
    """t = 0, ..., T - 1."""
    return range(w.rounds)


def later_rounds(w):
    """t = 1, ..., T - 1."""
    return range(1, w.rounds)


def each_client(w, *_):
    return range(w.clients)
