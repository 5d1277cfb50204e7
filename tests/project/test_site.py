"""What the site is made of: docstrings, verdicts of a run, pages of methods and papers. Building it all is `make site`."""

import json
import re

import pytest

from bounds.registry.claims import find_claim
from bounds.registry.papers import PAPERS, claims_of_paper
from docs.site import api, gathered, methods, papers, template
from docs.site.extension import plain
from fedtheory.registry import ALGORITHMS
from tests.not_empty import not_empty
from verify.results.fingerprint import claim_as_text, digest

CLAIM = "fedalign/lemma-A2"


@pytest.mark.parametrize("written, read", [
    ("|x - x_*|^2 <= 2 L", r"\|x - x\_\*\|^2 <= 2 L"),
    ("the server's x_ is", r"the server's x\_ is"),
    ("``a|b`` and `c*` and :class:`d_`", "``a|b`` and `c*` and :class:`d_`"),
    ("a literal over ``two\nlines|*``", "a literal over ``two\nlines|*``"),
    ("::\n\n    |x|\n\nand |x|", "::\n\n    |x|\n\nand \\|x\\|"),
    (">>> abs(a | b)\n3\n\n|c|", ">>> abs(a | b)\n3\n\n\\|c\\|"),
    ("* one |a|\n* two", "* one \\|a\\|\n* two"),
    (r"a \ b", r"a \\ b"),
])
def test_signs_of_docstrings_mean_themselves(written, read):
    assert "\n".join(plain(written.split("\n"))) == read


def test_a_folder_of_sources_has_no_leftovers_and_keeps_what_is_the_same(tmp_path):
    first = gathered.Pages(tmp_path)
    first.write("a.md", "a")
    first.write("b/c.md", "c")
    before = (tmp_path / "a.md").stat().st_mtime_ns
    second = gathered.Pages(tmp_path)
    second.write("a.md", "a")
    second.remove_others()
    assert [p.name for p in tmp_path.rglob("*.md")] == ["a.md"] and (tmp_path / "a.md").stat().st_mtime_ns == before


def with_verdict(of: str) -> papers.Run:
    found = {"verdict": "consistent", "evidence": "*none* of |3|", "claim": of}
    return papers.Run({CLAIM: found}, "fedtheory verify --all", "0123456789abcdef", "2026-01-01")


def test_a_verdict_on_another_version_of_a_claim_is_marked():
    claim = find_claim(CLAIM)
    now, old = (with_verdict(text).word(claim) for text in (digest(claim_as_text(claim)), "another"))
    assert now == "consistent" and old.startswith("consistent (") and papers.Run().word(claim) not in papers.ORDER


def test_a_report_is_stored_only_if_this_code_made_it(tmp_path, run):
    assert run("verify", CLAIM, "--budget", "quick", "--out", tmp_path)[0] == 0
    made = papers.report(tmp_path)
    assert list(made.verdicts) == [CLAIM] and made.date and papers.made_by_other_code(tmp_path, made) == []
    result, verdicts = next((tmp_path / "results").glob("fedalign*.json")), tmp_path / "verdicts.json"
    data, shown = json.loads(result.read_text()), json.loads(verdicts.read_text())
    verdicts.write_text(json.dumps([shown[0] | {"verdict": "refuted"}]))  # by hand
    assert papers.made_by_other_code(tmp_path, papers.report(tmp_path)) == [CLAIM]
    another = "0" * 64
    for forged in ({"record": data["record"] | {"verdict": "refuted"}}, {"fingerprint": another},
                   {"fingerprint": another, "sha256": digest([another, data["record"]])}):
        result.write_text(json.dumps(data | forged))
        assert papers.made_by_other_code(tmp_path, made) == [CLAIM], forged


def test_papers_have_a_page_with_every_claim_and_its_verdict(tmp_path):
    papers.write(gathered.Pages(tmp_path), with_verdict(digest(claim_as_text(find_claim(CLAIM)))))
    for paper in PAPERS:
        page = (tmp_path / "papers" / f"{paper}.md").read_text(encoding="utf-8")
        targets = re.findall(r"^\((claim-\S+)\)=$", page, re.MULTILINE)
        assert sorted(targets) == sorted(map(papers.Run.anchor, claims_of_paper(paper)))
        assert len(set(targets)) == len(targets)
        assert "0123456789ab" in page and "2026-01-01" in page
    index = (tmp_path / "papers" / "index.md").read_text(encoding="utf-8")
    rows = {row[0]: row[-len(papers.ORDER):] for row in re.findall(
        r"^\| \[(\w+)\].* \| (\S+) \| (\S+) \| (\S+) \| (\S+) \| (\S+) \|$", index, re.MULTILINE)}
    assert rows == {paper: ("0", "0", "0", "1", "0") if paper == "fedalign" else ("-",) * 5 for paper in PAPERS}
    page = (tmp_path / "papers" / "fedalign.md").read_text(encoding="utf-8")
    assert "[consistent]{.verdict .consistent} " + r"\*none\* of \|3\|" in page


def test_every_claim_links_to_its_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(papers, "PAPERS", ("li2020",))
    papers.write(gathered.Pages(tmp_path), papers.Run())
    page = (tmp_path / "papers" / "li2020.md").read_text(encoding="utf-8")
    links = re.findall(r'<a href="(li2020-\w+\.html)#(L\d+)">li2020/\w+\.toml, lines \d+ to \d+</a>', page)
    assert len(links) == len(claims_of_paper("li2020"))
    for file, line in links:
        text = (tmp_path / "extra" / "papers" / file).read_text(encoding="utf-8")
        assert f'<a id="{line}"></a>[[claim]]' in text


def test_methods_have_a_page_with_promises_and_claims(tmp_path, monkeypatch):
    monkeypatch.setattr(methods, "draw", lambda pages, name, script: None)
    methods.write(gathered.Pages(tmp_path), papers.Run())
    pages = {path.stem: path.read_text(encoding="utf-8") for path in (tmp_path / "methods").glob("*.md")}
    assert set(pages) == {*ALGORITHMS, "index"}
    about = [claim.id for paper in PAPERS for claim in claims_of_paper(paper).values()
             if claim.procedure is not None and claim.setting == "run"]
    shown = [found for name in ALGORITHMS for found in re.findall(r"^\| \[`([^`]+)`\]", pages[name], re.MULTILINE)]
    assert sorted(shown) == sorted(about)
    for name, method in ALGORITHMS.items():
        assert len(re.findall("^- After every round: ", pages[name], re.MULTILINE)) == len(method.traits.laws)
        assert len(re.findall("^- Special case", pages[name], re.MULTILINE)) == len(method.traits.reductions)


def test_the_page_of_the_template_has_its_files(tmp_path):
    template.write(gathered.Pages(tmp_path))
    page = (tmp_path / "template.md").read_text(encoding="utf-8")
    for path in not_empty(template.FOLDER.rglob("*.py")):
        assert path.read_text(encoding="utf-8").rstrip() in page
        assert f":caption: {path.relative_to(template.FOLDER).as_posix()}\n" in page.replace("\\_", "_")


def test_the_reference_has_every_package(tmp_path):
    from tests.project import packages

    api.write(gathered.Pages(tmp_path))
    text = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "api").glob("*.rst"))
    named = set(re.findall(r"automodule:: (\S+)", text))
    assert {name for name in packages.files() if not name.startswith(api.LEFT_OUT)} == named
