"""The report's pages, its data, and how files are written."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
import sympy as sp

from bounds.language.claim import Assumption, Claim, Condition
from bounds.language.definitions import DEFINITIONS, Gamma, Gamma_client
from bounds.language.operators import F_star, L, clients, eta_l, iterations, k, mu, t
from bounds.printing.render import notation
from tests.not_empty import not_empty
from verify.report.html import VERDICT_MEANINGS, write_report
from verify.report.lists import by_kind, not_proven
from verify.report.tables import details_shown, instance_tables
from verify.results.files import write_json
from verify.results.records import FIELDS, as_record, from_record, load_about, load_verdicts, save_verdicts
from verify.results.verdict import VERDICTS, Series, Verdict

SERIES = Series("a run", "iterations", "loss", [1.0, 2.0], [0.5, math.nan], [1.0, math.inf], [0.4, 0.0], [0.6, 1.0])
CERTIFICATE = {
    "format": "demo", "claim": "demo/theorem-1", "sizes": {"clients": 2, "dim": 1, "iterations": 1},
    "procedure": {"sampling": "full", "strict": True},
    "instance": {"curvature": [["1"], ["2"]], "center": [["0"], ["-7/3"]], "priority": [1, 0], "epsilon": ["3/5"],
                 "noise": [[], [["1/4", ["3"]], ["3/4", ["-1"]]]]},
    "values": {"eta_l": ["1/4"], "mu": "1"}, "left": "1/128", "right": "0",
}
VERDICTS_SHOWN = [
    Verdict("demo/theorem-1", "as printed", "theorem", "refuted", math.inf, "left 1/128, right 0 & <nothing> else",
            "certificates/demo__theorem-1.json", "fedtheory verify demo/theorem-1", 3, 1.25,
            {"instances": {"tried": 4096, "met": 512}, "instance": CERTIFICATE}, (SERIES,)),
    Verdict("demo/lemma-1@G-max+printed", "G largest", "lemma", "consistent", 0.71, "no violation in 512 instances",
            details={"federations": [{"name": "digits", "ratio": 0.5, "met": True}, {"name": "pair", "note": "x"}]}),
    Verdict("demo/assumption-2", "as printed", "assumption", "ill-posed", None, "no function satisfies it",
            details={"conflict": ["assumption-2", "mu > 0"]}),
    Verdict("other/lemma-9", "as printed", "lemma", "undecided", 0.0, "more seeds would decide"),
]
CLAIM = Claim(
    id="demo/theorem-1", number="Theorem 1", kind="theorem", setting="run", source="demo",
    statement=Condition(F_star, "<=", L / mu * Gamma / iterations + sp.Sum(Gamma_client[k], (k, 0, clients - 1))),
    assumptions=(Assumption("demo/assumption-1", "smooth & convex", (Condition(L, ">=", mu),), note="as <used>"),),
    conditions=(Condition(eta_l[t], "==", 1 / (4 * L), ((t, 0, iterations - 1),)),),
    definitions=DEFINITIONS, note="mind the gap",
)
ABOUT = {"title": "A report", "command": "fedtheory verify --out report", "versions": {"fedtheory": "0.1.0"}}


class Page(HTMLParser):
    """A page's links, pictures, text, ids of open elements; an unclosed or misnested element is an error."""

    VOID = {"meta", "img", "br", "hr", "link", "mspace"}

    def __init__(self, path: Path):
        super().__init__()
        self.links, self.pictures, self.tags, self.words, self.open = [], [], [], [], []
        self.feed(path.read_text(encoding="utf-8"))
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append(tag)
        if tag == "a":
            self.links.append(attributes["href"])
        if tag == "img":
            self.pictures.append((attributes["src"], attributes.get("alt", "")))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


@pytest.fixture
def report(tmp_path, monkeypatch):
    monkeypatch.setattr("verify.report.mathematics.letters_of", lambda claim: notation("fedalign"))
    write_json(tmp_path / "certificates" / "demo__theorem-1.json", CERTIFICATE)
    write_report(VERDICTS_SHOWN, tmp_path, **ABOUT, claims={CLAIM.id: CLAIM})
    return tmp_path


def pages(report):
    return [report / "index.html", *sorted((report / "claims").iterdir())]


# pages -------------------------------------------------------------------------------------------------------------
def test_every_verdict_has_a_page_and_every_link_leads_somewhere(report):
    assert len(pages(report)) == 1 + len(VERDICTS_SHOWN)
    for path in pages(report):
        page = Page(path)
        targets = [*page.links, *(source for source, _ in page.pictures)]
        assert targets and [t for t in targets if not (path.parent / t).resolve().is_file()] == []


def test_pages_need_nothing_from_outside(report):
    for path in not_empty(pages(report)):
        text = path.read_text(encoding="utf-8")
        assert [word for word in ("http:", "https:", "//", "<script", "@import", "url(") if word in text] == []
        assert set(Page(path).tags) & {"script", "link", "iframe"} == set()


