"""How objects show themselves: a short line in the terminal, a table in a notebook in which every text is escaped."""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from html.parser import HTMLParser

import numpy as np
import pytest

import fedtheory as ft
from bounds.language.claim import Assumption, Condition
from bounds.language.operators import L, mu
from bounds.registry.claims import find_claim
from fedtheory.stability import Stability
from fedtheory.testing.report import FAILED, Report, Result
from synthetic.base.display import Markup, bars, brief, card, lines, table
from synthetic.numbers.arrays import EXACT
from tests.project.test_axes import PROOF, RUN, bound, runs, worst_of, worst_over_rounds
from verify.evidence.beside_runs import Comparison
from verify.proofs.looseness import Link, Waterfall
from verify.results.verdict import Verdict
from verify.worst.worst_case import worst_case

EVIL = '<script>alert("1")</script> & <img src=x onerror=alert(1)> \'"'
VOID = {"br", "img", "rect", "polyline"}


class Read(HTMLParser):
    """Elements, attributes and text; balance of the elements."""

    def __init__(self, html: str):
        super().__init__()
        self.tags, self.attributes, self.text, self.open = set(), set(), "", []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open += [tag] * (tag not in VOID)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@cache
def comparison():
    return ft.compare("classical/sgd-distance", runs())


@cache
def case():
    return worst_case(find_claim("classical/gd-convex"), {"rounds": Fraction(1)}, proofs=False)


def stability():
    return Stability([(0, 1, [1.0], 0.0)], np.arange(60.0).reshape(1, -1), np.full((1, 60), np.nan))


def verdict(text=""):
    return Verdict(f"demo/lemma-1{text}", f"as printed{text}", f"lemma{text}", "refuted", 1.5, f"an instance{text}",
                   certificate=f"a{text}.json", command=f"fedtheory verify {text}",
                   series=(replace(RUN, title=text, note=text),))


def report(text=""):
    failed = Result(f"batch{text}", text, FAILED, text, "1", text)
    return Report(f"mine{text}", (Result("purity", "meaning", "passed"), failed))


#: classes -> an object, what its line says, and what its table has besides a table
SHOWN = {
    "federation": (lambda: runs().federation, "3 clients", "svg"),
    "federation of data": (lambda: ft.make_problem("digits"), "digits", "svg"),
    "federation in fractions": (lambda: ft.make_quadratic(clients=2, dim=1, L=4, mu=1, backend=EXACT), "2 clients", "svg"),
    "federation of several instances": (lambda: worst_of(2).federation, "2 clients", "svg"),
    "constants": (lambda: runs().federation.constants, "mu = 1 (exact)", ""),
    "constant": (lambda: runs().federation.constants["x_star"], "array 1 x 2", ""),
    "method": (lambda: ft.scaffold(eta_l=0.5), "SCAFFOLD(eta_l=0.5, local_steps=1", ""),
    "method of a class": (lambda: ft.FedAvg(), "FedAvg(eta_l=0.1, local_steps=1)", ""),
    "method with steps by run": (lambda: ft.fedavg(eta_l=np.ones(500)), "eta_l=array 500", ""),
    "claim": (lambda: find_claim("fedalign/theorem-1"), "Claim(fedalign/theorem-1: Theorem 1", "math"),
    "undefined claim": (lambda: replace(find_claim("fedalign/theorem-1"), statement=None, undefined="L"), "Claim", ""),
    "verdict": (verdict, "demo/lemma-1: refuted, worst ratio 1.5", "svg"),
    "series": (lambda: RUN, "a run; 4 values of round", "svg"),
    "trajectory": (runs, "FedAvg on diagonal quadratics, 3 clients, dim 2; 4 rounds, 3 runs", "svg"),
    "comparison": (comparison, "classical/sgd-distance beside runs of FedAvg: consistent", "svg"),
    "worst case of a method": (lambda: worst_of(1).worst, "FedAvg on all smooth-strongly-convex functions", ""),
    "worst function": (lambda: worst_of(2), "2 dimensions", "svg"),
    "worst case of a claim": (case, "in the worst case", ""),
    "over rounds": (worst_over_rounds, "classical/gd-distance: worst case over 2 values of rounds", "svg"),
    "potential": (lambda: ft.potential("fedavg", clients=1, eta_l=0.5), "rate 361/400", ""),
    "stability": (stability, "1 neighbouring data sets, 59 rounds", "svg"),
    "steps of a proof": (lambda: PROOF, "1 steps of p/a", ""),
    "bound": (bound, "li2020/theorem-1, a function of", ""),
    "report of conformance": (report, "mine: 1 passed, 1 failed", ""),
}


@pytest.mark.parametrize("name", SHOWN)
def test_an_object_shows_itself(name):
    make, line, more = SHOWN[name]
    thing = make()
    said = repr(thing)
    assert line in said and len(said) < 1500 and ("\n" not in said or name == "constants")
    assert not any(word in said for word in ("tensor(", "array(", "object at 0x"))
    read = Read(thing._repr_html_())
    assert "table" in read.tags and not read.open and len(thing._repr_html_()) < 30_000
    assert not more or more in read.tags


