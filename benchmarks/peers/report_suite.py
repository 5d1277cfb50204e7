"""The section of ``docs/peers.md`` on the conformance suite, from the record of its run."""

from __future__ import annotations

from benchmarks.peers import PEERS
from benchmarks.peers.conformance import DIVIDES, OPTIMUM, REASONS
from benchmarks.peers.findings import FINDINGS

__all__ = ["suite"]

INTRO = """## The conformance suite on every package

`python -m benchmarks.peers --conformance` asks `fedtheory.testing.check_algorithm` about every method above, as a
`PeerMethod` (`benchmarks/peers/conformance.py`) that runs the package from the recorded start, with the participants that
the suite draws, and takes over its models and the control state that it shows. The federations are the suite's quadratics
with full gradients and equal weights: 3 clients, 2 of 4 clients a round, one client, and whatever a property makes of
them. The promises are those of our methods: translation, orthogonal maps, units, the way to the optimum, special cases
(gradient descent, FedAvg, and always our method of that name), conservation of the control state. Numbers are compared to
1e-9 (Fluke, FedJAX, FLGo, FedLab, Flower) or 1e-5 (pfl, single precision) of the largest.

Every method passes every property that applies to it, with the exceptions listed; with the corrections of its faults it
passes these too."""

PLAIN = """| package and method | passed | failed | failed once corrected |
|---|---|---|---|"""


def titled(peer, row) -> str:
    arguments = ", ".join(f"{name}={value}" for name, value in row["arguments"].items())
    return f"{PEERS[peer].title} {row['method']}" + (f" with {arguments}" if arguments else "")


def corrected(rows, row):
    """The same method with all corrections; None where nothing was found."""
    same = [r for r in rows if (r["method"], r["arguments"]) == (row["method"], row["arguments"]) and r["corrections"]]
    return max(same, key=lambda r: len(r["corrections"]), default=None)


def counts(record) -> str:
    lines = [PLAIN]
    for peer, rows in record.items():
        for row in rows:
            if not row["corrections"]:
                last = corrected(rows, row)
                right = "-" if last is None else f"{len(last['failed'])} of {len(last['failed']) + len(last['passed'])}"
                lines.append(f"| {titled(peer, row)} | {len(row['passed'])} | {len(row['failed'])} | {right} |")
    return "\n".join(lines)


def code(text: str) -> str:
    return text.replace("|", "\\|")


def failures(row) -> str:
    lines = ["| property | what differs | expected | got | smallest federation |", "|---|---|---|---|---|"]
    for one in row["failed"]:
        cells = (one["property"], one["what"], one["expected"], one["got"], one["case"])
        lines.append("| " + " | ".join(code(cell) or "-" for cell in cells) + " |")
    return "\n".join(lines)


def numbered(peer, row) -> str:
    """The faults that are left in a row with some corrections."""
    left = []
    for i, finding in enumerate(FINDINGS, 1):
        if (finding.peer, finding.method) == (peer, row["method"]) and finding.correction not in row["corrections"]:
            others = finding.columns[-1].corrections
            if not row["corrections"] or set(row["corrections"]) & set(others):
                left.append(str(i))
    return f"fault {left[0]}" if len(left) == 1 else f"faults {', '.join(left)}"


def alone(peer, rows, row) -> list[str]:
    """For a method with several faults, which properties notice each of them when the others are corrected."""
    same = [r for r in rows if (r["method"], r["arguments"]) == (row["method"], row["arguments"])]
    full = corrected(rows, row)
    partly = [r for r in same if r["corrections"] and r is not full]
    return [
        f"- {numbered(peer, r)}, all others corrected ({len(r['passed'])} passed): "
        + ("; ".join(f"*{one['property']}* (expected {one['expected']}, got {one['got']})" for one in r["failed"]) or "none")
        for r in partly if len(r["corrections"]) == len(full["corrections"]) - 1
    ]


def suite(record) -> list[str]:
    """The parts of the section; none where the suite has not been run."""
    found = record.get("conformance")
    if not found:
        return []
    parts = [INTRO, counts(found)]
    for peer, rows in found.items():
        for row in rows:
            if row["failed"] and not row["corrections"]:
                each = "\n".join(alone(peer, rows, row) if corrected(rows, row) else [])
                parts += [f"### {titled(peer, row)}: {len(row['failed'])} properties fail", failures(row)]
                parts += ["Properties that fail with one fault alone:", each] if each else []
    why = [f"- {', '.join(names)}: {reason}." for reason, names in REASONS.items()]
    for exempt, methods in ((OPTIMUM, "SCAFFOLD and FedDyn"), (DIVIDES, "SCAFFOLD")):
        why += [f"- {name} ({methods}): {reason}." for name, reason in exempt.items()]
    return [*parts, "### Not asked", "Properties that a black box cannot answer, and why:", "\n".join(why)]
