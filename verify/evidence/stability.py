"""Measures claims about neighbouring data sets on coupled runs: recursions step by step, final bounds round by round.

Each run is an outcome of equal probability. A claim about given data sets (``replaced="any"``) is measured for every
replacement separately. For other claims the mean is over runs and replacements, but not over data sets. The supremum over
samples is taken over a finite test set, so the measured value is a lower bound.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from bounds.language import samples, words
from bounds.language.claim import Claim
from fedtheory.engine import rounds_of, starting_points
from fedtheory.registry import find_algorithm, make_algorithm
from fedtheory.schedules import value_at
from fedtheory.stability import samples_of, single_samples
from synthetic.numbers.arrays import NUMPY, maximum, namespace, to_numpy
from synthetic.numbers.draws import Draws
from verify.claims.needs import HETEROGENEITY, speaks_of_samples
from verify.evaluation.environment import NamedArray, UnboundName
from verify.evaluation.evaluate import Value, sides
from verify.evaluation.judge import in_range, unmet
from verify.evaluation.means import mean_over
from verify.evaluation.sample_words import gaps, over_data
from verify.measure.realise import bind_given
from verify.measure.record import FullRecord

__all__ = ["Beside", "beside_runs"]

_MOST_TERMS = 4_000_000  # entries of an array
_HORIZONS = 12  # lengths of the run at which a final bound is measured


@dataclass(frozen=True)
class Beside:
    """Both sides of a claim on measured runs, as rows of (horizon in rounds, indices in words, left, right).

    ``rows``: those of a final bound, by horizon. ``steps``: those of a recursion, at all indices of the last horizon.
    ``reason``: why there are neither. ``decides``: the measured means are the claim's own.
    """

    claim: str
    rows: tuple[tuple[int, str, float, float], ...] = ()
    reason: str = ""
    decides: bool = True
    steps: tuple[tuple[int, str, float, float], ...] = ()

    @property
    def ratio(self) -> float | None:
        """Largest left/right; None without rows."""
        ratios = [_ratio(left, right) for *_, left, right in (*self.rows, *self.steps)]
        return max(ratios, default=None)


def _ratio(left: float, right: float) -> float:
    return left / right if right > 0 else (0.0 if left <= 0 else np.inf)


def beside_runs(claim: Claim, method: str, options: Mapping[str, Any], federation, replacements: Sequence[tuple],
                test: Sequence[tuple], rounds: int, seeds: Sequence[int]) -> Beside:
    """Both sides of a claim about coupled runs of ``method`` on a federation of data.

    Args:
        options: arguments of the method, ``eta_l`` and ``local_steps`` among them.
        replacements, rounds, seeds: as in :func:`fedtheory.stability.coupled_runs`.
        test: samples (features, target) over which suprema are taken.
    """
    if not speaks_of_samples(claim) or claim.statement is None or not claim.explicit:
        return Beside(claim.id, reason="it is not an explicit statement about runs on neighbouring data sets")
    if why := _other_runs(claim, method, options):
        return Beside(claim.id, reason=why)
    counts = set(to_numpy(federation.counts)[0].tolist())
    if len(counts) > 1 or len(set(to_numpy(federation.weights)[0].round(12).tolist())) > 1:
        return Beside(claim.id, reason="it needs as many samples of every client, and equal weights")
    algorithm, given = make_algorithm(method, **options), claim.procedure.replaced == "any"
    groups = [[one] for one in replacements] if given else [list(replacements)]
    lengths = np.unique(np.geomspace(1, rounds, min(_HORIZONS, rounds)).round().astype(int)).tolist()
    found: list[list] = []
    for group in groups:
        names = _recorded(algorithm, federation, group, rounds, seeds)
        names |= _steps(claim, options["eta_l"], rounds, algorithm.local_steps, federation.backend)
        names |= _constants(federation, [entry[2:] for entry in group]) | _numbers(claim, method, options)
        each = single_samples(federation, test)
        try:
            found.append([_sides_at(claim, algorithm, federation, names, each, group, length, len(seeds))
                          for length in ([rounds] if claim.statement.over else lengths)])
        except (UnboundName, TypeError, ValueError, LookupError, ArithmeticError) as why:
            return Beside(claim.id, reason=str(why))
    rows = [max((group[n] for group in found), key=lambda rows: max(_ratio(*row[2:]) for row in rows))
            for n in range(len(found[0]))]
    if claim.statement.over:
        return Beside(claim.id, steps=tuple(rows[0]), decides=given)
    return Beside(claim.id, rows=tuple(row for part in rows for row in part), decides=given)


def _other_runs(claim: Claim, method: str, options: Mapping[str, Any]) -> str:
    """Why runs of the method are not those of the claim; empty if they are."""
    base, defaults = claim.procedure.base, find_algorithm(method).arguments
    if base != method:
        return f"it is about {base}; the runs are {method}'s"
    for name, value in claim.procedure.options:
        if (have := options.get(name, defaults.get(name))) != value:
            return f"it is about {method} with {name} = {value}; the runs have {have}"
    if claim.procedure.sampling != "full" and not options.get("participants"):
        return "it is about sampled clients; in the runs all participate"
    return ""


def _numbers(claim: Claim, method: str, options: Mapping[str, Any]) -> dict[str, NamedArray]:
    """The numerical hyper-parameters of the method, by name."""
    known = find_algorithm(method).arguments | dict(options)
    return {name: NamedArray(np.full((1, 1, 1), float(value))) for name, value in known.items()
            if isinstance(value, int | float) and not isinstance(value, bool) and name not in ("eta_l", "local_steps")}


def _recorded(algorithm, federation, replacements, rounds, seeds) -> dict[str, NamedArray]:
    """Every recorded quantity of the runs and of the coupled runs; the axis of outcomes is (replacement, seed)."""
    numbers = np.tile(np.asarray(seeds), len(replacements))
    twin = federation.neighbours([entry for entry in replacements for _ in seeds])
    found = {}
    for prefix, data in (("", federation), ("twin_", twin)):
        draws, record = Draws(numbers, data.backend), FullRecord()
        first = algorithm.init(data, starting_points(data, None, len(numbers)), draws)
        *_, state = rounds_of(algorithm, data, first, draws, 0, rounds, (record,))
        for name, (array, indices, vector) in record.arrays(data, state, algorithm.local_steps).items():
            array = namespace(array).broadcast_to(array, (len(numbers), *array.shape[1:]))
            found[prefix + name] = NamedArray(array.reshape(1, len(numbers), 1, *array.shape[1:]), indices, vector)
    clients = np.repeat([entry[0] for entry in replacements], len(seeds))
    differing = (clients[:, None] == np.arange(federation.clients)).astype(float)
    found["differing"] = NamedArray(federation.backend.array(differing).reshape(1, len(clients), 1, -1), 1)
    return found


def _steps(claim: Claim, eta_l, rounds: int, local_steps: int, backend) -> dict[str, NamedArray]:
    """The step sizes of the method by iteration, and under the claim's name for them where all are equal."""
    eta = [float(value_at(eta_l, NUMPY, t, t // local_steps, 1)) for t in range(rounds * local_steps)]
    called = {c.right.name for c in claim.hypotheses
              if c.relation == "==" and getattr(c.left, "base", None) == words.eta_l and c.right.is_Symbol}
    found = {"eta_l": NamedArray(backend.array(eta).reshape(1, 1, 1, -1), 1)}
    return found | {name: NamedArray(np.full((1, 1, 1), eta[0])) for name in called if len(set(eta)) == 1}


def _constants(federation, fresh) -> dict[str, NamedArray]:
    """Constants of the losses of all samples, those of ``fresh`` included, and of the clients' gradients."""
    def of_samples(data):
        named = {"L_client": to_numpy(data.smoothness().value).max(), "mu_client": to_numpy(data.convexity().value).min()}
        more = data.extra_constants()  # no optimum is needed, and there may be none
        return named | {n: to_numpy(more[n].value).max() for n in ("G_lip", "H_loss") if n in more}

    each = single_samples(federation, [z[2:] for z in samples_of(federation)] + list(fresh))
    found = of_samples(each)
    clients = federation.clients
    by_client = {n: NamedArray(np.full((1, 1, 1, clients), found.pop(n)), 1) for n in ("L_client", "mu_client")}
    weights, variance = (to_numpy(array).reshape(1, 1, 1, -1) for array in (federation.weights, federation.variance))
    by_client |= {"client_weight": NamedArray(weights, 1), "priority": NamedArray(0 * weights + 1, 1),
                  "sigma_sq_client": NamedArray(np.broadcast_to(variance, weights.shape), 1)}
    apart = federation.extra_constants()
    if "sigma_g_client" in apart:
        by_client["sigma_g_client"] = NamedArray(to_numpy(apart["sigma_g_client"].value).reshape(1, 1, 1, -1), 1)
    found |= {name: to_numpy(apart[known].value).max() for name, known in HETEROGENEITY.items()
              if known in apart and name not in by_client}
    return by_client | {name: NamedArray(np.full((1, 1, 1), value)) for name, value in found.items()}


def _sides_at(claim: Claim, algorithm, federation, names, each, group, length: int, seeds: int) -> list[tuple]:
    """Rows (horizon, indices, left, right) of the runs up to round ``length``; LookupError where a hypothesis fails."""
    backend, K = federation.backend, algorithm.local_steps
    sampling = algorithm.selection.sampling
    sizes = {"clients": federation.clients, "rounds": length, "local_steps": K, "iterations": length * K,
             "dim": federation.dim, "samples": int(to_numpy(federation.counts).max()),
             "participants": getattr(sampling, "participants", federation.clients)}
    names = {n: b._replace(data=backend.array(b.data) if isinstance(b.data, np.ndarray) else b.data)
             for n, b in names.items()}
    names["eta_l"] = names["eta_l"]._replace(data=names["eta_l"].data[..., : length * K])
    outcomes = len(group) * seeds
    most = max(_MOST_TERMS // (outcomes * federation.dim), 1)
    environment = bind_given(claim, federation, sizes, names, outcomes, most_terms=most, words=_words(each))
    if why := unmet(claim.hypotheses, environment):
        raise LookupError(why)
    if not in_range(claim, environment, 1).all():
        raise LookupError("a constant is zero or infinite here, which the claim's symbols exclude")
    left, right, mask = (to_numpy(part) for part in sides(claim.statement, environment))
    left, right, mask = np.broadcast_arrays(left, right, mask)
    left, right = (side.max(axis=(0, 1, 2)) for side in (left, right))
    mask = mask.reshape(mask.shape[-left.ndim:] if left.ndim else ()) if mask.ndim == left.ndim else mask[0, 0, 0]
    over = [(str(name), int(low) if str(low).isdigit() else 0) for name, low, _ in claim.statement.over]
    return [(length, ", ".join(f"{n} = {i + low}" for (n, low), i in zip(over, place, strict=True)), float(left[place]),
             float(right[place])) for place in np.ndindex(left.shape) if mask[place]]


def _words(each) -> dict:
    """Operators of claims about samples: suprema over the samples of ``each``, means over data sets over the runs made."""
    def of_client(evaluator, node, scope):
        client, value = evaluator.integer(node.args[0], scope), evaluator.value(node.args[1], scope)
        replaced = to_numpy(evaluator.env.bound["differing"].data)[0, :, 0].argmax(axis=-1)
        chosen = (replaced.reshape(1, -1, 1, *(1,) * client.ndim) == client[None, None, None]).astype(float)
        if not chosen.any(axis=1).all():
            raise UnboundName("no replaced sample is one of each client's; more replacements would do")
        chosen = evaluator.env.backend.array(chosen[..., None] if value.vector else chosen)
        xp = namespace(value.data)
        total = xp.sum(value.data * chosen, axis=1, keepdims=True) / xp.sum(chosen, axis=1, keepdims=True)
        return value._replace(data=total)

    def supremum(absolute):
        def worst(evaluator, node, scope):
            means = (mean_over(abs(gap) if absolute else gap, 1, evaluator.env.noise_weight)
                     for gap in gaps(evaluator, node, scope, each))
            return Value(reduce(maximum, means))

        return worst

    return {samples.E_data: over_data, samples.E_client: of_client, samples.worst_sample_gap: supremum(False),
            samples.worst_pair_gap: supremum(False), samples.worst_mean_signed_gap: supremum(False),
            samples.worst_mean_gap: supremum(True)}
