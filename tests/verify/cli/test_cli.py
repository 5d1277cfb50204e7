"""The command line: what it prints, its exit statuses, and one clear line for bad input."""

import errno
import io
import json
import math
import os

import pytest
from rich.console import Console

from bounds.registry.claims import all_claims
from tests.messages import contains_in_order
from verify.cli import console
from verify.cli import main as cli
from verify.results.records import load_verdicts
from verify.results.store import stored_verdict
from verify.results.verdict import VERDICTS, Verdict

ALL = all_claims()
SOME = list(ALL)[:3]


def decide(claim, kind="consistent", ratio=0.5):
    return Verdict(claim.id, claim.reading, claim.kind, kind, ratio, f"evidence on {claim.id}")


@pytest.fixture
def referee(monkeypatch):
    """Replaces the referee: ``judge(*kinds)`` gives the verdicts in turn; an exception in their place is raised."""

    def judge(*kinds):
        def referee(claims, **options):
            referee.options = options
            for claim, kind in zip(claims, kinds, strict=False):
                if not isinstance(kind, str):
                    raise kind
                yield decide(claim, kind)

        monkeypatch.setattr("verify.referee.referee.referee", referee)
        return referee

    return judge


# listing -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "argv, words",
    [
        (["--help"], ["verify", "check", "claims"]),
        ([], ["verify", "check", "claims"]),
        (["--version"], ["fedtheory 0"]),
        (["verify", "--help"], ["Exit status: 0", "1 something is", "--budget"]),
        (["check", "--help"], ["Exit status: 0 accepted"]),
        (["claims"], list(ALL)),
        (["claims", "--kind", "lemma", "--paper", "fedalign"], ["fedalign/lemma-A2"]),
        (["claims", "--kind", "table entry", "--paper", "fadamgc"], ["algorithm", "fa-nt", "O(.)"]),
        (["problems"], ["quadratic", "digits"]),
        (["algorithms"], ["fedavg", "fedalign", "fedprox"]),
        (["show", "fedalign/theorem-1"], ["Theorem 1", "reading", "≤", "μ"]),
        (["show", "fedalign/theorem-1", "--letters", "code"], ["Theorem 1", "mu", "x_star"]),
    ],
)
def test_lists(run, argv, words):
    status, out, err = run(*argv)
    assert (status, err) == (0, "")
    assert [word for word in words if word not in out] == []


@pytest.mark.parametrize(("options", "check"), [
    (["--algorithm", "fa-nt"], lambda c: c.procedure is not None and c.procedure.base == "fa-nt"),
    (["--reading", "vhat-carry"], lambda c: "vhat-carry" in c.id.partition("@")[2].split("+")),
    (["--reading", "default"], lambda c: "@" not in c.id),
    (["--order"], lambda c: not c.explicit),
    (["--explicit"], lambda c: c.explicit),
    (["--order", "--kind", "table entry"], lambda c: not c.explicit and c.kind == "table entry"),
])
def test_claims_are_filtered(run, options, check):
    status, out, _ = run("claims", "--paper", "fadamgc", *options, "--json")
    wanted = [c.id for c in ALL.values() if c.paper == "fadamgc" and check(c)]
    assert status == 0 and wanted and [c["id"] for c in json.loads(out)] == wanted


def test_claims_as_json(run):
    status, out, _ = run("claims", "--paper", "fedalign", "--json")
    rows = json.loads(out)
    assert status == 0 and {row["id"] for row in rows} == {i for i in ALL if i.startswith("fedalign/")}
    assert all(set(row) == {"id", "paper", "number", "kind", "reading", "source", "setting", "statement", "algorithm",
                            "explicit", "limits"} for row in rows)
    for row in rows:
        claim = ALL[row["id"]]
        assert row["explicit"] == claim.explicit and len(row["limits"]) == len(claim.limits)
        assert row["algorithm"] == (claim.procedure.base if claim.procedure else None)


