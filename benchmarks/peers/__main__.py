"""``python -m benchmarks.peers``: run every peer through every case, write ``results.json`` and ``docs/peers.md``.

``--setup`` first creates the environments under ``.peers/``; ``--python-of PEER=INTERPRETER`` uses another one.
``--only PEER`` (repeatable) runs some peers and keeps the recorded results of the others. ``--conformance`` puts the peers
through ``fedtheory.testing.check_algorithm`` instead, and keeps the recorded results of the cases.
"""

import argparse
import concurrent.futures
import datetime
import json
import math
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.peers import HERE, PEERS, ROOT
from benchmarks.peers.cases import CASES, measure
from benchmarks.peers.findings import FINDINGS
from benchmarks.peers.report import page

NAMES = {"alpha": "rho_prox"}  #: what our methods call these hyper-parameters
RESULTS, PAGE = HERE / "results.json", ROOT / "docs" / "peers.md"
MARK = "# without dependencies:"


def create(peers) -> None:
    """Create ``.peers/<environment>`` for these peers where it is missing, and install what their files pin."""
    for name in sorted({peer.environment for peer in peers}):
        together = [peer for peer in peers if peer.environment == name]
        interpreter = together[0].default_python
        if not interpreter.exists():
            subprocess.run([sys.executable, "-m", "venv", str(interpreter.parent.parent)], check=True)
        halves = [peer.requirements.read_text(encoding="utf-8").split(MARK) for peer in together]
        for part, options in ((0, []), (1, ["--no-deps"])):
            lines = sorted({line for half in halves for line in half[part].splitlines() if line and line[0] != "#"})
            with tempfile.TemporaryDirectory() as folder:
                wanted = Path(folder, "requirements.txt")
                wanted.write_text("\n".join(lines) + "\n", encoding="utf-8")
                pip = [str(interpreter), "-m", "pip", "install", "--quiet", *options, "-r", str(wanted)]
                subprocess.run(pip, check=True)


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
    with peer.serve(python) as ask:
        results, about = ask(jobs), ask.about
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


def ours(job) -> dict | None:
    """``x`` of a job by our method, or None where it has no such setting (forced participants, a missing argument)."""
    from fedtheory import find_algorithm, run
    from synthetic import Quadratic

    try:
        method = find_algorithm(job["method"].lower())
    except LookupError:
        return None
    hyper = {NAMES.get(key, key): value for key, value in job["hyper"].items()}
    if job["participants"] is not None or set(hyper) - set(method.arguments):
        return None
    algorithm = method.make(eta_l=job["eta_l"], local_steps=job["local_steps"], **hyper)
    problem = Quadratic(np.array([job["curvature"]]), np.array([job["center"]]))
    return {"x": run(algorithm, problem, job["rounds"], start=np.array(job["start"])).dataset.x.values[0]}


def run_ours():
    """Our own methods against the reference, so that agreement with the reference is agreement with ours."""
    jobs = [(method, case, case.job(method)) for case in CASES.values() for method in case.methods]
    return [{"method": method, "case": case.name, "deviation": short(measure(job, result)["deviation"])}
            for method, case, job in jobs if (result := ours(job)) is not None]


def run_cases(record, chosen, pythons, keep: bool):
    """Enter the runs of every case into the record; ``keep`` those of peers that are not chosen."""
    before = record["peers"] if keep else {}
    record |= {"date": datetime.date.today().isoformat(), "python": platform.python_version(), "ours": run_ours()}
    for peer in chosen:
        print(f"{peer.title} {peer.version} ...", flush=True)
        before[peer.name] = run_peer(peer, pythons.get(peer.name))
    record["peers"] = {name: before[name] for name in PEERS if name in before}


def run_conformance(record, chosen, pythons, keep: bool):
    """Enter the conformance suite's outcome into the record, two peers at a time."""
    from benchmarks.peers.suite import run_suite

    before = record.get("conformance", {}) if keep else {}
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        running = {peer.name: pool.submit(run_suite, peer.name, pythons.get(peer.name)) for peer in chosen}
        for name, future in running.items():
            before[name] = future.result()
            print(f"{PEERS[name].title}: {len(before[name])} reports", flush=True)
    record["conformance"] = {name: before[name] for name in PEERS if name in before}


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--setup", action="store_true", help="create the environments first")
    parser.add_argument("--python-of", action="append", default=[], metavar="PEER=INTERPRETER")
    parser.add_argument("--conformance", action="store_true", help="the conformance suite instead of the cases")
    parser.add_argument("--only", action="append", choices=sorted(PEERS), metavar="PEER")
    options = parser.parse_args(arguments)
    pythons = dict(item.split("=", 1) for item in options.python_of)
    if unknown := sorted(set(pythons) - set(PEERS)):
        parser.error(f"--python-of: unknown peer {unknown[0]!r}; known: {', '.join(PEERS)}")
    chosen = [peer for name, peer in PEERS.items() if not options.only or name in options.only]
    if options.setup:
        create([peer for peer in chosen if peer.name not in pythons])
    record = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {"peers": {}}
    (run_conformance if options.conformance else run_cases)(record, chosen, pythons, bool(options.only))
    RESULTS.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(record), encoding="utf-8")
    print(f"wrote {RESULTS.relative_to(ROOT)} and {PAGE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
