"""``python -m benchmarks.peers``: run every peer through every case, write ``results.json`` and ``docs/peers.md``.

``--setup`` first creates the environments under ``.peers/``; ``--python-of PEER=INTERPRETER`` uses another one.
``--only PEER`` (repeatable) runs some peers and keeps the recorded results of the others.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import platform
import sys

from benchmarks.peers import HERE, PEERS, ROOT, environments
from benchmarks.peers.cases import CASES, measure
from benchmarks.peers.findings import FINDINGS
from benchmarks.peers.report import page

RESULTS, PAGE = HERE / "results.json", ROOT / "docs" / "peers.md"


def plan(peer):
    """(method, case, corrections) of everything to run."""
    runs = []
    for case in CASES.values():
        for method in case.methods:
            if method not in peer.methods or ("eta_g" in case.hyper and method not in peer.server_step):
                continue
            if case.name == "option I" and peer.name != "pfl":
                continue
            runs.append((method, case.name, ()))
    for finding in FINDINGS:
        for case in finding.cases if finding.peer == peer.name else ():
            runs.extend((finding.method, case, tuple(sorted(column.corrections))) for column in finding.columns)
    return list(dict.fromkeys(runs))


def short(value):
    """Three digits; None for what is not finite, since JSON has no word for it."""
    return float(f"{value:.3g}") if math.isfinite(value) else None


def run_peer(peer, python=None):
    runs = plan(peer)
    jobs = [CASES[case].job(method, corrections) for method, case, corrections in runs]
    results, about = peer.run_all(jobs, python)
    by_run = dict(zip(runs, results, strict=True))
    rows = []
    for (method, case, corrections), job, result in zip(runs, jobs, results, strict=True):
        if isinstance(result, str):
            raise RuntimeError(f"{peer.title}, {method}, {case}: {result}")
        fedavg = by_run.get(("FedAvg", case, ())) if method == "FedProx" else None
        numbers = {key: short(value) for key, value in measure(job, result, fedavg).items()}
        rows.append({"method": method, "case": case, "corrections": list(corrections), **numbers})
    kept = {key: about[key] for key in ("python", "places")}
    return {"version": peer.version, "rounding": peer.rounding, **kept, "runs": rows}


def run_ours():
    """fedtheory's own methods against the reference."""
    from benchmarks.peers import ours

    rows = []
    for case in CASES.values():
        for method in case.methods:
            job = case.job(method)
            result = ours.run(job)
            if result is not None:
                rows.append({"method": method, "case": case.name, "deviation": short(measure(job, result)["deviation"])})
    return rows


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--setup", action="store_true", help="create the environments first")
    parser.add_argument("--python-of", action="append", default=[], metavar="PEER=INTERPRETER")
    parser.add_argument("--only", action="append", choices=sorted(PEERS), metavar="PEER")
    options = parser.parse_args(arguments)
    pythons = dict(item.split("=", 1) for item in options.python_of)
    if unknown := sorted(set(pythons) - set(PEERS)):
        parser.error(f"--python-of: unknown peer {unknown[0]!r}; known: {', '.join(PEERS)}")
    chosen = [peer for name, peer in PEERS.items() if not options.only or name in options.only]
    if options.setup:
        environments.create([peer for peer in chosen if peer.name not in pythons])
    record = json.loads(RESULTS.read_text(encoding="utf-8")) if options.only and RESULTS.exists() else {"peers": {}}
    record["date"] = datetime.date.today().isoformat()
    record["python"] = platform.python_version()
    record["ours"] = run_ours()
    for peer in chosen:
        print(f"{peer.title} {peer.version} ...", flush=True)
        record["peers"][peer.name] = run_peer(peer, pythons.get(peer.name))
    record["peers"] = {name: record["peers"][name] for name in PEERS if name in record["peers"]}
    RESULTS.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(record), encoding="utf-8")
    print(f"wrote {RESULTS.relative_to(ROOT)} and {PAGE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
