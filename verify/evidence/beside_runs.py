"""Compares a claim's bound with the mean over sampled runs: a series for a figure, and the evidence that it gives."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bounds.language.claim import Claim
from bounds.registry.claims import find_claim
from fedtheory import AllClients, Always, Constant, LossMatching, PriorityOnly
from synthetic.numbers.arrays import namespace, to_numpy
from verify.claims.method import other_procedure
from verify.evaluation.environment import Environment, NamedArray, UnboundName
from verify.evaluation.evaluate import sides
from verify.evaluation.judge import unmet
from verify.evidence.eprocess import REFUTES, confidence_band, e_values, more_samples
from verify.measure.realise import bind_given
from verify.results.verdict import Series

__all__ = ["RECORD", "Comparison", "compare"]

_LONGEST_LABEL = 90  # characters of LaTeX that fit beside an axis

#: the observables that :func:`compare` reads from a trajectory; the last one where nothing else bounds the gradients
RECORD = ("x", "included", "eta_l", "weighted_gradient_sq")


@dataclass(frozen=True)
class Comparison:
    """Both sides of a claim along sampled runs.

    ``verdict`` is ``refuted``, ``consistent``, ``undecided`` or ``not applicable``; ``reason`` says why in one line.
    ``series`` holds the rounds, the mean of the left side with its 95 % band, and the bound; None if not applicable.
    ``tested``: the samples of the last round form an e-value; otherwise ``e_value`` is 1.
    """

    claim: str
    verdict: str
    reason: str
    ratio: float | None = None
    e_value: float = 1.0
    series: Series | None = None
    tested: bool = False

    def plot(self, path: str | Path):
        """Draws bound and measurement as ``path`` with the endings .svg, .pdf and .png, whatever ending it has."""
        from verify.results.drawing import save
        from verify.results.figures import bound_and_measurement

        if self.series is None:
            raise ValueError(f"nothing to draw: {self.reason}")
        path = Path(path)
        return save(bound_and_measurement(self.series), path.with_suffix("") if path.suffix else path)


def compare(claim: Claim | str, trajectory, points: int = 24) -> Comparison:
    """Evaluates a ``run`` claim at up to ``points`` rounds along a trajectory of many seeds.

    The trajectory must have recorded ``RECORD``; ``weighted_gradient_sq`` only where constants and steps do not bound the
    gradients. The bound is evaluated with the federation's constants. A bound that depends on an estimated constant is
    drawn, and decides nothing.

    Raises:
        LookupError: unknown claim id. ValueError: the claim is not about runs, or something was not recorded.
    """
    claim = find_claim(claim) if isinstance(claim, str) else claim
    if claim.setting != "run" or claim.statement is None or claim.statement.over:
        raise ValueError(f"{claim.id} is not a statement about the end of a run; its setting is {claim.setting!r}")
    _needs_recorded(RECORD[:-1], trajectory)
    reason = other_procedure(claim.procedure, trajectory.algorithm)
    if reason:
        return Comparison(claim.id, "not applicable", reason)
    rounds = trajectory.rounds
    grid = np.unique(np.geomspace(1, rounds, min(points, rounds)).round().astype(int))
    lefts, rights, bands = [], [], []
    for horizon in grid:
        environment, exact_G = _environment(claim, trajectory, int(horizon))
        reason = _unmet(claim, environment)
        if reason:
            return Comparison(claim.id, "not applicable", reason)
        left, right = _mean_sides(claim, environment)
        lefts.append(left)
        rights.append(right)
        bands.append(_run_sides(claim, environment))
    decides = exact_G or not _depends_on_G(claim, environment)
    _, low, high = confidence_band(np.stack([left for left, _ in bands], axis=1))
    series = Series(
        title=f"{trajectory.description}, {trajectory.runs} seeds", x_label="round", y_label=_label(claim),
        x=grid.tolist(), left=lefts, right=rights, left_low=low.tolist(), left_high=high.tolist(), decides=decides,
        relation=claim.statement.relation,
        note="" if decides else "the bound uses an estimate of G from the run, so it decides nothing",
    )
    selection = trajectory.algorithm.selection
    certain = isinstance(selection.matching, AllClients | PriorityOnly) and isinstance(selection.free, Always)
    return _judged(claim, series, certain, *bands[-1])


def _needs_recorded(names, trajectory):
    if missing := [name for name in names if name not in trajectory.dataset]:
        raise ValueError(f"the trajectory has not recorded {', '.join(missing)}; "
                         "give run(..., record=verify.evidence.beside_runs.RECORD)")


def _environment(claim: Claim, trajectory, horizon: int):
    """The claim's names on the runs up to round ``horizon``, and whether G is bounded a priori."""
    federation, data = trajectory.federation, trajectory.dataset
    steps, backend = trajectory.algorithm.local_steps, federation.backend
    runs, times = data.sizes["run"], steps * horizon
    sizes = {
        "clients": federation.clients, "iterations": times, "local_steps": steps, "rounds": horizon,
        "dim": federation.dim, "participants": getattr(trajectory.algorithm.selection.sampling, "participants", 1),
        "priority_clients": int(to_numpy(federation.priority)[0].sum()),
    }
    ends = tuple(range(0, times + 1, steps))
    x = data["x"].transpose("run", "round", "dim").values[:, : horizon + 1]
    included = data["included"].transpose("run", "step_round", "client").values[:, :horizon].repeat(steps, axis=1)
    per_run = {
        "x_sampled": NamedArray(backend.array(x)[None, :, None], 1, True, ends),
        "included": NamedArray(backend.array(included.astype(float))[None, :, None], 2),
    }
    eta = data["eta_l"].transpose("run", "iteration").values[:, :times]
    if (eta != eta[:1]).any():
        raise ValueError("every run must have the same steps to be compared with one bound; got several")
    per_run["eta_l"] = NamedArray(backend.array(eta[:1]).reshape(1, 1, 1, -1), 1)
    matching = trajectory.algorithm.selection.matching
    if isinstance(matching, LossMatching):
        epsilon = matching.epsilon if callable(matching.epsilon) else Constant(matching.epsilon)
        values = [0.0 if t < matching.warmup * steps else epsilon(t, t // steps) for t in range(times)]
        if not any(getattr(value, "ndim", 0) for value in values):
            per_run["epsilon"] = NamedArray(backend.array(values).reshape(1, 1, 1, -1), 1)
    bound_on_G = None
    if "noise_bound" in federation.constants and federation.constants["noise_bound"].decides:
        bound_on_G = _a_priori_G(federation, x[:, 0], eta)
        per_run["noise_bound"] = NamedArray(federation.constants.value("noise_bound").reshape(-1, 1, 1))
    exact_G = bound_on_G is not None
    if not exact_G:
        _needs_recorded(RECORD[-1:], trajectory)
        squares = data["weighted_gradient_sq"].transpose("run", "iteration").values[:, :times]
        bound_on_G = float(squares.mean(axis=0).max())
    per_run["G_sq"] = NamedArray(backend.array([[[bound_on_G]]]))
    return bind_given(claim, federation, sizes, per_run, runs), exact_G


def _a_priori_G(federation, starts, eta) -> float | None:
    """A bound on the squared stochastic gradients of every run: with steps of at most 2/(L + mu) iterates stay in a ball."""
    constants = federation.constants
    if "mu" not in constants or not float(to_numpy(constants.value("mu")).min()) > 0:
        return None
    L, mu = (float(to_numpy(constants.value(n)).max()) for n in ("L", "mu"))
    if eta.max() > 2 / (L + mu):
        return None
    noise = float(np.max(to_numpy(constants.value("noise_bound"))))
    xp = namespace(federation.weights)
    gradients = federation.gradient(federation.all_clients(federation.x_star))
    steepest = float(xp.max(xp.sqrt(xp.sum(gradients**2, axis=-1))))
    distance = float(np.sqrt(((starts - to_numpy(federation.x_star)) ** 2).sum(axis=-1)).max())
    return (steepest + L * max(distance, (steepest + noise) / mu) + noise) ** 2


def _unmet(claim: Claim, environment: Environment) -> str | None:
    """The first hypothesis that the runs violate or cannot be checked for, in words; None where there is none."""
    checkable = []
    for condition in claim.hypotheses:
        try:
            sides(condition, environment)
        except UnboundName as error:
            if {str(condition.left), str(condition.right)} & {"G_sq", "noise_bound"}:
                continue  # known a priori, or marked as an estimate
            return f"cannot check {condition.left} {condition.relation} {condition.right} on these runs: {error}"
        checkable.append(condition)
    return unmet(checkable, environment)


def _mean_sides(claim, environment):
    left, right, _ = sides(claim.statement, environment)
    return float(to_numpy(left).mean()), float(to_numpy(right).mean())


def _run_sides(claim, environment):
    """Both sides of each single run, without the mean over runs, as (runs,) arrays."""
    weights, environment.noise_weight = environment.noise_weight, None
    left, right, _ = sides(claim.statement, environment)
    environment.noise_weight = weights
    runs = weights.shape[1]
    return tuple(np.broadcast_to(to_numpy(side).reshape(-1), (runs,)) for side in (left, right))


def _depends_on_G(claim, environment) -> bool:
    kept = environment.bound["G_sq"]
    values = []
    for value in (0.0, 1.0):
        environment.bound["G_sq"] = NamedArray(environment.backend.array([[[value]]]))
        values.append(_mean_sides(claim, environment))
    environment.bound["G_sq"] = kept
    return values[0] != values[1]


def _label(claim: Claim) -> str:
    """The left side in the paper's letters, as the label of an axis."""
    from matplotlib.mathtext import MathTextParser

    from bounds.printing.render import latex, letters_of

    label = f"${latex(claim.statement.left, letters_of(claim))}$"
    if len(label) > _LONGEST_LABEL:
        return "left side"
    try:
        MathTextParser("path").parse(label)
    except ValueError:  # matplotlib knows only part of LaTeX
        return "left side"
    return label


def _judged(claim: Claim, series: Series, right_is_known: bool, left_samples, right_samples) -> Comparison:
    """The evidence of the last round: an e-value where the left side is non-negative and the right side is not random."""
    worst, relation = series.worst_ratio, claim.statement.relation

    def without_e_value(why: str) -> Comparison:
        verdict = "consistent" if worst <= 1 else "undecided"
        return Comparison(claim.id, verdict, f"worst ratio of the means {worst:.3g}; no e-value: {why}", worst, 1.0, series)

    if not series.decides:
        return Comparison(claim.id, "undecided", series.note, worst, 1.0, series)
    for side, samples in ((series.left[-1], left_samples), (series.right[-1], right_samples)):
        if not np.isclose(samples.mean(), side, rtol=1e-9, atol=1e-300):
            return without_e_value("a side is not a mean over runs")
    if relation != "<=":
        return without_e_value(f"it tests statements with <=, and this one has {relation}")
    if not right_is_known:
        return without_e_value("which free clients count is random, and so is the right side")
    if left_samples.min() < -1e-12:
        return without_e_value("the left side may be negative")
    limit, samples = max(float(right_samples[0]), 0.0), np.maximum(left_samples, 0.0)
    e_value, wanted = float(e_values(samples, limit)[-1]), more_samples(samples, limit)
    if e_value > REFUTES:
        verdict, reason = "refuted", f"e-value {e_value:.3g} at the last round"
    elif worst > 1:
        more = f"about {wanted} more seeds" if wanted else "more seeds"
        verdict, reason = "undecided", f"e-value {e_value:.3g}: {more} would decide"
    else:
        verdict, reason = "consistent", f"worst ratio left/right {worst:.3g}"
    return Comparison(claim.id, verdict, reason, worst, e_value, series, tested=True)
