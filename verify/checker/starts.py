"""Where runs on letters begin: at their start, at a fixed number of rounds."""


class FromStart:
    """Runs of a fixed number of rounds, from their start."""

    random_past = False

    def begin(self, run): """What is known of the start: nothing more."""
    def prepare(self, run): """What must hold once a run is made: nothing."""
    def first_state(self, run, name, value): return value
    def may_name(self, run, name, indices): """Refuse a name that has no value: none."""
    def uses(self, run, rule): return True
    def leave_out(self, run, rule): """Refuse to do without a hypothesis: never."""
