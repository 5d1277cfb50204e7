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
from verify.report.html import VERDICT_MEANINGS, _sides, write_report
from verify.report.results import differences
from verify.report.sentences import HTML, MARKDOWN, TEX
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

    VOID = {"meta", "img", "br", "hr", "link", "mspace", "input"}

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
    return [report / "index.html", *sorted((report / "papers").iterdir()), *sorted((report / "claims").iterdir()),
            *sorted((report / "errata").glob("*.html"))]


# pages -------------------------------------------------------------------------------------------------------------
def test_every_verdict_has_a_page_and_every_link_leads_somewhere(report):
    assert len(pages(report)) == 1 + 2 + len(VERDICTS_SHOWN) + 1  # a letter
    for path in pages(report):
        page = Page(path)
        targets = [*page.links, *(source for source, _ in page.pictures)]
        assert targets and [t for t in targets if not (path.parent / t.partition("#")[0]).resolve().exists()] == []


def test_pages_need_nothing_from_outside(report):
    for path in not_empty(pages(report)):
        text = path.read_text(encoding="utf-8")
        assert [word for word in ("http:", "https:", "//", "@import", "url(") if word in text] == []
        assert set(Page(path).tags) & {"iframe", "style"} == set()
    for name in ("style.css", "filter.js"):
        assert "http" not in (report / name).read_text(encoding="utf-8")


def test_pictures_have_alternative_texts(report):
    pictures = [picture for path in pages(report) for picture in Page(path).pictures]
    assert len(pictures) == 2 and all(len(alt) > 20 for _, alt in pictures)


def test_index_leads_to_papers_and_to_every_result(report):
    page = Page(report / "index.html")
    assert {"papers/demo.html", "papers/other.html", "papers/demo.html#theorem-1", "errata/demo.html"} <= {*page.links}
    assert ABOUT["command"] in page.text and "Theorem 1 theorem refuted" in page.text


READINGS = [replace(VERDICTS_SHOWN[0], id=f"demo/theorem-1{name}", reading=reading, verdict=verdict)
            for name, reading, verdict in (("", "full gradients; any step", "refuted"),
                                           ("@small", "full gradients; eta <= 1/L", "consistent"))]


def test_readings_of_a_result_share_a_card_that_says_how_they_differ(tmp_path):
    write_report(READINGS, tmp_path, **ABOUT, claims={})
    text = Page(tmp_path / "papers" / "demo.html").text
    assert text.count("demo/theorem-1 theorem") == 1
    assert "It depends on the reading: refuted in 1, consistent in 1 of 2." in text
    assert "Every reading: full gradients." in text and "refuted if read as any step consistent if read as η ≤ 1/L" in text


@pytest.mark.parametrize("readings, common, own", [
    (["a"], "", ["a"]), (["a; b", "a; c"], "a", ["b", "c"]), (["a", "a; b"], "a", ["nothing more", "b"]),
    (["a", "b"], "", ["a", "b"])])
def test_what_readings_say_besides_each_other(readings, common, own):
    assert differences(readings) == (common, own)


def test_a_paper_has_its_authors_and_its_sections(tmp_path):
    write_report([replace(VERDICTS_SHOWN[3], id="li2020/theorem-4"), replace(VERDICTS_SHOWN[3], id="li2020/lemma-1")],
                 tmp_path, **ABOUT)
    text = Page(tmp_path / "papers" / "li2020.html").text
    assert "On the convergence of FedAvg on non-IID data" in text and "Zhihua Zhang. ICLR, 2020" in text
    assert text.count("Theorems 1-4 of Li et al. 2020") == 2  # among the contents, and above its results


def test_a_letter_has_the_formula_the_numbers_and_the_command(report):
    for ending, words in (("md", "$$\nF^*"), ("tex", "\\[\nF^*")):
        text = (report / "errata" / f"demo.{ending}").read_text(encoding="utf-8")
        for word in (words, "the left side is 1/128 and the right side is 0", "check certificates/demo__theorem-1.json"):
            assert word in text
        assert "no violation in 512" not in text


@pytest.mark.parametrize("style, text", [
    (TEX, r"a\_b $<$ 50\% \& $\tilde{\eta}$$^{2}$ $\le$ \textbackslash{}x"), (MARKDOWN, r"a\_b \< 50% & η̃² ≤ \\x"),
    (HTML, "a_b &lt; 50% &amp; η̃² ≤ \\x")])
def test_words_are_escaped_as_a_format_asks(style, text):
    assert style.words("a_b < 50% & η̃² ≤ \\x") == text


