"""Initial states of symbolic runs: their start, or the beginning of any round."""

from fractions import Fraction

from verify.checker.exponential_sums import ExponentialSums, holds_for_all_rounds
from verify.checker.operators import require
from verify.checker.quadratic_forms import LAYER, ORIGIN, NotQuadratic
from verify.checker.round_invariance import COUNTS, RoundInvariance
from verify.checker.run import METHODS
from verify.checker.scope import ROUNDS, ties
from verify.checker.symbolic_run import NOTHING, PAST

#: methods of which a round depends on the state before it alone, all of which ``Run.first`` or ``Run.start`` gives
FROM_ANY_STATE = ("fedavg", "fedprox", "fedswa", "fedmoswa", "scaffold", "fedpd", "feddyn", "afedpd", "fedcm", "fedavgm")

BEFORE = ("x_before", "x", "sampled_weight")  # at a round's first time, of the aggregation before


class FromStart:
    """Runs of a fixed number of rounds, from their start."""

    random_past = False

    def begin(self, run): """Adds no facts about the start."""
    def prepare(self, run): """Checks nothing once a run is made."""
    def first_state(self, run, name, value): return value
    def may_name(self, run, name, indices): """Refuse a name that has no value: none."""
    def uses(self, run, rule): return True
    def leave_out(self, run, rule): """Refuse to do without a hypothesis: never."""


class FirstRound:
    """The first round of runs of any number of rounds: hypotheses that depend on this number are not used."""

    random_past = False

    def begin(self, run): """Adds no facts about the start."""
    def prepare(self, run): """Checks nothing once a run is made."""
    def first_state(self, run, name, value): return value
    def may_name(self, run, name, indices): """Refuse a name that has no value: none."""
    def leave_out(self, run, rule): """Refuse to do without a hypothesis: never."""

    def uses(self, run, rule):
        return not ExponentialSums(run.instance, None).depends([rule["left"], rule["right"], *rule["over"]])


class AnyState:
    """One round from any state that a method can be in at the beginning of a round; the state may be random. What is said of
    it is said of every round, if it says the same of every round."""

    def begin(self, run):
        base, letters = run.instance.how["base"], run.letters
        require(base in FROM_ANY_STATE, f"{base} is not known from any state")
        self.random_past = not letters.exact or run.instance.how["sampling"] != "full"
        if self.random_past:
            letters.drawn[PAST] = NOTHING
            for letter in run.given["start_offset"].terms:
                letters.depends[letter % LAYER] = frozenset({PAST})

    def prepare(self, run):
        instance, steps = run.instance, run.instance.size["local_steps"]
        same = all(eta == instance.step_size[t % steps] for t, eta in enumerate(instance.step_size))
        require(same, "steps differ between rounds")
        require((self.random_past or not instance.draws) and not run.letters.chosen, "the method draws")
        for name, sizes in instance.free.items():
            fixed = not {*(sizes or ())} & {*COUNTS} and (sizes is not None or name in instance.defined)
            require(name == "eta_l" or fixed, f"{name} may change with the rounds")
        self.timeless = RoundInvariance(instance, METHODS[instance.how["base"]][1], instance.value)
        for place, rule in enumerate(run.hypotheses):
            if run.bounds_constants(place):
                self.timeless.is_round_invariant(rule, timed=False)

    def first_state(self, run, name, value):
        """A state of which nothing is known; the same in all runs."""
        def unknown_vector(vector, shared):
            origin = type(vector)({ORIGIN: vector.terms.get(ORIGIN, Fraction(0))})  # a point is measured from the optimum
            return run.letters.basis_vector({PAST} & run.letters.drawn.keys(), shared) + origin

        if name not in run.states:
            run.states[name] = (
                [unknown_vector(v, False) for v in value] if isinstance(value, list) else unknown_vector(value, True))
        return run.states[name]

    def may_name(self, run, name, indices):
        """Refuse what a round's first time has from the round before."""
        how = run.instance.how
        if name in BEFORE and name in run.instance.measured and indices and indices[0] == 0:
            full = how["sampling"] == "full"
            plain = full and how["base"] == "fedavg" and how["options"].get("eta_g") in (1, "1")
            if not (plain if name == "x" else full and name == "sampled_weight"):
                raise NotQuadratic(f"{name} of a round's first time is known after the first round alone")

    def uses(self, run, rule):
        """Whether a hypothesis says the same of every round; it may say more of the first rounds than of others."""
        if self.timeless.is_the_same(rule):
            return True
        run.leave_out(rule)
        return False

    def leave_out(self, run, rule):
        instance = run.instance
        if ties(rule, instance.rules | instance.defined, ROUNDS) and not self.timeless.is_the_same(rule):
            require(holds_for_all_rounds(instance, rule), f"not shown for every number of rounds: {rule['text']}")
