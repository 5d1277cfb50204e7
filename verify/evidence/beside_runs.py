"""Compares both sides of a claim along sampled runs of a method: a series for a figure, and the evidence that it gives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Self

import numpy as np
import sympy as sp

from bounds.language.claim import Claim, Condition, names_in
from bounds.language.operators import E, E_round
from fedtheory import AllClients, Always, PriorityOnly
from synthetic.base.display import RichDisplay
from synthetic.numbers.arrays import namespace, to_numpy
from verify.claims.implicit import all_hypotheses
from verify.claims.named import claim as claim_of
from verify.claims.needs import speaks_of_samples
from verify.evaluation.environment import UNMEASURED, Environment, NamedArray, UnboundName
from verify.evaluation.evaluate import sides
from verify.evaluation.judge import unmet
from verify.evaluation.term_sizes import sizes_of_sides
from verify.evidence.beside_worst import with_worst_case
from verify.evidence.coupled import CoupledRuns
from verify.evidence.eprocess import REFUTES, confidence_band, e_values, more_samples
from verify.evidence.open_numbers import at_values, hidden_constants, least_constant, order_statement
from verify.evidence.runs import Runs
from verify.exact.replay import worst_of
from verify.results.verdict import Series

__all__ = ["Comparison", "compare"]

_ROUNDING = 1e-11  # of the terms of both sides
_LONGEST_LABEL = 90  # characters of LaTeX that fit beside an axis
_NOT_OF_RUNS = {"available", "epsilon"}  # the procedures are compared by who is available; no threshold is below 0
_INDICES = {"r": "round", "t": "local iteration", "k": "client", "l": "layer"}


@dataclass(frozen=True)
class Comparison(RichDisplay):
    """Both sides of a claim along sampled runs.

    ``verdict`` is ``refuted``, ``consistent``, ``undecided`` or ``not applicable``; ``reason`` says why in one line.
    ``series`` holds the left side with the 95 % band of its mean, and the bound, over the rounds or over the statement's
    first index; also where a hypothesis fails or the runs are another method's, which its note says. It is None where a name
    has no value on these runs. ``tested``: the samples of the last round form an e-value; otherwise ``e_value`` is 1.
    ``runs``: the name of the method that ran.
    """

    claim: str
    verdict: str
    reason: str
    ratio: float | None = None
    e_value: float = 1.0
    series: Series | None = None
    tested: bool = False
    runs: str = ""

    def _summary(self) -> str:
        return f"{self.claim} beside runs of {self.runs}: {self.verdict}"

    def _table(self):
        yield from (("reason", self.reason), ("worst ratio left/right", "none" if self.ratio is None else self.ratio))
        yield "e-value", self.e_value if self.tested else "none"
        yield "runs", "none" if self.series is None else self.series.title

    def _svg(self):
        return "" if self.series is None else self.series._svg()

    def plot(self, path: str | Path | None = None, *, ax=None, beside: Sequence[Self] = ()):
        """Draws bound and measurement as ``path``, in the format of its ending (.svg, .pdf, .png; all three without one),
        and returns the paths; or into the matplotlib axes ``ax``, which it returns. ``beside``: other comparisons in the
        same figure."""
        from verify.results.drawing import save_as
        from verify.results.figures import bound_and_measurement, bounds_and_measurements

        if (path is None) == (ax is None):
            raise ValueError(f"plot needs a path or ax; got {'neither' if path is None else 'both'}")
        for each in (self, *beside):
            if each.series is None:
                raise ValueError(f"nothing to draw: {each.reason}")
        if beside:
            shown = (self, *beside)
            figure = bounds_and_measurements([each.series for each in shown], [each.runs for each in shown], ax=ax)
        else:
            figure = bound_and_measurement(self.series, ax=ax)
        return save_as(figure, path) if ax is None else ax


def compare(claim: Claim | str, trajectory, points: int = 24, values: Mapping[str, float] | None = None,
            replacements: Sequence[tuple] | None = None, worst: bool = False, device: str | None = None,
            dtype: str | None = None) -> Comparison:
    """Evaluates both sides of a claim about runs along a trajectory of many seeds, of any method, on any federation.

    Args:
        claim: a claim, its id or ``FILE:ID``.
        trajectory: from :func:`fedtheory.run`. Its runs are made again, which takes about as long as they did.
        points: at how many rounds a statement about the end of a run is evaluated. One with indices is evaluated at all
            values of its first index, where the others are worst.
        values: of the claim's free numbers. A number that the run determines has that value: an argument of the method, or
            one that an equation ties to the step size. Others are 1, moved into the bounds of the hypotheses.
        replacements: of a claim about given neighbouring data sets, what is replaced, as (client, sample, features, target)
            each; by default some samples, see :class:`verify.evidence.coupled.CoupledRuns`.
        worst: whether to draw the exact worst case too: the largest left side of all functions of the claim's class with the
            sizes, constants and steps of the runs. There is one of statements with <= about the end of a run, over the first
            rounds; the note says why there is none.
        device, dtype: where and in which numbers the runs are made again, as for :func:`fedtheory.run`. Runs in float32 are
            drawn and decide nothing: their rounding may be what exceeds a bound. ``dtype="float64"`` makes them decide, on
            the federation's numbers as float32 has them.

    The bound is evaluated with the federation's constants. One that depends on an estimated constant decides nothing, and
    neither does one of which a hypothesis fails or that is about another method; all are drawn. A number that the claim
    says to exist has the value that ``values`` or the runs give it, or else the witness, or else the best of some in its
    interval; that one value fails decides nothing. Constants hidden in O(.) have the least value with which the bound holds
    along these runs.

    Raises:
        LookupError: unknown claim id. ValueError: a claim that is not about runs, or about neighbouring data sets of
            clients without samples; a trajectory that cannot be made again; a name in ``values`` that the claim does not
            leave free; a device that this machine does not have. ImportError: ``worst`` without the solver.
    """
    claim, values = claim_of(claim), dict(values or {})
    if claim.setting != "run":
        raise ValueError(f"{claim.id} is not about runs; its setting is {claim.setting!r}")
    if claim.statement is None:
        raise ValueError(f"{claim.id} has no two sides to compare")
    if replacements is not None and not speaks_of_samples(claim):
        raise ValueError(f"{claim.id} is not about runs on neighbouring data sets; allowed: replacements=None")
    free = [v.name for v in claim.variables] + ([] if claim.exists is None else [claim.exists.name])
    if unknown := sorted({*values} - {*free}):
        raise ValueError(f"{claim.id} does not leave {unknown[0]!r} free; free: {', '.join(free) or 'none'}")

    trajectory = trajectory.to(device, dtype)

    def runs_of(claim: Claim, values: Mapping[str, float]) -> Runs:
        if speaks_of_samples(claim):
            return CoupledRuns(claim, trajectory, values, replacements)
        return Runs(claim, trajectory, values)

    if claim.exists is None:
        return _beside(runs_of(claim, values), points, worst)
    found = [_of_one_value(claim, _beside(runs_of(one.claim, one.values), points, worst), one.text)
             for one in at_values(claim, runs_of, values)]
    return min(found, key=lambda one: (("consistent", "undecided", "not applicable").index(one.verdict),
                                       np.inf if one.ratio is None else one.ratio))


def _of_one_value(claim: Claim, found: Comparison, text: str) -> Comparison:
    """The comparison of a claim that a number exists from that of one value: that it fails there decides nothing."""
    with_it = f"with {claim.exists.name} {text}"
    found = replace(found, claim=claim.id, reason=f"{with_it}: {found.reason}", e_value=1.0, tested=False)
    if found.series is None:
        return found
    title = f"{found.series.title}, {with_it}"
    if found.verdict == "consistent" or found.ratio <= 1:
        return replace(found, series=replace(found.series, title=title))
    note = found.series.note or f"another {claim.exists.name} may do"
    verdict = "undecided" if found.verdict == "refuted" else found.verdict
    return replace(found, verdict=verdict, reason=f"{found.reason}; another {claim.exists.name} may do",
                   series=replace(found.series, title=title, decides=False, note=note))


def _beside(runs: Runs, points: int, worst: bool) -> Comparison:
    claim = runs.claim
    try:
        found = _compared(runs, points)
    except UNMEASURED as error:
        said = error.args[0] if error.args else type(error).__name__
        found = Comparison(claim.id, "not applicable", f"a side has no value on these runs: {said}")
    if worst and found.verdict != "not applicable":
        found = replace(found, series=with_worst_case(runs, found.series))
    return replace(found, runs=runs.algorithm.name)


@np.errstate(all="ignore")  # bounds outside of the papers' conditions may be infinite, or have no value
def _compared(runs: Runs, points: int) -> Comparison:
    claim, statement, rounds = runs.claim, runs.claim.statement, runs.trajectory.rounds
    defined = _given_the_past(claim)
    formulas = [statement.left, statement.right, *(claim.definitions[name].formula for name in defined & claim.names)]
    if runs.random and not all(_sampled(formula, defined) for formula in formulas):
        raise UnboundName("a function of a mean given the past, which sampled runs do not have")
    environment = runs.environment(rounds)
    why_not = runs.other or _unmet(claim, environment)
    hidden, shorter = hidden_constants(claim, runs.values), {rounds: environment}
    if statement.over:
        x, label = _values_of_index(statement, environment)
        open_constants = _take_least(runs, hidden, [environment])
        left, right, samples = _along_index(runs, environment)
    else:
        few = np.arange(1, rounds + 1) if rounds <= points else np.geomspace(1, rounds, points)
        horizons = np.unique(few.round().astype(int)).tolist()
        shorter |= {horizon: runs.environment(horizon) for horizon in horizons if horizon != rounds}
        x, label = [h for h in horizons if why_not or h == rounds or not _unmet(claim, shorter[h])], "round"
        open_constants = _take_least(runs, hidden, [shorter[horizon] for horizon in x])
        left, right, samples = zip(*(_at_end(runs, shorter[horizon]) for horizon in x), strict=True)
        samples = np.stack(samples, axis=-1)
    band = confidence_band(samples[0])[1:] if len(samples) else [np.full(len(left), np.nan)] * 2
    left, right, *band = (np.asarray(side, dtype=float) for side in (left, right, *band))
    there = ~(np.isnan(left) | np.isnan(right))
    if not there.any():
        raise UnboundName(_why_without_value(claim, environment))
    estimated = [name for name in runs.estimates(environment) if _depends_on(name, runs, environment)]
    unsure = f"the bound uses an estimate of {', '.join(estimated)}" if estimated else runs.unsure
    note = why_not or (f"{unsure}, so it decides nothing" if unsure else open_constants)
    title = ", ".join(filter(None, [
        runs.trajectory.description, f"{runs.count} seed{'s' * (runs.count > 1)}", runs.said]))
    series = Series(
        title, label, _label(claim), np.asarray(x)[there].tolist(), *(side[there].tolist() for side in (left, right)),
        *([side[there].tolist() for side in band] if len(samples) else ([], [])),
        decides=not note, note=note, relation=statement.relation)
    if note:
        verdict = "not applicable" if why_not else "undecided"
        return Comparison(claim.id, verdict, note, series.worst_ratio, 1.0, series)
    return _comparison(runs, series, samples)


def _take_least(runs: Runs, hidden: list[str], environments: list[Environment]) -> str:
    """Give constants hidden in O(.) the least value that the bound admits in these environments, or 1 where there is none;
    says so in words."""
    if not hidden:
        return ""
    called = f"the hidden constant{'s' * (len(hidden) > 1)} {', '.join(hidden)} may be any"
    try:
        order = order_statement(runs.claim)
        least = least_constant(order.relation, (_sides(runs, one, order) for one in environments))
    except NotImplementedError as why:
        return f"{called}; drawn for 1: {why}"
    if not 0 < least < np.inf:
        return f"{called}, and none does: what it multiplies vanishes where the left side does not; drawn for 1"
    for name in hidden:
        for one in environments:
            one.bound[name] = NamedArray(one.backend.array([[[least]]]))
    kind = "least" if order.relation == "<=" else "largest"
    return f"{called}; drawn for {least:.4g}, the {kind} that these runs admit"


# both sides ----------------------------------------------------------------------------------------------------------------
def _without_pasts(formula, random: bool):
    """The formula with what stands in means given the past in place of these: the mean over runs comes last. Where runs do
    not differ it is the mean."""
    return formula.replace(E_round, lambda inner, *_: inner if random else E(inner))


def _given_the_past(claim: Claim) -> frozenset[str]:
    """Names that the claim defines by means given the past."""
    found, before = frozenset(), None
    while found != before:
        before = found
        found = frozenset(name for name, rule in claim.definitions.items()
                          if rule.formula.has(E_round) or names_in(rule.formula) & found)
    return found


def _sampled(side, defined: frozenset[str]) -> bool:
    """Whether means given the past of a round are only added, summed and multiplied by other terms: the mean over runs of
    that is the one of what stands in them."""
    def has(formula):
        return formula.has(E_round) or bool(names_in(formula) & defined)

    if isinstance(side, E_round | sp.Symbol | sp.Indexed) or not has(side):
        return True
    factors = [a for a in side.args if not isinstance(a, sp.Tuple) and has(a)]
    if isinstance(side, sp.Mul) and len(factors) > 1:
        return False
    return isinstance(side, sp.Add | sp.Mul | sp.Sum | E) and all(_sampled(factor, defined) for factor in factors)


def _of_means(claim: Claim) -> bool:
    """Whether the statement is about means over chance, and not about every outcome."""
    return any(formula.has(E, E_round) for formula in (claim.statement.left, claim.statement.right, *(
        rule.formula for name, rule in claim.definitions.items() if name in claim.names)))


def _sides(runs: Runs, environment: Environment, statement: Condition | None = None):
    """Both sides of the claim's statement, or of another one, (1, runs | 1, 1, one axis per index), and where they apply.
    Those about means are means over runs. Sides that differ by rounding are equal."""
    claim, without = runs.claim, partial(_without_pasts, random=runs.random and not runs.coupled)
    statement = claim.statement if statement is None else statement
    statement = replace(statement, left=without(statement.left), right=without(statement.right))
    environment = replace(environment, definitions={
        name: replace(rule, formula=without(rule.formula)) for name, rule in environment.definitions.items()})
    left, right, mask = sides(statement, environment)
    terms = sum(sizes_of_sides(statement, environment)[:2])
    if runs.coupled:  # means are taken by the claim's own words; what has no value in these runs is left out
        mask = mask & ~namespace(left).isnan(left + right)
    elif _of_means(claim) and environment.noise_weight is not None:
        left, right, terms = (namespace(side).mean(side, axis=1, keepdims=True) for side in (left, right, terms))
    xp = namespace(left)
    left, right, terms = xp.broadcast_arrays(left, right, terms)
    return xp.where((terms < np.inf) & (xp.abs(left - right) <= _ROUNDING * terms), right, left), right, mask


def _why_without_value(claim: Claim, environment: Environment) -> str:
    bound = ((name, environment.bound.get(name)) for name in sorted(claim.names))
    unknown = [repr(name) for name, leaf in bound if leaf is not None and np.isnan(to_numpy(leaf.data)).any()]
    if unknown:
        return f"nothing supplies {', '.join(unknown)}"
    return "the statement has no index in its range" if claim.statement.over else "a side is infinite"


def _at_end(runs: Runs, environment: Environment):
    """Both sides at the end of the runs, and of each single run, (2, runs)."""
    (left,), (right,) = worst_of(runs.claim.statement, *_sides(runs, environment), largest=True)
    if runs.coupled:
        return left, right, np.empty((0,))
    single = _sides(runs, replace(environment, noise_weight=None))[:2]
    return left, right, np.stack([np.broadcast_to(to_numpy(side).reshape(-1), (runs.count,)) for side in single])


def _along_index(runs: Runs, environment: Environment):
    """Both sides by the first index, where the other ones are worst, and of each single run, (2, runs, values of the index);
    the latter is empty where the statement is not about means or has other indices."""
    claim = runs.claim
    left, right = worst_of(claim.statement, *_sides(runs, environment), largest=True)
    if runs.coupled or not (runs.random and _of_means(claim) and len(claim.statement.over) == 1):
        return left, right, []
    single = _sides(runs, replace(environment, noise_weight=None))[:2]
    shape = runs.count, len(left)
    return left, right, np.stack([np.broadcast_to(to_numpy(side).reshape(-1, side.shape[-1]), shape) for side in single])


def _values_of_index(statement, environment: Environment):
    """The values of the statement's first index, and what it counts."""
    index, low, high = statement.over[0]
    low, high = (int(end.subs({s: environment.sizes[s.name] for s in end.free_symbols})) for end in (low, high))
    return np.arange(low, high + 1), _INDICES.get(str(index), str(index))


