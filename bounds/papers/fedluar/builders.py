"""Short ways to write FedLUAR's claims: one reading of the analysis as an object, and a block in all its readings."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial, wraps

from bounds.language.claim import Claim, Condition, Procedure, Variable
from bounds.language.layers import largest_sum, layer_part, layers, share
from bounds.language.words import (
    E,
    E_round,
    L,
    Sum,
    clients,
    eta_l,
    i,
    iterations,
    j,
    k,
    local_steps,
    norm,
    norm2,
    objective,
    objective_grad,
    participants,
    r,
    rounds,
    sampled,
    t,
    x_round,
)
from bounds.papers.fedluar import quantities as q
from bounds.papers.fedluar.assumptions import all_rounds
from bounds.papers.fedluar.words import (
    applied_update,
    eta,
    kappa,
    layer,
    masks,
    recycled,
    recycled_set,
    source_round,
    staleness,
)

__all__ = [
    "AXES",
    "DEFAULT",
    "FEDAVG",
    "HATS",
    "KAPPA_AXIS",
    "MASK_AXES",
    "NOISE_AXES",
    "SMALL_STEP",
    "STATEMENT_AXES",
    "Reading",
    "algebra_claim",
    "at_each",
    "constant_step",
    "from_all_layers",
    "in_readings",
    "now_at",
    "over_rounds",
    "products",
    "round_claim",
    "run_claim",
]

run_claim = partial(Claim, setting="run", source="fedluar", definitions=q.DEFINITIONS)
algebra_claim = partial(Claim, setting="algebra", source="fedluar")
FEDAVG = Procedure(equal_weights=True)
constant_step = Condition(eta_l[t], "==", eta, ((t, 0, iterations - 1),))

#: the condition of Lemmas 3.1, A.2 and A.3
SMALL_STEP = Condition(eta, "<=", 1 / (L * local_steps))

#: values of each axis, the default first, in words
AXES: dict[str, dict[str, str]] = {
    "mask": {
        "luar": "layers drawn from the scores",
        "forced": "any given layers in each round, none in round 0",
        "exogenous": "layers drawn uniformly, independently of the run (the method's one such law)",
    },
    "age": {
        "per-layer": "each recycled layer with its own age",
        "common": "layers such that all those recycled in a round have one age",
    },
    "participation": {
        "full": "all clients",
        "sampled": "a clients drawn without replacement; 1/m sum_i is the mean over these, m elsewhere counts all clients",
    },
    "hat": {
        "appendix": "a hat keeps the recycled layers alone",
        "main": "a hat is zero in the recycled layers",
    },
    "kappa": {
        "sup": "kappa the largest ratio of the run, 0 in rounds without recycled layers",
        "sure": "kappa the largest ratio of the run for any layers that could be drawn",
        "aggregate": "kappa the ratio of the sums over the run",
        "update": "kappa the largest ratio of the norms of recycled and of all updates",
        "update-squared": "kappa the largest ratio of the squared norms of recycled and of all updates",
    },
    "end": {"expected": "F(x_T) in expectation", "pathwise": "F(x_T) as it comes out"},
    "expectation": {"conditional": "expectations given the past of the round", "total": "expectations over everything"},
    "source": {"stale": "s = t - k", "now": "s = t"},
}

MASK_AXES = ("mask", "participation")
NOISE_AXES = ("mask", "age", "participation", "hat")
STATEMENT_AXES = ("mask", "age", "participation", "kappa", "hat")
KAPPA_AXIS = ("kappa",)
HATS = ("hat",)


def along(*axes: str):
    """A method of a reading whose value depends on these axes and its arguments alone, and is worked out once for each."""

    def remembered(method):
        @cache
        def once(values, *arguments):
            return method(Reading(**dict(zip(axes, values, strict=True))), *arguments)

        @wraps(method)
        def looked_up(self, *arguments):
            return once(tuple(getattr(self, axis) for axis in axes), *arguments)

        return looked_up

    return remembered


@dataclass(frozen=True)
class Reading:
    """One value of each axis, and what the paper's letters mean under it; r is the round t of the paper."""

    mask: str = "luar"
    age: str = "per-layer"
    participation: str = "full"
    hat: str = "appendix"
    kappa: str = "sup"
    end: str = "expected"
    expectation: str = "conditional"
    source: str = "stale"

    # the run ------------------------------------------------------------------------------------------------------------
    @property
    @along("mask", "participation")
    def procedure(self) -> Procedure:
        """The algorithm."""
        return Procedure(
            "fedluar", sampling="full" if self.participation == "full" else "without-replacement", equal_weights=True,
            options=(("selector", "uniform"),) if self.mask == "exogenous" else ())

    @property
    @along("mask")
    def variables(self) -> tuple[Variable, ...]:
        """The free hyper-parameters."""
        given = (Variable("masks", "binary", (("r", "rounds"), ("l", "layers"))),) if self.mask == "forced" else ()
        return (Variable("eta", "positive"), Variable("recycled", "integer", low=0), *given)

    @property
    @along("mask", "age")
    def conditions(self) -> tuple[Condition, ...]:
        """A constant step size, and what the axes demand of the layers."""
        found = [constant_step, Condition(recycled, "<=", layers)]
        if self.mask == "forced":
            found += [
                Condition(Sum(masks[0, layer], q.every_layer), "==", 0),
                Condition(Sum(masks[r, layer], q.every_layer), "==", recycled, ((r, 1, rounds - 1),)),
            ]
        if self.age == "common":
            both = recycled_set[r, layer] * recycled_set[r, i]
            found.append(Condition(both * (staleness[r + 1, layer] - staleness[r + 1, i]) ** 2, "==", 0,
                                   (all_rounds, q.every_layer, (i, 0, layers - 1))))
        return tuple(found)

    # averages over clients and local steps ------------------------------------------------------------------------------
    @along("participation")
    def over_clients(self, term):
        """``1/m sum_i sum_j`` of a term in k and j."""
        if self.participation == "full":
            return Sum(term, q.every_step, q.every_client) / clients
        return Sum(sampled[r, k] * term, q.every_step, q.every_client) / participants

    @property
    def fresh(self):
        """The averaged sum of stochastic gradients, by round."""
        return q.fresh[self.participation]

    @property
    def noise(self):
        """n_t."""
        return q.recycle_noise[self.participation]

    @property
    def true_mean(self):
        """The averaged sum of gradients, by round."""
        return q.true_mean[self.participation]

    @property
    def drift(self):
        """V_t before any expectation."""
        return q.round_drift[self.participation]

    # hats and stale rounds ----------------------------------------------------------------------------------------------
    @along("hat")
    def kept(self):
        """Whether a hat keeps layer l in round r."""
        return recycled_set[r, layer] if self.hat == "appendix" else 1 - recycled_set[r, layer]

    @along("hat")
    def hatted(self, vector):
        """The vector under a hat of round r."""
        return Sum(self.kept() * layer_part(layer, vector), q.every_layer)

    def stale(self, vector: Callable):
        """``vector(s)`` at s = t - k, under a hat of round r; s is the round of each layer where each has its own age."""
        return self._stale(vector(source_round), vector(r))

    @along("age", "hat")
    def _stale(self, then, now):
        earlier = (source_round, 0, r - 1)
        if self.age == "per-layer":  # a hat of the appendix: a layer that was last fresh before round r is recycled in it
            return Sum(Sum(q.last_fresh[r, source_round, layer] * layer_part(layer, then), earlier), q.every_layer)
        stale = Sum(q.shared_source[r, source_round] * self.hatted(then), earlier)
        if self.hat == "appendix":  # where no layer is recycled it keeps nothing
            return stale
        return stale + q.none_recycled[r] * now

    def now(self, vector: Callable):
        """``vector(r)`` under a hat of round r."""
        return self.hatted(vector(r))

    def at_source(self, vector: Callable):
        """``vector(s)`` under a hat of round r, at s = t - k or s = t by the axis ``source``."""
        return self.stale(vector) if self.source == "stale" else self.now(vector)

    def mean_sq(self, hat: Callable, vector: Callable):
        """``1/m sum_i sum_j E|hat v|^2`` of a ``vector(s)`` in k and j, under ``stale``, ``now`` or ``at_source``.

        The mean is over the clients that took part in round s, each layer's own, as in the update that is recycled.
        """
        return E(self._mean_sq(hat(lambda s: self.took_part(s) * vector(s))))

    @along("participation")
    def took_part(self, s):
        """Whether client k took part in round s."""
        return 1 if self.participation == "full" else sampled[s, k]

    @along("participation")
    def _mean_sq(self, vector):
        return Sum(norm2(vector), q.every_step, q.every_client) / (clients if self.participation == "full" else participants)

    @along("age", "participation")
    def stale_drift(self):
        """V_{t-k} before any expectation, with k = 0 where no layer is recycled.

        For each layer with its own age, the largest over the recycled layers.
        """
        earlier = (source_round, 0, r - 1)
        if self.age == "common":
            stale = Sum(q.shared_source[r, source_round] * self.drift[source_round], earlier)
        else:
            of_layer = Sum(q.last_fresh[r, source_round, layer] * self.drift[source_round], earlier)
            stale = largest_sum(1, of_layer, *q.every_layer)
        return stale + q.none_recycled[r] * self.drift[r]

    @along("hat")
    def hat_gradient(self):
        """H_t before any expectation."""
        return norm2(self.hatted(objective_grad(x_round[r])))

    @along("hat")
    def ratio_gradient(self):
        """H_t in rounds of which kappa takes the ratio, 0 in the others, which are those without recycled layers."""
        return self.hat_gradient() if self.hat == "appendix" else (1 - q.none_recycled[r]) * self.hat_gradient()

    @along("age", "hat")
    def stale_gradient(self):
        """H_{t-k} before any expectation."""
        return norm2(self.stale(lambda s: objective_grad(x_round[s])))

    # kappa --------------------------------------------------------------------------------------------------------------
    @property
    @along("kappa", "hat")
    def kappa_is(self) -> Condition:
        """What kappa is; rounds in which both norms are zero have no ratio and are skipped."""
        full = norm2(objective_grad(x_round[r]))
        applied = applied_update[r + 1]
        if self.kappa == "aggregate":
            return Condition(kappa, "==", over_rounds(E(self.hat_gradient())) / over_rounds(E(full)))
        if self.kappa == "sure":
            by_layer = norm2(layer_part(layer, objective_grad(x_round[r])))
            return Condition(kappa, ">=", share(largest_sum(recycled, by_layer, *q.every_layer), full),
                             ((r, 1, rounds - 1),))
        ratio = {
            "sup": share(self.ratio_gradient(), full),
            "update": share(norm(self.hatted(applied)), norm(applied)),
            "update-squared": share(norm2(self.hatted(applied)), norm2(applied)),
        }[self.kappa]
        return Condition(kappa, ">=", ratio, (all_rounds,))

    # expectations -------------------------------------------------------------------------------------------------------
    def mean(self, term):
        """The expectation in a display about one round."""
        return E_round(term, r) if self.expectation == "conditional" else E(term)

    def known(self, term):
        """A term that the start of the round determines, in a display about one round."""
        return term if self.expectation == "conditional" else E(term)

    def final(self):
        """F(x_T)."""
        return E(objective(x_round[rounds])) if self.end == "expected" else objective(x_round[rounds])

    def start(self):
        """F(x_0)."""
        return objective(x_round[0])

    def words(self, axes) -> str:
        """The reading in words, along these axes."""
        return "; ".join(AXES[axis][getattr(self, axis)] for axis in axes)