# bad input ---------------------------------------------------------------------------------------------------------
QUADRATIC = ["run", "fedavg", "--problem", "quadratic"]
BAD = {
    "unknown command": (["verfy"], "verfy"),
    "unknown option": (["verify", "--sedes", "3"], "--sedes"),
    "unknown claim": (["verify", "fedalign/theorem-11"],
                      "unknown claim 'fedalign/theorem-11'; nearest: fedalign/theorem-1"),
    "a paper in place of a claim": (
        ["show", "fedalign"], "one of them, such as fedalign/theorem-1, …; `fedtheory claims --paper fedalign` lists all"),
    "unknown claim to show": (["show", "li2020/theoremm-1"], "li2020/theorem-1"),
    "a method with a slip": (["worst", "fedavgg"], "unknown claim or method 'fedavgg'; did you mean 'fedavg'?"),
    "unknown claim in place of a method": (["worst", "theorem"], "unknown claim 'theorem'"),
    "a claim that is about no run": (
        ["worst", "classical/sgd-expansive"], "is about losses at given points; worst takes a claim about runs, or a me"),
    "unknown paper": (["verify", "--paper", "fedaling"], "unknown paper 'fedaling'; nearest: fedalign"),
    "unknown paper to list": (["claims", "--paper", "x"], "allowed: afedpd, classical, "),
    "unknown kind": (["claims", "--kind", "axiom"], "unknown kind 'axiom'; allowed: theorem"),
    "unknown reading": (["claims", "--reading", "vhat-cary"], "reading 'vhat-cary'; nearest: vhat-carry"),
    "algorithm of no claim": (["claims", "--paper", "fedluar", "--algorithm", "scaffold"],
                          "'scaffold'; allowed: fedavg, fedluar"),
    "unknown budget": (["verify", "--budget", "huge"], "'--budget': 'huge' …'quick', 'standard', 'thorough'"),
    "unknown device": (["verify", "--device", "tpu"], "--device…'tpu' …'cpu', 'cuda'"),
    "no seeds": (["verify", "--seeds", "0"], "--seeds … 2; got 0"),
    "negative seed": (["verify", "--seed", "-1"], "--seed … 0; got -1"),
    "seeds not a number": (["verify", "--seeds", "many"], "--seeds"),
    "no certificate": (["check", "absent.json"], f"absent.json: {os.strerror(errno.ENOENT)}"),
    "certificate not named": (["check"], "Missing argument"),
    "no report": (["report", "absent"], "absent/verdicts.json"),
    "claim not named": (["show"], "Missing argument"),
    "unknown algorithm": (["run", "fedalin", "--problem", "digits"], "'fedalin'; …'fedalign'"),
    "unknown problem": (["run", "fedavg", "--problem", "digit"], "'digit'; …'digits'"),
    "problem not named": (["run", "fedavg"], "Missing option '--problem'"),
    "mu above L": ([*QUADRATIC, "--set", "L=1", "--set", "mu=2"], "mu …L = 1; got 2"),
    "more participants than clients": (
        [*QUADRATIC, "--set", "clients=3", "--set", "participants=4"],
        "participants … 1 …3; got 4"),
    "negative step": ([*QUADRATIC, "--eta", "-0.1"], "--eta …'theory'; got '-0.1'"),
    "step not a number": ([*QUADRATIC, "--eta", "nan"], "--eta …'theory'; got 'nan'"),
    "negative local steps": ([*QUADRATIC, "--local-steps", "-2"], "--local-steps … 1; got -2"),
    "no rounds": ([*QUADRATIC, "--rounds", "0"], "--rounds … 1; got 0"),
    "no runs": ([*QUADRATIC, "--seeds", "0"], "--seeds … 1; got 0"),
    "setting without value": ([*QUADRATIC, "--set", "dim"], "--set …key=value; got 'dim'"),
    "setting twice": ([*QUADRATIC, "--set", "dim=2", "--set", "dim=3"], "--set …'dim' …twice"),
    "unknown setting": ([*QUADRATIC, "--set", "dimm=2"], "unknown setting 'dimm'; nearest: dim; known: "),
    "setting of the wrong kind": ([*QUADRATIC, "--set", "dim=two"], "dim … 1; got 'two'"),
    "noise not a number": ([*QUADRATIC, "--set", "sigma=NaN"], "sigma …got 1 …nan"),
    "offsets not numbers": ([*QUADRATIC, "--set", "offsets=[0, NaN]", "--set", "clients=2"], "offsets …got 1 …nan at [1]"),
    "more clients than rows": (["run", "fedavg", "--problem", "breast-cancer", "--set", "clients=600"], "600"),
    "out is a directory": ([*QUADRATIC, "--out", "."], " .: …directory"),
}


