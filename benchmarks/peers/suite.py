"""The conformance suite on every method of every peer: as installed, with one fault at a time, and corrected."""

import contextlib
from dataclasses import dataclass, field
from unittest import mock

from benchmarks.peers import PEERS, Peer
from benchmarks.peers.cases import ALPHA, RHO_PROX
from benchmarks.peers.conformance import Answers, maker, traits_of
from benchmarks.peers.findings import FINDINGS
from fedtheory.testing import Case, check_algorithm
from fedtheory.testing import properties_declared as declared
from fedtheory.testing import properties_participation as participation
from fedtheory.testing import properties_symmetry as symmetry

__all__ = ["FEDERATIONS", "Row", "check", "result", "rounded", "rows_of", "run_suite"]

COMPARING = (declared, participation, symmetry)  #: modules whose properties compare numbers
CLIENTS_SHOW_DUALS, SERVER_SHOWS_DUAL = ("fluke", "flgo", "fedlab"), ("flgo", "fedlab")
#: all clients, two of four clients a round, and one client
FEDERATIONS = (
    Case(clients=3, dim=2, local_steps=2, runs=1),
    Case(clients=4, dim=2, rounds=4, local_steps=2, participants=2, runs=1, seed=1),
    Case(clients=1, dim=1, rounds=2, local_steps=1, runs=1, seed=4),
)
FLOAT32 = 1e-5  #: of the largest number, where a peer computes in single precision


@dataclass(frozen=True)
class Row:
    """One call of ``check_algorithm``."""

    peer: str
    method: str
    arguments: dict = field(default_factory=dict)
    corrections: tuple[str, ...] = ()


def hyper_of(peer: Peer, method: str) -> dict:
    """The further arguments of a peer's method, with their default values."""
    own = {"FedProx": {"rho_prox": RHO_PROX}, "FedDyn": {"alpha": ALPHA}}.get(method, {})
    option = {"option": "II"} if (peer.name, method) == ("pfl", "SCAFFOLD") else {}
    return own | ({"eta_g": 1.0} if method in peer.server_step else {}) | option


def keeps_of(peer: Peer, method: str) -> tuple[str, ...]:
    """The control state that a peer's adapter reads."""
    if method == "SCAFFOLD":
        return ("client_variate", "server_variate")
    if method == "FedDyn":
        shown = {"client_dual": CLIENTS_SHOW_DUALS, "server_dual": SERVER_SHOWS_DUAL}
        return tuple(name for name, peers in shown.items() if peer.name in peers)
    return ()


def rows_of(peer: Peer) -> list[Row]:
    """All rows of a peer: every method, SCAFFOLD with a server step of 1/2 and its options too, each also corrected."""
    rows = []
    for method in peer.methods:
        settings = [{}, *([{"eta_g": 0.5}] if method == "SCAFFOLD" and method in peer.server_step else [])]
        settings += [{"option": "I"}] if "option" in hyper_of(peer, method) else []
        for arguments in settings:
            rows.append(Row(peer.name, method, arguments))
            for finding in findings_of(peer.name, method, arguments):
                corrected = {finding.columns[-1].corrections, *(c.corrections for c in finding.columns[1:])}
                rows += [Row(peer.name, method, arguments, tuple(sorted(c)))
                         for c in sorted(corrected) if "dual-sign" not in c]
    return list({(row.method, tuple(row.arguments.items()), row.corrections): row for row in rows}.values())


def findings_of(peer: str, method: str, arguments: dict) -> list:
    """The findings that concern a method with these arguments."""
    found = [f for f in FINDINGS if (f.peer, f.method) == (peer, method)]
    if method == "SCAFFOLD":
        option = arguments.get("option") == "I"
        found = [f for f in found if f.correction.endswith("option-I") == option]
        found = [f for f in found if f.correction != "server-step" or "eta_g" in arguments]
    return found


@contextlib.contextmanager
def rounded(tolerance: float):
    """Properties compare to at least this tolerance, for peers in single precision; 0 leaves them as they are."""
    with contextlib.ExitStack() as stack:
        for module in COMPARING if tolerance else ():
            stack.enter_context(mock.patch.object(module, "same", loosened(module.same, tolerance)))
        yield


def loosened(same, tolerance: float):
    def loose(expected, got, what, given=1e-9, *rest, **named):
        return same(expected, got, what, max(given, tolerance), *rest, **named)

    return loose


def check(answers: Answers, peer: Peer, row: Row, **how):
    """The report on one row."""
    hyper, keeps = hyper_of(peer, row.method), keeps_of(peer, row.method)
    method = maker(answers, row.method, hyper, keeps, row.corrections, f"{peer.title} {row.method}")
    with rounded(FLOAT32 if peer.rounding > 1e-9 else 0):
        return check_algorithm(method, arguments=row.arguments, traits=traits_of(row.method, hyper, keeps),
                               **{"federations": FEDERATIONS} | how)


def result(row: Row, report) -> dict:
    """A report as plain data."""
    failed = [{"property": r.name, "what": r.reason, "expected": r.expected, "got": r.got, "case": str(r.case)}
              for r in report.failed]
    return {"method": row.method, "arguments": row.arguments, "corrections": list(row.corrections),
            "passed": [r.name for r in report.those("passed")], "failed": failed}


def run_suite(name: str, python=None) -> list[dict]:
    """All rows of the peer of that name, in one process of it."""
    peer = PEERS[name]
    with peer.serve(python) as ask:
        answers = Answers(ask)
        return [result(row, check(answers, peer, row)) for row in rows_of(peer)]