def test_pictures_have_alternative_texts(report):
    pictures = [picture for path in pages(report) for picture in Page(path).pictures]
    assert len(pictures) == 2 and all(len(alt) > 20 for _, alt in pictures)


def test_index_puts_refuted_and_ill_posed_first(report):
    text = Page(report / "index.html").text
    places = [text.index(word) for word in ("left 1/128, right 0 & <nothing> else", "no function satisfies it",
                                            "All claims", "no violation in 512 instances")]
    assert places == sorted(places)
    assert f"fedtheory check {report.as_posix()}/certificates/demo__theorem-1.json" in text
    assert ABOUT["command"] in text


def test_index_counts_each_verdict(report):
    text = Page(report / "index.html").text
    for name, count in zip(VERDICTS, (1, 1, 0, 1, 1), strict=True):
        assert f"{name} {count} {VERDICT_MEANINGS[name]}" in text


@pytest.mark.parametrize(
    "page, words",
    [
        ("demo__theorem-1", ["Theorem 1", "smooth & convex", "as <used>", "mind the gap", "-7/3".replace("-", "−"),
                             "3 with probability 1/4; −1 with probability 3/4", "left 1/128 0.00781", "right 0 0",
                             "4,096 tried, 512 met", "seed 3", "1.25 s", DEFINITIONS["Gamma"].meaning, "∞",
                             "fedtheory verify demo/theorem-1"]),
        ("demo__lemma-1_at_G-max_and_printed", ["registered", "0.71", "digits", "G largest"]),
        ("demo__assumption-2", ["mu > 0", "no function satisfies it"]),
        ("other__lemma-9", ["more seeds would decide", "undecided"]),
    ],
)
def test_claim_page_says(report, page, words):
    text = Page(report / "claims" / f"{page}.html").text
    assert [word for word in not_empty(words) if word not in text] == []


def test_claim_page_has_mathml(report):
    text = (report / "claims" / "demo__theorem-1.html").read_text(encoding="utf-8")
    formulas = [part.split("</math>")[0] for part in text.split("<math")[1:]]
    assert len(formulas) >= 6
    for formula in formulas:
        ElementTree.fromstring(f"<math{formula}</math>")


def test_pages_of_an_earlier_report_are_removed_and_nothing_else(report):
    kept = report / "claims" / "mine.html"
    kept.write_text("mine")
    write_report(VERDICTS_SHOWN[:1], report, **ABOUT, claims={})
    assert sorted(p.name for p in (report / "claims").iterdir()) == ["demo__theorem-1.html", "mine.html"]


@pytest.mark.parametrize("certificate", ["certificates/absent.json", "../outside.json"])
def test_certificate_that_is_not_in_the_report_is_not_linked(tmp_path, certificate):
    write_json(tmp_path / "outside.json", CERTIFICATE)
    write_report([replace(VERDICTS_SHOWN[0], certificate=certificate)], tmp_path / "out", **ABOUT, claims={})
    for path in not_empty(pages(tmp_path / "out")):
        assert "fedtheory check" not in Page(path).text and certificate not in Page(path).links


def test_report_of_nothing(tmp_path):
    assert "no claim" in Page(write_report([], tmp_path, **ABOUT, claims={})).text


# data --------------------------------------------------------------------------------------------------------------
def test_verdicts_json_has_exactly_the_agreed_fields(report):
    records = json.loads((report / "verdicts.json").read_text(), parse_constant=lambda name: pytest.fail(name))
    assert [record["id"] for record in records] == [v.id for v in VERDICTS_SHOWN]
    for record in records:
        assert set(record) - {"details"} == {"id", "reading", "kind", "verdict", "ratio", "evidence", "certificate",
                                             "command", "seed", "seconds"}
    assert records[0]["ratio"] == "inf" and records[2]["ratio"] is None and records[3]["certificate"] is None


def test_verdicts_survive_the_file(tmp_path):
    save_verdicts(VERDICTS_SHOWN, tmp_path)
    assert repr(load_verdicts(tmp_path)) == repr(VERDICTS_SHOWN)  # by text: NaN is not equal to itself


def test_rebuilt_report_is_the_same(report, tmp_path):
    names = [p.relative_to(report) for p in report.rglob("*") if p.is_file()]
    before = {name: (report / name).read_bytes() for name in names}
    write_report(load_verdicts(report), report, **load_about(report), claims={CLAIM.id: CLAIM})
    assert {name: (report / name).read_bytes() for name in names} == before


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda r: r.pop("seed"), "lacks seed"),
        (lambda r: r.update(extra=1), "unknown extra"),
        (lambda r: r.update(verdict="true"), "unknown verdict 'true'"),
        (lambda r: r.update(details={"series": [{"z": 1}]}), "series .*decides, .*left, .*; got {'z': 1}"),
    ],
)
def test_foreign_records_are_refused(change, words):
    record = as_record(VERDICTS_SHOWN[3])
    change(record)
    with pytest.raises(ValueError, match=words):
        from_record(record)


