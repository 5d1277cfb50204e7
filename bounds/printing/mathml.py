"""LaTeX formulas as MathML, which browsers draw without scripts or fonts from outside."""

from functools import cache
from xml.etree import ElementTree

from latex2mathml.converter import convert

__all__ = ["mathml"]

_UPRIGHT = set("ΓΔΘΛΞΠΣΥΦΨΩ")
_BOLD = {ord(plain): chr(first + n) for first, plains in (
    (0x1D400, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"), (0x1D41A, "abcdefghijklmnopqrstuvwxyz"), (0x1D7CE, "0123456789"))
    for n, plain in enumerate(plains)}


@cache
def mathml(latex: str, display: bool = False) -> str:
    """A ``<math>`` element for a LaTeX formula without dollar signs; a display has the LaTeX as its annotation.

    Rows are split at ``\\\\`` and aligned at ``&``.

    Raises:
        ValueError: an unknown command, or unbalanced braces.
    """
    source = rf"\begin{{align*}}{latex}\end{{align*}}" if "&" in latex and r"\begin" not in latex else latex
    try:
        root = ElementTree.fromstring(convert(source, display="block" if display else "inline"))
    except Exception as error:  # its errors have no class in common
        raise ValueError(f"cannot typeset the formula {latex}: {type(error).__name__} {error}") from None
    texts = [node.text for node in root.iter() if node.text]
    if any("\\" in text for text in texts) or _braces(latex, "{") != _braces(latex, "}"):
        raise ValueError(f"cannot typeset the formula {latex}: an unknown command, or unbalanced braces")
    for node in root.iter():
        node.tag = node.tag.partition("}")[2]  # without its namespace, which HTML knows
        if node.attrib.get("mathvariant") == "bold":  # of the variants, browsers draw none but the letters themselves
            del node.attrib["mathvariant"]
            node.text = node.text.translate(_BOLD)
        if node.tag == "mi" and node.text in _UPRIGHT:
            node.set("mathvariant", "normal")
        if node.tag == "mover" and node[1].tag.endswith("mo"):
            node.set("accent", "true")
        if node.tag == "mo" and node.text == "*":  # which fonts raise, on top of a superscript
            node.text = "∗"
    root = _without_defaults(root)
    if not display:
        root.attrib.clear()
        return ElementTree.tostring(root, encoding="unicode")
    semantics = ElementTree.Element("semantics")
    semantics.extend(root)
    ElementTree.SubElement(semantics, "annotation", encoding="application/x-tex").text = latex
    math = ElementTree.Element("math", display="block")
    math.append(semantics)
    return ElementTree.tostring(math, encoding="unicode")


def _without_defaults(node: ElementTree.Element) -> ElementTree.Element:
    """The element without rows of a single part, and without what browsers take for granted of brackets around a row."""
    for place, child in enumerate(node):
        child = node[place] = _without_defaults(child)
        if child.tag == "mrow" and len(child) == 1 and not child.attrib:
            node[place] = child[0]
    for child, form in ((node[0], "prefix"), (node[-1], "postfix")) if node.tag == "mrow" and len(node) > 1 else ():
        if child.tag == "mo" and child.attrib == {"stretchy": "true", "fence": "true", "form": form}:
            child.attrib.clear()
    return node


def _braces(latex: str, brace: str) -> int:
    return latex.count(brace) - latex.count(f"\\{brace}")
