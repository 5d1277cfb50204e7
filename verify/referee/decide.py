"""From a claim to its verdict: proof of ill-posedness, symbolic proof, search, given federations, samples."""

from __future__ import annotations

import json
import logging
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from bounds.language.claim import Claim, Procedure
from synthetic.numbers.arrays import NUMPY, Backend
from verify.evaluation.environment import UnboundName
from verify.exact.certificate import certificate, check, not_replayed
from verify.exact.replay import series_of
from verify.growth.decide import order_evidence
from verify.instances.shape import Shape
from verify.prove.illposed import conflict
from verify.prove.prove import prove
from verify.results.files import file_name, write_json
from verify.results.verdict import Verdict, ratio
from verify.search.budget import BUDGETS
from verify.search.search import Found, search

__all__ = ["Settings", "decide"]


@dataclass(frozen=True)
class Settings:
    """How to referee: budget name, seeds per sampled run, device, random seed, directory for certificates."""

    budget: str = "quick"
    seeds: int = 64
    device: str = "cpu"
    seed: int = 0
    out: Path | None = None
    command: str = ""
    federations: bool = True

    def __post_init__(self):
        if self.budget not in BUDGETS:
            raise ValueError(f"unknown budget {self.budget!r}; allowed: {', '.join(BUDGETS)}")
        if self.seeds < 2:
            raise ValueError(f"seeds must be at least 2; got {self.seeds}")


def decide(claim: Claim, settings: Settings) -> Verdict:
    """The verdict on one claim, from evidence only."""
    began = time.perf_counter()
    verdict, worst, evidence, details, path, series = _evidence(claim, settings)
    return Verdict(
        claim.id, claim.reading, claim.kind, verdict, worst, evidence, path,
        settings.command or f"fedtheory verify {claim.id} --budget {settings.budget} --seed {settings.seed}",
        settings.seed, round(time.perf_counter() - began, 3), details, series,
    )


def _evidence(claim: Claim, settings: Settings):
    found_conflict = conflict(claim)
    if found_conflict:
        details = {"conflict": list(found_conflict.parts), "proof": found_conflict.proof}
        return "ill-posed", None, found_conflict.proof, details, None, ()
    if not claim.explicit:
        return order_evidence(claim, settings)
    try:
        backend = NUMPY if settings.device == "cpu" else Backend("torch", settings.device)
        found = search(claim, BUDGETS[settings.budget], settings.seed, backend)
    except UnboundName as missing:
        return "undecided", None, f"not measured yet: {missing}", {}, None, ()
    except (ValueError, LookupError, NotImplementedError, TypeError) as reason:
        if (claim.procedure or Procedure()).base == "fedavg" and not _own_variables(claim):
            raise
        return "undecided", None, f"not measured yet: {type(reason).__name__}: {reason}", {}, None, ()
    proof = prove(claim)
    if found.violation:
        if proof:
            raise RuntimeError(f"{claim.id}: a proof and a counterexample contradict each other: {proof}")
        return _refuted(claim, found, settings)
    details: dict[str, Any] = {"instances": {"tried": found.tried, "met": found.met}}
    if found.unconfirmed:
        details["unconfirmed"] = found.unconfirmed
    if proof:
        details["proof"] = proof.expression
        return "certified", found.ratio, proof.method, details, None, ()
    if found.uncertain:
        return "undecided", found.ratio, found.uncertain, details, None, ()
    return _unrefuted(claim, found, settings, details)


def _own_variables(claim: Claim) -> bool:
    """Whether a claim speaks of sizes that instances do not have yet."""
    sizes = {size for v in claim.variables for _, size in v.indices}
    return not sizes <= {*Shape().as_sizes(), *(v.name for v in claim.variables)}


