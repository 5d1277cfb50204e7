"""`fedtheory check` loads no claims where what they state is known, and compares in full where it is not."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from bounds.registry.claims import find_claim
from tests.messages import contains_in_order
from verify.exact import registered
from verify.exact.check import check
from verify.exact.statement import printed_of, statement_of
from verify.prove.contradictions import contradiction

CLAIM = "fedalign/theorem-1@G-everywhere"
HEAVY = {"bounds", "fedtheory", "numpy", "sympy", "synthetic", "torch", "z3"}
RUN = """
import pathlib, sys
from verify.cli.main import main
from verify.exact import registered
registered.FOLDER = pathlib.Path(sys.argv[1])
status = main(sys.argv[2:])
print(status, *sorted({name.partition(".")[0] for name in sys.modules}))
"""


@pytest.fixture
def claim(tmp_path, monkeypatch):
    """A registered claim, and a folder of digests that is empty."""
    monkeypatch.setattr(registered, "FOLDER", tmp_path / "digests")
    monkeypatch.setattr(registered, "_unchanged", lambda: True)
    return find_claim(CLAIM)


@pytest.fixture
def file(claim, tmp_path):
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(contradiction(claim)), encoding="utf-8")
    return path


def in_a_new_process(folder, *arguments):
    """(what the command prints, its exit status, names of the packages that it loads)."""
    done = subprocess.run([sys.executable, "-c", RUN, folder, *arguments], capture_output=True, text=True, check=True)
    *said, last = done.stdout.splitlines()
    status, *names = last.split()
    return "\n".join(said), int(status), {*names}


def test_a_certificate_of_a_known_statement_is_checked_by_the_checker_alone(claim, file, tmp_path):
    assert check(json.loads(file.read_text()), claim).accepted  # compares, and remembers
    said, status, loaded = in_a_new_process(tmp_path / "digests", "check", file)
    assert status == 0 and said.startswith("accepted") and not HEAVY & loaded


def test_a_certificate_is_compared_with_a_file_by_the_checker_alone(claim, file, tmp_path):
    statement = tmp_path / "statement.json"
    statement.write_text(json.dumps(statement_of(claim) | printed_of(claim)), encoding="utf-8")
    said, status, loaded = in_a_new_process(tmp_path / "nothing", "check", file, "--statement", statement)
    assert status == 0 and said.startswith("accepted") and not HEAVY & loaded


def test_what_is_not_known_is_compared_with_the_claim(claim, file, run, tmp_path):
    assert run("check", file)[0] == 0 and len([*(tmp_path / "digests").iterdir()]) == 1
    data = json.loads(file.read_text())
    del data["hypotheses"][-1]
    file.write_text(json.dumps(data), encoding="utf-8")
    assert not registered.states_its_claim(data)
    status, said, _ = run("check", file)
    assert status == 1 and contains_in_order(said, "rejected …does not state what …hypotheses")


def test_a_proof_that_fails_is_rejected_where_the_statement_is_known(claim, file, run):
    assert run("check", file)[0] == 0
    data = json.loads(file.read_text())
    data["proof"]["steps"] = data["proof"]["steps"][:-1]
    file.write_text(json.dumps(data), encoding="utf-8")
    assert registered.states_its_claim(data) and run("check", file)[:2] == (
        1, "rejected - cannot be replayed: ValueError: no step shows that 0 > 0\n")


def test_other_sources_make_a_digest_unknown(claim, file, monkeypatch):
    data = json.loads(file.read_text())
    registered.remember(data, claim)
    assert registered.states_its_claim(data)
    monkeypatch.setattr(registered, "_sources", lambda: "0" * 32)
    assert not registered.states_its_claim(data)


@pytest.mark.parametrize("other", ["another claim of this id", "another id", "a claim of a user", "files that were changed"])
def test_only_registered_claims_are_remembered(claim, file, other, monkeypatch):
    data = json.loads(file.read_text())
    ids = {"another id": f"{CLAIM}+other", "a claim of a user": "mine/one"}
    told = claim if other == "files that were changed" else replace(claim, id=ids.get(other, claim.id))
    if told is claim:
        monkeypatch.setattr(registered, "_unchanged", lambda: False)
    registered.remember(data, told)
    assert not registered.FOLDER.exists()


def test_a_file_that_was_written_after_the_start_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(registered, "_files", lambda: [tmp_path / "new.toml"])
    (tmp_path / "new.toml").write_text("")
    assert not registered._unchanged.__wrapped__()
    monkeypatch.setattr(registered, "LOADED", (tmp_path / "new.toml").stat().st_mtime + 60)
    assert registered._unchanged.__wrapped__()


def test_every_file_that_says_what_a_claim_states_is_among_the_sources():
    names = {path.relative_to(registered._ROOT).as_posix() for path in registered._files()}
    assert {"bounds/papers/fedalign/paper.toml", "bounds/language/claim.py", "verify/exact/statement.py",
            "verify/claims/implicit.py", "verify/checker/schema.py", "fedtheory/registry.py"} <= names
    loaded = {name for name in sys.modules if name.startswith(("bounds.", "verify.claims.", "verify.exact."))}
    paths = {sys.modules[name].__file__ for name in loaded if getattr(sys.modules[name], "__file__", None)}
    own = [path for path in paths if path.startswith(str(registered._ROOT)) and path.endswith(".py")]
    assert own and all(any(path.endswith(name) for name in names) for path in own)