@pytest.mark.parametrize("argv, words", BAD.values(), ids=BAD)
def test_bad_input_is_one_line_and_status_2(run, tmp_path, monkeypatch, argv, words):
    monkeypatch.chdir(tmp_path)
    status, out, err = run(*argv)
    assert (status, out) == (2, "")
    assert err.startswith("error: ") and err.count("\n") == 1 and contains_in_order(err, words)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "content", ["", "{", '{"format": "fedtheory certificate 1"}', "[]", '{"format": "other"}', "\x00\x01", "null", "3"]
)
@pytest.mark.parametrize("command", ["check", "report"])
def test_truncated_and_foreign_files(run, tmp_path, command, content):
    path = tmp_path / "verdicts.json"
    path.write_text(content)
    status, out, err = run(command, path if command == "check" else tmp_path)
    if (command, content) == ("report", "[]"):
        assert status == 0  # a report in which nothing was decided
        return
    assert (status, out) == (2, "")
    assert err.startswith("error: ") and err.count("\n") == 1 and str(path) in err
    assert os.listdir(tmp_path) == ["verdicts.json"]


def test_binary_certificate(run, tmp_path):
    (tmp_path / "x").write_bytes(b"\xff\x00")
    assert run("check", tmp_path / "x")[0] == 2
    assert run("check", tmp_path)[0] == 2


def test_unwritable_out(run, tmp_path, referee):
    referee("consistent")
    (tmp_path / "file").write_text("x")
    for place in (tmp_path / "file", tmp_path / "file" / "sub"):
        status, out, err = run("verify", SOME[0], "--out", place)
        assert (status, out) == (2, "") and err.startswith("error: ") and f" {place}: " in err and err.count("\n") == 1


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_out_without_permission(run, tmp_path, referee):
    referee("consistent")
    tmp_path.chmod(0o500)
    assert "cannot write" in run("verify", SOME[0], "--out", tmp_path / "sub")[2]


def test_cuda_where_there_is_none(run, tmp_path):
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is one")
    status, _, err = run("verify", "--device", "cuda", "--out", tmp_path)
    assert status == 2 and err.startswith("error: ") and err.count("\n") == 1
    assert contains_in_order(err, "'cuda' …allowed…: cpu\n")


@pytest.mark.parametrize(
    "defect", [IndexError("list index out of range"), KeyError("x"), ValueError(), TypeError("no such argument")]
)
def test_our_own_defects_are_not_called_bad_input(monkeypatch, defect):
    def broken(*_):
        raise defect

    monkeypatch.setattr("bounds.registry.claims.find_claim", broken)
    with pytest.raises(type(defect)):
        cli.main(["show", SOME[0]])


def test_traceback_on_request(monkeypatch):
    monkeypatch.setenv("FEDTHEORY_TRACEBACK", "1")
    with pytest.raises(LookupError, match="unknown claim"):
        cli.main(["show", "x"])


# verify ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", VERDICTS)
def test_status_says_whether_something_is_wrong(run, tmp_path, referee, kind):
    referee("consistent", kind, "undecided")
    status, out, _ = run("verify", *SOME, "--out", tmp_path)
    assert status == (1 if kind in ("refuted", "ill-posed") else 0)
    assert [word for claim in SOME for word in claim.split('@') if word not in out] == []
    assert f"{2 if kind in ('consistent', 'undecided') else 1} {kind}" in out
    assert [v.verdict for v in load_verdicts(tmp_path)] == ["consistent", kind, "undecided"]
    assert (tmp_path / "index.html").is_file()


def test_verdicts_stand_in_the_order_of_the_claims(run, tmp_path, monkeypatch):
    monkeypatch.setattr("verify.referee.referee.referee", lambda claims, **_: (decide(c) for c in reversed(claims)))
    run("verify", *SOME, "--out", tmp_path)
    assert [v.id for v in load_verdicts(tmp_path)] == SOME


def test_options_reach_the_referee_and_the_command_is_recorded(run, tmp_path, referee):
    fake, out = referee("consistent", "consistent"), tmp_path / "a b"
    run("verify", *SOME[:2], "--budget", "standard", "--seeds", 7, "--seed", 5, "--out", out)
    incoming = out / "results" / "incoming"
    assert fake.options == {"budget": "standard", "seeds": 7, "seed": 5, "device": "cpu", "out": incoming, "cluster": None}
    options = f"--budget standard --seeds 7 --device cpu --seed 5 --out '{out}'"
    assert [v.command for v in load_verdicts(out)] == [f"fedtheory verify {claim} {options}" for claim in SOME[:2]]
    assert json.loads((out / "about.json").read_text())["command"] == f"fedtheory verify {' '.join(SOME[:2])} {options}"