def _unmet(claim: Claim, environment: Environment) -> str | None:
    """The first hypothesis, written or implicit, that the runs violate or cannot be checked for, in words; None where there
    is none."""
    checkable, absent = [], _NOT_OF_RUNS | {*claim.constants} - environment.bound.keys()
    implicit = all_hypotheses(claim)[len(claim.hypotheses):]
    present = (c for c in implicit if not (names_in(c.left) | names_in(c.right)) & absent)
    for condition in (*claim.hypotheses, *present):
        try:
            sides(condition, environment)
        except UNMEASURED as error:
            if {str(condition.left), str(condition.right)} & {"G_sq", "noise_bound"}:
                continue  # known a priori, or marked as an estimate
            return f"cannot check {condition.left} {condition.relation} {condition.right} on these runs: {error}"
        checkable.append(condition)
    return unmet(checkable, environment)


def _depends_on(name: str, runs: Runs, environment: Environment) -> bool:
    """Whether the statement depends on a number; one that defines others counts."""
    defines = any(name in names_in(condition.right) for condition in environment.by_definition)
    if defines or name not in environment.bound or environment.bound[name].indices:
        return True
    kept, values = environment.bound[name], []
    for number in (0.0, 1.0):
        environment.bound[name] = NamedArray(environment.backend.array([[[number]]]))
        values.append([np.nan_to_num(side) for side in worst_of(runs.claim.statement, *_sides(runs, environment))])
    environment.bound[name] = kept
    return not np.array_equal(*values)


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


