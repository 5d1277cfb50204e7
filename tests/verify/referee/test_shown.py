"""`refuted`, `ill-posed` and `certified` exist only with a certificate that the stand-alone checker accepts."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import verify
from bounds.controls.fedavg import CONTROLS
from bounds.registry.claims import all_claims
from bounds.registry.user_claims import load_claims
from tests.not_empty import not_empty
from verify.checker.formats import FORMATS, check_of
from verify.exact.certify import Accepted, Refused
from verify.prove.contradictions import contradiction
from verify.prove.illposed import conflict
from verify.referee.decide import Settings, _Case, decide
from verify.results.verdict import SHOWN

FOLDER = Path(verify.__file__).parent
#: where verdicts are made: the kinds that each may give, None where a certificate is asked for
MAKERS = {"referee/decide.py": None, "referee/workers.py": "undecided", "results/records.py": None}
CHECKER = FOLDER / "checker"


@pytest.mark.parametrize("kind", SHOWN)
@pytest.mark.parametrize("outcome", [None, "certificates/x.json", Refused("no")], ids=str)
def test_a_verdict_that_needs_a_certificate_is_not_made_without_one(kind, outcome):
    case = _Case(CONTROLS[0].claim, Settings())
    with pytest.raises(ValueError, match=f"{kind} needs a certificate that the checker accepts"):
        case.verdict(kind, None, "as one sees", outcome)
    assert case.verdict(kind, None, "as one sees", Accepted({}, "certificates/x.json")).certificate == "certificates/x.json"


def verdict_calls(path):
    """Return the fourth argument of each call of Verdict in a file, if it is a literal."""
    calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    calls = [call for call in calls if getattr(call.func, "id", getattr(call.func, "attr", "")) == "Verdict"]
    return [call.args[3].value if len(call.args) > 3 and isinstance(call.args[3], ast.Constant) else None for call in calls]


def test_verdicts_are_made_in_one_place():
    """One place makes those of claims, with certificates; workers say what is undecided, records read what is stored."""
    found = {path.relative_to(FOLDER).as_posix(): verdict_calls(path) for path in FOLDER.rglob("*.py")}
    assert {name: kinds for name, kinds in found.items() if kinds} == {name: [kind] for name, kind in MAKERS.items()}


def test_accepted_is_made_where_a_certificate_was_checked():
    makers = [path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.py") if "Accepted(" in path.read_text()]
    assert makers == ["exact/certify.py"]


def test_every_format_is_that_of_the_file_that_checks_it():
    found = {name: sys.modules[check_of({"format": name}).__module__].FORMAT for name in FORMATS}
    assert found == {name: name for name in FORMATS}


# ill-posed ---------------------------------------------------------------------------------------------------------------
CLAIM = """
[[claim]]
id = "mine/one"
setting = "algebra"
variables = {a = "positive", b = "positive"}
conditions = ["a + b <= 1", "a*b >= 1"]
statement = "a <= b"
"""


@pytest.fixture
def mine(tmp_path):
    (tmp_path / "one.toml").write_text(CLAIM, encoding="utf-8")
    (claim,) = load_claims(tmp_path / "one.toml")
    return claim


def alone(path):
    """The exit status of ``python verify/checker FILE``."""
    return subprocess.run([sys.executable, CHECKER, path], capture_output=True, check=False).returncode


def test_an_ill_posed_claim_has_its_certificate(mine, tmp_path):
    verdict = decide(mine, Settings(out=tmp_path))
    assert verdict.verdict == "ill-posed" and alone(tmp_path / verdict.certificate) == 3


def test_what_z3_says_is_no_verdict(mine, monkeypatch):
    """Without a certificate the claim is searched, and the evidence says what z3 finds."""
    assert conflict(mine) is not None
    monkeypatch.setattr("verify.referee.ill_posed.contradiction", lambda claim: None)
    verdict = decide(mine, Settings())
    assert verdict.verdict == "undecided" and "z3 or sympy finds that it is ill-posed: no numbers meet" in verdict.evidence


def test_what_the_checker_rejects_is_no_verdict(mine, monkeypatch):
    data = json.loads(json.dumps(contradiction(mine)))
    data["proof"]["steps"] = []
    monkeypatch.setattr("verify.referee.ill_posed.contradiction", lambda claim: data)
    assert decide(mine, Settings()).verdict == "undecided"


# the registry ------------------------------------------------------------------------------------------------------------
@pytest.mark.slow
def test_every_conflict_of_registered_claims_has_a_certificate(tmp_path):
    found = [claim for claim in all_claims().values() if conflict(claim) is not None]
    lacking = [claim.id for claim in not_empty(found) if contradiction(claim) is None]
    assert not lacking
    for number, claim in enumerate(found):
        (tmp_path / f"{number}.json").write_text(json.dumps(contradiction(claim)), encoding="utf-8")
    assert [number for number in range(len(found)) if alone(tmp_path / f"{number}.json") != 3] == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_verdicts_of_registered_claims_have_certificates_that_the_checker_accepts(part, tmp_path):
    """The stand-alone checker replays the certificates of one claim in twenty, decided at quick; of growth it replays the
    members, and leaves the rest to `fedtheory check`."""
    chosen = [*all_claims().values()][part * 20 :: 80]
    for claim in not_empty(chosen):
        verdict = decide(claim, Settings(out=tmp_path, federations=False))
        if verdict.verdict in SHOWN:
            path = tmp_path / verdict.certificate
            data = json.loads(path.read_text(encoding="utf-8"))
            for member in data.get("members", ()):
                path.write_text(json.dumps(member["certificate"]), encoding="utf-8")
                assert alone(path) == 3, claim.id
            assert "members" in data or alone(path) == 3, claim.id