def _refuted(claim: Claim, found: Found, settings: Settings):
    violation, details = found.violation, {"instances": {"tried": found.tried, "met": found.met}}
    seen = f"exact arithmetic finds left side {_short(violation.left)} against right side {_short(violation.right)}"
    unknown = not_replayed(claim)
    if unknown:
        text = f"{seen}; the stand-alone checker does not replay {unknown}, so nothing confirms it independently"
        return "undecided", None, text, details, None, ()
    try:
        data = json.loads(json.dumps(
            certificate(claim, violation.shape, violation.leaves, violation.environment, violation.left, violation.right)
        ))
    except (ArithmeticError, TypeError, ValueError) as reason:
        return "undecided", None, f"{seen}; it cannot be written down: {reason}", details, None, ()
    result = check(data)
    if not result.accepted:  # one of our two implementations errs
        logging.getLogger(__name__).error("%s: the stand-alone checker rejects what the search found: %s", claim.id,
                                          result.reason)
        text = f"{seen}; the stand-alone checker rejects it: {result.reason}"
        return "undecided", None, text, details | {"disagreement": result.reason, "instance": data}, None, ()
    path = None
    if settings.out is not None:
        path = f"certificates/{file_name(claim.id)}.json"
        write_json(Path(settings.out) / path, data)
    worst = ratio(float(violation.left), float(violation.right), claim.statement.relation)
    evidence = (f"counterexample: left side {_short(violation.left)}, right side {_short(violation.right)} "
                f"({_in_words(claim, data)})")
    return "refuted", worst, evidence, details | {"instance": data}, path, series_of(data, claim, NUMPY)


_SHORT_BITS = 73  # of a fraction that is printed as it is: about 22 digits


def _short(value) -> str:
    short = isinstance(value, Fraction) and value.numerator.bit_length() + value.denominator.bit_length() <= _SHORT_BITS
    return str(value) if short else f"{float(value):.6g}"


def _in_words(claim: Claim, data: dict) -> str:
    sizes = data["sizes"]
    if claim.setting == "algebra":
        return "numbers in the certificate"
    words = [f"{sizes['clients']} client{'s' * (sizes['clients'] > 1)}", f"dimension {sizes['dim']}"]
    if claim.setting == "run":
        words.append(f"{sizes['rounds']} round{'s' * (sizes['rounds'] > 1)} of {sizes['local_steps']} local "
                     f"step{'s' * (sizes['local_steps'] > 1)}")
        if "atoms" in data["instance"]:
            atoms = data["instance"]["atoms"]
            return ", ".join([*words, f"{sizes['samples']} of {len(atoms[0])} possible samples per client"])
        words.append("with noise" if any(data["instance"]["noise"]) else "no noise")
    return ", ".join(words) + _numbers_in_words(data["instance"])


def _numbers_in_words(instance: dict) -> str:
    """Curvatures, centers and weights of a few clients in one dimension; longer instances stand in the certificate."""
    columns = {"curvatures": "curvature", "centers": "center", "weights": "client_weight"}
    rows = {word: [c[0] if isinstance(c, list) else c for c in instance[name]] for word, name in columns.items()}
    if "pieces" in instance:
        rows["pieces (slope, center, width)"] = [
            ", ".join(f"({', '.join(piece)})" for piece in client[0]) for client in instance["pieces"]]
    text = "; ".join(f"{word} {', '.join(values)}" for word, values in rows.items())
    if len(instance["center"][0]) > 1 or len(text) > 120:
        return ""
    start = f"; start {instance['start_offset'][0]} from the optimum" if "start_offset" in instance else ""
    return f"; {text}{start}"


def _unrefuted(claim: Claim, found: Found, settings: Settings, details):
    from verify.evidence.federations import on_federations, sampled

    worst, series, said = found.ratio, (), []
    if settings.federations:
        rows = on_federations(claim, settings)
        details["federations"] = rows
        worst = max([worst, *(r["ratio"] for r in rows if r["met"])])
        if any(r["violated"] for r in rows):
            text = "float64 sees a violation on " + ", ".join(r["name"] for r in rows if r["violated"])
            return "undecided", worst, text + "; an exact replay would decide", details, None, ()
        said += [f"{len(rows)} data federation{'s' * (len(rows) > 1)}"] if rows else []
        samples = sampled(claim, settings)
        series = samples.series
        if samples.rows:
            details["sampled"] = samples.rows
            worst = max([worst, *(r["ratio"] for r in samples.rows if r["decides"])])
            said.append(f"{len(samples.rows)} sampled runs")
            said += [f"on {r['name']}, {r['reason']}" for r in samples.rows if "would decide" in r["reason"]]
        if samples.refuted_by:
            details["e_value"] = samples.e_value
            text = (f"expectation exceeds the bound on {samples.refuted_by}: e-value {samples.e_value:.3g}, "
                    "which under the claim has probability below 1e-6")
            return "refuted", worst, text, details, None, series
    if not found.met:
        text = f"none of {found.tried} instances met the hypotheses; a family that meets them would decide"
        return "undecided", None, text, details, None, series
    text = f"no violation in {found.met} instances that meet the hypotheses (of {found.tried} tried)"
    return "consistent", worst, "; ".join([text, *said]), details, None, series