def test_papers_and_claims_add_up_without_repetition(run, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("verify.referee.referee.referee", lambda claims, **_: asked.extend(claims) or iter(()))
    run("verify", "fedalign/theorem-1", "--paper", "fedalign", "--out", tmp_path)
    assert sorted(c.id for c in asked) == sorted(i for i in ALL if i.startswith("fedalign/"))


@pytest.mark.parametrize("decided", [0, 2])
def test_interrupt_keeps_what_is_done(run, tmp_path, referee, decided):
    referee(*["refuted"] * decided, KeyboardInterrupt())
    status, _, err = run("verify", *SOME, "--out", tmp_path)
    assert status == 130 and contains_in_order(err, f"interrupted … {decided} of 3 claims")
    if decided:
        assert len(load_verdicts(tmp_path)) == 2 and (tmp_path / "index.html").is_file()
    assert [p for p in tmp_path.rglob("*.partial")] == []


def test_each_verdict_is_on_disk_before_the_next_is_sought(run, tmp_path, monkeypatch):
    seen = []

    def referee(claims, **_):
        for claim in claims:
            seen.append(sum(stored_verdict(tmp_path, known) is not None for known in SOME))
            yield decide(claim)

    monkeypatch.setattr("verify.referee.referee.referee", referee)
    run("verify", *SOME, "--out", tmp_path)
    assert seen == [0, 1, 2]


def test_bad_input_found_by_the_referee(run, tmp_path, referee):
    referee("refuted", ValueError("noise must be finite; got nan"))
    status, _, err = run("verify", *SOME, "--out", tmp_path)
    assert (status, err.splitlines()[-1]) == (2, "error: noise must be finite; got nan")
    assert len(load_verdicts(tmp_path)) == 1


def test_report_is_rebuilt_from_its_data(run, tmp_path, referee, monkeypatch):
    monkeypatch.setattr("verify.referee.stored.objection", lambda *_: "")  # these verdicts are made up
    referee("refuted", "consistent", "ill-posed")
    run("verify", *SOME, "--out", tmp_path)
    before = (tmp_path / "index.html").read_bytes()
    (tmp_path / "index.html").unlink()
    assert run("report", tmp_path)[0] == 0
    assert (tmp_path / "index.html").read_bytes() == before


@pytest.mark.parametrize(("kind", "ratio", "shown"), [
    ("refuted", math.inf, "∞"), ("refuted", 1.2345, "1.23"), ("refuted", 1000 / 999, "1.001"),
    ("refuted", 1 + 2e-9, "1.000000002"), ("refuted", 1, "1"), ("consistent", 1 - 2e-9, "1")])
def test_the_table_shows_how_far_a_ratio_is_from_one(run, tmp_path, monkeypatch, kind, ratio, shown):
    monkeypatch.setattr("verify.referee.referee.referee", lambda claims, **_: (decide(c, kind, ratio) for c in claims))
    assert f" {shown} " in run("verify", SOME[0], "--out", tmp_path)[1]


# check -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("accepted, status, word", [(True, 0, "accepted"), (False, 1, "rejected")])
def test_check_reports_both_sides(run, tmp_path, monkeypatch, accepted, status, word):
    from verify.exact.check import CheckResult

    result = CheckResult(accepted, "because", "1/128", "0")
    monkeypatch.setattr("verify.growth.check.check_file", lambda *_: result)
    shown = f"{word} - because\nleft  = 1/128  (about 0.00781)\nright = 0  (about 0)\n"
    (tmp_path / "x.json").write_text('{"claim": "classical/gd-convex"}')
    assert run("check", tmp_path / "x.json") == (status, shown, "")


@pytest.mark.parametrize("width", (80, 150, 200))
def test_a_table_of_verdicts_cuts_no_word(monkeypatch, width):
    monkeypatch.setattr(console, "PIPED_WIDTH", width)
    evidence = "the gradient is at least a number times the distance from the minimiser, and nothing bounds it at all points"
    verdict = Verdict("fedmoswa/theorem-5.1-strongly-convex-fedmoswa", "population risk minus empirical risk, as in E.1",
                      "lemma", "ill-posed", None, evidence)
    printed = io.StringIO()
    Console(file=printed, width=width).print(console.verdict_table([verdict]))
    assert {*evidence.split()} <= {*printed.getvalue().split()}
