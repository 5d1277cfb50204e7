"""Several upload filters one after the other."""

from dataclasses import dataclass

from fedtheory.parts import UploadFilter, joined
from synthetic.numbers.arrays import backend_of, namespace

__all__ = ["Chain", "chained", "masked"]


def masked(change, present, local):
    """``change`` (runs, participants, dim) where ``present``, else zero; its size in floats; and ``local``, in which
    ``own["present"]`` are the coordinates that this and earlier filters send.

    ``present``: truth values (runs | 1, participants | 1, dim).
    """
    present, xp = present & local.own["present"] if "present" in local.own else present, namespace(change)
    floats = xp.sum(backend_of(change).array(present), axis=-1)
    return xp.where(present, change, 0), floats, local.with_own(present=present)


@dataclass(frozen=True)
class Chain(UploadFilter):
    """``filters`` in the order in which clients apply them; the server applies them in reverse.

    A filter that sends fewer coordinates sets ``local.own["present"]``, truth values (runs | 1, participants | 1, dim);
    later filters quantise, drop and count only these. At most one filter may define its own average.
    """

    filters: tuple[UploadFilter, ...] = ()
    whole = False

    def __post_init__(self):
        own = [part for part in self.filters if type(part).combine is not UploadFilter.combine]
        if len(own) > 1:
            names = " and ".join(type(part).__name__ for part in own)
            raise ValueError(f"at most one filter may define its own average; got {names}")

    def server_state(self, federation, x, draws):
        return joined(self.filters, "server_state", federation, x, draws)

    def client_state(self, federation, x, draws):
        return joined(self.filters, "client_state", federation, x, draws)

    def begin(self, local, context):
        for part in self.filters:
            local = part.begin(local, context)
        return local

    def send(self, change, local, context):
        for part in self.filters:
            change, floats, local = part.send(change, local, context)
        return change, floats, local

    def combine(self, sent, context):
        for part in self.filters:
            if type(part).combine is not UploadFilter.combine:
                return part.combine(sent, context)
        return super().combine(sent, context)

    def receive(self, change, context):
        server = {}
        for part in reversed(self.filters):
            change, more = part.receive(change, context)
            server |= more
        return change, server

    def learn(self, sent, mean, context):
        return _union(part.learn(sent, mean, context) for part in self.filters)

    def finish(self, local, context):
        return _union(part.finish(local, context) for part in self.filters)

    def extra_bits(self, context):
        down, up = zip(*(part.extra_bits(context) for part in self.filters), strict=True)
        return sum(down), sum(up)

    def check(self, algorithm):
        for part in self.filters:
            part.check(algorithm)

    def refuses(self, federation):
        return next((reason for part in self.filters if (reason := part.refuses(federation))), None)


def _union(mappings) -> dict:
    return {name: value for mapping in mappings for name, value in mapping.items()}


def chained(first: UploadFilter, second: UploadFilter) -> UploadFilter:
    """``first``, then ``second``; ``first`` alone if the second sends everything."""
    if type(second) is UploadFilter:
        return first
    return Chain((first, *(second.filters if isinstance(second, Chain) else (second,))))
