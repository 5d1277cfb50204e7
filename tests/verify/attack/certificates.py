"""Certificates to attack, each with its claim: of a report or of claims decided afresh, of every method, and proofs."""

import json
import random
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from bounds.controls.fedavg import CLASS, control
from bounds.language.claim import Claim, Condition, Procedure
from bounds.language.operators import norm2, rounds, x_round, x_star
from bounds.registry.claims import all_claims, find_claim
from tests.verify.attack.dropped_hypotheses import to_prove
from verify.checker.run import METHODS
from verify.growth.check import check_file
from verify.referee.decide import Settings, decide
from verify.worst.lengths_proven import lengths_at
from verify.worst.worst_case import worst_case

__all__ = ["SAMPLE", "certificates", "of_every_method", "of_lengths", "proofs"]

Given = Iterator[tuple[dict[str, Any], Claim]]

_EACH = 3  # certificates of a report of each group

#: refuted claims of each paper, of each setting and method, with a counterexample and with growth
SAMPLE = {
    "afedpd": (
        "bernoulli lemma-4-hitting@last+K-draws theorem-1 theorem-1@exact table-9-sgd@fedavg text-unbiased "
        "r-recursion@exact+averaged lemma-2 eq-10@fedavg"),
    "fadamgc": (
        "eq-131a eq-79@second theorem-C.2 theorem-5.2/eq-104 table-1/fedadam@cited-steps eq-144@in-mean+vhat-carry "
        "eq-176@identity sec-5-unit-step eq-110@in-mean eq-96"),
    "fedalign": (
        "step-eq35-as-printed step-T3-as-printed step-eq44-as-printed step-eq47-as-printed lemma-A7@56-literal "
        "step-T13@weights theorem-1"),
    "fedluar": (
        "remark-2@etaT-fixed eq-11-maximum lemma-A.1-geometric eq-9@index-k lemma-A.1-variance@squared-mean "
        "lemma-A.3@literal-domain lemma-A.2-shift@forced"),
    "fedmoswa": (
        "table-1-constants@far-above-one eq-20-exp@sum claim-mo-vs-scaffold@at-most claim-mo-vs-scaffold@theorem-5.2 "
        "eq-107 eq-18 lemma-g.8-martingale@printed mean-of-m@mean "
        "mean-update@all-clients lemma-i.2@assumptions-2-to-5+region lemma-i.1@proof eq-28@second-line "
        "eq-15-unroll@region lemma-g.11"),
}

#: claims with proofs about lengths, and their numbers
LENGTHS_PROVEN = {"classical/local-sgd-stability-distance": {}, "classical/coupled-step-convex": {"rounds": Fraction(1)},
                  "classical/local-sgd-stability-convex": {}, "fedmoswa/eq-23": {"rounds": Fraction(1)}}


def certificates(report: Path | None, seed: int) -> Given:
    """Those of ``SAMPLE``, decided afresh; or a few of each group of a report: of each paper, setting, method and format."""
    if report is None:
        with tempfile.TemporaryDirectory() as folder:
            for claim in (find_claim(f"{paper}/{name}") for paper, names in SAMPLE.items() for name in names.split()):
                verdict = decide(claim, Settings(federations=False, out=Path(folder)))
                assert verdict.certificate, f"{claim.id} is {verdict.verdict}: {verdict.evidence}"
                yield json.loads((Path(folder) / verdict.certificate).read_text(encoding="utf-8")), claim
        return
    paths, taken = sorted((report / "certificates").glob("*.json")), {}
    random.Random(seed).shuffle(paths)
    for path in paths:
        data = json.loads(path.read_text(encoding="utf-8"))
        if claim := all_claims().get(data["claim"]):
            group = group_of(data, claim)
            if taken.get(group, 0) < _EACH and check_file(path).accepted:
                taken[group] = taken.get(group, 0) + 1
                yield data, claim


def group_of(data: dict[str, Any], claim: Claim) -> tuple:
    """What a certificate is like: paper, setting, method with its options, whether it compares bounds, and format."""
    method = (claim.procedure.base, *map(str, claim.procedure.options)) if claim.procedure else ()
    return claim.paper, claim.setting, claim.explicit, claim.compares != (), method, data["format"]


def of_every_method() -> Given:
    """For every method that the checker replays, the refutation of a claim that it is at the optimum in the end."""
    statement = Condition(norm2(x_round[rounds] - x_star), "<=", 0)
    for base in METHODS:
        assumptions = CLASS if base != "fedpara" else ()  # losses of factors are not smooth
        for sampling in ("full", "without-replacement"):
            procedure = Procedure(base, equal_weights=True, sampling=sampling)
            claim = control(f"attack-{base}-{sampling}", "run", statement, assumptions=assumptions, procedure=procedure)
            verdict = decide(claim, Settings(federations=False))
            if verdict.verdict == "refuted":
                yield json.loads(json.dumps(verdict.details["instance"])), claim


def proofs() -> Given:
    """Proofs and their claims, of some numbers of clients and of every number."""
    for claim, given, place in to_prove():
        for onwards in (False, True):
            one = worst_case(claim, given, place, factors=False, onwards=onwards)
            assert one.certificate is not None, f"{claim.id} is not proven"
            if one.onwards or not onwards:
                yield json.loads(json.dumps(one.certificate)), claim


def of_lengths() -> Given:
    """Proofs about lengths and coupled runs, and their claims."""
    for name, given in LENGTHS_PROVEN.items():
        claim = find_claim(name)
        yield json.loads(json.dumps(lengths_at(claim, given, factors=False).certificate)), claim
