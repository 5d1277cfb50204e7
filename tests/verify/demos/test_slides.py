"""Demos as pages without Python: every place of the sliders has its picture, and nothing is loaded."""

import json
import re
from html import escape

import pytest

from docs.site import links
from docs.site import slides as site_slides
from tests.verify.demos.notebooks import NAMES, picture_of
from verify.demos import slides
from verify.demos.catalogue import find_demo
from verify.demos.controls import Choice, Slider, Text, every_value, start_values


@pytest.mark.parametrize("most", [1, 12, 120])
@pytest.mark.parametrize("name", NAMES)
def test_few_values_are_left_with_the_start_among_them(name, most):
    controls = picture_of(name).CONTROLS
    few = slides.thinned(controls, most)
    assert few.keys() == controls.keys() and len(list(every_value(few))) <= most
    assert start_values(few) == start_values(controls) in every_value(few)
    for key, control in few.items():
        assert isinstance(control, Text) or set(control.values) <= set(controls[key].values)
    assert most < 120 or all(len(few[key].values) > 1 for key in few if not isinstance(few[key], Text))


@pytest.fixture(scope="module")
def text() -> str:
    return slides.page(find_demo("worst-function"), 6)


def test_a_page_has_a_picture_for_every_place(text):
    pictures, words = (json.loads(found) for found in re.search(
        r"const pictures = (\[.*?\]), words = (\[.*?\]);\n", text, re.DOTALL).groups())
    values = [json.loads(found.replace("&quot;", '"')) for found in re.findall(r'data-values="([^"]*)"', text)]
    count = len(pictures)
    assert 1 < count <= 6 and len(words) == count and [len(v) for v in values] != [] and len(set(pictures)) == count
    size = 1
    for each in values:
        size *= len(each)
    assert size == count
    shown = re.search(r'id="picture" alt="" src="([^"]*)"', text)[1]
    few = slides.thinned(picture_of("worst-function").CONTROLS, 6)
    assert pictures.index(shown) == list(every_value(few)).index(start_values(few))


def test_a_page_loads_nothing_and_has_the_questions(text, tmp_path):
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    assert links.wrong(tmp_path) == [] and not re.search(r"https?://(?!www\.w3\.org)", text)
    assert len(re.findall("<li>", text)) == 3 and "<math" in text and "$" not in text.partition("<script>")[0]


def test_what_stands_in_a_script_cannot_end_it():
    data = ["</script><img src=x>", "<!--"]
    assert "<" not in slides._script(data) and json.loads(slides._script(data)) == data


@pytest.mark.parametrize("text, made", [
    ("**2** of $x$", "<strong>2</strong> of <math"), ("`a < b`", "<code>a &lt; b</code>"), ("<b> & c", "&lt;b&gt; &amp; c"),
    ("&#60;b&#62;", "&#60;b&#62;"), ("*so*", "<em>so</em>"), ("2 * 3", "2 * 3"),
])
def test_marks_of_the_texts(text, made):
    assert slides._inline(text).startswith(made)


def test_the_command_writes_one_file(run, tmp_path, monkeypatch):
    monkeypatch.setattr(slides, "page", lambda demo, progress: f"<title>{demo.name}</title>")
    path = tmp_path / "new" / "drift.html"
    status, out, err = run("demo", "client-drift", "--slides", path)
    assert status == 0 and path.read_text() == "<title>client-drift</title>" and str(path) in out
    assert [each.name for each in path.parent.iterdir()] == ["drift.html"]
    status, out, err = run("demo", "client-drift", "--slides", tmp_path / "drift.pdf")
    assert status == 2 and "drift.pdf" in err and ".html" in err and not (tmp_path / "drift.pdf").exists()


def test_the_site_lists_every_demo(tmp_path, monkeypatch):
    from docs.site.gathered import Pages

    monkeypatch.setattr(site_slides, "_pages", lambda chosen: {demo.name: demo.name.encode() for demo in chosen})
    site_slides.write(Pages(tmp_path))
    index = (tmp_path / "slides" / "index.md").read_text(encoding="utf-8")
    assert all(f"`fedtheory demo {name}`" in index for name in NAMES)
    written = sorted(path.stem for path in (tmp_path / site_slides.EXTRA / "slides").glob("*.html"))
    assert written == NAMES == re.findall(r'href="([\w-]+)\.html"', index)
    typed = re.findall(r'href="([\w-]+)\.html">[^<]*</a> \(what you type needs the live notebook\)', index)
    assert typed == [name for name in NAMES if any(isinstance(c, Text) for c in picture_of(name).CONTROLS.values())] != []


def test_a_page_is_made_once_for_the_same_code(tmp_path, monkeypatch):
    demo = find_demo("client-drift")
    monkeypatch.setattr(site_slides, "ROOT", tmp_path)
    monkeypatch.setattr(site_slides, "code_digest", lambda: "code")
    monkeypatch.setattr(site_slides, "page", lambda *given, **more: "a page")
    site_slides._make(demo)
    assert site_slides._pages([demo]) == {"client-drift": b"a page"}
    first = site_slides._kept(demo)
    monkeypatch.setattr(site_slides, "code_digest", lambda: "other code")
    assert first.exists() and not site_slides._kept(demo).exists()


def test_a_page_with_a_line_of_text_says_what_it_cannot_do():
    text = slides.page(find_demo("live-counterexample"), 1, way="<p>the way</p>")
    start = picture_of("live-counterexample").CONTROLS["statement"].start
    assert "<code>fedtheory demo live-counterexample</code>" in text and "<code>pip install" in text
    assert "<p>the way</p><h1>" in text and escape(start) in text and "lines of text stay" in text
    text = slides.page(find_demo("client-drift"), 1)
    assert "fedtheory demo" not in text and "lines of text stay" not in text


def test_sliders_are_ranges_and_choices_are_lists():
    assert 'type="range"' in slides._control("a", Slider("$K$", (1, 2), 2)) and 'value="1"' in slides._control(
        "a", Slider("$K$", (1, 2), 2))
    assert '<option value="1" selected>b</option>' in slides._control("a", Choice("which", ("a", "b"), "b"))
