"""Values of definitions, kept with what they say of chance and with the steps that they took."""


class Remembered:
    """In front of the class of runs on letters: a definition has one value at the same indices, outcome and past. Where it
    is asked for again, what it says of chance is noted again, and its steps count again."""

    given_past, inside, point = None, 0, None

    def __init__(self, *args, **options):
        self.values, self.certain, self.asked_given = {}, set(), set()
        super().__init__(*args, **options)

    def forget(self):
        """For what becomes known of a run after it was begun."""
        self.values.clear()

    def name(self, name, indices, outcome):
        if name not in self.rules or outcome is None or self.point is not None:
            return super().name(name, indices, outcome)
        key = name, *indices, outcome, self.given_past, self.inside > 0
        if key in self.values:
            found, certain, asked_given, steps = self.values[key]
            self.meter.spend(steps)
            self.certain, self.asked_given = self.certain | certain, self.asked_given | asked_given
            return found
        spent, certain, asked_given = self.meter.spent, self.certain, self.asked_given
        self.certain, self.asked_given = set(), set()
        try:
            found = super().name(name, indices, outcome)
            self.values[key] = found, self.certain, self.asked_given, self.meter.spent - spent
        finally:
            self.certain, self.asked_given = self.certain | certain, self.asked_given | asked_given
        return found
