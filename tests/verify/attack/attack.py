"""Attacks certificates with random mutants: ``python -m tests.verify.attack.attack`` (``make attack``).

Takes certificates of claims of every paper, kind and method, changes them at random, and lets the checker judge. What only
fails because its recorded sides are not those of the changed instance gets the right sides, and is judged again. Every
mutant that is accepted is judged by an exact evaluation that shares no code with the checker: both must agree that it
refutes the claim. Of proofs, the statement is changed too, and half of the mutants get multipliers that the solver finds for
what they say then; of one that is accepted, random federations must not break the statement, of a proof for every number of
clients or of rounds at several such numbers. Numbers are tied to the rounds or clients that a proof has for every value of,
ranges emptied, scopes widened (:mod:`tests.verify.attack.scopes`). The prover tries lemmas without a side condition
(:mod:`tests.verify.attack.side_conditions`). Reports also what takes long and what raises.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from bounds.controls.fedavg import CLASS, control
from bounds.language.claim import Claim, Condition, Procedure
from bounds.language.words import norm2, rounds, x_round, x_star
from bounds.registry.claims import all_claims, find_claim
from bounds.registry.user_claims import load_claims
from synthetic.numbers.balls import Undecided
from tests.verify.attack.every_round import attack_rounds
from tests.verify.attack.mutants import damaged, mutant
from tests.verify.attack.other_kinds import of_other_kinds
from tests.verify.attack.random_statements import attack_statements
from tests.verify.attack.scopes import attack_scopes, proofs_of_many
from tests.verify.attack.second_opinion import disproves, refutes, restated
from tests.verify.attack.side_conditions import attack_side_conditions
from verify.checker.form import STATED, sized, stated
from verify.checker.proof import FORMAT as PROOF
from verify.checker.run import METHODS
from verify.exact.check import CheckResult, replay_alone
from verify.exact.check import check as check_single
from verify.growth.certificate import FORMAT as GROWTH
from verify.growth.check import check as check_growth
from verify.growth.check import check_file
from verify.growth.order import with_constant
from verify.letters.every_number import EveryNumber
from verify.letters.letters import Letters
from verify.referee.decide import Settings, decide
from verify.worst.program import programs
from verify.worst.proof import proof
from verify.worst.proven import PLACES
from verify.worst.worst_case import worst_case

__all__ = ["Outcome", "attack", "certificates", "main", "of_every_method", "proofs"]

LONGEST = 20.0  # seconds of the processor that the checker may take for a mutant
MOST_LETTERS = 24  # of a mutant for which a proof is looked for

#: claims whose proofs are changed: their sizes and numbers
PROVEN = {
    "classical/gd-distance": {"mu": Fraction(1, 10), "eta_l": Fraction(1, 2)}, "classical/gd-nonconvex": {},
    "classical/sgd-distance": {}, "classical/sgd-value": {}, "classical/drift-convex": {"eta": Fraction(1, 4)},
    "classical/fedavg-round": {}, "classical/fedavg-round-dissimilar": {}, "classical/scaffold-nonconvex": {},
    "li2020/theorem-1": {}, "li2020/lemma-2": {},
}


class Outcome(Counter):
    """How many mutants were judged how; ``wrong`` holds what must not happen, as pairs (why, mutant)."""

    def __init__(self):
        super().__init__()
        self.wrong: list[tuple[str, Any]] = []
        self.slowest = 0.0


def _checked(data: Mapping[str, Any], claim: Claim) -> CheckResult:
    kind = data.get("format") if isinstance(data, Mapping) else None
    if kind == PROOF:
        return replay_alone(data)
    return (check_growth if kind == GROWTH else check_single)(data, claim)


def proofs() -> Iterator[tuple[dict[str, Any], Claim]]:
    """Proofs and their claims, of some numbers of clients and of every number."""
    asked = [(find_claim(name), given, None) for name, given in PROVEN.items()]
    asked += [(claim, {}, PLACES[1]) for claim in load_claims(Path(__file__).parent / "proven.toml")]
    for claim, given, place in asked:
        for onwards in (False, True):
            one = worst_case(claim, given, place, factors=False, onwards=onwards)
            assert one.certificate is not None, f"{claim.id} is not proven"
            if one.onwards or not onwards:
                yield json.loads(json.dumps(one.certificate)), claim


def _proven_anew(data: dict[str, Any]) -> dict[str, Any]:
    """The mutant of a proof with multipliers that the solver finds for what it says; as it is where it finds none."""
    try:
        stated(data)
        setting, = data["settings"]
        sizes = sized(data | setting)
        values = (setting[name] for name in ("values", "unknown", "weights"))
        kind, degree = (EveryNumber, {"degree": setting["degree"]}) if "degree" in setting else (Letters, {})
        letters = kind({part: data[part] for part in STATED}, sizes, *values, **degree)
        with np.errstate(all="ignore"):
            asked = programs(letters, [data["statement"]])
            if max((given.whole.large for given, *_ in asked), default=0) > MOST_LETTERS:
                return data
            if len(asked) > len(setting["proofs"]) + 2:
                return data
            found = [proof(*each) for each in asked]
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        return data
    if any(multipliers is None for multipliers in found):
        return data
    anew = [{name: str(number) for name, number in each.items()} for each in found]
    return data | {"settings": [setting | {"proofs": anew}]}


def _confirmed(data: Mapping[str, Any], claim: Claim) -> bool:
    """Whether the engine agrees, of growth for every member. Raises ValueError where it cannot tell of a proof."""
    if data["format"] == PROOF:
        return not disproves(data, restated(data, claim), 0)
    if data["format"] != GROWTH:
        return refutes(data, claim)
    return all(refutes(member["certificate"], with_constant(claim, member["constant"])) for member in data["members"])


def attack(given: Sequence[tuple[dict[str, Any], Claim]], count: int, seed: int) -> Outcome:
    """Judge ``count`` mutants of certificates, each given with its claim."""
    outcome, rng = Outcome(), random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mutant.json"
        for _ in range(count):
            certificate, claim = rng.choice(given)
            if rng.random() < 0.05:
                text = damaged(json.dumps(certificate), rng)
                path.write_text(text, encoding="utf-8")
                _judge(outcome, text[:200], lambda: _of_file(path))
                continue
            data = mutant(certificate, rng)
            if isinstance(data, dict) and data.get("format") == PROOF and rng.random() < 0.5:
                data = _proven_anew(data)
            result = _judge(outcome, data, lambda data=data, claim=claim: _checked(data, claim))
            if result is not None and not result.accepted and "recorded values" in result.reason and "left" in data:
                data |= {"left": result.left, "right": result.right}
                result = _judge(outcome, data, lambda data=data, claim=claim: _checked(data, claim))
            if result is not None and result.accepted:
                same = data == certificate
                outcome["unchanged" if same else "accepted"] += 1
                if not same:
                    _second(outcome, data, claim)
    return outcome


def _of_file(path: Path) -> CheckResult:
    try:
        return check_file(path)
    except ValueError as error:
        return CheckResult(False, str(error))


def _judge(outcome: Outcome, data: Any, judge) -> CheckResult | None:
    began = time.process_time()
    outcome["judged"] += 1
    try:
        result = judge()
    except Exception as error:  # a defect of ours, whatever it is
        outcome.wrong.append((f"traceback: {type(error).__name__}: {error}", data))
        return None
    seconds = time.process_time() - began
    outcome.slowest = max(outcome.slowest, seconds)
    if seconds > LONGEST:
        outcome.wrong.append((f"{seconds:.0f} seconds", data))
    return result


def _second(outcome: Outcome, data: Mapping[str, Any], claim: Claim) -> None:
    try:
        agrees = _confirmed(data, claim)
    except Undecided:
        outcome["undecided"] += 1
        return
    except Exception as error:
        if data["format"] == PROOF:  # there is no claim that says what it says
            outcome["not judged"] += 1
            return
        outcome.wrong.append((f"accepted, and the engine raises {type(error).__name__}: {error}", data))
        return
    outcome["confirmed" if agrees else "wrong"] += 1
    if not agrees:
        outcome.wrong.append(("accepted, but the engine does not agree", data))


def of_every_method() -> Iterator[tuple[dict[str, Any], Claim]]:
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


def certificates(directory: Path | None, seed: int) -> Iterator[tuple[dict[str, Any], Claim]]:
    """Certificates and their claims: those of a report, or of refuted claims of every paper, setting and method, decided
    afresh."""
    if directory is not None:
        for path in sorted((directory / "certificates").glob("*.json")):
            data = json.loads(path.read_text(encoding="utf-8"))
            if (claim := all_claims().get(data["claim"])) and _checked(data, claim).accepted:
                yield data, claim
        return
    groups: dict[tuple, list[Claim]] = {}
    for claim in all_claims().values():
        if claim.statement is not None:
            base = claim.procedure.base if claim.procedure else ""
            options = () if claim.procedure is None else tuple(map(str, claim.procedure.options))
            kind = (claim.paper, claim.setting, claim.explicit, base, options, claim.compares != ())
            groups.setdefault(kind, []).append(claim)
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        for claims in groups.values():
            for claim in rng.sample(claims, min(len(claims), 8)):
                verdict = decide(claim, Settings(federations=False, out=Path(folder)))
                if verdict.certificate:
                    yield json.loads((Path(folder) / verdict.certificate).read_text(encoding="utf-8")), claim
                    break


def main(arguments: Sequence[str] | None = None) -> int:
    """Attack, and print how many mutants were judged how; status 1 if anything was wrong."""
    parser = argparse.ArgumentParser(prog="make attack", description=__doc__.split("\n")[0])
    parser.add_argument("--mutants", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--report", type=Path, help="a directory with certificates, instead of claims decided afresh")
    options = parser.parse_args(arguments)
    given = [*certificates(options.report, options.seed), *of_every_method(), *of_other_kinds(), *5 * [*proofs()]]
    methods = {data["procedure"]["base"] for data, _ in given if data.get("setting") == "run"}
    print(f"{len(given)} certificates of {len(methods)} methods; without any: {', '.join(sorted(METHODS.keys() - methods))}")
    outcome = attack(given, options.mutants, options.seed)
    print(f"{dict(outcome)}; slowest {outcome.slowest:.1f} s; wrong: {len(outcome.wrong)}")
    judged, wrong = attack_scopes([*proofs_of_many()], options.mutants // 10, options.seed)
    print(f"scopes: {dict(judged)}; wrong: {len(wrong)}")
    outcome.wrong += wrong
    judged, wrong = attack_rounds(options.mutants // 20, options.seed)
    print(f"every number of rounds: {dict(judged)}; wrong: {len(wrong)}")
    outcome.wrong += [("proven for every number of rounds, and false", each) for each in wrong]
    judged, wrong = attack_side_conditions()
    print(f"lemmas without a side condition: {dict(judged)}; wrong: {len(wrong)}")
    outcome.wrong += [("proven without a side condition, and false", each) for each in wrong]
    judged, wrong = attack_statements(options.mutants // 10, options.seed)
    print(f"random statements about numbers: {dict(judged)}; wrong: {len(wrong)}")
    outcome.wrong += [("proven of numbers, and false", each) for each in wrong]
    for why, data in outcome.wrong[:20]:
        print(why)
        print("  ", json.dumps(data, default=str)[:2000])
    return 1 if outcome.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
