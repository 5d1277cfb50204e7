"""``docs/peers.md`` from the record of a run."""

import textwrap

from benchmarks.peers import ALL_FOUR, PEERS
from benchmarks.peers.cases import ALPHA, CASES, CLIENTS, DIM, ETA_L, RHO_PROX
from benchmarks.peers.findings import FINDINGS
from fedtheory.testing.foreign import DIVIDES, OPTIMUM, REASONS

__all__ = ["page"]

INTRO = """# Other implementations on exact federations

Written by `python -m benchmarks.peers` on {date} (Python {python}) from `benchmarks/peers/results.json`. `make peers`
installs the versions pinned in `benchmarks/peers/requirements-*.txt` under `.peers/` and repeats everything, numbers
included; `--python-of PEER=INTERPRETER` takes an installation that is already there.

The federation: {clients} clients in {dim} dimensions,
F_i(x) = 1/2 (x - c_i)^T A_i (x - c_i) with A_i of random eigenvectors and eigenvalues in [1/2, 2], full gradients, equal
weights, local step {eta}, proximal weight {rho}, FedDyn's alpha {alpha}. Each package runs its own client and server
code; the quadratic reaches it as a model with one parameter vector, a sum-of-squares loss and d samples a client.

*Deviation* is the largest distance of a coordinate of the global model from the reference
(`benchmarks/peers/reference.py`) over all rounds, divided by the start's distance from the optimum; *gap* is the last
model's distance from the optimum, likewise. fedtheory's own methods deviate from the reference by at most {ours}
({which}; all clients taking part).

A package *agrees* where it deviates by rounding only in every case that it supports:

{cases}
"""

CONVENTIONS = """## Conventions, not faults

Choices that a paper leaves open, or that a package states; the runs above set them alike.

- Averages weigh clients by their number of samples (FedJAX, Fluke by option, Flower, FLGo by option) or equally (FedLab,
  pfl without a weighting postprocessor). The federations here have equal weights.
- FedJAX averages a batch's losses, so the loss handed to it is d times each sample's share of F_i.
- Fluke's FedDyn divides alpha by the client's share of the samples times the number of clients (1 here) and clips gradients
  at norm 5 unless told otherwise; the runs set clipping to 0. Its loader leaves out a batch of one sample unless
  `skip_singleton` is False, as here.
- FLGo's FedProx draws clients with replacement by their number of samples when not all take part; the runs force the
  same participants on everyone.
- pfl keeps model changes in single precision; its rounding is that of float32.
- Flower has no client of its own: for FedAvg the runs use plain gradient steps, for FedProx the lines that the
  strategy's docstring gives.
- FedDyn's local problem is solved by K gradient steps in all of them, and the server's variable is used after its update,
  which is the original order.

## What stands in for missing packages

FedJAX 0.0.17 calls `jax.tree_map`, which newer JAX has only as `jax.tree_util.tree_map`; the adapter puts the name
back. torchvision, torchmetrics, data-set, logging, plotting and privacy-accounting packages that the others import but
that no tested method calls are replaced by empty modules; each adapter's first lines name them.
"""


def number(value) -> str:
    if value > 1e6:
        return f"diverges ({value:.0e})" if value < float("inf") else "diverges"
    return f"{value:.1e}" if 0 < value < 0.01 or value >= 100 else f"{value:.2g}"


def table(head, rows) -> str:
    """Rows of texts in Markdown."""
    first, *others = (f"| {' | '.join(cells)} |".replace("|  |", "| |") for cells in (head, *rows))
    return "\n".join([first, "|---" * len(head) + "|", *others])


def find(record, peer, method, case, corrections=()):
    for run in record["peers"][peer]["runs"]:
        if (run["method"], run["case"], run["corrections"]) == (method, case, sorted(corrections)):
            return {key: float("inf") if value is None else value for key, value in run.items()}
    return None


def agrees(record, peer, run):
    return run["deviation"] <= record["peers"][peer]["rounding"]


def overview(record):
    rows = []
    for name, found in record["peers"].items():
        cells = [f"{PEERS[name].title} {found['version']}"]
        for method in ALL_FOUR:
            runs = [run for case in CASES if (run := find(record, name, method, case))]
            wrong = [run["case"] for run in runs if not agrees(record, name, run)]
            numbers = [i for i, f in enumerate(FINDINGS, 1) if (f.peer, f.method) == (name, method)]
            if not runs:
                cells.append("-")
            elif not wrong:
                cells.append(f"agrees ({number(max(run['deviation'] for run in runs))})")
            elif "all clients" not in wrong:
                cells.append(f"fault {numbers[0]} ({' and '.join(wrong)}); else agrees")
            else:
                cells.append(f"faults {', '.join(map(str, numbers))}" if len(numbers) > 1 else f"fault {numbers[0]}")
        rows.append(cells)
    return table(["", *ALL_FOUR], rows)


def notices(record):
    """Which cases notice which faulty implementation."""
    pairs = list(dict.fromkeys((f.peer, f.method) for f in FINDINGS if f.peer in record["peers"]))
    titles = [f"{PEERS[peer].title} {method}" for peer, method in pairs]
    rows = []
    for case in CASES:
        cells = [case]
        for peer, method in pairs:
            run = find(record, peer, method, case)
            cells.append("-" if run is None else "agrees" if agrees(record, peer, run) else number(run["deviation"]))
        rows.append(cells)
    return table(["case", *titles], rows)


