"""Referee one claim and replay what was found in exact fractions.

    python demos/find_a_counterexample.py [CLAIM [DIRECTORY]]
"""

import sys
from pathlib import Path

from bounds.printing.render import show
from bounds.registry.claims import find_claim
from fedtheory.registry import find_algorithm
from verify.growth.check import check_file
from verify.referee.referee import referee


def main(claim_id: str = "fedalign/theorem-1", directory: str = "report") -> None:
    claim = find_claim(claim_id)
    print(show(claim, method=find_algorithm(claim.procedure.base) if claim.procedure else None))
    for verdict in referee([claim], budget="quick", out=Path(directory)):
        print(f"{verdict.verdict}: {verdict.evidence}")
        if verdict.certificate:
            result = check_file(Path(directory) / verdict.certificate)
            print(f"{'accepted' if result.accepted else 'rejected'}: left {result.left}, right {result.right}")


if __name__ == "__main__":
    main(*sys.argv[1:])