DEFAULT = Reading()


def over_rounds(term):
    """The sum over t = 0 .. T - 1."""
    return Sum(term, all_rounds)


def in_readings(block: Callable[[Reading], Claim], axes: tuple[str, ...], base: Reading = DEFAULT) -> tuple[Claim, ...]:
    """A block in its default reading, and once for each other value of each axis; the value joins the claim's id.

    Under the hats of the main text the kept layers have no age, so that the one k of (6) is that of the recycled layers:
    blocks with ages then have common ones.
    """
    found = []
    one_age = {"hat": {"age": "common"}} if "age" in axes else {}
    others = ((replace(base, **{a: v} | one_age.get(a, {})), v) for a in axes for v in list(AXES[a])[1:])
    for reading, name in [(base, ""), *others]:
        claim = block(reading)
        words = "; ".join(part for part in (reading.words(axes), claim.reading) if part)
        named = claim.id + ("+" if "@" in claim.id else "@") + name if name else claim.id
        found.append(replace(claim, id=named, reading=words))
    return tuple(found)


def _joined(claim: Claim, name: str, words: str, **changes) -> Claim:
    named = claim.id + ("+" if "@" in claim.id else "@") + name
    return replace(claim, id=named, reading=f"{claim.reading}; {words}", **changes)


def from_all_layers(claim: Claim) -> Claim:
    """The claim where all layers are recycled in round 0, from a given update, as line 2 of Algorithm 2 prints."""
    return _joined(
        claim, "R0-all", "all layers recycled in round 0",
        procedure=replace(claim.procedure, options=(*claim.procedure.options, ("R0", "all"))),
        variables=(*claim.variables, Variable("initial_update", "vector")))


