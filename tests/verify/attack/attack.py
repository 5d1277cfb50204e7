"""Attacks certificates with random mutants: ``python -m tests.verify.attack.attack`` (``make attack``).

Takes certificates of claims of every paper, kind and method, changes them at random, and lets the checker judge. What only
fails because its recorded sides are not those of the changed instance gets the right sides, and is judged again. Every
mutant that is accepted is judged by an exact evaluation that shares no code with the checker: both must agree that it
refutes the claim. Of proofs, the statement is changed too, and half of the mutants get multipliers that the solver finds for
what they say then; of one that is accepted, random federations must not break the statement, of a proof for every number of
clients or of rounds at several such numbers. Numbers are tied to the rounds or clients that a proof has for every value of,
ranges emptied, scopes widened (:mod:`tests.verify.attack.scopes`), hypotheses dropped
(:mod:`tests.verify.attack.dropped_hypotheses`). The prover tries lemmas without a side condition
(:mod:`tests.verify.attack.side_conditions`). Mutants of proofs about numbers are judged by random exact numbers
(:mod:`tests.verify.attack.numbers`), of proofs that a claim is ill-posed by numbers and federations that meet its hypotheses
(:mod:`tests.verify.attack.ill_posed`), altered facts of theories by random members of the class
(:mod:`tests.verify.attack.altered_facts`). Counts also what takes long and what raises.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from bounds.language.claim import Claim
from tests.verify.attack.altered_facts import attack_facts
from tests.verify.attack.certificates import certificates, of_every_method, of_lengths, proofs
from tests.verify.attack.dropped_hypotheses import attack_hypotheses
from tests.verify.attack.every_round import REFUSED, attack_rounds, holds
from tests.verify.attack.ill_posed import attack_ill_posed
from tests.verify.attack.mutants import damaged, mutant
from tests.verify.attack.numbers import attack_numbers
from tests.verify.attack.other_kinds import of_other_kinds
from tests.verify.attack.random_statements import attack_statements
from tests.verify.attack.scopes import attack_scopes, proofs_of_many
from tests.verify.attack.second_opinion import refutes, restated
from tests.verify.attack.side_conditions import attack_side_conditions
from tests.verify.attack.table import NoOpinion, Table
from verify.checker.length_certificate import FORMAT as LENGTHS
from verify.checker.proof import FORMAT as PROOF
from verify.checker.rounds import FORMAT as EVERY_ROUND
from verify.checker.schema import STATED, sized, stated
from verify.exact.check import CheckResult, replay_alone
from verify.exact.check import check as check_single
from verify.growth.certificate import FORMAT as GROWTH
from verify.growth.check import check as check_growth
from verify.growth.check import check_file
from verify.growth.order import with_constant
from verify.results.fingerprint import code_version
from verify.symbolic.exchangeable_clients import EveryClientCount
from verify.symbolic.symbolic_run import SymbolicRun
from verify.worst.program import programs
from verify.worst.proof import proof

__all__ = ["attack", "kind_of", "main"]

DAMAGED = "file damaged"
MOST_LETTERS = 24  # of a mutant for which a proof is looked for
PROOFS = (PROOF, EVERY_ROUND, LENGTHS)


def _checked(data: dict[str, Any], claim: Claim) -> CheckResult:
    """What the checker says. If only the recorded sides are not those of the changed instance, it gets the right ones."""
    kind = data.get("format") if isinstance(data, Mapping) else None
    check = check_growth if kind == GROWTH else check_single
    result = replay_alone(data) if kind in PROOFS else check(data, claim)
    if not result.accepted and "recorded values" in result.reason and "left" in data:
        data |= {"left": result.left, "right": result.right}
        result = check(data, claim)
    return result


def kind_of(data: Mapping[str, Any]) -> str:
    """The kind of a certificate, in words."""
    if data["format"] == PROOF:
        return f"proof {'for every number of clients' if 'degree' in data['settings'][0] else 'at sizes'}"
    return {GROWTH: "growth", EVERY_ROUND: "proof for every number of rounds", LENGTHS: "proof of lengths"}.get(
        data["format"], "counterexample")


def _proven_anew(data: dict[str, Any]) -> dict[str, Any]:
    """The mutant of a proof with multipliers that the solver finds for what it says; as it is where it finds none."""
    try:
        stated(data)
        setting, = data["settings"]
        sizes = sized(data | setting)
        values = (setting[name] for name in ("values", "unknown", "weights"))
        kind, degree = (EveryClientCount, {"degree": setting["degree"]}) if "degree" in setting else (SymbolicRun, {})
        letters = kind({part: data[part] for part in STATED}, sizes, *values, **degree)
        with np.errstate(all="ignore"):
            asked = programs(letters, [data["statement"]])
            if max((given.whole.effective_size for given, *_ in asked), default=0) > MOST_LETTERS:
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
    """Whether the engine agrees, of growth for every member.

    Raises:
        NoOpinion: it cannot tell of a proof, since no claim says what this one says.
    """
    if data["format"] in PROOFS:
        try:
            return holds(data, restated(data, claim))
        except REFUSED as error:
            raise NoOpinion from error
    if data["format"] != GROWTH:
        return refutes(data, claim)
    return all(refutes(member["certificate"], with_constant(claim, member["constant"])) for member in data["members"])


def attack(given: Sequence[tuple[dict[str, Any], Claim]], count: int, seed: int) -> Table:
    """Judges ``count`` mutants of certificates, each given with its claim."""
    table, rng = Table(), random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mutant.json"
        while table.total("judged") < count:
            certificate, claim = rng.choice(given)
            if rng.random() < 0.05:
                text = damaged(json.dumps(certificate), rng)
                if text == json.dumps(certificate):  # it has nothing of what is damaged
                    continue
                path.write_text(text, encoding="utf-8")
                result = table.judge(DAMAGED, text[:200], lambda: _of_file(path))
                if result is not None and result.accepted:
                    table.accept(DAMAGED, text[:200], lambda text=text, claim=claim: _confirmed(json.loads(text), claim))
                continue
            data, kind = mutant(certificate, rng), kind_of(certificate)
            if certificate["format"] == PROOF and isinstance(data, dict) and rng.random() < 0.5:
                data, kind = _proven_anew(data), f"{kind}, proven anew"
            if json.dumps(data) == json.dumps(certificate):
                continue
            result = table.judge(kind, data, lambda data=data, claim=claim: _checked(data, claim))
            if result is not None and result.accepted:
                table.accept(kind, data, lambda data=data, claim=claim: _confirmed(data, claim))
    return table


def _of_file(path: Path) -> CheckResult:
    try:
        return check_file(path)
    except ValueError as error:
        return CheckResult(False, str(error))


def _page(table: Table, given: Sequence[tuple[dict[str, Any], Claim]], options: argparse.Namespace, seconds: float) -> str:
    """The page in Markdown."""
    methods = {data["procedure"]["base"] for data, _ in given if data.get("setting") == "run"}
    source = "claims decided afresh" if options.report is None else "a report"
    return "\n".join([
        "# Attack on certificates and provers", "",
        "`make attack` writes this page. The checker judges each mutant of a certificate; the prover tries statements about",
        "numbers. Whatever is accepted gets a second opinion: exact evaluation by the engine for counterexamples, random",
        "federations for proofs about runs, numbers of a grid for proofs about numbers. No second opinion: the mutant of a",
        "proof says what no claim says. A wrong acceptance is a fault of the checker or of the prover.", "",
        f"{date.today()}, version {code_version()[:7]}, seed {options.seed}: {len(given)} certificates of {len(methods)}",
        f"methods, of {source}; {seconds:.0f} processor seconds. Faults: {len(table.faults)}.", "",
        table.markdown(), ""])


def main(arguments: Sequence[str] | None = None) -> int:
    """Attacks, prints how many mutants were judged how, and all faults; status 1 if there are any."""
    parser = argparse.ArgumentParser(prog="make attack", description=__doc__.split("\n")[0])
    parser.add_argument("--mutants", type=int, default=10_000, help="of certificates; a tenth as many of each other kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--report", type=Path, help="a report with certificates, instead of claims decided afresh")
    parser.add_argument("--out", type=Path, help="a file for the page, as benchmarks/attack.md")
    options = parser.parse_args(arguments)
    few = max(options.mutants // 10, 1)
    many = [*proofs_of_many()]
    given = [*certificates(options.report, options.seed), *of_every_method(), *of_other_kinds(),
             *5 * [*proofs(), *of_lengths(), *(each for each in many if each[0]["format"] == EVERY_ROUND)]]
    table = Table()
    for part in (lambda: attack(given, options.mutants, options.seed),
                 lambda: attack_scopes(many, few, options.seed), attack_hypotheses,
                 lambda: attack_rounds(max(few // 2, 1), options.seed), attack_side_conditions,
                 lambda: attack_statements(few, options.seed), lambda: attack_numbers(few, options.seed),
                 lambda: attack_ill_posed(few, options.seed), attack_facts):
        table.add(part())
        print(f"{time.process_time():.0f} s: {table.total('judged')} judged, {len(table.faults)} faults", flush=True)
    page = _page(table, given, options, time.process_time())
    print(page)
    for kind, why, data in table.faults[:20]:
        print(f"{kind}: {why}\n  {json.dumps(data, default=str)[:2000]}")
    if options.out:
        options.out.write_text(page, encoding="utf-8")
    return 1 if table.faults else 0


if __name__ == "__main__":
    sys.exit(main())
