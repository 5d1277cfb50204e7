"""Runs of a trajectory's method on data sets and on their neighbours, with values for the names of a claim about samples."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bounds.language.claim import Claim
from bounds.language.samples import E_data, F_pop
from fedtheory.engine import rounds_of
from fedtheory.stability import random_replacements, samples_of, single_samples
from synthetic.base.noise import drawn_samples
from synthetic.data.federation import DataFederation
from synthetic.numbers.arrays import to_numpy
from synthetic.numbers.draws import Draws
from verify.claims.needs import HETEROGENEITY, needs_lipschitz
from verify.evaluation.environment import Environment, NamedArray, UnboundName
from verify.evaluation.sample_operators import SAMPLE_WORDS
from verify.evidence.runs import MOST_BYTES, Runs
from verify.instances.data_sets import DataSets
from verify.measure.record import FullRecord
from verify.measure.simulate import bind_given

__all__ = ["CoupledRuns"]

_WORLDS = 16  # neighbouring pairs of data sets, at least
_SEED = 0  # of the data sets and of what is replaced


@dataclass(frozen=True)
class _Sampled(DataSets):
    """Random data sets, and runs in each of them with the same seeds; clients are drawn by the seed. ``place``: the number
    of the replaced sample, (data_sets,); ``one``: whether a step uses one sample."""

    place: Any = None
    one: bool = False

    @property
    def atoms(self) -> int:
        return self.data.shape[2]

    @property
    def _use(self):
        if not self.one:
            raise UnboundName("which sample a step uses: in these runs it uses several")
        rounds = self.taking_part.shape[1]
        at_all = self.used[None] == self.place[:, None, None, None]  # data_sets, seeds, iterations, clients
        at_all = at_all.reshape(len(self.place), self.sample_draws, rounds, -1, self.used.shape[-1]).any(axis=3)
        both = (at_all & self.taking_part[None]).transpose(0, 3, 1, 2)  # data_sets, clients, seeds, rounds
        return both[np.arange(self.count), self.replaced][:, :, None]

    def indicators(self):
        of_world, clients = np.repeat(self.replaced, self.sample_draws), np.arange(self.data.shape[1])
        differing = of_world[:, None] == clients
        found = {"differing": (differing.astype(int), 1)}
        if self.one:
            used = np.tile(self.used, (self.count, 1, 1))
            at_place = used == np.repeat(self.place, self.sample_draws)[:, None, None]
            found |= {"used_sample": (used, 2), "replaced": ((at_place & differing[:, None]).astype(int), 2)}
        return found


class CoupledRuns(Runs):
    """The runs of a trajectory's method with its seeds and starts, on data sets and on neighbours of these.

    A claim about given data sets is looked at on the federation's data and on neighbours of them, by ``replacements``; by
    default these put some of a client's own samples, or their mirror images in the origin, in place of others. Of a claim
    with means over data sets, each client's distribution is the uniform one on its samples here, and data sets of as many
    samples are drawn from it, each with one replaced.

    Raises:
        ValueError: the federation has no samples.
    """

    coupled = True

    def __init__(self, claim: Claim, trajectory, values: Mapping[str, float], replacements: Sequence[tuple] | None = None):
        federation = trajectory.federation
        if federation is not None and not isinstance(federation, DataFederation):
            raise ValueError(f"{claim.id} is about runs on neighbouring data sets; {federation.name} has no samples; "
                             "allowed: a federation of data, for example linear-samples, log-cosh, from_arrays")
        super().__init__(claim, trajectory, values)
        counts, weights = (np.unique(to_numpy(a)[0].round(12)) for a in (federation.counts, federation.weights))
        if len(counts) > 1 or len(weights) > 1 or not to_numpy(federation.priority).all():
            self.other = self.other or "the claim's clients have as many samples each, equal weights, and none is free"
        self.drawn = claim.procedure.data_sets != "any" or any(formula.has(E_data, F_pop) for formula in claim.formulas)
        key = "coupled runs", self.drawn, replacements and tuple(
            (k, i, *(np.asarray(part, dtype=float).tobytes() for part in z)) for k, i, *z in replacements)
        if key not in vars(trajectory):  # kept with the trajectory, for the next claim
            vars(trajectory)[key] = self._made_coupled(replacements)
        self.data_sets, self.training, self.neighbours, self.fresh, self.own, self.twin = vars(trajectory)[key]
        self.random = self.random or self.drawn
        self.said = f"{self.data_sets.count} {'pairs of data sets' if self.drawn else 'replaced samples'}"
        if self.drawn:
            self.unsure = f"means are over {self.data_sets.count} pairs of data sets drawn at random"

    # the runs -------------------------------------------------------------------------------------------------------------
    def _made_coupled(self, replacements):
        """DataSets, federations of their data and of the neighbours, the samples that are put in, and both runs' records."""
        federation, trajectory, clients = self.federation, self.trajectory, self.federation.clients
        counts = to_numpy(federation.counts)[0].astype(int)
        count, samples = -(-_WORLDS // clients) * clients, int(counts.min())
        if self.drawn:
            rng = np.random.default_rng(_SEED)
            chosen = rng.integers(samples, size=(count, clients, samples))
            put = [(w % clients, 0, *self._sample(w % clients, int(rng.integers(samples)))) for w in range(count)]
        else:
            put = list(replacements or _half_mirrored(random_replacements(federation, count, _SEED)))
            chosen = np.broadcast_to(np.arange(samples), (len(put), clients, samples))
        training = _data_sets(federation, chosen)
        sets, seeds = len(put), self.count
        needed = 16 * sets * seeds * (trajectory.rounds * (self.algorithm.local_steps + 2) * clients * federation.dim
                                      + int(np.prod(federation.features.shape)))
        if needed > MOST_BYTES:
            raise ValueError(f"runs on {sets} pairs of data sets take {needed / 1e9:.3g} GB; allowed: {MOST_BYTES / 1e9:g} "
                             "GB (fewer seeds, fewer rounds)")
        neighbours = training.neighbours(put)
        own, twin = (self._recorded_on(data.repeat(seeds), sets) for data in (training, neighbours))
        replaced, place = (np.array([entry[i] for entry in put]) for i in (0, 1))
        one, iterations = federation.batch_size == 1, trajectory.rounds * self.algorithm.local_steps
        used = self._samples_used(iterations) if one else np.zeros((seeds, iterations, clients), dtype=int)
        sampled = to_numpy(own[0].later(federation, own[1], self.algorithm.local_steps)["sampled"]()[0])[:seeds] > 0
        data_sets = _Sampled(chosen, chosen, replaced, used, np.zeros((1, 1, 0)), sampled, np.zeros(0), not self.drawn,
                          federation, None, place, one)
        fresh = [(np.ravel(features), federation.check_target(target)) for *_, features, target in put]
        return data_sets, training, neighbours, fresh, own, twin

    def _sample(self, client: int, number: int) -> tuple:
        return tuple(to_numpy(array)[0, client, number] for array in (self.federation.features, self.federation.targets))

    def _recorded_on(self, data, sets: int):
        """The full record of the runs with every seed on each of ``sets`` data sets, and the state at the end."""
        trajectory, algorithm = self.trajectory, self.algorithm
        draws, record = Draws(np.tile(self.seeds, sets), data.backend), FullRecord()
        first = algorithm.init(data, data.backend.array(np.tile(self.start, (sets, 1))), draws)
        *_, final = rounds_of(algorithm, data, first, draws, 0, trajectory.rounds, (record,))
        return record, final

    def _samples_used(self, iterations: int) -> np.ndarray:
        """The number of the sample that each client's step uses, (seeds, iterations, clients)."""
        federation, draws = self.federation, Draws(self.seeds, self.federation.backend)

        def sample_indices(iteration):
            return to_numpy(drawn_samples(federation, lambda keys: federation.counts, draws, iteration, None)[-1])[..., 0]

        shape = self.count, federation.clients
        return np.stack([np.broadcast_to(sample_indices(t), shape) for t in range(iterations)], axis=1).astype(int)

    # names ----------------------------------------------------------------------------------------------------------------
    def _bind(self, sizes, given, params) -> Environment:
        backend, outcomes = self.federation.backend, self.data_sets.count * self.data_sets.sample_draws
        return bind_given(self.claim, self.training, sizes, given, outcomes, params, words=SAMPLE_WORDS,
                          data_sets=self._until(sizes), sampling_weight=backend.array(np.ones((1, 1))))

    def _until(self, sizes) -> DataSets:
        """The data_sets of the rounds up to a horizon."""
        shorter = vars(self.data_sets) | {
            "used": self.data_sets.used[:, : sizes["iterations"]],
            "taking_part": self.data_sets.taking_part[:, : sizes["rounds"]],
            "each": self._each}
        return _Sampled(**shorter)

    @cached_property
    def _each(self):
        """Every sample as a client of its own, those of the clients first."""
        return single_samples(self.federation, [z[2:] for z in samples_of(self.federation)] + self.fresh)

    def _own_sizes(self, rounds: int) -> dict[str, int]:
        return super()._own_sizes(rounds) | {"samples": int(to_numpy(self.federation.counts).max())}

    def _recorded(self, rounds: int) -> dict[str, Callable]:
        both, steps = {}, self.algorithm.local_steps
        for prefix, (record, final) in (("", self.own), ("twin_", self.twin)):
            arrays = self._arrays(*record.until(rounds, steps, final))
            both |= {f"{prefix}{name}": make for name, make in arrays.items()}
        backend, iterations = self.federation.backend, rounds * steps
        for name, (array, indices) in self.data_sets.indicators().items():
            array = array[:, :iterations] if indices == 2 else array
            both[name] = NamedArray(backend.array(array).reshape(1, len(array), 1, *array.shape[1:]), indices)
        return both

    def _bounds(self, largest_step: float) -> dict[str, NamedArray]:
        """Constants that hold for every sample's loss, for the clients' distributions and for every data set."""
        each, clients = self._each, self.federation.clients
        owner = [k for k, *_ in samples_of(self.federation)] + self.data_sets.replaced.tolist()
        by_client = np.array(owner)[None] == np.arange(clients)[:, None]

        def largest(values):
            return np.where(by_client, to_numpy(values).reshape(1, -1), -np.inf).max(axis=1)

        convexity, more, weights = each.convexity(), each.extra_constants(), to_numpy(self.federation.weights)[0]
        found: dict[str, Any] = {"client_weight": weights, "priority": 0 * weights + 1,
                                 "L_client": largest(each.smoothness().value)}
        if convexity is not None:
            found["mu_client"] = -largest(-to_numpy(convexity.value))
        every = (self.federation, self.training, self.neighbours)
        found["sigma_sq_client"] = np.max([
            np.broadcast_to(to_numpy(data.variance), (data.instances, clients)).max(axis=0) for data in every], axis=0)
        named = ("G_lip", "H_loss") if needs_lipschitz(self.claim) or "G_lip" not in self.claim.constants else ("H_loss",)
        found |= {name: to_numpy(more[name].value).max() for name in named if name in more}
        apart = [data.extra_constants() for data in every]
        for name, known in HETEROGENEITY.items():
            if known in apart[0] and name not in self.claim.constants:
                found[name] = np.max([to_numpy(one[known].value).max(axis=0) for one in apart], axis=0)
        return {name: self._constant(value) for name, value in found.items()}

    def _unknown(self) -> list[str]:
        kinds = {"sigma_sq_client": self.federation.variance_known[0], "L_client": self.federation.smoothness().provenance}
        kinds |= {name: constant.provenance for name, constant in self.federation.extra_constants().items()}
        return [name for name in self.claim.names if kinds.get(HETEROGENEITY.get(name, name)) == "estimate"]


def _half_mirrored(replacements: Sequence[tuple]) -> list[tuple]:
    return [(k, i, -a if number >= len(replacements) / 2 else a, y) for number, (k, i, a, y) in enumerate(replacements)]


def _data_sets(federation, chosen: np.ndarray):
    """The federation with an instance for each data set: sample ``chosen[w, k, i]`` of client k is its sample i in data set
    w."""
    clients = np.arange(federation.clients)[None, :, None]
    features, targets = (to_numpy(getattr(federation, name))[0] for name in ("features", "targets"))
    same = federation.neighbours([(0, 0, features[0, 0], targets[0, 0])] * len(chosen))
    padded = np.arange(features.shape[1]) < chosen.shape[2]  # clients with more samples keep the rest
    whole = np.broadcast_to(np.arange(features.shape[1]), (*chosen.shape[:2], features.shape[1])).copy()
    whole[..., padded] = chosen
    for name, table in (("features", features), ("targets", targets)):
        setattr(same, name, federation.backend.array(table[clients, whole]))
    return same