@pytest.mark.parametrize(
    "text, words",
    [("[{", "verdicts.json .* line 1$"), ("{}", "verdicts.json .*list .*; got dict"),
     ("[3]", "verdicts.json .*id, reading, .*; got int"),
     ("[", "verdicts.json .* line 1$"), (None, "cannot read")],
)
def test_broken_verdict_files_are_refused(tmp_path, text, words):
    if text is not None:
        (tmp_path / "verdicts.json").write_text(text)
    with pytest.raises(ValueError, match=words):
        load_verdicts(tmp_path)


def test_details_of_any_type_become_strict_json():
    np = pytest.importorskip("numpy")
    details = {"a": np.float64("nan"), "b": Fraction(1, 3), "c": np.arange(2), 4: Path("x")}
    verdict = replace(VERDICTS_SHOWN[3], details=details)
    assert as_record(verdict)["details"] == {"a": "nan", "b": "1/3", "c": [0, 1], "4": "x"}
    assert set(as_record(verdict)) == {*FIELDS, "details"}


# tables and numbers --------------------------------------------------------------------------------------------------
def test_instance_is_shown_client_by_client():
    sizes, clients_table, numbers = instance_tables(CERTIFICATE)
    assert sizes["rows"] == [["2", "1", "1", "full", "yes"]]
    assert clients_table["head"] == ["client", "priority", "curvature", "center", "noise"]
    assert [row[3] for row in clients_table["rows"]] == ["0", "−7/3"]
    assert numbers["rows"] == [["eta_l", "1/4"], ["mu", "1"], ["epsilon, by round", "3/5"]]


def test_an_instance_in_turned_coordinates_says_so():
    turned = CERTIFICATE | {"instance": CERTIFICATE["instance"] | {"half_tangent": "6/7"}}
    _, clients_table, numbers = instance_tables(turned)
    assert "tan(angle / 2) = half_tangent" in clients_table["caption"] and ["half_tangent", "6/7"] in numbers["rows"]
    assert "half_tangent" not in instance_tables(CERTIFICATE)[1]["caption"]


@pytest.mark.parametrize("data", [{}, {"sizes": {}}, {"values": {}}, {"instance": {"epsilon": ["1"]}}])
def test_sparse_instances_can_be_shown(data):
    assert isinstance(instance_tables(data), list)


def test_details_are_facts_and_tables():
    facts, tables = details_shown(VERDICTS_SHOWN[1].details | {"e_value": 1e9, "conflict": ["elsewhere"], "empty": []})
    assert facts == [("e value", "1·10⁹")]
    assert [(table["caption"], table["head"], table["rows"]) for table in tables] == [
        ("federations", ["name", "ratio", "met", "note"], [["digits", "0.5", "yes", "–"], ["pair", "–", "–", "x"]])
    ]


@pytest.mark.parametrize("kind", ["certified", "consistent"])
def test_a_proof_is_no_instance(kind, tmp_path):
    """The page of a claim that is proven names its proof and the command that checks it, and shows no worst instance."""
    proof = tmp_path / "certificates" / "demo__theorem-1.json"
    proof.parent.mkdir()
    write_json(proof, {"format": "demo", "procedure": {"sampling": "full"}, "settings": []})
    verdict = replace(VERDICTS_SHOWN[0], verdict=kind, ratio=0.5, details={"scope": "all smooth F_k"}, series=())
    write_report([verdict], tmp_path, **ABOUT, claims={CLAIM.id: CLAIM})
    text = Page(tmp_path / "claims" / "demo__theorem-1.html").text
    assert "fedtheory check" in text and "worst instance" not in text


def test_reasons_without_a_proof_are_counted_by_what_they_have_in_common():
    def page(number, verdict, reason):
        details = {"not proven": reason}
        return {"verdict": Verdict(f"demo/lemma-{number}", "as printed", "lemma", verdict, 0.5, "", details=details)}

    reasons = ["demo/lemma-0 has no worst case of this kind: no word norm; it may need a value of a",
               "demo/lemma-1 has no worst case of this kind: no word norm", "not proven at all F_k; L = 1: pair 1",
               "not proven at all F_k; L = 2: pair 1"]
    pages = [page(number, "consistent", reason) for number, reason in enumerate(reasons)]
    pages.append(page(9, "certified", "never shown"))
    assert not_proven(pages) == [("no word norm", 2), ("not proven", 2)]
    (row,) = by_kind(pages)
    assert row["kind"] == "lemma" and row["claims"] == 5
    assert dict(zip(VERDICTS, row["counts"], strict=True))["certified"] == 1