def test_a_state_is_short():
    assert repr(runs().state) == "State(x=array 3 x 2)"


def claim_of(text):
    """A claim with a text wherever it has one."""
    known = find_claim("fedalign/theorem-1")
    hostile = Assumption(f"a{text}", f"b{text}", (Condition(mu, "<=", L),), note=text)
    return replace(known, id=f"mine/{text}", number=text, reading=text, source=None, derivation=text, note=text,
                   assumptions=(hostile,))


@cache
def hostile_method():
    return ft.fedavg().having(name=EVIL)


def hostile_trajectory():
    return replace(runs(), description=EVIL, fingerprint=EVIL)


def hostile_federation():
    federation = ft.make_quadratic(clients=2, dim=1, L=4.0, mu=1.0)
    federation.name = EVIL
    return federation


HOSTILE = {
    "claim": lambda: claim_of(EVIL),
    "claim without statement": lambda: replace(claim_of(EVIL), statement=None, undefined=EVIL),
    "verdict": lambda: verdict(EVIL),
    "series": lambda: replace(RUN, title=EVIL, note=EVIL, x_label=EVIL, y_label=EVIL),
    "comparison": lambda: Comparison(EVIL, "undecided", EVIL, series=replace(RUN, title=EVIL), runs=EVIL),
    "method": hostile_method,
    "trajectory": hostile_trajectory,
    "federation": hostile_federation,
    "worst case of a claim": lambda: replace(case(), claim=EVIL, functions=EVIL, reason=EVIL),
    "worst case of a method": lambda: replace(worst_of(1).worst, algorithm=hostile_method(), functions=EVIL),
    "over rounds": lambda: replace(
        worst_over_rounds(), claim=claim_of(EVIL), functions=EVIL, over=EVIL, numbers={EVIL: EVIL}),
    "steps of a proof": lambda: Waterfall(Link(EVIL, EVIL, 8.0, 5.0, EVIL), (Link(EVIL, EVIL, None, None, EVIL),)),
    "report of conformance": lambda: report(EVIL),
    "card": lambda: Shows(card(EVIL, [(EVIL, EVIL), (EVIL, [EVIL]), (EVIL, {EVIL: EVIL})], EVIL)),
    "table": lambda: Shows(table([(EVIL, EVIL, EVIL)], (EVIL, EVIL, EVIL))),
}


class Shows:
    def __init__(self, html):
        self._repr_html_ = lambda: html


@pytest.mark.parametrize("name", HOSTILE)
def test_texts_from_outside_are_escaped(name):
    html = HOSTILE[name]()._repr_html_()
    read = Read(html)
    assert not {"script", "img"} & read.tags and not {"onerror", "src"} & read.attributes and not read.open
    assert "alert" in read.text


def test_html_that_is_none_is_seen():
    """The check above sees what is not escaped."""
    read = Read(card("a", [("b", Markup(EVIL))]))
    assert {"script", "img"} <= read.tags and "onerror" in read.attributes


@pytest.mark.parametrize("value, said", [
    (None, "None"), (True, "True"), (3, "3"), (1 / 3, "0.333333"), (float("inf"), "inf"), (Fraction(1, 3), "1/3"),
    (np.float64(0.1), "0.1"), (np.int64(7), "7"), (np.array([2.5]), "2.5"), (np.zeros((2, 3)), "array 2 x 3"),
    ([1, 2], "[1, 2]"), ({"a": 1}, "{a: 1}"), ([0] * 9, "[0, 0, 0, 0, 0, 0, ...]"), ("a\nb", "a b"),
    ("x" * 99, "x" * 77 + "..."),
    (10**200, "1" + "0" * 76 + "..."), (ft.InverseTime(mu=1.0, offset=64.0), "InverseTime(mu=1, offset=64)"), (len, "len"),
    (object(), "object"), (np.array([Fraction(1, 3)], dtype=object), "1/3"),
])
def test_values_are_brief(value, said):
    assert brief(value) == said


def test_the_table_of_a_method_has_its_options():
    assert "option=II" in Read(ft.scaffold()._repr_html_()).text


def test_a_method_shows_every_digit_in_its_line():
    assert repr(ft.fedprox(eta_l=1 / 3, rho_prox=2 / 3)).startswith("FedProx(eta_l=0.3333333333333333, local_steps=1, ")
    assert "0.6666666666666666" in repr(ft.fedprox(eta_l=1 / 3, rho_prox=2 / 3))


@pytest.mark.parametrize("picture", [
    lines([1, 0.1, 0.01]), lines([1, 2], [3, 4]), lines([1, float("inf"), 2, float("nan")]), lines([0, 0]),
    bars([1, 2], [True]), lines(range(10_000)), bars([0, 0]),
])
def test_a_picture_is_small_and_whole(picture):
    read = Read(picture)
    assert "svg" in read.tags and not read.open and len(picture) < 5000 and "nan" not in picture and "inf" not in picture


@pytest.mark.parametrize("picture", [lines(), lines([1]), lines([float("nan")] * 3), bars([]), bars([float("inf")]),
                                     bars(range(500))])
def test_nothing_to_draw_is_no_picture(picture):
    assert picture == ""
