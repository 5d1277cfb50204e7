"""Whether stored verdicts are what their certificates show: nothing is believed because it lies in a directory.

A checksum beside a result tells damage alone, as whoever edits the one can write the other. So a verdict that is resumed or
reported is shown again by the stand-alone checker. What has no certificate at all (``consistent``, ``undecided``, and most
words of evidence) is as it was stored.
"""

from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from math import inf, isclose
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from bounds.language.claim import Claim
from bounds.language.witness import witnessed
from bounds.registry.claims import find_claim
from verify.referee.workers import begin
from verify.results.files import read_json
from verify.results.records import as_record
from verify.results.store import CERTIFICATES, KEPT, stored_verdict
from verify.results.verdict import SHOWN, Verdict, ratio

__all__ = ["objection", "replayed"]

_NOT_SHOWN = "a result that was not shown again"
_FEWEST = 48  # verdicts with evidence for which other processes are worth their start
_NEARLY = 1e-6  # relative difference of a ratio from that of sides that are intervals


def replayed(verdicts: Iterable[Verdict], out: str | Path, workers: int = 1) -> list[Verdict]:
    """Mark the verdicts of a report that their certificates do not show; the reason is under ``KEPT`` in details.

    Verdicts that have a mark already, and those on claims that are not known here, are compared with stored results alone.
    ``workers``: processes that replay the certificates of many verdicts.
    """
    verdicts, out = list(verdicts), Path(out)
    asked = {v.id: (v, str(out)) for v in verdicts if KEPT not in v.details and _has_evidence(v)}
    reasons = dict(zip(asked, _reasons([*asked.values()], workers), strict=True))
    reasons = {v.id: _differs(v, out) or reasons.get(v.id, "") for v in verdicts}
    return [_marked(v, reasons[v.id]) for v in verdicts]


def _has_evidence(verdict: Verdict) -> bool:
    return verdict.certificate is not None or verdict.verdict in SHOWN


def _marked(verdict: Verdict, reason: str) -> Verdict:
    if not reason or KEPT in verdict.details:
        return verdict
    return replace(verdict, details=verdict.details | {KEPT: f"{_NOT_SHOWN}: {reason}"})


def _differs(verdict: Verdict, out: Path) -> str:
    """Say whether a verdict of ``verdicts.json`` differs from the result that is stored beside it, if there is one."""
    try:
        kept = stored_verdict(out, verdict.id)
    except ValueError:
        return "the result beside it is damaged"
    if kept is None:
        return ""
    names = ("verdict", "ratio", "evidence", "certificate")
    one, other = as_record(verdict), as_record(kept)
    wrong = [name for name in names if one[name] != other[name]]
    return f"its {', '.join(wrong)} is not that of the result beside it" if wrong else ""


def _reasons(asked: list[tuple[Verdict, str]], workers: int) -> list[str]:
    if workers <= 1 or len(asked) < _FEWEST:
        return [_reason(*one) for one in asked]
    try:
        with ProcessPoolExecutor(workers, get_context("spawn"), initializer=begin) as executor:
            return list(executor.map(_reason, *zip(*asked, strict=True), chunksize=4))
    except BrokenProcessPool:  # too little memory for several
        return [_reason(*one) for one in asked]


def _reason(verdict: Verdict, out: str) -> str:
    try:
        claim = find_claim(verdict.id)
    except LookupError:
        return "its claim is not known here; FEDTHEORY_CLAIMS names files of claims"
    certificate = None
    if verdict.certificate is not None:
        path = Path(out) / CERTIFICATES / Path(verdict.certificate).name
        try:
            certificate = read_json(path, "certificate")
        except ValueError as problem:
            return str(problem)
    return objection(verdict, claim, certificate)


def objection(verdict: Verdict, claim: Claim, certificate: Mapping[str, Any] | None) -> str:
    """Return why the certificate of a claim's verdict does not show it; empty if it does, or if none is needed."""
    if certificate is not None:
        return _not_shown(verdict, claim, certificate)
    return "no certificate shows it" if verdict.verdict in SHOWN else ""


def _not_shown(verdict: Verdict, claim: Claim, certificate) -> str:
    from verify.checker.formats import FORMATS
    from verify.checker.operators import FORMAT as SINGLE
    from verify.exact import check as single
    from verify.growth import check as growth
    from verify.growth.certificate import FORMAT as GROWTH

    def of_kind(shown: str) -> dict:
        return {name: single.check for name, kind in FORMATS.items() if kind == shown}

    refutes, excludes = of_kind("refuted") | {GROWTH: growth.check}, of_kind("ill-posed")
    proves = of_kind("proven")
    named = str(certificate.get("format"))[:60] if isinstance(certificate, Mapping) else ""
    kinds = {("refuted",): refutes, ("ill-posed",): excludes, ("certified", "consistent"): proves}
    shows = next((kinds_of for kinds_of, formats in kinds.items() if named in formats), ())
    if verdict.verdict not in shows:
        return f"its certificate, of the format {named!r}, cannot show that it is {verdict.verdict}"
    about = claim
    if named in proves and claim.exists is not None:
        if why := _witness_not_shown(claim):
            return why
        about = witnessed(claim)
    result = (refutes | proves | excludes)[named](certificate, about)
    if not result.accepted:
        return f"its certificate is rejected: {result.reason}"
    if named in proves:
        return _other_scope(verdict, *single.proof_scope(certificate))
    if named in excludes:
        return _other_conflict(verdict, claim, certificate)
    if named == SINGLE:
        return _other_instance(verdict, certificate, ratio(
            growth.about(certificate["left"]), growth.about(certificate["right"]), claim.statement.relation))
    last = certificate["members"][-1]
    return _other_instance(verdict, last["certificate"],
                           inf if last["constant"] is None else growth.about(last["constant"]))


def _other_scope(verdict: Verdict, scope: str, complete: bool) -> str:
    if verdict.verdict == "certified" and not complete:
        return f"its certificate proves it for {scope} alone"
    if verdict.details.get("scope") != scope or (scope not in verdict.evidence and "witness" not in verdict.details):
        return f"it names other numbers than its certificate, which proves it for {scope}"
    return ""


def _other_instance(verdict: Verdict, instance: Mapping[str, Any], worst: float) -> str:
    if verdict.details.get("instance", instance) != instance:
        return "it shows another instance than its certificate"
    if verdict.ratio is None or not isclose(verdict.ratio, worst, rel_tol=_NEARLY):
        return f"its ratio is {verdict.ratio}, and its certificate has {worst:.6g}"
    return ""


def _witness_not_shown(claim: Claim) -> str:
    from verify.prove.existence import requirements

    if claim.exists.witness is None:
        return "its claim names no value of the number that exists"
    unproven = [one.text for one in requirements(claim) if not one.proof]
    return f"of the value that it names it is not proven that {'; '.join(unproven)}" if unproven else ""


def _other_conflict(verdict: Verdict, claim: Claim, certificate) -> str:
    from verify.referee.ill_posed import conflict_shown

    found = conflict_shown(claim, certificate)
    same = (found.proof, [*found.parts]) == (verdict.evidence, verdict.details.get("conflict"))
    return "" if same else "it names another conflict than the one that is found"