def test_index_counts_each_verdict(report):
    text = Page(report / "index.html").text
    for name, count in zip(VERDICTS, (1, 1, 0, 1, 1), strict=True):
        assert f"{name} {count} {VERDICT_MEANINGS[name]}" in text


@pytest.mark.parametrize(
    "page, words",
    [
        ("demo__theorem-1", ["Theorem 1", "smooth & convex", "as <used>", "mind the gap", "−7/3", "seed 3", "1.25 s", "∞",
                             "3 with probability 1/4; −1 with probability 3/4", "left 1/128 0.00781", "right 0 0",
                             "4,096 tried; 512 of them meet the hypotheses", DEFINITIONS["Gamma"].meaning,
                             "fedtheory verify demo/theorem-1"]),
        ("demo__lemma-1_at_G-max_and_printed", ["registered", "0.71", "digits", "G largest"]),
        ("demo__assumption-2", ["μ > 0", "No function satisfies it"]),
        ("other__lemma-9", ["More seeds would decide", "undecided"]),
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
    clients_table, numbers, algorithm = instance_tables(CERTIFICATE, {"mu": ("μ", "strong convexity")}.get)
    assert clients_table["head"] == ["client", "priority client", "curvature", "center", "noise"]
    assert [row[3] for row in clients_table["rows"]] == ["0", "−7/3"]
    assert numbers["rows"] == [["", "clients", "2"], ["", "dimension", "1"], ["", "iterations", "1"], ["", "eta l", "1/4"],
                               ["μ", "strong convexity", "1"], ["", "matching threshold, by round", "3/5"]]
    assert algorithm["rows"] == [["sampling", "full"], ["matching is strict", "yes"]]


def test_an_instance_in_turned_coordinates_says_so():
    turned = CERTIFICATE | {"instance": CERTIFICATE["instance"] | {"half_tangent": "6/7"}}
    clients_table, numbers, _ = instance_tables(turned)
    assert "rotated back" in clients_table["caption"] and ["", "tangent of half the angle", "6/7"] in numbers["rows"]
    assert "rotated back" not in instance_tables(CERTIFICATE)[0]["caption"]
    each = CERTIFICATE | {"instance": CERTIFICATE["instance"] | {"half_tangent": ["6/7", "0"]}}
    clients_table, numbers, _ = instance_tables(each)
    assert "the client's own" in clients_table["caption"] and "tangent of half the angle" not in str(numbers["rows"])
    assert [row[clients_table["head"].index("half tangent")] for row in clients_table["rows"]] == ["6/7", "0"]


@pytest.mark.parametrize("data", [{}, {"sizes": {}}, {"values": {}}, {"instance": {"epsilon": ["1"]}}])
def test_sparse_instances_can_be_shown(data):
    assert isinstance(instance_tables(data), list)


def test_a_claim_about_numbers_shows_its_own_sizes_and_no_algorithm():
    (*_, numbers) = instance_tables(CERTIFICATE, of_numbers={"iterations", "mu"})
    assert numbers["caption"] == "sizes and numbers"
    assert {row[1] for row in numbers["rows"]} & {"clients", "iterations", "dimension"} == {"iterations"}


def test_free_clients_are_spoken_of_where_there_are_some():
    alone = CERTIFICATE | {"instance": CERTIFICATE["instance"] | {"priority": [1, 1]}}
    assert "matching" not in str(instance_tables(alone)) and "priority" not in str(instance_tables(alone))
    assert "matching" in str(instance_tables(CERTIFICATE)) and "priority" in str(instance_tables(CERTIFICATE))


def test_options_that_are_numbers_of_the_instance_or_nothing_are_left_out():
    options = {"base": "fedavg", "recycled": {"symbol": "recycled"}, "masks": None, "selector": "luar"}
    (*_, algorithm) = instance_tables(CERTIFICATE | {"procedure": {"base": "fedluar", "options": options}})
    assert algorithm["rows"] == [["method", "fedluar"], ["method inside", "fedavg"], ["selector", "luar"]]


def test_one_layer_is_not_shown():
    data = CERTIFICATE | {"sizes": {"clients": 2, "layers": 1}, "instance": {"layer_sizes": [1]}}
    assert "layer" not in str(instance_tables(data))
    assert "number of layers" in str(instance_tables(data | {"sizes": {"layers": 2}}))


def test_sides_have_as_many_digits_as_tell_them_apart():
    long = "190767123456789012/100000000000000000000", "190725123456789012/100000000000000000000"
    assert _sides(dict(zip(("left", "right"), long, strict=True))) == [
        ("left", "in the certificate", "0.001908"), ("right", "in the certificate", "0.001907")]
    assert _sides({"left": "1/3", "right": "0"}) == [("left", "1/3", "0.333"), ("right", "0", "0")]


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