def without_recycling(claim: Claim) -> Claim:
    """The claim where no layer is recycled, delta = 0."""
    none = Condition(recycled, "==", 0)
    return _joined(
        claim, "delta-0", "no layer recycled, delta = 0",
        variables=tuple(v for v in claim.variables if v.name != "recycled"),
        conditions=tuple(none if c.left == recycled else c for c in claim.conditions))


def products(block: Callable[[Reading], Claim], axes: tuple[str, ...]) -> tuple[Claim, ...]:
    """The products of readings that are encoded: given layers of common ages; all layers in round 0; no layers at all."""
    first, both = block(DEFAULT), Reading(mask="forced", age="common")
    of_one_age = block(both)
    first = replace(first, reading=DEFAULT.words(axes))
    return (replace(of_one_age, id=f"{of_one_age.id}@forced+common", reading=both.words(axes)), from_all_layers(first),
            without_recycling(first))


def at_each(statement_left, relation, right, *over) -> Condition:
    """A statement about every round, and further indices."""
    return Condition(statement_left, relation, right, (all_rounds, *over))


def round_claim(under: Reading, *, conditions=(), **fields) -> Claim:
    """A claim about FedLUAR's runs under a reading; further conditions follow the reading's own."""
    return run_claim(procedure=under.procedure, variables=under.variables, conditions=(*under.conditions, *conditions),
                     **({"reading": ""} | fields))


def now_at(step=0):
    """Iteration j (+ step) of round r."""
    return r * local_steps + j + step
