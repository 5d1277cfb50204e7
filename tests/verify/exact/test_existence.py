"""Claims that a number exists: which are refuted, and that no certificate refutes one from less than its whole interval."""

import copy
import json

import pytest

from bounds.registry.user_claims import load_claims
from verify.checker.schema import pieces
from verify.exact.check import check, replay_alone
from verify.referee.decide import Settings, decide

QUICK = Settings(budget="quick", federations=False)
HEAD = """
[[claim]]
id = "mine/one"
assume = ["L_client[k] <= L for k in 0..clients-1", "mu_client[k] >= mu for k in 0..clients-1",
          "sigma_sq_client[k] <= 0 for k in 0..clients-1"]
conditions = ["local_steps == 1", "eta_l[t] == gamma for t in 0..iterations-1", %s]
exists = {gamma = "%s"}
statement = "%s"
"""
NEARER = "norm2(x_round[1] - x_star) <= %s*norm2(x_round[0] - x_star)"
TWO_ENDS = "((L - mu)/(L + mu))**2"


def claim_of(tmp_path, interval, statement, more=""):
    path = tmp_path / "claim.toml"
    path.write_text(HEAD % (more, interval, statement), encoding="utf-8")
    return load_claims(path)[0]


@pytest.fixture(scope="module")
def refuted(tmp_path_factory):
    """A false claim, and the certificate that refutes it."""
    claim = claim_of(tmp_path_factory.mktemp("claims"), "(0, 2/L]", NEARER % "((L - mu)/(L + mu))**4")
    return claim, decide(claim, QUICK).details["instance"]


ROWS = {  # interval, statement, more conditions, verdict
    "true at one point only": ("(0, 2/L]", NEARER % TWO_ENDS, "", "consistent"),
    "without that point": ("(0, 1/L]", NEARER % TWO_ENDS, "", "refuted"),
    "true at an end": ("[1/(2*L), 1/L]", NEARER % "(1 - mu/L)**2", "", "consistent"),
    "true at an end that is left out": ("[1/(2*L), 1/L)", NEARER % "(1 - mu/L)**2", "", "undecided"),
    "a single point": ("[1/L, 1/L]", NEARER % "(1 - mu/L)**2", "", "consistent"),
    "a single wrong point": ("[1/(2*L), 1/(2*L)]", NEARER % "(1 - mu/L)**2", "", "refuted"),
    "an empty interval": ("[2/L, 1/L]", NEARER % "0", "", "ill-posed"),
    "an empty interval without its ends": ("(1/L, 1/L)", NEARER % "0", "", "ill-posed"),
}


@pytest.mark.parametrize("row", ROWS)
def test_the_verdict_on(row, tmp_path):
    interval, statement, more, expected = ROWS[row]
    verdict = decide(claim_of(tmp_path, interval, statement, more), QUICK)
    assert verdict.verdict == expected, verdict.evidence


def test_a_certificate_has_pieces_and_no_value(refuted):
    claim, data = refuted
    assert check(data, claim).accepted
    assert "gamma" not in data["values"] and "gamma" not in data["free"]
    assert len(pieces(data["subdivision"])) > 1 and data["exists"]["name"] == "gamma"


def changed(data, **parts):
    return json.loads(json.dumps({**copy.deepcopy(data), **parts}))


FORGERIES = {
    "one value": lambda d: changed(d, subdivision=["1"]),
    "a gap at the beginning": lambda d: changed(d, subdivision=d["subdivision"][1:]),
    "a gap at the end": lambda d: changed(d, subdivision=d["subdivision"][:-1]),
    "wrong order": lambda d: changed(d, subdivision=[*d["subdivision"][:-2], *d["subdivision"][:-3:-1]]),
    "a place twice": lambda d: changed(d, subdivision=["0", *d["subdivision"]]),
    "beyond the end": lambda d: changed(d, subdivision=[*d["subdivision"], "2"]),
    "no number": lambda d: changed(d, subdivision=["0", "nan", "1"]),
    "no places": lambda d: changed(d, subdivision=[]),
    "too many places": lambda d: changed(d, subdivision=[f"{n}/1000" for n in range(1001)]),
    "too few pieces": lambda d: changed(d, subdivision=["0", "1"]),
    "a value of the number": lambda d: changed(d, values={**d["values"], "gamma": "1/100"}),
    "a free number": lambda d: changed(d, free={**d["free"], "gamma": []}, values={**d["values"], "gamma": "1/100"}),
    "steps of their own": lambda d: changed(d, values={**d["values"], "eta_l": ["100"]}),
    "one step": lambda d: changed(d, values={**d["values"], "eta_l": ["4/3"]}),
    "a smaller interval": lambda d: changed(d, exists={**d["exists"], "high": ["*", "1/2", ["^", "L", -1]]}),
    "an interval elsewhere": lambda d: changed(d, exists={**d["exists"], "low": 5, "high": 6}),
    "an interval backwards": lambda d: changed(d, exists={**d["exists"], "low": d["exists"]["high"], "high": 0}),
    "another number": lambda d: changed(d, exists={**d["exists"], "name": "eta_l"}),
    "ends that count": lambda d: changed(d, exists={**d["exists"], "open": [False, False]}),
    "nothing exists": lambda d: {k: v for k, v in d.items() if k not in ("exists", "subdivision")},
    "no subdivision": lambda d: {k: v for k, v in d.items() if k != "subdivision"},
    "another left side": lambda d: changed(d, left="1000"),
    "a place in the values": lambda d: changed(d, values={**d["values"], "the place": "1"}),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forgery_is_rejected(forgery, refuted):
    claim, data = refuted
    assert not check(FORGERIES[forgery](data), claim).accepted


#: what the stand-alone checker accepts, because it refutes the statement in the file, which is another one
OTHER_STATEMENTS = {"an interval elsewhere", "an interval backwards", "ends that count", "a smaller interval"}


@pytest.mark.parametrize("forgery", sorted(FORGERIES.keys() - OTHER_STATEMENTS))
def test_the_stand_alone_checker_rejects_it(forgery, refuted):
    assert not replay_alone(FORGERIES[forgery](refuted[1])).accepted


def test_a_finer_subdivision_is_accepted(refuted):
    claim, data = refuted
    finer = [str(n) if n in (0, 1) else n for n in ["0", "1/4", "1/2", "9/16", "5/8", "11/16", "3/4", "7/8", "1"]]
    assert check(changed(data, subdivision=finer), claim).accepted


def test_steps_that_the_number_only_bounds_refute_nothing(tmp_path):
    """For every gamma there are steps below it that get nowhere; no certificate takes steps above gamma."""
    path = tmp_path / "claim.toml"
    text = HEAD % ("", "(0, 1/L]", NEARER % "1")
    path.write_text(text.replace("eta_l[t] == gamma", "eta_l[t] <= gamma"), encoding="utf-8")
    assert decide(load_claims(path)[0], QUICK).verdict == "consistent"


BAD = {"(0, oo)": "oo", "0..1": "interval", "(0, 1, 2]": "interval", "(0, gamma]": "gamma", "(0, ]": "empty"}


@pytest.mark.parametrize("interval", BAD)
def test_an_interval_that_is_none_is_refused(interval, tmp_path):
    with pytest.raises(ValueError, match=BAD[interval]):
        claim_of(tmp_path, interval, NEARER % "1")
