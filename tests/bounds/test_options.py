"""What `show` says of a claim's method and symbols: options in words, local rates as formulas, where symbols come from."""

import re
from types import SimpleNamespace

import pytest

from bounds.language.claim import Procedure
from bounds.language.operators import eta_l
from bounds.printing import legend, options, render
from bounds.registry.claims import find_claim, forget_files
from bounds.registry.user_claims import load_claims
from fedtheory.registry import find_algorithm
from tests.messages import contains_in_order
from tests.not_empty import not_empty
from verify.cli import shared as command_line


def shown(claim_id: str) -> str:
    claim = find_claim(claim_id)
    return render.show(claim, method=find_algorithm(claim.procedure.base))


@pytest.mark.parametrize(("claim_id", "lines"), [
    ("fedmoswa/theorem-h.1-decay", ["step j of round r: η_{l,Kr} ((K − 2)/(K − 1))^(j)",
                                    "(start = zero, …own)"]),
    ("fadamgc/theorem-5.4@y-gradient", ["(y_init = gradient)"]),
    ("fadamgc/table-1/fedadam@big-o-all-but-rounds", ["β_2 = 0.99, …own"]),
    ("afedpd/theorem-1-explicit@exact", ["(solver = exact)"]),
    ("fedmoswa/theorem-5.1-strongly-convex-fedswa", ["α = 1", "step j of round r: η_{l,Kr} "]),
])
def test_options_of_a_claim(claim_id, lines):
    text = " ".join(shown(claim_id).replace("·", " ").split())
    for line in not_empty(lines):
        assert contains_in_order(text, line)


def test_local_rates_are_those_of_the_method():
    """The printed formulas at numbers, beside the schedules of the methods."""
    from fedtheory.algorithms.fedswa import local_rates

    for schedule in ("cyclic-linear", "geometric-h1"):
        claim = SimpleNamespace(
            procedure=Procedure("fedswa", options=(("schedule", schedule),)), variables=(SimpleNamespace(name="rho_decay"),),
            names=frozenset())
        formula, method = options.local_rate(claim), local_rates(schedule, 0.5, 0.25, 5)
        for j in range(5):
            numbers = {"K": 5, "rho_decay": 0.25, "j": j, "r": 2, "local_steps": 5}
            value = formula.subs({a: 0.5 for a in formula.atoms(type(eta_l[0]))})
            value = value.subs({s: numbers[s.name] for s in value.free_symbols})
            assert float(value) == pytest.approx(float(method(10 + j, 2)))


#: words that each stand in one kind of origin
ORIGINS = {"condition", "hyper-parameter", "recorded", "tightest", "federation", "hides", "integer", "measured", "instance"}


@pytest.mark.parametrize(("claim_id", "name", "origin"), [
    ("fedmoswa/theorem-h.1-decay", "eta_l", "condition"),
    ("fedmoswa/theorem-h.1-decay", "gamma", "hyper-parameter …positive"),
    ("fedmoswa/theorem-h.1-decay", "x_round", "recorded"),
    ("fedmoswa/theorem-h.1-decay", "sigma_sq", "tightest …conditions"),
    ("fedmoswa/theorem-5.1-strongly-convex-fedswa", "sigma_g", "federation…all points"),
    ("fadamgc/theorem-5.4", "C", "hides"),
    ("fedalign/step-T3", "terms", "integer"),
    ("fadamgc/theorem-5.2/eq-102-103", "trackers", "hyper-parameter"),
    ("fadamgc/theorem-C.2/eq-158-163", "tracked", "recorded"),
])
def test_where_symbols_come_from(claim_id, name, origin):
    claim = find_claim(claim_id)
    said = legend.origin(claim, name, find_algorithm(claim.procedure.base) if claim.procedure else None)
    assert contains_in_order(said, origin) and ("positive" in said) == ("positive" in origin)
    assert ORIGINS & set(re.findall(r"[\w-]+", said)) == {re.match(r"[\w-]+", origin)[0]}


def test_claims_as_data_name_their_paper():
    rows = command_line.claims_as_json([find_claim("fedalign/theorem-1")])
    assert '"paper": "fedalign"' in rows


def test_claims_of_ones_own_are_a_paper(tmp_path, monkeypatch):
    path = tmp_path / "mine.toml"
    path.write_text('[[claim]]\nid = "mine/one"\nstatement = "L <= L"\n')
    monkeypatch.setenv("FEDTHEORY_CLAIMS", str(path))
    forget_files()
    try:
        for named in (([], ["mine"]), (["mine"], None)):
            assert [c.id for c in command_line.choose_claims(*named)] == [c.id for c in load_claims(path)] == ["mine/one"]
        with pytest.raises(LookupError, match=r"unknown paper 'yours'.* allowed: afedpd, .*, mine$"):
            command_line.choose_claims([], ["yours"])
    finally:
        forget_files()


def test_options_without_words_are_named(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('[[claim]]\nid = "mine/one"\nmethod = "fednova"\noptions = {eta_g = 2}\nstatement = "L <= L"\n')
    assert re.search(r"options +η_g = 2\n", render.show(load_claims(path)[0]))