def _comparison(runs: Runs, series: Series, samples) -> Comparison:
    """The evidence: of the last round an e-value, where the left side is a mean of numbers of at least 0 and the right side
    is not random. ``samples``: both sides of single runs, (2, runs, points), or empty."""
    claim, worst, relation = runs.claim, series.worst_ratio, series.relation
    selection = runs.algorithm.selection
    right_is_known = isinstance(selection.matching, AllClients | PriorityOnly) and isinstance(selection.free, Always)

    def without_e_value(why: str) -> Comparison:
        if worst <= 1:
            return Comparison(claim.id, "consistent", f"worst ratio {worst:.3g}; no e-value: {why}", worst, 1.0, series)
        above = f"the left side is {'not equal to' if relation == '==' else 'beyond'} the right one, worst ratio {worst:.3g}"
        if runs.coupled and runs.random:
            above = f"{above}, in means over {runs.count} seeds; fedtheory verify {claim.id} decides"
        elif not _of_means(claim) or not runs.random:
            above = f"{above}, in single runs, up to rounding; fedtheory verify {claim.id} decides"
        elif len(samples):
            _, low, high = confidence_band(samples[0] - samples[1])
            beyond = {"<=": low > 0, ">=": high < 0, "==": (low > 0) | (high < 0)}[relation].any()
            above = f"{above}, {'beyond' if beyond else 'within'} its 95 % band; fedtheory verify {claim.id} decides"
        return Comparison(claim.id, "undecided", f"{above}; no e-value: {why}", worst, 1.0, series)

    if not runs.coupled and not (runs.random and runs.by_chance):
        return without_e_value("runs without chance are one observation")
    if not runs.independent:
        return without_e_value("runs from several starts share seeds")
    if claim.statement.over or not len(samples):
        return without_e_value("the means are over runs on neighbouring data sets" if runs.coupled else
                               "the statement is one about every value of its index")
    samples = samples[..., -1]
    if not np.isfinite(samples).all():
        return without_e_value("a run has no finite sides")
    for side, of_runs in ((series.left[-1], samples[0]), (series.right[-1], samples[1])):
        if not np.isclose(of_runs.mean(), side, rtol=1e-9, atol=1e-300):
            return without_e_value("a side is not a mean over runs")
    if relation != "<=":
        return without_e_value(f"it tests statements with <=, and this one has {relation}")
    if not right_is_known:
        return without_e_value("which free clients count is random, and so is the right side")
    if samples[0].min() < -1e-12:
        return without_e_value("the left side may be negative")
    if not np.allclose(samples[1], samples[1][0], rtol=1e-9):
        return without_e_value("the right side is random")
    limit, numbers = max(float(samples[1][0]), 0.0), np.maximum(samples[0], 0.0)
    e_value, wanted = float(e_values(numbers, limit)[-1]), more_samples(numbers, limit)
    if e_value > REFUTES:
        verdict, reason = "refuted", f"e-value {e_value:.3g} at the last round"
    elif worst > 1:
        more = f"about {wanted} more seeds" if wanted else "more seeds"
        verdict, reason = "undecided", f"e-value {e_value:.3g}: {more} would decide"
    else:
        verdict, reason = "consistent", f"worst ratio left/right {worst:.3g}"
    return Comparison(claim.id, verdict, reason, worst, e_value, series, tested=True)
