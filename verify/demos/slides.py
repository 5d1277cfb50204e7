"""A demo as one page that needs neither Python nor a network: a picture for every place of its sliders, made beforehand.

What a reader types cannot be computed beforehand: a page says so where its notebook has a line of text.
"""

import ast
import json
import re
from collections.abc import Callable, Mapping
from html import escape
from io import BytesIO
from typing import Any

from bounds.printing.mathml import mathml
from verify.demos.catalogue import Demo, module_of
from verify.demos.controls import Choice, Controls, Slider, Text, every_value

__all__ = ["page", "thinned"]

MOST = 120  # pictures of a page
_DOTS, _COLOURS = 100, 64  # per inch; of a picture, which has few, so that it takes half the room

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 17px/1.5 Georgia, serif; color: #222; background: #fff; max-width: 1060px; margin: 1.5em auto;
  padding: 0 1em; }}
h1 {{ font-weight: normal; font-size: 1.7em; }} h3 {{ font-weight: normal; }}
img {{ width: 100%; height: auto; }}
.controls {{ display: grid; grid-template-columns: auto minmax(8em, 24em) auto; gap: .5em 1em; justify-content: start;
  align-items: center; margin: 1em 0; }}
input, select {{ width: 100%; font: inherit; }} output {{ min-width: 5em; }}
code {{ overflow-wrap: anywhere; }}
.formula {{ display: block; overflow-x: auto; }}
.whole {{ grid-column: 1 / -1; }}
@media (max-width: 600px) {{ .controls {{ grid-template-columns: 1fr auto; }} label {{ grid-column: 1 / -1; }} }}
@media (prefers-color-scheme: dark) {{
  body {{ color: #ddd; background: #131416; color-scheme: dark; }} a {{ color: #8ab4f8; }} img {{ border-radius: 4px; }} }}
</style>
</head>
<body>
{way}<h1>{title}</h1>
<p><img id="picture" alt="" src="{first}"></p>
<p id="said" aria-live="polite">{said}</p>
<div class="controls">
{controls}
</div>
{live}{text}
<script>
const pictures = {pictures}, words = {words};
const inputs = [...document.querySelectorAll("[data-values]")];
function show() {{
  let place = 0;
  for (const input of inputs) {{
    const values = JSON.parse(input.dataset.values);
    place = place * values.length + Number(input.value);
    const told = document.getElementById(input.id + "-value");
    if (told) told.textContent = values[input.value];
  }}
  document.getElementById("picture").src = pictures[place];
  document.getElementById("picture").alt = document.getElementById("said").textContent;
  document.getElementById("said").innerHTML = words[place];
}}
inputs.forEach(input => input.addEventListener("input", show));
show();
</script>
</body>
</html>
"""


def thinned(controls: Controls, most: int = MOST) -> dict[str, Slider | Choice | Text]:
    """The controls with so few values that they have at most ``most`` combinations; a value at the start stays, and so do
    the ends."""
    found = {key: control for key, control in controls.items() if not isinstance(control, Text)}
    while len(list(every_value(found))) > most:
        key = max(found, key=lambda key: len(found[key].values))
        found[key] = _fewer(found[key])
    return {key: found.get(key, control) for key, control in controls.items()}


def _fewer(control: Slider | Choice):
    """One value less: of those that are neither ends nor the start the one whose neighbours are nearest to each other."""
    values = list(control.values)
    inner = [n for n in range(1, len(values) - 1) if values[n] != control.start]
    if not inner:
        gone = max(n for n in range(len(values)) if values[n] != control.start)
    elif isinstance(control, Choice):
        gone = inner[-1]
    else:
        gone = min(inner, key=lambda n: values[n + 1] / values[n - 1] if values[n - 1] > 0 else float("inf"))
    return type(control)(control.label, tuple(values[:gone] + values[gone + 1:]), control.start)


def page(demo: Demo, most: int = MOST, progress: Callable[[int, int], None] = lambda done, total: None,
         way: str = "") -> str:
    """The page as HTML, with at most ``most`` pictures inside.

    Args:
        progress: called with the numbers of pictures made and to make.
        way: what stands above the title, as HTML.
    """
    module = module_of(demo)
    controls = thinned(module.CONTROLS, most)
    places = list(every_value(controls))
    pictures, words = [], []
    for done, values in enumerate(places):
        found = module.compute(**values)
        pictures.append(_picture(module.picture(found)))
        words.append(_inline(module.caption(found)))
        progress(done + 1, len(places))
    start = places.index({key: control.start for key, control in controls.items()})
    title, _, idea = demo.idea.partition(": ")
    shown = [_control(key, control) for key, control in controls.items() if not isinstance(control, Text)]
    return _PAGE.format(
        way=way, title=escape(title), first=pictures[start], said=words[start],
        text=f"<p><em>{_inline(idea[0].upper() + idea[1:])}</em></p>\n{_text(demo)}",
        controls="\n".join([*(_fixed(control) for control in controls.values() if isinstance(control, Text)), *shown]),
        live=_live(demo, controls), pictures=_script(pictures), words=_script(words))


def _script(data: Any) -> str:
    """Data inside of a script, which nothing in it can end."""
    return json.dumps(data).replace("<", "\\u003c")


def _picture(figure) -> str:
    from base64 import b64encode

    from PIL import Image

    drawn, small = BytesIO(), BytesIO()
    figure.savefig(drawn, format="png", dpi=_DOTS)
    Image.open(drawn).convert("RGB").quantize(_COLOURS).convert("RGB").save(small, format="webp", lossless=True)
    return f"data:image/webp;base64,{b64encode(small.getvalue()).decode()}"


def _fixed(control: Text) -> str:
    """A line of text, which stays as it is."""
    return f'<div class="whole">{_inline(control.label)}: <code>{escape(control.start)}</code></div>'


def _live(demo: Demo, controls: Controls) -> str:
    """Explain what this page cannot do and how to do it; empty if it can do all."""
    if not any(isinstance(control, Text) for control in controls.values()):
        return ""
    return ("<p>What you type cannot be computed beforehand: on this page the lines of text stay as they are. "
            f"<code>pip install \"fedtheory[demos]\"</code>, then <code>fedtheory demo {demo.name}</code> opens the live "
            "notebook.</p>\n")


def _control(key: str, control: Slider | Choice) -> str:
    values, start = [str(value) for value in control.values], control.values.index(control.start)
    given = f'id="{key}" data-values="{escape(json.dumps(values))}"'
    label = f'<label for="{key}">{_inline(control.label)}</label>'
    if isinstance(control, Choice):
        options = "".join(f'<option value="{n}"{" selected" * (n == start)}>{escape(value)}</option>'
                          for n, value in enumerate(values))
        return f"{label}<select {given}>{options}</select><span></span>"
    slider = f'<input type="range" {given} min="0" max="{len(values) - 1}" value="{start}">'
    return f'{label}{slider}<output id="{key}-value" for="{key}">{escape(values[start])}</output>'


def _text(demo: Demo) -> str:
    """The text of the notebook: its longest piece of Markdown."""
    strings = [node.value for node in ast.walk(ast.parse(demo.path.read_text(encoding="utf-8")))
               if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    lines = "\n".join(line.strip() for line in max(strings, key=len).strip().splitlines())
    return "\n".join(map(_block, re.split(r"\n\s*\n", lines)))


def _block(text: str) -> str:
    if text.startswith("### "):
        return f"<h3>{_inline(text[4:])}</h3>"
    if text.startswith("1. "):
        items = re.split(r"\n?^\d+\. ", text, flags=re.MULTILINE)[1:]
        return "<ol>" + "".join(f"<li>{_inline(item)}</li>" for item in items) + "</ol>"
    return f"<p>{_inline(text)}</p>"


#: marks of Markdown that the texts have
_MARKS: Mapping[str, Callable[[str], str]] = {
    r"\$\$(.+?)\$\$": lambda latex: f'<span class="formula">{mathml(latex, True)}</span>', r"\$(.+?)\$": mathml,
    r"`(.+?)`": lambda code: f"<code>{escape(code)}</code>",
    r"\*\*(.+?)\*\*": lambda text: f"<strong>{escape(text)}</strong>",
    r"\*(.+?)\*": lambda text: f"<em>{escape(text)}</em>",
}


def _inline(text: str) -> str:
    """Formulas, code, bold and slanted words; signs that stand as their numbers stay."""
    found = re.split("(" + "|".join(mark.replace("(", "(?:") for mark in _MARKS) + ")", text, flags=re.DOTALL)
    return "".join(_marked(part) if place % 2 else escape(part, quote=False).replace("&amp;#", "&#")
                   for place, part in enumerate(found))


def _marked(part: str) -> str:
    for mark, made in _MARKS.items():
        if whole := re.fullmatch(mark, part, flags=re.DOTALL):
            return made(" ".join(whole[1].split()))
    return escape(part)
