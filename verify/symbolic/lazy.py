"""Forms by name that are computed when they are asked for: a proof uses few of many."""

from collections.abc import Mapping


class LazyMapping(Mapping):
    """A mapping of facts by name. ``entries`` are forms, or pairs of the vectors of a form and the function that makes it of
    them."""

    def __init__(self, entries):
        self.entries = dict(entries)

    @classmethod
    def wrap(cls, forms):
        """Forms by name, of which some may wait already: what is made of these is kept there."""
        return forms if isinstance(forms, cls) else cls(forms)

    def __getitem__(self, name):
        entry = self.entries[name]
        if isinstance(entry, tuple):
            entry = self.entries[name] = entry[1]()
        return entry

    def __iter__(self): return iter(self.entries)
    def __len__(self): return len(self.entries)
    def __or__(self, other): return LazyMapping({**self.entries, **LazyMapping.wrap(other).entries})

    def made_of(self, name):
        """The vectors that a form waits to be made of; None of one that does not wait."""
        entry = self.entries[name]
        return entry[0] if isinstance(entry, tuple) else None

    def each(self, change):
        """Every form as a function changes it, once it is asked for."""
        return LazyMapping({name: (entry[0], lambda name=name: change(self[name])) if isinstance(entry, tuple)
                            else change(entry)
                        for name, entry in self.entries.items()})
