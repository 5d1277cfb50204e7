"""Takes a claim to its verdict, in stages: conflict, order, search, proof, federations of real data, sampled runs, worst
case."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bounds.language.claim import BY_NUMBER, Claim, Procedure
from bounds.printing.render import condition_text
from synthetic.numbers.arrays import NUMPY, Backend
from verify.claims.entries import are_given_one_by_one
from verify.claims.related import related
from verify.claims.values import without_value
from verify.evaluation.environment import UNMEASURED, NoEntry, UnboundName
from verify.exact.certificate import certificate
from verify.exact.certify import Accepted, Refused, certify
from verify.exact.check import check, proof_scope
from verify.exact.confirm import Violation, is_met
from verify.exact.replay import series_of
from verify.exact.subdivision import subdivided
from verify.growth.decide import order_verdict
from verify.instances.shape import Shape
from verify.instances.shapes import outcomes_beyond
from verify.proofs.steps_there import steps_there
from verify.prove.number_certificates import number_certificate
from verify.referee.ill_posed import by_conflict, by_range, by_value
from verify.referee.witness import by_witness
from verify.referee.wording import describe_instance, on_pieces, short_number
from verify.results.commands import command
from verify.results.verdict import SHOWN, Series, Verdict, ratio
from verify.search.budget import BUDGETS, Budget
from verify.search.failure import Failure, failure_of
from verify.search.real_numbers import no_real_counterexample
from verify.search.search import Found, search
from verify.search.stages import switched_on
from verify.search.unsatisfied_hypotheses import unsatisfied_hypotheses

__all__ = ["FEWEST", "Settings", "decide"]


@dataclass(frozen=True)
class Settings:
    """Settings of the referee.

    ``budget``: a name of ``BUDGETS``. ``seeds``: runs where an expectation is sampled. ``device``: where to compute.
    ``seed``: of all random choices. ``out``: directory of the certificates. ``command``: the command that the verdict names.
    ``federations``: whether to evaluate the claim on real data and on sampled runs. ``without``: names of stages and
    transformations that the search leaves out, for measurements. ``watch``: called after every batch of the search, with the
    stage and what has been seen by then.
    """

    budget: str = "quick"
    seeds: int = 64
    device: str = "cpu"
    seed: int = 0
    out: Path | None = None
    command: str = ""
    federations: bool = True
    without: Sequence[str] = ()
    watch: Callable[[str, Found], None] | None = None

    def __post_init__(self):
        if self.budget not in BUDGETS:
            raise ValueError(f"unknown budget {self.budget!r}; allowed: {', '.join(BUDGETS)}")
        if self.seeds < 2:
            raise ValueError(f"seeds must be at least 2; got {self.seeds}")
        switched_on(self.without)
        if self.out is not None:
            object.__setattr__(self, "out", Path(self.out))

    @property
    def backend(self) -> Backend:
        return NUMPY if self.device == "cpu" else Backend("torch", self.device)


@dataclass
class _Case:
    """A claim on its way through the stages, and what they have found so far."""

    claim: Claim
    settings: Settings
    found: Found = field(default_factory=Found)
    details: dict[str, Any] = field(default_factory=dict)
    ratio: float = 0.0
    series: tuple[Series, ...] = ()
    beside: list[str] = field(default_factory=list)  # in words, what was evaluated besides the search
    conflicts: list[str] = field(default_factory=list)  # in words, what makes it ill-posed, but was not proven
    proof: tuple[str, Accepted] | None = None  # what is proven although the claim is not certified, and the certificate
    failures: list[Failure] = field(default_factory=list)
    outcome: Accepted | None = None  # of the verdict that was reached
    _meets: dict[int, bool] = field(default_factory=dict)  # number of instances looked at -> whether one meets them

    def attempt(self, stage: str, do: Callable, *arguments) -> Any:
        """Call ``do``; an unexpected error ends the stage: it is stored as its failure, and None is returned."""
        try:
            return do(*arguments)
        except Exception as error:
            self.failures.append(failure_of(stage, error))
            return None

    @property
    def meets_somewhere(self) -> bool:
        """Whether some instance on which the claim holds meets the hypotheses, in exact arithmetic too. Without one, they
        may exclude each other."""
        found = self.found
        if not found.some or self.claim.exists is not None:
            return found.met > 0 and not 0 < found.unmet == found.unconfirmed
        if len(found.some) not in self._meets:
            self._meets[len(found.some)] = is_met(self.claim, found.some)
        return self._meets[len(found.some)]

    def verdict(self, kind: str, ratio: float | None, evidence: str, outcome: Accepted | None = None) -> Verdict:
        """A verdict from what has been found, with the certificate that shows it. Raises ValueError where one lacks."""
        if kind in SHOWN and not isinstance(outcome, Accepted):
            raise ValueError(f"{kind} needs a certificate that the checker accepts; got {outcome!r}")
        self.outcome = outcome
        claim, settings, certificate = self.claim, self.settings, outcome and outcome.path
        text = settings.command or command("verify", claim.id, budget=settings.budget, seed=settings.seed)
        return Verdict(claim.id, claim.reading, claim.kind, kind, ratio, evidence, certificate, text, settings.seed,
                       details=self.details, series=self.series)

    def certified(self, text: str, outcome: Accepted) -> Verdict | None:
        """Certified by a proof of all that the claim quantifies over; None, and the proof is noted, if the search saw a
        violation in float64 of which exact arithmetic cannot tell whether it is one."""
        doubts = self.found.doubtful
        if not doubts:
            return self.verdict("certified", self.ratio, text, outcome)
        self.proof = f"{text}, but exact arithmetic cannot tell whether {doubts} of the instances violate it", outcome
        return None

    def proven_for(self, scope: str, complete: bool, outcome: Accepted, how: str = "proven") -> Verdict | None:
        """Certified if the ``scope`` of an accepted proof is ``complete``; else None, and the proof is noted."""
        self.details["scope"] = scope
        if complete:
            return self.certified(f"{how} for {scope}", outcome)
        self.proof = f"{how} for {scope}", outcome
        return None

    def undecided(self, missing: str, ratio: float | None, evidence: str) -> Verdict:
        """Undecided, with a word for what is missing, as in the lists of a report."""
        self.details["missing"] = missing
        return self.verdict("undecided", ratio, evidence)

    def unmeasured(self, reason: Exception) -> Verdict:
        """Undecided, because the search cannot run the claim."""
        if isinstance(reason, NoEntry):
            own = next(iter(without_value(self.claim)), "")
            return self.undecided("measurement", None, own or (
                f"{reason}, on an instance that its conditions admit; a condition on the sizes, such as rounds >= 2, or a "
                "shorter range leaves such instances out"))
        why = str(reason.args[0] if isinstance(reason, KeyError) and reason.args else reason)
        return self.undecided("measurement", None, f"not measured yet: {why}")


def decide(claim: Claim, settings: Settings, so_far: Callable[[str], None] | None = None) -> Verdict:
    """The verdict on one claim, from evidence only: that of the first stage that reaches one.

    An unexpected error ends a stage, not the claim: the other stages go on, and the evidence names the error
    (:mod:`verify.search.failure`). ``so_far``: called after every stage that leaves the claim to the next, with what has
    been found by then, in words.
    """
    return _decided(claim, settings, so_far)[0]


def _decided(claim: Claim, settings: Settings, so_far: Callable[[str], None] | None = None) -> tuple[
        Verdict, Accepted | None]:
    """The verdict on one claim, and the certificate that goes with it."""
    began, case, verdict = time.perf_counter(), _Case(claim, settings), None
    for stage in STAGES if claim.exists is None else OF_EXISTENCE:
        verdict = case.attempt(_NAMES[stage], stage, case)
        if verdict is not None:
            break
        if so_far and case.found.tried:
            so_far(_search_summary(case))
    if verdict is None:
        verdict = case.undecided("error", None, "no stage reached a verdict")
    beside = case.attempt("worst cases beside runs", _beside_worst_case, case, verdict) or ()
    found = "; ".join([verdict.evidence, *(case.conflicts if verdict.verdict in ("consistent", "undecided") else ())])
    verdict = _with_failures(case, replace(verdict, evidence=found, series=(*verdict.series, *beside)))
    return replace(verdict, seconds=round(time.perf_counter() - began, 3)), case.outcome


def _with_failures(case: _Case, verdict: Verdict) -> Verdict:
    """The verdict with the errors that ended stages in its evidence. Where it is undecided, one of them may be the reason,
    and the next run tries the claim again."""
    failures = [*case.found.failures, *case.failures]
    if not failures:
        return verdict
    texts = [*map(str, failures)]
    details = verdict.details | {"failed": [{"stage": f.stage, "error": f.error, "where": f.where} for f in failures]}
    if verdict.verdict == "undecided":
        details |= {"stopped": "; ".join(texts)}
        texts.append("the next run into this directory tries it again")
    return replace(verdict, evidence="; ".join([verdict.evidence, *texts]), details=details)


def _order(case: _Case) -> Verdict | None:
    """The verdict on a claim whose constants are hidden in O(.)."""
    if case.claim.explicit:
        return None
    by_witness(case, _decided)
    verdict = order_verdict(case)
    unmet = case.details.get("instances", {}).get("met") == 0
    return (case.attempt(_NAMES[by_value], by_value, case) if unmet else None) or verdict


def _search(case: _Case) -> Verdict | None:
    """Refuted, if the search finds a violation whose certificate the checker accepts; undecided, if it cannot search."""
    return _searched(case, BUDGETS[case.settings.budget]) if case.claim.explicit else None  # growth would have decided


def _search_without_runs(case: _Case) -> Verdict | None:
    """Searches a claim without runs that nothing proves as far as the standard budget does, because its instances cost next
    to nothing, unless entries of arrays are computed one by one; returns what ``_search`` returns."""
    claim, larger = case.claim, BUDGETS[case.settings.budget].before
    if claim.setting == "run" or not claim.explicit or case.proof or larger or are_given_one_by_one(claim):
        return None
    met = case.found.met
    return _searched(case, BUDGETS["standard"]) or _uncertainty(case) or by_value(case) or (None if met else _proof(case))


def _searched(case: _Case, budget: Budget) -> Verdict | None:
    claim, settings = case.claim, case.settings
    try:
        case.found = search(claim, budget, settings.seed, settings.backend, related(claim),
                            settings.without, settings.watch, case.found)
    except UNMEASURED as reason:
        ours = (claim.procedure or Procedure()).base == "fedavg" and not _has_other_sizes(claim)
        if ours and not isinstance(reason, UnboundName | NoEntry):
            raise
        return case.unmeasured(reason)
    finally:
        found = case.found
        if found.tried:  # of a search that an error ended, too
            case.details["instances"], case.ratio = {"tried": found.tried, "met": found.met}, found.ratio
    case.details.setdefault("instances", {"tried": 0, "met": 0})
    if not found.violation:
        if found.unconfirmed:
            case.details["unconfirmed"] = found.unconfirmed
        return None
    return _refuted(case, found.violation)


def _has_other_sizes(claim: Claim) -> bool:
    """Whether a variable of the claim is indexed by a size that instances do not have."""
    sizes = set().union(*(v.sizes for v in claim.variables))
    return not sizes <= {*Shape().as_sizes(), *(v.name for v in claim.variables)}


def _refuted(case: _Case, violation: Violation) -> Verdict:
    claim, left, right = case.claim, violation.left, violation.right
    sides = f"left side {short_number(left)}", f"right side {short_number(right)}{_too_little_to_print(left, right)}"
    def make_certificate() -> dict:
        data = certificate(claim, violation.environment, left, right)
        return data if claim.exists is None else subdivided(data)

    outcome = case.attempt("the checker", certify, claim, make_certificate, lambda data: check(data, claim),
                           case.settings.out)
    if not isinstance(outcome, Accepted):
        case.details |= outcome.details if outcome else {}
        return case.undecided("checker", None, "; ".join([
            f"exact arithmetic finds {' against '.join(sides)}", *([outcome.why] if outcome else [])]))
    case.details["instance"] = outcome.data
    if claim.steps:
        case.details["steps"] = case.attempt("the steps of the proof", steps_there, claim, outcome.data)
    case.series = case.attempt("drawing the counterexample", series_of, outcome.data, claim, NUMPY) or ()
    worst = max(1.0, ratio(float(left), float(right), claim.statement.relation))  # a strict one fails where both are equal
    words = case.attempt("describing the counterexample", describe_instance, claim, outcome.data)
    evidence = f"counterexample: {', '.join(sides)}{on_pieces(claim, outcome.data)}{f' ({words})' if words else ''}"
    return case.verdict("refuted", worst, evidence, outcome)


def _too_little_to_print(left, right) -> str:
    """Describe by how much the right side is larger or smaller, where both are printed alike."""
    gap = right - left
    if f"{float(left):.6g}" != f"{float(right):.6g}" or gap == 0:
        return ""
    return f", {short_number(abs(gap))} {'more' if gap > 0 else 'less'}"


def _proof(case: _Case) -> Verdict | None:
    """Certified, if the checker accepts a proof about numbers and some instance meets the hypotheses, which else may exclude
    each other. Where there is none, what z3 says is noted."""
    claim = case.claim
    if claim.setting == "run" or not case.meets_somewhere:
        return None
    written = number_certificate(claim)
    outcome = written and certify(claim, lambda: written, lambda data: check(data, claim), case.settings.out)
    if isinstance(outcome, Accepted):
        return case.proven_for(*proof_scope(outcome.data), outcome)
    if no_real_counterexample(claim):
        case.beside.append("z3 finds no counterexample among the reals, but no proof that the checker accepts is known")
    return None


def _witness(case: _Case) -> Verdict | None:
    """Certified, if the claim with its witness put in is."""
    return by_witness(case, _decided)


def _uncertainty(case: _Case) -> Verdict | None:
    """Undecided, if the search saw a violation that exact arithmetic neither confirms nor excludes."""
    return case.undecided("replay", case.ratio, case.found.uncertain) if case.found.uncertain else None


def _federations(case: _Case) -> Verdict | None:
    """Undecided, if floating point sees a violation on a federation of real data."""
    if not case.settings.federations:
        return None
    from verify.evidence.federations import on_federations

    rows = case.details["federations"] = on_federations(case.claim, case.settings)
    case.ratio = max([case.ratio, *(row["ratio"] for row in rows if row["met"])])
    if violated := [row["name"] for row in rows if row["violated"]]:
        text = f"float64 sees a violation on {', '.join(violated)}; an exact replay would decide"
        return case.undecided("replay", case.ratio, text)
    if rows:
        case.beside.append(f"{len(rows)} data federation{'s' * (len(rows) > 1)}")
    return None


def _samples(case: _Case) -> Verdict | None:
    """Undecided, if the e-value of sampled runs is so large that only an exact counterexample lacks for a refutation."""
    if not case.settings.federations:
        return None
    from verify.evidence.federations import sampled

    samples = sampled(case.claim, case.settings)
    case.series = samples.series
    if samples.rows:
        case.details["sampled"] = samples.rows
        case.ratio = max([case.ratio, *(row["ratio"] for row in samples.rows if row["decides"])])
        case.beside.append(f"{len(samples.rows)} sampled runs")
        case.beside += [f"on {row['name']}, {row['reason']}" for row in samples.rows if "would decide" in row["reason"]]
    if not samples.refuted_by:
        return None
    case.details["e_value"] = samples.e_value
    text = (f"expectation exceeds the bound on {samples.refuted_by}: e-value {samples.e_value:.3g}, "
            "which under the claim has probability below 1e-6; an exact counterexample would decide")
    return case.undecided("replay", case.ratio, text)


def _may_be_proven(case: _Case) -> bool:
    """Whether the budget has proofs, some instance meets the hypotheses, and none has a ratio above 1."""
    return BUDGETS[case.settings.budget].proofs and case.ratio <= 1 + _ROUNDING and case.meets_somewhere


def _worst_case(case: _Case) -> Verdict | None:
    """Certified, if there are proofs for all sizes and numbers that the claim admits, and no ratio exceeds 1; proofs at some
    sizes and numbers are noted."""
    if not _may_be_proven(case):
        return None
    from verify.proofs.strategies import proof_of_run

    try:
        found = proof_of_run(case.claim)
    except ImportError as missing:
        case.beside.append(f"no proof was looked for: {missing}")
        return None
    if found.certificate is None:
        case.details["not proven"] = found.reason
        return None
    outcome = certify(case.claim, lambda: found.certificate, lambda data: check(data, case.claim), case.settings.out)
    if isinstance(outcome, Refused):
        case.details["not proven"] = outcome.why
        return None
    return case.proven_for(*proof_scope(outcome.data), outcome)


def _beside_worst_case(case: _Case, verdict: Verdict) -> tuple[Series, ...]:
    """The bound, the exact worst case and runs over a few rounds, of a claim about runs against which nothing was found."""
    claim, asked = case.claim, BUDGETS[case.settings.budget].proofs and verdict.verdict in ("certified", "consistent")
    if not asked or claim.setting != "run":
        return ()
    from verify.worst.claim_figure import few_rounds

    try:
        return few_rounds(claim)
    except ImportError:
        return ()  # said where worst cases were looked for


def _nothing_against_it(case: _Case) -> Verdict | None:
    """Consistent, or undecided if too few instances met the hypotheses."""
    if not case.claim.explicit:  # its growth would have decided
        return None
    found = case.found
    if found.met < FEWEST:
        text = (f"{found.met or 'none'} of {found.tried} instances met the hypotheses and gave both sides a value"
                if found.tried else "no instance was judged")
        needed = f"at least {FEWEST} are needed"
        if not found.met:
            unmet = [condition_text(c, "code") for c in unsatisfied_hypotheses(case.claim, BUDGETS[case.settings.budget])]
            text += f"; none that was looked at again met {' or '.join(unmet)}" if unmet else ""
            needed = next(iter(without_value(case.claim)), "a family that meets them would decide")
            if many := outcomes_beyond(case.claim, BUDGETS[case.settings.budget].most_outcomes):
                text = text.partition(";")[0]
                needed = f"the smallest sizes have {many} outcomes of chance, too many to be listed"
        return case.undecided("instance", case.ratio if found.met else None, f"{text}; {needed}")
    if not case.meets_somewhere:
        return case.undecided("instance", case.ratio, f"float64 takes {found.met} of {found.tried} instances for some that "
                              "meet the hypotheses, and exact arithmetic none that was looked at")
    proven, outcome = case.proof or ("", None)
    text = "; ".join(filter(None, [proven, _search_summary(case), *case.beside]))
    return case.verdict("consistent", case.ratio, text, outcome)


def _search_summary(case: _Case) -> str:
    """Describe what the search has seen without a violation."""
    found = case.found
    spans = ", ".join(f"{name} {low}" if low == high else f"{name} {low} to {high}" for name, (low, high) in _spans(case))
    doubts = f"; exact arithmetic confirms none of {found.unconfirmed} that float64 sees" if found.unconfirmed else ""
    return (f"no violation in {found.met} instances that meet the hypotheses (of {found.tried} tried{'; ' * bool(spans)}"
            f"{spans}{doubts})")


def _spans(case: _Case) -> list[tuple[str, tuple[int, int]]]:
    """The sizes that a reader of the claim knows, with the least and the largest that were looked at."""
    claim, sampled = case.claim, case.claim.procedure is not None and case.claim.procedure.sampling in BY_NUMBER
    used = claim.names.union(*(v.sizes for v in claim.variables if v.name in claim.names))
    vectors = ("dim",) * any(v.domain == "vector" and v.name in used for v in claim.variables)
    names = {"algebra": vectors, "point": ("clients",), "run": _OF_RUNS}[claim.setting]
    names = [name for name in names if name not in ("participants", "layers", "samples") or name in claim.names or (
        name == "participants" and sampled)]
    own = [v.name for v in claim.variables if v.domain == "integer" and not v.indices and v.name in used - {*names}]
    return [(name, case.found.sizes[name]) for name in (*names, *own) if name in case.found.sizes]


#: each returns a verdict, or None and leaves the claim to the next
STAGES = (by_conflict, by_range, _order, _search, by_value, _uncertainty, _proof, _search_without_runs, _federations,
          _samples, _worst_case, _nothing_against_it)

#: how a stage is called in evidence
_NAMES = {by_conflict: "conflicts", by_range: "ranges", _order: "growth", _search: "search",
          _search_without_runs: "a closer search",
          by_value: "values", _proof: "proofs of formulas",
          _witness: "the witness", _uncertainty: "uncertain violations", _federations: "data federations",
          _samples: "sampled runs", _worst_case: "proofs for every function",
          _nothing_against_it: "counting"}

#: those that know what it means that a number exists
OF_EXISTENCE = (by_conflict, by_range, _order, _search, _uncertainty, _witness, _search_without_runs,
                _nothing_against_it)

FEWEST = 8  # instances that meet the hypotheses
_OF_RUNS = ("clients", "participants", "rounds", "local_steps", "samples", "layers")

_ROUNDING = 1e-6  # by which a ratio in floating point may exceed one where a claim holds