MEASURES = {
    "deviation": "deviation",
    "gap": "gap",
    "sum_gap": "server's variable from the clients' mean",
    "gradient_gap": "control variates from the gradients at the optimum",
    "from_fedavg": "distance from its own FedAvg",
}


def shown(case, method, key, runs):
    """Whether a measure says something in this case."""
    if any(key not in run for run in runs):
        return False
    if key in ("gap", "gradient_gap"):
        return CASES[case].converges
    if key == "sum_gap":
        return max(run[key] for run in runs) > 0.01 and CASES[case].participants is None and not CASES[case].converges
    return True


def proof(record, finding):
    rows = []
    for case in finding.cases:
        runs = [find(record, finding.peer, finding.method, case, column.corrections) for column in finding.columns]
        for key, name in MEASURES.items():
            if shown(case, finding.method, key, runs):
                rows.append([case, name, *(number(run[key]) for run in runs)])
    return table(["case", "measure", *(column.says for column in finding.columns)], rows)


def section(record, i, finding):
    found, peer = record["peers"][finding.peer], PEERS[finding.peer]
    places = " and ".join(f"`{place.split('site-packages/')[-1]}`" for place in found["places"][finding.correction])
    return "\n\n".join(
        (
            f"### {i}. {peer.title} {found['version']}, {finding.method}: {finding.headline}",
            textwrap.fill(f"*Property.* {finding.property}", 120),
            textwrap.fill(f"*Cause*, at {places}. {finding.cause}", 120, break_long_words=False, break_on_hyphens=False),
            proof(record, finding),
        )
    )


# the conformance suite -----------------------------------------------------------------------------------------------------
SUITE = """## The conformance suite on every package

`python -m benchmarks.peers --conformance` asks `fedtheory.testing.check_algorithm` about every method above, as a
`PeerMethod` (`benchmarks/peers/conformance.py`) that runs the package from the recorded start, with the participants that
the suite draws, and takes over its models and the control state that it shows. The federations are the suite's quadratics
with full gradients and equal weights: 3 clients, 2 of 4 clients a round, one client, and whatever a property makes of
them. The promises are those of our methods: translation, orthogonal maps, units, the way to the optimum, special cases
(gradient descent, FedAvg, and always our method of that name), conservation of the control state. Numbers are compared to
1e-9 (Fluke, FedJAX, FLGo, FedLab, Flower) or 1e-5 (pfl, single precision) of the largest.

Every method passes every property that applies to it, with the exceptions listed; with the corrections of its faults it
passes these too."""


def titled(peer, row) -> str:
    arguments = ", ".join(f"{name}={value}" for name, value in row["arguments"].items())
    return f"{PEERS[peer].title} {row['method']}" + (f" with {arguments}" if arguments else "")


def corrected(rows, row):
    """The same method with all corrections; None where nothing was found."""
    same = [r for r in rows if (r["method"], r["arguments"]) == (row["method"], row["arguments"]) and r["corrections"]]
    return max(same, key=lambda r: len(r["corrections"]), default=None)


def counts(record) -> str:
    lines = []
    for peer, rows in record.items():
        for row in rows:
            if not row["corrections"]:
                last = corrected(rows, row)
                right = "-" if last is None else f"{len(last['failed'])} of {len(last['failed']) + len(last['passed'])}"
                lines.append([titled(peer, row), str(len(row["passed"])), str(len(row["failed"])), right])
    return table(["package and method", "passed", "failed", "failed once corrected"], lines)


def failures(row) -> str:
    keys = ("property", "what", "expected", "got", "case")
    return table(["property", "what differs", "expected", "got", "smallest federation"],
                 [[one[key].replace("|", "\\|") or "-" for key in keys] for one in row["failed"]])


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
    parts = [SUITE, counts(found)]
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


def page(record) -> str:
    rows = record["ours"]
    head = INTRO.format(
        date=record["date"], python=record["python"], clients=CLIENTS, dim=DIM, eta=ETA_L, rho=RHO_PROX, alpha=ALPHA,
        ours=number(max((row["deviation"] for row in rows), default=float("nan"))),
        which=", ".join(dict.fromkeys(row["method"] for row in rows)),
        cases="\n".join(f"- {case.name}: {case.says}" for case in CASES.values()),
    )
    found = [section(record, i, f) for i, f in enumerate(FINDINGS, 1) if f.peer in record["peers"]]
    how = (
        "Each is proved by correcting the line named and nothing else (`CORRECTIONS` of the adapter, applied to a fresh "
        "copy of the\ninstalled module): the corrected package agrees with the reference to rounding. Where a method has "
        "several faults, the\nmiddle column corrects all others."
    )
    parts = [head, "## Overview\n\n" + overview(record), "Deviations of the faulty ones, case by case:", notices(record),
             "## Faults\n\n" + how, *found, *suite(record), CONVENTIONS]
    return "\n\n".join(part.strip() for part in parts) + "\n"
